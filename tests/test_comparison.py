"""Comparing two judges: against the oracle, by simulation, and what is refused."""

import json

import numpy as np
import oracles
import oracles_comparison as oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck import comparison
from chaincheck.cells import CellScores
from chaincheck.comparison import compare
from chaincheck.selectivity import measure

NAMES = {
    "nominal": "nominal",
    "chain": "chain_effect",
    "edit": "edit_effect",
    "sigma": "selectivity",
}
few = st.integers(-2, 2).map(float)


def seeded(seed=0):
    return np.random.default_rng(seed)


def scores_of(cells, cluster=None, **more):
    marks = None if cluster is None else np.asarray(cluster)
    return CellScores("f", "real", *map(np.asarray, cells), cluster=marks, **more)


@st.composite
def two_judges(draw, longest=18):
    n = draw(st.integers(1, longest))
    column = st.lists(few, min_size=n, max_size=n)
    judge = st.tuples(column, column, column)
    return draw(judge), draw(judge), draw(st.lists(st.integers(0, 11), min_size=n, max_size=n))


def drawn(rng, n, shift=(0.5, 0.0, -1.4), noise=0.5):
    """Two judges who share most of what they think of a triplet."""
    shared = rng.normal(size=(3, n)) + np.asarray(shift)[:, None]
    return [np.round(shared + noise * rng.normal(size=(3, n)), 1) for _ in range(2)]


def test_public_names_are_pinned():
    assert comparison.__all__ == [
        "COMPARISONS",
        "QUANTITIES",
        "Difference",
        "DifferenceDraws",
        "Effects",
        "Flip",
        "Orders",
        "PairedDifference",
        "compare",
    ]


@settings(deadline=None)
@given(two_judges())
def test_estimates_flips_and_orders_agree_with_the_oracle(case):
    first, second, _ = case
    found = compare(scores_of(first), scores_of(second), seeded(), resamples=3, exchanges=1)
    expected = oracle.difference(first, second)
    for name, attribute in NAMES.items():
        one = found.differences[attribute]
        assert one.name == attribute
        assert one.interval.estimate == pytest.approx(float(expected[name]), abs=1e-15)
    flips = [(int(f.pair_id), f.comparison, f.reversed) for f in found.flips]
    assert flips == oracle.flips(first, second)
    for name, one in found.orders.items():
        assert sum(map(sum, one.counts)) == found.n
        assert one.changed == sum(flip[1] == name for flip in flips)
        assert one.reversed == sum(flip[1] == name and flip[2] for flip in flips)
    gained = found.orders["A>D"].gained - found.orders["A>D"].lost
    assert gained / found.n == pytest.approx(found.nominal.interval.estimate, abs=1e-15)
    differ = {flip[0] for flip in flips if flip[1] != "A>D"}
    assert found.discordance == pytest.approx(len(differ) / found.n)


@settings(max_examples=40, deadline=None)
@given(two_judges(), st.booleans())
def test_intervals_agree_with_the_oracle(case, clustered):
    first, second, marks = case
    cluster = marks if clustered else None
    found = compare(
        scores_of(first, cluster),
        scores_of(second, cluster),
        seeded(3),
        resamples=60,
        exchanges=1,
        by="cluster" if clustered else "triplet",
    )
    units = len(set(marks)) if clustered else len(marks)
    assert found.units == units
    picks = seeded(3).integers(0, units, size=(60, units)).tolist()
    resampled = oracle.paired_bootstrap(first, second, picks, cluster)
    for name in ("nominal", "chain", "edit"):
        interval = found.differences[NAMES[name]].interval
        if units < 6:
            assert not interval.bounded
            continue
        low, high = oracle.percentile(resampled, name)
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)
    sigma = [float(one["sigma"] - other["sigma"]) for one, other in resampled]
    assert found.draws.selectivity == pytest.approx(sigma, abs=1e-12)
    if units < 6:
        return
    interval = found.selectivity.interval
    assert (interval.low, interval.high) == pytest.approx(oracle.two_step(resampled), abs=1e-12)
    for judge, effects in enumerate((found.first, found.second)):
        own = effects.selectivity
        expected = oracle.own_contrast(resampled, judge)
        assert (own.low, own.high) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(two_judges(longest=7), st.booleans())
def test_p_values_agree_with_all_exchanges(case, clustered):
    first, second, marks = case
    cluster = marks if clustered else None
    found = compare(
        scores_of(first, cluster),
        scores_of(second, cluster),
        seeded(),
        resamples=2,
        exchanges=4000,
        by="cluster" if clustered else "triplet",
    )
    for name, share in oracle.all_exchanges(first, second, cluster).items():
        p = float(share)
        error = 6 * np.sqrt(p * (1 - p) / 4000) + 1.5 / 4000
        assert found.differences[NAMES[name]].p == pytest.approx(p, abs=error)


