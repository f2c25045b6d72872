"""Relation slots: which first hops ask for the same kind of thing.

Two hops of one slot can lend each other bridges and decoys. A source with a fixed set of
relations names the slot itself; a question in free text is read by its wording.
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["slot_of"]

# Wordings of a first hop -> slot. The first pattern that matches decides; the wordings on the
# left are those of questions in English, the slots those of Wikidata where it has one.
_WORDINGS: tuple[tuple[str, str], ...] = (
    # Before "sung": who wrote a song that somebody sang did not sing it.
    (r"\bwho (?:wrote|writes|composed)\b.*\bsong\b", "songwriter"),
    (r"^who (?:does|did|do|is|was)\b.*\b(?:play|played by)\b", "role"),
    (
        r"^who\b.*\b(?:play|plays|played|playing|voice[sd]?|starred|stars|star|acted|portray\w*)\b",
        "cast member",
    ),
    (r"\b(?:actor|actress|cast member|voice of|the star of)\b", "cast member"),
    (
        r"\b(?:sang|sings|sing|sung|perform\w*|artist or group|duet|whose performance)\b",
        "performer",
    ),
    (r"\b(?:who (?:wrote|authored)|author of|written by whom|which author)\b", "author"),
    (r"\b(?:who directed|director of|directed by wh)", "director"),
    (r"\b(?:who composed|composer of)\b", "composer"),
    (r"\b(?:who produced|producer of|who(?:se)? was the producer)\b", "producer"),
    (
        r"\b(?:which was the creator|who (?:created|developed|made|painted)|creator of|by whom"
        r"|is .* by\?)",
        "creator",
    ),
    (r"\bwho (?:founded|established|started)\b|\bfounder of\b", "founded by"),
    (r"\b(?:father of|whose father|.*'s father)\b", "father"),
    (r"\b(?:mother of|whose mother|.*'s mother)\b", "mother"),
    (
        r"\b(?:married to|spouse of|husband of|wife of|who married)\b|'s (?:spouse|wife|husband)\b",
        "spouse",
    ),
    (
        r"\bwho\b.*\b(?:king|queen|monarch|ruler|emperor|prime minister|president)\b|^monarch\b",
        "ruler",
    ),
    (r"\b(?:named (?:after|for))\b", "named after"),
    (r"\bwho (?:bought|acquired|owns|owned)\b|\bowner of\b", "owned by"),
    (r"\b(?:who manufactured|manufacturer of|who made|produced by whom)\b", "manufacturer"),
    (r"\b(?:who published|publisher of|which company published)\b", "publisher"),
    (r"\b(?:record label|what label|which label)\b", "record label"),
    (r"\b(?:which|what|in what|in which) state\b|\bname of the state\b", "state"),
    (
        r"\b(?:which|what|in what|in which) (?:is the )?(?:native )?country\b|\bin what country\b",
        "country",
    ),
    (r"\b(?:which|what|in what|in which) (?:is the )?(?:town or )?city\b|city of birth", "city"),
    (r"\b(?:which|what) river\b|\bflow into\b|\btributary of\b", "river"),
    (r"\bwhere was .* born\b|\bbirth ?place\b", "place of birth"),
    (r"\bwhere did .* (?:die|live when (?:he|she) died)\b|\bplace of death\b", "place of death"),
    (
        r"\b(?:university|college|school)\b.*\b(?:attend|educat\w*|study|studied)\b|\balma mater\b",
        "educated at",
    ),
    (r"\b(?:what|which) (?:sports )?team\b|\bplays? for which\b", "team"),
    (r"\bwho won\b.*\b(?:cup|league|final|championship|series|bowl|treble)\b", "team"),
    (r"\b(?:what|which) company\b", "company"),
    (r"\b(?:what|which) (?:political )?party\b", "member of political party"),
)
_COMPILED = tuple((re.compile(pattern), slot) for pattern, slot in _WORDINGS)
# A source tells "who plays Thelma in X" from "who is in the cast of X"; both lead to an actor of X.
_SAME = {"cast role": "cast member"}
_ARROW = re.compile(r"^(?P<subject>.*?)\s*>>\s*(?P<relation>.*)$", re.DOTALL)


@lru_cache(maxsize=65536)
def slot_of(relation: str | None, question: str) -> str | None:
    """The relation slot of a hop: the source's relation, else one read from the wording.

    Returns:
        A lower-case slot such as "place of birth", or None where the wording fits no pattern. A
        hop without a slot lends no decoys and borrows replacements by kind and sort only.
    """
    if relation and len(relation) <= 60 and "#" not in relation and "?" not in relation:
        slot = " ".join(relation.casefold().split())
        return _SAME.get(slot, slot)
    arrow = _ARROW.match(question)
    if arrow:
        return " ".join(arrow.group("relation").casefold().split()) or None
    folded = " ".join(question.casefold().replace("’", "'").split())
    for pattern, slot in _COMPILED:
        if pattern.search(folded):
            return slot
    return None
