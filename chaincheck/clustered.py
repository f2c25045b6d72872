"""What it costs to ignore clusters: simulated coverage when triplets come in pairs.

The real and the fict triplet of one question share the question, the passages and most of what
makes a judge err. Here each question gives two triplets whose outcomes agree more or less
often, and the contrast interval is made twice: resampling triplets, as if all were independent,
and resampling questions with both their triplets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike

from chaincheck.intervals import FloatArray, IntArray, contrast_bounds
from chaincheck.power import contrast_covariance

__all__ = ["ClusterStudy", "simulate_clusters"]

_CHUNK = 1 << 21  # counts held at a time: 16 MB
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class ClusterStudy:
    """How the contrast interval of Sigma did, ignoring clusters and heeding them.

    Attributes:
        truth: true Sigma.
        questions: questions in each data set; each gives two triplets.
        sharing: correlation of the outcomes of a question's two triplets.
        replicates: data sets.
        resamples: bootstrap resamples of each.
        level: nominal coverage.
        ignored: coverage if triplets are resampled.
        heeded: coverage if questions are resampled.
        ignored_se, heeded_se: Monte Carlo standard errors, sqrt(p(1 - p)/replicates).
        ignored_width, heeded_width: mean widths.
    """

    truth: float
    questions: int
    sharing: float
    replicates: int
    resamples: int
    level: float
    ignored: float
    ignored_se: float
    ignored_width: float
    heeded: float
    heeded_se: float
    heeded_width: float


def _pairs(joint: FloatArray, sharing: float) -> tuple[FloatArray, IntArray]:
    """Probabilities of the unordered pairs of kinds, and how often each kind is in a pair.

    The second triplet has the first one's kind with probability ``sharing`` and a kind of its
    own otherwise, so any function of the kind has correlation ``sharing`` within a question.
    """
    kinds = joint.size
    pairs = list(combinations_with_replacement(range(kinds), 2))
    chance = [
        sharing * joint[i] + (1.0 - sharing) * joint[i] ** 2
        if i == j
        else 2.0 * (1.0 - sharing) * joint[i] * joint[j]
        for i, j in pairs
    ]
    holds = np.zeros((len(pairs), kinds), dtype=np.int64)
    for place, members in enumerate(pairs):
        for kind in members:
            holds[place, kind] += 1
    weights = np.asarray(chance, dtype=np.float64)
    return weights / weights.sum(), holds


def _bounds(counts: IntArray, points: FloatArray, level: float) -> FloatArray:
    """Contrast bounds from resampled counts of shape (data sets, resamples, kinds)."""
    rates = counts @ points / counts.sum(axis=-1, keepdims=True) - 0.5
    chain, edit = rates[..., 0], rates[..., 1]
    return contrast_bounds(chain - edit, chain + edit, level)


def simulate_clusters(
    table: ArrayLike,
    questions: int,
    sharing: float,
    rng: np.random.Generator,
    *,
    replicates: int = 1000,
    resamples: int = 1000,
    level: float = 0.95,
) -> ClusterStudy:
    """Coverage of the contrast interval when each question gives two alike triplets.

    Args:
        table: shape (3, 3), P(i half wins in B > D, j in A > B) of every triplet, as of
            :func:`chaincheck.power.win_table`.
        questions: questions in each data set.
        sharing: correlation of the two triplets' outcomes, 0 to 1; at 1 the second repeats the
            first, and half of the triplets say nothing new.
        rng: source of randomness.
        replicates: data sets.
        resamples: bootstrap resamples of each.
        level: nominal coverage.

    Raises:
        ValueError: a table that is no distribution, a sharing outside 0..1, a count below 1.
    """
    joint = np.asarray(table, dtype=np.float64)
    if joint.shape != (3, 3) or joint.min() < 0.0 or not math.isclose(joint.sum(), 1.0):
        raise ValueError("table must be 3 x 3 probabilities that sum to 1")
    if not 0.0 <= sharing <= 1.0:
        raise ValueError(f"sharing must lie in 0..1, not {sharing!r}")
    if min(questions, replicates, resamples) < 1:
        raise ValueError("questions, replicates and resamples must be at least 1")
    minus, plus, _ = contrast_covariance(joint)
    truth = min(minus, plus)
    points = np.argwhere(joint > 0.0) / 2.0
    chances, holds = _pairs(joint[joint > 0.0] / joint.sum(), sharing)
    data = rng.multinomial(questions, chances, size=replicates)
    alone = data @ holds
    ignored = np.empty((2, replicates))
    heeded = np.empty((2, replicates))
    rows = max(1, _CHUNK // (resamples * len(chances)))
    for start in range(0, replicates, rows):
        part = slice(start, min(start + rows, replicates))
        size = (part.stop - part.start, resamples)
        drawn = rng.multinomial(2 * questions, alone[part, None, :] / (2 * questions), size=size)
        ignored[:, part] = _bounds(drawn, points, level)
        drawn = rng.multinomial(questions, data[part, None, :] / questions, size=size)
        heeded[:, part] = _bounds(drawn @ holds, points, level)

    def covers(bounds: FloatArray) -> float:
        low, high = bounds
        return float(np.mean((low <= truth + _ROUNDING) & (high >= truth - _ROUNDING)))

    def error(share: float) -> float:
        return math.sqrt(share * (1.0 - share) / replicates)

    return ClusterStudy(
        truth=truth,
        questions=questions,
        sharing=sharing,
        replicates=replicates,
        resamples=resamples,
        level=level,
        ignored=covers(ignored),
        ignored_se=error(covers(ignored)),
        ignored_width=float(np.mean(ignored[1] - ignored[0])),
        heeded=covers(heeded),
        heeded_se=error(covers(heeded)),
        heeded_width=float(np.mean(heeded[1] - heeded[0])),
    )
