"""Split triplets into train and test so that the two share no bridge and no later step.

MuSiQue's 537 two-hop records rest on only 406 later steps and 372 bridges: a split by record
would let a judge meet the test's passages in training. Triplets that share a bridge or a later
support (or, if asked for, an earlier one) are therefore tied together, and each connected group
goes to one side as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from chaincheck.bypass import fold_tokens
from chaincheck.errors import UsageError
from chaincheck.items import Item, Triplet, content_hash

__all__ = ["groups", "split"]

Row = TypeVar("Row", Item, Triplet)


def _item(row: Item | Triplet) -> Item:
    """The row that holds unedited passages, where there is one."""
    if isinstance(row, Item):
        return row
    return row.cells.get("A") or next(iter(row.cells.values()))


def _keys(item: Item, *, by_head: bool) -> Iterator[tuple[str, ...]]:
    """What a triplet may not share with the other side."""
    if item.bridge:
        yield ("bridge", *fold_tokens(item.bridge))
    supports = [("later", item.later_support)]
    if by_head:
        supports.append(("earlier", item.earlier_support))
    for name, indices in supports:
        for index in indices:
            if 0 <= index < len(item.passages):
                yield (name, *fold_tokens(item.passages[index]))
    yield ("question", *fold_tokens(item.query))


def groups(rows: Sequence[Row], *, by_head: bool = False) -> list[list[Row]]:
    """Connected groups of rows: rows of one group share bridges or steps, directly or in a row.

    Cells of one triplet, and all variants of one question, are in one group.

    Args:
        rows: items or triplets.
        by_head: also tie rows that share the earlier support.

    Returns:
        The groups, by their first row; rows in their order.
    """
    parent = list(range(len(rows)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[tuple[str, ...], int] = {}
    item: Item
    for place, row in enumerate(rows):
        item = _item(row)
        for key in (("pair", item.pair_id), *_keys(item, by_head=by_head)):
            known = first.setdefault(key, place)
            parent[root(place)] = root(known)
    found: dict[int, list[Row]] = {}
    for place, row in enumerate(rows):
        found.setdefault(root(place), []).append(row)
    return list(found.values())


def split(
    rows: Sequence[Row], test_share: float, seed: int = 0, *, by_head: bool = False
) -> tuple[list[Row], list[Row]]:
    """Split items or triplets into train and test.

    Args:
        rows: items or triplets.
        test_share: share of the triplets that the test should hold, between 0 and 1. The test
            comes as near to it as whole groups allow.
        seed: which groups go where. The order of the rows makes no difference to it.
        by_head: also keep the earlier supports apart.

    Returns:
        Train and test, each in the order of ``rows``.

    Raises:
        UsageError: ``test_share`` is not between 0 and 1.
    """
    if not 0 <= test_share <= 1:
        raise UsageError(
            f"the test share {test_share} is not a share", remedy="Give a number from 0 to 1"
        )
    sized = []
    for group in groups(rows, by_head=by_head):
        pairs = {(_item(row).pair_id, _item(row).variant) for row in group}
        sized.append((content_hash([seed, sorted(pairs)]), len(pairs), group))
    target = test_share * sum(size for _, size, _ in sized)
    chosen: set[int] = set()
    held = 0
    for _, size, group in sorted(sized, key=lambda entry: entry[:2]):
        if abs(held + size - target) < abs(held - target):
            held += size
            chosen.update(id(row) for row in group)
    train = [row for row in rows if id(row) not in chosen]
    return train, [row for row in rows if id(row) in chosen]
