"""Readers of judgment logs: what was changed is named, and never used."""

from __future__ import annotations

import gzip
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_judges import Fake, make_item, make_items, true_score

from chaincheck.errors import (
    ChainCheckError,
    DamagedLog,
    ForeignLog,
    InputError,
    UnreadableFile,
)
from chaincheck.judges import log_file
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.judges.log_file import JudgmentLog, check_instrument
from chaincheck.judges.log_format import Header, content_of, parse, record_of, seal
from chaincheck.judges.record import LiveJudge, RecordedJudge

READS = ("query", "passages")
Lines = list[bytes]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    with LiveJudge(Fake(), tmp_path / "log.jsonl") as live:
        list(live.score(make_items(6)))
    return tmp_path / "log.jsonl"


def spliced(lines: Lines, place: int, *, instrument: str | None = None, content: str = "") -> Lines:
    """Put a record of one's own in place of another, with a seal that fits."""
    record, _ = parse(lines[place], None, path="", line=0)
    _, previous = parse(lines[place - 1], None, path="", line=0)
    made = record_of(
        Judgment(item_id="mine", score=9.0),
        content=content or record.content,
        instrument=instrument or record.instrument,
        acquisition=record.acquisition,
        previous=previous,
    )
    line, _ = seal(made, path="")
    return [*lines[:place], line[:-1]]


CHANGES: dict[str, tuple[Callable[[Lines], Lines], str, int]] = {
    "a score": (lambda x: [*x[:4], re.sub(rb'"score":', b'"score":1', x[4]), *x[5:]], "not as", 5),
    "a reply": (lambda x: [*x[:4], x[4].replace(b'"i2"', b'"i3"'), *x[5:]], "not as it was", 5),
    "spaces": (lambda x: [*x[:4], x[4].replace(b",", b", ", 1), *x[5:]], "not as it was", 5),
    "a line removed": (lambda x: [*x[:4], *x[5:]], "removed, added or moved", 5),
    "two exchanged": (lambda x: [*x[:4], x[5], x[4], *x[6:]], "removed, added or moved", 5),
    "one twice": (lambda x: [*x[:5], x[4], *x[5:]], "removed, added or moved", 6),
    "a header again": (lambda x: [*x, x[0]], "removed, added or moved", 9),
    "an empty line": (lambda x: [*x[:4], b"", *x[4:]], "not as it was", 5),
    "text": (lambda x: [*x, b"done"], "not as it was", 9),
    "no header": (lambda x: x[1:], "no judgment log", 1),
    "the instrument": (lambda x: [x[0].replace(b"fake", b"Fake"), *x[1:]], "not as it was", 1),
    "a foreign record": (lambda x: spliced(x, 7, instrument="f" * 16), "another instrument", 8),
    "a double": (
        lambda x: spliced(x, 7, content=content_of(make_item(0), READS)),
        "of the same content before",
        8,
    ),
    "no acquisition": (lambda x: spliced([x[0], x[2]], 1), "says how this judgment was got", 2),
}


@pytest.mark.parametrize("name", CHANGES)
def test_every_change_is_named_and_stops_the_reading(log: Path, name: str) -> None:
    change, said, line = CHANGES[name]
    lines = log.read_bytes().splitlines()
    changed = change(lines)
    assert changed != lines
    log.write_bytes(data := b"".join(one + b"\n" for one in changed))
    for use in (JudgmentLog, RecordedJudge, lambda path: LiveJudge(Fake(), path)):
        with pytest.raises((DamagedLog, ForeignLog), match=said) as caught:
            use(log)
        assert str(caught.value).startswith(f"{log}:{line}: ")
        assert caught.value.exit_code == 3
        assert caught.value.remedy
        assert "\n" not in str(caught.value)
    assert log.read_bytes() == data  # a writer leaves it as it is


def test_the_item_of_a_changed_line_is_named(log: Path) -> None:
    data = log.read_bytes().replace(b'"item_id":"i2","score":', b'"item_id":"i2","score":2')
    log.write_bytes(data)
    with pytest.raises(DamagedLog, match="item 'i2': this record is not as it was written") as got:
        JudgmentLog(log)
    assert "head -n 4" in str(got.value)
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:4]))
    assert len(JudgmentLog(log)) == 2  # what the message advises works


def test_random_flips_are_never_used(log: Path) -> None:
    data = log.read_bytes()
    items = make_items(6)
    truth = {item.item_id: true_score(item) for item in items}
    rng = random.Random(3)
    refused = 0
    for _ in range(600):
        changed = bytearray(data)
        for _ in range(rng.choice([1, 1, 1, 2, 5])):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        if changed == data:
            continue
        log.unlink()
        log.write_bytes(changed)
        try:
            judge = RecordedJudge(log)
            missing = set(judge.missing(items))
            found = list(judge.score(item for item in items if item.item_id not in missing))
        except InputError as error:
            assert error.exit_code == 3 or isinstance(error, UnreadableFile)
            refused += 1
            continue
        # What passes has lost its last line feed, and with it its last record.
        assert not changed.endswith(b"\n")
        assert missing
        assert all(one.score == truth[one.item_id] for one in found)
        assert any("cut short" in caveat for caveat in judge.provenance().caveats)
    assert refused > 500


