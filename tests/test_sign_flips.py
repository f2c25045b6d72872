"""The sign-flip test against all exchanges there are, and its type I error by simulation."""

import numpy as np
import oracles_comparison as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck import sign_flips
from chaincheck.resampling import half_wins
from chaincheck.sign_flips import flipped_sums, holm, sign_flip_test

NAMES = {
    "nominal": "nominal",
    "chain": "chain_effect",
    "edit": "edit_effect",
    "sigma": "selectivity",
}
few = st.integers(-1, 1).map(float)


def seeded(seed=0):
    return np.random.default_rng(seed)


def outcomes(judge):
    a, b, d = (np.asarray(column) for column in judge)
    return np.column_stack([half_wins(a, d), half_wins(b, d), half_wins(a, b)]).astype(np.int64)


@st.composite
def two_judges(draw, longest=8):
    n = draw(st.integers(1, longest))
    column = st.lists(few, min_size=n, max_size=n)
    judge = st.tuples(column, column, column)
    return draw(judge), draw(judge), draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))


def close_to(shares, found, exchanges):
    for name, share in shares.items():
        p = float(share)
        error = 6 * np.sqrt(p * (1 - p) / exchanges) + 1.5 / exchanges
        assert getattr(found, NAMES[name]) == pytest.approx(p, abs=error), name


def test_public_names_are_pinned():
    assert sign_flips.__all__ == ["SignFlips", "flipped_sums", "holm", "sign_flip_test"]


@settings(max_examples=60, deadline=None)
@given(two_judges())
def test_random_exchanges_agree_with_all_of_them(case):
    first, second, _ = case
    found = sign_flip_test(
        outcomes(first), outcomes(second), len(first[0]), seeded(), exchanges=4000
    )
    close_to(oracle.all_exchanges(first, second), found, 4000)


@settings(max_examples=60, deadline=None)
@given(two_judges())
def test_clusters_change_places_as_a_whole(case):
    first, second, cluster = case
    marks = np.asarray(cluster)
    sums = [
        np.array([outcomes(judge)[marks == mark].sum(axis=0) for mark in np.unique(marks)])
        for judge in (first, second)
    ]
    found = sign_flip_test(*sums, len(cluster), seeded(), exchanges=4000)
    close_to(oracle.all_exchanges(first, second, cluster), found, 4000)


def test_drawing_by_kind_and_one_by_one_are_one_distribution(monkeypatch):
    rng = seeded(1)
    table = rng.integers(-2, 3, size=(60, 2))
    monkeypatch.setattr(sign_flips, "_BINOMIAL_COST", 0)
    by_kind = flipped_sums(table, 20_000, seeded(2))
    monkeypatch.setattr(sign_flips, "_BINOMIAL_COST", 10**6)
    singly = flipped_sums(table, 20_000, seeded(3))
    expected = table.T @ table
    for sums in (by_kind, singly):
        assert np.all((sums - table.sum(axis=0)) % 2 == 0)
        assert sums.mean(axis=0) == pytest.approx([0, 0], abs=5 * np.sqrt(expected.max() / 20_000))
        assert np.cov(sums.T) == pytest.approx(expected, abs=0.06 * expected.max())


@pytest.mark.parametrize("cost", [0, 10**6])
def test_memory_is_bounded_and_chunks_cover_all(monkeypatch, cost):
    monkeypatch.setattr(sign_flips, "_BINOMIAL_COST", cost)
    monkeypatch.setattr(sign_flips, "_CHUNK", 64)
    sums = flipped_sums(np.ones((30, 1), dtype=int), 501, seeded())
    assert sums.shape == (501, 1)
    assert np.abs(sums).max() <= 30
    assert sums.std() == pytest.approx(np.sqrt(30), rel=0.2)
    assert len({tuple(sums[k : k + 5, 0]) for k in range(0, 500, 5)}) > 50


def test_the_same_seed_gives_the_same_p():
    rng = seeded(5)
    first, second = rng.integers(0, 3, size=(2, 50, 3))
    once = sign_flip_test(first, second, 50, seeded(1), exchanges=300)
    assert once == sign_flip_test(first, second, 50, seeded(1), exchanges=300)
    assert once != sign_flip_test(first, second, 50, seeded(2), exchanges=300)


def test_judges_that_never_differ_have_p_one_and_the_smallest_p_is_known():
    same = np.full((40, 3), 2)
    found = sign_flip_test(same, same, 40, seeded(), exchanges=99)
    assert found.nominal == found.chain_effect == found.edit_effect == found.selectivity == 1.0
    worse = np.tile([0, 0, 1], (40, 1))
    found = sign_flip_test(np.tile([2, 2, 1], (40, 1)), worse, 40, seeded(), exchanges=999)
    assert found.nominal == found.chain_effect == found.selectivity == 0.001
    assert found.edit_effect == 1.0
    assert found.exchanges == 999


def test_the_order_of_the_judges_makes_no_difference():
    rng = seeded(6)
    first, second = rng.integers(0, 3, size=(2, 50, 3))
    assert sign_flip_test(first, second, 50, seeded(), exchanges=200) == sign_flip_test(
        second, first, 50, seeded(), exchanges=200
    )


def draws_of_two(rng, shift, n=24, sets=400):
    """P-values of data sets with ties; ``shift`` makes the first judge better at B > D."""
    shared = rng.normal(size=(sets, n, 3)) + np.array([0.3, 0.1, -0.8])
    judges = [shared + rng.normal(size=(sets, n, 3)) for _ in range(2)]
    judges[0][..., 1] += shift
    found = []
    for one, other in zip(*(np.round(judge * 2) for judge in judges), strict=True):
        test = sign_flip_test(outcomes(one.T), outcomes(other.T), n, rng, exchanges=99)
        found.append([getattr(test, name) for name in NAMES.values()])
    return np.array(found)


def test_the_type_one_error_is_held():
    found = draws_of_two(seeded(7), shift=0.0)
    for level in (0.05, 0.2):
        share = np.mean(found <= level, axis=0)
        assert np.all(share <= level + 4 * np.sqrt(level * (1 - level) / len(found)))
    # Not by never rejecting: half the p-values lie below about one half.
    assert np.all(np.mean(found <= 0.6, axis=0) > 0.3)


def test_a_real_difference_is_found():
    found = draws_of_two(seeded(8), shift=1.5, n=60, sets=100)
    assert np.mean(found[:, 1] <= 0.05) > 0.6


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_agrees_with_the_oracle(p_values):
    adjusted = holm(p_values)
    assert adjusted == pytest.approx(oracle.holm(p_values))
    assert all(new >= old for new, old in zip(adjusted, p_values, strict=True))


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="one shape"):
        sign_flip_test(np.zeros((2, 3)), np.zeros((3, 3)), 3, seeded())
    with pytest.raises(ValueError, match="one shape"):
        sign_flip_test(np.zeros((2, 2)), np.zeros((2, 2)), 2, seeded())
    with pytest.raises(ValueError, match="at least 1"):
        flipped_sums(np.zeros((2, 2)), 0, seeded())
