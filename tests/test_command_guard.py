"""Around every command: one line for a failure, whatever the output is, and a clean stop."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from chaincheck.cli import command, main
from chaincheck.cli_options import INPUT, OUTPUT

PROGRAM = (sys.executable, "-m", "chaincheck")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small inputs of every command."""
    folder = tmp_path_factory.mktemp("files")
    rows: list[dict[str, object]] = [
        {
            "item_id": f"{n}{cell}", "pair_id": f"p{n}", "variant": "real", "cell": cell,
            "query": f"question {n}?", "passages": ["one Ann", f"two {cell}"], "answer": "two",
        }
        for n in range(12)
        for cell in "ABD"
    ]  # fmt: skip
    tables: dict[str, list[dict[str, object]]] = {
        "data": rows,
        "scores": [{"item_id": row["item_id"], "score": k % 5} for k, row in enumerate(rows)],
        "answers": [{"pair_id": f"p{n}", "correct": n == 3} for n in range(12)],
    }
    for name, lines in tables.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text)
    return folder


PRINTING = [
    "--help",
    "--version",
    "evaluate --help",
    "evaluate --data data.jsonl --scores scores.jsonl",
    "evaluate --data data.jsonl --scores scores.jsonl --json -",
    "build --source facts --limit 30 --variants real --out built.jsonl",
    "score --data data.jsonl --judge lexical --out lexical.jsonl",
    "shortcuts --data data.jsonl",
    "compare --data data.jsonl --scores scores.jsonl --against scores.jsonl",
    "noise --data data.jsonl --scores scores.jsonl --rescores scores.jsonl",
    "power --sigma 0.2",
    "closed-book --data data.jsonl --answers answers.jsonl --out marked.jsonl",
]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("line", "buffered"), [*((line, "") for line in PRINTING), (PRINTING[0], "1")]
)
def test_standard_output_on_a_full_disk(files: Path, line: str, buffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, *line.split()],
            cwd=files,
            env=os.environ | {"PYTHONUNBUFFERED": buffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2, done.stderr
    assert done.stderr == (
        "chaincheck: error: standard output: cannot write: No space left on device\n"
    )


@pytest.mark.parametrize("line", [PRINTING[2], PRINTING[4]])
def test_a_reader_that_went_away_is_no_error(files: Path, line: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*PROGRAM, *line.split()], cwd=files, stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_standard_error_changes_no_exit_code(files: Path) -> None:
    with Path("/dev/full").open("w") as full:
        for line, code in (("evaluate --data no --scores no", 2), ("evaluate --what", 2)):
            done = subprocess.run([*PROGRAM, *line.split()], cwd=files, stderr=full, check=False)
            assert done.returncode == code


def test_files_do_not_appear_where_the_result_cannot_be_printed(files: Path) -> None:
    line = "evaluate --data data.jsonl --scores scores.jsonl --json o.json --plot o.svg"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, *line.split()], cwd=files, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert not (files / "o.json").exists()
    assert not (files / "o.svg").exists()


