"""Put one name in the place of another: forms, articles, possessives, capitals, "a" and "an"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from chaincheck.folding import INVISIBLE, visible
from chaincheck.name_words import FUNCTION
from chaincheck.names import (
    Entity,
    acronym,
    core,
    person,
    starts_with_vowel_sound,
    takes_article,
    tokens,
)

__all__ = ["AmbiguousMention", "Mention", "Renamed", "replace_mentions"]


class AmbiguousMention(Exception):
    """Something that may or may not be a mention, or a mention that cannot be renamed surely.

    Not a fault of the user's: the builder turns it into a rejection.

    Attributes:
        reason: why.
        start, end: code points in the passage; 0, 0 where the fault is the name itself.
        passage: index of the passage among those that were judged together, None if no one
            passage is at fault.
    """

    def __init__(self, reason: str, start: int, end: int, *, passage: int | None = None) -> None:
        self.reason = reason
        self.start = start
        self.end = end
        self.passage = passage
        super().__init__(reason)


@dataclass(frozen=True)
class Mention:
    """A certain mention.

    Attributes:
        start, end: code points, without the possessive marker.
        surface: ``text[start:end]``.
        form: "full", "alias", "short", "extended", "surname", "given", "initials", "acronym", or
            "gloss" for what repeats the name in parentheses and goes with it, or "relative" for
            somebody's whole name that ends in the same surname.
        possessive: whether a possessive marker follows.
    """

    start: int
    end: int
    surface: str
    form: str
    possessive: bool


@dataclass(frozen=True)
class Renamed:
    """A text after renaming.

    Attributes:
        text: the new text.
        spans: (start, end, before, after) for every changed span, in order, in code points of
            the old text; ``old[start:end] == before``.
    """

    text: str
    spans: tuple[tuple[int, int, str, str], ...]


def replace_mentions(
    text: str, mentions: Sequence[Mention], entity: Entity, replacement: Entity
) -> Renamed:
    """Replace every mention by the corresponding form of the replacement.

    Raises:
        AmbiguousMention: a mention cannot take the replacement without doubt.
    """
    spans = [_span(text, mention, entity, replacement) for mention in mentions]
    spans.sort()
    for (_, end, _, _), (start, _, _, _) in pairwise(spans):
        if start < end:
            raise AmbiguousMention("two mentions overlap", start, end)
    pieces = []
    behind = 0
    for start, end, _, after in spans:
        pieces += [text[behind:start], after]
        behind = end
    pieces.append(text[behind:])
    return Renamed("".join(pieces), tuple(spans))


def _form(mention: Mention, replacement: Entity) -> str:
    """The replacement's name in the form of a mention."""
    full = core(replacement.name, replacement.kind)
    if mention.form in ("surname", "given") and replacement.kind == "person":
        parts = person(replacement.name)
        if mention.form == "surname" and parts.surname_text:
            return parts.surname_text
        if mention.form == "given" and parts.given_text:
            return parts.given_text
    if mention.form == "short" and replacement.kind != "organization":
        return full.split(",")[0]
    if mention.form == "acronym":
        short = acronym(replacement.name, replacement.kind)
        if not short:
            raise AmbiguousMention("the replacement has no acronym", mention.start, mention.end)
        return short
    return full


def _relative(mention: Mention, entity: Entity, replacement: Entity) -> str:
    """The name of a relative with the new surname."""
    own, other = person(entity.name), person(replacement.name)
    if not other.surname_text or not other.certain or other.surname_first:
        raise AmbiguousMention("the new name has no surname", mention.start, mention.end)
    first = tokens(mention.surface)[-len(own.surname)].start
    return f"{mention.surface[:first]}{other.surname_text}"


