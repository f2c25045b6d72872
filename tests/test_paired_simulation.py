"""Simulated comparisons: two judges coupled as asked, and intervals that hold or do not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck import paired_simulation
from chaincheck.cells import CellScores
from chaincheck.comparison import compare
from chaincheck.paired_simulation import (
    coupled_table,
    discordance,
    pair_contrasts,
    simulate_comparison,
)
from chaincheck.power import contrast_covariance, win_table


def tables(first, second, **more):
    return (win_table(*pair, association=-0.2, **more) for pair in (first, second))


def study(first, second, n, agreement, *, seed=0, **more):
    settings = {"replicates": 500, "resamples": 400, "exchanges": 200} | more
    table = coupled_table(*tables(first, second), agreement)
    return simulate_comparison(table, n, np.random.default_rng(seed), **settings)


def test_public_names_are_pinned():
    assert paired_simulation.__all__ == [
        "ComparisonStudy",
        "DifferenceCoverage",
        "coupled_table",
        "discordance",
        "pair_contrasts",
        "simulate_comparison",
    ]


effect = st.floats(-0.3, 0.3)


@given(st.tuples(effect, effect), st.tuples(effect, effect), st.floats(0, 1), st.floats(0, 0.3))
def test_coupling_keeps_the_margins(one, other, agreement, ties):
    first = win_table(*one, ties_bd=ties)
    second = win_table(*other, ties_ab=ties)
    table = coupled_table(first, second, agreement)
    assert table.sum(axis=1).reshape(3, 3) == pytest.approx(first, abs=1e-12)
    assert table.sum(axis=0).reshape(3, 3) == pytest.approx(second, abs=1e-12)
    assert table.min() >= 0
    means, covariance = pair_contrasts(table)
    for judge, own in enumerate((first, second)):
        minus, plus, spread = contrast_covariance(own)
        part = slice(2 * judge, 2 * judge + 2)
        assert means[part] == pytest.approx([minus, plus], abs=1e-12)
        assert covariance[part, part] == pytest.approx(spread, abs=1e-12)
    assert covariance[:2, 2:] == pytest.approx(
        agreement * pair_contrasts(coupled_table(first, second, 1.0))[1][:2, 2:], abs=1e-12
    )
    largest = 1 - np.minimum(first, second).sum()
    assert discordance(coupled_table(first, second, 1.0)) == pytest.approx(largest, abs=1e-12)


@pytest.mark.parametrize("agreement", [0.0, 0.7])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((0.35, 0.0), (0.35, 0.0)),
        ((0.35, 0.0), (0.25, 0.0)),
        ((0.4, 0.15), (0.25, 0.0)),
        ((0.25, 0.0), (0.4, 0.15)),
        ((0.4, 0.2), (0.4, -0.2)),
    ],
)
def test_the_two_step_interval_covers(first, second, agreement):
    found = study(first, second, 122, agreement)
    truth = (first[0] - abs(first[1])) - (second[0] - abs(second[1]))
    assert found.truth == pytest.approx(truth)
    assert found.two_step.coverage >= 0.945 - 4 * found.error(0.05)
    for tail in (found.two_step.miss_low, found.two_step.miss_high):
        assert tail <= 0.03 + 4 * found.error(0.03)
    assert found.two_step.width >= found.unadjusted.width >= 0.99 * found.percentile.width


def test_ties_are_covered_too():
    first, second = tables((0.25, 0.1), (0.15, 0.0), ties_bd=0.2, ties_ab=0.5)
    rng = np.random.default_rng(0)
    table = coupled_table(first, second, 0.5)
    found = simulate_comparison(table, 122, rng, replicates=500, resamples=400, exchanges=2)
    assert found.truth == pytest.approx(0.0)
    assert found.two_step.coverage >= 0.945 - 4 * found.error(0.05)
    assert found.two_step.miss_low <= 0.03 + 4 * found.error(0.03)


def test_the_percentile_interval_fails_where_one_edit_effect_is_zero():
    found = study((0.4, 0.15), (0.25, 0.0), 122, 0.7, replicates=1000)
    assert found.bias > 0.02
    assert found.percentile.miss_low > 0.06
    assert found.unadjusted.miss_low > found.two_step.miss_low
    assert found.percentile.coverage < 0.93


def test_the_sign_flip_test_holds_for_interchangeable_judges_and_only_for_them():
    same = study((0.3, 0.05), (0.3, 0.05), 64, 0.7, replicates=800)
    assert same.sign_flip_rejects <= 0.05 + 4 * same.error(0.05)
    # One Sigma, two judges: what is rejected is that they are interchangeable.
    other = study((0.4, 0.15), (0.25, 0.0), 122, 0.7, replicates=800)
    assert other.truth == pytest.approx(0.0)
    assert other.sign_flip_rejects > 0.08


def test_the_study_agrees_with_comparing_data_sets_one_by_one():
    table = coupled_table(*tables((0.4, 0.1), (0.3, 0.0)), 0.5)
    rng = np.random.default_rng(5)
    held, rejected = [], []
    for _ in range(150):
        kinds = rng.choice(81, size=60, p=table.ravel() / table.sum())
        judges = []
        for code in (kinds // 9, kinds % 9):
            b_over_d, a_over_b = code // 3 - 1.0, code % 3 - 1.0
            judges.append(CellScores("f", "v", 0.5 * a_over_b, np.zeros(60), -b_over_d))
        found = compare(*judges, rng, resamples=300, exchanges=200)
        held.append(found.selectivity.interval.covers(0.0))
        rejected.append(found.selectivity.p <= 0.05)
    many = simulate_comparison(table, 60, rng, replicates=1500, resamples=300, exchanges=200)
    assert many.truth == pytest.approx(0.0)
    assert np.mean(held) == pytest.approx(many.two_step.coverage, abs=0.06)
    assert np.mean(rejected) == pytest.approx(many.sign_flip_rejects, abs=0.1)


def test_chunks_do_not_change_the_shapes(monkeypatch):
    monkeypatch.setattr(paired_simulation, "_CHUNK", 5000)
    found = study((0.3, 0.1), (0.3, 0.1), 50, 0.5, replicates=30, resamples=50, exchanges=50)
    assert found.replicates == 30
    assert 0 <= found.two_step.coverage <= 1


def test_misfits_are_refused():
    rng = np.random.default_rng(0)
    first, second = tables((0.3, 0.0), (0.3, 0.0))
    with pytest.raises(ValueError, match="agreement"):
        coupled_table(first, second, 1.5)
    with pytest.raises(ValueError, match="3 x 3"):
        coupled_table(first, second * 2, 0.5)
    with pytest.raises(ValueError, match="9 x 9"):
        simulate_comparison(first, 10, rng)
    with pytest.raises(ValueError, match="at least 1"):
        simulate_comparison(coupled_table(first, second), 10, rng, exchanges=0)
