"""Items and triplets: decoded strictly, written deterministically.

One row of an item file is one cell of one triplet. The columns are those of the public kit and
our own; a column that is neither is kept and written back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from chaincheck.atomic import write_lines
from chaincheck.columns import (
    chain_state,
    flag,
    hop_number,
    identifier,
    optional_text,
    passage_list,
    support_indices,
    text,
)
from chaincheck.errors import DuplicateItem, IncompleteTriplet, InvalidItem, PathLike, quote
from chaincheck.jsonl import decode_object, read_lines

__all__ = [
    "CELLS",
    "VARIANTS",
    "Edit",
    "Item",
    "Triplet",
    "content_hash",
    "decode_item",
    "encode_item",
    "group_triplets",
    "read_items",
    "read_triplets",
    "write_items",
]

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
        extra: unknown columns, kept as they came: values, types and digits. A published support
            column that holds true or false, which names no passage, is kept here too.
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


class Triplet(msgspec.Struct, frozen=True, kw_only=True):
    """The cells of one question in one variant.

    Attributes:
        pair_id: what the cells share.
        variant: "real", "fict" or "decoy".
        cells: the items by cell.
    """

    pair_id: str
    variant: str
    cells: dict[str, Item]


_COLUMNS = tuple(name for name in Item.__struct_fields__ if name != "extra")
_KNOWN = frozenset(_COLUMNS)
_SUPPORTS = ("earlier_support", "later_support")
_ENCODER = msgspec.json.Encoder(decimal_format="number")


def content_hash(value: object, *, length: int = 16) -> str:
    """Hash a JSON-like value: the ids of items and pairs.

    Args:
        value: anything that msgspec encodes; the order of keys does not matter.
        length: how many hexadecimal digits to keep.
    """
    canonical = msgspec.json.encode(value, order="sorted")
    return hashlib.sha256(canonical).hexdigest()[:length]


def _edits(value: object, passages: int) -> tuple[Edit, ...]:
    if value is None:
        return ()
    try:
        edits = msgspec.convert(value, tuple[Edit, ...])
    except msgspec.ValidationError as cause:
        raise ValueError(f"not a list of edits: {cause}") from None
    for edit in edits:
        if not 0 <= edit.passage < passages:
            raise ValueError(f"passage {edit.passage} is out of range: there are {passages}")
        if not 0 <= edit.start < edit.end or len(edit.before) != edit.end - edit.start:
            raise ValueError(f"the span {edit.start}-{edit.end} does not fit {quote(edit.before)}")
    return edits


def _cell(value: object) -> str:
    if value in CELLS:
        return str(value)
    raise ValueError(f"should be one of {', '.join(CELLS)}, not {quote(value)}")


_READERS = {
    "item_id": identifier,
    "pair_id": identifier,
    "variant": text,
    "cell": _cell,
    "query": text,
    "passages": passage_list,
    "answer": optional_text,
    "bridge": optional_text,
    "replacement": optional_text,
    "chain": chain_state,
    "edit": flag,
    "label_sufficient": flag,
    "cb_27b_correct": flag,
    "source": optional_text,
    "source_id": optional_text,
    "link": hop_number,
}
_REQUIRED = ("item_id", "pair_id", "variant", "cell", "query", "passages")


def decode_item(row: Mapping[str, Any], *, path: PathLike, line: int) -> Item:
    """Decode one row.

    Args:
        row: the decoded object.
        path: the file, for messages.
        line: its line, for messages.

    Raises:
        InvalidItem: a column is missing or holds what it may not hold.
    """
    name = row.get("item_id")
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {key: row[key] for key in row if key not in _KNOWN}
    column = ""
    try:
        for column in _REQUIRED:
            if column not in row:
                raise ValueError("is missing")
        for column, read in _READERS.items():
            if column in row:
                values[column] = read(row[column])
        passages = len(values["passages"])
        for column in _SUPPORTS:
            value = row.get(column)
            values[column] = support_indices(value, passages)
            if isinstance(value, bool):
                extra[column] = value
        column = "edits"
        values[column] = _edits(row.get(column), passages)
    except ValueError as cause:
        raise InvalidItem(
            f"column {column} {cause}",
            path=path,
            line=line,
            item=name,
            remedy="Correct this row, or build the file again",
        ) from None
    return Item(**values, extra=extra)


def _indices_out(indices: Sequence[int]) -> int | list[int] | None:
    if len(indices) == 1:
        return indices[0]
    return list(indices) or None


def encode_item(item: Item) -> bytes:
    """Encode an item as one line of JSON, without its line feed.

    Keys stand in the order of ``Item``'s attributes, every column is written, unknown columns
    follow in alphabetical order. A support column holds one index as a number, several as a
    list, none as null.
    """
    row: dict[str, Any] = {column: getattr(item, column) for column in _COLUMNS}
    for column in _SUPPORTS:
        row[column] = _indices_out(row[column])
    for key in sorted(item.extra):
        if key not in _KNOWN or (key in _SUPPORTS and row[key] is None):
            row[key] = item.extra[key]
    return _ENCODER.encode(row)


def read_items(path: PathLike) -> Iterator[Item]:
    """Yield the items of a ``.jsonl`` or ``.jsonl.gz`` file, one at a time.

    Raises:
        InputError: the file, a line or a row is at fault; ``DuplicateItem`` for an item id or a
            cell of a triplet that stands twice.
    """
    seen: dict[str, int] = {}
    cells: dict[tuple[str, str, str], int] = {}
    for line, raw in read_lines(path):
        item = decode_item(decode_object(raw, path=path, line=line), path=path, line=line)
        cell = (item.pair_id, item.variant, item.cell)
        if item.item_id in seen:
            raise duplicate_item(item.item_id, seen[item.item_id], path=path, line=line)
        if cell in cells:
            raise duplicate_cell(item.item_id, cell, cells[cell], path=path, line=line)
        seen[item.item_id] = cells[cell] = line
        yield item


def duplicate_item(item_id: str, first: int, *, path: PathLike, line: int) -> DuplicateItem:
    """Write the error of an item id that stood on line ``first`` already."""
    return DuplicateItem(
        f"this item_id stands twice, first on line {first}",
        path=path,
        line=line,
        item=item_id,
        remedy="Remove one of the two rows",
    )


def duplicate_cell(
    item_id: str, cell: tuple[str, str, str], first: int, *, path: PathLike, line: int
) -> DuplicateItem:
    """Write the error of a triplet that has one cell twice, first on line ``first``.

    ``cell`` is (pair, variant, cell).
    """
    return DuplicateItem(
        f"cell {cell[2]} of pair {quote(cell[0])}, variant {quote(cell[1])}, stands twice, "
        f"first on line {first}",
        path=path,
        line=line,
        item=item_id,
        remedy="Remove one of the two rows",
    )


def incomplete(
    pair_id: str,
    variant: str,
    lacking: Sequence[str],
    item_id: str,
    *,
    path: PathLike,
    line: int | None,
    remedy: str = "Add the missing rows, or leave such triplets out of the file",
) -> IncompleteTriplet:
    """Write the error of a triplet that lacks cells; ``line`` is its first row's."""
    cells = "cell" if len(lacking) == 1 else "cells"
    return IncompleteTriplet(
        f"pair {quote(pair_id)}, variant {quote(variant)}, has no {cells} {', '.join(lacking)}",
        path=path,
        line=line,
        item=item_id,
        remedy=remedy,
    )


