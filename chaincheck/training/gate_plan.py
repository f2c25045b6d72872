"""A gate's conditions: written down, hashed and locked before any judge is asked.

``gate.toml`` states what must hold of a candidate judge, beside the base that it was made from::

    name = "chain judge, first release"
    base = "base.log.jsonl"            # judgment logs, relative to this file
    candidate = "candidate.log.jsonl"
    cluster = "bridge"                 # what is resampled
    margin = 0.02                      # how much of Nominal may be lost

    [[data]]
    path = "twowiki_test.jsonl.gz"
    sigma = ["real", "fict"]           # Sigma's interval must lie above 0
    nominal = ["real"]                 # not worse than the base; by default as sigma

``lock_plan`` writes ``gate.lock.json`` beside it: the conditions, the hash of the data, and an id
that is the hash of all this. ``gate_score`` records judgments that carry the id, so that they
cannot have been recorded before it; ``gate`` refuses conditions, data or judgments that are not
those of the lock.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from chaincheck import __version__
from chaincheck.atomic import write_bytes
from chaincheck.errors import (
    InputError,
    IntegrityError,
    PathLike,
    UnreadableFile,
    quote,
)
from chaincheck.evaluation import BY
from chaincheck.items import read_items
from chaincheck.judges.base import differences
from chaincheck.judges.log_file import JudgmentLog
from chaincheck.judges.log_format import content_of
from chaincheck.paired_intervals import paired_rate_floor
from chaincheck.training.gate_data import check_measurable, check_places, described
from chaincheck.training.sealed import read_sealed, sealed, sealed_json

__all__ = [
    "GateData",
    "GatePlan",
    "Lock",
    "lock_path",
    "lock_plan",
    "open_lock",
    "read_plan",
    "triplets_needed",
]

KIND = "the conditions of a gate"
_FORMAT = 1
_LEAST_LEVEL, _MOST_LEVEL = 0.5, 0.9999
_PLAN_FIRST = "Fix the conditions before anything is scored: chaincheck gate plan {}"


class GateData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One file of triplets and what must hold on it.

    Attributes:
        path: the file, relative to the plan.
        sigma: variants on which the candidate's Sigma must have an interval above zero.
        nominal: variants on which its Nominal must not be worse than the base's; None for those
            of ``sigma``.
    """

    path: str
    sigma: tuple[str, ...] = ()
    nominal: tuple[str, ...] | None = None

    @property
    def not_worse(self) -> tuple[str, ...]:
        """The variants on which Nominal is compared."""
        return self.sigma if self.nominal is None else self.nominal


class GatePlan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What must hold.

    Attributes:
        name: of the release, for the verdict.
        base, candidate: judgment logs, relative to the plan.
        data: files and conditions.
        margin: how much lower than the base's the Nominal may be.
        level: coverage of Sigma's interval; the Nominal bound is one-sided at (1 + level)/2.
        cluster: what is resampled: "triplet", "question" or "bridge".
        exclude: true/false columns of the data; a triplet with a true one is left out.
        resamples, seed: of the bootstrap.
    """

    name: str
    base: str
    candidate: str
    data: tuple[GateData, ...]
    margin: float = 0.02
    level: float = 0.95
    cluster: str = "triplet"
    exclude: tuple[str, ...] = ()
    resamples: int = 2000
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The conditions as plain values, defaults written out."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        for row, data in zip(plain["data"], self.data, strict=True):
            row["nominal"] = list(data.not_worse)
        return plain


class _Before(msgspec.Struct, frozen=True):
    digest: str
    judgments: int


class _Record(msgspec.Struct, frozen=True):
    """What a lock holds, to be checked before any of it is used."""

    format: Literal[1]
    plan: dict[str, Any]
    data: list[dict[str, Any]]
    base_before: _Before | None
    made: str
    notes: list[str]


@dataclass(frozen=True)
class Lock:
    """Conditions that are fixed.

    Attributes:
        path: the lock's file.
        plan: the conditions.
        folder: what the plan's paths are relative to.
        record: the lock as it stands in its file; its ``digest`` is the gate's id.
    """

    path: Path
    plan: GatePlan
    folder: Path
    record: Mapping[str, Any]

    @property
    def gate_id(self) -> str:
        """Hash of the conditions, the data and the time; judgments carry it."""
        return str(self.record["digest"])

    @property
    def base_before(self) -> Mapping[str, Any] | None:
        """What the base's log held when the conditions were fixed; None if nothing of these."""
        found: Mapping[str, Any] | None = self.record["base_before"]
        return found

    def data_paths(self) -> list[Path]:
        """The files of triplets."""
        return [self.folder / one.path for one in self.plan.data]

    def to_text(self) -> str:
        """The conditions, and what cannot be met however the judges do."""
        plan = self.plan
        lines = [f"{self.path}: gate {self.gate_id}", f"made {self.record['made']}"]
        for data, known in zip(plan.data, self.record["data"], strict=True):
            for variant in data.sigma:
                n = known["triplets"][variant]
                lines.append(f"  {data.path} {variant} (n = {n:,}): Sigma's interval above 0")
            for variant in data.not_worse:
                n = known["triplets"][variant]
                lines.append(
                    f"  {data.path} {variant} (n = {n:,}): Nominal not worse by {plan.margin:g}"
                )
        if self.base_before:
            lines.append("note: the base had been scored before the conditions were fixed")
        lines += [f"note: {note}" for note in self.record["notes"]]
        lines.append("Publish the id before scoring: only that shows others which came first")
        return "\n".join(lines)


