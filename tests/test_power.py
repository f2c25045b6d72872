import math

import numpy as np
import oracles
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from chaincheck import power
from chaincheck.intervals import normal_cdf, normal_quantile
from chaincheck.power import (
    both_below,
    contrast_covariance,
    contrast_power,
    detectable,
    expected_edit_noise,
    needed_n,
    win_table,
)

BOTH = normal_quantile(0.975) + normal_quantile(0.8)


def test_public_names_are_pinned():
    assert power.__all__ == [
        "both_below",
        "contrast_covariance",
        "contrast_power",
        "detectable",
        "expected_edit_noise",
        "needed_n",
        "win_table",
    ]


@given(n=st.integers(1, 60), data=st.data())
def test_edit_noise_agrees_with_the_sum_over_all_outcomes(n, data):
    ties = data.draw(st.integers(0, n))
    expected = float(oracles.expected_noise(n, ties))
    assert expected_edit_noise(n, ties) == pytest.approx(expected, abs=1e-12)


def test_edit_noise_is_a_twentieth_at_64():
    assert expected_edit_noise(64) == pytest.approx(0.0497, abs=5e-5)
    assert expected_edit_noise(10**6) == pytest.approx(math.sqrt(2 / math.pi) / 2e3, rel=1e-5)


@pytest.mark.parametrize(("n", "ties"), [(0, 0), (5, 6), (5, -1)])
def test_edit_noise_refuses_impossible_counts(n, ties):
    with pytest.raises(ValueError, match="noise needs"):
        expected_edit_noise(n, ties)


@pytest.mark.parametrize("correlation", [-0.999, -0.7, -0.2, 0.0, 0.4, 0.95])
def test_both_below_at_the_center_is_sheppards_formula(correlation):
    expected = 0.25 + math.asin(correlation) / (2 * math.pi)
    assert both_below(0.0, 0.0, correlation) == pytest.approx(expected, abs=1e-6)


@given(first=st.floats(-4, 4), second=st.floats(-4, 4), correlation=st.floats(-0.95, 0.95))
def test_both_below_is_symmetric_and_within_frechets_bounds(first, second, correlation):
    found = both_below(first, second, correlation)
    assert found == pytest.approx(both_below(second, first, correlation), abs=1e-7)
    p, q = normal_cdf(first), normal_cdf(second)
    assert max(0.0, p + q - 1) - 1e-7 <= found <= min(p, q) + 1e-7


@given(
    first=st.floats(-4, 4),
    second=st.floats(-4, 4),
    distance=st.floats(-6, -1),
    sign=st.sampled_from([-1.0, 1.0]),
)
@settings(max_examples=25, deadline=None)
@example(first=0.786, second=3.3, distance=math.log10(1 - 0.99983), sign=-1.0)
def test_both_below_where_the_two_are_nearly_one(first, second, distance, sign):
    """The integrand is nearly a step there, which few nodes over the whole range would miss."""
    correlation = sign * (1.0 - 10.0**distance)
    found = both_below(first, second, correlation)
    # A plain sum over many thin strips.
    x, width = np.linspace(-8.5, first, 100_001, retstep=True)
    scale = math.sqrt(1.0 - correlation**2)
    inner = np.array([math.erfc(-v) / 2 for v in (second - correlation * x) / scale / 2**0.5])
    strips = inner * np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    plain = width * (strips.sum() - 0.5 * (strips[0] + strips[-1]))
    assert found == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("correlation", [-0.9999999, -0.9999, 0.9999, 0.9999999])
def test_both_below_at_the_center_where_the_two_are_nearly_one(correlation):
    expected = 0.25 + math.asin(correlation) / (2 * math.pi)
    assert both_below(0.0, 0.0, correlation) == pytest.approx(expected, abs=1e-8)


def test_both_below_at_its_limits():
    assert both_below(0.3, 1.0, 1.0) == pytest.approx(normal_cdf(0.3))
    assert both_below(0.3, 1.0, -1.0) == pytest.approx(normal_cdf(0.3) + normal_cdf(1.0) - 1)
    assert both_below(0.3, math.inf, 0.2) == pytest.approx(normal_cdf(0.3))
    assert both_below(-math.inf, math.inf, 0.2) == 0.0
    assert both_below(math.inf, math.inf, 0.2) == 1.0


