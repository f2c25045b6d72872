"""The runs over seeds that chapters 5 to 7 quote, as the book keeps them.

A run takes minutes on two cores and the chapters quote dozens of them, so their judgments lie
below ``book/records/training``: the triplets, split; and for each run its judgment log of the
triplets held out, with its metrics and settings. The recipes are the files in ``book/recipes``.
``record_training`` makes whatever is missing. Weights are not kept in the book; they stay in the
user's cache, below ``training_records``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.errors import PathLike, UnreadableFile, UsageError
from chaincheck.items import Item, read_triplets
from chaincheck.judges.record import RecordedJudge
from chaincheck.models import cache_folder

__all__ = [
    "ARMS",
    "BASE",
    "CHOSEN",
    "COMMAND",
    "DECOYS",
    "FOLDER",
    "PARTS",
    "RELEASED",
    "SHOWN",
    "Arm",
    "Run",
    "asked_items",
    "log_of",
    "part_of",
    "read_run",
    "recipe_of",
    "recorded_seeds",
    "release_of",
    "run_judge",
    "run_of",
    "work_folder",
]

_BOOK = Path(__file__).resolve().parent.parent / "book"
FOLDER = _BOOK / "records" / "training"
"""Where the records lie in a checkout."""

BASE = "base"
"""What the record of the model as it comes is called."""

PARTS = ("train", "validation", "test")
"""The files of triplets. They share no bridge, no later step and no earlier one."""

SHOWN = "shown"
"""Asked about beside the held-out parts: the decoys that a run was itself trained on, or, for a run
that was trained on none, those that ``triplet-decoy`` with the same seed was trained on. They say
what could be learned at all, where the held-out ones say what that is worth elsewhere."""

DECOYS = "decoys"
"""The decoys of the validation part, for what is looked into after the test was asked."""

COMMAND = "python -m chaincheck.record_training"


@dataclass(frozen=True, slots=True)
class Arm:
    """One recipe, run with several seeds.

    Attributes:
        seeds: how many seeds, from 0.
        about: what tells it from the others, in a table's words.
        parts: the triplets that its judges are asked about, in this order: of ``PARTS``,
            ``DECOYS`` or ``SHOWN``. What is only tried, so
            that one recipe can be chosen, is asked about the validation triplets alone, and the
            chosen one about the test afterwards.
    """

    seeds: int
    about: str
    parts: tuple[str, ...] = ("test",)


_BOTH, _TRIED, _CHOSEN = ("test", "validation"), ("validation",), ("validation", "test")

ARMS: Mapping[str, Arm] = {
    "triplet": Arm(5, "triplets: real and invented names", (*_BOTH, DECOYS, SHOWN)),
    "triplet-decoy": Arm(
        5, "triplets: real and invented names, and decoys", (*_BOTH, DECOYS, SHOWN)
    ),
    "nominal-fict": Arm(5, "A above D, invented names"),
    "nominal-decoy": Arm(5, "A above D, decoys"),
    "nominal-real": Arm(5, "A above D, real names"),
    "nominal-unedited": Arm(5, "A above C, nothing edited"),
    "nominal-both": Arm(3, "A above D, no cell B", _TRIED),
    "no-b": Arm(3, "no answer for B", _TRIED),
    "no-margin": Arm(3, "no margin", _TRIED),
    "invariance": Arm(3, "with the invariance term", _CHOSEN),
    "no-invented": Arm(3, "real names only", _TRIED),
    "cell-c": Arm(3, "with cell C", _TRIED),
    "triplet-decoy-long": Arm(2, "as triplet-decoy, twice as many", (DECOYS, SHOWN)),
}
"""The recorded recipes by name; each is a file of ``book/recipes``."""

CHOSEN = "invariance"
"""What the rule of ``recipe_choice`` chose by the validation triplets. Only then were its judges
asked about the test."""

RELEASED = ("triplet-decoy", 0)
"""The run whose merged model is held against the gate: named before any was made."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one run beside its judgments.

    Attributes:
        recipe: its settings.
        summary: what ``train`` said of it.
        metrics: what it logged, step by step.
    """

    recipe: dict[str, Any]
    summary: dict[str, Any]
    metrics: list[dict[str, Any]]


def recipe_of(arm: str) -> Path:
    """The recipe's file.

    Raises:
        UsageError: there is no such recipe.
    """
    if arm not in ARMS:
        raise UsageError(f"no recipe {arm!r} is recorded", remedy="Known: " + ", ".join(ARMS))
    return _BOOK / "recipes" / f"{arm}.toml"


def part_of(part: str, folder: PathLike = FOLDER) -> Path:
    """The file of the triplets of one of ``PARTS``."""
    return Path(folder) / f"{part}.jsonl.gz"


def log_of(arm: str, seed: int = 0, folder: PathLike = FOLDER, part: str = "test") -> Path:
    """The judgment log of a run, or of the base, about one of ``PARTS``, ``DECOYS`` or ``SHOWN``.

    The base has no seed. What it said of the test is what the gate is checked with.
    """
    home = Path(folder)
    if arm == BASE:
        return release_of(home) / "base.jsonl" if part == "test" else home / f"base.{part}.jsonl.gz"
    mark = "" if part == "test" else f".{part}"
    return home / f"{arm}-{seed}{mark}.jsonl.gz"


def release_of(folder: PathLike = FOLDER) -> Path:
    """The folder of the gate: its conditions, their lock and both logs, with the merge's report."""
    return Path(folder) / "release"


