"""Checkers of chapter 6."""

from __future__ import annotations

from itertools import permutations
from math import comb
from pathlib import Path

import pytest

from chaincheck.exercises import check
from chaincheck.exercises_mending import CALM, FEW, made_up_recipes, three_runs
from chaincheck.recipe_choice import MOST_EDIT


def noise(n: int) -> float:
    """Expected |X/n - 1/2| of n fair coins, by summing over the binomial."""
    return sum(comb(n, k) * abs(k / n - 0.5) for k in range(n + 1)) / 2**n


def test_what_chance_gives_is_the_sum_over_the_binomial() -> None:
    enough = next(n for n in range(1, 2000) if noise(n) <= CALM)
    assert check("6.1", (noise(FEW), enough)).right
    assert check("6.1", (round(noise(FEW), 3), enough)).right
    for wrong in ((noise(FEW) + 0.01, enough), (noise(FEW), enough // 2), (noise(FEW), 2 * enough)):
        assert not check("6.1", wrong).right
    assert not check("6.1", (noise(FEW), 400.5)).right
    assert not check("6.1", (noise(FEW), -1)).right


def test_a_mean_of_sigmas_is_not_the_sigma_of_means() -> None:
    runs = three_runs()
    single = sum(chain - abs(edit) for chain, edit in runs) / len(runs)
    pooled = sum(chain for chain, _ in runs) / 3 - abs(sum(edit for _, edit in runs) / 3)
    assert pooled - single > 0.05
    assert check("6.2", (round(single, 2), round(pooled, 2))).right
    assert not check("6.2", (pooled, single)).right
    assert not check("6.2", (single, single)).right


def test_the_rule_by_hand_is_the_chapters() -> None:
    found = made_up_recipes()
    assert MOST_EDIT == 0.05
    rights = [
        order
        for size in range(1, 6)
        for order in permutations(found, size)
        if check("6.3", order).right
    ]
    assert rights == [("y", "x")]
    assert not check("6.3", "yx").right


def test_the_page_asks_what_is_checked() -> None:
    page = (Path(__file__).parent.parent / "notebooks" / "06_mending.md").read_text("utf-8")
    for name in ("6.1", "6.2", "6.3"):
        assert f'check("{name}", answer)' in page
    assert pytest.approx(noise(FEW), abs=0.001) == 0.061
