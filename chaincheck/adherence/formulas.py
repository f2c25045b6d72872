"""A protocol made ready for solving: its formulas as short programs over numbered atoms.

An atom is known to the engines by its place in the protocol's declaration, never by its id, so
that no id can meet a name that a solver gives a meaning. A set of atoms is an integer whose bit
``i`` stands for atom ``i``; what is known of a replay is two of them (:class:`Facts`).

A protocol is compiled once and kept, found again by the identity of the object and, failing that,
by the digest of its content.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

import msgspec

from chaincheck.adherence.logic import Atom, Const, Expression, Op, atoms_of, node_count, to_json
from chaincheck.adherence.replay import Protocol

__all__ = [
    "Compiled",
    "Facts",
    "Formula",
    "Query",
    "compile_protocol",
    "conjuncts",
    "protocol_digest",
    "run",
]

# The instructions of a program; a number from 0 up is an atom to be pushed.
NOT, AND, OR, IMPLIES, IFF, XOR, TRUE, FALSE = range(-1, -9, -1)
_CODES = {"not": NOT, "and": AND, "or": OR, "implies": IMPLIES, "iff": IFF, "xor": XOR}

_KEPT = 64
"""How many protocols stay compiled."""


class Facts(NamedTuple):
    """What the annotations assert, as two sets of atoms.

    Attributes:
        known: the atoms that are TRUE or FALSE.
        value: those of them that are TRUE.
    """

    known: int
    value: int


def run(program: Sequence[int], columns: Mapping[int, int], full: int) -> int:
    """Run a program on columns of a truth table.

    Args:
        program: of a :class:`Formula`.
        columns: the table of each atom, one bit a row.
        full: the column that is true in every row.
    """
    stack: list[int] = []
    push, pop = stack.append, stack.pop
    for code in program:
        if code >= 0:
            push(columns[code])
        elif code == AND:
            right = pop()
            stack[-1] &= right
        elif code == OR:
            right = pop()
            stack[-1] |= right
        elif code == NOT:
            stack[-1] ^= full
        elif code == IMPLIES:
            right = pop()
            stack[-1] = (stack[-1] ^ full) | right
        elif code == TRUE:
            push(full)
        elif code == FALSE:
            push(0)
        else:
            right = pop()
            stack[-1] ^= right
            if code == IFF:
                stack[-1] ^= full
    return stack[0]


class Formula:
    """One conjunct, compiled.

    Attributes:
        expr: what it says, as an expression; negated where ``positive`` is False.
        positive: whether the formula is ``expr`` itself or its negation.
        program: instructions in reverse Polish order; ``and`` and ``or`` take two operands each,
            so that no long list of arguments piles up on the stack.
        atoms: the atoms that occur, ascending.
        support: the same as a set.
    """

    __slots__ = ("atoms", "expr", "index", "positive", "program", "support")

    def __init__(self, expr: Expression, positive: bool, index: dict[str, int]) -> None:
        self.expr = expr
        self.positive = positive
        self.index = index
        self.program = _program(expr, index) if positive else (*_program(expr, index), NOT)
        self.atoms = tuple(sorted(index[atom] for atom in atoms_of(expr)))
        self.support = sum(1 << atom for atom in self.atoms)

    def holds(self, true: int) -> bool:
        """Whether the formula is true where exactly the atoms in ``true`` are."""
        if len(self.program) == 1 and self.support:
            return bool(true & self.support)
        return bool(run(self.program, {atom: true >> atom & 1 for atom in self.atoms}, 1))


def _program(expr: Expression, index: dict[str, int]) -> tuple[int, ...]:
    """Compile an expression to instructions, folding long operators as they are read."""
    program: list[int] = []
    # Beside each open operator stands how many of its arguments are still to come.
    stack: list[tuple[Op, Iterator[Expression], int]] = []
    node: Expression | None = expr
    while True:
        if isinstance(node, Op):
            rest = iter(node.args)
            stack.append((node, rest, 1))
            node = next(rest)
            continue
        if isinstance(node, Atom):
            program.append(index[node.id])
        elif isinstance(node, Const):
            program.append(TRUE if node.value else FALSE)
        while stack:
            op, rest, seen = stack.pop()
            if op.op == "not" or seen > 1:
                program.append(_CODES[op.op])
            node = next(rest, None)
            if node is not None:
                stack.append((op, rest, seen + 1))
                break
        else:
            return tuple(program)


def conjuncts(expr: Expression, positive: bool = True) -> Iterator[tuple[Expression, bool]]:
    """Split an expression, or its negation, into conjuncts, as far as its topmost operators go.

    Yields:
        Expressions, each with whether it is meant as it stands (True) or negated (False).
    """
    stack = [(expr, positive)]
    while stack:
        node, sign = stack.pop()
        if isinstance(node, Op):
            if node.op == "not":
                stack.append((node.args[0], not sign))
                continue
            if node.op == ("and" if sign else "or"):
                stack.extend((arg, sign) for arg in reversed(node.args))
                continue
            if node.op == "implies" and not sign:
                stack.extend([(node.args[1], False), (node.args[0], True)])
                continue
        yield node, sign


def _formulas(expr: Expression, positive: bool, index: dict[str, int]) -> tuple[Formula, ...]:
    return tuple(Formula(part, sign, index) for part, sign in conjuncts(expr, positive))


class Query:
    """A question put to a base: does it follow, does its negation follow?

    Attributes:
        name: what it is called in a report.
        yes: the conjuncts of the question.
        no: the conjuncts of its negation.
        support: the atoms that occur.
    """

    __slots__ = ("name", "no", "support", "yes")

    def __init__(self, name: str, expr: Expression, index: dict[str, int]) -> None:
        self.name = name
        self.yes = _formulas(expr, True, index)
        self.no = _formulas(expr, False, index)
        self.support = 0
        for formula in self.yes:
            self.support |= formula.support


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """A protocol, compiled.

    Attributes:
        protocol: the protocol.
        digest: SHA-256 of its content, in hexadecimal.
        atoms: ids of the atoms, in the order of declaration.
        index: the number of each atom.
        constraints: the conjuncts of each constraint, in order.
        constraint_support: the atoms that occur in each constraint.
        background: the conjuncts of all constraints together.
        decision: whether the verdict has to be PASS.
        requirements: whether each requirement is met.
        coverage: whether it can be seen that each requirement is met; None where the protocol
            does not say.
        grounding: whether judge and context agree, pair by pair.
        reach: the atoms that occur in each requirement or its coverage.
        support: the atoms that occur in the constraints or in the decision.
        weight: how many ordinary protocols, of at most 500 nodes, this one is as large as.
        cache: what was worked out from the protocol alone.
    """

    protocol: Protocol
    digest: str
    atoms: tuple[str, ...]
    index: dict[str, int]
    constraints: tuple[tuple[Formula, ...], ...]
    constraint_support: tuple[int, ...]
    background: tuple[Formula, ...]
    decision: Query
    requirements: tuple[Query, ...]
    coverage: tuple[Query | None, ...]
    grounding: tuple[Query, ...]
    reach: tuple[int, ...]
    support: int
    weight: int
    cache: dict[Any, Any] = field(default_factory=dict)


def _expression_text(value: object) -> Any:
    if isinstance(value, Atom | Const | Op):
        return to_json(value)
    raise TypeError(f"no part of a protocol: {type(value).__name__}")


def protocol_digest(protocol: Protocol) -> str:
    """Return the SHA-256 of a protocol's content, in hexadecimal."""
    parts: list[Any] = [protocol.id, protocol.description, protocol.atoms, protocol.grounding]
    parts.append([[c.id, c.description, to_json(c.expr)] for c in protocol.constraints])
    parts.append(to_json(protocol.decision))
    for requirement in protocol.requirements:
        addressed = requirement.addressed
        parts.append(
            [
                requirement.id,
                requirement.description,
                to_json(requirement.expr),
                None if addressed is None else to_json(addressed),
            ]
        )
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _expressions(protocol: Protocol) -> Iterator[Expression]:
    yield from (constraint.expr for constraint in protocol.constraints)
    yield protocol.decision
    for requirement in protocol.requirements:
        yield requirement.expr
        if requirement.addressed is not None:
            yield requirement.addressed


