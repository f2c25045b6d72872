"""Checkers for the exercises of chapter 1."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from chaincheck.cells import CellScores
from chaincheck.exercises import exercise
from chaincheck.items import Item, Triplet, group_triplets
from chaincheck.judges import Judge, Judgment, fingerprint_of, open_judge
from chaincheck.judges.surface import Surface
from chaincheck.selectivity import measure
from chaincheck.sources import open_source
from chaincheck.triplets import build

__all__ = ["DifferentNames", "few_triplets"]

_FEW = 60
_NEAR = 0.06  # one digit, rounded, on the page's data or on the few triplets used here


@lru_cache(maxsize=1)
def few_triplets() -> tuple[Triplet, ...]:
    """Triplets of all variants from the first facts: enough to see a sign."""
    records = itertools.islice(open_source("facts").read(None), _FEW)
    return tuple(group_triplets(build(records).items))


class DifferentNames:
    """A judge that scores a context by minus the number of different names in it."""

    name = "different-names"
    fingerprint = fingerprint_of({"judge": "different-names", "revision": 1})

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Judge the items one by one, in order."""
        for item in items:
            count = len(Surface(item.passages).passages_with_name())
            yield Judgment(item_id=item.item_id, score=-float(count))


def _of(variant: str) -> list[Triplet]:
    return [one for one in few_triplets() if one.variant == variant]


def _scores(judge: Judge, variant: str) -> CellScores:
    found = {}
    for cell in "ABD":
        judgments = judge.score(one.cells[cell] for one in _of(variant))
        found[cell] = np.array([one.score for one in judgments], dtype=np.float64)
    return CellScores("facts", variant, found["A"], found["B"], found["D"])


def _sigma(judge: Judge, variant: str) -> float:
    return measure(_scores(judge, variant), np.random.default_rng(0), resamples=1).selectivity


@exercise("1.1", 'Give two words: "above", "below" or "zero", and "longer" or "shorter".')
def _length(answer: Any) -> str | None:
    sign, names = (str(word).strip().casefold() for word in answer)
    if sign not in {"above", "below", "zero"} or names not in {"longer", "shorter"}:
        raise ValueError("not those words")
    fict = _scores(open_judge("length"), "fict")
    sizes = {
        cell: np.array([sum(map(len, one.cells[cell].passages)) for one in _of("fict")])
        for cell in "AB"
    }
    # B is longer than A wherever every name grows; the scores of such triplets tell the sign.
    longer = sizes["B"] > sizes["A"]
    effect = float(np.sign(np.mean(fict.a[longer] - fict.b[longer])))
    if sign != {1.0: "above", -1.0: "below", 0.0: "zero"}[effect]:
        return "EE counts how often A outscores B. Which of the two is longer?"
    grown = float(np.mean(fict.b > fict.a)) > float(np.mean(fict.b < fict.a))
    if names != ("longer" if grown else "shorter"):
        return "Read EE of `length` on the fict variant: whom does the judge prefer there?"
    return None


@exercise("1.2", "Give two numbers to one digit: Sigma on real triplets and on decoys.")
def _different_names(answer: Any) -> str | None:
    real, decoy = (float(value) for value in answer)
    judge = DifferentNames()
    if abs(real - _sigma(judge, "real")) > _NEAR:
        return "Count the names of B and of D in a real triplet: which cell has one more?"
    if abs(decoy - _sigma(judge, "decoy")) > _NEAR:
        return "Sigma on real triplets is right. In a decoy triplet, which names does D have?"
    return None
