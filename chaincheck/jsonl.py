"""Lines of JSON, plain or gzipped: read strictly, with every fault named.

Reading streams. A file is gzip if its first bytes say so, whatever its name. One line, or one
record of a JSON array, is held in memory at a time, and never more than ``LONGEST_LINE`` bytes
of it.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any, NoReturn, cast

from chaincheck.errors import BrokenLine, PathLike, UnreadableFile, quote
from chaincheck.pipes import open_raw

__all__ = [
    "LONGEST_LINE",
    "decode_object",
    "decode_text",
    "open_bytes",
    "read_lines",
    "read_objects",
    "read_records",
]

LONGEST_LINE = 64 * 2**20
_CHUNK = 2**20
_SPACE = b" \t\r\n"
_GZIP = b"\x1f\x8b"
_UTF8_MARK = b"\xef\xbb\xbf"
_OTHER_FORMATS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"BZh", "bzip2-compressed"),
    (b"\xfd7zXZ", "xz-compressed"),
    (b"\x28\xb5\x2f\xfd", "zstd-compressed"),
    (b"PAR1", "a parquet file"),
)
_LONGEST_MAGIC = 6
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# What holds no structure at the level of the array's elements (_FLAT) or inside one (_DEEP): text
# between marks, whole strings, whole objects and arrays that hold no other.
_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_INNERMOST = rb'\{(?:[^"\[\]{}]++|%s)*+\}|\[(?:[^"\[\]{}]++|%s)*+\]' % (_STRING, _STRING)
_FLAT = re.compile(rb'(?:[^"\[\]{},]++|%s|%s)*+' % (_STRING, _INNERMOST), re.DOTALL)
_DEEP = re.compile(rb'(?:[^"\[\]{}]++|%s|%s)*+' % (_STRING, _INNERMOST), re.DOTALL)
_IN_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_DEEPEST = 100_000  # beyond, nothing decodes; each level would cost a step
_HALF_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class _Headed(io.RawIOBase):
    """Bytes already taken from a stream that cannot go back, and then the rest of it."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._head:
            return cast(io.BufferedReader, self._rest).readinto1(buffer)
        size = min(len(buffer), len(self._head))
        buffer[:size], self._head = self._head[:size], self._head[size:]
        return size

    def close(self) -> None:
        self._rest.close()
        super().close()


def _first_bytes(raw: IO[bytes]) -> tuple[bytes, IO[bytes]]:
    """Return the first bytes, and a stream of all; a slow pipe may give them one by one."""
    head = raw.read(_LONGEST_MAGIC)
    return head, cast(IO[bytes], io.BufferedReader(_Headed(head, raw), _CHUNK))


def open_bytes(path: PathLike) -> IO[bytes]:
    """Open a file for reading, unpacked if its first bytes say that it is gzipped.

    Raises:
        UnreadableFile: missing, a folder, not permitted, or packed in another way.
    """
    try:
        head, raw = _first_bytes(open_raw(path))
    except FileNotFoundError:
        raise UnreadableFile("no such file", path=path, remedy="Check the path") from None
    except IsADirectoryError:
        raise UnreadableFile("is a folder", path=path, remedy="Name a file in it") from None
    except PermissionError:
        raise UnreadableFile(
            "may not be read", path=path, remedy="Change its permissions or copy it"
        ) from None
    except (OSError, ValueError) as cause:
        raise UnreadableFile(f"cannot be read: {cause}", path=path) from None
    for magic, what in _OTHER_FORMATS:
        if head.startswith(magic):
            raw.close()
            raise UnreadableFile(
                f"is {what}", path=path, remedy="Unpack it to .jsonl, or gzip it to .jsonl.gz"
            )
    if head.startswith(_GZIP):
        return io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=raw)), _CHUNK)
    return raw


def _check_mark(head: bytes, path: PathLike) -> None:
    if head.startswith(_UTF8_MARK):
        raise UnreadableFile(
            "starts with a UTF-8 byte-order mark",
            path=path,
            line=1,
            remedy="Save it as UTF-8 without the mark",
        )
    if head.startswith(_UTF16_MARKS):
        raise UnreadableFile("is UTF-16 text", path=path, line=1, remedy="Save it as UTF-8")


def _unreadable(cause: Exception, path: PathLike, line: int) -> UnreadableFile:
    """Say what is wrong with bytes that could not be had after ``line`` whole lines."""
    if isinstance(cause, EOFError):
        return UnreadableFile(
            "the gzip data ends early",
            path=path,
            line=line + 1,
            remedy="The file is truncated: copy or download it again",
        )
    if isinstance(cause, gzip.BadGzipFile | zlib.error):
        return UnreadableFile(
            f"the gzip data is corrupt ({cause})",
            path=path,
            line=line + 1,
            remedy="Copy or download it again",
        )
    return UnreadableFile(f"cannot be read: {cause}", path=path, line=line + 1)


