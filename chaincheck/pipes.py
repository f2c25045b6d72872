"""Inputs that can be read once only: pipes, ``/dev/stdin``, ``<(command)``.

A command may open one input several times: to tell its layout, to go through it again, to hold
a statement against it. A pipe gives its bytes to the first reader and nothing to the next. So
inside ``keep_pipes`` the bytes of a pipe are written to a temporary file as they are read, and
whoever opens the same pipe again gets them from its beginning.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tempfile
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any, cast

from chaincheck.errors import PathLike, UnreadableFile

__all__ = ["check_rereadable", "keep_pipes", "open_raw"]

_CHUNK = 2**20
_Key = tuple[int, int]


class _Kept:
    """One pipe, and the file of what has been read of it."""

    def __init__(self, pipe: io.RawIOBase) -> None:
        self._pipe = pipe
        self._copy = cast(IO[bytes], tempfile.TemporaryFile(prefix="chaincheck-"))  # noqa: SIM115
        self._length = 0

    def read(self, position: int, size: int) -> bytes:
        """Return up to ``size`` bytes from ``position``, which lies within what was read."""
        if position == self._length:
            data = self._pipe.read(size) or b""
            self._copy.seek(position)
            self._copy.write(data)
            self._length += len(data)
            return data
        self._copy.seek(position)
        return self._copy.read(min(size, self._length - position))

    def close(self) -> None:
        self._pipe.close()
        with contextlib.suppress(OSError):  # what a full disk could not take is not wanted now
            self._copy.close()


class _Replayed(io.RawIOBase):
    """A reader of a kept pipe, from its first byte on."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._kept.read(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


_KEPT: ContextVar[dict[_Key, _Kept] | None] = ContextVar("_KEPT", default=None)


@contextlib.contextmanager
def keep_pipes() -> Iterator[None]:
    """Let every pipe be opened as often as a command needs, until the block ends.

    Inside another such block this does nothing: the pipes stay kept until the outer one ends.
    """
    if _KEPT.get() is not None:
        yield
        return
    kept: dict[_Key, _Kept] = {}
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)
        for one in kept.values():
            one.close()


def _pipe_key(path: PathLike) -> _Key | None:
    """What tells a pipe from others; None for a file, or for nothing at all."""
    try:
        found = Path(path).stat()
    except (OSError, ValueError):
        return None  # opening it says what is wrong
    regular = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return None if regular else (found.st_dev, found.st_ino)


def open_raw(path: PathLike) -> IO[bytes]:
    """Open a file or a pipe for buffered reading from its first byte.

    Raises:
        OSError: it cannot be opened.
        ValueError: no file can have this name.
    """
    key, kept = _pipe_key(path), _KEPT.get()
    if key is None or kept is None:
        return io.BufferedReader(io.FileIO(os.fspath(path)), _CHUNK)
    if key not in kept:
        kept[key] = _Kept(io.FileIO(os.fspath(path)))
    return io.BufferedReader(_Replayed(kept[key]), _CHUNK)


def check_rereadable(path: PathLike) -> None:
    """Refuse a pipe where it would have to be read twice and is not kept.

    Raises:
        UnreadableFile: it is a pipe, outside of ``keep_pipes``.
    """
    if _pipe_key(path) is not None and _KEPT.get() is None:
        raise UnreadableFile(
            "is a pipe, and is read more than once", path=path, remedy="Save it to a file first"
        )
