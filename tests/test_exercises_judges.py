"""Checkers of chapter 4."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import pytest

from chaincheck.exercises import check
from chaincheck.items import Item
from chaincheck.judges import Judge, Judgment, fingerprint_of


class Rounded:
    """A judge that rounds what another one says."""

    def __init__(self, judge: Judge, digits: int) -> None:
        self.judge, self.digits = judge, digits
        self.name = f"{judge.name}-{digits}"
        self.fingerprint = fingerprint_of(self.settings())

    def settings(self) -> dict[str, object]:
        return {"judge": "rounded", "of": self.judge.fingerprint, "digits": self.digits}

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        for one in self.judge.score(items):
            assert one.score is not None
            yield Judgment(item_id=one.item_id, score=round(one.score, self.digits))


class WithoutDigits(Rounded):
    def settings(self) -> dict[str, object]:
        return {"judge": "rounded", "of": self.judge.fingerprint}


class WithoutTheInner(Rounded):
    def settings(self) -> dict[str, object]:
        return {"judge": "rounded", "digits": self.digits}


class Whimsical(Rounded):
    def settings(self) -> dict[str, object]:
        return {**super().settings(), "at": id(self)}


class Unrounded(Rounded):
    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        return self.judge.score(items)


# 4.1 and 4.2 by hand from the table; 4.5 from the exact binomial, in tests of the noise floor.
@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("4.1", (math.log(0.45 / 0.18), 0.63)),
        ("4.1", (0.92, 0.63)),
        ("4.2", (math.log(0.30 / 0.12), None)),
        ("4.3", Rounded),
        ("4.4", (False, True, False, False)),
    ],
)
def test_right_answers_are_accepted(name: str, answer: object) -> None:
    verdict = check(name, answer)
    assert verdict.right, verdict


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("4.1", (0.92, 0.65), "Look at the mass"),
        ("4.1", (0.40, 0.63), "natural"),
        ("4.1", (1.10, 0.63), "before taking logarithms"),
        ("4.1", 3, "kind of answer"),
        ("4.2", (0.92, 3.0), "no limit"),
        ("4.2", (1.10, None), "at most as probable"),
        ("4.2", (None, None), "at most as probable"),
        ("4.3", WithoutDigits, "digits belong"),
        ("4.3", WithoutTheInner, "inner fingerprint belongs"),
        ("4.3", Unrounded, "rounded"),
        ("4.3", lambda judge, digits: judge, "rounded"),
        ("4.3", lambda judge, digits: None, "a fingerprint"),
        ("4.3", 7, "kind of answer"),
        ("4.4", (True, True, False, False), "Look again at a"),
        ("4.4", (False, False, True, False), "Look again at b"),
        ("4.4", (0, 1, 0, 0), "kind of answer"),
        ("4.5", 0.5, "smallest_edit_effect"),
    ],
)
def test_wrong_answers_get_a_hint(name: str, answer: object, hint: str) -> None:
    verdict = check(name, answer)
    assert verdict.right is False
    assert hint in verdict.remark


def test_a_fingerprint_that_changes_is_found() -> None:
    kept: list[Whimsical] = []  # or their places in memory are used again

    def make(judge: Judge, digits: int) -> Whimsical:
        kept.append(Whimsical(judge, digits))
        return kept[-1]

    assert "every time" in check("4.3", make).remark


def test_the_noise_floor_takes_the_upper_bound_of_the_rate() -> None:
    from chaincheck.intervals import wilson
    from chaincheck.noise import coin_quantile, smallest_edit_effect

    high = wilson(6, 200, 0.95).high
    right = coin_quantile(math.ceil(2 * high * 200)) / 200
    assert check("4.5", right).right
    assert "upper Wilson bound" in check("4.5", smallest_edit_effect(200, 0.03)).remark
