"""Whether a telling word belongs to somebody or something else where it stands.

The part of the residue detector that dismisses: "Lana Wood" is not Natalie Wood, the Peel River
is not Robert Peel, and "in Oklahoma" is not the University of Oklahoma.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chaincheck.demonyms import demonyms, is_place_word
from chaincheck.gender import pronoun_of_given_name
from chaincheck.name_words import (
    FUNCTION,
    GENERATION,
    GENERIC,
    HONORIFICS,
    KIN,
    MONTHS,
    NICKNAMES,
    ROLES,
    ROMAN,
)
from chaincheck.names import Entity, Folded, core, fold, person

__all__ = [
    "Word",
    "another_bearer",
    "another_person",
    "another_place",
    "beside",
    "content",
    "named",
    "organization_place",
    "place_of_the_name",
    "scan",
    "topic",
]

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]{2,})*")


@dataclass(frozen=True)
class Word:
    """A word of a folded text.

    Attributes:
        text: the word, apostrophes left out.
        start, end: its characters in the folded text.
        upper: whether the original has a capital there.
        shout: whether the original is all capitals.
    """

    text: str
    start: int
    end: int
    upper: bool
    shout: bool


def scan(text: str, folded: Folded) -> list[Word]:
    """The words of a text and of its folding."""
    found = []
    for match in _WORD.finditer(folded.text):
        start, end = folded.span(match.start(), match.end())
        surface = text[start:end]
        found.append(
            Word(
                match.group().replace("'", ""),
                match.start(),
                match.end(),
                surface[:1].isupper(),
                surface.isupper() and len(surface) > 1,
            )
        )
    return found


def content(name: str, entity: Entity) -> list[str]:
    """The folded words of one of an entity's names."""
    found = _WORD.findall(fold(core(name, entity.kind)).text)
    return [word.replace("'", "") for word in found]


_BESIDE = re.compile(r" |-| ?\"|\" ?|\" \"")


def _linked(folded: str, left: Word, right: Word) -> bool:
    """Whether two capitalized words stand together as the words of one name do."""
    gap = folded[left.end : right.start]
    return bool(_BESIDE.fullmatch(gap) or (len(left.text) == 1 and gap in (". ", ".")))


_NO_NAME = FUNCTION | HONORIFICS | ROLES | KIN | GENERIC | MONTHS | GENERATION


@dataclass(frozen=True)
class _Beside:
    """The capitalized words next to a word, initials skipped, and whether an initial disagrees."""

    before: str
    earlier: tuple[str, ...]
    before_opens: bool
    initial: str
    after: str
    titled: bool


def beside(words: list[Word], at: int, folded: str) -> _Beside:
    """What stands next to the word at ``at``, as the words of one name do."""
    before = after = initial = ""
    opens = titled = False
    left = at - 1
    if left >= 0 and words[left].upper and _linked(folded, words[left], words[at]):
        if len(words[left].text) == 1:
            initial = words[left].text
        titled = words[left].text in HONORIFICS
        before = words[left].text if len(words[left].text) > 1 else ""
        gap = folded[words[left - 1].end if left else 0 : words[left].start]
        opens = not left or bool(re.search(r"[\n.!?:;]", gap))
    earlier = []
    while left > 0 and words[left - 1].upper and _linked(folded, words[left - 1], words[left]):
        left -= 1
        earlier.append(words[left].text)
    right = at + 1
    while (
        right < len(words)
        and words[right].upper
        and _linked(folded, words[right - 1], words[right])
    ):
        if len(words[right].text) > 1:
            after = words[right].text
            break
        right += 1
    return _Beside(before, tuple(earlier), opens, initial, after, titled)


