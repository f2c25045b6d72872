"""The noise of scoring: flips counted, and the smallest |EE| to trust checked by simulation."""

import json
import math
from fractions import Fraction

import numpy as np
import oracles_comparison as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck import noise
from chaincheck.cells import CellScores
from chaincheck.intervals import normal_cdf, normal_quantile, wilson
from chaincheck.noise import coin_quantile, measure_noise, smallest_edit_effect

few = st.integers(-2, 2).map(float)


def seeded(seed=0):
    return np.random.default_rng(seed)


def scores_of(cells):
    return CellScores("f", "real", *map(np.asarray, cells))


@st.composite
def two_scorings(draw, longest=15):
    n = draw(st.integers(1, longest))
    column = st.lists(few, min_size=n, max_size=n)
    judge = st.tuples(column, column, column)
    return draw(judge), draw(judge)


def test_public_names_are_pinned():
    assert noise.__all__ == [
        "PROBABILITIES",
        "FlipRate",
        "NoiseFloor",
        "coin_quantile",
        "measure_noise",
        "smallest_edit_effect",
    ]


@given(st.integers(0, 80), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_the_quantile_of_coins_agrees_with_the_oracle(coins, level):
    assert coin_quantile(coins, level) == float(oracle.coin_quantile(coins, Fraction(str(level))))


def test_the_quantile_of_many_coins_is_the_normal_one():
    for coins in (10_000, 10_001, 300_000):
        expected = normal_quantile(0.975) * math.sqrt(coins) / 2
        assert coin_quantile(coins) == pytest.approx(expected, abs=1.0)


def test_the_smallest_edit_effect_by_hand():
    assert smallest_edit_effect(100, 0.0) == 0.0
    # 12 coins: P(|X - 6| > 3) = 0.039 <= 0.05 < P(|X - 6| > 2)
    assert smallest_edit_effect(100, 0.06) == 0.03
    # Above one half it is that of n coins, the noise of a judge that tosses them.
    assert smallest_edit_effect(100, 0.9) == smallest_edit_effect(100, 0.5) == 0.1
    floors = [smallest_edit_effect(200, f / 100) for f in range(51)]
    assert floors == sorted(floors)


@settings(deadline=None)
@given(two_scorings())
def test_flips_and_quantiles_agree_with_the_oracle(case):
    first, second = case
    n = len(first[0])
    found = measure_noise(scores_of(first), scores_of(second), seeded(), resamples=2, exchanges=1)
    flips = oracle.flips(first, second)
    for name, one in found.flip_rates.items():
        assert one.changed == sum(flip[1] == name for flip in flips)
        assert one.reversed == sum(flip[1] == name and flip[2] for flip in flips)
        assert one.rate == wilson(one.changed, n)
    assert found.flip_rates["A>B"].disturbance == pytest.approx(
        float(oracle.disturbance(first, second))
    )
    gaps = [abs(x - y) for x, y in zip(first[0], first[1], strict=True)]
    changes = [abs((first[0][i] - first[1][i]) - (second[0][i] - second[1][i])) for i in range(n)]
    items = [
        abs(x - y)
        for one, two in zip(first, second, strict=True)
        for x, y in zip(one, two, strict=True)
    ]
    for values, quantiles in (
        (gaps, found.gaps),
        (changes, found.gap_noise),
        (items, found.item_noise),
    ):
        for probability, value in zip(noise.PROBABILITIES, quantiles, strict=True):
            share = Fraction(str(probability))
            assert value in values
            assert Fraction(sum(v <= value for v in values), len(values)) >= share
            assert Fraction(sum(v < value for v in values), len(values)) < share
    assert found.at_risk == pytest.approx(sum(g <= found.gap_noise[2] for g in gaps) / n)


def scorings(chance, rng):
    """Outcomes of two scorings, 0 or 1, of triplets that come out A > B by ``chance``."""
    return (rng.random((2, *chance.shape)) < chance) * 1.0


def spread_evenly(rate, sets, n, rng):
    return np.where(rng.random((sets, n)) < 0.5, rate / 2, 1 - rate / 2)


def normal_gaps(sd, sets, n, rng):
    return np.vectorize(normal_cdf)(rng.normal(size=(sets, n)) / sd)


def a_few_coins(share, sets, n, rng):
    fixed = (rng.random((sets, n)) < 0.5) * 1.0
    return np.where(rng.random((sets, n)) < share, 0.5, fixed)


@pytest.mark.parametrize("n", [64, 295])
@pytest.mark.parametrize(
    ("kind", "amount"),
    [(normal_gaps, 0.05), (normal_gaps, 1.0), (a_few_coins, 0.1), (spread_evenly, 0.1)],
)
def test_noise_alone_rarely_exceeds_the_smallest_edit_effect(n, kind, amount):
    sets, rng = 800, seeded(n)
    chance = kind(amount, sets, n, rng)
    first, second = scorings(chance, rng)
    deviation = np.abs(first.mean(axis=1) - chance.mean(axis=1))
    flips = np.count_nonzero(first != second, axis=1)
    floors = np.array([smallest_edit_effect(n, wilson(k, n).high) for k in flips.tolist()])
    share = np.mean(deviation > floors + 1e-12)
    assert share <= 0.05 + 4 * math.sqrt(0.05 * 0.95 / sets)
    # It is no wild exaggeration, and the standard deviation that is quoted is the one there is.
    assert np.mean(deviation > floors / 4) > 0.1
    quoted = math.sqrt(flips.mean() / n / (2 * n))
    assert np.std(first.mean(axis=1) - chance.mean(axis=1)) == pytest.approx(quoted, rel=0.12)


def test_the_observed_flip_rate_alone_would_be_too_sure():
    sets, n, rng = 800, 64, seeded(0)
    chance = normal_gaps(0.05, sets, n, rng)
    first, second = scorings(chance, rng)
    deviation = np.abs(first.mean(axis=1) - chance.mean(axis=1))
    flips = np.count_nonzero(first != second, axis=1)
    floors = np.array([smallest_edit_effect(n, k / n) for k in flips.tolist()])
    assert np.mean(deviation > floors + 1e-12) > 0.2


def test_ties_disturb_less_than_reversals():
    """Half points have the variance that their mean squared change measures."""
    sets, n, rng = 2000, 122, seeded(1)
    gaps = rng.normal(size=(sets, n))
    seen = gaps + 0.3 * rng.normal(size=(2, sets, n))
    outcomes = np.where(np.abs(seen) <= 0.4, 0.5, seen > 0)
    above, below = (np.vectorize(normal_cdf)((sign * gaps - 0.4) / 0.3) for sign in (1, -1))
    truth = (0.5 + (above - below) / 2).mean(axis=1)
    changes = np.abs(outcomes[0] - outcomes[1])
    disturbance = np.mean(changes**2)
    assert disturbance < np.mean(changes > 0) / 3
    spread = np.std(outcomes[0].mean(axis=1) - truth)
    assert spread == pytest.approx(math.sqrt(disturbance / (2 * n)), rel=0.1)


def noisy(seed, n, sd, shift=0.0):
    rng = seeded(seed)
    cells = rng.normal(size=(3, n)) + np.array([[0.3], [0.0], [-1.5]])
    again = cells + sd * rng.normal(size=(3, n))
    again[0] += shift
    return measure_noise(scores_of(cells), scores_of(again), seeded(), exchanges=999)


def test_no_noise_leaves_the_doubt_that_n_leaves():
    found = noisy(1, 100, 0.0)
    assert found.flips == ()
    assert found.noise_sd == found.at_risk == 0.0
    assert found.item_noise == (0.0,) * 4
    assert "no comparison changed" in found.notes
    bound = wilson(0, 100).high
    assert found.smallest_edit == smallest_edit_effect(100, bound) > 0


def test_more_noise_more_doubt():
    some, more = noisy(2, 300, 0.05), noisy(2, 300, 0.5)
    assert some.flip_rates["A>B"].changed < more.flip_rates["A>B"].changed
    assert some.smallest_edit < more.smallest_edit
    assert some.at_risk < more.at_risk
    assert some.edit_effects[0] == more.edit_effects[0]
    assert some.trusted[0] == (abs(some.edit_effects[0]) > some.smallest_edit)


def test_flips_in_one_direction_are_told():
    assert not any("one way" in note for note in noisy(3, 300, 0.3).notes)
    assert any("one way" in note for note in noisy(3, 300, 0.3, shift=0.4).notes)


def test_another_judge_is_told():
    rng = seeded(4)
    cells = rng.normal(size=(3, 200))
    found = measure_noise(scores_of(cells), scores_of(-cells), seeded(), exchanges=9)
    assert any("two judges" in note for note in found.notes)
    assert found.flip_rates["A>B"].rate.estimate == 1.0


def test_a_coarse_scoring_against_a_fine_one_is_told():
    cells = seeded(6).normal(size=(3, 100))
    coarse = scores_of(np.round(cells / 2))
    found = measure_noise(coarse, scores_of(cells), seeded(), exchanges=9)
    ties = np.count_nonzero(coarse.a == coarse.b)
    assert f"{ties} ties (A>B) became 0: the two scorings are not alike" in found.notes


def test_a_row_is_plain_json():
    row = noisy(5, 30, 0.2).to_row()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    huge = scores_of(([1e308], [-1e308], [0.0]))
    found = measure_noise(huge, scores_of(([-1e308], [1e308], [0.0])), seeded(), exchanges=1)
    assert json.dumps(found.to_row(), allow_nan=False)


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="disturbance"):
        smallest_edit_effect(10, 1.5)
    with pytest.raises(ValueError, match="n >= 1"):
        smallest_edit_effect(0, 0.1)
    with pytest.raises(ValueError, match="coins"):
        coin_quantile(-1)
    with pytest.raises(ValueError, match="n is 1 and 2"):
        measure_noise(scores_of([[0.0]] * 3), scores_of([[0.0, 1]] * 3), seeded())
