"""Figures of a training run: what the loss, the cells' scores and the validations did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from chaincheck.errors import PathLike, UnreadableFile
from chaincheck.plots import mark, style, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["progress_figure", "read_metrics"]

_CELLS = {
    "A": ("#000000", "-"),
    "B": ("#0072B2", "--"),
    "D": ("#D55E00", "-."),
    "C": ("#009E73", ":"),
}
_METRICS = "metrics.jsonl"


def read_metrics(run: PathLike) -> list[dict[str, Any]]:
    """Read the metrics of a run's folder, one mapping a line.

    Raises:
        UnreadableFile: there are none, or a line is no JSON object.
    """
    path = Path(run) / _METRICS
    try:
        rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    except (OSError, ValueError) as cause:
        raise UnreadableFile(
            f"cannot be read: {cause}", path=path, remedy="Name the folder of a training run"
        ) from None
    if not all(isinstance(row, dict) and "step" in row for row in rows):
        raise UnreadableFile("holds no metrics", path=path, remedy="Name a training run's folder")
    return rows


def progress_figure(metrics: Sequence[Mapping[str, Any]]) -> Figure:
    """Loss, mean score of each cell, and Sigma on the validation triplets, step by step.

    Args:
        metrics: lines of ``metrics.jsonl``.

    Raises:
        ValueError: nothing to draw.
    """
    steps = [row for row in metrics if "loss" in row]
    checks = [row for row in metrics if "eval_sigma" in row]
    if not steps:
        raise ValueError("progress_figure needs at least one step")
    panels = 3 if checks else 2
    with style():
        figure = Figure(figsize=(6.2, 2.1 * panels), layout="constrained")
        axes = figure.subplots(panels, 1, sharex=True)
        _loss(axes[0], steps)
        _scores(axes[1], steps)
        if checks:
            _selectivity(axes[2], checks)
        axes[-1].set_xlabel("step")
    return figure


def _legend(axes: Axes) -> None:
    """Put the names above the panel: the curves go everywhere in it."""
    axes.legend(frameon=False, ncols=4, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0)


def _loss(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    at = [row["step"] for row in rows]
    axes.plot(at, [row["loss"] for row in rows], color="#000000", linewidth=1.4, label="loss")
    terms = [name for name in rows[0] if name.startswith("loss_")]
    for name, line in zip(terms, ("--", "-.", ":", (0, (1, 3))), strict=False):
        values = [row.get(name, float("nan")) for row in rows]
        label = words(name.removeprefix("loss_").replace("_", " "))
        axes.plot(at, values, linestyle=line, color="#555555", linewidth=1.1, label=label)
    axes.set_ylabel("loss, nats a triplet")
    _legend(axes)


def _scores(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    at = [row["step"] for row in rows]
    for cell, (color, line) in _CELLS.items():
        if f"score_{cell}" in rows[0]:
            values = [row[f"score_{cell}"] for row in rows]
            axes.plot(at, values, linestyle=line, color=color, linewidth=1.4, label=f"cell {cell}")
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.set_ylabel("mean score, log-odds")
    _legend(axes)


def _selectivity(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    at = [row["step"] for row in rows]
    for key in rows[0]:
        variant = key.removeprefix("eval_").removesuffix("_sigma")
        if key == f"eval_{variant}_sigma":
            color, marker = mark(variant)
            values = [row.get(key, float("nan")) for row in rows]
            axes.plot(at, values, marker=marker, color=color, linewidth=1.4, label=words(variant))
    axes.axhline(0, color="#888888", linewidth=0.8)
    axes.set_ylabel("Σ, validation")
    _legend(axes)
