"""What the readers of the data sets share: typed access to a record, and telling data sets apart.

A column of the wrong type is an error of the file, named with its line and the record's id. A
record that is well formed and of no use is not: its reader says so with ``Unusable``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from chaincheck.errors import InvalidItem, PathLike, WrongSource, quote

__all__ = ["NoChain", "Record", "Rows", "recognize"]

Rows = Callable[[], Iterable[tuple[int, dict[str, Any]]]]
"""Gives a file's rows, each with its line, from the start at every call."""

_TWOWIKI_TYPES = ("compositional", "inference", "comparison", "bridge_comparison")
_HOTPOT_TYPES = ("bridge", "comparison")


def recognize(row: Mapping[str, Any]) -> str | None:
    """Tell which data set a record belongs to by its columns; None if it is none known."""
    found = None
    if {"item_id", "cell", "pair_id"} <= row.keys():
        found = "items"
    elif set(row) == {"item_id", "score"}:
        found = "scores"
    elif "paragraphs" in row and "question" in row:
        found = "musique"
    elif "context" in row and "question" in row:
        if "evidences" in row or "evidence" in row or row.get("type") in _TWOWIKI_TYPES[:2]:
            found = "twowiki"
        elif row.get("type") in _HOTPOT_TYPES or "supporting_facts" in row:
            found = "hotpot"
    elif "passages" in row and "bridge" in row:
        found = "documents"
    return found


_REMEDIES = {
    "items": "It holds triplets already: score it with chaincheck score",
    "scores": "It holds scores: give it to chaincheck evaluate --scores",
    None: "Check what the file is",
}


class NoChain(Exception):
    """A well-formed record that yields no chain: what its ``Unusable`` will say."""

    def __init__(self, code: str, reason: str) -> None:
        self.code = code
        self.reason = reason
        super().__init__(reason)


class Record:
    """One record of a source file, with its place for messages.

    Args:
        row: the decoded object.
        path: the file.
        line: the line on which the record starts.
        source: name of the reader.
        id_columns: columns that may hold the record's id; the first that is there counts.

    Raises:
        WrongSource: the record is one of another data set.
        InvalidItem: it has no id.
    """

    def __init__(
        self,
        row: Mapping[str, Any],
        *,
        path: PathLike,
        line: int,
        source: str,
        id_columns: tuple[str, ...] = ("id", "_id"),
    ) -> None:
        self.row = row
        self.path = path
        self.line = line
        self.source = source
        self.source_id = ""
        other = recognize(row)
        # A user's own row that lacks a column is a faulty row, not a row of something else.
        if other != source and not (other is None and source == "documents"):
            found = f"one of {other}" if other else "of no data set known here"
            raise WrongSource(
                f"not a record of {source} but {found}: its columns are "
                f"{quote(', '.join(sorted(row)))}",
                path=path,
                line=line,
                remedy=_REMEDIES.get(other, f"Read it with --source {other}"),
            )
        for column in id_columns:
            if column in row:
                self.source_id = self.text(column)
                break
        else:
            self.fail(f"has no {' or '.join(id_columns)}")

    def fail(self, problem: str) -> NoReturn:
        """Raise the error of this record."""
        raise InvalidItem(
            problem,
            path=self.path,
            line=self.line,
            item=self.source_id or None,
            remedy=f"Correct or remove this record, or copy the {self.source} file again",
        )

    def get(self, column: str) -> Any:
        """Return a column that must be there."""
        if column not in self.row:
            self.fail(f"column {column} is missing")
        return self.row[column]

    def text(self, column: str) -> str:
        """Return a column that must hold text that is not blank."""
        return self.as_text(self.get(column), f"column {column}")

    def rows(self, column: str) -> list[Any]:
        """Return a column that must hold a list."""
        return self.as_list(self.get(column), f"column {column}")

    def as_text(self, value: object, what: str) -> str:
        """Check that a value is text that is not blank."""
        if not isinstance(value, str) or not value.strip():
            self.fail(f"{what} should be text that is not blank, not {quote(value)}")
        return value

    def as_list(self, value: object, what: str) -> list[Any]:
        """Check that a value is a list."""
        if not isinstance(value, list):
            self.fail(f"{what} should be a list, not {quote(value)}")
        return value

    def as_object(self, value: object, what: str) -> dict[str, Any]:
        """Check that a value is an object."""
        if not isinstance(value, dict):
            self.fail(f"{what} should be an object, not {quote(value)}")
        return value

    def as_index(self, value: object, what: str) -> int:
        """Check that a value is a whole number, not negative."""
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            self.fail(f"{what} should be a whole number from 0, not {quote(value)}")
        return value

    def texts(self, value: object, what: str) -> tuple[str, ...]:
        """Check that a value is a list of texts; null and blank texts count as none."""
        if value is None:
            return ()
        found = self.as_list(value, what)
        if not all(isinstance(text, str) for text in found):
            self.fail(f"{what} should be a list of texts, not {quote(value)}")
        return tuple(text for text in found if text.strip())
