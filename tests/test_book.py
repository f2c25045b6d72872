"""Building a book: the real toolchain on a small book, from a path with spaces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from chaincheck import book
from chaincheck.book import PROFILES, build_book, chapters, load_profile
from chaincheck.errors import (
    MeasuredFailure,
    MissingExtra,
    NotebookFailed,
    UnreadableFile,
    UsageError,
)

pytest.importorskip("jupyter_book", reason="the extra 'book' is not installed")

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = """\
---
jupytext:
  text_representation: {extension: .md, format_name: myst}
kernelspec: {display_name: Python 3, language: python, name: python3}
---

# The chapter

```{code-cell} ipython3
:tags: [parameters]

size = 3
```

```{code-cell} ipython3
---
mystnb:
  image: {alt: a rising line}
  figure: {name: fig-line, caption: A line that rises.}
---
import matplotlib.pyplot as plt
from myst_nb import glue

glue("total", sum(range(size)), display=False)
plt.plot(range(size))
plt.show()
```

The total is {glue:text}`total`, and $\\Sigma = \\mathrm{CE} - |\\mathrm{EE}|$.
"""
INDEX = """\
# The front

See {numref}`fig-line`; the total there is {glue:text}`../notebooks/01_chapter.ipynb::total:d`.
"""
CONTENTS = """\
format: jb-book
root: book/index
chapters:
  - file: notebooks/01_chapter.ipynb
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Lay a book of one front page and one chapter, with the real configuration."""
    root = tmp_path / "a péth with spaces" / "book root"
    (root / "notebooks").mkdir(parents=True)
    shutil.copytree(ROOT / "book" / "_static", root / "book" / "_static")
    shutil.copy(ROOT / "book" / "references.bib", root / "book")
    shutil.copy(ROOT / "_config.yml", root)
    (root / "_toc.yml").write_text(CONTENTS)
    (root / "book" / "index.md").write_text(INDEX)
    (root / "notebooks" / "01_chapter.md").write_text(CHAPTER, encoding="utf-8")
    return root


def page(root: Path, name: str) -> str:
    return (root / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8")


def test_builds_rebuilds_and_keeps_other_profiles_apart(root: Path, tmp_path: Path) -> None:
    chapter = root / "notebooks" / "01_chapter.ipynb"
    first = build_book(root, progress=False)
    assert first == root / "_build" / "html" / "index.html"
    text = page(root, "notebooks/01_chapter")
    assert 'The total is <span class="pasted-text">3</span>' in text
    assert 'alt="a rising line"' in text
    assert "A line that rises." in text
    assert "Fig. 1" in page(root, "book/index")
    assert '<span class="pasted-text">3</span>' in page(root, "book/index")
    # Mathematics comes from the book's own folder.
    assert 'src="../_static/mathjax/tex-svg.js' in text
    assert (root / "_build/html/_static/mathjax/tex-svg.js").stat().st_size > 10**6
    assert (root / "_build/html/_static/mathjax/input/tex/extensions/cancel.js").is_file()

    # Again: nothing is executed.
    written = chapter.stat().st_mtime_ns
    build_book(root, profile="default", progress=False)
    assert chapter.stat().st_mtime_ns == written

    # A chapter changes, and with it the number that another page takes from it.
    source = root / "notebooks" / "01_chapter.md"
    source.write_text(source.read_text().replace("size = 3", "size = 4"))
    build_book(root, progress=False)
    assert '<span class="pasted-text">6</span>' in page(root, "notebooks/01_chapter")
    assert '<span class="pasted-text">6</span>' in page(root, "book/index")

    # Another profile: a folder of its own, and the published book stays as it is.
    published = {p: p.read_bytes() for p in (root / "_build" / "html").rglob("*.html")}
    mine = tmp_path / "mine.toml"
    mine.write_text("[all]\nsize = 5\n")
    other = build_book(root, profile=mine, progress=False)
    assert other == root / "_build" / "profiles" / "mine" / "_build" / "html" / "index.html"
    text = (other.parent / "notebooks" / "01_chapter.html").read_text(encoding="utf-8")
    assert 'The total is <span class="pasted-text">10</span>' in text
    assert "profile “mine”" in text
    assert {p: p.read_bytes() for p in (root / "_build" / "html").rglob("*.html")} == published
    again = build_book(root, profile=mine, out=root / "my book", progress=False)
    assert again == root / "my book" / "_build" / "html" / "index.html"

    # A page that leaves the table of contents leaves the book.
    (root / "_toc.yml").write_text(CONTENTS.split("chapters:", maxsplit=1)[0])
    (root / "book" / "index.md").write_text("# The front\n")
    build_book(root, progress=False)
    assert not (root / "_build/html/notebooks/01_chapter.html").exists()


def test_a_plain_jupyter_book_build_executes_the_chapters(root: Path) -> None:
    def build() -> subprocess.CompletedProcess[str]:
        code = "from jupyter_book.cli.main import main; main()"
        command = [sys.executable, "-c", code, "build", ".", "-W", "-n", "--keep-going"]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )

    done = build()
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'The total is <span class="pasted-text">3</span>' in page(root, "notebooks/01_chapter")
    source = root / "notebooks" / "01_chapter.md"
    source.write_text(source.read_text().replace("sum(range(size))", "1 / 0"))
    done = build()
    assert done.returncode != 0
    assert "ZeroDivisionError: division by zero" in done.stdout + done.stderr


def test_warnings_and_page_faults_fail_each_time(root: Path) -> None:
    (root / "book" / "index.md").write_text("# The front\n\nSee {ref}`nowhere`.\n")
    for _ in range(2):
        with pytest.raises(MeasuredFailure, match=r"1 warning\).*nowhere.*render\.log"):
            build_book(root, progress=False)
    remote = '# The front\n\n<img src="https://example.org/x.png" alt="x">\n'
    (root / "book" / "index.md").write_text(remote)
    with pytest.raises(MeasuredFailure, match=r"https://example\.org/x\.png from elsewhere"):
        build_book(root, progress=False)


def test_a_failing_chapter_fails_the_build_with_exit_code_1(
    root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = root / "notebooks" / "01_chapter.md"
    source.write_text(source.read_text().replace("sum(range(size))", "nothing"))
    with pytest.raises(NotebookFailed, match=r"01_chapter\.md: cell 2 failed: NameError"):
        build_book(root, progress=False)
    assert not (root / "_build").exists()
    from chaincheck.cli import main

    assert main(["book", "--root", str(root)]) == 1
    assert main(["run", str(source), "-p", "size", "4"]) == 1
    assert main(["run", str(source), "-p", "sise", "4"]) == 2
    errors = capfd.readouterr().err
    assert "NameError" in errors
    assert "Did you mean 'size'?" in errors
    assert "Traceback" not in errors


class TestProfiles:
    def test_the_shipped_ones_fit_the_chapters(self) -> None:
        for name in PROFILES:
            book._assign(chapters(ROOT), load_profile(name))

    def test_the_default_one_changes_nothing(self) -> None:
        profile = load_profile("default")
        assert not profile.common
        assert not profile.chapters

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("[all]\nseize = 1\n", "sets 'seize' for all, and no chapter has it"),
            ("[02_other]\nsize = 1\n", "chapter '02_other', which does not exist"),
            ("[01_chapter]\nsise = 1\n", "no parameter 'sise'. Did you mean 'size'"),
            ("[01_chapter]\nsize = 'x'\n", "'size' cannot be 'x'"),
            ("size = 1\n", "'size' stands in no table"),
        ],
    )
    def test_what_a_profile_may_not_say(self, root: Path, text: str, message: str) -> None:
        mine = root / "mine.toml"
        mine.write_text(text)
        with pytest.raises(UsageError, match=message):
            build_book(root, profile=mine, progress=False)
        assert not (root / "_build").exists()

    def test_unknown_missing_and_broken_ones_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no profile 'smok'"):
            load_profile("smok")
        with pytest.raises(UnreadableFile, match=r"none\.toml: cannot read"):
            load_profile(tmp_path / "none.toml")
        (tmp_path / "a.toml").write_text("[all\n")
        with pytest.raises(UnreadableFile, match="is not TOML"):
            load_profile(tmp_path / "a.toml")

    def test_a_common_value_yields_to_the_chapter_s_own(self, root: Path) -> None:
        profile = book.Profile("mine", {"size": 4}, {"01_chapter": {"size": 9}})
        assert list(book._assign(chapters(root), profile).values()) == [{"size": 9}]


class TestPlaces:
    @pytest.fixture
    def mine(self, tmp_path: Path) -> Path:
        (tmp_path / "mine.toml").write_text("")
        return tmp_path / "mine.toml"

    @pytest.mark.parametrize("out", [".", "_build", "_build/html", "book", ".."])
    def test_the_published_book_is_never_overwritten(
        self, root: Path, mine: Path, out: str
    ) -> None:
        with pytest.raises(UsageError, match="Name a new folder"):
            build_book(root, profile=mine, out=root / out, progress=False)

    def test_a_folder_that_holds_something_else_is_left_alone(
        self, root: Path, mine: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "thesis.txt").write_text("mine")
        with pytest.raises(UsageError, match="holds something else"):
            build_book(root, profile=mine, out=tmp_path / "full", progress=False)

    def test_a_folder_that_is_no_repository_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile, match=r"_toc\.yml: cannot read.*the repository"):
            build_book(tmp_path, progress=False)

    def test_a_chapter_that_does_not_exist_is_named(self, root: Path) -> None:
        (root / "notebooks" / "01_chapter.md").unlink()
        with pytest.raises(UnreadableFile, match=r"01_chapter\.md: is named in _toc\.yml"):
            chapters(root)

    def test_a_missing_extra_is_named(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(book.util, "find_spec", lambda _name: None)
        with pytest.raises(MissingExtra, match=r"chaincheck-book\[book\]"):
            build_book(root, progress=False)
