"""From triplets and a judge to a file of replays: the commands ``audit replays`` and ``audit ask``.

A judge that writes rationales is recorded by ``chaincheck score`` with a judgment log, which keeps
every reply as it came. A judge that gives scores is asked three times: about the item's question,
about hop 1 and about hop 2.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from tabulate import tabulate

from chaincheck.adherence.construction import status_of
from chaincheck.adherence.hop_questions import COLUMN, Steps, ask_hops, steps_of
from chaincheck.adherence.replay import Recorded
from chaincheck.adherence.replay_files import (
    Made,
    Progress,
    make_replays,
    read_replies,
    write_replays,
)
from chaincheck.adherence.score_claims import (
    Range,
    Thresholds,
    ranges_of,
    replay_of_scores,
    split_half,
)
from chaincheck.adherence.wording import counted, printable
from chaincheck.atomic import open_output, refuse_clashes, together
from chaincheck.errors import ForeignLog, PathLike, UsageError
from chaincheck.items import Item, read_items
from chaincheck.judges import Judge
from chaincheck.judges.record import LiveJudge, RecordedJudge, with_log
from chaincheck.sources import EMBEDDED, open_source

__all__ = ["Asked", "ask_file", "asked_items", "logged_replies", "replays_file", "threshold_map"]

_RATIONALE = "rationale"


def _silent(items: Iterable[Any], *, what: str, total: int | None = None) -> Iterator[Any]:
    del what, total
    yield from items


def logged_replies(items: Sequence[Item], log: PathLike) -> Iterator[tuple[int | None, str, str]]:
    """Give the replies that a judgment log holds to some items; others are passed over.

    Raises:
        IntegrityError: the log is damaged, or holds judgments without a judge's words.
    """
    judge = RecordedJudge(log)
    if judge.instrument.get("mode") != _RATIONALE:
        raise ForeignLog(
            f"{judge.name} wrote scores into this log, not rationales",
            path=log,
            line=1,
            remedy='Ask a server with mode = "rationale", or make replays of scores with '
            "chaincheck audit ask",
        )
    missing = set(judge.missing(items))
    for judgment in judge.score(item for item in items if item.item_id not in missing):
        if isinstance(judgment.raw, str):
            yield None, judgment.item_id, judgment.raw


def replays_file(
    data: PathLike,
    out: PathLike,
    *,
    rationales: PathLike | None = None,
    log: PathLike | None = None,
    strict: bool = False,
    progress: Progress = _silent,
) -> Made:
    """Make replays of a judge that explains itself.

    Args:
        data: the triplets.
        out: where the replays go.
        rationales: its replies, ``{"item_id": ..., "reply": ...}`` a line.
        log: or the judgment log of a server judge in mode "rationale".
        strict: by ``chain-evidence/1s``.
        progress: wraps the items.

    Raises:
        UsageError: neither or both are given.
        InputError: a file is at fault.
    """
    given = rationales if rationales is not None else log
    if given is None or (rationales is not None and log is not None):
        raise UsageError(
            "there should be one file of what the judge wrote",
            remedy="Name it with --rationales, or a judgment log with --log",
        )
    refuse_clashes([out], [data, given])
    items = list(read_items(data))
    replies = read_replies(given) if rationales is not None else logged_replies(items, given)
    return make_replays(
        progress(items, what="making replays", total=len(items)),
        replies,
        out,
        strict=strict,
        path=given,
    )


def asked_items(items: Iterable[Item], steps: Steps | None = None) -> Iterator[Item]:
    """Yield each item and the two that ask about its hops."""
    for item in items:
        yield item
        yield from ask_hops([item], steps)


@dataclass(frozen=True)
class Asked:
    """What came of asking a judge three questions an item.

    Attributes:
        judge: its name.
        fingerprint: its identity.
        made: replays by cell.
        undecided: items by cell whose own score was bounded around the threshold.
        longer: items of chains with more than two hops, of which the protocol does not speak;
            they were not asked about.
        thresholds: where claims begin, each value once, by what is asked.
        provenance: what the judgments rest on, where a log was used.
    """

    judge: str
    fingerprint: str
    made: Mapping[str, int]
    undecided: Mapping[str, int]
    longer: int
    thresholds: Mapping[str, tuple[float, ...]]
    provenance: str | None

    def to_text(self) -> str:
        """The counts for a terminal."""
        cells = sorted({*self.made, *self.undecided})
        rows = [(cell, self.made.get(cell, 0), self.undecided.get(cell, 0)) for cell in cells]
        thresholds = "; ".join(
            f"{asked}: {' or '.join(f'{value:.6g}' for value in values)}"
            for asked, values in self.thresholds.items()
        )
        parts = [
            f"{counted(sum(self.made.values()), 'replay')} of {self.judge} ({self.fingerprint})",
            tabulate(rows, headers=("cell", "replays", "no verdict")),
            f"A claim is a score above its threshold; {thresholds}",
        ]
        if self.longer:
            longer = counted(self.longer, "item of a longer chain", "items of longer chains")
            parts.append(f"not asked about: {longer}")
        return printable("\n".join([*parts, *([self.provenance] if self.provenance else [])]))

    def to_json(self) -> str:
        """The counts as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()


