"""One training run of a reader's own, as chapter 5 makes it: train now, and open what came of it.

The run lies in a folder that is named after everything it depends on: recipe, data, base, and the
code that trains. So an interrupted run is carried on, a finished one is not made twice, and a run
of other code is never taken for this one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from chaincheck.errors import InvalidModel, MissingExtra, PathLike, UsageError
from chaincheck.freshness import code_and_data, environment, file_digest
from chaincheck.items import Item, Triplet
from chaincheck.judges import Judge
from chaincheck.models import find_model
from chaincheck.record_training import open_run

if TYPE_CHECKING:
    from chaincheck.training.recipe import Recipe
    from chaincheck.training.run_folder import TrainingSummary

__all__ = ["LiveRun", "live_run", "some_questions"]

_CODE = ("chaincheck/training/", "chaincheck/judges/")


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A run that was made now, or why there is none.

    Attributes:
        problem: why no model was trained; None if one was.
        folder: where the run lies.
        summary: what it did.
        judge: the trained judge.
        before: the judge that it was trained from.
    """

    problem: str | None
    folder: Path | None = None
    summary: TrainingSummary | None = None
    judge: Judge | None = None
    before: Judge | None = None


def live_run(
    base: str,
    data: PathLike,
    recipe: Recipe,
    work: PathLike,
    *,
    threads: int | None = None,
) -> LiveRun:
    """Train, or go on with training, or find trained.

    Args:
        base: a model's name or folder.
        data: the triplets to train on.
        recipe: how. There is nothing to validate with, so a recipe that validates is run without
            that and the last state is kept.
        work: a folder in which runs are kept.
        threads: threads of the CPU.

    Raises:
        ChainCheckError: whatever ``train`` raises once it has begun. A model that is not on this
            machine, or a package, is no error: the result says so.
    """
    try:
        find_model(base)
        from chaincheck.training.run import train
    except (UsageError, InvalidModel) as problem:
        return LiveRun(str(problem))
    recipe = msgspec.structs.replace(recipe, eval_every=0, patience=0)
    folder = Path(work) / _key(base, data, recipe)
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        summary = train(base, data, folder, recipe, threads=threads)
    except MissingExtra as problem:
        return LiveRun(str(problem))
    how: dict[str, Any] = {
        "model": base,
        "prompt": recipe.prompt,
        "dtype": recipe.dtype,
        "threads": threads,
    }
    judge = open_run("trained", adapter=folder / "adapter", **how)
    before = open_run("base", **how)
    return LiveRun(None, folder, summary, judge, before)


def _key(base: str, data: PathLike, recipe: Recipe) -> str:
    """Name what a run depends on."""
    code = {name: file_digest(path) for name, path in code_and_data() if name.startswith(_CODE)}
    parts = [base, file_digest(Path(data)), recipe.settings, code, environment()]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:16]


def some_questions(
    triplets: Sequence[Triplet], count: int, variants: Sequence[str], cells: str = "ABD"
) -> list[Item]:
    """Take the items of the first so many questions in some variants.

    Args:
        triplets: all there are.
        count: how many questions; those that have every variant.
        variants: which variants.
        cells: which cells.
    """
    found: dict[str, dict[str, Triplet]] = {}
    for triplet in triplets:
        found.setdefault(triplet.cells["A"].query, {})[triplet.variant] = triplet
    whole = [one for one in found.values() if set(variants) <= set(one)]
    return [
        one[variant].cells[cell] for one in whole[:count] for variant in variants for cell in cells
    ]
