"""Turn chains into triplets: cells A, B, D and C, in the variants real, fict and decoy.

For every chain and variant a draft is made and put before the nine rules of the validator; only
drafts that pass all of them become items. Everything is deterministic: each chain has a
generator of its own, seeded by the seed and the chain's content, so that neither the order of
the records nor a rejected neighbor changes a triplet. The pools alone tie records together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from chaincheck.chains import Chain, Fact, Passage, Unusable
from chaincheck.errors import UsageError
from chaincheck.invented import TakenNames
from chaincheck.items import CELLS, VARIANTS, Edit, Item, content_hash
from chaincheck.kinds import Nature
from chaincheck.mentions import AmbiguousMention, Entity, find_all, rename, rename_all, stands
from chaincheck.names import core
from chaincheck.replacements import (
    Pools,
    context_words,
    decoy_facts,
    entity_of,
    invented_name,
    real_candidates,
)
from chaincheck.reports import BuildReport, Example
from chaincheck.standins import broken_context
from chaincheck.validator import RULES, Decoy, Draft, bypasses, residue, validate

__all__ = ["BuildResult", "build"]

Reasons = list[tuple[str, str]]
_MOST_TRIES = 6
_MOST_DECOYS = 40
_SHARE_LEFT_OUT = 3
# A name that no text holds, to ask the rules about a chain that has no replacement yet.
_PLACEHOLDER = "Zzyqvix"


@dataclass(frozen=True)
class BuildResult:
    """What a build made.

    Attributes:
        items: the items, cells of a triplet side by side.
        report: counts and reasons.
    """

    items: tuple[Item, ...]
    report: BuildReport


class _UnsafeRenameError(Exception):
    """A rename that cannot be done with certainty, and the rule that it endangers."""

    def __init__(self, rule: str, reason: str) -> None:
        self.rule = rule
        self.reason = reason
        super().__init__(reason)


def _generator(seed: int, *parts: object) -> np.random.Generator:
    digest = content_hash([seed, *parts], length=16)
    return np.random.default_rng([seed % 2**32, int(digest, 16)])


def _protected(chain: Chain) -> frozenset[int]:
    """Indices of passages that some hop of the question rests on."""
    texts = {fact.passage.whole for fact in chain.facts}
    hops = {chain.earlier.support, chain.later.support}
    return frozenset(
        index
        for index, passage in enumerate(chain.passages)
        if index in hops or passage.whole in texts
    )


def _only(chain: Chain, stay: Sequence[int]) -> Chain:
    """The chain with some of its passages, which must include the supports."""
    place = {index: position for position, index in enumerate(stay)}
    return msgspec.structs.replace(
        chain,
        passages=tuple(chain.passages[index] for index in stay),
        earlier=msgspec.structs.replace(chain.earlier, support=place[chain.earlier.support]),
        later=msgspec.structs.replace(chain.later, support=place[chain.later.support]),
    )


def _with_fewer(chain: Chain, most: int, rng: np.random.Generator) -> Chain:
    """Keep the supports and at most ``most`` distractors, in the source's order."""
    kept = _protected(chain)
    others = [index for index in range(len(chain.passages)) if index not in kept]
    if len(others) <= most:
        return chain
    chosen = sorted(rng.choice(len(others), size=most, replace=False).tolist())
    return _only(chain, sorted(kept | {others[place] for place in chosen}))


def _without_doubtful(chain: Chain, bridge: tuple[Entity, Nature]) -> tuple[Chain, int]:
    """Leave out distractors that would cost the triplet.

    These are the ones in which something may or may not be a mention of the bridge, and those
    that lead to the answer without the later support. Only as many as must go, never a passage
    that a hop rests on, and at most a share of the distractors.

    Returns:
        The chain, unchanged where leaving out does not help, and how many were left out.
    """
    safe = _protected(chain)
    texts = tuple(passage.whole for passage in chain.passages)
    draft = _unedited(chain, bridge)
    leading = bypasses(draft, "A")
    if safe & leading.keys():
        return chain, 0
    stay = [index for index in range(len(texts)) if index not in leading]
    fewest = len(texts) - (len(texts) - len(safe)) // _SHARE_LEFT_OUT
    while len(stay) >= fewest:
        try:
            find_all([texts[index] for index in stay], bridge[0])
        except AmbiguousMention as doubt:
            if doubt.passage is None or stay[doubt.passage] in safe:
                break
            del stay[doubt.passage]
            continue
        if len(stay) == len(texts):
            break
        return _only(chain, stay), len(texts) - len(stay)
    return chain, 0


