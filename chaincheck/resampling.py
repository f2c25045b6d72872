"""Bootstrap resampling of triplets or clusters without one row for each of them.

A triplet enters every statistic only through the outcomes of its comparisons, each a loss, a
tie or a win; so n triplets fall into at most 3^k kinds, and drawing n of them with replacement
is one multinomial draw of how many come from each kind. A cluster enters only through its size
and its sums of wins; clusters with equal sums are one kind likewise. Time and memory then
depend on the number of kinds, not on the number of triplets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chaincheck.intervals import FloatArray, IntArray

__all__ = ["Units", "compress", "half_wins", "resample"]

_CHUNK = 1 << 16  # numbers drawn at a time: 0.5 MB, which stays in a core's cache
_FEW_UNITS = 4096  # up to here units are drawn one by one, as the plain bootstrap does
_BINOMIAL_COST = 8  # one binomial draw takes about as long as this many uniform integers


def half_wins(first: ArrayLike, second: ArrayLike) -> NDArray[np.int8]:
    """Outcome of each comparison in half wins: 2 where first > second, 1 if equal, 0 if lower.

    Halves are counted as whole numbers so that sums stay exact.

    Args:
        first: scores, shape (n,).
        second: scores, shape (n,).

    Returns:
        Shape (n,), values 0, 1, 2.
    """
    x, y = np.asarray(first), np.asarray(second)
    return (x > y).astype(np.int8) + (x >= y).astype(np.int8)


@dataclass(frozen=True, eq=False)
class Units:
    """What is resampled, one row for each kind of unit.

    Attributes:
        sums: shape (kinds, 1 + k). Column 0 is the number of triplets in a unit of this kind,
            the others its sums of half wins, one column a comparison.
        counts: shape (kinds,), how many units are of each kind, largest first.
        kind_of: shape (size,), the kind of each unit: triplets in their order, clusters in the
            order of their labels.
    """

    sums: IntArray
    counts: IntArray
    kind_of: IntArray

    @property
    def size(self) -> int:
        """Number of units: triplets, or clusters."""
        return int(self.counts.sum())

    @property
    def totals(self) -> IntArray:
        """Shape (1 + k,): number of triplets, and sums of half wins over all of them."""
        return self.counts @ self.sums

    def covariance(self, combinations: ArrayLike) -> FloatArray:
        """Covariance of means that are linear in the columns of ``sums``.

        For a combination v the mean is theta = sum_g v_g / N with N the number of triplets. By
        linearization (Taylor; Cochran 1977, 6.3) with u_g = v_g - size_g * theta and G units::

            cov = G/(G - 1) * sum_g u_g u_g' / N^2

        For units of one triplet this is the sample covariance over n.

        Args:
            combinations: shape (1 + k, m), one column a mean.

        Returns:
            Shape (m, m); infinite where there is only one unit.
        """
        weights = np.asarray(combinations, dtype=np.float64)
        values = self.sums @ weights
        triplets = float(self.totals[0])
        theta = (self.counts @ values) / triplets
        residuals = values - self.sums[:, :1] * theta
        groups = self.size
        if groups < 2:
            return np.full((weights.shape[1],) * 2, np.inf)
        scatter = (residuals * self.counts[:, None]).T @ residuals
        return np.asarray(groups / (groups - 1) * scatter / triplets**2)


def compress(outcomes: ArrayLike, cluster: ArrayLike | None = None) -> Units:
    """Group triplets, or clusters of triplets, into kinds that no statistic can tell apart.

    Args:
        outcomes: shape (n, k), half wins (0, 1, 2) of k comparisons in each triplet.
        cluster: shape (n,), integer labels, or None to resample triplets.

    Returns:
        The units.
    """
    table = np.asarray(outcomes, dtype=np.int64)
    k = table.shape[1]
    if cluster is None:
        radix = 3 ** np.arange(k)
        codes = table @ radix
        seen = np.bincount(codes, minlength=3**k)
        found = np.flatnonzero(seen)
        counts = seen[found].astype(np.int64)
        sums = np.column_stack([np.ones(found.size, np.int64), found[:, None] // radix % 3])
        place = np.zeros(3**k, dtype=np.int64)
        place[found] = np.arange(found.size)
        kind_of = place[codes]
    else:
        _, index = np.unique(np.asarray(cluster), return_inverse=True)
        columns = [np.bincount(index)]
        columns += [np.bincount(index, weights=table[:, j]) for j in range(k)]
        each = np.column_stack(columns).astype(np.int64)
        sums, inverse, seen = np.unique(each, axis=0, return_inverse=True, return_counts=True)
        counts, kind_of = seen.astype(np.int64), inverse.reshape(-1).astype(np.int64)
    # Frequent kinds first: a multinomial draw ends as soon as nothing is left to hand out.
    order = np.argsort(-counts, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return Units(np.ascontiguousarray(sums[order]), counts[order], rank[kind_of])


def resample(units: Units, resamples: int, rng: np.random.Generator) -> IntArray:
    """Totals of ``resamples`` bootstrap samples, each of as many units as there are.

    Up to 4,096 units are drawn one by one: the resamples are those of
    ``rng.integers(0, units, size=(resamples, units))``, so anyone can redraw them in one line.
    More units are drawn by kind, one multinomial a resample, which has the same distribution
    and a cost that does not depend on their number; unless nearly every unit is a kind of its
    own, where counting single draws is cheaper. Either way memory is bounded: the resamples are
    worked through in chunks.

    Args:
        units: what to resample.
        resamples: how many samples to draw.
        rng: the source of randomness.

    Returns:
        Shape (resamples, 1 + k), laid out like :attr:`Units.totals`.
    """
    if resamples < 1:
        raise ValueError(f"resamples must be at least 1, not {resamples!r}")
    kinds, size = units.counts.size, units.size
    by_kind = size > _FEW_UNITS and kinds * _BINOMIAL_COST <= size
    rows = max(1, _CHUNK // (kinds if by_kind else size))
    totals = np.empty((resamples, units.sums.shape[1]), dtype=np.int64)
    packs = [] if by_kind else _packed(units)
    for start in range(0, resamples, rows):
        part = slice(start, min(start + rows, resamples))
        count = part.stop - start
        if by_kind:
            totals[part] = rng.multinomial(size, units.counts / size, size=count) @ units.sums
            continue
        picks = rng.integers(0, size, size=(count, size))
        for values, columns, shifts, mask in packs:
            totals[part, columns] = values.take(picks).sum(axis=1)[:, None] >> shifts & mask
    return totals


def _packed(units: Units) -> list[tuple[IntArray, slice, IntArray, int]]:
    """Lay several columns of each unit side by side in one whole number, to add them at once.

    Returns:
        For each pack: a number for every unit, the columns in it, their shifts and the mask.
    """
    bits = int(units.size * units.sums.max()).bit_length()  # of the largest total there can be
    each = max(1, 63 // bits)
    packs = []
    for first in range(0, units.sums.shape[1], each):
        columns = slice(first, min(first + each, units.sums.shape[1]))
        shifts = bits * np.arange(columns.stop - first)
        values = (units.sums[:, columns] << shifts).sum(axis=1)
        packs.append((values[units.kind_of], columns, shifts, (1 << bits) - 1))
    return packs
