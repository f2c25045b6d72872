"""Histories of a gate end as the rules of a gate say, whatever the exercise asks of them."""

from __future__ import annotations

import pytest

from chaincheck.gate_histories import HISTORIES, STEPS, CellJudge, run_history
from chaincheck.judges import Judge

# By the rules: nothing of the candidate before the conditions, no change of them, nothing lacking.
ENDS = {
    ("fix", "base", "candidate", "check"): 0,
    ("base before", "fix", "base", "candidate", "check"): 0,
    ("base before", "fix", "candidate", "check"): 0,
    ("candidate before", "fix"): 3,
    ("fix", "candidate before", "base", "check"): 3,
    ("fix", "base", "candidate before", "candidate", "check"): 3,
    ("fix", "base", "candidate", "raise", "check"): 3,
    ("fix", "base", "interrupted", "check"): 2,
    ("fix", "base", "interrupted", "candidate", "check"): 0,
    ("fix", "candidate", "check"): 2,
    ("base",): 2,
    ("fix", "fix"): 2,
}


@pytest.mark.parametrize(("steps", "code"), ENDS.items(), ids=str)
def test_each_ends_as_it_should(steps: tuple[str, ...], code: int) -> None:
    assert run_history(steps) == code


def test_those_of_the_exercise_are_made_of_known_steps() -> None:
    assert {step for steps in HISTORIES.values() for step in steps} <= set(STEPS)
    with pytest.raises(ValueError, match="'nap' is no step"):
        run_history(["nap"])


def test_its_judge_is_one() -> None:
    assert isinstance(CellJudge("a", 1.0), Judge)
    assert CellJudge("a", 1.0).fingerprint != CellJudge("b", 1.0).fingerprint
    assert CellJudge("a", 1.0).fingerprint != CellJudge("a", 1.0, prompt="p").fingerprint
