"""Run the chapters under a profile and render the book.

A *profile* is a TOML file that says which parameters differ from those in the chapters::

    [all]                   # every chapter that has the parameter
    seed = 1

    [03_selectivity]        # one chapter
    replicates = 4000

The profile ``default`` changes nothing and renders the published book into ``_build``. Any other
one is rendered from a copy of the sources, in a folder of its own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import util
from pathlib import Path
from typing import Any

from chaincheck.errors import (
    MeasuredFailure,
    MissingExtra,
    UnreadableFile,
    UnwritableOutput,
    UsageError,
)
from chaincheck.freshness import code_and_data, environment, file_digest
from chaincheck.notebook import (
    check_parameters,
    notebook_parameters,
    parse_parameters,
    run_notebook,
)
from chaincheck.pages import page_faults

__all__ = [
    "PROFILES",
    "Profile",
    "build_book",
    "chapters",
    "load_profile",
    "parse_parameters",
    "run_notebook",
]

PROFILES = ("smoke", "default", "gpu")
_PROFILE_FOLDER = Path(__file__).resolve().parent / "profiles"
_MARK = ".chaincheck-book"
_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*: ")
_COLOR = re.compile(r"\x1b\[[0-9;]*m")
# What the pages are made of, besides the executed notebooks.
_SOURCES = ("book", "_config.yml", "_toc.yml", "README.md", "CITATION.cff", "LICENSE")


@dataclass(frozen=True)
class Profile:
    """Which parameters a run of the whole book changes.

    Attributes:
        name: names the folder of the rendered book and stands on its pages.
        common: parameters for every chapter that has them.
        chapters: parameters by chapter, named by the notebook's stem.
    """

    name: str
    common: Mapping[str, object] = field(default_factory=dict)
    chapters: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


def load_profile(name: str | os.PathLike[str]) -> Profile:
    """Read a profile: one of ``PROFILES``, or the path of a TOML file.

    Raises:
        UsageError: no such profile, or something in it that is not a table of parameters.
        UnreadableFile: the file cannot be read, or is not TOML.
    """
    text = os.fspath(name)
    path = _PROFILE_FOLDER / f"{text}.toml" if text in PROFILES else Path(text)
    if text not in PROFILES and path.suffix != ".toml":
        raise UsageError(
            f"there is no profile '{text}'",
            remedy=f"Name one of {', '.join(PROFILES)}, or the path of a .toml file",
        )
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(f"cannot read: {error.strerror or error}", path=path) from error
    except ValueError as error:  # wrong encoding, or not TOML
        raise UnreadableFile(f"is not TOML: {error}", path=path) from error
    for table, value in tables.items():
        if not isinstance(value, dict):
            raise UsageError(
                f"{path}: '{table}' stands in no table",
                remedy="Put it under [all] or under the name of a chapter, as [03_selectivity]",
            )
    common = tables.pop("all", {})
    return Profile(path.stem, common, tables)


def _toc_files(node: object) -> Iterator[str]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name in ("file", "root"):
                yield str(value)
            else:
                yield from _toc_files(value)
    elif isinstance(node, list):
        for value in node:
            yield from _toc_files(value)


def _yaml(path: Path) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise MissingExtra("Building the book", "book") from error
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableFile(
            f"cannot read: {error.strerror or error}",
            path=path,
            remedy="Name the folder of the repository: the book is built from its sources",
        ) from error
    except (ValueError, yaml.YAMLError) as error:
        raise UnreadableFile(f"is not YAML: {error}", path=path) from error


def chapters(root: Path) -> list[Path]:
    """Return the text notebooks of the chapters, in the order of ``_toc.yml``.

    Raises:
        UnreadableFile: there is no table of contents, or a chapter that it names is missing.
    """
    found = []
    for name in _toc_files(_yaml(root / "_toc.yml")):
        if name.endswith(".ipynb"):
            source = (root / name).with_suffix(".md")
            if not source.is_file():
                raise UnreadableFile("is named in _toc.yml and does not exist", path=source)
            found.append(source)
    return found


def _assign(sources: Sequence[Path], profile: Profile) -> dict[Path, dict[str, object]]:
    """Work out every chapter's parameters, and refuse a profile before anything runs."""
    known = {source: notebook_parameters(source) for source in sources}
    stems = [source.stem for source in sources]
    for name in profile.chapters:
        if name not in stems:
            raise UsageError(
                f"the profile '{profile.name}' names the chapter '{name}', which does not exist",
                remedy=f"The chapters are: {', '.join(stems)}",
            )
    for name in profile.common:
        if not any(name in parameters for parameters in known.values()):
            every = sorted({name for parameters in known.values() for name in parameters})
            raise UsageError(
                f"the profile '{profile.name}' sets '{name}' for all, and no chapter has it",
                remedy=f"The parameters are: {', '.join(every)}",
            )
    assigned: dict[Path, dict[str, object]] = {}
    for source, parameters in known.items():
        given = {name: value for name, value in profile.common.items() if name in parameters}
        given |= profile.chapters.get(source.stem, {})
        check_parameters(source, parameters, given)
        assigned[source] = given
    return assigned


