"""Judgment logs that are kept packed: carried on in a folder of work, put in place when whole.

A judgment log is appended to line by line and cannot be packed while that goes on. The book keeps
logs packed. So a log is unpacked into a folder of work, carried on there, and packed again when
everything that was to be asked has been; until then the packed one stays what it was.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from chaincheck.atomic import write_bytes
from chaincheck.errors import PathLike
from chaincheck.jsonl import open_bytes
from chaincheck.judges import Judge
from chaincheck.judges.record import LiveJudge

__all__ = ["carried_on", "unpack"]


def unpack(packed: PathLike, plain: PathLike) -> None:
    """Write a packed log as it was before.

    Args:
        packed: the log, ``.jsonl.gz``.
        plain: the file to write.

    Raises:
        UnreadableFile: the log cannot be read.
    """
    with open_bytes(packed) as source, Path(plain).open("wb") as target:
        shutil.copyfileobj(source, target)


@contextlib.contextmanager
def carried_on(judge: Judge, packed: PathLike, work: PathLike) -> Iterator[LiveJudge]:
    """Ask a judge for what a packed log lacks.

    Args:
        judge: the judge.
        packed: the log, ``.jsonl.gz``; it need not be there.
        work: a folder for the log while it is written. What an interrupted run left there is
            carried on.

    Yields:
        The judge on its log. Whatever it was asked is in ``packed`` when the block ends well.

    Raises:
        IntegrityError: the log is damaged, or of another judge.
    """
    target, folder = Path(packed), Path(work)
    folder.mkdir(parents=True, exist_ok=True)
    plain = folder / target.name.removesuffix(".gz")
    if target.exists() and not plain.exists():
        unpack(target, plain)
    with LiveJudge(judge, plain) as live:
        yield live
    write_bytes(target, plain.read_bytes())
    plain.unlink()
