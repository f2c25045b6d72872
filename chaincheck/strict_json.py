"""JSON, decoded strictly: what two programs could read in two ways is refused.

:mod:`chaincheck.jsonl` does the same for the lines of an item file. Here a refusal has a code and,
where there is one, the place in the document.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from chaincheck.errors import quote
from chaincheck.refusals import LIMITS, Refusal, Trail

__all__ = ["parse_json", "refuse_surrogates"]

_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_HALF_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class _DuplicateError(ValueError):
    """A key that stands twice."""


class _ConstantError(ValueError):
    """NaN or an infinity."""


class _Twice(dict[str, Any]):
    """An object in which ``key`` stands twice."""

    key = ""


class _Constant:
    """NaN or an infinity, kept in its place."""

    def __init__(self, name: str) -> None:
        self.name = name


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    whole = dict(pairs)
    if len(whole) != len(pairs):
        raise _DuplicateError
    return whole


def _marked_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            marked = _Twice()
            marked.key = key
            return marked
        seen.add(key)
    return dict(pairs)


def _constant(name: str) -> NoReturn:
    raise _ConstantError(name)


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)
_MARKER = json.JSONDecoder(object_pairs_hook=_marked_pairs, parse_constant=_Constant)


def parse_json(raw: bytes) -> Any:
    """Decode bytes as JSON, strictly.

    Raises:
        Refusal: more than 4 MiB, a byte-order mark, not UTF-8, not JSON, NaN or an infinity, a
            key twice in one object, half a surrogate pair, nested too deep to read.
    """
    if len(raw) > LIMITS.size:
        problem = f"the JSON is longer than {LIMITS.size // 2**20} MiB"
        raise Refusal("TOO_LARGE", None, problem)
    if raw.startswith(_MARKS):
        raise Refusal("BYTE_ORDER_MARK", None, "it starts with a byte-order mark")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as cause:
        raise Refusal(
            "NOT_UTF8", None, f"byte 0x{raw[cause.start]:02x} at byte {cause.start} is not UTF-8"
        ) from None
    try:
        value = _DECODER.decode(text)
    except (_DuplicateError, _ConstantError) as cause:
        raise _located(text, cause) from None
    except json.JSONDecodeError as cause:
        where = f"line {cause.lineno}, column {cause.colno}"
        raise Refusal("NOT_JSON", None, f"{cause.msg} at {where}") from None
    except ValueError:
        raise Refusal("NOT_JSON", None, "it holds a number of thousands of digits") from None
    except RecursionError:
        raise Refusal("TOO_DEEP", None, "objects or arrays nested hundreds of levels") from None
    if _HALF_SURROGATE.search(raw):
        refuse_surrogates(value)
    return value


def _located(text: str, cause: Exception) -> Refusal:
    """Find where a key stands twice, or where NaN or an infinity stands."""
    try:
        stack: list[tuple[Any, Trail]] = [(_MARKER.decode(text), None)]
    except (ValueError, RecursionError):  # more is wrong further on
        stack = []
    while stack:
        value, trail = stack.pop()
        if isinstance(value, _Twice):
            problem = f"the key {quote(value.key)} stands twice in one object"
            return Refusal("DUPLICATE_KEY", (trail, value.key), problem)
        if isinstance(value, _Constant):
            return Refusal("NOT_A_NUMBER", trail, f"{value.name} is not JSON")
        stack.extend((child, (trail, step)) for step, child in _children(value))
    if isinstance(cause, _ConstantError):
        return Refusal("NOT_A_NUMBER", None, f"it holds {cause}, which is not JSON")
    return Refusal("DUPLICATE_KEY", None, "a key stands twice in one object")


def _children(value: Any) -> list[tuple[str | int, Any]]:
    """List the parts of a value, last first, as a stack takes them."""
    if isinstance(value, dict):
        return list(value.items())[::-1]
    return list[tuple[str | int, Any]](enumerate(value))[::-1] if isinstance(value, list) else []


def refuse_surrogates(value: Any) -> None:
    """Refuse a string, key or value, that cannot be written as UTF-8.

    Raises:
        Refusal: ``HALF_SURROGATE``.
    """
    stack: list[tuple[Any, Trail]] = [(value, None)]
    while stack:
        value, trail = stack.pop()
        keys = list(value) if isinstance(value, dict) else []
        for text in [value] if isinstance(value, str) else keys:
            try:
                text.encode()
            except UnicodeEncodeError:
                problem = "a string holds half a surrogate pair"
                raise Refusal("HALF_SURROGATE", trail, problem) from None
        stack.extend((child, (trail, step)) for step, child in _children(value))
