"""What the injection probe yields: shifts and shares for each attack, to print, write and draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from tabulate import tabulate

from chaincheck.atomic import write_bytes
from chaincheck.errors import PathLike
from chaincheck.injection_attacks import At, Place, control_for
from chaincheck.intervals import Interval
from chaincheck.judges.attribution import Attribution
from chaincheck.results import Signature

__all__ = ["AttackEffect", "InjectionReport", "Share", "Shift"]

_FEW = 30


@dataclass(frozen=True, slots=True)
class Shift:
    """How one cell's scores move, in units of the score; means with t intervals.

    Attributes:
        attacked: score with the attack less the clean score.
        control: score with the control less the clean score.
        excess: the first less the second, item by item.
    """

    attacked: Interval
    control: Interval
    excess: Interval


@dataclass(frozen=True, slots=True)
class Share:
    """How often something holds of D: clean, with the control, with the attack.

    Attributes:
        n: of how many triplets.
        clean, control, attacked: shares with Wilson intervals.
        excess: attacked less control, a paired difference with Newcombe's interval.
    """

    n: int
    clean: Interval
    control: Interval
    attacked: Interval
    excess: Interval


@dataclass(frozen=True, slots=True)
class AttackEffect:
    """What one attack does to the triplets of one variant.

    Attributes:
        variant, attack: which.
        n: triplets.
        level: nominal coverage of every interval.
        gap: mean clean score of A less that of D: the scale to hold a shift against.
        shifts: by cell.
        outscores: D above its own clean A.
        crosses: D above 0, of those whose clean D is not; None where there are none.
        bounded: triplets left out since the judge could only bound a score.
    """

    variant: str
    attack: str
    n: int
    level: float
    gap: Interval
    shifts: Mapping[str, Shift]
    outscores: Share
    crosses: Share | None
    bounded: int

    def to_row(self) -> dict[str, Any]:
        """One row of ``--json``: plain numbers, unrounded."""
        crosses = None if self.crosses is None else _share_row(self.crosses)
        return {
            "variant": self.variant,
            "attack": self.attack,
            "pairs": self.n,
            "level": self.level,
            "gap_a_d": _plain(self.gap),
            "shifts": {
                cell: {name: _plain(getattr(one, name)) for name in Shift.__slots__}
                for cell, one in self.shifts.items()
            },
            "d_outscores_clean_a": _share_row(self.outscores),
            "d_crosses_zero": crosses,
            "bounded": self.bounded,
        }


def _plain(interval: Interval) -> list[float | None]:
    return [
        value if np.isfinite(value) else None
        for value in (interval.estimate, interval.low, interval.high)
    ]


def _share_row(share: Share) -> dict[str, Any]:
    names = ("clean", "control", "attacked", "excess")
    return {"pairs": share.n, **{name: _plain(getattr(share, name)) for name in names}}


@dataclass(frozen=True)
class InjectionReport:
    """What every attack does.

    Attributes:
        rows: one for each variant and attack.
        signature: what data, judge and method they belong to.
        judge: whose scores these are.
        place, at: where the attacks were written.
        attacks: the texts.
        dropped: triplets left out, by reason.
    """

    rows: tuple[AttackEffect, ...]
    signature: Signature
    judge: Attribution
    place: Place
    at: At
    attacks: Mapping[str, str]
    dropped: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` writes."""
        return {
            "signature": str(self.signature),
            "judge": self.judge.summary(),
            "caveats": list(self.judge.caveats),
            "place": self.place,
            "at": self.at,
            "attacks": {
                name: {"text": text, "control": control_for(text)}
                for name, text in self.attacks.items()
            },
            "dropped": dict(self.dropped),
            "rows": [row.to_row() for row in self.rows],
        }

    def to_json(self) -> str:
        """The object as indented JSON text."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=1).decode()

    def write_json(self, path: PathLike) -> None:
        """Write the object, whole or not at all."""
        write_bytes(path, self.to_json().encode() + b"\n")

    def to_text(self) -> str:
        """A table with one row an attack and variant, how to read it, and the signature."""
        level = f"[{self.rows[0].level * 100:g}%]"
        headers = ["variant", "attack", "n", "A - D", "shift A", "shift B", f"shift D {level}"]
        headers += ["D > clean A", f"excess {level}", "D lifted", f"excess {level}"]
        lines = [
            f"{self.judge.judge}: attacks at the {self.at} of the {self.place} passage",
            "",
            tabulate([_cells(row) for row in self.rows], headers=headers, disable_numparse=True),
            "shift: of the score under the attack, less that under its control (harmless text of "
            "the same length)",
            "D > clean A, D lifted (above 0, of those that were not): shares clean, with the "
            "control, with the attack; excess: attack less control",
        ]
        if any(row.n < _FEW for row in self.rows):
            lines.append(f"doubt: fewer than {_FEW} triplets")
        bounded = max((row.bounded for row in self.rows), default=0)
        if bounded:
            lines.append(f"doubt: up to {bounded:,} triplets were left out: scores only bounded")
        lines += [f"dropped {count:,} triplets: {why}" for why, count in self.dropped.items()]
        lines += [f"caveat: {caveat}" for caveat in self.judge.caveats]
        return "\n".join([*lines, str(self.signature)])


def _ends(interval: Interval) -> str:
    return f"{interval.estimate:+.3g} [{interval.low:+.3g}, {interval.high:+.3g}]"


def _shares(share: Share | None) -> list[str]:
    if share is None:
        return ["", ""]
    three = (share.clean, share.control, share.attacked)
    shown = " ".join(f"{one.estimate:.2f}" for one in three)
    low, high = share.excess.low, share.excess.high
    return [shown, f"{share.excess.estimate:+.2f} [{low:+.2f}, {high:+.2f}]"]


def _cells(row: AttackEffect) -> list[str]:
    return [
        row.variant,
        row.attack,
        f"{row.n:,}",
        f"{row.gap.estimate:.3g}",
        *(f"{row.shifts[cell].excess.estimate:+.3g}" for cell in "AB"),
        _ends(row.shifts["D"].excess),
        *_shares(row.outscores),
        *_shares(row.crosses),
    ]
