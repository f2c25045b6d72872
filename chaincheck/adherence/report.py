"""What an audit found, as JSON and as text for a terminal.

The JSON is for programs: every key is always there, and the gold label changes two of them only.
The text says the same in sentences, without control characters whatever the replay holds.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from tabulate import tabulate

from chaincheck.adherence.findings import Audit, Conflict, Finding, Witness
from chaincheck.adherence.legend import legend
from chaincheck.adherence.replay import Recorded, Replay, Span
from chaincheck.adherence.wording import (
    because,
    counted,
    no_flip,
    open_reason,
    plain,
    uncovered,
    weakness,
)

__all__ = ["REPORT_SCHEMA", "encode_report", "report_document", "report_text"]

REPORT_SCHEMA = "chaincheck.report/1"
_MOST_SHOWN = 4
_MOST_ATOMS = 20
_SETTLE = "What would settle the verdict"
_RADIUS = "How far the status is from changing"


def _classes(findings: Iterable[Finding | None]) -> list[str]:
    return ["NOT_SPECIFIED" if one is None else one.classification for one in findings]


def report_document(recorded: Recorded, audit: Audit) -> dict[str, Any]:
    """Return the report as plain JSON.

    ``verdict``, ``procedure``, ``coverage`` and ``grounding`` hold classifications, the lists in
    the order of the protocol; ``findings`` holds the same with witnesses and details. Only
    ``gold`` and ``gold_match`` depend on the gold label; both are null where there is none.

    Args:
        recorded: the replay and its gold label.
        audit: what was found about that replay.
    """
    replay, gold = recorded.replay, recorded.gold
    found = msgspec.json.decode(msgspec.json.encode(audit))
    return {
        "schema": REPORT_SCHEMA,
        "id": audit.id,
        "overall": audit.overall,
        "overall_forced_by": found["overall_forced_by"],
        "translation_status": replay.translation_status,
        "protocol": audit.protocol,
        "protocol_digest": audit.protocol_digest,
        "observed": audit.observed,
        "bases": found["bases"],
        "dimensions": found["dimensions"],
        "verdict": "NOT_EVALUATED" if audit.verdict is None else audit.verdict.classification,
        "procedure": _classes(one.met for one in audit.requirements),
        "coverage": _classes(one.addressed for one in audit.requirements),
        "grounding": _classes(one.agree for one in audit.grounding),
        "violations": found["violations"],
        "warnings": found["warnings"],
        "findings": {key: found[key] for key in ("verdict", "requirements", "grounding")},
        "conflicts": found["conflicts"],
        "settlement": found["settlement"],
        "radius": found["radius"],
        "unannotated": found["unannotated"],
        "notes": found["notes"],
        "lints": found["lints"],
        "gold": gold,
        "gold_match": None if gold is None else gold == replay.verdict,
    }


def encode_report(recorded: Recorded, audit: Audit) -> bytes:
    """Encode the report as one line of JSON, without a line feed."""
    return msgspec.json.encode(report_document(recorded, audit))


def report_text(recorded: Recorded, audit: Audit, *, words: bool = True) -> str:
    """Return the report as text for a terminal.

    Args:
        recorded: the replay and its gold label.
        audit: what was found about that replay.
        words: whether to say at the end what the words of this report mean.
    """
    lines = list(_lines(recorded, audit))
    if words:
        lines += ["", "Words", *_words(audit, "\n".join(lines))]
    return "\n".join(lines)


def _words(audit: Audit, text: str) -> Iterator[str]:
    terms = legend(
        audit,
        text,
        possibility="atom=TRUE?, atom=FALSE?",
        offsets="(source 0–9)" if "\N{LEFT DOUBLE QUOTATION MARK}" in text else "",
        settlement=_SETTLE.lower(),
        radius=_RADIUS.lower(),
        bases=False,
    )
    for term, meaning in terms:
        yield textwrap.fill(
            f"{term}: {meaning}.", 96, initial_indent="  ", subsequent_indent="    "
        )


def _lines(recorded: Recorded, audit: Audit) -> Iterator[str]:
    replay, gold = recorded.replay, recorded.gold
    yield f"{audit.overall}  {plain(audit.id)}"
    yield f"protocol {plain(audit.protocol)}, verdict {audit.observed}{_gold(replay, gold)}"
    for reason in audit.overall_forced_by:
        yield f"overall UNKNOWN because of {plain(reason)}"
    yield ""
    rows = [(name, status, because(audit, name)) for name, status in audit.dimensions.items()]
    yield tabulate(rows, headers=("dimension", "status", "because"), tablefmt="simple")
    for title, lines in (
        ("Violations", _violations(replay, audit)),
        ("Open", _open(audit)),
        ("Conflicts", _conflicts(audit)),
        (_SETTLE, _settlement(audit)),
        (_RADIUS, _radius(replay, audit)),
        ("Warnings", map(plain, audit.warnings)),
        ("Notes", _notes(audit)),
        (
            "Weaknesses of the protocol",
            map(weakness, audit.lints),
        ),
    ):
        shown = [f"  {line}" for line in lines]
        if shown:
            yield from ("", title, *shown)


def _gold(replay: Replay, gold: str | None) -> str:
    if gold is None:
        return ""
    return f", gold {gold} ({'right' if gold == replay.verdict else 'wrong'})"


def _quotes(replay: Replay, atom: str) -> Iterator[str]:
    read = [one for one in replay.annotations if one.atom == atom and one.value != "UNKNOWN"]
    for one in read[:_MOST_SHOWN]:
        where = [_quote(span) for span in one.evidence[:_MOST_SHOWN]]
        where += ["…"] if len(one.evidence) > _MOST_SHOWN else []
        yield f"    {atom} = {one.value}: {', '.join(where) or 'nothing to quote'}"
    if len(read) > _MOST_SHOWN:
        yield f"    {atom}: {counted(len(read) - _MOST_SHOWN, 'more annotation')}"


def _quote(span: Span) -> str:
    text = plain(span.quote)
    cut = f"{text[:57]}…" if len(text) > 60 else text
    return f"“{cut}” ({plain(span.source)} {span.start}–{span.end})"


def _violations(replay: Replay, audit: Audit) -> Iterator[str]:
    if audit.dimensions.get("verdict") == "VIOLATED":
        yield f"verdict: the annotations and the protocol rule {audit.observed} out"
    texts = {one.id: one.description for one in replay.protocol.requirements}
    for one in audit.requirements:
        if one.status == "VIOLATED":
            yield f"requirement {plain(one.id)}: {plain(texts[one.id]) or 'not met'}"
    for pair in audit.grounding:
        if pair.status == "VIOLATED":
            word = (pair.mismatch or "mismatch").replace("_", "-")
            yield f"{word}: {pair.judge} and {pair.context} differ"
            yield from _quotes(replay, pair.judge)
            yield from _quotes(replay, pair.context)


def _open(audit: Audit) -> Iterator[str]:
    if audit.verdict is not None and audit.verdict.classification != "INCONSISTENT":
        yield from _witnesses("verdict PASS", audit.verdict)
    for one in audit.requirements:
        if one.status == "UNKNOWN":
            yield f"requirement {plain(one.id)}: {open_reason(one.met, one.detail)}"
            yield from _witnesses("met", one.met)
        if one.coverage_status == "UNKNOWN":
            yield f"coverage of {plain(one.id)}: {uncovered(one.addressed)}"
    for pair in audit.grounding:
        if pair.status == "UNKNOWN":
            yield f"{pair.judge} against {pair.context}: {open_reason(pair.agree, None)}"
            yield from _witnesses("agree", pair.agree)


def _witnesses(what: str, finding: Finding) -> Iterator[str]:
    for word, witness in (("true", finding.when_true), ("false", finding.when_false)):
        if witness is not None:
            yield f"    {what} can be {word}: {_witness(witness)}"


def _witness(witness: Witness) -> str:
    supposed = set(witness.possibilities)
    parts = [
        f"{atom}={'TRUE' if value else 'FALSE'}{'?' if atom in supposed else ''}"
        for atom, value in witness.values.items()
    ]
    return f"{', '.join(parts)}" + (" (? supposed, not found)" if supposed else "")


def _conflicts(audit: Audit) -> Iterator[str]:
    for base, conflict in audit.conflicts.items():
        yield f"{base}: {_conflict(conflict)}"


def _conflict(conflict: Conflict | None) -> str:
    if conflict is None:
        return "a minimal conflict was not found within the limits"
    parts = [f"constraint {plain(one)}" for one in conflict.constraints]
    parts += [
        f"annotation {at + 1} ({literal})"
        for at, literal in zip(conflict.annotations, conflict.literals, strict=True)
    ]
    tail = "; no conflict is smaller" if conflict.smallest else ""
    return f"cannot all hold: {', '.join(parts) or 'the decision rule by itself'}{tail}"


def _settlement(audit: Audit) -> Iterator[str]:
    if audit.settlement is None:
        return
    if audit.settlement.atoms is None:
        yield audit.settlement.reason or "not found"
    else:
        yield f"knowing {', '.join(audit.settlement.atoms)}"


def _radius(replay: Replay, audit: Audit) -> Iterator[str]:
    if audit.radius is None:
        return
    if audit.radius.flips is None:
        yield no_flip(audit.radius)
        return
    names = ", ".join(
        f"{replay.annotations[at].atom} (annotation {at + 1})" for at in audit.radius.annotations
    )
    count = audit.radius.flips
    what = "annotation turned round gives" if count == 1 else "annotations turned round give"
    yield f"{count} {what} {audit.radius.overall}: {names}"


def _notes(audit: Audit) -> Iterator[str]:
    yield from map(plain, audit.notes)
    if audit.unannotated:
        rest = len(audit.unannotated) - _MOST_ATOMS
        named = ", ".join(audit.unannotated[:_MOST_ATOMS])
        yield f"never annotated, so UNKNOWN: {named}" + (f", and {rest} more" if rest > 0 else "")
