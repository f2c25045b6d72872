"""Measure the recorded training runs: each seed by itself, beside the base, and their spread.

Every seed gives a judge of its own, with intervals over the triplets of the test; the seeds of one
recipe say besides how much of a number is the luck of a run. The two are never mixed into one
interval: a table shows the seeds, their mean and their range.

Intervals resample bridges, with all questions and variants that share one. A question's head leads
to one bridge, so questions that share a head are in one unit.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from chaincheck.cells import CellScores
from chaincheck.comparison_pipeline import compare_joined
from chaincheck.errors import PathLike
from chaincheck.evaluation import Evaluation, evaluate_cells
from chaincheck.items import Item, content_hash, write_items
from chaincheck.judges import Judge
from chaincheck.paired_results import PairedDifference
from chaincheck.pipeline import score_file
from chaincheck.results import Selectivity
from chaincheck.scores import Joined, join_files
from chaincheck.training_records import BASE, FOLDER, asked_items, recorded_seeds, run_judge

__all__ = [
    "CLUSTER",
    "PooledRuns",
    "SeedResult",
    "Spread",
    "measure_joined",
    "measure_pooled",
    "measure_run",
    "measure_runs",
    "same_order",
    "spread",
]

CLUSTER = "bridge"
"""What the intervals resample."""


@dataclass(frozen=True, slots=True)
class SeedResult:
    """One run's judge, measured.

    Attributes:
        arm: its recipe, or ``BASE``.
        seed: its seed; None for the base.
        evaluation: Nominal, CE, EE and Sigma of each variant.
        means: by variant and cell the mean score, in log-odds.
        gains: by variant the paired difference to the base; empty for the base itself.
    """

    arm: str
    seed: int | None
    evaluation: Evaluation
    means: Mapping[str, Mapping[str, float]]
    gains: Mapping[str, PairedDifference]

    def row(self, variant: str) -> Selectivity:
        """What was measured of one variant.

        Raises:
            KeyError: the run was not asked about it.
        """
        return _row(self.evaluation, variant)


def _row(evaluation: Evaluation, variant: str) -> Selectivity:
    for row in evaluation.rows:
        if row.variant == variant:
            return row
    raise KeyError(variant)


@dataclass(frozen=True, slots=True)
class PooledRuns:
    """The runs of one recipe, measured together: each triplet is judged by every run.

    A rate is then its mean over the runs, and an interval says how far that mean is known from so
    few triplets. The runs are taken as they are: the interval does not cover a further one.

    Attributes:
        arm: the recipe.
        seeds: of the runs, in their order.
        evaluation: Nominal, CE, EE and Sigma of each variant; its n counts a triplet once a run.
        against: what ``differences`` are to; None where there are none.
        differences: by variant the difference to the runs of ``against`` with the same seeds, or
            to the base; paired by triplet and seed.
    """

    arm: str
    seeds: tuple[int, ...]
    evaluation: Evaluation
    against: str | None
    differences: Mapping[str, PairedDifference]

    def row(self, variant: str) -> Selectivity:
        """What was measured of one variant.

        Raises:
            KeyError: the runs were not asked about it.
        """
        return _row(self.evaluation, variant)

    def triplets(self, variant: str) -> int:
        """How many triplets of a variant each run was asked about."""
        return self.row(variant).n // len(self.seeds)


@dataclass(frozen=True, slots=True)
class Spread:
    """A number over the seeds of one recipe.

    Attributes:
        values: one a seed, in the order of the seeds.
    """

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the seeds."""
        return float(np.mean(self.values))

    @property
    def low(self) -> float:
        """The lowest."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The highest."""
        return max(self.values)


def spread(results: Sequence[SeedResult], variant: str, quantity: str) -> Spread:
    """Collect a number over seeds.

    Args:
        results: the seeds of one recipe.
        variant: which triplets.
        quantity: an interval of ``Selectivity``: "nominal", "chain_effect", "edit_effect" or
            "contrast" for Sigma.

    Raises:
        ValueError: there are no results.
    """
    if not results:
        raise ValueError("a spread needs at least one seed")
    return Spread(tuple(getattr(one.row(variant), quantity).estimate for one in results))


