"""Bad input on the command line: exit 2, one clear line, no traceback, no partial file."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaincheck.cli import main

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def triplet(number: int, cells: str = "ABD") -> list[dict[str, Any]]:
    return [
        {
            "item_id": f"i{number}{cell}",
            "pair_id": f"p{number}",
            "variant": "real",
            "cell": cell,
            "query": f"Where was the director of film {number} born?",
            "passages": ["Arrival was directed by Denis.", "Denis was born in Gentilly."],
            "answer": "Gentilly",
            "bridge": "Denis",
            "earlier_support": 0,
            "later_support": 1,
            "cb_27b_correct": False,
        }
        for cell in cells
    ]


ROWS = [row for number in range(3) for row in triplet(number)]
SCORES = [{"item_id": row["item_id"], "score": k / 8} for k, row in enumerate(ROWS)]
Edit = Callable[[list[dict[str, Any]]], Any]


def as_bytes(rows: list[Any]) -> bytes:
    return b"".join(
        (row if isinstance(row, bytes) else json.dumps(row).encode()) + b"\n" for row in rows
    )


def change(rows: list[dict[str, Any]], place: int, **columns: Any) -> list[dict[str, Any]]:
    return [{**row, **columns} if k == place else row for k, row in enumerate(rows)]


class Run:
    """What a command said and left behind."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        before = self.listing(folder)
        capsys.readouterr()
        self.code = main(list(arguments))
        self.error = capsys.readouterr().err
        self.new = sorted(self.listing(folder) - before)

    @staticmethod
    def listing(folder: Path) -> set[str]:
        return {path.name for path in folder.iterdir()}

    def check(self, *said: str) -> None:
        assert self.code == 2, self.error
        assert "Traceback" not in self.error
        assert len(self.error.strip().splitlines()) == 1, self.error
        for part in said:
            assert part in self.error, self.error
        assert self.new == []


@pytest.fixture
def evaluate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def run(data: bytes | None, scores: bytes | None, *options: str) -> Run:
        for name, content in (("data.jsonl", data), ("scores.jsonl", scores)):
            if content is not None:
                (tmp_path / name).write_bytes(content)
        return Run(
            tmp_path,
            capsys,
            "evaluate",
            "--data",
            str(tmp_path / "data.jsonl"),
            "--scores",
            str(tmp_path / "scores.jsonl"),
            "--resamples",
            "100",
            "--json",
            str(tmp_path / "out.json"),
            *options,
        )

    return run


