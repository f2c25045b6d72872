"""Fold a text for matching, with a map back to its code points, and cut it into words.

Real text writes one name in many ways: with and without accents, with invisible characters
inside, with curly quotes, with spaces around its hyphens. The folded text has lost those
differences, and keeps for every character the code points of the original that it came from, so
that a match is an exact span of the original.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from chaincheck.name_words import ABBREVIATIONS

__all__ = ["INVISIBLE", "Folded", "Token", "fold", "same_gap", "tokens", "visible"]

# Characters that show nothing, as the inside of a regular expression's class.
INVISIBLE = "\u00ad\u034f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
_INVISIBLE = re.compile(f"[{INVISIBLE}]+")


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


def visible(text: str) -> str:
    """The text without invisible characters; offsets into it are not those of the original."""
    return _INVISIBLE.sub("", text)


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
        if found and start < found[-1].possessive_end:
            continue  # "½" folds to two numbers, but is one code point.
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
