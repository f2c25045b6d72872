from __future__ import annotations

import pytest
from test_adherence_claims import claimed, triplets

from chaincheck.adherence.claim_rates import cell_rates, dimension_shares, grounded

pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")

from chaincheck.plots import to_svg
from chaincheck.plots_claims import cells_figure, dimensions_figure, grounding_figure


def test_the_same_values_give_the_same_bytes() -> None:
    sets = {name: claimed(triplets(8), name) for name in ("over-claim", "omits a hop")}
    sets["$x$_of one"] = claimed(triplets(8, ("real", "fict")))
    for draw, values in (
        (dimensions_figure, {k: dimension_shares(v) for k, v in sets.items()}),
        (cells_figure, {k: cell_rates(v) for k, v in sets.items()}),
        (
            grounding_figure,
            {
                k: grounded(v, {one.item_id: float(one.passes) for one in v})
                for k, v in sets.items()
            },
        ),
    ):
        assert to_svg(draw(values)) == to_svg(draw(values))  # type: ignore[operator]


def test_every_judge_leaves_its_mark_and_unknown_leaves_two() -> None:
    known = dimension_shares(claimed(triplets(8)))
    unknown = dimension_shares(claimed(triplets(8), "omits a hop"))
    lines = [len(dimensions_figure({"j": one}).axes[0].lines) for one in (known, unknown)]
    assert lines[1] > lines[0] == 2 * len(known)


def test_the_points_stand_where_the_numbers_are() -> None:
    claims = claimed(triplets(8), "over-claim")
    found = grounded(claims, {one.item_id: float(one.cell in "AB") for one in claims})
    axes = grounding_figure({"judge": found}).axes[0]
    points = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    assert [(float(p.get_xdata()[0]), float(p.get_ydata()[0])) for p in points] == [(0.5, 0.0)]


def test_nothing_to_draw_is_refused() -> None:
    for draw in (dimensions_figure, cells_figure, grounding_figure):
        with pytest.raises(ValueError, match="at least one"):
            draw({})
