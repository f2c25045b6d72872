"""Items, triplets and score files: decoded strictly, written deterministically."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["CELLS", "VARIANTS", "Edit", "Item"]

CELLS = ("A", "B", "D", "C")
VARIANTS = ("real", "fict", "decoy")


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One renamed span.

    Offsets are Unicode code points into the UNEDITED passage (the one of cell A), so
    ``passages_A[passage][start:end] == before``. Replacing every span of a passage from right to
    left gives the edited passage.
    """

    passage: int
    start: int
    end: int
    before: str
    after: str


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One cell of one triplet: a question, a context and what was done to it.

    Attributes:
        item_id: content hash of the row.
        pair_id: content hash that the cells of one triplet of one variant share.
        variant: where the replacement comes from: "real", "fict" or "decoy".
        cell: "A", "B", "D" or "C".
        query: the question.
        passages: the context, one string a passage.
        answer, bridge, replacement: names.
        chain: "intact" or "broken".
        edit: whether a name was changed.
        earlier_support, later_support: passage indices.
        label_sufficient: whether the context suffices.
        cb_27b_correct: whether the 27B reference answers the question closed-book.
        source: name of the data set.
        source_id: the source record's own id.
        link: which hop is broken, 2 for a two-hop question.
        edits: every renamed span.
        extra: unknown columns, kept as they came.
    """

    item_id: str
    pair_id: str
    variant: str
    cell: str
    query: str
    passages: tuple[str, ...]
    answer: str | None = None
    bridge: str | None = None
    replacement: str | None = None
    chain: str | None = None
    edit: bool | None = None
    earlier_support: tuple[int, ...] = ()
    later_support: tuple[int, ...] = ()
    label_sufficient: bool | None = None
    cb_27b_correct: bool | None = None
    source: str | None = None
    source_id: str | None = None
    link: int | None = None
    edits: tuple[Edit, ...] = ()
    extra: dict[str, Any] = {}
