"""TOML files that users write: read with one kind of message, and misspelled words put right."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from chaincheck.errors import PathLike, UnreadableFile

__all__ = ["nearest", "read_toml"]


def read_toml(path: PathLike, *, remedy: str = "Correct the file") -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: the file.
        remedy: what to do about one that is not TOML.

    Raises:
        UnreadableFile: it cannot be read or is not TOML.
    """
    try:
        with Path(path).open("rb") as stream:
            return tomllib.load(stream)
    except OSError as cause:
        raise UnreadableFile(
            f"cannot read: {cause.strerror}", path=path, remedy="Name an existing TOML file"
        ) from None
    except (ValueError, RecursionError) as cause:
        raise UnreadableFile(f"not valid TOML: {cause}", path=path, remedy=remedy) from None


def nearest(word: str, known: Collection[str]) -> str:
    """Name the known word nearest to a misspelled one, or all of them."""
    close = difflib.get_close_matches(word, sorted(known), n=1)
    return f"Did you mean {close[0]!r}" if close else "Known: " + ", ".join(sorted(known))
