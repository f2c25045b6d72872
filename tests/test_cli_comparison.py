"""The commands compare, noise, power and closed-book as their users meet them."""

from __future__ import annotations

import gzip
import json
import random
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaincheck import cli_comparison
from chaincheck.cli import command, main
from chaincheck.closed_book import add_closed_book
from chaincheck.comparison_pipeline import compare_files, noise_files
from chaincheck.evaluation import evaluate_files
from chaincheck.planning import plan_difference, plan_not_worse, plan_selectivity

COMMANDS = ("compare", "noise", "power", "closed-book")
QUICK = ("--resamples", "100", "--exchanges", "99")
Run = Callable[..., str]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Hold the files of the examples: triplets, scores of several judges, answers."""
    rows: list[dict[str, Any]] = [
        {
            "item_id": f"{variant}-{number}-{cell}",
            "pair_id": f"{variant}-{number}",
            "variant": variant,
            "cell": cell,
            "query": f"question {number}",
            "passages": ["One.", "Two."],
            "bridge": f"bridge {number // 2}",
            "cb_27b_correct": number == 0,
            "known": number == 1,
        }
        for number in range(12)
        for variant in ("real", "fict")
        for cell in "ABD"
    ]
    write(tmp_path / "t.jsonl", rows)
    for seed, name in enumerate(("mine", "theirs")):
        rng = random.Random(seed)
        shift = {"A": 0.5, "B": 0.0, "D": -1.0}
        scores = [
            {"item_id": one["item_id"], "score": shift[one["cell"]] + rng.gauss(0, 1)}
            for one in rows
        ]
        write(tmp_path / f"{name}.jsonl", scores)
    queries = dict.fromkeys(one["query"] for one in rows)
    answers: list[dict[str, Any]] = [
        {"query": query, "score": k / 12} for k, query in enumerate(queries)
    ]
    write(tmp_path / "scored.jsonl", answers)
    write(
        tmp_path / "answers.jsonl",
        [{"query": one["query"], "correct": one["score"] > 0.5} for one in answers],
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command that must succeed and say nothing on stderr; return what it prints."""

    def command_line(*arguments: str) -> str:
        assert main(arguments) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return command_line


def lines_of(name: str) -> list[str]:
    epilog = command.commands[name].epilog
    assert epilog is not None
    return [line.strip() for line in epilog.splitlines() if line.strip().startswith("chaincheck ")]


@pytest.mark.parametrize("line", [line for name in COMMANDS for line in lines_of(name)])
def test_every_example_runs(run: Run, folder: Path, line: str) -> None:
    for copy, name in (
        ("tuned", "mine"),
        ("base", "theirs"),
        ("a", "mine"),
        ("b", "theirs"),
        ("s", "mine"),
        ("batch1", "mine"),
        ("batch32", "theirs"),
        ("fp32", "mine"),
        ("bf16", "theirs"),
    ):
        (folder / f"{copy}.jsonl").write_bytes((folder / f"{name}.jsonl").read_bytes())
    packed = gzip.compress((folder / "t.jsonl").read_bytes())
    (folder / "t.jsonl.gz").write_bytes(packed)
    if "--data marked" in line:
        add_closed_book("t.jsonl.gz", "answers.jsonl", "marked.jsonl.gz")
    program, *arguments = shlex.split(line)
    assert program == "chaincheck"
    assert run(*arguments).strip()
    for flag in ("--out", "--plot", "--json"):
        if flag in arguments[:-1]:
            target = arguments[arguments.index(flag) + 1]
            assert target == "-" or (folder / target).stat().st_size


def test_public_names_are_pinned() -> None:
    assert cli_comparison.__all__ == ["closed_book", "compare", "noise", "power"]
    assert set(COMMANDS) <= set(command.commands)


PAIR = ("compare", "--data", "t.jsonl", "--scores", "mine.jsonl", "--against", "theirs.jsonl")
TWICE = ("noise", "--data", "t.jsonl", "--scores", "mine.jsonl", "--rescores", "theirs.jsonl")
MARK = ("closed-book", "--data", "t.jsonl", "--answers", "answers.jsonl", "--out", "o.jsonl")
SHARED = (
    *("--exclude-cb27b", "--exclude-column", "known", "--cluster", "bridge", "--level", "0.9"),
    *("--resamples", "150", "--seed", "7", "--allow-missing"),
)
SAME: dict[str, Any] = {
    "exclude": ("cb_27b_correct", "known"),
    "cluster": "bridge",
    "level": 0.9,
    "resamples": 150,
    "seed": 7,
    "allow_missing": True,
}


