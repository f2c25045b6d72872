"""What would settle an open verdict: the fewest UNKNOWN atoms that somebody would have to read.

A set of atoms settles the verdict if, whatever values it turns out to have (as far as the
constraints allow), the verdict follows or is refuted. Put the other way round: no two models of
the base that agree on the set differ about the verdict. All open atoms together always do.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaincheck.adherence.bitset import components, members, projection, table_of
from chaincheck.adherence.findings import Settlement
from chaincheck.adherence.formulas import Facts, Formula
from chaincheck.adherence.minimal import Budget, BudgetSpent, necessary_members, smallest_subset
from chaincheck.adherence.solver import Undecided
from chaincheck.adherence.solving import Solving

__all__ = ["settlement"]


def settlement(solving: Solving, facts: Facts) -> Settlement:
    """Find the smallest set of UNKNOWN atoms that settles an UNDERDETERMINED verdict.

    Args:
        solving: the engines.
        facts: of a replay whose base ``all`` is consistent and whose verdict is open.
    """
    question = _Question(solving, facts)
    limits = solving.limits
    budget = Budget(limits.checks // solving.compiled.weight)
    size = len(question.atoms)
    needed: tuple[int, ...] = ()
    reason: str | None = None
    chosen: tuple[int, ...] | None = None
    try:
        needed = necessary_members(size, question.settles, budget)
        chosen = smallest_subset(size, question.settles, needed, limits.settle_atoms, budget)
        if chosen is None:
            reason = f"not found within limit {limits.settle_atoms}"
    except BudgetSpent:
        reason = "budget"
    except Undecided:
        reason = "undecided"
    names = solving.compiled.atoms
    return Settlement(
        atoms=None if chosen is None else tuple(names[question.atoms[m]] for m in chosen),
        necessary=tuple(names[question.atoms[m]] for m in needed),
        reason=reason,
    )


class _Question:
    """The verdict of one replay as a function of sets of atoms."""

    def __init__(self, solving: Solving, facts: Facts) -> None:
        self.solving = solving
        self.facts = facts
        compiled = solving.compiled
        open_support = compiled.decision.support & ~facts.known
        linked = [f for f in compiled.background if f.support & ~facts.known]
        # Constraints that no chain of open atoms links to the decision change nothing.
        self.background: list[Formula] = []
        reach = open_support
        for mask, content in components(linked, facts.known):
            if mask & open_support:
                reach |= mask
                self.background.extend(content)
        self.atoms = members(reach)
        self._tables: tuple[int, int] | None = None
        if solving.engine != "z3" and len(self.atoms) <= solving.limits.table_atoms:
            self._tables = (
                table_of((*self.background, *compiled.decision.yes), self.atoms, facts),
                table_of((*self.background, *compiled.decision.no), self.atoms, facts),
            )

    def settles(self, chosen: Sequence[int]) -> bool:
        """Whether the chosen of ``self.atoms`` settle the verdict."""
        if self._tables is not None:
            count = len(self.atoms)
            yes, no = self._tables
            return not projection(yes, chosen, count) & projection(no, chosen, count)
        return not self.solving.satisfiable(*self._twins(chosen))

    def _twins(self, chosen: Sequence[int]) -> tuple[list[Formula], Facts]:
        """Two models in one: the second has its own copy of every atom that is not chosen."""
        compiled = self.solving.compiled
        shared = {self.atoms[member] for member in chosen}
        offset = len(compiled.atoms)
        twin = {
            name: atom if atom in shared else atom + offset for name, atom in compiled.index.items()
        }
        formulas = [*self.background, *compiled.decision.yes]
        formulas.extend(Formula(f.expr, f.positive, twin) for f in self.background)
        formulas.extend(Formula(f.expr, f.positive, twin) for f in compiled.decision.no)
        known, value = self.facts
        return formulas, Facts(known | known << offset, value | value << offset)
