"""Which passages a context keeps: fewer distractors, none in doubt, room for a decoy."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from chaincheck.chains import Chain, Fact, Passage
from chaincheck.drafting import Named, unedited
from chaincheck.leftovers import silent_page
from chaincheck.mentions import AmbiguousMention, find_all
from chaincheck.second_answers import rivals
from chaincheck.validator import bypasses

__all__ = ["SHARE_LEFT_OUT", "only", "protected", "seat", "with_fewer", "without_doubtful"]

SHARE_LEFT_OUT = 2
"""At most one distractor in this many may be left out."""


def protected(chain: Chain) -> frozenset[int]:
    """Indices of passages that some hop of the question rests on."""
    texts = {passage.whole for passage in chain.gold}
    texts |= {fact.passage.whole for fact in chain.facts}
    hops = {chain.earlier.support, chain.later.support}
    return frozenset(
        index
        for index, passage in enumerate(chain.passages)
        if index in hops or passage.whole in texts
    )


def only(chain: Chain, stay: Sequence[int]) -> Chain:
    """The chain with some of its passages, which must include the supports."""
    place = {index: position for position, index in enumerate(stay)}
    return msgspec.structs.replace(
        chain,
        passages=tuple(chain.passages[index] for index in stay),
        earlier=msgspec.structs.replace(chain.earlier, support=place[chain.earlier.support]),
        later=msgspec.structs.replace(chain.later, support=place[chain.later.support]),
    )


def with_fewer(chain: Chain, most: int, rng: np.random.Generator) -> Chain:
    """Keep the supports and at most ``most`` distractors, in the source's order."""
    kept = protected(chain)
    others = [index for index in range(len(chain.passages)) if index not in kept]
    if len(others) <= most:
        return chain
    chosen = sorted(rng.choice(len(others), size=most, replace=False).tolist())
    return only(chain, sorted(kept | {others[place] for place in chosen}))


def without_doubtful(chain: Chain, bridge: Named) -> tuple[Chain, int]:
    """Leave out distractors that would cost the triplet.

    These are the ones in which something may or may not be a mention of the bridge, those on the
    bridge that call it by another name, and those that lead to the answer, or to another one,
    without the later support. Only as many as must go, never a passage
    that a hop rests on, and at most a share of the distractors.

    Returns:
        The chain, unchanged where leaving out does not help, and how many were left out.
    """
    safe = protected(chain)
    texts = tuple(passage.whole for passage in chain.passages)
    draft = unedited(chain, bridge)
    leading = bypasses(draft, "A")
    if safe & leading.keys():
        return chain, 0
    leading |= {n: reason for n, reason in rivals(draft, "A").items() if n not in safe}
    try:
        find_all([texts[index] for index in sorted(safe)], bridge[0])
    except AmbiguousMention:
        return chain, 0  # the supports themselves are in doubt
    name = bridge[0].name
    silent = {index for index, text in enumerate(texts) if silent_page(text, name)}
    stay = [n for n in range(len(texts)) if n not in leading and (n in safe or n not in silent)]
    fewest = len(texts) - (len(texts) - len(safe)) // SHARE_LEFT_OUT
    while len(stay) >= fewest:
        try:
            find_all([texts[index] for index in stay], bridge[0])
        except AmbiguousMention as doubt:
            if doubt.passage is None or stay[doubt.passage] in safe:
                break
            del stay[doubt.passage]
            continue
        if len(stay) == len(texts):
            break
        return only(chain, stay), len(texts) - len(stay)
    return chain, 0


def seat(chain: Chain, fact: Fact, place: int, *, must: bool) -> tuple[Chain, int | None, bool]:
    """Find or make the decoy's seat.

    Args:
        chain: the chain.
        fact: what the decoy states.
        place: the distractor that gives way.
        must: whether that distractor has to go in any case, since it holds the bridge.

    Returns:
        The chain with its context, the decoy's index (None if it fits nowhere), and whether it
        was put there.
    """
    wholes = [passage.whole for passage in chain.passages]
    if fact.passage.whole in wholes:
        index = wholes.index(fact.passage.whole)
        return chain, None if must or index in protected(chain) else index, False
    passages: list[Passage] = list(chain.passages)
    passages[place] = fact.passage
    return msgspec.structs.replace(chain, passages=tuple(passages)), place, True
