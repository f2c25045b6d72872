"""Writers of judgment logs: killed, cut short, out of room, two at once. Nothing may get lost.

``CHAINCHECK_KILLS`` sets how many processes are killed (25 by default).
"""

from __future__ import annotations

import contextlib
import errno
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from recorded_judges import Fake, hold, judge_slowly, make_items, true_score

from chaincheck.errors import (
    ForeignLog,
    IntegrityError,
    LogInUse,
    UnwritableOutput,
    UsageError,
)
from chaincheck.judges import log_writer
from chaincheck.judges.base import Judgment
from chaincheck.judges.log_file import JudgmentLog
from chaincheck.judges.log_format import header_for
from chaincheck.judges.log_writer import LogWriter
from chaincheck.judges.record import LiveJudge, RecordedJudge

KILLS = int(os.environ.get("CHAINCHECK_KILLS", "25"))
pytest.importorskip("fcntl", reason="this system has no flock, so no log can be written")


def record(path: Path, count: int, **options: Any) -> Fake:
    judge = Fake()
    with LiveJudge(judge, path, **options) as live:
        assert [one.score for one in live.score(make_items(count))] == [
            true_score(item) for item in make_items(count)
        ]
    return judge


def held(path: Path) -> dict[str, float | None]:
    """Scores of a log by item id; the log refuses whatever is wrong with it."""
    log = JudgmentLog(path)
    found = [(one.item_id, one.score) for one in log.records()]
    assert len(found) == len(dict(found)) == len(log)
    return dict(found)


