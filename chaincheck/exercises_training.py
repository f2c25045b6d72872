"""Checkers for the exercises of chapter 5."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from chaincheck.errors import UsageError
from chaincheck.exercises import exercise
from chaincheck.training.recipe import read_recipe
from chaincheck.training_records import BASE
from chaincheck.training_results import measure_runs

__all__ = ["one_triplet", "unnamed_judges"]

_NEAR = 0.0051  # two digits, however they were rounded
_NAMED = ("nominal-fict", "triplet")


def one_triplet() -> dict[str, float]:
    """The scores of exercise 5.1, in log-odds."""
    return {"A": 1.2, "B": -0.3, "D": 0.9}


def _softplus(value: float) -> float:
    return math.log1p(math.exp(value))


@exercise("5.1", "Give two numbers, to two digits: the three answers' term and the margin's.")
def _loss_by_hand(answer: Any) -> str | None:
    scores = one_triplet()
    answers = _softplus(-scores["A"]) + _softplus(-scores["B"]) + _softplus(scores["D"])
    margin = max(0.0, 2.0 - (min(scores["A"], scores["B"]) - scores["D"]))
    first, second = (float(value) for value in answer)
    if abs(first - answers) > _NEAR:
        return (
            "Look at the answers: log(1 + exp(-s)) where yes is right, log(1 + exp(s)) where no is."
        )
    if abs(second - margin) > _NEAR:
        return "The answers are right. The margin is about the lower one of A and B."
    return None


def unnamed_judges() -> list[tuple[str, tuple[float, float, float]]]:
    """The judges of exercise 5.2: their names, and Nominal, CE and EE on triplets with new names.

    They are in an order that tells nothing.
    """
    found = measure_runs(_NAMED, resamples=50, exchanges=50)
    rows = []
    for name in (_NAMED[1], BASE, _NAMED[0]):
        row = found[name][0].row("fict")
        parts = (row.nominal, row.chain_effect, row.edit_effect)
        rows.append((name, tuple(part.estimate for part in parts)))
    return rows  # type: ignore[return-value]


@exercise("5.2", "Give three names, in the order of the rows: base, nominal-fict or triplet.")
def _which_recipe(answer: Any) -> str | None:
    given = list(answer)
    if sorted(given) != sorted((BASE, *_NAMED)):
        raise ValueError("these three names, each once")
    right = [name for name, _ in unnamed_judges()]
    if given == right:
        return None
    if given.index(BASE) != right.index(BASE):
        return "The base has had no training: its Nominal is the lowest."
    return "Both trained judges have a high Nominal. Which one marks a new name down?"


@exercise("5.3", "Give two triples of numbers: CE, EE and Sigma on real, then on decoy triplets.")
def _name_linker(answer: Any) -> str | None:
    real, decoy = (np.asarray(some, dtype=np.float64) for some in answer)
    if real.shape != (3,) or decoy.shape != (3,):
        raise ValueError("three numbers each")
    if not np.allclose(real, (0.5, 0.0, 0.5)):
        return "On real triplets: does a name stand in two passages in A, in B, in D?"
    if not np.allclose(decoy, (0.0, 0.0, 0.0)):
        return "On decoy triplets some name stands in two passages in every cell. Ties count 1/2."
    return None


@exercise("5.4", "Give a mapping of recipe keys, as read_recipe takes it.")
def _own_recipe(answer: Any) -> str | None:
    if not isinstance(answer, Mapping) or not answer:
        raise TypeError("a mapping")
    try:
        recipe = read_recipe(answer)
    except UsageError as problem:
        return str(problem)
    wanted: Sequence[tuple[bool, str]] = (
        (recipe.objective == "triplet", "It should train on triplets."),
        (
            {name for name, share in recipe.mix.items() if share} == {"real", "decoy"},
            "It should see real and decoy triplets, and no others.",
        ),
        (recipe.mix.get("decoy") == 2 * recipe.mix.get("real", 0), "Two decoys for each real one."),
        (recipe.later == ("decoy",), "The decoys should come later in each pass."),
        (recipe.triplets == 96, "It should take 96 triplets."),
        (recipe.loss.invariance_weight > 0, "It should ask for invariance."),
        (recipe.loss.margin_weight == 0, "It should have no margin."),
    )
    return next((hint for holds, hint in wanted if not holds), None)
