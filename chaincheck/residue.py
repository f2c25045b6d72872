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
from chaincheck.names import Entity, Folded, acronym, core, fold

__all__ = ["residue", "telling_words"]

_ENDINGS = re.compile(
    r"(?:e?s|e?an|ia?ns?|e?ans|ns?|ese|ish|ites?|ers?|i?sts?|isms?|is?|ic|esque|land|ists?|"
    r"men|man|town|wide)"
)
_WORD = re.compile(r"[^\W_]+")


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
                match.group(),
                match.start(),
                match.end(),
                surface[:1].isupper(),
                surface.isupper() and len(surface) > 1,
            )
        )
    return found


def _content(name: str, entity: Entity) -> list[str]:
    return _WORD.findall(fold(core(name, entity.kind)).text)


@lru_cache(maxsize=512)
def telling_words(entity: Entity) -> frozenset[str]:
    """The words of an entity's names that tell it apart: three letters or more, not generic.

    A word that is itself a place or a nationality tells nothing in an organisation's name that
    has another telling word ("India" in "British East India Company").
    """
    found: set[str] = set()
    for name in (entity.name, *entity.aliases):
        words = [
            word
            for word in _content(name, entity)
            if len(word) >= 3
            and word not in GENERIC
            and word not in FUNCTION
            and not (entity.kind == "person" and (word in HONORIFICS or word in PARTICLES))
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


def _another_person(words: list[_Word], at: int, folded: str, entity: Entity) -> bool:
    """Whether the word at ``at`` belongs to the name of somebody else.

    "Lana Wood" is not Natalie Wood, "Natalie Portman" is not either.
    """
    names = [_content(name, entity) for name in (entity.name, *entity.aliases)]
    own = {word for name in names for word in name}
    firsts = {name[0] for name in names if len(name) > 1}
    lasts = {name[-1] for name in names if len(name) > 1}
    word = words[at]
    if word.text in lasts and at:
        before = words[at - 1]
        gap = _joined(folded, before, word)
        if before.upper and re.fullmatch(r" |\. ?", gap) and (gap == " " or len(before.text) == 1):
            if len(before.text) == 1:
                return all(before.text != first[0] for first in firsts)
            strange = before.text not in own | FUNCTION | HONORIFICS | ROLES | KIN | GENERIC
            return strange and not any(
                before.text in group and firsts & group for group in NICKNAMES
            )
    if word.text in firsts and word.text not in lasts and at + 1 < len(words):
        after = words[at + 1]
        gap = _joined(folded, word, after)
        if gap == " " and after.upper and len(after.text) > 1:
            if after.text in ROMAN:
                return all(after.text not in name for name in names)
            return after.text not in own | FUNCTION | GENERIC | GENERATION
    return False


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


def _runs(entity: Entity) -> set[tuple[str, str]]:
    """Neighboring words of a name of three words or more, of which one is longer than a particle."""
    found: set[tuple[str, str]] = set()
    for name in (entity.name, *entity.aliases):
        words = _content(name, entity)
        weighty = [word for word in words if word not in FUNCTION and word not in PARTICLES]
        if len(weighty) >= 2:
            found.update(zip(weighty, weighty[1:], strict=False))
    return found


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
    for at, word in enumerate(words):
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
                if not _another_person(words, at, folded.text, entity):
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
    if entity.kind == "person":
        if _another_person(words, at, folded, entity):
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
