"""What a notebook shows between its figures: tables, and numbers that its prose quotes.

A table is a Markdown object, which the page renders like any table of the text, the PDF too, and
an editor as well. Numbers go into the prose by name, so that no figure is ever typed twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chaincheck.intervals import Interval

if TYPE_CHECKING:
    from IPython.display import Markdown

__all__ = ["ends", "estimate", "markdown_table", "number", "percent", "say", "span"]

_RULES = {"l": ":---", "c": ":---:", "r": "---:"}
# What the functions below print: a number, perhaps with an error or an interval; or an interval.
_NUMERIC = re.compile(r"[+−-]?[\d.,]+%?( ± [\d.,]+)?( \[[^]]*\])?|\[[^]]*\]|[–∞]|−∞")


def number(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """A number as the book prints it: fixed digits, a true minus sign, no negative zero.

    Args:
        value: the number; NaN and infinities print as "–", "∞" and "−∞".
        digits: digits after the point.
        signed: whether a positive number gets a plus sign.
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{abs(value):,.{digits}f}"
    zero = not text.strip("0.,")
    if value < 0 and not zero:
        return f"−{text}"
    return f"+{text}" if signed and not zero else text


def ends(interval: Interval, digits: int = 3, *, signed: bool = False) -> str:
    """The two ends of an interval, like "[0.054, 0.200]"."""
    low = number(interval.low, digits, signed=signed)
    return f"[{low}, {number(interval.high, digits, signed=signed)}]"


def estimate(interval: Interval, digits: int = 3, *, signed: bool = False) -> str:
    """An estimate with its interval, like "0.129 [0.054, 0.200]"."""
    value = number(interval.estimate, digits, signed=signed)
    return f"{value} {ends(interval, digits, signed=signed)}"


def percent(share: float, error: float | None = None, digits: int = 1) -> str:
    """A share in percent, like "94.8" or, with its standard error, "94.8 ± 0.5"."""
    text = number(100.0 * share, digits)
    return text if error is None else f"{text} ± {number(100.0 * error, digits)}"


def span(values: Iterable[float], digits: int = 3) -> str:
    """The smallest and the largest of some numbers, like "84.1 to 86.9"; one if they print alike.

    Raises:
        ValueError: there are no values.
    """
    found = list(values)
    if not found:
        raise ValueError("span needs at least one value")
    low, high = number(min(found), digits), number(max(found), digits)
    return low if low == high else f"{low} to {high}"


def _cell(value: object) -> str:
    text = number(value) if isinstance(value, float) else str(value)
    return text.replace("\\|", "|").replace("|", "\\|").replace("\n", " ")


def _is_numeric(value: object) -> bool:
    if isinstance(value, str):
        return _NUMERIC.fullmatch(value) is not None
    return isinstance(value, int | float)


def _alignment(columns: int, rows: Sequence[Sequence[object]], align: str | None) -> str:
    """One letter a column: as asked, or numbers to the right and everything else to the left."""
    if align is None:
        return "".join(
            "r" if rows and all(_is_numeric(row[i]) for row in rows) else "l"
            for i in range(columns)
        )
    if len(align) != columns or set(align) - set(_RULES):
        raise ValueError(f"align must be one of l, c, r for each of {columns} columns: {align!r}")
    return align


def markdown_table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], align: str | None = None
) -> Markdown:
    """A table to be the last value of a cell.

    Args:
        headers: one text a column; Markdown and mathematics are understood.
        rows: one value a column. Floats get three digits (use :func:`number` for others),
            everything else its ``str``; a bar is escaped.
        align: one letter a column, "l", "c" or "r"; by default columns of numbers stand to the
            right and the others to the left.

    Returns:
        An ``IPython.display.Markdown``.

    Raises:
        ValueError: a row of another length, or an alignment that fits no column.
    """
    from IPython.display import Markdown

    body = [tuple(row) for row in rows]
    for row in body:
        if len(row) != len(headers):
            raise ValueError(f"a row has {len(row)} values for {len(headers)} columns: {row!r}")
    rules = [_RULES[letter] for letter in _alignment(len(headers), body, align)]
    lines = [list(map(_cell, headers)), rules, *(list(map(_cell, row)) for row in body)]
    return Markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))  # type: ignore[no-untyped-call]


def say(**numbers: object) -> None:
    """Name values for the prose: ``say(gap="0.3")`` makes ``{glue:text}`gap``` print 0.3.

    Underscores become hyphens, so ``say(kit_low=...)`` is quoted as ``kit-low``. Names are
    shared by all chapters; begin them with the chapter's, like ``s3_gap``. Floats get three
    digits.
    """
    from myst_nb import glue  # type: ignore[import-untyped]

    for name, value in numbers.items():
        text = number(value) if isinstance(value, float) else str(value)
        glue(name.replace("_", "-"), text, display=False)
