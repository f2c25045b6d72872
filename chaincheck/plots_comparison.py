"""Figures that hold two judges against each other.

Like :mod:`chaincheck.plots`: values in, a ``Figure`` out, nothing computed beyond coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from chaincheck.paired_results import QUANTITIES, PairedDifference
from chaincheck.plots import mark, style, variant_legend, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["differences_figure", "orders_figure"]

_LABELS = {
    "nominal": "Nominal",
    "chain_effect": "chain effect CE",
    "edit_effect": "edit effect EE",
    "selectivity": "selectivity Σ",
}
_OUTCOMES = ("lower", "tie", "higher")
_WIDTH = 6.2


def _by_file(rows: Sequence[PairedDifference]) -> dict[str, list[PairedDifference]]:
    found: dict[str, list[PairedDifference]] = {}
    for row in rows:
        found.setdefault(Path(row.file).name, []).append(row)
    return found


def differences_figure(
    rows: Sequence[PairedDifference], names: tuple[str, str] = ("first", "second")
) -> Figure:
    """The differences of two judges with their intervals: a line a quantity, a color a variant.

    Args:
        rows: what :func:`chaincheck.comparison.compare` gave, one panel a file.
        names: the judges, for the label of the axis.

    Raises:
        ValueError: nothing to draw.
    """
    if not rows:
        raise ValueError("differences_figure needs at least one compared row")
    files = _by_file(rows)
    variants = list(dict.fromkeys(row.variant for row in rows))
    height = 1.1 + sum(0.5 + 0.28 * len(QUANTITIES) * len(found) for found in files.values())
    with style():
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        panels = figure.subplots(len(files), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, found) in zip(panels, files.items(), strict=True):
            _differences(axes, found)
            if len(files) > 1:
                axes.set_title(words(name), fontsize=9)
        panels[-1].set_xlabel(f"{words(names[0])}  −  {words(names[1])}")
        variant_legend(figure, variants)
    return figure


def _differences(axes: Axes, rows: Sequence[PairedDifference]) -> None:
    step = 0.8 / len(rows)
    axes.axvline(0.0, color="#555555", linewidth=1.0, zorder=1)
    for place, quantity in enumerate(QUANTITIES):
        for number, row in enumerate(rows):
            at = place + step * (number - (len(rows) - 1) / 2.0)
            interval = row.differences[quantity].interval
            color, marker = mark(row.variant)
            axes.plot([interval.low, interval.high], [at, at], color=color, linewidth=1.6)
            axes.plot(interval.estimate, at, marker, color=color, markersize=6, zorder=3)
    axes.set_yticks(range(len(QUANTITIES)), [_LABELS[name] for name in QUANTITIES])
    axes.set_ylim(len(QUANTITIES) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")


def orders_figure(row: PairedDifference, names: tuple[str, str] = ("first", "second")) -> Figure:
    """How two judges' orders go together: for each comparison a 3 x 3 table of triplets.

    The diagonal, where they agree, is gray; the corners beside it are reversals.

    Args:
        row: what :func:`chaincheck.comparison.compare` gave.
        names: the judges, for the labels of the axes.
    """
    with style():
        figure = Figure(figsize=(_WIDTH, 2.7), layout="constrained")
        panels = figure.subplots(1, len(row.orders), sharey=True, squeeze=False)[0]
        for axes, orders in zip(panels, row.orders.values(), strict=True):
            _table(axes, orders.counts, row.n)
            axes.set_title(f"{orders.name.replace('>', ' > ')}", fontsize=10)
            axes.set_xlabel(words(names[1]), fontsize=9)
        panels[0].set_ylabel(words(names[0]), fontsize=9)
    return figure


def _table(axes: Axes, counts: Sequence[Sequence[int]], n: int) -> None:
    for i, line in enumerate(counts):
        for j, count in enumerate(line):
            color = "#999999" if i == j else "#D55E00" if abs(i - j) == 2 else "#E69F00"
            shade = 0.08 + 0.72 * count / n if count else 0.0
            axes.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=color, alpha=shade, lw=0)
            axes.text(j, i, f"{count:,}", ha="center", va="center", fontsize=9)
    axes.set_xticks(range(3), _OUTCOMES, fontsize=8)
    axes.set_yticks(range(3), _OUTCOMES, fontsize=8)
    axes.set(xlim=(-0.5, 2.5), ylim=(-0.5, 2.5))
    axes.grid(visible=False)
    axes.set_aspect("equal")
