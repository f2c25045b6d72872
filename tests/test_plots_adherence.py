"""The figure of an audited batch shows every rate where it is."""

from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="the extra 'plots' is not installed")

from chaincheck.adherence.rates import rate
from chaincheck.plots import to_svg
from chaincheck.plots_adherence import rates_figure

RATES = {"overall": rate(3, 4, 10), "verdict": rate(0, 0, 10), "grounding": rate(0, 0, 0)}


def test_intervals_bounds_and_truth_stand_where_they_are() -> None:
    (axes,) = rates_figure(RATES, {"overall": 0.5}).axes
    bar = axes.patches[0]
    assert (bar.get_x(), bar.get_x() + bar.get_width()) == pytest.approx((0.3, 0.7))
    xs = [list(line.get_xdata()) for line in axes.lines]
    assert [RATES["overall"].low, RATES["overall"].high] in xs
    assert [0.3] in xs
    assert [0.5] in xs


def test_what_was_never_asked_has_no_row() -> None:
    (axes,) = rates_figure(RATES).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        "overall (n = 10)",
        "verdict (n = 10)",
    ]


def test_the_same_rates_give_the_same_bytes() -> None:
    assert to_svg(rates_figure(RATES)) == to_svg(rates_figure(RATES))
