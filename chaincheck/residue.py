"""What may still name an entity in a text: a generous detector, written apart from the finder.

The finder asks where a name certainly stands; this asks whether anything is left of it. It works
on folded characters rather than tokens, and takes a single telling word of the name, a word
derived from it, a near spelling or an acronym for a sign. False alarms cost a lost triplet; a
miss costs a wrong one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from chaincheck.demonyms import demonyms, is_place_word
from chaincheck.gender import pronoun_of_given_name
from chaincheck.name_words import (
    COMMON,
    FUNCTION,
    GENERATION,
    GENERIC,
    HONORIFICS,
    KIN,
    MONTHS,
    NICKNAMES,
    PARTICLES,
    ROLES,
    ROMAN,
)
from chaincheck.names import Entity, Folded, acronym, core, fold, person

__all__ = ["residue", "telling_words"]

_ENDINGS = re.compile(
    r"(?:e?s|e?an|ia?ns?|e?ans|ns?|ese|ish|ites?|ers?|i?sts?|isms?|is?|ic|esque|land|ists?|"
    r"men|man|town|wide)"
)
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]{2,})*")


@dataclass(frozen=True)
class _Word:
    text: str
    start: int
    end: int
    upper: bool
    shout: bool


def _scan(text: str, folded: Folded) -> list[_Word]:
    found = []
    for match in _WORD.finditer(folded.text):
        start, end = folded.span(match.start(), match.end())
        surface = text[start:end]
        found.append(
            _Word(
                match.group().replace("'", ""),
                match.start(),
                match.end(),
                surface[:1].isupper(),
                surface.isupper() and len(surface) > 1,
            )
        )
    return found


def _content(name: str, entity: Entity) -> list[str]:
    found = _WORD.findall(fold(core(name, entity.kind)).text)
    return [word.replace("'", "") for word in found]


@lru_cache(maxsize=512)
def telling_words(entity: Entity) -> frozenset[str]:
    """The words of an entity's names that tell it apart: three letters or more, not generic.

    A word that is itself a place or a nationality tells nothing in an organisation's name that
    has another telling word ("India" in "British East India Company").
    """
    found: set[str] = set()
    for name in (entity.name, *entity.aliases):
        content = _content(name, entity)
        if entity.kind == "person" and "of" in content[1:]:
            # "Matilda of Brabant": many others are "of Brabant".
            content = content[: content.index("of", 1)]
        words = [
            word
            for word in content
            if len(word) >= 3
            and word not in GENERIC
            and word not in FUNCTION
            and word not in PARTICLES
            and not (entity.kind == "person" and word in HONORIFICS)
        ]
        found.update(words)
    return frozenset(found)


def _near(word: str, target: str) -> bool:
    """Whether two words differ by one letter put in, left out, changed or swapped."""
    if abs(len(word) - len(target)) > 1 or word == target:
        return False
    if len(word) == len(target):
        wrong = [i for i in range(len(word)) if word[i] != target[i]]
        if len(wrong) == 2 and wrong[1] == wrong[0] + 1:
            return word[wrong[0]] == target[wrong[1]] and word[wrong[1]] == target[wrong[0]]
        return len(wrong) == 1
    longer, shorter = (word, target) if len(word) > len(target) else (target, word)
    split = next((i for i in range(len(shorter)) if longer[i] != shorter[i]), len(shorter))
    return longer[split + 1 :] == shorter[split:]


_SOUNDS = (
    ("kh", "h"), ("ph", "f"), ("gh", "g"), ("th", "t"), ("dh", "d"), ("sch", "sh"), ("tch", "ch"),
    ("tz", "z"), ("ck", "k"), ("ou", "u"), ("oo", "u"), ("ee", "i"), ("ei", "i"), ("ie", "i"),
    ("ae", "e"), ("oe", "e"), ("ya", "ia"), ("yu", "iu"), ("y", "i"), ("q", "k"), ("w", "v"),
    ("j", "i"), ("c", "k"), ("z", "s"),
)  # fmt: skip


@lru_cache(maxsize=65536)
def _sound(word: str) -> str:
    """A rough key under which transliterations of one name agree."""
    for old, new in _SOUNDS:
        word = word.replace(old, new)
    return re.sub(r"(.)\1+", r"\1", word)


def _derived(word: str, target: str) -> bool:
    if word == target:
        return True
    stem = target[:-1] if target[-1] in "aeiouy" and len(target) > 4 else target
    if len(target) >= 4 and word.startswith(stem) and len(word) > len(stem):
        rest = word[len(stem) :]
        if _ENDINGS.fullmatch(rest) and (stem == target or len(rest) > 1):
            return True
    if word in demonyms(target):
        return True
    if len(target) >= 6 and len(word) >= 5 and word[0] == target[0] and word not in COMMON:
        return _near(word, target) or _sound(word) == _sound(target)
    return False


def _joined(folded: str, left: _Word, right: _Word) -> str:
    return folded[left.end : right.start]


_BESIDE = re.compile(r" |-| ?\"|\" ?|\" \"")


def _linked(folded: str, left: _Word, right: _Word) -> bool:
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


def _beside(words: list[_Word], at: int, folded: str) -> _Beside:
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


def _another_person(words: list[_Word], at: int, folded: str, entity: Entity) -> bool:
    """Whether the word at ``at`` belongs to the name of somebody or something else.

    "Lana Wood" is not Natalie Wood, "Natalie Portman" is not either. "Nat Wood" may be. The word
    of a one-word name is never taken for another's, since a longer name may just be fuller.
    """
    names = [_content(name, entity) for name in (entity.name, *entity.aliases)]
    names = [name for name in names if len(name) > 1]
    own = {word for name in names for word in name}
    eastern = person(entity.name).surname_first
    firsts = {name[-1] if eastern else name[0] for name in names}
    lasts = {name[0] if eastern else name[-1] for name in names}
    word = words[at].text
    seen = _beside(words, at, folded)
    strange_before = bool(seen.before) and seen.before not in own | _NO_NAME
    strange_after = bool(seen.after) and seen.after not in own | _NO_NAME
    if seen.before_opens and seen.before.endswith(("ing", "ed", "ly")):
        strange_before = False
    if seen.after in ROMAN and all(seen.after not in name for name in names):
        return word in firsts
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
        return given and strange_after and not seen.titled and not _named(folded, names)
    if word in own:
        # "Harriet Hinsch" may be Harriet Holter before her marriage, if the text names both.
        woman = pronoun_of_given_name(f"{word} x") != "he" and word not in _FREQUENT
        married = word in firsts and woman and _named(folded, names)
        if strange_after and married:
            return False
        return strange_after or (strange_before and seen.after not in own)
    return False


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


def _named(folded: str, names: list[list[str]]) -> bool:
    """Whether one of the whole names stands in the text."""
    plain = re.sub(r"[\W_]+", " ", folded)
    return any(" ".join(name) in plain for name in names)


_PLACES = frozenset(
    ["county", "river", "city", "township", "street", "avenue", "road", "island", "islands", "lake",
     "creek", "mountain", "mountains", "station", "airport", "district", "highway", "bay", "falls",
     "town", "village", "valley", "beach", "square", "bridge", "park"]
)  # fmt: skip


def _place_of_the_name(words: list[_Word], at: int, folded: str, entity: Entity) -> bool:
    """Whether a surname is part of a place's name in a text that never names the person."""
    after = words[at + 1] if at + 1 < len(words) else None
    if after is None or not after.upper or after.text not in _PLACES:
        return False
    if not _linked(folded, words[at], after):
        return False
    names = [_content(name, entity) for name in (entity.name, *entity.aliases)]
    return not _named(folded, [name for name in names if len(name) > 1])