def read_plan(path: PathLike) -> GatePlan:
    """Read and check the conditions.

    Raises:
        UnreadableFile: the file is missing or no TOML.
        InputError: a key is unknown, missing or out of range, or there is no condition.
    """
    try:
        raw = tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as cause:
        raise UnreadableFile(
            f"cannot be read: {cause.strerror}", path=path, remedy="Name a gate's TOML file"
        ) from None
    except (ValueError, RecursionError) as cause:
        raise UnreadableFile(f"is no TOML: {cause}", path=path, remedy="Correct it") from None
    try:
        plan = msgspec.convert(raw, GatePlan)
    except msgspec.ValidationError as cause:
        known = ", ".join((*GatePlan.__struct_fields__, "[[data]] path, sigma, nominal"))
        raise InputError(
            f"states no gate: {cause}", path=path, remedy=f"The keys are {known}"
        ) from None
    fault = _fault(plan)
    if fault:
        raise InputError(fault, path=path, remedy="Correct the plan before it is locked")
    return plan


def _fault(plan: GatePlan) -> str | None:
    paths = [one.path for one in plan.data]
    texts = [plan.name, plan.base, plan.candidate, *paths]
    conditions = [(one.path, what) for one in plan.data for what in (*one.sigma, *one.not_worse)]
    checks = (
        (not all(text.strip() and text.isprintable() for text in texts), "a name or path is empty"),
        (not any(one.sigma for one in plan.data), "no file has a condition on Sigma"),
        (not any(one.not_worse for one in plan.data), "no file has a condition on Nominal"),
        (any(not (one.sigma or one.not_worse) for one in plan.data), "a file has no condition"),
        (len(set(paths)) < len(paths), "a file stands twice"),
        (plan.base == plan.candidate, "base and candidate are one log"),
        (any(not what for _, what in conditions), "a variant is empty"),
        (not 0 < plan.margin < 1, f"margin is {plan.margin}, not between 0 and 1"),
        (
            not _LEAST_LEVEL <= plan.level <= _MOST_LEVEL,
            f"level is {plan.level}, not between {_LEAST_LEVEL} and {_MOST_LEVEL}",
        ),
        (plan.cluster not in BY, f"cluster is {quote(plan.cluster)}, not one of {', '.join(BY)}"),
        (not 100 <= plan.resamples <= 1_000_000, "resamples must be 100 to 1,000,000"),
        (plan.seed < 0, "seed is negative"),
        (
            any(len(set(group)) < len(group) for one in plan.data for group in _groups(one)),
            "a variant stands twice",
        ),
        (not math.isfinite(plan.margin + plan.level), "a number is not finite"),
    )
    return next((text for wrong, text in checks if wrong), None)


def _groups(data: GateData) -> tuple[tuple[str, ...], ...]:
    return (data.sigma, data.not_worse)


def lock_path(plan: PathLike) -> Path:
    """Where the lock of a plan stands: ``gate.lock.json`` for ``gate.toml``."""
    return Path(plan).with_suffix(".lock.json")


def _recorded(log: Path, data: Sequence[Path]) -> dict[str, Any] | None:
    """What a log holds of the data already, None if nothing."""
    if not log.exists():
        return None
    with JudgmentLog(log) as opened:
        reads = opened.header.reads
        held = sum(content_of(item, reads) in opened for path in data for item in read_items(path))
        return {"digest": opened.digest, "judgments": held} if held else None


