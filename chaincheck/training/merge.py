"""Merge a LoRA adapter into its base, or put back what another merge has lost.

The base's files are rewritten tensor by tensor: no model class is involved, so nothing that a
class would ignore can get lost, and no more than one tensor and its delta are in memory. The new
folder is audited (see ``audit``) before it gets its name; where the audit finds anything, no
folder is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck import __version__
from chaincheck.errors import InvalidModel, MissingExtra, PathLike, UsageError
from chaincheck.models import weights_hash
from chaincheck.training.adapter import Adapter, Target, open_adapter, place_on
from chaincheck.training.audit import Progress, audit, base_name, silent
from chaincheck.training.audit_results import Audit
from chaincheck.training.checkpoint import (
    INDEX,
    SINGLE,
    Checkpoint,
    TensorInfo,
    open_checkpoint,
)
from chaincheck.training.folders import new_folder
from chaincheck.training.merge_files import (
    MERGED,
    PROVENANCE,
    carry_over,
    described,
    hash_now,
    libraries,
)
from chaincheck.training.score_drift import ScoreDrift
from chaincheck.training.sealed import sealed, sealed_json
from chaincheck.training.write_shards import write_index, write_safetensors

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Merge", "add_delta", "check_base", "merge", "restore"]

# What a class of a part of the model drops on loading: prediction layers and the visual tower.
_RESTORABLE = ("mtp.", "model.mtp.", "model.visual.", "visual.")

Compare = Callable[[Path], ScoreDrift]
"""Scores the merged folder and holds the scores against those of base and adapter."""


@dataclass(frozen=True)
class Merge:
    """What was written.

    Attributes:
        out: the new folder.
        audit: what the audit says of it.
        record: the provenance, as it stands in the folder but for its seal.
        drift: the adapter's scores against the merged model's, if they were compared.
    """

    out: str
    audit: Audit
    record: Mapping[str, Any]
    drift: ScoreDrift | None

    def to_dict(self) -> dict[str, Any]:
        """The provenance with the folder's name."""
        return {"out": self.out, **self.record}

    def to_text(self) -> str:
        """The audit, the identity of the weights, the comparison of scores."""
        merged = self.record["merged"]
        lines = [self.audit.to_text(), f"weights {merged['weights']}"]
        if self.record["left_out"]:
            lines.append("not carried over: " + ", ".join(self.record["left_out"]))
        if self.drift:
            lines.append(self.drift.to_text())
        return "\n".join(lines)


def check_base(adapter: Adapter, base: Checkpoint, known: str, base_called: str | None) -> str:
    """Refuse an adapter that was trained on another base.

    Args:
        adapter: the adapter.
        base: the base.
        known: hash of the base's weights.
        base_called: what the user says that the adapter calls this base.

    Returns:
        What the agreement rests on, as a sentence for the record.

    Raises:
        InvalidModel: the hashes differ, or (where the adapter has none) the names.
    """
    if adapter.base_hash is not None:
        if adapter.base_hash == known:
            return "the adapter holds the hash of these weights"
        raise InvalidModel(
            f"the adapter is not for the base {base.folder}: it was trained on weights "
            f"{adapter.base_hash[:16]}, these are {known[:16]}",
            path=adapter.folder,
            remedy="Name the base that it was trained on",
        )
    name = adapter.base_name
    if name is None:
        return "the adapter does not name its base; names and shapes of its tensors fit"
    if base_called == name or _names(name, base):
        return f"the adapter names its base {name}; names and shapes of its tensors fit"
    raise InvalidModel(
        f"the adapter names another base, {name}, and holds no hash of its weights",
        path=adapter.folder,
        remedy=f"If it is the same one in another folder, say so: --base-called {name}",
    )


