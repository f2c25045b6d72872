"""Lines of JSON, plain or gzipped: read strictly, with every fault named.

Reading streams. A file is gzip if its first bytes say so, whatever its name. One line, or one
record of a JSON array, is held in memory at a time, and never more than ``LONGEST_LINE`` bytes
of it.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any, NoReturn, cast

from chaincheck.errors import BrokenLine, PathLike, UnreadableFile, quote

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
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# A whole string, or one structural byte, or the quote of a string whose end is not read yet.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)
_HALF_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def open_bytes(path: PathLike) -> IO[bytes]:
    """Open a file for reading, unpacked if its first bytes say that it is gzipped.

    Raises:
        UnreadableFile: missing, a folder, not permitted, or packed in another way.
    """
    try:
        raw = io.BufferedReader(io.FileIO(os.fspath(path)), _CHUNK)
        head = raw.peek(8)[:8]
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
    number = 0
    found = False
    with open_bytes(path) as file:
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
    """Cuts the bytes of a JSON array into its elements without decoding them."""

    def __init__(self, path: PathLike) -> None:
        self._path = path
        self._buffer = b""  # from the start of the element that is not whole yet
        self._scanned = 0  # bytes of the buffer whose tokens have been seen
        self._depth = 0
        self.line = 1  # of the buffer's first byte
        self.count = 0
        self.whole = False

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """Take the next bytes; yield the elements that they complete."""
        self._buffer += chunk
        start = 0
        for token in _TOKEN.finditer(self._buffer, self._scanned):
            mark = token.group()
            if mark == b'"':
                self._scanned = token.start()
                break  # its end is in a later chunk
            self._scanned = token.end()
            if self.whole:
                raise _broken_array("text after the array's end", self._path, self.line)
            if mark in b"[{":
                self._depth += 1
                if self._depth == 1:
                    self.line += self._buffer.count(b"\n", start, token.end())
                    start = token.end()
            elif mark in b"]}":
                self._depth -= 1
                self.whole = self._depth == 0
            if self.whole or (self._depth == 1 and mark == b","):
                yield from self._element(self._buffer[start : token.start()])
                start = token.end()
        self._buffer = self._buffer[start:]
        self._scanned -= start
        if self.whole and self._buffer.strip(_SPACE):
            raise _broken_array("text after the array's end", self._path, self.line)
        if len(self._buffer) > LONGEST_LINE:
            raise _too_long(self._path, self.line, "record")

    def _element(self, raw: bytes) -> Iterator[tuple[int, bytes]]:
        lead = len(raw) - len(raw.lstrip(_SPACE))
        line = self.line + raw.count(b"\n", 0, lead)
        self.line += raw.count(b"\n")
        element = raw.strip(_SPACE)
        if len(element) > LONGEST_LINE:
            raise _too_long(self._path, line, "record")
        if element:
            self.count += 1
            yield line, element
        elif not (self.whole and self.count == 0):
            raise _broken_array("an element of the array is missing", self._path, line)


def _read_array(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Yield the elements of a JSON array, each with the line on which it starts."""
    scanner = _ArrayScanner(path)
    with open_bytes(path) as file:
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


def _is_array(path: PathLike) -> bool:
    """Tell whether a file is one JSON array; whatever is wrong with it is told by its reader."""
    with open_bytes(path) as file:
        try:
            return file.read(4096).lstrip(_SPACE).startswith(b"[")
        except (EOFError, zlib.error, OSError):
            return False


def read_records(path: PathLike) -> Iterator[tuple[int, bytes]]:
    """Yield the raw records of a file: its lines, or the elements of its one JSON array.

    The original 2WikiMultiHopQA and HotpotQA files are arrays, the others are lines.

    Raises:
        InputError: as ``read_lines``; also an array that is cut short or followed by text.
    """
    return _read_array(path) if _is_array(path) else read_lines(path)


def read_objects(path: PathLike) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of lines or of one JSON array, decoded strictly.

    Yields:
        The 1-based line on which the object starts, and the object.

    Raises:
        InputError: as ``read_records`` and ``decode_object``.
    """
    for line, raw in read_records(path):
        yield line, decode_object(raw, path=path, line=line)
