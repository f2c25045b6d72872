"""One threshold for all questions: against a loop over all pairs of contexts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.across_questions import across_questions, parted_by_threshold
from chaincheck.cells import CellScores
from chaincheck.scores import Joined


def said(rows: list[tuple[int, int, int]], bridges: list[int] | None = None) -> Joined:
    a, b, d = np.array(rows, dtype=np.float64).T
    coarse = None if bridges is None else np.array(bridges)
    cells = CellScores("f", "real", a, b, d, coarse=coarse)
    return Joined((cells,), (tuple(str(place) for place in range(len(rows))),), "data", "scores")


@st.composite
def worlds(draw: Any) -> tuple[list[list[tuple[int, int, int]]], list[int]]:
    n = draw(st.integers(2, 9))
    score = st.integers(-3, 3)
    row = st.tuples(score, score, score)
    runs = draw(st.lists(st.lists(row, min_size=n, max_size=n), min_size=1, max_size=3))
    return runs, draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_it_is_the_share_of_pairs_of_contexts(
    world: tuple[list[list[tuple[int, int, int]]], list[int]],
) -> None:
    runs, bridges = world
    wins = []
    for rows in runs:
        for whole in (one[cell] for one in rows for cell in (0, 1)):
            for broken in (one[2] for one in rows):
                wins.append(1.0 if whole > broken else 0.5 if whole == broken else 0.0)
    found = across_questions([said(rows, bridges) for rows in runs], "real", resamples=40)
    assert found.estimate == pytest.approx(np.mean(wins))
    assert -1e-12 <= found.low <= found.high <= 1 + 1e-12


def test_the_interval_resamples_bridges_whole() -> None:
    """Twenty times the same bridge is one bridge: nothing is drawn but it."""
    generator = np.random.default_rng(0)
    rows = [tuple(map(int, generator.integers(-9, 9, 3))) for _ in range(20)]
    one = across_questions([said(rows, [4] * 20)], "real", resamples=200)
    assert one.high - one.low == pytest.approx(0.0, abs=1e-12)
    alone = across_questions([said(rows, list(range(20)))], "real", resamples=500)
    assert alone.low < alone.estimate < alone.high
    assert across_questions([said(rows)], "real", resamples=500) == alone
    again = [row for row in rows for _ in (0, 1)]
    doubled = across_questions(
        [said(again, [place // 2 for place in range(40)])], "real", resamples=500
    )
    assert doubled.estimate == pytest.approx(alone.estimate)
    assert (doubled.low, doubled.high) == pytest.approx((alone.low, alone.high))


def test_scores_that_follow_the_question_cannot_be_parted_by_one_threshold() -> None:
    rows = [(10 * place + 1, 10 * place + 1, 10 * place) for place in range(30)]
    found = across_questions([said(rows)], "real", resamples=50)
    assert found.estimate == pytest.approx((30 * 31 / 2) / 900)
    with pytest.raises(KeyError):
        across_questions([said(rows)], "fict")
    with pytest.raises(ValueError, match="no run"):
        across_questions([], "real")


def test_what_a_threshold_parts_is_counted() -> None:
    rows = [(1, 1, 0), (1, -1, 0), (0, 1, 0), (0, -2, 0)]
    assert parted_by_threshold([said(rows), said(rows[:2])], "real") == [0.5, 0.5]
    assert parted_by_threshold([said(rows)], "real", -1.5) == [0.25]
    assert parted_by_threshold([], "real") == []
    with pytest.raises(KeyError):
        parted_by_threshold([said(rows)], "fict")
