"""What of an old name, or of talk about it, is left in a passage that was edited.

The detector of mentions finds the name and its parts. What is looked for here lies around the
name: a surname that stands alone, the nationality in a body's name, a second name, a sentence on
where the name comes from.
"""

# ruff: noqa: SIM905 - a split string reads better than quoted words

from __future__ import annotations

import re

from chaincheck import gazetteer
from chaincheck.bypass import (
    capitalized_words,
    fold_tokens,
    holds,
    lone_surname,
    sentences,
)
from chaincheck.draft import Draft, telling_words
from chaincheck.names import person

__all__ = ["adjective_of", "leftover", "silent_page"]

# Words that tell where a name comes from or how it is said: a new name makes them false.
_ETYMOLOGY = re.compile(
    r"\b(?:phonetic|anagram|portmanteau|etymolog\w*|stands for|short for|abbreviat\w*"
    r"|(?:spelling|pronunciation|meaning) of|is spelled|pronounced|stage name|pen name|birth name"
    r"|pseudonym|name (?:is|was|comes|came|derives?|means|itself))\b",
    re.IGNORECASE,
)


# A second name behind the new one: "X, known in German as Karl", "X (Navajo: Hoozdo)".
_OTHER_NAME = (
    r"(?:,? (?:who |which )?(?:is |was )?(?:also |better |best |commonly |formerly )?"
    r"known (?:in [A-Z]\w+ )?as [\"“]?[A-Z]|\s?\([^)]{0,60}?\)?[^)]{0,20}\b[A-Z][\w'’]+: ?\w)"
)

_ADJECTIVAL = ("ic", "ian", "ean", "an", "ist", "ism", "ish", "ese", "ite", "esque")
_PLAIN_START = frozenset(
    "he she it they his her its their the a an in on at after during from by while when with as "
    "this these that for since before however although despite under".split()
)


def adjective_of(name: str, text: str) -> str | None:
    """A word of a text derived from the last telling word of a name ("Pyrrhic" of Pyrrhus)."""
    telling = [word for word in fold_tokens(name) if word in telling_words(name)]
    if not telling or len(telling[-1]) < 6:
        return None
    stem = telling[-1][:-2] if telling[-1].endswith(("us", "os", "es", "is", "um")) else telling[-1]
    return next(
        (
            word
            for word in fold_tokens(text)
            if word != telling[-1] and word.startswith(stem) and word[len(stem) :] in _ADJECTIVAL
        ),
        None,
    )


def silent_page(text: str, name: str) -> bool:
    """Whether a page titled with a name never says it again, and opens with something else.

    Such a page may call its subject by another name.
    """
    title, _, body = text.partition("\n")
    if not body or not holds(title, name) or holds(body, name):
        return False
    words = fold_tokens(body)
    parts = set(fold_tokens(name))
    return bool(words) and words[0] not in _PLAIN_START and not parts & set(words)


def leftover(draft: Draft, text: str) -> str | None:
    """What of the old name, or of talk about it, is left in an edited passage."""
    name, kind = draft.bridge.name, draft.bridge_nature.kind
    family = person(name).surname if kind == "person" else ()
    surname = next((word for word in reversed(family) if word in telling_words(name)), None)
    kept: list[str | None] = [surname if surname and lone_surname(surname, text) else None]
    kept.append(adjective_of(name, text))
    if kind == "organization":
        kept += [word for word in sorted(gazetteer.nations_in(name)) if holds(text, word)]
    elif kind != "person":
        kept += sorted(telling_words(name) & capitalized_words(text))
    left = next((word for word in kept if word), None)
    if left:
        return f"still holds {left!r}"
    if silent_page(text, draft.replacement.name):
        return "may call the bridge by another name, since it never says its title"
    second = re.search(re.escape(draft.replacement.name) + _OTHER_NAME, text)
    if second:
        return f"gives a second name: {second.group()[:60]!r}"
    for sentence in sentences(text):
        told = _ETYMOLOGY.search(sentence)
        if told and holds(sentence, draft.replacement.name):
            return f"speaks of the name itself: {told.group()!r}"
    return None
