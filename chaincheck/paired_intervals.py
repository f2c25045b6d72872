"""Intervals for the difference of two judges that scored the same triplets.

Everything here is a pure function of numbers or of bootstrap draws. Nominal, CE and EE are plain
means, and so are their differences: the percentile interval serves. Sigma is the smaller of two
means, so its difference has kinks and needs :func:`sigma_difference_bounds`. Close to the
ceiling the percentile bound of a Nominal difference is too sure of itself; what decides whether
a judge is not worse than another is :func:`paired_rate_floor`. The difference of two shares that
may both be near 0 has an interval of its own, :func:`paired_share_interval`.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chaincheck.intervals import FloatArray, Interval, normal_quantile, wilson

__all__ = [
    "paired_rate_floor",
    "paired_share_interval",
    "shows_not_worse",
    "sigma_difference_bounds",
    "sigma_difference_interval",
    "unadjusted_difference_bounds",
]

_SURE = 0.999  # level of the interval that must exclude EE = 0 before one contrast is let go


def _ranges(first: FloatArray, second: FloatArray, probabilities: ArrayLike) -> FloatArray:
    """Quantiles of the four differences: shape (probabilities, 2 of first, 2 of second, ...)."""
    found = [
        [np.quantile(one - other, np.asarray(probabilities), axis=-1) for other in second]
        for one in first
    ]
    return np.moveaxis(np.asarray(found), 2, 0)


def _checked(first: ArrayLike, second: ArrayLike, level: float) -> tuple[FloatArray, FloatArray]:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, not {level!r}")
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if x.shape != y.shape or x.ndim < 2 or x.shape[0] != 2 or x.shape[-1] == 0:
        raise ValueError(
            f"draws must have one shape (2, ..., resamples), not {x.shape} and {y.shape}"
        )
    return x, y


def unadjusted_difference_bounds(
    first: ArrayLike, second: ArrayLike, level: float = 0.95
) -> FloatArray:
    """Bounds of Sigma1 - Sigma2 that pay nothing for choosing among contrasts.

    The plain analog of :func:`chaincheck.intervals.contrast_bounds`, here to be held against
    :func:`sigma_difference_bounds`, which see: with l and u at ``level`` throughout,
    lower = min_i max_j l_ij and upper = max_j min_i u_ij.

    Args:
        first: bootstrap draws of CE - EE and CE + EE of the first judge, shape
            (2, ..., resamples).
        second: those of the second judge, from the SAME resamples.
        level: nominal two-sided coverage.

    Returns:
        An array of shape (2, ...): lower ends, upper ends.
    """
    x, y = _checked(first, second, level)
    tail = (1.0 - level) / 2.0
    low, high = _ranges(x, y, [tail, 1.0 - tail])
    return np.stack([low.max(axis=1).min(axis=0), high.min(axis=0).max(axis=0)])


def sigma_difference_bounds(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> FloatArray:
    r"""Two-sided bounds of Sigma1 - Sigma2 of two judges on the same triplets.

    Write x_1, x_2 for CE - EE and CE + EE of the first judge and y_1, y_2 for those of the
    second. Sigma is the smaller of the two, so with the four plain contrasts d_ij = x_i - y_j

        Sigma1 - Sigma2 = min_i x_i - min_j y_j = min_i max_j d_ij = max_j min_i d_ij.

    *Lower end.* "The difference exceeds c" says: for EVERY i there is SOME j with d_ij > c. Over
    i this is an intersection-union test (Berger 1982), which costs nothing: each i must be shown
    at 2.5%. Over j it is a union-intersection test, which does: two contrasts each have a chance
    to err, so each gets half of the 2.5% (Bonferroni). With percentile bounds l_ij so chosen
    the end is min_i max_j l_ij. *Upper end*, by the second form and the same argument with the
    parts exchanged: max_j min_i u_ij.

    *Two steps.* Halving is needed only while both contrasts of the judge may be the smaller one,
    that is, near EE = 0. Where the 99.9% percentile interval of that judge's EE excludes 0, the
    sign of EE says which contrast is the smaller, the other is let go, and the one left gets all
    of the 2.5%. A wrong sign comes up in at most 0.05% of samples. (Selecting which inequalities
    matter before testing them: Andrews and Soares 2010; Romano, Shaikh and Wolf 2014.) Where EE
    is clear of 0 for both judges the interval is thus the percentile interval of one plain mean.

    How it did in :func:`chaincheck.paired_simulation.simulate_comparison`: sixteen pairs of judges
    (EE from 0 to .3, of equal and of opposite sign), outcomes independent or much alike, n = 64,
    122 or 295, 1,000-2,000 data sets each (so shares near .03 are known to about .004):

    ============= =========== ======================== ========================
    interval      coverage    largest P(lower > truth) largest P(upper < truth)
    ============= =========== ======================== ========================
    percentile    .887-.999   .112                     .099
    unadjusted    .942-.997   .056                     .052
    two steps     .945-.999   .032                     .032
    ============= =========== ======================== ========================

    The percentile interval of Sigma1 - Sigma2 fails where one judge has EE near 0 and the other
    has not: noise folds into |EE| of the first only, its Sigma is estimated too low (by .05 at
    n = 64, .04 at 122, .02 at 295), and so is the difference. The price of two steps is width:
    where EE is near 0 for BOTH judges the interval is about 1.4 times as wide as the percentile
    one. There the difference of CE, a plain mean, says almost the same with a narrower interval.

    Args:
        first: bootstrap draws of CE - EE and CE + EE of the first judge, shape
            (2, ..., resamples).
        second: those of the second judge, from the SAME resamples.
        level: nominal two-sided coverage.

    Returns:
        An array of shape (2, ...): lower ends, upper ends.

    Raises:
        ValueError: shapes that differ, or a level that is none.
    """
    x, y = _checked(first, second, level)
    tail = (1.0 - level) / 2.0
    half_low, low, high, half_high = _ranges(x, y, [tail / 2.0, tail, 1.0 - tail, 1 - tail / 2.0])
    keep_first, keep_second = _possible_minima(x), _possible_minima(y)
    # A contrast that was let go never attains the extreme over j (lower end) or i (upper end).
    both = keep_second.all(axis=0)
    lower = np.where(both, half_low, low)
    lower = np.where(keep_second[None], lower, -np.inf).max(axis=1).min(axis=0)
    both = keep_first.all(axis=0)
    upper = np.where(both, half_high, high)
    upper = np.where(keep_first[:, None], upper, np.inf).min(axis=0).max(axis=0)
    return np.stack([lower, upper])


def _possible_minima(draws: FloatArray) -> FloatArray:
    """Which of the two contrasts may be the smaller one: shape (2, ...), true or false."""
    tail = (1.0 - _SURE) / 2.0
    low, high = np.quantile((draws[1] - draws[0]) / 2.0, [tail, 1.0 - tail], axis=-1)
    return np.stack([high >= 0.0, low <= 0.0])


def sigma_difference_interval(
    estimate: float, first: ArrayLike, second: ArrayLike, level: float = 0.95
) -> Interval:
    """The interval of :func:`sigma_difference_bounds` around ``estimate``."""
    low, high = sigma_difference_bounds(first, second, level)
    return Interval(float(estimate), float(low), float(high), "two-step contrast", level)


def paired_rate_floor(
    gained: float, lost: float, n: float, level: float = 0.975, *, design_effect: float = 1.0
) -> float:
    """One-sided lower bound of the difference of two paired win rates (Tango 1998).

    A judge is shown to be not worse than another by more than a margin if this bound lies above
    minus the margin. It inverts the score test: the bound is the smallest difference D that the
    data do not reject,

        (gained - lost - n D) / sqrt(n (2 q + D (1 - D))) = z_level,

    with q the likeliest probability of a loss if the difference is D. Unlike the percentile
    bound it does not shrink to nothing where the two judges never differ: with no discordant
    triplet in n it is -z^2/(n + z^2), as Wilson's would be.

    A triplet in which the first judge wins and the second loses counts 1 as gained, one in which
    one of them ties counts 1/2. The formula takes a half for what it is not, a whole with
    probability one half, whose variance is larger: with ties the bound is lower than it need be,
    never higher.

    Args:
        gained: sum of the differences of the outcomes where the first judge's is better.
        lost: the same where the second's is, as a positive number.
        n: number of triplets.
        level: one-sided confidence; 0.975 is what a two-sided 95% interval gives each side.
        design_effect: variance of the difference under clustering over that without; divides n.

    Raises:
        ValueError: counts that n triplets cannot give, or a level that is none.
    """
    if not 0.5 <= level < 1.0:
        raise ValueError(f"a one-sided level must lie in 0.5..1, not {level!r}")
    if not n > 0 or min(gained, lost) < 0 or gained + lost > n + 1e-9:
        raise ValueError(f"{n!r} triplets cannot gain {gained!r} and lose {lost!r}")
    shrink = max(1.0, design_effect)
    b, c, m = gained / shrink, lost / shrink, n / shrink
    z = normal_quantile(level)
    low, high = -1.0, (b - c) / m
    if not _exceeds(b, c, m, low, z):
        return low
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return low
        if _exceeds(b, c, m, middle, z):
            low = middle
        else:
            high = middle


def paired_share_interval(
    both: int, first: int, second: int, neither: int, level: float = 0.95
) -> Interval:
    r"""Interval of a difference between two shares of the same units (Newcombe 1998, method 10).

    With the shares p = (both + first)/n and q = (both + second)/n, their Wilson intervals
    [l, u] and [l', u'], and phi the correlation of the two properties over the units::

        low  = p - q - sqrt((p - l)^2 - 2 phi (p - l)(u' - q) + (u' - q)^2)
        high = p - q + sqrt((u - p)^2 - 2 phi (u - p)(q - l') + (q - l')^2)

    phi = (both neither - first second) / sqrt(product of the margins); a positive numerator is
    lessened by n/2, but not below 0, and phi is 0 where a margin is empty. Unlike an interval from
    the differences alone, it has a width even where no unit differs.

    Args:
        both: units with both properties.
        first: units with the first only.
        second: units with the second only.
        neither: units with none.
        level: nominal coverage.

    Raises:
        ValueError: a negative count, or no units.
    """
    n = both + first + second + neither
    if min(both, first, second, neither) < 0 or n < 1:
        raise ValueError(f"counts must be >= 0 and not all 0: {(both, first, second, neither)}")
    one, other = wilson(both + first, n, level), wilson(both + second, n, level)
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    numerator: float = both * neither - first * second
    if numerator > 0:
        numerator = max(0.0, numerator - n / 2)
    phi = numerator / math.sqrt(margins) if margins else 0.0
    p, q = one.estimate, other.estimate
    down, up = p - one.low, one.high - p
    down_other, up_other = q - other.low, other.high - q
    below = down**2 - 2 * phi * down * up_other + up_other**2
    above = up**2 - 2 * phi * up * down_other + down_other**2
    low, high = p - q - math.sqrt(max(0.0, below)), p - q + math.sqrt(max(0.0, above))
    return Interval(p - q, low, high, "Newcombe", level)


def shows_not_worse(
    gained: ArrayLike, lost: ArrayLike, n: float, margin: float, level: float = 0.975
) -> NDArray[np.bool_]:
    """Whether :func:`paired_rate_floor` exceeds minus ``margin``, for many counts at once.

    Args:
        gained: as of :func:`paired_rate_floor`, shape (...).
        lost: the same.
        n: number of triplets.
        margin: how much lower is still acceptable, 0 to 1.
        level: one-sided confidence.

    Returns:
        Shape (...).
    """
    b, c = np.asarray(gained, dtype=np.float64), np.asarray(lost, dtype=np.float64)
    return np.asarray(_exceeds(b, c, n, -margin, normal_quantile(level)))


_Numbers = TypeVar("_Numbers", float, FloatArray)


def _exceeds(gained: _Numbers, lost: _Numbers, n: float, difference: float, z: float) -> Any:
    """Whether the score test says that the true difference is larger than this one."""
    loss = _likeliest_loss(gained, lost, n, difference)
    spread = np.maximum(0.0, n * (2.0 * loss + difference * (1.0 - difference)))
    return gained - lost - n * difference > z * np.sqrt(spread)


def _likeliest_loss(gained: _Numbers, lost: _Numbers, n: float, difference: float) -> Any:
    """Maximum-likelihood P(lost) if P(gained) - P(lost) is ``difference`` (Tango 1998, eq. 4)."""
    linear = (2.0 * n - gained + lost) * difference - gained - lost
    constant = -lost * difference * (1.0 - difference)
    root = np.sqrt(np.maximum(0.0, linear * linear - 8.0 * n * constant))
    return (root - linear) / (4.0 * n)
