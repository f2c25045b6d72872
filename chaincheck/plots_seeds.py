"""Figures of training runs over seeds: every run is a mark of its own, never only their mean.

Like :mod:`chaincheck.plots`: values in, a ``Figure`` out, nothing computed beyond coordinates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from chaincheck.plots import QUANTITIES, mark, style, variant_legend, words
from chaincheck.training_results import SeedResult, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scores_figure", "seeds_figure"]

_RANGES = {"nominal": (0.0, 1.0, 0.5, (0.0, 0.5, 1.0))}
_EFFECT = (-0.5, 0.5, 0.0, (-0.4, 0.0, 0.4))
_CELLS = {"A": ("#000000", "o"), "B": ("#0072B2", "s"), "D": ("#D55E00", "v")}


def seeds_figure(
    results: Mapping[str, Sequence[SeedResult]],
    variants: Sequence[str],
    quantities: Sequence[str] = tuple(QUANTITIES),
) -> Figure:
    """Every seed of every recipe: a line a recipe, a color a variant, a panel a quantity.

    A mark is one run; the short upright line is the mean of the runs.

    Args:
        results: by label the seeds of a recipe; a label without a seed keeps its line.
        variants: which to show.
        quantities: which of ``QUANTITIES`` to show, from left to right.

    Raises:
        ValueError: nothing to draw.
    """
    if not any(results.values()) or not variants:
        raise ValueError("seeds_figure needs at least one run and one variant")
    step = 0.8 / len(variants)
    with style():
        height = 1.2 + len(results) * max(0.42, 0.2 * len(variants))
        figure = Figure(figsize=(1.55 * len(quantities) + 1.7, height), layout="constrained")
        panels = figure.subplots(1, len(quantities), sharey=True, squeeze=False)[0]
        for axes, quantity in zip(panels, quantities, strict=True):
            low, high, chance, ticks = _RANGES.get(quantity, _EFFECT)
            axes.axvline(chance, color="#444444", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            for line, found in enumerate(results.values()):
                for number, variant in enumerate(variants):
                    if found:
                        at = line + (number - (len(variants) - 1) / 2) * step
                        _runs(axes, at, found, variant, quantity)
            axes.set_xlim(low - 0.05, high + 0.05)
            axes.set_xticks(ticks)
            axes.set_title(QUANTITIES[quantity], fontsize=10)
            axes.grid(axis="y", visible=False)
        panels[0].set_yticks(range(len(results)), [words(label) for label in results])
        panels[0].set_ylim(len(results) - 0.5, -0.5)
        variant_legend(figure, variants)
    return figure


def _runs(axes: Axes, at: float, found: Sequence[SeedResult], variant: str, quantity: str) -> None:
    color, marker = mark(variant)
    runs = spread(found, variant, quantity)
    axes.plot([runs.low, runs.high], [at, at], color=color, linewidth=1.2, zorder=2)
    for value in runs.values:
        axes.plot(value, at, marker, color=color, markersize=4.5, alpha=0.75, zorder=3)
    if len(runs.values) > 1:
        axes.plot([runs.mean] * 2, [at - 0.11, at + 0.11], color=color, linewidth=2.2, zorder=4)


def scores_figure(results: Mapping[str, Sequence[SeedResult]], variants: Sequence[str]) -> Figure:
    """Mean scores of the cells: a line a recipe, a panel a variant, a mark a run and cell.

    Args:
        results: by label the seeds of a recipe.
        variants: which to show, from left to right.

    Raises:
        ValueError: nothing to draw.
    """
    if not any(results.values()) or not variants:
        raise ValueError("scores_figure needs at least one run and one variant")
    with style():
        height = 1.2 + 0.42 * len(results)
        figure = Figure(figsize=(2.0 * len(variants) + 1.7, height), layout="constrained")
        panels = figure.subplots(1, len(variants), sharey=True, sharex=True, squeeze=False)[0]
        for axes, variant in zip(panels, variants, strict=True):
            axes.axvline(0, color="#444444", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            for line, found in enumerate(results.values()):
                for number, (cell, (color, marker)) in enumerate(_CELLS.items()):
                    values = [one.means[variant][cell] for one in found]
                    at = [line + (number - 1) * 0.24] * len(values)
                    label = f"cell {cell}" if line == 0 else None
                    axes.plot(
                        values, at, marker, color=color, markersize=4.5, alpha=0.75, label=label
                    )
            axes.set_title(words(variant), fontsize=10)
            axes.set_xlabel("mean score, log-odds")
            axes.grid(axis="y", visible=False)
        panels[0].set_yticks(range(len(results)), [words(label) for label in results])
        panels[0].set_ylim(len(results) - 0.5, -0.5)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure
