"""Figures about triplets: where the names stand, and how many links became triplets.

Like :mod:`chaincheck.plots`: values in, a ``Figure`` out. Figures are narrow, since a phone shows
them at half their size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from chaincheck.plots import style
from chaincheck.triplet_views import NameMap, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["name_figure", "yield_figure"]

_WIDTH = 6.2
_NAMES: Mapping[str, tuple[str, str]] = {
    "bridge": ("#0072B2", "bridge"),
    "replacement": ("#D55E00", "new name"),
}
_ROLES = {"earlier": "earlier hop", "later": "later hop", "decoy": "decoy"}
_MADE = "#0072B2"
_RULES = {
    "Q1": "#4d4d4d",
    "Q2": "#E69F00",
    "Q3": "#D55E00",
    "Q4": "#F0E442",
    "Q5": "#CC79A7",
    "Q6": "#56B4E9",
    "Q7": "#8c6d31",
    "Q8": "#999999",
    "Q9": "#009E73",
}
_DARK = frozenset({"Q1", "Q3", "Q7", "Q9"})
_SMALLEST_LABEL = 0.045  # share of a bar that a label needs


def name_figure(maps: Sequence[NameMap]) -> Figure:
    """Where bridge and replacement stand: one panel a triplet, a row a passage, a column a cell.

    Passages in which neither name stands in any cell are left out. The line below a panel
    counts, for each cell, the passages with the bridge and those with the new name.

    Raises:
        ValueError: nothing to draw.
    """
    if not maps:
        raise ValueError("name_figure needs at least one triplet")
    shown = [
        [i for i in range(len(one.roles)) if any(row[i] for row in one.standing)] for one in maps
    ]
    most = max(map(len, shown))
    with style():
        figure = Figure(figsize=(_WIDTH, 1.9 + 0.42 * most), layout="constrained")
        panels = figure.subplots(1, len(maps), squeeze=False)[0]
        for axes, one, rows in zip(panels, maps, shown, strict=True):
            rows.sort(key=lambda i: ("earlier", "later", "decoy", "distractor").index(one.roles[i]))
            _names(axes, one, rows, most)
        handles = [Patch(color=color, label=label) for color, label in _NAMES.values()]
        figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    return figure


def _names(axes: Axes, one: NameMap, rows: Sequence[int], most: int) -> None:
    for line, passage in enumerate(rows):
        for column in range(len(one.cells)):
            found = [name for name in _NAMES if name in one.standing[column][passage]]
            axes.add_patch(
                Rectangle((column - 0.45, line - 0.4), 0.9, 0.8, facecolor="#f2f2f2", linewidth=0)
            )
            for place, name in enumerate(found):
                width = 0.9 / len(found)
                corner = (column - 0.45 + place * width, line - 0.4)
                axes.add_patch(
                    Rectangle(corner, width, 0.8, facecolor=_NAMES[name][0], linewidth=0)
                )
    counts = [
        f"{cell}\n{one.passages_with(cell, 'bridge')} + {one.passages_with(cell, 'replacement')}"
        for cell in one.cells
    ]
    axes.set_xticks(range(len(one.cells)), counts)
    axes.set_yticks(range(len(rows)), [_ROLES.get(one.roles[i], one.roles[i]) for i in rows])
    axes.set(xlim=(-0.6, len(one.cells) - 0.4), ylim=(most - 0.4, -0.6), title=one.variant)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def yield_figure(rows: Mapping[str, Mapping[str, Outcome]]) -> Figure:
    """What became of the links: one group a data set, one bar a variant, one color a rule.

    Args:
        rows: for each data set its variants.

    Raises:
        ValueError: nothing to draw.
    """
    bars = [
        (label, variant, found)
        for label, variants in rows.items()
        for variant, found in variants.items()
        if found.links
    ]
    if not bars:
        raise ValueError("yield_figure needs at least one link")
    rules = [rule for rule in _RULES if any(found.lost.get(rule) for _, _, found in bars)]
    with style():
        height = 1.3 + 0.36 * len(bars) + 0.3 * len(rows)
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        at, places, names = 0.0, [], []
        group = ""
        for label, variant, found in bars:
            if label != group:
                group = label
                at += 0.75
                axes.text(0.0, at - 0.62, f"{label}, {found.links:,} links", va="center")
            _bar(axes, at, found, rules)
            places.append(at)
            names.append(variant)
            at += 1.0
        axes.set_yticks(places, names)
        axes.set(xlim=(0, 1), ylim=(at - 0.4, -0.2), xlabel="share of the links")
        axes.grid(axis="y", visible=False)
        for spine in ("left", "top", "right"):
            axes.spines[spine].set_visible(False)
        handles = [Patch(color=_MADE, label="triplet")]
        handles += [Patch(color=_RULES[rule], label=rule) for rule in rules]
        figure.legend(
            handles=handles,
            loc="outside upper center",
            ncols=min(len(handles), 5),
            frameon=False,
            handlelength=1.0,
        )
    return figure


def _bar(axes: Axes, at: float, found: Outcome, rules: Sequence[str]) -> None:
    pieces = [("", found.made, _MADE)]
    pieces += [(rule, found.lost.get(rule, 0), _RULES[rule]) for rule in rules]
    left = 0.0
    for rule, count, color in pieces:
        width = count / found.links
        if not count:
            continue
        axes.barh(at, width, left=left, height=0.78, color=color, edgecolor="white", linewidth=0.6)
        if width >= _SMALLEST_LABEL:
            ink = "white" if not rule or rule in _DARK else "black"
            label = f"{count:,}"
            axes.text(left + width / 2, at, label, ha="center", va="center", color=ink, fontsize=9)
        left += width
