"""The audit against whole truth tables, for every engine and every field."""

import json
import os
import random
from pathlib import Path

import oracles_adherence as oracle
import pytest
import replays_at_random as at_random

from chaincheck.adherence.audit import audit
from chaincheck.adherence.decode import read_replay
from chaincheck.adherence.solving import Limits

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "adherence"
# The full counts, 2,000 replays for each engine, take some minutes.
REPLAYS = int(os.environ.get("CHAINCHECK_REPLAYS", "0"))


def side(witness):
    return None if witness is None else (dict(witness.values), witness.possibilities)


def answer(finding):
    return finding.classification, side(finding.when_true), side(finding.when_false)


def fields(found):
    """What the oracle says, read off an audit."""
    return {
        "bases": dict(found.bases),
        "verdict": answer(found.verdict),
        "procedure": [answer(r.met) for r in found.requirements],
        "coverage": [
            None if r.addressed is None else answer(r.addressed) for r in found.requirements
        ],
        "grounding": [answer(pair.agree) for pair in found.grounding],
        "details": [r.detail for r in found.requirements],
        "conflicting_coverage": [r.id for r in found.requirements if r.warning is not None],
        "mismatches": [pair.mismatch for pair in found.grounding],
        "dimensions": dict(found.dimensions),
        "overall": found.overall,
        "unannotated": found.unannotated,
    }


def check_conflicts(value, found):
    unsat = {base for base, status in found.bases.items() if status == "UNSAT"}
    assert found.conflicts.keys() == unsat
    for base, conflict in found.conflicts.items():
        assert conflict.smallest
        expected = oracle.first_smallest_conflict(value, base)
        assert (conflict.constraints, conflict.annotations) == expected, base


def check_settlement(value, found):
    if found.verdict.classification != "UNDERDETERMINED":
        assert found.settlement is None
        return
    chosen, needed = oracle.first_smallest_settling_set(value)
    assert found.settlement.necessary == needed
    assert found.settlement.atoms == chosen


def check_radius(value, found):
    expected = oracle.first_smallest_flips(value, 3)
    if expected is None:
        assert found.radius.flips is None
    else:
        assert (found.radius.annotations, found.radius.overall) == expected


def check(value, found):
    assert fields(found) == oracle.audit(value)
    check_conflicts(value, found)
    check_settlement(value, found)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.expected.json")), ids=lambda p: p.name)
@pytest.mark.parametrize("engine", ["auto", "z3", "bitset"])
def test_shared_examples_have_their_expected_reports(path, engine):
    expected = json.loads(path.read_text())
    found = audit(
        read_replay(path.with_name(path.name.replace(".expected", ""))).replay, engine=engine
    )
    got = fields(found)
    for key in ("overall", "bases", "dimensions"):
        assert got[key] == expected[key]
    assert got["verdict"][0] == expected["verdict"]
    for key in ("procedure", "coverage", "grounding"):
        assert [each[0] for each in got[key]] == expected[key]


def random_replays(count, seed, sizes=(3, 9)):
    rng = random.Random(seed)
    for number in range(count):
        kind = at_random.KINDS[number % len(at_random.KINDS)]
        yield at_random.replay(rng, rng.randint(*sizes), kind)


@pytest.mark.parametrize(
    ("engine", "limits", "count"),
    [
        ("bitset", Limits(), 300),
        ("auto", Limits(), 60),
        # A table of two atoms: nearly every question mixes tables and Z3.
        ("auto", Limits(table_atoms=2), 40),
        ("z3", Limits(), 40),
    ],
)
def test_random_replays_agree_with_truth_tables(engine, limits, count):
    for number, value in enumerate(random_replays(REPLAYS or count, seed=count)):
        found = audit(at_random.replay_of(value), engine=engine, limits=limits)
        check(value, found)
        if number % 5 == 0 or REPLAYS:
            check_radius(value, found)


