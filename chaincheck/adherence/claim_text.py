"""The rates of claims in words: the tables, what their signs mean, and which interval is whose."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tabulate import tabulate

from chaincheck.adherence.shares import Share
from chaincheck.adherence.wording import counted, printable
from chaincheck.intervals import Interval

if TYPE_CHECKING:
    from chaincheck.adherence.claim_rates import CellRates, ClaimEffects, Grounded
    from chaincheck.adherence.claim_report import ClaimReport

__all__ = ["claims_text"]

_CELL_HEADS = ("over-claims hop 2", "under-claims hop 1", "under-claims hop 2",
               "right for a wrong reason")  # fmt: skip
_EFFECT_HEADS = ("claimed in B less D", "claimed in A less B")
_FAULT_HEAD = "share of replays"
_SIGMA_HEADS = ("Sigma of scores", "Sigma of claims")
_SIGNS = (
    "V/N [low, high] (+U): V of N replays surely are of the kind. Of U more it is unknown; they "
    "are among the N, so that the whole share lies between V/N and (V+U)/N.",
    "N: all replays of the cell, or of the file; beside right for a wrong reason, its right "
    "verdicts. n: replays, and beside a difference the triplets in which both claims are known.",
    "claimed in B less D: how much more is claimed where the chain is whole than where it is "
    "broken, the chain effect of the claims. claimed in A less B: what the edit alone costs.",
)
_BY = {"triplet": "by triplet", "cluster": "by question"}


def claims_text(report: ClaimReport) -> str:
    """Write everything that was counted of a judge's claims.

    Args:
        report: the counts.
    """
    lacking = ", ".join(f"{count} in {cell}" for cell, count in report.lacking.items())
    parts = [
        counted(report.replays, "replay") + (f"; items without one: {lacking}" if lacking else ""),
        _cells(report.cells),
        _effects(report.effects),
        _faults({**report.dimensions, **report.faults}),
    ]
    if report.joined:
        parts.append(_joined(report.joined))
    signs = "\n".join(map(_wrapped, _SIGNS))
    return printable("\n\n".join([*parts, signs, "\n".join(_intervals(report))]))


def _cells(rows: Iterable[CellRates]) -> str:
    shown = [(row.variant, row.cell, row.right.n, *map(_share, _cell_shares(row))) for row in rows]
    return _table(("variant", "cell", "n", *_CELL_HEADS), shown)


def _cell_shares(row: CellRates) -> tuple[Share | None, ...]:
    """The shares of a row in the order of the table's columns."""
    return row.over_claim, row.under_claim1, row.under_claim2, row.wrong_reason


def _effects(rows: Iterable[ClaimEffects]) -> str:
    shown = [
        (row.variant, row.hop, row.chain_n, _interval(row.chain), row.edit_n, _interval(row.edit))
        for row in rows
    ]
    return _table(("variant", "hop", "n", _EFFECT_HEADS[0], "n", _EFFECT_HEADS[1]), shown)


def _faults(shares: Mapping[str, Share]) -> str:
    return _table(
        ("violated, or at fault", _FAULT_HEAD),
        [(name, _share(one)) for name, one in shares.items()],
    )


def _joined(rows: Iterable[Grounded]) -> str:
    doubts: dict[str, int] = {}

    def marks(notes: Iterable[str]) -> str:
        numbers = sorted(doubts.setdefault(note, len(doubts) + 1) for note in notes)
        return ",".join(map(str, numbers))

    shown = [
        (
            *(row.variant, row.scores.n),
            *(_interval(row.scores.contrast), marks(row.scores.notes)),
            *(_interval(row.claims.contrast), marks(row.claims.notes)),
            row.left_out,
        )
        for row in rows
    ]
    heads = ("variant", "triplets", _SIGMA_HEADS[0], "doubts", _SIGMA_HEADS[1], "doubts")
    notes = [f"  ({number}) {note}" for note, number in doubts.items()]
    return "\n".join([_table((*heads, "left out"), shown), *notes])


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    return tabulate(rows, headers=heads, disable_numparse=True)


def _share(one: Share | None) -> str:
    if one is None:
        return ""
    if not one.n:
        return "none"
    if one.unknown == one.n:
        return f"unknown in all {one.n}"
    unknown = f" (+{one.unknown})" if one.unknown else ""
    low, high = one.interval.low, one.interval.high
    return f"{one.found}/{one.n} [{low:.3f}, {high:.3f}]{unknown}"


def _interval(one: Interval) -> str:
    if math.isnan(one.estimate):
        return "none"
    if not one.bounded:
        return f"{one.estimate:.3f} [no interval]"
    return f"{one.estimate:.3f} [{one.low:.3f}, {one.high:.3f}]"


def _intervals(report: ClaimReport) -> Iterator[str]:
    """Say of every column which interval it has, and in which rows, where they differ."""
    found: list[tuple[str, str, Interval, str]] = []  # columns, row, interval, what is resampled
    for row in report.cells:
        shares = zip(_CELL_HEADS, _cell_shares(row), strict=True)
        found += [(head, row.variant, one.interval, "") for head, one in shares if one is not None]
    for effect in report.effects:
        both = zip(_EFFECT_HEADS, (effect.chain, effect.edit), strict=True)
        found += [(head, effect.variant, one, "") for head, one in both]
    for share in (*report.dimensions.values(), *report.faults.values()):
        found.append((_FAULT_HEAD, "", share.interval, ""))
    for pair in report.joined:
        both = zip(_SIGMA_HEADS, (pair.scores.contrast, pair.claims.contrast), strict=True)
        found += [(head, pair.variant, one, _BY[pair.scores.by]) for head, one in both]
    shown = [row for row in found if not math.isnan(row[2].estimate) and row[2].bounded]
    if not shown:
        return
    yield f"Intervals of {100 * shown[0][2].level:.4g}%:"
    columns: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for head in (*_CELL_HEADS, *_EFFECT_HEADS, _FAULT_HEAD, *_SIGMA_HEADS):
        made = [(_method(one, by), variant) for name, variant, one, by in shown if name == head]
        if made:
            columns.setdefault(tuple(dict.fromkeys(made)), []).append(head)
    for ways, heads in columns.items():
        methods = dict.fromkeys(method for method, _ in ways)
        said = [
            method
            if len(methods) == 1
            else f"{', '.join(variant for one, variant in ways if one == method)}: {method}"
            for method in methods
        ]
        text = f"{', '.join(heads)}: {'; '.join(said)}."
        yield _wrapped(text, "  ")


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, 96, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
    )


def _method(one: Interval, by: str) -> str:
    return f"{one.method}, {by}" if by else one.method
