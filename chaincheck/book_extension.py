"""Sphinx extension of the book: run the chapters first, and keep mathematics offline.

With it, a plain ``jupyter-book build .`` in a fresh clone executes whatever is not up to date;
the pages cannot show numbers of an older text or module. MathJax comes from an installed
distribution instead of a content delivery network, so that the pages open without one.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import shutil
from importlib import util
from pathlib import Path
from typing import Any

from chaincheck.errors import MissingExtra
from chaincheck.notebook import run_notebook

__all__ = ["setup"]

_MATHJAX_CARRIER = "sphinx-mathjax-offline"
# SVG output needs no font files, which some browsers refuse to load from a local folder.
_MATHJAX_SCRIPT = "tex-svg.js"
_MATHJAX_EXTENSIONS = Path("input", "tex", "extensions")
_OTHER_MODULES = "book/api/other"
_AUTOMODULE = re.compile(r"^\.\. automodule:: (\S+)$", re.MULTILINE)
# The command line has its own help.
_COMMAND_LINE = {"chaincheck.cli", "chaincheck.cli_comparison", "chaincheck.cli_options"}
_NOT_IN_API = {"chaincheck", "chaincheck.__main__", *_COMMAND_LINE}
_LITERAL = re.compile(r"(``.*?``)")


def _mathjax_folder() -> Path:
    spec = util.find_spec(_MATHJAX_CARRIER)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location, "static", "mathjax")
        if (folder / _MATHJAX_SCRIPT).is_file():
            return folder
    raise MissingExtra("Rendering mathematics offline", "book")


def _run_chapters(app: Any, _config: Any) -> None:
    """Bring the executed notebooks up to date.

    A copy of the sources that was laid for a profile holds executed notebooks only; there is
    nothing to run in it.
    """
    from chaincheck.book import chapters

    root = Path(app.srcdir)
    if not any((root / "notebooks").glob("*.md")):
        return
    for source in chapters(root):
        run_notebook(source, source.with_suffix(".ipynb"), cwd=root)


def _point_to_mathjax(_app: Any, config: Any) -> None:
    config.mathjax_path = f"mathjax/{_MATHJAX_SCRIPT}"


def _copy_mathjax(app: Any) -> None:
    if app.builder.format != "html":
        return
    source, target = _mathjax_folder(), Path(app.outdir, "_static", "mathjax")
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source / _MATHJAX_SCRIPT, target / _MATHJAX_SCRIPT)
    shutil.copytree(source / _MATHJAX_EXTENSIONS, target / _MATHJAX_EXTENSIONS, dirs_exist_ok=True)


def _leave_out_thebe(
    _app: Any, _page: str, _template: str, context: dict[str, Any], _doctree: object
) -> None:
    """Drop the scripts for running cells on a remote server, which every page would load.

    Jupyter Book adds them whether or not a page offers that, and twice, which browsers report.
    """
    for kind in ("script_files", "css_files"):
        context[kind] = [
            file
            for file in context.get(kind, ())
            if "thebe" not in f"{getattr(file, 'filename', file)}{vars(file)}".lower()
        ]


def _write_all_after_a_run(_app: Any, env: Any) -> list[str]:
    """Write every page anew once a chapter was read anew.

    A number may be glued into any other page, which Sphinx takes for unchanged.
    """
    suffixes = {Path(env.doc2path(name)).suffix for name in env.chaincheck_read}
    return sorted(env.found_docs) if ".ipynb" in suffixes else []


def _note_what_is_read(_app: Any, env: Any, names: list[str]) -> None:
    env.chaincheck_read = list(names)


def _forget_faulty_pages(app: Any, error: Exception | None) -> None:
    """Make the next build read every page again, and so repeat its warnings."""
    if error is not None or app._warncount:
        Path(app.doctreedir, "environment.pickle").unlink(missing_ok=True)


def _add_other_modules(app: Any, name: str, source: list[str]) -> None:
    """Append every module that no page of the API names to the last of these pages."""
    if name != _OTHER_MODULES:
        return
    pages = Path(app.srcdir, name).parent.glob("*.md")
    named = set(_AUTOMODULE.findall("".join(page.read_text("utf-8") for page in pages)))
    package = Path(__file__).resolve().parent
    for path in sorted(package.rglob("*.py")):
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        module = module.removesuffix(".__init__")
        if module not in named | _NOT_IN_API:
            title = module.removeprefix("chaincheck.")
            source[0] += f"\n## {title}\n\n```{{eval-rst}}\n.. automodule:: {module}\n```\n"


def _always_read_other_modules(
    _app: Any, env: Any, _added: object, _changed: object, _removed: object
) -> list[str]:
    return [_OTHER_MODULES] if _OTHER_MODULES in env.found_docs else []


def _read_bars_as_bars(
    _app: Any, _what: str, _name: str, _obj: object, _options: object, lines: list[str]
) -> None:
    """Let ``|x|`` in a docstring be an absolute value, where reST sees a substitution."""
    literal: int | None = None  # indentation of the line that a literal block hangs on
    for number, line in enumerate(lines):
        indentation = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indentation <= literal:
            literal = None
        if literal is None:
            parts = _LITERAL.split(line)
            parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
            lines[number] = "".join(parts)
            if line.rstrip().endswith("::"):
                literal = indentation


def _list_once(
    app: Any, _what: str, _name: str, obj: object, skip: bool, _options: object
) -> bool | None:
    """Leave out what a module only passes on; it is listed where it is defined."""
    home = getattr(obj, "__module__", None)
    here = app.env.temp_data.get("autodoc:module")
    passed_on = isinstance(home, str) and home.startswith("chaincheck") and home != here
    return True if skip or passed_on else None


def _leave_real_names_plain(_app: Any, _env: Any, node: Any, content: Any) -> Any:
    """Set a name of ours that exists, such as a type alias, as plain text.

    A name that does not exist stays a warning.
    """
    module, _, name = node.get("reftarget", "").rpartition(".")
    if node.get("refdomain") == "py" and module.split(".")[0] == "chaincheck":
        with contextlib.suppress(ImportError):
            if hasattr(importlib.import_module(module), name):
                return content
    return None


def setup(app: Any) -> dict[str, Any]:
    """Connect to Sphinx; called by it."""
    app.setup_extension("sphinx.ext.autodoc")
    # Before the table of contents is read, which leaves out documents that do not exist.
    app.connect("config-inited", _run_chapters, priority=100)
    app.connect("config-inited", _point_to_mathjax, priority=900)
    app.connect("builder-inited", _copy_mathjax)
    app.connect("source-read", _add_other_modules)
    app.connect("env-get-outdated", _always_read_other_modules)
    app.connect("autodoc-process-docstring", _read_bars_as_bars, priority=400)
    app.connect("autodoc-skip-member", _list_once)
    app.connect("missing-reference", _leave_real_names_plain)
    app.connect("env-before-read-docs", _note_what_is_read)
    app.connect("env-updated", _write_all_after_a_run)
    app.connect("html-page-context", _leave_out_thebe, priority=900)
    app.connect("build-finished", _forget_faulty_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
