"""Figures of a release: what is handed over is what is drawn."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib")

from chaincheck.plots import to_svg
from chaincheck.plots_release import floor_figure, rounding_figure
from chaincheck.rounding_study import SizedLoss

SIZES = [SizedLoss(10.0, 0.01, 0.1, 0.1), SizedLoss(1.0, 0.001, 0.7, 0.7)]


def test_the_sizes_are_drawn_in_order_and_the_trained_one_is_marked() -> None:
    figure = rounding_figure(SIZES, SIZES[1], warned=0.5)
    line, trained, warned = figure.axes[0].lines
    assert list(line.get_xdata()) == [0.001, 0.01]
    assert list(line.get_ydata()) == [0.7, 0.1]
    assert (list(trained.get_xdata()), list(trained.get_ydata())) == ([0.001], [0.7])
    assert set(warned.get_ydata()) == {0.5}
    assert to_svg(figure) == to_svg(rounding_figure(SIZES, SIZES[1]))
    figure.canvas.draw()
    labels = [one.get_text() for one in figure.axes[0].get_xticklabels()]
    assert "0.1%" in labels
    assert "1%" in labels
    with pytest.raises(ValueError, match="at least one size"):
        rounding_figure([], SIZES[1])


def test_a_bound_for_each_count() -> None:
    floors = {0: [-0.3, -0.01], 2: [-0.5, -0.05]}
    figure = floor_figure(floors, [10, 400], margin=0.02, at=12)
    lines = figure.axes[0].lines
    assert [line.get_label() for line in lines] == [
        "0 lost",
        "2 lost",
        "the margin",
        "the gate above",
    ]
    assert list(lines[1].get_ydata()) == [-0.5, -0.05]
    assert set(lines[2].get_ydata()) == {-0.02}
    assert len(floor_figure(floors, [10, 400], margin=0.02).axes[0].lines) == 3
    for wrong in ({}, {0: [-0.3]}):
        with pytest.raises(ValueError, match="one bound for each count"):
            floor_figure(wrong, [10, 400], margin=0.02)