def test_every_shared_option_arrives(run: Run) -> None:
    exchanges = ("--exchanges", "99")
    found = json.loads(run(*PAIR, *SHARED, *exchanges, "--json", "-"))
    one = compare_files(["t.jsonl"], "mine.jsonl", "theirs.jsonl", exchanges=99, **SAME)
    assert found == json.loads(one.to_json())
    assert found["dropped"]
    found = json.loads(run(*TWICE, *SHARED, *exchanges, "--json", "-"))
    again = noise_files(["t.jsonl"], "mine.jsonl", "theirs.jsonl", exchanges=99, **SAME)
    assert found == json.loads(again.to_json())
    alone = ("evaluate", "--data", "t.jsonl", "--scores", "mine.jsonl")
    found = json.loads(run(*alone, *SHARED, "--json", "-"))
    assert found == json.loads(evaluate_files(["t.jsonl"], "mine.jsonl", **SAME).to_json())
    assert "contrast90 by bridge" in found["signature"]
    assert "contrast_ci90" in found["rows"][0]


def test_a_lower_level_gives_shorter_intervals(run: Run) -> None:
    alone = ("evaluate", "--data", "t.jsonl", "--scores", "mine.jsonl", "--json", "-")
    rows = [json.loads(run(*alone, "--level", level))["rows"][0] for level in ("0.8", "0.99")]
    (low, high), (lowest, highest) = (
        row[f"contrast_ci{level}"] for row, level in zip(rows, ("80", "99"), strict=True)
    )
    assert lowest < low < high < highest


def test_names_flips_json_and_plot(run: Run, folder: Path) -> None:
    named = (*PAIR, *QUICK, "--name", "$\\frac$", "--against-name", "base")
    shown = run(*named, "--flips", "1", "--json", "o.json", "--plot", "o.svg")
    assert "first: $\\frac$; second: base" in shown
    assert shown.count("more: see --json") == 2
    assert "see --json" not in run(*named, "--flips", "0")
    result = json.loads((folder / "o.json").read_text())
    assert (result["first"], result["second"]) == ("$\\frac$", "base")
    assert result["signature"] in shown
    assert (folder / "o.svg").read_text().startswith("<?xml")
    half = run(*PAIR, *QUICK, "--against-name", "base")
    assert "first: mine.jsonl; second: base" in half


def test_the_other_judge_may_have_its_own_copy_of_the_data(run: Run, folder: Path) -> None:
    (folder / "copy.jsonl").write_bytes((folder / "t.jsonl").read_bytes())
    assert "difference [95%]" in run(*PAIR, *QUICK, "--against-data", "copy.jsonl")
    rows = [json.loads(line) for line in (folder / "t.jsonl").read_text().splitlines()]
    write(folder / "copy.jsonl", [{**one, "query": one["query"] + "?"} for one in rows])
    assert main([*PAIR, *QUICK, "--against-data", "copy.jsonl"]) == 2


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        (
            "--sigma 0.1 --edit-effect -0.05 --level 0.9",
            plan_selectivity(0.1, edit_effect=-0.05, level=0.9),
        ),
        (
            "--sigma 0.3 --against 0.1 --differ 0.4 --edit-effect 0.1 --against-edit-effect 0.2",
            plan_difference(0.3, 0.1, differ=0.4, edit_effect=0.1, against_edit_effect=0.2),
        ),
        (
            "--margin 0.05 --differ 0.1 --difference 0 --power 0.9 --design-effect 2",
            plan_not_worse(0.05, differ=0.1, power=0.9, design_effect=2.0),
        ),
    ],
)
def test_power_prints_the_plan(run: Run, options: str, plan: Any) -> None:
    assert run("power", *options.split()) == plan.to_text() + "\n"
    assert json.loads(run("power", *options.split(), "--json")) == plan.to_dict()


def test_closed_book_marks_what_evaluate_then_leaves_out(run: Run, folder: Path) -> None:
    (folder / "scored.jsonl").rename(folder / "answers.jsonl")
    told = json.loads(run(*MARK, "--threshold", "0.5", "--column", "knows", "--json"))
    assert (told["known"], told["unknown"], told["column"]) == (6, 6, "knows")
    alone = ("evaluate", "--data", "o.jsonl", "--scores", "mine.jsonl")
    assert "dropped 12 triplets: knows is true" in run(*alone, "--exclude-column", "knows")
    assert "6 of 12" in run(*MARK, "--threshold", "0.5")


