import random

import oracles_adherence as oracle
import pytest
import replays_at_random as at_random
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.adherence.bitset import (
    TooLarge,
    WholeTable,
    components,
    members,
    projection,
    settled,
    smallest,
    table_of,
)
from chaincheck.adherence.formulas import Facts, Formula
from chaincheck.adherence.logic import Atom, Op, kleene

NAMES = [f"a{i}" for i in range(24)]
INDEX = {name: place for place, name in enumerate(NAMES)}


def formula(value, positive=True):
    return Formula(at_random.expression(value), positive, INDEX)


def facts_of(assignment):
    known = sum(1 << INDEX[atom] for atom in assignment)
    return Facts(known, sum(1 << INDEX[atom] for atom, value in assignment.items() if value))


def drawn(seed, count, names, depth=3):
    rng = random.Random(seed)
    values = [at_random.formula(rng, names, depth) for _ in range(count)]
    known = {name: rng.random() < 0.5 for name in names if rng.random() < 0.3}
    return values, known


def model_of(found):
    return None if found is None else {NAMES[atom] for atom in members(found)}


@given(st.integers(0, 10**9), st.integers(1, 5))
def test_the_smallest_model_is_the_first_row_of_the_table(seed, count):
    values, known = drawn(seed, count, NAMES[:7])
    expected = oracle.Base(NAMES, values, known).first_model()
    if expected is not None:
        expected = {atom for atom, value in expected.items() if value}
    found = smallest([formula(value) for value in values], facts_of(known))
    assert model_of(found) == expected


@given(st.integers(0, 10**9), st.integers(1, 4))
def test_a_whole_table_that_facts_cut_gives_the_same_model(seed, count):
    values, _ = drawn(seed, count, NAMES[:5], depth=2)
    formulas = [formula(value) for value in values]
    table = WholeTable(formulas, 2**5 - 1)
    for known in oracle.partial_assignments(NAMES[:5]):
        facts = facts_of({**known, NAMES[7]: True})
        assert table.smallest(facts) == smallest(formulas, facts)


@given(st.integers(0, 10**9), st.integers(1, 8), st.integers(0, 5))
def test_a_lower_limit_gives_the_same_model_or_gives_up(seed, count, limit):
    values, known = drawn(seed, count, NAMES[:9], depth=2)
    formulas = [formula(value) for value in values]
    expected = smallest(formulas, facts_of(known))
    try:
        assert smallest(formulas, facts_of(known), limit) == expected
    except TooLarge:
        assert len(NAMES[:9]) - len(known) > limit


@given(st.integers(0, 10**9))
def test_what_facts_settle_is_what_three_valued_truth_says(seed):
    [value], known = drawn(seed, 1, NAMES[:6])
    assert settled(formula(value), facts_of(known)) is kleene(at_random.expression(value), known)


@given(st.integers(0, 2**16 - 1), st.sets(st.integers(0, 3)))
def test_a_projection_keeps_the_rows_that_agree_with_one_of_the_table(table, chosen):
    def code(row):
        return [row >> (3 - place) & 1 for place in sorted(chosen)]

    there = [code(row) for row in range(16) if table >> row & 1]
    expected = sum(1 << row for row in range(16) if code(row) in there)
    assert projection(table, sorted(chosen), 4) == expected


@given(st.integers(0, 10**9), st.integers(1, 8))
def test_components_share_no_open_atom_and_hold_all(seed, count):
    values, known = drawn(seed, count, NAMES[:12], depth=2)
    facts = facts_of(known)
    formulas = [f for f in map(formula, values) if f.support & ~facts.known]
    groups = components(formulas, facts.known)
    assert sorted(id(f) for _, content in groups for f in content) == sorted(map(id, formulas))
    seen = 0
    for mask, content in groups:
        assert not mask & seen
        seen |= mask
        own = 0
        for each in content:
            own |= each.support & ~facts.known
        assert own == mask
    parts = oracle.Base(NAMES, [v for v in values if oracle.atoms_in(v) - set(known)], known)
    assert len(groups) == len(parts.parts())


def test_a_table_has_the_first_atom_as_its_most_significant():
    assert table_of([formula({"atom": "a0"})], [0, 1], Facts(0, 0)) == 0b1100
    assert table_of([formula({"atom": "a1"})], [0, 1], Facts(0, 0)) == 0b1010
    assert table_of([formula({"atom": "a1"}, positive=False)], [1], Facts(0, 0)) == 0b01


def clause(*names):
    return Formula(Op("or", tuple(Atom(name) for name in names)), True, INDEX)


def test_a_large_component_is_made_smaller_where_that_is_possible():
    chain = [
        Formula(Op("implies", (Atom(NAMES[i]), Atom(NAMES[i + 1]))), True, INDEX) for i in range(23)
    ]
    assert smallest(chain, Facts(0, 0)) == 0
    # A unit at its head forces every atom of the chain.
    assert smallest([*chain, clause("a0")], Facts(0, 0)) == 2**24 - 1
    assert smallest([*chain, clause("a0")], facts_of({"a23": False})) is None
    # Facts in its middle cut it in two.
    cut = facts_of({"a12": True})
    assert model_of(smallest(chain, cut)) == {f"a{i}" for i in range(13, 24)}
    # Nothing helps where each formula holds all atoms.
    parity = Atom("a0")
    for name in NAMES[1:]:
        parity = Op("xor", (parity, Atom(name)))
    both = [Formula(parity, True, INDEX), Formula(parity, False, INDEX)]
    assert model_of(smallest(both[:1], Facts(0, 0))) == {"a23"}
    with pytest.raises(TooLarge):
        smallest(both, Facts(0, 0))


def test_a_long_disjunction_needs_no_large_table():
    everything = Op("and", tuple(Atom(name) for name in NAMES))
    refuted = Formula(everything, False, INDEX)
    assert smallest([refuted], Facts(0, 0)) == 0
    assert smallest([refuted], facts_of(dict.fromkeys(NAMES[1:7], True))) == 0
    assert model_of(smallest([clause(*NAMES)], Facts(0, 0))) == {"a23"}
    blocked = [Formula(Atom(name), False, INDEX) for name in NAMES]
    assert smallest([clause(*NAMES), *blocked], Facts(0, 0)) is None
