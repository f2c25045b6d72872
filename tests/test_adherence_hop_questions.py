from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_adherence_chain_evidence import item_of, values

from chaincheck.adherence.audit import audit
from chaincheck.adherence.hop_questions import ask_hops, hop_id, steps_of, wording
from chaincheck.adherence.score_claims import (
    best_threshold,
    ranges_of,
    replay_of_scores,
    split_half,
    zero,
)
from chaincheck.errors import InvalidItem, UsageError
from chaincheck.items import Item
from chaincheck.judges import LexicalJudge
from chaincheck.judges.base import Judgment
from chaincheck.sources.facts import FactsSource
from chaincheck.triplets import build

OWN = {"hop_questions": ["Who directed Jaws?", "Where was {bridge} born?"]}


def ranges(item: Item, whole: Any, first: Any = None, second: Any = None) -> dict[str, Any]:
    names = (item.item_id, hop_id(item.item_id, 1), hop_id(item.item_id, 2))
    return {
        name: score if isinstance(score, tuple) else (score, score)
        for name, score in zip(names, (whole, first, second), strict=True)
        if score is not None
    }


class TestQuestions:
    @pytest.mark.parametrize(
        ("cell", "name", "holds"),
        [
            ("A", "Ann Lee", True),
            ("B", "Eva Roe", True),
            ("C", "Ann Lee", False),
            ("D", "Ann Lee", False),
        ],
    )
    def test_the_second_names_what_the_passages_give(
        self, cell: str, name: str, holds: bool
    ) -> None:
        item = item_of(cell, extra=OWN)
        first, second = ask_hops([item])
        assert (first.query, second.query) == ("Who directed Jaws?", f"Where was {name} born?")
        assert (first.label_sufficient, second.label_sufficient) == (True, holds)
        assert first.passages == second.passages == item.passages
        assert len({item.item_id, first.item_id, second.item_id}) == 3

    @pytest.mark.parametrize(
        ("step", "question"),
        [
            ("Rubber Soul >> performer", "What is the performer of Rubber Soul?"),
            ("#1 >> place of birth", "What is the place of birth of #1?"),
            ("Who founded  #1 ?", "Who founded #1 ?"),
            ("where is #1", "where is #1?"),
        ],
    )
    def test_steps_are_worded_mechanically(self, step: str, question: str) -> None:
        assert wording(step) == question

    def test_the_book_s_facts_word_every_step(self) -> None:
        records = list(itertools.islice(FactsSource().read(), 0, None, 60))
        items = build(records, cells=("A", "B", "D", "C")).items
        asked = list(ask_hops(items, steps_of(records)))
        assert len(asked) == 2 * len(items) > 0
        for item, (first, second) in zip(
            items, zip(asked[::2], asked[1::2], strict=True), strict=True
        ):
            name = item.replacement if item.cell == "B" else item.bridge
            assert name and name in second.query and name not in first.query
            assert item.answer not in second.query

    def test_without_steps_it_says_what_to_do(self) -> None:
        with pytest.raises(UsageError, match="hop_questions"):
            list(ask_hops([item_of("A")]))

    @pytest.mark.parametrize(
        "given", ["Who?", ["Who?"], ["Who?", 1], ["Who?", ""], ["Who?", "Where?"],
                  ["Who is {bridge}?", "Where is {bridge}?"]],
    )  # fmt: skip
    def test_a_malformed_column_is_refused(self, given: Any) -> None:
        with pytest.raises(InvalidItem, match="i-A"):
            list(ask_hops([item_of("A", extra={"hop_questions": given})]))


