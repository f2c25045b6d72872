"""Whether a name that stands in a text is the name itself or a part of a longer one.

"Paris" in "In Paris Hemingway wrote", "Paris Hilton" and "Treaty of Paris" is three things. The
functions here look at the words beside a match and say why it may not be one; doubt counts
against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chaincheck import gazetteer
from chaincheck.demonyms import is_place_word
from chaincheck.folding import visible
from chaincheck.name_words import (
    BASED,
    CLUBS,
    CORPORATE,
    DESCRIBED_OF,
    FUNCTION,
    GENERATION,
    GENERIC,
    HONORIFICS,
    KIN,
    MONTHS,
    NAMED_OF,
    PREFIXES,
    ROLES,
    ROMAN,
)
from chaincheck.names import Kind, Token

__all__ = [
    "as_adjective",
    "in_title",
    "lengthened",
    "listed",
    "plain_heading",
    "quoted_title",
    "sentence_start",
]


def sentence_start(found: Sequence[Token], at: int) -> bool:
    """Whether the token at ``at`` begins a sentence, a line or a quotation."""
    gap = found[at].gap
    return at == 0 or "\n" in gap or bool(re.search(r"[.!?:;\"(\[-]", gap.replace("' ", "")))


def in_title(text: str, position: int) -> bool:
    """Whether a position lies in the first of several lines, which holds the title."""
    end = text.find("\n")
    return 0 <= position < end


def lengthened(
    text: str, found: Sequence[Token], start: int, end: int, kind: Kind | None
) -> str | None:
    """Why the tokens ``[start, end)`` may be a part of a longer name, or None.

    Args:
        text: the passage.
        found: its tokens.
        start: first token of the match.
        end: one past its last token.
        kind: kind of the entity that is sought.

    Returns:
        A reason, or None where the match certainly stands for itself.
    """
    return _left(text, found, start, end, kind) or _right(text, found, start, end, kind)


_QUOTED = re.compile(r"\"([^\"\n]{1,80})\"|“([^”\n]{1,80})”|``\s?([^`'\n]{1,80}?)\s?''")


def quoted_title(text: str, start: int, end: int) -> str | None:
    """Whether a mention stands, with other words, in quotation marks as titles do."""
    before = visible(text[text.rfind("\n", 0, start) + 1 : start])
    name = visible(text[start:end])
    line = before + name + visible(text[end : end + 90])
    for match in _QUOTED.finditer(line):
        if match.start() < len(before) and len(before) + len(name) < match.end():
            inside = next(group for group in match.groups() if group).strip(" ,.")
            words = inside.split()
            plain = name == inside.removesuffix("'s")
            if not plain and len(words) <= 10 and words[0][:1].isupper():
                return "in a quoted title"
    return None


_ONE_OF = re.compile(r"\b(?:an?|the|his|her|its|their|first|famous|former) $")
_NOUN = re.compile(r" ([a-z][a-z-]+)")
_COMPOUND = re.compile(r" ?[-–] ?[A-Z]")
# Nouns that a country's adjective stands before ("New Zealand film", "New Zealand soap opera").
_OF_A_COUNTRY = frozenset(
    ["film", "films", "movie", "television", "tv", "soap", "born", "rock", "pop", "folk",
     "jazz", "punk", "indie", "professional", "amateur", "retired", "rugby", "cricket", "football",
     "soccer", "political", "politician", "band", "bands", "drama", "comedy", "horror", "record",
     "stage", "novel", "album", "song", "artist", "artists", "woman", "man"]
)  # fmt: skip


def as_adjective(text: str, start: int, end: int) -> str | None:
    """Whether a country's name stands for its adjective, as "New Zealand" and few others do.

    "A New Zealand film", "the New Zealand soap opera", "New Zealand-American": of another country
    one says "a Senegalese film", so that the name cannot be put there.
    """
    name = visible(text[start:end]).casefold().removeprefix("the ")
    if gazetteer.sort_of(name) != "country":
        return None
    behind = visible(text[end : end + 40])
    if _COMPOUND.match(behind):
        return "half of a compound adjective"
    noun = _NOUN.match(behind)
    if noun is None or noun.group(1) in FUNCTION | _CONTINUING:
        return None
    one_of = _ONE_OF.search(visible(text[max(0, start - 12) : start]))
    known = noun.group(1) in _OF_A_COUNTRY or noun.group(1) in ROLES
    if known or (one_of and one_of.group().strip() in ("a", "an")):
        return "stands for an adjective"
    return None


def _left(  # noqa: PLR0911 - a ladder of cases
    text: str, found: Sequence[Token], start: int, end: int, kind: Kind | None
) -> str | None:
    first = found[start]
    if not start:
        return None
    before = found[start - 1]
    if first.gap in ("-", "'") and not before.possessive:
        plain = before.word in PREFIXES and not before.capitalized
        return None if plain and first.gap == "-" else "joined to the word before it"
    if before.possessive:
        owner = before.capitalized and in_title(text, first.start)
        return "follows a possessive in the title" if owner else None
    dotted = first.gap == ". " and (len(before.word) == 1 or before.word in HONORIFICS)
    if dotted:
        person = kind in ("person", None) and before.word in HONORIFICS
        return None if person else "follows an initial or an abbreviation"
    if not first.adjacent:
        return None
    if before.capitalized:
        return _capital_before(found, start, end, kind)
    return _linked_before(found, start, kind)


def _capital_before(  # noqa: PLR0911 - a ladder of cases
    found: Sequence[Token], start: int, end: int, kind: Kind | None
) -> str | None:
    word = found[start - 1].word
    opens = sentence_start(found, start - 1)
    if word in FUNCTION or word in MONTHS:
        return None
    if kind == "person" and (word in HONORIFICS or word in ROLES or word in KIN):
        return None
    size = end - start
    if [token.word for token in found[max(0, start - size) : start]] == [
        token.word for token in found[start:end]
    ]:
        return None
    if kind == "organization" and (word in CLUBS or _nation(found, start)):
        return None
    letters = found[start - 1].surface
    if kind == "place" and letters.isupper() and 1 < len(letters) < 5 and word not in CLUBS:
        return None
    if opens and (word in ROLES or word.endswith(("ing", "ed", "ly"))):
        return None
    if kind == "person" and end - start > 1 and _apposed(found, start, end):
        return None
    if kind in ("organization", "other", None) and end - start > 1 and listed(found, start, end):
        return None
    return "follows a capitalized word"


def _nation(found: Sequence[Token], start: int) -> bool:
    """Whether a country's whole name stands before ("the United States Census Bureau")."""
    if start < 2:
        return False
    return is_place_word(f"{found[start - 2].word} {found[start - 1].word}")