@pytest.mark.parametrize("seed", range(4))
def test_p_values_of_clusters_of_three_agree_with_all_exchanges(seed):
    first, second = drawn(seeded(seed), 24, noise=1.0)
    first[0] += 1.0  # edit effects on both sides of 0
    second[1] += 1.0
    marks = np.arange(24) // 3
    judges = [scores_of(cells, marks) for cells in (first, second)]
    found = compare(*judges, seeded(seed), resamples=2, exchanges=20_000, by="cluster")
    shares = oracle.all_exchanges(first.tolist(), second.tolist(), marks.tolist())
    for name, share in shares.items():
        assert found.differences[NAMES[name]].p == pytest.approx(float(share), abs=0.015)


def test_each_judges_own_numbers_are_those_of_measure():
    judges = [scores_of(cells) for cells in drawn(seeded(1), 120)]
    found = compare(*judges, seeded(0), exchanges=1)
    for effects, one in zip((found.first, found.second), judges, strict=True):
        measured = measure(one, seeded(0))
        assert effects.selectivity == measured.contrast
        assert effects.nominal == measured.nominal.estimate
        assert effects.edit_effect == measured.edit_effect.estimate


def test_sharing_the_resamples_makes_intervals_narrow():
    judges = [scores_of(cells) for cells in drawn(seeded(2), 300, noise=0.2)]
    found = compare(*judges, seeded(0), exchanges=1)
    own = [measure(one, seeded(0)).chain_effect.width for one in judges]
    assert found.chain_effect.interval.width < 0.8 * max(own)


def test_exchanging_the_judges_changes_the_sign_of_everything():
    first, second = (scores_of(cells) for cells in drawn(seeded(3), 80))
    one = compare(first, second, seeded(), exchanges=500)
    other = compare(second, first, seeded(), exchanges=500)
    for name, found in one.differences.items():
        back = other.differences[name]
        assert back.interval.estimate == -found.interval.estimate
        assert (back.interval.low, back.interval.high) == pytest.approx(
            (-found.interval.high, -found.interval.low), abs=1e-12
        )
        assert back.p == found.p
    assert one.orders["A>D"].gained == other.orders["A>D"].lost
    assert one.nominal_floor <= one.nominal.interval.estimate


def test_only_the_order_inside_a_triplet_counts():
    first, second = drawn(seeded(4), 60)
    plain = compare(scores_of(first), scores_of(second), seeded(), exchanges=50)
    scaled = compare(scores_of(first), scores_of(np.exp(second)), seeded(), exchanges=50)
    assert scaled.differences == plain.differences


def test_the_same_judge_twice_differs_in_nothing():
    cells, _ = drawn(seeded(5), 150)
    found = compare(scores_of(cells), scores_of(cells), seeded(), exchanges=99)
    for one in found.differences.values():
        assert one.interval.estimate == 0.0
        assert one.p == 1.0
    assert found.flips == ()
    assert found.discordance == 0.0
    assert "the judges order every triplet alike" in found.notes
    assert not found.not_worse(0.02)  # 150 triplets cannot show that
    assert found.not_worse(0.03)


def test_clusters_widen_what_shares_its_luck():
    first, second = drawn(seeded(6), 60)
    marks = np.repeat(np.arange(60), 4)
    many = [scores_of(np.repeat(cells, 4, axis=1), marks) for cells in (first, second)]
    loose = compare(*many, seeded(), exchanges=999)
    held = compare(*many, seeded(), exchanges=999, by="cluster")
    single = compare(scores_of(first), scores_of(second), seeded(), exchanges=999)
    assert held.units == 60
    assert held.chain_effect.interval.width > 1.5 * loose.chain_effect.interval.width
    assert held.chain_effect.interval.width == pytest.approx(
        single.chain_effect.interval.width, rel=0.1
    )
    assert held.chain_effect.p == pytest.approx(single.chain_effect.p, abs=0.05)
    assert held.nominal_floor == pytest.approx(single.nominal_floor, abs=0.005)
    assert held.nominal_floor < loose.nominal_floor


