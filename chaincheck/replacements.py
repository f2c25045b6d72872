"""Where a replacement comes from: other records' bridges, invented names, decoys.

A real replacement is the bridge of another record in the same relation slot, of the same kind,
sort, pronoun and shape of name. A decoy is a passage that states the earlier hop's relation of
another head; its tail becomes the replacement. Both are drawn from pools over the whole input.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from chaincheck import gazetteer
from chaincheck.bypass import fold_tokens
from chaincheck.chains import Chain, Fact
from chaincheck.draft import telling_words
from chaincheck.identity import qualifiers_tie
from chaincheck.invented import TakenNames, invent
from chaincheck.kinds import Nature, compatible, ranks_of, type_words
from chaincheck.mentions import Entity, residue
from chaincheck.names import Shape, core, person, shape, takes_article
from chaincheck.pools import Candidate, Pools, is_name
from chaincheck.slots import slot_of
from chaincheck.surfaces import entity_of, surface

__all__ = [
    "context_words",
    "decoy_facts",
    "invented_name",
    "real_candidates",
]


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
    if not words:
        return None
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


# Slots that a question's wording fills with anything: "In which state is Dell the sixth largest
# company?" and "In which state is the cemetery?" ask for two relations. No decoy comes of them.
_LOOSE_SLOTS = frozenset(("state", "team", "company", "ruler"))


_MUSIC = re.compile(
    r"\b(?:song|songs|album|albums|single|singles|mixtape|ep|track|tracks|soundtrack|recorded)\b",
    re.IGNORECASE,
)


def _musical(text: str) -> bool:
    return _MUSIC.search(text) is not None


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
    if slot is None or slot in _LOOSE_SLOTS or nature.kind is None:
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
        if slot == "performer" and _musical(text) != _musical(fact.passage.whole):
            continue  # who sang a song, who played a part
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
