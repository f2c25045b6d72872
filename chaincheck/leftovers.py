"""What of an old name, or of talk about it, is left in a passage that was edited.

The detector of mentions finds the name and its parts. What is looked for here lies around the
name: a surname that stands alone, the nationality in a body's name, a second name, a sentence on
where the name comes from.
"""

from __future__ import annotations

import re

from chaincheck import gazetteer
from chaincheck.bypass import holds, lone_surname, sentences
from chaincheck.draft import Draft, telling_words
from chaincheck.names import person

__all__ = ["leftover"]

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


def leftover(draft: Draft, text: str) -> str | None:
    """What of the old name, or of talk about it, is left in an edited passage."""
    name = draft.bridge.name
    family = person(name).surname if draft.bridge_nature.kind == "person" else ()
    surname = next((word for word in reversed(family) if word in telling_words(name)), None)
    if surname and lone_surname(surname, text):
        return f"still holds {surname!r}"
    nations = gazetteer.nations_in(name)
    if draft.bridge_nature.kind == "organization":
        told_nation = next((word for word in sorted(nations) if holds(text, word)), None)
        if told_nation:
            return f"still holds {told_nation!r}"
    behind = re.compile(re.escape(draft.replacement.name) + _OTHER_NAME)
    second = behind.search(text)
    if second:
        return f"gives a second name: {second.group()[:60]!r}"
    for sentence in sentences(text):
        told = _ETYMOLOGY.search(sentence)
        if told and holds(sentence, draft.replacement.name):
            return f"speaks of the name itself: {told.group()!r}"
    return None
