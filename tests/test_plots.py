"""Figures: what they show, and that the same values give the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chaincheck import plots
from chaincheck.cells import CellScores
from chaincheck.errors import UnwritableOutput, UsageError
from chaincheck.results import Selectivity
from chaincheck.selectivity import measure_all


@pytest.fixture(scope="module")
def rows() -> dict[str, tuple[Selectivity, ...]]:
    rng = np.random.default_rng(0)
    found = {}
    for name, pull in (("reader", 2.0), ("guesser", 0.0)):
        cells = [
            CellScores("f", variant, *(rng.normal(m, 1, 40) for m in (pull, pull, 0.0)))
            for variant in ("real", "decoy")
        ]
        found[name] = measure_all(cells, resamples=200)
    return found


def texts(figure: plots.Figure) -> list[str]:
    return [
        text.get_text()
        for axes in figure.axes
        for text in [*axes.get_yticklabels(), axes.title, *axes.texts]
    ]


def test_effects_names_every_row_and_panel(rows: dict[str, tuple[Selectivity, ...]]) -> None:
    figure = plots.effects(rows)
    assert len(figure.axes) == len(plots.QUANTITIES)
    shown = texts(figure)
    assert {"reader", "guesser", *plots.QUANTITIES.values()} <= set(shown)


def test_effects_draws_every_interval_where_it_is(
    rows: dict[str, tuple[Selectivity, ...]],
) -> None:
    figure = plots.effects(rows, ["contrast"])
    drawn = {
        tuple(np.round(line.get_xdata(), 9))
        for line in figure.axes[0].lines
        if len(line.get_xdata()) == 2
    }
    for found in rows.values():
        for one in found:
            ends = (round(one.contrast.low, 9), round(one.contrast.high, 9))
            assert ends in drawn
    low, high = figure.axes[0].get_xlim()
    assert low <= -1
    assert high >= 0.5


def test_effect_plane_joins_the_labels_of_points_on_one_spot(
    rows: dict[str, tuple[Selectivity, ...]],
) -> None:
    twice = {"one": rows["reader"], "two": rows["guesser"], "three": rows["reader"]}
    assert "1, 3" in texts(plots.effect_plane(twice))


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        plots.effects({})
    with pytest.raises(ValueError, match="at least one"):
        plots.effect_plane({"empty": []})


def test_the_same_values_give_the_same_bytes(
    rows: dict[str, tuple[Selectivity, ...]], tmp_path: Path
) -> None:
    for suffix in plots.FORMATS:
        first, second = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
        plots.save(plots.effects(rows), first)
        plots.save(plots.effects(rows), second)
        assert first.read_bytes() == second.read_bytes()
    assert plots.to_svg(plots.effects(rows)) == (tmp_path / "a.svg").read_bytes()


def test_a_figure_that_cannot_be_written_leaves_nothing(
    rows: dict[str, tuple[Selectivity, ...]], tmp_path: Path
) -> None:
    figure = plots.effects(rows)
    with pytest.raises(UsageError, match=r"End it in \.svg"):
        plots.save(figure, tmp_path / "a.gif")
    with pytest.raises(UnwritableOutput):
        plots.save(figure, tmp_path / "none" / "a.svg")
    assert not any(tmp_path.iterdir())