def another_person(  # noqa: PLR0911 - a ladder of cases
    words: list[Word], at: int, folded: str, entity: Entity
) -> bool:
    """Whether the word at ``at`` belongs to the name of somebody or something else.

    "Lana Wood" is not Natalie Wood, "Natalie Portman" is not either. "Nat Wood" may be. The word
    of a one-word name is never taken for another's, since a longer name may just be fuller.
    """
    names = [content(name, entity) for name in (entity.name, *entity.aliases)]
    names = [name for name in names if len(name) > 1]
    own = {word for name in names for word in name}
    eastern = person(entity.name).surname_first
    firsts = {name[-1] if eastern else name[0] for name in names}
    lasts = {name[0] if eastern else name[-1] for name in names}
    word = words[at].text
    seen = beside(words, at, folded)
    strange_before = bool(seen.before) and seen.before not in own | _NO_NAME
    strange_after = bool(seen.after) and seen.after not in own | _NO_NAME
    if seen.before_opens and seen.before.endswith(("ing", "ed", "ly")):
        strange_before = False
    if _numbered_otherwise(words, at, folded, own):
        return True
    number = words[at + 1].text if at + 1 < len(words) else ""
    numbered = number in ROMAN and words[at + 1].upper
    numbered = numbered and _linked(folded, words[at], words[at + 1])
    if numbered and all(number not in name for name in names):
        return word in own
    if eastern and word in lasts and strange_after:
        return True
    if word in lasts:
        if seen.initial:
            return all(seen.initial != first[0] for first in firsts)
        if strange_before:
            return not any(
                _one_given(other, first)
                for other in (seen.before, *seen.earlier[:3])
                for first in firsts
            )
        # "Bryan Adams" is not Luke Bryan; "The Bourne Identity" may well be of Jason Bourne.
        given = pronoun_of_given_name(f"{word} x") is not None
        return given and strange_after and not seen.titled and not named(folded, names)
    if word in own:
        # "Harriet Hinsch" may be Harriet Holter before her marriage, if the text names both.
        woman = pronoun_of_given_name(f"{word} x") != "he" and word not in _FREQUENT
        married = word in firsts and woman and named(folded, names)
        if strange_after and married:
            return False
        return strange_after or (strange_before and seen.after not in own)
    return False


def another_bearer(words: list[Word], at: int, folded: str, entity: Entity, hit: str) -> bool:
    """Whether a word like the surname stands behind a given name unlike the person's."""
    names = [content(name, entity) for name in (entity.name, *entity.aliases)]
    seen = beside(words, at, folded)
    own = {word for name in names for word in name}
    last = any(len(name) > 1 and hit in (name[0], name[-1]) for name in names)
    unlike = all(
        _sounds_unlike(other, word) for other in (seen.before, *seen.earlier) for word in own
    )
    given = pronoun_of_given_name(f"{seen.before} x") is not None
    return last and given and unlike and seen.before not in _NO_NAME


def _sounds_unlike(one: str, other: str) -> bool:
    return one[:1] != other[:1] and not _one_given(one, other)


_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")


def _numbered_otherwise(words: list[Word], at: int, folded: str, own: set[str]) -> bool:
    """Whether the name that holds the word bears another number: "2nd Baronet", not the 3rd."""
    numbers = {word for word in own if _ORDINAL.fullmatch(word)}
    reigns = own & ROMAN
    end = at
    while (
        end + 1 < len(words)
        and words[end + 1].upper
        and _linked(folded, words[end], words[end + 1])
    ):
        end += 1
    if reigns and end > at and words[end].text in ROMAN - reigns:
        return True
    if not numbers or end + 1 >= len(words):
        return False
    behind = words[end + 1]
    apart = folded[words[end].end : behind.start] == ", "
    return apart and bool(_ORDINAL.fullmatch(behind.text)) and behind.text not in numbers


_FREQUENT = frozenset(
    ["john", "james", "william", "robert", "michael", "david", "richard", "george", "charles",
     "thomas", "joseph", "paul", "peter", "henry", "edward", "mary", "elizabeth", "anne", "mark"]
)  # fmt: skip


def _one_given(other: str, first: str) -> bool:
    """Whether two given names may be one person's: "Stan" and "Stanley", "Bill" and "William"."""
    short, long = sorted((other, first), key=len)
    if len(short) >= 3 and long.startswith(short):
        return True
    return any(other in group and first in group for group in NICKNAMES)


def named(folded: str, names: list[list[str]]) -> bool:
    """Whether one of the whole names stands in the text."""
    plain = re.sub(r"[\W_]+", " ", folded)
    return any(" ".join(name) in plain for name in names)


