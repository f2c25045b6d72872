import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck import resampling
from chaincheck.resampling import Units, compress, half_wins, resample


def random_outcomes(rng, n, k=3):
    return rng.integers(0, 3, size=(n, k))


def test_public_names_are_pinned():
    assert resampling.__all__ == ["Units", "compress", "half_wins", "resample"]


def test_half_wins_count_ties_as_one_half():
    assert half_wins([2.0, 1.0, 0.0], [1.0, 1.0, 1.0]).tolist() == [2, 1, 0]


@given(
    n=st.integers(1, 60),
    k=st.integers(1, 5),
    groups=st.one_of(st.none(), st.integers(1, 20)),
    seed=st.integers(0, 2**32 - 1),
)
def test_compression_loses_nothing(n, k, groups, seed):
    rng = np.random.default_rng(seed)
    outcomes = random_outcomes(rng, n, k)
    cluster = None if groups is None else rng.integers(-3, groups, n)
    units = compress(outcomes, cluster)
    assert units.totals.tolist() == [n, *outcomes.sum(axis=0).tolist()]
    assert np.all(np.diff(units.counts) <= 0)
    assert np.array_equal(np.bincount(units.kind_of, minlength=units.counts.size), units.counts)
    assert len({tuple(row) for row in units.sums.tolist()}) == units.counts.size
    each = units.sums[units.kind_of]
    if cluster is None:
        assert np.array_equal(each[:, 1:], outcomes)
    else:
        for place, label in enumerate(sorted(set(cluster.tolist()))):
            inside = outcomes[cluster == label]
            assert each[place].tolist() == [len(inside), *inside.sum(axis=0).tolist()]


@given(n=st.integers(1, 80), resamples=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_small_data_are_drawn_as_documented(n, resamples, seed):
    outcomes = random_outcomes(np.random.default_rng(seed), n)
    picks = np.random.default_rng(seed).integers(0, n, size=(resamples, n))
    found = resample(compress(outcomes), resamples, np.random.default_rng(seed))
    assert np.array_equal(found[:, 0], np.full(resamples, n))
    assert np.array_equal(found[:, 1:], outcomes[picks].sum(axis=1))


def test_chunks_do_not_change_the_draws(monkeypatch):
    outcomes = random_outcomes(np.random.default_rng(0), 101)
    whole = resample(compress(outcomes), 57, np.random.default_rng(1))
    monkeypatch.setattr(resampling, "_CHUNK", 350)
    assert np.array_equal(resample(compress(outcomes), 57, np.random.default_rng(1)), whole)
    monkeypatch.setattr(resampling, "_FEW_UNITS", 0)
    by_kind = resample(compress(np.repeat(outcomes[:4], 50, axis=0)), 57, np.random.default_rng(1))
    monkeypatch.setattr(resampling, "_CHUNK", 1 << 16)
    assert np.array_equal(
        resample(compress(np.repeat(outcomes[:4], 50, axis=0)), 57, np.random.default_rng(1)),
        by_kind,
    )


@pytest.mark.parametrize("clustered", [False, True])
def test_both_ways_of_drawing_have_one_distribution(monkeypatch, clustered):
    rng = np.random.default_rng(2)
    outcomes = random_outcomes(rng, 400, 2)
    cluster = np.arange(400) // 2 if clustered else None
    units = compress(outcomes, cluster)
    one_by_one = resample(units, 20_000, np.random.default_rng(3))
    monkeypatch.setattr(resampling, "_FEW_UNITS", 0)
    monkeypatch.setattr(resampling, "_BINOMIAL_COST", 0)
    by_kind = resample(units, 20_000, np.random.default_rng(4))
    assert not np.array_equal(one_by_one, by_kind)
    errors = one_by_one.std(axis=0) / np.sqrt(20_000) * np.sqrt(2) + 1e-9
    assert np.all(np.abs(one_by_one.mean(axis=0) - by_kind.mean(axis=0)) < 5 * errors)
    assert np.allclose(np.cov(one_by_one[:, 1:].T), np.cov(by_kind[:, 1:].T), rtol=0.06, atol=8)
    for column in (1, 2):  # two-sample Kolmogorov-Smirnov, far beyond its 0.1% point
        grid = np.unique(one_by_one[:, column])
        first = np.searchsorted(np.sort(one_by_one[:, column]), grid, side="right") / 20_000
        second = np.searchsorted(np.sort(by_kind[:, column]), grid, side="right") / 20_000
        assert np.abs(first - second).max() < 1.95 * np.sqrt(2 / 20_000)


def test_wide_totals_are_packed_apart():
    # Clusters so large that a total takes 27 bits: two columns a pack, no carry between them.
    rng = np.random.default_rng(5)
    sums = np.column_stack([np.full(60, 10**6), rng.integers(0, 2 * 10**6, (60, 4))])
    units = Units(sums, np.ones(60, np.int64), np.arange(60))
    picks = np.random.default_rng(6).integers(0, 60, size=(30, 60))
    assert np.array_equal(resample(units, 30, np.random.default_rng(6)), sums[picks].sum(axis=1))


def test_covariance_of_triplets_is_the_sample_covariance():
    outcomes = random_outcomes(np.random.default_rng(7), 200)
    weights = np.vstack([np.zeros(3), np.eye(3) / 2])
    found = compress(outcomes).covariance(weights)
    assert np.allclose(found, np.cov((outcomes / 2).T) / 200)


def test_covariance_of_whole_clusters_is_that_of_their_means():
    outcomes = random_outcomes(np.random.default_rng(8), 90)
    weights = np.vstack([np.zeros(3), np.eye(3) / 2])
    found = compress(outcomes, np.arange(90) // 3).covariance(weights)
    means = (outcomes / 2).reshape(30, 3, 3).mean(axis=1)
    assert np.allclose(found, np.cov(means.T) / 30)


def test_one_unit_has_no_known_covariance():
    assert np.all(np.isinf(compress([[2, 1, 0]]).covariance(np.eye(4))))


def test_at_least_one_resample():
    with pytest.raises(ValueError, match="resamples"):
        resample(compress([[1]]), 0, np.random.default_rng(0))


def test_memory_does_not_grow_with_resamples_times_units():
    rng = np.random.default_rng(9)

    def peak(n, resamples, cluster=None):
        units = compress(random_outcomes(rng, n), cluster)
        tracemalloc.start()
        resample(units, resamples, np.random.default_rng(0))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    # 100,000 x 2,000 numbers would take 1.6 GB.
    assert peak(100_000, 2000) < 8e6
    ragged = np.sort(rng.integers(0, 20_000, 100_000))
    assert peak(100_000, 300, ragged) < 16e6
