"""The steps of the command line as functions: build, score and evaluate a file.

Notebooks call these too, so that what a reader does in the shell and what a chapter does is the
same code.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec
import numpy as np
from tabulate import tabulate

from chaincheck import __version__
from chaincheck.atomic import open_output, write_bytes, write_lines
from chaincheck.cells import CellScores
from chaincheck.errors import PathLike, UsageError
from chaincheck.intervals import Interval
from chaincheck.items import VARIANTS, Item, encode_item, read_items, write_items
from chaincheck.judges import CUES, Judge, open_judge
from chaincheck.reports import BuildReport
from chaincheck.results import By, Selectivity, Signature, report
from chaincheck.scores import join_files
from chaincheck.selectivity import measure_all
from chaincheck.sources import EMBEDDED, open_source

__all__ = [
    "Evaluation",
    "ScoringSummary",
    "build_file",
    "evaluate_cells",
    "evaluate_files",
    "judges_to_json",
    "judges_to_text",
    "measure_judges",
    "score_file",
    "table",
]

BY: dict[str, By] = {"triplet": "triplet", "question": "cluster", "bridge": "coarse"}
"""What a user calls the unit of resampling, and what the statistics call it."""


class Progress(Protocol):
    """Wraps an iterable in a progress bar."""

    def __call__(self, items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
        """Yield the items of the iterable, showing how many have passed."""
        ...


def _silent(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
    yield from items


def build_file(
    source: str,
    path: PathLike | None,
    out: PathLike,
    *,
    variants: Sequence[str] = VARIANTS,
    cells: Sequence[str] = ("A", "B", "D"),
    seed: int = 0,
    distractors: int | None = None,
    limit: int | None = None,
    report_path: PathLike | None = None,
    test_out: PathLike | None = None,
    test_share: float = 0.2,
    progress: Progress = _silent,
) -> BuildReport:
    """Build the triplets of a data set and write them, whole or not at all.

    Args:
        source: name of a source.
        path: its file; None for a source that comes with the package.
        out: triplets to write.
        variants: which of "real", "fict", "decoy".
        cells: which of "A", "B", "D", "C".
        seed: seed of every choice.
        distractors: keep at most this many passages beside the supports; None keeps all.
        limit: read at most this many records; None reads all.
        report_path: where to write the report as JSON.
        test_out: a second file, for a test share that has no bridge and no later step in common
            with what then goes to ``out``.
        test_share: how much of the triplets goes there.
        progress: wraps the records in a progress bar.

    Raises:
        InputError: the input cannot be read.
        UsageError: no such source, variant or cell.
        UnwritableOutput: an output cannot be written, which is known before anything is read.
    """
    # Their tables of names are not needed to evaluate.
    from chaincheck.splits import split
    from chaincheck.triplets import build

    reader = open_source(source)
    if path is None and reader.name not in EMBEDDED and not source.startswith("hub:"):
        raise UsageError(f"the source {source!r} needs an input", remedy="Name its file")
    report = BuildReport()
    test: list[Item] = []

    def items() -> Iterator[Item]:
        nonlocal report, test
        read = itertools.islice(reader.read(path), limit)
        result = build(
            progress(read, what=f"reading {source}"),
            variants=variants,
            cells=cells,
            seed=seed,
            distractors=distractors,
            progress=progress,
        )
        report = result.report
        if test_out is None:
            yield from result.items
            return
        train, test = split(result.items, test_share, seed)
        yield from train

    # The outputs are opened first: an hour's work must not end at a path that cannot be written.
    with contextlib.ExitStack() as stack:
        report_file = stack.enter_context(open_output(report_path)) if report_path else None
        test_file = stack.enter_context(open_output(test_out)) if test_out else None
        write_items(out, items())
        if test_file:
            for item in test:
                test_file.write(encode_item(item) + b"\n")
        if report_file:
            report_file.write(report.to_json().encode() + b"\n")
    return report


@dataclass(frozen=True)
class ScoringSummary:
    """What a scoring run did.

    Attributes:
        judge: the judge's name.
        fingerprint: its identity.
        items: how many items it scored.
        out: the score file.
    """

    judge: str
    fingerprint: str
    items: int
    out: str

    def to_json(self) -> str:
        """The summary as one JSON object."""
        return msgspec.json.encode(self).decode()

    def to_text(self) -> str:
        """The summary as one line."""
        return f"{self.out}: {self.items:,} items scored by {self.judge} ({self.fingerprint})"


def score_file(
    data: PathLike, judge: str | Judge, out: PathLike, *, progress: Progress = _silent
) -> ScoringSummary:
    """Score every item of a file and write the scores, whole or not at all.

    Args:
        data: triplets.
        judge: a judge, or what ``open_judge`` understands.
        out: score file to write.
        progress: wraps the items in a progress bar.

    Raises:
        InputError: the data cannot be read.
        UnwritableOutput: the scores cannot be written.
    """
    chosen = open_judge(judge) if isinstance(judge, str) else judge
    items: Iterator[Item] = progress(read_items(data), what=f"scoring with {chosen.name}")
    count = write_lines(
        out,
        (
            msgspec.json.encode({"item_id": one.item_id, "score": one.score})
            for one in chosen.score(items)
        ),
    )
    return ScoringSummary(chosen.name, chosen.fingerprint, count, str(out))


@dataclass(frozen=True)
class Evaluation:
    """Measured rows and where they come from.

    Attributes:
        rows: one for each file and variant.
        signature: what data, judge and method they belong to.
        dropped: triplets left out, by reason.
    """

    rows: tuple[Selectivity, ...]
    signature: Signature
    dropped: dict[str, int]

    def by_file(self) -> dict[str, list[Selectivity]]:
        """The rows under the name of their file, in order: what the figures take."""
        found: dict[str, list[Selectivity]] = {}
        for row in self.rows:
            found.setdefault(Path(row.file).name, []).append(row)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The object that ``--json`` writes."""
        return {**report(self.rows, self.signature), "dropped": self.dropped}

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
        return "\n".join([*lines, str(self.signature)])