@pytest.fixture
def no_sync(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the waiting for the disk where only the bytes matter."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def processes() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["chaincheck.judges.record"])
    return context


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


class TestKills:
    def test_nothing_acknowledged_is_lost_and_nothing_doubled(
        self, tmp_path: Path, processes: Any
    ) -> None:
        rng = random.Random(7)
        items = make_items(120)
        truth = {item.item_id: true_score(item) for item in items}
        torn = kept = finished = kills = run = 0
        log = asked = given = tmp_path / "none"
        while kills < KILLS:
            if not log.exists() or len(lines_of(given)) >= len(items):
                finished += log.exists()
                run += 1
                log, asked, given = (tmp_path / f"{run}.{end}" for end in ("log", "asked", "given"))
            before = held(log) if log.exists() and b"\n" in log.read_bytes() else {}
            noted = len(lines_of(asked))
            child = processes.Process(
                target=judge_slowly, args=(log, asked, given, len(items), rng.choice([1, 8, 64]))
            )
            child.start()
            child.join(rng.uniform(0.0, 0.25))
            if child.is_alive():
                child.kill()
                kills += 1
                kept += 1 if before else 0
            child.join()
            assert child.exitcode in (0, -signal.SIGKILL)
            # No item that stood in the log was asked for again, and none twice by one process.
            again = lines_of(asked)[noted:]
            assert not set(again) & set(before)
            assert len(again) == len(set(again))
            if not log.exists():
                continue
            data = log.read_bytes()
            torn += not data.endswith(b"\n") and bool(data)
            if b"\n" not in data:
                assert lines_of(given) == []
                continue
            after = held(log)
            assert before.items() <= after.items() <= truth.items()
            for line in lines_of(given):
                item_id, score = line.split(" ")
                assert after[item_id] == float(score)
            # At most the one judgment in hand was lost, of all that the judge ever gave.
            assert len(set(again) - set(after)) <= 1
        with LiveJudge(judge := Fake(), log) as live:
            whole = list(live.score(items))
        assert {one.item_id: one.score for one in whole} == held(log) == truth
        assert len(judge.asked) == len(set(judge.asked))
        assert list(RecordedJudge(log).score(items)) == whole
        print(f"\n{kills} kills, {torn} torn lines, {kept} resumed logs, {finished} finished")
        if kills >= 25:
            assert torn > 0
            assert kept > 0

    def test_a_reader_beside_a_writer_sees_whole_records_only(
        self, tmp_path: Path, processes: Any
    ) -> None:
        log = tmp_path / "log"
        child = processes.Process(
            target=judge_slowly, args=(log, tmp_path / "asked", tmp_path / "given", 80, 16)
        )
        child.start()
        sizes = [0]
        torn = 0
        try:
            while child.is_alive():
                if not log.exists() or b"\n" not in log.read_bytes():
                    continue
                reader = RecordedJudge(log)
                items = make_items(80)
                missing = set(reader.missing(items))
                seen = [item for item in items if item.item_id not in missing]
                assert [one.score for one in reader.score(seen)] == [
                    true_score(item) for item in seen
                ]
                sizes.append(len(seen))
                torn += any("cut short" in caveat for caveat in reader.provenance().caveats)
        finally:
            child.kill()
            child.join()
        assert sizes == sorted(sizes)
        assert len(set(sizes)) > 2


class TestTornLines:
    def test_a_log_cut_at_every_byte(self, tmp_path: Path, no_sync: None) -> None:
        record(tmp_path / "whole", 4)
        data = (tmp_path / "whole").read_bytes()
        items = make_items(4)
        path = tmp_path / "cut"
        for size in range(len(data) + 1):
            path.unlink(missing_ok=True)
            path.write_bytes(data[:size])
            whole = data[:size].count(b"\n")
            records = max(0, whole - 2)
            if whole:
                reader = RecordedJudge(path)
                assert len(reader.missing(items)) == 4 - records
                caveats = reader.provenance(whole=True).caveats
                is_torn = not data[:size].endswith(b"\n")
                assert len(caveats) == is_torn
                assert not is_torn or caveats[0].startswith(f"{path}:{whole + 1}: the last line")
            judge = Fake()
            with LiveJudge(judge, path) as live:
                found = list(live.score(items))
                assert bool(live.repaired) == (size > 0 and data[size - 1 : size] != b"\n")
            assert [one.score for one in found] == [true_score(item) for item in items]
            assert judge.asked == [item.item_id for item in items[records:]]
            assert held(path) == {item.item_id: true_score(item) for item in items}

    def test_reading_does_not_repair(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        record(path, 3)
        path.write_bytes(data := path.read_bytes()[:-5])
        assert len(JudgmentLog(path)) == 2
        assert path.read_bytes() == data

    def test_a_file_of_another_kind_is_left_alone(self, tmp_path: Path) -> None:
        for k, data in enumerate(
            (
                b"notes without a line end",
                b'{"item_id":"x","score":1}\n',
                b"{",
                b'{"kind":"lo',
                b"\n",
            )
        ):
            path = tmp_path / str(k)
            path.write_bytes(data)
            if data in (b"{", b'{"kind":"lo'):
                continue  # the beginning of any log: see the next test
            with pytest.raises(IntegrityError):
                LiveJudge(Fake(), path)
            assert path.read_bytes() == data

    def test_a_torn_first_line_of_another_judge_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        record(path, 0)
        path.write_bytes(data := path.read_bytes()[:-40])
        with pytest.raises(ForeignLog, match="torn first line of another"):
            LiveJudge(Fake(prompt="other"), path)
        assert path.read_bytes() == data
        record(path, 2)
        assert len(JudgmentLog(path)) == 2


class TestTwoWriters:
    def test_the_second_is_refused_and_told_who_writes(
        self, tmp_path: Path, processes: Any
    ) -> None:
        log, ready = tmp_path / "log", tmp_path / "ready"
        child = processes.Process(target=hold, args=(log, ready))
        child.start()
        try:
            limit = time.monotonic() + 30
            while not ready.exists() and time.monotonic() < limit:
                time.sleep(0.01)
            before = log.read_bytes()
            with pytest.raises(LogInUse) as caught:
                LiveJudge(Fake(), log)
            assert caught.value.exit_code == 2
            if Path("/proc/locks").exists():
                assert caught.value.pid == child.pid
                assert f"process {child.pid} is writing" in str(caught.value)
            assert log.read_bytes() == before
            assert len(RecordedJudge(log).missing(make_items(3))) == 0
        finally:
            child.kill()
            child.join()
        record(log, 5)  # the lock went with its process
        assert len(JudgmentLog(log)) == 5

    def test_within_one_process_too(self, tmp_path: Path) -> None:
        with LiveJudge(Fake(), tmp_path / "log"):
            with pytest.raises(LogInUse, match="writing this log"):
                LiveJudge(Fake(), tmp_path / "log")
            JudgmentLog(tmp_path / "log").close()  # a reader's close does not free the lock
            with pytest.raises(LogInUse):
                LiveJudge(Fake(), tmp_path / "log")
        record(tmp_path / "log", 1)

    def test_a_forked_process_does_not_keep_the_lock(self, tmp_path: Path) -> None:
        live = LiveJudge(Fake(), tmp_path / "log")
        child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(30,))
        child.start()
        try:
            live.close()
            live.close()
            record(tmp_path / "log", 2)
        finally:
            child.kill()
            child.join()

    def test_of_many_that_start_at_once_one_writes(self, tmp_path: Path) -> None:
        code = (
            "import sys, time; sys.path.insert(0, sys.argv[1])\n"
            "from recorded_judges import *\n"
            "from chaincheck.errors import LogInUse\n"
            "try:\n"
            "    with LiveJudge(Fake(), sys.argv[2]) as live:\n"
            "        list(live.score(make_items(20))); time.sleep(2)\n"
            "except LogInUse: sys.exit(9)\n"
        )
        arguments = [sys.executable, "-c", code, str(Path(__file__).parent), str(tmp_path / "log")]
        codes = [child.wait() for child in [subprocess.Popen(arguments) for _ in range(4)]]
        assert Counter(codes)[0] >= 1
        assert set(codes) <= {0, 9}
        assert len(JudgmentLog(tmp_path / "log")) == 20

    def test_a_file_that_was_replaced_while_waiting_is_not_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import fcntl

        path = tmp_path / "log"
        record(path, 1)
        shutil.copy(path, tmp_path / "new")
        real = fcntl.flock

        def flock(descriptor: int, how: int) -> None:
            real(descriptor, how)
            with contextlib.suppress(FileNotFoundError):
                (tmp_path / "new").replace(path)

        monkeypatch.setattr(fcntl, "flock", flock)
        record(path, 3)
        assert len(JudgmentLog(path)) == 3


class TestDisk:
    def test_nothing_is_given_out_before_it_is_on_the_disk(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "log"
        synced = [0]
        calls = [0]
        real = os.fsync

        def fsync(descriptor: int) -> None:
            real(descriptor)
            calls[0] += 1
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                synced[0] = os.fstat(descriptor).st_size

        monkeypatch.setattr(os, "fsync", fsync)
        for group in (1, 7, 64):
            calls[0] = 0
            with LiveJudge(Fake(group=group), path, group=group, seconds=60) as live:
                for judgment in live.score(make_items(100)):
                    safe = path.read_bytes()[: synced[0]]
                    assert f'"item_id":"{judgment.item_id}"'.encode() in safe
            assert calls[0] <= 100 // group + 4
            path.unlink()

    def test_what_the_judge_said_is_kept_from_that_moment(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        seen = []

        def say(item: Any) -> Judgment:
            if item.item_id != "i0":
                seen.append(len(JudgmentLog(path)))
            return Judgment(item_id=item.item_id, score=0.5)

        with LiveJudge(Fake(say), path, group=1000, seconds=60) as live:
            list(live.score(make_items(10)))
        assert seen == list(range(1, 10))

    def test_a_judge_that_takes_long_is_committed_one_by_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = [0.0]
        monkeypatch.setattr("chaincheck.judges.record.time.monotonic", lambda: now[0])

        def say(item: Any) -> Judgment:
            now[0] += 1.0
            return Judgment(item_id=item.item_id, score=0.5)

        judge = Fake(say)
        with LiveJudge(judge, tmp_path / "log", group=1000, seconds=0.5) as live:
            for count, _ in enumerate(live.score(make_items(10)), 1):
                assert len(judge.asked) == count

    def test_a_disk_that_fails_to_sync(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "log"
        live = LiveJudge(Fake(), path, group=4)
        given = []
        calls = 0

        def fsync(_: int) -> None:
            nonlocal calls
            calls += 1
            if calls > 1:
                raise OSError(errno.EIO, os.strerror(errno.EIO))

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(UnwritableOutput, match="Input/output error"), live:
            for judgment in live.score(make_items(10)):
                given.append(judgment.item_id)
        assert given == ["i0", "i1", "i2"]  # the line that says how they were got is the fourth
        monkeypatch.undo()
        record(path, 10)

    @pytest.mark.parametrize("room", [0, 30, 700])
    def test_a_full_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        path = tmp_path / "log"
        record(path, 2)
        real = os.write

        def write(descriptor: int, data: bytes) -> int:
            nonlocal room
            if room == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            taken = real(descriptor, data[:room])
            room -= taken
            return taken

        live = LiveJudge(Fake(), path)
        monkeypatch.setattr(log_writer.os, "write", write)
        with pytest.raises(UnwritableOutput, match="No space left"), live:
            list(live.score(make_items(10)))
        monkeypatch.undo()
        assert path.read_bytes().endswith(b"\n")
        kept = len(JudgmentLog(path))
        assert 2 <= kept < 10
        assert len(record(path, 10).asked) == 10 - kept
        assert len(JudgmentLog(path)) == 10

    def test_a_disk_that_is_really_full(self, tmp_path: Path) -> None:
        mount = shutil.which("mount")
        if mount is None or os.geteuid() != 0:
            pytest.skip("mounting a small disk needs root")
        disk = tmp_path / "disk"
        disk.mkdir()
        done = subprocess.run(
            [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"a small disk cannot be mounted here: {done.stderr.decode().strip()}")
        try:
            given = []
            live = LiveJudge(Fake(), disk / "log")
            with pytest.raises(UnwritableOutput, match="No space left"), live:
                for judgment in live.score(make_items(1000)):
                    given.append(judgment.item_id)
            kept = held(disk / "log")
            assert set(given) <= set(kept)
            assert 100 < len(kept) < 1000
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_an_interruption_inside_a_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "log"
        real = log_writer._write_whole

        def interrupted(descriptor: int, data: bytes) -> None:
            if b'"i5"' in data:
                real(descriptor, data[:50])
                raise KeyboardInterrupt
            real(descriptor, data)

        monkeypatch.setattr(log_writer, "_write_whole", interrupted)
        live = LiveJudge(Fake(), path)
        with pytest.raises(KeyboardInterrupt):
            list(live.score(make_items(10)))
        with pytest.raises(UnwritableOutput, match="interrupted"):
            list(live.score(make_items(10)))
        live.close()
        monkeypatch.undo()
        assert len(JudgmentLog(path)) == 5
        assert record(path, 10).asked == [f"i{k}" for k in range(5, 10)]


class TestPaths:
    @pytest.mark.parametrize("name", ["no/such/log", "file/log", "folder", "a\0b", "x" * 300])
    def test_that_cannot_be_written(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").write_bytes(b"")
        (tmp_path / "folder").mkdir()
        with pytest.raises(UnwritableOutput, match="cannot write") as caught:
            LiveJudge(Fake(), tmp_path / name)
        assert caught.value.exit_code == 2
        assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]

    def test_that_are_no_files(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        for path in (tmp_path / "pipe", Path("/dev/null")):
            with pytest.raises(UnwritableOutput, match="no regular file"):
                LiveJudge(Fake(), path)

    def test_that_are_packed(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="gzipped"):
            LiveJudge(Fake(), tmp_path / "log.jsonl.gz")
        assert list(tmp_path.iterdir()) == []

    def test_a_link_stays_one(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("log")
        record(tmp_path / "link", 2)
        assert (tmp_path / "link").is_symlink()
        assert len(JudgmentLog(tmp_path / "log")) == 2

    def test_a_system_without_locks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "fcntl", None)
        with pytest.raises(UsageError, match="no flock"):
            LiveJudge(Fake(), tmp_path / "log")


class TestLines:
    def test_a_finished_log_is_not_touched(self, tmp_path: Path) -> None:
        record(tmp_path / "log", 3)
        before = (tmp_path / "log").read_bytes()
        assert record(tmp_path / "log", 3).asked == []
        assert (tmp_path / "log").read_bytes() == before

    def test_lines_are_only_added(self, tmp_path: Path) -> None:
        record(tmp_path / "log", 3)
        before = (tmp_path / "log").read_bytes()
        record(tmp_path / "log", 6)
        after = (tmp_path / "log").read_bytes()
        assert after.startswith(before)
        assert after[len(before) :].count(b"\n") == 3 + 1  # and how they were got

    def test_one_content_cannot_be_recorded_twice(self, tmp_path: Path) -> None:
        with LogWriter(tmp_path / "log", header_for(Fake())) as log:
            log.append(Judgment(item_id="x", score=0.5), content="c", acquisition={})
            with pytest.raises(ValueError, match="already holds"):
                log.append(Judgment(item_id="y", score=0.5), content="c", acquisition={})
        assert len(JudgmentLog(tmp_path / "log")) == 1
