"""Judges on a log: what is live replays bit for bit, what is missing is an error."""

from __future__ import annotations

import itertools
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_judges import Fake, make_item, make_items, true_score
from test_log_format import JUDGMENTS

from chaincheck.errors import (
    DamagedLog,
    ForeignLog,
    InputError,
    IntegrityError,
    InvalidScore,
    MissingJudgment,
    UsageError,
)
from chaincheck.items import Item, write_items
from chaincheck.judges import Judge, LexicalJudge, open_judge
from chaincheck.judges import record as record_module
from chaincheck.judges.attribution import read_attribution
from chaincheck.judges.base import Judgment, acquisition_of, instrument_of
from chaincheck.judges.log_format import content_of
from chaincheck.judges.provenance import hash_judgments
from chaincheck.judges.record import LiveJudge, RecordedJudge, with_log
from chaincheck.pipeline import score_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.jsonl"


def live(judge: Judge, path: Path, items: Iterable[Item]) -> list[Judgment]:
    with LiveJudge(judge, path) as one:
        return list(one.score(items))


def test_both_are_judges(path: Path) -> None:
    with LiveJudge(LexicalJudge("length"), path) as asking:
        assert isinstance(asking, Judge)
        list(asking.score(make_items(1)))
        replay = RecordedJudge(path)
        assert isinstance(replay, Judge)
        for one in (asking, replay):
            assert one.name == "length"
            assert one.fingerprint == LexicalJudge("length").fingerprint
            assert instrument_of(one) == instrument_of(LexicalJudge("length"))


