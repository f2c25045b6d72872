"""The chapter on releases: its command lines are understood, and the book knows its pages."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from chaincheck.cli import command as program

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "notebooks" / "07_release.md").read_text("utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", PAGE, flags=re.DOTALL)
LINES = [
    shlex.split(line.removeprefix("$ "))
    for block in BLOCKS
    for line in block.replace("\\\n", " ").splitlines()
]


@pytest.mark.parametrize("words", LINES, ids=lambda words: " ".join(words[:3]))
def test_each_command_line_is_understood(words: list[str]) -> None:
    assert words[0] == "chaincheck"
    command: click.Command = program
    given = words[1:]
    while isinstance(command, click.Group):
        known = command.get_command(click.Context(command), given[0])
        assert known is not None, f"there is no command {given[0]}"
        command, given = known, given[1:]
    assert command.make_context(command.name, given).params


def test_the_whole_way_is_there() -> None:
    told = {" ".join(words[1:3]) for words in LINES}
    assert {"gate plan", "gate score", "gate check", "card judge", "merge base"} <= told
    assert {words[1] for words in LINES} == {"train", "merge", "gate", "card"}
