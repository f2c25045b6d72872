"""The anatomy of names: folding with a map back, tokens, parts of a person's name, shapes.

Real text writes one name in many ways: with and without accents, with invisible characters
inside, with curly quotes, with spaces around its hyphens. Everything here works on a *folded*
text that has lost those differences, and keeps for every folded character the code points of
the original that it came from, so that a match is an exact span of the original.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

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


@dataclass(frozen=True)
class Folded:
    """A folded text and where each of its characters came from.

    Attributes:
        text: the folded text.
        starts: for each folded character, the code point of the original where it begins.
        ends: and the one just behind it.
    """

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original's span for the folded span ``[start, end)``, which must not be empty."""
        return self.starts[start], self.ends[end - 1]


@dataclass(frozen=True)
class Token:
    """One word of a text.

    Attributes:
        word: folded.
        start, end: its code points in the original, without possessive marker.
        surface: the original's characters.
        gap: folded text between the previous token (with its possessive marker) and this one.
        possessive: "'s", "'" or "", the marker that follows.
        possessive_end: where the marker ends; ``end`` if there is none.
    """

    word: str
    start: int
    end: int
    surface: str
    gap: str
    possessive: str
    possessive_end: int

    @property
    def capitalized(self) -> bool:
        """Whether the word begins with a capital letter."""
        return next((ch.isupper() or ch.istitle() for ch in self.surface if ch.isalnum()), False)

    @property
    def adjacent(self) -> bool:
        """Whether only blanks part this token from the one before it."""
        return self.gap != "" and not self.gap.strip(" ")


_APOSTROPHES = "‘’‚‛ʻʼʽʾʿˈ′`´＇"
_DOUBLE_QUOTES = "“”„‟«»″＂"
_DASHES = "‐‑‒–—―−﹣－"
_SPECIAL = (
    dict.fromkeys(_APOSTROPHES, "'")
    | dict.fromkeys(_DOUBLE_QUOTES, '"')
    | dict.fromkeys(_DASHES, "-")
    | {
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i",
        "ħ": "h", "ŧ": "t", "ŋ": "n", "ə": "e", "ɛ": "e", "ɔ": "o", "⁄": "/",
    }
)  # fmt: skip
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_WORD = re.compile(r"[^\W_]+|&")


@lru_cache(maxsize=4096)
def _fold_char(ch: str) -> str:
    if ch in _LINE_ENDS:
        return "\n"
    if ch.isspace() or unicodedata.category(ch).startswith("Z"):
        return " "
    out = []
    # Twice, since a case-folded letter may decompose again.
    for part in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", ch).casefold()):
        category = unicodedata.category(part)
        if unicodedata.combining(part) or category in ("Cf", "Cc", "Cs", "Co", "Cn"):
            continue
        if "\ufe00" <= part <= "\ufe0f" or part == "\u034f":
            continue
        out.append(" " if category.startswith("Z") else _SPECIAL.get(part, part))
    return "".join(out)


@lru_cache(maxsize=2048)
def fold(text: str) -> Folded:
    """Fold a text and keep the map to its code points.

    Case, accents, invisible characters, ligatures, and the kinds of quotes, dashes and blanks
    are folded away; line ends stay. Folding a folded text changes nothing.
    """
    if text.isascii() and text.isprintable():
        lower = text.lower().replace("`", "'")
        return Folded(lower, tuple(range(len(text))), tuple(range(1, len(text) + 1)))
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for position, ch in enumerate(text):
        for part in _fold_char(ch):
            folded.append(part)
            starts.append(position)
            ends.append(position + 1)
    return Folded("".join(folded), tuple(starts), tuple(ends))


_INITIAL_GAP = re.compile(r"\. ?| ")


def _merge_initials(found: list[Token], text: str) -> list[Token]:
    """Join runs of initials ("J. K.", "J.K.") into one token, so that they equal "JK"."""
    merged: list[Token] = []
    for index, token in enumerate(found):
        last = merged[-1] if merged else None
        if (
            last is not None
            and len(token.word) == 1
            and token.surface.isupper()
            and last.surface.replace(".", "").replace(" ", "").isupper()
            and (len(found[index - 1].word) == 1)
            and found[index - 1].surface.isupper()
            and not found[index - 1].possessive
            and _INITIAL_GAP.fullmatch(token.gap)
            # "Malcolm X. I met ...", "Vitamin C. A day ...": not initials.
            and not (
                token.word in "ia" and " " in token.gap and text[token.end : token.end + 1] != "."
            )
        ):
            merged[-1] = Token(
                word=last.word + token.word,
                start=last.start,
                end=token.end,
                surface=text[last.start : token.end],
                gap=last.gap,
                possessive=token.possessive,
                possessive_end=token.possessive_end,
            )
        else:
            merged.append(token)
    return merged


