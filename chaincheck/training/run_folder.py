"""The folder of a training run: whose it is, whether it is done, and what it came to."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.atomic import write_bytes
from chaincheck.errors import (
    IntegrityError,
    PathLike,
    UnreadableFile,
    UnwritableOutput,
    UsageError,
    quote,
)
from chaincheck.items import Triplet
from chaincheck.jsonl import read_lines
from chaincheck.judges.base import differences
from chaincheck.model_folders import BASE_RECORD, check_adapter_folder
from chaincheck.models import file_hash
from chaincheck.training.folders import new_folder
from chaincheck.training.sealed import digest_of, sealed, sealed_json

__all__ = [
    "ADAPTER",
    "METRICS",
    "RUN",
    "SUMMARY",
    "TRAINED",
    "TrainingSummary",
    "begin",
    "claimed",
    "finished",
    "is_first_process",
    "keep_adapter",
    "lines_hash",
    "make_folder",
    "refuse_overlap",
    "write_summary",
]

TRAINED = "what a training run came to"
RUN, SUMMARY, METRICS, ADAPTER = "run.json", "training.json", "metrics.jsonl", "adapter"


class TrainingSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What a training run did.

    Attributes:
        adapter: folder of the adapter.
        recipe: hash of the recipe.
        data, validation: hashes of the files; "" without validation.
        base: the base's name and the hash of its weights.
        triplets: how many were seen, by variant.
        steps: how many steps were taken, of how many that were planned.
        kept: the step whose state the adapter is.
        seconds: wall time of this process's part of the run.
        final: the validation of the state that was kept; empty without one.
        acquisition: device, threads, processes and versions.
        validated: with how many triplets, by variant; empty without any.
    """

    adapter: str
    recipe: str
    data: str
    validation: str
    base: dict[str, str]
    triplets: dict[str, int]
    steps: tuple[int, int]
    kept: int
    seconds: float
    final: dict[str, float]
    acquisition: dict[str, Any]
    validated: dict[str, int] = {}

    def to_json(self) -> str:
        """The summary as one JSON object."""
        return msgspec.json.encode(self).decode()

    def to_text(self) -> str:
        """The summary in some lines."""
        seen = ", ".join(f"{count:,} {variant}" for variant, count in self.triplets.items())
        lines = [
            f"{self.adapter}: {self.steps[0]:,} of {self.steps[1]:,} steps on {seen} triplets in "
            f"{self.seconds:,.0f} s; the state of step {self.kept:,} is kept",
        ]
        for variant in sorted({key.rpartition("_")[0] for key in self.final if "_" in key}):
            n = self.validated.get(variant)
            lines.append(
                f"  validation, {variant}{f' (n = {n:,})' if n else ''}: "
                f"Nominal {self.final[f'{variant}_nominal']:.3f}, "
                f"CE {self.final[f'{variant}_ce']:+.3f}, EE {self.final[f'{variant}_ee']:+.3f}, "
                f"Sigma {self.final[f'{variant}_sigma']:+.3f}"
            )
        lines.append(f"  recipe {self.recipe}, data {self.data}, base {self.base['weights'][:16]}")
        return "\n".join(lines)


def lines_hash(path: PathLike) -> str:
    """Hash a file's content, unpacked, so that packing it anew changes nothing."""
    digest = hashlib.sha256()
    for _, line in read_lines(path):
        digest.update(line.rstrip(b"\r\n") + b"\n")
    return digest.hexdigest()[:16]


def refuse_overlap(
    triplets: Sequence[Triplet], held_out: Sequence[Triplet], path: PathLike | None
) -> None:
    """Refuse to validate on a question that is trained on."""
    known = {triplet.cells["A"].query for triplet in triplets}
    for triplet in held_out:
        item = triplet.cells["A"]
        if item.query in known:
            raise UsageError(
                f"{path}: item {item.item_id!r} asks a question that is also trained on",
                remedy="Split the triplets with build --test-out",
            )


def finished(run: Path, identity: dict[str, Any]) -> TrainingSummary | None:
    """Give what a run that is done came to, if it is this one.

    Raises:
        UsageError: the folder is of another run, or its adapter is gone.
        InputError: its records or its adapter are not as they were written.
    """
    try:
        os.fspath(run).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the folder's name {quote(str(run))} is no text, and could not be written down",
            remedy="Name another folder for the run",
        ) from None
    known = _read(run / RUN)
    if known is None or _only_begun(run):
        return None
    _refuse_other(run, known, identity)
    if not (run / SUMMARY).is_file():
        return None
    if not (run / ADAPTER / "adapter_model.safetensors").is_file():
        raise UsageError(
            f"{run} is done, and its adapter is gone",
            remedy="Put the folder adapter back, or name another folder to train again",
        )
    check_adapter_folder(run / ADAPTER)
    try:
        content = (run / SUMMARY).read_bytes()
        summary = msgspec.json.decode(content, type=TrainingSummary)
        plain: dict[str, Any] = msgspec.json.decode(content)
    except msgspec.MsgspecError as cause:
        raise UnreadableFile(
            f"is not what a run came to: {cause}",
            path=run / SUMMARY,
            remedy="Remove it to go on with the run",
        ) from None
    if plain.get("digest", digest_of(plain)) != digest_of(plain):
        raise IntegrityError(
            "is not as it was written: its digest is another",
            path=run / SUMMARY,
            remedy="Restore a copy, or remove it to go on with the run",
        )
    return summary


