"""Our own facts as a source: real and invented, with no download."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Literal

import msgspec
import numpy as np

from chaincheck.chains import Chain, Unusable
from chaincheck.errors import PathLike, UsageError, WrongSource
from chaincheck.sources.facts.contexts import ContextShape, compose
from chaincheck.sources.facts.phrasings import load_phrasings
from chaincheck.sources.facts.tables import Row, load_tables
from chaincheck.sources.facts.world import Told, invented_world, real_world

__all__ = ["FactsSource", "PairSummary", "facts_summary", "invented_facts"]


class FactsSource:
    """Two-hop chains from the committed tables, told in our own sentences.

    Args:
        world: "real" names, or "invented" ones that no model has seen.
        seed: decides wordings, distractors and their order, and the invented names. The chain of
            a row depends on the seed and on the rows of its own table only.
        whole: fewest and most whole chains among the distractors.
        dead_ends: how many dead ends; the first is the one to exchange bridges with.

    Raises:
        UsageError: a world or a number that cannot be used.
    """

    def __init__(
        self,
        world: Literal["real", "invented"] = "real",
        *,
        seed: int = 0,
        whole: tuple[int, int] = (1, 2),
        dead_ends: int = 2,
    ) -> None:
        if world not in ("real", "invented"):
            raise UsageError(f"no world {world!r}", remedy="Use 'real' or 'invented'")
        if not 0 <= whole[0] <= whole[1] or dead_ends < 0:
            raise UsageError(
                f"cannot make contexts with {whole} whole chains and {dead_ends} dead ends",
                remedy="Give numbers from 0, the smaller one first",
            )
        self.name = "facts" if world == "real" else "facts-invented"
        self.world = world
        self.seed = seed
        self.shape = ContextShape(whole[0], whole[1], dead_ends)

    def read(self, path: PathLike | None = None) -> Iterator[Chain | Unusable]:
        """Yield one chain a row.

        Args:
            path: a folder of tables, or one table, named like those of the package; None for
                the package's own.

        Raises:
            InputError: a table that cannot be used, or one for which there are no phrasings.
        """
        phrasings = load_phrasings()
        rows = load_tables(path)
        for row in rows:
            if row.pair not in phrasings.pairs:
                raise WrongSource(
                    f"no phrasings for a table named {row.pair!r}",
                    path=row.path,
                    remedy=f"Name the file after one of: {', '.join(sorted(phrasings.pairs))}",
                )
        if self.world == "real":
            told = real_world(rows, phrasings)
        else:
            told = invented_world(rows, phrasings, self.seed)
        tables: dict[str, list[Told]] = {}
        for one in told:
            tables.setdefault(one.row.pair, []).append(one)
        for one in told:
            rng = np.random.default_rng([self.seed, zlib.crc32(one.key.encode())])
            chain = compose(
                one,
                tables[one.row.pair],
                rng,
                phrasings=phrasings,
                shape=self.shape,
                source=self.name,
            )
            yield chain or Unusable(
                source_id=f"{self.name}/{one.key}",
                line=one.row.line,
                code="names-collide",
                reason="no choice of distractors and wordings keeps the names of the row apart",
            )


def invented_facts() -> FactsSource:
    """Return the source of the invented world, for the registry."""
    return FactsSource("invented")


class PairSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What one table holds and how it can be told.

    Attributes:
        pair: the table's name.
        earlier: slot of the first relation.
        later: slot of the second relation.
        rows: chains.
        bridges: different bridges.
        answers: different answers.
        questions: wordings of the question.
        earlier_passages: wordings of the first passage.
        later_passages: wordings of the second passage.
    """

    pair: str
    earlier: str
    later: str
    rows: int
    bridges: int
    answers: int
    questions: int
    earlier_passages: int
    later_passages: int


def facts_summary(path: PathLike | None = None) -> tuple[PairSummary, ...]:
    """Count what each table holds, in the order of their names.

    Raises:
        InputError: as :meth:`FactsSource.read`.
    """
    phrasings = load_phrasings()
    tables: dict[str, list[Row]] = {}
    for row in load_tables(path):
        tables.setdefault(row.pair, []).append(row)
    return tuple(
        PairSummary(
            pair=name,
            earlier=phrasings.pairs[name].earlier,
            later=phrasings.pairs[name].later,
            rows=len(rows),
            bridges=len({row.bridge for row in rows}),
            answers=len({row.answer for row in rows}),
            questions=len(phrasings.pairs[name].questions),
            earlier_passages=len(phrasings.pairs[name].earlier_passages),
            later_passages=len(phrasings.pairs[name].later_passages),
        )
        for name, rows in tables.items()
    )
