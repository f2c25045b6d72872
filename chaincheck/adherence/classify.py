"""From annotations to statuses: the four dimensions and the overall status.

Annotations become two sets of atoms, those read TRUE and those read FALSE. An atom in both makes
the evidence inconsistent; one in neither is UNKNOWN and asserts nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal, NamedTuple

from chaincheck.adherence import findings
from chaincheck.adherence.findings import (
    BaseStatus,
    Classification,
    Dimension,
    Finding,
    GroundingFinding,
    RequirementFinding,
    Status,
)
from chaincheck.adherence.formulas import Compiled, Facts, Query
from chaincheck.adherence.replay import Annotation, Grounding
from chaincheck.adherence.solving import Solving

__all__ = ["Assessment", "Reading", "assess", "read"]

_PLAIN: dict[Classification, Status] = {"ENTAILED": "SATISFIED", "REFUTED": "VIOLATED"}
_INCONSISTENT = Finding("INCONSISTENT")
_RANKED: tuple[Status, ...] = ("VIOLATED", "UNKNOWN", "SATISFIED")


class Reading(NamedTuple):
    """What the annotations assert.

    Attributes:
        true: the atoms that some annotation reads TRUE.
        false: the atoms that some annotation reads FALSE.
    """

    true: int
    false: int

    @property
    def facts(self) -> Facts:
        """The facts; an atom that is read both ways is none."""
        known = self.true ^ self.false
        return Facts(known, self.true & known)


def read(annotations: Iterable[Annotation], index: dict[str, int]) -> Reading:
    """Merge annotations: equal values merge, UNKNOWN gives way, TRUE and FALSE are both kept."""
    true = false = 0
    for annotation in annotations:
        if annotation.value == "TRUE":
            true |= 1 << index[annotation.atom]
        elif annotation.value == "FALSE":
            false |= 1 << index[annotation.atom]
    return Reading(true, false)


class Assessment(NamedTuple):
    """The statuses of one replay, before anything is explained; fields as in ``Audit``."""

    overall: Status
    overall_forced_by: tuple[str, ...]
    bases: dict[str, BaseStatus]
    # With its module's name, since the API pages read this as text and know another Finding.
    verdict: findings.Finding
    requirements: tuple[RequirementFinding, ...]
    grounding: tuple[GroundingFinding, ...]
    dimensions: dict[Dimension, Status]
    violations: tuple[str, ...]
    warnings: tuple[str, ...]


def assess(solving: Solving, reading: Reading, observed: str) -> Assessment:
    """Classify everything that the protocol asks about one replay.

    Args:
        solving: the engines, for this replay's protocol.
        reading: what the annotations assert.
        observed: the verdict that the judge gave, PASS or FAIL.
    """
    compiled = solving.compiled
    facts = reading.facts
    if reading.true & reading.false:
        # Nothing can be asked of evidence that says both.
        bases: dict[str, BaseStatus] = {
            "proto": solving.proto("UNSAT"),
            "evid": "UNSAT",
            "all": "UNSAT",
        }
        verdict = _INCONSISTENT
        requirements = tuple(
            _requirement(query.name, _INCONSISTENT, None if asked is None else _INCONSISTENT)
            for query, asked in zip(compiled.requirements, compiled.coverage, strict=True)
        )
        grounding = tuple(
            GroundingFinding(pair.judge, pair.context, _INCONSISTENT, "UNKNOWN")
            for pair in compiled.protocol.grounding
        )
    else:
        status, verdict = solving.verdict(facts, observed)
        bases = {"proto": solving.proto(status), "evid": "SAT", "all": status}
        requirements = _requirements(solving, compiled, facts)
        grounding = _grounding(solving, compiled, facts)
    dimensions: dict[Dimension, Status] = {
        "verdict": _PLAIN.get(verdict.classification, "UNKNOWN"),
        "procedure": _aggregate([r.status for r in requirements]),
        "coverage": _aggregate([r.coverage_status for r in requirements]),
        "grounding": _aggregate([pair.status for pair in grounding]),
    }
    forced: tuple[str, ...] = ()
    if solving.beyond_tables or bases["all"] != "SAT":
        forced = _forced(bases, verdict, requirements, grounding)
    overall = _overall(dimensions, bool(forced))
    if overall == "UNKNOWN" and not forced and "UNKNOWN" not in dimensions.values():
        forced = _absent(dimensions)
    return Assessment(
        overall=overall,
        overall_forced_by=forced,
        bases=bases,
        verdict=verdict,
        requirements=requirements,
        grounding=grounding,
        dimensions=dimensions,
        violations=_violations(dimensions, requirements, grounding),
        warnings=tuple([f"{r.warning}: {r.id}" for r in requirements if r.warning is not None]),
    )


def _requirement(name: str, met: Finding, addressed: Finding | None) -> RequirementFinding:
    """Say what the answers about one requirement mean for procedure and coverage."""
    status = _PLAIN.get(met.classification, "UNKNOWN")
    if addressed is None:
        return RequirementFinding(name, met, status, None, "NOT_SPECIFIED")
    seen = addressed.classification
    detail = None
    if met.classification == "UNDERDETERMINED":
        detail = {
            "ENTAILED": "observable_undetermined",
            "REFUTED": "not_observable",
            "UNDERDETERMINED": "coverage_undetermined",
        }.get(seen)
    return RequirementFinding(
        name,
        met,
        status,
        addressed,
        # That it cannot be seen is no breach: REFUTED is UNKNOWN here.
        "SATISFIED" if seen == "ENTAILED" else "UNKNOWN",
        detail,  # type: ignore[arg-type]
        "coverage_conflict" if seen == met.classification == "REFUTED" else None,
    )


def _requirements(
    solving: Solving, compiled: Compiled, facts: Facts
) -> tuple[RequirementFinding, ...]:
    known, value = facts
    recall = solving.tables.get
    found = []
    for query, asked, reach in zip(
        compiled.requirements, compiled.coverage, compiled.reach, strict=True
    ):
        key = ("requirement", id(query), known & reach, value & reach)
        kept = recall(key)
        if kept is None:

            def find(query: Query = query, asked: Query | None = asked) -> RequirementFinding:
                return _requirement(
                    query.name,
                    solving.finding(query, facts),
                    None if asked is None else solving.finding(asked, facts),
                )

            kept = solving.remembered(key, find)
        found.append(kept)
    return tuple(found)


def _grounding(solving: Solving, compiled: Compiled, facts: Facts) -> tuple[GroundingFinding, ...]:
    known, value = facts
    recall = solving.tables.get
    found = []
    for query, pair in zip(compiled.grounding, compiled.protocol.grounding, strict=True):
        support = query.support
        key = ("pair", id(query), known & support, value & support)
        kept = recall(key)
        if kept is None:

            def find(query: Query = query, pair: Grounding = pair) -> GroundingFinding:
                claimed = value >> compiled.index[pair.judge] & 1
                return _pair(pair, solving.finding(query, facts), bool(claimed))

            kept = solving.remembered(key, find)
        found.append(kept)
    return tuple(found)


def _pair(pair: Grounding, agree: Finding, claimed: bool) -> GroundingFinding:
    status = _PLAIN.get(agree.classification, "UNKNOWN")
    mismatch: Literal["over_claim", "under_claim"] | None = None
    if status == "VIOLATED":
        mismatch = "over_claim" if claimed else "under_claim"
    return GroundingFinding(pair.judge, pair.context, agree, status, mismatch)


def _aggregate(statuses: Collection[Status]) -> Status:
    """VIOLATED over UNKNOWN over SATISFIED; NOT_SPECIFIED where nothing is asked."""
    for status in _RANKED:
        if status in statuses:
            return status
    return "NOT_SPECIFIED"


def _overall(dimensions: dict[Dimension, Status], forced: bool) -> Status:
    """Aggregate the dimensions.

    Args:
        dimensions: the four statuses.
        forced: whether a base is inconsistent or a check was undecided.

    Returns:
        UNKNOWN where forced. Otherwise VIOLATED over UNKNOWN over SATISFIED; never SATISFIED
        where no requirement or no grounding pair is specified.
    """
    if forced:
        return "UNKNOWN"
    overall = _aggregate(dimensions.values())
    return "UNKNOWN" if overall == "SATISFIED" and _absent(dimensions) else overall


def _absent(dimensions: dict[Dimension, Status]) -> tuple[str, ...]:
    absent = []
    if dimensions["procedure"] == "NOT_SPECIFIED":
        absent.append("procedure: no requirement")
    if dimensions["grounding"] == "NOT_SPECIFIED":
        absent.append("grounding: no pair")
    return tuple(absent)


def _forced(
    bases: dict[str, BaseStatus],
    verdict: Finding,
    requirements: tuple[RequirementFinding, ...],
    grounding: tuple[GroundingFinding, ...],
) -> tuple[str, ...]:
    """Name every inconsistent base and every undecided check."""
    forced = [
        f"base {name}: {'INCONSISTENT' if status == 'UNSAT' else status}"
        for name, status in bases.items()
        if status != "SAT"
    ]
    undecided = "SOLVER_UNKNOWN"
    if verdict.classification == undecided:
        forced.append(f"verdict: {undecided}")
    for requirement in requirements:
        if requirement.met.classification == undecided:
            forced.append(f"requirement {requirement.id}: {undecided}")
        addressed = requirement.addressed
        if addressed is not None and addressed.classification == undecided:
            forced.append(f"coverage {requirement.id}: {undecided}")
    forced.extend(
        f"grounding {pair.judge}={pair.context}: {undecided}"
        for pair in grounding
        if pair.agree.classification == undecided
    )
    return tuple(forced)


def _violations(
    dimensions: dict[Dimension, Status],
    requirements: tuple[RequirementFinding, ...],
    grounding: tuple[GroundingFinding, ...],
) -> tuple[str, ...]:
    if "VIOLATED" not in dimensions.values():
        return ()
    found = ["verdict"] if dimensions["verdict"] == "VIOLATED" else []
    if dimensions["procedure"] == "VIOLATED":
        found.extend([f"requirement {r.id}" for r in requirements if r.status == "VIOLATED"])
    if dimensions["grounding"] == "VIOLATED":
        found.extend(
            [
                f"grounding {pair.judge}={pair.context} ({pair.mismatch})"
                for pair in grounding
                if pair.status == "VIOLATED"
            ]
        )
    return tuple(found)
