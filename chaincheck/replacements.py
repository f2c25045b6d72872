"""Where a replacement comes from: other records' bridges, invented names, decoys.

A real replacement is the bridge of another record in the same relation slot, of the same kind,
sort, pronoun and shape of name. A decoy is a passage that states the earlier hop's relation of
another head; its tail becomes the replacement. Both are drawn from pools over the whole input.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from chaincheck import gazetteer
from chaincheck.bypass import fold_tokens
from chaincheck.chains import Chain, Fact, Hop, Passage, Unusable
from chaincheck.identity import qualifiers_tie
from chaincheck.invented import TakenNames, invent
from chaincheck.kinds import Nature, base_title, compatible, nature_of, ranks_of, type_words
from chaincheck.mentions import AmbiguousMention, Entity, find, residue
from chaincheck.name_words import HONORIFICS
from chaincheck.names import Shape, core, person, shape, takes_article
from chaincheck.slots import slot_of
from chaincheck.validator import telling_words

__all__ = [
    "Candidate",
    "Pools",
    "Surface",
    "context_words",
    "decoy_facts",
    "entity_of",
    "invented_name",
    "is_name",
    "real_candidates",
    "surface",
]

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
            nature=self.bridge_nature(chain, name),
            slot=None,
            source_ids=frozenset((chain.source_id,)),
            ranks=ranks_of(name, [passage.whole for passage in chain.passages]),
        )

    def bridge_nature(self, chain: Chain, name: str) -> Nature:
        """What the bridge of a chain is."""
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
        )

    def of_sort(self, nature: Nature) -> tuple[Candidate, ...]:
        """Candidates of one kind and sort from all slots."""
        if nature.kind is None or nature.sort is None:
            return ()
        return self._by_sort.get((nature.kind, nature.sort), ())


def entity_of(name: str, nature: Nature, aliases: tuple[str, ...] = ()) -> Entity:
    """The entity that mentions are looked for and renamed as."""
    return Entity(name, nature.kind, aliases)


def context_words(texts: Iterable[str]) -> frozenset[str]:
    """Every folded word of some texts: what a fresh name may not hold."""
    return frozenset(word for text in texts for word in fold_tokens(text))


def _far(one: Shape, other: Shape) -> int:
    """How far two shapes differ, 0 for equal ones."""
    return (
        8 * abs(one.words - other.words)
        + 4 * (one.linked != other.linked)
        + 2 * (one.initials != other.initials)
        + (one.vowel != other.vowel)
    )


def _fits(one: Shape, other: Shape, nature: Nature) -> bool:
    """Whether shapes agree in what a reader would miss.

    A name may be one word longer or shorter, but no person's full name becomes a single word;
    names of equal length come first.
    """
    alone = nature.kind == "person" and min(one.words, other.words) == 1
    spread = 0 if alone else 1
    return abs(one.words - other.words) <= spread and (
        (one.article, one.numbered, one.upper) == (other.article, other.numbered, other.upper)
    )


def _same_rank(one: frozenset[str], other: frozenset[str], *, numbered: bool) -> bool:
    """Whether what is called King, Pope or Sir may be called by another name.

    A numbered name is a ruler's as it stands, so that only popes and rulers must be kept apart.
    """
    if numbered:
        return ("pope" in one) == ("pope" in other)
    return one == other or bool(one & other)


def _same_order(one: str, other: str, nature: Nature) -> bool:
    """Whether two persons' names are put together alike.

    Both with the family name last or both with it first, both with an epithet or neither.
    """
    if nature.kind != "person":
        return True
    first, second = person(one), person(other)
    return (first.surname_first, first.certain) == (second.surname_first, second.certain)


def real_candidates(
    chain: Chain,
    bridge: tuple[str, Nature],
    pools: Pools,
    rng: np.random.Generator,
    words: frozenset[str],
) -> Iterator[Candidate]:
    """Yield real replacements, best first: same slot before same sort, nearest shape first.

    Args:
        chain: the chain; its own record lends nothing.
        bridge: its name and what it is.
        pools: pools of the input.
        rng: breaks ties.
        words: folded words of the question and every passage, which a replacement must not hold.
    """
    name, nature = bridge
    if nature.kind is None:
        return
    slot = slot_of(chain.earlier.relation, chain.earlier.question)
    own = shape(name, nature.kind)
    ranks = ranks_of(name, [passage.whole for passage in chain.passages])
    seen: set[tuple[str, ...]] = set()
    for group in (pools.slots.get(slot or "", ()), pools.of_sort(nature)):
        scored = []
        for candidate in group:
            key = fold_tokens(candidate.name)
            if key in seen or not candidate.source_ids - {chain.source_id}:
                continue
            telling = telling_words(candidate.name)
            other = shape(candidate.name, nature.kind)
            if (
                not compatible(nature, candidate.nature)
                or nature.pronoun != candidate.nature.pronoun
                or telling & words
                or telling & telling_words(name)
                or not _fits(own, other, nature)
                or not _same_order(name, candidate.name, nature)
                or not type_words(candidate.name) <= type_words(name)
                or not _same_rank(ranks, candidate.ranks, numbered=own.numbered)
            ):
                continue
            seen.add(key)
            # A village had better not become a metropolis.
            known = [gazetteer.sort_of(one.casefold()) for one in (name, candidate.name)]
            far = _far(own, other) + 3 * (known[0] != known[1])
            scored.append((far, float(rng.random()), candidate))
        for _, _, candidate in sorted(scored, key=lambda entry: entry[:2]):
            yield candidate


def invented_name(
    name: str, nature: Nature, rng: np.random.Generator, taken: TakenNames | Sequence[str]
) -> str | None:
    """Invent a name after the bridge's; None where its kind is unknown or none can be found.

    General words of the bridge's name stay ("River", "University"), unless so many would stay
    that the new name still points at the old one ("Madison Square Garden"): then only the last
    does.
    """
    if nature.kind is None:
        return None
    kind = _INVENTED_SORTS.get(nature.sort or "", nature.kind)
    bridge = Entity(name, nature.kind)
    article = takes_article(name, nature.kind)
    words = name.split()
    first, last = " ".join(words[:-1]), words[-1]
    blank = " ".join("Walden" if word.istitle() else word for word in words[:-1])
    try:
        plain: str | None = None
        # As it is; with its last word kept, which may call for an article; with only that kept.
        for like, tail in ((name, ""), (first, last), (blank, last)):
            if not like:
                continue
            made = f"{invent(kind, like, rng, taken, nature.pronoun)} {tail}".strip()
            if residue(made, bridge):
                continue
            if takes_article(made, nature.kind) == article:
                return made
            plain = plain or made
    except ValueError:
        return None
    return plain


# Our sorts -> the finer kinds that names are invented for.
_INVENTED_SORTS: Mapping[str, str] = {
    "town": "city",
    "country": "country",
    "river": "river",
    "mountain": "mountain",
    "company": "company",
    "school": "university",
    "band": "band",
    "film": "film",
}


@dataclass(frozen=True)
class Surface:
    """What a surface cue can count of one name in one passage.

    Attributes:
        forms: how its mentions are worded, sorted.
        words: number of words of the name.
        letters: length of the name.
    """

    forms: tuple[str, ...]
    words: int
    letters: int


def surface(text: str, entity: Entity) -> Surface | None:
    """Count a name's mentions in a passage; None where some mention is uncertain."""
    try:
        mentions = find(text, entity)
    except AmbiguousMention:
        return None
    forms = tuple(sorted(f"{mention.form}{'+s' * mention.possessive}" for mention in mentions))
    return Surface(forms, len(fold_tokens(entity.name)), len(entity.name))