def test_clusters_that_never_differ_count_once():
    cells, _ = drawn(seeded(7), 100)
    scores = scores_of(cells, np.arange(100) // 5)
    found = compare(scores, scores, seeded(), exchanges=1, by="cluster")
    single = compare(scores_of(cells[:, :20]), scores_of(cells[:, :20]), seeded(), exchanges=1)
    assert found.nominal_floor == pytest.approx(single.nominal_floor)
    assert "only 20 clusters" in found.notes


def test_the_same_seed_gives_the_same_row():
    judges = [scores_of(cells) for cells in drawn(seeded(8), 50)]
    once, again = (compare(*judges, seeded(4), exchanges=100) for _ in range(2))
    assert once == again
    assert once.to_row() == again.to_row()


def test_not_interchangeable_is_not_another_sigma():
    """CE .4 and EE .3 against CE .1 and EE 0: one Sigma, two judges."""
    b_over_d = np.repeat([1.0, -1.0], [90, 10]), np.repeat([1.0, -1.0], [60, 40])
    a_over_b = np.resize([1.0, 1, 1, -1, 1], 100), np.resize([1.0, -1], 100)
    first, second = (
        scores_of((ab, np.zeros(100), -bd)) for bd, ab in zip(b_over_d, a_over_b, strict=True)
    )
    found = compare(first, second, seeded())
    assert found.selectivity.interval.covers(0.0)
    assert found.chain_effect.p < 0.001
    assert (found.selectivity.p > 0.05) != any("interchangeable" in n for n in found.notes)


def test_a_row_is_plain_json():
    judges = [scores_of(cells) for cells in drawn(seeded(9), 30)]
    ids = [f"pair {k}" for k in range(30)]
    row = compare(*judges, seeded(), exchanges=9, pair_ids=ids).to_row()
    assert json.loads(json.dumps(row, allow_nan=False)) == row
    assert row["pairs"] == 30
    assert set(row["difference"]) == set(comparison.QUANTITIES)
    assert row["difference"]["selectivity"]["method"] == "two-step contrast"
    assert "p_holm" not in row["difference"]["nominal"]
    assert row["nominal_floor97.5"] < row["difference"]["nominal"]["estimate"]
    assert {flip["pair_id"] for flip in row["flips"]} <= set(ids)


def test_scores_too_far_apart_for_a_double_are_listed_without_a_gap():
    far = scores_of(([1e308], [-1e308], [0.0]))
    near = scores_of(([0.0], [1.0], [0.0]))
    found = compare(far, near, seeded(), resamples=1, exchanges=1)
    flip = next(one for one in found.flips if one.comparison == "A>B")
    assert flip.reversed
    assert json.dumps(found.to_row(), allow_nan=False)


class TestRefusals:
    def cells(self, n=4):
        return scores_of(np.arange(3.0 * n).reshape(3, n), np.arange(n))

    def test_other_triplets(self):
        with pytest.raises(ValueError, match="n is 4 and 5"):
            compare(self.cells(), self.cells(5), seeded())
        other = CellScores("f", "fict", [0.0], [0.0], [0.0])
        with pytest.raises(ValueError, match="variant is 'real' and 'fict'"):
            compare(scores_of(([0.0], [0.0], [0.0])), other, seeded())

    def test_other_clusters(self):
        other = scores_of(np.zeros((3, 4)), [0, 0, 1, 1])
        with pytest.raises(ValueError, match="cluster differ"):
            compare(self.cells(), other, seeded(), by="cluster")
        with pytest.raises(ValueError, match=r"needs CellScores\.coarse"):
            compare(self.cells(), self.cells(), seeded(), by="coarse")

    def test_options(self):
        with pytest.raises(ValueError, match="by must be"):
            compare(self.cells(), self.cells(), seeded(), by="question")
        with pytest.raises(ValueError, match="3 pair_ids"):
            compare(self.cells(), self.cells(), seeded(), pair_ids=["a", "b", "c"])


def test_oracles_do_not_disagree_with_each_other():
    first, second, picks = ([3.0, 1], [2.0, 2], [1.0, 1]), ([1.0, 1], [1.0, 2], [0.0, 2]), [[0, 1]]
    ((one, other),) = oracle.paired_bootstrap(first, second, picks)
    assert one == oracles.effects(*first)
    assert other == oracles.effects(*second)


@pytest.mark.parametrize(("n", "given"), [(1, False), (5, False), (6, True)])
def test_too_few_triplets_give_no_interval(n, given):
    low, high = np.zeros(n), np.ones(n)
    one, other = (
        CellScores("f", "real", high + 1, high, low),
        CellScores("f", "real", low, high, high + 1),
    )
    found = compare(one, other, np.random.default_rng(0), exchanges=20)
    intervals = [difference.interval for difference in found.differences.values()]
    intervals += [found.first.selectivity, found.second.selectivity]
    assert all(interval.bounded == given for interval in intervals)
    assert any("no interval (6 needed)" in note for note in found.notes) == (not given)
