"""What holds for the repository as a whole: its names, its files, its chapters, its pins."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import chaincheck

ROOT = Path(__file__).resolve().parent.parent
TOP_LEVEL = {
    *("book", "chaincheck", "notebooks", "tests", ".ci"),
    *("_config.yml", "_toc.yml", "environment.yml", "pyproject.toml", "Makefile"),
    *("README.md", "LICENSE", "CITATION.cff"),
}
LARGEST = 1_000_000  # bytes; a data set belongs elsewhere
BUILT = {".ipynb", ".pkl", ".pickle", ".pt", ".bin", ".safetensors", ".npz", ".npy", ".html"}
CHAPTERS = sorted((ROOT / "notebooks").glob("*.md"))
# From 90 on stands what belongs to no single chapter, such as the solutions.
LESSONS = [path for path in CHAPTERS if int(path.stem[:2]) < 90]


def tracked() -> list[Path]:
    """List the files under version control."""
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("this is no git checkout, so there is no list of committed files")
    return [Path(name) for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_nothing_new_stands_at_the_top() -> None:
    top = {path.parts[0] for path in tracked()}
    extra = {name for name in top - TOP_LEVEL if not name.startswith(".")}
    assert not extra, "ask twice before adding a top-level name"


def test_no_built_or_large_file_is_committed() -> None:
    assert [path for path in tracked() if path.suffix in BUILT] == []
    assert [path for path in tracked() if (ROOT / path).stat().st_size > LARGEST] == []


def test_no_file_speaks_of_a_machine() -> None:
    # Spelled in pieces, or this file would be the first one found.
    private = re.compile(r"(?<![\w.])/" + r"(?:work|root|home/\w+)/(?!\*)")
    found = [
        f"{path}:{number}"
        for path in tracked()
        if path.suffix not in {".svg", ".gz", ".png"}
        for number, line in enumerate((ROOT / path).read_text("utf-8").splitlines(), 1)
        if private.search(line)
    ]
    assert found == []


def test_the_version_is_the_same_everywhere() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {chaincheck.__version__}\n" in citation


def test_the_license_is_the_one_that_is_declared() -> None:
    text = (ROOT / "LICENSE").read_text("utf-8")
    assert "Apache License" in text
    assert "Version 2.0, January 2004" in text


class TestPins:
    def test_every_requirement_is_pinned_at_a_version_that_it_allows(self) -> None:
        requirements = pytest.importorskip("packaging.requirements")
        lines = (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
        pins = {
            name.lower().replace("_", "-"): version
            for name, _, version in (line.partition("==") for line in lines)
            if version and not name.startswith("#")
        }
        project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        wanted = [*project["dependencies"]]
        for extra in project["optional-dependencies"].values():
            wanted += extra
        for text in wanted:
            need = requirements.Requirement(text)
            if need.name == project["name"]:
                continue
            version = pins.get(need.name.lower().replace("_", "-"))
            assert version is not None, f"{need.name} has no pin"
            assert need.specifier.contains(version), f"{need} does not allow {version}"

    def test_each_set_up_uses_the_same_pins(self) -> None:
        for name in ("environment.yml", ".ci/setup"):
            assert ".ci/constraints.txt" in (ROOT / name).read_text("utf-8")
        assert "--editable .[book,test]" in (ROOT / "environment.yml").read_text("utf-8")


class TestChapters:
    def test_the_contents_name_every_chapter(self) -> None:
        contents = (ROOT / "_toc.yml").read_text("utf-8")
        named = re.findall(r"notebooks/(\S+)\.ipynb", contents)
        assert sorted(named) == [path.stem for path in CHAPTERS]

    @pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
    def test_each_says_what_it_is_for(self, path: Path) -> None:
        text = path.read_text("utf-8")
        assert re.search(r"^# \S", text, re.MULTILINE), "a title"
        card = re.search(r":class: chapter-card\n(.*?)\n:::", text, re.DOTALL)
        assert card, "a card at the top, an admonition of the class chapter-card"
        for entry in ("Objectives", "Prerequisites", "Running time"):
            assert re.search(rf"^\*\*{entry}\*\*\n: \S", card.group(1), re.MULTILINE), entry
        assert re.search(r"^## Takeaways\n+- \S", text, re.MULTILINE), "takeaways, as a list"

    @pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
    def test_each_documents_its_parameters(self, path: Path) -> None:
        pytest.importorskip("jupytext", reason="the extra 'book' is not installed")
        from chaincheck.notebook import notebook_parameters

        rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", _table(path), re.M)
        actual = {name: item.source for name, item in notebook_parameters(path).items()}
        assert [name for name, *_rest in rows] == list(actual)
        for name, default, _meaning, _expect in rows:
            if default.startswith("`"):
                assert _plain(default.strip("`")) == _plain(actual[name]), name
            else:  # in words, where the value would fill the table
                assert len(actual[name]) > 40, f"{name}: write the default itself"
        assert actual, "a chapter without parameters cannot be rerun with one's own"

    @pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
    def test_each_figure_has_alternative_text(self, path: Path) -> None:
        cells = re.findall(r"```\{code-cell\}.*?\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
        for cell in cells:
            if "figure:" in cell:
                assert re.search(r"\balt: \S", cell), cell.splitlines()[:8]

    @pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
    def test_each_is_kept_as_plain_text(self, path: Path) -> None:
        head = path.read_text("utf-8").split("---")[1]
        assert "format_name: myst" in head
        assert "execution" not in head


def _table(path: Path) -> str:
    found = re.search(r"^## Parameters\n(.*?)^```", path.read_text("utf-8"), re.M | re.DOTALL)
    assert found, "a section 'Parameters' with a table above the parameters cell"
    head = "| name | default | meaning | change this, expect that |"
    assert head in found.group(1)
    return found.group(1)


def _plain(expression: str) -> str:
    """Bring an expression into one spelling."""
    import ast

    return ast.unparse(ast.parse(expression, mode="eval"))


def test_the_api_pages_name_modules_that_exist_and_each_once() -> None:
    # What they do not name, the book's extension adds to the last of them.
    pages = [path.read_text("utf-8") for path in (ROOT / "book" / "api").glob("*.md")]
    named = re.findall(r"^\.\. automodule:: (\S+)$", "".join(pages), re.MULTILINE)
    assert len(named) == len(set(named))
    for module in named:
        path = ROOT.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__init__.py").is_file(), module
