"""The lines of a judgment log: what each holds, how it is sealed, how it is read back.

A log is JSON lines, each ended by a line feed, of three kinds told apart by the key ``kind``:

- ``log``, the first line: the judge's name, its instrument in full and the instrument's hash
  (the judge's fingerprint), and which attributes of an item reach the judge;
- ``acquisition``: how the judgments after it were got, in full, and the hash of that;
- ``judgment``: one judgment with the hash of the content that was judged.

Every line ends in its own digest, the SHA-256 of the line as it would stand without the digest.
Every line but the first also holds the digest of the line before it. A changed byte therefore
shows in its own line, and a line that was removed, added or moved shows in the next. The digest
is no signature: whoever recomputes all of them can write another log. To pin a log, publish the
digest of its last line, which stands for all before it.

A number is written as the shortest decimal that gives the same double back.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import msgspec

from chaincheck.errors import BrokenLine, DamagedLog, ForeignLog, InvalidScore, PathLike, quote
from chaincheck.items import Item
from chaincheck.jsonl import LONGEST_LINE
from chaincheck.judges.base import (
    Judge,
    Judgment,
    fingerprint_of,
    instrument_of,
    reads_of,
)

__all__ = [
    "FORMAT",
    "AcquisitionLine",
    "Header",
    "Line",
    "Record",
    "acquisition_hash",
    "check_judgment",
    "content_of",
    "header_for",
    "is_start_of_header",
    "judgment_of",
    "parse",
    "parse_header",
    "record_of",
    "seal",
    "too_long",
]

FORMAT = 1
_START = b'{"kind":"log","format":'
_SEAL = re.compile(rb',"digest":"([0-9a-f]{64})"\}\Z')
_ITEM_ID = re.compile(rb'"item_id":("(?:[^"\\]|\\.)*")')
_CONTENT_DIGITS = 32


class Header(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="log",
):
    """First line of a log.

    Attributes:
        format: version of the format, ``FORMAT``.
        judge: the judge's name.
        fingerprint: hash of the instrument.
        reads: attributes of an item that reach the judge.
        instrument: everything that can change a score.
    """

    format: int
    judge: str
    fingerprint: str
    reads: tuple[str, ...]
    instrument: dict[str, Any]


class AcquisitionLine(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="acquisition",
):
    """How the judgments that name it were got.

    Attributes:
        acquisition: hash of the settings.
        settings: batch, hardware, retries, versions.
        started: when the first judgment after this line was recorded, in UTC, ISO 8601. It is
            not part of the hash.
        previous: digest of the line before.
    """

    acquisition: str
    settings: dict[str, Any]
    started: str
    previous: str


class Record(
    Judgment,
    frozen=True,
    kw_only=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="kind",
    tag="judgment",
):
    """A judgment as it stands in a log.

    Attributes:
        content: hash of what of the item reaches the judge, see ``content_of``. A judgment is
            found by it; the item's id only says for which item it was first made.
        instrument: fingerprint of the judge.
        acquisition: hash of how the judgment was got.
        previous: digest of the line before.
    """

    content: str
    instrument: str
    acquisition: str
    previous: str


Line = Header | AcquisitionLine | Record
_ENCODER = msgspec.json.Encoder(order="deterministic")
_DECODER = msgspec.json.Decoder(Line)
_FIELDS = Judgment.__struct_fields__


class _Version(msgspec.Struct):
    kind: str
    format: int


def header_for(judge: Judge) -> Header:
    """Write the first line of a judge's log.

    Raises:
        ValueError: the judge names an attribute that items do not have, or an instrument that
            its fingerprint is not the hash of.
    """
    reads = reads_of(judge)
    unknown = [name for name in reads if name not in Item.__struct_fields__]
    if unknown:
        raise ValueError(f"judge {judge.name!r} reads {', '.join(unknown)}, which no item has")
    return Header(
        format=FORMAT,
        judge=judge.name,
        fingerprint=judge.fingerprint,
        reads=reads,
        instrument=instrument_of(judge),
    )


def content_of(item: Item, reads: Sequence[str]) -> str:
    """Hash what of an item reaches the judge.

    Returns:
        The first 32 hexadecimal digits of the SHA-256 of the names and values of these
        attributes, as JSON. Two items with the same question and passages are one to a judge
        that reads no more, whatever their ids.
    """
    seen = [(name, getattr(item, name)) for name in reads]
    return hashlib.sha256(_ENCODER.encode(seen)).hexdigest()[:_CONTENT_DIGITS]


def judgment_of(record: Record, item_id: str) -> Judgment:
    """Give a recorded judgment for an item of the same content."""
    values = {name: getattr(record, name) for name in _FIELDS}
    return Judgment(**{**values, "item_id": item_id})


def record_of(
    judgment: Judgment, *, content: str, instrument: str, acquisition: str, previous: str
) -> Record:
    """Make the record of a judgment that ``check_judgment`` has passed."""
    values = {name: getattr(judgment, name) for name in _FIELDS}
    if judgment.score is not None:
        values["score"] = float(judgment.score)  # an integer would come back as one
    return Record(
        **values,
        content=content,
        instrument=instrument,
        acquisition=acquisition,
        previous=previous,
    )


def _is_finite(value: object) -> bool:
    """Tell whether a value is a number that a double holds exactly."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value) and float(value) == value
    except OverflowError:
        return False


