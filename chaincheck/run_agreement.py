"""How alike the runs of one recipe are, and what further runs or further triplets would show.

An interval over triplets takes the runs as they are. Whether two recipes differ by more than two
runs of one recipe do is another question: ``apart_by_chance`` asks it. And a mean over runs stays
uncertain for two reasons: what a triplet does to every run alike, which further runs never average
away, and what a single run does, which they do. ``edit_precision`` takes the two apart,
``order_agreement`` says how much runs have in common.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from chaincheck.comparison_pipeline import compare_joined
from chaincheck.intervals import Interval, normal_quantile, percentile_interval
from chaincheck.scores import Joined
from chaincheck.training_results import CLUSTER

__all__ = [
    "Agreement",
    "EditPrecision",
    "apart_by_chance",
    "edit_distances",
    "edit_precision",
    "order_agreement",
    "triplets_to_show",
]

_SIGNS = (-1, 0, 1)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often two runs of a recipe agree on which of A and B scores higher.

    Attributes:
        runs: how many there are.
        share: of the triplets on which two runs agree, a mean over all pairs of runs; a tie agrees
            with a tie.
        chance: the same if each run kept its own lean and tossed for every triplet by itself.
        kappa: (share - chance) / (1 - chance), Cohen's kappa (Cohen 1960), a mean over the
            pairs that could disagree; the interval resamples bridges.
    """

    runs: int
    share: float
    chance: float
    kappa: Interval


@dataclass(frozen=True, slots=True)
class EditPrecision:
    """How well the mean edit effect over runs is known, as half-widths of a normal interval.

    Attributes:
        one: with one run of this kind.
        now: with the runs that there are.
        endless: with these triplets and ever more runs.
    """

    one: float
    now: float
    endless: float


