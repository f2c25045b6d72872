"""Check the answers to the book's exercises.

A checker works the answer out from data, by the functions that the chapter uses; no answer is
written down here. ``check("3.1", answer)`` says whether an answer is right, and if not, what to
look at; ``check("3.1")`` says what kind of answer is wanted. A new exercise is one function
under :func:`exercise`, here or in one of the modules that ``MODULES`` names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from chaincheck.cells import CellScores
from chaincheck.errors import UsageError
from chaincheck.pooled import pooled_auc
from chaincheck.power import expected_edit_noise, needed_n, win_table
from chaincheck.published import counts_behind, published_row
from chaincheck.resampling import half_wins
from chaincheck.selectivity import measure

__all__ = ["MODULES", "Verdict", "check", "eight_triplets", "exercise", "names"]

MODULES = (
    "chaincheck.exercises_ceiling",
    "chaincheck.exercises_triplets",
    "chaincheck.exercises_judges",
    "chaincheck.exercises_training",
    "chaincheck.exercises_mending",
    "chaincheck.exercises_release",
    "chaincheck.exercises_adherence",
    "chaincheck.exercises_audit",
)
"""Modules with further checkers, imported when an exercise is first asked for."""

Checker = Callable[[Any], str | None]


@dataclass(frozen=True)
class Verdict:
    """What is said of an answer.

    Attributes:
        name: the exercise.
        right: whether the answer is right; None if there is none yet.
        remark: what to look at, or what kind of answer is wanted.
    """

    name: str
    right: bool | None
    remark: str

    def __repr__(self) -> str:
        """One line, as a notebook shows it."""
        word = {True: "right", False: "not yet", None: "no answer yet"}[self.right]
        return f"{self.name}: {word}. {self.remark}".rstrip()


_CHECKERS: dict[str, tuple[Checker, str]] = {}


def exercise(name: str, wanted: str) -> Callable[[Checker], Checker]:
    """Register a checker: None if the answer is right, else a hint that gives nothing away.

    Args:
        name: number of the exercise, like "3.1".
        wanted: what kind of answer is wanted, as a sentence.

    Raises:
        ValueError: the name is taken.
    """

    def register(checker: Checker) -> Checker:
        if name in _CHECKERS:
            raise ValueError(f"there is an exercise {name} already")
        _CHECKERS[name] = checker, wanted
        return checker

    return register


def names() -> tuple[str, ...]:
    """The exercises that can be checked, in order of their chapters."""
    found = _checkers()
    return tuple(sorted(found, key=lambda name: [int(part) for part in name.split(".")]))


def _checkers() -> dict[str, tuple[Checker, str]]:
    for module in MODULES:
        import_module(module)
    return _CHECKERS


def _refuse_no_numbers(answer: object) -> None:
    """Refuse NaN and infinities anywhere in an answer: they compare as if nothing were wrong."""
    parts = answer if isinstance(answer, list | tuple) else [answer]
    for part in parts:
        if isinstance(part, float) and not math.isfinite(part):
            raise ValueError("not a number")


def check(name: str, answer: object = None) -> Verdict:
    """Check an answer.

    Args:
        name: number of the exercise, like "3.1".
        answer: what the exercise asks for; None to learn what that is.

    Raises:
        UsageError: there is no such exercise.
    """
    checkers = _checkers()
    if name not in checkers:
        raise UsageError(
            f"there is no exercise {name!r}", remedy=f"The exercises are {', '.join(names())}"
        )
    checker, wanted = checkers[name]
    if answer is None:
        return Verdict(name, None, wanted)
    try:
        _refuse_no_numbers(answer)
        hint = checker(answer)
    except (TypeError, ValueError, IndexError, KeyError):
        return Verdict(name, False, f"That is not the kind of answer that is asked for. {wanted}")
    return Verdict(name, hint is None, hint or "")


def _near(given: object, right: float, digits: int = 3) -> bool:
    """Whether a number agrees with the right one in its digits, however it was rounded."""
    return abs(float(given) - right) <= 0.51 * 10.0**-digits  # type: ignore[arg-type]


def eight_triplets() -> CellScores:
    """The scores of exercise 3.1."""
    return CellScores(
        file="exercise 3.1",
        variant="real",
        a=np.array([2.1, 0.4, 1.3, 3.0, 0.9, 1.7, 2.2, 0.5]),
        b=np.array([1.8, 0.4, 1.6, 2.2, 1.1, 0.8, 1.9, 0.1]),
        d=np.array([0.3, 0.9, 1.2, 2.2, 0.6, 0.7, 0.2, 0.0]),
    )


@exercise("3.1", "Give three numbers: CE, EE and Sigma.")
def _sigma_by_hand(answer: Any) -> str | None:
    found = measure(eight_triplets(), np.random.default_rng(0), resamples=1)
    chain, edit, sigma = answer
    if not _near(chain, found.chain_effect.estimate):
        return "Look at CE: compare B with D in each triplet, and count a tie as one half."
    if not _near(edit, found.edit_effect.estimate):
        return "CE is right. Look at EE: compare A with B, and take 1/2 off at the end."
    if not _near(sigma, found.selectivity):
        return "CE and EE are right. Sigma takes the size of EE off CE, whatever its sign."
    return None


@exercise("3.2", "Give a whole number of triplets.")
def _published_count(answer: Any) -> str | None:
    row = published_row("twowiki_replication", "fict")
    (right,) = counts_behind(0.5 + row.chain_effect, row.n)
    if float(answer) == right:
        return None
    if _near(answer, row.chain_effect * row.n, 0):
        return "CE is a win rate less 1/2: put the half back first."
    return "The rate times n must be a whole number, and round back to the published digits."


@exercise("3.3", "Give a whole number of triplets.")
def _how_many(answer: Any) -> str | None:
    right = needed_n(win_table(0.15, 0.10))
    if right is None:
        raise RuntimeError("the exercise asks for an effect that no number of triplets shows")
    if int(answer) == float(answer) == right:
        return None
    if float(answer) == needed_n(win_table(0.05, 0.0)):
        return "That is the number for EE = 0. Here EE is 0.10, so CE is 0.15."
    return "Make the win table of CE = Sigma + EE and EE, and ask needed_n for its n."


@exercise("3.4", "Give one number, to three digits.")
def _best_at_64(answer: Any) -> str | None:
    noise = expected_edit_noise(64)
    if _near(answer, 0.5 - noise):
        return None
    if _near(answer, noise):
        return "That is what the noise takes. What does it leave of the largest CE?"
    if _near(answer, 0.5):
        return "CE is 1/2, but Sigma also loses the size of EE, which is hardly ever 0."
    return "The largest CE is 1/2, and EE is noise: take off its expected size at this n."


@exercise("3.5", "Give two lists: the scores of cell A and of cell D, at least four triplets.")
def _pooled_apart(answer: Any) -> str | None:
    intact, broken = (np.asarray(scores, dtype=np.float64) for scores in answer)
    if intact.ndim != 1 or intact.shape != broken.shape or intact.size < 4:
        return "Give two lists of equal length, at least four triplets."
    if not (np.isfinite(intact).all() and np.isfinite(broken).all()):
        return "Scores must be finite numbers."
    paired, pooled = float(half_wins(intact, broken).mean() / 2.0), pooled_auc(intact, broken)
    if not math.isclose(paired, 1.0):
        return f"Nominal is {paired:.3f}: A must score above D in every triplet."
    if pooled > 0.65:
        return f"Nominal is 1, but the pooled AUC is {pooled:.3f}: it must not exceed 0.65."
    return None
