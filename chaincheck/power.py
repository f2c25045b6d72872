"""Planning: how large an effect a number of triplets can show, and how many an effect needs.

All of it is about the decision "Sigma > 0" by the two-sided contrast interval, which asks both
CE - EE and CE + EE to be positive (:func:`chaincheck.intervals.contrast_bounds`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from chaincheck.intervals import FloatArray, normal_cdf, normal_quantile

__all__ = [
    "both_below",
    "contrast_covariance",
    "contrast_power",
    "detectable",
    "expected_edit_noise",
    "needed_n",
    "win_table",
]

_LARGEST_N = 10_000_000
_LARGEST_SIGMA = 0.5
_STEEP = 0.35  # sqrt(1 - r^2) below which the integral over a normal is cut into parts


def expected_edit_noise(n: int, ties: int = 0) -> float:
    """Expected |EE| of a judge whose edit effect is pure noise.

    If every untied A-versus-B comparison is a fair coin, the wins X among m = n - ties of them
    are binomial and |EE| = |X - m/2|/n. Its mean is exact (De Moivre 1730; Diaconis and Zabell
    1991)::

        E|EE| = ceil(m/2) * C(m, ceil(m/2)) / (2^m n)    (about 0.4/sqrt(n) without ties)

    Since Sigma = CE - |EE| and CE is at most 1/2, no judge can be expected to get above 1/2
    less this, however well it reads the chain.

    Args:
        n: number of triplets, at least 1.
        ties: how many of the A-versus-B comparisons are tied.
    """
    if n < 1 or not 0 <= ties <= n:
        raise ValueError(f"noise needs n >= 1 and ties in 0..n, not n = {n!r}, ties = {ties!r}")
    untied = n - ties
    if untied == 0:
        return 0.0
    half = (untied + 1) // 2
    log_choose = math.lgamma(untied + 1) - math.lgamma(half + 1) - math.lgamma(untied - half + 1)
    return half * math.exp(log_choose - untied * math.log(2.0)) / n


@lru_cache(maxsize=1)
def _gauss_legendre() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return np.asarray(nodes), np.asarray(weights)


def both_below(first: float, second: float, correlation: float) -> float:
    """P(X < first and Y < second) for two standard normals with a correlation.

    Integrates phi(x) Phi((second - r x)/sqrt(1 - r^2)) over x < first by Gauss-Legendre, in parts
    where the two are nearly one variable.
    """
    if correlation > 1 - 1e-9:
        return normal_cdf(min(first, second))
    if correlation < -1 + 1e-9:
        return max(0.0, normal_cdf(first) + normal_cdf(second) - 1.0)
    if max(abs(first), abs(second)) > 8.0:  # beyond, one of the two is certain or impossible
        return normal_cdf(min(first, second)) if min(first, second) < 8.0 else 1.0
    scale = math.sqrt(1.0 - correlation**2)
    ends = [-8.5, first]
    if scale < _STEEP:
        # The inner function is nearly a step, which nodes over the whole range may pass over.
        step, half = second / correlation, 8.5 * scale / abs(correlation)
        cuts = [cut for cut in (step - half, step, step + half) if -8.5 < cut < first]
        ends = [-8.5, *cuts, first]
    return sum(_strip(low, high, second, correlation, scale) for low, high in pairwise(ends))


def _strip(low: float, high: float, second: float, correlation: float, scale: float) -> float:
    """The integral of ``both_below`` between two ends."""
    nodes, weights = _gauss_legendre()
    x = 0.5 * (high - low) * nodes + 0.5 * (high + low)
    inner = np.array([normal_cdf((second - correlation * v) / scale) for v in x])
    density = np.exp(-0.5 * x**2) / math.sqrt(2.0 * math.pi)
    return float(0.5 * (high - low) * np.sum(weights * density * inner))


def _reject(minus: float, plus: float, covariance: FloatArray, level: float) -> float:
    """Normal approximation of P(both lower ends > 0) at the two true contrasts."""
    z = normal_quantile((1.0 + level) / 2.0)
    errors = np.sqrt(np.diag(covariance))
    if not np.all(np.isfinite(errors)):
        return 0.0
    standard = [
        mean / error if error > 0 else (math.inf if mean > 0 else -math.inf)
        for mean, error in zip((minus, plus), errors.tolist(), strict=True)
    ]
    both = float(errors[0] * errors[1])
    correlation = float(covariance[0, 1]) / both if both > 0 else 0.0
    return both_below(standard[0] - z, standard[1] - z, correlation)


def detectable(
    covariance: FloatArray, edit_effect: float, *, power: float = 0.8, level: float = 0.95
) -> float | None:
    """Smallest Sigma that data of this spread show with the given power (``mde80``).

    Holds EE and the covariance of the two contrasts at what was observed and moves CE: with
    Sigma = delta the contrasts stand at delta and delta + 2|EE|. The answer is the delta at
    which both lower ends of the contrast interval exceed 0 with probability ``power``, by the
    normal approximation. Where |EE| is clear of 0 only the smaller contrast decides, and ::

        delta = (z_{(1 + level)/2} + z_power) * SE(smaller contrast)    (2.80 SE at 95%, 80%)

    The published figures (0.164 at n = 122, 0.104 at 295, 0.111 at 324) are to three digits
    this formula with SE = (high - low)/(2 z) taken from the published kit intervals. From the
    published win counts, SE is known up to the number of triplets won in both B > D and A > B;
    the formula here gives 0.163, 0.107 and 0.111 in the middle of the admissible range. The
    spread is that of the data at hand: a judge at the ceiling has a small one, and a Sigma far
    below it would come with a larger.

    Args:
        covariance: shape (2, 2), of the estimates of CE - EE and CE + EE.
        edit_effect: observed EE.
        power: wanted probability of a lower end above 0.
        level: nominal coverage of the interval.

    Returns:
        The smallest Sigma, or None where it cannot be told (a single unit, or a smaller contrast
        that does not vary) or would have to exceed 1/2, which no Sigma does.
    """
    errors = np.sqrt(np.diag(covariance))
    gap = 2.0 * abs(edit_effect)
    # The contrast that is the smaller one has EE counted against it.
    cov = covariance if edit_effect >= 0 else covariance[::-1, ::-1]
    if not np.all(np.isfinite(errors)) or float(cov[0, 0]) <= 0.0:
        return None
    # Between what one contrast alone would need and what two would that share no luck.
    z = normal_quantile((1.0 + level) / 2.0)
    low = (z + normal_quantile(power)) * float(np.sqrt(cov[0, 0]))
    if _reject(low, low + gap, cov, level) > power - 1e-9:
        return low if low <= _LARGEST_SIGMA else None
    high = max(low, (z + normal_quantile((1.0 + power) / 2.0)) * float(errors.max()))
    found = _root(lambda delta: _reject(delta, delta + gap, cov, level) - power, low, high)
    return found if found <= _LARGEST_SIGMA else None


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses 0 in [low, high]: false position, Illinois variant.

    Dowell and Jarratt 1971. Plain false position keeps one end for ever on a curved function;
    halving the value at the end that stays makes it converge faster than a straight line.
    """
    at_low, at_high = rising(low), rising(high)
    middle, stays = high, 0
    for _ in range(60):
        if at_high == at_low or high - low <= 1e-12 * high:
            break
        middle = high - at_high * (high - low) / (at_high - at_low)
        value = rising(middle)
        if abs(value) < 1e-10:
            break
        if value > 0.0:
            high, at_high = middle, value
            at_low, stays = (at_low / 2.0 if stays < 0 else at_low), -1
        else:
            low, at_low = middle, value
            at_high, stays = (at_high / 2.0 if stays > 0 else at_high), 1
    return middle


