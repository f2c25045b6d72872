"""Train and test share no bridge and no later step, whatever the triplets."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.errors import UsageError
from chaincheck.items import Item, group_triplets
from chaincheck.splits import groups, split


def items(number: int, bridge: str, page: str, head: str) -> list[Item]:
    return [
        Item(
            item_id=f"{number}{cell}",
            pair_id=str(number),
            variant="real",
            cell=cell,
            query=f"question {number}",
            passages=(head, page if cell == "A" else f"{page} edited"),
            bridge=bridge,
            earlier_support=(0,),
            later_support=(1,),
        )
        for cell in "ABD"
    ]


names = st.sampled_from(["Ada", "ADA", "Bo", "Cy", "Di", "Eve", "Fay", "Gus", "Hal"])
pages = st.sampled_from([f"page {letter}" for letter in "abcdefgh"])
worlds = st.lists(st.tuples(names, pages, pages), max_size=30)


def build(world: list[tuple[str, str, str]]) -> list[Item]:
    return [
        row for n, (bridge, page, head) in enumerate(world) for row in items(n, bridge, page, head)
    ]


@given(world=worlds, share=st.floats(0, 1), seed=st.integers(0, 99), by_head=st.booleans())
@settings(max_examples=150, deadline=None)
def test_the_sides_share_nothing(
    world: list[tuple[str, str, str]], share: float, seed: int, by_head: bool
) -> None:
    rows = build(world)
    train, test = split(rows, share, seed, by_head=by_head)
    assert sorted(row.item_id for row in [*train, *test]) == sorted(row.item_id for row in rows)

    def seen(side: list[Item]) -> set[tuple[str, str]]:
        found = set()
        for row in side:
            bridge, page, head = world[int(row.pair_id)]
            found |= {("bridge", bridge.casefold()), ("page", page), ("pair", row.pair_id)}
            if by_head:
                found.add(("head", head))
        return found

    assert not seen(train) & seen(test)


@given(world=worlds, seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_rows_makes_no_difference(
    world: list[tuple[str, str, str]], seed: int
) -> None:
    rows = build(world)
    mixed = rows[:]
    random.Random(seed).shuffle(mixed)
    first = {row.item_id for row in split(rows, 0.3, seed)[1]}
    assert first == {row.item_id for row in split(mixed, 0.3, seed)[1]}


def test_the_share_is_met_where_groups_are_small() -> None:
    rows = build([(f"name{n}", f"page {n}", f"head {n}") for n in range(100)])
    train, test = split(rows, 0.2, 7)
    assert (len(train), len(test)) == (240, 60)
    other = {row.item_id for row in split(rows, 0.2, 8)[1]}
    assert other != {row.item_id for row in test}


def test_triplets_are_split_like_their_items() -> None:
    rows = build([("Ada", "page a", "h"), ("Bo", "page a", "i"), ("Cy", "page c", "j")])
    triplets = group_triplets(rows)
    assert [[t.pair_id for t in group] for group in groups(triplets)] == [["0", "1"], ["2"]]
    test = split(triplets, 0.34, 0)[1]
    assert [t.pair_id for t in test] in (["2"], ["0", "1"])


def test_a_share_beyond_one_is_refused() -> None:
    with pytest.raises(UsageError, match="share"):
        split([], 1.5)
