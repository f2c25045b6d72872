"""Figures of the book and of the command line.

Every function takes measured values and returns a matplotlib ``Figure`` of its own; nothing
here computes a statistic, reads a file or touches global state. ``save`` writes a figure whole
or not at all, with the same bytes for the same values. The okabe-ito colors stay apart for
readers who confuse red and green, and every variant has a marker of its own besides.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import matplotlib as mpl
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from chaincheck.atomic import write_bytes
from chaincheck.errors import PathLike, UsageError, one_line
from chaincheck.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "FORMATS",
    "QUANTITIES",
    "Measured",
    "effect_plane",
    "effects",
    "format_of",
    "mark",
    "save",
    "show",
    "style",
    "to_svg",
    "variant_legend",
    "words",
]

FORMATS = (".svg", ".png", ".pdf")


class Measured(Protocol):
    """What a row must hold to be drawn: ``results.Selectivity`` does, ``records.MeasuredRow`` too.

    Attributes:
        variant: "real", "fict" or "decoy".
        nominal: AUC(A > D).
        chain_effect: CE.
        edit_effect: EE.
        contrast: Sigma with the interval to decide by.
    """

    @property
    def variant(self) -> str: ...  # noqa: D102 - see the attributes
    @property
    def nominal(self) -> Interval: ...  # noqa: D102
    @property
    def chain_effect(self) -> Interval: ...  # noqa: D102
    @property
    def edit_effect(self) -> Interval: ...  # noqa: D102
    @property
    def contrast(self) -> Interval: ...  # noqa: D102


QUANTITIES: Mapping[str, str] = {
    "nominal": "Nominal\nP(A > D)",
    "chain_effect": "chain effect CE\nP(B > D) − ½",
    "edit_effect": "edit effect EE\nP(A > B) − ½",
    "contrast": "chain selectivity Σ\nCE − |EE|",
}
"""What ``effects`` can show: attribute of ``Measured`` and the panel's title."""

# Ends of the axis, chance, and the ticks: few, so that neighboring panels' labels stay apart.
_EFFECT = (-0.5, 0.5, 0.0, (-0.4, 0.0, 0.4))
_RANGES = {
    "nominal": (0.0, 1.0, 0.5, (0.0, 0.5, 1.0)),
    "contrast": (-1.0, 0.5, 0.0, (-0.8, -0.4, 0.0, 0.4)),
}
_LONGEST_LABEL = 48
_NEAR = 0.03  # points of an effect plane this close share one label
_MARKS = {"real": ("#0072B2", "o"), "fict": ("#D55E00", "s"), "decoy": ("#009E73", "D")}
_OTHER = ("#555555", "^")


@contextmanager
def style() -> Iterator[None]:
    """The book's look, for the figures made inside the block only."""
    look = {**sns.axes_style("whitegrid"), **sns.plotting_context("notebook", font_scale=0.9)}
    look |= {
        "svg.hashsalt": "chaincheck",
        "svg.fonttype": "path",
        "text.parse_math": False,  # a file may be called $x$
        "axes.edgecolor": "#888888",
        "grid.color": "#e3e3e3",
        "figure.dpi": 110,
    }
    with mpl.rc_context(look):
        yield


def words(name: str) -> str:
    """A name from a file or of a file as a label: one printable line of a length that fits.

    A label that starts with an underscore would be left out of a legend, hence the space.
    """
    line = one_line(name)
    line = f"{line[: _LONGEST_LABEL - 1]}…" if len(line) > _LONGEST_LABEL else line
    return f" {line}" if line.startswith("_") else line


def mark(variant: str) -> tuple[str, str]:
    """Color and marker of a variant, the same in every figure."""
    return _MARKS.get(variant, _OTHER)


def _dot(axes: Axes, at: float, value: Interval, variant: str) -> None:
    color, marker = mark(variant)
    axes.plot([value.low, value.high], [at, at], color=color, linewidth=1.6, zorder=2)
    axes.plot(value.estimate, at, marker, color=color, markersize=6, zorder=3)


def variant_legend(figure: Figure, variants: Sequence[str]) -> None:
    """One legend for the variants, above the panels."""
    handles = [
        Line2D([], [], color=mark(name)[0], marker=mark(name)[1], linewidth=1.6, label=words(name))
        for name in variants
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False)


