"""How often a judge claims what is not there, cell by cell; and whether that follows the chain.

Three questions, three sorts of number.

*How often?* A share of the replays of one cell, over all its questions.

*Does it follow the chain?* Inside each triplet, with a claim at hop 2 counted 1 and a denial 0::

    chain effect of the claims = claimed in B - claimed in D    (1 for a judge that reads)
    edit effect of the claims  = claimed in A - claimed in B    (0 for a judge that reads)

B and D hold the same edited passage, so the first is how much less is claimed where the chain is
broken: the complement of over-claiming on D, set against what is claimed anyway. The second is
the rate of denying hop 2 in B less that in A: what the edit alone costs.

*How does it compare with Sigma?* With the claims as scores, CE is half the first and EE half the
second, so :func:`chaincheck.selectivity.measure` gives a Sigma of the claims beside that of the
scores, from the same triplets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chaincheck.adherence.claims import FAULTS, Claims
from chaincheck.adherence.shares import Share, paired_difference, share
from chaincheck.cells import CellScores, labels
from chaincheck.intervals import Interval
from chaincheck.selectivity import Selectivity, measure

__all__ = ["CELLS", "CellRates", "ClaimEffects", "Grounded", "cell_rates", "claim_effects",
           "dimension_shares", "fault_shares", "grounded", "variants_of"]  # fmt: skip

CELLS = ("A", "B", "C", "D")
_DIMENSIONS = ("verdict", "procedure", "coverage", "grounding")


@dataclass(frozen=True, slots=True)
class CellRates:
    """What was found in one cell of one variant.

    Attributes:
        variant: "real", ..., or "all" for the pooled ones.
        cell: "A", "B", "C" or "D".
        over_claim: hop 2 claimed, of all replays; cells C and D. None in A and B, where there
            is nothing to over-claim.
        under_claim1: hop 1 denied, of all replays.
        under_claim2: hop 2 denied; cells A and B, None elsewhere.
        right: right verdicts, of all replays.
        wrong_reason: of the right verdicts those with a claim that is not as the passages have
            it.
    """

    variant: str
    cell: str
    over_claim: Share | None
    under_claim1: Share
    under_claim2: Share | None
    right: Share
    wrong_reason: Share


@dataclass(frozen=True, slots=True)
class ClaimEffects:
    """What the chain and the edit do to the claims of one hop, paired within triplets.

    Attributes:
        variant: "real", ..., or "all".
        hop: 1 or 2.
        chain: claimed in B less claimed in D, over ``chain_n`` triplets.
        chain_left_out: triplets whose B or D is missing or unknown.
        edit: claimed in A less claimed in B, over ``edit_n`` triplets.
        edit_left_out: likewise.
    """

    variant: str
    hop: int
    chain: Interval
    chain_n: int
    chain_left_out: int
    edit: Interval
    edit_n: int
    edit_left_out: int


@dataclass(frozen=True, slots=True)
class Grounded:
    """The Sigma of a judge's scores beside the Sigma of its claims, on the same triplets.

    Attributes:
        variant: the variant, or "all".
        scores: measured from the scores.
        claims: measured from the claims at hop 2.
        left_out: triplets without a score or a known claim in A, B and D.
    """

    variant: str
    scores: Selectivity
    claims: Selectivity
    left_out: int


def variants_of(claims: Sequence[Claims]) -> list[tuple[str, list[Claims]]]:
    """Split by variant, in order of appearance, with "all" at the end if there are several."""
    names = list(dict.fromkeys(one.variant for one in claims))
    parts = [(name, [one for one in claims if one.variant == name]) for name in names]
    return [*parts, ("all", list(claims))] if len(parts) > 1 else parts


def _share(values: Sequence[bool | None], claims: Sequence[Claims], level: float) -> Share:
    return share(values, [one.question for one in claims], level)


def cell_rates(claims: Sequence[Claims], level: float = 0.95) -> list[CellRates]:
    """Count over-claims, under-claims and right verdicts for the wrong reason, cell by cell.

    Within one variant each question has one replay a cell, and intervals are exact. Pooled over
    variants a question has several, and intervals are clustered by question.
    """
    found = []
    for variant, part in variants_of(claims):
        for cell in CELLS:
            here = [one for one in part if one.cell == cell]
            if not here:
                continue
            broken = cell in "CD"
            right = [one for one in here if one.right]
            found.append(
                CellRates(
                    variant=variant,
                    cell=cell,
                    over_claim=_share([o.over_claim(2) for o in here], here, level)
                    if broken
                    else None,
                    under_claim1=_share([o.under_claim(1) for o in here], here, level),
                    under_claim2=None
                    if broken
                    else _share([o.under_claim(2) for o in here], here, level),
                    right=_share([o.right for o in here], here, level),
                    wrong_reason=_share([o.wrong_reason for o in right], right, level),
                )
            )
    return found


def fault_shares(claims: Sequence[Claims], level: float = 0.95) -> dict[str, Share]:
    """How many replays show each of :data:`chaincheck.adherence.claims.FAULTS`, over all cells."""
    return {
        name: _share([shows(one) for one in claims], claims, level)
        for name, shows in FAULTS.items()
    }


def dimension_shares(claims: Sequence[Claims], level: float = 0.95) -> dict[str, Share]:
    """How many replays violate each of the four dimensions, over all cells."""
    known = {"VIOLATED": True, "SATISFIED": False}
    return {
        name: _share([known.get(one.statuses[name]) for one in claims], claims, level)
        for name in _DIMENSIONS
    }


def _triplets(claims: Sequence[Claims]) -> list[dict[str, Claims]]:
    groups: dict[tuple[str, str], dict[str, Claims]] = {}
    for one in claims:
        groups.setdefault((one.pair_id, one.variant), {})[one.cell] = one
    return list(groups.values())


def claim_effects(claims: Sequence[Claims], level: float = 0.95) -> list[ClaimEffects]:
    """Compare the claims of two cells inside each triplet, for both hops."""
    found = []
    for variant, part in variants_of(claims):
        triplets = _triplets(part)
        for hop in (1, 2):
            chain, chain_n = _difference(triplets, "B", "D", hop, level)
            edit, edit_n = _difference(triplets, "A", "B", hop, level)
            total = len(triplets)
            found.append(
                ClaimEffects(
                    variant, hop, chain, chain_n, total - chain_n, edit, edit_n, total - edit_n
                )
            )
    return found


def _difference(
    triplets: Sequence[Mapping[str, Claims]], first: str, second: str, hop: int, level: float
) -> tuple[Interval, int]:
    pairs = [
        (one[first].claimed[hop - 1], one[second].claimed[hop - 1], one[first].question)
        for one in triplets
        if first in one and second in one
    ]
    known = [(x, y, question) for x, y, question in pairs if x is not None and y is not None]
    gap = paired_difference(
        [x for x, _, _ in known], [y for _, y, _ in known], [q for _, _, q in known], level
    )
    return gap, len(known)


def grounded(
    claims: Sequence[Claims],
    scores: Mapping[str, float],
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> list[Grounded]:
    """Measure Sigma twice on the same triplets: of the scores, and of the claims at hop 2.

    Pooled variants are resampled by question.

    Args:
        claims: the claims.
        scores: the judge's scores by item.
        resamples: bootstrap resamples.
        seed: seed of the resampling.
        level: coverage of the intervals.
    """
    found = []
    for variant, part in variants_of(claims):
        triplets = _triplets(part)
        whole = [one for one in triplets if _complete(one, scores)]
        if not whole:
            continue
        said = {one.item_id: float(bool(one.claimed[1])) for one in part}
        by_scores, by_claims = (
            measure(
                _cell_scores(variant, whole, values),
                np.random.default_rng(seed),
                resamples=resamples,
                level=level,
                by="cluster"
                if len({one["A"].question for one in whole}) < len(whole)
                else "triplet",
            )
            for values in (scores, said)
        )
        found.append(Grounded(variant, by_scores, by_claims, len(triplets) - len(whole)))
    return found


def _cell_scores(
    variant: str, triplets: Sequence[Mapping[str, Claims]], values: Mapping[str, float]
) -> CellScores:
    a, b, d = (np.array([values[one[cell].item_id] for one in triplets]) for cell in "ABD")
    cluster = labels([one["A"].question for one in triplets])
    return CellScores("claims", variant, a, b, d, cluster=cluster)


def _complete(triplet: Mapping[str, Claims], scores: Mapping[str, float]) -> bool:
    return all(
        cell in triplet and triplet[cell].item_id in scores and triplet[cell].claimed[1] is not None
        for cell in "ABD"
    )
