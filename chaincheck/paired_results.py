"""What comparing two judges yields: frozen values that tables, plots and ``--json`` read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chaincheck.intervals import FloatArray, Interval
from chaincheck.results import By

__all__ = [
    "COMPARISONS",
    "QUANTITIES",
    "Difference",
    "DifferenceDraws",
    "Effects",
    "Flip",
    "Orders",
    "PairedDifference",
]

COMPARISONS = ("A>D", "B>D", "A>B")
"""The comparisons inside a triplet, in the order of all columns here."""

QUANTITIES = ("nominal", "chain_effect", "edit_effect", "selectivity")
"""What two judges are compared in."""


@dataclass(frozen=True, slots=True)
class Effects:
    """One judge's own numbers.

    Attributes:
        nominal: AUC(A > D).
        chain_effect: CE.
        edit_effect: EE.
        selectivity: Sigma with its contrast interval, from the shared resamples.
    """

    nominal: float
    chain_effect: float
    edit_effect: float
    selectivity: Interval


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two judges in one quantity, the first's less the second's.

    Attributes:
        name: one of ``QUANTITIES``.
        interval: estimate and interval. Of Sigma it is the two-step contrast interval
            (:func:`chaincheck.paired_intervals.sigma_difference_bounds`), of the others the
            percentile interval.
        p: two-sided sign-flip p-value; its null hypothesis is that the judges are
            interchangeable (:func:`chaincheck.sign_flips.sign_flip_test`).
    """

    name: str
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class Flip:
    """One comparison in one triplet that two judges order differently.

    Attributes:
        pair_id: the triplet.
        comparison: one of ``COMPARISONS``.
        first: the first judge's score of the first cell less that of the second, in its own
            units; its sign is its order, 0 a tie.
        second: the same of the second judge, in that judge's units.
    """

    pair_id: str
    comparison: str
    first: float
    second: float

    @property
    def reversed(self) -> bool:
        """Whether the two judges order the cells in opposite ways, neither tying."""
        return (self.first > 0 > self.second) or (self.first < 0 < self.second)


@dataclass(frozen=True, slots=True)
class Orders:
    """How two judges' orders of two cells go together.

    Attributes:
        name: one of ``COMPARISONS``.
        counts: 3 x 3 numbers of triplets: row the first judge's outcome, column the second's,
            each loss, tie, win.
    """

    name: str
    counts: tuple[tuple[int, int, int], ...]

    @property
    def reversed(self) -> int:
        """Triplets that the judges order in opposite ways, neither tying."""
        return self.counts[0][2] + self.counts[2][0]

    @property
    def changed(self) -> int:
        """Triplets that they order differently, a tie against an order included."""
        return sum(map(sum, self.counts)) - sum(self.counts[k][k] for k in range(3))

    @property
    def ties(self) -> tuple[int, int]:
        """Triplets that the first judge ties, and that the second ties."""
        return sum(self.counts[1]), sum(row[1] for row in self.counts)

    @property
    def gained(self) -> float:
        """Wins that the first judge has and the second has not; against a tie counts a half."""
        (_, _, _), (to_tie, _, _), (to_win, from_tie, _) = self.counts
        return to_win + (to_tie + from_tie) / 2.0

    @property
    def lost(self) -> float:
        """The same with the judges exchanged."""
        (_, to_tie, to_win), (_, _, from_tie), (_, _, _) = self.counts
        return to_win + (to_tie + from_tie) / 2.0


@dataclass(frozen=True, eq=False, repr=False)
class DifferenceDraws:
    """Bootstrap draws of the differences, aligned: entry i of each is from one resample.

    Attributes:
        nominal, chain_effect, edit_effect, selectivity: shape (resamples,).
    """

    nominal: FloatArray
    chain_effect: FloatArray
    edit_effect: FloatArray
    selectivity: FloatArray


@dataclass(frozen=True)
class PairedDifference:
    """Everything that one file and variant says about two judges.

    Attributes:
        file, variant: as of the scores.
        n: number of triplets.
        by: what was resampled and exchanged: "triplet", "cluster" or "coarse".
        units: how many of them.
        resamples: bootstrap resamples, shared by all intervals.
        exchanges: exchanges of the sign-flip test, shared by all p-values.
        level: nominal coverage of every interval.
        first, second: each judge's own numbers.
        nominal, chain_effect, edit_effect, selectivity: the differences, first less second.
        nominal_floor: one-sided lower bound of the Nominal difference at (1 + level)/2, that is
            97.5% (:func:`chaincheck.paired_intervals.paired_rate_floor`): the first judge is
            shown to be not worse than the second by a margin m if this exceeds -m.
        orders: "A>D", "B>D", "A>B": how the judges' orders go together.
        discordance: share of triplets in which the judges differ in B > D or in A > B.
        flips: every comparison that the judges order differently, triplet by triplet.
        notes: doubts, each a short phrase.
        draws: the bootstrap draws.
    """

    file: str
    variant: str
    n: int
    by: By
    units: int
    resamples: int
    exchanges: int
    level: float
    first: Effects
    second: Effects
    nominal: Difference
    chain_effect: Difference
    edit_effect: Difference
    selectivity: Difference
    nominal_floor: float
    orders: Mapping[str, Orders]
    discordance: float
    flips: tuple[Flip, ...] = field(repr=False)
    notes: tuple[str, ...]
    draws: DifferenceDraws = field(repr=False, compare=False)

    @property
    def differences(self) -> dict[str, Difference]:
        """The differences by name, in the order of ``QUANTITIES``."""
        return {name: getattr(self, name) for name in QUANTITIES}

    def not_worse(self, margin: float) -> bool:
        """Whether the first judge's Nominal is shown to be not lower by more than ``margin``."""
        return self.nominal_floor > -margin

    def to_row(self, adjusted: Mapping[str, float] | None = None) -> dict[str, Any]:
        """One row of ``--json``: plain numbers, unrounded.

        Args:
            adjusted: p-values adjusted for several rows, by quantity, if there are any.
        """
        ci = f"ci{self.level * 100:g}"
        return {
            "file": self.file,
            "variant": self.variant,
            "pairs": self.n,
            "by": self.by,
            "units": self.units,
            "first": _effects_row(self.first, ci),
            "second": _effects_row(self.second, ci),
            "difference": {
                name: {
                    "estimate": one.interval.estimate,
                    ci: one.interval.ends,
                    "method": one.interval.method,
                    "p": one.p,
                    **({} if adjusted is None else {"p_holm": adjusted[name]}),
                }
                for name, one in self.differences.items()
            },
            f"nominal_floor{(1 + self.level) * 50:g}": self.nominal_floor,
            "discordance": self.discordance,
            "orders": {
                name: {
                    "counts": [list(row) for row in one.counts],
                    "reversed": one.reversed,
                    "changed": one.changed,
                }
                for name, one in self.orders.items()
            },
            "flips": [
                {
                    "pair_id": flip.pair_id,
                    "comparison": flip.comparison,
                    "first": _finite(flip.first),
                    "second": _finite(flip.second),
                    "reversed": flip.reversed,
                }
                for flip in self.flips
            ],
            "resamples": self.resamples,
            "exchanges": self.exchanges,
            "notes": list(self.notes),
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _effects_row(effects: Effects, ci: str) -> dict[str, Any]:
    return {
        "nominal": effects.nominal,
        "chain_effect": effects.chain_effect,
        "edit_effect": effects.edit_effect,
        "selectivity": effects.selectivity.estimate,
        f"contrast_{ci}": effects.selectivity.ends,
    }
