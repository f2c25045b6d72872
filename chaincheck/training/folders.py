"""Folders that appear whole or not at all.

Files go to a hidden folder beside the target, are flushed to disk, and the folder takes the
target's name by one rename. Whatever goes wrong on the way, a full disk or Ctrl-C, the hidden
folder is removed and what stood before still stands. A process that is killed outright can leave
the hidden folder, whose name ends in ``.part``; it is never taken for a finished one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from chaincheck.atomic import sync_folder
from chaincheck.errors import PathLike, UnreadableFile, UnwritableOutput

__all__ = ["copy_file", "new_folder"]

_CHUNK = 2**20


@contextlib.contextmanager
def new_folder(target: PathLike, *, apart_from: tuple[PathLike, ...] = ()) -> Iterator[Path]:
    """Fill a folder that does not exist yet.

    Args:
        target: where it will stand; nothing may stand there, and its parent must exist.
        apart_from: folders that are read; the target may be none of them and lie in none.

    Yields:
        The folder to fill. When the block ends without an error it becomes the target.

    Raises:
        UnwritableOutput: the target exists, lies in a folder that is read, or cannot be written.
            An ``OSError`` inside the block (a full disk) becomes one too.
    """
    place = Path(os.path.realpath(target))
    for folder in apart_from:
        if place.is_relative_to(os.path.realpath(folder)):
            raise UnwritableOutput(target, f"it lies in {os.fspath(folder)}, which is read")
    if place.exists() or Path(target).is_symlink():
        raise UnwritableOutput(
            target,
            "it exists already, and nothing is written over",
            remedy="Name another folder, or remove that one",
        )
    if not place.parent.is_dir():
        raise UnwritableOutput(target, f"the folder {place.parent} does not exist")
    try:
        part = Path(
            tempfile.mkdtemp(prefix=f".{place.name[:80]}.", suffix=".part", dir=place.parent)
        )
    except OSError as cause:
        raise UnwritableOutput(target, cause) from None
    try:
        yield part
        _flush(part)
        mask = os.umask(0)
        os.umask(mask)
        part.chmod(0o777 & ~mask)  # mkdtemp made it private
        if place.exists():  # made meanwhile; an empty folder would be replaced in silence
            raise UnwritableOutput(target, "it has come to exist meanwhile")
        part.rename(place)
    except BaseException as cause:
        shutil.rmtree(part, ignore_errors=True)
        if isinstance(cause, OSError):
            raise UnwritableOutput(target, cause) from None
        raise
    sync_folder(place.parent)


def _flush(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as stream:
                os.fsync(stream.fileno())
        else:
            sync_folder(path)
    sync_folder(folder)


def copy_file(source: Path, target: Path) -> str:
    """Copy a file, links followed, and return the SHA-256 of its bytes.

    Raises:
        UnreadableFile: the source cannot be read.
        OSError: the target cannot be written.
    """
    digest = hashlib.sha256()
    try:
        stream = source.open("rb")
    except OSError as cause:
        raise UnreadableFile(
            f"cannot be read: {cause.strerror}", path=source, remedy="Check the file"
        ) from None
    with stream, target.open("wb") as out:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()
