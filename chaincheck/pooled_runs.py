"""The runs of one recipe measured together: each triplet is judged by every run.

Resampling draws bridges, each with all its triplets and what every run said of them, so that what
runs have in common on a triplet stays in the interval. Rates and their differences are means over
triplets and runs. Sigma is not: it takes the size of the mean edit effect, in which leans of single
runs cancel, so no run need have it. Where Sigma of runs is meant, give it run by run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chaincheck.cells import CellScores
from chaincheck.errors import PathLike, UsageError
from chaincheck.evaluation import Evaluation
from chaincheck.items import content_hash
from chaincheck.paired_results import PairedDifference
from chaincheck.results import Selectivity
from chaincheck.scores import Joined
from chaincheck.training_records import BASE, FOLDER, asked_items, recorded_seeds, run_judge
from chaincheck.training_results import join_judge, measure_joined, row_of

__all__ = ["PooledRuns", "joined_runs", "measure_pooled", "pool_runs", "stacked"]


@dataclass(frozen=True, slots=True)
class PooledRuns:
    """The runs of one recipe, measured together: each triplet is judged by every run.

    A rate is then its mean over the runs, and an interval says how far that mean is known from so
    few triplets. The runs are taken as they are: the interval does not cover a further one.

    Attributes:
        arm: the recipe.
        seeds: of the runs, in their order.
        shared: those of them that ``differences`` rest on.
        evaluation: Nominal, CE, EE and Sigma of each variant; its n counts a triplet once a run.
        against: what ``differences`` are to; None where there are none.
        differences: by variant the difference to the runs of ``against`` with the same seeds, or
            to the base; paired by triplet and seed.
    """

    arm: str
    seeds: tuple[int, ...]
    shared: tuple[int, ...]
    evaluation: Evaluation
    against: str | None
    differences: Mapping[str, PairedDifference]

    def row(self, variant: str) -> Selectivity:
        """What was measured of one variant.

        Raises:
            KeyError: the runs were not asked about it.
        """
        return row_of(self.evaluation, variant)

    def triplets(self, variant: str) -> int:
        """How many triplets of a variant each run was asked about."""
        return self.row(variant).n // len(self.seeds)


def joined_runs(
    arm: str, folder: PathLike = FOLDER, *, part: str = "test", seeds: int | None = None
) -> dict[int, tuple[str, Joined]]:
    """What the recorded runs of a recipe said of a part, joined to its triplets.

    Args:
        arm: a name of ``training_records.ARMS``.
        folder: where the records lie.
        part: as for ``training_records.asked_items``.
        seeds: take no seed from this one on; None takes all that are recorded.

    Returns:
        By seed the judge's fingerprint and its scores.

    Raises:
        IntegrityError: a record is damaged.
    """
    items = asked_items(part, folder)
    found = {}
    for one in recorded_seeds(arm, folder, part):
        if seeds is None or one < seeds:
            judge = run_judge(arm, one, folder, part)
            found[one] = (judge.fingerprint, join_judge(items, judge))
    return found


def pool_runs(
    runs: Mapping[str, Mapping[int, tuple[str, Joined]]],
    base: Joined,
    *,
    against: str = BASE,
    resamples: int = 2000,
    exchanges: int = 2000,
    seed: int = 0,
) -> dict[str, PooledRuns]:
    """Measure the runs of each recipe together, and against those of another recipe.

    Args:
        runs: by recipe and seed a judge's fingerprint and its scores of the same triplets.
        base: the scores of the base.
        against: a recipe, or ``BASE``.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        seed: seed of every draw.

    Returns:
        By recipe what was measured; a recipe without a run is left out. A recipe that has no seed
        in common with ``against``, or is it, has no differences.

    Raises:
        UsageError: the runs are about different triplets.
    """
    how: dict[str, Any] = {"resamples": resamples, "exchanges": exchanges, "seed": seed}
    found = {}
    for arm, mine in runs.items():
        if not mine:
            continue
        named = content_hash([fingerprint for fingerprint, _ in mine.values()])
        together = stacked([joined for _, joined in mine.values()])
        whole = measure_joined((arm, None), named, together, **how)
        theirs = runs.get(against, {})
        shared = [one for one in mine if against == BASE or one in theirs]
        differences: Mapping[str, PairedDifference] = {}
        if shared and arm != against:
            first = stacked([mine[one][1] for one in shared])
            second = stacked([base if against == BASE else theirs[one][1] for one in shared])
            names = (arm, against)
            differences = measure_joined(
                (arm, None), named, first, second, names=names, **how
            ).gains
        found[arm] = PooledRuns(
            arm,
            tuple(mine),
            tuple(shared) if differences else (),
            whole.evaluation,
            against if differences else None,
            differences,
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
    """Measure the recorded runs of each recipe together, see ``pool_runs``.

    Args:
        arms: names of ``training_records.ARMS``.
        folder: where the records lie.
        against: a recipe, or ``BASE``.
        part: as for ``training_records.asked_items``.
        seeds: take no seed from this one on; None takes all that are recorded.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        seed: seed of every draw.

    Returns:
        By recipe what was measured, see ``pool_runs``.

    Raises:
        UnreadableFile: the base's record is not there.
        IntegrityError: a record is damaged.
    """
    wanted = list(arms)
    base = join_judge(asked_items(part, folder), run_judge(BASE, folder=folder, part=part))
    runs = {
        arm: joined_runs(arm, folder, part=part, seeds=seeds)
        for arm in dict.fromkeys([*wanted, against])
        if arm != BASE
    }
    how: dict[str, Any] = {"resamples": resamples, "exchanges": exchanges, "seed": seed}
    found = pool_runs(runs, base, against=against, **how)
    return {arm: found[arm] for arm in wanted if arm in found}


def stacked(runs: Sequence[Joined]) -> Joined:
    """Put what several runs said of the same triplets below one another, bridges as they are.

    Args:
        runs: at least one.

    Raises:
        UsageError: they are about different triplets.
    """
    first = runs[0]
    if any((one.data_hash, one.pair_ids) != (first.data_hash, first.pair_ids) for one in runs):
        raise UsageError("the runs are about different triplets", remedy="Pool runs of one part")
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