def _unedited(chain: Chain, bridge: tuple[Entity, Nature]) -> Draft:
    """A draft in which nothing was renamed, for the rules that ask the source's text alone."""
    a = tuple(passage.whole for passage in chain.passages)
    return Draft(
        chain=chain,
        variant="",
        bridge=bridge[0],
        replacement=Entity(_PLACEHOLDER, bridge[1].kind),
        bridge_nature=bridge[1],
        replacement_nature=bridge[1],
        cells={"A": a, "B": a, "D": a},
    )


def _rename_everywhere(
    chain: Chain, entity: Entity, replacement: Entity, decoy: int | None
) -> tuple[tuple[str, ...], tuple[Edit, ...]]:
    """Rename the bridge in every passage; in a decoy the replacement becomes the bridge."""
    passages = [passage.whole for passage in chain.passages]
    others = [index for index in range(len(passages)) if index != decoy]
    answers = (chain.answer, *chain.answer_aliases, chain.later.answer)
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
        rule = {chain.earlier.support: "Q2", chain.later.support: "Q3"}.get(index, "Q6")
        raise _UnsafeRenameError(rule, f"passage {index}: {doubt.reason}") from doubt
    if decoy is not None:
        try:
            done[decoy] = rename(passages[decoy], replacement, entity)
        except AmbiguousMention as doubt:
            raise _UnsafeRenameError("Q8", f"decoy: {doubt.reason}") from doubt
    edits = tuple(
        Edit(passage=index, start=start, end=end, before=before, after=after)
        for index in range(len(passages))
        for start, end, before, after in done[index].spans
    )
    return tuple(done[index].text for index in range(len(passages))), edits


def _draft(
    chain: Chain,
    variant: str,
    bridge: tuple[Entity, Nature],
    replacement: tuple[Entity, Nature],
    decoy: Decoy | None = None,
) -> Draft:
    """Make the cells A, B and D.

    Raises:
        _UnsafeRenameError: some mention may or may not be the bridge.
    """
    a = tuple(passage.whole for passage in chain.passages)
    later = chain.later.support
    b, edits = _rename_everywhere(chain, bridge[0], replacement[0], decoy.index if decoy else None)
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
    chain: Chain, bridge: tuple[Entity, Nature], doubt: _UnsafeRenameError
) -> Reasons:
    """The rule that an unsafe rename endangers, beside whatever the source alone breaks."""
    draft = _unedited(chain, bridge)
    found = {doubt.rule: doubt.reason}
    for name in ("Q1", "Q2", "Q3", "Q4", "Q5", "Q9"):
        reason = RULES[name][0](draft)
        if reason is not None:
            found.setdefault(name, reason)
    return sorted(found.items())


def _attempt(
    chain: Chain,
    variant: str,
    bridge: tuple[Entity, Nature],
    replacement: tuple[Entity, Nature],
    decoy: Decoy | None = None,
) -> tuple[Draft | None, Reasons]:
    try:
        draft = _draft(chain, variant, bridge, replacement, decoy)
    except _UnsafeRenameError as doubt:
        return None, _unsafe_reasons(chain, bridge, doubt)
    reasons = validate(draft)
    return (None, reasons) if reasons else (draft, [])