def write_items(path: PathLike, items: Iterable[Item]) -> int:
    """Write items to a ``.jsonl`` or ``.jsonl.gz`` file, whole or not at all.

    The same items give the same bytes.

    Returns:
        How many were written.

    Raises:
        UnwritableOutput: the path cannot be written; it is left as it was.
    """
    return write_lines(path, (encode_item(item) for item in items))


def group_triplets(items: Iterable[Item]) -> list[Triplet]:
    """Gather items into triplets, in the order of their first items; none is checked."""
    groups: dict[tuple[str, str], dict[str, Item]] = {}
    for item in items:
        groups.setdefault((item.pair_id, item.variant), {})[item.cell] = item
    return [
        Triplet(pair_id=pair_id, variant=variant, cells=cells)
        for (pair_id, variant), cells in groups.items()
    ]


def read_triplets(path: PathLike, *, cells: Sequence[str] = ("A", "B", "D")) -> list[Triplet]:
    """Read a file of items as triplets.

    Args:
        path: the file.
        cells: what each triplet must have.

    Raises:
        InputError: as ``read_items``; ``IncompleteTriplet`` for a triplet that lacks a cell.
    """
    triplets = group_triplets(read_items(path))
    for triplet in triplets:
        lacking = [cell for cell in cells if cell not in triplet.cells]
        if lacking:
            first = next(iter(triplet.cells.values()))
            raise incomplete(
                triplet.pair_id, triplet.variant, lacking, first.item_id, path=path, line=None
            )
    return triplets