def _infinite(value: object) -> bool:
    """Tell whether a NaN or an infinity, which JSON cannot say, stands anywhere in a value."""
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, Mapping):
        return any(_infinite(part) for part in value.values())
    if isinstance(value, list | tuple):
        return any(map(_infinite, value))
    return False


def _fault(judgment: Judgment) -> str | None:
    """Say why a judgment cannot be recorded, None if it can."""
    bounds = judgment.bounds
    if judgment.score is None:
        if bounds is None:
            return "the judge gave neither a score nor bounds"
    elif not _is_finite(judgment.score):
        return f"the judge gave {quote(judgment.score)}, which is no finite number of 64 bits"
    if bounds is not None:
        low, high = bounds
        if not all(end is None or _is_finite(end) for end in bounds):
            return f"the judge gave the bounds {quote(bounds)}, not finite numbers or None"
        if low is not None and high is not None and low > high:
            return f"the judge gave bounds in the wrong order, {quote(bounds)}"
    for name in ("raw", "logprobs", "usage", "details"):
        if _infinite(getattr(judgment, name)):
            return f"the judge's {name} holds NaN or infinity, which a log cannot hold"
    return None


def check_judgment(judgment: Judgment, *, path: PathLike) -> None:
    """Refuse a judgment that a log cannot hold exactly; nothing is rounded, clipped or filled in.

    Raises:
        InvalidScore: the score is not a finite number, or is lacking without bounds; bounds that
            are none; a NaN or an infinity in what else the judgment carries.
    """
    fault = _fault(judgment)
    if fault:
        raise InvalidScore(
            fault,
            path=path,
            item=judgment.item_id,
            remedy="It was not recorded: find out why the judge says so",
        )


def seal(line: Line, *, path: PathLike) -> tuple[bytes, str]:
    """Encode a line and end it with its digest and a line feed.

    Returns:
        The line and its digest.

    Raises:
        InvalidScore: it holds something that JSON cannot, or is too long.
    """
    item = line.item_id if isinstance(line, Record) else None
    try:
        body = _ENCODER.encode(line)
    except (TypeError, ValueError, OverflowError, RecursionError) as cause:
        raise InvalidScore(
            f"what the judge gave cannot be written as JSON: {cause}",
            path=path,
            item=item,
            remedy="A judge should give text, numbers, lists and mappings of these",
        ) from None
    if len(body) > LONGEST_LINE - 128:
        raise InvalidScore(
            f"what the judge gave is longer than {LONGEST_LINE // 2**20} MiB", path=path, item=item
        )
    digest = hashlib.sha256(body).hexdigest()
    return b'%b,"digest":"%b"}\n' % (body[:-1], digest.encode()), digest


