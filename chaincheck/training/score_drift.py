"""How far merging moved a judge: scores of base and adapter against those of the merged model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.errors import InvalidScore, PathLike, UsageError
from chaincheck.items import Item, group_triplets, read_items
from chaincheck.toml_files import read_toml

__all__ = ["ScoreDrift", "Scorer", "causal_comparison", "causal_scorer", "measure_drift"]

Scorer = Callable[[Sequence[Item]], Iterable[float]]
"""Gives one finite score an item, in order."""

_PAIRS = (("A", "D"), ("B", "D"), ("A", "B"))
_MOST = 0.5  # how far from the whole of it what arrives may be, before that is another judge


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
        moved: mean absolute difference of the first scores from those of the base alone: what
            training did; None where the base was not asked.
        arrived: how much of it the merged model does: with x and y the differences of the first
            and the second scores from the base's, x.y / x.x; None where there is none.
    """

    items: int
    largest: float
    mean: float
    spread: float
    compared: dict[str, int]
    flips: dict[str, int]
    moved: float | None = None
    arrived: float | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whether the scores show another judge than the one that was trained."""
        if self.arrived is None or abs(self.arrived - 1) <= _MOST:
            return ()
        return (
            f"{self.arrived:.0%} of what training moved these scores by arrived, so the merged "
            "model is likely not the judge that was trained",
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {**plain, "warnings": list(self.warnings)}

    def to_text(self) -> str:
        """A line or two, and a line for each warning."""
        flips = ", ".join(
            f"{name} {self.flips[name]} of {count}" for name, count in self.compared.items()
        )
        lines = [
            f"adapter against merged, {self.items:,} items: scores differ by {self.mean:.3g} on "
            f"average and {self.largest:.3g} at most (their spread is {self.spread:.3g}); "
            f"orders that differ: {flips or 'none compared'}"
        ]
        if self.moved is not None:
            part = "" if self.arrived is None else f"; {self.arrived:.0%} of that arrived"
            lines.append(f"training moved these scores by {self.moved:.3g} on average{part}")
        return "\n".join([*lines, *(f"warning: {warning}" for warning in self.warnings)])


def measure_drift(
    items: Sequence[Item], first: Scorer, second: Scorer, base: Scorer | None = None
) -> ScoreDrift:
    """Score the same items with base and adapter and with the merged model.

    Args:
        items: what is scored; whole triplets, for the orders to be compared.
        first: scores by base and adapter.
        second: scores by the merged model.
        base: scores by the base alone, to see how much of what training did is left.

    Raises:
        UsageError: there are no items.
        ValueError: a scorer gives another number of scores, or NaN or infinity.
    """
    import numpy as np

    if not items:
        raise UsageError("there is no item to compare scores on", remedy="Name a file with items")
    scorers = (first, second) if base is None else (first, second, base)
    scores = [np.array(list(score(items)), dtype=np.float64) for score in scorers]
    for found in scores:
        if found.shape != (len(items),) or not np.isfinite(found).all():
            raise ValueError("a scorer must give one finite score an item")
    one, other = scores[:2]
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
            orders = [np.sign(found[left] - found[right]) for found in (one, other)]
            compared[f"{x}>{y}"] = len(rows)
            flips[f"{x}>{y}"] = int((orders[0] != orders[1]).sum())
    moved = arrived = None
    if base is not None:
        by_training, by_both = one - scores[2], other - scores[2]
        moved, size = float(np.abs(by_training).mean()), float(by_training @ by_training)
        arrived = float(by_training @ by_both) / size if size else None
    return ScoreDrift(
        items=len(items),
        largest=float(gaps.max()),
        mean=float(gaps.mean()),
        spread=float(one.std()),
        compared=compared,
        flips=flips,
        moved=moved,
        arrived=arrived,
    )


def causal_scorer(keys: Mapping[str, Any], folder: PathLike) -> Scorer:
    """A scorer that opens a causal judge, asks it, and lets go of it.

    Args:
        keys: the keys of the judge's TOML file but ``kind``.
        folder: what relative paths in it are relative to.
    """

    def score(items: Sequence[Item]) -> list[float]:
        from chaincheck.judges.causal import open_causal

        found = []
        for judgment in open_causal(keys, Path(folder)).score(items):
            if judgment.score is None:
                raise InvalidScore(
                    f"the judge gave no score to compare: {'; '.join(judgment.flags)}",
                    path=keys["model"],
                    item=judgment.item_id,
                    remedy="Set minimum_mass = 0.0 in the file that --judge names",
                )
            found.append(judgment.score)
        return found

    return score


def causal_comparison(
    data: PathLike, base: PathLike, adapter: PathLike, judge: PathLike | None = None
) -> Callable[[Path], ScoreDrift]:
    """Say how a merged folder is to be held against base and adapter.

    Args:
        data: a file of items, whole triplets.
        base: the base's folder.
        adapter: the adapter's folder.
        judge: TOML file of a causal judge, for prompt, precision and device; its model and its
            adapter are not used. By default one with our prompt, in float32, that refuses nothing
            for lack of mass: training leaves the mass free.

    Returns:
        A function of the merged folder.

    Raises:
        InputError: a file cannot be read.
        UsageError: the judge is of another kind, or its file has a key that cannot be.
    """
    from chaincheck.judges.causal import check_keys

    keys: dict[str, Any] = {"minimum_mass": 0.0}
    folder = Path(judge).parent if judge is not None else Path()
    if judge is not None:
        keys = read_toml(judge, remedy="Name a judge's file")
        if keys.pop("kind", None) != "causal":
            raise UsageError(
                f"{judge} is no judge of kind 'causal'", remedy="Name the judge to merge"
            )
    keys = {key: value for key, value in keys.items() if key not in {"adapter", "revision"}}
    items = list(read_items(data))
    before = {"model": str(Path(base).resolve())}
    both = {**before, "adapter": str(Path(adapter).resolve())}
    check_keys(keys | both, folder)  # a merge may take an hour, after which this is asked

    def compare(merged: Path) -> ScoreDrift:
        alone = {"model": str(merged.resolve())}
        asked = (causal_scorer(keys | one, folder) for one in (both, alone, before))
        return measure_drift(items, *asked)

    return compare
