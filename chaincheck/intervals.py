"""Intervals around one number: percentile, contrast, Wilson and Student's t.

Everything here is a pure function of numbers or of bootstrap draws; nothing here knows what a
triplet is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FloatArray",
    "IntArray",
    "Interval",
    "contrast_bounds",
    "contrast_interval",
    "fewest_units",
    "mean_interval",
    "normal_cdf",
    "normal_quantile",
    "percentile_bounds",
    "percentile_interval",
    "t_quantile",
    "too_few",
    "unbounded",
    "wilson",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_NORMAL = NormalDist()
_LARGE_DF = 200  # from here on the series of t_quantile is exact to nine digits


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the interval around it.

    Attributes:
        estimate: the number itself.
        low: lower end; ``-inf`` where the data bound it in no way.
        high: upper end; ``inf`` likewise.
        method: how the interval was made, in words fit for a table's caption.
        level: nominal coverage, 0.95 for a 95% interval.
    """

    estimate: float
    low: float
    high: float
    method: str
    level: float = 0.95

    @property
    def bounded(self) -> bool:
        """Whether both ends are numbers."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def ends(self) -> list[float | None]:
        """Lower and upper end, as JSON has them: None where an end is infinite."""
        return [end if math.isfinite(end) else None for end in (self.low, self.high)]

    @property
    def width(self) -> float:
        """Distance between the two ends."""
        return self.high - self.low

    def covers(self, value: float) -> bool:
        """Whether ``value`` lies inside, ends included."""
        return self.low <= value <= self.high


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, not {level!r}")


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution.

    Args:
        probability: strictly between 0 and 1.
    """
    return _NORMAL.inv_cdf(probability)


def normal_cdf(value: float) -> float:
    """Distribution function of the standard normal distribution."""
    return 0.5 * math.erfc(-value / math.sqrt(2.0))


def _t_central(angle: float, df: int) -> float:
    """P(|T| < t) for t = sqrt(df) tan(angle): the finite sums 26.7.3 and 26.7.4 of A&S."""
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = (cosine, cosine) if df % 2 else (1.0, 1.0)
    for k in range(3 if df % 2 else 2, df - 1, 2):
        term *= cosine * cosine * (k - 1) / k
        total += term
    if df % 2 == 0:
        return sine * total
    return 2.0 / math.pi * (angle + (sine * total if df > 1 else 0.0))


@lru_cache(maxsize=256)
def t_quantile(probability: float, df: int) -> float:
    """Quantile of Student's t distribution with a whole number of degrees of freedom.

    Up to 200 degrees the distribution function is an exact finite sum (Abramowitz and Stegun
    1964, 26.7.3-4), inverted by bisection; above, the expansion around the normal quantile
    (26.7.5) is exact to nine digits.

    Args:
        probability: strictly between 0 and 1.
        df: degrees of freedom, at least 1.
    """
    if not 0.0 < probability < 1.0:
        raise ValueError(f"probability must lie strictly between 0 and 1, not {probability!r}")
    if df < 1:
        raise ValueError(f"t needs at least 1 degree of freedom, not {df!r}")
    if probability < 0.5:
        return -t_quantile(1.0 - probability, df)
    if df > _LARGE_DF:
        z = normal_quantile(probability)
        g1 = (z**3 + z) / 4
        g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
        return z + g1 / df + g2 / df**2 + g3 / df**3 + g4 / df**4
    central = 2.0 * probability - 1.0
    low, high = 0.0, math.pi / 2
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high:
            return math.sqrt(df) * math.tan(middle)
        if _t_central(middle, df) < central:
            low = middle
        else:
            high = middle


def fewest_units(level: float = 0.95) -> int:
    """Fewest independent units with which any data can show an effect at this level.

    If a comparison is a fair coin, all m units agree in the direction asked for with probability
    2^-m. That is the smallest one-sided error any data of m comparisons can be given, and it is
    within the (1 - level)/2 of a two-sided interval only from m = log2(2/(1 - level)) on: 6 for
    95%, as in the sign test. A bootstrap interval of fewer units would claim what they cannot
    show: it shrinks to a point where all agree, and is the range of the data otherwise.

    Args:
        level: nominal coverage.

    Returns:
        At least 2.
    """
    _check_level(level)
    return max(2, math.ceil(math.log2(2.0 / (1.0 - level)) - 1e-9))


