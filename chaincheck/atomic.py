"""Files that are written whole or not at all.

The bytes go to a temporary file beside the target, are flushed to disk, and take the target's
place by one rename. Whatever goes wrong on the way, a full disk or Ctrl-C, the temporary file is
removed and the target stays as it was. Several outputs of one command take their places
``together``, at its end, or not at all. A gzip file carries no time and no name, so that the same
content gives the same bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from chaincheck.errors import PathLike, UnwritableOutput

__all__ = [
    "OutputFile",
    "check_target",
    "open_output",
    "refuse_clashes",
    "sync_folder",
    "together",
    "write_bytes",
    "write_lines",
]

_LEVEL = 6
_CHUNK = 2**20
_DESCRIPTOR = re.compile(r"/dev/(stdout|stderr)|/(?:dev|proc/self)/fd/(\d+)")


class OutputFile:
    """Takes bytes for a target; a failure to write is an ``UnwritableOutput``."""

    def __init__(self, path: PathLike, file: IO[bytes]) -> None:
        self._path = path
        self._file = file

    def write(self, data: bytes) -> None:
        """Write bytes.

        Raises:
            UnwritableOutput: they cannot be written, as on a full disk.
        """
        try:
            self._file.write(data)
        except OSError as cause:
            raise UnwritableOutput(self._path, cause) from None


def _target(path: PathLike) -> Path:
    """Follow links, so that a link stays one; say at once what can never work."""
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise UnwritableOutput(path, "it is a folder")
        parent = target.parent
        if not parent.exists():
            raise UnwritableOutput(path, f"the folder {parent} does not exist")
        if not parent.is_dir():
            raise UnwritableOutput(path, f"{parent} is not a folder")
    except (OSError, ValueError) as cause:
        raise UnwritableOutput(path, str(cause)) from None
    return target


def check_target(path: PathLike) -> None:
    """Say before long work what will never be writable: a folder, or a file in none.

    Raises:
        UnwritableOutput: it is one of these.
    """
    if not _DESCRIPTOR.fullmatch(os.fspath(path)):
        _target(path)


def _mode(target: Path) -> int:
    """Permissions of the target, or those that a new file would get."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def sync_folder(folder: Path) -> None:
    """Make a rename durable where folders can be flushed; elsewhere it is durable soon."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _stream(path: PathLike, raw: IO[bytes], *, packed: bool) -> Iterator[OutputFile]:
    """Offer ``raw`` for writing, gzipped if ``packed``; everything is in ``raw`` at the end."""
    if not packed:
        yield OutputFile(path, raw)
        return
    with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=raw, mtime=0) as file:
        buffered = io.BufferedWriter(cast(io.RawIOBase, file), _CHUNK)
        yield OutputFile(path, cast(IO[bytes], buffered))
        buffered.flush()


class _Body:
    """Keeps what the caller's own code raised.

    Closing a file after that can fail once more, and must not hide the first cause. An OSError
    of the caller's own (of a file that it reads) is not one of writing.
    """

    error: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        self.error = error

    def explain(self, path: PathLike, cause: BaseException) -> BaseException:
        """Return what to raise for what came out in the end."""
        if self.error is not None:
            return self.error
        return UnwritableOutput(path, cause) if isinstance(cause, OSError) else cause


def _is_device(path: PathLike, target: Path) -> bool:
    """Tell whether the path is one that a rename cannot or must not replace."""
    text = Path(path).absolute().as_posix()
    special = text.startswith(("/dev/", "/proc/")) and not text.startswith("/dev/shm/")
    return special or (target.exists() and not target.is_file())


def _open_device(path: PathLike) -> IO[bytes]:
    """Open such a path for writing.

    Opening /dev/stdout anew would write over what a redirected file holds, so an open
    descriptor is shared instead.
    """
    found = _DESCRIPTOR.fullmatch(Path(path).absolute().as_posix())
    if not found:
        return Path(path).open("ab")
    sys.stdout.flush()
    number = {"stdout": 1, "stderr": 2}.get(found[1]) or int(found[2] or 0)
    return os.fdopen(os.dup(number), "wb")


@dataclass(frozen=True)
class _Finished:
    """A temporary file that is whole and on the disk, and the place that it is to take."""

    path: PathLike
    part: Path
    target: Path

    def land(self) -> None:
        """Take the place.

        Raises:
            UnwritableOutput: it cannot be taken.
        """
        try:
            self.part.replace(self.target)
        except OSError as cause:
            raise UnwritableOutput(self.path, cause) from None

    def drop(self) -> None:
        with contextlib.suppress(OSError):
            self.part.unlink()

    def keep_old(self) -> Path | None:
        """Keep what stands in the place under another name; None if nothing does."""
        old = self.part.with_suffix(".old")
        try:
            os.link(self.target, old)
        except OSError:  # nothing stands there, or the file system has no second names
            return None
        return old


_WAITING: ContextVar[list[_Finished] | None] = ContextVar("_WAITING", default=None)


def _land(finished: list[_Finished]) -> None:
    """Let all files take their places; where one cannot, put back what stood in the others'."""
    olds: list[tuple[_Finished, Path | None]] = []
    try:
        for one in finished:
            # A single file needs no way back: either it has taken its place or it has not.
            olds.append((one, one.keep_old() if len(finished) > 1 else None))
            one.land()
    except BaseException:
        for one, old in olds:
            taken = not one.part.exists()
            one.drop()
            if old is not None and taken:
                old.replace(one.target)
            elif taken:
                one.target.unlink(missing_ok=True)
            if old is not None:
                old.unlink(missing_ok=True)
        for one in finished[len(olds) :]:
            one.drop()
        raise
    for _, old in olds:
        if old is not None:
            old.unlink(missing_ok=True)
    for folder in {one.target.parent for one in finished}:
        sync_folder(folder)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Let all outputs that are finished inside the block take their places at its end.

    Until then none is to be seen. If the block raises, or one of them cannot take its place, all
    targets are as they were. Devices are written straight all the same.

    Raises:
        UnwritableOutput: a target cannot be replaced.
    """
    if _WAITING.get() is not None:
        yield
        return
    waiting: list[_Finished] = []
    token = _WAITING.set(waiting)
    try:
        yield
    except BaseException:
        for one in waiting:
            one.drop()
        raise
    finally:
        _WAITING.reset(token)
    _land(waiting)


def _replace(path: PathLike, target: Path, *, packed: bool) -> Iterator[OutputFile]:
    """Yield a temporary file beside the target, then let it take the target's place."""
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{target.name[:80]}.", suffix=".part", dir=target.parent
        )
    except OSError as cause:
        raise UnwritableOutput(path, cause) from None
    finished = _Finished(path, Path(name), target)
    body = _Body()
    try:
        with os.fdopen(handle, "wb", buffering=_CHUNK) as raw:
            with _stream(path, raw, packed=packed) as file, body:
                yield file
            raw.flush()
            os.fsync(raw.fileno())
        finished.part.chmod(_mode(target))
    except BaseException as cause:
        finished.drop()
        raise body.explain(path, cause) from None
    waiting = _WAITING.get()
    if waiting is None:
        _land([finished])
    else:
        waiting.append(finished)


