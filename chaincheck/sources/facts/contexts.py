"""Contexts that are hard in the right way: whole chains and dead ends of the same relations.

A context holds the two passages of its own chain, some whole chains of other rows, and dead
ends: earlier passages of other rows whose later passage is not there. The first dead end is
chosen so that its bridge can change places with the chain's own without any surface trace: same
pronoun, same number of words, surname and article alike, and a passage that names its bridge as
often in full and by surname. After the exchange the same names stand in the same number of
passages, wherever it was carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from chaincheck.chains import Chain, Fact, Hop, Passage
from chaincheck.invented import fold, identity_words
from chaincheck.sources.facts.phrasings import Pair, Phrasing, Phrasings, coarse
from chaincheck.sources.facts.world import Told

__all__ = ["ContextShape", "compose"]

_ATTEMPTS = 40
_NEAR = 4  # letters by which two names may differ and count as equally long


class ContextShape(msgspec.Struct, frozen=True):
    """How many distractors a context gets.

    Attributes:
        fewest_whole: fewest whole chains of other rows.
        most_whole: most whole chains of other rows.
        dead_ends: dead ends.
    """

    fewest_whole: int = 1
    most_whole: int = 2
    dead_ends: int = 2


def _pick(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]


def _stands(text: str, name: str) -> bool:
    """Whether a name stands in a text, case and accents aside, at word boundaries."""
    return re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", fold(text)) is not None


def _own_words(told: Told) -> frozenset[str]:
    """Identity words of everything a row names."""
    row = told.row
    return frozenset(
        word for name in (row.head, row.bridge, row.answer) for word in identity_words(name)
    )


def _bridge_words(told: Told) -> frozenset[str]:
    return frozenset(identity_words(told.row.bridge))


def _unlikeness(told: Told, other: Told) -> tuple[int, ...]:
    """What an exchange of the two bridges would show; all 0 is best."""
    mine, theirs = told.row.bridge, other.row.bridge
    return (
        told.row.pronoun != other.row.pronoun,
        (told.words["the_bridge"] == mine) != (other.words["the_bridge"] == theirs),
        len(mine.split()) != len(theirs.split()),
        ("surname" in told.words) != ("surname" in other.words),
        told.row.answer == other.row.answer,
        ("." in mine) != ("." in theirs),
        mine.startswith("The ") != theirs.startswith("The "),
        abs(len(mine) - len(theirs)) // _NEAR,
    )


def _compatible(told: Told, others: Iterable[Told], new: Told) -> bool:
    """Whether a distractor's names keep clear of the target's and of the others' bridges."""
    words, bridge = _own_words(new), _bridge_words(new)
    # Two rows may share an answer (a last resort), and then the answer's words only.
    shared = frozenset(identity_words(new.row.answer)) if new.row.answer == told.row.answer else ()
    if _own_words(told) & words - frozenset(shared):
        return False
    return not any(bridge & _own_words(other) or _bridge_words(other) & words for other in others)


def _choose(
    told: Told, rows: Sequence[Told], shape: ContextShape, rng: np.random.Generator
) -> tuple[list[Told], list[Told]] | None:
    """Choose dead ends, best first, and whole chains; None if the table is too small."""
    order = [rows[place] for place in rng.permutation(len(rows))]
    chosen: list[Told] = []
    for other in sorted(order, key=lambda other: _unlikeness(told, other)):
        if len(chosen) == shape.dead_ends:
            break
        if other.row.bridge != told.row.bridge and _compatible(told, chosen, other):
            chosen.append(other)
    ends = list(chosen)
    whole = int(rng.integers(shape.fewest_whole, shape.most_whole + 1))
    for other in sorted(order, key=lambda other: other.row.answer == told.row.answer):
        if len(chosen) == shape.dead_ends + whole:
            break
        if other.row.bridge != told.row.bridge and _compatible(told, chosen, other):
            chosen.append(other)
    if len(chosen) < shape.dead_ends + whole:
        return None
    return ends, chosen[len(ends) :]


class _Teller:
    """Writes the passages of one pair."""

    def __init__(self, pair: Pair, phrasings: Phrasings, rng: np.random.Generator) -> None:
        self._pair, self._phrasings, self._rng = pair, phrasings, rng

    def _texts(self, told: Told, phrasings: Iterable[Phrasing]) -> list[tuple[str, Phrasing]]:
        words = told.words
        # An alias that only respells the head would be a strange thing to be "also known as".
        aliases = [
            alias
            for alias in told.row.head_aliases
            if fold(alias) != fold(told.row.head)
            and identity_words(alias) != identity_words(told.row.head)
        ]
        if aliases:
            words = self._phrasings.with_alias(words, told.row, _pick(aliases, self._rng))
        filled = ((phrasing.fill(words), phrasing) for phrasing in phrasings)
        return [(text, phrasing) for text, phrasing in filled if text is not None]

    def mentions(self, told: Told) -> set[tuple[int, int]]:
        """The counts of bridge mentions that this row's earlier passages can have."""
        return {p.mentions for _, p in self._texts(told, self._pair.earlier_passages)}

    def earlier(self, told: Told, mentions: tuple[int, int] | None, avoid: set[str]) -> Passage:
        """An earlier passage, with these counts of mentions, in a wording not used yet."""
        texts = [
            (text, phrasing)
            for text, phrasing in self._texts(told, self._pair.earlier_passages)
            if mentions is None or phrasing.mentions == mentions
        ]
        fresh = [item for item in texts if item[1].text not in avoid] or texts
        text, phrasing = fresh[int(self._rng.integers(len(fresh)))]
        avoid.add(phrasing.text)
        head = told.row.head
        return Passage(title=head[0].upper() + head[1:], text=text)

    def later(self, told: Told, avoid: set[str]) -> Passage:
        """A later passage, in a wording not used yet."""
        texts = self._texts(told, self._pair.later_passages)
        fresh = [item for item in texts if item[1].text not in avoid] or texts
        text, phrasing = fresh[int(self._rng.integers(len(fresh)))]
        avoid.add(phrasing.text)
        return Passage(title=told.row.bridge, text=text)

    def question(self, told: Told) -> str:
        """A wording of the question."""
        return _pick([text for text, _ in self._texts(told, self._pair.questions)], self._rng)


