"""The command line as its users meet it: exit codes, one clear line, nothing half-written."""

from __future__ import annotations

import gzip
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from chaincheck.cli import command, main
from chaincheck.sources import SOURCES

ROOT = Path(__file__).resolve().parents[1]


def row(pair: str, cell: str, variant: str = "real", **more: object) -> dict[str, object]:
    return {
        "item_id": f"{pair}-{variant}-{cell}",
        "pair_id": pair,
        "variant": variant,
        "cell": cell,
        "query": f"question {pair}?",
        "passages": ["one", "two"],
        **more,
    }


def write(path: Path, rows: list[dict[str, object]]) -> Path:
    text = "".join(json.dumps(one) + "\n" for one in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    rows = [
        row(f"p{k}", cell, variant, cb_27b_correct=k == 0, bridge=f"bridge {k // 2}")
        for k in range(6)
        for variant in ("real", "fict")
        for cell in "ABD"
    ]
    value = {"A": 3.0, "B": 2.0, "D": 1.0}
    scores = [{"item_id": one["item_id"], "score": value[str(one["cell"])]} for one in rows]
    return write(tmp_path / "kit.jsonl.gz", rows), write(tmp_path / "mine.jsonl", scores)


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that must be refused: exit 2 and one line on stderr."""
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("chaincheck: error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    return err


def test_the_published_command_line_prints_one_row_a_variant(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, scores = files
    out, plot = tmp_path / "out.json", tmp_path / "out.svg"
    arguments = ["evaluate", "--data", str(data), "--scores", str(scores), "--exclude-cb27b"]
    assert main([*arguments, "--json", str(out), "--plot", str(plot)]) == 0
    shown = capsys.readouterr().out
    assert sum(line.startswith("kit.jsonl.gz") for line in shown.splitlines()) == 2
    assert "dropped 2 triplets: cb_27b_correct is true" in shown
    result = json.loads(out.read_text())
    assert result["signature"] in shown
    assert [one["variant"] for one in result["rows"]] == ["real", "fict"]
    for one in result["rows"]:
        assert one["pairs"] == 5
        assert (one["nominal"], one["chain_effect"], one["edit_effect"]) == (1.0, 0.5, 0.5)
        assert one["selectivity"] == 0.0
        assert set(one["ties"]) == {"A>D", "B>D", "A>B"}
        assert set(one["kit_ci95"]) == {"nominal", "chain_effect", "edit_effect", "selectivity"}
        assert len(one["contrast_ci95"]) == 2
        assert "mde80" in one
    assert plot.read_text().startswith("<?xml")


def test_json_on_stdout_is_json_alone(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    data, scores = files
    assert main(["evaluate", "--data", str(data), "--scores", str(scores), "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"]


def test_a_file_name_is_no_formula(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, scores = files
    odd, plot = data.rename(tmp_path / "d$\\frac$.jsonl.gz"), tmp_path / "o.svg"
    assert main(["evaluate", "--data", str(odd), "--scores", str(scores), "--plot", str(plot)]) == 0
    assert plot.exists()


@pytest.mark.parametrize("cluster", ["triplet", "question", "bridge"])
def test_clusters_are_resampled_by_name(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    data, scores = files
    arguments = ["evaluate", "--data", str(data), "--scores", str(scores), "--json", "-"]
    assert main([*arguments, "--cluster", cluster]) == 0
    units = {"triplet": 6, "question": 6, "bridge": 3}[cluster]
    result = json.loads(capsys.readouterr().out)
    assert {one["units"] for one in result["rows"]} == {units}
    assert f"by {cluster}" in result["signature"]


def test_clustering_by_a_bridge_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row("p", cell) for cell in "ABD"]
    data = write(tmp_path / "d.jsonl", rows)
    scores = write(tmp_path / "s.jsonl", [{"item_id": r["item_id"], "score": 1} for r in rows])
    command_line = ["evaluate", "--data", str(data), "--scores", str(scores)]
    assert "no bridge" in refused([*command_line, "--cluster", "bridge"], capsys)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"item_id": "p0-real-A", "score": NaN}', "NaN"),
        ('{"item_id": "p0-real-A", "score": 1e999}', "not a finite number"),
        ('{"item_id": "p0-real-A", "score": "0.5"}', "not a finite number"),
        ('{"item_id": "p0-real-A", "score": true}', "not a finite number"),
        ('{"item_id": "p0-real-A", "score": null}', "not a finite number"),
        ('{"item_id": "p1-real-A", "score": 1}', "scored twice"),
        ('{"item_id": "nobody", "score": 1}', "no such item"),
        ('{"item_id": "p0-real-A", "score"', "mine.jsonl:1"),
    ],
)
def test_a_bad_score_names_file_line_and_item(
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    line: str,
    says: str,
) -> None:
    data, scores = files
    lines = scores.read_text().splitlines()
    kept = lines if "nobody" in line else lines[1:]
    scores.write_text("\n".join([line, *kept]) + "\n")
    out = tmp_path / "out.json"
    message = refused(
        ["evaluate", "--data", str(data), "--scores", str(scores), "--json", str(out)], capsys
    )
    assert says in message
    assert "mine.jsonl" in message
    assert not out.exists()


def test_a_missing_score_is_refused_or_dropped_by_name(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    data, scores = files
    scores.write_text("\n".join(scores.read_text().splitlines()[1:]) + "\n")
    arguments = ["evaluate", "--data", str(data), "--scores", str(scores)]
    assert "p0-real-A" in refused(arguments, capsys)
    assert main([*arguments, "--allow-missing"]) == 0
    assert "dropped 1 triplets: a score is missing" in capsys.readouterr().out


def test_truncated_gzip_is_refused(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    data, scores = files
    data.write_bytes(data.read_bytes()[:-20])
    message = refused(["evaluate", "--data", str(data), "--scores", str(scores)], capsys)
    assert "kit.jsonl.gz" in message


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "--data", "{data}", "--judge", "lexical", "--out", "{none}/s.jsonl"],
        ["evaluate", "--data", "{data}", "--scores", "{scores}", "--json", "{none}/o.json"],
        ["evaluate", "--data", "{data}", "--scores", "{scores}", "--plot", "{none}/o.svg"],
        ["evaluate", "--data", "{data}", "--scores", "{scores}", "--plot", "{tmp}/o.bmp"],
        ["evaluate", "--data", "{none}", "--scores", "{scores}"],
        ["evaluate", "--data", "{tmp}", "--scores", "{scores}"],
        ["score", "--data", "{data}", "--judge", "lexicl", "--out", "{tmp}/s.jsonl"],
        ["build", "--source", "musiqe", "{data}", "--out", "{tmp}/t.jsonl"],
        ["build", "--source", "musique", "--out", "{tmp}/t.jsonl"],
        ["build", "--source", "musique", "{data}", "--out", "{tmp}/t.jsonl"],
        ["build", "--source", "facts", "--out", "{tmp}/t.jsonl", "--variants", "reel"],
        ["build", "--source", "facts", "--out", "{tmp}/t.jsonl", "--cells", "A,B"],
        ["build", "--source", "facts", "--out", "{none}/t.jsonl"],
        ["build", "--source", "facts", "--out", "{tmp}/t.jsonl", "--report", "{none}/r.json"],
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_nothing(
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
) -> None:
    data, scores = files
    before = sorted(tmp_path.iterdir())
    names = {"data": data, "scores": scores, "none": tmp_path / "none", "tmp": tmp_path}
    refused([part.format(**names) for part in arguments], capsys)
    assert sorted(tmp_path.iterdir()) == before


def test_usage_errors_exit_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["evaluate"], ["evalute"], ["evaluate", "--resamples", "many"]):
        assert " --help" in refused(arguments, capsys)
    assert main([]) == 2
    assert "Usage" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", *sorted(command.commands)])
def test_every_command_has_help_with_examples(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*name.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Usage" in shown
    if name:
        assert f"chaincheck {name} " in shown or name == "book"
        assert "Examples:" in shown


def test_build_score_evaluate_from_the_shell(tmp_path: Path) -> None:
    def shell(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "chaincheck", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    build = ("build", "--source", "facts", "--limit", "40", "--out")
    shell(*build, "t.jsonl.gz", "--report", "r.json", "--cells", "A,B,D,C")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["records"] == 40
    assert set(report["triplets"]) == {"real", "fict", "decoy"}
    shell(*build, "again.jsonl.gz", "--cells", "A,B,D,C")
    assert (tmp_path / "again.jsonl.gz").read_bytes() == (tmp_path / "t.jsonl.gz").read_bytes()
    shell(*build, "other.jsonl.gz", "--cells", "A,B,D,C", "--seed", "1")
    assert (tmp_path / "other.jsonl.gz").read_bytes() != (tmp_path / "t.jsonl.gz").read_bytes()
    told = json.loads(
        shell("score", "--data", "t.jsonl.gz", "--judge", "lexical", "--out", "s.jsonl", "--json")
    )
    assert told["items"] == len((tmp_path / "s.jsonl").read_text().splitlines())
    result = json.loads(
        shell("evaluate", "--data", "t.jsonl.gz", "--scores", "s.jsonl", "--json", "-")
    )
    assert all("fourth_cell" in one for one in result["rows"])


def test_a_log_is_recorded_once_and_replayed_by_whom_it_was(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    data, _ = files
    log, live, again = (tmp_path / name for name in ("log.jsonl", "live.jsonl", "again.jsonl"))
    score = ["score", "--data", str(data)]
    replay = [*score, "--log", str(log), "--out"]
    missing = refused([*replay, str(again)], capsys)
    assert "log.jsonl" in missing
    assert main([*replay, str(live), "--judge", "length", "--live"]) == 0
    assert main([*replay, str(again)]) == 0
    assert again.read_bytes() == live.read_bytes()
    assert "length" in capsys.readouterr().out
    assert main([*replay, str(again), "--judge", "lexical"]) == 3
    assert "log.jsonl:1" in capsys.readouterr().err
    assert "--judge" in refused([*score, "--out", str(again)], capsys)
    assert "--log" in refused([*score, "--judge", "length", "--live", "--out", str(again)], capsys)


def test_evaluate_loads_neither_torch_nor_matplotlib(files: tuple[Path, Path]) -> None:
    data, scores = files
    heavy = ("torch", "matplotlib", "pandas", "transformers", "seaborn", "chaincheck.triplets")
    code = (
        "import sys; from chaincheck.cli import main; "
        f"assert main({['evaluate', '--data', str(data), '--scores', str(scores)]!r}) == 0; "
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_interrupting_a_build_leaves_nothing(tmp_path: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-m", "chaincheck", "build", "--source", "facts", "--out", "t.jsonl"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not any(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)  # the temporary output is there: the build has begun
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
    assert not any(tmp_path.iterdir())


def test_a_figure_without_the_packages_for_it_is_refused_in_one_line(
    files: tuple[Path, Path], tmp_path: Path
) -> None:
    data, scores = files
    arguments = ["evaluate", "--data", str(data), "--scores", str(scores), "--plot", "x.svg"]
    code = (
        "import sys; sys.modules['matplotlib'] = None; "
        f"from chaincheck.cli import main; sys.exit(main({arguments!r}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "chaincheck-book[plot]" in done.stderr


def test_a_build_that_gives_nothing_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {
            "question": "What is the color of the thing beside Blop?",
            "answer": "green",
            "passages": ["Blop lies beside Zam.", "Zam is green."],
            "bridge": "Zam",
            "earlier_support": 0,
            "later_support": 1,
        }
    ]
    mine = write(tmp_path / "mine.jsonl", rows)
    out = str(tmp_path / "t.jsonl")
    assert main(["build", "--source", "documents", str(mine), "--out", out]) == 1
    assert "no fict triplet: most often since" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["evaluate", "--data", "{data}", "--scores", "{scores}", "--json", "{scores}"],
        ["evaluate", "--data", "{data}", "--scores", "{scores}", "--json", "{data}"],
        ["evaluate", "--data", "{data}", "--scores", "{scores}", "--plot", "{link}"],
        [
            "evaluate",
            "--data",
            "{data}",
            "--scores",
            "{scores}",
            "--json",
            "{tmp}/x.svg",
            "--plot",
            "{tmp}/x.svg",
        ],
        ["score", "--data", "{data}", "--judge", "length", "--out", "{data}"],
        [
            "score",
            "--data",
            "{data}",
            "--judge",
            "length",
            "--out",
            "{scores}",
            "--log",
            "{scores}",
        ],
        ["build", "--source", "documents", "{data}", "--out", "{data}"],
        ["build", "--source", "facts", "--out", "{tmp}/t", "--report", "{tmp}/t"],
        ["build", "--source", "facts", "--out", "{tmp}/t", "--test-out", "{tmp}/t"],
    ],
)
def test_no_command_writes_over_what_it_reads_or_writes(
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
) -> None:
    data, scores = files
    link = tmp_path / "link.svg"
    link.symlink_to(data)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    names = {"data": data, "scores": scores, "link": link, "tmp": tmp_path}
    assert "by the same command" in refused([part.format(**names) for part in arguments], capsys)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("bridge", ["!!!", "’", "\u200b", "C++ (band)", "*NSYNC"])
def test_a_bridge_of_marks_is_rejected_and_nothing_else_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bridge: str
) -> None:
    def one(name: str) -> dict[str, object]:
        return {
            "question": "In which town was the painter of Low Tide born?",
            "answer": "Bergen",
            "passages": [f"Low Tide is a picture by {name}.", f"{name} was born in Bergen."],
            "bridge": name,
            "earlier_support": 0,
            "later_support": 1,
            "kind": "person",
            "pronoun": "she",
        }

    mine = write(tmp_path / "mine.jsonl", [one(bridge), one("Greta Holm")])
    out = tmp_path / "t.jsonl"
    build = ["build", "--source", "documents", str(mine), "--variants", "fict", "--json"]
    assert main([*build, "--out", str(out)]) == 0
    assert json.loads(capsys.readouterr().out)["triplets"] == {"fict": 1}
    assert "Holm" in out.read_text()


@pytest.mark.parametrize("options", [[], ["--json"], ["--test-out", "test.jsonl"]])
def test_a_build_without_a_triplet_fails(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    line = "build --source facts --limit 1 --variants decoy --out out.jsonl --report report.json"
    assert main([*line.split(), *options]) == 1
    out, err = capsys.readouterr()
    assert out.strip(), "the report is printed all the same"
    assert err.count("\n") == 1
    assert "no triplet was built of 1 records: out.jsonl is empty" in err
    assert json.loads((tmp_path / "report.json").read_text())["triplets"] == {"decoy": 0}


def test_the_help_of_build_names_what_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(name in shown for name in SOURCES)
    assert "exit code 1 if the data gave no triplet" in shown
    for one in command.commands.values():
        for parameter in one.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{one.name} {parameter.name} has no description"


def test_one_command_scores_and_measures(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, _ = files
    out = tmp_path / "own.jsonl"
    assert main(["score", "--data", str(data), "--judge", "lexical", "--out", str(out)]) == 0
    assert main(["evaluate", "--data", str(data), "--scores", str(out)]) == 0
    apart = capsys.readouterr().out
    out.unlink()
    command_line = ["score", "--data", str(data), "--judge", "lexical", "--out", str(out)]
    assert main([*command_line, "--evaluate"]) == 0
    assert capsys.readouterr().out == apart


def test_what_keeps_no_scores_cannot_be_measured(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    data, _ = files
    command_line = ["score", "--data", str(data), "--judge", "lexical", "--out", "/dev/null"]
    assert main([*command_line, "--evaluate"]) == 2
    assert "keeps no scores" in capsys.readouterr().err
