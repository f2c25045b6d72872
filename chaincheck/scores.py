"""Scores joined to the triplets that they are for.

Every item must have a score, and every score an item: what is missing is refused, never filled
in. How the score file itself is read is in ``score_files``.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from chaincheck.cells import CellScores
from chaincheck.errors import (
    DuplicateItem,
    IncompleteTriplet,
    InvalidItem,
    MissingScore,
    PathLike,
    UnknownScore,
)
from chaincheck.index import IndexRow, read_index
from chaincheck.intervals import FloatArray
from chaincheck.items import CELLS, VARIANTS, incomplete
from chaincheck.score_files import Scores, hash_scores, read_scores

__all__ = ["Joined", "hash_scores", "join_files", "read_scores"]

_REQUIRED = ("A", "B", "D")
_DIGITS = 16


@dataclass(frozen=True)
class Joined:
    """Scores joined to their triplets.

    Attributes:
        cells: one entry for each file and variant, variants in the order of ``VARIANTS``, then
            by name; triplets by their pair id, whatever the order of the rows.
        pair_ids: the triplets of each entry, in its order.
        data_hash: hash of what of the data enters an evaluation, see ``join_files``.
        scores_hash: hash of the scores, see ``hash_scores``.
        dropped: triplets left out, by reason.
    """

    cells: tuple[CellScores, ...]
    pair_ids: tuple[tuple[str, ...], ...]
    data_hash: str
    scores_hash: str
    dropped: dict[str, int] = field(default_factory=dict)

    def of(self, variant: str) -> CellScores:
        """The scores of one variant, of the first file that has it.

        Raises:
            KeyError: there are none.
        """
        for one in self.cells:
            if one.variant == variant:
                return one
        raise KeyError(variant)


class _Triplet:
    """A triplet while its rows come in; slots, since there may be 100,000 of them."""

    __slots__ = ("bridge", "excluded", "first", "items", "query")

    def __init__(self, row: IndexRow) -> None:
        self.first = row
        self.items: dict[str, tuple[str, int]] = {}
        self.query = row.query
        self.bridge = row.bridge
        self.excluded: int | None = None

    @property
    def coarse_key(self) -> str:
        """What triplets with one bridge share; the question, where the bridge is not known."""
        return f"question {self.query}" if self.bridge is None else f"bridge {self.bridge}"

    def add(self, row: IndexRow) -> None:
        """Take a row; what comes of all of them does not depend on their order."""
        self.items[row.cell] = (row.item_id, row.line)
        if CELLS.index(row.cell) <= min(CELLS.index(cell) for cell in self.items):
            self.query, self.bridge = row.query, row.bridge
        for k, value in enumerate(row.flags):
            if value and (self.excluded is None or k < self.excluded):
                self.excluded = k


def _gather(
    path: PathLike, exclude: Sequence[str], digest_lines: list[bytes], known: set[str]
) -> tuple[dict[tuple[str, str], _Triplet], list[bool]]:
    """Read one file into triplets; note what is hashed and which columns hold true or false."""
    triplets: dict[tuple[str, str], _Triplet] = {}
    present = [False] * len(exclude)
    filled = [False] * len(exclude)
    encode = msgspec.json.Encoder().encode
    for row in read_index(path, columns=exclude):
        if row.item_id in known:
            raise DuplicateItem(
                "this item stands in two of the files",
                path=path,
                line=row.line,
                item=row.item_id,
                remedy="Give each file once, and files without common items",
            )
        known.add(row.item_id)
        key = (row.pair_id, row.variant)
        triplet = triplets.get(key)
        if triplet is None:
            triplet = triplets[key] = _Triplet(row)
        triplet.add(row)
        for k, value in enumerate(row.flags):
            present[k] = present[k] or row.present[k]
            filled[k] = filled[k] or value is not None
        digest_lines.append(
            encode(
                (row.item_id, row.pair_id, row.variant, row.cell, row.query, row.bridge, row.flags)
            )
        )
    for k, column in enumerate(exclude):
        if not present[k]:
            raise InvalidItem(
                f"no row has the column {column}",
                path=path,
                remedy="Leave this exclusion out, or name a column that the file has",
            )
    return triplets, filled


def _complete(
    triplet: _Triplet,
    scores: dict[str, float],
    *,
    data: PathLike,
    score_path: PathLike,
    allow_missing: bool,
) -> str | None:
    """Return why a triplet must be dropped, None if it need not; raise if it may not be."""
    lacking = [cell for cell in _REQUIRED if cell not in triplet.items]
    if lacking:
        if allow_missing:
            return f"no cell {' or '.join(lacking)}"
        first = triplet.first
        raise incomplete(
            first.pair_id,
            first.variant,
            lacking,
            first.item_id,
            path=data,
            line=first.line,
            remedy="Add the missing rows, or drop such triplets with --allow-missing",
        )
    for cell, (item_id, line) in triplet.items.items():
        if item_id in scores:
            continue
        if not allow_missing:
            raise MissingScore(
                f"no score for this item of {data}:{line}",
                path=score_path,
                item=item_id,
                remedy="Score it, or drop such triplets with --allow-missing",
            )
        if cell in _REQUIRED:
            return "a score is missing"
    return None


def _columns(
    file: str,
    variant: str,
    triplets: Sequence[_Triplet],
    scores: dict[str, float],
    marks: tuple[dict[str, int], dict[str, int]],
) -> CellScores:
    """Put the scores of one file and variant into columns."""
    by_cell: dict[str, FloatArray] = {}
    for cell in CELLS:
        found = (triplet.items.get(cell, ("", 0))[0] for triplet in triplets)
        by_cell[cell] = np.array([scores.get(name, math.nan) for name in found], dtype=np.float64)
    questions, bridges = marks
    return CellScores(
        file=file,
        variant=variant,
        a=by_cell["A"],
        b=by_cell["B"],
        d=by_cell["D"],
        c=None if np.isnan(by_cell["C"]).all() else by_cell["C"],
        cluster=np.array([questions[triplet.query] for triplet in triplets], dtype=np.int64),
        coarse=np.array([bridges[triplet.coarse_key] for triplet in triplets], dtype=np.int64)
        if any(triplet.bridge is not None for triplet in triplets)
        else None,
    )


def _order(variant: str) -> tuple[int, str]:
    return (VARIANTS.index(variant) if variant in VARIANTS else len(VARIANTS), variant)


def _excluded_reasons(exclude: Sequence[str], filled: Sequence[bool]) -> dict[str, int]:
    """Begin the count of what is excluded; a column without one true or false says so."""
    return {
        f"{column} is true" if has else f"{column} holds only null": 0
        for column, has in zip(exclude, filled, strict=True)
    }


def join_files(
    data: Sequence[PathLike],
    scores: PathLike,
    *,
    exclude: Sequence[str] = (),
    allow_missing: bool = False,
) -> Joined:
    """Join a score file to one or more files of triplets.

    A triplet is excluded if a column of ``exclude`` is true in any of its rows; its items need
    no score. Every other triplet must have cells A, B and D, and every one of its items a score.
    With ``allow_missing`` a triplet that lacks a cell or a score of A, B or D is dropped and
    counted; one that lacks only C's score goes without C.

    The data hash covers, for each row, item_id, pair_id, variant, cell, query, bridge and the
    excluding columns: what decides which scores are compared. It is the SHA-256 of these rows
    as JSON, sorted, so that neither the order of the rows nor the file's name, compression or
    other columns change it. The passages are not part of it; what a judge made of them is in
    the scores.

    Args:
        data: the files of triplets.
        scores: one score file for all of them.
        exclude: names of yes-or-no columns.
        allow_missing: drop incomplete triplets instead of refusing them.

    Returns:
        Columns of scores, clustered by question (rows with the same ``query``, in all variants)
        and by bridge.

    Raises:
        InputError: a file, a row or a score is at fault; ``UnknownScore`` for a score of no item,
            ``IncompleteTriplet`` where no triplet is left to measure.
    """
    found = read_scores(scores)
    known: set[str] = set()
    digest_lines: list[bytes] = []
    dropped: dict[str, int] = {}
    groups: list[tuple[PathLike, dict[str, list[_Triplet]]]] = []
    exclude = tuple(dict.fromkeys(exclude))
    for path in data:
        triplets, filled = _gather(path, exclude, digest_lines, known)
        for reason in _excluded_reasons(exclude, filled):
            dropped.setdefault(reason, 0)
        by_variant: dict[str, list[_Triplet]] = {}
        # Resampling goes by place, so the order must be one that the rows' order cannot change.
        for _, triplet in sorted(triplets.items()):
            if triplet.excluded is not None:
                dropped[f"{exclude[triplet.excluded]} is true"] += 1
                continue
            problem = _complete(
                triplet, found, data=path, score_path=scores, allow_missing=allow_missing
            )
            if problem is None:
                by_variant.setdefault(triplet.first.variant, []).append(triplet)
            else:
                dropped[problem] = dropped.get(problem, 0) + 1
        groups.append((path, by_variant))
    _refuse_unknown(found, known, scores)
    cells, pair_ids = _all_columns(groups, found)
    if not cells:
        raise IncompleteTriplet(
            "no triplet is left to measure", path=data[0], remedy=_nothing_left(dropped)
        )
    digest = hashlib.sha256(b"\n".join(sorted(digest_lines))).hexdigest()[:_DIGITS]
    return Joined(cells, pair_ids, digest, hash_scores(found), dropped)


def _nothing_left(dropped: dict[str, int]) -> str:
    counts = ", ".join(f"{reason}: {count}" for reason, count in dropped.items() if count)
    return f"All were dropped ({counts})"


def _refuse_unknown(scores: Scores, known: set[str], path: PathLike) -> None:
    unknown = [name for name in scores if name not in known]
    if not unknown:
        return
    more = len(unknown) - 1
    others = f", nor {more:,} further one{'' if more == 1 else 's'}" if more else ""
    raise UnknownScore(
        f"the data has no such item{others}",
        path=path,
        line=scores.line(unknown[0]),
        item=unknown[0],
        remedy="Give every file that was scored as --data, or remove these lines",
    )


def _all_columns(
    groups: Sequence[tuple[PathLike, dict[str, list[_Triplet]]]], scores: dict[str, float]
) -> tuple[tuple[CellScores, ...], tuple[tuple[str, ...], ...]]:
    cells, pair_ids = [], []
    for path, by_variant in groups:
        flat = [triplet for _, group in sorted(by_variant.items()) for triplet in group]
        marks = (
            _numbered(triplet.query for triplet in flat),
            _numbered(triplet.coarse_key for triplet in flat),
        )
        for variant in sorted(by_variant, key=_order):
            group = by_variant[variant]
            # Bytes of a name that are no UTF-8 cannot stand in JSON or in a figure.
            file = os.fspath(path).encode("utf-8", "backslashreplace").decode()
            cells.append(_columns(file, variant, group, scores, marks))
            pair_ids.append(tuple(triplet.first.pair_id for triplet in group))
    return tuple(cells), tuple(pair_ids)


def _numbered(keys: Iterable[str]) -> dict[str, int]:
    """Number the keys in order of first appearance, as ``cells.labels`` does."""
    return {key: number for number, key in enumerate(dict.fromkeys(keys))}
