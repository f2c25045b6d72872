from __future__ import annotations

import math
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_adherence_chain_evidence import hop, item_of, reply

from chaincheck.adherence.chain_evidence import replay_of
from chaincheck.adherence.claim_rates import (
    cell_rates,
    claim_effects,
    dimension_shares,
    fault_shares,
    grounded,
)
from chaincheck.adherence.claim_report import report_claims
from chaincheck.adherence.claims import FAULTS, Claims, read_claims
from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.examples import claims_case
from chaincheck.adherence.scripted import SCRIPTS, script, scripted
from chaincheck.adherence.shares import (
    EXACT,
    EXACT_CLUSTERED,
    PAIRED,
    PAIRED_CLUSTERED,
    effective_size,
    paired_difference,
    share,
)
from chaincheck.errors import InputError, UnknownScore
from chaincheck.items import Item


def triplets(count: int, variants: tuple[str, ...] = ("real",), cells: str = "ABCD") -> list[Item]:
    return [
        item_of(cell, item_id=f"{n}-{v}-{cell}", pair_id=f"{n}-{v}", variant=v, query=f"Who {n}?",
                passages=in_cell(cell))
        for n, v, cell in product(range(count), variants, cells)
    ]  # fmt: skip


def in_cell(cell: str) -> tuple[str, ...]:
    first, second = "Jaws is a film by Ann Lee.", "Ann Lee was born in Rome."
    if cell in "BD":
        second = second.replace("Ann Lee", "Eva Roe")
    if cell == "B":
        first = first.replace("Ann Lee", "Eva Roe")
    return first, "Rome is a town." if cell == "C" else second


def claimed(items: list[Item], fault: str | None = None) -> list[Claims]:
    return list(read_claims(items, [replay_of(one, scripted(one, fault)) for one in items]))


class TestScripts:
    def test_an_honest_script_has_no_fault(self) -> None:
        claims = claimed(triplets(6))
        assert all(one.found == one.unknown == 0 for one in fault_shares(claims).values())
        assert all(one.statuses["overall"] == "SATISFIED" and one.right for one in claims)

    @pytest.mark.parametrize("fault", [name for name in SCRIPTS if name != "wrong reason"])
    def test_each_rate_finds_its_fault_and_no_other(self, fault: str) -> None:
        claims = claimed(triplets(6), fault)
        found = fault_shares(claims)
        assert {name for name, one in found.items() if one.found} == {fault}
        able = {"over-claim": "CD", "under-claim": "AB"}.get(fault, "ABCD")
        assert found[fault].found == sum(one.cell in able for one in claims)

    def test_a_wrong_reason_is_a_wrong_claim(self) -> None:
        found = fault_shares(claimed(triplets(6), "wrong reason"))
        assert {name: one.found for name, one in found.items() if one.found} == {
            "under-claim": 12,
            "wrong reason": 12,
        }

    def test_every_script_has_its_rate(self) -> None:
        assert set(SCRIPTS) == set(FAULTS)

    def test_a_share_of_faults_comes_out_as_that_share(self) -> None:
        items = triplets(100, cells="D")
        rng = np.random.default_rng(1)
        replays = [replay_of(one, text) for one, text in script(items, "over-claim", 0.3, rng)]
        (row,) = cell_rates(list(read_claims(items, replays)))
        assert row.over_claim is not None and row.over_claim.interval.covers(0.3)


class TestReading:
    def test_right_for_a_wrong_reason(self) -> None:
        item = item_of("D")
        said = reply(hop(1, supported=False, quotes=[]), hop(2), verdict="no")
        (one,) = read_claims([item], [replay_of(item, said)])
        assert one.right and one.wrong_reason is True
        assert (one.over_claim(2), one.under_claim(1), one.over_claim(1)) == (True, True, False)

    def test_a_wrong_verdict_has_no_right_reason_to_look_for(self) -> None:
        item = item_of("D")
        (one,) = read_claims([item], [replay_of(item, reply())])
        assert not one.right and one.wrong_reason is False

    def test_what_is_not_said_is_no_claim(self) -> None:
        item = item_of("D")
        (one,) = read_claims([item], [replay_of(item, reply(hop(1), hop(2, supported=None)))])
        assert one.over_claim(2) is None and one.over_claim(1) is False
        assert one.under_claim(2) is False  # nothing to deny

    def test_replays_of_other_data_or_protocols_are_refused(self) -> None:
        item = item_of("A")
        with pytest.raises(UnknownScore):
            list(read_claims([], [replay_of(item, reply())]))
        other = claims_case("A")
        stranger = item_of("A", item_id=other.replay.id)
        with pytest.raises(InputError, match="factual-claims"):
            list(read_claims([stranger], [other]))


