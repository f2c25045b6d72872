"""Do comparisons of two judges keep their promise? Simulated coverage, type I error and power.

Data are drawn from a known joint distribution of both judges' B > D and A > B outcomes, so the
true difference of Sigma is known. Data, resamples and exchanges are multinomial counts, so the
cost does not grow with n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from chaincheck.intervals import FloatArray, IntArray, percentile_bounds
from chaincheck.paired_intervals import sigma_difference_bounds, unadjusted_difference_bounds

__all__ = [
    "ComparisonStudy",
    "DifferenceCoverage",
    "coupled_table",
    "discordance",
    "pair_contrasts",
    "simulate_comparison",
]

_CHUNK = 1 << 21  # numbers held at a time: 16 MB
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class DifferenceCoverage:
    """How one kind of interval of Sigma1 - Sigma2 did.

    Attributes:
        method: "percentile", "unadjusted" or "two-step".
        coverage: share of data sets whose interval holds the true difference.
        miss_low: share whose lower end lies above the truth.
        miss_high: share whose upper end lies below it.
        width: mean width.
        rejects: share whose lower end lies above 0, the power of "the first judge is better".
    """

    method: str
    coverage: float
    miss_low: float
    miss_high: float
    width: float
    rejects: float


@dataclass(frozen=True, slots=True)
class ComparisonStudy:
    """One simulated setting of two judges.

    Attributes:
        truth: true Sigma1 - Sigma2.
        discordance: probability that the judges' outcomes differ in a triplet.
        n: triplets in each data set.
        replicates: data sets.
        resamples: bootstrap resamples of each.
        exchanges: exchanges of each sign-flip test.
        level: nominal coverage.
        bias: mean estimate less the truth.
        percentile: how the percentile interval of the difference did.
        unadjusted: how the plain analog of the contrast interval did.
        two_step: how the interval that decides did.
        sign_flip_rejects: share of sign-flip tests of Sigma with p <= 1 - level, two-sided.
    """

    truth: float
    discordance: float
    n: int
    replicates: int
    resamples: int
    exchanges: int
    level: float
    bias: float
    percentile: DifferenceCoverage
    unadjusted: DifferenceCoverage
    two_step: DifferenceCoverage
    sign_flip_rejects: float

    def error(self, share: float) -> float:
        """Monte Carlo standard error of a share, sqrt(p(1 - p)/replicates)."""
        return math.sqrt(share * (1.0 - share) / self.replicates)


def coupled_table(first: ArrayLike, second: ArrayLike, agreement: float = 0.0) -> FloatArray:
    """A joint distribution of two judges' outcomes with given distributions of each.

    A mixture of independence with the maximal coupling (Lindvall 1992, I.5), in which the two
    agree as often as their own distributions allow. The margins are exact for every
    ``agreement``.

    Args:
        first: shape (3, 3), P(i half wins in B > D, j in A > B) of the first judge, as of
            :func:`chaincheck.power.win_table`.
        second: the same of the second judge.
        agreement: weight of the maximal coupling, 0 to 1.

    Returns:
        Shape (9, 9): rows are the first judge's outcomes 3 i + j, columns the second's.

    Raises:
        ValueError: no distributions, or an agreement outside 0..1.
    """
    if not 0.0 <= agreement <= 1.0:
        raise ValueError(f"agreement must lie in 0..1, not {agreement!r}")
    p, q = (np.asarray(table, dtype=np.float64) for table in (first, second))
    for table in (p, q):
        if table.shape != (3, 3) or table.min() < 0.0 or not math.isclose(table.sum(), 1.0):
            raise ValueError("each table must be 3 x 3 probabilities that sum to 1")
    p, q = p.ravel(), q.ravel()
    common = np.minimum(p, q)
    coupling = np.diag(common)
    rest = float((p - common).sum())
    if rest > 0.0:
        coupling = coupling + np.outer(p - common, q - common) / rest
    return np.asarray((1.0 - agreement) * np.outer(p, q) + agreement * coupling)


def discordance(table: ArrayLike) -> float:
    """Probability that two judges' outcomes differ, in B > D or in A > B or in both.

    Args:
        table: shape (9, 9), as of :func:`coupled_table`.
    """
    return float(1.0 - np.trace(np.asarray(table, dtype=np.float64)))


def pair_contrasts(table: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """CE - EE and CE + EE of both judges, and the covariance of their summands in one triplet.

    Args:
        table: shape (9, 9), as of :func:`coupled_table`.

    Returns:
        Means, shape (4,), the first judge's before the second's, and covariance (4, 4); divide
        it by n.
    """
    weights = np.asarray(table, dtype=np.float64).ravel()
    summands = _summands()
    means = weights @ summands
    centered = summands - means
    return means, np.asarray((centered * weights[:, None]).T @ centered)


def _outcomes() -> IntArray:
    """Half wins of the 81 joint outcomes: B > D and A > B of the first judge, of the second."""
    code = np.arange(81)
    return np.column_stack([code // 27, code // 9 % 3, code // 3 % 3, code % 3]).astype(np.int64)


def _summands() -> FloatArray:
    """The same as summands of CE - EE and CE + EE: shape (81, 4)."""
    bd1, ab1, bd2, ab2 = _outcomes().T / 2.0
    return np.column_stack([bd1 - ab1, bd1 + ab1 - 1.0, bd2 - ab2, bd2 + ab2 - 1.0])


def _summary(method: str, bounds: FloatArray, truth: float) -> DifferenceCoverage:
    low, high = bounds
    above, below = low > truth + _ROUNDING, high < truth - _ROUNDING
    return DifferenceCoverage(
        method=method,
        coverage=float(1.0 - np.mean(above | below)),
        miss_low=float(np.mean(above)),
        miss_high=float(np.mean(below)),
        width=float(np.mean(high - low)),
        rejects=float(np.mean(low > _ROUNDING)),
    )


def _sigmas(contrasts: FloatArray) -> FloatArray:
    """Sigma1 - Sigma2 from contrasts along the last axis."""
    first, second = contrasts[..., :2].min(axis=-1), contrasts[..., 2:].min(axis=-1)
    return np.asarray(first - second)


def simulate_comparison(
    table: ArrayLike,
    n: int,
    rng: np.random.Generator,
    *,
    replicates: int = 1000,
    resamples: int = 1000,
    exchanges: int = 500,
    level: float = 0.95,
) -> ComparisonStudy:
    """Simulate comparisons of two judges whose outcomes are drawn from ``table``.

    Args:
        table: shape (9, 9), as of :func:`coupled_table`.
        n: triplets in each data set.
        rng: source of randomness.
        replicates: data sets.
        resamples: bootstrap resamples of each.
        exchanges: exchanges of each sign-flip test.
        level: nominal coverage.

    Returns:
        The study.

    Raises:
        ValueError: a table that is no distribution, or a count below 1.
    """
    joint = np.asarray(table, dtype=np.float64)
    if joint.shape != (9, 9) or joint.min() < 0.0 or not math.isclose(joint.sum(), 1.0):
        raise ValueError("table must be 9 x 9 probabilities that sum to 1")
    if min(n, replicates, resamples, exchanges) < 1:
        raise ValueError("n, replicates, resamples and exchanges must be at least 1")
    means, _ = pair_contrasts(joint)
    truth = float(_sigmas(means))
    chance = joint.ravel()
    happens = chance > 0.0  # outcomes that never happen need no draws
    summands, outcomes = _summands()[happens], _outcomes()[happens]
    counts = rng.multinomial(n, chance[happens] / chance.sum(), size=replicates)
    estimates = _sigmas(counts @ summands / n)
    kinds = ("percentile", "unadjusted", "two-step")
    bounds = {kind: np.empty((2, replicates)) for kind in kinds}
    rejected = np.empty(replicates, dtype=bool)
    rows = max(1, _CHUNK // (max(resamples, exchanges) * len(outcomes)))
    for start in range(0, replicates, rows):
        part = slice(start, min(start + rows, replicates))
        shares = counts[part, None, :] / n
        drawn = rng.multinomial(n, shares, size=(shares.shape[0], resamples)) @ summands / n
        bounds["percentile"][:, part] = percentile_bounds(_sigmas(drawn), level)
        first, second = np.moveaxis(drawn[..., :2], -1, 0), np.moveaxis(drawn[..., 2:], -1, 0)
        bounds["unadjusted"][:, part] = unadjusted_difference_bounds(first, second, level)
        bounds["two-step"][:, part] = sigma_difference_bounds(first, second, level)
        rejected[part] = _exchanged(counts[part], outcomes, rng, exchanges) <= 1.0 - level
    found = {kind: _summary(kind, bounds[kind], truth) for kind in kinds}
    return ComparisonStudy(
        truth=truth,
        discordance=discordance(joint),
        n=n,
        replicates=replicates,
        resamples=resamples,
        exchanges=exchanges,
        level=level,
        bias=float(estimates.mean() - truth),
        percentile=found["percentile"],
        unadjusted=found["unadjusted"],
        two_step=found["two-step"],
        sign_flip_rejects=float(np.mean(rejected)),
    )


def _exchanged(
    counts: IntArray, outcomes: IntArray, rng: np.random.Generator, exchanges: int
) -> FloatArray:
    """Sign-flip p-values of Sigma for data sets given as counts of outcomes, one a row.

    The test of :mod:`chaincheck.sign_flips`, written for many data sets at once.
    """
    difference = outcomes[:, :2] - outcomes[:, 2:]
    n = counts.sum(axis=1)
    edits = counts @ (outcomes[:, 1] + outcomes[:, 3]) - 2 * n
    stay = rng.binomial(counts[:, None, :], 0.5, size=(len(counts), exchanges, len(outcomes)))
    sums = (2 * stay - counts[:, None, :]) @ difference
    observed = counts @ difference
    reached = (
        np.abs(_difference(sums, edits[:, None])) >= np.abs(_difference(observed, edits))[:, None]
    )
    return np.asarray((reached.sum(axis=1) + 1) / (exchanges + 1))


def _difference(sums: IntArray, edits: IntArray) -> IntArray:
    chain, edit = sums[..., 0], sums[..., 1]
    return np.asarray(2 * chain - np.abs(edits + edit) + np.abs(edits - edit))