def test_what_an_encoding_lacks_is_escaped(files: Path) -> None:
    odd = files / os.fsdecode(b"d\xff\xc3\xa9.jsonl")
    odd.write_bytes((files / "data.jsonl").read_bytes())
    for more in ([], ["--json", "-"], ["--json", "odd.json", "--plot", "odd.svg"]):
        done = subprocess.run(
            [*PROGRAM, "evaluate", "--data", str(odd), "--scores", "scores.jsonl", *more],
            cwd=files,
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == b""
    assert json.loads((files / "odd.json").read_text())["rows"]


def _paths() -> Iterator[tuple[str, click.Parameter]]:
    for name, one in command.commands.items():
        group = getattr(one, "commands", {name: one})
        for inner, found in group.items():
            for parameter in found.params:
                if parameter.type.name == "path" or isinstance(parameter.type, click.Path):
                    yield (name if found is one else f"{name} {inner}"), parameter


@pytest.mark.parametrize(
    ("name", "parameter"), [pytest.param(*one, id=f"{one[0]} {one[1].name}") for one in _paths()]
)
def test_no_path_may_be_empty(
    name: str, parameter: click.Parameter, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of whatever command and option: an empty path is a variable that was not set."""
    given = [parameter.opts[0]] if isinstance(parameter, click.Option) else []
    for value in ("", "  "):
        assert main([*name.split(), *given, value]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert "a path cannot be empty" in err
    if parameter.type in (INPUT, OUTPUT):
        assert main([*name.split(), *given, "-"]) == 2
        assert "- is no path here; name /dev/std" in capsys.readouterr().err
    else:
        assert parameter.name == "json_path"


def test_output_to_stdout_is_alone_there(files: Path) -> None:
    for line in (PRINTING[5], PRINTING[6], PRINTING[11]):
        words = [*line.split()[:-1], "/dev/stdout"]
        done = subprocess.run([*PROGRAM, *words], cwd=files, capture_output=True, check=True)
        assert [json.loads(row)["item_id"] for row in done.stdout.splitlines()]
        assert done.stderr


class TestStopping:
    """SIGTERM and SIGHUP leave as little behind as Ctrl-C does."""

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_while_writing(self, tmp_path: Path, number: signal.Signals) -> None:
        rows = [
            {
                "item_id": f"{n}{cell}", "pair_id": f"p{n}", "variant": "real", "cell": cell,
                "query": "?", "passages": ["one"],
            }
            for n in range(40_000)
            for cell in "ABD"
        ]  # fmt: skip
        (tmp_path / "data").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (tmp_path / "out").write_bytes(b"old")
        line = "score --data data --judge lexical --out out"
        # Tests that run under nohup would hand down that a request to hang up is ignored.
        before = signal.signal(number, signal.SIG_DFL)
        try:
            process = subprocess.Popen(
                [*PROGRAM, *line.split()], cwd=tmp_path, stderr=subprocess.PIPE, text=True
            )
        finally:
            signal.signal(number, before)
        deadline = time.monotonic() + 30
        while not list(tmp_path.glob(".out.*.part")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(number)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 128 + number, error
        assert error.strip().count("\n") == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "out"]
        assert (tmp_path / "out").read_bytes() == b"old"

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    @pytest.mark.parametrize("after", [0, 1])
    def test_while_a_notebook_runs(
        self, tmp_path: Path, number: signal.Signals, after: int
    ) -> None:
        pytest.importorskip("papermill")
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        marker = tmp_path / "started"
        (tmp_path / "n.md").write_text(
            "---\nx: 1\n---\n\n```{code-cell}\nimport os, time, pathlib\n"
            f"pathlib.Path({str(marker)!r}).write_text(str(os.getpid()))\ntime.sleep(60)\n```\n"
        )
        # A notebook that went before must not take the handler away.
        (tmp_path / "m.md").write_text("---\nx: 1\n---\n\n```{code-cell}\n1\n```\n")
        code = (
            "import sys; from pathlib import Path\n"
            "from chaincheck.command_guard import guarded\n"
            "from chaincheck.notebook import run_notebook\n"
            "def run():\n"
            f"    for name in {['m', 'n'][1 - after :]!r}:\n"
            "        run_notebook(Path(name + '.md'), Path(name + '.ipynb'))\n"
            "sys.exit(guarded(run))\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env=os.environ | {"TMPDIR": str(temporary)},
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while not (marker.exists() and marker.read_text()) and time.monotonic() < deadline:
            assert process.poll() is None, process.stderr and process.stderr.read()
            time.sleep(0.05)
        process.send_signal(number)
        _, error = process.communicate(timeout=40)
        assert process.returncode == 128 + number, error
        assert error.strip().count("\n") == 0, error
        assert not list(temporary.glob("chaincheck-*"))
        assert not (tmp_path / "n.ipynb").exists()
        kernel = int(marker.read_text())
        deadline = time.monotonic() + 10
        while Path(f"/proc/{kernel}").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not Path(f"/proc/{kernel}").exists()


def test_a_shell_can_complete_a_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("COMP_WORDS", "chaincheck eval"), ("COMP_CWORD", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("_CHAINCHECK_COMPLETE", "bash_complete")
    assert main([]) == 0
    assert "plain,evaluate" in capsys.readouterr().out


# What a command reads and may write, each by its option; an argument has none.
CLASHES = {
    "evaluate": (["--data data.jsonl", "--scores scores.jsonl"], ["--json", "--plot"]),
    "shortcuts": (["--data data.jsonl"], ["--json", "--plot"]),
    "score --judge lexical": (["--data data.jsonl"], ["--out"]),
    "compare": (
        ["--data data.jsonl", "--scores scores.jsonl", "--against again.jsonl"],
        ["--json", "--plot"],
    ),
    "noise": (["--data data.jsonl", "--scores scores.jsonl", "--rescores again.jsonl"], ["--json"]),
    "closed-book": (["--data data.jsonl", "--answers answers.jsonl"], ["--out"]),
    "build --source musique": (["data.jsonl"], ["--out", "--test-out", "--report"]),
}


@pytest.mark.parametrize("line", CLASHES)
def test_no_command_writes_over_what_it_reads(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    monkeypatch.chdir(files)
    (files / "again.jsonl").write_bytes((files / "scores.jsonl").read_bytes())
    (files / "link.jsonl").unlink(missing_ok=True)
    inputs, outputs = CLASHES[line]
    words = [word for one in (line, *inputs) for word in one.split()]
    needed = [] if "--out" not in outputs else ["--out", "new.jsonl"]
    for option in outputs:
        more = [] if option == "--out" else needed
        for name in {one.split()[-1] for one in inputs}:
            if line == "closed-book" and name == "data.jsonl":
                continue  # a column may be added in place
            before = (files / name).read_bytes()
            (files / "link.jsonl").symlink_to(name)
            for path in (name, f"./{name}", "link.jsonl"):
                assert main([*words, *more, option, path]) == 2
                assert "this file is read by the same command" in capsys.readouterr().err
                assert (files / name).read_bytes() == before
            (files / "link.jsonl").unlink()
    for one, other in itertools.pairwise(outputs):
        assert main([*words, *needed, one, "same.svg", other, "same.svg"]) == 2
        assert "is also written by the same command" in capsys.readouterr().err
    assert not (files / "new.jsonl").exists()


def test_what_data_holds_cannot_steer_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ids, variants and questions come from a file that somebody else may have made."""
    monkeypatch.chdir(tmp_path)
    steer = "\x1b[31m\x07\r"
    rows = [
        {
            "item_id": f"{n}{cell}{steer}", "pair_id": f"p{n}{steer}", "variant": f"v{steer}",
            "cell": cell, "query": f"q{n}{steer}?", "passages": [f"Ann {steer}", f"two {cell}"],
            "answer": f"two{steer}", "bridge": f"Ann{steer}",
        }
        for n in range(8)
        for cell in "ABD"
    ]  # fmt: skip
    for name, turned in (("scores", 1), ("other", -1)):
        lines = [
            {"item_id": row["item_id"], "score": turned * (k % 3 + k)} for k, row in enumerate(rows)
        ]
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "data").write_text("".join(json.dumps(row) + "\n" for row in rows))
    answers = [{"pair_id": row["pair_id"], "correct": True} for row in rows[::3]]
    (tmp_path / "answers").write_text("".join(json.dumps(line) + "\n" for line in answers))
    for line in (
        "evaluate --data data --scores scores",
        "shortcuts --data data",
        "compare --data data --scores scores --against other",
        "noise --data data --scores scores --rescores other",
        "closed-book --data data --answers answers --out marked",
        "score --data data --judge lexical --out lexical",
        "evaluate --data data --scores answers",
        "closed-book --data marked --answers answers --out again",
    ):
        main(line.split())
        for told in capsys.readouterr():
            assert not {"\x1b", "\x07", "\r"} & set(told), line


@pytest.mark.parametrize(
    ("module", "made", "line"),
    [
        ("record_training", "make_record", "triplet --threads 1 base"),
        ("real_text", "make_record", "folder --threads 1 triplet"),
        ("audit_records", "make_record", "lexical"),
        ("judge_records", "make_records", "smollm2 --out there minilm"),
        ("records", "write_records", "folder"),
    ],
)
def test_a_command_that_makes_records_stops_without_a_traceback(
    module: str,
    made: str,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They run for minutes or hours, so that Ctrl-C and a full disk are to be expected."""
    command_of = importlib.import_module(f"chaincheck.{module}")
    # Whether the model is here is not what this is about.
    monkeypatch.setattr(command_of, "check_before", lambda *given: None, raising=False)
    for raised, code, told in (
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device", "there"), 2, "there: No space left"),
    ):

        def stops(*given: object, raised: BaseException = raised, **named: object) -> None:
            raise raised

        monkeypatch.setattr(command_of, made, stops)
        assert command_of.main(line.split()) == code
        error = capsys.readouterr().err
        assert error.startswith("chaincheck: ")
        assert told in error
        assert error.count("\n") == 1