def _apposed(found: Sequence[Token], start: int, end: int) -> bool:
    """Whether a person's whole name stands behind a title or in a list without commas.

    "Microsoft CEO Bill Gates", "Governor of Alabama Robert Bentley", "Starring John Payne Natalie
    Wood Edmund Gwenn".
    """
    before = found[start - 1]
    if before.surface.isupper() and len(before.surface) > 1 and "." not in before.surface:
        return True
    named = is_place_word(before.word) or before.word == "year"
    if start > 1 and found[start - 2].word in ("of", "the") and named:
        return True
    return listed(found, start, end)


def listed(found: Sequence[Token], start: int, end: int) -> bool:
    """Whether a whole name stands in a long row of capitalized words, as info boxes give them."""
    first, last = start, end
    while first > 0 and found[first].adjacent and _in_row(found[first - 1]):
        first -= 1
    while last < len(found) and found[last].adjacent and _in_row(found[last]):
        last += 1
    return (last - first) - (end - start) >= 5


def plain_heading(text: str, found: Sequence[Token], end: int) -> bool:
    """Whether a page's name that opens its text is a heading, as of an info box.

    "Meg Griffin Family Guy character First appearance ..."; not where the words behind it belong
    to a longer name or give the name in another language ("Venice Italian: Venezia").
    """
    after = found[end]
    if after.word in GENERIC | GENERATION | ROMAN:
        return False
    return re.match(r"\s*:", text[after.end :]) is None


def _in_row(token: Token) -> bool:
    # "Mickey Rooney as Tod Kurt Russell as Copper": casts are given in one row.
    return token.capitalized or token.word == "as" or token.word.isdigit()


