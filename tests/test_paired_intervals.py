"""Intervals of differences against the oracle, and what they promise by simulation."""

import math

import numpy as np
import oracles_comparison as oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chaincheck import paired_intervals
from chaincheck.intervals import normal_quantile, wilson
from chaincheck.paired_intervals import (
    paired_rate_floor,
    paired_share_interval,
    shows_not_worse,
    sigma_difference_bounds,
    sigma_difference_interval,
    unadjusted_difference_bounds,
)

Z = normal_quantile(0.975)


def draws_of(chain, edit, rng, spread=0.02, shape=(400,)):
    noise = rng.normal(size=(2, *shape)) * spread
    c, e = chain + noise[0], edit + noise[1]
    return np.stack([c - e, c + e])


def test_public_names_are_pinned():
    assert paired_intervals.__all__ == [
        "paired_rate_floor",
        "paired_share_interval",
        "shows_not_worse",
        "sigma_difference_bounds",
        "sigma_difference_interval",
        "unadjusted_difference_bounds",
    ]


@settings(max_examples=80, deadline=None)
@given(
    st.floats(-0.3, 0.3),
    st.floats(-0.1, 0.1),
    st.floats(-0.3, 0.3),
    st.floats(-0.1, 0.1),
    st.integers(0, 99),
)
def test_bounds_agree_with_the_oracle(chain1, edit1, chain2, edit2, seed):
    rng = np.random.default_rng(seed)
    first, second = draws_of(chain1, edit1, rng), draws_of(chain2, edit2, rng)
    resampled = [
        tuple({"chain": (m + p) / 2, "edit": (p - m) / 2} for m, p in (first[:, k], second[:, k]))
        for k in range(first.shape[1])
    ]
    low, high = sigma_difference_bounds(first, second)
    assert (low, high) == pytest.approx(oracle.two_step(resampled), abs=1e-12)
    plain_low, plain_high = unadjusted_difference_bounds(first, second)
    assert low <= plain_low + 1e-12
    assert high >= plain_high - 1e-12
    # Exchanging the judges mirrors the interval.
    assert sigma_difference_bounds(second, first) == pytest.approx([-high, -low], abs=1e-12)


def test_away_from_zero_it_is_the_interval_of_one_mean():
    rng = np.random.default_rng(0)
    first, second = draws_of(0.4, 0.3, rng), draws_of(0.3, -0.3, rng)
    expected = np.quantile(first[0] - second[1], [0.025, 0.975])
    assert sigma_difference_bounds(first, second) == pytest.approx(expected)
    assert unadjusted_difference_bounds(first, second) == pytest.approx(expected)


def test_near_zero_the_choice_is_paid_for():
    rng = np.random.default_rng(1)
    first, second = draws_of(0.4, 0.3, rng), draws_of(0.3, 0.0, rng)
    low, high = sigma_difference_bounds(first, second)
    plain_low, plain_high = unadjusted_difference_bounds(first, second)
    assert low < plain_low
    assert high == plain_high  # only the first judge's choice counts for the upper end


def test_many_data_sets_at_once():
    rng = np.random.default_rng(2)
    first = draws_of(0.3, np.array([[0.0], [0.2]]), rng, shape=(2, 300))
    second = draws_of(0.2, np.array([[0.2], [0.0]]), rng, shape=(2, 300))
    together = sigma_difference_bounds(first, second)
    for k in range(2):
        alone = sigma_difference_bounds(first[:, k], second[:, k])
        assert together[:, k] == pytest.approx(alone)


