import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck import selectivity
from chaincheck.evaluation import table
from chaincheck.selectivity import CellScores, labels, measure, measure_all, pool

SHARED = Path(__file__).resolve().parents[2] / "shared"
PUBLISHED = SHARED / "golden" / "published.json"


def seeded():
    return np.random.default_rng(0)


def scores_of(a, b, d, **more):
    return CellScores("data.jsonl", "real", np.array(a), np.array(b), np.array(d), **more)


def noisy(n, seed=0, chain=1.5, edit=0.4, **more):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=n)
    a, b, d = (base + rng.normal(size=n) + shift for shift in (edit, 0.0, -chain))
    return scores_of(a, b, d, **more)


# Few distinct values, so that ties are common.
few = st.integers(-2, 2).map(float)


@st.composite
def triplets(draw, longest=25):
    n = draw(st.integers(1, longest))
    column = st.lists(few, min_size=n, max_size=n)
    return draw(column), draw(column), draw(column)


def test_public_names_are_pinned():
    assert selectivity.__all__ == [
        "By",
        "CellScores",
        "Comparison",
        "Draws",
        "FourthCell",
        "Gap",
        "Interval",
        "Selectivity",
        "Signature",
        "labels",
        "measure",
        "measure_all",
        "pool",
        "report",
    ]


@given(triplets())
def test_estimates_agree_with_the_oracle(cells):
    found = measure(scores_of(*cells), seeded(), resamples=3)
    expected = oracles.effects(*cells)
    assert found.nominal.estimate == pytest.approx(float(expected["nominal"]), abs=1e-15)
    assert found.chain_effect.estimate == pytest.approx(float(expected["chain"]), abs=1e-15)
    assert found.edit_effect.estimate == pytest.approx(float(expected["edit"]), abs=1e-15)
    assert found.selectivity == pytest.approx(float(expected["sigma"]), abs=1e-15)
    assert found.kit.estimate == found.contrast.estimate == found.selectivity
    assert min(found.minus.estimate, found.plus.estimate) == pytest.approx(found.selectivity)
    a, b, d = cells
    pairs = {"A>D": (a, d), "B>D": (b, d), "A>B": (a, b)}
    assert found.ties == {name: oracles.tie_count(*pair) for name, pair in pairs.items()}
    for name, pair in pairs.items():
        one = found.comparisons[name]
        assert one.wins + one.ties + one.losses == found.n == len(a)
        assert one.rate.estimate == pytest.approx(float(oracles.auc(*pair)), abs=1e-15)


@settings(max_examples=30, deadline=None)
@given(triplets(longest=16), st.integers(0, 2**32 - 1), st.booleans())
def test_intervals_agree_with_the_oracle(cells, seed, clustered):
    n = len(cells[0])
    cluster = None
    if clustered:
        cluster = np.random.default_rng(seed).integers(5, 14, n).tolist()
    units = n if cluster is None else len(set(cluster))
    found = measure(
        scores_of(*cells, cluster=cluster),
        np.random.default_rng(seed),
        resamples=60,
        by="cluster" if clustered else "triplet",
    )
    picks = np.random.default_rng(seed).integers(0, units, size=(60, units)).tolist()
    resampled = oracles.bootstrap(*cells, picks, cluster)
    assert found.units == units
    if units < 6:
        everything = (
            found.kit,
            found.contrast,
            found.nominal,
            found.chain_effect,
            found.edit_effect,
        )
        assert not any(interval.bounded for interval in everything)
        return
    for interval, (low, high) in (
        (found.kit, oracles.kit_interval(resampled)),
        (found.contrast, oracles.contrast_interval(resampled)),
    ):
        assert interval.low == pytest.approx(low, abs=1e-12)
        assert interval.high == pytest.approx(high, abs=1e-12)
    for name, interval in (
        ("nominal", found.nominal),
        ("chain", found.chain_effect),
        ("edit", found.edit_effect),
    ):
        values = [one[name] for one in resampled]
        assert interval.low == pytest.approx(oracles.quantile(values, 0.025), abs=1e-12)
        assert interval.high == pytest.approx(oracles.quantile(values, 0.975), abs=1e-12)


def test_mde_comes_from_the_oracles_variance():
    scores = noisy(150, edit=1.2)
    found = measure(scores, seeded())
    minus, _plus, _ = oracles.contrast_variances(scores.a, scores.b, scores.d)
    assert found.edit_effect.estimate > 0.2  # so that CE - EE alone decides
    assert found.mde80 == pytest.approx(2.8015852 * math.sqrt(minus), rel=1e-6)


