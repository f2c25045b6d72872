"""Figures: what they show, and that the same values give the same bytes."""

from __future__ import annotations

import xml.etree.ElementTree
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


ODD_NAMES = [
    "$\\frac$", "$x", "\\frac{1}{0}", "_hidden", "_", "a\nb", "tab\there", "\x1b[31mred",
    "\x00\x01", "<b>&amp;", "漢字 عربى", "e\u0301\u200b", "\udcff", "x" * 250, "𝔘", " ",
]  # fmt: skip


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("name", "suffix"),
    [*((name, ".svg") for name in ODD_NAMES), (ODD_NAMES[0], ".png"), (ODD_NAMES[0], ".pdf")],
)
def test_no_name_breaks_a_figure(tmp_path: Path, name: str, suffix: str) -> None:
    """Names of files, judges and variants come from users; none may be read as markup."""
    ends = np.arange(12.0)
    cells = [CellScores("f", variant, ends + 2, ends + 1, ends) for variant in ("real", name)]
    found = {name: measure_all(cells, resamples=100), f"{name} ": measure_all(cells[1:])}
    for figure in (plots.effects(found), plots.effect_plane(found)):
        out = tmp_path / f"plot{suffix}"
        plots.save(figure, out)
        if suffix == ".svg":
            xml.etree.ElementTree.fromstring(out.read_bytes())
        (legend,) = figure.legends
        assert len(legend.get_texts()) == 2


@pytest.mark.filterwarnings("error")
def test_an_interval_without_ends_is_a_dot(tmp_path: Path) -> None:
    one = CellScores("f", "real", np.array([3.0]), np.array([2.0]), np.array([1.0]))
    figure = plots.effects({"one": measure_all([one])})
    plots.save(figure, tmp_path / "one.svg")
    assert all(np.isfinite(panel.get_xlim()).all() for panel in figure.axes)
