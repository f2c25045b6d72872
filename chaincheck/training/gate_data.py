"""The data of a gate: hashed when its conditions are fixed, and refused if they cannot be measured.

What cannot be measured is refused before anything is scored. Found out at the end it would cost
the scores, since conditions that are fixed cannot be mended.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from chaincheck.atomic import write_lines
from chaincheck.errors import DuplicateItem, InputError, InvalidItem, PathLike, quote
from chaincheck.evaluation import BY
from chaincheck.items import Item, encode_item, group_triplets, incomplete, read_items
from chaincheck.scores import Joined, join_files

if TYPE_CHECKING:
    from chaincheck.training.gate_plan import GatePlan

__all__ = ["check_measurable", "check_places", "described"]

_COMPARED = ("A", "B", "D")


def described(plan: GatePlan, folder: Path, path: PathLike) -> list[dict[str, Any]]:
    """Hash each file of triplets and count its triplets by variant.

    Args:
        plan: the conditions.
        folder: what the plan's paths are relative to.
        path: the plan, for messages.

    Raises:
        InputError: a file cannot be used, or has no triplet of a variant that is to be measured.
    """
    found = []
    for data in plan.data:
        digest = hashlib.sha256()
        lines = []
        triplets: dict[tuple[str, str], bool] = {}  # whether it is left out
        absent = set(plan.exclude)
        for item in read_items(folder / data.path):
            lines.append(hashlib.sha256(encode_item(item)).digest())
            key = (item.variant, item.pair_id)
            triplets[key] = triplets.get(key, False) or _is_left_out(item, plan.exclude)
            absent -= {name for name in absent if name in item.extra or hasattr(item, name)}
        if absent:
            raise InvalidItem(
                f"no row has the column {min(absent)}",
                path=folder / data.path,
                remedy="Leave this exclusion out, or name a column that the file has",
            )
        counts = Counter(variant for (variant, _), out in triplets.items() if not out)
        for line in sorted(lines):
            digest.update(line)
        for variant in (*data.sigma, *data.not_worse):
            if not counts[variant]:
                raise InputError(
                    f"{data.path} has no triplet of the variant {quote(variant)} to measure",
                    path=path,
                    remedy=f"It has {', '.join(sorted(counts)) or 'none'}",
                )
        found.append({"path": data.path, "items": digest.hexdigest(), "triplets": dict(counts)})
    return found


def _is_left_out(item: Item, exclude: Sequence[str]) -> bool:
    values = (getattr(item, name, item.extra.get(name)) for name in exclude)
    return any(isinstance(one, int | float | Decimal) and one == 1 for one in values)


def check_places(plan: GatePlan, folder: Path, others: Sequence[PathLike]) -> None:
    """Refuse a plan whose logs cannot be written where it says, or of which two paths are one file.

    Args:
        plan: the conditions.
        folder: what its paths are relative to.
        others: the plan's own file and its lock's.

    Raises:
        InputError: there is such a path.
    """
    path = others[0]
    logs = (plan.base, plan.candidate)
    known: dict[str, str] = {os.path.realpath(one): os.fspath(one) for one in others}
    for name in (*logs, *(data.path for data in plan.data)):
        place = os.path.realpath(folder / name)
        if place in known:
            raise InputError(
                f"{quote(name)} and {quote(known[place])} are one file",
                path=path,
                remedy="Give every log and every file of data a place of its own",
            )
        known[place] = name
    for log in logs:
        fault = None
        if not (folder / log).parent.is_dir():
            fault = "lies in a folder that does not exist"
        elif log.endswith(".gz") and not (folder / log).exists():
            fault = "cannot be gzipped while it is written"
        if fault:
            raise InputError(
                f"the log {quote(log)} {fault}", path=path, remedy="Name another place for it"
            )


def check_measurable(plan: GatePlan, folder: Path, path: PathLike) -> list[str]:
    """Refuse data of which the conditions could not be measured, or would count something twice.

    Args:
        plan: the conditions.
        folder: what its paths are relative to.
        path: the plan, for messages.

    Returns:
        What to know of the data, each a sentence.

    Raises:
        InputError: an item in two files, a triplet that lacks a cell, an excluding column that is
            none, no bridges to resample by, or a triplet that is another one again.
    """
    files = [folder / one.path for one in plan.data]
    for file in files:
        _refuse_copies(file, plan.exclude)
    joined = _joined(files, plan.exclude)
    rows = {(cells.file, cells.variant): cells for cells in joined.cells}
    notes = []
    by = BY[plan.cluster]
    for data, file in zip(plan.data, files, strict=True):
        for variant in dict.fromkeys((*data.sigma, *data.not_worse)):
            cells = rows[os.fspath(file).encode("utf-8", "backslashreplace").decode(), variant]
            if by == "coarse" and cells.coarse is None:
                raise InputError(
                    f"{data.path} has no bridge to resample by, and cluster is {quote('bridge')}",
                    path=path,
                    remedy='Set cluster = "question", or name data with bridges',
                )
            shared = {"bridges": cells.coarse, "questions": cells.cluster}
            for name, marks in shared.items() if by == "triplet" else ():
                units = cells.n if marks is None else int(np.unique(marks).size)
                if units < cells.n:
                    notes.append(
                        f"{data.path} {variant}: {cells.n:,} triplets of {units:,} {name} are "
                        f'resampled as if each stood alone; cluster = "{name[:-1]}" would not'
                    )
                    break
    return notes


def _joined(files: Sequence[Path], exclude: Sequence[str]) -> Joined:
    """Join the data to made-up scores, so that what joining refuses is refused now."""
    ids = dict.fromkeys(item.item_id for file in files for item in read_items(file))
    with tempfile.TemporaryDirectory() as place:
        scores = Path(place) / "none.jsonl"
        write_lines(scores, (msgspec.json.encode({"item_id": one, "score": 0.0}) for one in ids))
        return join_files(files, scores, exclude=exclude)


def _refuse_copies(file: Path, exclude: Sequence[str]) -> None:
    """Refuse a triplet that lacks a cell, or shows what another of its variant does."""
    seen: dict[bytes, str] = {}
    for triplet in group_triplets(read_items(file)):
        if any(_is_left_out(item, exclude) for item in triplet.cells.values()):
            continue
        lacking = [name for name in _COMPARED if name not in triplet.cells]
        if lacking:
            first_item = next(iter(triplet.cells.values())).item_id
            raise incomplete(
                triplet.pair_id, triplet.variant, lacking, first_item, path=file, line=None
            )
        cells = [triplet.cells[name] for name in _COMPARED]
        shown = [(item.cell, item.query, item.passages) for item in cells]
        key = hashlib.sha256(msgspec.json.encode([triplet.variant, shown])).digest()
        first = seen.setdefault(key, triplet.pair_id)
        if first != triplet.pair_id:
            raise DuplicateItem(
                f"pair {quote(triplet.pair_id)}, variant {quote(triplet.variant)}, has the "
                f"question and passages of pair {quote(first)}, and would count twice",
                path=file,
                item=cells[0].item_id,
                remedy="Leave one of the two out",
            )