def too_few(units: int, what: str, level: float = 0.95) -> tuple[str, ...]:
    """Say why there is no interval, if :func:`fewest_units` are not there; else nothing.

    Args:
        units: how many there are.
        what: the word for one of them.
        level: nominal coverage.
    """
    needed = fewest_units(level)
    if units >= needed:
        return ()
    count = f"one {what}" if units == 1 else f"only {units} {what}s"
    return (f"{count}: no interval ({needed} needed)",)


def unbounded(interval: Interval) -> Interval:
    """The same estimate with nothing said about where the truth lies."""
    return replace(interval, low=-math.inf, high=math.inf)


def percentile_bounds(draws: ArrayLike, level: float = 0.95, axis: int = -1) -> FloatArray:
    """Lower and upper percentile of bootstrap draws (Efron 1979; Efron and Tibshirani 1993, 13).

    With a = (1 - level)/2 these are the a and 1 - a quantiles, interpolated linearly.

    Args:
        draws: bootstrap replicates of a statistic along ``axis``.
        level: nominal coverage.
        axis: the axis of the replicates.

    Returns:
        An array of shape (2, ...): lower ends, upper ends.
    """
    _check_level(level)
    tail = (1.0 - level) / 2.0
    return np.asarray(
        np.quantile(np.asarray(draws, dtype=np.float64), [tail, 1.0 - tail], axis=axis)
    )


def percentile_interval(
    estimate: float,
    draws: ArrayLike,
    level: float = 0.95,
    method: str = "percentile bootstrap",
) -> Interval:
    """Percentile interval around ``estimate`` from one-dimensional bootstrap draws."""
    low, high = percentile_bounds(draws, level)
    return Interval(float(estimate), float(low), float(high), method, level)


def contrast_bounds(
    minus: ArrayLike, plus: ArrayLike, level: float = 0.95, axis: int = -1
) -> FloatArray:
    r"""Two-sided contrast bounds of Sigma = min(CE - EE, CE + EE).

    Sigma is the smaller of two plain means, ``minus`` = CE - EE and ``plus`` = CE + EE. Each
    has an ordinary percentile interval [l, u]; the bounds of Sigma are

        lower = min(l_minus, l_plus),    upper = min(u_minus, u_plus).

    Why this is an intersection-union test (Berger 1982). "Sigma > 0" says that BOTH contrasts
    are positive, so its denial, "Sigma <= 0", is the union of "CE - EE <= 0" and
    "CE + EE <= 0". Reject that union only when each of its two parts is rejected on its own at
    2.5%, one-sided. Whichever part is true, it is rejected in at most 2.5% of samples, and
    rejecting the union asks for more than that; so the test holds its 2.5% without dividing
    the level between the parts. Both parts are rejected exactly when both lower ends exceed
    zero, that is, when their minimum does: the lower bound above. The same argument at any
    value c in place of 0 shows P(lower > Sigma) <= 2.5%. The argument is as exact as the
    percentile bound of a plain mean is: in simulation P(lower > Sigma) was 0 to 3.6% for 64 to
    295 triplets (largest at n = 122, CE = 0.32, EE = 0.19).

    The upper end falls short of Sigma when either contrast's upper end does. The contrast that
    attains the minimum does so in at most 2.5% of samples; the other adds to that only where
    the two are nearly equal (EE near 0), up to 5% together, and just there the lower end, which
    both contrasts must overstep, errs in nearly 0%. So the two-sided coverage stays close to
    ``level`` throughout: see :func:`chaincheck.coverage.simulate_coverage`.

    The percentile interval of CE - |EE| itself fails near EE = 0: there |EE| has a kink, each
    resample folds its noise into a larger |EE|, and both estimate and interval are pushed
    down. The two contrasts have no kink.

    The upper end may exceed 1/2, the largest value that Sigma can take, because either contrast
    may; it is left as it is.

    Args:
        minus: bootstrap draws of CE - EE along ``axis``.
        plus: bootstrap draws of CE + EE from the SAME resamples.
        level: nominal two-sided coverage.
        axis: the axis of the replicates.

    Returns:
        An array of shape (2, ...): lower ends, upper ends.
    """
    return np.minimum(percentile_bounds(minus, level, axis), percentile_bounds(plus, level, axis))