@pytest.mark.parametrize(
    "line",
    [
        [*PAIR, "--json", "none/o.json"],
        [*PAIR, "--plot", "none/o.svg"],
        [*PAIR, "--plot", "o.bmp"],
        [*PAIR, "--plot", "o.svg", "--json", "none/o.json"],
        [*PAIR, "--plot", "none/o.svg", "--json", "o.json"],
        [*PAIR, "--exclude-column", "nothing"],
        [*PAIR, "--against-data", "none.jsonl"],
        [*PAIR, "--name", "judge", "--against-name", "judge"],
        [*PAIR, "--name", "judge|n:9000"],
        [*PAIR, "--name", "one\ntwo"],
        [*PAIR[:-1], "none.jsonl"],
        [*PAIR[:-1], "bad.jsonl"],
        [*TWICE, "--json", "none/o.json"],
        [*TWICE[:-1], "bad.jsonl", "--json", "o.json"],
        [*MARK[:-1], "none/o.jsonl"],
        [*MARK, "--column", "query"],
        [*MARK, "--column", "known"],
        ["closed-book", "--data", "t.jsonl", "--answers", "scored.jsonl", "--out", "o.jsonl"],
        ["closed-book", "--data", "t.jsonl", "--answers", "bad.jsonl", "--out", "o.jsonl"],
        ["power"],
        ["power", "--sigma", "0.4", "--edit-effect", "0.2"],
        ["power", "--sigma", "-1"],
        ["power", "--sigma", "0.3", "--against", "0.1"],
        ["power", "--sigma", "0.3", "--differ", "0.1"],
        ["power", "--sigma", "0.3", "--against", "0.1", "--differ", "1"],
        ["power", "--against", "0.1", "--differ", "0.3"],
        ["power", "--margin", "0.02"],
        ["power", "--margin", "0", "--differ", "0.1"],
        ["power", "--margin", "0.02", "--differ", "0.1", "--sigma", "0.1"],
        ["power", "--margin", "0.02", "--differ", "0.1", "--difference", "0.2"],
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line_and_leaves_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    write(folder / "bad.jsonl", [{"item_id": "real-0-A", "score": "high"}])
    before = sorted(folder.iterdir())
    quick = QUICK if line[0] in ("compare", "noise") else ()
    assert main([*line, *quick]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("chaincheck: error: ")
    assert err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    "line",
    [
        [*PAIR, "--exchanges", "0"],
        [*PAIR, "--level", "1"],
        [*PAIR, "--level", "nan"],
        [*PAIR, "--seed", "-1"],
        [*PAIR, "--flips", "-1"],
        [*TWICE, "--resamples", "99"],
        [*MARK, "--threshold", "nan"],
        [*MARK, "--threshold", "inf"],
        ["power", "--sigma", "0.6"],
        ["power", "--sigma", "nan"],
        ["power", "--sigma", "0.1", "--design-effect", "0"],
        ["evaluate", "--data", "t.jsonl", "--scores", "mine.jsonl", "--level", "95"],
        ["evaluate", "--data", "t.jsonl", "--scores", "mine.jsonl", "--seed", "-1"],
    ],
)
def test_a_number_out_of_range_is_bad_usage(
    folder: Path, capsys: pytest.CaptureFixture[str], line: list[str]
) -> None:
    assert main(line) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert f"Invalid value for '{line[-2]}'" in err


def test_what_a_power_plan_lacks_or_ignores_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["power", "--margin", "0.02", "--against-edit-effect", "0", "--differ", "0.1"])
    assert "has no use for --against-edit-effect" in capsys.readouterr().err
    main(["power", "--against", "0.1"])
    assert "needs --sigma, --differ" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["evaluate", "--help"], ("numpy", "chaincheck.planning", "chaincheck.atomic")),
        (["compare", "--help"], ("numpy", "chaincheck.comparison")),
        ([*PAIR, *QUICK], ("chaincheck.triplets", "chaincheck.mentions")),
        (["power", "--sigma", "0.2"], ("chaincheck.items",)),
        (list(MARK), ("numpy", "chaincheck.mentions")),
    ],
)
def test_no_command_loads_what_it_does_not_use(
    folder: Path, arguments: list[str], heavy: tuple[str, ...]
) -> None:
    never = ("torch", "matplotlib", "pandas", "scipy", "seaborn", "transformers", *heavy)
    code = (
        "import sys; from chaincheck.cli import main; "
        f"assert main({arguments!r}) == 0; "
        f"print([name for name in {never!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={"PYTHONPATH": str(Path(__file__).resolve().parents[1])},
    )
    assert done.stdout.splitlines()[-1] == "[]"
