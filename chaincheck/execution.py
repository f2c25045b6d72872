"""Execute a notebook in a kernel of our own, and strip what differs from run to run.

The kernel is the interpreter that runs this module, offered under a name that no kernel of the
reader's can shadow, and it reads none of the reader's own settings: neither an IPython profile
nor a matplotlib style. So a page shows the same on every machine, and no kernel need be
installed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaincheck.errors import NotebookFailed

__all__ = ["KERNEL_SETTINGS", "PYTHON3", "execute", "name_cells", "strip_volatile"]

_KERNEL = "chaincheck-book"
PYTHON3 = {"display_name": "Python 3", "language": "python", "name": "python3"}

# The kernel neither sees nor changes the reader's own set-up. Figures come as SVG for the page
# and PNG for print.
_KERNEL_CONFIG = """\
c.IPKernelApp.log_level = 50
c.HistoryManager.enabled = False
c.InteractiveShellApp.exec_PYTHONSTARTUP = False
c.InlineBackend.figure_formats = {"svg", "png"}
c.InlineBackend.print_figure_kwargs = {"bbox_inches": "tight"}
"""
_MATPLOTLIBRC = """\
svg.hashsalt: chaincheck
figure.dpi: 144
"""

KERNEL_SETTINGS = (_KERNEL_CONFIG, _MATPLOTLIBRC)
"""What the kernel is set to, for the key of a run."""


def name_cells(notebook: Any) -> None:
    """Give the cells ids that depend on their place only."""
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number:03d}"


@contextmanager
def _private_kernel() -> Iterator[None]:
    """Offer a kernel that is this very interpreter, under a name that nothing can shadow."""
    package_parent = str(Path(__file__).resolve().parent.parent)
    with tempfile.TemporaryDirectory(prefix="chaincheck-kernel-") as name:
        folder = Path(name)
        (folder / "profile_default").mkdir()
        config = folder / "profile_default" / "ipython_kernel_config.py"
        config.write_text(_KERNEL_CONFIG, encoding="utf-8")
        style = folder / "matplotlibrc"
        style.write_text(_MATPLOTLIBRC, encoding="utf-8")
        path = [package_parent, *filter(None, [os.environ.get("PYTHONPATH")])]
        spec = {
            "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "ChainCheck book",
            "language": "python",
            "env": {
                "COLUMNS": "100",
                "IPYTHONDIR": str(folder),
                "MATPLOTLIBRC": str(style),
                "MPLBACKEND": "module://matplotlib_inline.backend_inline",
                "PYTHONHASHSEED": "0",
                "PYTHONPATH": os.pathsep.join(path),
                # Of tqdm in a notebook without widgets; it would stand on the page, paths and all.
                "PYTHONWARNINGS": "ignore:IProgress not found",
                "SOURCE_DATE_EPOCH": "0",  # figures carry a date
                "TQDM_DISABLE": "1",
            },
        }
        kernel = folder / "kernels" / _KERNEL
        kernel.mkdir(parents=True)
        (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
        before = os.environ.get("JUPYTER_PATH")
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(folder), before]))
        try:
            yield
        finally:
            if before is None:
                del os.environ["JUPYTER_PATH"]
            else:
                os.environ["JUPYTER_PATH"] = before


def strip_volatile(notebook: Any) -> None:
    """Strip what differs from run to run, so that two runs give the same bytes."""
    name_cells(notebook)
    for cell in notebook.cells:
        for volatile in ("papermill", "execution"):
            cell.metadata.pop(volatile, None)
        if not cell.metadata.get("tags", True):
            del cell.metadata["tags"]
    language = notebook.metadata.get("language_info", {})
    notebook.metadata.clear()
    notebook.metadata["kernelspec"] = dict(PYTHON3)
    notebook.metadata["language_info"] = {
        name: language[name] for name in ("name", "file_extension", "mimetype") if name in language
    }


def _first_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[0] if lines else ""


def execute(source: Path, notebook: Any, parameters: Mapping[str, object], cwd: Path) -> Any:
    """Run every cell of a notebook with papermill.

    Args:
        source: the notebook's path, for messages.
        notebook: an ``nbformat`` NotebookNode; it is left as it is.
        parameters: what replaces the values of its parameters cell; they must exist there.
        cwd: the folder that the cells run in.

    Returns:
        The executed NotebookNode.

    Raises:
        NotebookFailed: a cell raised, the kernel died, or a cell was left out. Its cell is the
            number of the code cell, counted from 1 as the source has them.
    """
    import papermill
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    tags = [cell.metadata.get("tags", ()) for cell in notebook.cells]
    codes = [cell.cell_type == "code" for cell in notebook.cells]
    if parameters:  # papermill puts its own cell behind the parameters cell
        injected = next((n for n, tag in enumerate(tags) if "parameters" in tag), -1) + 1
        codes.insert(injected, False)

    def fail(index: int, cause: str) -> NotebookFailed:
        return NotebookFailed(source, sum(codes[: index + 1]), cause)

    try:
        with _private_kernel():
            done = papermill.execute_notebook(
                notebook,
                None,
                parameters=dict(parameters),
                kernel_name=_KERNEL,
                cwd=cwd,
                progress_bar=False,
                start_timeout=120,
                coalesce_streams=True,
            )
    except papermill.PapermillExecutionError as error:
        cause = f"{error.ename}: {_first_line(error.evalue)} (in: {_first_line(error.source)})"
        raise fail(error.cell_index, cause) from error
    except (DeadKernelError, CellControlSignal) as error:
        raise fail(-1, f"the kernel stopped: {_first_line(str(error))}") from error
    # sys.exit(0) ends a kernel's work without an error; the rest would be shown unexecuted.
    for index, cell in enumerate(done.cells):
        if cell.cell_type == "code" and cell.source.strip() and cell.execution_count is None:
            raise fail(index, "was never executed")
    return done
