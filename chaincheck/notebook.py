"""Execute one MyST text notebook and keep the result beside it for as long as it is true.

The text is the only copy that is kept under version control; the executed ``.ipynb`` is a build
product. It carries a key in its own metadata, a hash of everything that can change what it
shows: the text, the parameters, the files that parameters name, every file of the package, the
book's data and the versions of what is installed for it. A cache that looks at the cells only
would go on showing the numbers of a module that has since been corrected.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaincheck.atomic import open_output
from chaincheck.errors import (
    MissingExtra,
    UnreadableFile,
    UnwritableOutput,
    UsageError,
    one_line,
)
from chaincheck.execution import KERNEL_SETTINGS, PYTHON3, execute, name_cells, strip_volatile
from chaincheck.freshness import code_and_data, environment, file_digest, models

__all__ = [
    "Parameter",
    "check_parameters",
    "is_current",
    "notebook_parameters",
    "parse_parameters",
    "read_notebook",
    "run_notebook",
]

# Raised whenever the shape of what is written changes, so that older output is made anew.
_FORMAT = 1
_LONGEST_VALUE = 100
_TAG = "parameters"
_SUFFIXES = (".md", ".ipynb")
# What ``ast.literal_eval`` raises: no literal, no Python, an unhashable key, too long or deep.
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)


@dataclass(frozen=True)
class Parameter:
    """One assignment of a notebook's parameters cell.

    Attributes:
        name: what it is called.
        default: its value if that is a literal, else the expression as text.
        literal: whether ``default`` is a value.
        source: the expression as it is written.
    """

    name: str
    default: object
    literal: bool
    source: str


def _nearest(name: str, known: Iterable[str]) -> str:
    """Return ``name`` of ``known`` most alike to the given one, or the whole list, as advice."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"Did you mean '{close[0]}'?"
    return f"It knows: {', '.join(names)}" if names else "It has none"


def read_notebook(source: Path) -> Any:
    """Read a MyST text notebook (or an ``.ipynb``) with cell ids that never change.

    Returns:
        An ``nbformat`` NotebookNode without outputs.

    Raises:
        UnreadableFile: the file is missing, a folder, or not a notebook.
        MissingExtra: the extra ``book`` is not installed.
    """
    try:
        import jupytext
        import nbformat
    except ImportError as error:
        raise MissingExtra("Running a notebook", "book") from error
    if source.suffix.lower() not in _SUFFIXES and not source.is_dir():
        raise UnreadableFile(
            "is not a notebook", path=source, remedy=f"Name a file in {' or '.join(_SUFFIXES)}"
        )
    try:
        text = source.read_text(encoding="utf-8")
        if source.suffix.lower() == ".ipynb":
            notebook = nbformat.reads(text, as_version=4)
        else:
            notebook = jupytext.reads(text, fmt="md:myst")
        name_cells(notebook)
        nbformat.validate(notebook)
    except OSError as error:
        what = "is a folder" if source.is_dir() else f"cannot read: {error.strerror or error}"
        raise UnreadableFile(what, path=source, remedy="Name a notebook") from error
    except Exception as error:  # either library raises whatever it likes at a broken notebook
        reason = str(error).strip().partition("\n")[0]
        raise UnreadableFile(f"is not a notebook: {reason}", path=source) from error
    if not any(cell.cell_type == "code" for cell in notebook.cells):
        raise UnreadableFile(
            "is not a notebook: it has no code cell",
            path=source,
            remedy="In a text notebook such a cell stands in a {code-cell} block",
        )
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
    notebook.metadata = nbformat.from_dict({"kernelspec": dict(PYTHON3)})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _statements(cell: Any, source: Path) -> list[ast.stmt]:
    """Parse the parameters cell, magics and shell lines included, as the kernel will.

    Raises:
        UnreadableFile: it is no Python.
    """
    from IPython.core.inputtransformer2 import TransformerManager

    try:
        manager: Any = TransformerManager
        code: str = manager().transform_cell(cell.source)
        return ast.parse(code).body
    except _NO_LITERAL as error:
        line = getattr(error, "lineno", None)
        where = f" in its line {line}" if line else ""
        what = getattr(error, "msg", None) or str(error)
        raise UnreadableFile(
            f"the parameters cell is not Python: {what}{where}",
            path=source,
            remedy="It should hold plain assignments",
        ) from None


def _parameters_of(notebook: Any, source: Path) -> dict[str, Parameter]:
    """Collect the plain assignments of the cell that is tagged ``parameters``."""
    found: dict[str, Parameter] = {}
    for cell in notebook.cells:
        if cell.cell_type != "code" or _TAG not in cell.metadata.get("tags", ()):
            continue
        for statement in _statements(cell, source):
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                target, value = statement.targets[0], statement.value
            elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
                target, value = statement.target, statement.value
            else:
                continue
            if not isinstance(target, ast.Name):
                continue
            written = ast.unparse(value)
            try:
                found[target.id] = Parameter(target.id, ast.literal_eval(value), True, written)
            except _NO_LITERAL:
                found[target.id] = Parameter(target.id, written, False, written)
    return found


def notebook_parameters(source: Path) -> dict[str, Parameter]:
    """Return a notebook's parameters, in the order of its parameters cell.

    Raises:
        UnreadableFile: the file is missing, or not a notebook.
    """
    return _parameters_of(read_notebook(source), source)


def parse_parameters(pairs: Iterable[tuple[str, str]]) -> dict[str, object]:
    """Turn ``-p name value`` pairs into values: a Python literal if it is one, else the text.

    ``true``, ``false`` and ``null`` are understood as well.

    Raises:
        UsageError: a name is given twice.
    """
    words: dict[str, object] = {"true": True, "false": False, "null": None}
    values: dict[str, object] = {}
    for name, text in pairs:
        if name in values:
            raise UsageError(f"the parameter '{name}' is given twice", remedy="Give it once")
        try:
            values[name] = ast.literal_eval(text)
        except _NO_LITERAL:
            values[name] = words.get(text.lower(), text)
    return values


