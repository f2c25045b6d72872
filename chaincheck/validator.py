"""The nine rules that every triplet must pass, each a function of its own.

A rule takes a :class:`Draft` and answers None, or the reason why the draft must not be written.
The rules read the finished passages, never the way that the builder made them, and look for
mentions with detectors that were written apart from the renaming.

Cell C has a check of its own, :func:`cell_c`, since it is optional: where it fails, the triplet
is written without that cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from chaincheck import gazetteer, gender
from chaincheck.bypass import FAMILY, fold_tokens, holds, holds_name, step_anchor, subject_traces
from chaincheck.draft import Decoy, Draft, residue, telling_words
from chaincheck.identity import qualifiers_tie, two_bearers, two_joints
from chaincheck.items import Edit
from chaincheck.kinds import Nature, base_title, compatible
from chaincheck.leftovers import adjective_of, leftover
from chaincheck.mentions import stands
from chaincheck.other_bearers import another_thing, backwards, kin, opens_otherwise, other_name
from chaincheck.second_answers import end_by_name, rivals
from chaincheck.soundness import (
    another_unstated,
    decoy_unstated,
    earlier_unstated,
    later_unstated,
)
from chaincheck.step_wording import step_names
from chaincheck.ways_around import named_beside, other_ways, shared_name

__all__ = [
    "RULES",
    "Decoy",
    "Draft",
    "Rule",
    "bypasses",
    "cell_c",
    "residue",
    "telling_words",
    "validate",
]


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def q1_shape(draft: Draft) -> str | None:
    """Two different support passages, in range; exactly the hops claimed."""
    chain = draft.chain
    size = len(draft.cells["A"])
    start = chain.later.subject
    lost = [passage.whole for passage in chain.gold if passage.whole not in draft.cells["A"]]
    same = start is None or (
        telling_words(start) & telling_words(chain.bridge)
        or fold_tokens(start) == fold_tokens(chain.bridge)
    )
    faults = (
        (not 0 <= draft.earlier < size, f"the earlier support is not one of {size} passages"),
        (not 0 <= draft.later < size, f"the later support is not one of {size} passages"),
        (draft.earlier == draft.later, "one passage supports both hops"),
        (not 2 <= chain.link <= chain.hops, f"no link {chain.link} in {chain.hops} hops"),
        (
            fold_tokens(chain.earlier.answer) != fold_tokens(chain.bridge),
            f"the earlier hop leads to {_cut(chain.earlier.answer)!r}, not to the bridge",
        ),
        (not same, f"the later hop starts at {_cut(start or '')!r}, not at the bridge"),
        (
            {len(draft.cells[cell]) for cell in ("A", "B", "D")} != {size},
            "the cells hold different numbers of passages",
        ),
        (bool(lost), f"the support {_cut(''.join(lost[:1]))!r} of some hop is missing"),
    )
    reason = next((reason for found, reason in faults if found), None)
    if reason is None and draft.strict:
        reason = two_joints(chain) or another_unstated(chain)
    return reason


def q2_earlier(draft: Draft) -> str | None:
    """The bridge stands in the earlier support."""
    if not stands(draft.cells["A"][draft.earlier], draft.bridge):
        return f"the earlier support does not name {draft.bridge.name!r}"
    for name in (draft.bridge.name, draft.replacement.name):
        if _edged(name):
            return f"{_cut(name)!r} begins or ends with punctuation"
    return earlier_unstated(draft) if draft.strict else None


def _edged(name: str) -> bool:
    """Whether a mark stands at an edge of a name, where a span may or may not take it in."""
    return not name or not name[0].isalnum() or not (name[-1].isalnum() or name[-1] == ".")


def q3_later(draft: Draft) -> str | None:
    """The bridge stands in the later support."""
    if not stands(draft.cells["A"][draft.later], draft.bridge):
        return f"the later support does not name {draft.bridge.name!r}"
    if not draft.strict:
        return None
    return two_bearers(draft.chain, draft.bridge.name, draft.bridge_nature)


def q4_answer(draft: Draft) -> str | None:
    """The answer stands in the later support of A, B and D; the edit leaves it alone."""
    forms = draft.answers[0]
    for cell in ("A", "B", "D"):
        text = draft.cells[cell][draft.later]
        if not any(holds(text, form) for form in forms):
            return f"the later support of {cell} does not hold the answer {_cut(forms[0])!r}"
    names = telling_words(draft.bridge.name) | telling_words(draft.replacement.name)
    for group in draft.answers:
        for form in group:
            shared = telling_words(form) & names
            if shared or fold_tokens(form) == fold_tokens(draft.bridge.name):
                return f"the answer {_cut(form)!r} overlaps the bridge or the replacement"
    for cell in ("B", "D") if len(draft.answers) > 1 else ():
        if _final_answer(draft, "A") and not _final_answer(draft, cell):
            return f"{cell} no longer holds the final answer {_cut(draft.chain.answer)!r}"
    return later_unstated(draft) if draft.strict else None


def _final_answer(draft: Draft, cell: str) -> bool:
    """Whether a cell holds the final answer, which an inner link must leave where it is."""
    return any(holds(text, form) for text in draft.cells[cell] for form in draft.answers[-1])


def q5_question(draft: Draft) -> str | None:
    """The question names neither the bridge nor the replacement, and fits the replacement."""
    question = draft.chain.question
    # "Anna Benson's husband" holds the surname of Kris Benson, and names somebody else.
    family = draft.chain.earlier.relation in FAMILY and draft.bridge_nature.kind == "person"
    head = draft.chain.earlier.subject or ""
    allowed = set(fold_tokens(head)) if family and not stands(question, draft.bridge) else set()
    for _, _, surface in residue(question, draft.bridge):
        if not set(fold_tokens(surface)) <= allowed:
            return f"the question may name the bridge: {surface!r}"
    derived = adjective_of(draft.bridge.name, question)
    if derived:
        return f"the question holds {derived!r}, which is derived from the bridge"
    asked = set(fold_tokens(question)) - allowed
    for entity, role in ((draft.bridge, "bridge"), (draft.replacement, "replacement")):
        shared = telling_words(entity.name) & asked
        if shared:
            return f"the question holds {min(shared)!r} of the {role}"
    nature = draft.bridge_nature
    if nature.kind == "person" and nature.pronoun is None and gender.gendered_words(question):
        return "the question tells a gender, that of the bridge is unknown"
    return None


def q6_clean(draft: Draft) -> str | None:
    """B holds no trace of the bridge; every renamed span is on record."""
    a, b = draft.cells["A"], draft.cells["B"]
    edits = draft.edits.get("B", ())
    if _replay(a, edits) != b:
        return "the recorded edits do not lead from A to B"
    edited = {edit.passage for edit in edits}
    for index in (draft.earlier, draft.later):
        if index not in edited:
            return f"nothing was renamed in support {index}"
        if not stands(b[index], draft.replacement):
            return f"support {index} of B does not name the replacement"
    decoy = draft.decoy.index if draft.decoy else None
    for index, text in enumerate(b):
        told = kin(draft, index)
        if index in edited:
            told = told or another_thing(draft, index) or other_name(draft, text)
            told = told or opens_otherwise(draft, index)
        if index != decoy:
            told = told or _trace_of_bridge(draft, text, edited=index in edited)
        if told:
            return f"passage {index} of B {told}"
    return None


def _trace_of_bridge(draft: Draft, text: str, *, edited: bool) -> str | None:
    left = residue(text, draft.bridge)
    if left:
        return f"still holds {left[0][2]!r}"
    folded = " ".join(fold_tokens(draft.bridge.name))
    nickname = next((name for name in gazetteer.nicknames(folded) if holds(text, name)), None)
    if nickname and edited:
        return f"calls the bridge {nickname!r}"
    reverse = backwards(text, draft.bridge.name)
    if reverse:
        return f"holds {reverse!r}, a word of the bridge spelled backwards"
    adjective = gazetteer.demonym(folded)
    if adjective and holds(text, adjective):
        return f"still holds {adjective!r}"
    return leftover(draft, text) if edited else None


def _replay(passages: tuple[str, ...], edits: Iterable[Edit]) -> tuple[str, ...] | None:
    """Apply edits to passages; None where a span does not hold what it should."""
    texts = list(passages)
    for edit in sorted(edits, key=lambda found: (found.passage, -found.start)):
        original = passages[edit.passage]
        if original[edit.start : edit.end] != edit.before:
            return None
        text = texts[edit.passage]
        texts[edit.passage] = text[: edit.start] + edit.after + text[edit.end :]
    return tuple(texts)


def q7_minimal(draft: Draft) -> str | None:
    """D differs from A in the later support only, and that passage equals B's."""
    a, b, d = (draft.cells[cell] for cell in ("A", "B", "D"))
    for index, (before, after) in enumerate(zip(a, d, strict=True)):
        if index != draft.later and before != after:
            return f"passage {index} of D differs from A"
    if d[draft.later] != b[draft.later]:
        return "the later supports of B and D differ"
    if d[draft.later] == a[draft.later]:
        return "the later support of D was not edited"
    return None