def _read(path: Path) -> dict[str, Any] | None:
    if path.parent.exists() and not path.parent.is_dir():
        raise UsageError(f"{path.parent} is a file", remedy="Name a folder for the run")
    try:
        found: dict[str, Any] = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as cause:
        raise UnreadableFile(
            f"cannot be read: {cause}", path=path, remedy="Name another folder for the run"
        ) from None
    return found


def _refuse_other(run: Path, known: dict[str, Any], identity: dict[str, Any]) -> None:
    shared = {key: known.get(key) for key in identity}
    told = differences(shared, identity)
    if told:
        what = "; ".join(f"{key}: {old!r} there, {new!r} now" for key, (old, new) in told.items())
        raise UsageError(
            f"{run} is of another run ({what})",
            remedy="Name another folder, or repeat the settings to go on with that run",
        )


def _only_begun(run: Path) -> bool:
    return [path.name for path in run.iterdir()] == [RUN]


@contextlib.contextmanager
def claimed(run: Path) -> Iterator[None]:
    """Keep a run's folder to this process for a while, where the system has locks.

    Raises:
        UsageError: another process trains in it.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(run, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"another process is training in {run}",
                    remedy="Wait for it, or name another folder",
                ) from None
        yield
    finally:
        os.close(descriptor)


def is_first_process() -> bool:
    """Tell whether this process writes; of several that train together only one does."""
    return os.environ.get("RANK", "0") == "0"


def make_folder(run: Path) -> None:
    """Make a run's folder if it is not there.

    Raises:
        UnwritableOutput: it cannot be made.
    """
    try:
        run.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise UnwritableOutput(run, cause) from None


def begin(run: Path, identity: dict[str, Any]) -> None:
    """Write down whose a new run's folder is, or check that it is this run's.

    Raises:
        UsageError: it is of another run, or holds something else.
        UnwritableOutput: it cannot be written.
    """
    known = _read(run / RUN)
    if known is not None and _only_begun(run):
        # Nothing was trained, as after a recipe that did not fit: it may be put right.
        known = None
        (run / RUN).unlink()
    if known is not None:
        _refuse_other(run, known, identity)
    elif any(run.iterdir()):
        raise UsageError(
            f"{run} is no folder of a training run, and not empty",
            remedy="Name a new folder",
        )
    else:
        write_bytes(run / RUN, msgspec.json.format(msgspec.json.encode(identity), indent=1))


def write_summary(run: Path, summary: TrainingSummary) -> None:
    """Write down what a run came to, sealed, with the hash of what it began as.

    Raises:
        UnwritableOutput: it cannot be written.
    """
    record = {**msgspec.to_builtins(summary), "run": file_hash(run / RUN, remember=False)}
    write_bytes(run / SUMMARY, sealed_json(sealed(TRAINED, record)).encode() + b"\n")


def keep_adapter(trainer: Any, folder: Path, base: Mapping[str, Any]) -> None:
    """Write the adapter, whole or not at all, with the hash of the base that it belongs to.

    Every process of a run must call it: each may hold a part of the weights. The first one writes.

    One that a run left which was stopped right after is written anew; its checkpoints are there
    until the run's summary is.

    Raises:
        UnwritableOutput: it cannot be written, as on a full disk.
    """
    if not trainer.args.should_save:
        trainer.save_model(str(folder))
        return
    shutil.rmtree(folder, ignore_errors=True)
    try:
        with new_folder(folder) as part:
            trainer.save_model(str(part))
            # The library's empty form of a model card.
            (part / "README.md").unlink(missing_ok=True)
            files = {path.name: file_hash(path, remember=False) for path in sorted(part.iterdir())}
            record = msgspec.json.encode({"weights": base["weights"], "files": files})
            write_bytes(part / BASE_RECORD, record + b"\n")
    except UnwritableOutput:
        raise
    except Exception as cause:  # each writer has its own kind of error for a full disk
        told = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
        raise UnwritableOutput(folder, told) from cause
