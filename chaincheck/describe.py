"""A triplet as text for a reader: the question, the supports and every edit, marked."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from chaincheck.items import Edit, Item, Triplet

__all__ = ["describe", "marked"]


def marked(passage: str, edits: Iterable[Edit]) -> str:
    """A passage of cell A with its edits as ``[before → after]``."""
    text = passage
    for edit in sorted(edits, key=lambda found: -found.start):
        text = f"{text[: edit.start]}[{edit.before} → {edit.after}]{text[edit.end :]}"
    return text


def _block(label: str, text: str, width: int) -> str:
    wrapped = [
        textwrap.fill(line, width, initial_indent="    ", subsequent_indent="    ")
        for line in text.splitlines()
    ]
    return "\n".join([label, *wrapped])


def describe(triplet: Triplet, *, width: int = 100, others: bool = True) -> str:
    """Show a triplet: question, answer, supports with their edits, other passages that matter.

    Edited spans are shown as ``[before → after]``: in B every one of them is made, in D those of
    the later support alone.

    Args:
        triplet: cells A, B and D, with the provenance of the edits.
        width: columns.
        others: also show distractors that were edited or were put there as a decoy.
    """
    a, b = triplet.cells["A"], triplet.cells["B"]
    lines = [
        f"{triplet.variant} {triplet.pair_id} ({a.source} {a.source_id}, link {a.link})",
        f"Question:    {a.query}",
        f"Answer:      {a.answer}",
        f"Bridge:      {a.bridge}",
        f"Replacement: {a.replacement}",
    ]
    shown = [("earlier support", index) for index in a.earlier_support]
    shown += [("later support", index) for index in a.later_support]
    if others:
        known = {index for _, index in shown}
        rest = sorted({edit.passage for edit in b.edits} - known)
        name = "decoy or edited passage" if triplet.variant == "decoy" else "edited passage"
        shown += [(name, index) for index in rest]
    for name, index in shown:
        edits = [edit for edit in b.edits if edit.passage == index]
        text = marked(a.passages[index], edits)
        lines.append(_block(f"{name} ({index}):", text, width))
    if "C" in triplet.cells:
        lines.append(_missing(triplet.cells["C"], a, width))
    return "\n".join(lines)


def _missing(c: Item, a: Item, width: int) -> str:
    """What stands in cell C and not in A."""
    new = [passage for passage in c.passages if passage not in set(a.passages)]
    return "\n".join(_block("in C instead of the later support:", text, width) for text in new[:1])
