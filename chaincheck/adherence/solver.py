"""Z3 as the reference engine, and as the fallback where a truth table would be too large.

Three facts about Z3 shape this module. ``bool(z3.unknown)`` and ``bool(z3.unsat)`` are both True,
so a result is compared, never tested. A limit on time is not repeatable, a limit on resources
(``rlimit``) is; but what a search costs depends on what its context has seen before. So every
:class:`Session` has a context of its own, is used by one thread and answers the questions of one
audit: whether a question ends in :class:`Undecided` depends on the replay and the limit alone. And
a model is one of many, so the smallest one is searched for, atom by atom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chaincheck.adherence.bitset import members
from chaincheck.adherence.formulas import Facts, Formula
from chaincheck.adherence.logic import Atom, Const, Expression, postorder
from chaincheck.errors import MissingExtra

__all__ = ["RLIMIT", "TOTAL", "Session", "Undecided"]

RLIMIT = 200_000
"""Z3's own units of work that one check may take; about a second's worth where it is hard."""
TOTAL = 4_000_000
"""Units of work that all checks of one audit may take together."""


class Undecided(Exception):
    """A check ended without an answer, at its limit. It is never taken for either answer."""


class Session:
    """A Z3 context for the checks of one audit; every question has a solver of its own in it.

    Args:
        rlimit: most units of work for each check.
        total: most units of work for all checks; after that, every check is undecided.

    Raises:
        MissingExtra: Z3 is not installed.
    """

    def __init__(self, rlimit: int = RLIMIT, total: int = TOTAL) -> None:
        try:
            import z3
        except ImportError as error:
            raise MissingExtra("Solving a replay with Z3", "audit") from error
        self._z3: Any = z3
        self._context = z3.Context()
        self._rlimit = rlimit
        self._total = total
        self.used = 0
        self._atoms: dict[int, Any] = {}
        self._terms: dict[int, tuple[Formula, Any]] = {}

    def _atom(self, atom: int) -> Any:
        found = self._atoms.get(atom)
        if found is None:
            found = self._atoms[atom] = self._z3.Bool(f"x{atom}", self._context)
        return found

    def _term(self, formula: Formula) -> Any:
        # The formula is kept beside its identity, so that the identity cannot pass to another.
        found = self._terms.get(id(formula))
        if found is not None:
            return found[1]
        body = self.translate(formula.expr, formula.index)
        term = body if formula.positive else self._z3.Not(body)
        self._terms[id(formula)] = (formula, term)
        return term

    def translate(self, expr: Expression, index: dict[str, int]) -> Any:
        """Translate an expression into a Z3 term of this session's context."""
        z3 = self._z3
        build = {
            "not": z3.Not,
            "and": z3.And,
            "or": z3.Or,
            "implies": z3.Implies,
            "iff": lambda left, right: left == right,
            "xor": z3.Xor,
        }
        stack: list[Any] = []
        for node in postorder(expr):
            if isinstance(node, Atom):
                stack.append(self._atom(index[node.id]))
            elif isinstance(node, Const):
                stack.append(z3.BoolVal(node.value, self._context))
            else:
                count = len(node.args)
                args = stack[-count:]
                del stack[-count:]
                stack.append(build[node.op](*args))
        return stack[0]

    def _literal(self, atom: int, value: bool) -> Any:
        return self._atom(atom) if value else self._z3.Not(self._atom(atom))

    def _solver(self, formulas: Sequence[Formula], facts: Facts) -> tuple[Any, int]:
        """A solver that holds a question, and the atoms that the question leaves open."""
        solver = self._z3.SimpleSolver(ctx=self._context)
        solver.set("rlimit", self._rlimit)
        support = 0
        for formula in formulas:
            support |= formula.support
            solver.add(self._term(formula))
        for atom in members(support & facts.known):
            solver.add(self._literal(atom, bool(facts.value >> atom & 1)))
        return solver, support & ~facts.known

    def _check(self, solver: Any, literals: Sequence[Any] = ()) -> bool:
        if self.used >= self._total:
            raise Undecided
        result = solver.check(*literals)
        # The count is the context's, from its beginning.
        self.used = solver.statistics().get_key_value("rlimit count")
        if result == self._z3.sat:
            return True
        if result == self._z3.unsat:
            return False
        raise Undecided

    def satisfiable(self, formulas: Sequence[Formula], facts: Facts) -> bool:
        """Return whether a conjunction has a model under facts.

        Raises:
            Undecided: the limit was reached.
        """
        return self._check(self._solver(formulas, facts)[0])

    def smallest(self, formulas: Sequence[Formula], facts: Facts) -> int | None:
        """Return the lexicographically smallest model, as :func:`bitset.smallest` does.

        Raises:
            Undecided: the limit was reached, by the first check or by one that narrows the model.
        """
        solver, open_atoms = self._solver(formulas, facts)
        if not self._check(solver):
            return None
        atoms = members(open_atoms)
        model = self._read(solver, atoms)
        literals = []
        for atom in atoms:
            literals.append(self._literal(atom, False))
            # Where the model at hand has it TRUE, whether it can be FALSE has to be asked.
            if model >> atom & 1:
                if self._check(solver, literals):
                    model = self._read(solver, atoms)
                else:
                    literals[-1] = self._literal(atom, True)
        return model

    def _read(self, solver: Any, atoms: Sequence[int]) -> int:
        """Read the open atoms that are TRUE in the solver's model, completed with FALSE."""
        model = solver.model()
        found = 0
        for atom in atoms:
            value = model.eval(self._atom(atom), model_completion=True)
            if self._z3.is_true(value):
                found |= 1 << atom
        return found
