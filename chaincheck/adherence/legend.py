"""What the words of a report mean, for somebody who sees one for the first time.

Only the words that a report uses are explained, so that a short report stays short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chaincheck.adherence.findings import Audit, Finding

__all__ = ["findings_of", "legend"]

_WORDS = {
    "SATISFIED": "follows from the readings: the protocol was kept, and that can be seen",
    "VIOLATED": "is ruled out by the readings",
    "UNKNOWN": "neither follows nor is ruled out; said of an atom, nobody has read it",
    "NOT_SPECIFIED": "the protocol asks nothing here; left out of the overall status",
    "NOT_EVALUATED": "nothing was asked, since the protocol could not be translated",
    "ENTAILED": "true in every case that the readings leave possible",
    "REFUTED": "true in no case that they leave possible; they contradict it",
    "UNDERDETERMINED": "true in some of these cases and false in others",
    "INCONSISTENT": "the readings contradict each other or the protocol, so nothing can be asked",
    "SOLVER_UNKNOWN": "not decided within the limits of the solver",
    "SAT": "free of contradiction",
    "UNSAT": "contradicts itself",
}
_DIMENSIONS = {
    "verdict": "whether it follows from the judge's own findings",
    "procedure": "whether each required step was taken",
    "coverage": "whether one can see if it was taken",
    "grounding": "whether the judge's claims agree with an independent reading of the context",
}
_OVERALL = (
    "VIOLATED if a dimension is, else UNKNOWN if one is or nothing is required or compared, else "
    "SATISFIED"
)
_ANNOTATION = (
    "somebody's reading of an atom, which is a statement of the protocol: TRUE, FALSE or UNKNOWN; "
    "numbered from 1 in the order of the replay"
)
_MISMATCHES = {
    "over_claim": "the judge claims what the context does not say",
    "under_claim": "the judge denies what the context says",
}
_BASES = {
    "proto": "the protocol by itself: its constraints, and PASS exactly when the decision holds",
    "evid": "the annotations that are TRUE or FALSE",
    "all": "both together",
}
_FORCED = (
    "makes the overall status UNKNOWN whatever else was found: a contradiction or an undecided "
    "check settles nothing, and where nothing is required or compared too little was asked"
)
_SETTLEMENT = (
    "the smallest set of UNKNOWN atoms that, once read, decide the verdict, whichever way they "
    "turn out"
)
_RADIUS = (
    "the flip radius: the fewest annotations that, turned from TRUE to FALSE or back, change the "
    "overall status; a small number means that it hangs on few readings"
)
_CONFLICT = "annotations and constraints that cannot all hold, none of which can be left out"
_OFFSETS = "where a quote stands: from its first character up to the one after its last, from 0"


def findings_of(audit: Audit) -> Iterator[Finding]:
    """Yield the finding of every question that was asked."""
    if audit.verdict is not None:
        yield audit.verdict
    for one in audit.requirements:
        yield one.met
        if one.addressed is not None:
            yield one.addressed
    for pair in audit.grounding:
        yield pair.agree


def legend(
    audit: Audit,
    said: str,
    *,
    possibility: str,
    offsets: str,
    settlement: str,
    radius: str,
    bases: bool,
) -> Iterator[tuple[str, str]]:
    """Yield the terms that a report on an audit uses, each with its meaning.

    Args:
        audit: what the report is about.
        said: the report, for the capitalized words in it.
        possibility: how the report marks a value that is supposed, as in ``p=FALSE?``.
        offsets: how it writes where a quote stands; empty if it quotes nothing.
        settlement: how it introduces the smallest set of unknowns.
        radius: how it introduces the flip radius.
        bases: whether it names the bases.
    """
    yield "overall", _OVERALL
    yield from _DIMENSIONS.items()
    yield "annotation", _ANNOTATION
    for word, text in _WORDS.items():
        if re.search(rf"\b{word.replace('_', '[_ ]')}\b", said):
            yield word, text
    if audit.overall_forced_by:
        yield "because of", _FORCED
    if bases or audit.overall_forced_by:
        yield from ((f"base {name}", text) for name, text in _BASES.items())
    for name, text in _MISMATCHES.items():
        if any(pair.mismatch == name for pair in audit.grounding):
            yield name.replace("_", "-"), text
    if any(one.when_true or one.when_false for one in findings_of(audit)):
        yield (
            possibility,
            "a possibility: supposed to show that the question is open, found by nobody",
        )
    if audit.conflicts:
        yield "conflict", _CONFLICT
    if audit.settlement is not None:
        yield settlement, _SETTLEMENT
    if audit.radius is not None:
        yield radius, _RADIUS
    if offsets:
        yield offsets, _OFFSETS
