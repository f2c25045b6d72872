"""What an audit finds: classifications, witnesses, dimensions, conflicts; values only.

The words. A *classification* says how a question stands to a base: ENTAILED, REFUTED,
UNDERDETERMINED, INCONSISTENT (the base has no model, so nothing can be asked of it) or
SOLVER_UNKNOWN (a check reached its limit). A *status* says what that means for a dimension:
SATISFIED, VIOLATED, UNKNOWN, NOT_SPECIFIED (the protocol asks nothing) or NOT_EVALUATED (the
protocol could not be translated).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Audit",
    "BaseStatus",
    "Classification",
    "Conflict",
    "Dimension",
    "Finding",
    "FlipRadius",
    "GroundingFinding",
    "Lint",
    "RequirementFinding",
    "Settlement",
    "Status",
    "Witness",
]

Classification: TypeAlias = Literal[
    "ENTAILED", "REFUTED", "UNDERDETERMINED", "INCONSISTENT", "SOLVER_UNKNOWN"
]
Status: TypeAlias = Literal["SATISFIED", "VIOLATED", "UNKNOWN", "NOT_SPECIFIED", "NOT_EVALUATED"]
BaseStatus: TypeAlias = Literal["SAT", "UNSAT", "SOLVER_UNKNOWN", "NOT_EVALUATED"]
Dimension: TypeAlias = Literal["verdict", "procedure", "coverage", "grounding"]


@dataclass(frozen=True, slots=True)
class Witness:
    """The lexicographically smallest model of one side of an open question.

    FALSE comes before TRUE, atoms in the order of declaration.

    Attributes:
        values: the atoms that occur in the base's constraints and in the question, in the order
            of declaration. An annotated atom has its annotated value whether listed or not, and
            any other atom that is not listed can have either.
        possibilities: those of them that nobody annotated TRUE or FALSE. Their values are filled
            in; they are possible, not found.
    """

    values: Mapping[str, bool]
    possibilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """How one question stands to its base.

    Attributes:
        classification: see the module's head.
        when_true: a witness that the question can be true; only if UNDERDETERMINED.
        when_false: a witness that it can be false; only if UNDERDETERMINED.
    """

    classification: Classification
    when_true: Witness | None = None
    when_false: Witness | None = None


@dataclass(frozen=True, slots=True)
class RequirementFinding:
    """One requirement: whether it is met and whether that can be seen.

    Attributes:
        id: the requirement's id.
        met: the requirement against the evidence.
        status: what it means for the dimension ``procedure``.
        addressed: its coverage against the evidence, None where the protocol does not say.
        coverage_status: what that means for the dimension ``coverage``.
        detail: for an UNDERDETERMINED requirement with coverage, which of three it is:
            ``observable_undetermined`` (it could be seen, and is open), ``not_observable`` (it
            cannot be seen) or ``coverage_undetermined`` (it is open whether it can be seen).
        warning: ``coverage_conflict`` where a requirement is broken that, by its coverage,
            cannot be seen.
    """

    id: str
    met: Finding
    status: Status
    addressed: Finding | None
    coverage_status: Status
    detail: Literal["observable_undetermined", "not_observable", "coverage_undetermined"] | None = (
        None
    )
    warning: Literal["coverage_conflict"] | None = None


@dataclass(frozen=True, slots=True)
class GroundingFinding:
    """One pair of a judge's claim and an independent reading.

    Attributes:
        judge: the judge atom.
        context: the context atom.
        agree: whether they agree, against the evidence.
        status: what it means for the dimension ``grounding``.
        mismatch: ``over_claim`` (judge TRUE, context FALSE), ``under_claim`` (the reverse), or
            None.
    """

    judge: str
    context: str
    agree: Finding
    status: Status
    mismatch: Literal["over_claim", "under_claim"] | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Annotations and constraints that cannot all hold, none of which can be left out.

    Attributes:
        constraints: ids of the constraints.
        annotations: their places in the replay's list, in the order of the atoms' declaration.
        literals: the same annotations in words, as in ``j_hop1=TRUE``.
        smallest: True if no conflict of this base has fewer members, None if that was not shown
            within the limits. A conflict that can be made smaller is never given.
    """

    constraints: tuple[str, ...]
    annotations: tuple[int, ...]
    literals: tuple[str, ...]
    smallest: Literal[True] | None

    def __len__(self) -> int:
        """Number of members."""
        return len(self.constraints) + len(self.annotations)


