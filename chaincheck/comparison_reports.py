"""What ``compare`` and ``noise`` print and write: rows under one signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from tabulate import tabulate

from chaincheck.atomic import write_bytes
from chaincheck.errors import PathLike, one_line
from chaincheck.instruments import Judges
from chaincheck.intervals import Interval
from chaincheck.noise import PROBABILITIES, NoiseFloor
from chaincheck.paired_results import QUANTITIES, PairedDifference
from chaincheck.results import Signature
from chaincheck.sign_flips import holm

__all__ = ["JudgeComparison", "NoiseReport"]

_SHOWN = {
    "nominal": "Nominal",
    "chain_effect": "CE",
    "edit_effect": "EE",
    "selectivity": "Sigma",
}


@dataclass(frozen=True)
class _Report:
    """What both kinds of result have in common.

    Attributes:
        signature: what data, judges and method it belongs to.
        names: the first judge's name and the second's.
        dropped: triplets left out, by judge and reason.
        notes: doubts about the whole, each a sentence.
        judges: whose scores they are; None where no statement says.
    """

    signature: Signature
    names: tuple[str, str]
    dropped: dict[str, dict[str, int]]
    notes: tuple[str, ...]
    judges: Judges

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` writes."""
        return {
            "signature": str(self.signature),
            "first": self.names[0],
            "second": self.names[1],
            "judges": [None if judge is None else judge.summary() for judge in self.judges],
            "dropped": self.dropped,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The object as indented JSON text."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=1).decode()

    def write_json(self, path: PathLike) -> None:
        """Write the object, whole or not at all."""
        write_bytes(path, self.to_json().encode() + b"\n")

    def _below(self) -> list[str]:
        lines = [
            f"dropped {count:,} triplets: {why} ({judge})"
            for judge, reasons in self.dropped.items()
            for why, count in reasons.items()
        ]
        return [*lines, *self.notes, str(self.signature)]


@dataclass(frozen=True)
class JudgeComparison(_Report):
    """Two judges compared on every file and variant.

    Attributes:
        rows: one for each file and variant; every difference is the first judge's less the
            second's.
    """

    rows: tuple[PairedDifference, ...]

    def adjusted(self) -> list[dict[str, float]]:
        """For each row its p-values by quantity, adjusted over all rows (Holm).

        For each quantity by itself: what is asked is "is there any variant in which the judges
        differ in it?". The intervals are not adjusted.
        """
        columns = {
            name: holm([row.differences[name].p for row in self.rows]) for name in QUANTITIES
        }
        return [
            {name: columns[name][place] for name in QUANTITIES} for place in range(len(self.rows))
        ]

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` writes."""
        pairs = zip(self.rows, self.adjusted(), strict=True)
        return {**super().to_dict(), "rows": [row.to_row(adjusted) for row, adjusted in pairs]}

    def to_text(self, flips: int = 10) -> str:
        """Tables for readers: differences, what is behind them, some flips, the signature.

        Args:
            flips: list at most this many for each row; ``--json`` holds all.
        """
        one, other = self.names
        level = self.rows[0].level
        lines = [
            f"first: {one}; second: {other}; difference = first - second",
            "",
            tabulate(
                list(self._cells()),
                headers=[
                    "file",
                    "variant",
                    "n",
                    "",
                    "first",
                    "second",
                    f"difference [{level * 100:g}%]",
                    "p",
                    "p (Holm)",
                ],
                disable_numparse=True,
            ),
            "",
        ]
        for row in self.rows:
            lines += _row_text(row, flips)
        lines += _reading(self.rows)
        return "\n".join([*lines, *self._below()])

    def _cells(self) -> Iterator[list[str]]:
        for row, adjusted in zip(self.rows, self.adjusted(), strict=True):
            place = [one_line(Path(row.file).name), one_line(row.variant), f"{row.n:,}"]
            for name, difference in row.differences.items():
                own = [getattr(judge, name) for judge in (row.first, row.second)]
                numbers = [one.estimate if isinstance(one, Interval) else one for one in own]
                yield [
                    *place,
                    _SHOWN[name],
                    *(f"{number:.3f}" for number in numbers),
                    _with_ends(difference.interval),
                    f"{difference.p:.4f}",
                    f"{adjusted[name]:.4f}",
                ]
                place = ["", "", ""]


def _with_ends(interval: Interval) -> str:
    if not interval.bounded:
        return f"{interval.estimate:+.3f} n/a"
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def _row_text(row: PairedDifference, flips: int) -> list[str]:
    orders = ", ".join(
        f"{name} {one.changed:,} ({one.reversed:,} reversed)" for name, one in row.orders.items()
    )
    lines = [
        f"{one_line(row.variant)} ({one_line(Path(row.file).name)})",
        f"  triplets ordered differently: {orders}; discordance (B>D or A>B) {row.discordance:.3f}",
        f"  Nominal: the difference is above {row.nominal_floor:+.3f} "
        f"(one-sided {(1 + row.level) * 50:g}%)",
    ]
    lines += [f"  doubt: {note}" for note in row.notes]
    lines += [
        f"  {flip.comparison} in {one_line(flip.pair_id)}: "
        f"first {flip.first:+.3g}, second {flip.second:+.3g}"
        for flip in row.flips[:flips]
    ]
    if flips and len(row.flips) > flips:
        lines.append(f"  and {len(row.flips) - flips:,} more: see --json")
    return [*lines, ""]


def _reading(rows: Sequence[PairedDifference]) -> list[str]:
    tests = len(rows) * len(QUANTITIES)
    return [
        "p asks whether the judges are interchangeable; whether Sigma differs its interval tells",
        f"{tests} p-values stand here, and of 20 tests without a difference one has p < .05; "
        f"p (Holm) allows for {len(rows)} rows of each quantity, intervals do not",
    ]


@dataclass(frozen=True)
class NoiseReport(_Report):
    """One judge scored twice, on every file and variant.

    Attributes:
        rows: one for each file and variant.
    """

    rows: tuple[NoiseFloor, ...]

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` writes."""
        return {**super().to_dict(), "rows": [row.to_row() for row in self.rows]}

    def to_text(self) -> str:
        """Tables for readers: flips, the smallest |EE| to trust, sizes of the noise."""
        flips, sizes = [], []
        for row in self.rows:
            place = [one_line(Path(row.file).name), one_line(row.variant), f"{row.n:,}"]
            rate = row.flip_rates["A>B"].rate
            flips.append(
                [
                    *place,
                    f"{row.flip_rates['A>B'].changed:,}",
                    f"{rate.estimate:.3f} [{rate.low:.3f}, {rate.high:.3f}]",
                    *(f"{edit:+.3f}" for edit in row.edit_effects),
                    f"{row.shift.p:.4f}",
                    f"{row.smallest_edit:.3f}",
                    "yes" if row.trusted[0] else "no",
                ]
            )
            for what, values in (
                ("|A - B|", row.gaps),
                ("|score - rescore|", row.item_noise),
                ("change of A - B", row.gap_noise),
            ):
                sizes.append([*place[:2], what, *(f"{value:.3g}" for value in values)])
        lines = [
            f"first: {self.names[0]}; second: {self.names[1]}",
            "",
            tabulate(
                flips,
                headers=[
                    "file",
                    "variant",
                    "n",
                    "A>B flips",
                    "rate",
                    "EE",
                    "EE again",
                    "p of shift",
                    "|EE| to trust",
                    "trusted",
                ],
                disable_numparse=True,
            ),
            "",
            tabulate(
                sizes,
                headers=["file", "variant", "", *(f"{share:.1%}" for share in PROBABILITIES)],
                disable_numparse=True,
            ),
        ]
        lines += [
            f"doubt: {note} ({one_line(row.variant)})" for row in self.rows for note in row.notes
        ]
        lines.append(
            "an |EE| above the one to trust is no noise of scoring; whether it is luck of the "
            "triplets its own interval tells"
        )
        return "\n".join([*lines, *self._below()])
