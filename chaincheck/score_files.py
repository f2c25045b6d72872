"""Score files: one ``{"item_id": ..., "score": number}`` a line, further keys not looked at.

Higher means more sufficient. Every score must be a finite number; what is none is refused with
its line and item.
"""

from __future__ import annotations

import hashlib
import json
import math
from array import array
from decimal import Decimal
from typing import Any

import msgspec

from chaincheck.errors import BrokenLine, DuplicateItem, InvalidScore, PathLike, quote
from chaincheck.jsonl import decode_object, decode_text, read_lines

__all__ = ["Scores", "hash_scores", "read_scores"]

_DIGITS = 16


class Scores(dict[str, float]):
    """Scores by item id, in their file's order, which know their lines."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = array("q")

    def add(self, item_id: str, score: float, line: int) -> None:
        """Take the score of an item that has none yet."""
        self[item_id] = score
        self._lines.append(line)

    def line(self, item_id: str) -> int:
        """The 1-based line on which an item's score stands.

        Raises:
            ValueError: it has no score.
        """
        return self._lines[list(self).index(item_id)]


class _Line(msgspec.Struct):
    item_id: str
    score: float


_LITERALS = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_DECODER = msgspec.json.Decoder(_Line)


def _decode(raw: bytes, path: PathLike, line: int) -> dict[str, Any]:
    """Decode a line strictly, but let a score through that is NaN or an infinite literal.

    Python writes these for a score that is none; it is the score's fault, not the line's.
    """
    try:
        return decode_object(raw, path=path, line=line)
    except BrokenLine:
        try:
            row = json.loads(raw)
        except (ValueError, RecursionError):
            row = None
        score = row.get("score") if isinstance(row, dict) else None
        if isinstance(score, float) and not math.isfinite(score):
            return dict(row)
        raise


def _strict_line(raw: bytes, path: PathLike, line: int) -> tuple[str, float]:
    """Decode a line of a score file and say exactly what is wrong with it."""
    row = _decode(raw, path, line)
    name = row.get("item_id")
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not name.strip():
        problem = "has no item_id" if name is None else f"the item_id is {quote(name)}, not text"
        raise InvalidScore(
            problem, path=path, line=line, remedy='Write {"item_id": "...", "score": number}'
        )
    if "score" not in row:
        remedy = (
            "This looks like a file of triplets: give it as --data"
            if "passages" in row
            else "Score this item, or remove the line"
        )
        raise InvalidScore("has no score", path=path, line=line, item=name, remedy=remedy)
    given = row["score"]
    value = math.nan
    if not isinstance(given, bool | str | list | dict) and given is not None:
        try:
            value = float(given)
        except OverflowError:
            value = math.inf
    if not math.isfinite(value):
        # As the file has it: null rather than None, and the digits of a number too large.
        number = isinstance(given, int | float | Decimal) and not isinstance(given, bool)
        shown = _LITERALS.get(str(given), str(given)) if number else json.dumps(given, default=str)
        raise InvalidScore(
            f"the score is {quote(shown)}, not a finite number",
            path=path,
            line=line,
            item=name,
            remedy="Score this item again, or leave it out and use --allow-missing",
        )
    return name, value


def _twice(path: PathLike, scores: Scores, repeats: list[tuple[str, int, float]]) -> DuplicateItem:
    """Write the error of items that are scored more than once."""
    name, line, score = repeats[0]
    same = "the same score" if scores[name] == score else "another score"
    others = {other for other, _, _ in repeats} - {name}
    rest = f"; so are {len(others):,} further items" if len(others) > 1 else ""
    rest = "; so is 1 further item" if len(others) == 1 else rest
    times = sum(other == name for other, _, _ in repeats) + 1
    often = "twice" if times == 2 else f"{times:,} times"
    return DuplicateItem(
        f"this item is scored {often}, on line {scores.line(name)} and here ({same}){rest}",
        path=path,
        line=line,
        item=name,
        remedy="Keep one line for each item" if rest else "Remove one of the two lines",
    )


def read_scores(path: PathLike) -> Scores:
    """Read a score file.

    Returns:
        The scores by item id, in the file's order.

    Raises:
        InvalidScore: a score is missing, null, text, true or false, NaN or infinite (also a
            number too large for a double, such as 1e999).
        DuplicateItem: an item is scored twice, be it with the same score.
        InputError: the file or a line cannot be read.
    """
    scores = Scores()
    repeats: list[tuple[str, int, float]] = []
    for line, raw in read_lines(path):
        plain = b"\\" not in raw and raw.count(b'"score"') == 1 and raw.count(b'"item_id"') == 1
        name, score = "", math.nan
        if plain:
            if not raw.isascii():
                decode_text(raw, path=path, line=line)
            try:
                found = _DECODER.decode(raw)
                name, score = found.item_id, found.score
            except (msgspec.DecodeError, RecursionError):
                plain = False
        if not plain or not math.isfinite(score) or not name.strip():
            name, score = _strict_line(raw, path, line)
        if name in scores:
            repeats.append((name, line, score))
        else:
            scores.add(name, score, line)
    if repeats:
        raise _twice(path, scores, repeats)
    return scores


def hash_scores(scores: dict[str, float]) -> str:
    """Hash scores, whatever their order: 16 hexadecimal digits of SHA-256.

    The text hashed is one line an item, sorted by item id: the id, a tab, the shortest decimal
    that gives the double back.
    """
    text = "".join(f"{name}\t{scores[name]!r}\n" for name in sorted(scores))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