def _topic(text: str, entity: Entity, word: str) -> bool:
    """Whether the passage's title is another person who bears ``word`` as the last name."""
    title, _, body = text.partition("\n")
    if not body:
        return False
    folded = fold(title)
    words = _scan(title, folded)
    return any(
        item.text == word and _another_person(words, index, folded.text, entity)
        for index, item in enumerate(words)
    )


_PLACE_BEFORE = re.compile(
    r"(?:\b(?:in|from|near|across|throughout|outside|around|within|of|southern|northern|eastern|"
    r"western|central|state of|city of)|,) $|\($"
)
_BODIES = frozenset(
    ["university", "college", "school", "party", "committee", "bureau", "agency", "bank", "navy",
     "army", "company", "league", "council", "club", "institute", "academy", "union"]
)  # fmt: skip


def _is_place(words: list[_Word], at: int, folded: str, entity: Entity) -> bool:
    """Whether a place's word of an organization's name means the place where it stands.

    "Oklahoma" alone may be the University of Oklahoma's team; "in Oklahoma" is the state, and
    "Finnish" is no short form of the Finnish Navy.
    """
    word = words[at].text
    names = [_content(name, entity) for name in (entity.name, *entity.aliases)]
    if entity.kind != "organization" and not any(_BODIES & set(name) for name in names):
        return False
    if any(len([w for w in name if w not in FUNCTION]) < 2 for name in names):
        return False
    own = {w for name in names for w in name}
    seen = _beside(words, at, folded)
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


def _runs(entity: Entity) -> set[tuple[str, str]]:
    """Neighboring words of a name of three words or more, of which one is longer than a particle."""
    found: set[tuple[str, str]] = set()
    for name in (entity.name, *entity.aliases):
        words = _content(name, entity)
        weighty = [word for word in words if word not in FUNCTION and word not in PARTICLES]
        if len(weighty) >= 2:
            found.update(zip(weighty, weighty[1:], strict=False))
    return found


def _generic_words(entity: Entity) -> frozenset[str]:
    """Generic nouns of a name that is no person's: "Forest" may be short for Nottingham Forest."""
    if entity.kind == "person":
        return frozenset()
    names = [_content(name, entity) for name in (entity.name, *entity.aliases)]
    found = {name[-1] for name in names if len(name) > 1} | {
        name[0] for name in names if len(name) > 1
    }
    return frozenset(
        word
        for word in found
        if word in GENERIC and word not in FUNCTION and len(word) >= 4 and word not in _ADJECTIVES
    )


