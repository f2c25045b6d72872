"""Checkers of chapter 1, and the judge that its second exercise asks for."""

from __future__ import annotations

import pytest

from chaincheck.exercises import check
from chaincheck.exercises_ceiling import DifferentNames, few_triplets
from chaincheck.items import Item


@pytest.mark.parametrize(
    ("name", "answer"),
    [("1.1", ("below", "longer")), ("1.2", (0.5, 0.0)), ("1.2", (0.45, 0.04))],
)
def test_right_answers_are_accepted(name: str, answer: object) -> None:
    verdict = check(name, answer)
    assert verdict.right, verdict


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("1.1", ("above", "longer"), "Which of the two is longer"),
        ("1.1", ("Below", "shorter"), "fict variant"),
        ("1.1", ("up", "longer"), "kind of answer"),
        ("1.2", (0.0, 0.0), "one more"),
        ("1.2", (0.5, 0.5), "which names does D have"),
    ],
)
def test_wrong_answers_get_a_hint(name: str, answer: object, hint: str) -> None:
    verdict = check(name, answer)
    assert verdict.right is False
    assert hint in verdict.remark


def test_the_judge_counts_each_name_once() -> None:
    item = Item(
        item_id="i",
        pair_id="p",
        variant="real",
        cell="A",
        query="Who?",
        passages=("Jaws\nSpielberg directed Jaws.", "Spielberg\nSpielberg lives in Ohio."),
    )
    (judgment,) = DifferentNames().score([item])
    assert judgment.score == -3.0


def test_a_few_triplets_hold_every_variant() -> None:
    assert {one.variant for one in few_triplets()} == {"real", "fict", "decoy"}
