"""Which prompts go together: each once, in bounds, and sharing only what is equal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.judges.causal_batches import Batch, common_prefix, plan_batches

PROMPTS = st.lists(
    st.lists(st.integers(0, 2), min_size=1, max_size=9).map(tuple),
    min_size=1,
    max_size=12,
    unique=True,
)


@given(PROMPTS)
def test_the_common_beginning_is_the_longest_that_all_have(prompts: list[tuple[int]]) -> None:
    shared = [n for n in range(10) if len({prompt[:n] for prompt in prompts}) == 1]
    longest = max(n for n in shared if n <= min(map(len, prompts)))
    assert common_prefix(prompts) == longest


@given(
    PROMPTS,
    st.data(),
    st.integers(1, 5),
    st.integers(1, 40),
    st.sampled_from([0, 5, 10**9]),
)
def test_every_plan_keeps_its_promises(
    prompts: list[tuple[int]], data: st.DataObject, batch: int, tokens: int, share: int
) -> None:
    groups = [data.draw(st.integers(0, 2)) for _ in prompts]
    plan = plan_batches(prompts, groups, batch=batch, tokens=tokens, share=share)
    assert sorted(member for one in plan for member in one.members) == list(range(len(prompts)))
    for one in plan:
        members = [prompts[member] for member in one.members]
        width = max(map(len, members)) - one.prefix
        assert len(members) <= batch
        assert len(members) == 1 or len(members) * width <= tokens
        if one.prefix:
            assert batch > 1
            assert len({groups[member] for member in one.members}) == 1
            assert len({prompt[: one.prefix] for prompt in members}) == 1
            assert min(map(len, members)) > one.prefix, "a token of its own for each"
            assert max(map(len, members)) <= share
    firsts = [min(one.members) for one in plan]
    assert firsts == sorted(firsts)


def test_cells_that_begin_alike_share_and_others_do_not() -> None:
    long = tuple(range(100))
    prompts = [(*long, 1), (*long, 2), (*long, 3), (7, *range(80)), (8, *range(70))]
    plan = plan_batches(prompts, ["a", "a", "a", "b", "b"], batch=8, tokens=1000, share=10**9)
    assert plan == [Batch((0, 1, 2), 100), Batch((3, 4), 0)]


def test_a_short_common_beginning_is_not_worth_it() -> None:
    prompts = [(1, *range(10, 90)), (1, *range(20, 90))]
    assert plan_batches(prompts, [0, 0], batch=8, tokens=1000, share=10**9) == [Batch((0, 1), 0)]


def test_lengths_of_one_batch_are_alike() -> None:
    prompts = [(n,) * n for n in (9, 1, 8, 2)]
    plan = plan_batches(prompts, range(4), batch=2, tokens=1000, share=0)
    assert plan == [Batch((0, 2)), Batch((3, 1))]


@pytest.mark.parametrize("empty", [[], ()])
def test_nothing_is_planned_for_nothing(empty: list[tuple[int]]) -> None:
    assert plan_batches(empty, [], batch=2, tokens=10, share=10) == []
