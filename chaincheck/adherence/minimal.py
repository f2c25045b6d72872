"""Small sets with a property that more members never take away.

Being contradictory and being enough to settle a question are both of this kind. What comes out
depends on the answers to "has this set the property?" alone, in a fixed order; whichever engine
gives the answers, the same set is found.

The smallest set is found by way of its dual: a set has the property only if it meets the
complement of every set that lacks it. So complements of largest lacking sets are gathered, and the
first smallest set that meets them all is tried, until one has the property (the implicit hitting
set scheme of A. Ignatiev, A. Previti, M. Liffiton and J. Marques-Silva, "Smallest MUS extraction
with minimal hitting set dualization", CP 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["Budget", "BudgetSpent", "minimal_subset", "necessary_members", "smallest_subset"]


class BudgetSpent(Exception):
    """As many steps were taken as were allowed."""


class Budget:
    """A number of steps that is counted down.

    Args:
        steps: how many there are.
    """

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self) -> None:
        """Take one step.

        Raises:
            BudgetSpent: there is none left.
        """
        if self.left <= 0:
            raise BudgetSpent
        self.left -= 1


def minimal_subset(size: int, holds: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """Return a set with the property that loses it with any member.

    Args:
        size: the members are numbered 0 to ``size - 1``; all of them together have the property.
        holds: whether a set, ascending, has it; asked about ``k * log2(size)`` times for a result
            of ``k`` members.
    """
    kept: list[int] = []
    end = size
    while not holds(sorted(kept)):
        # The shortest beginning that has the property with what is kept ends with a member that
        # is needed; what stands after it is not.
        low, high = 1, end
        while low < high:
            middle = (low + high) // 2
            if holds(sorted([*range(middle), *kept])):
                high = middle
            else:
                low = middle + 1
        kept.append(low - 1)
        end = low - 1
    return tuple(sorted(kept))


def necessary_members(
    size: int, holds: Callable[[Sequence[int]], bool], budget: Budget
) -> tuple[int, ...]:
    """Return the members that every set with the property has."""
    needed = []
    for member in range(size):
        budget.spend()
        if not holds([other for other in range(size) if other != member]):
            needed.append(member)
    return tuple(needed)


def smallest_subset(
    size: int,
    holds: Callable[[Sequence[int]], bool],
    needed: Sequence[int],
    most: int,
    budget: Budget,
) -> tuple[int, ...] | None:
    """Return the smallest set with the property, the first in lexicographic order of them.

    Args:
        size: the members are numbered 0 to ``size - 1``; all of them together have the property.
        holds: whether a set, ascending, has it.
        needed: members that every set with the property has.
        most: most members beside the needed ones.
        budget: bounds the questions and the sets that are tried.

    Returns:
        The set, or None if every set with the property has more members than allowed.

    Raises:
        BudgetSpent: the budget ran out first.
    """
    base = set(needed)
    to_meet: list[int] = []
    while True:
        extra = _first_hitting_set(to_meet, most, budget)
        if extra is None:
            return None
        budget.spend()
        lacking = base.union(extra)
        if holds(sorted(lacking)):
            return tuple(sorted(lacking))
        for member in range(size):
            if member not in lacking:
                budget.spend()
                if not holds(sorted([*lacking, member])):
                    lacking.add(member)
        to_meet.append(sum(1 << member for member in range(size) if member not in lacking))


def _first_hitting_set(sets: Sequence[int], most: int, budget: Budget) -> tuple[int, ...] | None:
    """Return the smallest set that meets all ``sets`` (bits), the first in lexicographic order."""
    for size in range(most + 1):
        found = _search(list(sets), 0, size, budget)
        if found is not None:
            return found
    return None


def _search(unmet: list[int], start: int, size: int, budget: Budget) -> tuple[int, ...] | None:
    """Meet all of ``unmet`` with ``size`` members from ``start`` up."""
    budget.spend()
    if not unmet:
        return () if size == 0 else None
    if size == 0:
        return None
    # Some set ends first; a member beyond its end would leave it unmet.
    end = min(each.bit_length() for each in unmet)
    for member in range(start, end):
        rest = [each for each in unmet if not each >> member & 1]
        if len(rest) == len(unmet):
            continue
        found = _search(rest, member + 1, size - 1, budget)
        if found is not None:
            return (member, *found)
    return None
