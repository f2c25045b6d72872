"""Which test contexts rest on a passage that a recorded run was shown in training.

Training and test share no bridge and no step: no chain of the test was trained on. But a context
also holds distractors, drawn from all passages, so that a support of a test triplet may have stood
beside a chain that was trained on. Cell A is made of passages as they are and cell B of renamed
ones, so A can be the more familiar one of the two. What that comes to can be seen by leaving such
triplets out.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from chaincheck.errors import PathLike
from chaincheck.items import Item, Triplet, read_triplets
from chaincheck.training_records import FOLDER, part_of, read_run

__all__ = ["rests_on", "seen_triplets", "shown_passages"]


def shown_passages(arm: str, seed: int, folder: PathLike = FOLDER) -> set[str]:
    """The passages of every context that a recorded run was trained on.

    The triplets are drawn again, by the recipe and the seed that the run's record holds.

    Raises:
        UnreadableFile: the run or the triplets are not recorded.
        UsageError: its record holds no recipe that can be read.
    """
    from chaincheck.training.examples import draw
    from chaincheck.training.recipe import read_recipe

    recipe = read_recipe(read_run(arm, seed, folder).recipe)
    triplets = read_triplets(part_of("train", folder))
    drawn = draw(triplets, recipe, np.random.default_rng(recipe.seed))
    return {
        passage
        for place in drawn
        for cell in recipe.cells
        for passage in triplets[place].cells[cell].passages
    }


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