@given(triplets(), st.data())
def test_the_fourth_cell_agrees_with_the_oracle(cells, data):
    a, b, d = cells
    some = st.one_of(few, st.just(math.nan))
    c = data.draw(st.lists(some, min_size=len(a), max_size=len(a)))
    if all(math.isnan(score) for score in c):
        c[0] = 0.0
    found = measure(scores_of(*cells, c=c), seeded(), resamples=20).fourth
    expected = oracles.fourth_cell(a, b, c, d)
    assert found.n == expected["n"]
    for name, interval in (
        ("chain_unedited", found.chain_effect_unedited),
        ("edit_broken", found.edit_effect_broken),
        ("interaction", found.interaction),
        ("edit_interaction", found.edit_interaction),
        ("score_interaction", found.score_interaction),
    ):
        assert interval.estimate == pytest.approx(float(expected[name]), abs=1e-12)
        assert interval.low - 1e-9 <= interval.high
    # On the score scale both margins give one number.
    gap = found.gaps["A-C"].mean.estimate + found.gaps["C-D"].mean.estimate
    whole = np.nanmean(np.where(np.isnan(c), np.nan, np.array(a) - np.array(d)))
    assert gap == pytest.approx(whole, abs=1e-12)


def test_a_fourth_cell_leaves_the_rest_alone():
    plain = noisy(50)
    more = CellScores("data.jsonl", "real", plain.a, plain.b, plain.d, c=plain.d - 0.1)
    with_c, without = measure(more, seeded()), measure(plain, seeded())
    assert without.fourth is None
    row = with_c.to_row()
    assert row.pop("fourth_cell")["pairs"] == 50
    assert row == without.to_row()


def published_rows():
    if not PUBLISHED.is_file():
        reason = "needs ../shared/golden/published.json beside the repository"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason))]
    rows = json.loads(PUBLISHED.read_text(encoding="utf-8"))["rows"]
    return [pytest.param(row, id=f"{row['file']}-{row['variant']}") for row in rows]


def realize(row, joint):
    """Scores with the published win counts and ``joint`` triplets won in both B>D and A>B."""
    n, bd, ab = row["pairs"], row["wins_B_over_D"], row["wins_A_over_B"]
    order = np.arange(n)
    b_wins = order < bd
    a_wins = (order < joint) | ((order >= bd) & (order < bd + ab - joint))
    d = np.where(b_wins, -1.0, 1.0)  # b stands at 0
    a = np.where(a_wins, 0.5, -0.5)  # above or below b, never past d
    # A against D is settled where B beats D or loses by the smaller step; move the rest.
    short = row["wins_A_over_D"] - int((a > d).sum())
    free = np.flatnonzero(a_wins & ~b_wins) if short > 0 else np.flatnonzero(~a_wins & b_wins)
    chosen = free[: abs(short)]
    assert chosen.size == abs(short)
    a[chosen] = np.sign(short) * 2.0
    return CellScores(row["file"], row["variant"], a, np.zeros(n), d)


