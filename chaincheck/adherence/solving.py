"""One audit's questions put to the engines, table first where allowed, and remembered.

Three ways of solving: ``auto`` (truth tables, and Z3 for each check whose table would be too
large), ``z3`` (Z3 for everything) and ``bitset`` (tables only; a check that they cannot hold is
undecided). Where two of them decide, they decide alike, witnesses included.

What is kept from one audit for the next is what tables found, since that depends on nothing but
the question. What Z3 found stays within the audit, whose questions come in a fixed order; so no
report depends on what was audited before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from chaincheck.adherence.bitset import TABLE_ATOMS, TooLarge, members, smallest
from chaincheck.adherence.findings import BaseStatus, Classification, Finding, Witness
from chaincheck.adherence.formulas import Compiled, Facts, Formula, Query
from chaincheck.adherence.solver import RLIMIT, TOTAL, Session, Undecided
from chaincheck.errors import UsageError, quote

__all__ = ["ENGINES", "Engine", "Limits", "Solving"]

Engine: TypeAlias = Literal["auto", "z3", "bitset"]
ENGINES: tuple[Engine, ...] = get_args(Engine)

_MOST_REMEMBERED = 1 << 15
"""How many answers are kept for one protocol before they are dropped and worked out anew."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the work of an audit; all are repeatable, none is a time.

    Attributes:
        rlimit: Z3's units of work for each check; at it the check is SOLVER_UNKNOWN.
        total: Z3's units of work for all checks of an audit together; after that all are.
        table_atoms: most open atoms of a truth table, 0 to 16.
        checks: most checks for each explanation (a smallest conflict, a smallest settling set).
        settle_atoms: most atoms of a settling set beside those that every such set needs.
        flips: most annotations that are flipped at once.
        trials: most sets of flips that are tried.
    """

    rlimit: int = RLIMIT
    total: int = TOTAL
    table_atoms: int = TABLE_ATOMS
    checks: int = 5_000
    settle_atoms: int = 6
    flips: int = 3
    trials: int = 5_000

    def __post_init__(self) -> None:
        if not 0 <= self.table_atoms <= TABLE_ATOMS:
            raise UsageError(f"a truth table has 0 to {TABLE_ATOMS} atoms, not {self.table_atoms}")
        # Zero would mean no limit to Z3.
        if self.rlimit < 1:
            raise UsageError(f"the limit 'rlimit' is 1 or more, not {self.rlimit}")
        for name in ("total", "checks", "settle_atoms", "flips", "trials"):
            if getattr(self, name) < 0:
                raise UsageError(f"the limit '{name}' is 0 or more, not {getattr(self, name)}")


class Solving:
    """The engines, for one audit.

    Args:
        compiled: the protocol.
        engine: which way to solve.
        limits: bounds.
    """

    def __init__(self, compiled: Compiled, engine: Engine, limits: Limits) -> None:
        if engine not in ENGINES:
            raise UsageError(f"unknown engine {quote(engine)}; one of {', '.join(ENGINES)}")
        self.compiled = compiled
        self.engine = engine
        self.limits = limits
        self._session: Session | None = None
        self._own: dict[Any, Any] = {}
        self._shared: dict[Any, Any] = compiled.cache.setdefault(("tables", limits.table_atoms), {})

    # ----- single checks

    def smallest(self, formulas: Sequence[Formula], facts: Facts) -> int | None:
        """Return the smallest model of a conjunction, or None where there is none.

        Raises:
            Undecided: no engine that may be asked could tell within its limit.
        """
        if self.engine != "z3":
            try:
                return smallest(formulas, facts, self.limits.table_atoms)
            except TooLarge:
                if self.engine == "bitset":
                    raise Undecided from None
        return self.session.smallest(formulas, facts)

    def satisfiable(self, formulas: Sequence[Formula], facts: Facts) -> bool:
        """Return whether a conjunction has a model; as :meth:`smallest`, without naming one."""
        if self.engine == "z3":
            return self.session.satisfiable(formulas, facts)
        try:
            return smallest(formulas, facts, self.limits.table_atoms) is not None
        except TooLarge:
            if self.engine == "bitset":
                raise Undecided from None
        return self.session.satisfiable(formulas, facts)

    @property
    def session(self) -> Session:
        """Z3, started when it is first needed."""
        if self._session is None:
            self._session = Session(self.limits.rlimit, self.limits.total)
        return self._session

    # ----- questions, remembered

    def finding(self, query: Query, facts: Facts, *, witnesses: bool = True) -> Finding:
        """Put a question to the base ``evid``: the facts, which must not contradict themselves.

        Args:
            query: the question.
            facts: the base.
            witnesses: whether they are wanted. Without, Z3 has less to do, and what tables found
                may come with them all the same.
        """
        support = query.support
        key = (id(query), facts.known & support, facts.value & support)
        found: Finding | None = self._recall(key, witnesses)
        if found is None:
            found, by_tables = self._classified(query, (), facts, support, witnesses)
            self._remember(key, found, by_tables, witnesses)
        return found

    def verdict(
        self, facts: Facts, observed: str, *, witnesses: bool = True
    ) -> tuple[BaseStatus, Finding]:
        """Put the observed verdict to the base ``all``; return the base's status and the answer."""
        support = self.compiled.support
        key = (observed, facts.known & support, facts.value & support)
        found: tuple[BaseStatus, Finding] | None = self._recall(key, witnesses)
        if found is None:
            found, by_tables = self._verdict(facts, observed, witnesses)
            self._remember(key, found, by_tables, witnesses)
        return found

    def _verdict(
        self, facts: Facts, observed: str, witnesses: bool
    ) -> tuple[tuple[BaseStatus, Finding], bool]:
        compiled = self.compiled
        base, by_tables = self._base(facts)
        if base == "UNSAT":
            return (base, Finding("INCONSISTENT")), by_tables
        if base == "SOLVER_UNKNOWN":
            return (base, Finding("SOLVER_UNKNOWN")), False
        finding, also = self._classified(
            compiled.decision, compiled.background, facts, compiled.support, witnesses
        )
        if observed == "FAIL":
            opposite: dict[Classification, Classification] = {
                "ENTAILED": "REFUTED",
                "REFUTED": "ENTAILED",
            }
            finding = Finding(
                opposite.get(finding.classification, finding.classification),
                finding.when_false,
                finding.when_true,
            )
        return (base, finding), by_tables and also

    def _base(self, facts: Facts) -> tuple[BaseStatus, bool]:
        """Whether the constraints can hold under facts, and whether tables alone told."""
        background = self.compiled.background
        if self.engine != "z3":
            try:
                model = smallest(background, facts, self.limits.table_atoms)
                return ("UNSAT" if model is None else "SAT"), True
            except TooLarge:
                pass
        try:
            return ("SAT" if self.satisfiable(background, facts) else "UNSAT"), False
        except Undecided:
            return "SOLVER_UNKNOWN", False

    def proto(self, base_all: BaseStatus) -> BaseStatus:
        """Whether the protocol can be obeyed at all.

        What is consistent with the facts is consistent without them; only otherwise is it asked,
        in a session of its own, so that the answer belongs to the protocol and can be kept.
        """
        if base_all == "SAT":
            return "SAT"
        key = ("proto", self.engine, self.limits)
        found: BaseStatus | None = self.compiled.cache.get(key)
        if found is None:
            found, _ = Solving(self.compiled, self.engine, self.limits)._base(Facts(0, 0))
            self.compiled.cache[key] = found
        return found

    def _classified(
        self,
        query: Query,
        background: Sequence[Formula],
        facts: Facts,
        support: int,
        witnesses: bool,
    ) -> tuple[Finding, bool]:
        """Classify against a consistent base; also tell whether tables alone did it."""
        yes_side = (*background, *query.yes)
        no_side = (*background, *query.no)
        if self.engine != "z3":
            try:
                most = self.limits.table_atoms
                yes = smallest(yes_side, facts, most)
                no = smallest(no_side, facts, most)
                return self._finding(yes, no, facts, support), True
            except TooLarge:
                pass
        try:
            if witnesses:
                yes = self.smallest(yes_side, facts)
                no = self.smallest(no_side, facts)
                return self._finding(yes, no, facts, support), False
            if not self.satisfiable(no_side, facts):
                return Finding("ENTAILED"), False
            if not self.satisfiable(yes_side, facts):
                return Finding("REFUTED"), False
            return Finding("UNDERDETERMINED"), False
        except Undecided:
            return Finding("SOLVER_UNKNOWN"), False

    def _finding(self, yes: int | None, no: int | None, facts: Facts, support: int) -> Finding:
        """What the smallest models of both sides say; at least one side has a model."""
        if no is None:
            return Finding("ENTAILED")
        if yes is None:
            return Finding("REFUTED")
        return Finding(
            "UNDERDETERMINED",
            self._witness(yes, facts, support),
            self._witness(no, facts, support),
        )

    def _witness(self, model: int, facts: Facts, support: int) -> Witness:
        names = self.compiled.atoms
        true = (facts.value & facts.known) | model
        return Witness(
            {names[atom]: bool(true >> atom & 1) for atom in members(support)},
            tuple(names[atom] for atom in members(support & ~facts.known)),
        )

    def _recall(self, key: Any, witnesses: bool) -> Any:
        found = self._shared.get(key) if self.engine != "z3" else None
        return self._own.get((key, witnesses)) if found is None else found

    def _remember(self, key: Any, found: Any, by_tables: bool, witnesses: bool) -> None:
        if not by_tables:
            self._own[key, witnesses] = found
            return
        if len(self._shared) >= _MOST_REMEMBERED:
            self._shared.clear()
        self._shared[key] = found
