"""What evaluating needs of an item file, and nothing more.

Passages are most of such a file. They are checked and forgotten line by line, and the columns
that no statistic needs are skipped undecoded, so that a file of 100,000 triplets is read in
seconds and in little memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from chaincheck.columns import flag, support_indices
from chaincheck.errors import InvalidItem, PathLike
from chaincheck.items import CELLS, decode_item, duplicate_cell, duplicate_item
from chaincheck.jsonl import decode_object, decode_text, read_lines

__all__ = ["IndexRow", "read_index"]


class IndexRow(msgspec.Struct, frozen=True):
    """One cell of one triplet without its passages.

    Attributes:
        line: its 1-based line.
        item_id, pair_id, variant, cell, query, bridge, source_id: as in ``Item``.
        flags: the yes-or-no columns that were asked for, in that order; None for null.
        present: which of those columns the row has at all.
    """

    line: int
    item_id: str
    pair_id: str
    variant: str
    cell: str
    query: str
    bridge: str | None
    source_id: str | None
    flags: tuple[bool | None, ...]
    present: tuple[bool, ...]


_NEEDED = ("item_id", "pair_id", "variant", "cell", "query", "passages")
_OPTIONAL = ("bridge", "source_id", "earlier_support", "later_support")
# A printable character written as an escape: nobody does, but a key could hide behind it.
_ESCAPED = re.compile(rb"\\u00[2-7]")
_COLON = re.compile(rb"[ \t\r\n]*:[ \t\r\n]*")
_PASSAGES_KEY = b'"passages"'
_PASSAGES = msgspec.json.Decoder(list[str])


def _row_type(columns: Sequence[str]) -> Any:
    """Make the struct that decodes the needed columns and skips the rest."""
    texts = [(name, str) for name in _NEEDED[:-1]]
    options: list[tuple[str, Any, Any]] = [
        ("bridge", str | None, None),
        ("source_id", str | None, None),
        ("earlier_support", Any, None),
        ("later_support", Any, None),
    ]
    # A column's name need not be one that Python could use for an attribute.
    flags: list[tuple[str, Any, Any]] = [
        (f"flag_{place}", Any, msgspec.UNSET) for place in range(len(columns))
    ]
    renamed = {f"flag_{place}": name for place, name in enumerate(columns)}
    return msgspec.defstruct(
        "Row",
        [*texts, ("passages", msgspec.Raw), *options, *flags],
        rename=lambda name: renamed.get(name, name),
    )


class _Reader:
    """Decodes rows of one file: fast where a row is plain, else by the strict decoder."""

    def __init__(self, path: PathLike, columns: Sequence[str]) -> None:
        self._path = path
        self._columns = tuple(columns)
        own = {*_NEEDED, *_OPTIONAL} & set(columns)
        # A column that is decoded anyway would stand in the struct twice: read such rows slowly.
        self._decoder = None if own else msgspec.json.Decoder(_row_type(columns))
        self._flags = tuple(f"flag_{place}" for place in range(len(columns)))
        self._keys = tuple(f'"{name}"'.encode() for name in (*_NEEDED, *columns))

    def read(self, raw: bytes, line: int) -> IndexRow:
        """Decode one row; raises as ``decode_object`` and ``decode_item``."""
        found = self._fast(raw, line) if self._decoder else None
        return found or self._strict(raw, line)

    def _fast(self, raw: bytes, line: int) -> IndexRow | None:
        """Decode a plain row; None for one that is not, whatever the matter is."""
        if not raw.isascii():
            decode_text(raw, path=self._path, line=line)
        assert self._decoder is not None
        try:
            row = self._decoder.decode(raw)
            if not self._keys_stand_once(raw, bytes(row.passages)):
                return None
            passages = _PASSAGES.decode(row.passages)
            support_indices(row.earlier_support, len(passages))
            support_indices(row.later_support, len(passages))
            given = [getattr(row, name) for name in self._flags]
            flags = tuple(None if value is msgspec.UNSET else flag(value) for value in given)
            plain = (
                row.cell in CELLS
                and passages
                and all(passages)
                and not any(map(str.isspace, passages))
                and row.item_id.strip()
                and row.pair_id.strip()
                and row.variant.strip()
                and row.query.strip()
            )
        except (msgspec.DecodeError, ValueError, RecursionError):
            return None
        if not plain:
            return None
        return IndexRow(
            line,
            row.item_id,
            row.pair_id,
            row.variant,
            row.cell,
            row.query,
            row.bridge,
            row.source_id,
            flags,
            tuple(value is not msgspec.UNSET for value in given),
        )

    def _keys_stand_once(self, raw: bytes, passages: bytes) -> bool:
        """Tell whether no needed key stands twice; False where that takes the strict decoder.

        The decoder takes the last of two equal keys and says nothing. A key is a quoted name
        outside the passages, so it is the rest of the line that is searched.
        """
        colon = _COLON.match(raw, raw.find(_PASSAGES_KEY) + len(_PASSAGES_KEY))
        start = colon.end() if colon else 0
        end = start + len(passages)
        if not raw.startswith(passages, start):
            return False
        rest = raw[:start] + raw[end:]
        for key in self._keys:
            if rest.count(key) > 1:
                return False
        return _ESCAPED.search(rest) is None

    def _strict(self, raw: bytes, line: int) -> IndexRow:
        row = decode_object(raw, path=self._path, line=line)
        item = decode_item(row, path=self._path, line=line)
        flags = []
        for column in self._columns:
            try:
                flags.append(flag(row.get(column)))
            except ValueError as cause:
                raise InvalidItem(
                    f"column {column} {cause}",
                    path=self._path,
                    line=line,
                    item=item.item_id,
                    remedy="Only a column of true and false can exclude triplets",
                ) from None
        return IndexRow(
            line,
            item.item_id,
            item.pair_id,
            item.variant,
            item.cell,
            item.query,
            item.bridge,
            item.source_id,
            tuple(flags),
            tuple(column in row for column in self._columns),
        )


def read_index(path: PathLike, *, columns: Sequence[str] = ()) -> Iterator[IndexRow]:
    """Yield the rows of an item file without their passages.

    Columns that evaluating does not need are not looked at: a fault in them is found when the
    file is scored or read by ``read_items``.

    Args:
        path: ``.jsonl`` or ``.jsonl.gz``.
        columns: names of yes-or-no columns to read as well.

    Raises:
        InputError: as ``read_items``.
    """
    reader = _Reader(path, columns)
    seen: dict[str, int] = {}
    cells: dict[tuple[str, str, str], int] = {}
    for line, raw in read_lines(path):
        row = reader.read(raw, line)
        cell = (row.pair_id, row.variant, row.cell)
        if row.item_id in seen:
            raise duplicate_item(row.item_id, seen[row.item_id], path=path, line=line)
        if cell in cells:
            raise duplicate_cell(row.item_id, cell, cells[cell], path=path, line=line)
        seen[row.item_id] = cells[cell] = line
        yield row
