"""Two judges' scores brought together triplet by triplet, or refused with what differs.

Comparing is allowed only on the same data: the same items with the same questions, by the hash
that every result carries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from chaincheck import __version__
from chaincheck.cells import CellScores
from chaincheck.errors import PathLike, UsageError, quote
from chaincheck.instruments import Judges
from chaincheck.judges.attribution import attributed, contents_of
from chaincheck.results import Signature
from chaincheck.scores import Joined, join_files

__all__ = ["Matched", "join_both", "match", "names_of"]

_Key = tuple[str, ...]


@dataclass(frozen=True)
class Matched:
    """Two judges' scores of the same triplets, in the same order.

    Attributes:
        rows: for each file and variant the first judge's scores, the second's, and the pair ids.
        data_hash: hash of the data that both scored.
        names: the judges' names.
        hashes: the hashes of their scores.
        dropped: triplets left out, by judge and reason, under "both" where that is the same for
            the two; under "compared" those that one judge has and the other has not.
        notes: doubts, each a sentence.
        judges: whose scores they are; None where no statement says.
    """

    rows: tuple[tuple[CellScores, CellScores, tuple[str, ...]], ...]
    data_hash: str
    names: tuple[str, str]
    hashes: tuple[str, str]
    dropped: dict[str, dict[str, int]]
    notes: tuple[str, ...]
    judges: Judges = (None, None)

    def signature(self, interval: str, resamples: int, seed: int) -> Signature:
        """One line that names the data and both judges: by instrument, else by their scores."""
        prints = [
            found if judge is None else judge.fingerprint
            for judge, found in zip(self.judges, self.hashes, strict=True)
        ]
        judges = zip(self.names, prints, strict=True)
        return Signature(
            data=self.data_hash,
            judge=",".join(f"{name}={found}" for name, found in judges),
            scores=",".join(self.hashes) if any(self.judges) else None,
            n=sum(first.n for first, _, _ in self.rows),
            interval=interval,
            resamples=resamples,
            seed=seed,
            version=__version__,
        )


def names_of(scores: PathLike, against: PathLike) -> tuple[str, str]:
    """Names of two judges from their score files: as short as tells them apart."""
    one, other = Path(scores), Path(against)
    return (one.name, other.name) if one.name != other.name else (str(one), str(other))


def join_both(
    data: Sequence[PathLike],
    scores: tuple[PathLike, PathLike],
    *,
    second_data: Sequence[PathLike] | None = None,
    exclude: Sequence[str] = (),
    allow_missing: bool = False,
) -> tuple[tuple[Joined, Joined], Judges]:
    """Join two score files to their triplets, and say whose scores they hold.

    Args:
        data: triplet files.
        scores: the two score files.
        second_data: what the second one scored, if these are other files.
        exclude: as of :func:`chaincheck.scores.join_files`.
        allow_missing: likewise.

    Raises:
        InputError: a file cannot be used.
        IntegrityError: a statement beside the scores says that a judge gave others, or gave
            these to other data.
        UsageError: the data of the second have other questions or passages under the same ids.
    """
    places = (data, second_data or data)
    one, other = (attributed(files, found) for files, found in zip(places, scores, strict=True))
    first, second = (
        join_files(files, found, exclude=exclude, allow_missing=allow_missing)
        for files, found in zip(places, scores, strict=True)
    )
    if second_data and first.data_hash == second.data_hash:
        contents = [dict(item for path in files for item in contents_of(path)) for files in places]
        changed = [name for name, found in contents[0].items() if contents[1].get(name) != found]
        if changed:
            raise UsageError(
                f"the data are not the same: {len(changed):,} items have the same ids and other "
                f"passages, such as item {quote(changed[0])}",
                remedy="Score the same triplet files with both judges",
            )
    return (first, second), (one, other)


def _places(joined: Joined, *, by_file: bool) -> dict[_Key, tuple[int, int]]:
    """Where each triplet stands: row and position."""
    found = {}
    for row, (cells, pair_ids) in enumerate(zip(joined.cells, joined.pair_ids, strict=True)):
        start = (cells.file, cells.variant) if by_file else (cells.variant,)
        for position, pair_id in enumerate(pair_ids):
            found[*start, pair_id] = (row, position)
    return found


def _described(keys: Sequence[_Key], name: str) -> str:
    if not keys:
        return ""
    variant, pair_id = keys[0][-2:]
    count = f"{len(keys):,} triplet{'' if len(keys) == 1 else 's'}"
    return f"; {count} only for {name}, such as pair {quote(pair_id)}, variant {quote(variant)}"


def _check_data(
    first: Joined, second: Joined, names: tuple[str, str], only: tuple[list[_Key], list[_Key]]
) -> None:
    if first.data_hash == second.data_hash:
        return
    what = "".join(_described(keys, name) for keys, name in zip(only, names, strict=True))
    if not what:
        what = "; the triplets are the same, their items, questions, bridges or columns are not"
    raise UsageError(
        f"{names[0]} and {names[1]} did not score the same data: {first.data_hash} and "
        f"{second.data_hash}{what}",
        remedy="Score the same triplet files with both judges",
    )


def _check_names(first: Joined, second: Joined, names: tuple[str, str]) -> None:
    for name in names:
        if not name.isprintable() or "|" in name:
            raise UsageError(
                f"a judge cannot be called {quote(name)}: its name stands in the signature",
                remedy="Name it, or its score file, without line breaks and without |",
            )
    if names[0] == names[1] and first.scores_hash != second.scores_hash:
        raise UsageError(
            f"two different sets of scores are both called {quote(names[0])}",
            remedy="Give each judge a name of its own",
        )


def match(
    first: Joined,
    second: Joined,
    names: tuple[str, str],
    *,
    judges: Judges = (None, None),
    allow_missing: bool = False,
) -> Matched:
    """Bring two judges' scores into one order of triplets.

    The order, the files' names and the clusters are the first judge's.

    Args:
        first: the first judge's scores.
        second: the second judge's.
        names: the judges' names, which must differ unless their scores are the same.
        judges: whose scores they are, where that is known.
        allow_missing: drop triplets that only one of them has, and count them.

    Raises:
        UsageError: the two are about different data, or no triplet is in both.
    """
    by_file = [one.file for one in first.cells] == [one.file for one in second.cells]
    places = [_places(one, by_file=by_file) for one in (first, second)]
    for found, joined in zip(places, (first, second), strict=True):
        if len(found) != sum(one.n for one in joined.cells):
            raise UsageError(
                "a pair stands in two of the files", remedy="Give both judges' files alike"
            )
    only = (
        [key for key in places[0] if key not in places[1]],
        [key for key in places[1] if key not in places[0]],
    )
    _check_data(first, second, names, only)
    _check_names(first, second, names)
    if any(only) and not allow_missing:
        what = "".join(_described(keys, name) for keys, name in zip(only, names, strict=True))
        raise UsageError(
            f"{names[0]} and {names[1]} did not score the same triplets{what}",
            remedy="Score them with both judges, or drop them with --allow-missing",
        )
    rows = tuple(_rows(first, second, places, by_file=by_file))
    if not rows:
        raise UsageError("no triplet was scored by both judges", remedy="Score the same triplets")
    dropped = {names[0]: dict(first.dropped), names[1]: dict(second.dropped)}
    if first.dropped == second.dropped:
        dropped = {"both": dict(first.dropped)}
    if any(only):
        dropped["compared"] = {
            f"scored by {name} only": len(keys)
            for name, keys in zip(names, only, strict=True)
            if keys
        }
    same = first.scores_hash == second.scores_hash
    return Matched(
        rows=rows,
        data_hash=first.data_hash,
        names=names,
        hashes=(first.scores_hash, second.scores_hash),
        dropped={name: reasons for name, reasons in dropped.items() if reasons},
        notes=("both score files hold the same scores",) if same else (),
        judges=judges,
    )


def _rows(
    first: Joined, second: Joined, places: Sequence[dict[_Key, tuple[int, int]]], *, by_file: bool
) -> Iterator[tuple[CellScores, CellScores, tuple[str, ...]]]:
    for cells, pair_ids in zip(first.cells, first.pair_ids, strict=True):
        start = (cells.file, cells.variant) if by_file else (cells.variant,)
        kept = [k for k, pair_id in enumerate(pair_ids) if (*start, pair_id) in places[1]]
        if not kept:
            continue
        names = tuple(pair_ids[k] for k in kept)
        where = [places[1][*start, name] for name in names]
        mine = np.array(kept, dtype=np.int64)
        one = CellScores(
            file=cells.file,
            variant=cells.variant,
            a=cells.a[mine],
            b=cells.b[mine],
            d=cells.d[mine],
            cluster=None if cells.cluster is None else cells.cluster[mine],
            coarse=None if cells.coarse is None else cells.coarse[mine],
        )
        a, b, d = (
            np.array([getattr(second.cells[row], cell)[at] for row, at in where])
            for cell in ("a", "b", "d")
        )
        yield one, replace(one, a=a, b=b, d=d), names
