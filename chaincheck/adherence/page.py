"""The report as one HTML page that needs nothing else: no script, no font, no network.

The page allows itself nothing by its content security policy but its own style sheet, named by
its digest, so that even an escaping mistake could neither run nor load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence

from chaincheck.adherence.findings import Audit, Conflict, Finding, Lint, Witness
from chaincheck.adherence.highlights import reference, source_section
from chaincheck.adherence.legend import legend
from chaincheck.adherence.markup import attribute, element, show, table
from chaincheck.adherence.page_style import STYLE
from chaincheck.adherence.replay import Annotation, Recorded, Replay, Span
from chaincheck.adherence.wording import because, no_flip, open_reason

__all__ = ["report_page"]

_MOST_SHOWN = 12  # readings of one atom, side by side
_SETTLED = "The verdict would be settled by knowing"
_BECOMES = "The overall status becomes"
_MARKS = {"SATISFIED": "✓", "VIOLATED": "✗", "UNKNOWN": "?"}
_DIGEST = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; form-action 'none'"


def report_page(recorded: Recorded, audit: Audit) -> str:
    """Return the page.

    Args:
        recorded: the replay and its gold label.
        audit: what was found about that replay.
    """
    title = attribute(f"{audit.overall}: audit of {audit.id}")
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n"
    )
    said = "".join(_sections(recorded, audit))
    main = element("main", said, _legend(audit, said))
    return f"{head}<body>\n{main}\n</body>\n</html>\n"


def _sections(recorded: Recorded, audit: Audit) -> Iterator[str]:
    replay = recorded.replay
    yield _header(recorded, audit)
    yield _dimensions(audit)
    yield _listed("Conflicts", (_conflict(*one) for one in audit.conflicts.items()))
    yield _requirements(replay, audit)
    yield _grounding(replay, audit)
    yield _witnesses(audit)
    yield _distance(replay, audit)
    yield _sources(replay)
    yield _annotations(replay)
    yield _listed("Warnings", map(show, audit.warnings))
    yield _listed("Notes", _notes(audit))
    yield _listed(
        "Weaknesses of the protocol",
        map(_weakness, audit.lints),
    )


def _weakness(lint: Lint) -> str:
    subject = element("bdi", show(lint.subject))
    return f"{element('code', show(lint.code))} ({subject}): {show(lint.message)}."


def _legend(audit: Audit, said: str) -> str:
    terms = legend(
        audit,
        said,
        possibility="[atom TRUE], [atom FALSE]",
        offsets="0–9",
        settlement=_SETTLED,
        radius=_BECOMES,
        bases=True,
    )
    lines = (
        element("dt", term.replace("_", " ")) + element("dd", f"{meaning}.")
        for term, meaning in terms
    )
    return element(
        "section",
        element("h2", "What the words mean", id="words"),
        element("dl", *lines),
    )


def _badge(status: str) -> str:
    mark = _MARKS.get(status, "–")
    sign = element("span", mark, " ", aria_hidden="true")
    return element("span", sign, status.replace("_", " "), css=f"badge {status}")


def _listed(title: str, items: Iterable[str]) -> str:
    lines = [element("li", item) for item in items]
    if not lines:
        return ""
    return element("section", element("h2", title), element("ul", *lines))


def _header(recorded: Recorded, audit: Audit) -> str:
    replay, gold = recorded.replay, recorded.gold
    judged = f"The judge said {element('strong', audit.observed)}"
    if gold is not None:
        right = "right" if gold == replay.verdict else "wrong"
        judged += f", which is {right}: the gold label is {element('strong', gold)}"
    rules = f"{element('bdi', show(audit.protocol))}"
    if replay.protocol.description:
        rules += f": {element('bdi', show(replay.protocol.description))}"
    forced = [element("li", show(reason)) for reason in audit.overall_forced_by]
    notice = ""
    if forced:
        text = "The overall status is UNKNOWN whatever else was found, because of:"
        notice = element("div", text, element("ul", *forced), css="notice")
    return element(
        "header",
        element("h1", "Audit of ", element("bdi", show(audit.id))),
        element("p", _badge(audit.overall), " ", judged, ".", css="verdict"),
        element("p", "Protocol ", rules, css="soft"),
        element("p", element("a", "What the words mean", href="#words"), css="soft"),
        notice,
    )


def _dimensions(audit: Audit) -> str:
    rows = [
        (name, _badge(status), because(audit, name)) for name, status in audit.dimensions.items()
    ]
    bases = ", ".join(f"{name} {status}" for name, status in audit.bases.items())
    return element(
        "section",
        element("h2", "Four dimensions"),
        table(("Dimension", "Status", "Because"), rows, "Status of each dimension"),
        element("p", "Bases: ", bases, ".", css="soft"),
    )


def _conflict(base: str, conflict: Conflict | None) -> str:
    name = f"Base {element('code', base)}: "
    if conflict is None:
        return f"{name}no minimal conflict was found within the limits."
    parts = [f"constraint {element('bdi', show(one))}" for one in conflict.constraints]
    parts += [
        f'<a href="#a{at + 1}">annotation {at + 1}</a> ({element("code", show(literal))})'
        for at, literal in zip(conflict.annotations, conflict.literals, strict=True)
    ]
    size = " No conflict is smaller." if conflict.smallest else ""
    return f"{name}these cannot all hold: {', '.join(parts) or 'the decision by itself'}.{size}"


def _requirements(replay: Replay, audit: Audit) -> str:
    if not audit.requirements:
        return ""
    rows = []
    for rule, one in zip(replay.protocol.requirements, audit.requirements, strict=True):
        met = element("small", one.met.classification, css="soft")
        seen = _badge(one.coverage_status)
        detail = open_reason(one.met, one.detail) if one.status == "UNKNOWN" else ""
        warning = (one.warning or "").replace("_", " ")
        name = element("bdi", show(one.id))
        if rule.description:
            name += f"<br>{element('bdi', show(rule.description), css='soft')}"
        said = "; ".join(part for part in (detail, warning) if part)
        rows.append((name, f"{_badge(one.status)} {met}", seen, said or "–"))
    heads = ("Requirement", "Met", "Can be seen", "Detail")
    return element(
        "section",
        element("h2", "Procedure and coverage"),
        table(heads, rows, "Each requirement, whether it is met and whether that can be seen"),
    )


def _grounding(replay: Replay, audit: Audit) -> str:
    if not audit.grounding:
        return ""
    words = {one.id: one.description for one in replay.protocol.atoms}
    rows = []
    for one in audit.grounding:
        name = element("code", one.judge)
        if words[one.judge]:
            name += f"<br>{element('bdi', show(words[one.judge]), css='soft')}"
        said = (one.mismatch or "").replace("_", "-")
        if one.status == "UNKNOWN":
            said = open_reason(one.agree, None)
        judge, context = _readings(replay, one.judge), _readings(replay, one.context)
        rows.append((name, judge, context, f"{_badge(one.status)} {said}"))
    heads = ("Claim", "Judge says", "Context says", "Agree")
    return element(
        "section",
        element("h2", "Grounding"),
        table(heads, rows, "Each claim of the judge beside the independent reading"),
    )


def _readings(replay: Replay, atom: str) -> str:
    """What the annotations say about an atom, each with a link."""
    said = [
        element("span", one.value, element("sup", reference(at, one)), css="keep")
        for at, one in enumerate(replay.annotations)
        if one.atom == atom
    ]
    if len(said) > _MOST_SHOWN:
        said[_MOST_SHOWN:] = [f"and {len(said) - _MOST_SHOWN} more"]
    return " ".join(said) or element("em", "not annotated")


def _open_questions(audit: Audit) -> Iterator[tuple[str, Finding]]:
    if audit.verdict is not None:
        yield "verdict PASS", audit.verdict
    for one in audit.requirements:
        yield f"requirement {show(one.id)}", one.met
        if one.addressed is not None:
            yield f"coverage of {show(one.id)}", one.addressed
    for pair in audit.grounding:
        yield f"{pair.judge} and {pair.context} agree", pair.agree


def _witnesses(audit: Audit) -> str:
    rows = [
        (name, _witness(finding.when_true), _witness(finding.when_false))
        for name, finding in _open_questions(audit)
        if finding.when_true is not None or finding.when_false is not None
    ]
    if not rows:
        return ""
    heads = ("Question", "It can be true", "It can be false")
    return element(
        "section",
        element("h2", "What is open"),
        element("p", "Values in brackets are supposed: possible, and found by nobody.", css="soft"),
        table(heads, rows, "For each open question one possibility on either side"),
    )


def _witness(witness: Witness | None) -> str:
    if witness is None:
        return "–"
    supposed = set(witness.possibilities)
    parts = []
    for atom, value in witness.values.items():
        text = f"{element('code', atom)} {'TRUE' if value else 'FALSE'}"
        parts.append(f"[{text}]" if atom in supposed else text)
    return ", ".join(parts) or "whatever the atoms are"


def _distance(replay: Replay, audit: Audit) -> str:
    items = []
    if audit.settlement is not None:
        atoms = audit.settlement.atoms
        if atoms is None:
            said = f"What would settle the verdict: {show(audit.settlement.reason or 'not found')}."
        else:
            named = ", ".join(element("code", atom) for atom in atoms)
            said = f"{_SETTLED} {named}."
        items.append(said)
    radius = audit.radius
    if radius is not None and radius.flips is not None:
        named = ", ".join(_numbered(at, replay.annotations) for at in radius.annotations)
        items.append(
            f"{_BECOMES} {radius.overall} when {radius.flips} of the annotations "
            f"{'is' if radius.flips == 1 else 'are'} turned from TRUE to FALSE or back: {named}."
        )
    elif radius is not None:
        items.append(
            "Turning annotations from TRUE to FALSE or back, to change the overall status: "
            f"{no_flip(radius)}."
        )
    return _listed("How firm this is", items)


def _numbered(at: int, annotations: Sequence[Annotation]) -> str:
    return f'<a href="#a{at + 1}">{at + 1}</a> ({element("code", annotations[at].atom)})'


def _sources(replay: Replay) -> str:
    roles = replay.protocol.roles()
    legend = "Marked: what is quoted for a " + ", ".join(
        element("mark", role, css=role) for role in ("judge", "context", "procedure")
    )
    several = element("mark", "several", css="many")
    return element(
        "section",
        element("h2", "Texts"),
        element("p", legend, f" atom, or for {several}; numbers lead to the annotation."),
        *(
            source_section(number, source, replay.annotations, roles)
            for number, source in enumerate(replay.sources, 1)
        ),
    )


def _annotations(replay: Replay) -> str:
    numbers = {source.id: number for number, source in enumerate(replay.sources, 1)}
    words = {one.id: one for one in replay.protocol.atoms}
    rows = []
    for at, one in enumerate(replay.annotations, 1):
        atom = words[one.atom]
        name = f"{at}. {element('code', one.atom)}<br>"
        name += element("span", f"{atom.role}", css="soft")
        said = [element("bdi", show(text)) for text in (atom.description, one.explanation) if text]
        if one.origin:
            said.append(f"origin: {element('bdi', show(one.origin))}")
        quoted = [_quote(span, numbers[span.source]) for span in one.evidence]
        rows.append(
            (
                element("span", name, id=f"a{at}"),
                element("span", one.value, css="keep"),
                element("ul", *(element("li", quote) for quote in quoted)) if quoted else "–",
                "<br>".join(said) or "–",
            )
        )
    if not rows:
        return element("section", element("h2", "Annotations"), element("p", "None."))
    heads = ("Atom", "Value", "Evidence", "Meaning and reason")
    return element(
        "section",
        element("h2", "Annotations"),
        table(heads, rows, "Every reading of an atom with its evidence"),
    )


def _quote(span: Span, number: int) -> str:
    text = span.quote if len(span.quote) <= 160 else f"{span.quote[:159]}…"
    where = f"{span.start}–{span.end}"
    link = element("a", show(span.source), href=f"#s{number}")
    return f"{element('q', show(text))} {element('span', link, ' ', where, css='soft')}"


def _notes(audit: Audit) -> Iterator[str]:
    yield from map(show, audit.notes)
    if audit.unannotated:
        atoms = ", ".join(element("code", atom) for atom in audit.unannotated)
        yield f"Never annotated, and so UNKNOWN: {atoms}."
