"""Mentions of an organization by an acronym that the text explains, or by a short name.

A passage that names Nottingham Forest in full and goes on with "Forest" alone, or the
Conservative Party of Canada and goes on with "the Conservative Party", means it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chaincheck.demonyms import is_place_word
from chaincheck.folding import Token, tokens, visible
from chaincheck.mention_context import in_title, lengthened, sentence_start
from chaincheck.name_words import FUNCTION, GENERIC
from chaincheck.names import Entity, acronym, core
from chaincheck.renaming import Mention

__all__ = ["acronyms", "short_names"]

# Class nouns: capitalized and alone they stand for any body of their class.
_BODIES = frozenset(
    ["university", "college", "school", "institute", "academy", "company", "corporation", "group",
     "bank", "party", "committee", "commission", "council", "board", "bureau", "agency", "navy",
     "army", "force", "forces", "foundation", "society", "association", "federation", "union",
     "league", "network", "records", "pictures", "entertainment", "international", "museum",
     "library", "press", "club", "court", "parliament", "congress", "department", "ministry"]
)  # fmt: skip


def acronyms(text: str, mentions: Sequence[Mention], entity: Entity) -> list[Mention]:
    """The mentions, with those by an acronym that stands in parentheses behind the full name."""
    short = acronym(entity.name, entity.kind)
    if len(short) < 2 or not any(
        re.match(rf"\s?\(\s?{short}\s?\)", visible(text[mention.end :])) for mention in mentions
    ):
        return list(mentions)
    more = list(mentions)
    for token in tokens(text):
        if token.surface == short and not in_title(text, token.start):
            more.append(_mention(text, [token], "acronym"))
    return more


def short_names(text: str, mentions: Sequence[Mention], entity: Entity) -> list[Mention]:
    """The mentions, with those by a short name in a text that has the full one."""
    name = tokens(core(entity.name, entity.kind))
    if entity.kind != "organization" or len(name) < 2 or not mentions:
        return list(mentions)
    words = [part.word for part in name]
    found = tokens(text)
    taken = [(m.start, m.end) for m in mentions]
    more = list(mentions)
    for at in range(len(found)):
        size = _short(found, at, words)
        if not size:
            continue
        span = (found[at].start, found[at + size - 1].end)
        free = not any(start < span[1] and span[0] < end for start, end in taken)
        if free and lengthened(text, found, at, at + size, entity.kind) is None:
            more.append(_mention(text, found[at : at + size], "short"))
    return more


def _short(found: Sequence[Token], at: int, words: Sequence[str]) -> int:
    """How many tokens at ``at`` are a short name; 0 for none."""
    if not found[at].capitalized:
        return 0
    if "of" in words:
        head = words[: words.index("of")]
        seen = [token.word for token in found[at : at + len(head)]]
        follows = found[at + len(head)].word if at + len(head) < len(found) else ""
        joined = all(token.adjacent for token in found[at + 1 : at + len(head)])
        return len(head) if len(head) > 1 and seen == head and joined and follows != "of" else 0
    last = words[-1]
    if found[at].word != last or len(last) < 5 or last in _BODIES or is_place_word(last):
        return 0
    before = found[at - 1] if at and found[at].adjacent else None
    if last not in GENERIC:
        return 1
    # "Forest won": a common noun is a name only without an article and inside a line.
    opens = before is None and sentence_start(found, at)
    after = found[at + 1] if at + 1 < len(found) else None
    if after is None or not after.adjacent or after.word in ("of", "for"):
        return 0
    determined = before is not None and before.word in (
        "the", "a", "an", "this", "that", "its", "their", "his", "her", "our", "each", "every",
    )  # fmt: skip
    plain = (
        before is not None
        and not determined
        and (not before.capitalized or before.word in FUNCTION)
    )
    return 1 if opens or plain else 0


def _mention(text: str, found: Sequence[Token], form: str) -> Mention:
    start, end = found[0].start, found[-1].end
    return Mention(start, end, text[start:end], form, found[-1].possessive != "")
