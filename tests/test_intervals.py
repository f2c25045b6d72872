import math
from fractions import Fraction

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck import intervals
from chaincheck.intervals import (
    Interval,
    contrast_bounds,
    contrast_interval,
    mean_interval,
    normal_cdf,
    normal_quantile,
    percentile_bounds,
    percentile_interval,
    t_quantile,
    wilson,
)


def test_public_names_are_pinned():
    assert intervals.__all__ == [
        "FloatArray",
        "IntArray",
        "Interval",
        "contrast_bounds",
        "contrast_interval",
        "fewest_units",
        "mean_interval",
        "normal_cdf",
        "normal_quantile",
        "percentile_bounds",
        "percentile_interval",
        "t_quantile",
        "too_few",
        "unbounded",
        "wilson",
    ]


def test_interval_knows_its_width_and_what_it_covers():
    interval = Interval(0.2, 0.1, 0.4, "by hand")
    assert interval.width == pytest.approx(0.3)
    assert interval.covers(0.1)
    assert interval.covers(0.4)
    assert not interval.covers(0.41)


@pytest.mark.parametrize(
    ("df", "expected"),  # known 0.975 quantiles
    [
        (1, 12.70620474),
        (2, 4.30265273),
        (3, 3.18244631),
        (5, 2.57058184),
        (10, 2.22813885),
        (30, 2.04227246),
        (100, 1.98397152),
        (1000, 1.96233908),
    ],
)
def test_t_quantile_agrees_with_known_values(df, expected):
    assert t_quantile(0.975, df) == pytest.approx(expected, abs=1e-7)
    assert t_quantile(0.025, df) == pytest.approx(-expected, abs=1e-7)


def test_t_quantile_has_no_step_where_the_method_changes():
    steps = np.diff([t_quantile(0.975, df) for df in range(195, 207)])
    assert np.all(steps < 0)
    assert np.ptp(np.diff(steps)) < 1e-6


def test_t_quantile_refuses_what_has_no_answer():
    with pytest.raises(ValueError, match="probability"):
        t_quantile(1.0, 5)
    with pytest.raises(ValueError, match="degree"):
        t_quantile(0.9, 0)


def test_normal_functions_invert_each_other():
    for probability in (1e-6, 0.025, 0.5, 0.8, 0.999):
        assert normal_cdf(normal_quantile(probability)) == pytest.approx(probability, rel=1e-9)


@given(
    values=st.lists(st.floats(-5, 5), min_size=1, max_size=40),
    level=st.sampled_from([0.5, 0.9, 0.95]),
)
def test_percentiles_agree_with_the_oracle(values, level):
    low, high = percentile_bounds(values, level)
    tail = (1 - level) / 2
    assert low == pytest.approx(oracles.quantile(values, tail), abs=1e-9)
    assert high == pytest.approx(oracles.quantile(values, 1 - tail), abs=1e-9)


def test_contrast_bounds_take_the_smaller_end_on_each_side():
    minus = np.linspace(0.0, 1.0, 1001)
    plus = np.linspace(-0.5, 2.0, 1001)
    low, high = contrast_bounds(minus, plus)
    assert low == pytest.approx(-0.5 + 2.5 * 0.025)
    assert high == pytest.approx(0.975)
    interval = contrast_interval(0.4, minus, plus)
    assert (interval.estimate, interval.low, interval.high) == (0.4, low, high)
    assert interval.method == "two-sided contrast"


def test_bounds_work_along_an_axis():
    rng = np.random.default_rng(0)
    minus, plus = rng.normal(size=(2, 4, 500))
    both = contrast_bounds(minus, plus)
    assert both.shape == (2, 4)
    for row in range(4):
        assert np.array_equal(both[:, row], contrast_bounds(minus[row], plus[row]))
    assert np.array_equal(percentile_bounds(minus.T, axis=0), percentile_bounds(minus))


@given(data=st.data(), n=st.integers(1, 400))
def test_wilson_solves_the_score_equation(data, n):
    wins = data.draw(st.integers(0, 2 * n)) / 2
    found = wilson(wins, n)
    low, high = oracles.wilson(wins, n, normal_quantile(0.975))
    assert found.estimate == wins / n
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)
    assert 0 <= found.low <= found.estimate <= found.high <= 1


