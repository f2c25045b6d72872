"""Inputs that can be read once only give the same as files do."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaincheck.errors import UnreadableFile
from chaincheck.jsonl import read_lines, read_objects
from chaincheck.pipes import check_rereadable, keep_pipes

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@contextlib.contextmanager
def piped(data: bytes, piece: int = 1 << 16) -> Iterator[str]:
    """A pipe into which ``data`` is written, ``piece`` bytes at a time."""
    reading, writing = os.pipe()

    def write() -> None:
        with contextlib.suppress(OSError), os.fdopen(writing, "wb", buffering=0) as file:
            for start in range(0, len(data), piece):
                file.write(data[start : start + piece])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield f"/dev/fd/{reading}"
    finally:
        os.close(reading)
        writer.join()


ROWS = [{"n": n, "text": "x" * 50} for n in range(3_000)]
LINES = b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)
LAYOUTS = {
    "lines": LINES,
    "blank lines first": b"\n \r\n" + LINES,
    "array": json.dumps(ROWS).encode(),
    "indented array": b"\n" + json.dumps(ROWS, indent=1).encode(),
    "packed": gzip.compress(LINES),
    "packed array": gzip.compress(json.dumps(ROWS).encode()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("piece", [1, 7, 1 << 16])
def test_a_pipe_gives_what_a_file_gives(tmp_path: Path, layout: str, piece: int) -> None:
    data = LAYOUTS[layout]
    (tmp_path / "file").write_bytes(data)
    with piped(data, piece) as path:
        assert list(read_objects(path)) == list(read_objects(tmp_path / "file"))


def test_a_kept_pipe_can_be_read_as_often_as_a_file() -> None:
    with piped(LINES) as path, keep_pipes(), keep_pipes():
        assert next(read_lines(path))[0] == 1  # given up after its first line
        for _ in range(2):
            assert [row for _, row in read_objects(path)] == ROWS
        one, other = read_objects(path), read_objects(path)
        assert [row for pair in zip(one, other, strict=True) for _, row in pair][::2] == ROWS


def test_a_pipe_is_kept_no_longer_than_asked() -> None:
    for number in range(3):
        with piped(b'{"n":%d}\n' % number) as path, keep_pipes():
            assert list(read_objects(path)) == [(1, {"n": number})]


def test_what_must_be_read_twice_is_no_pipe_that_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(LINES)
    check_rereadable(tmp_path / "file")
    check_rereadable(tmp_path / "nothing")
    with piped(b"") as path:
        with keep_pipes():
            check_rereadable(path)
        with pytest.raises(UnreadableFile, match="is a pipe, and is read more than once"):
            check_rereadable(path)


def chaincheck(*arguments: str, stdin: bytes, folder: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "chaincheck", *arguments],
        input=stdin,
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


@pytest.mark.skipif(not DATA.is_dir(), reason="the real records (../shared/data) are not here")
@pytest.mark.parametrize(
    ("source", "name"), [("musique", "musique_ans_dev.jsonl"), ("twowiki", "twowiki_dev.jsonl")]
)
def test_building_from_a_pipe_builds_the_same(tmp_path: Path, source: str, name: str) -> None:
    rows = [raw for _, (_, raw) in zip(range(40), read_lines(DATA / name), strict=False)]
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(rows))
    array = b"[" + b",\n".join(rows) + b"]"
    common = ("build", "--source", source, "--variants", "real,fict", "--out")
    told = chaincheck(*common, "file", "in.jsonl", stdin=b"", folder=tmp_path)
    assert told.returncode == 0, told.stderr
    for stdin in (b"\n".join(rows), gzip.compress(array)):
        again = chaincheck(*common, "pipe", "/dev/stdin", stdin=stdin, folder=tmp_path)
        assert (again.returncode, again.stdout) == (0, told.stdout), again.stderr
        assert (tmp_path / "pipe").read_bytes() == (tmp_path / "file").read_bytes()


class TestMeasuring:
    """Every input of the commands that measure may be a pipe."""

    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        rows = [
            {
                "item_id": f"{n}{cell}", "pair_id": f"p{n}", "variant": "real", "cell": cell,
                "query": f"question {n}?", "passages": ["one Ann", f"two {cell}"],
            }
            for n in range(20)
            for cell in "ABD"
        ]  # fmt: skip
        scores = [{"item_id": row["item_id"], "score": k % 5} for k, row in enumerate(rows)]
        for name, lines in (("data", rows), ("scores", scores)):
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (tmp_path / f"{name}.jsonl").write_text(text)
        return tmp_path

    @pytest.mark.parametrize(
        ("command", "piped"),
        [
            ("evaluate --scores scores.jsonl --data data.jsonl", "data.jsonl"),
            ("evaluate --scores scores.jsonl --data data.jsonl", "scores.jsonl"),
            ("score --judge lexical --out out.jsonl --data data.jsonl", "data.jsonl"),
            ("shortcuts --data data.jsonl", "data.jsonl"),
            ("compare --scores scores.jsonl --against other.jsonl --data data.jsonl", "data.jsonl"),
        ],
    )
    def test_the_same_as_from_a_file(self, files: Path, command: str, piped: str) -> None:
        score = "score --judge lexical --out other.jsonl --data data.jsonl"
        assert chaincheck(*score.split(), stdin=b"", folder=files).returncode == 0
        expected = chaincheck(*command.split(), stdin=b"", folder=files)
        assert expected.returncode == 0, expected.stderr
        arguments = command.replace(piped, "/dev/stdin").split()
        found = chaincheck(*arguments, stdin=(files / piped).read_bytes(), folder=files)
        assert found.returncode == 0, found.stderr
        name = Path(piped).name
        same, other = (
            [word for word in told.replace(name, "stdin").split() if not word.startswith("--")]
            for told in (found.stdout, expected.stdout)
        )
        assert same == other

    def test_one_pipe_for_two_inputs(self, files: Path) -> None:
        data = (files / "data.jsonl").read_bytes()
        arguments = ["evaluate", "--data", "/dev/stdin", "--scores", "/dev/stdin"]
        found = chaincheck(*arguments, stdin=data, folder=files)
        assert found.returncode == 2
        assert found.stderr.count("\n") == 1
        assert "/dev/stdin" in found.stderr