@dataclass(frozen=True, slots=True)
class Settlement:
    """The fewest UNKNOWN atoms whose values would settle the verdict, whatever they turn out.

    Attributes:
        atoms: the atoms, in the order of declaration: the first in lexicographic order among the
            smallest sets. None if none was found.
        necessary: those without which no set settles it.
        reason: why ``atoms`` is None: ``not found within limit K`` (more than K atoms beside the
            necessary ones), ``budget`` (too many checks) or ``undecided`` (a check reached its
            own limit).
    """

    atoms: tuple[str, ...] | None
    necessary: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FlipRadius:
    """The fewest annotations that, turned from TRUE to FALSE or back, change the overall status.

    Attributes:
        flips: their number, or None if no such set was found.
        annotations: places of the annotations: the first such set in lexicographic order.
        overall: the overall status after the flips.
        searched: every set of up to so many annotations was tried, or, if ``flips`` is given, of
            fewer.
        reason: why ``flips`` is None: ``not found within limit K``, ``none`` (no set of
            annotations changes it), ``undecided`` (a check reached its own limit).
    """

    flips: int | None
    annotations: tuple[int, ...] = ()
    overall: Status | None = None
    searched: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Lint:
    """A weakness of a protocol that makes audits by it say less than they seem to.

    Attributes:
        code: the kind, in snake_case.
        subject: the constraint, requirement or atom concerned.
        message: what is wrong and what to do, a sentence.
    """

    code: str
    subject: str
    message: str


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything that was found about one replay. The gold label is no part of it.

    Attributes:
        id: the replay's id.
        protocol: the protocol's id.
        protocol_digest: SHA-256 of the protocol's content.
        overall: SATISFIED, VIOLATED or UNKNOWN.
        overall_forced_by: why it is UNKNOWN whatever the dimensions say; empty if it is not.
        bases: ``proto``, ``evid``, ``all``: SAT, UNSAT, SOLVER_UNKNOWN or NOT_EVALUATED.
        observed: the verdict, PASS or FAIL, that the judge gave.
        verdict: the observed verdict against ``all``; None if nothing was evaluated.
        requirements: each requirement, with its coverage.
        grounding: each pair.
        dimensions: status of ``verdict``, ``procedure``, ``coverage`` and ``grounding``.
        violations: what is VIOLATED, by name, also where the overall status is forced.
        warnings: ``coverage_conflict`` and the like, each with its subject.
        lints: weaknesses of the protocol.
        unannotated: declared atoms that no annotation names; they count as UNKNOWN.
        notes: annotations that were merged or outweighed.
        conflicts: for every UNSAT base a minimal conflict, or None if a check reached its limit.
        settlement: what would settle an UNDERDETERMINED verdict; None otherwise or if not asked.
        radius: how far the overall status is from changing; None if not asked.
    """

    id: str
    protocol: str
    protocol_digest: str
    overall: Status
    overall_forced_by: tuple[str, ...]
    bases: Mapping[str, BaseStatus]
    observed: Literal["PASS", "FAIL"]
    verdict: Finding | None
    requirements: tuple[RequirementFinding, ...]
    grounding: tuple[GroundingFinding, ...]
    dimensions: Mapping[Dimension, Status]
    violations: tuple[str, ...]
    warnings: tuple[str, ...]
    lints: tuple[Lint, ...]
    unannotated: tuple[str, ...]
    notes: tuple[str, ...]
    conflicts: Mapping[str, Conflict | None]
    settlement: Settlement | None
    radius: FlipRadius | None
