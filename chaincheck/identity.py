"""Whether the supports of a question speak of one and the same entity.

A question that was put together from single steps may join two namesakes: Atlanta in Georgia and
Atlanta in Michigan, a singer and a policeman of one name, a composer and a painter a century
apart, a band and the girl that it is named after. Renaming both is easy and the triplet worthless:
not even its intact cells can be answered. What is asked here needs no knowledge of the world, only
that two passages say what cannot both be true; where they say too little, nothing is claimed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import combinations

from chaincheck.bypass import fold_tokens, holds_name, sentences
from chaincheck.chains import Chain, Passage
from chaincheck.folding import visible
from chaincheck.kinds import Nature, base_title, kind_of, sort_near
from chaincheck.name_words import REGIONS
from chaincheck.names import core

__all__ = ["qualifiers", "qualifiers_tie", "two_bearers", "two_joints", "two_places"]

_CAPITAL = r"[A-ZÀ-ÝŁŚŻÖÜØÅČŠŽ][\w'’-]*\.?"
_MOST_YEARS = 80
"""Nobody is at work in two years that lie farther apart."""
_TWO_MEANINGS = frozenset(("victoria", "washington"))
"""Regions whose names are more often somebody's or something else's."""
_YEAR = re.compile(r"\b1[0-9]\d{2}\b|\b20[0-2]\d\b")

# Trades of which nobody has two, as far as a passage's first words on somebody go. Writers,
# actors, politicians and teachers are left out: they may be anything beside.
_TRADES: dict[str, str] = {
    word: trade
    for trade, words in {
        "music": "singer musician composer songwriter rapper guitarist drummer pianist bassist "
        "violinist vocalist conductor saxophonist",
        "police": "policeman detective sheriff constable",
        "sport": "footballer cricketer wrestler boxer golfer swimmer quarterback pitcher baseman "
        "linebacker midfielder goalkeeper striker defender sprinter jockey",
        "art": "painter sculptor architect engraver",
        "science": "physicist chemist mathematician biologist botanist astronomer geologist",
        "church": "bishop archbishop pope cardinal missionary",
    }.items()
    for word in words.split()
}
_OFFICER = re.compile(r"\b(?:police|uniformed|patrol)\s+officer\b")
_ROLE = r"\b(?:play(?:s|ed|ing)|portray(?:s|ed|ing)|voic(?:es|ed|ing)|role of|character)"
_PLAYED = re.compile(r"^who (?:plays|played|portrays|portrayed|voices|voiced) #\d")


def qualifiers(text: str, name: str) -> tuple[str, ...]:
    """What stands behind a comma after each mention of a place: "Michigan" in "Atlanta, Michigan".

    Args:
        text: a passage.
        name: the place.

    Returns:
        The capitalized words, as written, in order of the mentions that have any.
    """
    pattern = re.compile(rf"\b{re.escape(name)}, ({_CAPITAL}(?: {_CAPITAL}){{0,2}})")
    return tuple(match.group(1) for match in pattern.finditer(visible(text)))


def qualifiers_tie(names: Sequence[str], texts: tuple[str, str, str]) -> bool:
    """Whether two places can be exchanged without a word on where they lie giving it away.

    "Ocala, Wisconsin" contradicts "Ocala, Florida" in the decoy, so that at most one region may be
    told; and "NAME, Region" must stand as often for one name or the other in B as in D.

    Args:
        names: the bridge and the decoy's tail.
        texts: the earlier support, the later support and the decoy, unedited.
    """
    told = [[found for name in names for found in qualifiers(text, name)] for text in texts]
    if len({_region(found) or fold_tokens(found)[0] for group in told for found in group}) > 1:
        return False
    earlier, later, decoy = (len(group) for group in told)
    # B has earlier + later of the one name and decoy of the other, D has later + decoy and earlier.
    return not later or earlier == decoy


def _region(qualifier: str) -> str | None:
    """The state or province that a qualifier begins with."""
    words = fold_tokens(qualifier)
    return next((found for n in (3, 2, 1) if (found := " ".join(words[:n])) in REGIONS), None)


def _regions(texts: Iterable[str], name: str) -> set[str]:
    return {
        region for text in texts for found in qualifiers(text, name) if (region := _region(found))
    }


def _told_beside(text: str, name: str) -> set[str]:
    """The regions that the sentences with a name speak of."""
    return {
        region
        for sentence in sentences(text)
        if holds_name(sentence, name)
        for region in REGIONS - _TWO_MEANINGS
        if holds_name(sentence, region.title())
    }


def two_places(name: str, passages: Sequence[str]) -> str | None:
    """Why a name is that of two places in the supports of a question, or None.

    Two passages put it into different states, or one puts it into a state and another speaks of
    it beside other states only ("the largest city in Georgia is Atlanta", "in Atlanta, Michigan").
    """
    here = [text for text in passages if holds_name(text, name)]
    told = _regions(here, name)
    if len(told) > 1:
        return f"{name!r} lies in {' and in '.join(sorted(told))}"
    if not told or name.casefold() in REGIONS:
        return None
    (region,) = told
    for text in here:
        beside = _told_beside(text, name)
        if beside and not holds_name(text, region.title()):
            return f"{name!r} lies in {region} and is told of beside {min(beside)}"
    return None


def _trades(text: str, name: str) -> set[str]:
    """The trades that a passage gives a person in apposition or in a definition."""
    quoted = re.escape(name)
    near = re.compile(
        rf"(?P<before>(?:[\w-]+ ){{0,3}}){quoted}\b"
        rf"(?P<after>(?:\s*\([^)]{{0,80}}\))?,?\s+(?:(?:is|was)\s+)?(?:an?|the)\s+[^.;,]{{1,80}})?"
    )
    found: set[str] = set()
    for match in near.finditer(text):
        for part in (match["before"], match["after"] or ""):
            words = part.casefold().split()
            found |= {_TRADES[word] for word in words if word in _TRADES}
            if _OFFICER.search(part) or (part == match["after"] and words[-1:] == ["officer"]):
                found.add("police")
    return found


def _two_persons(name: str, one: str, other: str) -> str | None:
    here, there = _trades(one, name), _trades(other, name)
    if here and there and not here & there:
        return f"{name!r} is of {min(here)} in one support, of {min(there)} in the other"
    first = [int(year) for year in _YEAR.findall(one)]
    second = [int(year) for year in _YEAR.findall(other)]
    if first and second:
        gap = max(min(first) - max(second), min(second) - max(first))
        if gap > _MOST_YEARS:
            return f"the supports speak of {name!r} in years {gap} apart"
    return None


def two_bearers(chain: Chain, name: str, nature: Nature) -> str | None:
    """Why the two supports of a link may speak of two bearers of the bridge's name, or None.

    Args:
        chain: the chain.
        name: the bridge.
        nature: what it is.
    """
    supports = [chain.passages[hop.support] for hop in (chain.earlier, chain.later)]
    one, other = (passage.whole for passage in supports)
    if nature.kind == "place":
        return two_places(name, (one, other))
    kinds = {kind_of(sort) for text in (one, other) if (sort := sort_near(name, [text]))}
    if len(kinds) > 1:
        return f"{name!r} is a {' and a '.join(sorted(str(kind) for kind in kinds))}"
    if nature.kind == "organization":
        role = re.compile(rf"{_ROLE} (?:the )?(?:[a-z-]+ )?{re.escape(name)}\b")
        if _PLAYED.match(chain.later.question.casefold()) or role.search(other):
            return f"{name!r} is a role in the later support"
    if nature.kind == "person" and not _owned(name, supports):
        return _two_persons(name, one, other)
    return None


def _owned(name: str, passages: Iterable[Passage]) -> bool:
    """Whether the name has a page of its own there, which is on the entity that a step means."""
    return any(fold_tokens(base_title(passage.title)) == fold_tokens(name) for passage in passages)


def two_joints(chain: Chain) -> str | None:
    """Why an entity that joins hops may be two, whichever link of the question is broken, or None.

    Then the question as a whole has no answer, even where the broken link itself is sound.
    """
    persons = {fold_tokens(fact.tail) for fact in chain.facts if fact.kind == "person"}
    for joint in chain.joints:
        name = core(joint)
        texts = [passage.whole for passage in chain.gold]
        reason = two_places(name, texts)
        if fold_tokens(joint) in persons and not _owned(name, chain.gold):
            pairs = combinations([text for text in texts if holds_name(text, name)], 2)
            reason = reason or next(
                (found for one, other in pairs if (found := _two_persons(name, one, other))), None
            )
        if reason:
            return reason
    return None