def _marginal(effect: float, ties: float, name: str) -> FloatArray:
    """P(loss), P(tie), P(win) of one comparison with mean 1/2 + effect."""
    win = 0.5 + effect - ties / 2.0
    loss = 0.5 - effect - ties / 2.0
    if min(win, loss, ties) < -1e-12:
        raise ValueError(f"no comparison has {name} = {effect!r} with a share {ties!r} of ties")
    return np.asarray(np.clip([loss, ties, win], 0.0, 1.0), dtype=np.float64)


def win_table(
    chain_effect: float,
    edit_effect: float,
    *,
    association: float = 0.0,
    ties_bd: float = 0.0,
    ties_ab: float = 0.0,
) -> FloatArray:
    """A joint distribution of the B > D and A > B outcomes with given effects.

    A mixture of independence with one of Frechet's extreme couplings of the same margins (1951;
    Nelsen 2006, 2.5): (1 - |a|) independent + |a| comonotone (a > 0) or countermonotone
    (a < 0). The margins, hence CE, EE and Sigma = CE - |EE|, are exact whatever ``association``
    is; the correlation is |a| times the extreme one.

    Args:
        chain_effect: CE, -1/2 to 1/2.
        edit_effect: EE, -1/2 to 1/2.
        association: from -1 to 1; triplets of the published baseline sit slightly below 0.
        ties_bd: share of ties in B > D.
        ties_ab: share of ties in A > B.

    Returns:
        Shape (3, 3): entry [i, j] is P(B > D scores i half wins, A > B scores j).

    Raises:
        ValueError: effects and ties that no comparison can have.
    """
    if not -1.0 <= association <= 1.0:
        raise ValueError(f"association must lie in -1..1, not {association!r}")
    rows = _marginal(chain_effect, ties_bd, "CE")
    columns = _marginal(edit_effect, ties_ab, "EE")
    f, g = np.cumsum(rows)[:, None], np.cumsum(columns)[None, :]
    joint = np.minimum(f, g) if association > 0 else np.maximum(f + g - 1.0, 0.0)
    extreme = np.diff(np.diff(joint, axis=0, prepend=0.0), axis=1, prepend=0.0)
    weight = abs(association)
    table = np.clip((1.0 - weight) * np.outer(rows, columns) + weight * extreme, 0.0, None)
    return np.asarray(table / table.sum())


