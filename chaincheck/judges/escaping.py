"""Keep what a passage says from being read as part of the prompt around it.

A passage is data. It may hold the very text that a prompt uses to mark where a passage ends, or
a token that a chat template uses to mark where a turn ends. Wherever such a mark stands in a
passage its first character is replaced by a character reference (``<`` by ``&lt;``), which a
reader still understands and which no longer is the mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Escaper", "reference"]

# What a reader passes over: white space, soft hyphens, zero-width characters, marks of direction.
_UNSEEN = "[\\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
_NAMED = {"<": "&lt;", ">": "&gt;"}


def reference(character: str) -> str:
    """Write one character as a character reference of HTML."""
    return _NAMED.get(character) or f"&#{ord(character)};"


def _blurred(mark: str) -> str:
    """Match a mark in any case and with unseen characters anywhere in it."""
    return _UNSEEN.join(re.escape(character) for character in mark if not character.isspace())


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]

    def apply(self, text: str) -> tuple[str, int]:
        return self.pattern.subn(lambda found: reference(found[0][0]) + found[0][1:], text)


class Escaper:
    """Breaks marks in a text.

    Args:
        delimiters: what surrounds a passage in the prompt; broken in any case, and with white
            space or unseen characters inside. None may be part of a character reference.
        specials: tokens that a tokenizer reads as signs, not as text; broken exactly as written.

    Raises:
        ValueError: a delimiter that escaping cannot break: one that starts with a letter, a digit
            or white space, holds ``&`` or ``;``, or is part of a character reference.
    """

    def __init__(self, delimiters: Iterable[str] = (), specials: Iterable[str] = ()) -> None:
        marks = sorted(set(delimiters), key=lambda mark: (-len(mark), mark))
        for mark in marks:
            _check(mark)
        tokens = sorted({token for token in specials if token}, key=lambda one: (-len(one), one))
        self._rules = []
        if tokens:
            exact = "|".join(re.escape(token) for token in tokens)
            self._rules.append(_Rule(re.compile(f"(?=({exact})).", re.DOTALL)))
        if marks:
            blurred = "|".join(f"(?:{_blurred(mark)})" for mark in marks)
            self._rules.append(_Rule(re.compile(f"(?=({blurred})).", re.IGNORECASE | re.DOTALL)))

    def __call__(self, text: str) -> tuple[str, int]:
        """Break every mark in a text.

        Returns:
            The text without marks, and how many were broken.
        """
        count = 0
        for rule in self._rules:
            text, broken = rule.apply(text)
            count += broken
        return text, count


def _check(mark: str) -> None:
    if not mark or mark[0].isalnum() or mark[0].isspace():
        raise ValueError("must start with a sign, not with a letter, a digit or white space")
    if "&" in mark or ";" in mark:
        raise ValueError("may hold neither '&' nor ';', which escaping itself writes")
    if mark in reference(mark[0]):
        raise ValueError("is part of what escaping writes in its place")
