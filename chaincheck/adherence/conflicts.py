"""Why a base is inconsistent: annotations and constraints that cannot all hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from chaincheck.adherence.bitset import members
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


class _Core(NamedTuple):
    """A minimal conflict in the protocol's own numbers; ``found`` is False if undecided."""

    found: bool
    constraints: tuple[int, ...]
    literals: tuple[tuple[int, bool], ...]
    smallest: Literal[True] | None


def conflicts(
    solving: Solving,
    bases: Mapping[str, BaseStatus],
    reading: Reading,
    annotations: Sequence[Annotation],
) -> dict[str, Conflict | None]:
    """Find a minimal conflict for every base that is UNSAT.

    Where it can be shown within the limits, the conflict is the smallest, and of those the first:
    constraints before annotations, each in the order in which the protocol declares them.

    Args:
        solving: the engines.
        bases: their statuses.
        reading: what the annotations assert.
        annotations: of the replay.

    Returns:
        Base to conflict; None in place of one if a check reached its own limit.
    """
    found: dict[str, Conflict | None] = {}
    for base in ("proto", "evid", "all"):
        if bases[base] == "UNSAT":
            asserted = Reading(0, 0) if base == "proto" else reading
            constrained = base != "evid"
            reach = _reach(solving, constrained) | asserted.true & asserted.false
            bearing = Reading(asserted.true & reach, asserted.false & reach)
            search = _Search(solving, bearing, constrained)
            key = ("conflict", constrained, *bearing, solving.limits.checks)
            found[base] = _named(solving, solving.remembered(key, search.core), annotations)
    return found


def _reach(solving: Solving, constrained: bool) -> int:
    """The atoms that occur in constraints; an annotation of another bears on nothing."""
    reach = 0
    for support in solving.compiled.constraint_support if constrained else ():
        reach |= support
    return reach


class _Search:
    """The search in one base; its members are constraints first, then literals."""

    def __init__(self, solving: Solving, reading: Reading, constrained: bool) -> None:
        self.solving = solving
        self.constraints = range(len(solving.compiled.constraints) if constrained else 0)
        self.literals = [
            (atom, value)
            for atom in members(reading.true | reading.false)
            for value in (False, True)
            if (reading.true if value else reading.false) >> atom & 1
        ]

    def contradictory(self, chosen: Sequence[int]) -> bool:
        """Whether the chosen members have no model."""
        true = false = 0
        formulas: list[Formula] = []
        first = len(self.constraints)
        for member in chosen:
            if member < first:
                formulas.extend(self.solving.compiled.constraints[member])
            else:
                atom, value = self.literals[member - first]
                if value:
                    true |= 1 << atom
                else:
                    false |= 1 << atom
        if true & false:
            return True
        return not self.solving.satisfiable(formulas, Reading(true, false).facts)

    def _start(self) -> list[int]:
        """Members that contradict one another: one constraint's, if its facts alone break it."""
        supports = self.solving.compiled.constraint_support
        first = len(self.constraints)
        for number in self.constraints:
            about = [
                first + place
                for place, (atom, _) in enumerate(self.literals)
                if supports[number] >> atom & 1
            ]
            if self.contradictory([number, *about]):
                return [number, *about]
        return list(range(first + len(self.literals)))

    def core(self) -> _Core:
        """Find a minimal conflict and, within the limits, the smallest."""
        size = len(self.constraints) + len(self.literals)
        try:
            start = self._start()
            places = minimal_subset(
                len(start), lambda some: self.contradictory([start[place] for place in some])
            )
            chosen = tuple(start[place] for place in places)
        except Undecided:
            return _Core(False, (), (), None)
        smallest = len(chosen) == 1 or not self.constraints
        try:
            if not smallest:
                budget = Budget(self.solving.limits.checks // self.solving.compiled.weight)
                needed = necessary_members(size, self.contradictory, budget)
                most = len(chosen) - len(needed)
                better = smallest_subset(size, self.contradictory, needed, most, budget)
                chosen = chosen if better is None else better
                smallest = True
        except (BudgetSpent, Undecided):
            pass
        first = len(self.constraints)
        return _Core(
            True,
            tuple(member for member in chosen if member < first),
            tuple(self.literals[member - first] for member in chosen if member >= first),
            True if smallest else None,
        )


def _named(solving: Solving, core: _Core, annotations: Sequence[Annotation]) -> Conflict | None:
    """Put a conflict in a replay's terms: of annotations that say the same, the first."""
    if not core.found:
        return None
    protocol = solving.compiled.protocol
    places: dict[tuple[str, str], int] = {}
    for place, annotation in enumerate(annotations):
        places.setdefault((annotation.atom, annotation.value), place)
    said = [
        (protocol.atoms[atom].id, "TRUE" if value else "FALSE") for atom, value in core.literals
    ]
    return Conflict(
        constraints=tuple(protocol.constraints[number].id for number in core.constraints),
        annotations=tuple(places[literal] for literal in said),
        literals=tuple(f"{atom}={value}" for atom, value in said),
        smallest=core.smallest,
    )
