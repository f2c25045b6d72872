"""A reader's own run: made once, carried on, and never taken for a run of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("peft", reason="the extra 'training' is not installed")

import tiny_language_models as tiny
import training_worlds

from chaincheck import live_training
from chaincheck.errors import UsageError
from chaincheck.items import read_triplets
from chaincheck.live_training import live_run, some_questions
from chaincheck.training.recipe import Recipe, read_recipe


def recipe(**changes: object) -> Recipe:
    settings = {
        "batch": 2,
        "triplets": 4,
        "dtype": "float32",
        "prompt": "bare",
        "lora": {"rank": 2},
    }
    return read_recipe({**settings, **changes})


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    tiny.save(tmp_path / "base", "qwen3", chat=tiny.CHAT)
    return training_worlds.write(tmp_path / "train.jsonl", 6, variants=("real", "fict"))


def test_a_run_is_made_once_and_judges_with_the_prompt_it_was_trained_with(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = live_run("base", data, recipe(), "work", threads=1)
    assert made.problem is None
    assert made.summary is not None
    assert made.summary.steps == (2, 2)
    assert made.judge is not None
    assert made.before is not None
    first, second = made.judge.instrument, made.before.instrument  # type: ignore[attr-defined]
    assert first["prompt"]["system"] == second["prompt"]["system"]
    assert "You decide" in first["prompt"]["system"]
    assert first["dtype"] == "float32"
    assert {**first, "model": 0} == {**second, "model": 0}
    assert first["model"] != second["model"]
    # Found again; another seed, and other code, are other runs.
    again = live_run("base", data, recipe(), "work", threads=1)
    assert (again.folder, again.summary) == (made.folder, made.summary)
    other = live_run("base", data, recipe(seed=1), "work", threads=1)
    assert other.folder != made.folder
    monkeypatch.setattr(live_training, "environment", lambda: ("another torch",))
    assert live_training._key("base", data, recipe()) != made.folder.name  # type: ignore[union-attr]


def test_a_model_that_is_not_here_is_no_error(data: Path) -> None:
    for base in ("smollm2", "no-such-model"):
        made = live_run(base, data, recipe(), "work")
        assert made.problem
        assert made.judge is None


def test_a_recipe_that_does_not_fit_is_one(data: Path) -> None:
    with pytest.raises(UsageError, match="decoy"):
        live_run("base", data, recipe(mix={"decoy": 1.0}), "work")


def test_a_recipe_that_validates_is_run_without_validation(data: Path) -> None:
    """The chapter hands on any recipe, such as the one of the page on real models."""
    made = live_run("base", data, recipe(eval_every=1, patience=1), "work", threads=1)
    assert made.problem is None
    assert made.summary is not None
    assert (made.summary.kept, made.summary.final) == (2, {})
    assert live_run("base", data, recipe(), "work", threads=1).folder == made.folder


def test_questions_are_taken_whole(tmp_path: Path) -> None:
    path = training_worlds.write(tmp_path / "t.jsonl", 5, variants=("real", "fict", "decoy"))
    items = some_questions(read_triplets(path), 2, ("fict", "decoy"))
    assert len(items) == 2 * 2 * 3
    assert len({item.query for item in items}) == 2
    assert [item.cell for item in items] == list("ABD") * 4
