"""A judge and a writing process for the tests of judgment logs."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from chaincheck.items import Item
from chaincheck.judges import log_writer
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.judges.record import LiveJudge


def make_item(number: int, *, item_id: str | None = None, **columns: Any) -> Item:
    values = {
        "item_id": item_id or f"i{number}",
        "pair_id": f"p{number}",
        "variant": "real",
        "cell": "A",
        "query": "Where was she born?",
        "passages": (f"Passage {number}.", "Another, with ü and \u2028."),
    }
    return Item(**{**values, **columns})


def make_items(count: int) -> list[Item]:
    return [make_item(number) for number in range(count)]


def true_score(item: Item) -> float:
    """Any double that only what the judge reads decides."""
    digest = hashlib.sha256(f"{item.query}{item.passages}".encode()).digest()
    return (int.from_bytes(digest[:8]) - 2**63) / 2**60


class Fake:
    """A judge that answers from its items, or as it is told; it notes what it was asked."""

    def __init__(
        self,
        says: Callable[[Item], Judgment] | None = None,
        *,
        acquisition: dict[str, Any] | None = None,
        **instrument: Any,
    ) -> None:
        self.name = "fake"
        self.instrument = {"judge": "fake", **instrument}
        self.fingerprint = fingerprint_of(self.instrument)
        self.acquisition = acquisition or {}
        self.asked: list[str] = []
        self._says = says or (lambda item: Judgment(item_id=item.item_id, score=true_score(item)))

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        for item in items:
            self.asked.append(item.item_id)
            yield self._says(item)


def write_slowly(descriptor: int, data: bytes) -> None:
    """Write a line in pieces, so that a kill often falls inside one."""
    for start in range(0, len(data), 23):
        os.write(descriptor, data[start : start + 23])
        time.sleep(2e-5)


def note(path: Path, text: str) -> None:
    """Append a line to a file in one call of the system."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{text}\n".encode())
    os.close(descriptor)


def judge_slowly(log: Path, asked: Path, given: Path, count: int, group: int) -> None:
    """Judge items into a log, noting each that is asked for and each that is given out."""
    log_writer._write_whole = write_slowly

    def say(item: Item) -> Judgment:
        note(asked, item.item_id)
        return Judgment(item_id=item.item_id, score=true_score(item), raw="yes " * 9)

    with LiveJudge(Fake(say), log, group=group) as judge:
        for judgment in judge.score(make_items(count)):
            note(given, f"{judgment.item_id} {judgment.score!r}")


def hold(log: Path, ready: Path) -> None:
    """Hold a log until killed."""
    with LiveJudge(Fake(), log) as judge:
        list(judge.score(make_items(3)))
        note(ready, str(os.getpid()))
        time.sleep(60)
