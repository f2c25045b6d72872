"""Checkers for the exercises of chapter 4."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from chaincheck.exercises import exercise
from chaincheck.intervals import wilson
from chaincheck.items import Item
from chaincheck.judge_records import judged_triplets, recorded_judge
from chaincheck.judges import Judge, LexicalJudge
from chaincheck.judges.base import fingerprint_of
from chaincheck.judges.server_scores import Entry, Side, Tokens, score_of
from chaincheck.noise import smallest_edit_effect

__all__ = ["first_tokens"]

_NEAR = 0.0051  # two digits, however they were rounded
_YES, _NO = frozenset({"yes", "y"}), frozenset({"no", "n"})


def first_tokens() -> tuple[tuple[str, float], ...]:
    """The most probable first tokens of exercise 4.1, with their probabilities."""
    return (
        (" Yes", 0.30),
        (" The", 0.20),
        ("Yes", 0.12),
        (" No", 0.10),
        ("no", 0.08),
        (" Y", 0.03),
        (" None", 0.02),
    )


def _entries(count: int | None = None) -> list[Entry]:
    return [Entry(text, math.log(p)) for text, p in first_tokens()[:count]]


def _near(given: object, right: float, within: float = _NEAR) -> bool:
    return abs(float(given) - right) <= within  # type: ignore[arg-type]


@exercise("4.1", "Give two numbers: the score and the mass, to two digits.")
def _log_odds(answer: Any) -> str | None:
    sides = {"yes": 0.0, "no": 0.0}
    for text, probability in first_tokens():
        word = text.strip().lower()
        side = "yes" if word in _YES else "no" if word in _NO else None
        if side:
            sides[side] += probability
    score, mass = answer
    right = math.log(sides["yes"] / sides["no"])
    if not _near(mass, sides["yes"] + sides["no"]):
        return "Look at the mass: which tokens read yes, y, no or n, stripped and in lower case?"
    if _near(score, math.log10(sides["yes"] / sides["no"])):
        return "The mass is right. Take natural logarithms."
    if not _near(score, right):
        return "The mass is right. Sum the probabilities of each side before taking logarithms."
    return None


@exercise("4.2", "Give two bounds, the lower one first; None for an end without limit.")
def _bounds(answer: Any) -> str | None:
    tokens = Tokens(Side(_YES, frozenset({" Yes"})), Side(_NO, frozenset({" No"})))
    bounds = score_of(_entries(3), tokens).bounds
    if bounds is None:
        raise RuntimeError("the exercise asks for bounds of a score that is known")
    low, high = answer
    if high is not None or bounds[1] is not None:
        return "Nothing says that the missing token has any probability at all: log 0 has no limit."
    if low is None or not _near(low, float(bounds[0] or 0.0)):
        return "The missing token is at most as probable as the least probable one returned."
    return None


@exercise("4.3", "Give the class itself, not an object of it.")
def _rounded(answer: Any) -> str | None:
    items = [one.cells[cell] for one in judged_triplets()[:10] for cell in "ABD"]
    inner = LexicalJudge("lexical")
    one = answer(inner, 1)
    if not isinstance(one, Judge):
        return "A judge has a name, a fingerprint and a method score."
    found = [judgment.score for judgment in one.score(iter(items))]
    wanted = [round(float(judgment.score or 0.0), 1) for judgment in inner.score(items)]
    if found != wanted:
        return "Give one judgment an item, in order, with the inner judge's score rounded."
    mine = one.fingerprint
    faults = {
        "Two numbers of digits are two judges: the digits belong in the fingerprint.": (
            mine == answer(inner, 2).fingerprint
        ),
        "Two inner judges are two judges: the inner fingerprint belongs in yours.": (
            mine == answer(LexicalJudge("length"), 1).fingerprint
        ),
        "The same settings must give the same fingerprint every time.": (
            mine != answer(inner, 1).fingerprint
        ),
        "A judge that rounds is not the one that it rounds.": mine == inner.fingerprint,
    }
    return next((hint for hint, holds in faults.items() if holds), None)


def _replayed(items: Iterator[Item] | list[Item]) -> str:
    judge = recorded_judge("smollm2")
    for _ in judge.score(items):
        pass
    return judge.provenance().judgments


@exercise("4.4", "Give four times True (it changes) or False, for a, b, c and d.")
def _which_hash(answer: Any) -> str | None:
    triplets = [one for one in judged_triplets() if one.variant == "real"][:5]
    items = [one.cells[cell] for one in triplets for cell in "ABD"]
    renamed = [replace(one, item_id=fingerprint_of({"was": one.item_id})) for one in items]
    base = _replayed(items)
    right = [
        _replayed(changed) != base
        for changed in (items[::-1], items[:-1], [*items, *items], renamed)
    ]
    given = list(answer)
    if len(given) != len(right) or not all(isinstance(one, bool) for one in given):
        raise ValueError("four truth values")
    wrong = ["abcd"[k] for k, one in enumerate(right) if given[k] != one]
    if wrong:
        return f"Look again at {wrong[0]}: replay it, and ask the judge for its provenance()."
    return None


@exercise("4.5", "Give one number, to three digits.")
def _noise(answer: Any) -> str | None:
    n, flips = 200, 6
    right = smallest_edit_effect(n, wilson(flips, n, 0.95).high)
    if _near(answer, right, 0.00051):
        return None
    if _near(answer, smallest_edit_effect(n, flips / n), 0.00051):
        return "Six flips of 200 is only an estimate of the rate: take its upper Wilson bound."
    return "smallest_edit_effect takes the rate of flips; take the upper Wilson bound of it."