def q8_fresh(draft: Draft) -> str | None:
    """The replacement is new to the context (or stands in the decoy only) and of one kind."""
    one, other = draft.bridge_nature, draft.replacement_nature
    alike = one.kind is not None and (one.kind, one.sort) == (other.kind, other.sort)
    if not (alike if draft.variant == "fict" else compatible(one, other)):
        return f"the bridge is {_described(one)}, the replacement {_described(other)}"
    if one.kind == "person" and one.pronoun != other.pronoun:
        return f"the bridge is a {one.pronoun or '?'}, the replacement a {other.pronoun or '?'}"
    if one.kind == "person" and one.pronoun is None:
        for index in (draft.earlier, draft.later):
            if gender.gendered_words(draft.cells["A"][index]):
                return f"passage {index} tells a gender, that of the bridge is unknown"
    decoy = draft.decoy
    words = telling_words(draft.replacement.name)
    for index, text in enumerate(draft.cells["A"]):
        if decoy and index == decoy.index:
            continue
        shared = words & set(fold_tokens(text))
        if shared or holds(text, draft.replacement.name):
            return f"passage {index} already holds {min(shared, default=draft.replacement.name)!r}"
    if telling_words(draft.bridge.name) & words:
        return "bridge and replacement share a word"
    return _decoy_fault(draft, decoy) if decoy else None


