"""What each wrong turn does, against replays whose answer is known."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from msgspec.structs import replace

from chaincheck.adherence.audit import audit
from chaincheck.adherence.examples import CASES, claims_case
from chaincheck.adherence.logic import evaluate
from chaincheck.adherence.solving import Limits
from chaincheck.adherence.wrong_turns import (
    both_sides,
    closed_world,
    crowded_replay,
    partial_readings,
    statuses,
    time_a_check,
    with_gold,
    without,
)

z3 = pytest.importorskip("z3", reason="the extra 'audit' is not installed")


def test_readings_are_left_out() -> None:
    replay = claims_case("A").replay
    silent = without(replay, ["external"])
    assert {one.atom for one in replay.annotations} - {one.atom for one in silent.annotations} == {
        "external"
    }
    assert without(replay, []) == replay
    with pytest.raises(KeyError):
        without(replay, ["nothing"])


def test_every_subset_of_the_readings_comes_once() -> None:
    replay = claims_case("B").replay
    found = [frozenset(one.atom for one in part.annotations) for part in partial_readings(replay)]
    assert len(found) == len(set(found)) == 2**7


@pytest.mark.parametrize("case", CASES)
def test_less_evidence_never_turns_a_status_round(case: str) -> None:
    replay = claims_case(case).replay
    full = audit(replay).overall
    assert set(statuses(replay)) <= {full, "UNKNOWN"}


def test_guessing_accuses_and_clears() -> None:
    assert statuses(claims_case("A").replay, closed_world)["VIOLATED"]
    assert statuses(claims_case("B").replay, closed_world)["SATISFIED"]


def test_a_guess_leaves_nothing_open_and_what_was_read_alone() -> None:
    replay = without(claims_case("A").replay, ["external", "j_opened"])
    guessed = closed_world(replay)
    assert guessed.annotations[: len(replay.annotations)] == replay.annotations
    assert Counter(one.atom for one in guessed.annotations) == Counter(
        one.id for one in replay.protocol.atoms
    )
    unknown = replace(replay, annotations=(replace(replay.annotations[0], value="UNKNOWN"),))
    assert len(closed_world(unknown).annotations) == 1 + len(replay.protocol.atoms)


@pytest.mark.parametrize("case", CASES)
def test_leaked_gold_decides_the_verdict(case: str) -> None:
    recorded = claims_case(case)
    for gold in ("PASS", "FAIL"):
        nothing_read = replace(recorded.replay, annotations=())
        leaky = with_gold(replace(recorded, replay=nothing_read, gold=gold))
        right = gold == recorded.replay.verdict
        assert audit(leaky).dimensions["verdict"] == ("SATISFIED" if right else "VIOLATED")
    with pytest.raises(ValueError, match="nothing to leak"):
        with_gold(replace(recorded, gold=None))


@pytest.mark.parametrize(("claims", "possible"), [(2, True), (3, True), (4, False)])
def test_pigeons_and_holes(claims: int, possible: bool) -> None:
    replay = crowded_replay(claims, 3)
    atoms = [one.id for one in replay.protocol.atoms]
    parts = [*(one.expr for one in replay.protocol.constraints), replay.protocol.decision]
    rows = (dict(zip(atoms, row, strict=True)) for row in product((False, True), repeat=len(atoms)))
    assert any(all(evaluate(part, row) for part in parts) for row in rows) is possible
    passes, fails = both_sides(replay, 10**6)
    assert passes.check() == (z3.sat if possible else z3.unsat)
    assert fails.check() == z3.sat
    found = audit(replay).verdict
    assert found is not None
    assert found.classification == ("UNDERDETERMINED" if possible else "REFUTED")


def test_the_sides_hold_the_readings() -> None:
    passes, fails = both_sides(claims_case("D").replay, 10**6)
    assert passes.check() == z3.unsat
    assert fails.check() == z3.sat


def test_a_limit_is_kept_and_units_repeat() -> None:
    hard = crowded_replay(6, 5)
    runs = [time_a_check(hard, 10**9) for _ in range(3)]
    assert {run.answer for run in runs} == {"unsat"}
    assert len({run.units for run in runs}) == 1
    assert all(run.seconds > 0 for run in runs)
    assert time_a_check(hard, 1).answer == "unknown"
    found = audit(hard, engine="z3", limits=Limits(rlimit=1))
    assert found.verdict is not None
    assert found.verdict.classification == "SOLVER_UNKNOWN"