def _orders(runs: Sequence[Joined], variant: str) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Signs of A less B, shape (runs, n), and the bridges, shape (n,)."""
    cells = [one.of(variant) for one in runs]
    signs = np.array([np.sign(one.a - one.b) for one in cells], dtype=np.int8)
    return signs, cells[0].bridges


def order_agreement(
    runs: Sequence[Joined], variant: str, *, resamples: int = 2000, seed: int = 0
) -> Agreement | None:
    """How often two runs agree on which of A and B scores higher, and by chance would.

    Args:
        runs: what the runs of one recipe said of the same triplets.
        variant: which triplets.
        resamples: bootstrap resamples.
        seed: seed of the draws.

    Returns:
        None of fewer than two runs, or where no pair of them could disagree.

    Raises:
        KeyError: there are no such triplets.
    """
    if len(runs) < 2:
        return None
    signs, bridges = _orders(runs, variant)
    units = int(bridges.max()) + 1
    drawn = np.random.default_rng(seed).multinomial(units, np.full(units, 1 / units), resamples)
    # Whole numbers, so that runs which cannot disagree are told from those that hardly do.
    weights = np.vstack([np.ones(len(bridges), dtype=np.int64), drawn[:, bridges]])
    total = weights.sum(axis=1)
    leans = np.array([[weights @ (row == sign) for sign in _SIGNS] for row in signs])
    shares, chances, kappas = [], [], []
    for one, other in combinations(range(len(signs)), 2):
        same = weights @ (signs[one] == signs[other])
        by_chance = (leans[one] * leans[other]).sum(axis=0)
        free = total**2 - by_chance
        shares.append(same / total)
        chances.append(by_chance / total**2)
        kappas.append(
            np.divide(
                same * total - by_chance, free, out=np.full(len(free), np.nan), where=free > 0
            )
        )
    known = np.array(kappas)
    known = known[np.isfinite(known[:, 0])]
    if not len(known):
        return None
    there = np.isfinite(known)
    drawn_means = np.where(there, known, 0.0).sum(axis=0)[there.any(axis=0)]
    means = drawn_means / there.sum(axis=0)[there.any(axis=0)]
    return Agreement(
        len(signs),
        float(np.mean([share[0] for share in shares])),
        float(np.mean([chance[0] for chance in chances])),
        percentile_interval(float(means[0]), means[1:]),
    )


def edit_precision(runs: Sequence[Joined], variant: str, level: float = 0.95) -> EditPrecision:
    """Take the uncertainty of a mean edit effect apart.

    With u the sums over a bridge of a run's outcomes less their mean, the covariance of two runs'
    edit effects is the sum over bridges of u u' / n^2. The mean over k runs has variance
    (v - c) / k + c, with v the mean variance of a run and c the mean covariance of two.

    Args:
        runs: what the runs of one recipe said of the same triplets.
        variant: which triplets.
        level: coverage of the interval whose halves are given.

    Raises:
        KeyError: there are no such triplets.
        ValueError: there are fewer than two runs.
    """
    if len(runs) < 2:
        raise ValueError("what runs have in common needs two of them")
    signs, bridges = _orders(runs, variant)
    outcomes = signs / 2
    centered = outcomes - outcomes.mean(axis=1, keepdims=True)
    sums = np.zeros((len(signs), int(bridges.max()) + 1))
    for row, target in zip(centered, sums, strict=True):
        np.add.at(target, bridges, row)
    covariances = sums @ sums.T / signs.shape[1] ** 2
    count = len(signs)
    alone = float(np.trace(covariances)) / count
    shared = (float(covariances.sum()) - count * alone) / (count * (count - 1))
    factor = normal_quantile((1 + level) / 2)

    def half(variance: float) -> float:
        return factor * math.sqrt(max(variance, 0.0))

    return EditPrecision(half(alone), half((alone - shared) / count + shared), half(shared))


def triplets_to_show(
    n: int, half: float, limit: float, *, power: float = 0.8, level: float = 0.95
) -> int:
    """How many triplets it would take to show that a mean lies within a limit, if it is zero.

    Shown means: the whole interval lies within [-limit, limit]. With standard error s that happens
    with the given power if limit = (z((1 + level) / 2) + z((1 + power) / 2)) s (Schuirmann 1987).

    Args:
        n: triplets that there are.
        half: half of the interval with these.
        limit: what is to be shown, above 0.
        power: how often it is to be shown.
        level: coverage of the interval.

    Raises:
        ValueError: the limit is not above 0.
    """
    if limit <= 0:
        raise ValueError(f"a limit must be above 0, not {limit!r}")
    needed = normal_quantile((1 + level) / 2) + normal_quantile((1 + power) / 2)
    ratio = half / normal_quantile((1 + level) / 2) * needed / limit
    return math.ceil(n * ratio**2)


def apart_by_chance(
    runs: Sequence[Joined],
    variant: str,
    quantity: str = "edit_effect",
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> tuple[int, int]:
    """How many pairs of runs of one recipe differ by more than their paired interval allows.

    Two such runs differ in nothing but the seed. So where many pairs do, an interval that excludes
    zero says little of two recipes.

    Args:
        runs: what the runs of one recipe said of the same triplets.
        variant: which triplets.
        quantity: a difference of ``PairedDifference``.
        resamples: bootstrap resamples of each comparison.
        seed: seed of the draws.

    Returns:
        Pairs whose interval leaves out zero, and pairs.

    Raises:
        KeyError: there are no such triplets.
    """
    out = pairs = 0
    for (one, first), (other, second) in combinations(enumerate(runs), 2):
        compared = compare_joined(
            first,
            second,
            names=(f"run {one}", f"run {other}"),
            cluster=CLUSTER,
            resamples=resamples,
            exchanges=1,
            seed=seed,
        )
        row = {found.variant: found for found in compared.rows}[variant]
        pairs += 1
        out += not getattr(row, quantity).interval.covers(0.0)
    return out, pairs


def edit_distances(runs: Sequence[Joined], variant: str) -> list[float]:
    """How far A and B lie apart, whichever is ahead: the mean of |A - B| by run, in log-odds.

    Args:
        runs: what the runs of one recipe said of the same triplets.
        variant: which triplets.

    Raises:
        KeyError: there are no such triplets.
    """
    cells = [one.of(variant) for one in runs]
    return [float(np.mean(np.abs(one.a - one.b))) for one in cells]
