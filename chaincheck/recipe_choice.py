"""Choose a recipe by its runs on validation triplets, with a rule that is written down.

The rule is chapter 6's. It looks at the validation part only, so that the test can be asked about
the chosen recipe once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from chaincheck.training_results import SeedResult, spread

__all__ = ["MOST_EDIT", "VARIANTS_OF_RULE", "Candidate", "choose"]

MOST_EDIT = 0.05
"""The largest mean edit effect on real names, in size, that the rule lets pass."""

VARIANTS_OF_RULE = ("real", "fict")
"""What the rule looks at."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recipe, as the rule sees it.

    Attributes:
        arm: its name.
        runs: how many runs it has.
        edit: mean EE on real names over the runs.
        invented: mean Sigma on invented names.
        lowest: mean over the runs of the lower one of Sigma on real and on invented names.
        refused: why the rule does not let it pass; None if it does.
    """

    arm: str
    runs: int
    edit: float
    invented: float
    lowest: float
    refused: str | None


def choose(
    results: Mapping[str, Sequence[SeedResult]],
    reference: str,
    *,
    most_edit: float = MOST_EDIT,
) -> list[Candidate]:
    """Put recipes into an order, the chosen one first.

    A recipe passes if its mean edit effect on real names is at most ``most_edit`` in size and its
    mean Sigma on invented names is not below the reference's. Of those that pass, the one with the
    highest mean of the lower Sigma of the two variants comes first, then the first by name; those
    that do not pass follow in the same order.

    Args:
        results: by recipe its runs, measured on validation triplets; a recipe without runs is left
            out.
        reference: the recipe that the others are held against. It can be chosen itself.
        most_edit: see above.

    Raises:
        KeyError: there is no run of the reference.
        ValueError: ``most_edit`` is negative or no number.
    """
    if not most_edit >= 0.0:
        raise ValueError(f"most_edit must not be negative, not {most_edit!r}")
    if not results.get(reference):
        raise KeyError(reference)
    bar = spread(results[reference], "fict", "contrast").mean
    found = []
    for arm, runs in results.items():
        if not runs:
            continue
        edit = spread(runs, "real", "edit_effect").mean
        invented = spread(runs, "fict", "contrast").mean
        lower = [
            min(one.row(variant).contrast.estimate for variant in VARIANTS_OF_RULE) for one in runs
        ]
        refused = None
        if abs(edit) > most_edit:
            refused = f"its edit effect on real names is above {most_edit:g} in size"
        elif invented < bar:
            refused = "its selectivity on invented names is below the reference's"
        found.append(Candidate(arm, len(runs), edit, invented, float(np.mean(lower)), refused))
    return sorted(found, key=lambda one: (one.refused is not None, -one.lowest, one.arm))