def contrast_covariance(table: FloatArray) -> tuple[float, float, FloatArray]:
    """CE - EE, CE + EE and the covariance of their summands in one triplet.

    Args:
        table: shape (3, 3), as of :func:`win_table`.

    Returns:
        Mean of CE - EE, mean of CE + EE, and a (2, 2) covariance; divide it by n.
    """
    bd, ab = np.meshgrid([0.0, 0.5, 1.0], [0.0, 0.5, 1.0], indexing="ij")
    summands = np.stack([bd - ab, bd + ab - 1.0]).reshape(2, -1)
    weights = np.asarray(table, dtype=np.float64).ravel()
    means = summands @ weights
    centered = summands - means[:, None]
    return float(means[0]), float(means[1]), np.asarray((centered * weights) @ centered.T)


def contrast_power(
    table: FloatArray, n: int, *, level: float = 0.95, design_effect: float = 1.0
) -> float:
    """Probability that n triplets put the contrast interval's lower end above 0.

    Normal approximation; :func:`chaincheck.coverage.simulate_coverage` gives the simulated one.

    Args:
        table: outcomes of one triplet, as of :func:`win_table`.
        n: number of triplets.
        level: nominal coverage of the interval.
        design_effect: variance under clustering over the variance without it; divides n.
    """
    if n < 1 or design_effect <= 0:
        raise ValueError(f"power needs n >= 1 and a positive design effect, not {n!r}")
    minus, plus, covariance = contrast_covariance(table)
    return _reject(minus, plus, covariance * (design_effect / n), level)


def needed_n(
    table: FloatArray, *, power: float = 0.8, level: float = 0.95, design_effect: float = 1.0
) -> int | None:
    """Fewest triplets with which :func:`contrast_power` reaches ``power``.

    Returns:
        The number, or None where Sigma <= 0 or ten million triplets are too few.
    """
    minus, plus, _ = contrast_covariance(table)
    if min(minus, plus) <= 0:
        return None
    low, high = 0, 1
    while contrast_power(table, high, level=level, design_effect=design_effect) < power:
        low, high = high, high * 2
        if low > _LARGEST_N:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        if contrast_power(table, middle, level=level, design_effect=design_effect) < power:
            low = middle
        else:
            high = middle
    return high
