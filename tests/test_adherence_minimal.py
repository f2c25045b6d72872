from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.adherence.minimal import (
    Budget,
    BudgetSpent,
    minimal_subset,
    necessary_members,
    smallest_subset,
)

SIZE = 7
# A property that more members never take away: to contain one of some sets.
families = st.lists(st.sets(st.integers(0, SIZE - 1)), min_size=1, max_size=6)


def contains_one_of(family):
    return lambda chosen: any(each <= set(chosen) for each in family)


@given(families)
def test_a_minimal_set_loses_the_property_with_any_member(family):
    holds = contains_one_of(family)
    found = minimal_subset(SIZE, holds)
    assert holds(found)
    assert all(not holds([m for m in found if m != dropped]) for dropped in found)


@given(families)
def test_the_smallest_set_is_the_first_of_all(family):
    holds = contains_one_of(family)
    everyone = range(SIZE)
    expected = next(
        chosen
        for size in range(SIZE + 1)
        for chosen in combinations(everyone, size)
        if holds(chosen)
    )
    budget = Budget(10**6)
    needed = necessary_members(SIZE, holds, budget)
    assert set(needed) == {m for m in everyone if not holds([x for x in everyone if x != m])}
    assert smallest_subset(SIZE, holds, needed, SIZE, budget) == expected
    extra = len(expected) - len(needed)
    if extra:
        assert smallest_subset(SIZE, holds, needed, extra - 1, budget) is None


def test_few_questions_find_a_small_set_among_many():
    asked = []

    def holds(chosen):
        asked.append(chosen)
        return {17, 401} <= set(chosen)

    assert minimal_subset(512, holds) == (17, 401)
    assert len(asked) < 25


def test_a_spent_budget_is_told():
    holds = contains_one_of([{0, 1, 2}])
    with pytest.raises(BudgetSpent):
        necessary_members(SIZE, holds, Budget(SIZE - 1))
    with pytest.raises(BudgetSpent):
        smallest_subset(SIZE, holds, (), SIZE, Budget(5))
