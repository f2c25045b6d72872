"""Expressions in words can be read back in one way only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.adherence.findings import FlipRadius
from chaincheck.adherence.logic import Atom, Const, Expression, Op, evaluate
from chaincheck.adherence.wording import counted, formula, no_flip, printable

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


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (FlipRadius(None, searched=0, reason="none"), "no annotation is TRUE or FALSE yet"),
        (FlipRadius(None, searched=2, reason="none"), "no set of annotations changes it"),
        (FlipRadius(None, searched=1, reason="not found within limit 1"), "up to 1 annotation "),
        (FlipRadius(None, searched=3, reason="not found within limit 3"), "up to 3 annotations "),
        (FlipRadius(None, searched=0, reason="not found within limit 0"), "too many sets to try"),
        (FlipRadius(None, searched=0, reason="undecided"), "a check reached its limit"),
        (FlipRadius(None, searched=2, reason="undecided"), "of more it is not known"),
    ],
)
def test_why_no_flip_was_found(found: FlipRadius, text: str) -> None:
    assert text in no_flip(found)
    assert " 0 annotations" not in no_flip(found)


def test_one_and_several() -> None:
    assert [counted(count, "line") for count in (0, 1, 2, 11)] == [
        "0 lines", "1 line", "2 lines", "11 lines"
    ]  # fmt: skip
    assert counted(1, "reply", "replies") == "1 reply"
    assert counted(3, "reply", "replies") == "3 replies"


@given(st.text())
def test_what_is_printable_keeps_its_lines_and_nothing_that_moves_a_cursor(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert shown.count("\n") == text.count("\n")
    assert all(ch == "\n" or ch.isprintable() for ch in shown)


def test_python_reads_and_or_not_the_same_way() -> None:
    expr = Op("or", (Op("and", (A, Op("not", (Op("or", (B, C)),)))), Op("not", (B,))))
    for row in range(8):
        values = {name: bool(row >> at & 1) for at, name in enumerate("abc")}
        assert eval(formula(expr), {}, values) is evaluate(expr, values)
