"""Relatives who share the surname of a person who is renamed, and must share the new one.

"Her father, Francesco Cardinale" on the page on Claudia Cardinale gives her old name away once she
is called otherwise. Where a text says that somebody of the surname is a relative, that surname is
renamed along with the person's; every other bearer is left to the rules, which reject.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaincheck.mention_context import in_title
from chaincheck.name_words import FUNCTION, HONORIFICS, KIN, MONTHS, ROLES
from chaincheck.names import Entity, Token, person, tokens
from chaincheck.person_pages import inside_name, own_page
from chaincheck.renaming import AmbiguousMention, Mention

__all__ = ["fuller_relative", "is_relative", "with_relatives"]

_REACH = 12
"""A word of kinship stands at most so many tokens before a relative's name."""
_MOST_GIVEN = 3
_NO_GIVEN = FUNCTION | HONORIFICS | KIN | ROLES | MONTHS
_NOT_KIN = frozenset(("heir", "namesake"))


def is_relative(found: Sequence[Token], start: int) -> bool:
    """Whether the sentence calls whoever is named at ``start`` a relative.

    Args:
        found: the tokens of a text.
        start: the first token of a name.

    Returns:
        True where a word of kinship stands before the name in the same sentence, and hardly
        anything but names between them: "the son of Ella Beatrice and Clevie Raymond Carver".
    """
    plain = 0
    for at in range(start, max(start - _REACH, 0), -1):
        if any(mark in found[at].gap for mark in (".", ";", "!", "?", "\n")) and not _short(
            found, at
        ):
            return False
        word = found[at - 1].word
        if word in KIN - _NOT_KIN:
            return True
        name = found[at - 1].capitalized or len(word) == 1 or word in HONORIFICS
        plain += not (name or word in _BETWEEN)
        if plain > _MOST_PLAIN:
            return False
    return False


def _short(found: Sequence[Token], at: int) -> bool:
    """Whether the period before a token belongs to an initial or a title."""
    before = found[at - 1]
    return "." in found[at].gap and (len(before.word) <= 2 or before.word in HONORIFICS)


_BETWEEN = frozenset(("of", "and", "the", "née", "nee", "ne"))
_MOST_PLAIN = 2
"""Words between that describe: "the brother of quality guru Joseph M. Juran"."""


def with_relatives(
    passages: Sequence[str], hits: Sequence[Sequence[Mention]], entity: Entity
) -> list[list[Mention]]:
    """The mentions, with the names of relatives who share the surname.

    Only a passage that names the person in full can make somebody a relative. A relative whom
    another passage names as well is doubtful there: that passage may be about the relative.

    Args:
        passages: the passages of one context.
        hits: the mentions of the person in each.
        entity: the person.

    Raises:
        AmbiguousMention: another passage names the relative.
    """
    parts = person(entity.name)
    found = [tokens(text) for text in passages]
    more = [list(mentions) for mentions in hits]
    titled = "," in entity.name or parts.suffix  # a baronet's forebears keep name and number
    if not parts.surname or not parts.certain or parts.surname_first or titled:
        return more
    named = [_bearers(words, parts.surname) for words in found]
    whole = [any(m.form in ("full", "extended", "alias") for m in mentions) for mentions in hits]
    free = [
        [spot for spot in spots if not _taken(words, mentions, spot)]
        for words, mentions, spots in zip(found, hits, named, strict=True)
    ]
    relatives = {
        _words(found[number], spot)
        for number, spots in enumerate(free)
        for spot in spots
        if whole[number] and is_relative(found[number], spot[0])
    }
    for number, spots in enumerate(free):
        text = passages[number]
        for start, end in spots:
            if _words(found[number], (start, end)) not in relatives:
                continue
            first, last = found[number][start].start, found[number][end - 1].end
            if not whole[number] or in_title(text, first):
                raise AmbiguousMention(
                    f"'{text[first:last]}': a relative of the surname", first, last, passage=number
                )
            possessive = found[number][end - 1].possessive != ""
            more[number].append(Mention(first, last, text[first:last], "relative", possessive))
    return more


def _words(found: Sequence[Token], spot: tuple[int, int]) -> tuple[str, ...]:
    return tuple(token.word for token in found[spot[0] : spot[1]])


def _bearers(found: Sequence[Token], surname: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where a given name or more stand before the surname."""
    size = len(surname)
    spots: list[tuple[int, int]] = []
    for at in range(1, len(found) - size + 1):
        if _words(found, (at, at + size)) != surname or not found[at].capitalized:
            continue
        start = at
        while (
            at - start < _MOST_GIVEN
            and start
            and inside_name(found[start])
            and found[start - 1].capitalized
            and not found[start - 1].possessive
            and (len(found[start - 1].word) == 1 or found[start - 1].word not in _NO_GIVEN)
        ):
            start -= 1
        after = found[at + size] if at + size < len(found) else None
        longer = after is not None and after.adjacent and after.capitalized
        if start < at and not (longer and after and after.word not in FUNCTION):
            spots.append((start, at + size))
    return spots


def _taken(found: Sequence[Token], mentions: Sequence[Mention], spot: tuple[int, int]) -> bool:
    first, last = found[spot[0]].start, found[spot[1] - 1].end
    return any(m.start < last and first < m.end for m in mentions)


def fuller_relative(
    text: str, found: Sequence[Token], start: int, end: int, entity: Entity
) -> Mention | None:
    """The relative whose longer name ends in the person's whole name, on the person's own page.

    "He was the son of Ella and Clevie Raymond Carver" stands on the page on Raymond Carver.

    Args:
        text: a passage.
        found: its tokens.
        start: first token of the person's name.
        end: one past its last token.
        entity: the person.

    Returns:
        A mention of the relative's name from the given name on that they share; None where the
        longer name is no relative's, or the page is not the person's own.
    """
    if entity.kind != "person" or not own_page(text, entity) or in_title(text, found[start].start):
        return None
    surname = person(entity.name).surname
    if not surname:
        return None
    spot = next((s for s in _bearers(found, surname) if s[1] == end), None)
    if spot is None or spot[0] >= start or not is_relative(found, spot[0]):
        return None
    first, last = found[start].start, found[end - 1].end
    return Mention(first, last, text[first:last], "relative", found[end - 1].possessive != "")
