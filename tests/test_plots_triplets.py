"""Figures about triplets: what is drawn, where, and what cannot be."""

from __future__ import annotations

import pytest
from matplotlib.patches import Rectangle

from chaincheck.plots import to_svg
from chaincheck.plots_triplets import name_figure, yield_figure
from chaincheck.triplet_views import NameMap, Outcome

BRIDGE, NEW, NONE = frozenset({"bridge"}), frozenset({"replacement"}), frozenset[str]()
REAL = NameMap(
    variant="real",
    cells=("A", "B", "D"),
    roles=("distractor", "later", "earlier"),
    standing=((NONE, BRIDGE, BRIDGE), (NONE, NEW, NEW), (NONE, NEW, BRIDGE)),
)


def test_rows_are_passages_that_hold_a_name_supports_first() -> None:
    (axes,) = name_figure([REAL]).axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["earlier hop", "later hop"]
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "A\n2 + 0",
        "B\n0 + 2",
        "D\n1 + 1",
    ]
    assert axes.get_title() == "real"


def test_a_passage_with_both_names_shows_both() -> None:
    both = NameMap("real", ("A",), ("earlier",), ((BRIDGE | NEW,),))
    (axes,) = name_figure([both]).axes
    widths = [patch.get_width() for patch in axes.patches if isinstance(patch, Rectangle)]
    assert sorted(widths) == pytest.approx([0.45, 0.45, 0.9])


def test_bars_fill_the_whole_and_tell_what_was_lost() -> None:
    rows = {
        "mine": {"real": Outcome(6, {"Q3": 3, "Q9": 1}), "fict": Outcome(10, {})},
        "empty": {"real": Outcome(0, {})},
    }
    figure = yield_figure(rows)
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["real", "fict"]
    ends: dict[float, float] = {}
    for patch in axes.patches:
        assert isinstance(patch, Rectangle)
        at = round(patch.get_y(), 3)
        ends[at] = max(ends.get(at, 0.0), patch.get_x() + patch.get_width())
    assert list(ends.values()) == pytest.approx([1.0, 1.0])
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["mine, 10 links", "6", "3", "1", "10"]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["triplet", "Q3", "Q9"]


def test_nothing_is_not_drawn() -> None:
    with pytest.raises(ValueError, match="needs at least one triplet"):
        name_figure([])
    with pytest.raises(ValueError, match="needs at least one link"):
        yield_figure({"mine": {"real": Outcome(0, {})}})


def test_the_same_values_give_the_same_bytes() -> None:
    assert to_svg(name_figure([REAL])) == to_svg(name_figure([REAL]))