def _too_long(path: PathLike, line: int, what: str) -> BrokenLine:
    return BrokenLine(
        f"the {what} is longer than {LONGEST_LINE // 2**20} MiB",
        path=path,
        line=line,
        remedy=f"No {what} of these files is that long: check what the file is",
    )


def read_lines(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file that are not blank, with their 1-based numbers.

    Args:
        path: plain or gzipped text.

    Yields:
        Line number and line, without its line end. The bytes are not decoded.

    Raises:
        UnreadableFile: missing, a folder, not permitted, empty, truncated, corrupt, or marked
            as UTF-16 or with a byte-order mark.
        BrokenLine: a line longer than ``LONGEST_LINE``; it is never read whole.
    """
    with open_bytes(path) as file:
        yield from _lines(file, path, 0)


def _lines(file: IO[bytes], path: PathLike, number: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that follow the first ``number`` ones, which are blank."""
    found = False
    while True:
        try:
            line = file.readline(LONGEST_LINE + 1)
        except (EOFError, zlib.error, OSError) as cause:
            raise _unreadable(cause, path, number) from None
        if not line:
            break
        number += 1
        if number == 1:
            _check_mark(line, path)
        if len(line) > LONGEST_LINE:
            raise _too_long(path, number, "line")
        line = line.strip(_SPACE)
        if line:
            found = True
            yield number, line
    if not found:
        raise UnreadableFile("is empty", path=path, remedy="It should hold one JSON object a line")


def _broken_array(problem: str, path: PathLike, line: int) -> BrokenLine:
    return BrokenLine(
        problem, path=path, line=line, remedy="Expected a JSON array of objects: copy it again"
    )


class _ArrayScanner:
    """Cuts the bytes behind a JSON array's opening bracket into its elements, undecoded.

    Every byte is looked at once, wherever the chunks end.

    Args:
        path: the file, for messages.
        line: the line on which the array starts.
    """

    def __init__(self, path: PathLike, line: int) -> None:
        self._path = path
        self._parts: list[bytes] = []  # of the element that is not whole yet
        self._size = 0  # of these parts
        self._depth = 1
        self._in_string = False
        self._escaped = False  # the chunk before ended in a backslash inside a string
        self.line = line  # of the first of these parts
        self.count = 0
        self.whole = False

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Take the next bytes; yield the elements that they complete."""
        start = 0
        place = self._end_of_string(chunk, 0) if self._in_string else 0
        while place < len(chunk) and not self.whole:
            place = (_DEEP if self._depth > 1 else _FLAT).match(chunk, place).end()  # type: ignore[union-attr]
            mark = chunk[place : place + 1]
            place += 1
            if mark == b'"':
                place = self._end_of_string(chunk, place)
            elif mark and mark in b"[{":
                self._depth += 1
                if self._depth > _DEEPEST:
                    raise _broken_array("nested too deep", self._path, self.line)
            elif mark and mark in b"]}":
                self._depth -= 1
                self.whole = self._depth == 0
            if self.whole or (self._depth == 1 and mark == b","):
                yield from self._element(chunk[start : place - 1])
                start = place
            if self.whole and mark == b"}":
                raise _broken_array("not JSON: the array ends in }", self._path, self.line)
        rest = chunk[start:]
        if not self.whole:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > LONGEST_LINE:
                raise _too_long(self._path, self._start(b"".join(self._parts)), "record")
        elif rest.strip(_SPACE):
            raise _broken_array("text after the array's end", self._path, self.line)

    def _end_of_string(self, chunk: bytes, place: int) -> int:
        """Return where a string that is open at ``place`` has ended; remember it if it has not."""
        if self._escaped:
            place += 1
        place = _IN_STRING.match(chunk, place).end()  # type: ignore[union-attr]
        self._escaped = chunk[place : place + 1] == b"\\"
        self._in_string = chunk[place : place + 1] != b'"'
        return len(chunk) if self._in_string else place + 1

    def _start(self, raw: bytes) -> int:
        """The line on which an element starts, behind the blanks before it."""
        lead = len(raw) - len(raw.lstrip(_SPACE))
        return self.line + raw.count(b"\n", 0, lead)

    def _element(self, last: bytes) -> Iterator[tuple[int, bytes]]:
        raw = b"".join([*self._parts, last])
        self._parts, self._size = [], 0
        line = self._start(raw)
        self.line += raw.count(b"\n")
        element = raw.strip(_SPACE)
        if len(element) > LONGEST_LINE:
            raise _too_long(self._path, line, "record")
        if element:
            self.count += 1
            yield line, element
        elif not (self.whole and self.count == 0):
            raise _broken_array("an element of the array is missing", self._path, line)


def _elements(file: IO[bytes], path: PathLike, line: int) -> Iterator[tuple[int, bytes]]:
    """Yield the elements of a JSON array, each with the line on which it starts."""
    scanner = _ArrayScanner(path, line)
    file.read(1)  # the bracket
    while True:
        try:
            chunk = file.read(_CHUNK)
        except (EOFError, zlib.error, OSError) as cause:
            raise _unreadable(cause, path, scanner.line - 1) from None
        if not chunk:
            break
        yield from scanner.feed(chunk)
    if not scanner.whole:
        raise UnreadableFile(
            "the JSON array ends early",
            path=path,
            line=scanner.line,
            remedy="The file is truncated: copy or download it again",
        )
    if scanner.count == 0:
        raise UnreadableFile("holds no record", path=path, remedy="Its JSON array is empty")


class _DuplicateKeyError(ValueError):
    """A key that stands twice; carries the message."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _DuplicateKeyError(f"the key {quote(twice)} stands twice in one object")
    return whole


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _number(text: str) -> float | Decimal:
    """Keep a number's value: a float where that is exact, else a Decimal."""
    value = float(text)
    # repr gives the shortest text of a float; only another value needs a Decimal.
    return value if repr(value) == text or Decimal(repr(value)) == Decimal(text) else Decimal(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_number)


def decode_text(raw: bytes, *, path: PathLike, line: int) -> str:
    """Decode bytes as UTF-8.

    Raises:
        UnreadableFile: they are not UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise UnreadableFile(
            f"not UTF-8 text (byte 0x{raw[cause.start]:02x} at byte {cause.start + 1} of the line)",
            path=path,
            line=line,
            remedy="Save the file as UTF-8",
        ) from None


def decode_object(raw: bytes, *, path: PathLike, line: int) -> dict[str, Any]:
    """Decode one JSON object strictly.

    Refused beside bad syntax: bytes that are not UTF-8, a key that stands twice in one object,
    NaN and infinite literals, half a surrogate pair. Numbers keep their value: one that no
    double holds exactly as written comes as a Decimal.

    Raises:
        UnreadableFile: the bytes are not UTF-8.
        BrokenLine: they are not one JSON object.
    """
    text = decode_text(raw, path=path, line=line)
    remedy: str | None = "Correct or remove this line"
    try:
        value = _DECODER.decode(text)
        if _HALF_SURROGATE.search(raw):
            json.dumps(value, ensure_ascii=False, default=str).encode("utf-8")
    except _DuplicateKeyError as cause:
        problem = str(cause)
    except json.JSONDecodeError as cause:
        problem = f"not JSON: {cause.msg} at character {cause.pos + 1}"
    except UnicodeEncodeError:
        problem = "a string holds half a surrogate pair"
    except ValueError as cause:
        problem = f"not JSON: {cause}"
    except RecursionError:
        problem = "objects or arrays nested too deep"
    else:
        if isinstance(value, dict):
            return value
        problem = f"not a JSON object but {_NAMES.get(type(value), 'a number')}"
        remedy = "Each line should be one JSON object"
    raise BrokenLine(problem, path=path, line=line, remedy=remedy)


_NAMES = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}


def _skip_blank(file: IO[bytes], path: PathLike) -> tuple[int, bytes]:
    """Pass over blanks; return how many line ends stood there, and the first byte behind them."""
    reader = cast(io.BufferedReader, file)
    lines = 0
    try:
        while seen := reader.peek(1):
            rest = seen.lstrip(_SPACE)
            lines += reader.read(len(seen) - len(rest)).count(b"\n")
            if rest:
                return lines, rest[:1]
    except (EOFError, zlib.error, OSError) as cause:
        raise _unreadable(cause, path, lines) from None
    return lines, b""


def read_records(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Yield the raw records of a file: its lines, or the elements of its one JSON array.

    The original 2WikiMultiHopQA and HotpotQA files are arrays, the others are lines. The file is
    opened once, so that a pipe will do.

    Raises:
        InputError: as ``read_lines``; also an array that is cut short or followed by text.
    """
    with open_bytes(path) as file:
        lines, first = _skip_blank(file, path)
        if first == b"[":
            yield from _elements(file, path, lines + 1)
        else:
            yield from _lines(file, path, lines)


def read_objects(path: PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of lines or of one JSON array, decoded strictly.

    Yields:
        The 1-based line on which the object starts, and the object.

    Raises:
        InputError: as ``read_records`` and ``decode_object``.
    """
    for line, raw in read_records(path):
        yield line, decode_object(raw, path=path, line=line)