def _prepare(root: Path, out: Path, profile: Profile) -> Path:
    """Lay a copy of the sources into ``out``, without the text notebooks, and return it."""
    import yaml

    target = out.resolve()
    # A new folder beside the sources will do; the sources, the published book and .git will not.
    inside = target.relative_to(root).parts[:1] if target.is_relative_to(root) else ()
    taken = bool(inside) and (
        inside[0] in {"_build", *_SOURCES}
        or ((root / inside[0]).exists() and not (root / inside[0] / _MARK).is_file())
    )
    profiles = target.is_relative_to(root / "_build" / "profiles")
    if root.is_relative_to(target) or (taken and not profiles):
        raise UsageError(
            f"{out}: lies over the repository or its published book",
            remedy="Name a new folder",
        )
    if target.exists() and not (target / _MARK).is_file() and any(target.iterdir()):
        raise UsageError(f"{out}: holds something else", remedy="Name a new or an empty folder")
    source = target / "source"
    try:
        source.mkdir(parents=True, exist_ok=True)
        (target / _MARK).write_text(f"{profile.name}\n", encoding="utf-8")
        for name in _SOURCES:
            if (root / name).is_dir():
                shutil.rmtree(source / name, ignore_errors=True)
                shutil.copytree(root / name, source / name)
            elif (root / name).is_file():
                shutil.copy2(root / name, source / name)
        config = _yaml(root / "_config.yml")
        note = f"Built with the profile “{profile.name}”: the numbers are not the published ones."
        # Theme options given to Sphinx replace those that Jupyter Book would set.
        sphinx = config.setdefault("sphinx", {}).setdefault("config", {})
        sphinx.setdefault("html_theme_options", {})["announcement"] = note
        text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
        (source / "_config.yml").write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnwritableOutput(out, error) from error
    return source


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _state(source: Path, listed: Sequence[str]) -> str:
    """Write down what the pages are made of: a line for the contents, one for all the bytes."""
    files = [path for name in _SOURCES for path in (source / name, *(source / name).rglob("*"))]
    files += [source / name for name in listed]
    digests = [(str(path), file_digest(path)) for path in sorted({*files}) if path.is_file()]
    digests += [(name, file_digest(path)) for name, path in code_and_data()]
    everything = repr((digests, environment()))
    return f"{' '.join(listed)}\n{hashlib.blake2b(everything.encode()).hexdigest()}"


def _paths(variables: Mapping[str, str], name: str) -> list[str]:
    return [path for path in variables.get(name, "").split(os.pathsep) if path]


