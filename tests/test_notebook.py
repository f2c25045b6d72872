"""Running one notebook: parameters, freshness, failure, interruption, the same bytes twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from chaincheck.cli import main
from chaincheck.errors import NotebookFailed, UnreadableFile, UsageError
from chaincheck.notebook import (
    check_parameters,
    notebook_parameters,
    parse_parameters,
    run_notebook,
)

pytest.importorskip("papermill", reason="the extra 'book' is not installed")

PACKAGE = Path(__file__).resolve().parent.parent / "chaincheck"
HEADER = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---
"""


def write(path: Path, *cells: str, parameters: str = "") -> Path:
    """Write a MyST notebook with a title, a parameters cell if wanted, and code cells."""
    parts = [HEADER, "# A chapter\n"]
    if parameters:
        parts.append(f"```{{code-cell}} ipython3\n:tags: [parameters]\n\n{parameters}\n```\n")
    parts += [f"```{{code-cell}} ipython3\n{cell}\n```\n" for cell in cells]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def printed(executed: Path) -> str:
    cells = json.loads(executed.read_text(encoding="utf-8"))["cells"]
    return "".join(
        "".join(output.get("text", ()))
        for cell in cells
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    )


@pytest.fixture
def chapter(tmp_path: Path) -> Path:
    return write(
        tmp_path / "chapter.md",
        "from pathlib import Path\nwith Path('runs.log').open('a') as log:\n    log.write('x')",
        "print('scale', scale, Path(table).read_text().strip())",
        parameters="scale = 2\ntable: str = 'table.txt'",
    )


def runs(folder: Path) -> int:
    """Count how often the chapter of the fixture was executed."""
    log = folder / "runs.log"
    return len(log.read_text()) if log.exists() else 0


class TestParameters:
    def test_finds_names_defaults_and_expressions(self, tmp_path: Path) -> None:
        source = write(
            tmp_path / "a.md",
            "n = 5",
            parameters="n = 64  # many\nrate: float = 0.5\nnames = ['a']\nbig = 10**6\nx.y = 1",
        )
        found = notebook_parameters(source)
        assert [(p.name, p.default, p.literal) for p in found.values()] == [
            ("n", 64, True),
            ("rate", 0.5, True),
            ("names", ["a"], True),
            ("big", "10 ** 6", False),
        ]

    def test_a_notebook_without_parameters_cell_has_none(self, tmp_path: Path) -> None:
        assert notebook_parameters(write(tmp_path / "a.md", "n = 5")) == {}

    def test_pairs_become_values(self) -> None:
        pairs = [("a", "3"), ("b", "0.5"), ("c", "true"), ("d", "null"), ("e", "a.jsonl")]
        values = parse_parameters([*pairs, ("f", "[1, 2]"), ("g", "-inf"), ("h", "'3'")])
        assert values == {
            **{"a": 3, "b": 0.5, "c": True, "d": None, "e": "a.jsonl"},
            **{"f": [1, 2], "g": "-inf", "h": "3"},
        }

    def test_a_pair_given_twice_is_refused(self) -> None:
        with pytest.raises(UsageError, match="'a' is given twice"):
            parse_parameters([("a", "1"), ("a", "2")])

    def test_an_unknown_name_is_refused_with_the_nearest(self, chapter: Path) -> None:
        with pytest.raises(UsageError, match=r"no parameter 'scael'.*mean 'scale'"):
            run_notebook(chapter, chapter.with_suffix(".ipynb"), {"scael": 3})
        assert not chapter.with_suffix(".ipynb").exists()
        assert runs(chapter.parent) == 0

    def test_a_name_like_no_other_gets_the_list(self, chapter: Path) -> None:
        with pytest.raises(UsageError, match="It knows: scale, table"):
            check_parameters(chapter, notebook_parameters(chapter), {"zzz": 1})

    @pytest.mark.parametrize("value", ["many", 2.5, True, [2]])
    def test_a_value_of_another_type_is_refused(self, chapter: Path, value: object) -> None:
        with pytest.raises(UsageError, match=r"'scale' cannot be .* default is 2"):
            check_parameters(chapter, notebook_parameters(chapter), {"scale": value})

    def test_a_whole_number_may_stand_for_a_float(self, tmp_path: Path) -> None:
        source = write(tmp_path / "a.md", parameters="rate = 0.5")
        check_parameters(source, notebook_parameters(source), {"rate": 1})


