"""The figure of the injection probe: values in, a ``Figure`` out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from chaincheck.injection_results import AttackEffect, InjectionReport
from chaincheck.intervals import Interval
from chaincheck.plots import mark, style, variant_legend, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["injection_figure"]


def injection_figure(report: InjectionReport) -> Figure:
    """What each attack does to the broken context D beyond its control, by variant.

    Left the shift of its score in the judge's units, right how many more of them outscore their
    own clean A; with intervals. A row an attack, a color a variant.

    Args:
        report: what :func:`chaincheck.injection.probe` gave.
    """
    attacks = list(dict.fromkeys(row.attack for row in report.rows))
    variants = list(dict.fromkeys(row.variant for row in report.rows))
    with style():
        height = 1.5 + len(attacks) * (0.3 + 0.16 * len(variants))
        figure = Figure(figsize=(7.2, height), layout="constrained")
        shift, share = figure.subplots(1, 2, sharey=True)
        for row in report.rows:
            step = 0.7 / len(variants)
            place = variants.index(row.variant) - (len(variants) - 1) / 2.0
            at = attacks.index(row.attack) + step * place
            _dot(shift, at, row.shifts["D"].excess, row)
            _dot(share, at, row.outscores.excess, row)
        for axes in (shift, share):
            axes.axvline(0.0, color="#555555", linewidth=1.0, zorder=1)
            axes.grid(visible=False, axis="y")
        shift.set_yticks(range(len(attacks)), [words(name) for name in attacks])
        shift.set_ylim(len(attacks) - 0.5, -0.5)
        shift.set_xlabel("shift of D's score, attack − control", fontsize=9)
        share.set_xlabel("share of D above its clean A,\nattack − control", fontsize=9)
        title = f"{report.judge.judge}: {report.at} of the {report.place} passage"
        shift.set_title(words(title), fontsize=9, loc="left")
        variant_legend(figure, variants)
    return figure


def _dot(axes: Axes, at: float, interval: Interval, row: AttackEffect) -> None:
    color, marker = mark(row.variant)
    axes.plot([interval.low, interval.high], [at, at], color=color, linewidth=1.6, zorder=2)
    axes.plot(interval.estimate, at, marker, color=color, markersize=6, zorder=3)
