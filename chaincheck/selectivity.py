"""Chain selectivity: from the scores of triplets to Nominal, CE, EE and Sigma with intervals.

Inside each triplet two cells are compared: a win counts 1 if the first scores higher, 1/2 if
the two are equal, 0 if it scores lower, and AUC(X > Y) is the mean of these over triplets::

    Nominal = AUC(A > D)          chain effect CE = AUC(B > D) - 1/2
    Sigma   = CE - |EE|           edit effect  EE = AUC(A > B) - 1/2

It is a paired win rate, not the pooled ROC AUC over all cross pairs. Sigma is also
min(CE - EE, CE + EE), which is what its decision interval is built on
(:func:`chaincheck.intervals.contrast_bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chaincheck.cells import CellScores, labels, pool
from chaincheck.intervals import (
    FloatArray,
    IntArray,
    Interval,
    contrast_interval,
    fewest_units,
    mean_interval,
    percentile_interval,
    too_few,
    unbounded,
    wilson,
)
from chaincheck.power import detectable, expected_edit_noise
from chaincheck.resampling import Units, compress, half_wins, resample
from chaincheck.results import (
    By,
    Comparison,
    Draws,
    FourthCell,
    Gap,
    Selectivity,
    Signature,
    report,
)

__all__ = [
    "By",
    "CellScores",
    "Comparison",
    "Draws",
    "FourthCell",
    "Gap",
    "Interval",
    "Selectivity",
    "Signature",
    "labels",
    "measure",
    "measure_all",
    "pool",
    "report",
]

# Where doubt begins: what puts a note beside a number.
_FEW_TRIPLETS = 100
_FEW_CLUSTERS = 30
_MANY_TIES = 0.1
_CEILING = 0.48
_TINY_GAP = 0.1
# Scores beyond 2^400 have squares beyond any double.
_EXTREME = 400

# Columns of Units.sums (size, A>D, B>D, A>B) whose means are CE - EE and CE + EE.
_CONTRASTS = np.array([[0.0, -1.0], [0.0, 0.0], [0.5, 0.5], [-0.5, 0.5]])


def _scaled(*scores: FloatArray) -> tuple[float, list[FloatArray]]:
    """Scores over a power of two that brings extreme ones near 1, so that nothing overflows.

    Returns:
        The power, 1 unless some score is extreme, and the scores divided by it, which is exact.
    """
    largest = max(float(np.abs(one).max()) for one in scores)
    exponent = math.frexp(largest)[1]
    if abs(exponent) <= _EXTREME:
        return 1.0, list(scores)
    return math.ldexp(1.0, exponent - 1), [np.ldexp(one, 1 - exponent) for one in scores]


def _times(interval: Interval, scale: float) -> Interval:
    return replace(
        interval,
        estimate=scale * interval.estimate,
        low=scale * interval.low,
        high=scale * interval.high,
    )


def _gap(
    name: str, first: FloatArray, second: FloatArray, cluster: IntArray | None, level: float
) -> Gap:
    scale, (x, y) = _scaled(first, second)
    difference = x - y
    sd = float(difference.std(ddof=1)) if difference.size > 1 else math.nan
    return Gap(name, _times(mean_interval(difference, cluster, level), scale), scale * sd)


def _comparison(
    name: str, outcomes: NDArray[np.int8], variance: float | None, level: float
) -> Comparison:
    """Count one comparison; ``variance`` of its rate under clustering widens Wilson's n."""
    losses, ties, wins = np.bincount(outcomes, minlength=3).tolist()
    n = outcomes.size
    points = wins + ties / 2.0
    plain = points / n * (1.0 - points / n) / n
    effect = variance / plain if variance is not None and plain > 0 else 1.0
    # One cluster alone tells nothing: its variance is infinite, and so is Wilson's interval.
    effect = effect if math.isfinite(effect) else float(n)
    return Comparison(name, wins, ties, losses, wilson(points, n, level, design_effect=effect))


def _chosen_cluster(scores: CellScores, by: By) -> IntArray | None:
    if by == "triplet":
        return None
    if by not in ("cluster", "coarse"):
        raise ValueError(f"by must be 'triplet', 'cluster' or 'coarse', not {by!r}")
    chosen = scores.cluster if by == "cluster" else scores.coarse
    if chosen is None:
        raise ValueError(f"by={by!r} needs CellScores.{by}, which is None")
    return chosen


