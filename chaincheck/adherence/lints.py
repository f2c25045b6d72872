"""Weaknesses of a protocol: ways in which an audit by it would say less than it seems to.

All are found from the protocol alone, before any replay is read.
"""

from __future__ import annotations

from collections.abc import Iterator

from chaincheck.adherence.bitset import members
from chaincheck.adherence.findings import Lint
from chaincheck.adherence.formulas import Compiled, Facts, Query, compile_protocol
from chaincheck.adherence.logic import atoms_of
from chaincheck.adherence.replay import Protocol
from chaincheck.adherence.solver import Undecided
from chaincheck.adherence.solving import Engine, Limits, Solving

__all__ = ["lint"]

_NOTHING = Facts(0, 0)


def lint(
    protocol: Protocol, *, engine: Engine = "auto", limits: Limits | None = None
) -> tuple[Lint, ...]:
    """Look for weaknesses of a protocol.

    Codes: ``constraint_mixes_judge_and_context``, ``constraint_entails_requirement``,
    ``constraints_entail_requirement`` (together, not one alone), ``constraints_contradictory``,
    ``decision_without_judge_atom``, ``decision_depends_on_context``,
    ``requirement_always_true``, ``requirement_never_true``, ``judge_atom_not_grounded``,
    ``undecided`` (a check reached its limit, so nothing is said of its subject).

    Args:
        protocol: a checked protocol.
        engine: as in :func:`chaincheck.adherence.audit.audit`.
        limits: as there.
    """
    limits = limits or Limits()
    compiled = compile_protocol(protocol)
    key = ("lints", engine, limits)
    found: tuple[Lint, ...] | None = compiled.cache.get(key)
    if found is None:
        found = tuple(_lints(compiled, Solving(compiled, engine, limits)))
        compiled.cache[key] = found
    return found


def _lints(compiled: Compiled, solving: Solving) -> Iterator[Lint]:
    consistent = True
    try:
        consistent = solving.satisfiable(compiled.background, _NOTHING)
    except Undecided:
        yield _undecided("constraints")
    if not consistent:
        yield Lint(
            "constraints_contradictory",
            "constraints",
            "The constraints contradict one another, so the verdict of no replay can be judged; "
            "see the conflict that an audit reports",
        )
    yield from _mixed(compiled)
    for query in compiled.requirements:
        try:
            yield from _requirement(compiled, solving, query, consistent)
        except Undecided:
            yield _undecided(query.name)
    try:
        yield from _decision(compiled, solving)
    except Undecided:
        yield _undecided("decision")
    yield from _ungrounded(compiled)


def _undecided(subject: str) -> Lint:
    return Lint(
        "undecided", subject, "A check reached its limit; whether this is a weakness is not known"
    )


def _mixed(compiled: Compiled) -> Iterator[Lint]:
    """Constraints that tie what a judge says to what is so."""
    roles = compiled.protocol.roles()
    for constraint in compiled.protocol.constraints:
        if {"judge", "context"} <= {roles[atom] for atom in atoms_of(constraint.expr)}:
            yield Lint(
                "constraint_mixes_judge_and_context",
                constraint.id,
                "It ties the judge's claims to the context, so that what the judge got wrong "
                "would look impossible instead; state it as a grounding pair",
            )


def _requirement(
    compiled: Compiled, solving: Solving, query: Query, consistent: bool
) -> Iterator[Lint]:
    """Requirements that no evidence can break, or none can meet."""
    if not solving.satisfiable(query.no, _NOTHING):
        yield Lint(
            "requirement_always_true",
            query.name,
            "It holds without any evidence, so it asks nothing; drop it or say what it means",
        )
        return
    if not solving.satisfiable(query.yes, _NOTHING):
        yield Lint(
            "requirement_never_true",
            query.name,
            "No evidence can meet it, so every replay that settles its atoms breaks it",
        )
    if not consistent or solving.satisfiable((*compiled.background, *query.no), _NOTHING):
        return
    masking = [
        constraint.id
        for constraint, formulas in zip(
            compiled.protocol.constraints, compiled.constraints, strict=True
        )
        if not solving.satisfiable((*formulas, *query.no), _NOTHING)
    ]
    for name in masking:
        yield Lint(
            "constraint_entails_requirement",
            name,
            f"It says that requirement {query.name} holds in any case, which would mask a "
            "violation; a constraint states what cannot be otherwise, not what ought to be",
        )
    if not masking:
        yield Lint(
            "constraints_entail_requirement",
            query.name,
            "The constraints together say that this requirement holds in any case, which would "
            "mask a violation",
        )


def _decision(compiled: Compiled, solving: Solving) -> Iterator[Lint]:
    """Decisions that are not made of what the judge asserts."""
    roles = compiled.protocol.roles()
    atoms = [compiled.atoms[atom] for atom in members(compiled.decision.support)]
    if not any(_matters(compiled, solving, atom) for atom in atoms if roles[atom] == "judge"):
        yield Lint(
            "decision_without_judge_atom",
            "decision",
            "It depends on nothing that the judge asserts, so the verdict is never compared with "
            "the judge's own findings",
        )
    for atom in atoms:
        if roles[atom] == "context" and _matters(compiled, solving, atom):
            yield Lint(
                "decision_depends_on_context",
                atom,
                "The decision depends on this context atom; a verdict has to follow from what the "
                "judge asserts, and a grounding pair compares that with the context",
            )


def _matters(compiled: Compiled, solving: Solving, atom: str) -> bool:
    """Whether the decision can change with one atom alone: a twin of it has the other value."""
    place, twin = compiled.index[atom], len(compiled.atoms)
    facts = Facts(1 << place | 1 << twin, 1 << place)
    other = Query("twin", compiled.protocol.decision, {**compiled.index, atom: twin})
    decision = compiled.decision
    return solving.satisfiable((*decision.yes, *other.no), facts) or solving.satisfiable(
        (*decision.no, *other.yes), facts
    )


def _ungrounded(compiled: Compiled) -> Iterator[Lint]:
    """Judge atoms of the decision that nothing is compared with."""
    roles = compiled.protocol.roles()
    paired = {pair.judge for pair in compiled.protocol.grounding}
    for number in members(compiled.decision.support):
        atom = compiled.atoms[number]
        if roles[atom] == "judge" and atom not in paired:
            yield Lint(
                "judge_atom_not_grounded",
                atom,
                "The decision rests on this claim and no grounding pair compares it with the "
                "context, so a false claim goes unseen",
            )
