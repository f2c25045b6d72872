"""Timings of the resampling, side by side with plain loops. Run by ``make bench``.

Each ratio is taken inside one run, on the same data and the same machine, so that it can be
compared between machines. The numbers are printed; only what is promised is asserted.
"""

import random
import time
import tracemalloc

import numpy as np
from tabulate import tabulate

from chaincheck.cells import CellScores
from chaincheck.coverage import simulate_coverage
from chaincheck.power import win_table
from chaincheck.resampling import compress, half_wins, resample
from chaincheck.selectivity import measure

RESAMPLES = 2000
PROMISED_RATIO = 50
PROMISED_SECONDS = 2.0


def draw_scores(n, seed):
    rng = np.random.default_rng(seed)
    a, b, d = rng.normal(size=(3, n)) + np.array([[0.5], [0.0], [-1.4]])
    return CellScores("bench", "real", np.round(a, 1), np.round(b, 1), np.round(d, 1))


def fastest(call, repeats):
    """Shortest of some runs, the one least disturbed, and what the last one returned."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = call()
        times.append(time.perf_counter() - start)
    return min(times), found


def win(first, second):
    return 1.0 if first > second else 0.5 if first == second else 0.0


def plain_loop(a, b, d, resamples):
    """The bootstrap as one writes it down: draw triplets, compare their scores, average."""
    draw = random.Random(0)
    n = len(a)
    nominals, sigmas = [], []
    for _ in range(resamples):
        nominal = chain = edit = 0.0
        for _ in range(n):
            i = draw.randrange(n)
            nominal += win(a[i], d[i])
            chain += win(b[i], d[i])
            edit += win(a[i], b[i])
        nominals.append(nominal / n)
        sigmas.append(chain / n - 0.5 - abs(edit / n - 0.5))
    return sigmas


def thrifty_loop(a, b, d, resamples):
    """The same with the comparisons done once beforehand, and the fastest draws Python has."""
    draw = random.Random(0)
    n = len(a)
    outcomes = [(win(x, z), win(y, z), win(x, y)) for x, y, z in zip(a, b, d, strict=True)]
    nominals, sigmas = [], []
    for _ in range(resamples):
        picked = draw.choices(outcomes, k=n)
        nominals.append(sum(each[0] for each in picked) / n)
        chain = sum(each[1] for each in picked) / n - 0.5
        edit = sum(each[2] for each in picked) / n - 0.5
        sigmas.append(chain - abs(edit))
    return sigmas


def by_units(scores, resamples, seed=0):
    outcomes = [
        half_wins(scores.a, scores.d),
        half_wins(scores.b, scores.d),
        half_wins(scores.a, scores.b),
    ]
    units = compress(np.column_stack(outcomes))
    totals = resample(units, resamples, np.random.default_rng(seed))
    rates = totals[:, 1:] / (2 * totals[:, :1]) - 0.5
    return rates[:, 1] - np.abs(rates[:, 2])


def kolmogorov_smirnov(first, second):
    """Largest distance of two empirical distributions, and its 0.1% point."""
    x, y = np.sort(np.asarray(first)), np.sort(np.asarray(second))
    grid = np.union1d(x, y)
    below = [np.searchsorted(v, grid + 1e-9, side="right") / v.size for v in (x, y)]
    limit = 1.95 * np.sqrt(1 / x.size + 1 / y.size)
    return float(np.abs(below[0] - below[1]).max()), float(limit)


def test_295_triplets_against_the_plain_loop():
    scores = draw_scores(295, 1)
    lists = [column.tolist() for column in (scores.a, scores.b, scores.d)]
    plain, expected = fastest(lambda: plain_loop(*lists, RESAMPLES), 2)
    thrifty, also = fastest(lambda: thrifty_loop(*lists, RESAMPLES), 3)
    ours, found = fastest(lambda: by_units(scores, RESAMPLES), 20)
    whole, _ = fastest(lambda: measure(scores, np.random.default_rng(0)), 20)
    print("\n\n295 triplets, 2,000 resamples, one run")
    rows = [
        ["plain loop", plain * 1e3, plain / plain],
        ["loop over outcomes compared beforehand", thrifty * 1e3, plain / thrifty],
        ["resampling of Nominal, CE, EE, Sigma", ours * 1e3, plain / ours],
        ["measure(): all intervals, gaps, power", whole * 1e3, plain / whole],
    ]
    print(tabulate(rows, headers=["", "ms", "times faster than plain"], floatfmt=".1f"))
    for name, other in (("plain loop", expected), ("thrifty loop", also)):
        distance, limit = kolmogorov_smirnov(found, other)
        print(f"distance of the distributions from the {name}: {distance:.4f} (limit {limit:.4f})")
        assert distance < limit
    assert plain / ours >= PROMISED_RATIO


def test_100_000_triplets_of_both_variants():
    variants = [draw_scores(100_000, seed) for seed in (1, 2)]
    question = np.arange(100_000) // 2
    ragged = np.random.default_rng(3).integers(0, 60_000, 100_000)

    def clustered(labels):
        return [
            CellScores(one.file, one.variant, one.a, one.b, one.d, cluster=labels)
            for one in variants
        ]

    settings = [
        ("triplets", variants, "triplet"),
        ("50,000 questions of two", clustered(question), "cluster"),
        ("about 49,000 questions of one to ten", clustered(ragged), "cluster"),
    ]
    rows = []
    for name, cells, by in settings:
        seconds, _ = fastest(
            lambda cells=cells, by=by: [measure(c, np.random.default_rng(0), by=by) for c in cells],
            2,
        )
        peaks = []
        for resamples in (RESAMPLES, 5 * RESAMPLES):
            tracemalloc.start()
            measure(cells[0], np.random.default_rng(0), by=by, resamples=resamples)
            peaks.append(tracemalloc.get_traced_memory()[1] / 2**20)
            tracemalloc.stop()
        rows.append([name, seconds, *peaks])
        assert seconds < PROMISED_SECONDS
        # Ten thousand resamples of 100,000 numbers would take 7.5 GB.
        assert peaks[1] < 2 * peaks[0] + 8
    print("\n\n2 x 100,000 triplets, 2,000 resamples: everything that measure() does")
    headers = ["resampled", "seconds", "peak MB at 2,000", "peak MB at 10,000"]
    print(tabulate(rows, headers=headers, floatfmt=".2f"))


def test_simulated_coverage():
    table = win_table(0.35, 0.02, association=-0.2)
    seconds, study = fastest(
        lambda: simulate_coverage(
            table, 295, np.random.default_rng(0), replicates=2000, resamples=1000
        ),
        1,
    )
    print(
        f"\n\n2,000 data sets of 295 triplets, 1,000 resamples each: {seconds:.2f} s; "
        f"coverage kit {study.kit.coverage:.3f}, contrast {study.contrast.coverage:.3f}"
    )
