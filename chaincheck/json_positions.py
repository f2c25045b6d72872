"""Where each value of a JSON text stands: an annotation quotes the text itself, not its meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Place", "places"]

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_WORD = re.compile(r"[-+.\w]+")


class Place:
    """A value and the code points that it takes up.

    Attributes:
        start: index of its first code point.
        end: index after its last one.
    """

    __slots__ = ("_parts", "end", "start")

    def __init__(self, start: int, end: int, parts: Mapping[str | int, Place]) -> None:
        self.start = start
        self.end = end
        self._parts = parts

    def __getitem__(self, step: str | int) -> Place:
        """The place of a member or an element.

        Raises:
            KeyError: there is none.
        """
        return self._parts[step]


def places(text: str, value: Any) -> Place:
    """Find where a JSON text has the values that were decoded from it.

    Args:
        text: valid JSON in which no object has a key twice.
        value: what it decodes to. Its objects keep the order of the text.
    """
    return _place(text, value, _past_space(text, 0))


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None  # it matches nothing, too
    return found.end()


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"the text is not the JSON of this value at {at}")
    return found.end()


def _place(text: str, value: Any, start: int) -> Place:
    if isinstance(value, str):
        return Place(start, _end_of(_STRING, text, start), {})
    if isinstance(value, dict):
        return _members(text, list(value.items()), start, named=True)
    if isinstance(value, list):
        return _members(text, list(enumerate(value)), start, named=False)
    return Place(start, _end_of(_WORD, text, start), {})


def _members(text: str, parts: Sequence[tuple[Any, Any]], start: int, *, named: bool) -> Place:
    """Walk an object or an array from its opening bracket on."""
    at = _past_space(text, start + 1)
    found: dict[str | int, Place] = {}
    for step, value in parts:
        if named:
            at = _past_space(text, _end_of(_STRING, text, at))
            at = _past_space(text, at + 1)  # past the colon
        place = found[step] = _place(text, value, at)
        at = _past_space(text, place.end)
        if text[at] == ",":
            at = _past_space(text, at + 1)
    return Place(start, at + 1, found)