def _span(
    text: str, mention: Mention, entity: Entity, replacement: Entity
) -> tuple[int, int, str, str]:
    start, end = mention.start, mention.end
    if mention.form == "gloss":
        return start, end, text[start:end], ""
    after = _form(mention, replacement)
    if mention.form == "relative":
        after = _relative(mention, entity, replacement)
    if not core(entity.name, entity.kind).isupper():
        after = _cased(after, mention.surface, text, start)
    end, after = _period(text, end, after)
    if mention.form in ("full", "alias", "extended", "short"):
        start, after = _article(text, after, mention, entity, replacement)
    if mention.form == "short" and replacement.kind == "organization":
        seen = _THE.search(text[max(0, mention.start - 12) : mention.start])
        if seen and not takes_article(replacement.name, replacement.kind):
            start -= len(seen.group()) - (0 if seen.group()[0] in "tT" else 1)  # "the Rapids"
    start, after = _indefinite(text, start, after, mention)
    end, after = _possessive(text, mention, end, after)
    return start, end, text[start:end], after


def _cased(name: str, surface: str, text: str, start: int) -> str:
    letters = [ch for ch in surface if ch.isalpha()]
    shouted = surface.isupper() and len(letters) > 4 and not name.isupper()
    if shouted:
        return name.upper()
    if letters and surface.islower() and len(letters) > 1:
        return name.lower()
    opens = start == 0 or re.search(r"(?:[.!?] |\n)$", text[max(0, start - 2) : start])
    if surface[:1].isupper() and name[:1].islower() and opens:
        return name[:1].upper() + name[1:]
    return name


def _period(text: str, end: int, after: str) -> tuple[int, str]:
    """Keep one period where an abbreviation ends the old name or the new one."""
    if after.endswith(".") and text[end : end + 1] == ".":
        return end, after[:-1]
    return end, after


_BLANK = f"[ \u00a0{INVISIBLE}]+"
_THE = re.compile(rf"(?:^|[^\w])(?:the|The|THE){_BLANK}$")
_INDEFINITE = re.compile(rf"(?:^|[\s(\"“])((?:a|A)n?)({_BLANK})$")
_MARKER = re.compile(rf"([{INVISIBLE}]*['’])[{INVISIBLE}]*([sS]?)")


def _article(
    text: str, after: str, mention: Mention, entity: Entity, replacement: Entity
) -> tuple[int, str]:
    """Fit "the" before the new name."""
    start = mention.start
    seen = _THE.search(text[max(0, start - 12) : start])
    wants = takes_article(replacement.name, replacement.kind)
    own = takes_article(entity.name, entity.kind)
    if mention.form == "short" and replacement.kind == "organization" and not wants:
        return start, after
    if seen and own and not wants:
        raise AmbiguousMention("the new name takes no article", mention.start, mention.end)
    if seen and not own and not wants and _closes(text[mention.end :]):
        raise AmbiguousMention("the article belongs to the name", mention.start, mention.end)
    if seen or not wants or own:
        return start, after
    raise AmbiguousMention("the new name needs an article", mention.start, mention.end)


def _closes(behind: str) -> bool:
    """Whether nothing that an article could belong to follows ("the Toronto mayor")."""
    follows = re.match(r"[ \u00a0]([^\W\d_]+)", visible(behind[:40]))
    return follows is None or follows.group(1).casefold() in FUNCTION


def _indefinite(text: str, start: int, after: str, mention: Mention) -> tuple[int, str]:
    """Make "a" or "an" before the name agree with the new one."""
    seen = _INDEFINITE.search(text[max(0, start - 10) : start])
    if not seen:
        return start, after
    word, blank = seen.groups()
    wanted = word[0] + ("n" if starts_with_vowel_sound(after) else "")
    if wanted == word:
        return start, after
    return start - len(word) - len(blank), wanted + blank + after


def _possessive(text: str, mention: Mention, end: int, after: str) -> tuple[int, str]:
    """Give a bare apostrophe its "s" where the new name does not end in one."""
    seen = _MARKER.match(text, end) if mention.possessive else None
    if seen is None or seen.group(2) or after[-1:] in ("s", "S"):
        return end, after
    return end + len(seen.group(1)), after + seen.group(1) + "s"