@given(
    chain=st.floats(-0.5, 0.5),
    edit=st.floats(-0.5, 0.5),
    association=st.floats(-1, 1),
    ties_bd=st.floats(0, 0.6),
    ties_ab=st.floats(0, 0.6),
)
def test_win_table_has_the_effects_it_was_asked_for(chain, edit, association, ties_bd, ties_ab):
    assume(abs(chain) + ties_bd / 2 <= 0.5)
    assume(abs(edit) + ties_ab / 2 <= 0.5)
    table = win_table(chain, edit, association=association, ties_bd=ties_bd, ties_ab=ties_ab)
    assert table.shape == (3, 3)
    assert table.min() >= 0
    assert table.sum() == pytest.approx(1)
    assert table[1].sum() == pytest.approx(ties_bd, abs=1e-9)
    assert table[:, 1].sum() == pytest.approx(ties_ab, abs=1e-9)
    minus, plus, covariance = contrast_covariance(table)
    assert minus == pytest.approx(chain - edit, abs=1e-9)
    assert plus == pytest.approx(chain + edit, abs=1e-9)
    independent = win_table(chain, edit, ties_bd=ties_bd, ties_ab=ties_ab)
    lean = covariance[1, 1] - covariance[0, 0]
    lean -= np.subtract(*np.diag(contrast_covariance(independent)[2])[::-1])
    assert lean * association >= -1e-9


def test_win_table_refuses_what_cannot_be():
    with pytest.raises(ValueError, match="CE"):
        win_table(0.4, 0.0, ties_bd=0.3)
    with pytest.raises(ValueError, match="EE"):
        win_table(0.0, -0.6)
    with pytest.raises(ValueError, match="association"):
        win_table(0.0, 0.0, association=1.5)


def test_detectable_is_280_standard_errors_where_one_contrast_decides():
    covariance = np.array([[4e-4, 0.0], [0.0, 3e-4]])
    assert detectable(covariance, 0.2) == pytest.approx(BOTH * 0.02, rel=1e-6)
    assert detectable(covariance, -0.2) == pytest.approx(BOTH * math.sqrt(3e-4), rel=1e-6)


def test_detectable_is_larger_where_two_contrasts_decide():
    covariance = np.array([[4e-4, 0.0], [0.0, 4e-4]])
    found = detectable(covariance, 0.0)
    each = normal_quantile(0.975) + normal_quantile(math.sqrt(0.8))
    assert found == pytest.approx(each * 0.02, rel=1e-5)


def test_detectable_says_so_where_it_cannot_tell():
    assert detectable(np.zeros((2, 2)), 0.1) is None
    assert detectable(np.full((2, 2), np.inf), 0.1) is None
    assert detectable(np.diag([0.01, 0.0]), -0.1) is None
    assert detectable(np.diag([0.01, 0.0]), 0.1) == pytest.approx(BOTH * 0.1)


@given(
    spread=st.lists(st.floats(-1, 1), min_size=4, max_size=4),
    edit=st.floats(-0.3, 0.3),
    wanted=st.sampled_from([0.5, 0.8, 0.9]),
)
def test_the_detectable_effect_has_the_power_asked_for(spread, edit, wanted):
    root = np.array(spread).reshape(2, 2) / 10
    covariance = root @ root.T + 1e-6 * np.eye(2)
    found = detectable(covariance, edit, power=wanted)
    # Two independent normal ends, drawn; the mean of the larger is higher by 2|EE|.
    draws = np.random.default_rng(0).normal(size=(20_000, 2)) @ np.linalg.cholesky(covariance).T
    gap = 2 * abs(edit)
    means = [found, found + gap] if edit >= 0 else [found + gap, found]
    low = draws + means - normal_quantile(0.975) * np.sqrt(np.diag(covariance))
    # Ends that move together nearly always are reckoned a little too carefully, never too boldly.
    assert -0.02 < np.mean(low.min(axis=1) > 0) - wanted < 0.03


def test_power_at_the_detectable_effect_is_the_power_asked_for():
    table = win_table(0.3, 0.1, association=-0.2)
    minus, plus, covariance = contrast_covariance(table)
    n = needed_n(table, power=0.8)
    assert contrast_power(table, n) >= 0.8 > contrast_power(table, n - 1)
    assert detectable(covariance / n, (plus - minus) / 2) == pytest.approx(minus, rel=0.01)


def test_a_design_effect_costs_triplets():
    table = win_table(0.3, 0.15)
    assert needed_n(table, design_effect=3) == pytest.approx(3 * needed_n(table), abs=3)


def test_no_number_of_triplets_shows_what_is_not_there():
    assert needed_n(win_table(0.2, 0.2)) is None
    assert needed_n(win_table(0.1, -0.3)) is None
    assert needed_n(win_table(1e-5, 0.0)) is None
    assert needed_n(win_table(0.5, 0.5 - 1e-3)) is not None


def test_power_needs_triplets():
    with pytest.raises(ValueError, match="power needs"):
        contrast_power(win_table(0.3, 0.1), 0)