class TestReading:
    def test_a_missing_notebook_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile, match=r"none\.md: cannot read: No such file"):
            run_notebook(tmp_path / "none.md", tmp_path / "none.ipynb")

    def test_bytes_that_are_no_text_are_named(self, tmp_path: Path) -> None:
        source = tmp_path / "a.md"
        source.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(UnreadableFile, match="is not a notebook"):
            notebook_parameters(source)

    def test_the_source_is_never_overwritten(self, chapter: Path) -> None:
        with pytest.raises(UsageError, match="is the notebook itself"):
            run_notebook(chapter, chapter)


class TestRunning:
    def test_parameters_arrive_below_the_defaults(self, chapter: Path) -> None:
        (chapter.parent / "table.txt").write_text("one")
        out = run_notebook(chapter, chapter.with_suffix(".ipynb"), {"scale": 7}, cwd=chapter.parent)
        assert printed(out) == "scale 7 one\n"
        cells = json.loads(out.read_text())["cells"]
        assert [cell["metadata"].get("tags") for cell in cells[:3]] == [
            None,
            ["parameters"],
            ["injected-parameters"],
        ]

    def test_what_is_current_is_not_run_again_and_what_changed_is(self, chapter: Path) -> None:
        folder, out = chapter.parent, chapter.with_suffix(".ipynb")
        table = folder / "table.txt"
        table.write_text("one")

        def run(**parameters: object) -> int:
            run_notebook(chapter, out, parameters, cwd=folder)
            return runs(folder)

        assert run() == 1
        before = out.stat().st_mtime_ns
        assert run() == 1
        assert out.stat().st_mtime_ns == before
        table.write_text("two")  # a data file that a parameter names
        assert run() == 2
        assert printed(out) == "scale 2 two\n"
        assert run(scale=3) == 3
        assert run(scale=3) == 3
        chapter.write_text(chapter.read_text() + "\nMore prose.\n")
        assert run(scale=3) == 4
        notebook = json.loads(out.read_text())  # saved again by hand, with another result
        notebook["cells"][-2]["outputs"] = []
        out.write_text(json.dumps(notebook))
        assert run(scale=3) == 5

    def test_a_change_in_any_module_or_data_runs_the_chapter_again(self, tmp_path: Path) -> None:
        package = tmp_path / "lib" / "chaincheck"
        shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
        (package / "answer.py").write_text("VALUE = 1\n")
        source = write(
            tmp_path / "a.md", "from chaincheck.answer import VALUE\nprint('value', VALUE)"
        )
        code = (
            "import sys; from pathlib import Path; from chaincheck.notebook import run_notebook;"
            "run_notebook(Path('a.md'), Path('a.ipynb'))"
        )
        environment = os.environ | {"PYTHONPATH": str(package.parent)}

        def run() -> tuple[str, int]:
            subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
            out = source.with_suffix(".ipynb")
            return printed(out), out.stat().st_mtime_ns

        text, written = run()
        assert text == "value 1\n"
        assert run() == (text, written)
        (package / "answer.py").write_text("VALUE = 2\n")
        text, written = run()
        assert text == "value 2\n"
        data = package.parent / "book" / "records" / "yields.json"
        data.parent.mkdir(parents=True)
        data.write_text("{}")  # data that chapters may read
        assert run()[1] != written

    def test_two_runs_give_the_same_bytes(self, tmp_path: Path) -> None:
        source = write(
            tmp_path / "figure.md",
            "import matplotlib.pyplot as plt\nimport numpy as np",
            "plt.plot(np.random.default_rng(0).normal(size=50))\nplt.show()",
            "import sys\nprint('a')\nprint(hash('x'))\nsys.stdout.flush()\nprint({'b', 'a'})",
        )
        one = run_notebook(source, tmp_path / "one.ipynb")
        two = run_notebook(source, tmp_path / "two.ipynb")
        assert one.read_bytes() == two.read_bytes()
        assert b"image/svg+xml" in one.read_bytes()

    def test_nothing_of_the_reader_s_own_setup_gets_in(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("python3", "chaincheck-book"):
            kernel = tmp_path / "jupyter" / "kernels" / name
            kernel.mkdir(parents=True)
            spec = {"argv": ["false"], "display_name": "broken", "language": "python"}
            (kernel / "kernel.json").write_text(json.dumps(spec))
        monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
        monkeypatch.setenv("MPLBACKEND", "agg")
        monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "startup.py"))
        (tmp_path / "startup.py").write_text("raise SystemExit('startup ran')")
        source = write(
            tmp_path / "a.md",
            "import sys, matplotlib\nprint(sys.executable, matplotlib.get_backend())",
        )
        out = run_notebook(source, tmp_path / "a.ipynb")
        executable, backend = printed(out).rsplit(" ", 1)
        assert executable == sys.executable
        assert "inline" in backend
        assert os.environ["JUPYTER_PATH"] == str(tmp_path / "jupyter")


