"""Pools: everything that the records of one input can lend each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chaincheck.bypass import fold_tokens
from chaincheck.chains import Chain, Fact, Hop, Passage, Unusable
from chaincheck.draft import telling_words
from chaincheck.kinds import Nature, base_title, nature_of, ranks_of
from chaincheck.name_words import HONORIFICS
from chaincheck.names import core
from chaincheck.slots import slot_of
from chaincheck.surfaces import Surface, entity_of, surface

__all__ = ["Candidate", "Pools", "is_name"]

_NO_NAME = frozenset('0123456789,;:/()[]"“”|&=+@#')
_MOST_WORDS = 6
_NO_START = HONORIFICS | frozenset(("in", "the", "a", "an", "during", "after", "on", "at", "with"))


@dataclass(frozen=True)
class Candidate:
    """A real entity that may stand in for a bridge.

    Attributes:
        name: its name.
        nature: what it is.
        slot: relation slot that led to it.
        source_ids: records it comes from.
        ranks: titles that are written before the name.
    """

    name: str
    nature: Nature
    slot: str | None
    source_ids: frozenset[str]
    ranks: frozenset[str] = frozenset()


def is_name(name: str) -> bool:
    """Whether a string is a plain proper name: capitalized, short, without digits and brackets."""
    words = name.split()
    return (
        0 < len(words) <= _MOST_WORDS
        and not any(ch in _NO_NAME for ch in name)
        and not any(ch.isdigit() for ch in name)
        and words[0][:1].isupper()
        and words[-1][:1].isupper()
        and words[0].casefold().rstrip(".") not in _NO_START
        and bool(telling_words(name))
    )


def _fact(chain: Chain, hop: Hop) -> Fact | None:
    slot = slot_of(hop.relation, hop.question)
    passage = chain.passages[hop.support] if 0 <= hop.support < len(chain.passages) else None
    if slot is None or passage is None:
        return None
    return Fact(
        relation=slot,
        head=hop.subject or base_title(passage.title),
        tail=hop.answer,
        passage=passage,
        source_id=chain.source_id,
        kind=chain.kind if hop is chain.earlier else None,
        pronoun=chain.pronoun if hop is chain.earlier else None,
        tail_aliases=chain.bridge_aliases if hop is chain.earlier else (),
    )


class Pools:
    """Everything that the records of one input can lend each other.

    Attributes:
        slots: candidates by relation slot, in a fixed order.
        facts: statements by relation slot, in a fixed order.
    """

    def __init__(self, records: Iterable[Chain | Unusable]) -> None:
        self._pages: dict[tuple[str, ...], dict[str, Passage]] = defaultdict(dict)
        stated: dict[str, dict[tuple[str, ...], Fact]] = defaultdict(dict)
        loose: list[Chain] = []
        seen: set[int] = set()
        for record in records:
            statements = list(record.facts)
            if isinstance(record, Chain):
                # The chains of one record share its passages.
                if id(record.passages) not in seen:
                    seen.add(id(record.passages))
                    self._add_pages(record.passages)
                statements += list(record.decoys)
                if slot_of(record.earlier.relation, record.earlier.question) is None:
                    loose.append(record)
                statements += [
                    fact for hop in (record.earlier, record.later) if (fact := _fact(record, hop))
                ]
            for fact in statements:
                slot = slot_of(fact.relation, "")
                if slot is not None:
                    key = (fact.head, fact.tail, fact.passage.whole, fact.source_id)
                    stated[slot].setdefault(key, fact)
        self.facts: dict[str, tuple[Fact, ...]] = {
            slot: tuple(group[key] for key in sorted(group)) for slot, group in stated.items()
        }
        # Every chain of a slot asks for the tails of all its facts.
        self._tail_natures: dict[tuple[Fact, str], Nature] = {}
        self._tail_surfaces: dict[tuple[Fact, str], Surface | None] = {}
        self.slots: dict[str, tuple[Candidate, ...]] = {
            slot: self._candidates(slot, group) for slot, group in sorted(self.facts.items())
        }
        supports = {
            fact.passage.whole: fact.passage for group in self.facts.values() for fact in group
        }
        self._supports = tuple(supports[text] for text in sorted(supports))
        self._by_sort: dict[tuple[str, str], tuple[Candidate, ...]] = self._sorted(loose)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Every passage that supports a statement, in a fixed order: stand-ins for cell C."""
        return self._supports

    def _add_pages(self, passages: Sequence[Passage]) -> None:
        for passage in passages:
            if passage.title:
                key = fold_tokens(base_title(passage.title))
                self._pages[key].setdefault(passage.text, passage)

    def pages(self, name: str) -> tuple[Passage, ...]:
        """Passages whose title, a parenthesis apart, is ``name``; none where namesakes exist."""
        found = self._pages.get(fold_tokens(name), {})
        if len({passage.title for passage in found.values()}) > 1:
            return ()
        return tuple(found[text] for text in sorted(found))

    def _candidates(self, slot: str, facts: Sequence[Fact]) -> tuple[Candidate, ...]:
        grouped: dict[tuple[str, ...], list[Fact]] = defaultdict(list)
        for fact in facts:
            name = core(fact.tail)
            if is_name(name):
                grouped[fold_tokens(name)].append(fact)
        return tuple(
            Candidate(
                name=core(group[0].tail),
                nature=self.nature(core(group[0].tail), slot, group),
                slot=slot,
                source_ids=frozenset(fact.source_id for fact in group),
                ranks=ranks_of(core(group[0].tail), [fact.passage.whole for fact in group]),
            )
            for _, group in sorted(grouped.items())
        )

    def nature(self, name: str, slot: str, facts: Sequence[Fact]) -> Nature:
        """What the tail of facts is."""
        kind = next((fact.kind for fact in facts if fact.kind), None)
        pronoun = next((fact.pronoun for fact in facts if fact.pronoun), None)
        return nature_of(
            name,
            kind=kind,
            pronoun=pronoun,
            slot=slot,
            own_pages=self.pages(name),
            passages=[fact.passage.whole for fact in facts[:4]],
            borrowed=True,
        )

    def nature_of_tail(self, fact: Fact, slot: str) -> Nature:
        """What the tail of one fact is, worked out once."""
        key = (fact, slot)
        if key not in self._tail_natures:
            self._tail_natures[key] = self.nature(core(fact.tail), slot, [fact])
        return self._tail_natures[key]

    def surface_of_tail(self, fact: Fact, slot: str) -> Surface | None:
        """How a fact's passage names its tail, worked out once."""
        key = (fact, slot)
        if key not in self._tail_surfaces:
            tail = entity_of(core(fact.tail), self.nature_of_tail(fact, slot), fact.tail_aliases)
            self._tail_surfaces[key] = surface(fact.passage.whole, tail)
        return self._tail_surfaces[key]

    def _sorted(self, loose: Sequence[Chain]) -> dict[tuple[str, str], tuple[Candidate, ...]]:
        """All candidates by kind and sort, with the bridges of chains that have no slot."""
        found: dict[tuple[str, str], dict[tuple[str, ...], Candidate]] = defaultdict(dict)
        candidates = [candidate for group in self.slots.values() for candidate in group]
        candidates += [one for chain in loose if (one := self._of_chain(chain)) is not None]
        for candidate in candidates:
            nature = candidate.nature
            if nature.kind and nature.sort:
                group = found[nature.kind, nature.sort]
                known = group.setdefault(fold_tokens(candidate.name), candidate)
                sources = known.source_ids | candidate.source_ids
                group[fold_tokens(candidate.name)] = replace(known, source_ids=sources)
        return {key: tuple(group[name] for name in sorted(group)) for key, group in found.items()}

    def _of_chain(self, chain: Chain) -> Candidate | None:
        name = core(chain.bridge)
        if not is_name(name):
            return None
        return Candidate(
            name=name,
            nature=self.bridge_nature(chain, name, borrowed=True),
            slot=None,
            source_ids=frozenset((chain.source_id,)),
            ranks=ranks_of(name, [passage.whole for passage in chain.passages]),
        )

    def bridge_nature(self, chain: Chain, name: str, *, borrowed: bool = False) -> Nature:
        """What the bridge of a chain is; ``borrowed`` where it is to be lent to another chain."""
        own = tuple(
            passage
            for passage in chain.passages
            if fold_tokens(base_title(passage.title)) == fold_tokens(name)
        )
        hops = (chain.earlier.support, chain.later.support)
        return nature_of(
            name,
            kind=chain.kind,
            pronoun=chain.pronoun,
            slot=slot_of(chain.earlier.relation, chain.earlier.question),
            question=chain.earlier.question,
            own_pages=own or self.pages(name),
            passages=[chain.passages[index].whole for index in hops],
            borrowed=borrowed,
        )

    def of_sort(self, nature: Nature) -> tuple[Candidate, ...]:
        """Candidates of one kind and sort from all slots."""
        if nature.kind is None or nature.sort is None:
            return ()
        return self._by_sort.get((nature.kind, nature.sort), ())
