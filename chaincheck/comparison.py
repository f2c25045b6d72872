"""Two judges on the same triplets: differences of Nominal, CE, EE and Sigma.

Both judges' outcomes of a triplet are kept together: one set of resamples draws triplets (or
clusters) with what BOTH judges made of them, so what the judges have in common cancels out.
Intervals of two judges measured apart do not know that, and whether they overlap says little.

Every difference is the first judge's number less the second's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chaincheck.cells import CellScores
from chaincheck.intervals import (
    FloatArray,
    IntArray,
    contrast_interval,
    percentile_interval,
    too_few,
    unbounded,
)
from chaincheck.paired_intervals import paired_rate_floor, sigma_difference_interval
from chaincheck.paired_results import (
    COMPARISONS,
    QUANTITIES,
    Difference,
    DifferenceDraws,
    Effects,
    Flip,
    Orders,
    PairedDifference,
)
from chaincheck.resampling import Units, compress, half_wins, resample
from chaincheck.results import By
from chaincheck.sign_flips import SignFlips, sign_flip_test

__all__ = [
    "COMPARISONS",
    "QUANTITIES",
    "Difference",
    "DifferenceDraws",
    "Effects",
    "Flip",
    "Orders",
    "PairedDifference",
    "compare",
]

_FEW_TRIPLETS = 100
_FEW_CLUSTERS = 30


def _check_same(first: CellScores, second: CellScores, by: By) -> IntArray | None:
    """Return the labels to resample by, the same in both; raise if the triplets differ."""
    for name in ("file", "variant", "n"):
        one, other = getattr(first, name), getattr(second, name)
        if one != other:
            raise ValueError(
                f"the judges did not score the same triplets: {name} is {one!r} and {other!r}"
            )
    if by == "triplet":
        return None
    if by not in ("cluster", "coarse"):
        raise ValueError(f"by must be 'triplet', 'cluster' or 'coarse', not {by!r}")
    labels = [one.cluster if by == "cluster" else one.coarse for one in (first, second)]
    if labels[0] is None or labels[1] is None:
        raise ValueError(f"by={by!r} needs CellScores.{by}, which is None")
    if not np.array_equal(labels[0], labels[1]):
        raise ValueError(f"the judges did not score the same triplets: CellScores.{by} differ")
    return labels[0]


def _cells(scores: CellScores) -> tuple[tuple[FloatArray, FloatArray], ...]:
    return ((scores.a, scores.d), (scores.b, scores.d), (scores.a, scores.b))


def compare(
    first: CellScores,
    second: CellScores,
    rng: np.random.Generator,
    *,
    pair_ids: Sequence[str] | None = None,
    resamples: int = 2000,
    exchanges: int = 10_000,
    level: float = 0.95,
    by: By = "triplet",
) -> PairedDifference:
    """Compare two judges that scored the same triplets, in the same order.

    Args:
        first: scores of the first judge.
        second: scores of the second; its labels of clusters are the first's.
        rng: source of randomness; it draws the resamples first, so that with the generator that
            :func:`chaincheck.selectivity.measure` is given these are the same resamples (up to
            4,096 units).
        pair_ids: names of the triplets for the list of flips; by default their positions.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        level: nominal coverage of every interval.
        by: what to resample and to exchange as a whole: triplets, ``first.cluster`` (questions)
            or ``first.coarse`` (bridges).

    Returns:
        The differences, first less second.

    Raises:
        ValueError: the two are not about the same triplets, or an option out of range.
    """
    cluster = _check_same(first, second, by)
    names = [str(k) for k in range(first.n)] if pair_ids is None else pair_ids
    if len(names) != first.n:
        raise ValueError(f"{first.n} triplets have {len(names)} pair_ids")
    outcomes = np.column_stack([half_wins(x, y) for one in (first, second) for x, y in _cells(one)])
    units = compress(outcomes, cluster)
    drawn = _rates(resample(units, resamples, rng))
    sums = units.sums[units.kind_of, 1:]
    flips = sign_flip_test(sums[:, :3], sums[:, 3:], first.n, rng, exchanges=exchanges)
    estimates = _rates(units.totals)
    contrasts = [_contrasts(drawn[:, :3]), _contrasts(drawn[:, 3:])]
    judges = [
        _effects(estimates[:3], contrasts[0], level),
        _effects(estimates[3:], contrasts[1], level),
    ]
    orders = {
        name: _orders(name, outcomes[:, k], outcomes[:, 3 + k])
        for k, name in enumerate(COMPARISONS)
    }
    differences, draws = _differences(judges, drawn, contrasts, flips, level)
    few = too_few(units.size, "triplet" if by == "triplet" else "cluster", level)
    if few:
        judges = [replace(one, selectivity=unbounded(one.selectivity)) for one in judges]
        differences = {
            name: replace(one, interval=unbounded(one.interval))
            for name, one in differences.items()
        }
    ad = orders["A>D"]
    return PairedDifference(
        file=first.file,
        variant=first.variant,
        n=first.n,
        by=by,
        units=units.size,
        resamples=resamples,
        exchanges=exchanges,
        level=level,
        first=judges[0],
        second=judges[1],
        **differences,
        nominal_floor=paired_rate_floor(
            ad.gained,
            ad.lost,
            first.n,
            (1.0 + level) / 2.0,
            design_effect=_design_effect(outcomes, units, clustered=cluster is not None),
        ),
        orders=orders,
        discordance=float(np.mean(np.any(outcomes[:, 1:3] != outcomes[:, 4:6], axis=1))),
        flips=_flips(first, second, outcomes, names),
        notes=(*few, *_notes(differences, orders, units, by)),
        draws=draws,
    )


def _rates(totals: IntArray) -> FloatArray:
    """Nominal, CE, EE of the first judge, then of the second, along the last axis."""
    rates = totals[..., 1:] / (2.0 * totals[..., :1])
    return np.asarray(rates - np.array([0.0, 0.5, 0.5, 0.0, 0.5, 0.5]))


def _contrasts(effects: FloatArray) -> FloatArray:
    """CE - EE and CE + EE, shape (2, resamples)."""
    chain, edit = effects[:, 1], effects[:, 2]
    return np.stack([chain - edit, chain + edit])


def _effects(estimates: FloatArray, contrasts: FloatArray, level: float) -> Effects:
    nominal, chain, edit = estimates.tolist()
    sigma = contrast_interval(chain - abs(edit), contrasts[0], contrasts[1], level)
    return Effects(nominal, chain, edit, sigma)


def _differences(
    judges: Sequence[Effects],
    drawn: FloatArray,
    contrasts: Sequence[FloatArray],
    flips: SignFlips,
    level: float,
) -> tuple[dict[str, Difference], DifferenceDraws]:
    one, other = judges
    nominal, chain, edit = (drawn[:, :3] - drawn[:, 3:]).T
    sigma = contrasts[0].min(axis=0) - contrasts[1].min(axis=0)
    draws = DifferenceDraws(nominal, chain, edit, sigma)
    found = {}
    for name in QUANTITIES[:3]:
        estimate = getattr(one, name) - getattr(other, name)
        interval = percentile_interval(estimate, getattr(draws, name), level)
        found[name] = Difference(name, interval, getattr(flips, name))
    estimate = one.selectivity.estimate - other.selectivity.estimate
    interval = sigma_difference_interval(estimate, contrasts[0], contrasts[1], level)
    found["selectivity"] = Difference("selectivity", interval, flips.selectivity)
    return found, draws


def _orders(name: str, first: NDArray[np.int8], second: NDArray[np.int8]) -> Orders:
    c = np.bincount(3 * first + second, minlength=9).tolist()
    return Orders(name, ((c[0], c[1], c[2]), (c[3], c[4], c[5]), (c[6], c[7], c[8])))


def _design_effect(outcomes: NDArray[np.int8], units: Units, *, clustered: bool) -> float:
    """Variance of the Nominal difference under clustering over that without."""
    if not clustered:
        return 1.0
    direction = np.zeros((7, 1))
    direction[1], direction[4] = 0.5, -0.5
    n = len(outcomes)
    plain = float(compress(outcomes).covariance(direction)[0, 0])
    effect = float(units.covariance(direction)[0, 0]) / plain if plain > 0 else math.inf
    # Where nothing differs the data do not say how alike a cluster is: count each as one triplet.
    return effect if math.isfinite(effect) else n / units.size


def _flips(
    first: CellScores, second: CellScores, outcomes: NDArray[np.int8], names: Sequence[str]
) -> tuple[Flip, ...]:
    where, which = np.nonzero(outcomes[:, :3] != outcomes[:, 3:])
    found = []
    with np.errstate(over="ignore"):  # two finite scores may lie further apart than any double
        gaps = [
            np.column_stack([x - y for x, y in _cells(one)])[where, which].tolist()
            for one in (first, second)
        ]
    for place, column, one, other in zip(where.tolist(), which.tolist(), *gaps, strict=True):
        found.append(Flip(names[place], COMPARISONS[column], one, other))
    return tuple(found)


def _notes(
    differences: Mapping[str, Difference], orders: Mapping[str, Orders], units: Units, by: By
) -> tuple[str, ...]:
    """Doubts, each in a few words."""
    notes = []
    n = int(units.totals[0])
    if n < _FEW_TRIPLETS:
        notes.append(f"n < {_FEW_TRIPLETS}")
    if by != "triplet" and units.size < _FEW_CLUSTERS:
        notes.append(f"only {units.size} clusters")
    if not any(one.changed for one in orders.values()):
        notes.append("the judges order every triplet alike")
    sigma = differences["selectivity"]
    if sigma.p <= 1.0 - sigma.interval.level and sigma.interval.covers(0.0):
        notes.append("Sigma: the judges are not interchangeable, but may have one Sigma")
    return tuple(notes)
