"""Figures about the measurement itself: the roof, pooled against paired, coverage, power.

Like :mod:`chaincheck.plots`: values in, a ``Figure`` out, nothing computed beyond coordinates.
Figures are narrow, since a phone shows them at half their size.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import (
    LogLocator,
    MultipleLocator,
    NullFormatter,
    PercentFormatter,
    StrMethodFormatter,
)

from chaincheck.clustered import ClusterStudy
from chaincheck.coverage import CoverageStudy
from chaincheck.intervals import FloatArray
from chaincheck.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "METHODS",
    "bias_figure",
    "cluster_figure",
    "coverage_figure",
    "noise_figure",
    "pooled_figure",
    "power_figure",
    "roof_figure",
]

METHODS: Mapping[str, tuple[str, str, str]] = {
    "kit": ("#D55E00", "s", "percentile (kit)"),
    "contrast": ("#0072B2", "o", "two-sided contrast"),
}
"""Color, marker and label of the two intervals of Sigma, the same in every figure."""

_INTACT, _BROKEN = "#0072B2", "#D55E00"
_LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#555555")
_WIDTH = 6.2
_TWO_ERRORS = 2.0


def _new(height: float, width: float = _WIDTH) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def roof_figure(chain_effects: Sequence[float] = (0.5, 0.3, 0.1)) -> Figure:
    """Sigma against EE at some values of CE: the smaller of two straight lines.

    Args:
        chain_effects: one roof for each, -1/2 to 1/2.

    Raises:
        ValueError: no chain effect is given.
    """
    if not chain_effects:
        raise ValueError("roof_figure needs at least one chain effect")
    edit = np.linspace(-0.5, 0.5, 101)
    with style():
        figure = _new(3.4)
        axes = figure.subplots()
        axes.axhline(0.0, color="#444444", linewidth=1)
        for place, chain in enumerate(chain_effects):
            color = _LINES[place % len(_LINES)]
            for line in (chain - edit, chain + edit):
                axes.plot(edit, line, color=color, linewidth=0.9, linestyle=(0, (4, 3)), alpha=0.7)
            axes.plot(edit, np.minimum(chain - edit, chain + edit), color=color, linewidth=2.4)
            axes.annotate(
                f"CE = {chain:g}",
                (0.5, chain - 0.5),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                color=color,
                annotation_clip=False,
            )
        axes.annotate("CE − EE", (-0.48, 0.85), ha="left", color="#555555")
        axes.annotate("CE + EE", (0.48, 0.85), ha="right", color="#555555")
        axes.set(xlim=(-0.5, 0.5), ylim=(-0.45, 0.95), xlabel="edit effect EE")
        axes.set_ylabel("selectivity Σ")
    return figure


def pooled_figure(intact: FloatArray, broken: FloatArray, most: int = 40) -> Figure:
    """The same scores twice: inside each triplet, and pooled over all.

    Args:
        intact: scores of cell A, shape (n,).
        broken: scores of cell D of the same triplets.
        most: triplets that the left panel shows, spread evenly over all by score.

    Raises:
        ValueError: no scores, or two shapes.
    """
    a, d = np.asarray(intact, dtype=np.float64), np.asarray(broken, dtype=np.float64)
    if a.ndim != 1 or a.size == 0 or a.shape != d.shape:
        raise ValueError(f"pooled_figure needs paired scores, not {a.shape} and {d.shape}")
    order = np.argsort(a + d)
    picked = order[np.linspace(0, a.size - 1, min(most, a.size)).astype(int)]
    with style():
        figure = _new(3.4)
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=[3, 2])
        places = np.arange(picked.size)
        left.vlines(places, d[picked], a[picked], color="#aaaaaa", linewidth=1)
        left.plot(places, a[picked], "o", color=_INTACT, markersize=4.5, label="A, intact")
        left.plot(places, d[picked], "s", color=_BROKEN, markersize=4.5, label="D, broken")
        left.set(xlabel="triplet, by its mean score", ylabel="score", title="inside each triplet")
        left.set_xticks([])
        left.legend(frameon=False, loc="upper left")
        bins = np.histogram_bin_edges(np.concatenate([a, d]), 30).tolist()
        for scores, color in ((a, _INTACT), (d, _BROKEN)):
            right.hist(scores, bins, orientation="horizontal", color=color, alpha=0.45)
            right.hist(scores, bins, orientation="horizontal", histtype="step", color=color)
        right.set(xlabel="triplets", title="pooled")
    return figure


def _grid(figure: Figure, count: int) -> list[Axes]:
    columns = 2 if count > 1 else 1
    rows = math.ceil(count / columns)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for extra in axes[count:]:
        extra.set_visible(False)
    return list(axes[:count])


def _by_size(studies: Sequence[CoverageStudy]) -> dict[int, list[CoverageStudy]]:
    if not studies:
        raise ValueError("there is no simulated setting to draw")
    found: dict[int, list[CoverageStudy]] = {}
    for study in sorted(studies, key=lambda one: (one.n, one.edit_effect)):
        found.setdefault(study.n, []).append(study)
    return found


def coverage_figure(studies: Sequence[CoverageStudy]) -> Figure:
    """Coverage of both intervals against the true EE, one panel a number of triplets.

    Bars are two Monte Carlo standard errors to each side.

    Raises:
        ValueError: nothing to draw.
    """
    sizes = _by_size(studies)
    with style():
        figure = _new(1.1 + 2.0 * math.ceil(len(sizes) / 2))
        panels = _grid(figure, len(sizes))
        for axes, (n, found) in zip(panels, sizes.items(), strict=True):
            axes.axhline(found[0].level, color="#444444", linewidth=1, linestyle=(0, (4, 3)))
            for method, (color, marker, label) in METHODS.items():
                held = [getattr(study, method) for study in found]
                axes.errorbar(
                    [study.edit_effect for study in found],
                    [one.coverage for one in held],
                    [_TWO_ERRORS * one.coverage_se for one in held],
                    color=color,
                    marker=marker,
                    markersize=5,
                    linewidth=1.4,
                    label=label,
                )
            axes.set_title(f"n = {n:,}", fontsize=11)
            _percent(axes)
        figure.supxlabel("true edit effect EE", fontsize=11)
        figure.supylabel("intervals that hold the true Σ", fontsize=11)
        _legend(figure, panels[0], 2)
    return figure


def _percent(axes: Axes) -> None:
    axes.yaxis.set_major_locator(MultipleLocator(0.05))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _legend(figure: Figure, axes: Axes, columns: int) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=columns, frameon=False)


def bias_figure(studies: Sequence[CoverageStudy]) -> Figure:
    """How far Sigma's estimate and the middles of both intervals lie from the truth.

    Raises:
        ValueError: nothing to draw.
    """
    sizes = _by_size(studies)
    with style():
        figure = _new(1.1 + 2.0 * math.ceil(len(sizes) / 2))
        panels = _grid(figure, len(sizes))
        for axes, (n, found) in zip(panels, sizes.items(), strict=True):
            edit = [study.edit_effect for study in found]
            axes.axhline(0.0, color="#444444", linewidth=1, linestyle=(0, (4, 3)))
            axes.errorbar(
                edit,
                [study.bias for study in found],
                [_TWO_ERRORS * study.bias_se for study in found],
                color="#555555",
                marker="^",
                markersize=5,
                linewidth=1.4,
                label="the estimate",
            )
            for method, (color, marker, label) in METHODS.items():
                middle = [getattr(study, method).center_bias for study in found]
                axes.plot(edit, middle, marker=marker, markersize=5, color=color, label=label)
            axes.set_title(f"n = {n:,}", fontsize=11)
        figure.supxlabel("true edit effect EE", fontsize=11)
        figure.supylabel("distance from the true Σ", fontsize=11)
        _legend(figure, panels[0], 3)
    return figure


def cluster_figure(studies: Sequence[ClusterStudy]) -> Figure:
    """Coverage with and without heeding clusters, against what two triplets of a question share.

    Raises:
        ValueError: nothing to draw.
    """
    if not studies:
        raise ValueError("there is no simulated setting to draw")
    found = sorted(studies, key=lambda one: one.sharing)
    sharing = [one.sharing for one in found]
    with style():
        figure = _new(3.2)
        axes = figure.subplots()
        axes.axhline(found[0].level, color="#444444", linewidth=1, linestyle=(0, (4, 3)))
        for name, color, marker, label in (
            ("ignored", _BROKEN, "s", "triplets resampled (clusters ignored)"),
            ("heeded", _INTACT, "o", "questions resampled"),
        ):
            held = [getattr(one, name) for one in found]
            errors = [_TWO_ERRORS * getattr(one, f"{name}_se") for one in found]
            axes.errorbar(
                sharing, held, errors, color=color, marker=marker, linewidth=1.4, label=label
            )
        axes.set_xlabel("correlation of a question's two triplets")
        axes.set_ylabel("intervals that hold the true Σ")
        _percent(axes)
        axes.legend(frameon=False, loc="lower left")
    return figure


def noise_figure(sizes: Sequence[int], noise: Sequence[float], marked: int | None = None) -> Figure:
    """Largest Sigma to be expected when CE is 1/2 and EE is noise, against n.

    Args:
        sizes: numbers of triplets, from small to large.
        noise: expected size of EE at each, as of
            :func:`chaincheck.power.expected_edit_noise`.
        marked: a size to mark, one of ``sizes``.

    Raises:
        ValueError: nothing to draw, or lists of two lengths.
    """
    if not sizes or len(sizes) != len(noise):
        raise ValueError(f"noise_figure needs paired lists, not {len(sizes)} and {len(noise)}")
    best = [0.5 - one for one in noise]
    with style():
        figure = _new(2.9)
        axes = figure.subplots()
        axes.axhline(0.5, color="#444444", linewidth=1, linestyle=(0, (4, 3)))
        axes.fill_between(sizes, best, 0.5, color="#999999", alpha=0.2, linewidth=0)
        axes.plot(sizes, best, color=_INTACT, linewidth=2)
        if marked is not None:
            at = best[list(sizes).index(marked)]
            axes.plot(marked, at, "o", color=_INTACT)
            axes.annotate(
                f"n = {marked:,}: {at:.3f}",
                (marked, at),
                xytext=(8, -14),
                textcoords="offset points",
            )
        _log_sizes(axes)
        axes.set_ylabel("expected Σ at most")
    return figure


def power_figure(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    marks: Sequence[tuple[str, int, float]] = (),
) -> Figure:
    """Smallest Sigma that n triplets show, one curve a setting.

    Args:
        curves: for each label points (n, Sigma), from small n to large.
        marks: measured rows to mark, by rising n: label, n, smallest detectable Sigma.

    Raises:
        ValueError: nothing to draw.
    """
    if not curves or not all(curves.values()):
        raise ValueError("power_figure needs at least one curve, none of them empty")
    with style():
        figure = _new(3.9)
        axes = figure.subplots()
        for place, (label, points) in enumerate(curves.items()):
            sizes, sigmas = zip(*points, strict=True)
            color = _LINES[place % len(_LINES)]
            axes.plot(sizes, sigmas, color=color, linewidth=1.8, label=label)
        for place, (label, n, sigma) in enumerate(marks, start=1):
            axes.plot(n, sigma, "D", color="#222222", markersize=5, zorder=3)
            aside = (6, 4) if place % 2 else (-12, -13)  # neighbors keep out of each other's way
            axes.annotate(str(place), (n, sigma), xytext=aside, textcoords="offset points")
            axes.plot([], [], " ", label=f"{place}  {label}")
        _log_sizes(axes)
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.set_yticks([0.02, 0.05, 0.1, 0.2, 0.4])
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_ylabel("smallest Σ shown with 80% power")
        axes.legend(frameon=False, fontsize=9)
    return figure


def _log_sizes(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlabel("triplets n")
