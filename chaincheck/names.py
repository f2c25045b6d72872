"""The anatomy of names: what is inside a source's name, a person's parts, shapes, articles.

Folding and words come from :mod:`chaincheck.folding` and are offered here too.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from chaincheck.folding import Folded, Token, fold, same_gap, tokens
from chaincheck.name_words import (
    ABBREVIATIONS,
    FAMILY_FIRST,
    GENERATION,
    GENERIC,
    HONORIFICS,
    PARTICLES,
    PREPOSITIONS,
    ROMAN,
)

__all__ = [
    "Entity",
    "Folded",
    "Kind",
    "Person",
    "Shape",
    "Token",
    "acronym",
    "core",
    "fold",
    "person",
    "same_gap",
    "shape",
    "starts_with_vowel_sound",
    "takes_article",
    "tokens",
]

Kind = Literal["person", "place", "organization", "work", "other"]


@dataclass(frozen=True)
class Entity:
    """What a name names.

    Attributes:
        name: the name as the source gives it; a phrase around it ("During the Korean War",
            "Taiwan.") is allowed.
        kind: what it is, None where unknown. Surnames and given names are told apart only in
            persons.
        aliases: other names that certainly mean this entity, wherever they stand in the texts
            at hand. A surname given here is a mention even where the full name is far away.
    """

    name: str
    kind: Kind | None = None
    aliases: tuple[str, ...] = ()


_ARTICLE = re.compile(r"(?:the|The|THE) (?=\S)")
_PHRASE = re.compile(
    r"(?:in|at|on|during|after|before|with|near|from|by|around|since|until|of|to) ", re.I
)


@lru_cache(maxsize=4096)
def core(name: str, kind: Kind | None = None) -> str:
    """The name inside what a source gives: no article, no phrase around it, no stray punctuation.

    "During the Korean War" gives "Korean War", "Taiwan." gives "Taiwan", "in Brooklyn" gives
    "Brooklyn". A capitalized preposition is taken for part of the name ("In Utero") unless an
    article follows, and always in a work.
    """
    text = "".join(ch for ch in name if unicodedata.category(ch) != "Cf").strip()
    text = re.sub(r"\s+", " ", text)
    text = re.sub(r"(?<=\S) \([^()]*\)$", "", text)
    text = text.strip(" ,;:!?\"'`“”‘’") if kind != "work" else text.strip(' ,;:"`“”')
    if text.endswith(".") and not _abbreviated(text):
        text = text.rstrip(". ")
    match = _PHRASE.match(text)
    if match and kind != "work":
        rest = text[match.end() :]
        article = _ARTICLE.match(rest)
        if text[0].islower() or (article and rest[0] == "t" and rest[article.end()].isupper()):
            text = rest
    article = _ARTICLE.match(text)
    if (article and kind != "work") or (article and len(text) > article.end()):
        text = text[article.end() :]
    return text.strip()


def _abbreviated(text: str) -> bool:
    last = text.rstrip(".").split()[-1:] or [""]
    word = last[0].casefold()
    return len(word) == 1 or "." in word or word in ABBREVIATIONS | GENERATION


@dataclass(frozen=True)
class Person:
    """Parts of a person's name, each a run of folded words.

    Attributes:
        words: every word of the name.
        given: the given names, initials included, in order; for a name of one word, that word.
        surname: the family name with its particles; empty where there is none.
        surname_first: whether the family name stands first.
        suffix: "jr", a Roman numeral and the like, or "".
        regnal: whether the suffix numbers a ruler ("George VI") rather than a generation.
        certain: whether the parts are clear; False for names with a description ("Alexander
            the Great", "Matilda of Brabant").
        surname_text, given_text: the parts as the name writes them.
    """

    words: tuple[str, ...]
    given: tuple[str, ...]
    surname: tuple[str, ...]
    surname_first: bool
    suffix: str
    regnal: bool
    certain: bool
    surname_text: str
    given_text: str


@lru_cache(maxsize=4096)
def person(name: str) -> Person:
    """Take a person's name apart. The name is read with :func:`core` first.

    What follows a comma ("2nd Duke of Bedford") and what begins with "the" or "of" describes the
    person; the parts are those of the name before it.
    """
    whole = core(name, "person")
    parts = list(tokens(whole))
    words = tuple(part.word for part in parts)
    comma = next((at for at, part in enumerate(parts) if at and "," in part.gap), len(parts))
    suffix = ""
    if comma + 1 == len(parts) and parts[comma].word in GENERATION:
        suffix = parts[comma].word
    parts = parts[:comma]
    while len(parts) > 1 and parts[0].word in HONORIFICS:
        parts = parts[1:]
    described = next(
        (at for at, part in enumerate(parts) if at and part.word in ("the", "of")), len(parts)
    )
    certain = described == len(parts)
    parts = parts[:described]
    if len(parts) > 1 and _numbers(parts[-1].word, len(parts)):
        suffix = parts[-1].word
        parts = parts[:-1]
    regnal = suffix in ROMAN and len(parts) == 1
    family, surname_first = _family(parts) if certain and not regnal else (slice(0, 0), False)
    given = parts[family.stop :] if surname_first else parts[: family.start or None]
    own = parts[family]
    return Person(
        words=words,
        given=tuple(part.word for part in given),
        surname=tuple(part.word for part in own),
        surname_first=surname_first,
        suffix=suffix,
        regnal=regnal,
        certain=certain,
        surname_text=whole[own[0].start : own[-1].end] if own else "",
        given_text=_given_text(whole, given, surname_first),
    )


def _numbers(word: str, size: int) -> bool:
    """Whether the last word of a name numbers a ruler or a generation; "Malcolm X" is no tenth."""
    if word in GENERATION:
        return True
    return word in ROMAN and word != "x" and (len(word) > 1 or word in "iv" or size == 2)


def _given_text(whole: str, given: Sequence[Token], surname_first: bool) -> str:
    if not given:
        return ""
    return whole[given[0].start : given[-1].end] if surname_first else given[0].surface


def _family(parts: Sequence[Token]) -> tuple[slice, bool]:
    """Where the family name stands among the parts of a name, and whether it stands first."""
    if len(parts) < 2 or parts[0].word in ("ibn", "abu", "al", "el"):
        return slice(0, 0), False
    hyphened = any("-" in part.gap for part in parts[2:])
    eastern = parts[0].word in FAMILY_FIRST and len(parts) <= 3
    if eastern and (hyphened or len(parts[1].word) <= 6):
        return slice(0, 1), True
    split = len(parts) - 1
    while split > 1 and ("-" in parts[split].gap or "'" in parts[split].gap):
        split -= 1
    while split > 1 and parts[split - 1].word in PARTICLES:
        split -= 1
    return slice(split, len(parts)), False


@dataclass(frozen=True)
class Shape:
    """What two names must share for one to stand in for the other.

    Attributes:
        words: number of words.
        article: whether the name takes "the".
        vowel: whether it begins with a vowel sound ("an").
        linked: whether it holds a particle or "of".
        numbered: whether it ends in a numeral.
        initials: whether it holds initials.
        upper: whether it is all capitals (an acronym).
    """

    words: int
    article: bool
    vowel: bool
    linked: bool
    numbered: bool
    initials: bool
    upper: bool


def shape(name: str, kind: Kind | None = None) -> Shape:
    """Describe a name's shape; two shapes are compared field by field."""
    parts = tokens(core(name, kind))
    words = [part.word for part in parts]
    return Shape(
        words=len(words),
        article=takes_article(name, kind),
        vowel=starts_with_vowel_sound(core(name, kind)),
        linked=any(word in PARTICLES or word in ("of", "the", "and", "for") for word in words[1:]),
        numbered=bool(words) and (words[-1].isdigit() or (len(words) > 1 and words[-1] in ROMAN)),
        initials=any(len(part.word) == 1 or "." in part.surface for part in parts),
        upper=bool(words) and core(name, kind).isupper(),
    )


_ARTICLE_HEADS = frozenset(
    [
        "river",
        "sea",
        "ocean",
        "islands",
        "mountains",
        "war",
        "wars",
        "committee",
        "commission",
        "party",
        "company",
        "federation",
        "union",
        "league",
        "council",
        "agency",
        "bureau",
        "association",
        "society",
        "foundation",
        "organization",
        "organisation",
        "republic",
        "empire",
        "kingdom",
        "states",
        "netherlands",
        "navy",
        "army",
        "museum",
        "academy",
        "institute",
        "bridge",
        "canal",
        "desert",
        "peninsula",
        "gulf",
        "strait",
        "prize",
        "award",
        "cup",
        "revolution",
        "rebellion",
        "treaty",
        "act",
        "senate",
        "congress",
        "parliament",
        "court",
        "alps",
        "andes",
        "himalayas",
        "bahamas",
        "philippines",
        "board",
        "department",
        "pole",
        "orchestra",
        "corporation",
        "dynasty",
    ]
)


_FIRM_PLURALS = frozenset(
    ["records", "pictures", "studios", "games", "brothers", "bros", "industries", "systems",
     "airlines", "airways", "motors", "holdings", "partners", "technologies", "publications",
     "books", "films", "productions", "enterprises", "laboratories", "labs", "works", "foods",
     "stores", "symonds", "forces"]
)  # fmt: skip


@lru_cache(maxsize=4096)
def takes_article(name: str, kind: Kind | None = None) -> bool:
    """Whether running text writes "the" before the name (a rule of thumb on its head noun)."""
    text = re.sub(r"\s+", " ", name.strip())
    bare = core(name, kind)
    if re.search(r"(?i)(?:^|\s)the $", text[: max(text.find(bare), 0)]):
        return True
    if kind in ("person", "work"):
        return False
    words = [part.word for part in tokens(bare)]
    if not words:
        return False
    if "of" in words[1:]:
        head = words[words.index("of") - 1]
        return head in GENERIC and head not in ("company", "bank")
    # "the Colorado Rapids": a team's plural name takes the article, a firm's does not.
    plural = kind == "organization" and words[-1].endswith("s") and not words[-1].endswith("ss")
    team = plural and words[-1] not in _FIRM_PLURALS
    return len(words) > 1 and (words[-1] in _ARTICLE_HEADS or team)


_LETTERS_WITH_VOWEL_SOUND = "AEFHILMNORSX"


def starts_with_vowel_sound(name: str) -> bool:
    """Whether "an" rather than "a" stands before the name."""
    first = re.match(r"[^\W\d_]+", name)
    if first is None:
        return bool(re.match(r"8|11\b|18\b", name))
    word = first.group()
    spelled = len(word) == 1 or (word.isupper() and len(word) <= 3)
    if spelled:
        return word[0] in _LETTERS_WITH_VOWEL_SOUND
    folded = fold(word).text
    if re.match(r"eu|ew|on(?:e|ce)\b|u(?:[bcdfghjklmnpqrstvwxyz])[aeiou]|uni(?!n|m)", folded):
        return False
    if re.match(r"hono|hour|heir", folded):
        return True
    return folded[:1] in "aeiou"


def acronym(name: str, kind: Kind | None = None) -> str:
    """The initials of a name's weighty words, upper case; "" for fewer than two."""
    words = [
        part.word
        for part in tokens(core(name, kind))
        if part.word not in PREPOSITIONS and part.word not in ("the", "and", "a", "an")
    ]
    return "".join(word[0] for word in words).upper() if len(words) > 1 else ""