def _fits(value: object, default: object) -> bool:
    """Say whether a value may stand for a default: same type, a whole number for a float."""
    if default is None or value is None:
        return True
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, float):
        return isinstance(value, int | float)
    if isinstance(default, list | tuple):
        return isinstance(value, list | tuple)
    return isinstance(value, type(default))


def _shown(value: object) -> str:
    """A value as it is written, on one line and not too long."""
    text = one_line(repr(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _is_plain(value: object) -> bool:
    """Say whether a notebook can hold a value: what JSON has, and text that is Unicode."""
    if isinstance(value, str):
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(key) for key in value) and all(
            map(_is_plain, value.values())
        )
    return value is None or isinstance(value, bool | int)


def check_parameters(
    source: Path, known: Mapping[str, Parameter], given: Mapping[str, object]
) -> None:
    """Refuse a parameter that a notebook does not have, or a value of another type.

    Papermill only logs an unknown name and then runs the defaults, so that a typing error looks
    like a result.

    Raises:
        UsageError: with the nearest known name, with the default that shows the type, or with
            what a notebook can hold.
    """
    for name, value in given.items():
        if name not in known:
            raise UsageError(
                f"{source.name} has no parameter '{name}'", remedy=_nearest(name, known)
            )
        if not _is_plain(value):
            raise UsageError(
                f"{source.name}: the parameter '{name}' cannot be {_shown(value)}",
                remedy="Give a number, a text, true, false, null, or a list or table of these",
            )
        parameter = known[name]
        if parameter.literal and not _fits(value, parameter.default):
            raise UsageError(
                f"{source.name}: the parameter '{name}' cannot be {_shown(value)}",
                remedy=f"Its default is {parameter.source}; give a value of that type",
            )


def _named_files(value: object, folder: Path) -> Iterator[Path]:
    """Yield the files that a parameter's value names, so that their bytes enter the key."""
    if isinstance(value, str) and value:
        try:
            path = folder / value
            if path.is_file():
                yield path
        except (OSError, ValueError):  # too long a name, a null byte: no file
            return
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _named_files(part, folder)
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _named_files(part, folder)


def _key(
    source: Path, known: Mapping[str, Parameter], parameters: Mapping[str, object], folder: Path
) -> str:
    effective = {name: item.default for name, item in known.items()} | dict(parameters)
    facts = {
        "format": _FORMAT,
        "source": file_digest(source),
        "parameters": repr(sorted(parameters.items())),
        "files": sorted({file_digest(path) for path in _named_files(effective, folder)}),
        "package": [(name, file_digest(path)) for name, path in code_and_data()],
        "environment": environment(),
        "models": models(),
        "kernel": list(KERNEL_SETTINGS),
    }
    return hashlib.blake2b(json.dumps(facts).encode(), digest_size=20).hexdigest()


def _seal(notebook: Any) -> str:
    """Hash what a notebook shows, to notice one that was saved again from an editor."""
    return hashlib.blake2b(
        json.dumps(notebook["cells"], sort_keys=True).encode(), digest_size=20
    ).hexdigest()


def is_current(out: Path, key: str) -> bool:
    """Say whether ``out`` holds the untouched result of the run that ``key`` stands for."""
    try:
        notebook = json.loads(out.read_text(encoding="utf-8"))
        mark = notebook["metadata"]["chaincheck"]
        return bool(mark["key"] == key and mark["seal"] == _seal(notebook))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def run_notebook(
    source: Path,
    out: Path,
    parameters: Mapping[str, object] | None = None,
    *,
    cwd: Path | None = None,
    force: bool = False,
) -> Path:
    """Execute a notebook, unless ``out`` already holds the result of just this run.

    Args:
        source: the MyST text notebook.
        out: where the executed notebook goes; it appears whole or not at all.
        parameters: values that replace those of the parameters cell.
        cwd: the folder that the cells run in, the current one if not given.
        force: execute even if ``out`` is current.

    Returns:
        ``out``.

    Raises:
        NotebookFailed: a cell raised.
        UsageError: a parameter that the notebook does not have, or ``out`` is the source.
        UnreadableFile: the source is missing, or not a notebook.
        UnwritableOutput: ``out`` cannot be written.
        MissingExtra: the extra ``book`` is not installed.
    """
    given = dict(parameters or {})
    folder = (cwd or Path.cwd()).resolve()
    if out.resolve() == source.resolve():
        raise UsageError(f"{out}: is the notebook itself", remedy="Name another output")
    notebook = read_notebook(source)
    known = _parameters_of(notebook, source)
    check_parameters(source, known, given)
    key = _key(source, known, given, folder)
    if not force and is_current(out, key):
        return out
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableOutput(out, error) from error
    # Opened first: minutes of work must not end at a path that cannot be written.
    with open_output(out) as file:
        file.write(_executed(source, notebook, given, folder, key))
    return out


def _executed(
    source: Path, notebook: Any, given: dict[str, object], folder: Path, key: str
) -> bytes:
    """Execute a notebook and return what is written of it."""
    import nbformat

    done = execute(source, notebook, given, folder)
    strip_volatile(done)
    done.metadata["chaincheck"] = {"key": key, "parameters": given, "seal": ""}
    # The seal is taken over what a reader of the file will find, hence after a round trip.
    done.metadata["chaincheck"]["seal"] = _seal(json.loads(nbformat.writes(done, version=4)))
    text: str = nbformat.writes(done, version=4)
    return (text + "\n").encode()
