"""What must not be done to a gate, done to a copy of one that is scored: is each refused?

A gate that answers anything but pass and fail to one of these would be worth nothing. Each fault
is planted in a copy, so the gate itself stays as it was.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.atomic import write_bytes
from chaincheck.errors import ChainCheckError, PathLike
from chaincheck.items import read_items, write_items
from chaincheck.judges.base import Judge
from chaincheck.training.gate import check_gate
from chaincheck.training.gate_plan import lock_plan, read_plan
from chaincheck.training.gate_score import score_for_gate

__all__ = ["GATE_FAULTS", "GateFault", "refusal_of"]


@dataclass(frozen=True)
class GateFault:
    """One thing that must not be done.

    Attributes:
        name: a short name.
        done: what is done, in words.
        exit_code: what a command should end with: 2 for something that is lacking, 3 for
            conditions, data or judgments that are not those that were fixed.
        do: does it, given the copy's plan and a judge with another instrument; returns the plan
            that is then checked.
    """

    name: str
    done: str
    exit_code: int
    do: Callable[[Path, Judge], Path]


def _log(plan: Path) -> Path:
    """The candidate's log."""
    return plan.parent / read_plan(plan).candidate


def _with_margin(plan: Path, margin: float) -> str:
    """The plan's text with another margin; the key stands before the first table."""
    text = re.sub(r"(?m)^margin *=.*\n", "", plan.read_text("utf-8"))
    return f"margin = {margin}\n{text}"


def _other_plan(plan: Path, **keys: Any) -> Path:
    """Another plan beside it, which differs in some keys."""
    made = msgspec.structs.replace(read_plan(plan), name="other", **keys)
    lines = [
        f"{key} = {json.dumps(value)}"
        for key, value in msgspec.to_builtins(made).items()
        if key != "data"
    ]
    for data in made.data:
        lines += [
            "[[data]]",
            f"path = {json.dumps(data.path)}",
            f"sigma = {json.dumps(data.sigma)}",
            f"nominal = {json.dumps(data.not_worse)}",
        ]
    other = plan.with_name("other.toml")
    write_bytes(other, "\n".join(lines).encode() + b"\n")
    return other


def _condition_changed(plan: Path, other: Judge) -> Path:
    write_bytes(plan, _with_margin(plan, 2 * read_plan(plan).margin).encode())
    return plan


def _data_changed(plan: Path, other: Judge) -> Path:
    path = plan.parent / read_plan(plan).data[0].path
    groups = [list(items) for _, items in groupby(read_items(path), lambda item: item.pair_id)]
    write_items(path, [item for items in groups[1:] for item in items])
    return plan


def _judgment_missing(plan: Path, other: Judge) -> Path:
    lines = _log(plan).read_bytes().splitlines(keepends=True)
    write_bytes(_log(plan), b"".join(lines[:-1]))
    return plan


def _score_edited(plan: Path, other: Judge) -> Path:
    *lines, last = _log(plan).read_bytes().splitlines()
    record = json.loads(last)
    record["score"] += 1.0
    edited = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
    write_bytes(_log(plan), b"\n".join([*lines, edited]) + b"\n")
    return plan


def _fixed_afterwards(plan: Path, other: Judge) -> Path:
    found = _other_plan(plan, margin=2 * read_plan(plan).margin)
    lock_plan(found)
    return found


def _logs_exchanged(plan: Path, other: Judge) -> Path:
    known = read_plan(plan)
    found = plan.parent / known.base, plan.parent / known.candidate
    contents = [log.read_bytes() for log in found]
    for log, content in zip(found, reversed(contents), strict=True):
        write_bytes(log, content)
    return plan


def _another_instrument(plan: Path, other: Judge) -> Path:
    known = read_plan(plan)
    first, variant = known.data[0], next(v for d in known.data for v in (*d.sigma, *d.not_worse))
    items = [item for item in read_items(plan.parent / first.path) if item.variant == variant]
    few = [item for item in items if item.pair_id == items[0].pair_id]
    write_items(plan.with_name("few.jsonl"), few)
    kept = msgspec.structs.replace(first, path="few.jsonl", sigma=(variant,), nominal=(variant,))
    found = _other_plan(plan, candidate="other.log.jsonl", data=(kept,))
    lock_plan(found)
    score_for_gate(found, other, "candidate")
    return found


GATE_FAULTS: tuple[GateFault, ...] = (
    GateFault("condition changed", "the margin is doubled after scoring", 3, _condition_changed),
    GateFault("data changed", "one triplet is left out of the data", 3, _data_changed),
    GateFault(
        "judgment missing",
        "the last judgment of the candidate's log is cut off",
        2,
        _judgment_missing,
    ),
    GateFault("score edited", "1 is added to a score in the candidate's log", 3, _score_edited),
    GateFault("logs exchanged", "the two logs change places", 3, _logs_exchanged),
    GateFault(
        "fixed afterwards",
        "new conditions are to be fixed on data that the candidate was scored on",
        3,
        _fixed_afterwards,
    ),
    GateFault(
        "another instrument",
        "the candidate is asked in other words than the base",
        3,
        _another_instrument,
    ),
)
"""Everything that is tried."""


def refusal_of(
    fault: GateFault, plan: PathLike, work: PathLike, other: Judge
) -> ChainCheckError | None:
    """Do it to a copy of a gate's folder, and say what refused it.

    Args:
        fault: what is done.
        plan: the plan of a gate that is locked and scored; its folder holds data and logs.
        work: the folder of the copy; it must not exist.
        other: a judge that differs from the gate's in more than its weights.

    Returns:
        The error; None if a verdict was given, which should never be.
    """
    target = Path(work)
    shutil.copytree(Path(plan).parent, target)
    try:
        check_gate(fault.do(target / Path(plan).name, other))
    except ChainCheckError as error:
        return error
    return None
