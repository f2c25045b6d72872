"""The simulated judge does what its habits say, and the second reader slips as told."""

from __future__ import annotations

import numpy as np
import pytest

from chaincheck.adherence.audit import audit
from chaincheck.adherence.decode import decode_replay
from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.rates import clopper_pearson
from chaincheck.adherence.replay import Recorded
from chaincheck.adherence.simulated import Habits, reread, simulate

NEVER = Habits(false_claim=0.0, over_claim=0.0, against_findings=0.0, recalls=0.0, silent=0.0)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_same_seed_gives_the_same_replays() -> None:
    assert simulate(rng(3), 5) == simulate(rng(3), 5)
    assert simulate(rng(3), 5) != simulate(rng(4), 5)


def test_a_judge_without_faults_is_satisfied() -> None:
    for one in simulate(rng(), 20, NEVER):
        assert audit(one.recorded.replay).overall == "SATISFIED"
        assert one.recorded.gold == one.recorded.replay.verdict == "PASS"


@pytest.mark.parametrize(
    ("habits", "dimension"),
    [
        (Habits(1.0, 1.0, 0.0, 0.0, 0.0), "grounding"),
        (Habits(0.5, 0.0, 1.0, 0.0, 0.0), "verdict"),
        (Habits(0.5, 0.0, 0.0, 1.0, 0.0), "procedure"),
    ],
)
def test_each_fault_violates_its_own_dimension(habits: Habits, dimension: str) -> None:
    for one in simulate(rng(), 10, habits):
        dimensions = audit(one.recorded.replay).dimensions
        assert {name for name, status in dimensions.items() if status == "VIOLATED"} == {dimension}


def test_silence_hides_what_was_recalled() -> None:
    drawn = simulate(rng(), 10, Habits(0.5, 0.0, 0.0, 0.5, 1.0))
    assert {audit(one.recorded.replay).dimensions["procedure"] for one in drawn} == {"UNKNOWN"}
    assert {one.recalled for one in drawn} == {True, False}


def test_the_true_shares_are_those_of_the_draws() -> None:
    habits = Habits(silent=0.0)
    drawn = [audit(one.recorded.replay, explain=False) for one in simulate(rng(1), 400, habits)]
    for name, share in habits.violated().items():
        if name == "overall":
            count = sum(one.overall == "VIOLATED" for one in drawn)
        else:
            count = sum(status == "VIOLATED" for one in drawn for status in _of(one, name))
        low, high = clopper_pearson(count, len(drawn), 0.999)
        assert low <= share <= high, name


def _of(found: object, name: str) -> list[str]:
    return [found.dimensions[name]]  # type: ignore[attr-defined]


def test_a_second_reading_without_slips_is_the_first() -> None:
    replay = simulate(rng(), 1)[0].recorded.replay
    assert reread(rng(), replay, {}) == replay


def test_every_reading_slips_where_told_and_still_decodes() -> None:
    for one in simulate(rng(), 10):
        replay = one.recorded.replay
        roles = replay.protocol.roles()
        again = reread(rng(), replay, {"judge": 1.0, "context": 1.0}, wider=1.0)
        for before, after in zip(replay.annotations, again.annotations, strict=True):
            same = roles[before.atom] == "procedure" or before.value == "UNKNOWN"
            assert (before.value == after.value) is same
            if before.value != "UNKNOWN":
                assert all(span.start == 0 for span in after.evidence)
        read = decode_replay(encode_replay(Recorded(again)), path="again")
        assert read.replay == again
