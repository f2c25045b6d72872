"""What a reader asks of triplets: where names stand, what was lost to which rule, what leaks.

Where a name stands in each cell shows what a counter of names can see. What became of each link
shows what the rules cost. And a split shows how much a test set would share with its train set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from chaincheck.bypass import fold_tokens
from chaincheck.items import VARIANTS, Triplet
from chaincheck.mentions import stands
from chaincheck.reports import BuildReport
from chaincheck.splits import groups, split

__all__ = ["NameMap", "Outcome", "Role", "SplitStudy", "name_map", "outcomes", "study_split"]

Role = Literal["earlier", "later", "decoy", "distractor"]


@dataclass(frozen=True)
class NameMap:
    """In which passages of which cell the bridge and the replacement stand.

    Attributes:
        variant: "real", "fict" or "decoy".
        cells: the cells, as ``standing`` orders them.
        roles: for each passage of cell A what it is for.
        standing: for each cell and each passage the names that stand there, "bridge" and
            "replacement".
    """

    variant: str
    cells: tuple[str, ...]
    roles: tuple[Role, ...]
    standing: tuple[tuple[frozenset[str], ...], ...]

    def passages_with(self, cell: str, name: str) -> int:
        """In how many passages of a cell a name stands.

        Args:
            cell: a member of ``cells``.
            name: "bridge" or "replacement".
        """
        return sum(name in found for found in self.standing[self.cells.index(cell)])


def name_map(triplet: Triplet) -> NameMap:
    """Look for both names in every passage of cells A, B and D.

    A name stands in a passage if its words do, in a row, whatever their case and accents, or if
    an edit of that passage took it away or brought it there under a part of the name (a surname).
    """
    a, b = triplet.cells["A"], triplet.cells["B"]
    edited = {edit.passage for edit in b.edits}
    supports = {*a.earlier_support, *a.later_support}
    swapped = edited - supports if triplet.variant == "decoy" else set()
    decoys = {index for index in swapped if stands(a.passages[index], a.replacement or "")}
    roles: list[Role] = []
    for index in range(len(a.passages)):
        if index in a.earlier_support:
            roles.append("earlier")
        elif index in a.later_support:
            roles.append("later")
        else:
            roles.append("decoy" if index in decoys else "distractor")
    cells = tuple(name for name in ("A", "B", "D") if name in triplet.cells)
    standing = []
    for cell in cells:
        item = triplet.cells[cell]
        changed = {edit.passage for edit in item.edits}
        row = []
        for index, text in enumerate(item.passages):
            names = {
                role
                for role, name in (("bridge", a.bridge), ("replacement", a.replacement))
                if name and stands(text, name)
            }
            if not names and index in edited:
                here = (index in changed) != (index in decoys)
                names.add("replacement" if here else "bridge")
            row.append(frozenset(names))
        standing.append(tuple(row))
    return NameMap(triplet.variant, cells, tuple(roles), tuple(standing))


@dataclass(frozen=True)
class Outcome:
    """What became of the links of one data set in one variant.

    Attributes:
        made: triplets.
        lost: links lost, by the first rule that failed.
    """

    made: int
    lost: Mapping[str, int]

    @property
    def links(self) -> int:
        """Links that were tried."""
        return self.made + sum(self.lost.values())

    @property
    def share(self) -> float:
        """Share of the links that became triplets; 0 where there was none."""
        return self.made / self.links if self.links else 0.0


def outcomes(report: BuildReport) -> dict[str, Outcome]:
    """Triplets and losses by variant, in the order of ``VARIANTS``."""
    return {
        variant: Outcome(
            report.triplets[variant],
            dict(sorted(report.rejected_by_variant.get(variant, {}).items())),
        )
        for variant in sorted(report.triplets, key=VARIANTS.index)
    }


class SplitStudy(msgspec.Struct, frozen=True, kw_only=True):
    """How a split by groups compares with one by question.

    Attributes:
        triplets: triplets in all.
        questions, bridges, steps: different questions, bridges and later passages.
        groups: connected groups of questions that share bridges or later passages.
        largest: triplets in the largest group.
        train, test: triplets on either side of the split by groups.
        shared: test triplets whose bridge or later passage stands in the train set as well.
        naive_test: triplets of the test set when whole questions are drawn at random instead.
        naive_shared: how many of those share a bridge or a later passage with their train set.
    """

    triplets: int
    questions: int
    bridges: int
    steps: int
    groups: int
    largest: int
    train: int
    test: int
    shared: int
    naive_test: int
    naive_shared: int


def _keys(triplet: Triplet) -> set[tuple[str, ...]]:
    item = triplet.cells["A"]
    found = {("later", *fold_tokens(item.passages[index])) for index in item.later_support}
    if item.bridge:
        found.add(("bridge", *fold_tokens(item.bridge)))
    return found


def _shared(train: Sequence[Triplet], test: Sequence[Triplet]) -> int:
    known = {key for triplet in train for key in _keys(triplet)}
    return sum(bool(_keys(triplet) & known) for triplet in test)


def study_split(triplets: Sequence[Triplet], test_share: float, seed: int) -> SplitStudy:
    """Split by groups and by question, and count what either side would know of the other.

    Args:
        triplets: with their cells A.
        test_share: share of the triplets in the test set.
        seed: seed of both splits.

    Raises:
        UsageError: ``test_share`` is no share.
    """
    found = groups(triplets)
    train, test = split(triplets, test_share, seed)
    questions = sorted({triplet.cells["A"].query for triplet in triplets})
    order = np.random.default_rng(seed).permutation(len(questions))
    chosen = {questions[place] for place in order[: round(test_share * len(questions))]}
    naive_test = [triplet for triplet in triplets if triplet.cells["A"].query in chosen]
    naive_train = [triplet for triplet in triplets if triplet.cells["A"].query not in chosen]
    keys = set().union(*map(_keys, triplets))
    return SplitStudy(
        triplets=len(triplets),
        questions=len(questions),
        bridges=sum(key[0] == "bridge" for key in keys),
        steps=sum(key[0] == "later" for key in keys),
        groups=len(found),
        largest=max(map(len, found), default=0),
        train=len(train),
        test=len(test),
        shared=_shared(train, test),
        naive_test=len(naive_test),
        naive_shared=_shared(naive_train, naive_test),
    )