class TestFailure:
    def test_a_failing_cell_fails_the_run_and_keeps_the_old_result(self, tmp_path: Path) -> None:
        out = tmp_path / "a.ipynb"
        run_notebook(write(tmp_path / "a.md", "print('fine')", parameters="n = 1"), out)
        kept = out.read_bytes()
        source = write(tmp_path / "a.md", "print(1)", "\n1 / 0  # here", parameters="n = 1")
        for parameters in ({}, {"n": 2}):
            with pytest.raises(NotebookFailed) as caught:
                run_notebook(source, out, parameters)
            assert "a.md: cell 3 failed: ZeroDivisionError: division by zero" in str(caught.value)
            assert "1 / 0" in str(caught.value)
            assert caught.value.exit_code == 1
        assert out.read_bytes() == kept

    def test_a_cell_tagged_to_raise_fails_as_well(self, tmp_path: Path) -> None:
        source = write(tmp_path / "a.md", ":tags: [raises-exception]\n\nraise ValueError('no')")
        with pytest.raises(NotebookFailed, match="ValueError: no"):
            run_notebook(source, tmp_path / "a.ipynb")

    @pytest.mark.parametrize("end", ["import sys; sys.exit(0)", "import os; os._exit(3)"])
    def test_a_notebook_that_ends_early_fails(self, tmp_path: Path, end: str) -> None:
        source = write(tmp_path / "a.md", end, "print('never')")
        with pytest.raises(NotebookFailed, match=r"cell 2 failed: was never|kernel stopped"):
            run_notebook(source, tmp_path / "a.ipynb")
        assert not (tmp_path / "a.ipynb").exists()

    def test_an_interruption_leaves_nothing_half_written(self, tmp_path: Path) -> None:
        write(
            tmp_path / "a.md",
            "import os, time\nfrom pathlib import Path\n"
            "Path('kernel.pid').write_text(str(os.getpid()))",
            "time.sleep(60)",
        )
        code = (
            "from pathlib import Path; from chaincheck.notebook import run_notebook;"
            "run_notebook(Path('a.md'), Path('a.ipynb'))"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
        )
        pid = tmp_path / "kernel.pid"
        deadline = time.monotonic() + 60
        while not (pid.exists() and pid.read_text()) and time.monotonic() < deadline:
            time.sleep(0.1)
        kernel = int(pid.read_text())
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) != 0
        assert sorted(p.name for p in tmp_path.iterdir()) == ["a.md", "kernel.pid"]
        deadline = time.monotonic() + 10
        while Path(f"/proc/{kernel}").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not Path(f"/proc/{kernel}").exists(), "the kernel outlived the run"


FAULTY_PARAMETERS = [
    "x = ",
    "x = 1\n  y = 2",
    "x = 1 +* 2",
    "def f(:",
    "x = '",
    "x = (1",
    "x = " + "[" * 300 + "]" * 300,
]
ODD_PARAMETERS = [
    "%matplotlib inline\nx = 1",
    "!true\nx = 1",
    "x = 1\n?x",
    "x = {[1]: 2}\nx = 1",
    "x = {1, 2}\nx = 1",
    "y = b'1'\nx = 1",
    "y = ...\nx = 1",
    "y = 1e999\nx = 1",
    "y = '\\ud800'\nx = 1",
    "a, b = 1, 2\nx = 1",
    "x: int = 1",
]
ODD_VALUES = [
    "{1, 2}", "b'1'", "...", "1j", "1e999", "-1e999", "[1, {2}]", "{1: 2}", "{'a': 1j}",
    "'\\ud800'", "['\\udfff']", "{'\\ud800': 1}", os.fsdecode(b"\xff"),
]  # fmt: skip


