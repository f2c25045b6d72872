"""What a recorded run was shown in training, and which test contexts rest on a passage of it.

Training and test share no bridge and no step: no chain of the test was trained on. But a context
also holds distractors, drawn from all passages, so that a support of a test triplet may have stood
beside a chain that was trained on. Cell A is made of passages as they are and cell B of renamed
ones, so A can be the more familiar one of the two. What that comes to can be seen by leaving such
triplets out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from chaincheck.errors import PathLike
from chaincheck.items import Item, Triplet, read_triplets
from chaincheck.training_records import FOLDER, part_of, read_run, recipe_of

if TYPE_CHECKING:
    from chaincheck.training.recipe import Recipe

__all__ = ["rests_on", "seen_triplets", "shown_decoys", "shown_passages"]

_WITH_DECOYS = "triplet-decoy"


def _shown(recipe: Recipe, folder: PathLike) -> list[Triplet]:
    """The triplets that a recipe with its seed is trained on, each once."""
    from chaincheck.training.examples import draw

    triplets = read_triplets(part_of("train", folder))
    drawn = draw(triplets, recipe, np.random.default_rng(recipe.seed))
    return [triplets[place] for place in sorted(set(drawn))]


def shown_passages(arm: str, seed: int, folder: PathLike = FOLDER) -> set[str]:
    """The passages of every context that a recorded run was trained on.

    The triplets are drawn again, by the recipe and the seed that the run's record holds.

    Raises:
        UnreadableFile: the run or the triplets are not recorded.
        UsageError: its record holds no recipe that can be read.
    """
    from chaincheck.training.recipe import read_recipe

    recipe = read_recipe(read_run(arm, seed, folder).recipe)
    return {
        passage
        for one in _shown(recipe, folder)
        for cell in recipe.cells
        for passage in one.cells[cell].passages
    }


def shown_decoys(arm: str, seed: int, folder: PathLike = FOLDER) -> list[Item]:
    """Cells A, B and D of the decoys of ``training_records.SHOWN``, each triplet once.

    Raises:
        UnreadableFile: the run or the triplets are not recorded.
        UsageError: its record holds no recipe that can be read.
    """
    from chaincheck.training.recipe import load_recipe, read_recipe

    triplets = _shown(read_recipe(read_run(arm, seed, folder).recipe), folder)
    if not any(one.variant == "decoy" for one in triplets):
        # By the recipe's file: that run may not have been made yet.
        triplets = _shown(load_recipe(recipe_of(_WITH_DECOYS), {"seed": seed}), folder)
    return [one.cells[cell] for one in triplets if one.variant == "decoy" for cell in "ABD"]


def rests_on(item: Item, passages: set[str]) -> bool:
    """Whether one of an item's supports is among some passages."""
    supports = (*item.earlier_support, *item.later_support)
    return any(item.passages[place] in passages for place in supports)


def seen_triplets(triplets: Iterable[Triplet], passages: set[str]) -> set[str]:
    """The pair ids of triplets of which some cell rests on one of the passages."""
    return {
        one.pair_id
        for one in triplets
        if any(rests_on(item, passages) for item in one.cells.values())
    }
