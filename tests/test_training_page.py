"""The page on real models: every command line and every file on it is one that is understood."""

from __future__ import annotations

import inspect
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

from chaincheck.cli import command as program
from chaincheck.judges import KINDS
from chaincheck.judges.causal import CausalSettings
from chaincheck.paired_intervals import paired_rate_floor
from chaincheck.training.gate_plan import GatePlan, read_plan
from chaincheck.training.recipe import Recipe, load_recipe

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "book" / "training_real_models.md").read_text("utf-8")
FLAT = " ".join(PAGE.split())
DOWNLOADED = {"musique_ans_v1.0_train.jsonl", "musique_ans_v1.0_dev.jsonl", "dev.json"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


def commands() -> list[list[str]]:
    """The words of each command line."""
    found = []
    for block in blocks("console"):
        for line in block.replace("\\\n", " ").splitlines():
            assert line.startswith("$ "), line
            found.append(shlex.split(line[2:]))
    return found


def files() -> dict[str, str]:
    """What each file holds that the page shows: a block is of the file that was named last."""
    found = {}
    for block in re.finditer(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL):
        names = re.findall(r"`(\w+\.toml)`", PAGE[: block.start()])
        found[names[-1]] = block[1]
    return found


def parsed(words: list[str]) -> tuple[str, dict[str, Any]]:
    """What click makes of a command line of ours: the command's name and its options."""
    assert words[0] == "chaincheck"
    command: click.Command = program
    given = words[1:]
    names = []
    while isinstance(command, click.Group):
        names.append(given[0])
        known = command.get_command(click.Context(command), given[0])
        assert known is not None, f"there is no command {given[0]}"
        command, given = known, given[1:]
    context = command.make_context(" ".join(names), list(given))
    return " ".join(names), context.params


def ours() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every command of ours on the page, those that a launcher starts among them."""
    for words in commands():
        if "chaincheck" in words:
            yield parsed(words[words.index("chaincheck") :])


@pytest.mark.parametrize("words", commands(), ids=lambda words: " ".join(words[:3]))
def test_each_command_line_is_understood(words: list[str]) -> None:
    match words:
        case ["chaincheck", *_]:
            parsed(words)
        case ["accelerate", "launch", *rest]:
            launch = pytest.importorskip("accelerate.commands.launch")
            found = launch.launch_command_parser().parse_args(rest)
            assert found.module
            assert found.training_script == "chaincheck"
            assert (ROOT / found.config_file).is_file()
            parsed(["chaincheck", *found.training_script_args])
        case ["python", script, *rest]:
            pytest.importorskip("torch")
            sys.path.insert(0, str((ROOT / script).parent))
            import gpu_4b

            assert gpu_4b._parser().parse_args(rest).size == "4b"
        case ["hf", "download", model, "--local-dir", _]:
            # Its command line is made of this function's parameters.
            download = pytest.importorskip("huggingface_hub.cli.download").download
            assert "local_dir" in inspect.signature(download).parameters
            assert model.count("/") == 1
        case ["pip", "install", what]:
            # The checkout, which needs no index to carry a package of our name.
            assert what.startswith(".[")
            extras = re.findall(r"\w+", what.partition("[")[2])
            project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
            assert set(extras) <= project["optional-dependencies"].keys()
        case _:
            pytest.fail(f"no parser for {words}")


def test_a_wrong_option_would_be_seen() -> None:
    words = next(words for words in commands() if words[:2] == ["chaincheck", "train"])
    with pytest.raises(click.UsageError):
        parsed([*words, "--no-such-option"])


def test_each_file_is_one_that_is_understood(tmp_path: Path) -> None:
    shown = files()
    assert len(shown) == len(blocks("toml")) == 8
    for name, text in shown.items():
        path = tmp_path / name
        path.write_text(text, "utf-8")
        kind = name.partition("_")[0]
        if kind == "recipe":
            assert isinstance(load_recipe(path), Recipe)
        elif kind == "gate":
            assert isinstance(read_plan(path), GatePlan)
        else:
            keys = tomllib.loads(text)
            assert keys.keys() - {"kind"} <= KINDS[keys.pop("kind")][1]
            msgspec.convert(keys, CausalSettings)


def test_every_file_that_a_command_reads_is_made_or_shown_before(tmp_path: Path) -> None:
    there = {*DOWNLOADED, *files()}
    there |= {words[words.index("--local-dir") + 1] for words in commands() if words[0] == "hf"}
    reads = ("input_path", "data", "validation", "recipe", "base", "adapter", "judge", "log")
    reads += ("compare_on", "plan_path", "merged", "run", "verdict", "scores", "against")
    for command, given in ours():
        for option in reads:
            values = given.get(option)
            if command == "gate check" and option == "judge":
                continue
            for value in values if isinstance(values, (list, tuple)) else [values]:
                if isinstance(value, str):
                    made = value in there or value.partition("/")[0] in there
                    assert made, f"{command}: nothing makes {value}"
        there |= {
            given[option]
            for option in ("out", "test_out", "json_path", "plot", "report")
            if isinstance(given.get(option), str)
        }
        if command == "gate score":
            plan = msgspec.convert(tomllib.loads(files()[given["plan_path"]]), GatePlan)
            log = plan.base if given["role"] == "base" else plan.candidate
            assert {one.path for one in plan.data} <= there
            there.add(log)
            judge = tomllib.loads(files()[given["judge"]])
            assert judge["model"] in there


def test_base_and_judge_differ_in_the_model_alone() -> None:
    shown = {name: tomllib.loads(text) for name, text in files().items()}
    for size in ("4b", "27b"):
        base, judge = shown[f"base_{size}.toml"], shown[f"judge_{size}.toml"]
        assert base.keys() == judge.keys()
        assert {key for key in base if base[key] != judge[key]} == {"model"}


def test_a_step_has_as_many_triplets_on_eight_devices_as_on_one(tmp_path: Path) -> None:
    sizes = []
    for name in ("recipe_4b.toml", "recipe_27b.toml"):
        (tmp_path / name).write_text(files()[name], "utf-8")
        found = load_recipe(tmp_path / name)
        sizes.append(found.batch * found.accumulation)
    config = (ROOT / "chaincheck" / "training" / "fsdp2.yaml").read_text("utf-8")
    devices = re.search(r"^num_processes: (\d+)$", config, re.MULTILINE)
    assert devices
    assert sizes[0] == sizes[1] * int(devices[1]) == 8


def test_the_arithmetic_comes_out() -> None:
    tokens = 7481 * 3 * 1348
    assert f"{tokens / 1e6:.1f} million tokens" in FLAT
    small, large = 6 * 3.63e9 * tokens, 6 * 24.35e9 * tokens
    assert (f"{small:.1e}", f"{large:.1e}") == ("6.6e+17", "4.4e+18")
    assert "| 6.6e17 | 4.4e18 |" in PAGE
    minutes = [small / (0.4 * 989e12) / 60, large / (8 * 0.3 * 989e12) / 60]
    assert "| {:.0f} minutes | {:.0f} minutes |".format(*minutes) in PAGE
    kept = 4 * 4044 * (36 * 5120 + 227e3) / 1e9, 4044 * (64 * 10_240 + 1e6) / 1e9
    assert "| 4 × 4,044 tokens: {:.1f} GB | 1 × 4,044 tokens: {:.1f} GB |".format(*kept) in PAGE
    whole = 4044 * 36 * 227e3 / 1e9
    assert f"{4 * whole:.0f} GB for a batch of 4, {whole:.0f} GB for one of 1" in FLAT
    once = 4 * 3.63e9 * tokens
    rate = once / 46 / 60
    assert f"{rate:.1e}" == "1.6e+14"
    assert "1.6e14 a second, 7% of" in FLAT
    assert round(100 * rate / 2.25e15) == 7  # what is stated of a B200, dense, bfloat16
    enough = next(n for n in range(1, 999) if paired_rate_floor(0, 0, n, 0.975) > -0.02)
    assert f"at least {enough} triplets" in FLAT