def threshold_map(
    items: Sequence[Item], ranges: Mapping[str, Range], threshold: float | str
) -> dict[str, float]:
    """Where a claim begins, for everything that was asked.

    Args:
        items: the items.
        ranges: their scores.
        threshold: a number for all, or ``"split-half"``.

    Raises:
        UsageError: as :func:`chaincheck.adherence.score_claims.split_half`.
    """
    if threshold == "split-half":
        return split_half(items, ranges)
    return dict.fromkeys(ranges, float(threshold))


def _listed(thresholds: Thresholds) -> dict[str, tuple[float, ...]]:
    found: dict[str, set[float]] = {"the question": set(), "its hops": set()}
    for name, value in thresholds.items():
        found["its hops" if name.endswith(("/hop1", "/hop2")) else "the question"].add(value)
    return {asked: tuple(sorted(values)) for asked, values in found.items()}


def _steps(source: str | None, path: PathLike | None, items: Sequence[Item]) -> Steps:
    if source is None:
        names = {item.source or "" for item in items if COLUMN not in item.extra}
        return {
            key: value
            for name in sorted(names & EMBEDDED)
            for key, value in steps_of(open_source(name).read(None)).items()
        }
    reader = open_source(source)
    if path is None and reader.name not in EMBEDDED:
        raise UsageError(
            f"the source {source!r} needs its file", remedy="Name it with --source-file"
        )
    return steps_of(reader.read(path))


def ask_file(
    data: PathLike,
    judge: Judge | None,
    out: PathLike,
    *,
    log: PathLike | None = None,
    live: bool = False,
    source: str | None = None,
    source_file: PathLike | None = None,
    threshold: float | str = 0.0,
    strict: bool = False,
    scores: PathLike | None = None,
    progress: Progress = _silent,
) -> Asked:
    """Ask a judge that gives scores about each item and its hops, and make replays of them.

    Args:
        data: the triplets.
        judge: the judge; None to replay a log by whichever judge wrote it.
        out: where the replays go, whole or not at all.
        log: a judgment log to replay.
        live: ask the judge for what the log does not hold, and record it there.
        source: the source that the triplets were built from, which words the hops. Not needed
            for the book's own facts, and for items with a column ``hop_questions``.
        source_file: its file.
        threshold: where a claim begins: a number, or "split-half".
        strict: by ``chain-evidence/1s``.
        scores: where the scores of the items themselves go, if anywhere.
        progress: wraps what is asked.

    Raises:
        UsageError: there is no judge, or nothing says how the hops are asked.
        ChainCheckError: as the judge and its log.
    """
    refuse_clashes([out, scores], [data, log, source_file])
    if (judge is None and log is None) or (live and (log is None or judge is None)):
        raise UsageError(
            "there is no judge to ask" if judge is None else "there is no log to record in",
            remedy="Name a judge with --judge, and a judgment log with --log",
        )
    every = list(read_items(data))
    items = [item for item in every if status_of(item) == "valid"]
    asked = list(asked_items(items, _steps(source, source_file, items)))
    with contextlib.ExitStack() as stack:
        chosen: Judge
        if log is not None:
            chosen = with_log(judge, log, live=live)
            if isinstance(chosen, LiveJudge):
                stack.enter_context(chosen)
        else:
            assert judge is not None
            chosen = judge
        shown = progress(asked, what=f"asking {chosen.name}", total=len(asked))
        ranges = ranges_of(chosen.score(shown))
        told = (
            chosen.provenance().to_text() if isinstance(chosen, RecordedJudge | LiveJudge) else None
        )
    thresholds = threshold_map(items, ranges, threshold)
    with together():
        made, undecided = write_replays(_replays(items, ranges, thresholds, strict=strict), out)
        if scores is not None:
            _write_scores(scores, items, ranges)
    return Asked(
        chosen.name,
        chosen.fingerprint,
        made,
        undecided,
        len(every) - len(items),
        _listed(thresholds),
        told,
    )


def _replays(
    items: Iterable[Item],
    ranges: Mapping[str, Range],
    thresholds: Thresholds,
    *,
    strict: bool,
) -> Iterator[tuple[Item, Recorded | None]]:
    for item in items:
        yield item, replay_of_scores(item, ranges, thresholds, strict=strict)


def _write_scores(path: PathLike, items: Iterable[Item], ranges: Mapping[str, Range]) -> None:
    """Write the scores that are known exactly."""
    with open_output(path) as file:
        for name, (low, high) in ((item.item_id, ranges[item.item_id]) for item in items):
            if low == high:
                file.write(msgspec.json.encode({"item_id": name, "score": low}) + b"\n")