def _linked_before(  # noqa: PLR0911 - a ladder of cases
    found: Sequence[Token], start: int, kind: Kind | None
) -> str | None:
    link = found[start - 1]
    if link.surface == "&":
        return "joined by an ampersand"
    if start < 2 or link.word not in ("of", "for", "with") or not link.adjacent:
        return None
    at = start - 2
    head = found[at]
    if not head.capitalized or head.word in DESCRIBED_OF | KIN | ROLES | FUNCTION | MONTHS:
        return None
    if head.word.endswith(("ing", "ed", "ly")) and sentence_start(found, at):
        return None
    named = head.word in NAMED_OF and not (kind == "person" and head.word == "god")
    if link.word == "of" and kind in ("person", "organization") and not named:
        return None
    titled = at > 0 and found[at].adjacent and found[at - 1].word in ("the", "a", "an")
    titled = titled and found[at - 1].capitalized and not sentence_start(found, at - 1)
    if link.word == "of" and kind == "place" and head.word not in NAMED_OF | GENERIC | _TITLES:
        return None if not titled else "in a title"
    return f"follows a capitalized word and '{link.word}'"


_CONTINUING = frozenset(
    ["of", "de", "von", "di", "bint", "bin", "ibn", "ben", "van", "der", "zu", "af", "av", "del",
     "da", "dos"]
)  # fmt: skip
_TITLES = frozenset(
    ["declaration", "siege", "voice", "spirit", "pride", "merchant", "wolf", "birds", "wizard",
     "straits", "horn", "cape", "birth", "sack", "conquest", "convention", "accord", "peace"]
)  # fmt: skip


def _right(  # noqa: PLR0911 - a ladder of cases
    text: str, found: Sequence[Token], start: int, end: int, kind: Kind | None
) -> str | None:
    if end >= len(found):
        return None
    last, after = found[end - 1], found[end]
    if last.possessive:
        if not (after.capitalized and after.adjacent) or after.word in FUNCTION:
            return None
        clear = (kind == "person" and end - start > 1) or kind == "place"
        if clear and not in_title(text, last.start) and '"' not in found[start].gap:
            return None
        return "a possessive before a capitalized word"
    if after.gap in ("-", "'"):
        plain = after.gap == "-" and after.word in BASED and not after.capitalized
        return None if plain else "joined to the word after it"
    if kind not in ("person", None):
        return _adjacent_after(found, start, end, kind) if after.adjacent else None
    numbered = any(token.word in GENERATION for token in found[start:end])
    if (
        after.gap.startswith(",")
        and not numbered
        and (after.word in GENERATION or (after.word in ROMAN and len(after.word) > 1))
    ):
        return "another generation of the name"
    return _adjacent_after(found, start, end, kind) if after.adjacent else None


def _adjacent_after(  # noqa: PLR0911, PLR0912 - a ladder of cases
    found: Sequence[Token], start: int, end: int, kind: Kind | None
) -> str | None:
    after = found[end]
    if after.surface == "&":
        return "joined by an ampersand"
    if after.capitalized:
        if after.word in CORPORATE and kind in ("organization", None):
            return None
        if (
            kind == "place"
            and end - start == 1
            and after.word in ("province", "prefecture", "island")
        ):
            return None
        if kind in ("person", "organization") and end - start > 1:
            again = [token.word for token in found[end : end + end - start]]
            if again == [token.word for token in found[start:end]]:
                return None
            honors = after.surface.isupper() and 1 < len(after.surface) < 6
            if honors and after.word not in ROMAN:
                return None
            if after.word not in GENERIC | GENERATION | ROMAN and listed(found, start, end):
                return None
        if after.word in FUNCTION and after.word not in ROMAN:
            return None
        return "followed by a capitalized word"
    if after.surface[:1].isdigit() and kind != "person":
        return "followed by a number"
    if (
        kind in ("person", None)
        and after.word == "the"
        and end + 1 < len(found)
        and found[end + 1].capitalized
    ):
        return "continued by an epithet"
    if after.word in _CONTINUING and end + 1 < len(found):
        beyond = found[end + 1]
        if after.word == "of" and kind == "person" and end - start > 1:
            return None  # "Henry III of England": find_all checks that it is one country.
        if beyond.capitalized and beyond.adjacent:
            return f"continued by '{after.word}'"
        if beyond.word == "the" and end + 2 < len(found) and found[end + 2].capitalized:
            return f"continued by '{after.word}'"
    return None