class _Workshop:
    """One chain on the bench: its bridge, its words, its generators."""

    def __init__(self, chain: Chain, pools: Pools, seed: int, *, keep_all: bool) -> None:
        self.pools = pools
        self.key = [chain.source, chain.source_id, chain.link, chain.question, chain.bridge]
        self.seed = seed
        name = core(chain.bridge)
        self.nature = pools.bridge_nature(chain, name)
        self.name = core(chain.bridge, self.nature.kind) or name
        self.entity = entity_of(self.name, self.nature, chain.bridge_aliases)
        self.bridge = (self.entity, self.nature)
        self.left_out = 0
        self.keep_all = keep_all
        if not keep_all:
            chain, self.left_out = _without_doubtful(chain, self.bridge)
        self.chain = chain
        self.texts = [passage.whole for passage in chain.passages]

    def rng(self, variant: str) -> np.random.Generator:
        return _generator(self.seed, variant, *self.key)

    def general_faults(self) -> Reasons:
        """What is wrong whatever the replacement is."""
        nature = self.nature if self.nature.kind else Nature("other")
        taken = TakenNames([*self.texts, self.chain.question, self.chain.answer])
        name = invented_name(self.name, nature, self.rng("placeholder"), taken) or _PLACEHOLDER
        placeholder = (Entity(name, self.nature.kind), self.nature)
        _, reasons = _attempt(self.chain, "fict", self.bridge, placeholder)
        return [reason for reason in reasons if self.nature.kind or reason[0] != "Q8"]

    def fict(self) -> tuple[Draft | None, Reasons]:
        taken = TakenNames([*self.texts, self.chain.question, self.chain.answer])
        rng = self.rng("fict")
        reasons: Reasons = [("Q8", "no name could be invented for a bridge of unknown kind")]
        for _ in range(_MOST_TRIES):
            name = invented_name(self.name, self.nature, rng, taken)
            if name is None:
                break
            replacement = (entity_of(name, self.nature), self.nature)
            draft, reasons = _attempt(self.chain, "fict", self.bridge, replacement)
            if draft:
                return draft, []
        return None, reasons

    def real(self) -> tuple[Draft | None, Reasons]:
        words = context_words([*self.texts, self.chain.question, self.chain.answer])
        reasons: Reasons = [("Q8", _no_candidate(self.nature))]
        candidates = real_candidates(
            self.chain, self.name, self.nature, self.pools, self.rng("real"), words
        )
        for _, candidate in zip(range(_MOST_TRIES), candidates, strict=False):
            replacement = (entity_of(candidate.name, candidate.nature), candidate.nature)
            draft, reasons = _attempt(self.chain, "real", self.bridge, replacement)
            if draft:
                return draft, []
        return None, reasons

    def decoy(self) -> tuple[Draft | None, Reasons]:
        safe = _protected(self.chain)
        holding = [
            index
            for index, text in enumerate(self.texts)
            if index not in safe and (residue(text, self.entity) or stands(text, self.entity))
        ]
        room = 0 if self.keep_all else (len(self.texts) - len(safe)) // _SHARE_LEFT_OUT
        if len(holding) > 1 + room:
            return None, [("Q8", f"the bridge stands in {len(holding)} other passages")]
        rng = self.rng("decoy")
        free = holding or [index for index in range(len(self.texts)) if index not in safe]
        if not free:
            return None, [("Q8", "no distractor leaves room for a decoy")]
        place = free[int(rng.integers(len(free)))]
        going = {*holding, place}
        surplus = [index for index in holding if index != place]
        stay = [index for index in range(len(self.texts)) if index not in surplus]
        context = _only(self.chain, stay) if surplus else self.chain
        place = stay.index(place)
        staying = [text for index, text in enumerate(self.texts) if index not in going]
        words = context_words([*staying, self.chain.question, self.chain.answer])
        reasons: Reasons = [("Q8", "no passage of the input states the relation of another head")]
        offers = decoy_facts(self.chain, self.name, self.nature, self.pools, rng, words)
        for _, (fact, candidate, tied) in zip(range(_MOST_DECOYS), offers, strict=False):
            chain, index, placed = _seat(context, fact, place, must=bool(holding))
            if index is None:
                continue
            replacement = (
                entity_of(candidate.name, candidate.nature, fact.tail_aliases),
                candidate.nature,
            )
            decoy = Decoy(index=index, fact=fact, placed=placed, tied=tied)
            draft, reasons = _attempt(chain, "decoy", self.bridge, replacement, decoy)
            if draft:
                return draft, []
        return None, reasons


