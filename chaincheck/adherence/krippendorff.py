"""Krippendorff's alpha for names of categories, with missing values.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, University of Pennsylvania,
https://repository.upenn.edu/asc_papers/43, sections A to C.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from chaincheck.intervals import FloatArray

__all__ = ["alpha", "alpha_of_tables"]


def alpha(units: Iterable[Sequence[Hashable | None]]) -> float | None:
    """Agreement beyond chance of any number of observers on unordered categories.

    ``1 - D_o / D_e``: the share of pairs of values within a unit that differ, over the share
    that would differ if all values were dealt out anew. Each value weighs the same, however many
    observers its unit has. 1 is full agreement, 0 is chance, below 0 is worse.

    Args:
        units: for each unit the values of its observers; None is missing. A unit with fewer
            than two values pairs nothing and counts nowhere.

    Returns:
        The coefficient, or None where it is undefined: no unit has two values, or all values are
        one category, so that no disagreement was possible.
    """
    totals: Counter[Hashable] = Counter()
    differing = 0.0
    for unit in units:
        counts = Counter(value for value in unit if value is not None)
        size = counts.total()
        if size < 2:
            continue
        totals.update(counts)
        same = sum(count * (count - 1) for count in counts.values())
        differing += (size * (size - 1) - same) / (size - 1)
    size = totals.total()
    expected = size * size - sum(count * count for count in totals.values())
    if expected == 0:
        return None
    return 1.0 - (size - 1) * differing / expected


def alpha_of_tables(tables: FloatArray) -> FloatArray:
    """The same for two observers, from tables of counts, many at once.

    Args:
        tables: shape (..., k, k): how many units the first observer put into the row's and the
            second into the column's category. Weights need not be whole.

    Returns:
        Shape (...): the coefficients, NaN where undefined.
    """
    pairs = tables + np.swapaxes(tables, -1, -2)
    margins = pairs.sum(axis=-1)
    size = margins.sum(axis=-1)
    differing = size - np.trace(pairs, axis1=-2, axis2=-1)
    expected = size * size - (margins * margins).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        out: FloatArray = np.where(expected > 0, 1.0 - (size - 1) * differing / expected, np.nan)
    return out
