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
from pathlib import Path
from typing import Any

import numpy as np

from chaincheck.comparison_pipeline import compare_joined
from chaincheck.errors import PathLike
from chaincheck.evaluation import Evaluation, evaluate_cells
from chaincheck.items import Item, write_items
from chaincheck.judges import Judge
from chaincheck.paired_results import PairedDifference
from chaincheck.pipeline import score_file
from chaincheck.results import Selectivity
from chaincheck.scores import Joined, join_files
from chaincheck.training_records import BASE, FOLDER, asked_items, recorded_seeds, run_judge

__all__ = [
    "CLUSTER",
    "SeedResult",
    "Spread",
    "join_judge",
    "measure_joined",
    "measure_run",
    "measure_runs",
    "row_of",
    "seed_differences",
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
        return row_of(self.evaluation, variant)


def row_of(evaluation: Evaluation, variant: str) -> Selectivity:
    """The row of one variant.

    Raises:
        KeyError: it has none.
    """
    for row in evaluation.rows:
        if row.variant == variant:
            return row
    raise KeyError(variant)


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


def seed_differences(
    results: Sequence[SeedResult], others: Sequence[SeedResult], variant: str, quantity: str
) -> dict[int, float]:
    """A number of each run less that of the other recipe's run with the same seed.

    Args:
        results: the runs of a recipe.
        others: those of another.
        variant: which triplets.
        quantity: as for ``spread``.

    Returns:
        By seed, of the seeds that both have.
    """
    mine, theirs = (
        {
            one.seed: getattr(one.row(variant), quantity).estimate
            for one in some
            if one.seed is not None
        }
        for some in (results, others)
    )
    return {seed: mine[seed] - theirs[seed] for seed in sorted(mine.keys() & theirs.keys())}


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
        part: as for ``training_records.asked_items``.
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
    before = join_judge(items, base)
    found = {BASE: [measure_joined((BASE, None), base.fingerprint, before, **how)]}
    for arm in arms:
        found[arm] = []
        for one in recorded_seeds(arm, folder, part):
            judge = run_judge(arm, one, folder, part)
            found[arm].append(
                measure_joined(
                    (arm, one), judge.fingerprint, join_judge(items, judge), before, **how
                )
            )
    return found


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
    known = None if before is None else join_judge(items, before)
    names = (judge.name, BASE if before is None else before.name)
    after = join_judge(items, judge)
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


def join_judge(items: Sequence[Item], judge: Judge) -> Joined:
    """Ask a judge and join its scores to their triplets.

    Raises:
        ChainCheckError: as the judge.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, scores = Path(folder) / "triplets.jsonl", Path(folder) / "scores.jsonl"
        write_items(data, items)
        score_file(data, judge, scores)
        return join_files([data], scores)