class TestBeforeAnythingRuns:
    """Whatever is wrong with a notebook or a parameter is said in one line, and no cell runs."""

    @staticmethod
    def refused(capfd: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> str:
        before = sorted(folder.rglob("*"))
        capfd.readouterr()
        assert main(["run", *arguments]) == 2
        out, err = capfd.readouterr()
        assert out == ""
        assert err.startswith("chaincheck: error: ")
        assert err.count("\n") == 1, err
        assert sorted(folder.rglob("*")) == before
        return err

    @pytest.mark.parametrize("parameters", FAULTY_PARAMETERS)
    @pytest.mark.parametrize("given", [[], ["-p", "x", "2"]])
    def test_a_parameters_cell_that_is_no_python(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str], parameters: str, given: list[str]
    ) -> None:
        source = write(tmp_path / "n.md", "open('ran', 'w')", parameters=parameters)
        told = self.refused(capfd, tmp_path, str(source), *given)
        assert "n.md: the parameters cell is not Python: " in told

    @pytest.mark.parametrize("parameters", ODD_PARAMETERS)
    def test_an_odd_parameters_cell_is_understood(self, tmp_path: Path, parameters: str) -> None:
        source = write(tmp_path / "n.md", "1", parameters=parameters)
        assert notebook_parameters(source)["x"].default == 1

    def test_a_magic_runs(self, tmp_path: Path) -> None:
        source = write(tmp_path / "n.md", "print(x)", parameters="%matplotlib inline\nx = 1")
        assert printed(run_notebook(source, tmp_path / "o.ipynb", {"x": 2})) == "2\n"

    @pytest.mark.parametrize("value", ODD_VALUES)
    @pytest.mark.parametrize("default", ["1", "'text'", "None"])
    def test_a_value_that_no_notebook_holds(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str], value: str, default: str
    ) -> None:
        source = write(tmp_path / "n.md", "open('ran', 'w')", parameters=f"x = {default}")
        assert "the parameter 'x' cannot be" in self.refused(
            capfd, tmp_path, str(source), "-p", "x", value
        )

    @pytest.mark.parametrize(
        ("name", "content"),
        [
            ("n.md", ""),
            ("n.md", "# Only prose\n\n```python\nx = 1\n```\n"),
            ("n.md", HEADER),
            ("n.md", b"\xff\xfe\x00"),
            ("n.md", "---\na: [\n---\n\n```{code-cell}\n1\n```\n"),
            ("n.txt", "text"),
            ("n.py", "print(1)"),
            ("n", ""),
            ("n.jsonl", '{"item_id": "a", "score": 1}\n'),
            ("n.ipynb", ""),
            ("n.ipynb", "{}"),
            ("n.ipynb", "[]"),
            ("n.ipynb", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}'),
            ("n.ipynb", '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}'),
            (
                "n.ipynb",
                '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": '
                '"code", "id": "a", "source": "1", "outputs": [], "execution_count": null, '
                '"metadata": {"tags": null}}]}',
            ),
        ],
    )
    def test_what_is_no_notebook(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, content: str | bytes
    ) -> None:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        assert f"{name}: is not a notebook" in self.refused(capfd, tmp_path, str(path))

    @pytest.mark.parametrize("name", [".", "..", "/", "folder", "folder.md", "none.md"])
    def test_what_is_no_file(
        self,
        tmp_path: Path,
        capfd: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        name: str,
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for folder in ("folder", "folder.md"):
            (tmp_path / folder).mkdir()
        told = self.refused(capfd, tmp_path, name)
        assert "is a folder" in told or "none.md: cannot read" in told

    @pytest.mark.parametrize("out", ["/dev/null/out.ipynb", "n.md/out.ipynb", ".", "/proc/x.ipynb"])
    def test_an_output_that_cannot_be_written(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str], out: str
    ) -> None:
        source = write(tmp_path / "n.md", f"open({str(tmp_path / 'ran')!r}, 'w')")
        told = self.refused(capfd, tmp_path, str(source), "--out", str(tmp_path / out))
        assert "cannot write" in told
