"""Figures about the statistics: what is drawn, where, and what cannot be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.figure import Figure

from chaincheck import plots_statistics as figures
from chaincheck.clustered import simulate_clusters
from chaincheck.coverage import CoverageStudy, simulate_coverage, win_table
from chaincheck.plots import to_svg

SIZES = (30, 60, 90)
EFFECTS = (0.0, 0.1)


@pytest.fixture(scope="module")
def studies() -> list[CoverageStudy]:
    rng = np.random.default_rng(0)
    return [
        simulate_coverage(win_table(0.3, edit), n, rng, replicates=20, resamples=20)
        for n in SIZES[::-1]  # out of order on purpose
        for edit in EFFECTS[::-1]
    ]


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_the_roof_is_the_smaller_of_the_two_lines() -> None:
    (axes,) = figures.roof_figure([0.3]).axes
    _, minus, plus, roof = axes.lines
    edit = np.asarray(roof.get_xdata(), dtype=float)
    assert np.asarray(roof.get_ydata(), dtype=float) == pytest.approx(0.3 - np.abs(edit))
    both = np.minimum(np.asarray(minus.get_ydata()), np.asarray(plus.get_ydata()))
    assert both == pytest.approx(np.asarray(roof.get_ydata(), dtype=float))


def test_pooled_figure_joins_the_cells_of_a_triplet() -> None:
    rng = np.random.default_rng(1)
    broken = rng.normal(size=100)
    left, right = figures.pooled_figure(broken + 1.0, broken, most=25).axes
    above, below = (np.asarray(line.get_ydata(), dtype=float) for line in left.lines)
    assert len(above) == 25
    assert above - below == pytest.approx(np.ones(25))
    assert right.get_title() == "pooled"


@pytest.mark.parametrize("draw", [figures.coverage_figure, figures.bias_figure])
def test_studies_are_sorted_into_panels(
    draw: Callable[[list[CoverageStudy]], Figure], studies: list[CoverageStudy]
) -> None:
    figure = draw(studies)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == [f"n = {n}" for n in SIZES]
    for axes in shown:
        drawn = [np.round(np.asarray(line.get_xdata(), dtype=float), 9) for line in axes.lines]
        assert any(list(edit) == list(EFFECTS) for edit in drawn)
    assert {label for _, _, label in figures.METHODS.values()} <= set(labels(figure))


def test_coverage_is_drawn_where_it_was_measured(studies: list[CoverageStudy]) -> None:
    figure = figures.coverage_figure(studies)
    smallest = sorted((s for s in studies if s.n == SIZES[0]), key=lambda s: s.edit_effect)
    drawn = [list(np.asarray(line.get_ydata())) for line in figure.axes[0].lines]
    assert [study.kit.coverage for study in smallest] in drawn
    assert [study.contrast.coverage for study in smallest] in drawn


def test_clusters_are_drawn_by_what_they_share() -> None:
    rng = np.random.default_rng(2)
    found = [
        simulate_clusters(win_table(0.3, 0.1), 40, s, rng, replicates=20, resamples=20)
        for s in (1.0, 0.0)
    ]
    (axes,) = figures.cluster_figure(found).axes
    drawn = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]  # type: ignore[arg-type]
    assert ([0.0, 1.0], [found[1].ignored, found[0].ignored]) in drawn
    assert ([0.0, 1.0], [found[1].heeded, found[0].heeded]) in drawn


def test_noise_leaves_less_than_one_half() -> None:
    (axes,) = figures.noise_figure([10, 100], [0.12, 0.04], marked=100).axes
    assert axes.texts[0].get_text() == "n = 100: 0.460"
    with pytest.raises(ValueError, match="not in list"):
        figures.noise_figure([10, 100], [0.12, 0.04], marked=50)


def test_measured_rows_are_numbered_in_the_legend() -> None:
    figure = figures.power_figure({"EE = 0": [(50, 0.3), (500, 0.1)]}, [("mine", 122, 0.16)])
    legend = figure.axes[0].get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["EE = 0", "1  mine"]
    assert figure.axes[0].texts[0].get_text() == "1"


@pytest.mark.parametrize(
    "draw",
    [
        lambda: figures.roof_figure([]),
        lambda: figures.pooled_figure(np.empty(0), np.empty(0)),
        lambda: figures.pooled_figure(np.ones(3), np.ones(2)),
        lambda: figures.coverage_figure([]),
        lambda: figures.bias_figure([]),
        lambda: figures.cluster_figure([]),
        lambda: figures.noise_figure([10], []),
        lambda: figures.power_figure({}),
        lambda: figures.power_figure({"EE = 0": []}),
    ],
)
def test_nothing_is_not_drawn(draw: Callable[[], Figure]) -> None:
    with pytest.raises(ValueError, match=r"needs|no simulated"):
        draw()


def test_the_same_values_give_the_same_bytes(studies: list[CoverageStudy]) -> None:
    assert to_svg(figures.bias_figure(studies)) == to_svg(figures.bias_figure(studies))
