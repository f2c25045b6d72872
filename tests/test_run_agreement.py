"""How alike runs are: against plain loops, closed forms and made-up runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.cells import CellScores
from chaincheck.intervals import normal_cdf, normal_quantile
from chaincheck.pooled_runs import stacked
from chaincheck.run_agreement import (
    apart_by_chance,
    edit_distances,
    edit_precision,
    order_agreement,
    triplets_to_show,
)
from chaincheck.scores import Joined
from chaincheck.training_results import measure_joined


def runs(orders: Sequence[Sequence[int]], bridges: Sequence[int] | None) -> list[Joined]:
    """Runs whose A is ahead, level or behind as told; D is last always."""
    found = []
    for seed, signs in enumerate(orders):
        a = np.array(signs, dtype=np.float64)
        d, coarse = np.full(len(a), -9.0), None if bridges is None else np.array(bridges)
        cells = CellScores("f", "real", a, np.zeros(len(a)), d, coarse=coarse)
        pairs = (tuple(str(place) for place in range(len(a))),)
        found.append(Joined((cells,), pairs, "data", f"scores {seed}"))
    return found


@st.composite
def worlds(draw: Any) -> tuple[list[list[int]], list[int]]:
    n, count = draw(st.integers(8, 20)), draw(st.integers(2, 4))
    signs = st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n)
    bridges = draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))
    return [draw(signs) for _ in range(count)], bridges


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_agreement_and_kappa_are_those_of_a_plain_loop(
    world: tuple[list[list[int]], list[int]],
) -> None:
    orders, bridges = world
    n = len(bridges)
    shares, chances, kappas = [], [], []
    for one, other in combinations(orders, 2):
        share = sum(x == y for x, y in zip(one, other, strict=True)) / n
        chance = sum(one.count(sign) * other.count(sign) for sign in (-1, 0, 1)) / n**2
        shares.append(share)
        chances.append(chance)
        if chance < 1 - 1e-12:
            kappas.append((share - chance) / (1 - chance))
    found = order_agreement(runs(orders, bridges), "real", resamples=30)
    if not kappas:
        assert found is None
        return
    assert found is not None
    assert found.runs == len(orders)
    assert found.share == pytest.approx(np.mean(shares))
    assert found.chance == pytest.approx(np.mean(chances))
    assert found.kappa.estimate == pytest.approx(np.mean(kappas))
    assert found.kappa.low <= found.kappa.high


def test_what_runs_that_are_alike_or_opposite_agree_on() -> None:
    order = [1, -1] * 10
    alike = order_agreement(runs([order] * 3, range(20)), "real")
    assert alike is not None
    assert (alike.share, alike.kappa.estimate) == (1.0, 1.0)
    assert (alike.kappa.low, alike.kappa.high) == (1.0, 1.0)
    opposite = order_agreement(runs([order, [-sign for sign in order]], range(20)), "real")
    assert opposite is not None
    assert (opposite.share, opposite.kappa.estimate) == (0.0, -1.0)
    # Runs that lean alike agree often, and by that alone: kappa takes it off.
    leaning = [[1] * 9 + [-1], [-1] + [1] * 9]
    found = order_agreement(runs(leaning, range(10)), "real")
    assert found is not None
    assert found.share == pytest.approx(0.8)
    assert found.chance == pytest.approx(0.82)
    assert found.kappa.estimate < 0
    assert order_agreement(runs([order], range(20)), "real") is None
    assert order_agreement(runs([[1] * 5, [1] * 5], range(5)), "real") is None
    with pytest.raises(KeyError):
        order_agreement(runs([order] * 2, range(20)), "fict")


def test_the_interval_of_kappa_draws_bridges_whole() -> None:
    orders = [[1, -1, 1, 1, -1] * 4, [1, -1, -1, 1, 1] * 4]
    one = order_agreement(runs(orders, [4] * 20), "real")
    assert one is not None
    assert one.kappa.high == pytest.approx(one.kappa.low)
    alone = order_agreement(runs(orders, range(20)), "real")
    assert alone is not None
    assert alone.kappa.low < alone.kappa.estimate < alone.kappa.high
    assert order_agreement(runs(orders, None), "real") == alone
    twice = [[sign for sign in signs for _ in (0, 1)] for signs in orders]
    doubled = order_agreement(runs(twice, [place // 2 for place in range(40)]), "real")
    assert doubled is not None
    assert (doubled.kappa.low, doubled.kappa.high) == pytest.approx(
        (alone.kappa.low, alone.kappa.high)
    )


@settings(max_examples=100, deadline=None)
@given(worlds())
def test_precision_is_that_of_sums_over_bridges(world: tuple[list[list[int]], list[int]]) -> None:
    orders, bridges = world
    n, k = len(bridges), len(orders)
    means = [sum(signs) / 2 / n for signs in orders]

    def covariance(one: int, other: int) -> float:
        total = 0.0
        for bridge in set(bridges):
            own = [place for place in range(n) if bridges[place] == bridge]
            first = sum(orders[one][place] / 2 - means[one] for place in own)
            second = sum(orders[other][place] / 2 - means[other] for place in own)
            total += first * second
        return total / n**2

    table = [[covariance(one, other) for other in range(k)] for one in range(k)]
    own = sum(table[one][one] for one in range(k)) / k
    of_mean = sum(map(sum, table)) / k**2
    common = sum(table[x][y] for x in range(k) for y in range(k) if x != y) / (k * (k - 1))
    found = edit_precision(runs(orders, bridges), "real")
    wide = normal_quantile(0.975)
    assert found.one == pytest.approx(wide * own**0.5)
    assert found.now == pytest.approx(wide * max(of_mean, 0) ** 0.5, abs=1e-7)
    assert found.endless == pytest.approx(wide * max(common, 0) ** 0.5, abs=1e-7)


def test_precision_agrees_with_the_bootstrap_of_the_pooled_runs() -> None:
    generator = np.random.default_rng(1)
    liking = generator.normal(size=120)
    orders = [list(np.sign(liking + generator.normal(size=120)).astype(int)) for _ in range(4)]
    some = runs(orders, [place // 2 for place in range(120)])
    together = stacked(some)
    row = measure_joined(("x", None), "f" * 64, together, resamples=4000, exchanges=1).row("real")
    found = edit_precision(some, "real")
    assert (row.edit_effect.high - row.edit_effect.low) / 2 == pytest.approx(found.now, rel=0.08)
    assert found.endless < found.now < found.one
    with pytest.raises(ValueError, match="two"):
        edit_precision(runs(orders[:1], range(120)), "real")


@pytest.mark.parametrize(("limit", "power"), [(0.05, 0.8), (0.02, 0.9), (0.1, 0.5)])
def test_so_many_triplets_show_it_as_often_as_asked(limit: float, power: float) -> None:
    needed = triplets_to_show(60, 0.09, limit, power=power)
    wide = normal_quantile(0.975)

    def shown(n: int) -> float:
        """How often the whole interval of a mean that is zero lies within the limit."""
        error = 0.09 / wide * (60 / n) ** 0.5
        return max(0.0, 2 * normal_cdf(limit / error - wide) - 1)

    assert shown(needed) >= power > shown(needed - 1)
    with pytest.raises(ValueError, match="above 0"):
        triplets_to_show(60, 0.09, 0.0)


def test_runs_that_are_one_run_are_not_apart_and_opposite_ones_are() -> None:
    order = [1, 1, -1] * 10
    bridges = list(range(30))
    alike = runs([order] * 3, bridges)
    assert apart_by_chance(alike, "real", resamples=200) == (0, 3)
    ahead, behind = [1] * 25 + [-1] * 5, [-1] * 25 + [1] * 5
    mixed = runs([ahead, behind, ahead], bridges)
    assert apart_by_chance(mixed, "real", resamples=200) == (2, 3)
    assert apart_by_chance(mixed, "real", "chain_effect", resamples=200) == (0, 3)
    with pytest.raises(KeyError):
        apart_by_chance(mixed, "fict")


def test_distances_do_not_cancel() -> None:
    some = runs([[1, -1, 0, 1], [0, 0, 0, 0]], range(4))
    assert edit_distances(some, "real") == [0.75, 0.0]
    with pytest.raises(KeyError):
        edit_distances(some, "fict")