def test_wilson_at_the_ends_is_not_empty():
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    assert wilson(10, 10).low == pytest.approx(0.7224672, abs=1e-6)  # 1/(1 + z^2/n)


def test_wilson_widens_with_the_design_effect_and_never_narrows():
    plain = wilson(60, 100)
    assert wilson(60, 100, design_effect=4).width == pytest.approx(wilson(15, 25).width)
    assert wilson(60, 100, design_effect=0.2) == plain


@pytest.mark.parametrize(("wins", "n"), [(1, 0), (-1, 5), (6, 5), (math.nan, 5)])
def test_wilson_refuses_impossible_counts(wins, n):
    with pytest.raises(ValueError, match=r"n > 0|wins must lie"):
        wilson(wins, n)


@pytest.mark.parametrize("level", [0.0, 1.0, -1, 95])
def test_levels_are_probabilities(level):
    for call in (
        lambda: wilson(1, 2, level),
        lambda: mean_interval([1.0, 2.0], level=level),
        lambda: percentile_interval(0.0, [1.0], level),
    ):
        with pytest.raises(ValueError, match="level"):
            call()


def test_mean_interval_by_hand():
    found = mean_interval([1.0, 2.0, 3.0, 6.0])
    error = math.sqrt((4 + 1 + 0 + 9) / 3 / 4)
    assert found.estimate == 3.0
    assert found.high == pytest.approx(3.0 + 3.18244631 * error, abs=1e-6)
    assert found.low == pytest.approx(3.0 - 3.18244631 * error, abs=1e-6)


def test_equal_clusters_are_as_good_as_their_means():
    rng = np.random.default_rng(3)
    means = rng.normal(size=12)
    spread = np.array([-1.0, 0.0, 1.0])
    values = (means[:, None] + spread).ravel()
    clustered = mean_interval(values, np.repeat(np.arange(12), 3))
    plain = mean_interval(means)
    assert clustered.low == pytest.approx(plain.low)
    assert clustered.high == pytest.approx(plain.high)


def test_clusters_of_one_change_nothing():
    values = np.random.default_rng(4).normal(size=30)
    clustered, plain = mean_interval(values, np.arange(30)[::-1]), mean_interval(values)
    assert clustered.low == pytest.approx(plain.low)
    assert clustered.high == pytest.approx(plain.high)


def test_one_cluster_bounds_nothing():
    for found in (mean_interval([2.0]), mean_interval([1.0, 2.0, 3.0], [7, 7, 7])):
        assert (found.estimate, found.low, found.high) == (2.0, -math.inf, math.inf)


def test_mean_interval_refuses_misfits():
    with pytest.raises(ValueError, match="non-empty"):
        mean_interval([])
    with pytest.raises(ValueError, match="non-empty"):
        mean_interval([[1.0, 2.0]])
    with pytest.raises(ValueError, match="cluster has shape"):
        mean_interval([1.0, 2.0], [0])


def test_mean_interval_covers_at_its_level():
    rng = np.random.default_rng(5)
    held = sum(mean_interval(rng.normal(size=8)).covers(0.0) for _ in range(2000))
    assert abs(held / 2000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 2000)


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.9999])
def test_with_fewer_units_no_data_could_reject_a_coin(level):
    """The surest outcome of m coins is that all agree; it must be rare enough."""
    needed = intervals.fewest_units(level)
    allowed = (1 - Fraction(str(level))) / 2
    assert Fraction(1, 2) ** needed <= allowed
    assert needed == 2 or Fraction(1, 2) ** (needed - 1) > allowed
    assert intervals.fewest_units(0.95) == 6


def test_an_unbounded_interval_keeps_its_estimate():
    known = Interval(0.2, 0.1, 0.4, "by hand", 0.9)
    found = intervals.unbounded(known)
    assert (found.estimate, found.method, found.level) == (0.2, "by hand", 0.9)
    assert known.bounded
    assert not found.bounded
    assert found.covers(-1e9)
