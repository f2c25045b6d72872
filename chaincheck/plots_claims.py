"""Figures of the audit at scale: what is violated, and how Sigma goes with grounded claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaincheck.adherence.claim_rates import CELLS, CellRates, Grounded
from chaincheck.adherence.shares import Share
from chaincheck.intervals import Interval
from chaincheck.plots import style, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["cells_figure", "dimensions_figure", "grounding_figure"]

_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
_MARKERS = "osD^vPX"
_SHARES = (
    ("over_claim", "over-claims\nhop 2"),
    ("under_claim1", "under-claims\nhop 1"),
    ("under_claim2", "under-claims\nhop 2"),
    ("wrong_reason", "right for a\nwrong reason"),
)


def _look(number: int) -> tuple[str, str]:
    return _COLORS[number % len(_COLORS)], _MARKERS[number % len(_MARKERS)]


def _legend(figure: Figure, names: Sequence[str], columns: int = 3) -> None:
    handles = [
        Line2D([], [], color=_look(k)[0], marker=_look(k)[1], linewidth=1.6, label=words(name))
        for k, name in enumerate(names)
    ]
    figure.legend(
        handles=handles, loc="outside upper center", ncols=min(columns, len(handles)), frameon=False
    )


def _bar(axes: Axes, at: float, one: Share, number: int) -> None:
    """A dot with its interval; a hollow mark at the bound that unknown cases would give."""
    color, marker = _look(number)
    if not one.n:
        return
    axes.plot([one.interval.low, one.interval.high], [at, at], color=color, linewidth=1.6, zorder=2)
    axes.plot(one.interval.estimate, at, marker, color=color, markersize=6, zorder=3)
    if one.unknown:
        axes.plot(
            [one.least, one.most], [at, at], color=color, linewidth=0.9, linestyle=":", zorder=1
        )
        axes.plot(
            one.most, at, marker, color=color, markersize=6, markerfacecolor="white", zorder=3
        )


def _rows(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [words(label) for label in labels])
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(-0.03, 1.03)


def _spread(number: int, count: int) -> float:
    return (number - (count - 1) / 2) * 0.7 / max(count, 1)


def dimensions_figure(judges: Mapping[str, Mapping[str, Share]]) -> Figure:
    """The share of replays that violate each dimension, a color a judge.

    A filled mark with its interval is the share that surely does; a hollow mark to which a dotted
    line leads is the share if everything undecided did.

    Raises:
        ValueError: nothing to draw.
    """
    if not judges:
        raise ValueError("dimensions_figure needs at least one judge")
    names = list(next(iter(judges.values())))
    with style():
        height = 1.4 + len(names) * max(0.4, 0.2 * len(judges))
        figure = Figure(figsize=(6.4, height), layout="constrained")
        axes = figure.subplots()
        for number, found in enumerate(judges.values()):
            for line, name in enumerate(names):
                _bar(axes, line + _spread(number, len(judges)), found[name], number)
        _rows(axes, names)
        axes.set_xlabel("share of replays in which it is violated")
        _legend(figure, list(judges))
    return figure


def cells_figure(judges: Mapping[str, Sequence[CellRates]]) -> Figure:
    """Over-claims, under-claims and wrong reasons in each cell, a panel each, a color a judge.

    Raises:
        ValueError: nothing to draw.
    """
    if not judges:
        raise ValueError("cells_figure needs at least one judge")
    with style():
        height = 1.5 + len(CELLS) * max(0.35, 0.18 * len(judges))
        figure = Figure(figsize=(8.6, height), layout="constrained")
        panels = figure.subplots(1, len(_SHARES), sharey=True)
        for axes, (attribute, title) in zip(panels, _SHARES, strict=True):
            for number, rows in enumerate(judges.values()):
                for row in rows:
                    one = getattr(row, attribute)
                    if one is not None:
                        at = CELLS.index(row.cell) + _spread(number, len(judges))
                        _bar(axes, at, one, number)
            axes.set_title(title, fontsize=10)
            axes.set_xticks((0.0, 0.5, 1.0))
            _rows(axes, CELLS)
        _legend(figure, list(judges))
    return figure


def _cross(axes: Axes, x: Interval, y: Interval, number: int) -> None:
    color, marker = _look(number)
    if x.bounded:
        axes.plot([x.low, x.high], [y.estimate] * 2, color=color, linewidth=1.3, zorder=2)
    if y.bounded:
        axes.plot([x.estimate] * 2, [y.low, y.high], color=color, linewidth=1.3, zorder=2)
    axes.plot(x.estimate, y.estimate, marker, color=color, markersize=8, zorder=3)


def grounding_figure(judges: Mapping[str, Sequence[Grounded]]) -> Figure:
    """Sigma of the scores against Sigma of the claims, a point a judge and variant.

    On the diagonal the claims follow the chain as well as the scores do; below it a judge ranks
    contexts better than it says why.

    Raises:
        ValueError: nothing to draw.
    """
    rows = [(name, one) for name, found in judges.items() for one in found]
    if not rows:
        raise ValueError("grounding_figure needs at least one measured judge")
    variants = {one.variant for _, one in rows}
    labels = [name if len(variants) == 1 else f"{name}, {one.variant}" for name, one in rows]
    with style():
        figure = Figure(figsize=(5.0, 4.9), layout="constrained")
        axes = figure.subplots()
        axes.plot([-1, 0.5], [-1, 0.5], color="#888888", linewidth=1, linestyle=(0, (4, 3)))
        for number, (_, one) in enumerate(rows):
            _cross(axes, one.scores.contrast, one.claims.contrast, number)
        low = min(
            -0.2, *(min(o.scores.contrast.estimate, o.claims.contrast.estimate) for _, o in rows)
        )
        axes.set(xlim=(low - 0.15, 0.6), ylim=(low - 0.15, 0.6))
        axes.set_xlabel("Σ of the scores")
        axes.set_ylabel("Σ of the claims at hop 2")
        _legend(figure, labels, columns=2)
    return figure