@lru_cache(maxsize=2048)
def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text, possessive markers split off and runs of initials joined."""
    folded = fold(text)
    found: list[Token] = []
    behind = 0
    matches = list(_WORD.finditer(folded.text))
    for match in matches:
        start, end = folded.span(match.start(), match.end())
        gap = folded.text[behind : match.start()]
        word = "and" if match.group() == "&" else match.group()
        if word == "s" and found and re.fullmatch(r" ?' ?", gap) and text[start:end] == "s":
            last = found[-1]
            found[-1] = Token(last.word, last.start, last.end, last.surface, last.gap, "'s", end)
            behind = match.end()
            continue
        behind = match.end()
        possessive, possessive_end = "", end
        if (
            word.endswith("s")
            and re.match(r"'(?=[ \n])", folded.text[behind:])
            and not _quoted(folded.text, match.start())
        ):
            possessive, possessive_end = "'", folded.ends[behind]
            behind += 1
        found.append(Token(word, start, end, text[start:end], gap, possessive, possessive_end))
    return tuple(_merge_initials(found, text))


def _quoted(folded: str, position: int) -> bool:
    """Whether an opening single quote stands before ``position`` in its line, still unclosed."""
    line = folded[folded.rfind("\n", 0, position) + 1 : position]
    opened = len(re.findall(r"(?:^|[\s(\[])'(?=\w)", line))
    closed = len(re.findall(r"(?<=[\w.,!?])'(?=[\s.,;:!?)]|$)", line))
    return opened > closed


def same_gap(expected: str, seen: str, before: str, after: str = "") -> bool:
    """Whether two words of a name may be parted by ``seen`` where the name has ``expected``.

    Args:
        expected: the gap in the name.
        seen: the gap in the text.
        before: the folded word before the gap; a period counts as part of the name only behind
            an initial or an abbreviation.
        after: the folded word behind the gap; a spaced dash counts before one letter ("Jay - Z").
    """
    if "\n" in seen:
        return False
    if "." in seen and "." not in expected and len(before) > 2 and before not in ABBREVIATIONS:
        return False
    wanted = re.sub(r"[\s.]", "", expected)
    found = re.sub(r"[\s.]", "", seen)
    if wanted == found:
        return True
    loose = {"", "-", "'"}
    if wanted in loose and found in loose:
        # A spaced dash ("Paris - Hemingway") parts clauses, unless the name has a hyphen.
        return not (found == "-" and wanted != "-" and seen != "-" and len(after) != 1)
    return False


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
    """Take a person's name apart. The name is read with :func:`core` first."""
    whole = core(name, "person")
    parts = list(tokens(whole))
    words = tuple(part.word for part in parts)
    while len(parts) > 1 and parts[0].word in HONORIFICS and len(parts) > 1:
        parts = parts[1:]
    certain = all(not part.gap.strip(" .-'") for part in parts[1:])
    suffix, regnal = "", False
    if len(parts) > 1 and (parts[-1].word in ROMAN or parts[-1].word in GENERATION):
        if len(parts[-1].word) > 1 or parts[-1].word in "iv" or len(parts) == 2:
            suffix = parts[-1].word
            regnal = suffix in ROMAN and len(parts) == 2 and suffix not in ("x",)
        if suffix and suffix not in ("x",):
            parts = parts[:-1]
        else:
            suffix = ""
    for index, part in enumerate(parts):
        if index and part.word in ("the", "of"):
            certain = False
            parts = parts[:index]
            break
    surname_first = False
    split = len(parts) - 1
    if len(parts) < 2 or regnal or not certain:
        given, family = parts[:1], []
    else:
        hyphened = any("-" in part.gap for part in parts[2:])
        if (
            parts[0].word in FAMILY_FIRST
            and len(parts) <= 3
            and (hyphened or len(parts[1].word) <= 6)
        ):
            surname_first = True
            family, given = parts[:1], parts[1:]
        else:
            while split > 1 and ("-" in parts[split].gap or "'" in parts[split].gap):
                split -= 1
            while split > 1 and parts[split - 1].word in PARTICLES:
                split -= 1
            if parts[0].word in PARTICLES and parts[0].word in ("ibn", "abu", "al", "el"):
                given, family = parts, []
            else:
                given, family = parts[:split], parts[split:]
    return Person(
        words=words,
        given=tuple(part.word for part in given),
        surname=tuple(part.word for part in family),
        surname_first=surname_first,
        suffix=suffix,
        regnal=regnal,
        certain=certain,
        surname_text=whole[family[0].start : family[-1].end] if family else "",
        given_text=given[0].surface if given else "",
    )


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
        return head in GENERIC and head not in ("company",)
    return len(words) > 1 and words[-1] in _ARTICLE_HEADS


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