class TestReplay:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(JUDGMENTS, min_size=1, max_size=4))
    def test_live_and_replay_are_the_same_bits(self, judgments: list[Judgment]) -> None:
        items = [make_item(k, item_id=f"i{k}") for k in range(len(judgments))]
        told = dict(zip([item.item_id for item in items], judgments, strict=True))

        def say(item: Item) -> Judgment:
            fields = {name: getattr(told[item.item_id], name) for name in FIELDS}
            return Judgment(**{**fields, "item_id": item.item_id})

        # Only the bytes matter here, not whether they are on the disk.
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(os, "fsync"):
            log = Path(folder) / "log"
            given_out = live(Fake(say), log, items)
            replayed = list(RecordedJudge(log).score(items))
        assert given_out == replayed == [say(item) for item in items]
        for several in (given_out, replayed):
            assert [struct.pack("<d", one.score) for one in several] == [
                struct.pack("<d", one.score) for one in judgments
            ]

    def test_a_miss_is_an_error_that_says_what_to_run(self, path: Path) -> None:
        live(Fake(), path, make_items(3))
        replay = RecordedJudge(path)
        with pytest.raises(MissingJudgment, match="no judgment of it is recorded") as caught:
            list(replay.score(make_items(5)))
        assert isinstance(caught.value, InputError)
        assert caught.value.item == "i3"
        assert caught.value.path == str(path)
        assert caught.value.exit_code == 2
        assert f"--log {path} --live" in str(caught.value)
        assert replay.missing(make_items(5)) == ["i3", "i4"]
        with pytest.raises(MissingJudgment, match="Record it with: make record"):
            list(RecordedJudge(path, command="make record").score(make_items(5)))

    def test_an_id_alone_finds_nothing(self, path: Path) -> None:
        live(Fake(), path, make_items(3))
        changed = make_item(1, passages=("Passage 1.", "Another."))
        with pytest.raises(MissingJudgment, match="with other content than it has now"):
            list(RecordedJudge(path).score([changed]))
        judge = Fake()
        (found,) = live(judge, path, [changed])
        assert judge.asked == ["i1"]
        assert found.score == true_score(changed)
        assert found.score != true_score(make_item(1))

    def test_another_id_of_the_same_content_finds_it(self, path: Path) -> None:
        live(Fake(), path, make_items(3))
        (found,) = RecordedJudge(path).score([make_item(1, item_id="new", variant="fict")])
        assert found == Judgment(item_id="new", score=true_score(make_item(1)))

    def test_what_a_judge_reads_decides(self, path: Path) -> None:
        judge = Fake()
        judge.reads = ("query", "passages", "answer")  # type: ignore[attr-defined]
        live(judge, path, [make_item(1, answer="Oslo")])
        with pytest.raises(MissingJudgment):
            list(RecordedJudge(path).score([make_item(1, answer="Rome")]))
        with pytest.raises(ForeignLog, match="reads is"):
            RecordedJudge(path, expect=Fake())

    def test_it_opens_no_socket(self, path: Path, tmp_path: Path) -> None:
        items = [
            make_item(k, pair_id=f"p{k // 3}", cell="ABD"[k % 3], label_sufficient=True)
            for k in range(9)
        ]
        write_items(tmp_path / "data.jsonl", items)
        live(Fake(), path, items)
        code = """
import sys
def refuse(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.system", "os.posix_spawn", "urllib.")):
        sys.stderr.write(f"forbidden: {event} {arguments}")
        sys.stderr.flush()
        __import__("os")._exit(7)
sys.addaudithook(refuse)
if len(sys.argv) > 2:
    import socket
    socket.socket()
from chaincheck.judges.record import RecordedJudge
from chaincheck.evaluation import evaluate_files
from chaincheck.pipeline import score_file
judge = RecordedJudge("log.jsonl")
score_file("data.jsonl", judge, "scores.jsonl")
evaluate_files(["data.jsonl"], "scores.jsonl", resamples=100)
print(judge.provenance().judgments)
"""
        command = [sys.executable, "-c", code, "go"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        replay = RecordedJudge(path)
        found = list(replay.score(items))
        assert done.stdout.strip() == replay.provenance().judgments
        scores = [json.loads(line)["score"] for line in (tmp_path / "scores.jsonl").open()]
        assert scores == [one.score for one in found] == [true_score(item) for item in items]
        # The guard is one: the same program with a socket in it does not come through.
        command.append("socket")
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 7

    def test_several_logs_serve_together(self, tmp_path: Path) -> None:
        items = make_items(6)
        parts = [tmp_path / "one", tmp_path / "two"]
        live(Fake(), parts[0], items[:4])
        live(Fake(), parts[1], items[3:])
        replay = RecordedJudge(parts)
        assert [one.score for one in replay.score(items)] == [true_score(item) for item in items]
        assert set(replay.provenance().logs) == set(map(str, parts))
        # And can be made one log, by recording what they say.
        found = live(replay, tmp_path / "whole", items)
        assert list(RecordedJudge(tmp_path / "whole").score(items)) == found
        how = RecordedJudge(tmp_path / "whole").acquisition["recorded"]
        (settings,) = how.values()
        assert settings["recorded"] == replay.acquisition["recorded"]

    def test_logs_that_contradict_each_other_are_refused(self, tmp_path: Path) -> None:
        live(Fake(), tmp_path / "one", make_items(2))
        other = Fake(lambda item: Judgment(item_id=item.item_id, score=0.0))
        live(other, tmp_path / "two", make_items(2))
        with pytest.raises(DamagedLog, match="different judgments of one content"):
            list(RecordedJudge([tmp_path / "one", tmp_path / "two"]).score(make_items(2)))

    def test_logs_of_different_instruments_are_refused(self, tmp_path: Path) -> None:
        live(Fake(), tmp_path / "one", make_items(2))
        live(Fake(prompt="x"), tmp_path / "two", make_items(2))
        with pytest.raises(ForeignLog):
            RecordedJudge([tmp_path / "one", tmp_path / "two"])


FIELDS = Judgment.__struct_fields__


class Batched(Fake):
    """Takes four items before it answers."""

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        stream = iter(items)
        while batch := list(itertools.islice(stream, 4)):
            yield from super().score(batch)


class TestLive:
    def test_it_resumes_where_it_stopped(self, path: Path) -> None:
        items = make_items(10)
        first, second = Fake(), Fake()
        with LiveJudge(first, path) as one:
            list(itertools.islice(one.score(items), 4))
        kept = len(first.asked)
        found = live(second, path, items)
        assert [one.score for one in found] == [true_score(item) for item in items]
        assert first.asked + second.asked == [item.item_id for item in items]
        assert len(second.asked) == 10 - kept

    def test_what_was_said_before_a_failure_is_kept(self, path: Path) -> None:
        def say(item: Item) -> Judgment:
            if item.item_id == "i6":
                raise TimeoutError("the server is gone")
            return Judgment(item_id=item.item_id, score=true_score(item))

        with pytest.raises(TimeoutError):
            live(Fake(say), path, make_items(10))
        judge = Fake()
        live(judge, path, make_items(10))
        assert judge.asked == ["i6", "i7", "i8", "i9"]

    def test_equal_contents_are_asked_for_once(self, path: Path) -> None:
        items = [make_item(k % 3, item_id=f"x{k}") for k in range(9)]
        judge = Fake()
        found = live(judge, path, items)
        assert judge.asked == ["x0", "x1", "x2"]
        assert [one.item_id for one in found] == [item.item_id for item in items]
        assert [one.score for one in found] == [true_score(item) for item in items]

    @pytest.mark.parametrize("run", [1, 2, 5, 4096])
    def test_order_is_kept_around_recorded_items(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, run: int
    ) -> None:
        monkeypatch.setattr(record_module, "_LONGEST_RUN", run)
        items = make_items(40)
        live(Fake(), path, items[3:9] + items[20:22] + items[25:36])
        judge = Fake()
        found = live(judge, path, items)
        assert [one.item_id for one in found] == [item.item_id for item in items]
        assert len(judge.asked) == 40 - 19

    def test_recorded_items_are_served_before_the_rest_is_read(self, path: Path) -> None:
        live(Fake(), path, make_items(5))
        taken = []

        def stream() -> Iterator[Item]:
            for item in make_items(50):
                taken.append(item.item_id)
                yield item

        with LiveJudge(Fake(), path) as one:
            found = one.score(stream())
            for count in range(1, 6):
                next(found)
                assert len(taken) == count

    def test_a_long_run_of_recorded_items_is_served_while_it_passes(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(record_module, "_LONGEST_RUN", 5)
        items = make_items(60)
        live(Fake(), path, items[10:50])
        taken = []

        def stream() -> Iterator[Item]:
            for item in items:
                taken.append(item.item_id)
                yield item

        with LiveJudge(Fake(), path, group=1000, seconds=60) as one:
            behind = [
                len(taken) - count for count, _ in enumerate(one.score(stream())) if count < 50
            ]
        assert max(behind) <= 10 + 5

    def test_judges_that_look_ahead(self, path: Path) -> None:
        items = make_items(18)
        live(Fake(), path, [items[1], items[5], items[6], items[17]])
        with LiveJudge(Batched(), path, group=3) as one:
            found = list(one.score(items))
            assert one.asked == 14
        assert [one.score for one in found] == [true_score(item) for item in items]

    def test_equal_contents_within_one_batch(self, path: Path) -> None:
        items = [make_item(k % 3, item_id=f"x{k}") for k in range(9)]
        judge = Batched()
        found = live(judge, path, items)
        assert judge.asked == ["x0", "x1", "x2"]
        assert [one.item_id for one in found] == [item.item_id for item in items]

    @pytest.mark.parametrize(
        ("score", "said"),
        [(math.nan, "nan"), (math.inf, "inf"), (True, "True"), (None, "neither"), ("1", "'1'")],
    )
    def test_what_is_no_score_is_refused_and_the_rest_kept(
        self, path: Path, score: Any, said: str
    ) -> None:
        def say(item: Item) -> Judgment:
            bad = item.item_id == "i2"
            return Judgment(item_id=item.item_id, score=score if bad else true_score(item))

        with pytest.raises(InvalidScore, match=said) as caught:
            live(Fake(say), path, make_items(5))
        assert caught.value.item == "i2"
        assert RecordedJudge(path).missing(make_items(5)) == ["i2", "i3", "i4"]

    @pytest.mark.parametrize("fault", ["order", "few", "many"])
    def test_a_judge_that_breaks_the_protocol(self, path: Path, fault: str) -> None:
        class Broken(Fake):
            def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
                every = list(super().score(items))
                if fault == "order":
                    every.reverse()
                yield from every[:-1] if fault == "few" else every
                if fault == "many":
                    yield every[0]

        with pytest.raises(ValueError, match="judge 'fake' gave"):
            live(Broken(), path, make_items(4))
        judge = Fake()
        found = live(judge, path, make_items(4))
        assert [one.score for one in found] == [true_score(item) for item in make_items(4)]

    def test_two_loops_over_one_judge(self, path: Path) -> None:
        with LiveJudge(Fake(), path) as one:
            pairs = list(zip(one.score(make_items(9)), one.score(make_items(9)), strict=True))
        assert all(first == second for first, second in pairs)

    def test_nothing_to_judge(self, path: Path) -> None:
        assert live(Fake(), path, []) == []
        assert RecordedJudge(path).provenance().used == 0


class TestForeign:
    def test_another_instrument_is_refused_and_the_difference_named(self, path: Path) -> None:
        live(Fake(dtype="float32", sets={"yes": [1, 2]}), path, make_items(2))
        before = path.read_bytes()
        other = Fake(dtype="bfloat16", sets={"yes": [1]})
        for use in (
            lambda: LiveJudge(other, path),
            lambda: RecordedJudge(path, expect=other),
            lambda: with_log(other, path),
        ):
            with pytest.raises(ForeignLog) as caught:
                use()
            assert isinstance(caught.value, IntegrityError)
            assert caught.value.exit_code == 3
            assert "dtype is 'float32' there and 'bfloat16' here" in str(caught.value)
            assert "sets.yes" in str(caught.value)
        assert path.read_bytes() == before

    def test_texts_that_differ_in_line_breaks_alone_are_told_apart(self, path: Path) -> None:
        live(Fake(separator="\n"), path, make_items(2))
        with pytest.raises(ForeignLog) as caught:
            with_log(Fake(separator="\n\n"), path)
        assert r"separator is '\n' there and '\n\n' here" in str(caught.value)

    def test_the_same_instrument_got_otherwise_is_a_caveat(self, path: Path) -> None:
        items = make_items(5)
        live(Fake(acquisition={"batch": 8, "device": "cpu"}), path, items[:3])
        live(Fake(acquisition={"batch": 16, "device": "cpu"}), path, items)
        replay = RecordedJudge(path, expect=Fake())
        assert [one.score for one in replay.score(items)] == [true_score(item) for item in items]
        (caveat,) = replay.provenance().caveats
        assert "got in 2 ways, which differ in batch" in caveat
        replay = RecordedJudge(path)
        list(replay.score(items[:2]))
        assert replay.provenance().caveats == ()  # of those used, all were got in one way

    def test_an_acquisition_may_change_on_the_way(self, path: Path) -> None:
        judge = Fake(acquisition={"batch": 8})
        with LiveJudge(judge, path, group=1) as one:
            for count, _ in enumerate(one.score(make_items(4))):
                judge.acquisition = {"batch": 4 if count == 1 else judge.acquisition["batch"]}
        lines = [json.loads(line) for line in path.open()]
        kinds = ["acquisition", "judgment", "judgment", "acquisition", "judgment", "judgment"]
        assert [line["kind"] for line in lines[1:]] == kinds
        assert [line["settings"]["batch"] for line in (lines[1], lines[4])] == [8, 4]
        assert lines[5]["acquisition"] == lines[4]["acquisition"] != lines[3]["acquisition"]

    def test_versions_and_machine_are_part_of_the_acquisition(self) -> None:
        found = acquisition_of(Fake(acquisition={"batch": 8}))
        assert set(found) == {"chaincheck", "python", "system", "batch"}


class TestProvenance:
    def test_it_depends_on_the_judgments_used_alone(self, path: Path, tmp_path: Path) -> None:
        items = make_items(6)
        live(Fake(), path, items)
        live(Fake(), tmp_path / "other", [items[4], items[2], items[0]])
        one, other = RecordedJudge(path), RecordedJudge(tmp_path / "other")
        list(one.score([items[0], items[2], items[4], items[0]]))
        list(other.score([items[4], make_item(2, item_id="new id"), items[0]]))
        assert one.provenance().judgments == other.provenance().judgments
        assert one.provenance().used == 3
        list(one.score([items[1]]))
        assert one.provenance().judgments != other.provenance().judgments
        assert one.provenance(whole=True).used == 6

    def test_it_is_the_same_live_and_replayed(self, path: Path) -> None:
        items = make_items(6)
        with LiveJudge(Fake(), path) as asking:
            list(asking.score(items))
            first = asking.provenance()
        replay = RecordedJudge(path)
        list(replay.score(reversed(items)))
        assert replay.provenance() == first
        pairs = [
            (content_of(item, ("query", "passages")), Judgment(item_id="", score=true_score(item)))
            for item in items
        ]
        assert first.judgments == hash_judgments(pairs) == hash_judgments(pairs[::-1])

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_it_tells_neighboring_doubles_apart(self, score: float) -> None:
        first, second = (
            hash_judgments([("c", Judgment(item_id="", score=one))])
            for one in (score, math.nextafter(score, math.inf))
        )
        assert first != second

    def test_doubts_are_told(self, path: Path) -> None:
        def say(item: Item) -> Judgment:
            number = int(item.item_id[1:])
            return Judgment(
                item_id=item.item_id,
                score=None if number == 0 else 0.5,
                bounds=(None, 1.0) if number == 0 else None,
                model="m1" if number < 3 else "m2",
                flags=("prompt cut",) if number > 1 else (),
            )

        with LiveJudge(Fake(say), path) as asking:
            list(asking.score(make_items(5) + make_items(5)))
            caveats = asking.provenance().caveats
        assert caveats == (
            "the replies name 2 models: m1 (3), m2 (2)",
            "of 1 items the judge gave bounds, not a score",
            "3 judgments are flagged 'prompt cut'",
        )
        text = RecordedJudge(path).provenance(whole=True).to_text()
        assert text.count("\n") == 3

    def test_flags_that_differ_in_a_number_are_told_of_once(self, path: Path) -> None:
        """Such as the share of the mass for which a judge refuses: one for every item."""
        shares = ("0.031", "4e-05", "0", "1.5E-7")

        def say(item: Item) -> Judgment:
            number = int(item.item_id[1:])
            flags = ("cut at 9", "cut at 9", "cut at 12")
            if number < 4:
                flags = (*flags, f"refused: {shares[number]} of the mass")
            return Judgment(item_id=item.item_id, score=0.5, flags=flags)

        with LiveJudge(Fake(say), path) as asking:
            list(asking.score(make_items(5)))
            caveats = asking.provenance().caveats
        assert caveats == (
            "5 judgments are flagged 'cut at 12' or alike (2 wordings)",
            "4 judgments are flagged 'refused: 0 of the mass' or alike (4 wordings)",
        )

    def test_the_log_describes_itself(self, path: Path) -> None:
        live(Fake(prompt="Is it?", acquisition={"batch": 8}), path, make_items(1))
        header, how, judgment = (json.loads(line) for line in path.open())
        assert header["instrument"] == {"judge": "fake", "prompt": "Is it?"}
        assert how["settings"]["batch"] == 8
        assert judgment["instrument"] == header["fingerprint"]
        assert judgment["acquisition"] == how["acquisition"]
        assert judgment["previous"] == how["digest"]
        assert judgment["item_id"] == "i0"


class TestWithLog:
    def test_recorded_is_the_default(self, path: Path) -> None:
        live(Fake(), path, make_items(2))
        assert isinstance(with_log(None, path), RecordedJudge)
        assert isinstance(with_log(Fake(), path), RecordedJudge)
        with pytest.raises(InputError, match="make it with --live"):
            with_log(Fake(), path.with_name("missing"))
        assert not os.path.lexists(path.with_name("missing"))

    def test_live_needs_a_judge(self, path: Path) -> None:
        with pytest.raises(UsageError):
            with_log(None, path, live=True)
        assert not path.exists()
        asking = with_log(Fake(), path, live=True)
        assert isinstance(asking, LiveJudge)
        asking.close()

    def test_no_log_is_needed_for_an_empty_list(self) -> None:
        with pytest.raises(ValueError, match="needs a log"):
            RecordedJudge([])


class TestAsAJudgeByName:
    @pytest.fixture
    def log(self, tmp_path: Path) -> Path:
        path = tmp_path / "log.jsonl"
        live(Fake(acquisition={"deterministic": False}), path, make_items(3))
        return path

    def config(self, folder: Path, text: str) -> str:
        path = folder / "judge.toml"
        path.write_text(text)
        return str(path)

    def test_a_log_is_opened_from_a_toml_file(self, log: Path, tmp_path: Path) -> None:
        judge = open_judge(self.config(tmp_path, 'kind = "log"\npath = "log.jsonl"\n'))
        assert (judge.name, judge.fingerprint) == ("fake", Fake().fingerprint)
        assert [one.score for one in judge.score(make_items(3))] == [
            true_score(item) for item in make_items(3)
        ]
        with pytest.raises(MissingJudgment):
            list(judge.score(make_items(4)))

    def test_parts_of_one_run_are_a_list(self, log: Path, tmp_path: Path) -> None:
        live(Fake(), tmp_path / "more.jsonl", make_items(5)[3:])
        text = 'kind = "log"\npath = ["log.jsonl", "more.jsonl"]\n'
        assert len(list(open_judge(self.config(tmp_path, text)).score(make_items(5)))) == 5

    def test_the_instrument_can_be_pinned(self, log: Path, tmp_path: Path) -> None:
        text = f'kind = "log"\npath = "log.jsonl"\ninstrument = "{Fake().fingerprint}"\n'
        assert open_judge(self.config(tmp_path, text)).name == "fake"
        text = 'kind = "log"\npath = "log.jsonl"\ninstrument = "0000"\n'
        with pytest.raises(ForeignLog, match="wrote this log, not '0000'"):
            open_judge(self.config(tmp_path, text))

    @pytest.mark.parametrize("path", ["", "path = 3", "path = []", 'path = ["log.jsonl", 1]'])
    def test_it_needs_a_path(self, log: Path, tmp_path: Path, path: str) -> None:
        with pytest.raises(UsageError, match="needs the key 'path'"):
            open_judge(self.config(tmp_path, f'kind = "log"\n{path}\n'))

    def test_its_scores_are_stated_as_those_of_the_judge_that_was_recorded(
        self, log: Path, tmp_path: Path
    ) -> None:
        data, out = tmp_path / "t.jsonl", tmp_path / "s.jsonl"
        write_items(data, make_items(3))
        config = self.config(tmp_path, 'kind = "log"\npath = "log.jsonl"\n')
        score_file(data, config, out)
        stated = read_attribution(out)
        assert stated is not None
        assert stated.fingerprint == Fake().fingerprint
        assert stated.logs == (RecordedJudge(log).provenance().logs[str(log)],)
        assert any("not deterministic" in caveat for caveat in stated.caveats)
        # Copied into another log it stays what it was.
        again = tmp_path / "again.jsonl"
        score_file(data, config, again, log=tmp_path / "copy.jsonl", live=True)
        copied = read_attribution(again)
        assert copied is not None
        assert any("not deterministic" in caveat for caveat in copied.caveats)
        assert (copied.fingerprint, copied.judgments) == (stated.fingerprint, stated.judgments)