def lock_plan(path: PathLike) -> Lock:
    """Fix the conditions: write the lock.

    Args:
        path: the plan.

    Raises:
        InputError: the plan or the data cannot be used; the plan is locked already.
        IntegrityError: the candidate has been scored on these data, or a log is damaged.
    """
    plan = read_plan(path)
    folder = Path(path).resolve().parent
    target = lock_path(path)
    if target.exists():
        raise InputError(
            "these conditions are fixed already, or others under this name were",
            path=target,
            remedy="State other conditions under another name, in another file",
        )
    check_places(plan, folder, (path, target))
    told = described(plan, folder, path)
    shared = check_measurable(plan, folder, path)
    files = [folder / one.path for one in plan.data]
    candidate = folder / plan.candidate
    held = _recorded(candidate, files)
    if held:
        raise IntegrityError(
            f"holds {held['judgments']:,} judgments of these data: conditions cannot be fixed "
            "after the candidate was scored",
            path=candidate,
            remedy="Gate a candidate that has not been scored on these data, or use other data",
        )
    record = sealed(
        KIND,
        {
            "format": _FORMAT,
            "plan": plan.to_dict(),
            "data": told,
            "base_before": _recorded(folder / plan.base, files),
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "chaincheck": __version__,
            "notes": [*_notes(plan, told), *shared],
        },
    )
    write_bytes(target, sealed_json(record).encode() + b"\n")
    return Lock(target, plan, folder, record)


def _notes(plan: GatePlan, told: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which condition on Nominal only a candidate that gains triplets can meet."""
    notes = []
    for data, known in zip(plan.data, told, strict=True):
        for variant in data.not_worse:
            n = known["triplets"][variant]
            floor = paired_rate_floor(0, 0, n, (1 + plan.level) / 2)
            if floor <= -plan.margin:
                needed = triplets_needed(plan.margin, level=plan.level)
                notes.append(
                    f"{data.path} {variant}: with {n:,} triplets the bound of Nominal is "
                    f"{floor:.3f} even if the two judges never differ; a candidate no better than "
                    f"the base passes with {needed:,} at least"
                )
    return notes


def triplets_needed(margin: float, *, lost: int = 0, level: float = 0.95) -> int:
    """How many triplets a condition on Nominal takes if the candidate gains none.

    Args:
        margin: how much lower than the base's the Nominal may be.
        lost: triplets that the base wins and the candidate loses; none is gained.
        level: as of a plan; the bound is one-sided at (1 + level)/2.

    Raises:
        ValueError: a margin or level that no plan can have, or a negative number of triplets.
    """
    if not (0 < margin < 1 and _LEAST_LEVEL <= level <= _MOST_LEVEL and lost >= 0):
        raise ValueError(f"no plan has margin {margin!r}, level {level!r} and {lost!r} lost")

    def enough(n: int) -> bool:
        return paired_rate_floor(0, lost, n, (1 + level) / 2) > -margin

    low = max(lost, 1) - 1  # never enough; more triplets only raise the bound
    high = low + 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def open_lock(path: PathLike) -> Lock:
    """Open the lock of a plan, and refuse it where plan or data are not what was fixed.

    Args:
        path: the plan.

    Raises:
        UnreadableFile: plan, lock or data cannot be read.
        IntegrityError: plan, lock or data were changed after the conditions were fixed.
    """
    target = lock_path(path)
    record = read_sealed(target, KIND, remedy=_PLAN_FIRST.format(path))
    try:
        fixed = msgspec.convert(msgspec.convert(record, _Record).plan, GatePlan)
    except msgspec.ValidationError as cause:
        raise IntegrityError(
            f"its conditions cannot be read: {cause}", path=target, remedy="Restore a copy"
        ) from None
    plan = read_plan(path)
    changed = differences(fixed.to_dict(), plan.to_dict())
    if changed:
        parts = [f"{key} was {quote(a)} and is {quote(b)}" for key, (a, b) in changed.items()]
        raise IntegrityError(
            "the conditions were changed after they were fixed: " + "; ".join(parts),
            path=path,
            remedy="Put them back; other conditions need a gate of their own, fixed before scoring",
        )
    lock = Lock(target, plan, Path(path).resolve().parent, record)
    known = record["data"]
    for number, new in enumerate(described(plan, lock.folder, path)):
        if known[number : number + 1] != [new]:
            raise IntegrityError(
                "the data were changed after the conditions were fixed",
                path=lock.folder / new["path"],
                remedy="Restore the file that was there when the conditions were fixed",
            )
    return lock
