"""Make the cells A, B and D of one chain for one replacement, or say why they cannot be made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from chaincheck.bypass import FAMILY
from chaincheck.chains import Chain
from chaincheck.items import Edit
from chaincheck.kinds import Nature
from chaincheck.mentions import AmbiguousMention, Entity, rename, rename_all
from chaincheck.validator import RULES, Decoy, Draft, validate

__all__ = ["PLACEHOLDER", "Named", "Reasons", "attempt", "unedited"]

Reasons = list[tuple[str, str]]
"""Rules that failed, in order, each with its reason."""
Named = tuple[Entity, Nature]
"""An entity and what it is."""
PLACEHOLDER = "Zzyqvix"
"""A name that no text holds, to ask the rules about a chain that has no replacement yet."""


class _UnsafeRenameError(Exception):
    """A rename that cannot be done with certainty, and the rule that it endangers."""

    def __init__(self, rule: str, reason: str) -> None:
        self.rule = rule
        self.reason = reason
        super().__init__(reason)


def unedited(chain: Chain, bridge: Named) -> Draft:
    """A draft in which nothing was renamed, for the rules that ask the source's text alone."""
    a = tuple(passage.whole for passage in chain.passages)
    return Draft(
        chain=chain,
        variant="",
        bridge=bridge[0],
        replacement=Entity(PLACEHOLDER, bridge[1].kind),
        bridge_nature=bridge[1],
        replacement_nature=bridge[1],
        cells={"A": a, "B": a, "D": a},
    )


def _rename_everywhere(
    chain: Chain,
    entity: Entity,
    replacement: Entity,
    decoy: int | None,
    plain: Collection[str],
) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    """Rename the bridge in every passage; in a decoy the replacement becomes the bridge."""
    passages = [passage.whole for passage in chain.passages]
    others = [index for index, text in enumerate(passages) if index != decoy and text not in plain]
    answers = (chain.answer, *chain.answer_aliases, chain.later.answer)
    if chain.earlier.relation in FAMILY and chain.earlier.subject:
        # A relative's surname goes along with the person's; the question's own subject keeps its.
        answers = (*answers, chain.earlier.subject)
    try:
        done = dict(
            zip(
                others,
                rename_all([passages[index] for index in others], entity, replacement, answers),
                strict=True,
            )
        )
    except AmbiguousMention as doubt:
        index = None if doubt.passage is None else others[doubt.passage]
        rule = {chain.earlier.support: "Q2", chain.later.support: "Q3"}.get(
            -1 if index is None else index, "Q6"
        )
        if doubt.reason.startswith("the protected"):
            rule = "Q4"
        raise _UnsafeRenameError(rule, f"passage {index}: {doubt.reason}") from doubt
    if decoy is not None:
        try:
            done[decoy] = rename(passages[decoy], replacement, entity)
        except AmbiguousMention as doubt:
            raise _UnsafeRenameError("Q8", f"decoy: {doubt.reason}") from doubt
    edits = tuple(
        Edit(passage=index, start=start, end=end, before=before, after=after)
        for index in sorted(done)
        for start, end, before, after in done[index].spans
    )
    texts = (done[n].text if n in done else text for n, text in enumerate(passages))
    return tuple(texts), edits


def _draft(
    chain: Chain,
    variant: str,
    bridge: Named,
    replacement: Named,
    *,
    decoy: Decoy | None,
    plain: Collection[str],
) -> Draft:
    """Make the cells A, B and D.

    Raises:
        _UnsafeRenameError: some mention may or may not be the bridge.
    """
    a = tuple(passage.whole for passage in chain.passages)
    later = chain.later.support
    seat = decoy.index if decoy else None
    b, edits = _rename_everywhere(chain, bridge[0], replacement[0], seat, plain)
    d = (*a[:later], b[later], *a[later + 1 :])
    return Draft(
        chain=chain,
        variant=variant,
        bridge=bridge[0],
        replacement=replacement[0],
        bridge_nature=bridge[1],
        replacement_nature=replacement[1],
        cells={"A": a, "B": b, "D": d},
        edits={"B": edits, "D": tuple(edit for edit in edits if edit.passage == later)},
        decoy=decoy,
    )


def _unsafe_reasons(
    chain: Chain, bridge: Named, doubt: _UnsafeRenameError, *, strict: bool
) -> Reasons:
    """The rule that an unsafe rename endangers, beside whatever the source alone breaks."""
    draft = replace(unedited(chain, bridge), strict=strict)
    found = {doubt.rule: doubt.reason}
    for name in ("Q1", "Q2", "Q3", "Q4", "Q5", "Q9"):
        reason = RULES[name][0](draft)
        if reason is not None:
            found.setdefault(name, reason)
    return sorted(found.items())


def attempt(
    chain: Chain,
    variant: str,
    bridge: Named,
    replacement: Named,
    *,
    decoy: Decoy | None = None,
    plain: Collection[str] = frozenset(),
    strict: bool = True,
) -> tuple[Draft | None, Reasons]:
    """Make a draft and put it before the rules.

    Args:
        chain: the chain, with the context of the draft.
        variant: the variant.
        bridge: the bridge.
        replacement: what takes its place.
        decoy: the dead end, for a decoy.
        plain: passages known to hold nothing that looks like the bridge, which need not be
            searched again. The rules look at them all the same.
        strict: see ``Draft``.

    Returns:
        The draft and no reasons, or None and every rule that failed.
    """
    try:
        draft = _draft(chain, variant, bridge, replacement, decoy=decoy, plain=plain)
    except _UnsafeRenameError as doubt:
        return None, _unsafe_reasons(chain, bridge, doubt, strict=strict)
    draft = replace(draft, strict=strict)
    reasons = validate(draft)
    return (None, reasons) if reasons else (draft, [])