def _render(source: Path, build: Path) -> Path:
    """Render with warnings as errors; the log stays in ``build``."""
    page = build / "html" / "index.html"
    log = build / "render.log"
    command = [
        *(sys.executable, "-c", "from jupyter_book.cli.main import main; main()"),
        *("build", str(source), "--path-output", str(build.parent)),
        *("-W", "-n", "--keep-going", "-q"),
    ]
    build.mkdir(parents=True, exist_ok=True)
    listed = list(_toc_files(_yaml(source / "_toc.yml")))
    names = [str(Path(name).with_suffix("")) for name in listed]
    pages = [page, *(build / "html" / f"{name}.html" for name in names)]
    state = _state(source, listed)
    finished = build / ".finished"
    before = finished.read_text(encoding="utf-8") if finished.is_file() else ""
    if before == state and all(path.is_file() for path in pages):
        return page
    # Only what a finished run of the same contents left is built upon. Sphinx warns about a page
    # when it reads it, not when it finds it unchanged, so a second run would pass; and a page
    # that left the table of contents would stay in the book.
    if before.partition("\n")[0] != state.partition("\n")[0]:
        shutil.rmtree(build / "html", ignore_errors=True)
        shutil.rmtree(build / ".doctrees", ignore_errors=True)
    finished.unlink(missing_ok=True)
    # The very package that executed the chapters, also where another one is installed.
    packages = [str(Path(__file__).resolve().parent.parent), *_paths(os.environ, "PYTHONPATH")]
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(
            command,
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
            cwd=source,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(packages)},
        )
    if done.returncode != 0 or not page.is_file():
        text = _COLOR.sub("", log.read_text(encoding="utf-8", errors="replace"))
        log.write_text(text, encoding="utf-8")
        lines = text.splitlines()
        marked = [line for line in lines if "WARNING" in line or "ERROR" in line]
        raised = [line for line in lines if _EXCEPTION.match(line)]
        first = (marked or raised or lines[-1:] or ["no word from Sphinx"])[0]
        raise MeasuredFailure(
            f"the book did not render ({_count(len(marked), 'warning')}), the first: {first}",
            remedy=f"The whole log is in {log}",
        )
    faults = page_faults(build / "html", names)
    if faults:
        raise MeasuredFailure(f"the pages have {_count(len(faults), 'fault')}: {faults[0]}")
    finished.write_text(state, encoding="utf-8")
    return page


def build_book(
    root: Path,
    profile: str | os.PathLike[str] | None = None,
    out: Path | None = None,
    progress: bool = True,
) -> Path:
    """Execute every chapter that is not up to date and render the book.

    Args:
        root: the repository.
        profile: one of ``PROFILES`` or the path of a TOML file; the published book if not given.
        out: the folder of the book. ``_build`` for the published one; for another profile
            ``_build/profiles/NAME``.
        progress: show a bar on stderr, if that is a terminal.

    Returns:
        The path of the first page.

    Raises:
        NotebookFailed: a cell raised; chapters that were finished before are kept.
        MeasuredFailure: the pages have warnings.
        UsageError: an unknown profile, chapter or parameter, or an ``out`` that is taken.
        UnreadableFile: ``root`` is not the repository.
        UnwritableOutput: the book cannot be written.
        MissingExtra: the extra ``book`` is not installed.
    """
    from tqdm import tqdm

    root = root.resolve()
    for package in ("jupyter_book", "papermill", "jupytext"):
        if util.find_spec(package) is None:
            raise MissingExtra("Building the book", "book")
    chosen = load_profile("default" if profile is None else profile)
    sources = chapters(root)
    assigned = _assign(sources, chosen)
    published = out is None and chosen.name == "default" and profile in (None, "default")
    if published:
        source, build = root, root / "_build"
    else:
        folder = out if out is not None else root / "_build" / "profiles" / chosen.name
        source = _prepare(root, folder, chosen)
        build = folder.resolve() / "_build"
    with tqdm(sources, unit="chapter", disable=None if progress else True) as bar:
        for chapter in bar:
            bar.set_description(chapter.stem)
            target = (source / chapter.relative_to(root)).with_suffix(".ipynb")
            run_notebook(chapter, target, assigned[chapter], cwd=root)
    return _render(source, build)
