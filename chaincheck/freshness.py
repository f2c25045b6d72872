"""What a page can depend on besides its own text: code, kept data and installed versions."""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from chaincheck.errors import ChainCheckError
from chaincheck.models import MODELS, PROVENANCE, model_folder

__all__ = ["code_and_data", "environment", "file_digest", "models"]

_PROJECT = "chaincheck-book"
# The extras that a chapter may use. The tests' packages leave its numbers alone.
_EXTRAS = ("", "book", "judges", "training", "audit")
# What a checkout keeps below book/ for chapters to read.
_DATA = {".csv", ".gz", ".json", ".jsonl", ".toml", ".tsv"}


def file_digest(path: Path) -> str:
    """Hash the bytes of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def code_and_data() -> Iterator[tuple[str, Path]]:
    """Yield every file that a chapter may import or read, with its name in the checkout."""
    package = Path(__file__).resolve().parent
    for path in sorted(package.rglob("*")):
        inside = path.relative_to(package).parts
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside)
        if path.is_file() and not hidden:
            yield path.relative_to(package.parent).as_posix(), path
    for path in sorted(package.parent.joinpath("book").rglob("*")):
        if path.suffix in _DATA and path.is_file():
            yield path.relative_to(package.parent).as_posix(), path


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def environment() -> tuple[str, ...]:
    """List the interpreter and whatever is installed that a chapter may use, with versions.

    That is what the project requires, and what those require in turn. Where the project itself
    is not installed it is every distribution there is.
    """
    from packaging.requirements import Requirement

    version = ".".join(map(str, sys.version_info[:3]))
    try:
        metadata.distribution(_PROJECT)
    except metadata.PackageNotFoundError:
        every = {f"{dist.name}=={dist.version}" for dist in metadata.distributions()}
        return (version, *sorted(every))
    found: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [(_PROJECT, extra) for extra in _EXTRAS]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            dist = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # of an extra that is not installed
        if name != _PROJECT:  # its files are hashed; its version says less
            found[name] = dist.version
        for text in dist.requires or ():
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                waiting += [(_normal(need.name), wanted) for wanted in ("", *need.extras)]
    return (version, *(f"{name}=={found[name]}" for name in sorted(found)))


def models() -> tuple[str, ...]:
    """List the models that a chapter may ask, with what they were made of or that they are absent.

    A chapter that asks a model shows something else on a machine without it.
    """
    found = []
    for name in MODELS:
        try:
            path = model_folder(name) / PROVENANCE
            found.append(f"{name} {file_digest(path)}")
        except (OSError, ChainCheckError):
            found.append(f"{name} absent")
    return tuple(found)
