"""The rule of chapter 6: against a plain reading of its sentences, and on what the book holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.intervals import Interval
from chaincheck.recipe_choice import Candidate, choose
from chaincheck.training_records import ARMS, CHOSEN, recorded_seeds
from chaincheck.training_results import SeedResult, measure_runs

REAL, FICT = "real", "fict"


@dataclass(frozen=True)
class Row:
    edit_effect: Interval
    contrast: Interval


@dataclass(frozen=True)
class Run:
    """What the rule reads of a run: EE and Sigma by variant."""

    values: dict[str, tuple[float, float]]

    def row(self, variant: str) -> Row:
        edit, sigma = self.values[variant]
        return Row(*(Interval(value, value, value, "none") for value in (edit, sigma)))


def run(edit: float, real: float, fict: float) -> Run:
    return Run({REAL: (edit, real), FICT: (0.0, fict)})


def chosen_of(found: Mapping[str, Sequence[Run]], most: float = 0.05) -> list[Candidate]:
    """The rule, with runs that hold no more than it reads."""
    return choose(cast("Mapping[str, Sequence[SeedResult]]", found), "mine", most_edit=most)


def test_the_best_of_those_that_pass_comes_first() -> None:
    found = {
        "mine": [run(0.2, 0.3, 0.3)],
        "leans": [run(-0.06, 0.5, 0.5)],
        "loses": [run(0.0, 0.5, 0.29)],
        "good": [run(-0.05, 0.3, 0.4), run(0.05, 0.4, 0.3)],
        "better": [run(0.09, 0.35, 0.4), run(-0.01, 0.35, 0.31)],
        "unmade": [],
    }
    chosen = chosen_of(found)
    assert [one.arm for one in chosen] == ["better", "good", "leans", "mine", "loses"]
    assert [one.refused is None for one in chosen] == [True, True, False, False, False]
    assert "edit effect" in str(chosen[2].refused)
    assert "invented" in str(chosen[4].refused)
    assert chosen[0].runs == 2
    assert chosen[0].lowest == pytest.approx(0.33)


def test_opposite_leans_of_two_runs_cancel_and_the_limit_counts_as_passed() -> None:
    assert chosen_of({"mine": [run(0.4, 0, 0), run(-0.4, 0, 0)]})[0].refused is None
    assert chosen_of({"mine": [run(0.05, 0, 0)]})[0].refused is None
    assert chosen_of({"mine": [run(-0.051, 0, 0)]})[0].refused is not None


_NUMBER = st.floats(-0.5, 0.5)
_RUNS = st.lists(st.builds(run, _NUMBER, _NUMBER, _NUMBER), min_size=1, max_size=4)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), _RUNS), _RUNS, st.floats(0, 0.5))
def test_nothing_that_fails_the_rule_stands_before_what_passes(
    others: dict[str, list[Run]], mine: list[Run], most: float
) -> None:
    found = {"mine": mine, **others}

    def mean(arm: str, variant: str, at: int) -> float:
        return sum(one.values[variant][at] for one in found[arm]) / len(found[arm])

    chosen = chosen_of(found, most)
    ordered = [one.arm for one in chosen]
    assert sorted(ordered) == sorted(found)
    # How far each is from failing; sums in another order may differ in the last digit.
    spare = [
        min(most - abs(mean(arm, REAL, 0)), mean(arm, FICT, 1) - mean("mine", FICT, 1))
        for arm in ordered
    ]
    lower = [
        sum(min(one.values[REAL][1], one.values[FICT][1]) for one in found[arm]) / len(found[arm])
        for arm in ordered
    ]
    for one, room in zip(chosen, spare, strict=True):
        assert abs(room) < 1e-12 or (one.refused is None) == (room > 0)
    first = [low for one, low in zip(chosen, lower, strict=True) if one.refused is None]
    assert first == pytest.approx(sorted(first, reverse=True))


def test_what_cannot_be_chosen_from_is_refused() -> None:
    with pytest.raises(KeyError):
        chosen_of({"mine": []})
    with pytest.raises(KeyError):
        chosen_of({})
    for wrong in (-0.1, float("nan")):
        with pytest.raises(ValueError, match="most_edit"):
            chosen_of({"mine": [run(0, 0, 0)]}, wrong)


def test_what_the_book_calls_chosen_is_what_the_rule_chooses_of_its_records() -> None:
    tried = [arm for arm, how in ARMS.items() if "validation" in how.parts]
    found = measure_runs(tried, part="validation", resamples=50, exchanges=50)
    first = {arm: found[arm][:3] for arm in tried}
    assert {len(runs) for runs in first.values()} == {3}
    assert {tuple(one.seed for one in runs) for runs in first.values()} == {(0, 1, 2)}
    ranked = choose(first, "triplet")
    assert ranked[0].arm == CHOSEN
    assert ranked[0].refused is None
    # Others that were only tried were never asked about the test.
    for arm, how in ARMS.items():
        if how.parts == ("validation",):
            assert not recorded_seeds(arm)
