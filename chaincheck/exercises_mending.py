"""Checkers of the exercises of chapter 6, and what they ask about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from chaincheck.exercises import exercise
from chaincheck.power import expected_edit_noise

__all__ = ["CALM", "FEW", "made_up_recipes", "three_runs"]

FEW = 43
"""Triplets of exercise 6.1."""

CALM = 0.02
"""The |EE| that exercise 6.1 wants chance to stay below."""

_NEAR = 0.0051  # two digits, however they were rounded


@exercise("6.1", "Give two numbers: the expected |EE|, to three digits, and a number of triplets.")
def _noise(answer: Any) -> str | None:
    noise, triplets = (float(value) for value in answer)
    if abs(noise - expected_edit_noise(FEW)) > 0.00051:
        return "The expected |EE|: chaincheck.power.expected_edit_noise, or about 0.4/sqrt(n)."
    if triplets != int(triplets):
        raise ValueError("a whole number of triplets")
    if expected_edit_noise(max(1, int(triplets))) > CALM:
        return "The first number is right. With so many triplets chance gives more than that."
    # Odd and even n differ a little, so a number that will do may stand before one that will not.
    if any(expected_edit_noise(fewer) > CALM for fewer in (int(triplets) - 1, int(triplets) - 2)):
        return None
    return "The first number is right. Fewer triplets will do."


def three_runs() -> list[tuple[float, float]]:
    """CE and EE of the three runs of exercise 6.2."""
    return [(0.46, -0.12), (0.44, 0.02), (0.45, 0.10)]


@exercise(
    "6.2", "Give two numbers, to two digits: the mean of the three Sigmas, and the pooled one."
)
def _two_means(answer: Any) -> str | None:
    effects = np.array(three_runs())
    single = float(np.mean(effects[:, 0] - np.abs(effects[:, 1])))
    pooled = float(effects[:, 0].mean() - abs(effects[:, 1].mean()))
    first, second = (float(value) for value in answer)
    if abs(first - single) > _NEAR:
        return "The mean of the three: work out CE - |EE| of each run, then take the mean."
    if abs(second - pooled) > _NEAR:
        return "The first number is right. Pooled: take the means of CE and of EE first."
    return None


def made_up_recipes() -> Mapping[str, tuple[float, float, float]]:
    """The recipes of exercise 6.3: mean EE on real names, mean Sigma on invented and on real ones.

    The first is the reference.
    """
    return {
        "reference": (0.09, 0.36, 0.34),
        "w": (0.02, 0.35, 0.47),
        "x": (-0.04, 0.38, 0.40),
        "y": (0.05, 0.44, 0.39),
        "z": (-0.06, 0.46, 0.45),
    }


@exercise("6.3", "Give the names of the recipes that pass, the chosen one first.")
def _by_the_rule(answer: Any) -> str | None:
    if isinstance(answer, str):
        raise TypeError("a sequence of names")
    given = [str(name) for name in answer]
    known = made_up_recipes()
    if not given or not set(given) <= set(known):
        raise ValueError("names of the table")
    bar = known["reference"][1]
    passing = {
        name: min(invented, real)
        for name, (edit, invented, real) in known.items()
        if abs(edit) <= 0.05 and invented >= bar
    }
    if wrong := [name for name in given if name not in passing]:
        edit, _, _ = known[wrong[0]]
        why = "its edit effect" if abs(edit) > 0.05 else "its selectivity on invented names"
        return f"{wrong[0]!r} does not pass: look at {why}."
    if len(given) != len(set(given)) or set(given) != set(passing):
        return "All of these pass, but not all that pass are there once."
    if given[0] != max(passing, key=lambda name: passing[name]):
        return "These pass. The one with the highest lower Sigma comes first."
    return None
