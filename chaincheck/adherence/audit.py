"""Audit one replay: does the judge follow the protocol that it was given?

``F`` are the annotations that are not UNKNOWN, ``K`` the constraints, ``D`` the decision and ``V``
"the verdict is PASS". Three bases are asked: ``proto`` = K and (V iff D), ``evid`` = F, ``all`` =
both. The observed verdict is a question put to ``all`` and never a fact; requirements, their
coverage and the pairs of claims and readings are put to ``evid``. An atom that nobody read stays
open: it is neither true nor false, and a base that contradicts itself answers nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from chaincheck.adherence.classify import assess, read
from chaincheck.adherence.conflicts import conflicts
from chaincheck.adherence.findings import Audit, FlipRadius, Settlement
from chaincheck.adherence.formulas import Compiled, compile_protocol, protocol_digest
from chaincheck.adherence.lints import lint
from chaincheck.adherence.radius import flip_radius
from chaincheck.adherence.replay import Annotation, Replay
from chaincheck.adherence.settle import settlement
from chaincheck.adherence.solving import Engine, Limits, Solving

__all__ = ["audit"]

_LIMITS = Limits()


def audit(
    replay: Replay, *, engine: Engine = "auto", limits: Limits | None = None, explain: bool = True
) -> Audit:
    """Audit a replay.

    The result depends on the replay, the engine and the limits, and on nothing that was audited
    before. Engines differ only in what they leave undecided.

    Args:
        replay: a checked replay.
        engine: ``auto`` (truth tables where they are small enough, else Z3), ``z3`` or
            ``bitset`` (tables only; what is too large for them is SOLVER_UNKNOWN).
        limits: bounds on the work.
        explain: whether to look for what would settle an open verdict and for the flip radius,
            which takes longer than everything else together.

    Raises:
        MissingExtra: Z3 is needed and not installed.
        UsageError: an unknown engine.
    """
    limits = limits or _LIMITS
    if replay.translation_status != "valid":
        return _not_evaluated(replay)
    compiled = compile_protocol(replay.protocol)
    solving = Solving(compiled, engine, limits)
    reading = read(replay.annotations, compiled.index)
    found = assess(solving, reading, replay.verdict)
    settled: Settlement | None = None
    radius: FlipRadius | None = None
    if explain:
        if found.verdict.classification == "UNDERDETERMINED":
            settled = settlement(solving, reading.facts)
        if any("SOLVER_UNKNOWN" in reason for reason in found.overall_forced_by):
            radius = FlipRadius(None, reason="undecided")
        else:
            radius = flip_radius(solving, replay.annotations, replay.verdict, found.overall)
    return Audit(
        id=replay.id,
        protocol=replay.protocol.id,
        protocol_digest=compiled.digest,
        overall=found.overall,
        overall_forced_by=found.overall_forced_by,
        bases=found.bases,
        observed=replay.verdict,
        verdict=found.verdict,
        requirements=found.requirements,
        grounding=found.grounding,
        dimensions=found.dimensions,
        violations=found.violations,
        warnings=found.warnings,
        lints=lint(replay.protocol, engine=engine, limits=limits),
        unannotated=_unannotated(replay.annotations, compiled),
        notes=_notes(replay.annotations, compiled),
        conflicts=(
            conflicts(solving, found.bases, reading, replay.annotations)
            if found.bases["all"] == "UNSAT"
            else {}
        ),
        settlement=settled,
        radius=radius,
    )


def _unannotated(annotations: Sequence[Annotation], compiled: Compiled) -> tuple[str, ...]:
    named = {annotation.atom for annotation in annotations}
    if len(named) == len(compiled.atoms):
        return ()
    return tuple(atom for atom in compiled.atoms if atom not in named)


def _notes(annotations: Sequence[Annotation], compiled: Compiled) -> tuple[str, ...]:
    """Say which annotations were merged, outweighed or contradicted, atom by atom."""
    if len({annotation.atom for annotation in annotations}) == len(annotations):
        return ()
    values: dict[str, list[str]] = {}
    for annotation in annotations:
        values.setdefault(annotation.atom, []).append(annotation.value)
    notes = []
    for atom in compiled.atoms:
        said = values.get(atom, ())
        if len(said) < 2:
            continue
        known = sorted({value for value in said if value != "UNKNOWN"})
        if len(known) == 2:
            notes.append(f"{atom}: annotated TRUE and FALSE; the evidence contradicts itself")
        elif known and "UNKNOWN" in said:
            notes.append(f"{atom}: annotated UNKNOWN and {known[0]}; {known[0]} is taken")
        else:
            notes.append(f"{atom}: annotated {said[0]} {len(said)} times; merged")
    return tuple(notes)


def _not_evaluated(replay: Replay) -> Audit:
    """The report on a replay whose protocol could not be translated: nothing is evaluated."""
    return Audit(
        id=replay.id,
        protocol=replay.protocol.id,
        protocol_digest=protocol_digest(replay.protocol),
        overall="UNKNOWN",
        overall_forced_by=(f"translation_status: {replay.translation_status}",),
        bases=dict.fromkeys(("proto", "evid", "all"), "NOT_EVALUATED"),
        observed=replay.verdict,
        verdict=None,
        requirements=(),
        grounding=(),
        dimensions=dict.fromkeys(
            ("verdict", "procedure", "coverage", "grounding"), "NOT_EVALUATED"
        ),
        violations=(),
        warnings=(),
        lints=(),
        unannotated=(),
        notes=(),
        conflicts={},
        settlement=None,
        radius=None,
    )
