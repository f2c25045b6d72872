"""What a triplet makes known of an item: whether each hop is in the passages, and where.

In the cells A and B the passages state both hops, in C and D the first only: whoever built the
triplet saw to that, and nobody has to read anything. ``provenance``, a column that an item may
have, says where::

    {"hop1": {"passage": 1, "span": "..."}, "hop2": {"passage": 3, "span": "..."}}

with passages counted from 1. Without it the sentence is looked up in the supporting passage, and
where the passage is not recorded either, all of them are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from chaincheck.adherence.replay import Verdict
from chaincheck.errors import InvalidReplay, quote
from chaincheck.items import Item

__all__ = ["Known", "Piece", "gold_of", "hop_name", "known_of", "status_of"]

_SENTENCE = re.compile(r"[^\s].*?(?:[.!?](?=\s|\Z)|$)", re.MULTILINE)
_MORE_HOPS = re.compile(r"[3-9]hop")
_MISSING: Mapping[str, str] = {
    "C": "construction: taken out; every passage was searched",
    "D": "construction: substituted; every passage was searched",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a passage.

    Attributes:
        passage: its index, from 0.
        text: the piece, verbatim.
        occurrence: which one it is, from 1, if it stands there more than once.
    """

    passage: int
    text: str
    occurrence: int = 1


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one hop.

    Attributes:
        holds: whether the passages state it.
        pieces: where they do; empty if they do not.
        explanation: how that is known.
    """

    holds: bool
    pieces: tuple[Piece, ...]
    explanation: str


def hop_name(item: Item) -> str | None:
    """The name that the passages give for hop 1: the replacement in cell B, else the bridge."""
    return item.replacement if item.cell == "B" else item.bridge


def gold_of(item: Item) -> Verdict:
    """The right verdict: PASS where the passages suffice."""
    known = item.label_sufficient
    return "PASS" if (item.cell in "AB" if known is None else known) else "FAIL"


def status_of(item: Item) -> str:
    """``valid``, or why the protocol of two hops cannot speak of this item."""
    longer = item.link not in (None, 2) or (
        item.source == "musique" and _MORE_HOPS.match(item.source_id or "")
    )
    return "more_than_two_hops" if longer else "valid"


def known_of(item: Item, hop: Literal[1, 2]) -> Known:
    """Say what the triplet makes known of one hop.

    Raises:
        InvalidReplay: the column ``provenance`` is malformed or does not fit the passages.
    """
    if hop == 2 and item.cell in _MISSING:
        return Known(False, (), _MISSING[item.cell])
    given = item.extra.get("provenance")
    if given is not None:
        return Known(True, (_given(item, given, hop),), "construction: carrying sentence")
    support = item.earlier_support if hop == 1 else item.later_support
    wanted = hop_name(item) if hop == 1 else item.answer
    pieces = tuple(_carrying(at, item.passages[at], wanted) for at in support if item.passages[at])
    if pieces:
        return Known(True, pieces, "construction: carrying sentence")
    whole = tuple(Piece(at, text) for at, text in enumerate(item.passages) if text)
    return Known(True, whole, "construction; which passage carries it is not recorded")


def _given(item: Item, given: Any, hop: int) -> Piece:
    """Read one entry of the column ``provenance``."""

    def wrong(problem: str) -> InvalidReplay:
        return InvalidReplay(
            problem,
            code="WRONG_VALUE",
            json_path=f"$.provenance.hop{hop}",
            path=f"item {quote(item.item_id)}",
            remedy="Write the number of a passage, from 1, and a span that stands in it verbatim",
        )

    entry = given.get(f"hop{hop}") if isinstance(given, Mapping) else None
    if not isinstance(entry, Mapping):
        raise wrong("the item's provenance does not say where this hop stands")
    number, span = entry.get("passage"), entry.get("span")
    if type(number) is not int or not 1 <= number <= len(item.passages):
        raise wrong(f"{quote(number)} is no passage of this item")
    if not isinstance(span, str) or not span or span not in item.passages[number - 1]:
        raise wrong(f"the span {quote(span)} does not stand in passage {number}")
    return Piece(number - 1, span)


def _carrying(at: int, passage: str, name: str | None) -> Piece:
    """The first sentence of a passage that holds a name, or the whole passage.

    A line that is nothing but the name is a title, and states nothing.
    """
    if name:
        for found in _SENTENCE.finditer(passage):
            sentence = found.group()
            if name in sentence and sentence.strip() != name:
                return Piece(at, sentence, _occurrence(passage, sentence, found.start()))
    return Piece(at, passage)


def _occurrence(text: str, wanted: str, start: int) -> int:
    """Which occurrence, from 1 and overlaps included, stands at ``start``."""
    count, at = 1, text.find(wanted)
    while at != start:
        count, at = count + 1, text.find(wanted, at + 1)
    return count