def run_of(arm: str, seed: int, folder: PathLike = FOLDER) -> Path:
    """The settings and metrics of a run."""
    return Path(folder) / f"{arm}-{seed}.run.json.gz"


def recorded_seeds(arm: str, folder: PathLike = FOLDER, part: str = "test") -> list[int]:
    """The seeds of a recipe whose records about a part are there, see ``log_of``."""
    seeds = range(ARMS[arm].seeds)
    return [seed for seed in seeds if log_of(arm, seed, folder, part).exists()]


def run_judge(
    arm: str, seed: int = 0, folder: PathLike = FOLDER, part: str = "test"
) -> RecordedJudge:
    """Open the recorded judge of a run, or of the base: no model is loaded.

    Raises:
        UnreadableFile: the record is not there.
        IntegrityError: it is damaged.
    """
    return RecordedJudge(log_of(arm, seed, folder, part), command=f"{COMMAND} {arm}")


def read_run(arm: str, seed: int, folder: PathLike = FOLDER) -> Run:
    """Read the settings and metrics of a run.

    Raises:
        UnreadableFile: the record is not there, or is none.
    """
    from chaincheck.jsonl import open_bytes

    path = run_of(arm, seed, folder)
    try:
        with open_bytes(path) as file:
            return msgspec.json.decode(file.read(), type=Run)
    except msgspec.MsgspecError as cause:
        raise UnreadableFile(
            f"is no record of a run: {cause}", path=path, remedy=f"Delete it; {COMMAND} {arm}"
        ) from None


def work_folder(arm: str, seed: int) -> Path:
    """Where the run itself lies, with its adapter: in the user's cache."""
    return cache_folder() / "training_records" / f"{arm}-{seed}"


def asked_items(part: str, folder: PathLike = FOLDER) -> list[Item]:
    """What is asked about a part: A, B and D.

    Args:
        part: "test", "validation", which leaves out its decoys, or ``DECOYS``, which is these.
        folder: where the records lie.
    """
    source = "validation" if part == DECOYS else part
    return [
        triplet.cells[cell]
        for triplet in read_triplets(part_of(source, folder))
        if part == "test" or (triplet.variant == "decoy") == (part == DECOYS)
        for cell in "ABD"
    ]
