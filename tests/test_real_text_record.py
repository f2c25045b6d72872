"""The book's record of judges on real text: of the files, facts and recipes that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaincheck import real_text, real_text_parts
from chaincheck.real_text_results import REAL, RECORD, load_real_text, real_text_results
from chaincheck.records import DATA_SETS
from chaincheck.training.recipe import load_recipe, read_recipe
from chaincheck.training.run_folder import lines_hash
from chaincheck.training_records import part_of, recipe_of

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def test_it_is_of_the_files_that_are_named() -> None:
    known = load_real_text()
    assert set(known.parts.files) == {one.file for one in DATA_SETS.values()}
    assert set(real_text_results(resamples=50, exchanges=20)) == {
        "pooled",
        "musique",
        "twowiki",
    }
    assert RECORD.stat().st_size < 1_000_000


def test_it_is_of_the_facts_and_recipes_of_today() -> None:
    known = load_real_text()
    facts = {part_of(part).name: lines_hash(part_of(part)) for part in ("train", "validation")}
    assert known.parts.facts == facts
    for judge in known.judges[1:]:
        seed = {"seed": judge.seed}
        recipe = load_recipe(recipe_of(judge.arm), seed) if judge.arm != REAL else None
        if recipe is None:
            recipe = read_recipe({**known.recipe, **seed})
            assert recipe == load_recipe(recipe_of("triplet"), {**real_text._CHANGES, **seed})
        assert judge.trained["recipe"] == recipe.digest


def test_it_is_of_the_files_as_they_are() -> None:
    if not SHARED.is_dir():
        pytest.skip("the data sets (../shared/data) are not beside the checkout")
    known = load_real_text().parts.files
    assert known == {name: real_text_parts._digest(SHARED / name) for name in known}
