"""Plans: the numbers they promise are what simulated comparisons then show."""

import json
import math

import numpy as np
import pytest

from chaincheck import planning
from chaincheck.errors import UsageError
from chaincheck.paired_intervals import shows_not_worse
from chaincheck.paired_simulation import (
    coupled_table,
    discordance,
    pair_contrasts,
    simulate_comparison,
)
from chaincheck.planning import (
    agreement_for,
    difference_power,
    needed_for_difference,
    plan_difference,
    plan_not_worse,
    plan_selectivity,
)
from chaincheck.power import contrast_power, needed_n, win_table


def judges(sigma, against, edit=0.0, other_edit=0.0):
    return win_table(sigma + abs(edit), edit), win_table(against + abs(other_edit), other_edit)


def test_public_names_are_pinned():
    assert planning.__all__ == [
        "Plan",
        "agreement_for",
        "difference_power",
        "needed_for_difference",
        "plan_difference",
        "plan_not_worse",
        "plan_selectivity",
    ]


def test_one_judge_is_planned_by_power():
    plan = plan_selectivity(0.1, edit_effect=-0.05)
    table = win_table(0.15, -0.05)
    assert plan.n == needed_n(table)
    assert contrast_power(table, plan.n) >= 0.8 > contrast_power(table, plan.n - 1)
    assert dict(plan.at)[plan.n] == contrast_power(table, plan.n)
    assert plan_selectivity(0.1, design_effect=2).n == pytest.approx(
        2 * plan_selectivity(0.1).n, abs=2
    )


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.2, 0.3])
def test_an_edit_effect_of_zero_needs_the_most(sigma):
    needs = [plan_selectivity(sigma, edit_effect=edit).n for edit in (-0.15, 0, 0.02, 0.1, 0.2)]
    assert max(needs) == needs[1]


@pytest.mark.parametrize("share", [0.2, 0.25, 0.5])
def test_the_agreement_gives_the_discordance(share):
    first, second = judges(0.4, 0.3)
    table = coupled_table(first, second, agreement_for(first, second, share))
    assert discordance(table) == pytest.approx(share)


def test_the_same_judge_may_differ_in_nothing():
    first, _ = judges(0.4, 0.4)
    assert agreement_for(first, first, 0.0) == 1.0
    certain = win_table(0.5, 0.5)
    assert agreement_for(certain, certain, 0.0) == 0.0


@pytest.mark.parametrize(
    ("sigma", "against", "more"),
    [
        (0.4, 0.2, {"differ": 0.3}),
        (0.4, 0.2, {"differ": 0.5, "edit_effect": 0.05, "against_edit_effect": -0.2}),
        (0.3, 0.1, {"differ": 0.55, "edit_effect": 0.2}),
    ],
)
def test_the_promised_power_is_what_comparisons_show(sigma, against, more):
    plan = plan_difference(sigma, against, **more)
    first, second = judges(
        sigma, against, more.get("edit_effect", 0.0), more.get("against_edit_effect", 0.0)
    )
    table = coupled_table(first, second, agreement_for(first, second, more["differ"]))
    found = simulate_comparison(
        table, plan.n, np.random.default_rng(0), replicates=400, resamples=400, exchanges=2
    )
    assert found.truth == pytest.approx(sigma - against)
    assert found.two_step.rejects == pytest.approx(0.8, abs=0.04 + 4 * found.error(0.8))
    assert difference_power(table, plan.n) >= 0.8 > difference_power(table, plan.n - 1)
    assert needed_for_difference(table) == plan.n


def plain_power(table, n, draws, rng):
    """The rule of the interval, applied one draw of the four contrasts at a time."""
    means, covariance = pair_contrasts(table)
    spread = [[math.sqrt(variance(covariance, i, 2 + j)) for j in (0, 1)] for i in (0, 1)]
    edit_sd = math.sqrt(variance(covariance, 2, 3)) / 2
    shown = 0
    for x in rng.multivariate_normal(means, covariance / n, size=draws).tolist():
        edit = (x[3] - x[2]) / 2
        limit = 3.2905 * edit_sd / math.sqrt(n)
        kept = [j for j, out in ((0, edit < -limit), (1, edit > limit)) if not out]
        z = {1: 1.959964, 2: 2.241403}[len(kept)]
        lows = [
            max(x[i] - x[2 + j] - z * spread[i][j] / math.sqrt(n) for j in kept) for i in (0, 1)
        ]
        shown += min(lows) > 0
    return shown / draws


def variance(covariance, i, j):
    return max(0.0, covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])


