"""Shares of a batch: exact binomial intervals, and bounds where some replays are undecided."""

from __future__ import annotations

import math

import msgspec

__all__ = ["Rate", "beta_cdf", "clopper_pearson", "rate"]

_STEPS = 10_000
_TINY = 1e-300


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method.

    Press et al. (2007), Numerical Recipes, 3rd edition, 6.4.5 and 5.2. Converges in about
    sqrt(max(a, b)) steps for x < (a + 1) / (a + b + 2).
    """
    front = 1.0
    back = 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    value = back
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            back = 1.0 / _away(1.0 + term * back)
            front = _away(1.0 + term / front)
            step = front * back
            value *= step
        if abs(step - 1.0) < 1e-15:
            return value
    raise ArithmeticError(f"no convergence for a={a}, b={b}, x={x}")


def _away(value: float) -> float:
    """Keep a divisor off zero."""
    return value if abs(value) > _TINY else _TINY


def beta_cdf(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function, the distribution function of Beta(a, b).

    Args:
        x: from 0 to 1.
        a: first shape, positive.
        b: second shape, positive.

    Returns:
        A probability, to about twelve digits for shapes up to a million.
    """
    if x <= 0.0:
        return 0.0
    if x >= 1.0:
        return 1.0
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1.0) / (a + b + 2.0):
        return math.exp(log_front) * _continued_fraction(a, b, x) / a
    return 1.0 - math.exp(log_front) * _continued_fraction(b, a, 1.0 - x) / b


def _beta_quantile(probability: float, a: float, b: float) -> float:
    """Invert the distribution function by bisection, down to neighboring floats."""
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle


def clopper_pearson(successes: float, total: float, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a binomial share.

    Clopper and Pearson (1934), Biometrika 26, 404-413: the shares under which the count seen is
    in neither tail of (1 - level) / 2. It covers at least at the level, whatever the true share.

    Args:
        successes: how many, from 0 to ``total``; an effective count may have a fraction.
        total: of how many.
        level: coverage, strictly between 0 and 1.

    Returns:
        The ends; (0, 1) where ``total`` is 0.

    Raises:
        ValueError: the counts or the level make no sense.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} of {total} is no share")
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must lie strictly between 0 and 1, not {level!r}")
    tail = (1.0 - level) / 2
    low, high = 0.0, 1.0
    if successes > 0:
        low = _beta_quantile(tail, successes, total - successes + 1)
    if successes < total:
        # The mirror image, so that a tail is never found as one minus nearly one.
        high = 1.0 - _beta_quantile(tail, total - successes, successes + 1)
    return low, high


class Rate(msgspec.Struct, frozen=True):
    """How often a rule was violated, among replays of which some could not be decided.

    Attributes:
        violated: V, how many violated it.
        unknown: U, how many could not be decided.
        total: N, of how many.
        estimate: V / N, or None where N is 0.
        low: lower end of the exact interval around V / N.
        high: upper end.
        least: V / N, the rate if none of the undecided is a violation.
        most: (V + U) / N, the rate if all are.
        level: coverage of the interval.
    """

    violated: int
    unknown: int
    total: int
    estimate: float | None
    low: float
    high: float
    least: float
    most: float
    level: float


def rate(violated: int, unknown: int, total: int, level: float = 0.95) -> Rate:
    """Return the rate of violations, its exact interval and its bounds.

    The interval answers for chance, the bounds for what is unknown; neither includes the other.

    Raises:
        ValueError: more were violated and unknown than there are.
    """
    if violated + unknown > total:
        raise ValueError(f"{violated} violated and {unknown} unknown are more than {total}")
    low, high = clopper_pearson(violated, total, level)
    return Rate(
        violated=violated,
        unknown=unknown,
        total=total,
        estimate=violated / total if total else None,
        low=low,
        high=high,
        least=violated / total if total else 0.0,
        most=(violated + unknown) / total if total else 1.0,
        level=level,
    )
