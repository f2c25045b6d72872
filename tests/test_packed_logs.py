"""Packed logs: replaced when whole, and never before."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from recorded_judges import Fake, make_items

from chaincheck.errors import IntegrityError, UnreadableFile
from chaincheck.judges.record import RecordedJudge
from chaincheck.packed_logs import carried_on, unpack


def test_a_log_is_carried_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    packed, work, items = tmp_path / "log.jsonl.gz", tmp_path / "work", make_items(6)
    first, second = Fake(), Fake()
    with carried_on(first, packed, work) as live:
        list(live.score(items[:4]))
    with carried_on(second, packed, work) as live:
        list(live.score(items))
    assert (len(first.asked), len(second.asked)) == (4, 2)
    assert RecordedJudge(packed).missing(items) == []
    assert list(work.iterdir()) == []


def test_what_is_interrupted_leaves_the_packed_log_as_it_was(tmp_path: Path) -> None:
    packed, work, items = tmp_path / "log.jsonl.gz", tmp_path / "work", make_items(6)
    with carried_on(Fake(), packed, work) as live:
        list(live.score(items[:2]))
    before = packed.read_bytes()
    with pytest.raises(KeyboardInterrupt), carried_on(Fake(), packed, work) as live:
        list(live.score(items[:4]))
        raise KeyboardInterrupt
    assert packed.read_bytes() == before
    last = Fake()
    with carried_on(last, packed, work) as live:
        list(live.score(items))
    assert len(last.asked) == 2, "what the interrupted run asked is not asked again"


def test_another_judge_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    packed, work, items = tmp_path / "log.jsonl.gz", tmp_path / "work", make_items(2)
    with carried_on(Fake(), packed, work) as live:
        list(live.score(items))
    before = packed.read_bytes()
    with (
        pytest.raises(IntegrityError),
        carried_on(Fake(temperature=1), packed, tmp_path / "other") as live,
    ):
        list(live.score(items))
    assert packed.read_bytes() == before


def test_a_log_is_unpacked_as_it_was(tmp_path: Path) -> None:
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(b"a\nb\n"))
    unpack(packed, tmp_path / "plain")
    assert (tmp_path / "plain").read_bytes() == b"a\nb\n"
    with pytest.raises(UnreadableFile):
        unpack(tmp_path / "none.gz", tmp_path / "plain")