def _compile(protocol: Protocol, digest: str) -> Compiled:
    atoms = tuple(atom.id for atom in protocol.atoms)
    index = {atom: place for place, atom in enumerate(atoms)}
    constraints = tuple(_formulas(c.expr, True, index) for c in protocol.constraints)
    decision = Query("verdict", protocol.decision, index)
    supports = []
    for formulas in constraints:
        support = 0
        for formula in formulas:
            support |= formula.support
        supports.append(support)
    everything = decision.support
    for support in supports:
        everything |= support
    requirements = tuple(Query(r.id, r.expr, index) for r in protocol.requirements)
    coverage = tuple(
        None if r.addressed is None else Query(r.id, r.addressed, index)
        for r in protocol.requirements
    )
    return Compiled(
        protocol=protocol,
        digest=digest,
        atoms=atoms,
        index=index,
        constraints=constraints,
        constraint_support=tuple(supports),
        background=tuple(formula for formulas in constraints for formula in formulas),
        decision=decision,
        requirements=requirements,
        coverage=coverage,
        grounding=tuple(
            Query(
                f"{pair.judge}={pair.context}",
                Op("iff", (Atom(pair.judge), Atom(pair.context))),
                index,
            )
            for pair in protocol.grounding
        ),
        reach=tuple(
            met.support | (0 if asked is None else asked.support)
            for met, asked in zip(requirements, coverage, strict=True)
        ),
        support=everything,
        weight=1 + sum(node_count(expr) for expr in _expressions(protocol)) // 500,
    )


_by_digest: OrderedDict[str, Compiled] = OrderedDict()
_by_identity: OrderedDict[int, tuple[Protocol, Compiled]] = OrderedDict()
_lock = Lock()


def compile_protocol(protocol: Protocol) -> Compiled:
    """Compile a protocol, or return what was compiled of an equal one before.

    Args:
        protocol: a protocol whose expressions mention declared atoms only.
    """
    # The protocol is kept beside its identity, so that the identity cannot pass to another one.
    known = _by_identity.get(id(protocol))
    if known is not None and known[0] is protocol:
        return known[1]
    digest = protocol_digest(protocol)
    with _lock:
        found = _by_digest.get(digest)
        if found is None:
            found = _by_digest[digest] = _compile(protocol, digest)
            if len(_by_digest) > _KEPT:
                _by_digest.popitem(last=False)
        _by_identity[id(protocol)] = (protocol, found)
        if len(_by_identity) > _KEPT:
            _by_identity.popitem(last=False)
    return found
