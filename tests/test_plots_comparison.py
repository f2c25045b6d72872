"""Figures of two judges: what is drawn, where, and what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

from chaincheck.cells import CellScores
from chaincheck.comparison import QUANTITIES, PairedDifference, compare
from chaincheck.plots import to_svg
from chaincheck.plots_comparison import differences_figure, orders_figure


def row(variant: str = "real", file: str = "f.jsonl", seed: int = 0) -> PairedDifference:
    rng = np.random.default_rng(seed)
    one, other = (
        CellScores(file, variant, *(rng.normal(size=(3, 40)) + np.array([[0.3], [0], [-1]])))
        for _ in range(2)
    )
    return compare(one, other, rng, resamples=100, exchanges=10)


def test_each_difference_is_drawn_where_it_is() -> None:
    rows = [row("real", seed=1), row("decoy", seed=2)]
    (axes,) = differences_figure(rows, ("mine", "theirs")).axes
    assert axes.get_xlabel() == "mine  −  theirs"
    drawn = [tuple(np.asarray(line.get_xdata(), dtype=float)) for line in axes.lines]
    for one in rows:
        for found in one.differences.values():
            assert (found.interval.low, found.interval.high) in drawn
            assert (found.interval.estimate,) in drawn
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert len(labels) == len(QUANTITIES)
    assert axes.yaxis_inverted()  # Nominal on top


def test_each_file_has_its_panel() -> None:
    figure = differences_figure([row(file="x/a.jsonl"), row(file="b.jsonl")])
    assert [axes.get_title() for axes in figure.axes] == ["a.jsonl", "b.jsonl"]


def test_orders_are_counted_in_tables() -> None:
    one = row()
    figure = orders_figure(one, ("mine", "theirs"))
    assert [axes.get_title() for axes in figure.axes] == ["A > D", "B > D", "A > B"]
    for axes, orders in zip(figure.axes, one.orders.values(), strict=True):
        places = {text.get_position(): text.get_text() for text in axes.texts}
        for first in range(3):
            for second in range(3):
                assert places[second, first] == str(orders.counts[first][second])
        assert axes.get_xlabel() == "theirs"
    assert figure.axes[0].get_ylabel() == "mine"


def test_nothing_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="needs"):
        differences_figure([])


def test_the_same_values_give_the_same_bytes() -> None:
    one = row()
    assert to_svg(differences_figure([one])) == to_svg(differences_figure([one]))
    assert to_svg(orders_figure(one)) == to_svg(orders_figure(one))
