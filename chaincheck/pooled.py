"""The pooled ROC AUC, which is not what this package measures; kept to be compared with."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["pooled_auc"]


def pooled_auc(first: ArrayLike, second: ArrayLike) -> float:
    """Share of ALL cross pairs in which the first score is higher, ties as one half.

    This is the area under the ROC curve of two groups of scores (Hanley and McNeil 1982). It
    forgets which scores belong to one triplet, so it also compares a question's intact context
    with another question's broken one.

    Args:
        first: scores, shape (n,), n at least 1.
        second: scores, shape (m,), m at least 1.

    Raises:
        ValueError: no scores, or not one-dimensional.
    """
    x, y = np.asarray(first, dtype=np.float64), np.sort(np.asarray(second, dtype=np.float64))
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ValueError(f"pooled_auc needs two lists of scores, not {x.shape} and {y.shape}")
    below = np.searchsorted(y, x, side="left")
    not_above = np.searchsorted(y, x, side="right")
    return float((below + not_above).mean() / 2.0 / y.size)