def test_good_input_is_evaluated(evaluate: Callable[..., Run], tmp_path: Path) -> None:
    run = evaluate(as_bytes(ROWS), as_bytes(SCORES))
    assert run.code == 0, run.error
    assert json.loads((tmp_path / "out.json").read_text())["rows"][0]["pairs"] == 3


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (SCORES[:-1], ["scores.jsonl: item 'i2D': no score for this item", "--allow-missing"]),
        ([*SCORES, SCORES[0]], ["scores.jsonl:10: item 'i0A': this item is scored twice"]),
        ([*SCORES, {"item_id": "x", "score": 1}],
         ["scores.jsonl:10: item 'x': the data has no such item. "]),
        ([{"item_id": "x", "score": 1}, *SCORES, {"item_id": "y", "score": 1}],
         ["scores.jsonl:1: item 'x': the data has no such item, nor 1 further one. "]),
        (change(SCORES, 4, score=float("nan")), ["scores.jsonl:5: item 'i1B'", "'NaN', not a"]),
        (change(SCORES, 4, score=float("inf")), ["scores.jsonl:5: item 'i1B'", "'Infinity'"]),
        ([b'{"item_id":"i0A","score":1e999}'], ["scores.jsonl:1: item 'i0A'", "'1E+999'"]),
        (change(SCORES, 4, score="0.5"), ["scores.jsonl:5: item 'i1B': the score is '\"0.5\"'"]),
        (change(SCORES, 4, score=True), ["scores.jsonl:5: item 'i1B': the score is 'true'"]),
        (change(SCORES, 4, score=None), ["scores.jsonl:5: item 'i1B': the score is 'null'"]),
        ([*SCORES[:3], b'{"item_id": "i1A", "sco', *SCORES[4:]], ["scores.jsonl:4: not JSON"]),
        ([*SCORES[:3], b"[]", *SCORES[4:]], ["scores.jsonl:4: not a JSON object but an array"]),
        ([b'{"item_id":"caf\xe9","score":1}'], ["scores.jsonl:1: not UTF-8 text (byte 0xe9"]),
        ([], ["scores.jsonl: is empty"]),
        (ROWS, ["scores.jsonl:1: item 'i0A': has no score", "give it as --data"]),
    ],
)  # fmt: skip
def test_scores(evaluate: Callable[..., Run], scores: list[Any], said: list[str]) -> None:
    evaluate(as_bytes(ROWS), as_bytes(scores)).check(*said)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[:-1], ["data.jsonl:7: item 'i2A': pair 'p2', variant 'real', has no cell D"]),
        (change(ROWS, 3, passages=[]), ["data.jsonl:4: item 'i1A': column passages"]),
        (change(ROWS, 3, passages=["a", 5]), ["data.jsonl:4: item 'i1A': column passages"]),
        (change(ROWS, 3, later_support=2), ["data.jsonl:4: item 'i1A': column later_support"]),
        (change(ROWS, 3, cell="Z"), ["data.jsonl:4: item 'i1A': column cell should be one of"]),
        (
            change(ROWS, 3, item_id="i0A"),
            ["data.jsonl:4: item 'i0A': this item_id stands twice, first on line 1"],
        ),
        (change(ROWS, 3, pair_id="p0"), ["data.jsonl:4: item 'i1A': cell A of pair 'p0'"]),
        ([*ROWS[:3], b'{"item_id": "i1A", '], ["data.jsonl:4: not JSON"]),
        ([*ROWS[:3], b'{"item_id": "caf\xe9"}'], ["data.jsonl:4: not UTF-8"]),
        (SCORES, ["data.jsonl:1: item 'i0A': column pair_id is missing"]),
    ],
)
def test_data(evaluate: Callable[..., Run], rows: list[Any], said: list[str]) -> None:
    evaluate(as_bytes(rows), as_bytes(SCORES)).check(*said)


def test_missing_scores(evaluate: Callable[..., Run]) -> None:
    evaluate(as_bytes(ROWS), None).check("scores.jsonl: no such file")


def test_missing_data(evaluate: Callable[..., Run]) -> None:
    evaluate(None, as_bytes(SCORES)).check("data.jsonl: no such file")


def test_gzip(evaluate: Callable[..., Run]) -> None:
    packed = gzip.compress(as_bytes(ROWS * 1))
    evaluate(packed[:-20], as_bytes(SCORES)).check("data.jsonl:", "gzip data ends early")
    evaluate(packed[:-6] + b"\0" + packed[-5:], as_bytes(SCORES)).check("gzip data is corrupt")
    broken = gzip.compress(as_bytes(SCORES))[:-10]
    evaluate(as_bytes(ROWS), broken).check("scores.jsonl:", "gzip data ends early")


def test_a_100_mb_line(evaluate: Callable[..., Run]) -> None:
    long = b'{"item_id":"' + b"x" * 100_000_000 + b'","score":1}'
    evaluate(as_bytes(ROWS), as_bytes([*SCORES, long])).check(
        "scores.jsonl:10: the line is longer than 64 MiB"
    )


def test_exclusion_of_a_column_that_is_not_there(evaluate: Callable[..., Run]) -> None:
    run = evaluate(as_bytes(ROWS), as_bytes(SCORES), "--exclude-column", "cb_70b")
    run.check("data.jsonl: no row has the column cb_70b")


