"""The command that trains: what it says of a run that was stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from chaincheck.cli import main


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([], "begins anew"),
        (["-s", "save_every", "5"], "from the last checkpoint"),
        (["-s", "eval_every", "5"], "from the last checkpoint"),
    ],
)
def test_a_run_that_is_stopped_says_how_to_go_on(
    settings: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def stopped(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("chaincheck.training.run.train", stopped)
    code = main(["train", "--base", "b", "--data", "d.jsonl", "--out", "run", *settings])
    assert code == 130
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("plot", "said"), [("a.txt", "End it in .svg"), ("none/a.svg", "does not exist"), (".", "End")]
)
def test_what_cannot_be_drawn_is_refused_before_the_training(
    plot: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def trained(*_: Any, **__: Any) -> None:
        raise AssertionError("it was trained")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("chaincheck.training.run.train", trained)
    code = main(["train", "--base", "b", "--data", "d.jsonl", "--out", "run", "--plot", plot])
    assert code == 2
    assert said in capsys.readouterr().err
