"""Coverage under clusters, against plain simulation and what theory says of the widths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from chaincheck.cells import CellScores
from chaincheck.clustered import _pairs, simulate_clusters
from chaincheck.power import win_table
from chaincheck.selectivity import measure

TABLE = win_table(0.35, 0.1)


def test_independent_triplets_need_no_clusters() -> None:
    study = simulate_clusters(
        TABLE, 150, 0.0, np.random.default_rng(1), replicates=600, resamples=400
    )
    assert study.truth == pytest.approx(0.25)
    assert study.ignored == pytest.approx(0.95, abs=0.03)
    assert study.heeded == pytest.approx(0.95, abs=0.03)
    assert study.heeded_width == pytest.approx(study.ignored_width, rel=0.03)


def test_repeated_triplets_make_the_plain_interval_too_narrow() -> None:
    study = simulate_clusters(
        TABLE, 150, 1.0, np.random.default_rng(2), replicates=600, resamples=400
    )
    # 2n triplets that carry the information of n: the width is short by the root of 2, and an
    # interval of +-1.96/sqrt(2) standard errors covers 83.4%.
    assert study.heeded_width / study.ignored_width == pytest.approx(math.sqrt(2), rel=0.04)
    assert study.ignored == pytest.approx(0.834, abs=0.05)
    assert study.heeded == pytest.approx(0.95, abs=0.03)
    assert study.ignored_se == pytest.approx(math.sqrt(study.ignored * (1 - study.ignored) / 600))


@pytest.mark.parametrize("sharing", [0.0, 0.3, 1.0])
def test_pairs_keep_the_margins_and_have_the_correlation(sharing: float) -> None:
    joint = np.array([0.1, 0.2, 0.3, 0.4])
    chances, holds = _pairs(joint, sharing)
    assert chances @ holds / 2 == pytest.approx(joint)
    value = np.array([0.0, 0.5, 1.0, -2.0])  # any function of the kind
    mean, variance = joint @ value, joint @ value**2 - (joint @ value) ** 2
    total = holds @ value
    spread = chances @ total**2 - (2 * mean) ** 2
    assert spread == pytest.approx(2 * variance * (1 + sharing))


def test_one_data_set_agrees_with_measuring_it_by_question() -> None:
    """The same intervals from scores, by the code that readers use."""
    rng = np.random.default_rng(3)
    questions, sharing = 200, 0.6
    widths = {"triplet": [], "cluster": []}
    for _ in range(30):
        first = rng.choice(9, size=questions, p=TABLE.ravel())
        own = rng.choice(9, size=questions, p=TABLE.ravel())
        second = np.where(rng.random(questions) < sharing, first, own)
        kind = np.concatenate([first, second])
        bd, ab = kind // 3 - 1.0, kind % 3 - 1.0  # differences B - D and A - B: -1, 0, 1
        scores = CellScores(
            "simulated",
            "all",
            a=ab,
            b=np.zeros(2 * questions),
            d=-bd,
            cluster=np.tile(np.arange(questions), 2),
        )
        for by, found in widths.items():
            found.append(measure(scores, rng, resamples=400, by=by).contrast.width)  # type: ignore[arg-type]
    study = simulate_clusters(TABLE, questions, sharing, rng, replicates=200, resamples=400)
    assert np.mean(widths["triplet"]) == pytest.approx(study.ignored_width, rel=0.03)
    assert np.mean(widths["cluster"]) == pytest.approx(study.heeded_width, rel=0.03)


@pytest.mark.parametrize(
    ("table", "questions", "sharing", "message"),
    [
        (np.ones((3, 3)), 10, 0.5, "probabilities"),
        (TABLE, 10, 1.5, "sharing"),
        (TABLE, 0, 0.5, "at least 1"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    table: np.ndarray, questions: int, sharing: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        simulate_clusters(table, questions, sharing, np.random.default_rng(0))
