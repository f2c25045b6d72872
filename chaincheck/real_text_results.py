"""How far training carries over to real text: the record, and what is measured from it.

``book/records/training/real_text.json`` holds what every judge of ``real_text`` said about triplets
from MuSiQue and 2WikiMultiHopQA: the scores of cells A, B and D and, for each triplet, its data
set, the id of its record there, its variant and the number of its bridge. It holds no question, no
passage, no name and no answer, so it can be read and measured without the data sets.

Triplets that share a bridge, a step or a question are one unit of every interval, over all
variants; ``bridge`` is the number of that unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from chaincheck.cells import CellScores
from chaincheck.errors import InvalidItem, PathLike, UnreadableFile
from chaincheck.items import VARIANTS
from chaincheck.scores import Joined, hash_scores
from chaincheck.training_records import BASE, FOLDER
from chaincheck.training_results import SeedResult, measure_joined

__all__ = [
    "COMMAND",
    "POOLED",
    "REAL",
    "RECORD",
    "AskedTriplet",
    "JudgeScores",
    "Part",
    "Parts",
    "PromptLengths",
    "RealText",
    "load_real_text",
    "real_text_results",
    "real_text_runs",
]

RECORD = FOLDER / "real_text.json"
"""Where the record lies in a checkout."""

COMMAND = "python -m chaincheck.real_text ../shared/data"
"""What makes it."""

REAL = "real-text"
"""What judges are called that were trained on real text."""

POOLED = "pooled"
"""The triplets of all sources together, as a key of ``real_text_results``."""


class PromptLengths(msgspec.Struct, frozen=True, kw_only=True):
    """How long the prompts of a part are.

    Attributes:
        prompts: how many there are, one a cell.
        mean, median, longest: in tokens.
        cut: prompts of which a passage was cut.
    """

    prompts: int
    mean: float
    median: float
    longest: int
    cut: int


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """Triplets on one side of the split.

    Attributes:
        data: hash of their file.
        triplets: how many, by source and variant.
        groups: groups of triplets that share a bridge, a step or a question.
        prompts: how long they are.
    """

    data: str
    triplets: dict[str, dict[str, int]]
    groups: int
    prompts: PromptLengths


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What train and test are made of.

    Attributes:
        files: first 16 digits of the SHA-256 of each data set's file, by its name.
        facts: hashes of the book's own triplets that no test triplet shares a bridge with.
        strict, lenient: two-hop triplets that were built, by source and variant: with every
            check of the builder, and with the nine rules alone.
        known: strict triplets that were kept out of the test because the facts know them.
        train, test: the two sides.
        shared_passages: test triplets whose context holds a passage that some train context holds
            as well, in whatever role; no step of a test triplet is a step of a train one.
        shared_supports: those whose context holds a support of a train triplet: as a distractor,
            or as a decoy.
    """

    files: dict[str, str]
    facts: dict[str, str]
    strict: dict[str, dict[str, int]]
    lenient: dict[str, dict[str, int]]
    known: int
    train: Part
    test: Part
    shared_passages: int
    shared_supports: int


class AskedTriplet(msgspec.Struct, frozen=True, kw_only=True):
    """A test triplet, without its text.

    Attributes:
        source: the data set.
        record: the id of its record there.
        variant: "real", "fict" or "decoy".
        bridge: the number of its unit, see the module.
    """

    source: str
    record: str
    variant: str
    bridge: int


