"""What the README promises, carried out: its commands run and its output is what they print."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks() -> list[str]:
    """The console blocks that call the program."""
    found = re.findall(r"```console\n(.*?)```", README, flags=re.DOTALL)
    return [block for block in found if "$ chaincheck" in block]


def run(line: str, folder: Path) -> str:
    words = shlex.split(line)
    assert words[0] == "chaincheck"
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{line}\n{done.stderr}"
    return done.stdout


def test_the_example_prints_what_the_readme_shows(tmp_path: Path) -> None:
    (block,) = [block for block in blocks() if "evaluate" in block]
    assert "Nominal" in block
    lines = block.splitlines()
    commands = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, end in zip(commands, [*commands[1:], len(lines)], strict=True):
        shown = [line.rstrip() for line in lines[start + 1 : end]]
        printed = [line.rstrip() for line in run(lines[start][2:], tmp_path).splitlines()]
        assert shown in ([], printed), lines[start]


def commands() -> list[str]:
    """Every call of the program in the README and on the page about protocols."""
    text = README + (ROOT / "book" / "protocols.md").read_text(encoding="utf-8")
    shown = "".join(re.findall(r"```console\n(.*?)```", text, flags=re.DOTALL))
    return re.findall(r"^\$ (chaincheck .*)$", shown.replace("\\\n", " "), flags=re.MULTILINE)


@pytest.mark.parametrize("line", commands())
def test_every_command_that_it_shows_has_the_options_that_it_is_given(line: str) -> None:
    import click

    from chaincheck.cli import command

    found: click.Command = command
    words = shlex.split(line, comments=True)[1:]
    while isinstance(found, click.Group) and words and words[0] in found.commands:
        found = found.commands[words.pop(0)]
    if isinstance(found, click.Group) and words:  # chaincheck audit replay.json
        assert "." in words[0], line
        found = found.commands["file"]
    known = {name for one in found.params for name in one.opts}
    assert {word for word in words if word.startswith("--")} <= known, line
    needed = [one for one in found.params if isinstance(one, click.Option) and one.required]
    assert all(set(one.opts) & set(words) for one in needed), line


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", README))
def test_every_link_leads_to_a_file_of_the_repository(link: str) -> None:
    assert link.startswith("https://") or (ROOT / link).exists()


@pytest.mark.parametrize("name", re.findall(r"`((?:[\w.]+/)+[\w.]*)`", README))
def test_every_path_that_it_names_exists(name: str) -> None:
    assert name.startswith(("_build/", ".venv")) or (ROOT / name).exists()


@pytest.mark.parametrize("target", re.findall(r"(?:`|\$ )make (\w+)", README))
def test_every_target_that_it_names_is_in_the_makefile(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
