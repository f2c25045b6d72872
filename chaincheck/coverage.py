"""Do the intervals keep their promise? Simulated coverage of the kit and contrast intervals.

Data are drawn from a known joint distribution of the B > D and A > B outcomes, so the true
Sigma is known; each data set gets both intervals, and what is counted is how often each holds
the truth. Data and resamples are multinomial counts, so the cost does not grow with n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chaincheck.cells import CellScores
from chaincheck.intervals import FloatArray, contrast_bounds, percentile_bounds
from chaincheck.power import contrast_covariance, win_table
from chaincheck.resampling import half_wins

__all__ = ["Coverage", "CoverageStudy", "observed_table", "simulate_coverage", "win_table"]

_CHUNK = 1 << 21  # counts held at a time: 16 MB
_ROUNDING = 1e-12  # ends of intervals are sums of a few fractions; truth counts as inside


@dataclass(frozen=True, slots=True)
class Coverage:
    """How one kind of interval did.

    Attributes:
        method: "kit" or "contrast".
        coverage: share of data sets whose interval holds the true Sigma.
        coverage_se: Monte Carlo standard error of that share, sqrt(p(1 - p)/replicates).
        miss_low: share whose lower end lies above the truth: P(lower > truth).
        miss_low_se: its Monte Carlo standard error.
        miss_high: share whose upper end lies below the truth.
        miss_high_se: its Monte Carlo standard error.
        width: mean width.
        center_bias: mean of the interval's midpoint less the truth.
        rejects: share whose lower end lies above 0, the simulated power of "Sigma > 0".
    """

    method: str
    coverage: float
    coverage_se: float
    miss_low: float
    miss_low_se: float
    miss_high: float
    miss_high_se: float
    width: float
    center_bias: float
    rejects: float


@dataclass(frozen=True, slots=True)
class CoverageStudy:
    """One simulated setting.

    Attributes:
        truth: true Sigma.
        chain_effect, edit_effect: true CE and EE.
        n: triplets in each data set.
        replicates: data sets.
        resamples: bootstrap resamples of each.
        level: nominal coverage.
        bias: mean estimate of Sigma less the truth. Below 0 near EE = 0, where noise folds into
            |EE|.
        bias_se: its Monte Carlo standard error.
        kit: how the percentile interval did.
        contrast: how the two-sided contrast interval did.
    """

    truth: float
    chain_effect: float
    edit_effect: float
    n: int
    replicates: int
    resamples: int
    level: float
    bias: float
    bias_se: float
    kit: Coverage
    contrast: Coverage


def observed_table(scores: CellScores) -> FloatArray:
    """The joint distribution of B > D and A > B outcomes in data, laid out like a win table.

    Simulating from it asks how the intervals would do for a judge like this one.

    Returns:
        Shape (3, 3): entry [i, j] is the share of triplets with i half wins in B > D and j in
        A > B.
    """
    codes = 3 * half_wins(scores.b, scores.d) + half_wins(scores.a, scores.b)
    return np.asarray(np.bincount(codes, minlength=9).reshape(3, 3) / scores.n)


def _share_se(share: float, replicates: int) -> float:
    return math.sqrt(share * (1.0 - share) / replicates)


def _summary(method: str, bounds: FloatArray, truth: float) -> Coverage:
    """Count what intervals of shape (2, replicates) hold."""
    low, high = bounds
    above = float(np.mean(low > truth + _ROUNDING))
    below = float(np.mean(high < truth - _ROUNDING))
    outside = (low > truth + _ROUNDING) | (high < truth - _ROUNDING)
    held = float(1.0 - np.mean(outside))
    return Coverage(
        method=method,
        coverage=held,
        coverage_se=_share_se(held, low.size),
        miss_low=above,
        miss_low_se=_share_se(above, low.size),
        miss_high=below,
        miss_high_se=_share_se(below, low.size),
        width=float(np.mean(high - low)),
        center_bias=float(np.mean((low + high) / 2.0) - truth),
        rejects=float(np.mean(low > _ROUNDING)),
    )


def _effects(counts: NDArray[np.int64], points: FloatArray, n: int) -> FloatArray:
    """CE and EE of counts, shape (2, ...)."""
    return np.asarray(np.moveaxis(counts @ points / n - 0.5, -1, 0))


def simulate_coverage(
    table: ArrayLike,
    n: int,
    rng: np.random.Generator,
    *,
    replicates: int = 1000,
    resamples: int = 1000,
    level: float = 0.95,
) -> CoverageStudy:
    """Coverage of both intervals of Sigma when triplets are drawn from ``table``.

    Args:
        table: shape (3, 3), P(i half wins in B > D, j in A > B), as of
            :func:`chaincheck.power.win_table` or :func:`observed_table`.
        n: triplets in each data set.
        rng: source of randomness.
        replicates: data sets; the Monte Carlo error of a coverage near 95% is about
            0.22/sqrt(replicates).
        resamples: bootstrap resamples of each data set.
        level: nominal coverage.

    Returns:
        The study.

    Raises:
        ValueError: a table that is no distribution, or a count below 1.
    """
    joint = np.asarray(table, dtype=np.float64)
    if joint.shape != (3, 3) or joint.min() < 0.0 or not math.isclose(joint.sum(), 1.0):
        raise ValueError("table must be 3 x 3 probabilities that sum to 1")
    if min(n, replicates, resamples) < 1:
        raise ValueError("n, replicates and resamples must be at least 1")
    minus, plus, _ = contrast_covariance(joint)
    truth = min(minus, plus)
    kinds = np.argwhere(joint > 0.0)  # outcomes that never happen need no draws
    points = kinds / 2.0
    counts = rng.multinomial(n, joint[joint > 0.0] / joint.sum(), size=replicates)
    chain, edit = _effects(counts, points, n)
    estimates = chain - np.abs(edit)
    kit = np.empty((2, replicates))
    contrast = np.empty((2, replicates))
    rows = max(1, _CHUNK // (resamples * len(kinds)))
    for start in range(0, replicates, rows):
        part = slice(start, min(start + rows, replicates))
        shares = counts[part, None, :] / n
        drawn = rng.multinomial(n, shares, size=(shares.shape[0], resamples))
        chain, edit = _effects(drawn, points, n)
        kit[:, part] = percentile_bounds(chain - np.abs(edit), level)
        contrast[:, part] = contrast_bounds(chain - edit, chain + edit, level)
    return CoverageStudy(
        truth=truth,
        chain_effect=(minus + plus) / 2.0,
        edit_effect=(plus - minus) / 2.0,
        n=n,
        replicates=replicates,
        resamples=resamples,
        level=level,
        bias=float(estimates.mean() - truth),
        bias_se=float(estimates.std() / math.sqrt(replicates)),
        kit=_summary("kit", kit, truth),
        contrast=_summary("contrast", contrast, truth),
    )
