"""The rates of claims as tables for a terminal and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from chaincheck.adherence.claim_rates import (
    CellRates,
    ClaimEffects,
    Grounded,
    cell_rates,
    claim_effects,
    dimension_shares,
    fault_shares,
    grounded,
)
from chaincheck.adherence.claim_text import claims_text
from chaincheck.adherence.claims import Claims
from chaincheck.adherence.shares import Share
from chaincheck.intervals import Interval

__all__ = ["ClaimReport", "report_claims"]


@dataclass(frozen=True)
class ClaimReport:
    """Everything that is counted of a judge's claims.

    Attributes:
        replays: how many replays.
        lacking: items of the data without a replay, by cell: not asked, or INVALID.
        cells: the rates of each cell.
        effects: what chain and edit do to the claims.
        faults: the share of each fault.
        dimensions: the share of violations in each dimension.
        joined: Sigma of the scores and of the claims; empty without scores.
    """

    replays: int
    lacking: Mapping[str, int]
    cells: Sequence[CellRates]
    effects: Sequence[ClaimEffects]
    faults: Mapping[str, Share]
    dimensions: Mapping[str, Share]
    joined: Sequence[Grounded] = field(default=())

    def to_text(self) -> str:
        """The tables for a terminal, and below them how to read them."""
        return claims_text(self)

    def to_json(self) -> str:
        """Everything, unrounded."""
        value = {
            "replays": self.replays,
            "lacking": self.lacking,
            "cells": [
                {
                    "variant": row.variant,
                    "cell": row.cell,
                    "over_claim": _share_row(row.over_claim),
                    "under_claim_hop1": _share_row(row.under_claim1),
                    "under_claim_hop2": _share_row(row.under_claim2),
                    "right": _share_row(row.right),
                    "wrong_reason": _share_row(row.wrong_reason),
                }
                for row in self.cells
            ],
            "effects": [
                {
                    "variant": row.variant,
                    "hop": row.hop,
                    "chain": {**_interval_row(row.chain), "n": row.chain_n},
                    "edit": {**_interval_row(row.edit), "n": row.edit_n},
                }
                for row in self.effects
            ],
            "faults": {name: _share_row(one) for name, one in self.faults.items()},
            "dimensions": {name: _share_row(one) for name, one in self.dimensions.items()},
            "joined": [
                {
                    "variant": row.variant,
                    "pairs": row.scores.n,
                    "left_out": row.left_out,
                    "scores": row.scores.to_row(),
                    "claims": row.claims.to_row(),
                }
                for row in self.joined
            ],
        }
        return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def _interval_row(one: Interval) -> dict[str, Any]:
    value = None if math.isnan(one.estimate) else one.estimate
    return {"estimate": value, "interval": one.ends, "method": one.method, "level": one.level}


def _share_row(one: Share | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "found": one.found,
        "unknown": one.unknown,
        "n": one.n,
        "questions": one.questions,
        **_interval_row(one.interval),
        "bounds": [one.least, one.most],
    }


def report_claims(
    claims: Sequence[Claims],
    scores: Mapping[str, float] | None = None,
    *,
    lacking: Mapping[str, int] | None = None,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> ClaimReport:
    """Count everything.

    Args:
        claims: the claims.
        scores: the judge's scores by item, to set its Sigma beside that of its claims.
        lacking: items without a replay, by cell.
        level: coverage of every interval.
        resamples: bootstrap resamples behind Sigma.
        seed: seed of the resampling.
    """
    joined = grounded(claims, scores, resamples=resamples, seed=seed, level=level) if scores else []
    return ClaimReport(
        replays=len(claims),
        lacking=dict(lacking or {}),
        cells=cell_rates(claims, level),
        effects=claim_effects(claims, level),
        faults=fault_shares(claims, level),
        dimensions=dimension_shares(claims, level),
        joined=joined,
    )
