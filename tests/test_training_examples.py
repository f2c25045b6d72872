"""Drawing, ordering and batching of triplets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import training_worlds
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.errors import UsageError
from chaincheck.items import Triplet, group_triplets
from chaincheck.training.examples import Example, collate, draw, run_order
from chaincheck.training.recipe import read_recipe

TRIPLETS = [
    *group_triplets(training_worlds.triplets(20, variants=("real", "fict"))),
    *group_triplets(training_worlds.triplets(6, variants=("decoy",))),
]


@given(
    st.dictionaries(
        st.sampled_from(["real", "fict", "decoy"]), st.sampled_from([0.5, 1.0, 2.0]), min_size=1
    ),
    st.just(0) | st.integers(10, 50),
    st.integers(0, 5),
)
def test_a_mix_gives_each_variant_its_share(mix: dict[str, float], most: int, seed: int) -> None:
    recipe = read_recipe({"mix": mix, "triplets": most})
    chosen = draw(TRIPLETS, recipe, np.random.default_rng(seed))
    counts = Counter(TRIPLETS[place].variant for place in chosen)
    assert len(set(chosen)) == len(chosen)
    assert counts.keys() <= mix.keys()
    if most:
        assert len(chosen) <= most
    unit = max((counts[name] / share for name, share in mix.items()), default=0)
    # Nobody has more than his share of the largest number, and rounding takes less than one.
    assert all(
        unit * share - counts[name] < 1 + share / min(mix.values()) for name, share in mix.items()
    )


@pytest.mark.parametrize(
    "settings",
    [
        {"mix": {"real": 1.0, "fict": 1e-320}},
        {"mix": {"real": 1.0, "fict": 1e-3}},
        {"mix": {"real": 1.0, "fict": 1.0}, "triplets": 1},
    ],
)
def test_no_variant_of_a_mix_is_left_out_without_a_word(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="the mix takes no fict triplet"):
        draw(TRIPLETS, read_recipe(settings), np.random.default_rng(0))


def test_without_a_mix_every_triplet_is_taken() -> None:
    assert draw(TRIPLETS, read_recipe({}), np.random.default_rng(0)) == list(range(len(TRIPLETS)))


@given(st.integers(1, 4), st.integers(1, 6), st.integers(1, 3), st.integers(0, 9))
def test_each_pass_sees_each_triplet_once_and_steps_are_whole(
    passes: int, batch: int, accumulation: int, seed: int
) -> None:
    recipe = read_recipe({"passes": passes, "batch": batch, "accumulation": accumulation})
    order = run_order(range(19), recipe, np.random.default_rng(seed))
    step = batch * accumulation
    assert len(order) == passes * 19 // step * step
    for number in range(passes):
        part = order[number * 19 : (number + 1) * 19]
        assert len(set(part)) == len(part)
    assert order == run_order(range(19), recipe, np.random.default_rng(seed))


def test_a_step_that_is_larger_than_the_run_is_refused() -> None:
    with pytest.raises(UsageError, match="one step takes 20"):
        run_order(range(19), read_recipe({"batch": 20}), np.random.default_rng(0))


def test_a_batch_holds_the_cells_one_after_another() -> None:
    pytest.importorskip("torch")
    examples = [
        Example("p", "real", "q", {"A": (5, 6), "D": (7, 8, 9)}),
        Example("r", "fict", "q", {"A": (1,), "D": (2, 3)}),
    ]
    batch = collate(("A", "D"))(examples)
    assert batch["input_ids"].tolist() == [[5, 6, 0], [1, 0, 0], [7, 8, 9], [2, 3, 0]]
    assert batch["last"].tolist() == [1, 0, 2, 1]
    assert batch["members"] == ["p real", "r fict"]


@pytest.mark.parametrize("seed", range(5))
def test_later_variants_come_last_in_each_pass_and_are_shuffled_all_the_same(seed: int) -> None:
    rows = [
        Triplet(pair_id=f"p{number}", variant=variant, cells={})
        for number in range(6)
        for variant in ("real", "decoy", "fict")
    ]
    recipe = read_recipe({"later": ["decoy"], "passes": 2, "batch": 1})
    order = run_order(range(18), recipe, np.random.default_rng(seed), rows)
    assert [rows[place].variant == "decoy" for place in order] == ([False] * 12 + [True] * 6) * 2
    assert order[:18] != order[18:]
    plain = run_order(
        range(18), read_recipe({"passes": 2, "batch": 1}), np.random.default_rng(seed), rows
    )
    for start in (0, 18):
        for late in (False, True):
            parts = [
                [place for place in some if (rows[place].variant == "decoy") == late]
                for some in (order[start : start + 18], plain[start : start + 18])
            ]
            assert parts[0] == parts[1]
