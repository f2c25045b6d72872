"""What of an old name, or of talk about it, is left in a passage that was edited.

The detector of mentions finds the name and its parts. What is looked for here lies around the
name: a surname that stands alone, the nationality in a body's name, a second name, a sentence on
where the name comes from.
"""

from __future__ import annotations

import re

from chaincheck import gazetteer
from chaincheck.bypass import fold_tokens, holds, lone_surname, sentences
from chaincheck.draft import Draft, telling_words

__all__ = ["leftover"]

# Words that tell where a name comes from or how it is said: a new name makes them false.
_ETYMOLOGY = re.compile(
    r"\b(?:phonetic|anagram|portmanteau|etymolog\w*|stands for|short for|abbreviat\w*"
    r"|(?:spelling|pronunciation|meaning) of|is spelled|pronounced|stage name|pen name|birth name"
    r"|pseudonym|nicknamed?|name (?:is|was|comes|came|derives?|means|itself))\b",
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
    words = [word for word in fold_tokens(name) if word in telling_words(name)]
    if draft.bridge_nature.kind == "person" and words and lone_surname(words[-1], text):
        return f"still holds {words[-1]!r}"
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