def _outcomes(
    pairs: Mapping[str, tuple[FloatArray, FloatArray]],
    cluster: IntArray | None,
    level: float,
) -> tuple[Units, dict[str, Comparison]]:
    """Compare cells pair by pair: units to resample and the counts of each comparison."""
    columns = {name: half_wins(first, second) for name, (first, second) in pairs.items()}
    units = compress(np.column_stack(list(columns.values())), cluster)
    variances: list[float | None] = [None] * len(columns)
    if cluster is not None:
        rates = np.vstack([np.zeros(len(columns)), np.eye(len(columns)) / 2.0])
        variances = list(np.diag(units.covariance(rates)).tolist())
    found = {
        name: _comparison(name, outcome, variance, level)
        for (name, outcome), variance in zip(columns.items(), variances, strict=True)
    }
    return units, found


def _rates(totals: IntArray) -> FloatArray:
    """Win rates from totals: columns 1.. in half wins over column 0, the number of triplets."""
    return np.asarray(totals[..., 1:] / (2.0 * totals[..., :1]))


def measure(
    scores: CellScores,
    rng: np.random.Generator,
    *,
    resamples: int = 2000,
    level: float = 0.95,
    by: By = "triplet",
) -> Selectivity:
    """Measure one file and variant.

    All bootstrap intervals share one set of resamples. Each resample draws as many units as
    there are; with clusters of unequal size its number of triplets varies, and every rate is a
    ratio of sums (the pairs cluster bootstrap of Cameron, Gelbach and Miller 2008).

    Args:
        scores: the joined scores.
        rng: source of randomness; ``numpy.random.default_rng(0)`` for the kit's intervals.
        resamples: bootstrap resamples.
        level: nominal coverage of every interval.
        by: what to resample: triplets, ``scores.cluster`` (questions) or ``scores.coarse``.

    Returns:
        The measured values.

    Raises:
        ValueError: an option out of range, or labels that the scores do not carry.
    """
    cluster = _chosen_cluster(scores, by)
    pairs = {
        "A>D": (scores.a, scores.d),
        "B>D": (scores.b, scores.d),
        "A>B": (scores.a, scores.b),
    }
    units, comparisons = _outcomes(pairs, cluster, level)
    nominal, chain, edit = _rates(units.totals).tolist()
    chain, edit = chain - 0.5, edit - 0.5
    drawn = _rates(resample(units, resamples, rng))
    draws = Draws(drawn[:, 0], drawn[:, 1] - 0.5, drawn[:, 2] - 0.5)
    minus_draws = draws.chain_effect - draws.edit_effect
    plus_draws = draws.chain_effect + draws.edit_effect
    covariance = units.covariance(_CONTRASTS)
    sigma = chain - abs(edit)
    gaps = {
        "A-B": _gap("A-B", scores.a, scores.b, cluster, level),
        "B-D": _gap("B-D", scores.b, scores.d, cluster, level),
        "A-D": _gap("A-D", scores.a, scores.d, cluster, level),
    }
    few = units.size < fewest_units(level)

    def interval(estimate: float, drawn: FloatArray) -> Interval:
        found = percentile_interval(estimate, drawn, level)
        return unbounded(found) if few else found

    edit_interval = interval(edit, draws.edit_effect)
    contrast = contrast_interval(sigma, minus_draws, plus_draws, level)
    detected = None if few else detectable(covariance, edit, level=level)
    varies = bool(np.any(covariance > 0))
    noise = expected_edit_noise(scores.n, comparisons["A>B"].ties)
    notes = (
        *_notes_on_data(comparisons, units, by, level),
        *_notes_on_effects(chain, edit_interval, gaps, noise, varies=varies),
        *(["no Sigma is shown with 80% power"] if varies and not few and detected is None else []),
    )
    return Selectivity(
        file=scores.file,
        variant=scores.variant,
        n=scores.n,
        by=by,
        units=units.size,
        resamples=resamples,
        level=level,
        comparisons=comparisons,
        nominal=interval(nominal, draws.nominal),
        chain_effect=interval(chain, draws.chain_effect),
        edit_effect=edit_interval,
        kit=interval(sigma, draws.selectivity),
        contrast=unbounded(contrast) if few else contrast,
        minus=interval(chain - edit, minus_draws),
        plus=interval(chain + edit, plus_draws),
        gaps=gaps,
        edit_noise=noise,
        mde80=detected,
        fourth=_fourth(scores, cluster, rng, resamples, level),
        notes=notes,
        draws=draws,
    )


