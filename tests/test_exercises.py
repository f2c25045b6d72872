"""Checkers accept right answers, refuse wrong ones, and give nothing away."""

from __future__ import annotations

import inspect
from itertools import product
from typing import Any

import numpy as np
import pytest

from chaincheck import exercises
from chaincheck.errors import UsageError
from chaincheck.exercises import check, eight_triplets

# Worked by hand or by a formula that the checker does not use.
RIGHT: dict[str, Any] = {
    # B > D: six wins, one tie, one loss. A > B: five wins, one tie, two losses.
    "3.1": (6.5 / 8 - 0.5, 5.5 / 8 - 0.5, 6.5 / 8 - 5.5 / 8),
    "3.2": 133,
    "3.4": 0.450,
    "3.5": ([1, 3, 5, 7], [0, 2, 4, 6]),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_are_accepted(name: str) -> None:
    verdict = check(name, RIGHT[name])
    assert verdict.right, verdict
    assert repr(verdict) == f"{name}: right."


def test_the_number_needed_is_the_smallest() -> None:
    from chaincheck.power import contrast_power, win_table

    table = win_table(0.15, 0.1)
    right = next(n for n in range(1, 10_000) if contrast_power(table, n) >= 0.8)
    assert check("3.3", right).right
    assert not check("3.3", right + 1).right


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("3.1", (0.25, 0.1875, 0.0625), "Look at CE"),
        ("3.1", (0.3125, -0.1875, 0.125), "Look at EE"),
        ("3.1", (0.3125, 0.1875, 0.5), "Sigma"),
        ("3.2", 62, "half back"),
        ("3.2", 134, "round back"),
        ("3.4", 0.05, "leave"),
        ("3.4", 0.5, "hardly ever"),
        ("3.5", ([1, 2, 3, 4], [0, 1, 2, 5]), "Nominal is 0.750"),
        ("3.5", ([9, 9, 9, 9], [0, 1, 2, 3]), "must not exceed"),
        ("3.5", ([1, 2], [0, 1]), "at least four"),
        ("3.5", ([1, 2, 3, float("nan")], [0, 1, 2, 3]), "finite"),
    ],
)
def test_wrong_answers_get_a_hint(name: str, answer: object, hint: str) -> None:
    verdict = check(name, answer)
    assert verdict.right is False
    assert hint in verdict.remark


@pytest.mark.parametrize(
    ("name", "answer"), list(product(exercises.names(), ["abc", {}, [1], object()]))
)
def test_answers_of_another_kind_are_no_crash(name: str, answer: object) -> None:
    verdict = check(name, answer)
    assert verdict.right is False
    assert "kind of answer" in verdict.remark


def test_without_an_answer_the_kind_is_told() -> None:
    for name in exercises.names():
        assert repr(check(name)).startswith(f"{name}: no answer yet. Give")


def test_an_unknown_exercise_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"there is no exercise '99\.1'"):
        check("99.1", 1)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="already"):
        exercises.exercise("3.1", "Give anything.")(lambda _: None)


def test_names_are_ordered_as_numbers() -> None:
    found = exercises.names()
    assert list(found) == sorted(found, key=lambda name: tuple(map(int, name.split("."))))


@pytest.mark.parametrize("digits", ["133", "0.450", "0.3125", "0.125"])
def test_no_answer_is_written_down(digits: str) -> None:
    assert digits not in inspect.getsource(exercises)


def test_the_data_of_an_exercise_never_change() -> None:
    assert np.array_equal(eight_triplets().a, eight_triplets().a)
    with pytest.raises(ValueError, match="read-only"):
        eight_triplets().a[0] = 9
