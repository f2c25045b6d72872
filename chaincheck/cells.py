"""Scores in columns: what the statistics take in, one entry a triplet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chaincheck.intervals import FloatArray, IntArray

__all__ = ["CellScores", "labels", "pool"]


def labels(keys: Sequence[object]) -> IntArray:
    """Integer labels for cluster keys: equal keys, equal labels, in order of first appearance.

    Call it once over all variants of a file, so that one question has one label in all.

    Args:
        keys: n hashable keys (question ids, bridges, ...).

    Returns:
        Shape (n,).
    """
    known: dict[object, int] = {}
    return np.array([known.setdefault(key, len(known)) for key in keys], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class CellScores:
    """Scores of the triplets of one file and variant, one entry a triplet.

    Attributes:
        file: name of the data, as tables show it.
        variant: "real", "fict", "decoy" or a caller's own name.
        a, b, d: scores of cells A, B, D, shape (n,), finite; higher = more sufficient.
        c: scores of cell C, shape (n,), NaN for triplets without one; None without any.
        cluster: labels of the questions, shape (n,), whole numbers; None if none are known.
        coarse: labels of a coarser key (the bridge, say), likewise.

    Raises:
        ValueError: n = 0, shapes that differ, NaN or infinite scores, labels that are no
            whole numbers.
    """

    file: str
    variant: str
    a: FloatArray
    b: FloatArray
    d: FloatArray
    c: FloatArray | None = None
    cluster: IntArray | None = None
    coarse: IntArray | None = None

    def __post_init__(self) -> None:
        for name in ("a", "b", "d", "c"):
            given = getattr(self, name)
            if given is None and name == "c":
                continue
            scores = np.array(given, dtype=np.float64)
            self._check_shape(name, scores)
            bad = ~np.isfinite(scores) if name != "c" else np.isinf(scores)
            if bad.any():
                at = int(np.argmax(bad))
                raise ValueError(f"{name}[{at}] is {scores[at]!r}: scores must be finite numbers")
            if name == "c" and np.isnan(scores).all():
                raise ValueError("c holds no score at all: pass None where no triplet has cell C")
            self._store(name, scores)
        for name in ("cluster", "coarse"):
            given = getattr(self, name)
            if given is None:
                continue
            marks = np.asarray(given)
            if not np.issubdtype(marks.dtype, np.integer):
                raise ValueError(f"{name} must hold whole numbers, not {marks.dtype}: see labels()")
            self._check_shape(name, marks)
            self._store(name, marks.astype(np.int64))

    def _check_shape(self, name: str, values: NDArray[Any]) -> None:
        if values.ndim != 1:
            raise ValueError(f"{name} must be one-dimensional, not of shape {values.shape}")
        if values.size == 0:
            raise ValueError(f"{name} is empty: there is no triplet to measure")
        if values.shape != np.shape(self.a):
            raise ValueError(f"{name} has {values.size} entries, a has {np.size(self.a)}")

    def _store(self, name: str, values: NDArray[Any]) -> None:
        values.flags.writeable = False
        object.__setattr__(self, name, values)

    @property
    def n(self) -> int:
        """Number of triplets."""
        return int(self.a.size)

    @property
    def bridges(self) -> IntArray:
        """The coarser key of each triplet as 0, 1, ...; each by itself where none is known."""
        if self.coarse is None:
            return np.arange(self.n)
        return np.unique(self.coarse, return_inverse=True)[1].reshape(-1)


def pool(cells: Sequence[CellScores], variant: str = "all") -> CellScores:
    """Put the variants of one file together, to be measured by question.

    The real and the fict triplet of one question are not independent: measure the pooled row
    with ``by="cluster"``, which resamples questions with all their variants. Labels must mean
    the same in all rows (:func:`labels` over all of them at once).

    Args:
        cells: rows of one file.
        variant: name of the pooled row.

    Raises:
        ValueError: no rows, rows of several files, or labels in some rows only.
    """
    if not cells:
        raise ValueError("pool needs at least one row")
    files = {one.file for one in cells}
    if len(files) > 1:
        raise ValueError(f"pool joins variants of one file, not of {sorted(files)}")

    def joined(name: str) -> IntArray | None:
        parts = [getattr(one, name) for one in cells]
        if all(part is None for part in parts):
            return None
        if any(part is None for part in parts):
            raise ValueError(f"{name} is given for some rows only")
        return np.concatenate(parts)

    c: FloatArray | None = None
    if any(one.c is not None for one in cells):
        c = np.concatenate([np.full(one.n, np.nan) if one.c is None else one.c for one in cells])
    return CellScores(
        file=cells[0].file,
        variant=variant,
        a=np.concatenate([one.a for one in cells]),
        b=np.concatenate([one.b for one in cells]),
        d=np.concatenate([one.d for one in cells]),
        c=c,
        cluster=joined("cluster"),
        coarse=joined("coarse"),
    )