@pytest.fixture
def build(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def run(source: str, content: bytes, out: Path | None = None) -> Run:
        (tmp_path / "input.jsonl").write_bytes(content)
        return Run(
            tmp_path,
            capsys,
            *("build", "--source", source, str(tmp_path / "input.jsonl")),
            *("--out", str(out or tmp_path / "out.jsonl.gz")),
        )

    return run


MUSIQUE = {
    "id": "2hop__1",
    "paragraphs": [
        {"idx": 0, "title": "Arrival", "paragraph_text": "By Denis."},
        {"idx": 1, "title": "Denis", "paragraph_text": "Born in Gentilly."},
    ],
    "question": "Where was the director of Arrival born?",
    "question_decomposition": [
        {"question": "Arrival >> director", "answer": "Denis", "paragraph_support_idx": 0},
        {"question": "where was #1 born", "answer": "Gentilly", "paragraph_support_idx": 7},
    ],
    "answer": "Gentilly",
    "answerable": True,
}


def test_building_from_faulty_records(build: Callable[..., Run]) -> None:
    build("musique", as_bytes([MUSIQUE])).check(
        "input.jsonl:1: item '2hop__1': paragraph_support_idx 7 of step 2"
    )
    build("twowiki", as_bytes([MUSIQUE])).check(
        "input.jsonl:1: not a record of twowiki but one of musique", "--source musique"
    )
    build("musique", b'{"id": ').check("input.jsonl:1: not JSON")
    build("musique", gzip.compress(as_bytes([MUSIQUE]))[:-9]).check("gzip data ends early")
    build("documents", as_bytes([{"question": "?", "bridge": "b"}])).check("input.jsonl:1: ")
    build("nothing", as_bytes([MUSIQUE])).check("there is no source 'nothing'")


@pytest.mark.skipif(not DATA.is_dir(), reason="the real records (../shared/data) are not here")
def test_real_musique_given_as_2wiki(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    musique, out = str(DATA / "musique_ans_dev.jsonl"), str(tmp_path / "out.jsonl")
    run = Run(tmp_path, capsys, "build", "--source", "2wiki", musique, "--out", out)
    run.check("musique_ans_dev.jsonl:1: ", "one of musique", "Read it with --source musique")


@pytest.mark.parametrize("out", ["none/out.jsonl", "input.jsonl/out.jsonl", "."])
def test_outputs_that_cannot_be_written(
    build: Callable[..., Run], tmp_path: Path, out: str
) -> None:
    build("musique", as_bytes([MUSIQUE]), tmp_path / out).check("cannot write")


@pytest.mark.parametrize("option", ["--json", "--plot"])
def test_results_that_cannot_be_written(
    evaluate: Callable[..., Run], tmp_path: Path, option: str
) -> None:
    path = tmp_path / "none" / "out.svg"
    evaluate(as_bytes(ROWS), as_bytes(SCORES), option, str(path)).check(f"{path}: cannot write")


class TestScoring:
    """The score command writes its file whole or not at all."""

    @staticmethod
    def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: list[Any]) -> Run:
        (tmp_path / "data.jsonl").write_bytes(as_bytes(rows))
        data, out = str(tmp_path / "data.jsonl"), str(tmp_path / "out.jsonl.gz")
        return Run(tmp_path, capsys, "score", "--data", data, "--judge", "lexical", "--out", out)

    def test_a_fault_in_the_last_row(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.run(tmp_path, capsys, ROWS).code == 0
        old = (tmp_path / "out.jsonl.gz").read_bytes()
        for row in (change(ROWS, 8, passages=["a", None]), change(ROWS, 8, later_support=9)):
            self.run(tmp_path, capsys, row).check("data.jsonl:9: item 'i2D': column ")
            assert (tmp_path / "out.jsonl.gz").read_bytes() == old

    def test_a_full_disk(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        if os.geteuid() != 0 or shutil.which("mount") is None:
            pytest.skip("mounting a small disk needs root")
        disk = tmp_path / "disk"
        disk.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            pytest.skip("a small disk cannot be mounted here")
        try:
            rows = [row for number in range(3000) for row in triplet(number)]
            (tmp_path / "data.jsonl").write_bytes(as_bytes(rows))
            data, out = str(tmp_path / "data.jsonl"), str(disk / "out.jsonl")
            run = Run(disk, capsys, "score", "--data", data, "--judge", "lexical", "--out", out)
            run.check(f"{out}: cannot write: No space left on device")
        finally:
            subprocess.run(["umount", disk], check=True)

    def test_ctrl_c(self, tmp_path: Path) -> None:
        rows = [row for number in range(40_000) for row in triplet(number)]
        (tmp_path / "data.jsonl").write_bytes(as_bytes(rows))
        (tmp_path / "out.jsonl").write_bytes(b"old")
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "chaincheck", "score", "--judge", "lexical"),
                *("--data", str(tmp_path / "data.jsonl"), "--out", str(tmp_path / "out.jsonl")),
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".out.jsonl.*.part")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 130, error
        assert "Traceback" not in error
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data.jsonl", "out.jsonl"]
        assert (tmp_path / "out.jsonl").read_bytes() == b"old"
