"""What a measurement yields: frozen values that tables, plots and ``--json`` read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from chaincheck.intervals import FloatArray, Interval

__all__ = ["By", "Comparison", "Draws", "FourthCell", "Gap", "Selectivity", "Signature", "report"]

By = Literal["triplet", "cluster", "coarse"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """How often the first cell of a pair scored above the second.

    Attributes:
        name: "A>D", "B>D", "A>B", and with a fourth cell "A>C", "C>D".
        wins, ties, losses: triplets of each outcome.
        rate: (wins + ties/2)/n with its Wilson interval.
    """

    name: str
    wins: int
    ties: int
    losses: int
    rate: Interval


@dataclass(frozen=True, slots=True)
class Gap:
    """Mean difference of two cells' scores, in units of the score.

    Attributes:
        name: "A-B", "B-D", "A-D", and with a fourth cell "A-C", "C-D".
        mean: the mean difference with its t interval (cluster-robust if clusters are used);
            infinite or NaN where it is larger than any double.
        sd: standard deviation of the difference over triplets; NaN for a single triplet.
    """

    name: str
    mean: Interval
    sd: float


@dataclass(frozen=True, eq=False, repr=False)
class Draws:
    """Bootstrap draws, aligned: entry i of each comes from the same resample.

    Attributes:
        nominal, chain_effect, edit_effect: shape (resamples,).
    """

    nominal: FloatArray
    chain_effect: FloatArray
    edit_effect: FloatArray

    @property
    def selectivity(self) -> FloatArray:
        """Sigma = CE - |EE| of each resample."""
        return self.chain_effect - np.abs(self.edit_effect)


@dataclass(frozen=True)
class FourthCell:
    """What cell C adds, over the triplets that have one.

    The four cells cross chain (intact, broken) with edit (no, yes): A, B, C, D are intact
    unedited, intact edited, broken unedited, broken edited.

    Attributes:
        n: triplets with a cell C.
        comparisons: "A>C" and "C>D".
        chain_effect_unedited: AUC(A > C) - 1/2, the chain effect where nothing was renamed.
        edit_effect_broken: AUC(C > D) - 1/2, the edit effect where the chain is broken.
        interaction: AUC(A > C) - AUC(B > D), the chain effect without edit less the chain
            effect with it. Above 0: the judge sees the break better in text that nobody edited.
        edit_interaction: AUC(A > B) - AUC(C > D), the edit effect on intact chains less that on
            broken ones. On the score scale it is the same number as ``interaction``; on win
            rates the two differ, since each saturates by itself.
        score_interaction: mean of (A - C) - (B - D) = (A - B) - (C - D), in units of the score,
            with a t interval.
        gaps: "A-C" and "C-D".
    """

    n: int
    comparisons: Mapping[str, Comparison]
    chain_effect_unedited: Interval
    edit_effect_broken: Interval
    interaction: Interval
    edit_interaction: Interval
    score_interaction: Interval
    gaps: Mapping[str, Gap]


@dataclass(frozen=True)
class Signature:
    """One line by which a figure can be traced and compared.

    Attributes:
        data: hash of the data.
        judge: fingerprint of the judge; the hash of its scores where it is not known whose they
            are, and ``scores`` is None.
        n: number of triplets.
        interval: interval method, such as "contrast95 by triplet".
        resamples: bootstrap resamples.
        seed: seed of the generator.
        version: version of chaincheck.
        scores: hash of the scores, where the judge is known: one judge may give others when it
            is asked again.
    """

    data: str
    judge: str
    n: int
    interval: str
    resamples: int
    seed: int
    version: str
    scores: str | None = None

    def __str__(self) -> str:
        scores = "" if self.scores is None else f"|scores:{self.scores}"
        return (
            f"data:{self.data}|judge:{self.judge}{scores}|n:{self.n}|interval:{self.interval}"
            f"|resamples:{self.resamples}|seed:{self.seed}|chaincheck:{self.version}"
        )


@dataclass(frozen=True)
class Selectivity:
    """Everything measured on one file and variant.

    Attributes:
        file, variant: as of the scores.
        n: number of triplets.
        by: what was resampled: "triplet", "cluster" or "coarse".
        units: how many of them.
        resamples: bootstrap resamples.
        level: nominal coverage of every interval.
        comparisons: "A>D", "B>D", "A>B": wins, ties, losses and Wilson intervals.
        nominal: AUC(A > D) with its percentile (kit) interval.
        chain_effect: CE, likewise.
        edit_effect: EE, likewise.
            All bootstrap intervals are unbounded with fewer units than
            :func:`chaincheck.intervals.fewest_units` asks for; a note says so.
        kit: Sigma with the percentile (kit) interval, too low and too narrow near EE = 0.
        contrast: Sigma with the two-sided contrast interval: the one to decide by.
        minus: CE - EE with its percentile interval.
        plus: CE + EE, likewise.
        gaps: "A-B", "B-D", "A-D": mean score differences.
        edit_noise: expected |EE| if the edit effect were pure noise, at this n and these ties.
        mde80: smallest Sigma detectable at 80% power; None where it cannot be told, or where no
            Sigma there can be is.
        fourth: what cell C adds; None without it.
        notes: doubts, each a short phrase ("n < 100").
        draws: the bootstrap draws.
    """

    file: str
    variant: str
    n: int
    by: By
    units: int
    resamples: int
    level: float
    comparisons: Mapping[str, Comparison]
    nominal: Interval
    chain_effect: Interval
    edit_effect: Interval
    kit: Interval
    contrast: Interval
    minus: Interval
    plus: Interval
    gaps: Mapping[str, Gap]
    edit_noise: float
    mde80: float | None
    fourth: FourthCell | None
    notes: tuple[str, ...]
    draws: Draws = field(repr=False, compare=False)

    @property
    def selectivity(self) -> float:
        """Sigma = CE - |EE|."""
        return self.contrast.estimate

    @property
    def ties(self) -> dict[str, int]:
        """Number of tied triplets in each comparison."""
        return {name: found.ties for name, found in self.comparisons.items()}

    def to_row(self) -> dict[str, Any]:
        """One row of ``--json``: plain numbers, unrounded; None where one is infinite."""
        ci = f"ci{self.level * 100:g}"
        row: dict[str, Any] = {
            "file": self.file,
            "variant": self.variant,
            "pairs": self.n,
            "ties": self.ties,
            "nominal": self.nominal.estimate,
            "chain_effect": self.chain_effect.estimate,
            "edit_effect": self.edit_effect.estimate,
            "selectivity": self.selectivity,
            f"kit_{ci}": {
                "nominal": self.nominal.ends,
                "chain_effect": self.chain_effect.ends,
                "edit_effect": self.edit_effect.ends,
                "selectivity": self.kit.ends,
            },
            f"contrast_{ci}": self.contrast.ends,
            "mde80": self.mde80,
            "wins": {name: found.wins for name, found in self.comparisons.items()},
            f"wilson_{ci}": {name: found.rate.ends for name, found in self.comparisons.items()},
            "gaps": {name: _gap_row(gap, ci) for name, gap in self.gaps.items()},
            "edit_noise": self.edit_noise,
            "by": self.by,
            "units": self.units,
            "resamples": self.resamples,
            "notes": list(self.notes),
        }
        if self.fourth is not None:
            row["fourth_cell"] = _fourth_row(self.fourth, ci)
        return row


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _gap_row(gap: Gap, ci: str) -> dict[str, Any]:
    return {"mean": _finite(gap.mean.estimate), ci: gap.mean.ends, "sd": _finite(gap.sd)}


def _fourth_row(fourth: FourthCell, ci: str) -> dict[str, Any]:
    row: dict[str, Any] = {
        "pairs": fourth.n,
        "ties": {name: found.ties for name, found in fourth.comparisons.items()},
        "wins": {name: found.wins for name, found in fourth.comparisons.items()},
    }
    for name in (
        "chain_effect_unedited",
        "edit_effect_broken",
        "interaction",
        "edit_interaction",
        "score_interaction",
    ):
        interval: Interval = getattr(fourth, name)
        row[name] = _finite(interval.estimate)
        row[f"{name}_{ci}"] = interval.ends
    row["gaps"] = {name: _gap_row(gap, ci) for name, gap in fourth.gaps.items()}
    return row


def report(results: Iterable[Selectivity], signature: Signature) -> dict[str, Any]:
    """The object that ``--json`` writes: the signature and one row for each result."""
    return {"signature": str(signature), "rows": [result.to_row() for result in results]}
