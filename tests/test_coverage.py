import numpy as np
import pytest

from chaincheck import coverage
from chaincheck.cells import CellScores
from chaincheck.coverage import observed_table, simulate_coverage
from chaincheck.power import contrast_power, expected_edit_noise, win_table
from chaincheck.selectivity import measure


def study(chain, edit, n, *, seed=0, replicates=600, resamples=500, **more):
    return simulate_coverage(
        win_table(chain, edit, association=-0.2, **more),
        n,
        np.random.default_rng(seed),
        replicates=replicates,
        resamples=resamples,
    )


def test_public_names_are_pinned():
    assert coverage.__all__ == [
        "Coverage",
        "CoverageStudy",
        "observed_table",
        "simulate_coverage",
        "win_table",
    ]


@pytest.mark.parametrize(
    ("chain", "edit", "n"),
    [(0.35, 0.0, 122), (0.32, 0.19, 295), (0.45, 0.03, 122), (0.2, 0.2, 64), (0.1, -0.25, 122)],
)
def test_the_contrast_interval_covers(chain, edit, n):
    found = study(chain, edit, n)
    assert found.truth == pytest.approx(chain - abs(edit))
    allowance = 4 * found.contrast.coverage_se
    assert found.contrast.coverage >= 0.95 - 0.015 - allowance
    # The error that matters for a decision, and that an intersection-union test bounds.
    assert found.contrast.miss_low <= 0.025 + 0.01 + 4 * found.contrast.miss_low_se


def test_the_kit_interval_fails_where_the_edit_effect_is_zero():
    found = study(0.35, 0.0, 122)
    assert 0.80 < found.kit.coverage < 0.91
    assert found.kit.miss_low == 0.0
    assert found.contrast.coverage > found.kit.coverage + 0.04
    assert found.kit.center_bias < found.contrast.center_bias < 0
    # The estimate itself is low by what noise folds into |EE|.
    assert found.bias == pytest.approx(-expected_edit_noise(122), abs=4 * found.bias_se)


def test_away_from_zero_the_two_intervals_are_one():
    found = study(0.32, 0.25, 295)
    assert found.kit.coverage == pytest.approx(found.contrast.coverage, abs=0.01)
    assert abs(found.bias) < 4 * found.bias_se


def test_ties_are_covered_too():
    found = study(0.25, 0.05, 122, ties_bd=0.2, ties_ab=0.6)
    assert found.contrast.coverage >= 0.93 - 4 * found.contrast.coverage_se


def test_simulated_power_is_the_planned_one():
    table = win_table(0.3, 0.18, association=-0.2)
    found = simulate_coverage(table, 160, np.random.default_rng(1), replicates=1500, resamples=400)
    assert found.contrast.rejects == pytest.approx(contrast_power(table, 160), abs=0.05)


def test_no_effect_is_rarely_found():
    found = study(0.2, 0.2, 122, replicates=1500, resamples=400)
    assert found.contrast.rejects == found.contrast.miss_low
    assert found.contrast.rejects <= 0.05


def test_chunks_do_not_change_the_study(monkeypatch):
    whole = study(0.3, 0.1, 50, replicates=40, resamples=100)
    monkeypatch.setattr(coverage, "_CHUNK", 1000)
    assert study(0.3, 0.1, 50, replicates=40, resamples=100) == whole


def test_the_study_agrees_with_measuring_data_sets_one_by_one():
    table = win_table(0.3, 0.02)
    rng = np.random.default_rng(3)
    truth, held = 0.28, []
    for _ in range(200):
        kinds = rng.choice(9, size=80, p=table.ravel())
        b_over_d, a_over_b = kinds // 3 - 1.0, kinds % 3 - 1.0
        scores = CellScores("f", "v", 0.5 * a_over_b, np.zeros(80), -b_over_d)
        found = measure(scores, rng, resamples=300)
        held.append((found.kit.covers(truth), found.contrast.covers(truth)))
    one_by_one = np.mean(held, axis=0)
    study = simulate_coverage(table, 80, rng, replicates=2000, resamples=300)
    tolerance = 4 * np.sqrt(0.1 * 0.9 / 200)
    assert study.kit.coverage == pytest.approx(one_by_one[0], abs=tolerance)
    assert study.contrast.coverage == pytest.approx(one_by_one[1], abs=tolerance)


def test_clustered_intervals_cover_where_plain_ones_do_not():
    """Questions with four triplets that share their luck: plain intervals are too narrow."""
    rng = np.random.default_rng(4)
    held = []
    shift = np.array([0.3, 0.0, -1.4])
    reference = rng.normal(size=(400_000, 3)) + shift
    a, b, d = reference.T
    truth = np.mean(b > d) - 0.5 - abs(np.mean(a > b) - 0.5)
    for _ in range(250):
        shared = rng.normal(size=(60, 1, 3)) * np.sqrt(0.8)
        own = rng.normal(size=(60, 4, 3)) * np.sqrt(0.2)
        a, b, d = (shared + own + shift).reshape(-1, 3).T
        scores = CellScores("f", "v", a, b, d, cluster=np.repeat(np.arange(60), 4))
        held.append(
            [
                measure(scores, rng, resamples=300, by=by).contrast.covers(truth)
                for by in ("cluster", "triplet")
            ]
        )
    clustered, plain = np.mean(held, axis=0)
    assert clustered > 0.95 - 4 * np.sqrt(0.05 * 0.95 / 250)
    assert plain < 0.85


def test_a_table_can_be_taken_from_data():
    scores = CellScores("f", "v", [1.0, 0.0, 0.0, 2.0], [0.0] * 4, [-1.0, 0.0, 1.0, -1.0])
    table = observed_table(scores)
    assert table[2, 2] == 0.5  # B > D and A > B, twice
    assert table[1, 1] == 0.25
    assert table[0, 1] == 0.25
    assert table.sum() == 1


def test_misfits_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="3 x 3"):
        simulate_coverage(np.full((2, 2), 0.25), 10, rng)
    with pytest.raises(ValueError, match="3 x 3"):
        simulate_coverage(np.full((3, 3), 0.25), 10, rng)
    with pytest.raises(ValueError, match="at least 1"):
        simulate_coverage(np.full((3, 3), 1 / 9), 0, rng)