@pytest.mark.parametrize("row", published_rows())
def test_published_rows_come_out(row):
    low, high = row["joint_BD_and_AB"]
    found = measure(realize(row, (low + high) // 2), np.random.default_rng(0))
    assert found.comparisons["A>D"].wins == row["wins_A_over_D"]
    assert found.comparisons["B>D"].wins == row["wins_B_over_D"]
    assert found.comparisons["A>B"].wins == row["wins_A_over_B"]
    assert sum(found.ties.values()) == 0
    out = found.to_row()
    for name in ("nominal", "chain_effect", "edit_effect", "selectivity"):
        # Half a thousandth, and the last bit where a rate ends in exactly 5.
        assert abs(out[name] - row[name]) <= 0.0005 + 1e-12
    for end, published in zip(
        found.to_row()["kit_ci95"]["selectivity"], row["selectivity_ci95"], strict=True
    ):
        assert abs(end - published) <= 1 / row["pairs"] + 1e-12


@pytest.mark.parametrize("row", published_rows())
def test_every_admissible_joint_count_gives_the_published_interval(row):
    low, high = row["joint_BD_and_AB"]
    for joint in range(low, high + 1):
        # Many resamples: at 2,000 the percentiles themselves are a step or so uncertain.
        found = measure(realize(row, joint), np.random.default_rng(0), resamples=40_000)
        for end, published in zip(
            (found.kit.low, found.kit.high), row["selectivity_ci95"], strict=True
        ):
            assert abs(end - published) <= 1 / row["pairs"] + 0.0005


def test_published_detectable_effects():
    published = {122: 0.164, 295: 0.104, 324: 0.111}
    rows = [param.values[0] for param in published_rows()]
    if rows == [None]:
        pytest.skip("needs ../shared/golden/published.json beside the repository")
    seen = set()
    for row in rows:
        if row["pairs"] not in published:
            continue
        seen.add(row["pairs"])
        low, high = row["selectivity_ci95"]
        from_interval = 2.8015852 * (high - low) / (2 * 1.9599640)
        assert round(from_interval, 3) == published[row["pairs"]]
        joint = sum(row["joint_BD_and_AB"]) // 2
        found = measure(realize(row, joint), np.random.default_rng(0)).mde80
        assert found == pytest.approx(published[row["pairs"]], abs=0.004)
    assert seen == set(published)


def test_same_seed_same_row_whatever_else_is_measured():
    first, second = noisy(40, 1), noisy(60, 2)
    together = measure_all([first, second], seed=7, resamples=300)
    alone = measure_all([second], seed=7, resamples=300)
    assert together[1].to_row() == alone[0].to_row()
    assert together[1] == alone[0]
    assert measure_all([second], seed=8, resamples=300)[0] != alone[0]


def test_any_increasing_change_of_the_scores_leaves_the_rates_alone():
    scores = noisy(80)
    bent = scores_of(np.exp(scores.a), np.exp(scores.b), np.exp(scores.d))
    one, other = measure(scores, seeded()), measure(bent, seeded())
    assert (one.kit, one.contrast, one.mde80) == (other.kit, other.contrast, other.mde80)
    assert one.gaps != other.gaps


def test_swapping_a_and_b_turns_the_edit_effect_around():
    scores = noisy(80)
    swapped = scores_of(scores.b, scores.a, scores.d)
    one, other = measure(scores, seeded()), measure(swapped, seeded())
    assert one.edit_effect.estimate == -other.edit_effect.estimate
    assert one.nominal.estimate - 0.5 == pytest.approx(other.chain_effect.estimate)


def test_doubling_each_triplet_in_a_cluster_adds_no_evidence():
    once = noisy(120)
    twice = scores_of(
        *(np.repeat(x, 2) for x in (once.a, once.b, once.d)), cluster=np.repeat(np.arange(120), 2)
    )
    plain = measure(once, seeded())
    clustered = measure(twice, seeded(), by="cluster")
    assert clustered.units == 120
    assert clustered.n == clustered.to_row()["pairs"] == 240
    assert clustered.contrast == plain.contrast
    assert clustered.kit == plain.kit
    assert clustered.mde80 == pytest.approx(plain.mde80)
    assert clustered.gaps["A-B"].mean.width == pytest.approx(plain.gaps["A-B"].mean.width)
    rate = clustered.comparisons["B>D"].rate
    # n - 1 and n differ between the cluster variance and Wilson's binomial one.
    assert rate.width == pytest.approx(plain.comparisons["B>D"].rate.width, rel=0.01)
    naive = measure(twice, seeded())
    assert naive.contrast.width < 0.85 * plain.contrast.width


def test_coarse_labels_are_a_choice_of_their_own():
    scores = noisy(60, cluster=np.arange(60), coarse=np.arange(60) // 6)
    assert measure(scores, seeded(), by="coarse").units == 10
    assert measure(scores, seeded(), by="cluster").units == 60
    assert "only 10 clusters" in measure(scores, seeded(), by="coarse").notes


def test_clusters_of_one_change_nothing():
    scores = noisy(60, cluster=np.arange(60))
    by_cluster, by_triplet = (measure(scores, seeded(), by=by) for by in ("cluster", "triplet"))
    assert by_cluster.contrast == by_triplet.contrast
    assert by_cluster.mde80 == pytest.approx(by_triplet.mde80)


def test_pooled_variants_are_resampled_by_question():
    real, fict = noisy(50, 1), noisy(40, 2)
    marks = labels([f"q{i}" for i in range(50)] + [f"q{i}" for i in range(40)])
    rows = [
        CellScores("f", "real", real.a, real.b, real.d, cluster=marks[:50]),
        CellScores("f", "fict", fict.a, fict.b, fict.d, cluster=marks[50:]),
    ]
    found = measure(pool(rows), seeded(), by="cluster")
    assert (found.variant, found.n, found.units) == ("all", 90, 50)


def test_options_that_make_no_sense_are_refused():
    scores = noisy(10)
    with pytest.raises(ValueError, match="by='cluster' needs"):
        measure(scores, seeded(), by="cluster")
    with pytest.raises(ValueError, match="by must be"):
        measure(scores, seeded(), by="question")
    with pytest.raises(ValueError, match="resamples"):
        measure(scores, seeded(), resamples=0)
    with pytest.raises(ValueError, match="level"):
        measure(scores, seeded(), level=95)


def test_the_decision_interval_is_made_of_its_two_contrasts():
    for scores in (noisy(70, edit=0.5), noisy(70, edit=-0.5), noisy(70, edit=0.0)):
        found = measure(scores, seeded())
        assert found.contrast.low == min(found.minus.low, found.plus.low)
        assert found.contrast.high == min(found.minus.high, found.plus.high)
        draws = found.draws
        for one, sign in ((found.minus, -1), (found.plus, 1)):
            values = draws.chain_effect + sign * draws.edit_effect
            assert one.low == pytest.approx(oracles.quantile(values.tolist(), 0.025))
            assert one.high == pytest.approx(oracles.quantile(values.tolist(), 0.975))


def test_draws_are_aligned_and_kept():
    found = measure(noisy(60), seeded(), resamples=500)
    draws = found.draws
    assert draws.nominal.shape == draws.selectivity.shape == (500,)
    sigma = np.minimum(
        draws.chain_effect - draws.edit_effect, draws.chain_effect + draws.edit_effect
    )
    assert np.allclose(draws.selectivity, sigma)
    assert "draws" not in repr(found)


def test_doubts_are_said():
    few_and_flat = measure(scores_of([1.0] * 20, [1.0] * 20, [0.0] * 20), seeded())
    assert few_and_flat.notes[:2] == ("n < 100", "ties 100% (A>B)")
    assert "no variation: the intervals have no width" in few_and_flat.notes
    assert few_and_flat.mde80 is None
    clear = measure(noisy(400, chain=1.2, edit=0.6), seeded())
    assert clear.notes == ()
    none = measure(noisy(400, chain=1.2, edit=0.0), seeded())
    assert none.notes == ("EE near 0: kit interval too low",)
    ceiling = measure(noisy(64, chain=20.0, edit=0.0), seeded())
    assert "CE at ceiling: noise alone gives |EE| = 0.050" in ceiling.notes
    tiny = measure(noisy(400, chain=40.0, edit=0.8), seeded())
    assert "EE ranks gaps under a tenth of B-D" in tiny.notes


def test_gaps_keep_apart_what_win_rates_do_not():
    rng = np.random.default_rng(0)
    edit = rng.normal(0.3, 1.2, 300)
    near = measure(scores_of(edit, np.zeros(300), np.full(300, -20.0)), seeded())
    far = measure(scores_of(edit, np.zeros(300), np.full(300, -0.3)), seeded())
    assert near.selectivity == far.selectivity
    assert near.gaps["B-D"].mean.estimate == pytest.approx(20.0)
    assert far.gaps["B-D"].mean.estimate == pytest.approx(0.3)
    assert near.gaps["A-B"].mean.covers(0.3)
    assert near.gaps["A-B"].sd == pytest.approx(edit.std(ddof=1))


def test_a_single_triplet_is_measured_and_doubted():
    found = measure(scores_of([2.0], [1.0], [0.0], cluster=[4]), seeded(), by="cluster")
    assert found.selectivity == 0.0
    assert found.mde80 is None
    row = found.to_row()
    assert row["gaps"]["A-B"] == {"mean": 1.0, "ci95": [None, None], "sd": None}
    assert json.loads(json.dumps(row, allow_nan=False)) == row


@settings(max_examples=25, deadline=None)
@given(triplets(), st.booleans())
def test_intervals_are_ordered_and_rows_are_json(cells, with_c):
    more = {"c": cells[0]} if with_c else {}
    found = measure(scores_of(*cells, **more), seeded(), resamples=50)
    for interval in (
        found.nominal,
        found.chain_effect,
        found.edit_effect,
        found.kit,
        found.contrast,
        found.minus,
        found.plus,
    ):
        assert interval.low <= interval.high
    # Draw by draw CE - |EE| is the smaller contrast, so its percentiles lie below both of theirs.
    assert found.kit.low <= found.contrast.low + 1e-12
    assert found.kit.high <= found.contrast.high + 1e-12
    json.dumps(found.to_row(), allow_nan=False)


class TestTooFew:
    """Where no data could show anything, no interval claims to."""

    @pytest.mark.parametrize("n", range(1, 8))
    @pytest.mark.parametrize("wins", [True, False])
    def test_few_triplets(self, n, wins):
        d = np.zeros(n)
        b = np.ones(n) if wins else np.where(np.arange(n) % 2, 1.0, -1.0)
        row = measure(scores_of(b + (1 if wins else -0.5), b, d), seeded()).to_row()
        given = n >= 6
        ends = [*row["kit_ci95"].values(), row["contrast_ci95"]]
        assert all((end is not None) == given for pair in ends for end in pair)
        few = [note for note in row["notes"] if "no interval" in note]
        count = "one triplet" if n == 1 else f"only {n} triplets"
        assert few == ([] if given else [f"{count}: no interval (6 needed)"])
        assert row["mde80"] is None or (given and row["mde80"] <= 0.5)
        # An exact interval of a rate can be had of one triplet, and of a mean of two.
        assert all(0 <= low < high <= 1 for low, high in row["wilson_ci95"].values())
        assert (row["gaps"]["B-D"]["ci95"] == [None, None]) == (n == 1)

    @pytest.mark.parametrize(("by", "labels"), [("cluster", 1), ("cluster", 5), ("coarse", 2)])
    def test_few_clusters(self, by, labels):
        scores = noisy(60)
        marks = np.arange(60) % labels
        cells = CellScores("f", "real", scores.a, scores.b, scores.d, cluster=marks, coarse=marks)
        row = measure(cells, seeded(), by=by).to_row()
        assert row["contrast_ci95"] == [None, None]
        assert row["kit_ci95"]["selectivity"] == [None, None]
        count = "one cluster" if labels == 1 else f"only {labels} clusters"
        assert f"{count}: no interval (6 needed)" in row["notes"]
        assert row["mde80"] is None

    def test_a_wider_level_needs_more(self):
        scores = noisy(7)
        assert measure(scores, seeded(), level=0.95).contrast.bounded
        assert not measure(scores, seeded(), level=0.99).contrast.bounded

    def test_no_sigma_is_above_a_half(self):
        b = np.where(np.arange(8) % 2, 1.0, -1.0)
        found = measure(scores_of(np.roll(b, 1), b, np.zeros(8)), seeded())
        assert found.mde80 is None
        assert "no Sigma is shown with 80% power" in found.notes

    def test_the_table_says_so(self):
        text = table([measure(scores_of([3.0], [2.0], [1.0]), seeded())])
        assert text.count("n/a") == 3
        assert "one triplet: no interval (6 needed)" in text
        assert "inf" not in text

    def test_the_fourth_cell(self):
        cells = CellScores("f", "real", *(np.arange(5.0) + k for k in (3, 2, 1)), c=np.arange(5.0))
        found = measure(cells, seeded()).to_row()["fourth_cell"]
        assert found["interaction_ci95"] == [None, None]
        assert None not in found["score_interaction_ci95"]


EXTREME = st.sampled_from([-1e308, 1e308, -1.7e308, 1.7e308, 5e-324, -5e-324, 0.0, 1.0])


@pytest.mark.filterwarnings("error")
@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(EXTREME, EXTREME, EXTREME, EXTREME), min_size=1, max_size=8))
def test_extreme_scores_give_right_gaps_or_none(cells):
    """Neither a warning nor a number that is wrong: the mean is exact, or larger than a double."""
    a, b, d, c = (np.array(column) for column in zip(*cells, strict=True))
    found = measure(CellScores("f", "real", a, b, d, c), seeded(), resamples=100)
    row = found.to_row()
    for name, first, second in (("A-B", a, b), ("B-D", b, d), ("A-D", a, d)):
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        exact = sum(Fraction(x) - Fraction(y) for x, y in pairs) / len(cells)
        told = row["gaps"][name]["mean"]
        if told is None:
            assert abs(exact) > Fraction(1.7976e308)
            assert "scores too far apart for a mean gap" in row["notes"]
        else:
            largest = max(np.abs(first).max(), np.abs(second).max())
            assert abs(Fraction(told) - exact) <= Fraction(largest) / 10**12 + Fraction(5e-324)
    json.dumps(row, allow_nan=False)
    assert "inf" not in table([found]).replace("n/a", "")
