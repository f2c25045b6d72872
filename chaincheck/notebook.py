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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaincheck.atomic import write_bytes
from chaincheck.errors import MissingExtra, UnreadableFile, UnwritableOutput, UsageError
from chaincheck.execution import KERNEL_SETTINGS, PYTHON3, execute, name_cells, strip_volatile
from chaincheck.freshness import code_and_data, environment, file_digest

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
_TAG = "parameters"


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
        UnreadableFile: the file is missing, or not a notebook.
        MissingExtra: the extra ``book`` is not installed.
    """
    try:
        import jupytext
        import nbformat
    except ImportError as error:
        raise MissingExtra("Running a notebook", "book") from error
    try:
        text = source.read_text(encoding="utf-8")
        if source.suffix == ".ipynb":
            notebook = nbformat.reads(text, as_version=4)
        else:
            notebook = jupytext.reads(text, fmt="md:myst")
    except OSError as error:
        raise UnreadableFile(f"cannot read: {error.strerror or error}", path=source) from error
    except Exception as error:  # either library raises whatever it likes at a broken notebook
        raise UnreadableFile(f"is not a notebook: {error}", path=source) from error
    name_cells(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell["outputs"] = []
            cell["execution_count"] = None
    notebook.metadata = nbformat.from_dict({"kernelspec": dict(PYTHON3)})
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def _parameters_of(notebook: Any) -> dict[str, Parameter]:
    """Collect the plain assignments of the cell that is tagged ``parameters``."""
    found: dict[str, Parameter] = {}
    for cell in notebook.cells:
        if cell.cell_type != "code" or _TAG not in cell.metadata.get("tags", ()):
            continue
        for statement in ast.parse(cell.source).body:
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
            except ValueError:
                found[target.id] = Parameter(target.id, written, False, written)
    return found


def notebook_parameters(source: Path) -> dict[str, Parameter]:
    """Return a notebook's parameters, in the order of its parameters cell.

    Raises:
        UnreadableFile: the file is missing, or not a notebook.
    """
    return _parameters_of(read_notebook(source))


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
        except (ValueError, SyntaxError, MemoryError, RecursionError):
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


def check_parameters(
    source: Path, known: Mapping[str, Parameter], given: Mapping[str, object]
) -> None:
    """Refuse a parameter that a notebook does not have, or a value of another type.

    Papermill only logs an unknown name and then runs the defaults, so that a typing error looks
    like a result.

    Raises:
        UsageError: with the nearest known name, or with the default that shows the type.
    """
    for name, value in given.items():
        if name not in known:
            raise UsageError(
                f"{source.name} has no parameter '{name}'", remedy=_nearest(name, known)
            )
        parameter = known[name]
        if parameter.literal and not _fits(value, parameter.default):
            raise UsageError(
                f"{source.name}: the parameter '{name}' cannot be {value!r}",
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
    known = _parameters_of(notebook)
    check_parameters(source, known, given)
    key = _key(source, known, given, folder)
    if not force and is_current(out, key):
        return out
    import nbformat

    done = execute(source, notebook, given, folder)
    strip_volatile(done)
    done.metadata["chaincheck"] = {"key": key, "parameters": given, "seal": ""}
    # The seal is taken over what a reader of the file will find, hence after a round trip.
    done.metadata["chaincheck"]["seal"] = _seal(json.loads(nbformat.writes(done, version=4)))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnwritableOutput(out, error) from error
    write_bytes(out, (nbformat.writes(done, version=4) + "\n").encode())
    return out
