"""Measured rows with where they come from: what ``evaluate`` prints, writes and draws."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from tabulate import tabulate

from chaincheck import __version__
from chaincheck.atomic import write_bytes
from chaincheck.cells import CellScores
from chaincheck.errors import PathLike, UsageError, one_line
from chaincheck.intervals import Interval
from chaincheck.judges.attribution import Attribution, attributed
from chaincheck.results import By, Gap, Selectivity, Signature, report
from chaincheck.scores import join_files
from chaincheck.selectivity import measure_all

__all__ = [
    "BY",
    "Evaluation",
    "evaluate_cells",
    "evaluate_files",
    "judges_to_json",
    "judges_to_text",
    "table",
]

BY: dict[str, By] = {"triplet": "triplet", "question": "cluster", "bridge": "coarse"}
"""What a user calls the unit of resampling, and what the statistics call it."""


@dataclass(frozen=True)
class Evaluation:
    """Measured rows and where they come from.

    Attributes:
        rows: one for each file and variant.
        signature: what data, judge and method they belong to.
        dropped: triplets left out, by reason.
        judge: whose scores they are, with the caveats; None where that is not known.
    """

    rows: tuple[Selectivity, ...]
    signature: Signature
    dropped: dict[str, int]
    judge: Attribution | None = None

    def by_file(self) -> dict[str, list[Selectivity]]:
        """The rows under the name of their file, in order: what the figures take."""
        found: dict[str, list[Selectivity]] = {}
        for row in self.rows:
            found.setdefault(Path(row.file).name, []).append(row)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` writes."""
        found = {**report(self.rows, self.signature), "dropped": self.dropped}
        if self.judge is not None:
            found |= {"judge": self.judge.summary(), "caveats": list(self.judge.caveats)}
        return found

    def to_json(self) -> str:
        """The object as indented JSON text."""
        return msgspec.json.format(msgspec.json.encode(self.to_dict()), indent=1).decode()

    def write_json(self, path: PathLike) -> None:
        """Write the object, whole or not at all."""
        write_bytes(path, self.to_json().encode() + b"\n")

    def to_text(self) -> str:
        """A table with one row a variant, the doubts beside the numbers, and the signature."""
        lines = [table(self.rows)]
        lines += [f"dropped {count:,} triplets: {why}" for why, count in self.dropped.items()]
        if self.judge is not None:
            lines += [f"caveat: {caveat}" for caveat in self.judge.caveats]
        return "\n".join([*lines, str(self.signature)])


def _with_interval(interval: Interval) -> str:
    if not interval.bounded:
        return f"{interval.estimate:+.3f} n/a"
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def _mean(gap: Gap) -> str:
    return f"{gap.mean.estimate:.3g}" if math.isfinite(gap.mean.estimate) else "n/a"


def table(rows: Sequence[Selectivity]) -> str:
    """Rows as a plain-text table, one line a variant, and below it what to doubt about them.

    CE and EE carry the percentile (kit) interval, Sigma the contrast interval, all at the rows'
    level, or n/a where there are too few triplets or clusters for one. The columns A-B and B-D
    are mean score differences, in the judge's own units.
    """
    doubts: dict[str, int] = {}
    cells = []
    for row in rows:
        marks = [doubts.setdefault(note, len(doubts) + 1) for note in row.notes]
        cells.append(
            [
                one_line(Path(row.file).name),
                one_line(row.variant),
                row.n,
                f"{row.nominal.estimate:.3f}",
                _with_interval(row.chain_effect),
                _with_interval(row.edit_effect),
                _with_interval(row.contrast),
                _mean(row.gaps["A-B"]),
                _mean(row.gaps["B-D"]),
                ",".join(map(str, sorted(marks))),
            ]
        )
    names = ["file", "variant", "n", "Nominal", "CE", "EE", "Sigma", "A-B", "B-D", "doubts"]
    lines = [tabulate(cells, headers=names, disable_numparse=True)]
    lines += [f"  ({number}) {note}" for note, number in doubts.items()]
    return "\n".join(lines)


def evaluate_cells(
    cells: Sequence[CellScores],
    *,
    data_hash: str,
    judge: str | Attribution,
    scores_hash: str | None = None,
    dropped: dict[str, int] | None = None,
    cluster: str = "triplet",
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Evaluation:
    """Measure joined scores and sign the result.

    Args:
        cells: one entry for each file and variant.
        data_hash: hash of the data that was scored.
        judge: whose scores these are; the hash of the scores where that is not known.
        scores_hash: hash of the scores, where it is.
        dropped: triplets left out, by reason.
        cluster: a key of ``BY``.
        resamples: bootstrap resamples.
        level: nominal coverage of every interval.
        seed: seed of every row's generator.

    Raises:
        UsageError: the data do not say what the clusters are.
    """
    if cluster == "bridge" and any(one.coarse is None for one in cells):
        raise UsageError(
            "the data have no bridge to resample by", remedy="Use --cluster question or triplet"
        )
    rows = measure_all(cells, seed=seed, resamples=resamples, level=level, by=BY[cluster])
    signature = Signature(
        data=data_hash,
        judge=judge if isinstance(judge, str) else judge.fingerprint,
        n=int(np.sum([row.n for row in rows])),
        interval=f"contrast{level * 100:g} by {cluster}",
        resamples=resamples,
        seed=seed,
        version=__version__,
        scores=scores_hash,
    )
    return Evaluation(rows, signature, dropped or {}, None if isinstance(judge, str) else judge)


def evaluate_files(
    data: Sequence[PathLike],
    scores: PathLike,
    *,
    exclude: Sequence[str] = (),
    allow_missing: bool = False,
    cluster: str = "triplet",
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> Evaluation:
    """Join a score file to its triplets and measure every file and variant.

    Args:
        data: triplet files.
        scores: one score file for all of them.
        exclude: true/false columns; a triplet with a true one is dropped and counted.
        allow_missing: drop triplets with a missing cell or score instead of refusing them.
        cluster: what is resampled, a key of ``BY``.
        resamples: bootstrap resamples.
        level: nominal coverage of every interval.
        seed: seed of every row's generator.

    Raises:
        InputError: the data or the scores cannot be used.
        IntegrityError: a statement beside the scores says that a judge gave others, or gave
            these to other data.
    """
    judge = attributed(data, scores)
    joined = join_files(data, scores, exclude=exclude, allow_missing=allow_missing)
    return evaluate_cells(
        joined.cells,
        data_hash=joined.data_hash,
        judge=judge or joined.scores_hash,
        scores_hash=joined.scores_hash if judge else None,
        dropped=joined.dropped,
        cluster=cluster,
        resamples=resamples,
        level=level,
        seed=seed,
    )


def judges_to_json(found: Mapping[str, Evaluation]) -> str:
    """Several judges' results as one JSON object, a key a judge."""
    plain = {name: one.to_dict() for name, one in found.items()}
    return msgspec.json.format(msgspec.json.encode(plain), indent=1).decode()


def judges_to_text(found: Mapping[str, Evaluation]) -> str:
    """Several judges' results as tables, each under the judge's name."""
    return "\n\n".join(f"{name}\n{one.to_text()}" for name, one in found.items())
