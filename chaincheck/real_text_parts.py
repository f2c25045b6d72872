"""Triplets from real text, split into train and test: what ``real_text`` trains on and asks about.

Two-hop triplets with two distractors are built from the MuSiQue and 2WikiMultiHopQA files of a
folder, and a group of triplets that share a bridge, a step or a question goes to one side of the
split as a whole. Every group with a triplet that passes all checks of the builder is tested with,
with those triplets alone. All other groups are trained on: their triplets pass the nine rules and
fail a further check (a support that does not state its step, a way around the bridge), so some of
what is learned from is wrong. That is the price of a test that is as large and as sound as the
files allow. A group that shares a bridge or a step with the facts that judges were trained on is
never tested with; it is trained on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from chaincheck.chains import Chain
from chaincheck.errors import MissingExtra, PathLike, UnreadableFile, UsageError
from chaincheck.items import Item, Triplet, content_hash, group_triplets, read_triplets
from chaincheck.models import find_model
from chaincheck.real_text_results import Part, Parts, PromptLengths
from chaincheck.records import DATA_SETS
from chaincheck.splits import groups
from chaincheck.training_records import FOLDER, part_of

__all__ = ["Drawn", "draw_parts", "items_of", "split_parts"]

_DISTRACTORS = 2
_HOPS = 2
_FACTS = ("train", "validation")


def _silent(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
    del what, total
    yield from items


@dataclass(frozen=True, slots=True)
class Drawn:
    """Both sides of the split.

    Attributes:
        train, test: triplets.
        known: triplets that would be tested with, were it not for the facts.
        groups: how many groups of triplets each side has, train first.
        units: for each test triplet the number of its group, from 0.
    """

    train: list[Triplet] = field(default_factory=list)
    test: list[Triplet] = field(default_factory=list)
    known: list[Triplet] = field(default_factory=list)
    groups: tuple[int, int] = (0, 0)
    units: list[int] = field(default_factory=list)


def split_parts(
    strict: Sequence[Triplet], lenient: Sequence[Triplet], facts: Sequence[Triplet] = ()
) -> Drawn:
    """Split triplets by group into train and test, see the module.

    Args:
        strict: triplets that pass every check of the builder.
        lenient: those that pass the nine rules.
        facts: what judges were trained on that will be asked; nothing of it is tested with.

    Returns:
        Both sides. They share no bridge, no step and no question.
    """
    rows = {(one.pair_id, one.variant): one for one in (*lenient, *strict)}
    sound, barred = {id(one) for one in strict}, {id(one) for one in facts}
    train: list[Triplet] = []
    test: list[Triplet] = []
    known: list[Triplet] = []
    units: list[int] = []
    sides = [0, 0]
    for group in groups([*rows.values(), *facts], by_head=True):
        own = [one for one in group if id(one) not in barred]
        tested = [one for one in own if id(one) in sound]
        if tested and len(own) == len(group):
            test += tested
            units += [sides[1]] * len(tested)
            sides[1] += 1
        elif own:
            train += own
            known += tested
            sides[0] += 1
    return Drawn(train, test, known, (sides[0], sides[1]), units)


def draw_parts(
    folder: PathLike,
    facts: PathLike | None = None,
    *,
    model: str,
    prompt: str,
    progress: Any = _silent,
) -> tuple[Drawn, Parts]:
    """Build the triplets of every file and split them.

    Args:
        folder: holds the files that ``records.DATA_SETS`` names.
        facts: where the triplets of the book's facts lie; by default where the book has them.
        model: whose tokens prompts are measured in.
        prompt: the prompt that they are measured with.
        progress: wraps what is built.

    Returns:
        Triplets, and what they are made of; the latter has no text.

    Raises:
        UnreadableFile: a file is missing.
        UsageError: one side of the split is empty.
    """
    from chaincheck.training.run_folder import lines_hash

    built: dict[bool, list[Triplet]] = {True: [], False: []}
    files = {}
    for one in DATA_SETS.values():
        path = Path(folder) / one.file
        files[one.file] = _digest(path)
        for strict in built:
            built[strict] += _two_hops(one.source, path, strict, progress)
    places = [part_of(part, FOLDER if facts is None else facts) for part in _FACTS]
    drawn = split_parts(
        built[True], built[False], [one for place in places for one in read_triplets(place)]
    )
    if not (drawn.train and drawn.test):
        raise UsageError(
            f"{folder} gives {len(drawn.train)} triplets to train on and {len(drawn.test)} to "
            "test with",
            remedy="Name the folder that holds the whole original files",
        )
    seen = {text for item in items_of(drawn.train) for text in item.passages}
    learned = {item.passages[at] for item in items_of(drawn.train) for at in _supports(item)}
    contexts = [one.cells["A"].passages for one in drawn.test]
    measure = _measure_prompts(model, prompt)
    sides = [
        Part(
            data=content_hash([item.item_id for item in items_of(side)]),
            triplets=_counts(side),
            groups=number,
            prompts=measure(items_of(side)),
        )
        for side, number in zip((drawn.train, drawn.test), drawn.groups, strict=True)
    ]
    return drawn, Parts(
        files=files,
        facts={place.name: lines_hash(place) for place in places},
        strict=_counts(built[True]),
        lenient=_counts(built[False]),
        known=len(drawn.known),
        train=sides[0],
        test=sides[1],
        shared_passages=sum(not seen.isdisjoint(context) for context in contexts),
        shared_supports=sum(not learned.isdisjoint(context) for context in contexts),
    )


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise UnreadableFile(
            f"cannot read: {error.strerror or error}",
            path=path,
            remedy="Name the folder that holds the original files",
        ) from error


def _two_hops(source: str, path: Path, strict: bool, progress: Any) -> list[Triplet]:
    """Build from all records, which lend each other names, and keep the two-hop questions."""
    from chaincheck.sources import open_source
    from chaincheck.triplets import build

    records = list(open_source(source).read(path))
    short = {
        (one.source_id, one.link) for one in records if isinstance(one, Chain) and one.hops == _HOPS
    }
    made = build(records, seed=0, distractors=_DISTRACTORS, strict=strict, progress=progress)
    return [
        one
        for one in group_triplets(made.items)
        if (one.cells["A"].source_id, one.cells["A"].link) in short
    ]


def items_of(triplets: Iterable[Triplet]) -> list[Item]:
    """The cells of triplets side by side: A, B, D of the first, and so on."""
    return [one.cells[cell] for one in triplets for cell in "ABD"]


def _supports(item: Item) -> tuple[int, ...]:
    return (*item.earlier_support, *item.later_support)


def _counts(triplets: Iterable[Triplet]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for one in triplets:
        row = found.setdefault(one.cells["A"].source or "", {})
        row[one.variant] = row.get(one.variant, 0) + 1
    return found


def _measure_prompts(model: str, prompt: str) -> Callable[[Sequence[Item]], PromptLengths]:
    """Give a function that measures prompts, as judges are asked and as they are trained."""
    try:
        from transformers import AutoTokenizer
    except ModuleNotFoundError:
        raise MissingExtra("training", "training") from None
    from chaincheck.judges.prompts import load_prompt
    from chaincheck.judges.rendering import Renderer

    where = find_model(model)
    tokenizer = AutoTokenizer.from_pretrained(where, local_files_only=True)
    render = Renderer(tokenizer, load_prompt(prompt), where=str(where))

    def measure(items: Sequence[Item]) -> PromptLengths:
        asked = [render(item) for item in items]
        lengths = [len(one.ids) for one in asked]
        return PromptLengths(
            prompts=len(lengths),
            mean=float(np.mean(lengths)),
            median=float(np.median(lengths)),
            longest=max(lengths),
            cut=sum(bool(one.cuts) for one in asked),
        )

    return measure
