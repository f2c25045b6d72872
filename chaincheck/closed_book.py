"""Which questions a judge answers without any passage, as a column of the triplets.

Such questions say little about reading: whoever knows the answer needs no chain. The column
holds true, false or null in every row and is what ``--exclude-column`` takes.

The answers come in a file of one object a line (or one array). Each row names what it is about,
by ``item_id``, ``pair_id``, ``source_id`` or ``query`` (``question`` will do), the first of
these that the first row has; and it says what came of it, by the first of

- ``correct``: true, false, 0, 1 or null (not known);
- ``answer``: what was answered, as text. It is right if the triplet's own answer, or one of a
  list ``answer_aliases`` in the row, stands in it as whole words, whatever their case and
  accents. This is lenient ("Paris or Lyon" names Paris), so it rather drops a triplet too many
  than keeps one whose answer was known;
- ``score``: a number, right from a threshold on, which must be named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec

from chaincheck.atomic import refuse_clashes
from chaincheck.columns import flag
from chaincheck.errors import (
    DuplicateItem,
    InvalidItem,
    MissingScore,
    PathLike,
    UnknownScore,
    UsageError,
    quote,
)
from chaincheck.items import Item, read_items, write_items
from chaincheck.jsonl import read_objects

__all__ = ["ClosedBookSummary", "add_closed_book"]

_KEYS = ("item_id", "pair_id", "source_id", "query", "question")
_VALUES = ("correct", "answer", "score")
_SETTABLE = "cb_27b_correct"  # the one column of items that says the same thing


@dataclass(frozen=True)
class ClosedBookSummary:
    """What was added to a file.

    Attributes:
        column: name of the column.
        key: what the answers were matched by.
        items: rows written.
        known: different questions answered without passages.
        unknown: different questions not so answered.
        untold: different questions of which the answers say nothing.
        unused: answers about nothing in the data.
        out: the file written.
    """

    column: str
    key: str
    items: int
    known: int
    unknown: int
    untold: int
    unused: int
    out: str

    def to_json(self) -> str:
        """The summary as one JSON object."""
        return msgspec.json.encode(self).decode()

    def to_text(self) -> str:
        """The summary as a few lines."""
        total = self.known + self.unknown + self.untold
        lines = [
            f"{self.out}: {self.items:,} items; {self.known:,} of {total:,} questions are answered "
            f"without passages (column {self.column})"
        ]
        if self.untold:
            lines.append(f"no answer is known for {self.untold:,} questions: null there")
        if self.unused:
            lines.append(f"{self.unused:,} answers are about nothing in the data")
        lines.append(f"leave them out with --exclude-column {self.column}")
        return "\n".join(lines)


@dataclass
class _Answers:
    """The answers by what they are about, and which of them were used."""

    path: PathLike
    key: str
    threshold: float | None
    rows: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def correct(self, item: Item) -> bool | None:
        """Whether an item's question was answered; None where that is not known.

        Raises:
            KeyError: no row is about the item.
        """
        name = getattr(item, "query" if self.key == "question" else self.key)
        line, row = self.rows[name]
        self.used.add(name)
        try:
            return _verdict(row, item, self.threshold)
        except ValueError as cause:
            raise InvalidItem(
                str(cause), path=self.path, line=line, item=name, remedy="Correct this row"
            ) from None


def _verdict(row: Mapping[str, Any], item: Item, threshold: float | None) -> bool | None:
    if "correct" in row:
        try:
            return flag(row["correct"])
        except ValueError as cause:
            raise ValueError(f"column correct {cause}") from None
    if "answer" in row:
        return _names_the_answer(row["answer"], row.get("answer_aliases"), item)
    if "score" not in row:
        raise ValueError(f"has none of {', '.join(_VALUES)}")
    score = row["score"]
    number = isinstance(score, int | float | Decimal) and not isinstance(score, bool)
    if not number or not math.isfinite(score):
        raise ValueError(f"the score is {quote(score)}, not a finite number")
    if threshold is None:
        raise ValueError("has a score, but no threshold says from where on it is right")
    return bool(score >= threshold)


def _names_the_answer(given: object, aliases: object, item: Item) -> bool | None:
    # Its tables of names are needed for answers as text only.
    from chaincheck.mentions import stands

    if given is None:
        return None
    if not isinstance(given, str):
        raise ValueError(f"column answer should be text or null, not {quote(given)}")
    if item.answer is None:
        raise ValueError("gives an answer as text, but the triplet's own answer is null")
    names = [] if aliases is None else aliases
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"column answer_aliases should be a list of texts, not {quote(aliases)}")
    return any(stands(given, name) for name in (item.answer, *names))


def _read_answers(path: PathLike, threshold: float | None) -> _Answers:
    found: _Answers | None = None
    for line, row in read_objects(path):
        if found is None:
            key = next((name for name in _KEYS if name in row), None)
            if key is None:
                raise InvalidItem(
                    f"has none of {', '.join(_KEYS)}",
                    path=path,
                    line=line,
                    remedy="Say in one of these columns what each answer is about",
                )
            found = _Answers(path, key, threshold)
        name = row.get(found.key)
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name.strip():
            raise InvalidItem(
                f"column {found.key} should be text, not {quote(name)}", path=path, line=line
            )
        if name in found.rows:
            raise DuplicateItem(
                f"this {found.key} stands twice",
                path=path,
                line=line,
                item=name,
                remedy="Remove one of the two rows",
            )
        kept = {name: row[name] for name in (*_VALUES, "answer_aliases") if name in row}
        found.rows[name] = (line, kept)
    assert found is not None  # read_objects refuses a file without records
    return found


def _check_column(column: str) -> None:
    if not column.strip():
        raise UsageError("the column has no name", remedy="Name it, such as closed_book_correct")
    if column in Item.__struct_fields__ and column != _SETTABLE:
        raise UsageError(
            f"{column} is a column of every triplet file", remedy="Choose another name"
        )


def add_closed_book(
    data: PathLike,
    answers: PathLike,
    out: PathLike,
    *,
    column: str = "closed_book_correct",
    threshold: float | None = None,
    allow_missing: bool = False,
    replace: bool = False,
) -> ClosedBookSummary:
    """Write a triplet file with a yes-or-no column that says which questions were answered.

    Items stream; what is held in memory are the answers. Every other column is kept, the rows
    stay in their order, and the same input gives the same bytes. ``out`` may be ``data``.

    Args:
        data: triplets.
        answers: what was answered without passages, see the module.
        out: triplets with the column.
        column: its name.
        threshold: score from which on an answer counts as right.
        allow_missing: write null for a question without an answer instead of refusing it.
        replace: write over a column of that name.

    Raises:
        MissingScore: a question has no answer, without ``allow_missing``.
        UnknownScore: no answer is about anything in the data.
        UsageError: a name that no column may have.
        InputError: the data or the answers cannot be used.
        UnwritableOutput: the output cannot be written.
    """
    _check_column(column)
    refuse_clashes([out], [answers])
    table = _read_answers(answers, threshold)
    verdicts: dict[str, bool | None] = {}

    def rows() -> Iterator[Item]:
        for item in read_items(data):
            yield _with_column(item, column, verdict(item), data, replace=replace)
        if not table.used:
            raise UnknownScore(
                f"no {table.key} of these answers stands in {data}",
                path=answers,
                remedy=f"Give the answers to the questions of {data}",
            )

    def verdict(item: Item) -> bool | None:
        try:
            found = table.correct(item)
        except KeyError:
            if not allow_missing:
                raise MissingScore(
                    f"no answer for this item of {data}, looked for by {table.key}",
                    path=answers,
                    item=item.item_id,
                    remedy="Answer it, or write null for such questions with --allow-missing",
                ) from None
            found = None
        # Any row in which it is true excludes the triplet, so true outweighs false and null.
        verdicts[item.query] = _outweighed(verdicts.get(item.query), found)
        return found

    items = write_items(out, rows())
    outcomes = list(verdicts.values())
    return ClosedBookSummary(
        column=column,
        key=table.key,
        items=items,
        known=outcomes.count(True),
        unknown=outcomes.count(False),
        untold=outcomes.count(None),
        unused=len(table.rows) - len(table.used),
        out=str(out),
    )


def _outweighed(before: bool | None, now: bool | None) -> bool | None:
    if before is None or now is None:
        return now if before is None else before
    return before or now


def _with_column(
    item: Item, column: str, value: bool | None, data: PathLike, *, replace: bool
) -> Item:
    has = item.cb_27b_correct is not None if column == _SETTABLE else column in item.extra
    if has and not replace:
        raise InvalidItem(
            f"has a column {column} already",
            path=data,
            item=item.item_id,
            remedy="Name another column, or write over it with --replace",
        )
    if column == _SETTABLE:
        return msgspec.structs.replace(item, cb_27b_correct=value)
    return msgspec.structs.replace(item, extra={**item.extra, column: value})
