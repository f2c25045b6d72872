"""A judgment log as a file: read and verified as a whole.

Every line is verified before any is used, and each again when it is served. A line that is
damaged, removed, added or moved, or that another instrument wrote, is named and stops the
reading; nothing of such a log is used. A last line without a line feed was cut short: it is
named, never used, and left for a writer to remove.

A reader takes no lock: a log can be read while it grows. It sees what was written when it opened
the log.

What no log can show is that whole lines are missing at its end: a judgment lost that way is a
judgment not found, never a wrong one.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Self, cast

from chaincheck.errors import (
    DamagedLog,
    ForeignLog,
    InputError,
    PathLike,
    UnreadableFile,
    quote_apart,
)
from chaincheck.jsonl import LONGEST_LINE, open_bytes
from chaincheck.judges.base import differences
from chaincheck.judges.log_format import (
    AcquisitionLine,
    Header,
    Line,
    Record,
    is_start_of_header,
    parse,
    parse_header,
    too_long,
)
from chaincheck.pipes import open_raw

__all__ = ["Contents", "JudgmentLog", "OpenLog", "Torn", "check_instrument", "load"]

_SCANS = 5
_MOST_PARTS = 8  # differences that a message lists
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Torn:
    """A last line that was cut short.

    Attributes:
        line: its number.
        offset: where it starts, in bytes.
        size: its length in bytes.
    """

    line: int
    offset: int
    size: int


@dataclass
class Contents:
    """What a log holds: where each judgment stands, and what all of them share.

    Attributes:
        header: the first line; None of a file without a whole line.
        places: offset and length of each judgment's line, by content.
        acquisitions: settings by hash, in order of appearance.
        digest: digest of the last line.
        lines: number of whole lines.
        end: length of the whole lines in bytes.
        torn: the last line, if it was cut short.
    """

    header: Header | None = None
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    acquisitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    digest: str = ""
    lines: int = 0
    end: int = 0
    torn: Torn | None = None

    def add(self, line: Line, digest: str, size: int, path: PathLike) -> None:
        """Take the next whole line, ``size`` bytes long with its line feed."""
        number = self.lines + 1
        if isinstance(line, Header):
            self.header = line
        elif isinstance(line, AcquisitionLine):
            self.acquisitions[line.acquisition] = line.settings
        else:
            self._add_record(line, size, path, number)
        self.digest = digest
        self.lines = number
        self.end += size

    def _add_record(self, record: Record, size: int, path: PathLike, number: int) -> None:
        fault: type[InputError] = DamagedLog
        problem = None
        if self.header is None or record.instrument != self.header.fingerprint:
            fault, problem = ForeignLog, "another instrument made this judgment"
        elif record.acquisition not in self.acquisitions:
            problem = "no line before this one says how this judgment was got"
        elif record.content in self.places:
            problem = "the log holds a judgment of the same content before this one"
        if problem:
            raise fault(
                problem,
                path=path,
                line=number,
                item=record.item_id,
                remedy=f"Restore a copy, or keep what precedes it: head -n {number - 1}",
            )
        self.places[record.content] = (self.end, size)


def _scan(file: IO[bytes], path: PathLike) -> Contents:
    """Read a log from its first byte to its last and verify every line."""
    contents = Contents()
    while True:
        raw = file.readline(LONGEST_LINE + 1)
        if not raw:
            return contents
        number = contents.lines + 1
        if len(raw) > LONGEST_LINE:
            raise too_long(path, number)
        if not raw.endswith(b"\n"):
            if number == 1 and not is_start_of_header(raw):
                parse_header(raw, path=path)  # says what the file is instead
            contents.torn = Torn(number, contents.end, len(raw))
            return contents
        body = raw[:-1]
        line: Line
        if number == 1:
            line, digest = parse_header(body, path=path)
        else:
            line, digest = parse(body, contents.digest, path=path, line=number)
        contents.add(line, digest, len(raw), path)


def _plain_file(path: PathLike) -> IO[bytes] | None:
    """Open a log that is a file and is not packed; None for a pipe or a packed one."""
    raw = open_raw(path)
    of_file = isinstance(raw, io.BufferedReader) and isinstance(raw.raw, io.FileIO)
    if of_file and raw.seekable() and cast(io.BufferedReader, raw).peek(2)[:2] != _GZIP:
        return raw
    raw.close()
    return None


def load(path: PathLike) -> tuple[int, Contents]:
    """Scan a log; return a descriptor to read it at any place, and what it holds."""
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(open_bytes(path))
        plain = _plain_file(path)
        if plain is not None:
            # Read at any place later on, this very file: a copy would not show a later change.
            stream = stack.enter_context(plain)
        else:
            unpacked = stack.enter_context(tempfile.TemporaryFile())
            try:
                shutil.copyfileobj(stream, unpacked)
            except (EOFError, zlib.error, OSError) as cause:
                raise UnreadableFile(
                    f"the gzip data is damaged: {cause}", path=path, remedy="Copy the file again"
                ) from None
            unpacked.seek(0)
            stream = unpacked
        contents = _scan(stream, path)
        return os.dup(stream.fileno()), contents


def check_instrument(found: Header, wanted: Header, *, path: PathLike) -> None:
    """Refuse a log that another instrument wrote.

    Args:
        found: the log's header.
        wanted: the header that the judge at hand would write.
        path: the log, for messages.

    Raises:
        ForeignLog: the fingerprints differ, or what of an item reaches the judge. The message
            says in what.
    """
    if found.fingerprint == wanted.fingerprint and found.reads == wanted.reads:
        return
    there = {"reads": list(found.reads), **found.instrument}
    here = {"reads": list(wanted.reads), **wanted.instrument}
    parts = [
        "{} is {} there and {} here".format(key, *quote_apart(old, new))
        for key, (old, new) in differences(there, here).items()
    ]
    if there.get("judge") != here.get("judge"):
        # Of two kinds of judge nearly every key differs, and this one says it.
        parts = [part for part in parts if part.startswith("judge is ")]
    elif len(parts) > _MOST_PARTS:
        parts = [*parts[:_MOST_PARTS], f"and {len(parts) - _MOST_PARTS} more"]
    raise ForeignLog(
        f"instrument {found.fingerprint} ({found.judge}) wrote this log, not "
        f"{wanted.fingerprint} ({wanted.judge}): " + "; ".join(parts),
        path=path,
        line=1,
        remedy="Use the judge that wrote it, or another log for this one",
    )


class OpenLog:
    """What readers and writers have in common."""

    def __init__(self, path: PathLike, descriptor: int, contents: Contents) -> None:
        self.path = os.fspath(path)
        self._descriptor = descriptor
        self._contents = contents
        # Closes the file at the latest when nobody holds the log any more.
        self._close = weakref.finalize(self, os.close, descriptor)

    def __len__(self) -> int:
        return len(self._contents.places)

    def __contains__(self, content: str) -> bool:
        return content in self._contents.places

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; a writer lets go of its lock by this."""
        self._close()

    @property
    def acquisitions(self) -> dict[str, dict[str, Any]]:
        """How the judgments were got: the settings by their hash."""
        return self._contents.acquisitions

    @property
    def digest(self) -> str:
        """Digest of the last line, which pins every line of the log."""
        return self._contents.digest

    def get(self, content: str) -> Record | None:
        """Read a judgment from the file.

        Args:
            content: hash of what was judged, see ``content_of``.

        Returns:
            The record; None if the log has none.

        Raises:
            DamagedLog: the line is no longer what it was when the log was opened.
        """
        place = self._contents.places.get(content)
        if place is None:
            return None
        offset, size = place
        raw = self._read(offset, size)
        with contextlib.suppress(DamagedLog):
            line, _digest = parse(raw.removesuffix(b"\n"), None, path=self.path, line=0)
            if isinstance(line, Record) and line.content == content:
                return line
        raise DamagedLog(
            "this record was changed while the log was in use",
            path=self.path,
            line=self._read(0, offset).count(b"\n") + 1,
            remedy="Restore a copy of the log",
        )

    def records(self) -> Iterator[Record]:
        """Read every judgment, in the log's order."""
        for content in list(self._contents.places):
            record = self.get(content)
            if record is not None:
                yield record

    def _read(self, offset: int, size: int) -> bytes:
        os.lseek(self._descriptor, offset, os.SEEK_SET)
        parts = []
        while size > 0 and (part := os.read(self._descriptor, size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


class JudgmentLog(OpenLog):
    """A log, opened for reading.

    Args:
        path: the log, plain or gzipped.

    Attributes:
        header: who judged, and with what instrument.
        torn: the last line, if it was cut short.

    Raises:
        UnreadableFile: the file cannot be read, or holds no whole line.
        IntegrityError: it is no log, or one of its lines cannot be trusted.
    """

    def __init__(self, path: PathLike) -> None:
        super().__init__(path, *_load_settled(path))
        if self._contents.header is None:
            self.close()
            raise UnreadableFile(
                "is empty" if self._contents.torn is None else "holds only a torn first line",
                path=path,
                remedy="Nothing was recorded in it yet",
            )
        self.header = self._contents.header
        self.torn = self._contents.torn


def _load_settled(path: PathLike) -> tuple[int, Contents]:
    """Scan a log that a writer may be working on.

    A writer that begins removes a torn line and writes on in its place. A scan that has read the
    first half of the old line and the second half of the new one sees a damage that is not
    there, so a damage in a file that has changed meanwhile is looked at again.
    """
    for _ in range(_SCANS):
        before = _state(path)
        try:
            return load(path)
        except DamagedLog:
            if _state(path) == before:
                raise
    return load(path)


def _state(path: PathLike) -> tuple[int, int] | None:
    try:
        state = os.stat(path)  # noqa: PTH116 - a path of any kind
    except (OSError, ValueError):
        return None
    return state.st_size, state.st_mtime_ns