def _no_candidate(nature: Nature) -> str:
    if nature.kind is None:
        return "the kind of the bridge is unknown"
    return "no other bridge of the same slot, kind, pronoun and shape is fresh here"


def _seat(chain: Chain, fact: Fact, place: int, *, must: bool) -> tuple[Chain, int | None, bool]:
    """Find or make the decoy's seat.

    Args:
        chain: the chain.
        fact: what the decoy states.
        place: the distractor that gives way.
        must: whether that distractor has to go in any case, since it holds the bridge.

    Returns:
        The chain with its context, the decoy's index (None if it fits nowhere), and whether it
        was put there.
    """
    wholes = [passage.whole for passage in chain.passages]
    if fact.passage.whole in wholes:
        index = wholes.index(fact.passage.whole)
        hops = (chain.earlier.support, chain.later.support)
        return chain, None if must or index in hops else index, False
    passages: list[Passage] = list(chain.passages)
    passages[place] = fact.passage
    return msgspec.structs.replace(chain, passages=tuple(passages)), place, True


def _items(draft: Draft, cells: Sequence[str]) -> list[Item]:
    chain = draft.chain
    extra: dict[str, Any] = dict(chain.extra)
    closed_book = extra.pop("cb_27b_correct", None)
    later_edits = draft.edits["D"]
    pair_id = content_hash(
        [
            *(chain.source, chain.source_id, chain.link, draft.variant, chain.question),
            *(chain.answer, draft.bridge.name, draft.replacement.name),
            draft.cells["A"],
        ]
    )
    items = []
    for cell in cells:
        if cell not in draft.cells:
            continue
        passages = draft.cells[cell]
        earlier = (draft.earlier,)
        later: tuple[int, ...] = (draft.later,)
        if cell == "C":
            earlier = (passages.index(draft.cells["A"][draft.earlier]),)
            later = ()
        item = Item(
            item_id="",
            pair_id=pair_id,
            variant=draft.variant,
            cell=cell,
            query=chain.question,
            passages=passages,
            answer=chain.answer,
            bridge=draft.bridge.name,
            replacement=draft.replacement.name,
            chain="intact" if cell in "AB" else "broken",
            edit=cell in "BD",
            earlier_support=earlier,
            later_support=later,
            label_sufficient=cell in "AB",
            cb_27b_correct=closed_book if isinstance(closed_book, bool) else None,
            source=chain.source,
            source_id=chain.source_id,
            link=chain.link,
            edits={"B": draft.edits["B"], "D": later_edits}.get(cell, ()),
            extra=extra,
        )
        row = msgspec.to_builtins(item)
        items.append(msgspec.structs.replace(item, item_id=content_hash(row)))
    return items


