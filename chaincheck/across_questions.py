"""One threshold for all questions: is a whole chain of one question above a broken one of another?

Nominal, CE, EE and Sigma compare cells of one triplet. Who uses a judge sets one threshold for all
questions, and then it counts as well how far scores differ from question to question.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chaincheck.intervals import Interval, percentile_interval
from chaincheck.scores import Joined

__all__ = ["across_questions", "parted_by_threshold"]


def across_questions(
    runs: Sequence[Joined], variant: str, *, resamples: int = 2000, seed: int = 0
) -> Interval:
    """How often a context with a whole chain scores above a broken one, over all questions.

    That is the area under the ROC curve of A and B together against D (Hanley and McNeil 1982), all
    triplets with all triplets, ties counting half; a mean over the runs.

    Args:
        runs: what runs of one recipe, or one judge, said of the same triplets.
        variant: which triplets.
        resamples: bootstrap resamples.
        seed: seed of the draws.

    Returns:
        The interval resamples bridges, with all that the runs said of them.

    Raises:
        KeyError: there are no such triplets.
        ValueError: there are no runs.
    """
    if not runs:
        raise ValueError("there is no run to measure")
    cells = [one.of(variant) for one in runs]
    table = np.zeros((cells[0].n, cells[0].n))
    for one in cells:
        for whole in (one.a, one.b):
            table += (np.sign(whole[:, None] - one.d[None, :]) + 1) / 2
    table /= 2 * len(cells)
    units = cells[0].bridges
    count = int(units.max()) + 1
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    weights = np.vstack([np.ones(len(units)), drawn[:, units]])
    areas = np.einsum("ri,ij,rj->r", weights, table, weights, optimize=True)
    areas = areas / weights.sum(axis=1) ** 2
    return percentile_interval(float(areas[0]), areas[1:])


def parted_by_threshold(
    runs: Sequence[Joined], variant: str, threshold: float = 0.0
) -> list[float]:
    """In which share of the triplets a threshold accepts one of A and B and not the other.

    Args:
        runs: what runs said of the same triplets.
        variant: which triplets.
        threshold: scores above it are accepted; 0 is even odds.

    Returns:
        One share a run.

    Raises:
        KeyError: there are no such triplets.
    """
    cells = [one.of(variant) for one in runs]
    return [float(np.mean((one.a > threshold) != (one.b > threshold))) for one in cells]