def _names(name: str, base: Checkpoint) -> bool:
    """Whether the last part of a recorded name is the folder's, or a hub cache's for it."""
    wanted = name.replace("\\", "/").rstrip("/").rpartition("/")[2].lower()
    parts = base.folder.resolve().parts
    known = {parts[-1].lower()} if parts else set()
    known |= {part.lower().rpartition("--")[2] for part in parts if part.startswith("models--")}
    said = base.config.get("_name_or_path")
    if isinstance(said, str):
        known.add(said.rstrip("/").rpartition("/")[2].lower())
    return wanted in known


def merge(
    base: PathLike,
    adapter: PathLike,
    out: PathLike,
    *,
    base_called: str | None = None,
    compare: Compare | None = None,
    progress: Progress[Any] = silent,
) -> Merge:
    """Write base + adapter as a model of its own.

    Args:
        base: the base's folder.
        adapter: the adapter's folder, as peft saves it.
        out: the folder to write; it must not exist.
        base_called: what the adapter calls this base, where that is not the folder's name.
        compare: scores the new folder before it is released.
        progress: shows how many tensors are done.

    Raises:
        InvalidModel: base or adapter cannot be used, or do not belong together.
        MeasuredFailure: the audit found something; no folder is left.
        UnwritableOutput: the folder cannot be written; none is left.
    """
    _need_torch()
    one, change = open_checkpoint(base), open_adapter(adapter)
    targets, rename = place_on(change, one)
    told = described(one.folder, one.files)
    agreement = check_base(change, one, told["weights"], base_called)
    record = {
        "base": {"agreement": agreement, **told},
        "adapter": {**described(change.folder), "settings": dict(change.config)},
        "renamed": {"adapter": rename[0], "base": rename[1]} if rename[0] != rename[1] else None,
    }

    def tensor(info: TensorInfo) -> Tensor:
        old = one.tensor(info.name)
        target = targets.get(info.name)
        return old if target is None else add_delta(old, change, target)

    job = _Job(one, change, (), record, compare, progress)
    return _release(job, list(one.tensors.values()), tensor, out)


def add_delta(base: Tensor, adapter: Adapter, target: Target) -> Tensor:
    """Add the delta in float32 (or wider) and round once to the base's type."""
    import torch

    wide = torch.promote_types(base.dtype, torch.float32)
    return (base.to(wide) + adapter.delta(target).to(wide)).to(base.dtype)


def restore(
    base: PathLike,
    merged: PathLike,
    out: PathLike,
    *,
    adapter: PathLike | None = None,
    renames: Mapping[str, str] | None = None,
    base_called: str | None = None,
    compare: Compare | None = None,
    progress: Progress[Any] = silent,
) -> Merge:
    """Copy a model that others merged, with what its loader dropped put back from the base.

    Put back are the multi-token prediction layers and the visual tower, into a file of their own;
    a tied head never is. Anything else that is lacking stops the release. Names, config and all
    other files are the base's.

    Args:
        base: the base's folder.
        merged: the folder of the merged model.
        out: the folder to write; it must not exist.
        adapter: what was merged; without it every tensor must be the base's.
        renames: starts of tensor names that the merged model writes otherwise than the base.
        base_called: as of ``merge``.
        compare: likewise.
        progress: likewise.

    Raises:
        ChainCheckError: as ``merge``.
    """
    _need_torch()
    one, other = open_checkpoint(base), open_checkpoint(merged, sound=False)
    change = open_adapter(adapter) if adapter is not None else None
    record: dict[str, Any] = {
        "base": described(one.folder, one.files),
        "from": described(other.folder, other.files),
        "renamed": dict(renames or {}),
    }
    if change is not None:
        record["base"]["agreement"] = check_base(
            change, one, record["base"]["weights"], base_called
        )
        record["adapter"] = {**described(change.folder), "settings": dict(change.config)}
    there = {base_name(name, renames or {}): name for name in other.tensors}
    if len(there) < len(other.tensors):
        raise UsageError(
            f"the renaming gives two tensors of {other.folder} one name",
            remedy="Leave it out where the names are the base's already",
        )
    restored = tuple(
        name for name in one.tensors if name not in there and name.startswith(_RESTORABLE)
    )
    infos = _cut(one, other, there, restored)

    def tensor(info: TensorInfo) -> Tensor:
        name = there.get(info.name)
        return one.tensor(info.name) if name is None else other.tensor(name)

    job = _Job(one, change, restored, record, compare, progress)
    return _release(job, infos, tensor, out)


