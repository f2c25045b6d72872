"""One audit's questions put to the engines, table first where allowed, and remembered.

Three ways of solving: ``auto`` (truth tables, and Z3 for each check whose table would be too
large), ``z3`` (Z3 for everything) and ``bitset`` (tables only; a check that they cannot hold is
undecided). Where two of them decide, they decide alike, witnesses included.

What is kept from one audit for the next is what tables found, since that depends on nothing but
the question. What Z3 found stays within the audit, whose questions come in a fixed order; so no
report depends on what was audited before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from chaincheck.adherence.bitset import TABLE_ATOMS, TooLarge, WholeTable, members, smallest
from chaincheck.adherence.findings import BaseStatus, Classification, Finding, Witness
from chaincheck.adherence.formulas import Compiled, Facts, Formula, Query
from chaincheck.adherence.solver import RLIMIT, TOTAL, Session, Undecided
from chaincheck.errors import UsageError, quote

__all__ = ["ENGINES", "Engine", "Limits", "Solving"]

Engine: TypeAlias = Literal["auto", "z3", "bitset"]
ENGINES: tuple[Engine, ...] = get_args(Engine)
T = TypeVar("T")

_WHOLE = 12
"""Most atoms of a question whose table is kept with the protocol: 4,096 rows, 512 bytes."""
_MOST_REMEMBERED = 1 << 15
"""How many answers are kept for one protocol before they are dropped and worked out anew."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on the work of an audit; all are repeatable, none is a time.

    ``checks`` and ``trials`` are for protocols of up to 500 nodes; a larger one gets fewer, in
    proportion.

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
        self.beyond_tables = 0
        """How many answers so far did not come from tables alone."""
        self.tables: dict[Any, Any] = {}
        """What tables found for this protocol so far; empty for ``z3``."""
        if engine != "z3":
            self.tables = compiled.cache.setdefault(("tables", limits.table_atoms), self.tables)

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
                pass
        return self._asked_of_z3().smallest(formulas, facts)

    def satisfiable(self, formulas: Sequence[Formula], facts: Facts) -> bool:
        """Return whether a conjunction has a model; as :meth:`smallest`, without naming one."""
        if self.engine != "z3":
            try:
                return smallest(formulas, facts, self.limits.table_atoms) is not None
            except TooLarge:
                pass
        return self._asked_of_z3().satisfiable(formulas, facts)

    def _asked_of_z3(self) -> Session:
        """Start Z3 when it is first needed, unless it must not be asked."""
        self.beyond_tables += 1
        if self.engine == "bitset":
            raise Undecided
        if self._session is None:
            self._session = Session(self.limits.rlimit, self.limits.total)
        return self._session

    # ----- questions, remembered

    def remembered(self, key: Any, find: Callable[[], T], *, witnesses: bool = True) -> T:
        """Return what ``find`` returns, or what it returned for the same key.

        What tables found is kept with the protocol, anything else with the audit.

        Args:
            key: names the question and the state of all the atoms that bear on it.
            find: finds the answer, through the methods of this object.
            witnesses: part of the key for answers that are kept with the audit.
        """
        kept: T | None = self.tables.get(key)
        if kept is not None:
            return kept
        own: T | None = self._own.get((key, witnesses))
        if own is not None:
            self.beyond_tables += 1
            return own
        before = self.beyond_tables
        found = find()
        if self.beyond_tables != before:
            self._own[key, witnesses] = found
        else:
            if len(self.tables) >= _MOST_REMEMBERED:
                self.tables.clear()
            self.tables[key] = found
        return found

    def finding(self, query: Query, facts: Facts, *, witnesses: bool = True) -> Finding:
        """Put a question to the base ``evid``: the facts, which must not contradict themselves.

        Args:
            query: the question.
            facts: the base.
            witnesses: whether they are wanted. Without, Z3 has less to do, and what tables found
                may come with them all the same.
        """
        support = query.support
        return self.remembered(
            (id(query), facts.known & support, facts.value & support),
            lambda: self._classified(query, (), facts, support, witnesses)[1],
            witnesses=witnesses,
        )

    def verdict(
        self, facts: Facts, observed: str, *, witnesses: bool = True
    ) -> tuple[BaseStatus, Finding]:
        """Put the observed verdict to the base ``all``; return the base's status and the answer."""
        support = self.compiled.support
        return self.remembered(
            (observed, facts.known & support, facts.value & support),
            lambda: self._verdict(facts, observed, witnesses),
            witnesses=witnesses,
        )

    def _verdict(self, facts: Facts, observed: str, witnesses: bool) -> tuple[BaseStatus, Finding]:
        compiled = self.compiled
        base, finding = self._classified(
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
        return base, finding

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
            apart = Solving(self.compiled, self.engine, self.limits)
            found = apart._base(self.compiled.background, Facts(0, 0))
            self.compiled.cache[key] = found
        return found

    def _base(self, formulas: Sequence[Formula], facts: Facts) -> BaseStatus:
        try:
            return "SAT" if self.satisfiable(formulas, facts) else "UNSAT"
        except Undecided:
            return "SOLVER_UNKNOWN"

    def _classified(
        self,
        query: Query,
        background: Sequence[Formula],
        facts: Facts,
        support: int,
        witnesses: bool,
    ) -> tuple[BaseStatus, Finding]:
        """Classify a question to the base of ``background`` and facts; also tell the base's."""
        if self.engine != "z3":
            most = self.limits.table_atoms
            try:
                if support.bit_count() <= min(_WHOLE, most):
                    yes, no = (
                        table.smallest(facts) for table in self._whole(query, background, support)
                    )
                else:
                    yes = smallest((*background, *query.yes), facts, most)
                    no = smallest((*background, *query.no), facts, most)
            except TooLarge:
                pass
            else:
                # A base has a model exactly if one of the two sides has.
                base: BaseStatus = "UNSAT" if yes is None and no is None else "SAT"
                return base, self._finding(yes, no, facts, support)
        base = self._base(background, facts)
        if base == "UNSAT":
            return base, Finding("INCONSISTENT")
        if base == "SOLVER_UNKNOWN":
            return base, Finding("SOLVER_UNKNOWN")
        try:
            yes = self._side((*background, *query.yes), facts, witnesses)
            no = self._side((*background, *query.no), facts, witnesses)
        except Undecided:
            return base, Finding("SOLVER_UNKNOWN")
        finding = self._finding(yes, no, facts, support)
        return base, finding if witnesses else Finding(finding.classification)

    def _whole(
        self, query: Query, background: Sequence[Formula], support: int
    ) -> tuple[WholeTable, WholeTable]:
        """The tables of both sides over all their atoms, made when first asked for."""
        cache = self.compiled.cache
        tables: tuple[WholeTable, WholeTable] | None = cache.get(("whole", id(query)))
        if tables is None:
            yes = WholeTable((*background, *query.yes), support)
            tables = (yes, WholeTable((*background, *query.no), support))
            cache["whole", id(query)] = tables
        return tables

    def _side(self, formulas: Sequence[Formula], facts: Facts, witnesses: bool) -> int | None:
        """A model of one side; any number stands for it where no witness is wanted."""
        if witnesses:
            return self.smallest(formulas, facts)
        return 0 if self.satisfiable(formulas, facts) else None

    def _finding(self, yes: int | None, no: int | None, facts: Facts, support: int) -> Finding:
        """What the smallest models of both sides say."""
        if yes is None and no is None:
            return Finding("INCONSISTENT")
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