def contrast_interval(
    estimate: float,
    minus: ArrayLike,
    plus: ArrayLike,
    level: float = 0.95,
    method: str = "two-sided contrast",
) -> Interval:
    """The interval of :func:`contrast_bounds` around ``estimate``."""
    low, high = contrast_bounds(minus, plus, level)
    return Interval(float(estimate), float(low), float(high), method, level)


def wilson(wins: float, n: float, level: float = 0.95, *, design_effect: float = 1.0) -> Interval:
    """Wilson score interval of a win rate (Wilson 1927).

    With p = wins/n and z the normal quantile of (1 + level)/2::

        (p + z^2/2n  -+  z sqrt(p(1 - p)/n + z^2/4n^2)) / (1 + z^2/n)

    A tie counts as half a win, so ``wins`` may end in one half. The formula then still takes
    the variance of one comparison to be p(1 - p). Half points have a smaller variance than
    that (p(1 - p) less a quarter of the share of ties), so with ties the interval is wider
    than it need be, never narrower. It is an interval for P(win) + P(tie)/2.

    Clustered comparisons carry less information than n independent ones; ``design_effect``
    (Kish 1965: the variance under clustering over the variance without it) divides n.

    Args:
        wins: wins plus half the ties, from 0 to n.
        n: number of comparisons, above 0.
        level: nominal coverage.
        design_effect: at least 1; smaller values count as 1.

    Raises:
        ValueError: n is not positive, or wins lies outside 0..n.
    """
    _check_level(level)
    if not n > 0:
        raise ValueError(f"a win rate needs n > 0, not {n!r}")
    if not 0 <= wins <= n:
        raise ValueError(f"wins must lie in 0..{n!r}, not {wins!r}")
    rate = wins / n
    size = n / max(1.0, design_effect)
    z = normal_quantile((1.0 + level) / 2.0)
    shrink = 1.0 + z * z / size
    center = (rate + z * z / (2.0 * size)) / shrink
    half = z * math.sqrt(rate * (1.0 - rate) / size + z * z / (4.0 * size * size)) / shrink
    # At 0 and at n the formula ends exactly at 0 and 1; rounding must not carry it past them.
    low = 0.0 if wins == 0 else max(0.0, center - half)
    high = 1.0 if wins == n else min(1.0, center + half)
    return Interval(rate, low, high, "Wilson", level)


def mean_interval(
    values: ArrayLike, cluster: ArrayLike | None = None, level: float = 0.95
) -> Interval:
    """Student's t interval of a mean, for independent values or for clusters of them.

    With residuals e_i = x_i - mean and u_g their sum over cluster g (Liang and Zeger 1986; for
    clusters of one value this is the textbook s/sqrt(n))::

        SE = sqrt(G/(G - 1) * sum_g u_g^2) / n,    mean -+ t_{(1 + level)/2, G - 1} SE

    Args:
        values: shape (n,), finite.
        cluster: shape (n,), labels of the G clusters, or None where each value stands alone.
        level: nominal coverage.

    Returns:
        The interval. With a single cluster nothing bounds the mean and it is (-inf, inf).

    Raises:
        ValueError: no values, not one-dimensional, or labels of another shape.
    """
    _check_level(level)
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1 or x.size == 0:
        raise ValueError(f"a mean needs a non-empty one-dimensional array, not shape {x.shape}")
    mean = float(x.mean())
    residuals = x - mean
    if cluster is not None:
        labels = np.asarray(cluster)
        if labels.shape != x.shape:
            raise ValueError(f"cluster has shape {labels.shape}, values have {x.shape}")
        _, index = np.unique(labels, return_inverse=True)
        residuals = np.asarray(np.bincount(index, weights=residuals), dtype=np.float64)
    groups = residuals.size
    if groups < 2:
        return Interval(mean, -math.inf, math.inf, "t", level)
    error = math.sqrt(groups / (groups - 1) * float(residuals @ residuals)) / x.size
    half = t_quantile((1.0 + level) / 2.0, groups - 1) * error
    return Interval(mean, mean - half, mean + half, "t", level)