def _with_interval(interval: Interval) -> str:
    return f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"


def table(rows: Sequence[Selectivity]) -> str:
    """Rows as a plain-text table, one line a variant, and below it what to doubt about them.

    CE and EE carry the percentile (kit) interval, Sigma the contrast interval, all at 95%. The
    columns A-B and B-D are mean score differences, in the judge's own units.
    """
    doubts: dict[str, int] = {}
    cells = []
    for row in rows:
        marks = [doubts.setdefault(note, len(doubts) + 1) for note in row.notes]
        cells.append(
            [
                Path(row.file).name,
                row.variant,
                row.n,
                f"{row.nominal.estimate:.3f}",
                _with_interval(row.chain_effect),
                _with_interval(row.edit_effect),
                _with_interval(row.contrast),
                f"{row.gaps['A-B'].mean.estimate:.3g}",
                f"{row.gaps['B-D'].mean.estimate:.3g}",
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
    judge: str,
    dropped: dict[str, int] | None = None,
    cluster: str = "triplet",
    resamples: int = 2000,
    seed: int = 0,
) -> Evaluation:
    """Measure joined scores and sign the result.

    Args:
        cells: one entry for each file and variant.
        data_hash: hash of the data that was scored.
        judge: fingerprint of the judge, or the hash of its scores.
        dropped: triplets left out, by reason.
        cluster: a key of ``BY``.
        resamples: bootstrap resamples.
        seed: seed of every row's generator.

    Raises:
        UsageError: the data do not say what the clusters are.
    """
    if cluster == "bridge" and any(one.coarse is None for one in cells):
        raise UsageError(
            "the data have no bridge to resample by", remedy="Use --cluster question or triplet"
        )
    rows = measure_all(cells, seed=seed, resamples=resamples, by=BY[cluster])
    signature = Signature(
        data=data_hash,
        judge=judge,
        n=int(np.sum([row.n for row in rows])),
        interval=f"contrast95 by {cluster}",
        resamples=resamples,
        seed=seed,
        version=__version__,
    )
    return Evaluation(rows, signature, dropped or {})


def evaluate_files(
    data: Sequence[PathLike],
    scores: PathLike,
    *,
    exclude: Sequence[str] = (),
    allow_missing: bool = False,
    cluster: str = "triplet",
    resamples: int = 2000,
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
        seed: seed of every row's generator.

    Raises:
        InputError: the data or the scores cannot be used.
    """
    joined = join_files(data, scores, exclude=exclude, allow_missing=allow_missing)
    return evaluate_cells(
        joined.cells,
        data_hash=joined.data_hash,
        judge=joined.scores_hash,
        dropped=joined.dropped,
        cluster=cluster,
        resamples=resamples,
        seed=seed,
    )


def measure_judges(
    data: PathLike,
    judges: Sequence[str | Judge] = tuple(CUES),
    *,
    cluster: str = "triplet",
    resamples: int = 2000,
    seed: int = 0,
    progress: Progress = _silent,
) -> dict[str, Evaluation]:
    """Score one file with several judges and measure each; nothing is kept on disk.

    With the default judges this says what a surface cue alone is worth on a data set: the number
    to hold beside that of any judge.

    Args:
        data: a triplet file.
        judges: judges, or what ``open_judge`` understands.
        cluster: what is resampled, a key of ``BY``.
        resamples: bootstrap resamples.
        seed: seed of every row's generator.
        progress: wraps the items in a progress bar.

    Returns:
        For each judge's name what ``evaluate_files`` gives.

    Raises:
        InputError: the data cannot be used.
    """
    found: dict[str, Evaluation] = {}
    with tempfile.TemporaryDirectory() as folder:
        for judge in judges:
            scores = Path(folder) / "scores.jsonl"
            summary = score_file(data, judge, scores, progress=progress)
            found[summary.judge] = evaluate_files(
                [data], scores, cluster=cluster, resamples=resamples, seed=seed
            )
    return found


def judges_to_json(found: Mapping[str, Evaluation]) -> str:
    """Several judges' results as one JSON object, a key a judge."""
    plain = {name: one.to_dict() for name, one in found.items()}
    return msgspec.json.format(msgspec.json.encode(plain), indent=1).decode()


def judges_to_text(found: Mapping[str, Evaluation]) -> str:
    """Several judges' results as tables, each under the judge's name."""
    return "\n\n".join(f"{name}\n{one.to_text()}" for name, one in found.items())
