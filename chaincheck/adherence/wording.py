"""The words in which reports, on a terminal and on a page, say what was found."""

from __future__ import annotations

from collections.abc import Sequence

from chaincheck.adherence.findings import Audit, Finding, FlipRadius, Lint, Status
from chaincheck.adherence.logic import Atom, Const, Expression, postorder

__all__ = ["because", "counted", "formula", "no_flip", "open_reason", "plain", "printable",
           "uncovered", "weakness"]  # fmt: skip

_VERDICT = {
    "ENTAILED": "{0} follows from the annotations and the protocol",
    "REFUTED": "the annotations and the protocol rule {0} out",
    "UNDERDETERMINED": "both verdicts are possible as far as is known",
    "INCONSISTENT": "the annotations and the protocol contradict each other",
    "SOLVER_UNKNOWN": "not decided within the limits",
}
_OPEN = {
    "UNDERDETERMINED": "open, both ways are possible",
    "INCONSISTENT": "the annotations contradict each other",
    "SOLVER_UNKNOWN": "not decided within the limits",
}
_DETAIL = {
    "observable_undetermined": "could be seen, and is open",
    "not_observable": "cannot be seen in this replay",
    "coverage_undetermined": "open, and so is whether it can be seen",
}


def plain(text: str) -> str:
    """Make a replay's text safe for a terminal: one line, every character printable.

    Control characters, which move a cursor, and marks that turn the direction of writing around
    are shown as spaces.
    """
    folded = "".join(ch if ch.isprintable() else " " for ch in text)
    return " ".join(folded.split())


def printable(text: str) -> str:
    """Make a text of several lines safe for a terminal: all else that is not printable is a space.

    Tables keep their columns, since no character is dropped.
    """
    return "".join(ch if ch == "\n" or ch.isprintable() else " " for ch in text)


def weakness(lint: Lint) -> str:
    """Name a weakness of a protocol, what is weak, and why."""
    return f"{lint.code} ({plain(lint.subject)}): {plain(lint.message)}"


def counted(count: int, what: str, several: str | None = None) -> str:
    """Say how many there are: ``1 reply``, ``2 replies``.

    Args:
        count: how many.
        what: one of them.
        several: more of them, where that is not ``what`` with an s.
    """
    return f"{count} {what if count == 1 else several or what + 's'}"


def formula(expr: Expression) -> str:
    """Write an expression as people do: ``not a``, ``a and (b or c)``, ``a implies b``.

    Args:
        expr: the expression; every operator within another stands in brackets, but ``not``.
    """
    parts: list[str] = []
    for node in postorder(expr):
        if isinstance(node, Atom):
            parts.append(node.id)
        elif isinstance(node, Const):
            parts.append("true" if node.value else "false")
        else:
            count = len(node.args)
            args = [f"({arg})" if _joined(arg) else arg for arg in parts[-count:]]
            parts[-count:] = [f"not {args[0]}" if node.op == "not" else f" {node.op} ".join(args)]
    return parts[0]


def _joined(text: str) -> bool:
    """Whether a text is more than an atom, a constant or the negation of either."""
    return " " in text.removeprefix("not ")


def open_reason(finding: Finding, detail: str | None) -> str:
    """Say why a question is neither SATISFIED nor VIOLATED."""
    if detail is not None:
        return _DETAIL[detail]
    return _OPEN.get(finding.classification, finding.classification)


def no_flip(radius: FlipRadius) -> str:
    """Say why no set of annotations was found that changes the overall status.

    Args:
        radius: one without ``flips``.
    """
    tried = f"no set of up to {counted(radius.searched, 'annotation')} changes it"
    if radius.reason == "none":
        if not radius.searched:
            return "no annotation is TRUE or FALSE yet, so there is none to turn round"
        return "no set of annotations changes it"
    if radius.reason == "undecided":
        limit = "a check reached its limit"
        return (
            f"{tried}; of more it is not known: {limit}"
            if radius.searched
            else (f"not known: {limit}")
        )
    return tried if radius.searched else "not known: too many sets to try"


def uncovered(addressed: Finding | None) -> str:
    """Say why it does not follow that one can see whether a requirement is met.

    Args:
        addressed: its coverage against the evidence.
    """
    if addressed is not None and addressed.classification == "REFUTED":
        return _DETAIL["not_observable"]
    return "open" if addressed is None else open_reason(addressed, None)


def because(audit: Audit, dimension: str) -> str:
    """Say in a few words why a dimension has its status."""
    if audit.verdict is None:
        return "the protocol could not be translated"
    if dimension == "verdict":
        return _VERDICT[audit.verdict.classification].format(audit.observed)
    if dimension == "procedure":
        return _counted([one.status for one in audit.requirements], "requirement", "met", "broken")
    if dimension == "coverage":
        asked = [one.coverage_status for one in audit.requirements if one.addressed is not None]
        return _counted(asked, "requirement", "can be seen", "")
    return _counted([one.status for one in audit.grounding], "claim", "grounded", "not as read")


def _counted(statuses: Sequence[Status], what: str, good: str, bad: str) -> str:
    total = len(statuses)
    if not total:
        return f"the protocol names no {what} here"
    met = statuses.count("SATISFIED")
    parts = [f"{met} of {counted(total, what)} {good}"]
    if broken := statuses.count("VIOLATED"):
        parts.append(f"{broken} {bad}")
    if left := statuses.count("UNKNOWN"):
        parts.append(f"{left} open")
    return ", ".join(parts)
