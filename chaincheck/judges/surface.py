"""What the lexical judges read: the words and the names on the surface of a context.

A *name* here is a capitalized word, nothing cleverer: not a function word, and not a word that
the same context also writes in lower case. That is the point of these judges. They show how far
a judge gets that never knows what a name refers to.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

__all__ = ["FUNCTION_WORDS", "Surface", "content_words"]

_WORD = re.compile(r"[^\W_]+(?:['’\-][^\W_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$", re.IGNORECASE)

_FUNCTION_WORDS = """
    a about above after again against all along also although among an and another any are around
    as at away be because been before behind being below between both but by can could did do does
    during each either every few first for from further had has have he her here hers herself him
    himself his how however i if in into is it its itself last later least less many may me more
    most much must my near neither no nor not now of off on once one only or other our out over
    own per same second several she should since so some still such than that the their them then
    there these they this those though three through thus to together too two under until up upon
    was we were what when where whether which while who whom whose why will with within without
    would yet you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())


@lru_cache(maxsize=65536)
def _words(text: str) -> tuple[str, ...]:
    """Words of a text as written, accents composed, possessive endings cut."""
    composed = unicodedata.normalize("NFC", text)
    found = (_POSSESSIVE.sub("", word) for word in _WORD.findall(composed))
    return tuple(word for word in found if word)


def content_words(text: str) -> frozenset[str]:
    """Lower-cased words of a text without the function words."""
    return frozenset(word.lower() for word in _words(text)) - FUNCTION_WORDS


class Surface:
    """Words and names of one context, passage by passage.

    Attributes:
        words: for each passage the set of its lower-cased content words.
        names: for each passage the set of its names, lower-cased.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        written = [_words(passage) for passage in passages]
        ordinary = {word for words in written for word in words if word[0].islower()}
        self.words = [
            frozenset(word.lower() for word in words) - FUNCTION_WORDS for words in written
        ]
        self.names = [
            frozenset(
                word.lower() for word in words if word[0].isupper() and word.lower() not in ordinary
            )
            - FUNCTION_WORDS
            for words in written
        ]

    def passages_with_name(self) -> dict[str, int]:
        """How many passages each name stands in."""
        return _count(self.names)

    def passages_with_word(self) -> dict[str, int]:
        """How many passages each content word stands in."""
        return _count(self.words)


def _count(sets: Iterable[frozenset[str]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for members in sets:
        for member in members:
            counts[member] = counts.get(member, 0) + 1
    return counts
