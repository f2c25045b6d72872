"""Judges on a judgment log: one that only replays it, one that asks another judge and records.

Both find a judgment by what the judge sees of an item, never by the item's id alone, and both
give out what they read back from the file. A live score and its replay are therefore the same
bits by construction.
"""

from __future__ import annotations

import itertools
import os
import shlex
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

from chaincheck.errors import DamagedLog, MissingJudgment, PathLike, UnreadableFile, UsageError
from chaincheck.items import Item
from chaincheck.judges.base import Judge, Judgment, acquisition_of
from chaincheck.judges.log_file import JudgmentLog, check_instrument
from chaincheck.judges.log_format import Record, content_of, header_for, judgment_of
from chaincheck.judges.log_writer import LogWriter
from chaincheck.judges.provenance import Provenance, Used, signed

__all__ = ["LiveJudge", "RecordedJudge", "with_log"]

_GROUP = 64
_SECONDS = 0.25
_LONGEST_RUN = 4096  # recorded items held back in a row before the inner judge is let go


class RecordedJudge:
    """Replays judgment logs and asks nobody: it opens no connection and loads no model.

    Args:
        path: a log, or several of one instrument (the parts of a run on several machines).
        expect: the judge that is meant. A log of any other instrument is refused.
        command: what to tell a user to run who asks for an item that is not recorded.

    Attributes:
        name, fingerprint, instrument, reads: those of the judge that was recorded.

    Raises:
        UnreadableFile: a log cannot be read, or nothing was recorded in it.
        IntegrityError: a log is damaged, or of another instrument.
    """

    def __init__(
        self,
        path: PathLike | Sequence[PathLike],
        *,
        expect: Judge | None = None,
        command: str | None = None,
    ) -> None:
        paths = [path] if isinstance(path, str | os.PathLike) else list(path)
        if not paths:
            raise ValueError("a recorded judge needs a log")
        self._logs = [JudgmentLog(one) for one in paths]
        header = self._header = self._logs[0].header
        for log in self._logs[1:]:
            check_instrument(log.header, header, path=log.path)
        if expect is not None:
            check_instrument(header, header_for(expect), path=self._logs[0].path)
        self.name = header.judge
        self.fingerprint = header.fingerprint
        self.instrument = header.instrument
        self.reads = header.reads
        self._command = command
        self._used = Used()

    @property
    def acquisition(self) -> dict[str, Any]:
        """How the recorded judgments were got."""
        found = self._acquisitions()
        unsteady = any(one.get("deterministic") is False for one in found.values())
        return {"recorded": found, **({"deterministic": False} if unsteady else {})}

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Look each item up by what the judge sees of it.

        Raises:
            MissingJudgment: an item that no log holds. It is never given a made-up score.
            DamagedLog: a record changed since the log was opened, or two logs differ on an item.
        """
        for item in items:
            record = self._find(item)
            if record is None:
                raise self._miss(item)
            self._used.add(record)
            yield judgment_of(record, item.item_id)

    def missing(self, items: Iterable[Item]) -> list[str]:
        """List the ids of the items that no log holds."""
        return [
            item.item_id
            for item in items
            if not any(content_of(item, self.reads) in log for log in self._logs)
        ]

    def provenance(self, *, whole: bool = False) -> Provenance:
        """Say what the judgments that were given out rest on.

        Args:
            whole: speak of every judgment of the logs instead.
        """
        used = Used() if whole else self._used
        if whole:
            for log in self._logs:
                for record in log.records():
                    used.add(record)
        found = used.provenance(
            self._header, self._acquisitions(), {log.path: log.digest for log in self._logs}
        )
        torn = tuple(
            f"{log.path}:{log.torn.line}: the last line was cut short after {log.torn.size:,} "
            "bytes and is not used"
            for log in self._logs
            if log.torn
        )
        return replace(found, caveats=found.caveats + torn)

    def _acquisitions(self) -> dict[str, dict[str, Any]]:
        return {name: how for log in self._logs for name, how in log.acquisitions.items()}

    def _find(self, item: Item) -> Record | None:
        content = content_of(item, self.reads)
        first: Record | None = None
        for log in self._logs:
            record = log.get(content)
            if record is None:
                continue
            if first is None:
                first = record
            elif signed(content, record) != signed(content, first):
                raise DamagedLog(
                    f"this log and {self._logs[0].path} hold different judgments of one content",
                    path=log.path,
                    item=item.item_id,
                    remedy="Use one of the two logs, or compare them as two judges",
                )
        return first

    def _miss(self, item: Item) -> MissingJudgment:
        changed = any(
            record.item_id == item.item_id for log in self._logs for record in log.records()
        )
        path = self._logs[-1].path
        return MissingJudgment(
            "was recorded with other content than it has now"
            if changed
            else "no judgment of it is recorded",
            path=path,
            item=item.item_id,
            remedy="Record it with: " + (self._command or _command_for(path)),
        )


def _command_for(path: str) -> str:
    return f"chaincheck score --data DATA --judge JUDGE --log {shlex.quote(path)} --live --out OUT"


class LiveJudge:
    """Asks another judge, records what it says, and never asks twice.

    An item is asked for only if the log holds no judgment of the same content; the cells that
    several variants share are asked for once. A judgment is given out when it is on the disk, as
    it reads back from there. What the inner judge has said is kept from the moment it says it,
    whatever then happens to this process, see ``log_writer``.

    Args:
        judge: the judge to ask.
        path: the log, which this process alone writes until ``close``.
        group: bring at most this many judgments to the disk together.
        seconds: but wait no longer than this for the next one, if it has come by then.

    Attributes:
        name, fingerprint, instrument, reads: those of the inner judge.
        asked: how many judgments the inner judge has given.
        repaired: a sentence about the torn line that was removed on opening, if there was one.

    Raises:
        LogInUse: another process is writing the log.
        IntegrityError: the log is damaged, or of another instrument.
        UnwritableOutput: the log cannot be written.
    """

    def __init__(
        self, judge: Judge, path: PathLike, *, group: int = _GROUP, seconds: float = _SECONDS
    ) -> None:
        self._judge = judge
        self._header = header_for(judge)
        self._log = LogWriter(path, self._header)
        self._group = group
        self._seconds = seconds
        self._used = Used()
        self.name = judge.name
        self.fingerprint = judge.fingerprint
        self.instrument = self._header.instrument
        self.reads = self._header.reads
        self.asked = 0
        torn = self._log.repaired
        self.repaired = torn and (
            f"{self._log.path}:{torn.line}: the last line was cut short after {torn.size:,} bytes "
            "and was removed"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the log.

        Raises:
            UnwritableOutput: it could not be brought to the disk.
        """
        self._log.close()

    @property
    def acquisition(self) -> dict[str, Any]:
        """How the inner judge gets its scores."""
        return acquisition_of(self._judge)

    def provenance(self) -> Provenance:
        """Say what the judgments that were given out rest on."""
        return self._used.provenance(
            self._header, self._log.acquisitions, {self._log.path: self._log.digest}
        )

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Give each item's judgment, from the log or from the inner judge, in order.

        Raises:
            InvalidScore: the inner judge gave something that is no judgment; it is not recorded.
            UnwritableOutput: a judgment could not be recorded; it is not given out.
            ValueError: the inner judge did not give one judgment an item, in order.
        """
        stream = iter(items)
        for item in stream:
            record = self._log.get(content_of(item, self.reads))
            if record is None:
                yield from self._ask(item, stream)
            else:
                yield self._give(record, item.item_id)

    def _ask(self, first: Item, stream: Iterator[Item]) -> Iterator[Judgment]:
        """Ask the inner judge from ``first`` on, until a long run of recorded items."""
        waiting: deque[tuple[str, str]] = deque()  # id and content of all items taken, in order
        asked: dict[str, str] = {}  # content and id of those that the inner judge has, in order

        def unrecorded() -> Iterator[Item]:
            run = 0
            for item in itertools.chain([first], stream):
                content = content_of(item, self.reads)
                waiting.append((item.item_id, content))
                if content in self._log or content in asked:
                    run += 1
                    if run == _LONGEST_RUN:
                        return
                    continue
                run = 0
                asked[content] = item.item_id
                yield item

        committed = time.monotonic()
        try:
            for judgment in self._judge.score(unrecorded()):
                self._record(judgment, asked)
                due = time.monotonic() - committed >= self._seconds
                if due or self._log.pending >= self._group:
                    self._log.commit()
                    yield from self._ready(waiting)
                    committed = time.monotonic()
            if asked:
                left = next(iter(asked.values()))
                raise ValueError(f"judge {self.name!r} gave no judgment of item {left!r}")
        finally:
            self._log.commit()
        yield from self._ready(waiting)

    def _record(self, judgment: Judgment, asked: dict[str, str]) -> None:
        content, item_id = next(iter(asked.items()), ("", None))
        if judgment.item_id != item_id:
            raise ValueError(
                f"judge {self.name!r} gave a judgment of item {judgment.item_id!r} where "
                f"{item_id!r} was next"
            )
        self.asked += 1
        if content not in self._log:  # another loop over this judge may have come first
            self._log.append(judgment, content=content, acquisition=acquisition_of(self._judge))
        del asked[content]

    def _ready(self, waiting: deque[tuple[str, str]]) -> list[Judgment]:
        """Take from the front what is recorded; called only when all of that is on the disk."""
        found = []
        while waiting:
            record = self._log.get(waiting[0][1])
            if record is None:
                break
            found.append(self._give(record, waiting.popleft()[0]))
        return found

    def _give(self, record: Record, item_id: str) -> Judgment:
        self._used.add(record)
        return judgment_of(record, item_id)


def with_log(
    judge: Judge | None, path: PathLike, *, live: bool = False, command: str | None = None
) -> RecordedJudge | LiveJudge:
    """Put a judge on a log.

    Args:
        judge: the judge; where the log is only replayed, None takes whichever wrote it.
        path: the log.
        live: ask the judge for what is not recorded. Without it a miss is an error, which is
            what everything that gates a result should use.
        command: what to tell a user to run who asks for an item that is not recorded.

    Raises:
        UsageError: ``live`` without a judge.
        ChainCheckError: as ``RecordedJudge`` and ``LiveJudge``.
    """
    if not live:
        try:
            return RecordedJudge(path, expect=judge, command=command)
        except UnreadableFile as error:
            if judge is None or os.path.lexists(path):
                raise
            raise UnreadableFile(
                "no such log", path=path, remedy="Check the path, or make it with --live"
            ) from error
    if judge is None:
        raise UsageError("nobody can be asked without a judge", remedy="Name one with --judge")
    return LiveJudge(judge, path)
