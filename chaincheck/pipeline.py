"""The steps of the command line as functions: build, score and evaluate a file.

Notebooks call these too, so that what a reader does in the shell and what a chapter does is the
same code.
"""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from chaincheck.atomic import open_output, refuse_clashes, together
from chaincheck.errors import InvalidScore, PathLike, UnwritableOutput, UsageError
from chaincheck.evaluation import Evaluation, evaluate_files
from chaincheck.items import VARIANTS, Item, encode_item, read_items, write_items
from chaincheck.judges import CUES, Judge, Judgment, files_of, open_judge
from chaincheck.judges.attribution import Ledger, attribution_path
from chaincheck.judges.log_format import check_judgment, is_start_of_header
from chaincheck.judges.record import LiveJudge, RecordedJudge, with_log
from chaincheck.reports import BuildReport
from chaincheck.sources import EMBEDDED, open_source

__all__ = ["ScoringSummary", "build_file", "measure_judges", "score_file"]


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
    keep_all: bool = False,
    strict: bool = True,
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
        keep_all: never leave a distractor out, see ``triplets.build``.
        strict: ask more than the nine rules do, see ``triplets.build``.
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
            keep_all=keep_all,
            strict=strict,
            progress=progress,
        )
        report = result.report
        if test_out is None:
            yield from result.items
            return
        train, test = split(result.items, test_share, seed)
        for part, some in (("train", train), ("test", test)):
            report.parts[part] = dict(Counter(one.variant for one in some if one.cell == "A"))
        yield from train

    refuse_clashes([out, report_path, test_out], [path])
    # The outputs are opened first: an hour's work must not end at a path that cannot be written.
    with together(), contextlib.ExitStack() as stack:
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
        provenance: what the judgments rest on, where a judgment log was used.
    """

    judge: str
    fingerprint: str
    items: int
    out: str
    provenance: str | None = None

    def to_json(self) -> str:
        """The summary as one JSON object."""
        return msgspec.json.encode(self).decode()

    def to_text(self) -> str:
        """The summary as one line."""
        line = f"{self.out}: {self.items:,} items scored by {self.judge} ({self.fingerprint})"
        return line if self.provenance is None else f"{line}\n{self.provenance}"


def score_file(
    data: PathLike,
    judge: str | Judge | None,
    out: PathLike,
    *,
    log: PathLike | None = None,
    live: bool = False,
    leave_out: bool = False,
    progress: Progress = _silent,
) -> ScoringSummary:
    """Score every item of a file and write the scores, whole or not at all.

    Beside the scores stands a statement of whose they are, see ``judges.attribution``.

    Args:
        data: triplets.
        judge: a judge, or what ``open_judge`` understands; None to replay a log by whichever
            judge wrote it.
        out: score file to write.
        log: a judgment log to replay.
        live: ask the judge for what the log does not hold, and record it there.
        leave_out: write no line for an item whose score the judge could only bound, instead of
            stopping there; a caveat says how many there are.
        progress: wraps the items in a progress bar.

    Raises:
        InputError: the data cannot be read, or the log lacks an item and ``live`` is not set.
        IntegrityError: the log is damaged or of another judge.
        InvalidScore: the judge could only bound a score, which is no score, or gave none.
        UnwritableOutput: the scores cannot be written.
        UsageError: neither a judge nor a log is given.
    """
    beside = attribution_path(out)
    refuse_clashes([out, beside], [data, log, *(files_of(judge) if isinstance(judge, str) else [])])
    _refuse_log(out)
    chosen = open_judge(judge) if isinstance(judge, str) else judge
    with contextlib.ExitStack() as stack:
        if log is not None:
            chosen = with_log(chosen, log, live=live)
            if isinstance(chosen, LiveJudge):
                stack.enter_context(chosen)
        if chosen is None or (live and log is None):
            raise UsageError(
                "there is no judge to ask" if chosen is None else "there is no log to record in",
                remedy="Name a judge with --judge, and a judgment log with --log",
            )
        ledger = Ledger(chosen)
        items: Iterator[Item] = progress(read_items(data), what=f"scoring with {chosen.name}")
        with together(), contextlib.ExitStack() as outputs:
            file = outputs.enter_context(open_output(out))
            statement = outputs.enter_context(open_output(beside)) if beside else None
            for judgment in chosen.score(ledger.given(items)):
                check_judgment(judgment, path=out)
                ledger.said(judgment)
                if judgment.score is not None or not leave_out:
                    file.write(_score_line(judgment, out) + b"\n")
            # A log knows better than the judge at its end how each judgment was got.
            logged = chosen.provenance() if isinstance(chosen, RecordedJudge | LiveJudge) else None
            found = ledger.statement(logged)
            if not found.items:
                raise InvalidScore(
                    "the judge gave no score at all",
                    path=out,
                    remedy="Name a file that holds items, and a judge that can tell",
                )
            if statement:
                statement.write(found.to_json())
        told = logged.to_text() if logged else None
    return ScoringSummary(chosen.name, chosen.fingerprint, found.items, str(out), told)


def _refuse_log(out: PathLike) -> None:
    """Refuse to put scores in the place of a judgment log, which may be hours of asking."""
    path = Path(out)
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            start = file.read(64)
    except OSError:
        return  # whoever writes it will say why it cannot be
    if len(start) == 64 and is_start_of_header(start):
        raise UnwritableOutput(out, "it is a judgment log, which scores would take the place of")


def _score_line(judgment: Judgment, out: PathLike) -> bytes:
    if judgment.score is None:
        bounded = judgment.bounds is not None and judgment.bounds != (None, None)
        what = f"could only bound this score: {judgment.bounds}" if bounded else "gave no score"
        raise InvalidScore(
            f"the judge {what}" + "".join(f"; {flag}" for flag in judgment.flags),
            path=out,
            item=judgment.item_id,
            remedy="Leave such items out with --leave-out-bounded, or ask a judge that can tell",
        )
    return msgspec.json.encode({"item_id": judgment.item_id, "score": judgment.score})


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