def measure_runs(
    arms: Iterable[str],
    folder: PathLike = FOLDER,
    *,
    part: str = "test",
    resamples: int = 2000,
    exchanges: int = 2000,
    seed: int = 0,
) -> dict[str, list[SeedResult]]:
    """Measure the base and every recorded seed of some recipes.

    Args:
        arms: names of ``training_records.ARMS``.
        folder: where the records lie.
        part: "test" or "validation".
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        seed: seed of every draw.

    Returns:
        The results by recipe, those of ``BASE`` first. A recipe without a record has none.

    Raises:
        UnreadableFile: the base's record is not there.
        IntegrityError: a record is damaged.
    """
    how: dict[str, Any] = {"resamples": resamples, "exchanges": exchanges, "seed": seed}
    items = asked_items(part, folder)
    base = run_judge(BASE, folder=folder, part=part)
    before = _joined(items, base)
    found = {BASE: [measure_joined((BASE, None), base.fingerprint, before, **how)]}
    for arm in arms:
        found[arm] = []
        for one in recorded_seeds(arm, folder, part):
            judge = run_judge(arm, one, folder, part)
            found[arm].append(
                measure_joined((arm, one), judge.fingerprint, _joined(items, judge), before, **how)
            )
    return found


def measure_pooled(
    arms: Iterable[str],
    folder: PathLike = FOLDER,
    *,
    against: str = BASE,
    part: str = "test",
    seeds: int | None = None,
    resamples: int = 2000,
    exchanges: int = 2000,
    seed: int = 0,
) -> dict[str, PooledRuns]:
    """Measure the runs of each recipe together, and against those of another recipe.

    Resampling draws bridges, each with all its triplets and what every run said of them, so that
    what runs have in common on a triplet stays in the interval.

    Args:
        arms: names of ``training_records.ARMS``.
        folder: where the records lie.
        against: a recipe, or ``BASE``.
        part: "test" or "validation".
        seeds: take no seed from this one on; None takes all that are recorded.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        seed: seed of every draw.

    Returns:
        By recipe what was measured; a recipe without a record is left out. A recipe that has no
        seed in common with ``against``, or is it, has no differences.

    Raises:
        UnreadableFile: the base's record is not there.
        IntegrityError: a record is damaged.
    """
    how: dict[str, Any] = {"resamples": resamples, "exchanges": exchanges, "seed": seed}
    items = asked_items(part, folder)
    base = _joined(items, run_judge(BASE, folder=folder, part=part))
    known: dict[tuple[str, int], tuple[str, Joined]] = {}

    def runs(arm: str, some: Sequence[int]) -> tuple[str, Joined]:
        if arm == BASE:
            return BASE, _stacked([base] * len(some))
        for one in some:
            if (arm, one) not in known:
                judge = run_judge(arm, one, folder, part)
                known[arm, one] = (judge.fingerprint, _joined(items, judge))
        judges, joined = zip(*(known[arm, one] for one in some), strict=True)
        return content_hash(list(judges)), _stacked(joined)

    def recorded(arm: str) -> list[int]:
        there = recorded_seeds(arm, folder, part)
        return [one for one in there if seeds is None or one < seeds]

    found = {}
    for arm in arms:
        mine = recorded(arm)
        if not mine:
            continue
        shared = mine if against == BASE else [one for one in mine if one in recorded(against)]
        fingerprint, all_runs = runs(arm, mine)
        whole = measure_joined((arm, None), fingerprint, all_runs, **how)
        differences: Mapping[str, PairedDifference] = {}
        if shared and arm != against:
            other = runs(against, shared)[1]
            paired = (arm, None), fingerprint, runs(arm, shared)[1], other
            differences = measure_joined(*paired, names=(arm, against), **how).gains
        found[arm] = PooledRuns(
            arm, tuple(mine), whole.evaluation, against if differences else None, differences
        )
    return found


