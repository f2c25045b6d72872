"""Recipes: every default stands, every wrong key is named, and every setting has a say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chaincheck.errors import UnreadableFile, UsageError
from chaincheck.training.recipe import Recipe, load_recipe, parse_settings, read_recipe


def test_an_empty_recipe_is_the_default() -> None:
    assert read_recipe({}) == Recipe()
    assert read_recipe({}).cells == ("A", "B", "D")


def test_the_cells_follow_from_objective_and_terms() -> None:
    assert read_recipe({"objective": "nominal"}).cells == ("A", "D")
    assert read_recipe({"objective": "nominal", "broken": "C"}).cells == ("A", "C")
    assert read_recipe({"loss": {"cell_c_weight": 0.5}}).cells == ("A", "B", "D", "C")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"learning_rat": 1e-3}, "learning_rate"),
        ({"loss": {"margn": 1}}, "margin"),
        ({"lora": {"rnak": 4}}, "rank"),
        ({"objective": "tripled"}, "tripled"),
        ({"batch": "4"}, "int"),
        ({"batch": 0}, "batch must be at least 1"),
        ({"passes": 0}, "passes"),
        ({"lora": {"rank": 0}}, "lora.rank"),
        ({"learning_rate": -1.0}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"loss": {"margin": float("inf")}}, "loss.margin"),
        ({"learning_rate": 1e300}, "learning_rate must be at most 1"),
        ({"seed": 2**32}, "seed must be at most"),
        ({"weight_decay": 1e300}, "weight_decay must be at most"),
        ({"loss": {"margin": 1e300}}, "loss.margin must be at most"),
        ({"lora": {"alpha": 1e300}}, "lora.alpha must be at most"),
        ({"lora": {"rank": 10**9}}, "lora.rank must be at most"),
        ({"seed": 10**400}, "seed must be at most"),
        ({"triplets": 10**400}, "triplets must be at most"),
        ({"eval_every": -(10**400)}, "eval_every must be a finite number"),
        ({"passes": 10**400}, "passes must be at most"),
        ({"mix": {"real": 10**400}}, "out of range"),
        ({"warmup": 1.5}, "warmup"),
        ({"lora": {"dropout": 1.0}}, "dropout"),
        ({"mix": {"reel": 1.0}}, "real"),
        ({"mix": {"real": 0.0}}, "no triplet"),
        ({"objective": "nominal", "loss": {"invariance_weight": 1.0}}, "nominal"),
        ({"broken": "C"}, "nominal"),
        ({"patience": 2}, "eval_every"),
        ({"mix": {"real": 1.0}, "later": ["decoy"]}, "decoy is not in the mix"),
        ({"mix": {"real": 1.0, "decoy": 0.0}, "later": ["decoy"]}, "decoy is not in the mix"),
    ],
)
def test_what_cannot_be_is_named(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_recipe(settings)


def test_every_setting_changes_the_hash() -> None:
    changes: list[dict[str, Any]] = [
        {"objective": "nominal"},
        {"objective": "nominal", "broken": "C"},
        {"mix": {"real": 1.0}},
        {"triplets": 9},
        {"later": ["decoy"]},
        {"passes": 2},
        {"batch": 5},
        {"accumulation": 2},
        {"learning_rate": 1e-3},
        {"warmup": 0.2},
        {"schedule": "cosine"},
        {"weight_decay": 0.1},
        {"clip": 0.5},
        {"dtype": "float32"},
        {"gradient_checkpointing": True},
        {"attention": "eager"},
        {"seed": 1},
        {"eval_every": 5},
        {"eval_every": 5, "patience": 1},
        {"save_every": 5},
        {"prompt": "bare"},
        *({"loss": {key: 3.0}} for key in ("margin", "margin_weight", "cell_c_weight")),
        {"loss": {"invariance_weight": 1.0}},
        {"loss": {"answer_b": False}},
        *({"lora": change} for change in ({"rank": 4}, {"alpha": 4.0}, {"dropout": 0.1})),
        {"lora": {"targets": ["q_proj"]}},
    ]
    hashes = [read_recipe(change).digest for change in [{}, *changes]]
    assert len(set(hashes)) == len(hashes)
    told = {key for change in changes for key in change}
    assert told == set(Recipe.__struct_fields__), "a setting that this test does not try"


def test_a_file_is_read_and_changed(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text('seed = 3\nprompt = "mine.toml"\n[loss]\nmargin = 1.5\n', "utf-8")
    found = load_recipe(path, {"seed": 4, "loss": {"margin_weight": 2.0}})
    assert (found.seed, found.loss.margin, found.loss.margin_weight) == (4, 1.5, 2.0)
    assert found.prompt == str(tmp_path / "mine.toml")


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("seed = ", "utf-8")
    for name in ("bad.toml", "missing.toml"):
        with pytest.raises(UnreadableFile, match=name):
            load_recipe(tmp_path / name)


def test_settings_of_a_command_line_are_toml_values_or_texts() -> None:
    pairs = [
        ("seed", "1"),
        ("loss.margin", "3"),
        ("loss.answer_b", "false"),
        ("objective", "nominal"),
        ("lora.targets", '["q_proj"]'),
        ("prompt", "1" * 9999),
        ("attention", "[" * 9999),
    ]
    assert parse_settings(pairs) == {
        "seed": 1,
        "loss": {"margin": 3, "answer_b": False},
        "objective": "nominal",
        "lora": {"targets": ["q_proj"]},
        "prompt": "1" * 9999,
        "attention": "[" * 9999,
    }


@pytest.mark.parametrize(
    "pairs", [[("seed", "1"), ("seed", "2")], [("loss", "1"), ("loss.margin", "2")]]
)
def test_a_key_is_given_once(pairs: list[tuple[str, str]]) -> None:
    with pytest.raises(UsageError):
        parse_settings(pairs)