def is_start_of_header(data: bytes) -> bool:
    """Tell whether bytes are, or could grow to be, the first line of a log."""
    return data.startswith(_START) or _START.startswith(data)


def _item_in(raw: bytes) -> str | None:
    """Find the item's id in a line, whatever else is wrong with it."""
    found = _ITEM_ID.search(raw)
    try:
        return str(msgspec.json.decode(found[1])) if found else None
    except msgspec.DecodeError:
        return None


def _damaged(problem: str, raw: bytes, *, path: PathLike, line: int) -> DamagedLog:
    if line == 1:
        remedy = "Restore a copy: without its first line a log does not say who judged"
    else:
        remedy = f"Restore a copy, or keep what precedes it: head -n {line - 1}"
    return DamagedLog(problem, path=path, line=line, item=_item_in(raw), remedy=remedy)


def parse(raw: bytes, previous: str | None, *, path: PathLike, line: int) -> tuple[Line, str]:
    """Check and decode one line.

    Args:
        raw: the line without its line feed.
        previous: digest of the line before; None to leave the chain unchecked.
        path: the log, for messages.
        line: the line's number, for messages.

    Returns:
        The line and its digest.

    Raises:
        DamagedLog: the line is not as it was written, or not where it was written.
    """
    found = _SEAL.search(raw)
    body = raw[: found.start()] + b"}" if found else b""
    digest = found[1].decode() if found else ""
    if hashlib.sha256(body).hexdigest() != digest:
        problem = (
            "ends in CR LF: the line ends of this file were converted"
            if raw.endswith(b"\r")
            else "this record is not as it was written"
        )
        raise _damaged(problem, raw, path=path, line=line)
    try:
        parsed: Line = _DECODER.decode(body)
    except (msgspec.DecodeError, RecursionError) as cause:
        raise _damaged(f"no record of a log: {cause}", raw, path=path, line=line) from None
    if previous is not None and (isinstance(parsed, Header) or parsed.previous != previous):
        problem = "does not follow the line before it: lines were removed, added or moved"
        raise _damaged(problem, raw, path=path, line=line)
    return parsed, digest


def parse_header(raw: bytes, *, path: PathLike) -> tuple[Header, str]:
    """Check and decode the first line.

    Returns:
        The header and its digest.

    Raises:
        ForeignLog: the file is no judgment log, or one of another format.
        DamagedLog: the header is not as it was written.
    """
    try:
        version = msgspec.json.decode(raw, type=_Version)
    except (msgspec.DecodeError, RecursionError):
        version = _Version(kind="", format=0)
    if not raw.startswith(_START) and version.kind != "log":
        hint = " but a score file" if b'"score"' in raw and b'"item_id"' in raw else ""
        raise ForeignLog(
            f"this is no judgment log{hint}",
            path=path,
            line=1,
            remedy="Check the path; a score file is opened by a judge of kind 'recorded'"
            if hint
            else "Check the path",
        )
    if version.kind == "log" and version.format != FORMAT:
        raise ForeignLog(
            f"a log of format {version.format}; this version of chaincheck reads {FORMAT}",
            path=path,
            line=1,
            remedy="Use the version of chaincheck that wrote it",
        )
    parsed, digest = parse(raw, None, path=path, line=1)
    if not isinstance(parsed, Header):
        raise ForeignLog("the first line is no header", path=path, line=1, remedy="Check the path")
    return parsed, digest


def too_long(path: PathLike, line: int) -> BrokenLine:
    """Write the error of a line that no log has."""
    return BrokenLine(
        f"the line is longer than {LONGEST_LINE // 2**20} MiB",
        path=path,
        line=line,
        remedy="No line of a judgment log is that long: check what the file is",
    )


def acquisition_hash(settings: Mapping[str, Any]) -> str:
    """Hash how judgments were got: 16 hexadecimal digits."""
    return fingerprint_of(settings)
