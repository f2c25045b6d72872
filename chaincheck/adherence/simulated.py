"""Replays of a judge whose habits are known, and a second reader whose slips are.

A measure is best learned on data whose truth is known. The judge here compares the two claims of a
made-up response with a made-up passage, breaks the protocol ``factual-claims/1`` as often as its
:class:`Habits` say, and writes down what it did; the readings of its words are right by
construction. :func:`reread` makes a second set of readings from them that slips at known rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from chaincheck.adherence.builder import ReplayBuilder
from chaincheck.adherence.protocols import load_protocol
from chaincheck.adherence.replay import Annotation, Recorded, Replay, Role, Span, Verdict

__all__ = ["Habits", "Simulated", "reread", "simulate"]

_BRIDGES = ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Rowan", "Yew")
_RIVERS = ("Tarn", "Aare", "Drava", "Minho", "Oder", "Severn", "Tweed", "Vilnia")
_DESIGNERS = ("Ida Brandt", "Noor Haddad", "Pia Lindqvist", "Tomás Vega", "Mio Arai")


@dataclass(frozen=True)
class Habits:
    """How often the judge does what, each a probability.

    Attributes:
        false_claim: the second claim of the response is not in the passage.
        over_claim: given such a claim, the judge finds it there all the same.
        against_findings: the verdict is not the one that its findings ask for.
        recalls: it uses knowledge from outside the passage.
        silent: it does not say whether it did.
    """

    false_claim: float = 0.5
    over_claim: float = 0.3
    against_findings: float = 0.05
    recalls: float = 0.3
    silent: float = 0.4

    def violated(self) -> dict[str, float]:
        """The true share of replays in which each dimension is violated, seen or not."""
        grounding = self.false_claim * self.over_claim
        kept = (1 - self.against_findings) * (1 - self.recalls) * (1 - grounding)
        return {
            "overall": 1 - kept,
            "verdict": self.against_findings,
            "procedure": self.recalls,
            "coverage": 0.0,
            "grounding": grounding,
        }


class Simulated(NamedTuple):
    """A replay and what its readers cannot always see.

    Attributes:
        recorded: the replay, with its gold label.
        recalled: whether the judge used knowledge from outside, said or not.
    """

    recorded: Recorded
    recalled: bool


def simulate(rng: np.random.Generator, count: int, habits: Habits | None = None) -> list[Simulated]:
    """Draw replays, independent of each other.

    Args:
        rng: draws them.
        count: how many.
        habits: of the judge.
    """
    return [_one(rng, number, habits or Habits()) for number in range(1, count + 1)]


def _one(rng: np.random.Generator, number: int, habits: Habits) -> Simulated:
    bridge, river, designer = (str(rng.choice(names)) for names in (_BRIDGES, _RIVERS, _DESIGNERS))
    year = int(rng.integers(1850, 2000))
    false, found, against, recalled, silent = rng.random(5) < (
        habits.false_claim,
        habits.over_claim,
        habits.against_findings,
        habits.recalls,
        habits.silent,
    )
    second = f"was designed by {designer}" if false else f"crosses the {river}"
    claims = {
        "opened": f"the {bridge} Bridge opened in {year}",
        "second": f"the {bridge} Bridge {second}",
    }
    finds = bool(found) or not false
    verdict: Verdict = "PASS" if finds != bool(against) else "FAIL"
    opening = "Two claims, each compared with the passage."
    memory = "" if silent else "I also know this bridge." if recalled else "By the passage alone."
    first_words = "The year is there."
    second_words = f"The other claim is {'there too' if finds else 'not there'}."
    draft = ReplayBuilder(
        f"simulated-{number:04d}", load_protocol("factual-claims/1", claims), verdict=verdict
    )
    passage = f"The {bridge} Bridge opened in {year} and crosses the {river}."
    draft.source("passage", "context", passage)
    draft.source("response", "response", f"The {bridge} Bridge opened in {year} and {second}.")
    said = [part for part in (opening, memory, first_words, second_words, f"{verdict}.") if part]
    draft.source("rationale", "rationale", " ".join(said))
    for atom in ("claims_listed", "claims_checked"):
        draft.annotate(atom, "TRUE", draft.quote("rationale", opening))
    draft.annotate("j_opened", "TRUE", draft.quote("rationale", first_words))
    words = draft.quote("rationale", second_words)
    draft.annotate("j_second", "TRUE" if finds else "FALSE", words)
    draft.annotate("c_opened", "TRUE", draft.quote("passage", f"opened in {year}"))
    if false:
        draft.absent("c_second")
    else:
        draft.annotate("c_second", "TRUE", draft.quote("passage", second))
    if memory:
        value = draft.quote("rationale", memory)
        draft.annotate("external", "TRUE" if recalled else "FALSE", value)
    else:
        draft.unknown("external")
    return Simulated(draft.build(gold="FAIL" if false else "PASS"), bool(recalled))


def reread(
    rng: np.random.Generator,
    replay: Replay,
    slips: Mapping[Role, float],
    *,
    wider: float = 0.0,
) -> Replay:
    """Read a replay once more, with slips.

    Args:
        rng: draws the slips.
        replay: the readings to start from.
        slips: for each role how often TRUE becomes FALSE or the reverse.
        wider: how often the whole text is quoted in place of a piece of it.

    Returns:
        The same replay with other annotations; UNKNOWN stays as it is.
    """
    roles = replay.protocol.roles()
    out: list[Annotation] = []
    for one in replay.annotations:
        slipped, widened = rng.random(2) < (slips.get(roles[one.atom], 0.0), wider)
        if one.value == "UNKNOWN":
            out.append(one)
            continue
        value = one.value
        if slipped:
            value = "FALSE" if one.value == "TRUE" else "TRUE"
        # An absence from the context is shown by the whole of it.
        whole = widened or (value == "FALSE" and roles[one.atom] == "context")
        evidence = tuple(_whole(replay, span) if whole else span for span in one.evidence)
        out.append(replace(one, value=value, evidence=evidence))
    return replace(replay, annotations=tuple(out))


def _whole(replay: Replay, span: Span) -> Span:
    text = replay.source(span.source).text
    return Span(span.source, 0, len(text), text)
