"""Figures of a run: every series that the metrics hold is drawn, and a bad file is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from chaincheck.errors import UnreadableFile
from chaincheck.plots import to_svg
from chaincheck.plots_training import progress_figure, read_metrics

TERMS = ("loss", "loss_answers", "loss_margin", "score_A", "score_D")
ROWS = [
    {"step": 1, **dict(zip(TERMS, (4.0, 3.0, 1.0, 0.5, 0.4), strict=True))},
    {"step": 2, **dict(zip(TERMS, (3.0, 2.5, 0.5, 0.9, 0.1), strict=True))},
    {"step": 2, "eval_sigma": 0.1, "eval_real_sigma": 0.3, "eval_fict_sigma": 0.1},
    {"step": 2, "train_runtime": 3.5},
]


def test_every_series_is_drawn() -> None:
    figure = progress_figure(ROWS)
    labels = [[line.get_label() for line in axes.lines] for axes in figure.axes]
    assert labels[0] == ["loss", "answers", "margin"]
    assert labels[1][:2] == ["cell A", "cell D"]
    assert labels[2][:2] == ["real", "fict"]
    assert list(figure.axes[1].lines[1].get_ydata()) == [0.4, 0.1]
    assert to_svg(figure) == to_svg(progress_figure(ROWS))


def test_without_validations_there_are_two_panels() -> None:
    assert len(progress_figure(ROWS[:2]).axes) == 2
    with pytest.raises(ValueError, match="at least one step"):
        progress_figure(ROWS[2:])


def test_a_run_s_metrics_are_read(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert read_metrics(tmp_path) == ROWS


@pytest.mark.parametrize("text", [None, "{", "[1]\n", '{"loss": 1}\n'])
def test_what_is_none_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "metrics.jsonl").write_text(text)
    with pytest.raises(UnreadableFile, match=r"metrics\.jsonl"):
        read_metrics(tmp_path)
