"""How far merging moved a judge: scores of base and adapter against those of the merged model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from chaincheck.errors import UsageError
from chaincheck.items import Item, group_triplets

__all__ = ["ScoreDrift", "Scorer", "measure_drift"]

Scorer = Callable[[Sequence[Item]], Iterable[float]]
"""Gives one finite score an item, in order."""

_PAIRS = (("A", "D"), ("B", "D"), ("A", "B"))


@dataclass(frozen=True)
class ScoreDrift:
    """Two sets of scores of the same items.

    Attributes:
        items: how many.
        largest: largest absolute difference, in the judge's own units.
        mean: mean absolute difference.
        spread: standard deviation of the first scores, to hold the differences against.
        compared: how many triplets have both cells, by comparison ("A>D", ...).
        flips: in how many of them the two order the cells differently, ties included.
    """

    items: int
    largest: float
    mean: float
    spread: float
    compared: dict[str, int]
    flips: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    def to_text(self) -> str:
        """One line."""
        flips = ", ".join(
            f"{name} {self.flips[name]} of {count}" for name, count in self.compared.items()
        )
        return (
            f"adapter against merged, {self.items:,} items: scores differ by {self.mean:.3g} on "
            f"average and {self.largest:.3g} at most (their spread is {self.spread:.3g}); "
            f"orders that differ: {flips or 'none compared'}"
        )


def measure_drift(items: Sequence[Item], first: Scorer, second: Scorer) -> ScoreDrift:
    """Score the same items with base and adapter and with the merged model.

    Args:
        items: what is scored; whole triplets, for the orders to be compared.
        first: scores by base and adapter.
        second: scores by the merged model.

    Raises:
        UsageError: there are no items.
        ValueError: a scorer gives another number of scores, or NaN or infinity.
    """
    import numpy as np

    if not items:
        raise UsageError("there is no item to compare scores on", remedy="Name a file with items")
    one, other = (np.array(list(score(items)), dtype=np.float64) for score in (first, second))
    for found in (one, other):
        if found.shape != (len(items),) or not np.isfinite(found).all():
            raise ValueError("a scorer must give one finite score an item")
    gaps = np.abs(one - other)
    place = {item.item_id: k for k, item in enumerate(items)}
    compared: dict[str, int] = {}
    flips: dict[str, int] = {}
    for x, y in _PAIRS:
        rows = [
            (place[triplet.cells[x].item_id], place[triplet.cells[y].item_id])
            for triplet in group_triplets(items)
            if x in triplet.cells and y in triplet.cells
        ]
        if rows:
            left, right = np.array(rows).T
            orders = [np.sign(scores[left] - scores[right]) for scores in (one, other)]
            compared[f"{x}>{y}"] = len(rows)
            flips[f"{x}>{y}"] = int((orders[0] != orders[1]).sum())
    return ScoreDrift(
        items=len(items),
        largest=float(gaps.max()),
        mean=float(gaps.mean()),
        spread=float(one.std()),
        compared=compared,
        flips=flips,
    )
