"""The probe's figure shows each measured interval where it belongs."""

from __future__ import annotations

import pytest
from test_injection import GULLIBLE, triplets

from chaincheck.injection import probe

plots_injection = pytest.importorskip(
    "chaincheck.plots_injection", reason="the extra 'plot' is not installed"
)


def test_public_names_are_pinned() -> None:
    assert plots_injection.__all__ == ["injection_figure"]


def test_every_row_is_drawn_with_its_ends() -> None:
    report = probe(triplets(6), GULLIBLE)
    figure = plots_injection.injection_figure(report)
    shift, share = figure.axes
    for axes, interval_of in (
        (shift, lambda row: row.shifts["D"].excess),
        (share, lambda row: row.outscores.excess),
    ):
        spans = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2]
        spans = [tuple(span) for span in spans]
        for row in report.rows:
            interval = interval_of(row)
            assert (interval.low, interval.high) in spans
        dots = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 1]
        assert sorted(dots) == sorted(interval_of(row).estimate for row in report.rows)
    assert [text.get_text() for text in shift.get_yticklabels()] == list(report.attacks)
    assert "fake: end of the distractor passage" in shift.get_title(loc="left")
