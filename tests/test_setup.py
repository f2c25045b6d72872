"""What `.ci/setup` says and does on machines that lack something, with stand-ins for Python."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("sh", "cat", "cksum", "dirname", "rm", "mkdir", "cp", "chmod")
# A Python that knows its version, makes an "environment" of itself, and can be told to fail.
STAND_IN = """#!/bin/sh
case "$*" in
--version) echo "Python $VERSION" ;;
*version_info\\ \\<\\ \\(3,\\ 11\\)*) [ "$VERSION" != 3.9 ] ;;
*ensurepip*) [ "$FAIL" != ensurepip ] ;;
*venv\\ .venv) [ "$FAIL" != venv ] && mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
*pip\\ install*) echo "$*" >>pip.log; [ "$FAIL" != pip ] ;;
*sys.version*) echo "$VERSION" ;;
*) exit "${CHECK:-0}" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Lay what the script reads into a folder with spaces, and a PATH with tools only."""
    checkout = tmp_path / "a check out"
    (checkout / ".ci").mkdir(parents=True)
    for name in ("setup", "constraints.txt"):
        shutil.copy(ROOT / ".ci" / name, checkout / ".ci")
    shutil.copy(ROOT / "pyproject.toml", checkout)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        if found is None:
            pytest.skip(f"this machine has no {tool}")
        (tmp_path / "bin" / tool).symlink_to(found)
    return checkout


def python(checkout: Path, name: str = "python3") -> None:
    path = checkout.parent / "bin" / name
    path.write_text(STAND_IN)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def setup(
    checkout: Path, extras: str = "book", version: str = "3.11.7", **more: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(checkout.parent / "bin"), "VERSION": version, "FAIL": "", **more}
    return subprocess.run(
        ["sh", checkout / ".ci" / "setup", extras],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=os.sep,
    )


def installs(checkout: Path) -> int:
    log = checkout / "pip.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_no_python_at_all_is_said(checkout: Path) -> None:
    done = setup(checkout)
    assert done.returncode == 1
    assert "needs Python 3.11 or newer, and none is on the PATH" in done.stderr
    assert "make ... PYTHON=" in done.stderr


def test_an_old_python_is_said(checkout: Path) -> None:
    python(checkout)
    done = setup(checkout, version="3.9")
    assert done.returncode == 1
    assert "python3 there: Python 3.9" in done.stderr


def test_an_interpreter_that_is_named_and_old_is_said(checkout: Path) -> None:
    python(checkout, "python3.11")
    python(checkout, "other")
    done = setup(checkout, version="3.9", PYTHON="other")
    assert done.returncode == 1
    assert "PYTHON=other does not run, or is older than Python 3.11" in done.stderr


@pytest.mark.parametrize(
    ("fail", "message"),
    [
        ("ensurepip", "has no venv or ensurepip module"),
        ("venv", "could not make .venv"),
        ("pip", "pip could not install the packages"),
    ],
)
def test_a_step_that_fails_is_said_and_tried_again(checkout: Path, fail: str, message: str) -> None:
    python(checkout)
    done = setup(checkout, FAIL=fail)
    assert done.returncode == 1
    assert message in done.stderr
    done = setup(checkout)
    assert done.returncode == 0, done.stderr
    assert installs(checkout) == (2 if fail == "pip" else 1)


def test_an_environment_that_fits_is_left_alone(checkout: Path) -> None:
    python(checkout)
    assert setup(checkout).returncode == 0
    again = setup(checkout)
    assert (again.returncode, again.stderr, installs(checkout)) == (0, "", 1)
    assert setup(checkout, "book,test").returncode == 0
    assert installs(checkout) == 2
    # The larger set serves the smaller one as well.
    assert setup(checkout).returncode == 0
    assert installs(checkout) == 2


def test_a_changed_pin_a_new_place_and_a_new_python_install_again(checkout: Path) -> None:
    python(checkout)
    setup(checkout)
    constraints = checkout / ".ci" / "constraints.txt"
    constraints.write_text(constraints.read_text() + "numpy==2.4.5\n")
    setup(checkout)
    assert installs(checkout) == 2
    setup(checkout, version="3.12.1")
    assert installs(checkout) == 3
    moved = checkout.rename(checkout.parent / "elsewhere")
    # The environment fails its own check, and is made anew.
    done = setup(moved, CHECK="1")
    assert done.returncode == 0
    assert "making .venv" in done.stderr
    assert installs(moved) == 4


def test_the_newest_tried_python_is_not_preferred_to_the_first(checkout: Path) -> None:
    for name in ("python3", "python3.13", "python3.11"):
        python(checkout, name)
    assert "making .venv with" in setup(checkout).stderr
    assert "/python3.11" in _maker(checkout)


def _maker(checkout: Path) -> str:
    """Name the interpreter that the script picks, by its own trace."""
    shutil.rmtree(checkout / ".venv")
    environment = {"PATH": str(checkout.parent / "bin"), "VERSION": "3.11.7", "FAIL": ""}
    done = subprocess.run(
        ["sh", "-x", checkout / ".ci" / "setup", "book"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = (line for line in done.stderr.splitlines() if line.endswith("-m venv .venv"))
    return "/" + line.removeprefix("+ ").split()[0]