@contextlib.contextmanager
def open_output(path: PathLike) -> Iterator[OutputFile]:
    """Write a file whole or not at all; gzipped if its name ends in ``.gz``.

    A path that exists and is no regular file (a terminal, a pipe, ``/dev/stdout``) cannot be
    replaced and is written straight.

    Args:
        path: the target; its folder must exist.

    Yields:
        The file to write to.

    Raises:
        UnwritableOutput: the path cannot be written or the disk is full. The target is as it
            was, and nothing lies beside it.
    """
    target = _target(path)
    packed = os.fspath(path).endswith(".gz")
    if _is_device(path, target):
        body = _Body()
        try:
            with _open_device(path) as raw, _stream(path, raw, packed=packed) as file, body:
                yield file
        except BaseException as cause:
            raise body.explain(path, cause) from None
        return
    yield from _replace(path, target, packed=packed)


def refuse_clashes(
    outputs: Iterable[PathLike | None],
    inputs: Iterable[PathLike | None] = (),
    *,
    folders: Iterable[PathLike | None] = (),
) -> None:
    """Refuse to write over what is read, or two outputs to one place, links followed.

    Args:
        outputs: paths to be written; None and devices are passed over.
        inputs: paths that are read.
        folders: folders that are read or written as a whole.

    Raises:
        UnwritableOutput: an output is an input or another output, or lies in one of the folders.
    """
    taken = {os.path.realpath(path): "is read" for path in inputs if path is not None}
    whole = [Path(os.path.realpath(folder)) for folder in folders if folder is not None]
    for path in outputs:
        if path is None:
            continue
        place = os.path.realpath(path)
        if Path(place).exists() and not Path(place).is_file():
            continue
        if place in taken:
            raise UnwritableOutput(path, f"this file {taken[place]} by the same command")
        if any(Path(place).is_relative_to(folder) for folder in whole):
            raise UnwritableOutput(path, "it lies in a folder that the same command works on")
        taken[place] = "is also written"


def write_lines(path: PathLike, lines: Iterable[bytes]) -> int:
    """Write lines, each ended by a line feed, and return their number.

    Raises:
        UnwritableOutput: as ``open_output``. Whatever ``lines`` raises also leaves no file.
    """
    count = 0
    with open_output(path) as file:
        for line in lines:
            file.write(line + b"\n")
            count += 1
    return count


def write_bytes(path: PathLike, data: bytes) -> None:
    """Write one whole file.

    Raises:
        UnwritableOutput: as ``open_output``.
    """
    with open_output(path) as file:
        file.write(data)
