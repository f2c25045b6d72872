"""The files around merged weights: what is carried over from the base, and hashes of everything."""

from __future__ import annotations

import platform
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from chaincheck import models
from chaincheck.models import file_hash, weights_hash
from chaincheck.training.checkpoint import INDEX, WEIGHT_SUFFIXES
from chaincheck.training.folders import copy_file

__all__ = [
    "BASE_PREFIX",
    "MERGED",
    "PROVENANCE",
    "carry_over",
    "described",
    "hash_now",
    "libraries",
]

PROVENANCE = "chaincheck_merge.json"
"""File in a merged folder that says what it was made of, and what the audit found."""
MERGED = "the record of a merge"
"""What that file is called inside, see ``sealed``."""
BASE_PREFIX = "BASE_"
"""What stands before the names of the base's own card and provenance in a merged folder."""


def carry_over(base: Path, part: Path, taken: Collection[str]) -> tuple[dict[str, str], list[str]]:
    """Copy what is no weight: tokenizer, templates, settings, license.

    Returns:
        SHA-256 by name of what was copied, and the names of weight files that were left out.
    """
    copied: dict[str, str] = {}
    left_out = []
    for source in sorted(base.rglob("*")):
        name = source.relative_to(base)
        if not source.is_file() or any(piece.startswith(".") for piece in name.parts):
            continue
        if str(name) in taken or name.name in {INDEX, PROVENANCE}:
            continue
        if name.name.endswith(WEIGHT_SUFFIXES) or name.name.endswith(".index.json"):
            left_out.append(str(name))
            continue
        about_base = str(name) in {"README.md", models.PROVENANCE}
        target = part / (f"{BASE_PREFIX}{name}" if about_base else name)
        target.parent.mkdir(parents=True, exist_ok=True)
        copied[str(target.relative_to(part))] = copy_file(source, target)
    return copied, left_out


def described(folder: Path, files: Iterable[str] | None = None) -> dict[str, Any]:
    """Name a folder and the SHA-256 of the files in it that were read."""
    names = files if files is not None else _top_files(folder)
    found = {name: hash_now(folder / name) for name in names}
    if files is not None:
        for name in ("config.json", INDEX):
            if (folder / name).is_file():
                found[name] = hash_now(folder / name)
    return {"name": _called(folder), "weights": weights_hash(folder), "files": found}


def _called(folder: Path) -> str:
    """The folder's name; of a snapshot in a hub's cache the model's, OWNER/NAME."""
    parts = folder.resolve().parts
    cached = next((part for part in parts if part.startswith("models--")), None)
    return "/".join(cached.split("--")[1:]) if cached else folder.resolve().name


def hash_now(path: Path) -> str:
    """SHA-256 of what a file holds now, not of what it held when its time was last looked at."""
    return file_hash(path, remember=False)


def _top_files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))


def libraries() -> dict[str, str]:
    """Versions of what the weights passed through."""
    import safetensors
    import torch

    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "safetensors": str(safetensors.__version__),
    }