def _described(nature: Nature) -> str:
    return f"a {nature.sort or nature.kind or 'thing of unknown kind'}"


def _decoy_fault(draft: Draft, decoy: Decoy) -> str | None:
    """What keeps a decoy from being a dead end of its own, if anything."""
    passages = draft.cells["A"]
    text = passages[decoy.index]
    named = residue(text, draft.bridge) or (
        telling_words(draft.bridge.name) & set(fold_tokens(text))
    )
    faults = (
        (decoy.index in (draft.earlier, draft.later), "the decoy is a support"),
        (not stands(text, draft.replacement), "the decoy does not name the replacement"),
        (bool(named), "the decoy names the bridge"),
        (bool(subject_traces(draft.subject, text)), "the decoy names the question's own subject"),
        (any(holds(text, trace) for trace in draft.traces), "the decoy holds the answer"),
    )
    fault = next((reason for found, reason in faults if found), None)
    if fault is None and decoy_unstated(decoy.fact):
        fault = f"the decoy does not state {decoy.fact.relation!r}"
    names = (draft.bridge.name, draft.replacement.name)
    hops = (passages[draft.earlier], passages[draft.later], text)
    if fault is None and draft.bridge_nature.kind == "place" and not qualifiers_tie(names, hops):
        fault = "the regions told behind the bridge and the replacement differ"
    return fault or _counts_fault(draft, decoy)


def _counts_fault(draft: Draft, decoy: Decoy) -> str | None:
    """Where a name stands in a passage too many or too few, so that B and D do not tie."""
    own = (draft.earlier, draft.later, decoy.index)
    for index, text in enumerate(draft.cells["A"]):
        if index not in own and residue(text, draft.bridge):
            return f"the bridge stands in a third passage, {index}"
    old, new = draft.bridge.name, draft.replacement.name
    expected = (
        ("B", draft.earlier, new),
        ("B", decoy.index, old),
        ("D", draft.earlier, old),
        ("D", decoy.index, new),
    )
    for cell, index, name in expected:
        if not stands(draft.cells[cell][index], name):
            return f"passage {index} of {cell} does not name {name!r}"
    # Length is a surface cue too: it ties where both names stand equally often beside the later
    # support, or are equally long.
    more = sum(map(len, draft.cells["B"])) - sum(map(len, draft.cells["D"]))
    return f"B and D differ in length, by {abs(more)} characters" if more else None


