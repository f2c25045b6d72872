"""How often a batch was found to follow its protocol, dimension by dimension."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from tabulate import tabulate

from chaincheck.adherence.rates import Rate, rate
from chaincheck.adherence.wording import counted, printable

__all__ = ["DIMENSIONS", "BatchSummary", "Tally"]

DIMENSIONS = ("overall", "verdict", "procedure", "coverage", "grounding")
_STATUSES = ("SATISFIED", "VIOLATED", "UNKNOWN")
_MOST_SHOWN = 20
_NOTE = """\
exact: Clopper-Pearson, for replays that are independent of each other. Several of one question,
  as the cells of a triplet, are not: their intervals are longer than these, and
  chaincheck audit claims clusters them by question.
if unknowns none..all: V/N and (V+U)/N, the share if none or all of the UNKNOWN are violated."""


class BatchSummary(msgspec.Struct, frozen=True):
    """What a batch came to.

    The intervals take the replays as independent of each other. Where several come from one
    question, as the cells of a triplet do, they are shorter than they should be.

    Attributes:
        lines: how many lines that are not blank.
        audited: how many of them hold a valid replay.
        invalid: how many do not. They are in no other number.
        invalid_codes: those by the code of their first fault.
        invalid_lines: the first 20 of them: line, code, place.
        statuses: for ``overall`` and each dimension how many replays have which status.
        rates: for each how often it is violated, of the replays whose protocol asks for it.
            A protocol that could not be translated counts as unknown.
        forced: replays whose overall status is UNKNOWN whatever the dimensions say.
        by_gold: overall statuses of the replays whose verdict is ``right``, ``wrong`` and of
            those without a gold label, ``unlabeled``.
        interval: how the intervals were made, and what they take for granted.
    """

    lines: int
    audited: int
    invalid: int
    invalid_codes: dict[str, int]
    invalid_lines: tuple[tuple[int, str, str], ...]
    statuses: dict[str, dict[str, int]]
    rates: dict[str, Rate]
    forced: int
    by_gold: dict[str, dict[str, int]]
    interval: str = "Clopper-Pearson, replays taken as independent"

    def to_json(self) -> str:
        """The summary as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def to_text(self) -> str:
        """The summary as a table for a terminal."""
        audited, invalid = counted(self.audited, "replay"), counted(self.invalid, "line")
        parts = [f"{audited} audited, {invalid} INVALID"]
        rows = []
        for name, found in self.rates.items():
            counts = [self.statuses[name].get(status, 0) for status in _STATUSES]
            share = "–" if found.estimate is None else f"{found.estimate:.3f}"
            interval = f"[{_end(found.low)}, {_end(found.high)}]"
            if found.total and found.unknown == found.total:
                share, interval = "unknown", "–"
            bounds = f"[{found.least:.3f}, {found.most:.3f}]"
            rows.append((name, *counts, share, interval, bounds))
        level = f"{next(iter(self.rates.values())).level:.4g}"
        heads = ("", *_STATUSES, "violated", f"exact {level}", "if unknowns none..all")
        parts.append(tabulate(rows, headers=heads, disable_numparse=True))
        parts.append(_NOTE)
        if self.forced:
            parts.append(f"{self.forced} forced to UNKNOWN by an inconsistency or a limit")
        if any(self.by_gold[key] for key in ("right", "wrong")):
            gold = [
                (key, *(counts.get(status, 0) for status in _STATUSES))
                for key, counts in self.by_gold.items()
                if counts
            ]
            parts.append(tabulate(gold, headers=("verdict is", *_STATUSES)))
        for line, code, place in self.invalid_lines:
            parts.append(f"  line {line}: {code} at {place}")
        if self.invalid > len(self.invalid_lines):
            parts.append(f"  and {self.invalid - len(self.invalid_lines)} more")
        return printable("\n".join(parts))


def _end(value: float) -> str:
    """Write an end of an interval, never as 0 or 1 where it is not."""
    if 0 < value < 0.0005:
        return "<0.001"
    return ">0.999" if 0.9995 <= value < 1 else f"{value:.3f}"


class Tally:
    """Counts reports one at a time.

    Attributes:
        count: how many were counted.
    """

    def __init__(self) -> None:
        self._statuses: dict[str, Counter[str]] = {name: Counter() for name in DIMENSIONS}
        self._by_gold: dict[str, Counter[str]] = {
            key: Counter() for key in ("right", "wrong", "unlabeled")
        }
        self._codes: Counter[str] = Counter()
        self._lines: list[tuple[int, str, str]] = []
        self._forced = 0
        self.count = 0

    def add(self, report: Mapping[str, Any]) -> None:
        """Count one report, as written by ``chaincheck.adherence.batch``."""
        overall = report["overall"]
        self.count += 1
        if overall == "INVALID":
            self._codes[report["code"]] += 1
            if len(self._lines) < _MOST_SHOWN:
                self._lines.append((report["line"], report["code"], report["path"]))
            return
        dimensions, match = report["dimensions"], report["gold_match"]
        forced = bool(report["overall_forced_by"])
        self._statuses["overall"][overall] += 1
        for name in DIMENSIONS[1:]:
            self._statuses[name][dimensions[name]] += 1
        self._forced += forced
        right = "unlabeled" if match is None else "right" if match else "wrong"
        self._by_gold[right][overall] += 1

    def summary(self, level: float = 0.95) -> BatchSummary:
        """Return the counts and the rates that they give.

        Args:
            level: coverage of the intervals.
        """
        invalid = self._codes.total()
        audited = self._statuses["overall"].total()
        return BatchSummary(
            lines=audited + invalid,
            audited=audited,
            invalid=invalid,
            invalid_codes=dict(sorted(self._codes.items())),
            invalid_lines=tuple(self._lines),
            statuses={name: dict(sorted(one.items())) for name, one in self._statuses.items()},
            rates={name: _rate(one, level) for name, one in self._statuses.items()},
            forced=self._forced,
            by_gold={key: dict(sorted(one.items())) for key, one in self._by_gold.items()},
        )


def _rate(counts: Counter[str], level: float) -> Rate:
    unknown = counts["UNKNOWN"] + counts["NOT_EVALUATED"]
    total = counts.total() - counts["NOT_SPECIFIED"]
    return rate(counts["VIOLATED"], unknown, total, level)
