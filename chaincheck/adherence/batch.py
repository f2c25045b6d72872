"""Audit a file of many replays: one report a line, in order, whatever some lines hold.

Reports go to a partial file beside the output, named after the digest of the input and of how it
is audited, so that the same command takes up where it was interrupted and another command never
mistakes it for its own. The output itself appears whole, at the end.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import msgspec

from chaincheck import __version__
from chaincheck.adherence.audit import audit
from chaincheck.adherence.batch_summary import BatchSummary, Tally
from chaincheck.adherence.decode import decode_replay
from chaincheck.adherence.report import REPORT_SCHEMA, report_document
from chaincheck.atomic import open_output
from chaincheck.errors import InvalidReplay, LogInUse, PathLike, UnreadableFile, UnwritableOutput
from chaincheck.jsonl import open_bytes
from chaincheck.refusals import LIMITS

__all__ = ["Progress", "audit_line", "audit_lines", "replay_lines", "takes_up"]

_T = TypeVar("_T")
_CHUNK = 2**20
_SPACE = b" \t\r\n"
_FLUSH = 500  # reports that a killed process may have to make again


class Progress(Protocol):
    """Wraps what is worked through, to show how far it is."""

    def __call__(self, items: Iterable[_T], *, what: str, start: int = 0) -> Iterator[_T]:
        """Yield the items; ``start`` of them were done before."""


def _quiet(items: Iterable[_T], *, what: str, start: int = 0) -> Iterator[_T]:
    del what, start
    yield from items


def replay_lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their numbers from 1.

    Of a line that is longer than a replay may be only a little more than that is kept, so that
    decoding it refuses it.

    Raises:
        UnreadableFile: the bytes cannot be had, or there is none.
    """
    number = 0
    found = False
    held: tuple[int, bytes] | None = None
    with open_bytes(path) as file:
        while True:
            try:
                line = file.readline(LIMITS.size + 2)
                rest = line
                while rest and not rest.endswith(b"\n"):
                    rest = file.readline(_CHUNK)
            except (EOFError, zlib.error, OSError) as cause:
                raise UnreadableFile(
                    f"cannot be read on: {cause}",
                    path=path,
                    line=number + 1,
                    remedy="Copy it again; the lines before this one need not be audited again",
                ) from None
            if not line:
                break
            number += 1
            line = line.rstrip(_SPACE)
            if not line.strip(_SPACE):
                continue
            if held is not None:
                if line.lstrip(_SPACE).startswith(b'"'):
                    raise _spread(path)
                yield held
                held = None
            if line == b"{" and not found:  # broken, or the beginning of one that is indented
                held = (number, line)
            else:
                yield number, line
            found = True
    if held is not None:
        yield held
    if not found:
        raise UnreadableFile("is empty", path=path, remedy="It should hold one replay a line")


def _spread(path: PathLike) -> UnreadableFile:
    """The error for a file of indented JSON, as ``chaincheck audit new`` writes it."""
    return UnreadableFile(
        "holds a replay that is written over several lines",
        path=path,
        remedy="Put each on one line: python -m json.tool --no-indent REPLAY.json >> REPLAYS.jsonl",
    )


def audit_line(raw: bytes, *, path: PathLike, line: int, explain: bool = False) -> dict[str, Any]:
    """Audit one line of a file.

    Args:
        raw: the line.
        path: the file, for messages.
        line: its number.
        explain: as in :func:`chaincheck.adherence.audit.audit`.

    Returns:
        The report; for a line that is refused one with ``"overall": "INVALID"``, and nothing in
        it that could be taken for a finding.
    """
    try:
        recorded = decode_replay(raw, path=path, line=line)
    except InvalidReplay as error:
        return {
            "schema": REPORT_SCHEMA,
            "id": _claimed_id(raw),
            "overall": "INVALID",
            "line": line,
            "code": error.code,
            "path": error.json_path,
            "problem": error.reason,
            "remedy": error.remedy,
        }
    return report_document(recorded, audit(recorded.replay, explain=explain))


class _Named(msgspec.Struct):
    id: str


