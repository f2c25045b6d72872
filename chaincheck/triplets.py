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

from chaincheck.chains import Chain, Unusable
from chaincheck.distractors import with_fewer
from chaincheck.errors import UsageError
from chaincheck.items import CELLS, VARIANTS, Item, content_hash
from chaincheck.pools import Pools
from chaincheck.reports import BuildReport, Example
from chaincheck.standins import broken_context
from chaincheck.validator import Draft
from chaincheck.workshop import Made, Workshop, generator

__all__ = ["BuildResult", "build"]


@dataclass(frozen=True)
class BuildResult:
    """What a build made.

    Attributes:
        items: the items, cells of a triplet side by side.
        report: counts and reasons.
    """

    items: tuple[Item, ...]
    report: BuildReport


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
    strict: bool = True,
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
        strict: also reject what the nine rules of the design leave open: supports that do not
            state the chain, and ways around the bridge. Without it there are more triplets, and
            more of them are unsound.
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
    tally = _Tally(cells, BuildReport(triplets=dict.fromkeys(variants, 0)))
    shown: Iterable[Chain | Unusable] = kept
    if progress is not None:
        shown = progress(kept, what="building triplets", total=len(kept))
    for record in shown:
        if isinstance(record, Unusable):
            tally.report.count_unusable(record.code)
            continue
        chain = record
        if distractors is not None:
            rng = generator(seed, "distractors", chain.source_id, chain.link)
            chain = with_fewer(chain, distractors, rng)
        tally.report.count_chain(chain.hops)
        for made in _drafts(chain, pools, variants, seed, keep_all=keep_all, strict=strict):
            if made.draft is None:
                tally.reject(chain, made)
                continue
            draft = made.draft
            if "C" in cells:
                rng = generator(seed, "C", chain.source_id, chain.link, made.variant)
                draft = tally.with_c(draft, broken_context(draft, pools.passages, rng))
            tally.write(draft, made.left_out)
    return tally.result(len({record.source_id for record in kept}))


class _Tally:
    """Items and counts as they grow."""

    def __init__(self, cells: Sequence[str], report: BuildReport) -> None:
        self.cells = cells
        self.report = report
        self._items: list[Item] = []
        self._seen: set[str] = set()
        self._yielding: dict[str, set[tuple[int, str]]] = {}

    def reject(self, chain: Chain, made: Made) -> None:
        """Count a chain that gave no triplet of a variant."""
        self.report.count_rejection(
            Example(
                source_id=chain.source_id,
                link=chain.link,
                variant=made.variant,
                reasons=tuple(made.reasons),
            )
        )

    def with_c(self, draft: Draft, context: tuple[str, ...] | None) -> Draft:
        """Add cell C, or count that there is none."""
        key = "made" if context else "impossible"
        self.report.cell_c[key] = self.report.cell_c.get(key, 0) + 1
        return replace(draft, cells={**draft.cells, "C": context}) if context else draft

    def write(self, draft: Draft, left_out: int) -> None:
        """Turn a sound draft into items, unless the same triplet was there before."""
        rows = _items(draft, self.cells)
        if rows[0].pair_id in self._seen:
            self.report.count_unusable("duplicate")
            return
        self._seen.add(rows[0].pair_id)
        self._items += rows
        hops = draft.chain.hops
        self.report.count_triplet(draft.variant, hops, left_out)
        self._yielding.setdefault(draft.variant, set()).add((hops, draft.chain.source_id))
        if draft.decoy:
            self.report.count_decoy(placed=draft.decoy.placed, tied=draft.decoy.tied)

    def result(self, records: int) -> BuildResult:
        """Everything, once the last chain is done."""
        self.report.records = records
        for variant, found in self._yielding.items():
            group = self.report.yielding.setdefault(variant, {})
            for hops, _ in sorted(found):
                group[str(hops)] = group.get(str(hops), 0) + 1
        return BuildResult(tuple(self._items), self.report)


def _drafts(
    chain: Chain,
    pools: Pools,
    variants: Sequence[str],
    seed: int,
    *,
    keep_all: bool,
    strict: bool,
) -> Iterator[Made]:
    if not all(0 <= hop.support < len(chain.passages) for hop in (chain.earlier, chain.later)):
        for variant in variants:
            yield Made(variant, None, [("Q1", "a support is not one of the passages")])
        return
    shop = Workshop(chain, pools, seed, keep_all=keep_all, strict=strict)
    for variant in variants:
        yield shop.make(variant)