def block_conflict(value, base):
    """The oracle's conflict where constraints stay within blocks: the best of the blocks'."""
    protocol = value["protocol"]
    order = [a["id"] for a in protocol["atoms"]]
    exprs = [c["expr"] for c in protocol["constraints"]]
    best = None
    for atoms, members in oracle.Base(order, exprs, {}).parts():
        part = {
            "protocol": {
                **protocol,
                "constraints": [c for c in protocol["constraints"] if c["expr"] in members],
            },
            "annotations": [
                a if a["atom"] in atoms else {"atom": a["atom"], "value": "UNKNOWN"}
                for a in value["annotations"]
            ],
        }
        found = oracle.first_smallest_conflict(part, base)
        if found is not None:
            names, places = found
            numbers = [n for n, c in enumerate(protocol["constraints"]) if c["id"] in names]
            said = [order.index(value["annotations"][place]["atom"]) for place in places]
            rank = (len(names) + len(places), [*numbers, *(len(exprs) + atom for atom in said)])
            best = min(best or (rank, found), (rank, found))
    return best[1]


@pytest.mark.parametrize(
    ("engine", "limits", "count"),
    [("auto", Limits(), 12), ("auto", Limits(table_atoms=4), 6), ("z3", Limits(), 6)],
)
def test_a_hundred_atoms_agree_with_truth_tables_of_their_parts(engine, limits, count):
    rng = random.Random(count)
    for _ in range(REPLAYS // 10 or count):
        value = at_random.large(rng, 100, unknown=rng.choice((0.1, 0.4, 0.7)))
        found = audit(at_random.replay_of(value), engine=engine, limits=limits, explain=False)
        assert fields(found) == oracle.audit(value)
        for base, conflict in found.conflicts.items():
            assert conflict.smallest
            expected = block_conflict(value, base)
            assert (conflict.constraints, conflict.annotations) == expected
        if found.verdict.classification == "UNDERDETERMINED":
            explained = audit(
                at_random.replay_of(value),
                engine=engine,
                limits=Limits(table_atoms=limits.table_atoms, flips=1),
            )
            check_settlement(value, explained)
            check_single_flips(value, explained)


def check_single_flips(value, found):
    """Every single flip, as a replay of its own."""
    for place, _, said in oracle.literals(value["annotations"]):
        annotations = list(value["annotations"])
        annotations[place] = {**annotations[place], "value": "FALSE" if said else "TRUE"}
        then = oracle.audit({**value, "annotations": annotations})["overall"]
        if then != found.overall:
            assert (found.radius.annotations, found.radius.overall) == ((place,), then)
            return
    assert found.radius.flips is None
    assert found.radius.reason == "not found within limit 1"


@pytest.mark.parametrize(
    ("engine", "formulas", "size"), [("bitset", 150, 3), ("auto", 10, 4), ("z3", 6, 3)]
)
def test_random_formulas_under_every_partial_assignment(engine, formulas, size):
    """As a requirement, as coverage and as the decision, under a constraint."""
    rng = random.Random(formulas)
    names = [f"p{i}" for i in range(size)]
    for _ in range(formulas if not REPLAYS else 150):
        value = {
            "id": "formula",
            "translation_status": "valid",
            "protocol": {
                "id": "formula/1",
                "atoms": [{"id": name, "role": "procedure"} for name in names],
                "constraints": [{"id": "k", "expr": at_random.formula(rng, names, 2)}],
                "decision": at_random.formula(rng, names, 3),
                "requirements": [
                    {
                        "id": "r",
                        "expr": at_random.formula(rng, names, 3),
                        "addressed": at_random.formula(rng, names, 2),
                    }
                ],
                "grounding": [],
            },
            "verdict": rng.choice(("PASS", "FAIL")),
        }
        protocol = at_random.protocol_of(value["protocol"])
        for facts in oracle.partial_assignments(names):
            value["annotations"] = [
                {"atom": atom, "value": str(known).upper()} for atom, known in facts.items()
            ]
            replay = at_random.replay_of(value, protocol)
            found = audit(replay, engine=engine, explain=False)
            assert fields(found) == oracle.audit(value)
