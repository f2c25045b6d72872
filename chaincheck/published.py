"""The published zero-shot baseline of the 27B reference judge, as counts, and what training gave.

The public kit reports three files in two variants, after dropping the pairs that the reference
judge answers closed-book. It gives rates to three digits. Each is a number of pairs won over
the number of pairs, and for each only one number of pairs gives the published digits
(:func:`counts_behind`), so the counts below are not estimated: they are what was published,
written another way.

One number is not settled by the rates: how many pairs won both B > D and A > B. It decides how
wide an interval is. The range kept here holds the values for which a percentile bootstrap over
pairs gives the published interval within one step of 1/n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from chaincheck.cells import CellScores

__all__ = [
    "BASELINE",
    "INVENTED",
    "JUDGE",
    "LOWEST_EDIT_EFFECT",
    "TRAINED",
    "PublishedRow",
    "PublishedTraining",
    "counts_behind",
    "published_row",
]

JUDGE = "27B reference judge, zero-shot"


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One row of the published table.

    Attributes:
        file: the kit's file.
        variant: "real" or "fict".
        n: pairs (triplets).
        wins_ad, wins_bd, wins_ab: pairs in which the first cell scored above the second.
        nominal, chain_effect, edit_effect, selectivity: the published figures.
        low, high: the published 95% interval of the selectivity.
        both: fewest and most pairs won in both B > D and A > B that agree with that interval.
    """

    file: str
    variant: str
    n: int
    wins_ad: int
    wins_bd: int
    wins_ab: int
    nominal: float
    chain_effect: float
    edit_effect: float
    selectivity: float
    low: float
    high: float
    both: tuple[int, int]

    def scores(self, both: int | None = None) -> CellScores:
        """Scores that win exactly as often as the published ones did.

        Each triplet gets three different numbers in one of the six possible orders, so there are
        no ties; the numbers themselves mean nothing and neither do their gaps.

        Args:
            both: pairs won in both B > D and A > B; by default the middle of the range.

        Raises:
            ValueError: no triplets can have these counts.
        """
        first = sum(self.both) // 2 if both is None else both
        orders = _orders(self, first)
        ranks = np.repeat(np.array(list(orders)), list(orders.values()), axis=0).astype(np.float64)
        return CellScores(
            file=self.file, variant=self.variant, a=ranks[:, 0], b=ranks[:, 1], d=ranks[:, 2]
        )


def _orders(row: PublishedRow, both: int) -> dict[tuple[int, int, int], int]:
    """How many triplets have which ranks of (A, B, D), so that the counts come out.

    Four counts leave one of the six orders free; D > A > B gets the fewest triplets that leave
    no other order with less than none.
    """
    for dab in range(row.n + 1):
        adb = row.wins_ab - both - dab
        bad = row.wins_ad - both - adb
        bda = row.wins_bd - both - bad
        dba = row.n - (both + adb + bad + bda + dab)
        counts = {
            (2, 1, 0): both,
            (2, 0, 1): adb,
            (1, 2, 0): bad,
            (0, 2, 1): bda,
            (1, 0, 2): dab,
            (0, 1, 2): dba,
        }
        if min(counts.values()) >= 0:
            return counts
    raise ValueError(f"no {row.n} triplets have {both} wins in both B > D and A > B: {row}")


def counts_behind(rate: float, n: int, *, digits: int = 3, step: float = 1.0) -> list[float]:
    """Numbers of wins out of n whose rate rounds to a published one.

    Args:
        rate: published win rate.
        n: number of triplets.
        digits: digits it was rounded to; an exact half may round either way.
        step: 1 for whole wins, 0.5 if ties count as half a win.

    Returns:
        All multiples of ``step`` that fit, smallest first. At most one where step/n exceeds the
        last published digit.
    """
    half = 0.5 * 10.0**-digits + 1e-12
    first = math.ceil(max(0.0, rate - half) * n / step)
    last = math.floor(min(1.0, rate + half) * n / step)
    return [k * step for k in range(first, last + 1)]


def published_row(file: str, variant: str) -> PublishedRow:
    """The published row of a file and variant.

    Raises:
        KeyError: there is none.
    """
    for row in BASELINE:
        if (row.file, row.variant) == (file, variant):
            return row
    raise KeyError(f"no published row {file!r}, {variant!r}")


BASELINE = (
    PublishedRow(
        *("musique_test", "real", 324, 290, 262, 197),
        *(0.895, 0.309, 0.108, 0.201, 0.123, 0.278),
        both=(140, 143),
    ),
    PublishedRow(
        *("musique_test", "fict", 224, 203, 201, 110),
        *(0.906, 0.397, -0.009, 0.388, 0.312, 0.420),
        both=(88, 89),
    ),
    PublishedRow(
        *("musique_confirmation", "real", 122, 115, 103, 81),
        *(0.943, 0.344, 0.164, 0.180, 0.066, 0.295),
        both=(64, 66),
    ),
    PublishedRow(
        *("musique_confirmation", "fict", 98, 89, 93, 46),
        *(0.908, 0.449, -0.031, 0.418, 0.316, 0.469),
        both=(41, 42),
    ),
    PublishedRow(
        *("twowiki_replication", "real", 295, 267, 242, 204),
        *(0.905, 0.320, 0.192, 0.129, 0.054, 0.200),
        both=(155, 159),
    ),
    PublishedRow(
        *("twowiki_replication", "fict", 141, 131, 133, 77),
        *(0.929, 0.443, 0.046, 0.397, 0.305, 0.454),
        both=(72, 74),
    ),
)
"""The six published rows, in the order of the published table."""


@dataclass(frozen=True, slots=True)
class PublishedTraining:
    """What one pass over 7,481 triplets did to a judge, as published; without intervals.

    Attributes:
        size: parameters of the base.
        before, after: selectivity on the second data set with real names.
    """

    size: str
    before: float
    after: float


TRAINED = (
    PublishedTraining("4B", 0.136, 0.376),
    PublishedTraining("9B", 0.078, 0.386),
    PublishedTraining("27B", 0.129, 0.461),
)
"""Selectivity before and after training."""

LOWEST_EDIT_EFFECT = -0.5
"""How low the edit effect is said to have gone afterwards; on which rows is not said."""

INVENTED = (0.40, 0.17)
"""Selectivity on invented names before and after training."""