class TestClaims:
    def test_a_score_above_the_threshold_is_a_claim(self) -> None:
        item = item_of("D")
        recorded = replay_of_scores(item, ranges(item, 1.5, 0.25, -0.25), zero([item]))
        assert recorded is not None
        found = values(recorded)
        assert (found["j_hop1"], found["j_hop2"]) == ("TRUE", "FALSE")
        assert (recorded.replay.verdict, recorded.gold) == ("PASS", "FAIL")
        assert audit(recorded.replay).dimensions["verdict"] == "VIOLATED"  # yes, and not hop 2

    def test_a_score_at_the_threshold_is_none(self) -> None:
        item = item_of("A")
        recorded = replay_of_scores(item, ranges(item, 0.0, 0.0, 0.0), zero([item]))
        assert recorded is not None and recorded.replay.verdict == "FAIL"
        assert values(recorded)["j_hop1"] == "FALSE"

    @given(
        st.sampled_from("ABCD"),
        st.tuples(*[st.none() | st.floats(-9, 9, width=16)] * 2),
        st.floats(-9, 9, width=16),
        st.booleans(),
    )
    def test_it_is_never_satisfied(
        self, cell: str, hops: tuple[float | None, float | None], whole: float, strict: bool
    ) -> None:
        item = item_of(cell)
        recorded = replay_of_scores(item, ranges(item, whole, *hops), zero([item]), strict=strict)
        assert recorded is not None
        found = audit(recorded.replay, explain=False)
        assert found.overall in ("UNKNOWN", "VIOLATED")
        assert found.dimensions["procedure"] == "UNKNOWN"
        assert {v for atom, v in values(recorded).items() if atom[0] == "p"} == {"UNKNOWN"}

    def test_a_hop_that_was_not_asked_stays_unknown(self) -> None:
        item = item_of("A")
        recorded = replay_of_scores(item, ranges(item, 1.0), zero([item]))
        assert recorded is not None and values(recorded)["j_hop1"] == "UNKNOWN"

    @pytest.mark.parametrize(
        ("bounds", "value"),
        [((0.5, math.inf), "TRUE"), ((-math.inf, -0.5), "FALSE"), ((-math.inf, 0.0), "FALSE"),
         ((0.0, 1.0), "UNKNOWN"), ((-1.0, 1.0), "UNKNOWN"), ((-math.inf, math.inf), "UNKNOWN")],
    )  # fmt: skip
    def test_bounds_claim_what_they_settle(self, bounds: tuple[float, float], value: str) -> None:
        item = item_of("A")
        recorded = replay_of_scores(item, ranges(item, 1.0, bounds, 1.0), zero([item]))
        assert recorded is not None and values(recorded)["j_hop1"] == value
        undecided = replay_of_scores(item, ranges(item, bounds), zero([item]))
        assert (undecided is None) == (value == "UNKNOWN")

    def test_bounds_are_read_from_judgments(self) -> None:
        found = ranges_of(
            [
                Judgment(item_id="a", score=1.0),
                Judgment(item_id="b", score=None, bounds=(None, 2.0)),
                Judgment(item_id="c", score=None),
            ]
        )
        assert found == {"a": (1.0, 1.0), "b": (-math.inf, 2.0), "c": (-math.inf, math.inf)}

    def test_an_item_without_a_score_is_refused(self) -> None:
        with pytest.raises(UsageError, match="has no score"):
            replay_of_scores(item_of("A"), {}, zero([item_of("A")]))


class TestThresholds:
    @given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=2, max_size=30))
    def test_no_other_threshold_does_better(self, cases: list[tuple[int, bool]]) -> None:
        scores, labels = [float(x) for x, _ in cases], [y for _, y in cases]
        found = best_threshold(scores, labels)
        if all(labels) or not any(labels):
            assert found is None
            return

        def errors(cut: float) -> float:
            up = [x > cut for x in scores]
            yes, no = labels.count(True), labels.count(False)
            missed = sum(y and not u for u, y in zip(up, labels, strict=True)) / yes
            return missed + sum(u and not y for u, y in zip(up, labels, strict=True)) / no

        assert found is not None and found not in scores
        assert errors(found) == pytest.approx(min(errors(k / 2) for k in range(-13, 14)))

    def _data(self) -> tuple[list[Item], dict[str, Any]]:
        records = list(itertools.islice(FactsSource().read(), 0, None, 25))
        items = list(build(records, variants=("real",), distractors=3).items)
        asked = list(ask_hops(items, steps_of(records)))
        return items, ranges_of(LexicalJudge().score([*items, *asked]))

    def test_no_question_has_a_say_in_its_own_threshold(self) -> None:
        items, found = self._data()
        before = split_half(items, found)
        target = items[0].query
        own = {
            n
            for i in items
            if i.query == target
            for n in (i.item_id, hop_id(i.item_id, 1), hop_id(i.item_id, 2))
        }
        rng = np.random.default_rng(0)
        moved = {n: (s := float(rng.normal()) * 50, s) if n in own else r for n, r in found.items()}
        after = split_half(items, moved)
        assert all(after[name] == before[name] for name in own)

    def test_the_cells_of_a_question_share_their_thresholds(self) -> None:
        items, found = self._data()
        thresholds = split_half(items, found)
        for query in {item.query for item in items}:
            same = {thresholds[i.item_id] for i in items if i.query == query}
            assert len(same) == 1
        assert set(thresholds) == set(found)

    def test_too_few_questions_are_refused(self) -> None:
        item = item_of("A")
        with pytest.raises(UsageError, match="cannot be fitted"):
            split_half([item], ranges(item, 1.0, 1.0, 1.0))
