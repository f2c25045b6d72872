import random

import oracles_adherence as oracle
import pytest
import replays_at_random as at_random
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.adherence.logic import (
    Atom,
    Const,
    Op,
    atoms_of,
    evaluate,
    kleene,
    negate,
    node_count,
    to_json,
)
from chaincheck.errors import UsageError

NAMES = ["a", "b", "c", "d"]


def formulas(seed, depth=4):
    value = at_random.formula(random.Random(seed), NAMES, depth)
    return value, at_random.expression(value)


@given(st.integers(0, 10**9))
def test_truth_agrees_with_tables_on_every_row(seed):
    value, expr = formulas(seed)
    columns = oracle.rows(NAMES)
    expected = oracle.truth(value, columns)
    for row in range(16):
        assignment = {name: bool(columns[name][row]) for name in NAMES}
        truth = evaluate(expr, assignment)
        assert truth == (expected[row] if expected.ndim else bool(expected))
        assert evaluate(negate(expr), assignment) is not truth
        # With every atom given, three values are two.
        assert kleene(expr, assignment) is truth


@given(st.integers(0, 10**9))
def test_a_three_valued_truth_holds_under_every_completion(seed):
    _, expr = formulas(seed)
    for partial in oracle.partial_assignments(NAMES):
        truth = kleene(expr, partial)
        if truth is not None:
            free = [name for name in NAMES if name not in partial]
            for full in oracle.partial_assignments(free):
                if len(full) == len(free):
                    assert evaluate(expr, {**partial, **full}) is truth


def test_three_valued_truth_leaves_open_what_only_a_table_settles():
    tautology = Op("or", (Atom("a"), Op("not", (Atom("a"),))))
    assert kleene(tautology, {}) is None
    assert kleene(tautology, {"a": False}) is True
    assert kleene(Op("implies", (Atom("a"), Const(True))), {}) is True
    assert kleene(Op("and", (Atom("a"), Const(False))), {"a": None}) is False


@given(st.integers(0, 10**9))
def test_json_names_the_same_expression(seed):
    value, expr = formulas(seed)
    assert to_json(expr) == value
    assert at_random.expression(to_json(expr)) == expr
    assert set(atoms_of(expr)) == oracle.atoms_in(value)


@pytest.mark.parametrize(
    ("op", "count"), [("not", 0), ("not", 2), ("and", 0), ("or", 0), ("iff", 1), ("xor", 3)]
)
def test_an_operator_refuses_a_wrong_number_of_arguments(op, count):
    with pytest.raises(UsageError, match=f"'{op}' takes"):
        Op(op, tuple(Atom(f"a{i}") for i in range(count)))


def test_an_unknown_operator_is_refused():
    with pytest.raises(UsageError, match="'nand'"):
        Op("nand", (Atom("a"), Atom("b")))


def test_no_depth_of_nesting_is_too_much():
    expr = Atom("a")
    for level in range(20_000):
        expr = Op("not", (expr,)) if level % 2 else Op("and", (expr, Const(True)))
    assert evaluate(expr, {"a": True}) is True
    assert kleene(expr, {}) is None
    assert atoms_of(expr) == ("a",)
    assert node_count(expr) == 30_001
    assert to_json(expr)["op"] == "not"


def test_a_missing_atom_is_an_error_of_two_valued_truth_alone():
    with pytest.raises(KeyError):
        evaluate(Atom("a"), {})
    assert kleene(Atom("a"), {}) is None
