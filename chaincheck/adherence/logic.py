"""Boolean expressions of a protocol: their type, their truth, their three-valued truth.

An expression is an :class:`Atom`, a :class:`Const` or an :class:`Op` over expressions. All are
immutable and compare by value. Everything here walks an expression with a stack of its own, so
that no depth of nesting ends in a ``RecursionError``.

The three-valued truth is Kleene's strong one: an atom without a value is undetermined (None), and
a compound is undetermined exactly when its parts do not settle it by the truth table of its own
operator. It is sound but not complete: ``or(a, not(a))`` is None where ``a`` is. What follows from
a set of facts is therefore asked of :mod:`chaincheck.adherence.bitset` or
:mod:`chaincheck.adherence.solver`, and only cheap certainties are taken from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from chaincheck.errors import UsageError, quote

__all__ = [
    "OPERATORS",
    "Atom",
    "Const",
    "Expression",
    "Op",
    "Operator",
    "arity_problem",
    "atoms_of",
    "evaluate",
    "kleene",
    "negate",
    "node_count",
    "postorder",
    "to_json",
]

Operator: TypeAlias = Literal["not", "and", "or", "implies", "iff", "xor"]
OPERATORS: tuple[Operator, ...] = get_args(Operator)


@dataclass(frozen=True, slots=True)
class Atom:
    """A statement that is true or false, named by the protocol that declares it.

    Attributes:
        id: the atom's id.
    """

    id: str


@dataclass(frozen=True, slots=True)
class Const:
    """The constant true or the constant false.

    Attributes:
        value: which of the two.
    """

    value: bool


@dataclass(frozen=True, slots=True)
class Op:
    """An operator applied to expressions.

    Attributes:
        op: ``not`` (one argument), ``and`` and ``or`` (one or more), ``implies``, ``iff`` and
            ``xor`` (two).
        args: the arguments, in order.

    Raises:
        UsageError: for an unknown operator or a number of arguments that it does not take.
    """

    op: Operator
    args: tuple[Expression, ...]

    def __post_init__(self) -> None:
        problem = arity_problem(self.op, len(self.args))
        if problem is not None:
            raise UsageError(problem)


Expression: TypeAlias = Atom | Const | Op


def arity_problem(op: str, count: int) -> str | None:
    """Say what is wrong with ``op`` over ``count`` arguments, or None where nothing is."""
    if op in {"and", "or"}:
        return None if count >= 1 else f"'{op}' takes one argument or more, not none"
    if op == "not":
        return None if count == 1 else f"'not' takes one argument, not {count}"
    if op in OPERATORS:
        return None if count == 2 else f"'{op}' takes two arguments, not {count}"
    return f"unknown operator {quote(op)}; an operator is one of {', '.join(OPERATORS)}"


def negate(expr: Expression) -> Expression:
    """Return the negation of ``expr``; a double negation and a constant are not piled up."""
    if isinstance(expr, Const):
        return Const(not expr.value)
    if isinstance(expr, Op) and expr.op == "not":
        return expr.args[0]
    return Op("not", (expr,))


def postorder(expr: Expression) -> Iterator[Expression]:
    """Yield every node of ``expr``, arguments before the operator that takes them, left to right.

    A reader that keeps a stack of results finds the arguments of an operator on top of it.
    """
    stack: list[tuple[Expression, bool]] = [(expr, False)]
    while stack:
        node, ready = stack.pop()
        if ready or not isinstance(node, Op):
            yield node
            continue
        stack.append((node, True))
        stack.extend((arg, False) for arg in reversed(node.args))


def atoms_of(expr: Expression) -> tuple[str, ...]:
    """Return the ids of the atoms in ``expr``, each once, in the order of first appearance."""
    seen: dict[str, None] = {}
    for node in postorder(expr):
        if isinstance(node, Atom):
            seen[node.id] = None
    return tuple(seen)


def node_count(expr: Expression) -> int:
    """Return how many nodes ``expr`` has, counting a repeated part each time that it stands."""
    return sum(1 for _ in postorder(expr))


def evaluate(expr: Expression, assignment: Mapping[str, bool]) -> bool:
    """Return the truth of ``expr`` under an assignment of all its atoms.

    Args:
        expr: the expression.
        assignment: a truth value for every atom of ``expr``; others are ignored.

    Raises:
        KeyError: for an atom without a value. Use :func:`kleene` where some have none.
    """
    stack: list[bool] = []
    for node in postorder(expr):
        if isinstance(node, Atom):
            stack.append(assignment[node.id])
        elif isinstance(node, Const):
            stack.append(node.value)
        else:
            count = len(node.args)
            values = stack[-count:]
            del stack[-count:]
            stack.append(_apply(node.op, values))
    return stack[0]


def _apply(op: Operator, values: Sequence[bool]) -> bool:
    """Apply a two-valued operator."""
    if op == "and":
        return all(values)
    if op == "or":
        return any(values)
    if op == "not":
        return not values[0]
    if op == "implies":
        return not values[0] or values[1]
    return (values[0] == values[1]) is (op == "iff")


def kleene(expr: Expression, assignment: Mapping[str, bool | None]) -> bool | None:
    """Return the truth of ``expr`` under a partial assignment, in Kleene's strong logic.

    Args:
        expr: the expression.
        assignment: True, False or None (undetermined) for atoms; an atom that is missing is
            undetermined as well.

    Returns:
        True or False where the values given settle ``expr`` operator by operator, else None. True
        and False hold under every completion of the assignment; None says nothing.
    """
    stack: list[bool | None] = []
    for node in postorder(expr):
        if isinstance(node, Atom):
            stack.append(assignment.get(node.id))
        elif isinstance(node, Const):
            stack.append(node.value)
        else:
            count = len(node.args)
            values = stack[-count:]
            del stack[-count:]
            stack.append(_apply_kleene(node.op, values))
    return stack[0]


def _apply_kleene(op: Operator, values: Sequence[bool | None]) -> bool | None:
    """Apply an operator in Kleene's strong logic."""
    if op in {"and", "or"}:
        decisive = op == "or"
        if decisive in values:
            return decisive
        return None if None in values else not decisive
    if op == "not":
        return None if values[0] is None else not values[0]
    if op == "implies":
        negated = None if values[0] is None else not values[0]
        return _apply_kleene("or", (negated, values[1]))
    if None in values:
        return None
    return (values[0] == values[1]) is (op == "iff")


def to_json(expr: Expression) -> dict[str, Any]:
    """Return the JSON object that stands for ``expr`` in a replay file."""
    stack: list[dict[str, Any]] = []
    for node in postorder(expr):
        if isinstance(node, Atom):
            stack.append({"atom": node.id})
        elif isinstance(node, Const):
            stack.append({"const": node.value})
        else:
            count = len(node.args)
            args = stack[-count:]
            del stack[-count:]
            stack.append({"op": node.op, "args": args})
    return stack[0]
