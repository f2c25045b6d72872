"""What a training run sees: triplets turned into tokens, drawn and ordered by the seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chaincheck.errors import PathLike, UnjudgeableItem, UsageError
from chaincheck.items import Triplet, incomplete

if TYPE_CHECKING:
    from chaincheck.judges.rendering import Renderer
    from chaincheck.training.recipe import Recipe

__all__ = ["Example", "collate", "draw", "encode", "run_order"]


@dataclass(frozen=True, slots=True)
class Example:
    """One triplet as tokens.

    Attributes:
        pair_id, variant: which triplet.
        question: what the variants of one question share, see ``source_id``.
        prompts: tokens by cell.
    """

    pair_id: str
    variant: str
    question: str
    prompts: dict[str, tuple[int, ...]]


def draw(triplets: Sequence[Triplet], recipe: Recipe, generator: np.random.Generator) -> list[int]:
    """Choose the triplets of one pass, by variant as the recipe's mix says.

    Args:
        triplets: all there are.
        recipe: ``mix`` and ``triplets``.
        generator: of the choice.

    Returns:
        Indices in ascending order. With a mix, each variant gives its share of the largest number
        that all shares allow.

    Raises:
        UsageError: a variant of the mix has no triplet, or so small a share that none is taken.
    """
    places: dict[str, list[int]] = {}
    for place, triplet in enumerate(triplets):
        places.setdefault(triplet.variant, []).append(place)
    if not recipe.mix:
        every = np.arange(len(triplets))
        wanted = min(recipe.triplets or len(every), len(every))
        return sorted(generator.choice(every, wanted, replace=False).tolist())
    shares = {name: share for name, share in recipe.mix.items() if share}
    for name in shares:
        if name not in places:
            raise UsageError(
                f"the mix asks for {name} triplets, and the data have none",
                remedy="Build them with --variants, or leave the variant out of the mix",
            )
    unit = min(len(places[name]) / share for name, share in shares.items())
    if recipe.triplets:
        unit = min(unit, recipe.triplets / sum(shares.values()))
    chosen: list[int] = []
    for name, share in sorted(shares.items()):
        count = int(unit * share + 1e-9)
        if not count:
            raise UsageError(
                f"the mix takes no {name} triplet: its share of those that can be taken is below "
                "one",
                remedy="Give it a larger share, take more triplets, or leave the variant out",
            )
        chosen += generator.choice(places[name], count, replace=False).tolist()
    return sorted(chosen)


def run_order(
    chosen: Sequence[int],
    recipe: Recipe,
    generator: np.random.Generator,
    triplets: Sequence[Triplet] = (),
) -> list[int]:
    """Order the triplets of all passes; what fills no whole step at the end is left out.

    Whole steps only, so that two batches accumulated are exactly one of twice the size.

    Args:
        chosen: indices of triplets.
        recipe: ``passes``, the size of a step, and ``later``.
        generator: of the order.
        triplets: all there are; needed for ``later``.

    Raises:
        UsageError: there are fewer triplets than one step takes.
    """
    order: list[int] = []
    for _ in range(recipe.passes):
        drawn = generator.permutation(np.asarray(chosen, dtype=np.int64)).tolist()
        if recipe.later:  # a stable sort: within either part the order is the one that was drawn
            drawn.sort(key=lambda place: triplets[place].variant in recipe.later)
        order += drawn
    step = recipe.batch * recipe.accumulation
    if len(order) < step:
        raise UsageError(
            f"one step takes {step} triplets, and the run has {len(order)}",
            remedy="Set a smaller batch or accumulation, or more passes",
        )
    return order[: len(order) // step * step]


def encode(
    triplets: Iterable[Triplet],
    render: Renderer,
    cells: Sequence[str],
    *,
    context: int,
    path: PathLike,
) -> Iterator[Example]:
    """Turn triplets into tokens.

    Args:
        triplets: what to encode.
        render: turns an item into tokens, as the judge does.
        cells: the cells that are needed.
        context: the longest prompt that the model takes.
        path: the file, for messages.

    Raises:
        IncompleteTriplet: a triplet lacks one of the cells.
        UnjudgeableItem: a prompt is longer than the model takes, or an item has no passages.
    """
    for triplet in triplets:
        lacking = [cell for cell in cells if cell not in triplet.cells]
        first = next(iter(triplet.cells.values()))
        if lacking:
            raise incomplete(
                triplet.pair_id, triplet.variant, lacking, first.item_id, path=path, line=None
            )
        prompts = {}
        for cell in cells:
            item = triplet.cells[cell]
            ids = render(item).ids
            if len(ids) > context:
                raise UnjudgeableItem(
                    f"its prompt has {len(ids):,} tokens, and the model takes {context:,}",
                    item=item.item_id,
                    remedy="Cut passages shorter with 'longest_passage' in the prompt's file",
                )
            prompts[cell] = ids
        yield Example(triplet.pair_id, triplet.variant, first.source_id or first.query, prompts)


def collate(cells: Sequence[str]) -> Callable[[list[Example]], dict[str, Any]]:
    """Give the function that makes a batch of examples.

    The batch holds ``input_ids``, shape (cells x triplets, longest), all triplets of the first
    cell first; ``last``, the index of each prompt's last token; and ``members``, the examples'
    ids. It is padded on the right: what stands behind the last token cannot reach it in a causal
    model, so no mask is needed.
    """

    def gather(examples: list[Example]) -> dict[str, Any]:
        import torch

        prompts = [example.prompts[cell] for cell in cells for example in examples]
        longest = max(map(len, prompts))
        return {
            "input_ids": torch.tensor([[*ids, *[0] * (longest - len(ids))] for ids in prompts]),
            "last": torch.tensor([len(ids) - 1 for ids in prompts]),
            "members": [f"{example.pair_id} {example.variant}" for example in examples],
        }

    return gather
