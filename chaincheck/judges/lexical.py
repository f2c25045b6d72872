"""Lexical judges: deterministic, offline, each a few lines that can be read at a glance.

Five of them are *shortcut judges*. Each reads one surface cue and nothing else, so what it
scores on a data set is what that cue alone is worth there. The sixth, ``lexical``, follows the
chain by words: it looks for a passage that matches the question and a second one that is linked
to it by a name.

Every score is made of counts, or of sums that do not depend on the order of the terms
(``math.fsum``), so that two contexts with the same surface get exactly the same score and count
as a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from chaincheck.items import Item
from chaincheck.judges.base import Judgment, fingerprint_of, no_passages
from chaincheck.judges.surface import Surface, content_words

__all__ = ["CUES", "SHORTCUTS", "LexicalJudge"]

_REVISION = 1  # part of every fingerprint: raise it when any score below can change


def _chain_by_words(item: Item) -> float:
    """Best two-passage path from the question: match, link by a shared name, match of the rest.

    Words and names weigh ``log(N / n)`` for one that stands in n of N passages (the inverse
    document frequency of Spärck Jones, 1972), plus a small constant so that a word in all
    passages still counts. A path from passage i to passage j scores the question words in i,
    the heaviest name that i and j share and the question does not hold, and the question words
    in j that i lacks.
    """
    surface = Surface(item.passages)
    question = content_words(item.query)
    total = len(item.passages)
    word_count, name_count = surface.passages_with_word(), surface.passages_with_name()

    def weight(count: int) -> float:
        return math.log(total / count) + 0.1

    matched = [question & words for words in surface.words]
    best = 0.0
    for i, first in enumerate(matched):
        start = math.fsum(weight(word_count[word]) for word in first)
        for j, second in enumerate(matched):
            if i == j:
                continue
            shared = (surface.names[i] & surface.names[j]) - question
            link = max((weight(name_count[name]) for name in shared), default=0.0)
            rest = math.fsum(weight(word_count[word]) for word in second - first)
            best = max(best, start + link + rest)
    return best


def _names_once(item: Item) -> float:
    """Minus the number of names that stand in one passage only."""
    counts = Surface(item.passages).passages_with_name()
    return -float(sum(count == 1 for count in counts.values()))


def _repeated_names(item: Item) -> float:
    """Number of names that stand in two passages or more."""
    counts = Surface(item.passages).passages_with_name()
    return float(sum(count > 1 for count in counts.values()))


def _question_overlap(item: Item) -> float:
    """Number of (question word, passage that holds it) pairs."""
    question = content_words(item.query)
    return float(sum(len(question & words) for words in Surface(item.passages).words))


def _length(item: Item) -> float:
    """Length of the context in characters."""
    return float(sum(map(len, item.passages)))


def _unfamiliar_names(item: Item) -> float:
    """Minus the summed strangeness of every name in every passage that it stands in."""
    names = Surface(item.passages).names
    return -math.fsum(_strangeness(name) for members in names for name in members)


@lru_cache(maxsize=1)
def _letter_counts() -> Mapping[str, int]:
    """Counts of letter sequences (1 to 4 letters) in the names of the book's own facts."""
    from chaincheck.sources.facts.tables import load_tables

    known = {name for row in load_tables() for name in (row.head, row.bridge, row.answer)}
    counts: dict[str, int] = {}
    for name in sorted(known):
        for word in name.lower().split():
            padded = f"^^^{word}$"
            for end in range(3, len(padded)):
                for size in range(4):
                    gram = padded[end - size : end + 1]
                    counts[gram] = counts.get(gram, 0) + 1
                    context = gram[:-1] + "\0"
                    counts[context] = counts.get(context, 0) + 1
    return MappingProxyType(counts)


@lru_cache(maxsize=65536)
def _strangeness(name: str) -> float:
    """Mean surprise of a name's letters, in bits, under names of real people, places and works.

    Each letter's probability given the three before it is interpolated with shorter contexts
    (Witten and Bell, 1991, with a fixed weight): half from each order, from four letters down
    to one, and the rest uniform over 64 symbols. A name that the facts hold gets a low value, a
    name in a strange spelling a high one; nothing is known of who bears it.
    """
    counts = _letter_counts()
    padded = f"^^^{name}$"
    bits = []
    for end in range(3, len(padded)):
        probability = 1 / 64
        for size in range(4):
            gram = padded[end - size : end + 1]
            seen = counts.get(gram[:-1] + "\0", 0)
            if seen:
                probability = 0.5 * probability + 0.5 * counts.get(gram, 0) / seen
        bits.append(-math.log2(probability))
    return math.fsum(bits) / len(bits)


CUES: Mapping[str, Callable[[Item], float]] = MappingProxyType(
    {
        "lexical": _chain_by_words,
        "names-once": _names_once,
        "repeated-names": _repeated_names,
        "question-overlap": _question_overlap,
        "length": _length,
        "unfamiliar-names": _unfamiliar_names,
    }
)
"""Every lexical judge: its name and what it computes from one item."""

SHORTCUTS = tuple(name for name in CUES if name != "lexical")
"""The shortcut judges, each of which reads one surface cue."""


class LexicalJudge:
    """One of the lexical judges, by name.

    Args:
        cue: a key of ``CUES``.

    Raises:
        KeyError: no such cue (``chaincheck.judges.open_judge`` gives users a typed error).
    """

    def __init__(self, cue: str = "lexical") -> None:
        self.name = cue
        self._cue = CUES[cue]
        self.instrument: dict[str, object] = {
            "judge": "lexical",
            "cue": cue,
            "revision": _REVISION,
        }
        if cue == "unfamiliar-names":
            self.instrument["letters"] = fingerprint_of(dict(_letter_counts()))
        self.fingerprint = fingerprint_of(self.instrument)

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Judge the items one by one, in order.

        Raises:
            UnjudgeableItem: an item without passages, of which every count would be 0.
        """
        for item in items:
            if not item.passages:
                raise no_passages(item.item_id)
            yield Judgment(item_id=item.item_id, score=self._cue(item))