def test_the_interval_carries_its_method():
    rng = np.random.default_rng(3)
    found = sigma_difference_interval(0.1, draws_of(0.4, 0, rng), draws_of(0.3, 0, rng))
    assert (found.estimate, found.method) == (0.1, "two-step contrast")
    assert found.low < 0.1 < found.high


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        sigma_difference_bounds(np.zeros((2, 5)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match="level"):
        unadjusted_difference_bounds(np.zeros((2, 5)), np.zeros((2, 5)), 1.0)


class TestFloor:
    @settings(max_examples=25, deadline=None)
    @given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 300))
    def test_agrees_with_a_likelihood_maximized_by_search(self, gained, lost, n):
        assume(gained + lost <= 2 * n)
        b, c = gained / 2, lost / 2
        assert paired_rate_floor(b, c, n) == pytest.approx(oracle.floor(b, c, n, Z), abs=2e-6)

    def test_no_discordant_triplet_is_as_little_sure_as_wilson(self):
        for n in (1, 20, 295):
            floor = paired_rate_floor(0, 0, n)
            assert floor == pytest.approx(-(Z**2) / (n + Z**2))
            assert 1 + floor == pytest.approx(wilson(n, n).low)

    def test_more_losses_lower_it_and_clusters_too(self):
        floors = [paired_rate_floor(3, lost, 200) for lost in range(0, 30, 3)]
        assert floors == sorted(floors, reverse=True)
        assert paired_rate_floor(3, 5, 200, design_effect=2.0) < paired_rate_floor(3, 5, 200)
        assert paired_rate_floor(3, 5, 200, design_effect=0.5) == paired_rate_floor(3, 5, 200)

    def test_it_tends_to_the_bound_of_a_mean(self):
        b, c, n = 3000.0, 2500.0, 100_000
        mean = (b - c) / n
        error = math.sqrt(((b + c) / n - mean**2) / n)
        assert paired_rate_floor(b, c, n) == pytest.approx(mean - Z * error, abs=1e-5)

    def test_many_counts_at_once_decide_alike(self):
        gained, lost = np.meshgrid(np.arange(0, 12, 0.5), np.arange(0, 12, 0.5))
        found = shows_not_worse(gained, lost, 122, 0.04)
        alone = [
            paired_rate_floor(b, c, 122) > -0.04
            for b, c in zip(gained.ravel(), lost.ravel(), strict=True)
        ]
        assert found.ravel().tolist() == alone
        assert 0 < found.sum() < found.size

    def test_all_lost(self):
        assert paired_rate_floor(0, 10, 10) == -1.0

    @pytest.mark.parametrize(
        ("n", "gain", "loss"), [(64, 0.02, 0.02), (122, 0.01, 0.04), (295, 0.0, 0.02)]
    )
    @pytest.mark.parametrize("halves", [False, True])
    def test_it_rarely_exceeds_the_truth(self, n, gain, loss, halves):
        rng = np.random.default_rng(n)
        unit = 2 if halves else 1  # ties: twice as many differences, each of one half
        counts = rng.multinomial(n, [gain * unit, loss * unit, 1 - unit * (gain + loss)], size=3000)
        kinds, times = np.unique(counts, axis=0, return_counts=True)
        above = [
            paired_rate_floor(k[0] / unit, k[1] / unit, n) > gain - loss + 1e-12 for k in kinds
        ]
        share = np.sum(times * np.array(above)) / 3000
        assert share <= 0.03 + 4 * math.sqrt(0.03 * 0.97 / 3000)

    @pytest.mark.parametrize("case", [(-1, 0, 5), (3, 3, 5), (0, 0, 0)])
    def test_impossible_counts_are_refused(self, case):
        with pytest.raises(ValueError, match="cannot gain"):
            paired_rate_floor(*case)

    def test_a_level_below_one_half_is_refused(self):
        with pytest.raises(ValueError, match="one-sided"):
            paired_rate_floor(0, 0, 5, 0.05)


class TestPairedShares:
    def test_published_examples(self) -> None:
        """Newcombe (1998, Statistics in Medicine 17), table II, method 10."""
        found = paired_share_interval(36, 12, 2, 0)
        assert [found.estimate, found.low, found.high] == pytest.approx(
            [0.2, 0.0569, 0.3404], abs=5e-5
        )

    @given(*[st.integers(0, 40)] * 4)
    def test_it_is_symmetric_and_within_minus_one_and_one(
        self, both: int, first: int, second: int, neither: int
    ) -> None:
        if both + first + second + neither == 0:
            with pytest.raises(ValueError, match="not all 0"):
                paired_share_interval(0, 0, 0, 0)
            return
        found = paired_share_interval(both, first, second, neither)
        assert -1 - 1e-12 <= found.low <= found.estimate <= found.high <= 1 + 1e-12
        assert found.low < found.high
        turned = paired_share_interval(both, second, first, neither)
        assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
        others = paired_share_interval(neither, first, second, both)
        assert (others.low, others.high) == pytest.approx((found.low, found.high))

    @pytest.mark.parametrize(
        "chances",
        [(0.0, 0.0, 0.02, 0.98), (0.02, 0.1, 0.02, 0.86), (0.3, 0.2, 0.2, 0.3), (0.5, 0.3, 0, 0.2)],
    )
    def test_it_covers_as_it_says(self, chances: tuple[float, ...]) -> None:
        """Exactly, over every outcome of 30 units."""
        n, covered, total = 30, 0.0, 0.0
        truth = chances[1] - chances[2]
        for a in range(n + 1):
            for b in range(n + 1 - a):
                for c in range(n + 1 - a - b):
                    counts = (a, b, c, n - a - b - c)
                    ways = math.factorial(n)
                    chance = 1.0
                    for count, one in zip(counts, chances, strict=True):
                        ways //= math.factorial(count)
                        chance *= one**count
                    if chance == 0.0:
                        continue
                    total += ways * chance
                    found = paired_share_interval(*counts)
                    covered += ways * chance * found.covers(truth)
        assert total == pytest.approx(1.0)
        assert 0.93 < covered <= 1.0
