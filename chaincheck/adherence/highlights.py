"""The texts of a replay as HTML, with what the annotations quote marked in place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from chaincheck.adherence.markup import element, show
from chaincheck.adherence.replay import Annotation, Role, Source, Span

__all__ = ["reference", "source_section"]


def reference(at: int, annotation: Annotation) -> str:
    """Link to an annotation of the page, as a small number."""
    label = f"annotation {at + 1}: {annotation.atom} is {annotation.value}"
    return element("a", str(at + 1), href=f"#a{at + 1}", aria_label=label, title=label)


def source_section(
    number: int, source: Source, annotations: Sequence[Annotation], roles: Mapping[str, Role]
) -> str:
    """Write one source.

    A quote of the whole text is named above it, since to mark everything would mark nothing.

    Args:
        number: the source's number on the page.
        source: the text.
        annotations: all of the replay.
        roles: the role of each atom, which decides the color of a mark.
    """
    length = len(source.text)
    parts: list[tuple[int, Span]] = []
    wholes: dict[int, None] = {}
    for at, annotation in enumerate(annotations):
        for span in annotation.evidence:
            if span.source != source.id:
                continue
            if (span.start, span.end) == (0, length):
                wholes[at] = None
            else:
                parts.append((at, span))
    title = element("h3", show(source.id), " ", element("small", source.kind), id=f"s{number}")
    named = [
        element("code", annotations[at].atom)
        + f" = {annotations[at].value} "
        + element("sup", reference(at, annotations[at]))
        for at in wholes
    ]
    whole = element("p", "Quoted as a whole: ", ", ".join(named), css="whole") if named else ""
    text = _marked(source.text, parts, annotations, roles)
    empty = element("em", "This text is empty.")
    return element("section", title, whole, element("div", text or empty, css="text", dir="auto"))


def _marked(
    text: str,
    parts: Sequence[tuple[int, Span]],
    annotations: Sequence[Annotation],
    roles: Mapping[str, Role],
) -> str:
    """Cut the text where a quote starts or ends, and mark each piece by what quotes it."""
    starts: dict[int, list[int]] = defaultdict(list)
    ends: dict[int, list[int]] = defaultdict(list)
    for at, span in parts:
        starts[span.start].append(at)
        ends[span.end].append(at)
    cuts = sorted({0, len(text), *starts, *ends})
    open_now: dict[Role, int] = {"judge": 0, "context": 0, "procedure": 0}
    out: list[str] = []
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        for at in ends.get(start, ()):
            open_now[roles[annotations[at].atom]] -= 1
        closed = dict.fromkeys(ends.get(start, ()))
        out.extend(element("sup", reference(at, annotations[at])) for at in closed)
        for at in starts.get(start, ()):
            open_now[roles[annotations[at].atom]] += 1
        piece = show(text[start:end])
        quoting = [role for role, count in open_now.items() if count]
        if piece and quoting:
            css = " ".join([*quoting, "many"] if sum(open_now.values()) > 1 else quoting)
            piece = element("mark", piece, css=css)
        out.append(piece)
    return "".join(out)