def effects(
    rows: Mapping[str, Sequence[Measured]],
    quantities: Sequence[str] = tuple(QUANTITIES),
) -> Figure:
    """Dots with 95% intervals: one line a label, one color a variant, one panel a quantity.

    Args:
        rows: for each label (a judge, a file) its measured variants.
        quantities: which of ``QUANTITIES`` to show, from left to right.

    Raises:
        ValueError: nothing to draw.
    """
    if not rows or not any(rows.values()):
        raise ValueError("effects needs at least one measured row")
    variants = list(dict.fromkeys(one.variant for found in rows.values() for one in found))
    step = 0.8 / max(len(variants), 1)
    with style():
        height = 1.2 + len(rows) * max(0.42, 0.2 * len(variants))
        figure = Figure(figsize=(2.45 * len(quantities) + 1.2, height), layout="constrained")
        panels = figure.subplots(1, len(quantities), sharey=True, squeeze=False)[0]
        for axes, quantity in zip(panels, quantities, strict=True):
            low, high, chance, ticks = _RANGES.get(quantity, _EFFECT)
            axes.axvline(chance, color="#444444", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
            for line, found in enumerate(rows.values()):
                for one in found:
                    at = line + (variants.index(one.variant) - (len(variants) - 1) / 2) * step
                    _dot(axes, at, getattr(one, quantity), one.variant)
            axes.set_xlim(low - 0.05, high + 0.05)
            axes.set_xticks(ticks)
            axes.set_title(QUANTITIES[quantity], fontsize=10)
            axes.grid(axis="y", visible=False)
        panels[0].set_yticks(range(len(rows)), [words(label) for label in rows])
        panels[0].set_ylim(len(rows) - 0.5, -0.5)
        variant_legend(figure, variants)
    return figure


def effect_plane(rows: Mapping[str, Sequence[Measured]]) -> Figure:
    """Edit effect against chain effect, with the lines on which Sigma is equal.

    Sigma is above zero inside the wedge that opens upwards. Labels are numbered so that they do
    not cover each other; the legend gives the names.

    Raises:
        ValueError: nothing to draw.
    """
    if not rows or not any(rows.values()):
        raise ValueError("effect_plane needs at least one measured row")
    variants = list(dict.fromkeys(one.variant for found in rows.values() for one in found))
    with style():
        figure = Figure(figsize=(2.6 * len(variants) + 1.9, 3.4), layout="constrained")
        panels = figure.subplots(1, len(variants), sharey=True, squeeze=False)[0]
        lowest = min(one.chain_effect.estimate for found in rows.values() for one in found)
        for axes, variant in zip(panels, variants, strict=True):
            axes.fill([0, 0.5, -0.5], [0, 0.5, 0.5], color="#0072B2", alpha=0.08, zorder=0)
            for sigma in (0.0, 0.2, 0.4):
                arm = 0.5 - sigma
                axes.plot(
                    [-arm, 0, arm],
                    [0.5, sigma, 0.5],
                    color="#999999",
                    linewidth=0.8,
                    linestyle=(0, (4, 3)),
                    zorder=1,
                )
                axes.annotate(f"Σ = {sigma:g}", (-arm, 0.51), fontsize=7, color="#666666")
            _numbered_points(axes, rows, variant)
            axes.set(
                xlim=(-0.55, 0.55),
                ylim=(min(-0.1, lowest - 0.08), 0.6),
                xticks=(-0.4, 0.0, 0.4),
                title=words(variant),
                xlabel="edit effect EE",
            )
        panels[0].set_ylabel("chain effect CE")
        names = [
            Line2D([], [], linestyle="", label=f"{number}  {words(label)}")
            for number, label in enumerate(rows, start=1)
        ]
        figure.legend(handles=names, loc="outside right center", frameon=False, handlelength=0)
    return figure


def _numbered_points(axes: Axes, rows: Mapping[str, Sequence[Measured]], variant: str) -> None:
    """Draw one variant's points, each with its number on it.

    Rows that fall on nearly one spot share a mark, and a label beside it like "1, 3".
    """
    spots: list[tuple[float, float, list[int]]] = []
    for number, found in enumerate(rows.values(), start=1):
        for one in found:
            if one.variant != variant:
                continue
            x, y = one.edit_effect.estimate, one.chain_effect.estimate
            for left, low, numbers in spots:
                if max(abs(x - left), abs(y - low)) <= _NEAR:
                    numbers.append(number)
                    break
            else:
                spots.append((x, y, [number]))
    color, marker = mark(variant)
    for x, y, numbers in spots:
        axes.plot(x, y, marker, color=color, markersize=11, markeredgecolor="white", zorder=3)
        if len(numbers) == 1:
            axes.text(
                x, y, str(numbers[0]), color="white", fontsize=7.5, ha="center", va="center",
                fontweight="bold", zorder=4,
            )  # fmt: skip
            continue
        # To the left of points at the right edge, so that no label leaves the panel.
        side, turn = ("right", -1) if x > 0.3 else ("left", 1)
        axes.annotate(
            ", ".join(map(str, numbers)),
            (x, y),
            xytext=(9 * turn, -4),
            textcoords="offset points",
            ha=side,
            fontsize=9,
            zorder=4,
        )


def to_svg(figure: Figure) -> bytes:
    """A figure as SVG bytes that depend on nothing but what it shows."""
    return _rendered(figure, ".svg")


def show(figure: Figure) -> None:
    """Show a figure in a notebook, as the SVG that the page will hold."""
    from IPython.display import SVG, display

    display(SVG(to_svg(figure)))  # type: ignore[no-untyped-call]


def _rendered(figure: Figure, suffix: str) -> bytes:
    dated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix)
    buffer = io.BytesIO()
    with style(), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box; the reader of a table has it all the same.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(buffer, format=suffix[1:], metadata=dated, dpi=200)
    return buffer.getvalue()


def save(figure: Figure, path: PathLike) -> None:
    """Write a figure in the format that its name ends in.

    Raises:
        UsageError: an ending that is no known format.
        UnwritableOutput: the path cannot be written.
    """
    write_bytes(path, _rendered(figure, format_of(path)))


def format_of(path: PathLike) -> str:
    """The ending of a figure's name, a dot before it.

    Raises:
        UsageError: an ending that is no known format.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(
            f"cannot draw to {Path(path).name!r}", remedy=f"End it in {', '.join(FORMATS)}"
        )
    return suffix
