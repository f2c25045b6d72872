"""The figure of an audited batch: values in, a ``Figure`` out."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from chaincheck.adherence.rates import Rate
from chaincheck.plots import style

__all__ = ["rates_figure"]

_BLUE, _RUST, _PALE = "#0072b2", "#d55e00", "#cfd8df"


def rates_figure(rates: Mapping[str, Rate], truth: Mapping[str, float] | None = None) -> Figure:
    """How often each dimension was violated, with what chance and what the unknown leave open.

    A dot with a line is the share of violations and its exact interval; the pale bar goes from
    none to all of the undecided replays; a cross is the true share where it is known.

    Args:
        rates: as in :class:`chaincheck.adherence.batch_summary.BatchSummary`.
        truth: true shares by the same names.
    """
    names = [name for name, one in rates.items() if one.total]
    with style():
        figure = Figure(figsize=(7.2, 1.3 + 0.42 * len(names)), layout="constrained")
        axes = figure.subplots()
        for at, name in enumerate(names):
            one = rates[name]
            axes.barh(at, one.most - one.least, 0.56, one.least, color=_PALE, zorder=1)
            axes.plot([one.low, one.high], [at, at], color=_BLUE, linewidth=1.8, zorder=2)
            axes.plot(one.least, at, "o", color=_BLUE, markersize=6, zorder=3)
            if truth is not None and name in truth:
                axes.plot(truth[name], at, "x", color=_RUST, markersize=8, mew=2, zorder=4)
        axes.set_yticks(range(len(names)), [f"{name} (n = {rates[name].total})" for name in names])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xlim(-0.02, 1.02)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("share of replays in which it is violated", fontsize=9)
        level = f"{100 * next(iter(rates.values())).level:.4g}%"
        keys = [
            Line2D([], [], color=_BLUE, marker="o", label=f"V/N, exact {level} interval"),
            Patch(color=_PALE, label="V/N to (V+U)/N"),
        ]
        if truth is not None:
            keys.append(Line2D([], [], color=_RUST, marker="x", mew=2, ls="", label="true share"))
        figure.legend(handles=keys, loc="outside lower center", ncols=len(keys), fontsize=8.5)
    return figure
