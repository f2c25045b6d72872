"""What a passage shows of a person before mentions are judged: kind, page, opening, number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chaincheck.folding import Token, fold, tokens
from chaincheck.gender import pronoun_of_given_name
from chaincheck.name_words import FUNCTION, GENERATION, GENERIC, PARTICLES, ROLES, ROMAN
from chaincheck.names import Entity, core, person
from chaincheck.renaming import Mention

__all__ = ["another_number", "inside_name", "opening", "own_page", "settled"]


def settled(entity: Entity, passages: Sequence[str]) -> Entity:
    """The entity with its kind, where it is unknown and the passages show a person.

    Signs are a birth behind the name ("Mac Miller (born ..."), a trade or "character" in its
    definition, and a trade before it ("rapper Mac Miller").
    """
    if entity.kind not in (None, "other"):
        return entity
    name = tokens(core(entity.name, "person"))
    plain = all(part.capitalized and part.word.isalpha() for part in name)
    if not plain or len(name) < 2 or any(part.word in GENERIC for part in name):
        return entity
    if pronoun_of_given_name(core(entity.name, "person")) and len(name) < 4:
        return Entity(entity.name, "person", entity.aliases)
    if any(own_page(text, entity) and _tells_of_character(text) for text in passages):
        return Entity(entity.name, "person", entity.aliases)
    for text in passages:
        found = tokens(text)
        for at in range(len(found) - len(name)):
            end = at + len(name)
            if all(found[at + k].word == part.word for k, part in enumerate(name)):
                behind = [token.word for token in found[end : end + 8]]
                traded = at > 0 and found[at].adjacent and found[at - 1].word in ROLES - GENERIC
                defined = behind[:1] in (["is"], ["was"]) and any(
                    word in (ROLES | {"character", "protagonist"}) - GENERIC for word in behind
                )
                if traded or defined or behind[:1] == ["born"]:
                    return Entity(entity.name, "person", entity.aliases)
    return entity


def _tells_of_character(text: str) -> bool:
    """Whether a page begins by calling its subject a character."""
    lead = text.partition("\n")[2][:200]
    return re.search(r"\bis an? (?:[\w-]+ ){0,3}character\b", lead) is not None


def another_number(found: Sequence[Token], end: int, entity: Entity) -> bool:
    """Whether the name before ``end`` bears another number than the entity's: "2nd Baronet"."""
    own = {part.word for part in tokens(entity.name) if part.word in GENERATION}
    after = found[end] if end < len(found) else None
    suffix = person(entity.name).suffix
    if after is not None and suffix in ROMAN and after.adjacent and after.capitalized:
        return after.word in ROMAN and after.word != suffix
    if not own or after is None or not after.gap.startswith(","):
        return False
    return after.word in GENERATION and after.word not in own


def own_page(text: str, entity: Entity) -> bool:
    """Whether the passage's title is the entity's name, a parenthesis apart.

    On a person's own page the bare surname means that person; others of the family are called
    by their given names.
    """
    title = text.partition("\n")[0] if "\n" in text else ""
    own = fold(core(entity.name, entity.kind)).text
    return fold(title.partition(" (")[0]).text.strip() == own


def opening(text: str, entity: Entity) -> Mention | None:
    """The fuller name that opens a person's own page.

    "Paul Stephen Bettany (born ...", "Ernst Ingmar Bergman (14 July ...", on pages that are
    titled "Paul Bettany" and "Ingmar Bergman".
    """
    found = tokens(text)
    first = next((at for at, token in enumerate(found) if "\n" in token.gap), None)
    if first is None or not own_page(text, entity):
        return None
    end = first
    while end < len(found) and (end == first or inside_name(found[end])):
        if end > first and _honor(found[end], entity):
            break
        end += 1
    words = [token.word for token in found[first:end]]
    own = [token.word for token in tokens(core(entity.name, "person"))]
    behind = found[end] if end < len(found) else None
    opens = behind is not None and (
        behind.gap.strip(" .")[:1] in ("(", ",")
        or behind.word in ("is", "was")
        or _honor(behind, entity)
    )
    if not opens or len(own) < 2 or words == own or not _subsequence(own, words):
        return None
    start, stop = found[first].start, found[end - 1].end
    return Mention(start, stop, text[start:stop], "extended", found[end - 1].possessive != "")


def _honor(token: Token, entity: Entity) -> bool:
    """Whether a token is letters of an order or a degree behind a name ("OBE", "GCSE")."""
    letters = token.surface.isalpha() and token.surface.isupper() and len(token.surface) > 1
    return letters and token.word not in ROMAN and not entity.name.isupper() and token.adjacent


def inside_name(token: Token) -> bool:
    """Whether a token may stand inside a person's name."""
    plain = token.gap.strip(' .-"') == "" and "\n" not in token.gap
    particle = token.word in PARTICLES and token.adjacent
    name = token.capitalized and (len(token.word) == 1 or token.word not in FUNCTION)
    return plain and (particle or name)


def _subsequence(own: Sequence[str], words: Sequence[str]) -> bool:
    rest = iter(words)
    return all(any(_same_word(part, word) for word in rest) for part in own)


def _same_word(part: str, word: str) -> bool:
    """Whether a word of a fuller name can be a word of the name: "Stan" and "Stanley"."""
    short, long = sorted((part, word), key=len)
    if len(short) == 1 or len(short) >= 3:
        return long.startswith(short)
    return short == long