def same_order(
    arm: str, variant: str, folder: PathLike = FOLDER, *, part: str = "test"
) -> float | None:
    """How often two runs of a recipe agree on which of A and B scores higher.

    If it were a fair coin's toss for each run, half of the triplets would agree; if a triplet's
    names decided alone, all would.

    Args:
        arm: a name of ``training_records.ARMS``.
        variant: which triplets.
        folder: where the records lie.
        part: "test" or "validation".

    Returns:
        The share of triplets on which two runs agree, as a mean over all pairs of runs; a tie
        agrees with a tie. None if fewer than two runs are recorded.

    Raises:
        KeyError: there are no such triplets.
        IntegrityError: a record is damaged.
    """
    items = asked_items(part, folder)
    signs = []
    for one in recorded_seeds(arm, folder, part):
        rows = {row.variant: row for row in _joined(items, run_judge(arm, one, folder, part)).cells}
        signs.append(np.sign(rows[variant].a - rows[variant].b))
    if len(signs) < 2:
        return None
    pairs = combinations(signs, 2)
    return float(np.mean([np.mean(mine == other) for mine, other in pairs]))


def _stacked(runs: Sequence[Joined]) -> Joined:
    """Put what several runs said of the same triplets below one another, bridges as they are."""
    first = runs[0]
    cells = []
    for at, one in enumerate(first.cells):
        a, b, d = (np.concatenate([getattr(run.cells[at], x) for run in runs]) for x in "abd")
        coarse = None if one.coarse is None else np.tile(one.coarse, len(runs))
        cells.append(CellScores(one.file, one.variant, a, b, d, coarse=coarse))
    pairs = tuple(
        tuple(f"{number} {pair}" for number in range(len(runs)) for pair in some)
        for some in first.pair_ids
    )
    return Joined(
        tuple(cells), pairs, first.data_hash, content_hash([run.scores_hash for run in runs])
    )


def measure_run(
    judge: Judge,
    items: Sequence[Item],
    *,
    before: Judge | None = None,
    resamples: int = 2000,
    exchanges: int = 2000,
    seed: int = 0,
) -> SeedResult:
    """Measure one judge, and what it gained on another.

    Args:
        judge: a trained judge.
        items: whole triplets.
        before: the judge that it was trained from; None measures no gain.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        seed: seed of every draw.

    Raises:
        ChainCheckError: as the judges.
    """
    how: dict[str, Any] = {"resamples": resamples, "exchanges": exchanges, "seed": seed}
    known = None if before is None else _joined(items, before)
    names = (judge.name, BASE if before is None else before.name)
    after = _joined(items, judge)
    return measure_joined((judge.name, None), judge.fingerprint, after, known, names=names, **how)


def measure_joined(
    run: tuple[str, int | None],
    fingerprint: str,
    after: Joined,
    before: Joined | None = None,
    *,
    names: tuple[str, str] | None = None,
    resamples: int = 2000,
    exchanges: int = 2000,
    seed: int = 0,
) -> SeedResult:
    """Measure scores that are joined to their triplets.

    Args:
        run: recipe and seed of the judge that gave them.
        fingerprint: the judge's.
        after: its scores.
        before: the scores of the judge that it was trained from; None measures no gain.
        names: what the two judges are called in the comparison.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        seed: seed of every draw.

    Raises:
        UsageError: the two are about different data, or the data have no bridges.
    """
    options: dict[str, Any] = {"cluster": CLUSTER, "resamples": resamples, "seed": seed}
    gains: Mapping[str, PairedDifference] = {}
    if before is not None:
        named = names or (" ".join(str(part) for part in run if part is not None), BASE)
        compared = compare_joined(after, before, names=named, exchanges=exchanges, **options)
        gains = {row.variant: row for row in compared.rows}
    evaluation = evaluate_cells(
        after.cells,
        data_hash=after.data_hash,
        judge=fingerprint,
        scores_hash=after.scores_hash,
        **options,
    )
    means = {
        one.variant: {cell: float(np.mean(getattr(one, cell.lower()))) for cell in "ABD"}
        for one in after.cells
    }
    return SeedResult(*run, evaluation, means, gains)


def _joined(items: Sequence[Item], judge: Judge) -> Joined:
    with tempfile.TemporaryDirectory() as folder:
        data, scores = Path(folder) / "triplets.jsonl", Path(folder) / "scores.jsonl"
        write_items(data, items)
        score_file(data, judge, scores)
        return join_files([data], scores)