def _notes_on_data(
    comparisons: Mapping[str, Comparison], units: Units, by: By, level: float
) -> list[str]:
    """Doubts about how much there is to go by, each in a few words."""
    n = int(units.totals[0])
    notes = [*too_few(units.size, "triplet" if by == "triplet" else "cluster", level)]
    if n < _FEW_TRIPLETS:
        notes.append(f"n < {_FEW_TRIPLETS}")
    if by != "triplet" and fewest_units(level) <= units.size < _FEW_CLUSTERS:
        notes.append(f"only {units.size} clusters")
    for name, found in comparisons.items():
        if found.ties >= _MANY_TIES * n:
            notes.append(f"ties {found.ties / n:.0%} ({name})")
    return notes


def _notes_on_effects(
    chain_effect: float,
    edit: Interval,
    gaps: Mapping[str, Gap],
    noise: float,
    *,
    varies: bool,
) -> list[str]:
    """Doubts about what the effects mean, each in a few words."""
    notes = []
    if not varies and edit.bounded:
        notes.append("no variation: the intervals have no width")
    # At the ceiling CE has less left to gain than noise in EE costs, so Sigma is about noise.
    if chain_effect >= _CEILING or 0.5 - chain_effect < noise:
        notes.append(f"CE at ceiling: noise alone gives |EE| = {noise:.3f}")
    if edit.bounded and edit.covers(0.0):
        notes.append("EE near 0: kit interval too low")
    elif abs(gaps["A-B"].mean.estimate) < _TINY_GAP * abs(gaps["B-D"].mean.estimate):
        notes.append("EE ranks gaps under a tenth of B-D")
    if not all(math.isfinite(gap.mean.estimate) for gap in gaps.values()):
        notes.append("scores too far apart for a mean gap")
    return notes


def _fourth(
    scores: CellScores,
    cluster: IntArray | None,
    rng: np.random.Generator,
    resamples: int,
    level: float,
) -> FourthCell | None:
    if scores.c is None:
        return None
    has = ~np.isnan(scores.c)
    a, b, c, d = scores.a[has], scores.b[has], scores.c[has], scores.d[has]
    inside = None if cluster is None else cluster[has]
    pairs = {"A>C": (a, c), "C>D": (c, d), "A>B": (a, b), "B>D": (b, d)}
    units, comparisons = _outcomes(pairs, inside, level)
    unedited, broken, edit, chain = _rates(units.totals).tolist()
    drawn = _rates(resample(units, resamples, rng)).T
    few = units.size < fewest_units(level)

    def interval(estimate: float, draws: FloatArray) -> Interval:
        found = percentile_interval(estimate, draws, level)
        return unbounded(found) if few else found

    scale, (scaled_a, scaled_b, scaled_c, scaled_d) = _scaled(a, b, c, d)
    interaction = (scaled_a - scaled_c) - (scaled_b - scaled_d)
    return FourthCell(
        n=int(has.sum()),
        comparisons={name: comparisons[name] for name in ("A>C", "C>D")},
        chain_effect_unedited=interval(unedited - 0.5, drawn[0] - 0.5),
        edit_effect_broken=interval(broken - 0.5, drawn[1] - 0.5),
        interaction=interval(unedited - chain, drawn[0] - drawn[3]),
        edit_interaction=interval(edit - broken, drawn[2] - drawn[1]),
        score_interaction=_times(mean_interval(interaction, inside, level), scale),
        gaps={
            "A-C": _gap("A-C", a, c, inside, level),
            "C-D": _gap("C-D", c, d, inside, level),
        },
    )


def measure_all(
    cells: Iterable[CellScores],
    *,
    seed: int = 0,
    resamples: int = 2000,
    level: float = 0.95,
    by: By = "triplet",
) -> tuple[Selectivity, ...]:
    """Measure several rows, each with its own generator from ``seed``.

    So a row's figures depend on no other row, and asking for one variant alone gives the same.
    """
    return tuple(
        measure(one, np.random.default_rng(seed), resamples=resamples, level=level, by=by)
        for one in cells
    )
