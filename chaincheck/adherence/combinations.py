"""Every combination of answers and what an audit makes of it, found by auditing.

The smallest replays that there are: one question to each dimension, each about an atom of its
own, which is read in whatever way gives the answer that is wanted. Nothing here says what a
status should be; the tables are what :func:`chaincheck.adherence.audit.audit` returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

from chaincheck.adherence.audit import audit
from chaincheck.adherence.findings import Audit, Classification, Dimension, Status
from chaincheck.adherence.logic import Atom, Expression, Op
from chaincheck.adherence.replay import (
    Annotation,
    AtomDeclaration,
    Grounding,
    Protocol,
    Replay,
    Requirement,
    Role,
    Value,
)
from chaincheck.adherence.solving import Limits

__all__ = [
    "CLASSIFICATIONS",
    "QUESTIONS",
    "Aggregated",
    "aggregation",
    "classified",
    "requirement_and_coverage",
]

CLASSIFICATIONS: tuple[Classification, ...] = (
    "ENTAILED",
    "REFUTED",
    "UNDERDETERMINED",
    "INCONSISTENT",
    "SOLVER_UNKNOWN",
)
QUESTIONS: tuple[Dimension, ...] = ("verdict", "procedure", "coverage", "grounding")

# Each question asks whether two atoms are alike; the second is TRUE but where no answer is wanted.
_ASKED: Mapping[Dimension, tuple[str, str]] = {
    "verdict": ("j_one", "j_other"),
    "procedure": ("p_one", "p_other"),
    "coverage": ("p_seen_one", "p_seen_other"),
    "grounding": ("j_claims", "c_reads"),
}
_ROLES: Mapping[str, Role] = {"j": "judge", "c": "context", "p": "procedure"}
_ATOMS = tuple(AtomDeclaration(atom, _ROLES[atom[0]]) for pair in _ASKED.values() for atom in pair)
_READ: Mapping[Classification, tuple[Value, ...]] = {
    "ENTAILED": ("TRUE",),
    "REFUTED": ("FALSE",),
    "UNDERDETERMINED": ("UNKNOWN",),
    "INCONSISTENT": ("TRUE", "FALSE"),
    "SOLVER_UNKNOWN": ("UNKNOWN",),
}


def _alike(question: Dimension) -> Expression:
    one, other = _ASKED[question]
    return Op("iff", (Atom(one), Atom(other)))


def _audit(
    answers: Mapping[Dimension, Classification],
    *,
    requirement: bool = True,
    addressed: bool = True,
    pair: bool = True,
) -> Audit:
    """Audit a replay that passes, each question answered as wanted, ENTAILED unless said."""
    rule = Requirement("rule", _alike("procedure"), _alike("coverage") if addressed else None)
    protocol = Protocol(
        "combination/1",
        _ATOMS,
        _alike("verdict"),
        requirements=(rule,) if requirement else (),
        grounding=(Grounding(*_ASKED["grounding"]),) if pair else (),
    )
    annotations = []
    for question, (one, other) in _ASKED.items():
        wanted = answers.get(question, "ENTAILED")
        annotations += [Annotation(one, value) for value in _READ[wanted]]
        if wanted != "SOLVER_UNKNOWN":
            annotations.append(Annotation(other, "TRUE"))
    replay = Replay("combination", (), protocol, "PASS", tuple(annotations))
    if "SOLVER_UNKNOWN" in answers.values():
        # One unit of work is enough for what is known, and too little for what is open.
        return audit(replay, engine="z3", limits=Limits(rlimit=1), explain=False)
    return audit(replay, explain=False)


def _answer(found: Audit, question: Dimension) -> Classification | None:
    """How a question was answered."""
    if question == "verdict":
        return found.verdict.classification if found.verdict else None
    if question == "grounding":
        return found.grounding[0].agree.classification
    rule = found.requirements[0]
    if question == "procedure":
        return rule.met.classification
    return rule.addressed.classification if rule.addressed else None


def classified() -> dict[tuple[Dimension, Classification], Audit]:
    """Audit one replay for each dimension and each classification of its question.

    Returns:
        The audits. All other questions of each are ENTAILED, but where a contradiction leaves no
        question to be asked, or a limit none to be decided.

    Raises:
        RuntimeError: a replay did not come out as it was meant, so the table would be wrong.
    """
    out = {}
    for question, wanted in product(QUESTIONS, CLASSIFICATIONS):
        found = _audit({question: wanted})
        if _answer(found, question) != wanted:
            raise RuntimeError(f"{question} is {_answer(found, question)}, not {wanted}")
        out[question, wanted] = found
    return out


def requirement_and_coverage() -> dict[tuple[Classification, Classification], Audit]:
    """Audit one replay for each answer to "is it met?" beside each to "can it be seen?".

    The two share the evidence, so neither is INCONSISTENT without the other; of undecided checks
    see :func:`classified`.
    """
    decided: tuple[Classification, ...] = CLASSIFICATIONS[:3]
    return {
        (met, seen): _audit({"procedure": met, "coverage": seen})
        for met, seen in product(decided, decided)
    }


class Aggregated(NamedTuple):
    """Four statuses and the overall status that they give.

    Attributes:
        dimensions: the four.
        overall: what comes of them.
        forced_by: why it is UNKNOWN although none of them is.
    """

    dimensions: Mapping[Dimension, Status]
    overall: Status
    forced_by: tuple[str, ...]


def aggregation() -> tuple[Aggregated, ...]:
    """Audit a replay for each combination of statuses that four dimensions can have together.

    Coverage is never VIOLATED, and NOT_SPECIFIED where there is no requirement.
    """
    return tuple(
        Aggregated(found.dimensions, found.overall, found.overall_forced_by)
        for found in _combined()
    )


def _combined() -> Iterator[Audit]:
    three: tuple[Classification, ...] = CLASSIFICATIONS[:3]
    two: tuple[Classification, ...] = ("ENTAILED", "UNDERDETERMINED")
    rules = [
        *(({"procedure": met, "coverage": seen}, True, True) for met, seen in product(three, two)),
        *(({"procedure": met}, True, False) for met in three),
        ({}, False, False),
    ]
    pairs: list[tuple[Classification | None, bool]] = [
        *((one, True) for one in three),
        (None, False),
    ]
    for verdict, (rule, requirement, addressed), (claim, pair) in product(three, rules, pairs):
        answers: dict[Dimension, Classification] = {"verdict": verdict}
        answers.update(rule)  # type: ignore[arg-type]
        if claim is not None:
            answers["grounding"] = claim
        yield _audit(answers, requirement=requirement, addressed=addressed, pair=pair)