def test_a_record_that_changes_while_the_log_is_open(log: Path) -> None:
    judge = RecordedJudge(log)
    place = log.read_bytes().index(b'"i3"')
    with log.open("r+b") as file:
        file.seek(place)
        file.write(b'"i9"')
    assert next(judge.score([make_item(0)])).item_id == "i0"
    with pytest.raises(DamagedLog, match="changed while the log was in use") as caught:
        list(judge.score([make_item(3)]))
    assert f"{log}:6: " in str(caught.value)


def test_records_that_change_places_while_the_log_is_open(tmp_path: Path) -> None:
    log = tmp_path / "log"
    judge = Fake(lambda item: Judgment(item_id=item.item_id, score=float(item.item_id[1:])))
    with LiveJudge(judge, log) as live:
        list(live.score(make_items(6)))
    replay = RecordedJudge(log)
    lines = log.read_bytes().splitlines(keepends=True)
    assert len(lines[3]) == len(lines[4])
    with log.open("r+b") as file:
        file.write(b"".join([*lines[:3], lines[4], lines[3]]))
    with pytest.raises(DamagedLog, match="changed while the log was in use"):
        list(replay.score([make_item(1)]))


def test_a_scan_that_meets_a_repair_is_made_again(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = log.read_bytes()
    real = log_file.load
    calls = []

    def load(path: Path) -> tuple[int, log_file.Contents]:
        calls.append(path)
        if len(calls) == 1:
            log.write_bytes(whole + b"more")
            raise DamagedLog("half of one line and half of another", path=path, line=3)
        return real(path)

    monkeypatch.setattr(log_file, "load", load)
    assert len(JudgmentLog(log)) == 6
    assert len(calls) == 2


class TestFiles:
    @pytest.mark.parametrize(
        ("data", "said"),
        [(b"", "is empty"), (b'{"kind":"log","for', "torn first line"), (b"{", "torn first line")],
    )
    def test_without_a_whole_line(self, tmp_path: Path, data: bytes, said: str) -> None:
        (tmp_path / "log").write_bytes(data)
        with pytest.raises(UnreadableFile, match=said):
            JudgmentLog(tmp_path / "log")

    def test_that_are_missing(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile, match="no such file"):
            JudgmentLog(tmp_path / "log")
        with pytest.raises(UnreadableFile, match="is a folder"):
            JudgmentLog(tmp_path)

    @pytest.mark.parametrize("data", [b"\0" * 100, b"\xff\xfe\n", b"[]\n", b"{}\n", b"PK\x03\x04"])
    def test_of_other_kinds(self, tmp_path: Path, data: bytes) -> None:
        (tmp_path / "log").write_bytes(data)
        with pytest.raises(ChainCheckError):
            JudgmentLog(tmp_path / "log")

    def test_packed(self, log: Path) -> None:
        packed = log.with_suffix(".gz")
        packed.write_bytes(gzip.compress(log.read_bytes()))
        items = make_items(6)
        assert list(RecordedJudge(packed).score(items)) == list(RecordedJudge(log).score(items))
        packed.write_bytes(packed.read_bytes()[:-20])
        with pytest.raises(UnreadableFile, match="gzip"):
            JudgmentLog(packed)

    def test_the_last_digest_pins_the_log(self, log: Path) -> None:
        first = JudgmentLog(log).digest
        with LiveJudge(Fake(), log) as live:
            list(live.score(make_items(7)))
        assert JudgmentLog(log).digest != first
        lines = log.read_bytes().splitlines(keepends=True)
        log.write_bytes(b"".join(lines[:8]))
        assert JudgmentLog(log).digest == first

    def test_the_file_is_closed_with_the_log(self, log: Path) -> None:
        def opened() -> int:
            return len(os.listdir("/proc/self/fd"))  # noqa: PTH208

        if not Path("/proc/self/fd").exists():
            pytest.skip("this system does not list open files")
        before = opened()
        for _ in range(3):
            JudgmentLog(log)
            with JudgmentLog(log) as one:
                assert len(one) == 6
            RecordedJudge(log)
            LiveJudge(Fake(), log)
        assert opened() == before


def _header(**instrument: object) -> Header:
    return Header(
        format=1,
        judge="one",
        fingerprint=fingerprint_of(instrument),
        reads=("query", "passages"),
        instrument=instrument,
    )


def test_of_another_kind_of_judge_the_message_says_that_and_no_more() -> None:
    many = {f"key {number:02}": number for number in range(30)}
    with pytest.raises(ForeignLog, match="judge is 'causal' there and 'server' here") as caught:
        check_instrument(_header(judge="causal", **many), _header(judge="server"), path="l")
    assert "key 00" not in str(caught.value)


def test_of_many_differences_the_message_counts_the_rest() -> None:
    many = {f"key {number:02}": number for number in range(30)}
    with pytest.raises(ForeignLog, match=r"key 07 is .*; and 22 more") as caught:
        check_instrument(_header(judge="causal", **many), _header(judge="causal"), path="l")
    assert "key 08" not in str(caught.value)
