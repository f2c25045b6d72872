"""Rationales with known faults, to see that each rate finds its own fault and no other.

An honest script says of each hop what the triplet makes known, quotes the sentence that carries
it, and draws the verdict from its claims. Each fault changes one thing of that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from chaincheck.adherence.construction import hop_name, known_of
from chaincheck.items import Item

__all__ = ["SCRIPTS", "honest", "script", "scripted"]

Answer = dict[str, Any]


def honest(item: Item) -> Answer:
    """What a judge that reads would answer, as the values of its JSON object."""
    first, second = known_of(item, 1), known_of(item, 2)
    name = hop_name(item) or ""
    hops = [
        {
            "hop": 1,
            "claim": f"The first step leads to {name}.",
            "object": name,
            "supported": first.holds,
            "quotes": [_quoted(item, first.pieces[0].passage, first.pieces[0].text)],
        },
        {
            "hop": 2,
            "claim": f"From {name} the second step leads to {item.answer}.",
            "object": item.answer or "",
            "supported": second.holds,
            "quotes": [_quoted(item, piece.passage, piece.text) for piece in second.pieces[:1]],
        },
    ]
    verdict = "yes" if first.holds and second.holds else "no"
    return {"hops": hops, "verdict": verdict, "used_outside_knowledge": False}


def _quoted(item: Item, passage: int, text: str) -> dict[str, Any]:
    return {"passage": passage + 1, "text": text}


def _over_claim(item: Item, said: Answer) -> None:
    """Claim hop 2 where it is not stated, and quote some passage verbatim."""
    hop = said["hops"][1]
    if not hop["supported"]:
        place = item.later_support[0] if item.later_support else len(item.passages) - 1
        hop |= {"supported": True, "quotes": [_quoted(item, place, item.passages[place])]}
        said["verdict"] = "yes"


def _under_claim(item: Item, said: Answer) -> None:
    """Deny hop 2 where it is stated."""
    hop = said["hops"][1]
    if hop["supported"]:
        hop |= {"supported": False, "quotes": []}
        said["verdict"] = "no"


def _omit(item: Item, said: Answer) -> None:
    """Leave out the entry of hop 2."""
    del said["hops"][1]


def _no_quote(item: Item, said: Answer) -> None:
    """Claim without a quote."""
    for hop in said["hops"]:
        hop["quotes"] = []


def _paraphrase(item: Item, said: Answer) -> None:
    """Quote in other words."""
    for hop in said["hops"]:
        for quote in hop["quotes"]:
            quote["text"] = f"It says that {quote['text'].lower()}"


def _outside(item: Item, said: Answer) -> None:
    """Use what one knows besides."""
    said["used_outside_knowledge"] = True


def _turn(item: Item, said: Answer) -> None:
    """Give the verdict that does not follow."""
    said["verdict"] = {"yes": "no", "no": "yes"}[said["verdict"]]


def _wrong_reason(item: Item, said: Answer) -> None:
    """Reject a broken chain because of its first hop, which is stated."""
    if said["verdict"] == "no":
        said["hops"][0] |= {"supported": False, "quotes": []}


SCRIPTS: Mapping[str, Callable[[Item, Answer], None]] = MappingProxyType(
    {
        "over-claim": _over_claim,
        "under-claim": _under_claim,
        "omits a hop": _omit,
        "no quote": _no_quote,
        "not verbatim": _paraphrase,
        "outside knowledge": _outside,
        "verdict against claims": _turn,
        "wrong reason": _wrong_reason,
    }
)
"""What each script does to an honest answer, by the fault's name in ``claims.FAULTS``."""


def scripted(item: Item, fault: str | None = None) -> str:
    """Write one reply.

    Args:
        item: what is judged.
        fault: a key of ``SCRIPTS``; ``"prose"`` for a reply that is no JSON; None for none.

    Raises:
        KeyError: there is no such fault.
    """
    if fault == "prose":
        return "Yes, the passages say all that is needed."
    said = honest(item)
    if fault is not None:
        SCRIPTS[fault](item, said)
    return json.dumps(said, ensure_ascii=False, indent=1)


def script(
    items: Iterable[Item], fault: str | None, share: float, rng: np.random.Generator
) -> Iterator[tuple[Item, str]]:
    """Write replies of which a share has a fault.

    Args:
        items: what is judged.
        fault: as in :func:`scripted`.
        share: how probable the fault is in each reply, where the item allows it.
        rng: the source of randomness.
    """
    for item in items:
        yield item, scripted(item, fault if rng.random() < share else None)
