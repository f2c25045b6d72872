"""Audits that go wrong, to show what each choice of a right one is for.

Every function changes a replay, or the question that is put to it, in the one way that its name
says; what comes of it is then found by the same audit as always. None of this is used by an audit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from itertools import combinations
from time import perf_counter
from typing import Any, NamedTuple

from msgspec.structs import replace

from chaincheck.adherence.audit import audit
from chaincheck.adherence.formulas import compile_protocol
from chaincheck.adherence.logic import Atom, Const, Expression, Op, negate
from chaincheck.adherence.replay import (
    Annotation,
    AtomDeclaration,
    Constraint,
    Protocol,
    Recorded,
    Replay,
)
from chaincheck.adherence.solver import Session

__all__ = [
    "Timed",
    "both_sides",
    "closed_world",
    "crowded_replay",
    "partial_readings",
    "statuses",
    "time_a_check",
    "with_gold",
    "without",
]


def without(replay: Replay, atoms: Collection[str]) -> Replay:
    """Leave out what the annotations say of some atoms, which are UNKNOWN then.

    Raises:
        KeyError: the protocol has no such atom.
    """
    roles = replay.protocol.roles()
    for atom in atoms:
        roles[atom]
    kept = tuple(one for one in replay.annotations if one.atom not in atoms)
    return replace(replay, annotations=kept)


def partial_readings(replay: Replay) -> Iterator[Replay]:
    """Leave out every subset of the annotated atoms, from none to all: ``2**k`` replays."""
    atoms = list(dict.fromkeys(one.atom for one in replay.annotations))
    for size in range(len(atoms) + 1):
        for dropped in combinations(atoms, size):
            yield without(replay, dropped)


def closed_world(replay: Replay) -> Replay:
    """Take what nobody read for FALSE: the closed-world assumption of databases.

    The added readings have no evidence, so no file with them would be accepted.
    """
    known = {one.atom for one in replay.annotations if one.value != "UNKNOWN"}
    guessed = tuple(
        Annotation(atom.id, "FALSE", origin="closed world")
        for atom in replay.protocol.atoms
        if atom.id not in known
    )
    return replace(replay, annotations=(*replay.annotations, *guessed))


def with_gold(recorded: Recorded) -> Replay:
    """Let the gold label leak: add the constraint that the decision comes out as it says.

    Raises:
        ValueError: there is no gold label.
    """
    if recorded.gold is None:
        raise ValueError("a replay without a gold label has nothing to leak")
    protocol = recorded.replay.protocol
    leak = Constraint("gold", Op("iff", (protocol.decision, Const(recorded.gold == "PASS"))))
    leaky = replace(protocol, constraints=(*protocol.constraints, leak))
    return replace(recorded.replay, protocol=leaky)


def statuses(
    replay: Replay, change: Callable[[Replay], Replay] = lambda replay: replay
) -> Counter[str]:
    """Count the overall statuses over all partial readings of a replay.

    Args:
        replay: the replay, read in full.
        change: what is done to each partial reading before it is audited.
    """
    return Counter(
        audit(change(partial), explain=False).overall for partial in partial_readings(replay)
    )


def crowded_replay(claims: int, passages: int) -> Replay:
    """A replay that is hard to decide: each claim needs a passage that serves no other claim.

    ``j_c1_p2`` says that the judge finds claim 1 in passage 2, and nobody has read anything. With
    one claim too many no assignment exists (the pigeonhole principle), and a solver that argues by
    resolution needs a number of steps that grows exponentially in the number of passages (A. Haken,
    "The intractability of resolution", Theoretical Computer Science 39, 1985).

    Args:
        claims: how many claims.
        passages: how many passages.
    """
    names = [[f"j_c{c}_p{p}" for p in range(1, passages + 1)] for c in range(1, claims + 1)]
    alone = tuple(
        Constraint(f"{one}_or_{other}", negate(Op("and", (Atom(one), Atom(other)))))
        for passage in zip(*names, strict=True)
        for one, other in combinations(passage, 2)
    )
    served = tuple(Op("or", tuple(Atom(name) for name in claim)) for claim in names)
    protocol = Protocol(
        "one-passage-a-claim/1",
        tuple(AtomDeclaration(name, "judge") for claim in names for name in claim),
        Op("and", served),
        constraints=alone,
    )
    return Replay(f"crowded-{claims}-{passages}", (), protocol, "PASS", ())


def both_sides(replay: Replay, rlimit: int) -> tuple[Any, Any]:
    """Two plain Z3 solvers, one for either side of the verdict, in a context of their own.

    Args:
        replay: a replay whose annotations do not contradict each other.
        rlimit: units of work of each check.

    Returns:
        The solver that holds the constraints, the annotations and "the verdict is PASS", and the
        same for FAIL.

    Raises:
        MissingExtra: Z3 is not installed.
    """
    index = compile_protocol(replay.protocol).index
    literals = [
        Atom(one.atom) if one.value == "TRUE" else negate(Atom(one.atom))
        for one in replay.annotations
        if one.value != "UNKNOWN"
    ]
    base = [*(one.expr for one in replay.protocol.constraints), *literals]
    decision = replay.protocol.decision
    session = Session(rlimit)
    return (
        _solver(session, [*base, decision], index, rlimit),
        _solver(session, [*base, negate(decision)], index, rlimit),
    )


def _solver(session: Session, parts: list[Expression], index: dict[str, int], rlimit: int) -> Any:
    import z3

    terms = [session.translate(part, index) for part in parts]
    solver = z3.SimpleSolver(ctx=terms[0].ctx)
    solver.set("rlimit", rlimit)
    solver.add(*terms)
    return solver


class Timed(NamedTuple):
    """One check, timed twice over: by the clock and by the solver's count.

    Attributes:
        answer: what the solver said.
        seconds: by the clock.
        units: by the solver's own count of its work.
    """

    answer: str
    seconds: float
    units: int


def time_a_check(replay: Replay, rlimit: int) -> Timed:
    """Ask whether PASS is possible, in a solver that has seen nothing before.

    Raises:
        MissingExtra: Z3 is not installed.
    """
    solver, _ = both_sides(replay, rlimit)
    start = perf_counter()
    answer = str(solver.check())
    seconds = perf_counter() - start
    return Timed(answer, seconds, int(solver.statistics().get_key_value("rlimit count")))
