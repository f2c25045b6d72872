"""From an item and a judge's answer to a replay under ``chain-evidence/1``.

Nobody reads anything here. The context atoms come from how the item was built
(:mod:`chaincheck.adherence.construction`), the judge's and the procedure's atoms from the fields
of its structured rationale, with spans into its raw text. What a field would have said that is
missing is UNKNOWN, never met.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import msgspec

from chaincheck.adherence.builder import ReplayBuilder
from chaincheck.adherence.construction import gold_of, known_of, status_of
from chaincheck.adherence.protocols import load_protocol
from chaincheck.adherence.replay import Protocol, Recorded, Span, Value, Verdict
from chaincheck.errors import PathLike, UnjudgeableItem
from chaincheck.items import Item
from chaincheck.rationale import Hop, Quote, Rationale, decode_rationale

__all__ = ["begin", "protocol_of", "read_construction", "replay_of"]

ORIGIN = "mechanical"
_RATIONALE = "rationale"


@lru_cache(maxsize=2)
def protocol_of(*, strict: bool = False) -> Protocol:
    """The protocol: ``chain-evidence/1``, or the strict ``chain-evidence/1s``."""
    return load_protocol("chain-evidence/1s" if strict else "chain-evidence/1")


def begin(item: Item, protocol: Protocol, verdict: Verdict, rationale: str) -> ReplayBuilder:
    """Start an item's replay: its passages ``p1``, ``p2``, ..., its question, the rationale.

    Raises:
        UnjudgeableItem: the item has no passages.
    """
    if not any(item.passages):
        raise UnjudgeableItem(
            "has no passages, so nothing can be grounded in them",
            item=item.item_id,
            remedy="Leave it out of the data",
        )
    draft = ReplayBuilder(
        item.item_id, protocol, verdict=verdict, translation_status=status_of(item)
    )
    for number, text in enumerate(item.passages, 1):
        draft.source(f"p{number}", "context", text)
    draft.source("question", "question", item.query)
    draft.source(_RATIONALE, "rationale", rationale)
    return draft


def read_construction(draft: ReplayBuilder, item: Item) -> None:
    """Annotate the context atoms by how the item was built.

    Raises:
        InvalidReplay: as :func:`chaincheck.adherence.construction.known_of`.
    """
    hops: tuple[Literal[1, 2], ...] = (1, 2)
    for hop in hops:
        known = known_of(item, hop)
        atom = f"c_hop{hop}"
        if not known.holds:
            draft.absent(atom, explanation=known.explanation, origin=ORIGIN)
            continue
        spans = [
            draft.quote(f"p{piece.passage + 1}", piece.text, piece.occurrence)
            for piece in known.pieces
        ]
        draft.annotate(atom, "TRUE", *spans, explanation=known.explanation, origin=ORIGIN)


def replay_of(
    item: Item,
    reply: str,
    *,
    strict: bool = False,
    path: PathLike = "the reply",
    line: int | None = None,
) -> Recorded:
    """Translate a judge's structured rationale into a replay.

    Args:
        item: what was judged.
        reply: the judge's raw text.
        strict: also ask that the quotes for hop 2 name the bridge of hop 1.
        path: where the reply is from, for messages.
        line: its line there.

    Raises:
        InvalidReplay: the reply is no rationale, or the item's provenance does not fit it.
        UnjudgeableItem: the item has no passages.
    """
    said = decode_rationale(reply, path=path, line=line)
    verdict: Verdict = "PASS" if said.verdict == "yes" else "FAIL"
    draft = begin(item, protocol_of(strict=strict), verdict, reply)
    for hop in (1, 2):
        _read_hop(draft, item, said, hop)
    read_construction(draft, item)
    _read_both(draft, said)
    _read_outside(draft, said)
    if strict:
        _read_link(draft, said)
    return draft.build(gold=gold_of(item))


def _span(said: Rationale, *steps: str | int) -> Span:
    start, end = said.place(*steps)
    return Span(_RATIONALE, start, end, said.text[start:end])


def _read(
    draft: ReplayBuilder, atom: str, value: bool | None, explanation: str, *evidence: Span
) -> None:
    """Annotate an atom; None is UNKNOWN, which quotes nothing."""
    if value is None:
        draft.unknown(atom, explanation=explanation, origin=ORIGIN)
        return
    word: Value = "TRUE" if value else "FALSE"
    draft.annotate(atom, word, *evidence, explanation=explanation, origin=ORIGIN)


def _entry(said: Rationale, hop: int) -> Hop | None:
    return said.hops.get(hop) if said.hops is not None else None


def _read_hop(draft: ReplayBuilder, item: Item, said: Rationale, hop: int) -> None:
    entry = _entry(said, hop)
    atoms = f"j_hop{hop}", f"p_cite{hop}", f"p_verb{hop}"
    if entry is None:
        for atom in atoms:
            _read(draft, atom, None, f"no entry for hop {hop}")
        return
    claimed, cited, verbatim = atoms
    if entry.supported is msgspec.UNSET:
        _read(draft, claimed, None, "no field 'supported'")
    else:
        where = _span(said, "hops", hop, "supported")
        _read(draft, claimed, entry.supported, "field 'supported'", where)
    if entry.quotes is msgspec.UNSET:
        _read(draft, cited, None, "no field 'quotes'")
        _read(draft, verbatim, None, "no field 'quotes'")
        return
    _read(draft, cited, bool(entry.quotes), "field 'quotes'", _span(said, "hops", hop))
    if not entry.quotes:
        _read(draft, verbatim, None, "no quote to look up")
        return
    found = [_stands(one, item) for one in entry.quotes]
    value = False if False in found else None if None in found else True
    told = "a quote without its text or passage" if value is None else _LOOKED_UP
    _read(draft, verbatim, value, told, _span(said, "hops", hop, "quotes"))


_LOOKED_UP = "substring test on code points"


def _stands(quote: Quote, item: Item) -> bool | None:
    """Whether a quote stands in the passage that it names; None if it does not say enough."""
    if quote.text is msgspec.UNSET or quote.passage is msgspec.UNSET:
        return None
    if not quote.text or not 1 <= quote.passage <= len(item.passages):
        return False
    return quote.text in item.passages[quote.passage - 1]


def _read_both(draft: ReplayBuilder, said: Rationale) -> None:
    if said.hops is None:
        _read(draft, "p_both", None, "no field 'hops'")
        return
    whole = draft.whole(_RATIONALE)
    lacking = [hop for hop in (1, 2) if hop not in said.hops]
    if lacking:
        named = " and ".join(map(str, lacking))
        _read(draft, "p_both", False, f"no entry for hop {named}", whole)
    elif any(one.supported is msgspec.UNSET for one in said.hops.values()):
        _read(draft, "p_both", None, "an entry without the field 'supported'")
    else:
        _read(draft, "p_both", True, "both hop entries present", whole)


def _read_outside(draft: ReplayBuilder, said: Rationale) -> None:
    field = "used_outside_knowledge"
    used = said.used_outside_knowledge
    if used is None:
        for atom in ("p_ext_stated", "p_ext"):
            _read(draft, atom, None, f"no field '{field}'")
        return
    where = _span(said, field)
    _read(draft, "p_ext_stated", True, f"field '{field}'", where)
    _read(draft, "p_ext", used, "self-report; not verified", where)


def _read_link(draft: ReplayBuilder, said: Rationale) -> None:
    first, second = _entry(said, 1), _entry(said, 2)
    bridge = first.object if first is not None else msgspec.UNSET
    quotes = second.quotes if second is not None else msgspec.UNSET
    if bridge is msgspec.UNSET or not bridge or quotes is msgspec.UNSET or not quotes:
        _read(draft, "p_link", None, "no bridge for hop 1, or no quote for hop 2")
        return
    texts = [one.text for one in quotes]
    named = re.compile(rf"(?<!\w){re.escape(bridge)}(?!\w)")
    found = [None if text is msgspec.UNSET else bool(named.search(text)) for text in texts]
    value = False if False in found else None if None in found else True
    where = _span(said, "hops", 2, "quotes")
    _read(draft, "p_link", value, "bridge string occurs in every hop-2 quote", where)
