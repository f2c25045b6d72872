"""Expressions in words can be read back in one way only."""

from __future__ import annotations

import pytest

from chaincheck.adherence.logic import Atom, Const, Expression, Op, evaluate
from chaincheck.adherence.wording import formula

A, B, C = Atom("a"), Atom("b"), Atom("c")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (A, "a"),
        (Const(False), "false"),
        (Op("not", (A,)), "not a"),
        (Op("not", (Op("and", (A, B)),)), "not (a and b)"),
        (Op("and", (A, Op("or", (B, C)), Op("not", (A,)))), "a and (b or c) and not a"),
        (Op("implies", (A, Op("implies", (B, C)))), "a implies (b implies c)"),
        (Op("implies", (Op("implies", (A, B)), C)), "(a implies b) implies c"),
        (Op("and", (A,)), "a"),
    ],
)
def test_an_expression_in_words(expr: Expression, text: str) -> None:
    assert formula(expr) == text


def test_python_reads_and_or_not_the_same_way() -> None:
    expr = Op("or", (Op("and", (A, Op("not", (Op("or", (B, C)),)))), Op("not", (B,))))
    for row in range(8):
        values = {name: bool(row >> at & 1) for at, name in enumerate("abc")}
        assert eval(formula(expr), {}, values) is evaluate(expr, values)