_ADJECTIVES = frozenset(
    ["international", "national", "federal", "royal", "imperial", "united", "general", "central",
     "north", "south", "east", "west", "northern", "southern", "eastern", "western", "great",
     "greater", "american", "british", "english", "french", "german", "european", "asian",
     "african", "democratic", "republican", "communist", "socialist", "liberal", "conservative"]
)  # fmt: skip


def _bare(words: list[_Word], at: int, folded: str) -> bool:
    """Whether a capitalized common noun stands alone, as a name does."""
    seen = _beside(words, at, folded)
    if seen.after or (seen.before and seen.before not in FUNCTION):
        return False
    if at + 1 < len(words) and (
        words[at + 1].text in ("of", "for") or words[at + 1].text.isdigit()
    ):
        return False
    if at and words[at - 1].text in (
        "the",
        "a",
        "an",
        "this",
        "that",
        "its",
        "their",
        "his",
        "our",
    ):
        return False
    gap = folded[words[at - 1].end if at else 0 : words[at].start]
    return (
        bool(gap.strip(" ") == "" or re.search(r"[.!?\n] ?$", gap))
        and "\n" not in folded[words[at].end : words[at].end + 1]
    )


def _signs(text: str, folded: Folded, words: list[_Word], entity: Entity) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    telling = telling_words(entity)
    joined = {"".join(_content(name, entity)) for name in (entity.name, *entity.aliases)}
    runs = _runs(entity)
    initials = {
        acronym(name, entity.kind)
        for name in (entity.name, *entity.aliases)
        if entity.kind != "person"
    }
    proper = {
        word
        for name in (entity.name, *entity.aliases)
        for word in re.findall(r"[^\W_]+", fold_keep_case(core(name, entity.kind)))
        if word[:1].isupper()
    }
    proper = {word.casefold() for word in proper}
    generic = _generic_words(entity)
    named = _named(folded.text, [_content(name, entity) for name in (entity.name, *entity.aliases)])
    for at, word in enumerate(words):
        if named and word.upper and word.text in generic and _bare(words, at, folded.text):
            found.append((word.start, word.end))
            continue
        hit = next((target for target in telling if _derived(word.text, target)), None)
        if hit is not None and not _dismissed(words, at, folded.text, text, entity, hit, proper):
            found.append((word.start, word.end))
            continue
        if word.shout and len(word.text) >= 3 and word.text.upper() in initials:
            found.append((word.start, word.end))
            continue
        if len(word.text) >= 5 and word.text in joined:
            found.append((word.start, word.end))
            continue
        if at + 1 < len(words):
            after = words[at + 1]
            pair = (word.text, after.text)
            gap = _joined(folded.text, word, after)
            near = re.fullmatch(r"[ .'-]{0,3}", gap) is not None
            if near and pair in runs and (word.upper or after.upper):
                place = is_place_word(" ".join(pair)) and entity.kind == "organization"
                if not place and not _another_person(words, at, folded.text, entity):
                    found.append((word.start, after.end))
            elif (
                near
                and len(word.text + after.text) >= 5
                and word.text + after.text in (telling | joined)
            ):
                found.append((word.start, after.end))
    return found


def fold_keep_case(text: str) -> str:
    """The text without accents, case kept."""
    return "".join(part.upper() if ch.isupper() else part for ch in text for part in fold(ch).text)


def _dismissed(
    words: list[_Word],
    at: int,
    folded: str,
    text: str,
    entity: Entity,
    hit: str,
    proper: set[str],
) -> bool:
    """Whether a telling word certainly means something else where it stands."""
    word = words[at]
    if not word.upper and hit in proper and (word.text != hit or word.text in COMMON):
        # In lower case a derived word is another word, unless it is a nationality.
        return word.text not in demonyms(hit) and not is_place_word(word.text)
    if word.text in MONTHS:
        beside = words[max(at - 1, 0) : at] + words[at + 1 : at + 2]
        if any(other.text.isdigit() for other in beside):
            return True
    if entity.kind in ("organization", "other", None) and _is_place(words, at, folded, entity):
        return True
    if entity.kind == "person":
        if _another_person(words, at, folded, entity):
            return True
        if word.text == hit and _place_of_the_name(words, at, folded, entity):
            return True
        if word.text == hit and _topic(text, entity, word.text):
            return True
    return False


def residue(text: str, entity: Entity) -> tuple[tuple[int, int, str], ...]:
    """Everything in a text that may still name the entity.

    Args:
        text: a passage, with its title on the first line if it has one.
        entity: the entity; persons are only told from their namesakes if the kind says so.

    Returns:
        (start, end, surface) in code points of ``text``, in order.
    """
    folded = fold(text)
    words = _scan(text, folded)
    spans = []
    for start, end in _signs(text, folded, words, entity):
        first, last = folded.span(start, end)
        spans.append((first, last, text[first:last]))
    return tuple(sorted(set(spans)))
