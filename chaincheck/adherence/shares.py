"""Shares and differences of shares, also where several cases come from one question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chaincheck.adherence.rates import clopper_pearson
from chaincheck.cells import labels
from chaincheck.intervals import FloatArray, Interval, t_quantile, wilson

__all__ = ["EXACT", "EXACT_CLUSTERED", "PAIRED", "PAIRED_CLUSTERED", "Share", "effective_size",
           "paired_difference", "share"]  # fmt: skip

EXACT = "Clopper-Pearson"
EXACT_CLUSTERED = "Clopper-Pearson at the effective size, clustered by question"
PAIRED = "Newcombe, paired"
PAIRED_CLUSTERED = "Newcombe, paired, clustered by question"


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some cases are of a kind.

    Attributes:
        found: V, how many surely are.
        unknown: U, how many may be.
        n: N, of how many.
        questions: from how many questions these come.
        interval: V / N with its interval; ``interval.method`` says which. NaN from 0 to 1 where
            N is 0.
    """

    found: int
    unknown: int
    n: int
    questions: int
    interval: Interval

    @property
    def least(self) -> float:
        """V / N: the share if none of the unknown is of the kind."""
        return self.found / self.n if self.n else 0.0

    @property
    def most(self) -> float:
        """(V + U) / N: the share if all of them are."""
        return (self.found + self.unknown) / self.n if self.n else 1.0


def effective_size(
    values: Sequence[bool] | FloatArray, questions: Sequence[object], level: float = 0.95
) -> float:
    """How many independent cases say as much about a share as these clustered ones.

    Korn and Graubard (1998), Survey Methodology 24, 193-201: the size that a simple sample with
    the cluster-robust variance v of the share p would have, p(1 - p)/v, times
    (t(n - 1)/t(G - 1))^2 for the G clusters that v was estimated from; never more than n. Where
    all cases agree v cannot be estimated, and each question counts once.

    Args:
        values: 0 or 1 for each case.
        questions: the question of each case.
        level: coverage of the interval that the size is for.
    """
    x = np.asarray(values, dtype=np.float64)
    index = labels(questions)
    n, groups = x.size, int(index.max(initial=-1)) + 1
    if groups == n:
        return float(n)
    p = float(x.mean())
    if groups < 2 or p in (0.0, 1.0):
        return float(groups)
    sums = np.bincount(index, weights=x - p)
    variance = groups / (groups - 1) * float(sums @ sums) / n**2
    if variance <= 0.0:
        return float(n)
    tail = (1.0 + level) / 2
    ratio = t_quantile(tail, n - 1) / t_quantile(tail, groups - 1)
    return min(float(n), p * (1.0 - p) / variance * ratio**2)


def share(values: Sequence[bool | None], questions: Sequence[object], level: float = 0.95) -> Share:
    """Count the cases of a kind and put an interval around their share.

    With one case a question it is the exact interval of Clopper and Pearson; with several it is
    that interval at the effective size.

    Args:
        values: for each case whether it is of the kind, None where that is unknown.
        questions: the question of each case.
        level: coverage.
    """
    n, found = len(values), sum(value is True for value in values)
    unknown = sum(value is None for value in values)
    groups = len(set(questions))
    if not n:
        return Share(0, 0, 0, 0, Interval(math.nan, 0.0, 1.0, EXACT, level))
    size = effective_size([value is True for value in values], questions, level)
    low, high = clopper_pearson(found / n * size, size, level) if groups > 1 else (0.0, 1.0)
    method = EXACT if groups == n else EXACT_CLUSTERED
    if n == 1:
        low, high = clopper_pearson(found, 1, level)
    return Share(found, unknown, n, groups, Interval(found / n, low, high, method, level))


def paired_difference(
    first: Sequence[bool],
    second: Sequence[bool],
    questions: Sequence[object],
    level: float = 0.95,
) -> Interval:
    """The difference of two shares that were seen on the same triplets.

    Newcombe (1998), Statistics in Medicine 17, 2635-2650, method 10: Wilson's intervals of both
    shares, squared and added with the correlation of the pairs. It is honest at the ends: where
    every triplet agrees the interval still has a width. With several triplets a question both
    Wilson intervals are taken at the effective size.

    Args:
        first: for each triplet whether the first of its two cases is of the kind.
        second: likewise.
        questions: the question of each triplet.
        level: coverage.
    """
    n = len(first)
    clustered = len(set(questions)) < n
    method = PAIRED_CLUSTERED if clustered else PAIRED
    if not n:
        return Interval(math.nan, -1.0, 1.0, method, level)
    x, y = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    one, other = (
        wilson(float(v.sum()), n, level, design_effect=n / effective_size(v, questions, level))
        for v in (x, y)
    )
    phi = _correlation(int((x & y).sum()), int((x & ~y).sum()), int((~x & y).sum()), n)
    gap = one.estimate - other.estimate

    def half(a: float, b: float) -> float:
        return math.sqrt(max(0.0, a * a - 2 * phi * a * b + b * b))

    low = gap - half(one.estimate - one.low, other.high - other.estimate)
    high = gap + half(one.high - one.estimate, other.estimate - other.low)
    return Interval(gap, max(-1.0, low), min(1.0, high), method, level)


def _correlation(both: int, only_first: int, only_second: int, n: int) -> float:
    """Newcombe's corrected correlation of the pairs; 0 where one of the shares is 0 or 1."""
    neither = n - both - only_first - only_second
    product = float(
        (both + only_first)
        * (only_second + neither)
        * (both + only_second)
        * (only_first + neither)
    )
    if product == 0.0:
        return 0.0
    excess = both * neither - only_first * only_second
    if excess > 0:
        excess = max(0, excess - n / 2)  # type: ignore[assignment]
    return excess / math.sqrt(product)