class JudgeScores(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge said about the test.

    Attributes:
        name: the judge's name.
        arm: its recipe; ``REAL`` if it was trained on real text, ``BASE`` for the untrained one.
        seed: of its training; None for the base.
        fingerprint: hash of its instrument.
        setup: hash of its instrument without the adapter: the same for all judges of a record.
        weights: SHA-256 of the adapter's weights; None for the base.
        acquisition: how the scores were got.
        trained: what its training came to (hashes of recipe and data, triplets, steps, seconds);
            empty for the base.
        scores: of A, B and D of each test triplet, in their order, in log-odds.
    """

    name: str
    arm: str
    seed: int | None
    fingerprint: str
    setup: str
    weights: str | None
    acquisition: dict[str, Any]
    trained: dict[str, Any]
    scores: tuple[tuple[float, float, float], ...]


class RealText(msgspec.Struct, frozen=True, kw_only=True):
    """The record.

    Attributes:
        command: makes it.
        version: version of chaincheck that made it.
        parts: what was trained on and tested with.
        recipe: settings of the judges that were trained on real text, without the seed.
        triplets: the test triplets.
        judges: what each judge said of them, the base first.
    """

    command: str
    version: str
    parts: Parts
    recipe: dict[str, Any]
    triplets: tuple[AskedTriplet, ...]
    judges: tuple[JudgeScores, ...]


def load_real_text(path: PathLike | None = None) -> RealText:
    """Read the record.

    Args:
        path: its file, by default the committed one. A relative path is looked for in the current
            folder and then in the checkout.

    Raises:
        UnreadableFile: the file is missing.
        InvalidItem: it is no such record, or not whole.
    """
    file = RECORD if path is None else Path(path)
    if not file.is_file() and not file.is_absolute():
        file = FOLDER.parent.parent.parent / file
    try:
        record = msgspec.json.decode(file.read_bytes(), type=RealText)
    except OSError as error:
        raise UnreadableFile(
            f"cannot read: {error.strerror or error}", path=file, remedy=f"Make it: {COMMAND}"
        ) from error
    except msgspec.MsgspecError as error:
        raise _refused(f"is no record of judges on real text: {error}", file) from error
    if not record.triplets or [judge.name for judge in record.judges[:1]] != [BASE]:
        raise _refused("holds no judgments of the untrained model", file)
    for judge in record.judges:
        if len(judge.scores) != len(record.triplets):
            told = f"{len(judge.scores)} of {len(record.triplets)} triplets"
            raise _refused(f"holds scores of {judge.name} for {told}", file)
        if judge.setup != record.judges[0].setup:
            raise _refused(f"holds {judge.name} with other settings than {BASE}", file)
    return record


def _refused(problem: str, file: Path) -> InvalidItem:
    return InvalidItem(problem, path=file, remedy=f"Delete it and make it anew: {COMMAND}")


def _joined(record: RealText, judge: JudgeScores, scope: str) -> Joined:
    """Put a judge's scores of some triplets into columns, a row a variant."""
    cells: list[CellScores] = []
    places: list[tuple[str, ...]] = []
    said: dict[str, float] = {}
    for variant in VARIANTS:
        chosen = [
            place
            for place, one in enumerate(record.triplets)
            if one.variant == variant and scope in (POOLED, one.source)
        ]
        if not chosen:
            continue
        scores = np.array([judge.scores[place] for place in chosen], dtype=np.float64)
        bridges = np.array([record.triplets[place].bridge for place in chosen], dtype=np.int64)
        a, b, d = scores.T
        cells.append(CellScores(scope, variant, a, b, d, coarse=bridges))
        places.append(tuple(str(place) for place in chosen))
        said |= {
            f"{place} {cell}": score
            for place in chosen
            for cell, score in zip("ABD", judge.scores[place], strict=True)
        }
    return Joined(tuple(cells), tuple(places), record.parts.test.data, hash_scores(said))


def real_text_results(
    path: PathLike | None = None,
    scopes: Sequence[str] | None = None,
    *,
    resamples: int = 2000,
    exchanges: int = 2000,
    seed: int = 0,
) -> dict[str, dict[str, list[SeedResult]]]:
    """Measure every judge of the record: Nominal, CE, EE and Sigma, and the gain on the base.

    Args:
        path: the record, see ``load_real_text``.
        scopes: names of sources, or ``POOLED``; by default ``POOLED`` and every source.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        seed: seed of every draw.

    Returns:
        By scope and recipe the runs, as ``training_results.measure_runs`` gives them: ``BASE``
        first, then the recipes that were trained on facts, then ``REAL``. A variant of which a
        scope has no triplet has no row.

    Raises:
        UnreadableFile: the record is missing.
        InvalidItem: the file is no such record.
        KeyError: no triplet is of such a scope.
    """
    record = load_real_text(path)
    known = (POOLED, *dict.fromkeys(one.source for one in record.triplets))
    found: dict[str, dict[str, list[SeedResult]]] = {}
    for scope in known if scopes is None else scopes:
        if scope not in known:
            raise KeyError(scope)
        found[scope] = _measured(
            record, scope, {"resamples": resamples, "exchanges": exchanges, "seed": seed}
        )
    return found


def real_text_runs(
    path: PathLike | None = None, scope: str = POOLED
) -> tuple[Joined, dict[str, dict[int, tuple[str, Joined]]]]:
    """The scores themselves, to be pooled or held against each other.

    Args:
        path: the record, see ``load_real_text``.
        scope: the name of a source, or ``POOLED``.

    Returns:
        The base's scores, and by recipe and seed each run's fingerprint and scores.

    Raises:
        UnreadableFile: the record is missing.
        InvalidItem: the file is no such record.
        KeyError: no triplet is of such a scope.
    """
    record = load_real_text(path)
    if scope != POOLED and scope not in {one.source for one in record.triplets}:
        raise KeyError(scope)
    runs: dict[str, dict[int, tuple[str, Joined]]] = {}
    for judge in record.judges:
        if judge.seed is not None:
            found = (judge.fingerprint, _joined(record, judge, scope))
            runs.setdefault(judge.arm, {})[judge.seed] = found
    return _joined(record, record.judges[0], scope), runs


def _measured(record: RealText, scope: str, how: Mapping[str, Any]) -> dict[str, list[SeedResult]]:
    base = _joined(record, record.judges[0], scope)
    found: dict[str, list[SeedResult]] = {}
    for judge in record.judges:
        run = (judge.arm, judge.seed)
        first = judge is record.judges[0]
        after = base if first else _joined(record, judge, scope)
        before = None if first else base
        result = measure_joined(run, judge.fingerprint, after, before, **how)
        found.setdefault(judge.arm, []).append(result)
    return found