def decoy_facts(
    chain: Chain,
    bridge: tuple[str, Nature],
    pools: Pools,
    rng: np.random.Generator,
    words: frozenset[str],
) -> Iterator[tuple[Fact, Candidate, bool]]:
    """Yield facts whose passage may be the dead end, those with tying surface counts first.

    Args:
        chain: the chain.
        bridge: its name and what it is.
        pools: pools of the input.
        rng: breaks ties.
        words: folded words of the question and of every passage that stays.

    Yields:
        The fact, its tail as a candidate, and whether the surface counts tie.
    """
    name, nature = bridge
    slot = slot_of(chain.earlier.relation, chain.earlier.question)
    if slot is None or nature.kind is None:
        return
    text = chain.passages[chain.earlier.support].whole
    own = surface(text, entity_of(name, nature, chain.bridge_aliases))
    if own is None:
        return
    own_shape = shape(name, nature.kind)
    ranks = ranks_of(name, [passage.whole for passage in chain.passages])
    contained = {passage.whole for passage in chain.passages}
    scored: list[tuple[tuple[int, int, int, int, int, float], Fact, Candidate, bool]] = []
    for fact in (*chain.decoys, *pools.facts.get(slot, ())):
        tail = core(fact.tail)
        telling = telling_words(tail)
        if (
            not is_name(tail)
            or telling & telling_words(name)
            or fold_tokens(fact.head) == fold_tokens(chain.earlier.subject or "")
            or telling_words(fact.head) & telling
        ):
            continue
        inside = fact.passage.whole in contained
        if not inside and telling & words:
            continue
        other_nature = pools.nature_of_tail(fact, slot)
        if not compatible(nature, other_nature) or nature.pronoun != other_nature.pronoun:
            continue
        other_shape = shape(tail, nature.kind)
        if (
            not _fits(own_shape, other_shape, nature)
            or not _same_order(name, tail, nature)
            or type_words(tail) != type_words(name)
        ):
            continue
        hops = (text, chain.passages[chain.later.support].whole, fact.passage.whole)
        if nature.kind == "place" and not qualifiers_tie((name, tail), hops):
            continue
        other_ranks = ranks_of(tail, [fact.passage.whole])
        if not _same_rank(ranks, other_ranks, numbered=own_shape.numbered):
            continue
        other = pools.surface_of_tail(fact, slot)
        if other is None or not other.forms:
            continue
        tied = other.forms == own.forms and other.words == own.words
        order = (
            int(not tied),
            int(not inside),  # a dead end that the source put there keeps the context as it was
            abs(other.words - own.words) + abs(len(other.forms) - len(own.forms)),
            _far(own_shape, other_shape),
            abs(other.letters - own.letters) // 3,
            float(rng.random()),
        )
        candidate = Candidate(tail, other_nature, slot, frozenset({fact.source_id}))
        scored.append((order, fact, candidate, tied))
    for _, fact, candidate, tied in sorted(scored, key=lambda entry: entry[0]):
        yield fact, candidate, tied
