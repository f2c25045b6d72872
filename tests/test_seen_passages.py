"""What a run was shown: against what the training itself turned into tokens."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest
import training_worlds

from chaincheck import training_records
from chaincheck.errors import UnreadableFile
from chaincheck.items import read_triplets, write_items
from chaincheck.seen_passages import rests_on, seen_triplets, shown_decoys, shown_passages
from chaincheck.training.recipe import load_recipe
from chaincheck.training_records import (
    Run,
    part_of,
    read_run,
    recipe_of,
    recorded_seeds,
    run_of,
)


def record(home: Path, recipe: dict[str, Any], arm: str = "triplet", seed: int = 0) -> None:
    run = Run(recipe=recipe, summary={}, metrics=[])
    run_of(arm, seed, home).write_bytes(gzip.compress(msgspec.json.encode(run)))


@pytest.mark.parametrize("objective", ["triplet", "nominal"])
def test_it_is_what_the_training_turns_into_tokens(
    objective: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="the extra 'judges' is not installed")
    pytest.importorskip("peft", reason="the extra 'training' is not installed")
    import tiny_language_models as tiny

    from chaincheck.training import run as training_run
    from chaincheck.training.recipe import read_recipe

    tiny.save(tmp_path / "tiny", "qwen3", chat=tiny.CHAT)
    data = training_worlds.write(part_of("train", tmp_path), 8, variants=("real", "fict", "decoy"))
    recipe = read_recipe(
        {
            **{"objective": objective, "prompt": "brief", "dtype": "float32", "seed": 7},
            **{"batch": 2, "triplets": 12, "mix": {"real": 2.0, "fict": 1.0, "decoy": 3.0}},
            "lora": {"rank": 2},
        }
    )
    encoded: set[str] = set()
    decoys: list[str] = []
    encode = training_run.encode

    def watching(triplets: Any, render: Any, cells: Any, **how: Any) -> Any:
        some = list(triplets)
        encoded.update(
            passage for one in some for cell in cells for passage in one.cells[cell].passages
        )
        decoys.extend(
            one.cells[cell].item_id for one in some if one.variant == "decoy" for cell in "ABD"
        )
        return encode(some, render, cells, **how)

    monkeypatch.setattr(training_run, "encode", watching)
    training_run.train(str(tmp_path / "tiny"), data, tmp_path / "run", recipe)
    record(tmp_path, recipe.settings)
    shown = shown_passages("triplet", 0, tmp_path)
    every = {text for one in read_triplets(data) for i in one.cells.values() for text in i.passages}
    assert shown == encoded
    assert shown < every
    asked = [item.item_id for item in shown_decoys("triplet", 0, tmp_path)]
    assert sorted(asked) == sorted(decoys)
    assert 0 < len(set(asked)) == len(asked) < 8 * 3


def test_without_decoys_of_its_own_a_run_is_asked_about_those_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By that recipe's file: its run may not have been made yet."""
    training_worlds.write(part_of("train", tmp_path), 8, variants=("real", "fict", "decoy"))
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "triplet-decoy.toml").write_text(
        "triplets = 6\n[mix]\nreal = 1.0\ndecoy = 1.0\n", "utf-8"
    )
    monkeypatch.setattr(training_records, "_BOOK", tmp_path)
    plain = {"triplets": 6, "mix": {"real": 1.0, "fict": 1.0}}
    for seed in (0, 1):
        record(tmp_path, {**plain, "seed": seed}, "triplet", seed)
    asked = [shown_decoys("triplet", seed, tmp_path) for seed in (0, 1)]
    for seed in (0, 1):
        settings = load_recipe(recipe_of("triplet-decoy"), {"seed": seed}).settings
        record(tmp_path, settings, "triplet-decoy", seed)
    assert asked == [shown_decoys("triplet-decoy", seed, tmp_path) for seed in (0, 1)]
    assert asked[0] != asked[1]
    assert [len(some) for some in asked] == [9, 9]
    with pytest.raises(UnreadableFile, match="triplet-2"):
        shown_decoys("triplet", 2, tmp_path)


def test_a_triplet_rests_on_a_passage_if_one_of_its_cells_does(tmp_path: Path) -> None:
    items = training_worlds.triplets(2)
    marked = [
        msgspec.structs.replace(item, earlier_support=(0,), later_support=(1,)) for item in items
    ]
    path = tmp_path / "t.jsonl"
    write_items(path, marked)
    first, second = read_triplets(path)
    for cell in "ABD":
        item = first.cells[cell]
        assert rests_on(item, {item.passages[0]})
        assert rests_on(item, {item.passages[1]})
        assert not rests_on(item, {"Something else"})
        assert first.pair_id in seen_triplets([first, second], {item.passages[1]})
    assert seen_triplets([first, second], set()) == set()
    bare = msgspec.structs.replace(first.cells["A"], earlier_support=(), later_support=())
    assert not rests_on(bare, set(bare.passages))


def test_a_run_that_is_not_recorded_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="triplet-0"):
        shown_passages("triplet", 0, tmp_path)


def test_few_contexts_of_the_test_rest_on_what_a_recorded_run_was_shown() -> None:
    test = read_triplets(part_of("test"))
    for arm in ("triplet", "nominal-unedited"):
        for seed in recorded_seeds(arm)[:1]:
            assert read_run(arm, seed).recipe["seed"] == seed
            seen = seen_triplets(test, shown_passages(arm, seed))
            assert 0 < len(seen) < len(test) / 3