@pytest.mark.parametrize(
    ("effects", "agreement", "n"),
    [
        ((0.4, 0.3, 0.0, 0.0), 0.7, 300),
        ((0.3, 0.1, 0.2, 0.0), 0.2, 80),
        ((0.3, 0.2, 0, 0.2), 0.5, 250),
    ],
)
def test_power_agrees_with_the_rule_draw_by_draw(effects, agreement, n):
    table = coupled_table(*judges(*effects), agreement)
    expected = plain_power(table, n, 10_000, np.random.default_rng(1))
    assert 0.3 < expected < 0.95
    assert difference_power(table, n) == pytest.approx(expected, abs=0.025)


def test_judges_that_agree_need_fewer_triplets():
    needs = [plan_difference(0.4, 0.3, differ=share).n for share in (0.2, 0.4, 0.6)]
    assert needs == sorted(needs)
    assert needs[0] < needs[-1] / 1.5


def test_no_number_shows_what_is_not_so():
    plan = plan_difference(0.2, 0.2, differ=0.3)
    assert plan.n is None
    assert "no number of triplets" in plan.to_text()
    assert plan_selectivity(0.0).n is None
    assert plan_not_worse(0.02, differ=0.1, difference=-0.02).n is None


class TestNotWorse:
    @pytest.mark.parametrize(
        ("margin", "differ", "difference"),
        [(0.02, 0.05, 0.0), (0.02, 0.01, 0.0), (0.05, 0.1, -0.02), (0.02, 0.1, 0.01)],
    )
    def test_the_promised_power_is_the_simulated_one(self, margin, differ, difference):
        plan = plan_not_worse(margin, differ=differ, difference=difference)
        shares = [(differ + difference) / 2, (differ - difference) / 2, 1 - differ]
        counts = np.random.default_rng(0).multinomial(plan.n, shares, size=4000)
        shown = shows_not_worse(counts[:, 0], counts[:, 1], plan.n, margin)
        expected = dict(plan.at)[plan.n]
        assert expected >= 0.8
        assert shown.mean() == pytest.approx(expected, abs=4 * math.sqrt(0.16 / 4000))

    def test_judges_that_never_differ_still_need_triplets(self):
        n = plan_not_worse(0.02, differ=0.0).n
        assert shows_not_worse(0, 0, n, 0.02)
        assert not shows_not_worse(0, 0, n - 1, 0.02)

    def test_large_numbers_go_by_the_normal_approximation(self):
        assert plan_not_worse(0.002, differ=0.1).n == 196_222
        one, two = (plan_not_worse(0.02, differ=0.05, design_effect=d).n for d in (1, 2))
        assert two == 2 * one


def test_a_plan_is_plain_json_and_text():
    plan = plan_difference(0.4, 0.2, differ=0.3)
    row = plan.to_dict()
    assert json.loads(json.dumps(row)) == row
    assert row["triplets"] == plan.n
    assert f"{plan.n:,} triplets" in plan.to_text()
    assert "discordance 0.3" in plan.to_text()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: plan_selectivity(0.4, edit_effect=0.2), "needs a chain effect of 0.6"),
        (lambda: plan_selectivity(0.6), "must lie in"),
        (lambda: plan_selectivity(0.1, power=1.0), "power must lie"),
        (lambda: plan_selectivity(0.1, level=95), "level must lie"),
        (lambda: plan_selectivity(0.1, design_effect=0), "design effect"),
        (lambda: plan_difference(0.4, 0.3, differ=0.01), "differ in 0.1"),
        (lambda: plan_difference(0.4, 0.5, differ=0.3, against_edit_effect=0.1), "the other"),
        (lambda: plan_not_worse(0.0, differ=0.1), "a margin"),
        (lambda: plan_not_worse(0.1, differ=0.1, difference=0.2), "a margin"),
    ],
)
def test_impossible_plans_are_refused(call, says):
    with pytest.raises(UsageError, match=says):
        call()


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="n >= 1"):
        difference_power(coupled_table(*judges(0.3, 0.2)), 0)


@pytest.mark.parametrize("sigma", [-1.0, -0.8])
def test_a_sigma_that_no_chain_effect_gives_is_refused(sigma):
    with pytest.raises(UsageError, match="needs a chain effect"):
        plan_selectivity(sigma)
    assert plan_selectivity(-1.0, edit_effect=0.5).n is None


@pytest.mark.parametrize("margin", [1e-300, 1e-13, 1e-9, 1e-5])
def test_a_margin_too_small_to_show_has_no_number(margin):
    assert plan_not_worse(margin, differ=0.05).n is None


def test_a_level_near_1_is_not_rounded_to_it():
    assert "by a 99.9% interval" in plan_selectivity(0.3, level=0.999).to_text()