_PLACES = frozenset(
    ["county", "river", "city", "township", "street", "avenue", "road", "island", "islands", "lake",
     "creek", "mountain", "mountains", "station", "airport", "district", "highway", "bay", "falls",
     "town", "village", "valley", "beach", "square", "bridge", "park"]
)  # fmt: skip


def place_of_the_name(words: list[Word], at: int, folded: str, entity: Entity) -> bool:
    """Whether a surname is part of a place's name in a text that never names the person."""
    after = words[at + 1] if at + 1 < len(words) else None
    if after is None or not after.upper or after.text not in _PLACES:
        return False
    if not _linked(folded, words[at], after):
        return False
    names = [content(name, entity) for name in (entity.name, *entity.aliases)]
    return not named(folded, [name for name in names if len(name) > 1])


def topic(text: str, entity: Entity, word: str) -> bool:
    """Whether the passage's title is another person who bears ``word`` as the last name."""
    title, _, body = text.partition("\n")
    if not body:
        return False
    folded = fold(title)
    words = scan(title, folded)
    return any(
        item.text == word and another_person(words, index, folded.text, entity)
        for index, item in enumerate(words)
    )


_CLASSES = frozenset(
    ["river", "county", "province", "lake", "island", "islands", "bay", "district", "creek",
     "mountain", "mountains", "region", "peninsula", "valley", "canal", "desert"]
)  # fmt: skip
_COMPASS = frozenset(["north", "south", "east", "west"])


def another_place(words: list[Word], at: int, folded: str, entity: Entity) -> bool:
    """Whether a place's word stands in another place's name.

    "Fort Nelson" is not the Nelson River, "Hastings High School" not Hastings County, the South
    Pole not the North Pole.
    """
    name = content(entity.name, entity)
    if entity.aliases or len(name) != 2 or words[at].text not in name:
        return False
    seen = beside(words, at, folded)
    if name[0] in _COMPASS and words[at].text == name[1]:
        return seen.before in _COMPASS - {name[0]}
    if name[1] not in _CLASSES or words[at].text != name[0]:
        return False
    fits = {name[1], "province", "region", "area"}
    after = bool(seen.after) and seen.after not in fits | FUNCTION
    before = bool(seen.before) and not seen.before_opens and seen.before not in FUNCTION | _COMPASS
    opened = bool(seen.before) and seen.before in ("fort", "gmina", "port", "mount", "lake")
    return seen.after not in fits and (after or before or opened)


_PLACE_BEFORE = re.compile(
    r"(?:\b(?:in|from|near|across|throughout|outside|around|within|of|southern|northern|eastern|"
    r"western|central|state of|city of)|,) $|\($"
)
_BODIES = frozenset(
    ["university", "college", "school", "party", "committee", "bureau", "agency", "bank", "navy",
     "army", "company", "league", "council", "club", "institute", "academy", "union"]
)  # fmt: skip


def organization_place(  # noqa: PLR0911 - a ladder of cases
    words: list[Word], at: int, folded: str, entity: Entity
) -> bool:
    """Whether a place's word of an organization's name means the place where it stands.

    "Oklahoma" alone may be the University of Oklahoma's team; "in Oklahoma" is the state, and
    "Finnish" is no short form of the Finnish Navy.
    """
    word = words[at].text
    names = [content(name, entity) for name in (entity.name, *entity.aliases)]
    if entity.kind != "organization" and not any(_BODIES & set(name) for name in names):
        return False
    if any(len([w for w in name if w not in FUNCTION]) < 2 for name in names):
        return False
    own = {w for name in names for w in name}
    seen = beside(words, at, folded)
    if (seen.before and seen.before in own) or (seen.after and seen.after in own):
        return False
    if word not in own or (is_place_word(word) and not demonyms(word)):
        return is_place_word(word)
    if not is_place_word(word) and not any(
        f"of {word}" in " ".join(name) or f"{word} university" in " ".join(name) for name in names
    ):
        return False
    before = folded[max(0, words[at].start - 40) : words[at].start]
    if _PLACE_BEFORE.search(before):
        return not any(re.search(rf"\b{re.escape(w)} of (?:the )?$", before) for w in own)
    return bool(seen.after) or bool(seen.before and seen.before not in FUNCTION)
