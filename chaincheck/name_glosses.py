"""Glosses on a name: its sound, its form in another language, its full or former forms.

"Ocala (/oʊˈkælə/ oh-KAL-ə)", "Golestan Province (Persian: ..., Ostan-e Golestan)", "George VI
(Albert Frederick Arthur George; 14 December 1895 – ...)". A gloss names the entity once more, so
a rename that kept it would be half a rename; what an editor does is to drop it with the name.
Dates and places in the same parentheses stay.
"""

from __future__ import annotations

import re

from chaincheck.folding import INVISIBLE, fold
from chaincheck.name_words import MONTHS

__all__ = ["glosses"]

_BLANK = f"[ \u00a0{INVISIBLE}]*"
_OPEN = re.compile(rf"{_BLANK}\(")
_SOUND = re.compile(
    r"^\s*/[^/]*/|\b[Pp]ronounced\b|\bpronunciation\b|\bIPA\b|\blisten\b|"
    r"^\s*[\[/]?[^A-Za-z]*[ˈˌ]"
)
_LANGUAGE = re.compile(
    r"^\s*(?:(?:Old|Middle|Ancient|Classical|Modern|Ottoman|Standard|Simplified|Traditional) )?"
    r"[A-Z][a-z]+(?:(?:ian|ean|ish|ese|an|ic|ch|in|ek|ew|rdu|ndi|ali|mil|ugu|hai|lay|alog|ench|erman"
    r"|utch|elsh|panish|uese|li|thi|bi)): ?\S"
)
_FORM = re.compile(
    r"^\s*(?:or|also|sometimes|alternatively|formerly|originally|previously|née|né|nee|born|"
    r"spelled|written|transliterated|romanized)\b"
)
_CAPITAL = r"[A-ZÀ-ÝŁŚŻÖÜØÅČŠŽ][\w'’.-]*"
_NAME = rf"{_CAPITAL}(?: (?:(?:de|da|do|dos|von|van|of|al|bin|the|y|e) )?{_CAPITAL})*"
_NAMES = re.compile(rf"^\s*{_NAME}\s*$")
_BORN_AS = re.compile(
    rf"^(\s*born )({_NAME}, )(?=\d|{'|'.join(m.capitalize() for m in sorted(MONTHS))})"
)
_BORN_IN = re.compile(rf"{_BLANK}was born ({_NAME} )(?=in |on |at )")


def glosses(text: str, end: int) -> tuple[tuple[int, int], ...]:
    """The spans behind a mention that gloss its name and go with it.

    Args:
        text: the passage.
        end: one past the mention, in code points.

    Returns:
        Spans in code points of the passage, in order; empty where nothing, or nothing certain,
        glosses the name.
    """
    born = _BORN_IN.match(text, end)
    if born and fold(born.group(1)).text.split()[0] not in MONTHS:
        return (born.span(1),)
    opened = _OPEN.match(text, end)
    if opened is None:
        return ()
    close = _closing(text, opened.end())
    if close is None:
        return ()
    parts = _parts(text, opened.end(), close)
    gone = [_drops(text[start:stop], alone=len(parts) == 1) for start, stop in parts]
    if all(gone):
        return ((end, close + 1),)
    spans = [
        (start, min(stop + 1 + (text[stop + 1 : stop + 2] == " "), close))
        for (start, stop), drop in zip(parts, gone, strict=True)
        if drop
    ]
    for (start, stop), drop in zip(parts, gone, strict=True):
        named = None if drop else _BORN_AS.match(text[start:stop])
        if named:
            spans.append((start + named.start(2), start + named.end(2)))
    last = parts[-1]
    if gone[-1]:
        # The separator before the last part goes with it.
        spans[-1] = (last[0] - 1, close)
    return _merged(spans)


def _merged(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The spans in order, those that touch joined."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return tuple(merged)


def _closing(text: str, start: int) -> int | None:
    """Where the parenthesis that opens before ``start`` closes, in its line."""
    depth = 1
    for position in range(start, min(len(text), start + 400)):
        if text[position] == "\n":
            return None
        depth += (text[position] == "(") - (text[position] == ")")
        if not depth:
            return position
    return None


def _parts(text: str, start: int, close: int) -> list[tuple[int, int]]:
    """The parts between semicolons."""
    parts = []
    for position in range(start, close + 1):
        if position == close or text[position] == ";":
            parts.append((start, position))
            start = position + 1
    return parts


def _drops(part: str, *, alone: bool) -> bool:
    """Whether a part of the parentheses is nothing but a gloss."""
    if re.search(r"\d", part) and not _SOUND.search(part):
        return False
    if not part.strip():
        return not alone
    if _SOUND.search(part) or _LANGUAGE.match(part):
        return True
    if _FORM.match(part):
        return not re.search(r"\b(?:in|on|at) ", part)
    # One name alone in parentheses may be a role; beside dates it is a fuller name.
    return not alone and _NAMES.match(part) is not None
