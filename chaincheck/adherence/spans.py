"""Quotes and where they stand: offsets count Unicode code points, and a quote is verbatim.

Other programs count otherwise. JavaScript and Java count UTF-16 units, Go and Rust UTF-8 bytes,
and some normalize a text before they quote it. A span that does not fit is refused, and where it
would fit under one of these readings the message says so, with the offsets to write instead.
"""

from __future__ import annotations

import unicodedata

from chaincheck.adherence.replay import Span
from chaincheck.errors import quote
from chaincheck.refusals import Refusal, Trail

__all__ = ["check_span", "occurrences"]

_UNITS = (
    ("utf-16-le", 2, "UTF-16 units (as JavaScript and Java count)"),
    ("utf-8", 1, "UTF-8 bytes"),
)
_MOST_SHOWN = 3


def occurrences(text: str, wanted: str, most: int | None = None) -> list[int]:
    """Return the code point offsets at which ``wanted`` stands in ``text``, overlaps included.

    Args:
        text: where to look.
        wanted: what to look for, not empty.
        most: stop after this many.
    """
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0 and (most is None or len(found) < most):
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def check_span(span: Span, text: str, trail: Trail) -> None:
    """Refuse a span whose quote is not what stands at its offsets.

    Args:
        span: the span.
        text: the text of its source.
        trail: the span's place in the document.

    Raises:
        Refusal: ``SPAN_BOUNDS`` or ``SPAN_MISMATCH``; the remedy names the mistake where it can
            be recognized.
    """
    start, end = span.start, span.end
    if 0 <= start < end <= len(text):
        if text[start:end] == span.quote:
            return
        if len(span.quote) == end - start:
            problem = f"the quote {quote(span.quote)} is not what stands there: "
        else:
            problem = f"the quote has {len(span.quote)} code points, not {end - start}: "
        problem += f"{quote(text[start:end])}"
        raise Refusal("SPAN_MISMATCH", (trail, "quote"), problem, _hint(span, text))
    if start < 0:
        field, problem = "start", f"start is {_number(start)}, before the text"
    elif start >= end:
        field, problem = "end", f"end is {_number(end)}, not after start, {_number(start)}"
    else:
        field, problem = "end", f"end is {_number(end)}, but the text has {len(text)} code points"
    raise Refusal("SPAN_BOUNDS", (trail, field), problem, _hint(span, text))


def _number(value: int) -> str:
    """Spell a whole number; one of thousands of digits cannot and need not be spelled."""
    return str(value) if abs(value) < 10**18 else "a huge number"


def _hint(span: Span, text: str) -> str | None:
    """Say which mistake was made, or None where it cannot be told."""
    for encoding, width, name in _UNITS:
        data = text.encode(encoding)
        if not 0 <= span.start < span.end <= len(data) // width:
            continue
        try:
            before = data[: width * span.start].decode(encoding)
            cut = data[width * span.start : width * span.end].decode(encoding)
        except UnicodeDecodeError:
            continue
        if cut == span.quote:
            start = len(before)
            return (
                f"These offsets count {name}; in code points they are {start} to {start + len(cut)}"
            )
    found = occurrences(text, span.quote, _MOST_SHOWN + 1) if span.quote else []
    if found:
        places = [f"{at} to {at + len(span.quote)}" for at in found[:_MOST_SHOWN]]
        more = " and elsewhere" if len(found) > _MOST_SHOWN else ""
        return f"The quote stands at {', '.join(places)}{more}"
    for form in ("NFC", "NFD"):
        if span.quote and span.quote == unicodedata.normalize(form, span.quote):
            there = unicodedata.normalize(form, text)
            if span.quote in there:
                return (
                    f"The quote is normalized ({form}) and the text is not; copy it from the text "
                    "as it is"
                )
    if span.quote and unicodedata.normalize("NFC", span.quote) in unicodedata.normalize(
        "NFC", text
    ):
        return "The text writes these characters in another normal form; copy them from there"
    return None