def _sound(
    told: Told, question: str, earlier: Passage, later: Passage, rest: dict[str, list[Passage]]
) -> bool:
    """Whether every name stands where it should and nowhere else.

    Args:
        told: the row.
        question: the question.
        earlier: its first passage.
        later: its second passage.
        rest: the distractors' passages by the name of their bridge.
    """
    row = told.row
    own = [row.bridge, told.words.get("surname", row.bridge)]
    if any(_stands(question, name) for name in (*own, row.answer, *rest)):
        return False
    if not all(_stands(earlier.whole, name) for name in (row.head, row.bridge)):
        return False
    if not all(_stands(later.whole, name) for name in (row.bridge, row.answer)):
        return False
    if _stands(earlier.whole, row.answer) or _stands(later.whole, row.head):
        return False
    others = [passage for passages in rest.values() for passage in passages]
    if any(_stands(passage.whole, name) for passage in others for name in (*own, row.head)):
        return False
    return not any(
        _stands(passage.whole, bridge)
        for bridge in rest
        for passage in (earlier, later, *(p for b, ps in rest.items() if b != bridge for p in ps))
    )


def _fact(told: Told, pair: Pair, passage: Passage, source: str, *, later: bool) -> Fact:
    row = told.row
    if later:
        return Fact(
            relation=pair.later,
            head=row.bridge,
            tail=row.answer,
            tail_aliases=row.answer_aliases,
            passage=passage,
            kind=coarse(pair.answer),
            source_id=f"{source}/{told.key}",
        )
    return Fact(
        relation=pair.earlier,
        head=row.head,
        tail=row.bridge,
        tail_aliases=row.bridge_aliases,
        passage=passage,
        kind=coarse(pair.bridge),
        pronoun=row.pronoun,
        source_id=f"{source}/{told.key}",
    )


def compose(
    told: Told,
    rows: Sequence[Told],
    rng: np.random.Generator,
    *,
    phrasings: Phrasings,
    shape: ContextShape,
    source: str,
) -> Chain | None:
    """Write the question and the context of one row.

    Args:
        told: the row.
        rows: all rows of its pair.
        rng: the generator.
        phrasings: the wordings.
        shape: how many distractors.
        source: the source's name.

    Returns:
        The chain; None if no choice of distractors and wordings keeps its names apart.
    """
    pair = phrasings.pairs[told.row.pair]
    teller = _Teller(pair, phrasings, rng)
    for _ in range(_ATTEMPTS):
        choice = _choose(told, rows, shape, rng)
        if choice is None:
            continue
        ends, wholes = choice
        possible = teller.mentions(told)
        for other in ends:
            possible = possible & teller.mentions(other)
        if not possible:
            continue
        mentions = sorted(possible)[int(rng.integers(len(possible)))]
        used: set[str] = set()
        earlier = teller.earlier(told, mentions, used)
        decoys = [teller.earlier(other, mentions, used) for other in ends]
        told_later: set[str] = set()
        later = teller.later(told, told_later)
        rest = {
            other.row.bridge: [passage] for other, passage in zip(ends, decoys, strict=True)
        } | {
            other.row.bridge: [teller.earlier(other, None, used), teller.later(other, told_later)]
            for other in wholes
        }
        question = teller.question(told)
        if not _sound(told, question, earlier, later, rest):
            continue
        passages = [earlier, later, *(p for found in rest.values() for p in found)]
        order = rng.permutation(len(passages))
        context = tuple(passages[place] for place in order)
        row = told.row
        return Chain(
            source=source,
            source_id=f"{source}/{told.key}",
            question=question,
            passages=context,
            earlier=Hop(
                question=f"{row.head} >> {pair.earlier}",
                answer=row.bridge,
                support=context.index(earlier),
                relation=pair.earlier,
                subject=row.head,
            ),
            later=Hop(
                question=f"#1 >> {pair.later}",
                answer=row.answer,
                support=context.index(later),
                relation=pair.later,
                subject=row.bridge,
            ),
            bridge=row.bridge,
            answer=row.answer,
            bridge_aliases=row.bridge_aliases,
            answer_aliases=row.answer_aliases,
            kind=coarse(pair.bridge),
            pronoun=row.pronoun,
            decoys=tuple(
                _fact(other, pair, passage, source, later=False)
                for other, passage in zip(ends, decoys, strict=True)
            ),
            facts=(
                _fact(told, pair, earlier, source, later=False),
                _fact(told, pair, later, source, later=True),
            ),
        )
    return None
