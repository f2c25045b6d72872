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
from itertools import pairwise

from chaincheck.demonyms import demonyms, is_place_word
from chaincheck.name_words import (
    COMMON,
    FUNCTION,
    GENERATION,
    GENERIC,
    HONORIFICS,
    MONTHS,
    PARTICLES,
    ROMAN,
)
from chaincheck.names import Entity, Folded, acronym, core, fold
from chaincheck.namesakes import (
    Word,
    another_bearer,
    another_person,
    another_place,
    beside,
    content,
    named,
    organization_place,
    place_of_the_name,
    scan,
    topic,
)

__all__ = ["residue", "telling_words"]

_ENDINGS = re.compile(
    r"(?:e?s|e?an|ia?ns?|e?ans|ns?|ese|ish|ites?|ers?|i?sts?|isms?|is?|ic|esque|land|ists?|"
    r"men|man|town|wide)"
)


@lru_cache(maxsize=512)
def telling_words(entity: Entity) -> frozenset[str]:
    """The words of an entity's names that tell it apart: three letters or more, not generic.

    A word that is itself a place or a nationality tells nothing in an organisation's name that
    has another telling word ("India" in "British East India Company").
    """
    found: set[str] = set()
    for name in (entity.name, *entity.aliases):
        inside = content(name, entity)
        if entity.kind == "person" and "of" in inside[1:]:
            # "Matilda of Brabant": many others are "of Brabant".
            inside = inside[: inside.index("of", 1)]
        words = [
            word
            for word in inside
            if len(word) >= 3
            and word not in GENERIC
            and word not in FUNCTION
            and word not in PARTICLES
            and not (entity.kind == "person" and word in HONORIFICS | GENERATION | ROMAN)
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


def _runs(entity: Entity) -> set[tuple[str, str]]:
    """Pairs of neighboring words of a name, particles and the like left out."""
    found: set[tuple[str, str]] = set()
    for name in (entity.name, *entity.aliases):
        words = content(name, entity)
        weighty = [word for word in words if word not in FUNCTION and word not in PARTICLES]
        if entity.kind == "person":
            weighty = [word for word in weighty if word not in HONORIFICS | GENERATION]
        if len(weighty) >= 2:
            found.update(pairwise(weighty))
    return found


def _generic_words(entity: Entity) -> frozenset[str]:
    """Generic nouns of a name that is no person's: "Forest" may be short for Nottingham Forest."""
    if entity.kind == "person":
        return frozenset()
    names = [content(name, entity) for name in (entity.name, *entity.aliases)]
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


_DETERMINERS = frozenset(["the", "a", "an", "this", "that", "its", "their", "his", "our"])


def _bare(words: list[Word], at: int, folded: str) -> bool:
    """Whether a capitalized common noun stands alone, as a name does."""
    seen = beside(words, at, folded)
    if seen.after or (seen.before and seen.before not in FUNCTION):
        return False
    if at + 1 < len(words) and (
        words[at + 1].text in ("of", "for") or words[at + 1].text.isdigit()
    ):
        return False
    if at and words[at - 1].text in _DETERMINERS:
        return False
    gap = folded[words[at - 1].end if at else 0 : words[at].start]
    return (
        bool(gap.strip(" ") == "" or re.search(r"[.!?\n] ?$", gap))
        and "\n" not in folded[words[at].end : words[at].end + 1]
    )


@dataclass(frozen=True)
class _Signs:
    """What betrays an entity, worked out once a name."""

    telling: frozenset[str]
    whole: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    acronyms: frozenset[str]
    proper: frozenset[str]
    generic: frozenset[str]


@lru_cache(maxsize=512)
def _signs_of(entity: Entity) -> _Signs:
    names = (entity.name, *entity.aliases)
    proper = {
        fold(word).text
        for name in names
        for word in re.findall(r"[^\W_]+", core(name, entity.kind))
        if word[:1].isupper()
    }
    acronyms = set() if entity.kind == "person" else {acronym(n, entity.kind) for n in names}
    return _Signs(
        telling=telling_words(entity),
        whole=frozenset("".join(content(name, entity)) for name in names),
        pairs=frozenset(_runs(entity)),
        acronyms=frozenset(acronyms),
        proper=frozenset(proper),
        generic=_generic_words(entity),
    )


@dataclass(frozen=True)
class _Search:
    """One text that is searched for what is left of one entity."""

    text: str
    folded: Folded
    words: list[Word]
    entity: Entity
    signs: _Signs

    def spans(self) -> list[tuple[int, int]]:
        """The folded spans of everything that may name the entity."""
        names = [content(name, self.entity) for name in (self.entity.name, *self.entity.aliases)]
        stands = named(self.folded.text, names)
        found = []
        for at, word in enumerate(self.words):
            if self._single(at, stands=stands):
                found.append((word.start, word.end))
            elif at + 1 < len(self.words) and self._pair(at):
                found.append((word.start, self.words[at + 1].end))
        return found

    def _single(self, at: int, *, stands: bool) -> bool:
        word, signs = self.words[at], self.signs
        short = stands and word.upper and word.text in signs.generic
        if short and _bare(self.words, at, self.folded.text):
            return True
        hit = next((target for target in signs.telling if _derived(word.text, target)), None)
        if hit is not None and not self._dismissed(at, hit):
            return True
        if word.shout and len(word.text) >= 3 and word.text.upper() in signs.acronyms:
            return True
        return len(word.text) >= 4 and hit is None and word.text in signs.whole

    def _pair(self, at: int) -> bool:
        """Whether two words together betray the entity: "East India", "Media News"."""
        word, after = self.words[at], self.words[at + 1]
        if not re.fullmatch(r"[ .'-]{0,3}", self.folded.text[word.end : after.start]):
            return False
        pair = (word.text, after.text)
        if pair in self.signs.pairs and (word.upper or after.upper):
            place = is_place_word(" ".join(pair)) and self.entity.kind == "organization"
            return not place and not another_person(self.words, at, self.folded.text, self.entity)
        one = word.text + after.text
        return len(one) >= 5 and one in self.signs.telling | self.signs.whole

    def _dismissed(self, at: int, hit: str) -> bool:  # noqa: PLR0911 - a ladder of cases
        """Whether a telling word certainly means something else where it stands."""
        word = self.words[at]
        if (
            not word.upper
            and hit in self.signs.proper
            and (word.text != hit or word.text in COMMON)
        ):
            # In lower case a derived word is another word, unless it is a nationality.
            return word.text not in demonyms(hit) and not is_place_word(word.text)
        near = self.words[max(at - 1, 0) : at] + self.words[at + 1 : at + 2]
        if word.text in MONTHS and any(other.text.isdigit() for other in near):
            return True
        where = (self.words, at, self.folded.text, self.entity)
        if self.entity.kind in ("organization", "other", None):
            return organization_place(*where)
        if self.entity.kind == "place":
            return word.text == hit and another_place(*where)
        if self.entity.kind != "person":
            return False
        if another_person(*where):
            return True
        exact = word.text == hit
        if not exact and another_bearer(*where, hit):
            return True
        return exact and (place_of_the_name(*where) or topic(self.text, self.entity, word.text))


_STYLE = re.compile(
    r"\b(?:duke|duchess|earl|countess|count|marquess|marquis|viscount|baron|baroness|prince|"
    r"princess|king|queen|lord|lady|archduke|emperor) (?:of )?[^\W\d_]+$"
)


def _styles(folded: Folded, entity: Entity) -> list[tuple[int, int]]:
    """The title in a person's name by itself: "Duke of Bedford" for the 2nd Duke of Bedford."""
    found = []
    for name in (entity.name, *entity.aliases):
        style = _STYLE.search(fold(core(name, entity.kind)).text.partition(",")[2])
        if entity.kind == "person" and style:
            number = re.search(r"\d+(?:st|nd|rd|th)", fold(name).text)
            for match in re.finditer(rf"{re.escape(style.group())}\b", folded.text):
                other = re.search(r"(\d+(?:st|nd|rd|th)) $", folded.text[: match.start()][-6:])
                if not (other and number and other.group(1) != number.group()):
                    found.append((match.start(), match.end()))
    return found


@lru_cache(maxsize=4096)
def residue(text: str, entity: Entity) -> tuple[tuple[int, int, str], ...]:
    """Everything in a text that may still name the entity.

    Args:
        text: a passage, with its title on the first line if it has one.
        entity: the entity; persons are only told from their namesakes if the kind says so.

    Returns:
        (start, end, surface) in code points of ``text``, in order.
    """
    folded = fold(text)
    search = _Search(text, folded, scan(text, folded), entity, _signs_of(entity))
    spans = []
    for start, end in search.spans() + _styles(folded, entity):
        first, last = folded.span(start, end)
        spans.append((first, last, text[first:last]))
    return tuple(sorted(set(spans)))
