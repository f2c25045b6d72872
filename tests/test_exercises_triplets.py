"""Checkers of chapter 2 accept right answers and say where a wrong one goes wrong."""

from __future__ import annotations

from typing import Any

import pytest

from chaincheck.exercises import check
from chaincheck.exercises_triplets import flawed_draft, halden_passages, third_passage_triplet
from chaincheck.validator import RULES, validate

# By hand.
B = (
    "Halden Bridge\nThe Halden Bridge is Ines Moreau's last work. It was opened in 1902.",
    "Ines Moreau\nInes Moreau grew up in Bern. Moreau had two sisters.",
    "The Aare\nThe river Aare was painted by many, Ines Moreau among them. "
    "Ines Moreau's picture is lost.",
)
D = (halden_passages()[0], B[1], halden_passages()[2])
ROW: dict[str, Any] = {
    "question": "In which town was the painter of The Grey Mill born?",
    "answer": "Lisbon",
    "bridge": "Nora Vance",
    "kind": "person",
    "pronoun": "she",
    "earlier_support": 0,
    "later_support": 2,
    "passages": [
        {"title": "The Grey Mill", "text": "The Grey Mill is a picture by Nora Vance."},
        {"title": "Mills", "text": "A mill grinds corn."},
        {"title": "Nora Vance", "text": "Nora Vance was born in Lisbon. She died young."},
    ],
}


@pytest.mark.parametrize(
    ("name", "answer"),
    [("2.1", (B, D)), ("2.2", ["Q9", "Q6"]), ("2.3", (1, 2, 3, 2)), ("2.4", ROW)],
)
def test_right_answers_are_accepted(name: str, answer: object) -> None:
    verdict = check(name, answer)
    assert verdict.right, verdict


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("2.1", (halden_passages(), D), "still holds"),
        ("2.1", ((*B[:2], B[2].replace("Ines Moreau among", "A. Brandt among")), D), "Brandt"),
        ("2.1", ((B[0], B[1].replace("Moreau had", "Ines Moreau had"), B[2]), D), "a surname"),
        ("2.1", (B, B), "not the later support"),
        ("2.1", (B, halden_passages()), "must be that of B"),
        ("2.2", ["Q6"], "There is more: 1"),
        ("2.2", ["Q6", "Q9", "Q8"], "Q8 holds"),
        ("2.3", (0, 2, 3, 2), "the bridge in B"),
        ("2.3", (1, 2, 3, 1), "the new name in D"),
        ("2.4", ROW | {"passages": ROW["passages"][:2], "later_support": 1}, "distractor"),
        ("2.4", ROW | {"later_support": 7}, "out of range"),
        ("2.4", ROW | {"answer": "Porto"}, "Q4"),
        ("2.4", ROW | {"question": "Where was Nora Vance born?"}, "Q5"),
    ],
)
def test_wrong_answers_get_a_hint(name: str, answer: object, hint: str) -> None:
    verdict = check(name, answer)
    assert verdict.right is False
    assert hint in verdict.remark
    assert "/" not in verdict.remark, "no path of a file of ours"


def test_a_row_without_its_columns_is_of_another_kind() -> None:
    for answer in ({"question": "What?"}, ["a"], (B, B[:2])):
        name = "2.1" if isinstance(answer, tuple) else "2.4"
        assert "kind of answer" in check(name, answer).remark


def test_the_flawed_draft_breaks_two_rules_by_one_mention() -> None:
    assert [rule for rule, _ in validate(flawed_draft())] == ["Q6", "Q9"]
    assert {"Q6", "Q9"} < set(RULES)


def test_the_triplet_of_the_third_passage_is_made_by_exchange() -> None:
    cells = third_passage_triplet().cells
    assert cells["B"].passages[2].endswith("built by Ada Brandt.")
    assert cells["D"].passages[1] == cells["B"].passages[1]
    assert cells["D"].passages[3] == cells["A"].passages[3]
