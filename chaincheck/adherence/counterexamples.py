"""What goes wrong where a principle of the audit is left out: each mistake, made on purpose.

For the book and for nothing else. An audit that is given one of these replays answers correctly
about it; what is wrong is the replay, or the way of asking.
"""

from __future__ import annotations

import msgspec

from chaincheck.adherence.classify import read
from chaincheck.adherence.findings import Classification
from chaincheck.adherence.formulas import compile_protocol
from chaincheck.adherence.logic import Const, Op
from chaincheck.adherence.replay import Annotation, Constraint, Replay, Verdict
from chaincheck.adherence.solving import Limits, Solving

__all__ = ["unchecked_verdict", "unread", "with_gold_as_a_fact", "with_unknown_as_false"]


def unread(replay: Replay, *atoms: str) -> Replay:
    """Return a replay in which nobody has read some atoms; no mistake, only less to go by."""
    kept = tuple(each for each in replay.annotations if each.atom not in atoms)
    return msgspec.structs.replace(replay, annotations=kept)


def with_unknown_as_false(replay: Replay) -> Replay:
    """Take what nobody read for FALSE, as a closed world would."""
    read_by_someone = {each.atom for each in replay.annotations if each.value != "UNKNOWN"}
    taken = tuple(
        Annotation(atom.id, "FALSE", origin="taken for false")
        for atom in replay.protocol.atoms
        if atom.id not in read_by_someone
    )
    return msgspec.structs.replace(replay, annotations=(*replay.annotations, *taken))


def unchecked_verdict(replay: Replay, observed: Verdict | None = None) -> Classification:
    """Classify a verdict without asking first whether the base has a model at all.

    "No model of the base contradicts the verdict" is then taken for "the base entails it". From a
    base that contradicts itself, everything follows, PASS as well as FAIL.

    Args:
        replay: whose annotations do not give one atom both values.
        observed: the verdict to ask about; the replay's own if None.
    """
    compiled = compile_protocol(replay.protocol)
    solving = Solving(compiled, "auto", Limits())
    facts = read(replay.annotations, compiled.index).facts
    decision = compiled.decision
    sides = {"PASS": decision.yes, "FAIL": decision.no}
    verdict = observed or replay.verdict
    opposite = "FAIL" if verdict == "PASS" else "PASS"
    if not solving.satisfiable((*compiled.background, *sides[opposite]), facts):
        return "ENTAILED"
    if not solving.satisfiable((*compiled.background, *sides[verdict]), facts):
        return "REFUTED"
    return "UNDERDETERMINED"


def with_gold_as_a_fact(replay: Replay, gold: Verdict) -> Replay:
    """Let the right verdict into the base, as if it were known what the judge should have said."""
    protocol = replay.protocol
    leak = Constraint("gold", Op("iff", (protocol.decision, Const(gold == "PASS"))))
    leaky = msgspec.structs.replace(protocol, constraints=(*protocol.constraints, leak))
    return msgspec.structs.replace(replay, protocol=leaky)
