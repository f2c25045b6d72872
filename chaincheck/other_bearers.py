"""Others who bear the name that was renamed, and other names of its bearer.

A brother who keeps the old surname, a firm or a film that has the name inside, an alias that tells
the old name or stands beside the new one: each of these says that the new name is not the true
one, or ties the passages together again, although no mention of the bridge was overlooked.
"""

from __future__ import annotations

import re

from chaincheck.bypass import FAMILY, fold_tokens, holds, holds_name, sentences
from chaincheck.draft import Draft, telling_words
from chaincheck.kinds import base_title, kind_of, sort_in_definition
from chaincheck.names import person

__all__ = ["another_thing", "backwards", "kin", "opens_otherwise", "other_name"]

# Words behind which another name of somebody follows. Where they stand in a sentence with the new
# name, or on its own page, that other name was not renamed.
_BY_ANOTHER_NAME = re.compile(
    r"\bunder the (?:name|pseudonym|alias|moniker)\b|\balias(?:es)?\b|\ba\.k\.a\.|\baka\b"
    r"|\b(?:stage|pen|ring|maiden) name\b|\bnom de (?:plume|guerre)\b|\bpseudonym"
    r"|\bformerly (?:known|called|named)\b|\bborn (?:[^\s.]+ ){0,8}as (?=[A-Z])",
)
# "Kings of Siam (and later Thailand)": the name in front of the parentheses is an older one.
_ONCE = (
    r"\b[A-Z]\w+ \((?:(?:and|or|now|later|today|modern|present-day|formerly|then|also|known|as|"
    r"called|the|day|present) )+"
)
_SHORTEST_BACKWARDS = 4


def backwards(text: str, name: str) -> str | None:
    """A word of a text that is a telling word of a name, spelled backwards; None for none."""
    words = {word[::-1] for word in telling_words(name) if len(word) >= _SHORTEST_BACKWARDS}
    words -= telling_words(name)
    return min(words & set(fold_tokens(text)), default=None)


def kin(draft: Draft, index: int) -> str | None:
    """The surname of the person who was renamed, where a support or the decoy gives it to others.

    A brother who keeps the old surname shows that the name is not the old one's; so does a firm
    ("Merchant Ivory"). In the earlier support the question's own subject may have it.
    """
    if draft.bridge_nature.kind != "person":
        return None
    decoy = draft.decoy.index if draft.decoy else None
    if index not in (draft.earlier, draft.later, decoy):
        return None
    old = (draft.replacement if index == decoy else draft.bridge).name
    surname = set(person(old).surname) & telling_words(old)
    text = draft.cells["B"][index]
    hop = draft.chain.earlier
    if index == draft.earlier and hop.relation in FAMILY:
        surname -= set(fold_tokens(hop.subject or ""))
    left = next((word for word in sorted(surname) if holds_name(text, word.title())), None)
    return None if left is None else f"gives the surname {left!r} to somebody else"


def another_thing(draft: Draft, index: int) -> str | None:
    """The name of a work or a body that holds the bridge's name, and was renamed with it.

    "The Longest Night in Shanghai ... is a film": the page is not on Shanghai, and its title is no
    description that could name another city.
    """
    passage = draft.chain.passages[index] if index < len(draft.chain.passages) else None
    if passage is None or passage.whole != draft.cells["A"][index]:
        return None
    title, own = base_title(passage.title), fold_tokens(draft.bridge.name)
    if fold_tokens(title) == own or not holds(title, draft.bridge.name):
        return None
    named = fold_tokens(passage.text)[: len(fold_tokens(title))] == fold_tokens(title)
    if named and kind_of(sort_in_definition(passage.text)) in ("work", "organization", "other"):
        return f"is on {title!r}, which is another name"
    return None


_OPENING = re.compile(r"\W*((?:[^\W\d_a-z][\w'’.-]*\s+)*[^\W\d_a-z][\w'’.-]*)\s*\(")


def opens_otherwise(draft: Draft, index: int) -> str | None:
    """Another spelling by which a page on the bridge begins, and which no rename reached.

    "Matilda of Brabant, Countess of Holland" may open with "Mathilde (c. 1200 - 1267)".
    """
    title, _, body = draft.cells["B"][index].partition("\n")
    name = draft.replacement.name
    opening = _OPENING.match(body)
    if not opening or not holds(title, name):
        return None
    if set(fold_tokens(opening.group(1))) & set(fold_tokens(name)):
        return None
    return f"opens with {opening.group(1)!r}, which was not renamed"


def other_name(draft: Draft, text: str) -> str | None:
    """Words of an edited passage that give whoever was renamed another name."""
    name = draft.replacement.name
    once = re.search(_ONCE + re.escape(name), text)
    if once:
        return f"gives a second name: {once.group()[:60]!r}"
    surname = person(name).surname_text if draft.bridge_nature.kind == "person" else ""
    own = fold_tokens(base_title(text.partition("\n")[0])) == fold_tokens(name)
    for sentence in sentences(text):
        told = _BY_ANOTHER_NAME.search(sentence)
        if told and (own or holds(sentence, name) or (surname and holds_name(sentence, surname))):
            if not own and not surname and _far_behind(sentence[told.end() :], sentence, name):
                continue
            return f"speaks of another name: {told.group()!r}"
    return None


_MOST_BETWEEN = 40


def _far_behind(rest: str, sentence: str, name: str) -> bool:
    """Whether a name stands only far behind a word for another name, so that it is not meant.

    "Masherbrum (formerly known as K1) is a mountain in the north of NAME" is on Masherbrum.
    """
    at = rest.find(name)
    before = sentence[: len(sentence) - len(rest)]
    return not holds(before, name) and at > _MOST_BETWEEN and ")" in rest[:at]
