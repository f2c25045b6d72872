"""Checkers for the exercises of chapter 9, and what they are about."""

from __future__ import annotations

import itertools
from functools import lru_cache
from typing import Any

import numpy as np

from chaincheck.adherence.audit import audit
from chaincheck.adherence.chain_evidence import replay_of
from chaincheck.adherence.claim_rates import cell_rates, claim_effects, fault_shares
from chaincheck.adherence.claims import FAULTS, Claims, read_claims
from chaincheck.adherence.hop_questions import hop_id
from chaincheck.adherence.score_claims import replay_of_scores, zero
from chaincheck.adherence.scripted import SCRIPTS, script, scripted
from chaincheck.errors import InvalidReplay
from chaincheck.exercises import exercise
from chaincheck.items import Item
from chaincheck.sources.facts import FactsSource
from chaincheck.triplets import build

__all__ = ["broken_item", "few_items", "mystery_replies"]

_NEAR = 0.005
_SHARE = 0.4


@lru_cache(maxsize=1)
def few_items() -> tuple[Item, ...]:
    """The four cells of some real triplets of the book's facts."""
    records = itertools.islice(FactsSource().read(), 0, None, 30)
    return build(records, variants=("real",), cells=("A", "B", "D", "C"), distractors=2).items


def broken_item() -> Item:
    """One context whose second hop is broken: cell D of the first of these triplets."""
    return next(item for item in few_items() if item.cell == "D")


def mystery_replies() -> list[tuple[Item, str]]:
    """Rationales for :func:`few_items`, of which a share has one fault."""
    rng = np.random.default_rng(9)
    fault = list(SCRIPTS)[int(rng.integers(len(SCRIPTS) - 2))]
    return list(script(few_items(), fault, _SHARE, rng))


def _claims(replies: list[tuple[Item, str]]) -> list[Claims]:
    return list(read_claims(few_items(), [replay_of(item, text) for item, text in replies]))


@exercise(
    "9.1", "Give three numbers: over-claim rate in D, chain effect, edit effect of the claims."
)
def _yes_to_all(answer: Any) -> str | None:
    given = [float(value) for value in answer]
    claims = _claims([(item, scripted(item, "over-claim")) for item in few_items()])
    share = next(row.over_claim for row in cell_rates(claims) if row.cell == "D")
    effect = claim_effects(claims)[1]
    assert share is not None
    wanted = [share.interval.estimate, effect.chain.estimate, effect.edit.estimate]
    if len(given) != len(wanted):
        raise ValueError("not three numbers")
    for value, right, hint in zip(
        given,
        wanted,
        (
            "In how many of the contexts D does it claim hop 2, which none of them states?",
            "The chain effect is what it claims in B less what it claims in D.",
            "The edit effect is what it claims in A less what it claims in B.",
        ),
        strict=True,
    ):
        if abs(value - right) > _NEAR:
            return hint
    return None


@exercise("9.2", "Give the name of a fault, as in the chapter's table.")
def _mystery(answer: Any) -> str | None:
    name = str(answer).strip().casefold()
    if name not in FAULTS:
        raise ValueError("not the name of a fault")
    found = fault_shares(_claims(mystery_replies()))
    if not found[name].found:
        return "No reply shows that fault. Make replays of them and count every fault."
    if found[name].found < max(one.found for one in found.values()):
        return "Some replies show it. Is there a fault that more of them show?"
    return None


@exercise("9.3", "Give the id of a requirement, as in both_hops.")
def _met_unseen(answer: Any) -> str | None:
    item = broken_item()
    scores = {item.item_id: -1.0, hop_id(item.item_id, 1): 1.0, hop_id(item.item_id, 2): -1.0}
    ranges = {name: (score, score) for name, score in scores.items()}
    recorded = replay_of_scores(item, ranges, zero([item]))
    assert recorded is not None
    statuses = {one.id: one.status for one in audit(recorded.replay).requirements}
    name = str(answer).strip()
    if name not in statuses:
        raise ValueError("not the id of a requirement")
    if statuses[name] != "SATISFIED":
        return "That one is UNKNOWN here. Which requirement asks for nothing if hop 2 is denied?"
    return None


@exercise("9.4", "Give the text of a reply: one JSON object.")
def _adherent_reply(answer: Any) -> str | None:
    if not isinstance(answer, str):
        raise ValueError("not a text")
    try:
        recorded = replay_of(broken_item(), answer, strict=True)
    except InvalidReplay as error:
        if error.code == "NOT_JSON":
            raise ValueError("no JSON") from None
        return f"INVALID: {error.code} at {error.json_path}: {error.reason}."
    found = audit(recorded.replay, explain=False)
    if found.overall != "SATISFIED":
        bad = ", ".join(
            f"{name} {one}" for name, one in found.dimensions.items() if one != "SATISFIED"
        )
        return f"Its audit is {found.overall}: {bad}.."
    return None