def _cut(
    base: Checkpoint, merged: Checkpoint, there: Mapping[str, str], restored: Sequence[str]
) -> list[TensorInfo]:
    """Say which tensor goes into which file: as merged, and what is put back in one more."""
    files = list(merged.files)
    extra = "restored" if restored else None
    total = len(files) + bool(restored)
    named = {
        file: SINGLE if total == 1 else f"model-{number:05d}-of-{total:05d}.safetensors"
        for number, file in enumerate([*files, *([extra] if extra else [])], 1)
    }
    infos = []
    for name, old in there.items():
        info = merged.tensors[old]
        infos.append(replace(info, name=name, file=named[info.file]))
    infos += [replace(base.tensors[name], file=named["restored"]) for name in restored]
    return infos


@dataclass(frozen=True)
class _Job:
    """What merging and restoring have in common."""

    base: Checkpoint
    adapter: Adapter | None
    restored: Sequence[str]
    record: Mapping[str, Any]
    compare: Compare | None
    progress: Progress[Any]


def _release(
    job: _Job, infos: Sequence[TensorInfo], tensor: Callable[[TensorInfo], Tensor], out: PathLike
) -> Merge:
    """Write the folder, audit it, and give it its name."""
    base, adapter = job.base, job.adapter
    read = (base.folder, *((adapter.folder,) if adapter else ()))
    with new_folder(out, apart_from=read) as part:
        hashes = _write(part, infos, tensor, base, job.progress)
        carried, left_out = carry_over(base.folder, part, set(base.files))
        # Read back from the disk what was written.
        found = audit(base, part, adapter, restored=job.restored, progress=job.progress)
        found = replace(found, merged=str(out))
        if not found.passed:
            raise found.failure()
        drift = job.compare(part) if job.compare else None
        merged = {
            "weights": weights_hash(part),
            "files": {**hashes, **carried},
        }
        made = {
            "format": 1,
            "chaincheck": __version__,
            "libraries": libraries(),
            **job.record,
            "merged": merged,
            "left_out": left_out,
            "audit": found.to_dict(),
            "scores": drift.to_dict() if drift else None,
        }
        (part / PROVENANCE).write_bytes(sealed_json(sealed(MERGED, made)).encode() + b"\n")
    return Merge(str(out), found, made, drift)


def _write(
    part: Path,
    infos: Sequence[TensorInfo],
    tensor: Callable[[TensorInfo], Tensor],
    base: Checkpoint,
    progress: Progress[Any],
) -> dict[str, str]:
    """Write the weights and their index; return the files' SHA-256."""
    by_file: dict[str, list[TensorInfo]] = {}
    for info in infos:
        by_file.setdefault(info.file, []).append(info)
    steps = iter(progress(range(len(infos)), "writing", len(infos)))

    def step(info: TensorInfo) -> Tensor:
        next(steps, None)
        return tensor(info)

    hashes = {
        file: write_safetensors(part / file, group, step, metadata={"format": "pt"})
        for file, group in by_file.items()
    }
    next(steps, None)
    if set(by_file) != {SINGLE}:
        known = base.index.get("metadata") if base.index else None
        write_index(part / INDEX, infos, known if isinstance(known, dict) else None)
        hashes[INDEX] = hash_now(part / INDEX)
    return hashes


def _need_torch() -> None:
    try:
        import safetensors  # noqa: F401 - asked for
        import torch  # noqa: F401 - asked for
    except ImportError:
        raise MissingExtra("merging", "training") from None
