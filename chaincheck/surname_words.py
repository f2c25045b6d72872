"""Parts of a person's name that are places, common words or halves of a pair of names.

"Jack London lived in London", "James Young ... Young people", "Tom and Jerry": where a part of the
name stands so, it may not mean the person.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaincheck import gazetteer
from chaincheck.demonyms import is_place_word
from chaincheck.mention_context import sentence_start
from chaincheck.name_words import FUNCTION
from chaincheck.names import Token

__all__ = ["coupled", "something_else"]

_WHERE = frozenset(["in", "from", "near", "at", "to", "outside", "around", "across", "through"])


def something_else(found: Sequence[Token], start: int, end: int) -> str | None:
    """Say whether a surname may be the place or the common word that it also is.

    "Jack London ... lived in London", "James Young ... Young people".
    """
    word = found[start].word
    if end - start > 1:
        return None
    before = found[start - 1].word if start and found[start].adjacent else ""
    if before in _WHERE and (is_place_word(word) or gazetteer.sort_of(word)):
        return "may be the place"
    after = found[end] if end < len(found) else None
    if after is None or not after.adjacent or after.capitalized:
        return None
    verb = after.word in FUNCTION | _VERBS or after.word.endswith("ed")
    if word in _ADJECTIVES and sentence_start(found, start) and not verb:
        return "may be a common word"
    return None


_ADJECTIVES = frozenset(
    ["young", "black", "white", "brown", "green", "gray", "grey", "long", "short", "small",
     "little", "strong", "rich", "poor", "wild", "wise", "sharp", "bright", "good", "best",
     "noble", "royal", "french", "english", "german", "irish", "welsh", "holy", "free", "major",
     "early", "day", "love", "summer", "winter", "church", "stone", "gold", "silver", "power"]
)  # fmt: skip
_VERBS = frozenset(
    ["is", "was", "has", "had", "did", "does", "made", "began", "became", "wrote", "played", "won",
     "said", "died", "left", "met", "sang", "led", "took", "came", "went", "gave", "also", "later",
     "then", "first", "never", "often", "grew", "spent", "moved", "married", "joined", "released",
     "directed", "studied", "worked", "appeared", "received", "returned", "started", "signed",
     "recorded", "attended", "lived", "served", "published", "graduated", "stated", "starred"]
)  # fmt: skip


def coupled(found: Sequence[Token], at: int) -> bool:
    """Whether a given name is coupled with another that stands nowhere else: "Tom and Jerry"."""
    if at + 2 >= len(found) or found[at + 1].word != "and":
        return False
    if not (found[at + 1].adjacent and found[at + 2].adjacent):
        return False
    other = found[at + 2]
    longer = at + 3 < len(found) and found[at + 3].adjacent and found[at + 3].capitalized
    if not other.capitalized or longer or other.word in FUNCTION:
        return False
    return sum(token.word == other.word for token in found) == 1
