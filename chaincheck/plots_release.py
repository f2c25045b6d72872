"""Figures of a release: what rounding takes of a delta, and what a gate can show with n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from chaincheck.plots import style
from chaincheck.rounding_study import SizedLoss

__all__ = ["floor_figure", "rounding_figure"]

_COLORS = ("#000000", "#0072B2", "#D55E00", "#009E73")
_LINES = ("-", "--", "-.", ":")
_GRAY = "#888888"
_LOWEST = -15.0  # margins: where the axis ends, so that the margin itself can be seen


def _percent(value: float, _position: float) -> str:
    return f"{100 * value:g}%"


def _plain(value: float, _position: float) -> str:
    return f"{value:g}"


def rounding_figure(
    sizes: Sequence[SizedLoss], trained: SizedLoss, *, warned: float = 0.5
) -> Figure:
    """Share of a delta that rounding takes, over its size beside the weights; both axes log.

    Args:
        sizes: the same delta in several sizes.
        trained: the delta as it was trained, marked.
        warned: the share above which a merge warns.

    Raises:
        ValueError: nothing to draw.
    """
    if not sizes:
        raise ValueError("rounding_figure needs at least one size")
    rows = sorted(sizes, key=lambda one: one.size)
    with style():
        figure = Figure(figsize=(6.2, 3.0), layout="constrained")
        axes = figure.subplots()
        axes.plot(
            [one.size for one in rows],
            [one.lost for one in rows],
            color=_COLORS[0],
            marker="o",
            markersize=4,
            linewidth=1.4,
            label="the same delta, made larger or smaller",
        )
        axes.plot(
            [trained.size],
            [trained.lost],
            color=_COLORS[2],
            marker="D",
            markersize=8,
            linestyle="none",
            label="as it was trained",
        )
        axes.axhline(
            warned, color=_GRAY, linewidth=0.9, linestyle="--", label="above this: a warning"
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(_percent)
            axis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("size of the delta beside the weights")
        axes.set_ylabel("share lost to rounding")
        axes.legend(frameon=False, loc="lower left")
    return figure


def floor_figure(
    floors: Mapping[int, Sequence[float]],
    counts: Sequence[int],
    *,
    margin: float,
    at: int | None = None,
) -> Figure:
    """Lower bound of a difference in Nominal over the number of triplets.

    Args:
        floors: for each number of triplets that were lost a bound for each of ``counts``.
        counts: numbers of triplets, increasing.
        margin: what the bound must stay above, below zero.
        at: the number of triplets of the gate at hand, marked by a vertical line.

    Raises:
        ValueError: a line of another length than ``counts``, or nothing to draw.
    """
    if not floors or any(len(line) != len(counts) for line in floors.values()):
        raise ValueError("floor_figure needs one bound for each count, and at least one line")
    with style():
        figure = Figure(figsize=(6.2, 3.2), layout="constrained")
        axes = figure.subplots()
        for number, (lost, line) in enumerate(floors.items()):
            color, dash = _COLORS[number % len(_COLORS)], _LINES[number % len(_LINES)]
            axes.plot(counts, line, color=color, linestyle=dash, label=f"{lost} lost")
        axes.axhline(-margin, color=_GRAY, linewidth=0.9, label="the margin")
        if at is not None:
            axes.axvline(at, color=_GRAY, linewidth=0.9, linestyle=":", label="the gate above")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(_plain)
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(_LOWEST * margin, 0)
        axes.set_xlabel("triplets")
        axes.set_ylabel("bound of Nominal − base's")
        axes.legend(frameon=False, ncols=2, loc="lower right")
    return figure
