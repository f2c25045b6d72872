"""The invented world: the same tables with every entity replaced by one that nobody knows.

Each real entity gets one invented name, the same wherever it stands, of its kind and shape; each
invented name belongs to one entity only. Relations, years, pronouns and articles stay, so the
invented world asks the same questions about names that no model has seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from chaincheck.invented import TakenNames, fold, identity_words, invent
from chaincheck.sources.facts.phrasings import Phrasings
from chaincheck.sources.facts.tables import Row

__all__ = ["Told", "invented_world", "real_world"]

_ROLES = ("head", "bridge", "answer")


class Told(msgspec.Struct, frozen=True):
    """A row as a world tells it.

    Attributes:
        row: the row, with the world's names.
        key: the key of the row of the real world, for ids and seeds.
        words: the slots that the row fills.
    """

    row: Row
    key: str
    words: dict[str, str]


def real_world(rows: Iterable[Row], phrasings: Phrasings) -> list[Told]:
    """Tell the rows as they are."""
    return [Told(row, row.key, phrasings.words(row)) for row in rows]


def _kinds(row: Row, phrasings: Phrasings) -> dict[str, str]:
    pair = phrasings.pairs[row.pair]
    return {"head": pair.head, "bridge": pair.bridge, "answer": pair.answer}


def _part(alias: str, name: str, new: str) -> str | None:
    """The part of an invented name that stands where an alias stands in the real one."""
    old, fresh, wanted = name.split(), new.split(), alias.split()
    for start in range(len(old) - len(wanted) + 1):
        if old[start : start + len(wanted)] == wanted and len(wanted) < len(old):
            return " ".join(fresh[start : start + len(wanted)])
    return None


class _Namer:
    """Gives every entity its invented name, once."""

    def __init__(self, taken: Iterable[str], rng: np.random.Generator) -> None:
        self._taken = TakenNames(taken)
        self._rng = rng
        self._names: dict[tuple[str, str], str] = {}

    def name(self, real: str, kind: str, pronoun: str | None) -> str:
        key = (fold(real), kind)
        if key not in self._names:
            self._names[key] = invent(kind, real, self._rng, self._taken, pronoun)
            self._taken.add(self._names[key])
        return self._names[key]

    def aliases(
        self, names: Sequence[str], real: str, kind: str, *, further: bool
    ) -> tuple[str, ...]:
        """Invent aliases: parts of the name, and, if wanted, names of their own.

        A respelling of the real name (no accents, another initial) is left out: an invented
        name has one spelling.
        """
        new = self.name(real, kind, None)
        found: list[str] = []
        for alias in names:
            if part := _part(alias, real, new):
                # A part made of kept words only ("Games") would name no one.
                if set(identity_words(part)) <= set(identity_words(new)):
                    found.append(part)
            elif further and not set(identity_words(alias)) & set(identity_words(real)):
                found.append(self.name(alias, kind, None))
        return tuple(dict.fromkeys(found))


def invented_world(rows: Sequence[Row], phrasings: Phrasings, seed: int = 0) -> list[Told]:
    """Tell the rows with invented names.

    Args:
        rows: the real rows.
        phrasings: kinds, and the prose from which invented names keep clear.
        seed: the same seed gives the same world.
    """
    taken = [
        name
        for row in rows
        for role in _ROLES
        for name in (getattr(row, role), *getattr(row, f"{role}_aliases"))
    ]
    taken += [
        phrasing.text
        for pair in phrasings.pairs.values()
        for phrasing in (*pair.questions, *pair.earlier_passages, *pair.later_passages)
    ]
    namer = _Namer(taken, np.random.default_rng([seed, len("world")]))
    told: list[Told] = []
    for row in rows:
        kinds = _kinds(row, phrasings)
        # The bridge first: its pronoun decides its given name.
        bridge = namer.name(row.bridge, kinds["bridge"], row.pronoun)
        new = msgspec.structs.replace(
            row,
            bridge=bridge,
            head=namer.name(row.head, kinds["head"], None),
            answer=namer.name(row.answer, kinds["answer"], None),
            **{
                f"{role}_aliases": namer.aliases(
                    getattr(row, f"{role}_aliases"),
                    getattr(row, role),
                    kinds[role],
                    further=role == "head",
                )
                for role in _ROLES
            },
        )
        articles = {
            role: phrasings.takes_article(getattr(row, role), kinds[role]) for role in _ROLES
        }
        told.append(Told(new, row.key, phrasings.words(new, articles)))
    return told