def _claimed_id(raw: bytes) -> str | None:
    """The id in a line that is refused, where it can be had."""
    try:
        return msgspec.json.decode(raw, type=_Named).id
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def audit_lines(
    path: PathLike,
    out: PathLike,
    *,
    explain: bool = False,
    level: float = 0.95,
    progress: Progress = _quiet,
) -> BatchSummary:
    """Audit every line of a file and write the reports.

    Args:
        path: replays, one a line, plain or gzipped.
        out: where the reports go, one a line in the same order.
        explain: also look for what would settle an open verdict and change a status, which takes
            longer than everything else.
        level: coverage of the intervals in the summary.
        progress: shows how far it is.

    Returns:
        How often what was found.

    Raises:
        UnreadableFile: the input cannot be read to its end; what was audited is kept.
        UnwritableOutput: the output cannot be written.
        LogInUse: another process audits the same file to the same output.
    """
    tally = Tally()
    part = _part_path(path, out, explain)
    encode = msgspec.json.Encoder().encode
    with _open_part(part, out) as file:
        done = _take_up(file, tally, out)
        lines = _from(replay_lines(path), done)
        for number, raw in progress(lines, what="audited", start=done):
            report = audit_line(raw, path=path, line=number, explain=explain)
            tally.add(report)
            try:
                file.write(encode(report) + b"\n")
                if tally.count % _FLUSH == 0:
                    file.flush()
            except OSError as cause:
                raise UnwritableOutput(out, cause) from None
        _hand_over(file, out, part)
    return tally.summary(level)


def _from(lines: Iterator[tuple[int, bytes]], done: int) -> Iterator[tuple[int, bytes]]:
    for at, line in enumerate(lines):
        if at >= done:
            yield line


def takes_up(path: PathLike, out: PathLike) -> bool:
    """Whether an interrupted audit of a file can be taken up: neither end of it is a pipe."""
    if Path(out).absolute().as_posix().startswith(("/dev/", "/proc/")):
        return False
    target = Path(os.path.realpath(out))
    return Path(path).is_file() and (target.is_file() or not target.exists())


def _part_path(path: PathLike, out: PathLike, explain: bool) -> Path | None:
    """Name the partial file after all that decides what is in it; None where none is taken up."""
    if not takes_up(path, out):
        return None
    target = Path(os.path.realpath(out))
    digest = hashlib.sha256(f"{REPORT_SCHEMA} {__version__} {explain}".encode())
    try:
        with Path(path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as cause:
        raise UnreadableFile(f"cannot be read: {cause.strerror}", path=path) from None
    return target.parent / f".{target.name[:80]}.{digest.hexdigest()[:16]}.part"


@contextlib.contextmanager
def _open_part(part: Path | None, out: PathLike) -> Iterator[IO[bytes]]:
    """Open the partial file for one process at a time, or a nameless one."""
    try:
        file: IO[bytes] = (
            part.open("a+b", buffering=_CHUNK) if part is not None else tempfile.TemporaryFile()  # noqa: SIM115 -- closed below
        )
    except OSError as cause:
        raise UnwritableOutput(out, cause) from None
    ours = False
    try:
        if part is not None:
            _lock(file, part)
            ours = True
        yield file
    finally:
        try:
            file.close()  # what was audited is kept, also after Ctrl-C
        except OSError as cause:
            raise UnwritableOutput(out, cause) from None
        if part is not None and ours:  # not that of another process, which may be buffering
            with contextlib.suppress(OSError):
                if not part.stat().st_size:
                    part.unlink()


def _lock(file: IO[bytes], part: Path) -> None:
    try:
        import fcntl
    except ImportError:  # a system without it
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise LogInUse(part, None) from None


def _take_up(file: IO[bytes], tally: Tally, out: PathLike) -> int:
    """Count the reports that are there, and cut off one that was half written."""
    file.seek(0)
    done = whole = 0
    for line in file:
        if not line.endswith(b"\n"):
            break
        try:
            tally.add(msgspec.json.decode(line))
        except (msgspec.MsgspecError, KeyError, TypeError, AttributeError):
            break
        whole += len(line)
        done += 1
    try:
        file.seek(whole)
        file.truncate()
    except OSError as cause:
        raise UnwritableOutput(out, cause) from None
    return done


def _hand_over(file: IO[bytes], out: PathLike, part: Path | None) -> None:
    """Write the output from the partial file, and remove that."""
    file.flush()
    file.seek(0)
    with open_output(out) as target:
        while chunk := file.read(_CHUNK):
            target.write(chunk)
    if part is not None:
        with contextlib.suppress(OSError):
            part.unlink()
