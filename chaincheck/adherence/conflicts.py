"""Why a base is inconsistent: annotations and constraints that cannot all hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from chaincheck.adherence.classify import Reading
from chaincheck.adherence.findings import BaseStatus, Conflict
from chaincheck.adherence.formulas import Formula
from chaincheck.adherence.minimal import (
    Budget,
    BudgetSpent,
    minimal_subset,
    necessary_members,
    smallest_subset,
)
from chaincheck.adherence.replay import Annotation
from chaincheck.adherence.solver import Undecided
from chaincheck.adherence.solving import Solving

__all__ = ["conflicts"]


def conflicts(
    solving: Solving, bases: Mapping[str, BaseStatus], annotations: Sequence[Annotation]
) -> dict[str, Conflict | None]:
    """Find a minimal conflict for every base that is UNSAT.

    Where it can be shown within the limits, the conflict is the smallest, and of those the first:
    constraints before annotations, each in the replay's order.

    Args:
        solving: the engines.
        bases: their statuses.
        annotations: of the replay.

    Returns:
        Base to conflict; None in place of one if a check reached its own limit.
    """
    found: dict[str, Conflict | None] = {}
    for base in ("proto", "evid", "all"):
        if bases[base] == "UNSAT":
            constraints = base != "evid"
            facts = base != "proto"
            found[base] = _Search(solving, annotations if facts else (), constraints).conflict()
    return found


class _Search:
    """The search in one base; its members are constraints first, then annotations."""

    def __init__(
        self, solving: Solving, annotations: Sequence[Annotation], constraints: bool
    ) -> None:
        self.solving = solving
        self.annotations = annotations
        compiled = solving.compiled
        self.constraints = list(range(len(compiled.constraints))) if constraints else []
        reach = 0
        for number in self.constraints:
            reach |= compiled.constraint_support[number]
        # An annotation bears on a conflict if a constraint mentions its atom or another
        # annotation contradicts it. Of those that say the same, the first is enough.
        seen: dict[tuple[int, bool], int] = {}
        for place, annotation in enumerate(annotations):
            if annotation.value != "UNKNOWN":
                seen.setdefault(
                    (compiled.index[annotation.atom], annotation.value == "TRUE"), place
                )
        self.literals = [
            (place, atom, value)
            for (atom, value), place in seen.items()
            if reach >> atom & 1 or (atom, not value) in seen
        ]

    def contradictory(self, chosen: Sequence[int]) -> bool:
        """Whether the chosen members have no model."""
        true = false = 0
        formulas: list[Formula] = []
        first = len(self.constraints)
        for member in chosen:
            if member < first:
                formulas.extend(self.solving.compiled.constraints[self.constraints[member]])
            else:
                _, atom, value = self.literals[member - first]
                true |= value << atom
                false |= (not value) << atom
        if true & false:
            return True
        return not self.solving.satisfiable(formulas, Reading(true, false).facts)

    def conflict(self) -> Conflict | None:
        """Find a minimal conflict and, within the limits, the smallest."""
        size = len(self.constraints) + len(self.literals)
        try:
            chosen = minimal_subset(size, self.contradictory)
        except Undecided:
            return None
        smallest = len(chosen) == 1
        try:
            if not smallest:
                budget = Budget(self.solving.limits.checks)
                needed = necessary_members(size, self.contradictory, budget)
                most = len(chosen) - len(needed)
                better = smallest_subset(size, self.contradictory, needed, most, budget)
                chosen = chosen if better is None else better
                smallest = True
        except (BudgetSpent, Undecided):
            pass
        first = len(self.constraints)
        protocol = self.solving.compiled.protocol
        literals = [self.literals[member - first] for member in chosen if member >= first]
        literals.sort()
        return Conflict(
            constraints=tuple(
                protocol.constraints[self.constraints[member]].id
                for member in chosen
                if member < first
            ),
            annotations=tuple(place for place, _, _ in literals),
            literals=tuple(
                f"{protocol.atoms[atom].id}={'TRUE' if value else 'FALSE'}"
                for _, atom, value in literals
            ),
            smallest=True if smallest else None,
        )
