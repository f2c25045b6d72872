"""Timings of a comparison of two judges, side by side with plain loops. Run by ``make bench``.

Each ratio is taken inside one run, on the same data and the same machine. The numbers are
printed; only what is promised is asserted.
"""

import random
import time
import tracemalloc

import numpy as np
import pytest
from tabulate import tabulate

from chaincheck.cells import CellScores
from chaincheck.comparison import compare
from chaincheck.resampling import compress, half_wins, resample
from chaincheck.sign_flips import sign_flip_test

RESAMPLES = 2000
EXCHANGES = 2000
PROMISED_RATIO = 50
PROMISED_SECONDS = 2.0


def two_judges(n, seed, cluster=None):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(3, n)) + np.array([[0.5], [0.0], [-1.4]])
    return [
        CellScores(
            "bench", "real", *np.round(shared + 0.5 * rng.normal(size=(3, n)), 1), cluster=cluster
        )
        for _ in range(2)
    ]


def fastest(call, repeats):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def win(first, second):
    return 1.0 if first > second else 0.5 if first == second else 0.0


def outcomes_of(judge):
    a, b, d = (column.tolist() for column in (judge.a, judge.b, judge.d))
    return [(win(x, z), win(y, z), win(x, y)) for x, y, z in zip(a, b, d, strict=True)]


def sigma(rows):
    n = len(rows)
    chain = sum(row[1] for row in rows) / n - 0.5
    return chain - abs(sum(row[2] for row in rows) / n - 0.5)


def loop_bootstrap(first, second, resamples):
    draw = random.Random(0)
    pairs = list(zip(outcomes_of(first), outcomes_of(second), strict=True))
    found = []
    for _ in range(resamples):
        picked = draw.choices(pairs, k=len(pairs))
        found.append(sigma([one for one, _ in picked]) - sigma([other for _, other in picked]))
    return found


def loop_exchanges(first, second, exchanges):
    draw = random.Random(0)
    pairs = list(zip(outcomes_of(first), outcomes_of(second), strict=True))
    observed = abs(sigma([one for one, _ in pairs]) - sigma([other for _, other in pairs]))
    reached = 0
    for _ in range(exchanges):
        one, other = [], []
        for x, y in pairs:
            swap = draw.random() < 0.5
            one.append(y if swap else x)
            other.append(x if swap else y)
        reached += abs(sigma(one) - sigma(other)) >= observed - 1e-12
    return (reached + 1) / (exchanges + 1)


def columns(judge):
    return np.column_stack(
        [half_wins(judge.a, judge.d), half_wins(judge.b, judge.d), half_wins(judge.a, judge.b)]
    )


def our_bootstrap(first, second):
    units = compress(np.hstack([columns(first), columns(second)]))
    totals = resample(units, RESAMPLES, np.random.default_rng(0))
    rates = totals[:, 1:] / (2 * totals[:, :1]) - 0.5
    return rates[:, 1] - np.abs(rates[:, 2]) - rates[:, 4] + np.abs(rates[:, 5])


def test_295_triplets_against_plain_loops():
    judges = two_judges(295, 1)
    plain_draws, expected = fastest(lambda: loop_bootstrap(*judges, RESAMPLES), 2)
    our_draws, found = fastest(lambda: our_bootstrap(*judges), 20)
    plain_flips, p_loop = fastest(lambda: loop_exchanges(*judges, EXCHANGES), 2)
    first, second = (columns(judge) for judge in judges)

    def our_exchanges():
        rng = np.random.default_rng(0)
        return sign_flip_test(first, second, 295, rng, exchanges=EXCHANGES)

    our_flips, test = fastest(our_exchanges, 20)
    whole, _ = fastest(lambda: compare(*judges, np.random.default_rng(0), exchanges=EXCHANGES), 10)
    print("\n\n295 triplets, two judges, 2,000 resamples and 2,000 exchanges, one run")
    rows = [
        ["shared bootstrap: loop", plain_draws * 1e3, 1.0],
        ["shared bootstrap: ours, all six rates", our_draws * 1e3, plain_draws / our_draws],
        ["sign flips: loop, Sigma only", plain_flips * 1e3, 1.0],
        ["sign flips: ours, all four quantities", our_flips * 1e3, plain_flips / our_flips],
        ["compare(): everything", whole * 1e3, (plain_draws + plain_flips) / whole],
    ]
    print(tabulate(rows, headers=["", "ms", "times faster"], floatfmt=".1f"))
    print(f"p of Sigma: loop {p_loop:.4f}, ours {test.selectivity:.4f}")
    spread = np.std(expected)
    assert np.mean(found) == pytest.approx(np.mean(expected), abs=6 * spread / RESAMPLES**0.5)
    assert np.std(found) == pytest.approx(spread, rel=0.1)
    error = 6 * np.sqrt(0.25 / EXCHANGES)
    assert test.selectivity == pytest.approx(p_loop, abs=error)
    assert plain_draws / our_draws >= PROMISED_RATIO
    assert plain_flips / our_flips >= PROMISED_RATIO


def test_100_000_triplets():
    ragged = np.random.default_rng(3).integers(0, 60_000, 100_000)
    settings = [
        ("triplets", None, "triplet"),
        ("50,000 questions of two", np.arange(100_000) // 2, "cluster"),
        ("about 49,000 questions of one to ten", ragged, "cluster"),
    ]
    rows = []
    for name, cluster, by in settings:
        judges = two_judges(100_000, 2, cluster)
        names = [str(k) for k in range(100_000)]

        def run(exchanges, judges=judges, by=by, names=names):
            rng = np.random.default_rng(0)
            return compare(*judges, rng, pair_ids=names, exchanges=exchanges, by=by)

        seconds, found = fastest(lambda: run(10_000), 2)
        peaks = []
        for exchanges in (2_000, 10_000):
            tracemalloc.start()
            run(exchanges)
            peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
            tracemalloc.stop()
        rows.append([name, seconds, len(found.flips), *peaks])
        # Ten thousand exchanges of 100,000 triplets would take a gigabyte as bytes.
        assert peaks[1] < 1.5 * peaks[0] + 8
    print("\n\n100,000 triplets, 2,000 resamples, 10,000 exchanges, one variant: all of compare()")
    headers = ["units", "seconds", "flips listed", "peak MB at 2,000", "peak MB at 10,000"]
    print(tabulate(rows, headers=headers, floatfmt=".2f"))
    assert rows[0][1] < PROMISED_SECONDS
