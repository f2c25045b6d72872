"""The published baseline as counts, against the record of what was published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.published import BASELINE, PublishedRow, counts_behind, published_row
from chaincheck.selectivity import measure

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "published.json"
IDS = [f"{row.file}-{row.variant}" for row in BASELINE]


def recorded() -> dict[tuple[str, str], dict[str, Any]]:
    if not GOLDEN.is_file():
        pytest.skip("the record of the published figures is not beside this checkout")
    rows = json.loads(GOLDEN.read_text(encoding="utf-8"))["rows"]
    return {(row["file"], row["variant"]): row for row in rows}


def test_the_rows_are_those_of_the_record() -> None:
    record = recorded()
    assert [(row.file, row.variant) for row in BASELINE] == list(record)
    for row in BASELINE:
        told = record[row.file, row.variant]
        assert row == PublishedRow(
            row.file,
            row.variant,
            told["pairs"],
            told["wins_A_over_D"],
            told["wins_B_over_D"],
            told["wins_A_over_B"],
            told["nominal"],
            told["chain_effect"],
            told["edit_effect"],
            told["selectivity"],
            *told["selectivity_ci95"],
            both=tuple(told["joint_BD_and_AB"]),
        )


@pytest.mark.parametrize("row", BASELINE, ids=IDS)
@pytest.mark.parametrize("step", [1.0, 0.5])
def test_no_other_count_gives_the_published_digits(row: PublishedRow, step: float) -> None:
    assert counts_behind(row.nominal, row.n, step=step) == [row.wins_ad]
    assert counts_behind(0.5 + row.chain_effect, row.n, step=step) == [row.wins_bd]
    assert counts_behind(0.5 + row.edit_effect, row.n, step=step) == [row.wins_ab]


@pytest.mark.parametrize("row", BASELINE, ids=IDS)
def test_scores_win_as_often_and_give_the_published_figures(row: PublishedRow) -> None:
    for both in (row.both[0], None, row.both[1]):
        scores = row.scores(both)
        found = measure(scores, np.random.default_rng(0))
        wins = [found.comparisons[name].wins for name in ("A>D", "B>D", "A>B")]
        assert wins == [row.wins_ad, row.wins_bd, row.wins_ab]
        assert set(found.ties.values()) == {0}
        joint = np.sum((scores.b > scores.d) & (scores.a > scores.b))
        assert joint == (sum(row.both) // 2 if both is None else both)
        assert f"{found.nominal.estimate:.3f}" == f"{row.nominal:.3f}"
        assert f"{found.chain_effect.estimate:.3f}" == f"{row.chain_effect:.3f}"
        assert f"{found.edit_effect.estimate:.3f}" == f"{row.edit_effect:.3f}"
        assert f"{found.selectivity:.3f}" == f"{row.selectivity:.3f}"


@pytest.mark.parametrize("row", BASELINE, ids=IDS)
def test_the_kit_interval_lies_within_one_step_of_the_published_one(row: PublishedRow) -> None:
    kit = measure(row.scores(), np.random.default_rng(0)).kit
    # The published ends are rounded to three digits.
    assert abs(kit.low - row.low) <= 1 / row.n + 0.0005
    assert abs(kit.high - row.high) <= 1 / row.n + 0.0005


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="no 324 triplets have 300 wins"):
        BASELINE[0].scores(both=300)


def test_rows_are_found_by_name() -> None:
    assert published_row("twowiki_replication", "real").n == 295
    with pytest.raises(KeyError, match="no published row"):
        published_row("twowiki_replication", "decoy")


@given(st.integers(1, 600), st.data())
def test_the_true_count_is_always_among_those_found(n: int, data: st.DataObject) -> None:
    halves = data.draw(st.integers(0, 2 * n))
    published = float(f"{halves / (2 * n):.3f}")
    found = counts_behind(published, n, step=0.5)
    assert halves / 2 in found
    if n < 500:  # half a win moves the rate by more than the last digit
        assert found == [halves / 2]