def bypasses(draft: Draft, cell: str = "D") -> dict[int, str]:
    """Passages beside the later support that let a reader reach the answer, with the reason."""
    page = base_title(draft.chain.passages[draft.later].title)
    words = telling_words(page)
    links = bool(words) and not (
        words & telling_words(draft.bridge.name)
        or all(gazetteer.is_common(word) for word in fold_tokens(page))
    )
    found: dict[int, str] = {}
    for index, text in enumerate(draft.cells[cell]):
        if index == draft.later:
            continue
        trace = next((found for found in draft.traces if holds(text, found)), None)
        page_here = links and holds_name(text, page)
        if trace is None and not page_here:
            continue
        bridge_here = bool(residue(text, draft.bridge)) or stands(text, draft.bridge)
        if trace is not None and bridge_here:
            found[index] = f"passage {index} holds the bridge and {_cut(trace)!r} of the answer"
        elif trace is not None and subject_traces(draft.subject, text):
            found[index] = f"passage {index} holds the subject and {_cut(trace)!r} of the answer"
        elif page_here and bridge_here:
            found[index] = f"passage {index} ties the bridge to the later support's page {page!r}"
    return found


def q9_bypass(draft: Draft) -> str | None:
    """In D nothing but the later support lets a reader reach the answer."""
    later = draft.cells["D"][draft.later]
    named = subject_traces(draft.subject, later)
    if named:
        return f"the later support names the subject of the earlier hop: {_cut(named[0])!r}"
    around = _way_around(draft, later) if draft.strict else None
    return around or next(iter(bypasses(draft).values()), None)


def _way_around(draft: Draft, later: str) -> str | None:
    """What in D leads to the answer although nothing holds both bridge and answer."""
    title = base_title(draft.chain.passages[draft.later].title)
    anchor = step_anchor(draft.chain.later.question, title, later) or step_names(draft)
    if anchor is not None:
        return f"the later step is answered by {_cut(anchor)!r}, whatever the bridge"
    third = shared_name(draft)
    if third is not None:
        return f"both supports also name {_cut(third)!r}"
    around = named_beside(draft) or other_ways(draft) or end_by_name(draft)
    return around or next(iter(rivals(draft).values()), None)


Rule = Callable[[Draft], str | None]

RULES: Mapping[str, tuple[Rule, str]] = {
    name: (rule, (rule.__doc__ or "").splitlines()[0])
    for name, rule in (
        ("Q1", q1_shape),
        ("Q2", q2_earlier),
        ("Q3", q3_later),
        ("Q4", q4_answer),
        ("Q5", q5_question),
        ("Q6", q6_clean),
        ("Q7", q7_minimal),
        ("Q8", q8_fresh),
        ("Q9", q9_bypass),
    )
}


def validate(draft: Draft) -> list[tuple[str, str]]:
    """Every rule that a draft breaks, in order, with the reason; empty for a sound triplet.

    Where Q1 fails the others are not asked, since they rely on the supports.
    """
    shape = q1_shape(draft)
    if shape is not None:
        return [("Q1", shape)]
    found = []
    for name, (rule, _) in RULES.items():
        reason = rule(draft)
        if reason is not None:
            found.append((name, reason))
    return found


def cell_c(draft: Draft) -> str | None:
    """Cell C is broken without an edit: nothing in it supports the later hop.

    Every passage is an unedited one, the later support is gone, and no passage holds the answer
    together with the bridge or the earlier subject.
    """
    a, c = draft.cells["A"], draft.cells["C"]
    if a[draft.later] in c:
        return "the later support is still there"
    if a[draft.earlier] not in c:
        return "the earlier support is gone"
    edited = set(draft.cells["B"]) - set(a)
    if edited & set(c):
        return "an edited passage stands in C"
    for index, text in enumerate(c):
        trace = next((found for found in draft.traces if holds(text, found)), None)
        if trace is None:
            continue
        if residue(text, draft.bridge) or subject_traces(draft.subject, text):
            return f"passage {index} of C links to {_cut(trace)!r} of the answer"
    return None