def _checked(names: Sequence[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise UsageError(
            f"unknown {what} {', '.join(unknown) or '(none given)'}",
            remedy=f"Choose among {', '.join(known)}",
        )
    return tuple(name for name in known if name in names)


def build(
    records: Iterable[Chain | Unusable],
    *,
    variants: Sequence[str] = VARIANTS,
    cells: Sequence[str] = ("A", "B", "D"),
    seed: int = 0,
    distractors: int | None = None,
    keep_all: bool = False,
    progress: Callable[..., Iterator[Any]] | None = None,
) -> BuildResult:
    """Build the triplets of an input.

    Args:
        records: what a source yields. All are held, since each may lend the others entities.
        variants: which of "real", "fict", "decoy".
        cells: which of "A", "B", "D", "C"; the first three are always needed.
        seed: seed of every choice. The same seed gives the same bytes.
        distractors: keep at most this many passages beside the supports; None keeps all.
        keep_all: reject a chain of which some distractor holds a doubtful mention of the bridge,
            instead of leaving that distractor out of every cell.
        progress: wraps an iterable in a progress bar, called as
            ``progress(iterable, what=..., total=...)``.

    Returns:
        The items and the report. A chain that cannot be made into a triplet is counted with its
        reason, never dropped in silence.

    Raises:
        UsageError: an unknown variant or cell, or one of A, B, D left out.
    """
    variants = _checked(variants, VARIANTS, "variants")
    cells = _checked(cells, CELLS, "cells")
    if not {"A", "B", "D"} <= set(cells):
        raise UsageError("a triplet needs the cells A, B and D", remedy="Add the missing ones")
    kept = list(records)
    pools = Pools(kept)
    report = BuildReport(triplets=dict.fromkeys(variants, 0))
    items: list[Item] = []
    sources: set[str] = set()
    seen: set[str] = set()
    made: dict[str, set[tuple[int, str]]] = {variant: set() for variant in variants}
    shown: Iterable[Chain | Unusable] = kept
    if progress is not None:
        shown = progress(kept, what="building triplets", total=len(kept))
    for record in shown:
        sources.add(record.source_id)
        if isinstance(record, Unusable):
            report.count_unusable(record.code)
            continue
        report.count_chain(record.hops)
        chain = record
        if distractors is not None:
            rng = _generator(seed, "distractors", chain.source_id, chain.link)
            chain = _with_fewer(chain, distractors, rng)
        for variant, draft, reasons in _drafts(chain, pools, variants, seed, keep_all=keep_all):
            if draft is None:
                report.count_rejection(
                    Example(
                        source_id=chain.source_id,
                        link=chain.link,
                        variant=variant,
                        reasons=tuple(reasons),
                    )
                )
                continue
            finished = draft
            if "C" in cells:
                rng = _generator(seed, "C", chain.source_id, chain.link, variant)
                context = broken_context(draft, pools.passages, rng)
                key = "made" if context else "impossible"
                report.cell_c[key] = report.cell_c.get(key, 0) + 1
                if context:
                    finished = replace(draft, cells={**draft.cells, "C": context})
            rows = _items(finished, cells)
            if rows[0].pair_id in seen:
                report.count_unusable("duplicate")
                continue
            seen.add(rows[0].pair_id)
            items += rows
            report.count_triplet(variant, chain.hops)
            made[variant].add((chain.hops, chain.source_id))
            if draft.decoy:
                for key, flag in (("placed", draft.decoy.placed), ("tied", draft.decoy.tied)):
                    report.decoys[key] = report.decoys.get(key, 0) + flag
    report.records = len(sources)
    for variant, found in made.items():
        for hops, _ in sorted(found):
            group = report.yielding.setdefault(variant, {})
            group[str(hops)] = group.get(str(hops), 0) + 1
    return BuildResult(tuple(items), report)


def _drafts(
    chain: Chain, pools: Pools, variants: Sequence[str], seed: int, *, keep_all: bool
) -> Iterator[tuple[str, Draft | None, Reasons]]:
    if not all(0 <= hop.support < len(chain.passages) for hop in (chain.earlier, chain.later)):
        for variant in variants:
            yield variant, None, [("Q1", "a support is not one of the passages")]
        return
    shop = _Workshop(chain, pools, seed, keep_all=keep_all)
    faults = shop.general_faults()
    for variant in variants:
        if variant == "decoy":
            # A distractor at fault may give way to the decoy, so the general faults of the
            # context do not count here; those of the supports come out again.
            draft, reasons = shop.decoy()
            if draft is None and faults and faults[0][0] < reasons[0][0]:
                reasons = faults
        elif faults:
            draft, reasons = None, faults
        else:
            draft, reasons = shop.real() if variant == "real" else shop.fict()
        yield variant, draft, reasons