class TestShares:
    @given(st.lists(st.none() | st.booleans(), min_size=1, max_size=40))
    def test_counts_and_bounds(self, values: list[bool | None]) -> None:
        found = share(values, range(len(values)))
        assert found.least <= found.most
        assert found.interval.covers(found.least) and found.interval.method == EXACT
        assert (found.found, found.unknown) == (values.count(True), values.count(None))

    def test_the_exact_interval_against_a_binomial_sum(self) -> None:
        found = share([True] * 3 + [False] * 17, range(20)).interval

        def at_least(p: float) -> float:
            return math.fsum(math.comb(20, k) * p**k * (1 - p) ** (20 - k) for k in range(3, 21))

        def at_most(p: float) -> float:
            return math.fsum(math.comb(20, k) * p**k * (1 - p) ** (20 - k) for k in range(4))

        assert at_least(found.low) == pytest.approx(0.025, abs=1e-9)
        assert at_most(found.high) == pytest.approx(0.025, abs=1e-9)

    def test_a_question_that_says_everything_twice_counts_about_once(self) -> None:
        once = [k % 3 == 0 for k in range(60)]
        alone = share(once, range(60)).interval
        doubled = share(once + once, [*range(60), *range(60)])
        assert doubled.interval.method == EXACT_CLUSTERED
        assert doubled.questions == 60
        assert doubled.interval.width == pytest.approx(alone.width, rel=0.05)

    @pytest.mark.parametrize("value", [True, False])
    def test_where_all_agree_each_question_counts_once(self, value: bool) -> None:
        assert effective_size([value] * 30, [k // 3 for k in range(30)]) == 10.0

    def test_one_question_alone_bounds_nothing(self) -> None:
        found = share([True, False, True], ["q"] * 3).interval
        assert (found.low, found.high) == (0.0, 1.0)

    def test_nothing_is_no_share(self) -> None:
        found = share([], [])
        assert math.isnan(found.interval.estimate)
        assert (found.n, found.least, found.most) == (0, 0.0, 1.0)

    def test_clustered_intervals_cover(self) -> None:
        # Each question has a rate of its own; its three variants share it.
        rng = np.random.default_rng(0)
        covered = alone = 0
        for _ in range(400):
            rates = rng.beta(1.5, 3.5, size=40)
            values = (rng.random((40, 3)) < rates[:, None]).ravel().tolist()
            groups = [k // 3 for k in range(120)]
            covered += share(values, groups).interval.covers(0.3)
            alone += share(values, range(120)).interval.covers(0.3)
        assert covered / 400 >= 0.93
        assert covered > alone


class TestPairedDifference:
    def test_newcombe_s_own_example(self) -> None:
        # Newcombe (1998), Table II, the example of Altman (1991): 36, 12, 2 and 0 of 50 pairs.
        x = [True] * 36 + [True] * 12 + [False] * 2
        y = [True] * 36 + [False] * 12 + [True] * 2
        found = paired_difference(x, y, range(50))
        assert found.estimate == pytest.approx(0.2)
        assert (found.low, found.high) == (
            pytest.approx(0.0569, abs=2e-4),
            pytest.approx(0.3404, abs=2e-4),
        )

    @given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
    def test_it_turns_with_its_sides(self, pairs: list[tuple[bool, bool]]) -> None:
        x, y = [a for a, _ in pairs], [b for _, b in pairs]
        one, other = (paired_difference(*two, range(len(x))) for two in ((x, y), (y, x)))
        assert one.estimate == pytest.approx(-other.estimate)
        assert (one.low, one.high) == (pytest.approx(-other.high), pytest.approx(-other.low))
        assert -1 <= one.low <= one.estimate <= one.high <= 1

    def test_agreement_of_all_is_not_certainty(self) -> None:
        found = paired_difference([True] * 20, [True] * 20, range(20))
        assert found.low < 0 < found.high

    @pytest.mark.parametrize(
        ("p", "q", "both"), [(0.5, 0.3, 0.2), (0.95, 0.9, 0.9), (0.2, 0.2, 0.1)]
    )
    def test_it_covers(self, p: float, q: float, both: float) -> None:
        rng = np.random.default_rng(2)
        kinds = rng.choice(4, size=(600, 60), p=[both, p - both, q - both, 1 - p - q + both])
        covered = sum(
            paired_difference(
                (row <= 1).tolist(), ((row == 0) | (row == 2)).tolist(), range(60)
            ).covers(p - q)
            for row in kinds
        )
        assert covered / 600 >= 0.93


class TestEffects:
    def test_a_judge_that_reads(self) -> None:
        first, second = claim_effects(claimed(triplets(12)))
        assert (first.chain.estimate, first.edit.estimate) == (0.0, 0.0)
        assert (second.chain.estimate, second.edit.estimate) == (1.0, 0.0)

    def test_a_judge_that_claims_everything(self) -> None:
        _, second = claim_effects(claimed(triplets(12), "over-claim"))
        assert (second.chain.estimate, second.edit.estimate) == (0.0, 0.0)

    def test_a_judge_that_denies_what_is_edited(self) -> None:
        items = triplets(12)
        said = [
            scripted(one, "under-claim" if one.edit or one.cell == "B" else None) for one in items
        ]
        claims = list(read_claims(items, map(replay_of, items, said)))
        _, second = claim_effects(claims)
        assert (second.chain.estimate, second.edit.estimate) == (0.0, 1.0)
        rows = {row.cell: row for row in cell_rates(claims)}
        assert rows["B"].under_claim2 is not None and rows["A"].under_claim2 is not None
        assert rows["B"].under_claim2.found - rows["A"].under_claim2.found == 12

    def test_unknown_claims_leave_their_triplet_out(self) -> None:
        items = triplets(8, cells="ABD")
        said = [
            scripted(one, "omits a hop" if one.item_id == "0-real-B" else None) for one in items
        ]
        _, second = claim_effects(list(read_claims(items, map(replay_of, items, said))))
        assert (second.chain_n, second.chain_left_out) == (7, 1)

    def test_variants_are_pooled_by_question(self) -> None:
        claims = claimed(triplets(10, ("real", "fict")))
        rows = cell_rates(claims)
        assert [row.variant for row in rows] == ["real"] * 4 + ["fict"] * 4 + ["all"] * 4
        assert rows[-1].right.n == 20 and rows[-1].right.questions == 10
        methods = {row.variant: row.right.interval.method for row in rows}
        assert methods == {"real": EXACT, "fict": EXACT, "all": EXACT_CLUSTERED}


class TestJoin:
    def test_sigma_of_claims_is_half_the_effects(self) -> None:
        items = triplets(30)
        rng = np.random.default_rng(3)
        said = [text for _, text in script(items, "over-claim", 0.4, rng)]
        claims = list(read_claims(items, map(replay_of, items, said)))
        (joined,) = grounded(claims, {one.item_id: float(one.passes) for one in claims})
        _, second = claim_effects(claims)
        assert joined.claims.chain_effect.estimate == pytest.approx(second.chain.estimate / 2)
        assert joined.claims.edit_effect.estimate == pytest.approx(second.edit.estimate / 2)
        assert joined.scores.selectivity == joined.claims.selectivity

    def test_only_whole_triplets_count(self) -> None:
        claims = claimed(triplets(9))
        scores = {one.item_id: 1.0 for one in claims if one.item_id != "4-real-A"}
        (joined,) = grounded(claims, scores)
        assert (joined.scores.n, joined.left_out) == (8, 1)
        assert grounded(claims, {}) == []


class TestReport:
    def test_text_and_json_say_the_same(self) -> None:
        claims = claimed(triplets(9), "over-claim")
        report = report_claims(claims, {one.item_id: 0.0 for one in claims}, lacking={"A": 2})
        text, value = report.to_text(), _loads(report.to_json())
        assert "2 in A" in text and EXACT in text
        row = next(one for one in value["cells"] if one["cell"] == "D")
        assert row["over_claim"]["found"] == 9 and "9/9" in text
        assert value["dimensions"]["grounding"]["found"] == 18
        assert dimension_shares(claims)["grounding"].found == 18

    @pytest.mark.parametrize("variants", [("real",), ("real", "fict")])
    def test_every_column_says_which_interval_it_has(self, variants: tuple[str, ...]) -> None:
        items = triplets(30, variants)
        said = [text for _, text in script(items, "over-claim", 0.4, np.random.default_rng(4))]
        claims = list(read_claims(items, map(replay_of, items, said)))
        scores = {one.item_id: float(at % 7) for at, one in enumerate(claims)}
        report = report_claims(claims, scores, level=0.9)
        text = report.to_text()
        _, _, legend = text.partition("\nIntervals of 90%:\n")
        entries = [" ".join(entry.split()) for entry in re.split(r"\n  (?! )", "\n" + legend)]
        for head in (
            *("over-claims hop 2", "under-claims hop 1", "under-claims hop 2"),
            *("right for a wrong reason", "claimed in B less D", "claimed in A less B"),
            *("share of replays", "Sigma of scores", "Sigma of claims"),
        ):
            assert text.count(head) >= 2
            (entry,) = [one for one in entries if head in one.partition(":")[0].split(", ")]
            shown = {
                *([EXACT, EXACT_CLUSTERED] if "claims hop" in head or "right" in head else []),
                *([PAIRED, PAIRED_CLUSTERED] if "less" in head else []),
                *([EXACT, EXACT_CLUSTERED] if "share" in head else []),
                *(["two-sided contrast, by triplet", "two-sided contrast, by question"]
                  if "Sigma" in head else []),
            }  # fmt: skip
            told = {one.rpartition(": ")[2] for one in entry.rstrip(".").split("; ")}
            assert told <= shown
            # Pooled replays and all cells of a file share their questions; one variant does not.
            clustered = len(variants) > 1 or "share" in head
            assert any("question" in one for one in told) == clustered
            if len(variants) > 1 and "share" not in head:
                assert f"{', '.join(variants)}: " in entry and "all: " in entry

    def test_v_of_n_is_explained_and_doubts_stand_beside_sigma(self) -> None:
        claims = claimed(triplets(9), "over-claim")
        text = report_claims(claims, {one.item_id: 0.0 for one in claims}).to_text()
        assert "V/N [low, high] (+U): V of N replays surely are of the kind" in text
        assert "(V+U)/N" in text
        assert "(1) n < 100" in text and "the intervals have no width" in text

    def test_where_all_is_unknown_no_interval_pretends_to_know(self) -> None:
        report = report_claims(claimed(triplets(9), "omits a hop"))
        shares = {**report.faults, **report.dimensions}
        rows = dict(re.findall(r"^(\w[\w ,-]*?) {2,}(.+)$", report.to_text(), re.MULTILINE))
        assert {one.unknown == one.n for one in shares.values()} == {True, False}
        for name, one in shares.items():
            if one.unknown == one.n:
                assert rows[name] == f"unknown in all {one.n}"
            else:
                assert rows[name].startswith(f"{one.found}/{one.n} [")

    def test_one_replay_is_no_several(self) -> None:
        text = report_claims(claimed(triplets(1))[:1]).to_text()
        assert text.startswith("1 replay\n")

    def test_nothing_known_is_written_as_null(self) -> None:
        items = triplets(3)
        claims = claimed(items, "omits a hop")
        value = _loads(report_claims(claims).to_json())
        assert value["effects"][1]["chain"]["estimate"] is None


def _loads(text: str) -> Any:
    import json

    return json.loads(text, parse_constant=pytest.fail)


def test_scripts_are_valid_replays_of_their_own_bytes() -> None:
    one = item_of("A")
    assert encode_replay(replay_of(one, scripted(one))) == encode_replay(
        replay_of(one, scripted(one))
    )
