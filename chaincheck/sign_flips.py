"""The sign-flip test: is one judge better than another, or could the two change places?

Two judges scored the same triplets. If they are interchangeable, then within any triplet the
outcomes of the one might as well have come from the other. So in each triplet (or in each
cluster of triplets as a whole) a fair coin decides whether the two judges' outcomes of ALL
comparisons change places, and the difference of the two judges is taken anew. A difference that
such exchanges rarely reach is not luck (Fisher 1935; Good 2005, 3.2).

An exchange turns the difference of a triplet's outcomes into its negative, and leaves their sum
alone. Triplets with equal or opposite differences are therefore of one kind, and how many of a
kind change places is one binomial draw: time and memory depend on the number of kinds, at most
62, not on the number of triplets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chaincheck.intervals import IntArray

__all__ = ["SignFlips", "flipped_sums", "holm", "sign_flip_test"]

_CHUNK = 1 << 19  # numbers held at a time: 4 MB
_BINOMIAL_COST = 16  # one binomial draw takes about as long as this many random bits


@dataclass(frozen=True, slots=True)
class SignFlips:
    """Two-sided p-values, all from the same exchanges.

    Attributes:
        nominal, chain_effect, edit_effect, selectivity: (c + 1)/(exchanges + 1), where c is how
            many exchanges give a difference at least as far from 0 as the observed one.
        exchanges: how many random exchanges were tried.
    """

    nominal: float
    chain_effect: float
    edit_effect: float
    selectivity: float
    exchanges: int


def _kinds(differences: IntArray) -> tuple[IntArray, IntArray]:
    """Different rows up to their sign, without rows of zeros, and how often each occurs."""
    rows = differences[np.any(differences != 0, axis=1)]
    if rows.size == 0:
        return rows, np.zeros(0, dtype=np.int64)
    leading = np.take_along_axis(rows, np.argmax(rows != 0, axis=1)[:, None], axis=1)
    kinds, counts = np.unique(rows * np.sign(leading), axis=0, return_counts=True)
    return kinds, counts.astype(np.int64)


def flipped_sums(differences: ArrayLike, exchanges: int, rng: np.random.Generator) -> IntArray:
    """Sums of the rows, each with a sign that a fair coin gives it.

    Args:
        differences: shape (units, k), whole numbers.
        exchanges: how many times to toss the coins of all rows.
        rng: the source of randomness.

    Returns:
        Shape (exchanges, k).

    Raises:
        ValueError: fewer than one exchange.
    """
    if exchanges < 1:
        raise ValueError(f"exchanges must be at least 1, not {exchanges!r}")
    table = np.asarray(differences, dtype=np.int64)
    kinds, counts = _kinds(table)
    units = int(counts.sum())
    sums = np.zeros((exchanges, table.shape[1]), dtype=np.int64)
    if units == 0:
        return sums
    by_kind = counts.size * _BINOMIAL_COST <= units
    width = counts.size if by_kind else units
    # Doubles hold these whole numbers exactly, and their products are much faster.
    each = kinds.astype(np.float64) if by_kind else np.repeat(kinds, counts, axis=0) * 1.0
    total = counts @ kinds
    rows = max(1, _CHUNK // width)
    for start in range(0, exchanges, rows):
        part = slice(start, min(start + rows, exchanges))
        shape = (part.stop - start, width)
        stay = rng.binomial(counts, 0.5, size=shape) if by_kind else _coins(shape, rng)
        sums[part] = 2 * np.rint(stay.astype(np.float64) @ each).astype(np.int64) - total
    return sums


def _coins(shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.uint8]:
    packed = rng.integers(0, 256, size=(shape[0], -(-shape[1] // 8)), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=shape[1])


def sign_flip_test(
    first: ArrayLike,
    second: ArrayLike,
    triplets: int,
    rng: np.random.Generator,
    *,
    exchanges: int = 10_000,
) -> SignFlips:
    """Test two judges by exchanging them within units.

    The null hypothesis is that the judges are interchangeable: the joint distribution of their
    outcomes in a unit stays the same if the two are exchanged. Under it P(p <= a) <= a for
    every a and any n: the observed assignment is one of exchanges + 1 that are equally likely,
    which is what the two ones in (c + 1)/(exchanges + 1) count (Phipson and Smyth 2010).

    It is a stronger hypothesis than "Sigma is equal". For Nominal, CE and EE, which are means,
    the test is also valid for "the means are equal" in large samples, since the sums of flipped
    differences have the variance of the sum itself. For Sigma it is not: two judges may have
    one Sigma and differ in CE and in EE, and then exchanges mix a large |EE| with a small one.
    Simulated at 5% (:func:`chaincheck.paired_simulation.simulate_comparison`; n = 64, 122, 295),
    interchangeable judges were rejected in 1.5 to 4.4% of 1,000-2,000 data sets; judges with one
    Sigma but other effects in 3 to 26%, most where they agree on most triplets. That is the
    test's power against another hypothesis. What to conclude about Sigma alone is for the
    interval to say (:func:`chaincheck.paired_intervals.sigma_difference_bounds`).

    All arithmetic is in whole numbers, so "at least as far" is never a matter of rounding.

    Args:
        first: shape (units, 3), each unit's sums of half wins (0, 1, 2) in A > D, B > D, A > B.
        second: the same of the second judge.
        triplets: number of triplets in all units.
        rng: the source of randomness.
        exchanges: random exchanges; the smallest possible p-value is 1/(exchanges + 1).

    Raises:
        ValueError: shapes that differ, or fewer than one exchange.
    """
    x, y = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    if x.shape != y.shape or x.ndim != 2 or x.shape[1] != 3:
        raise ValueError(f"outcomes must have one shape (units, 3), not {x.shape} and {y.shape}")
    observed = (x - y).sum(axis=0)
    edits = int((x + y)[:, 2].sum()) - 2 * triplets  # n times EE1 + EE2, in half wins
    sums = flipped_sums(x - y, exchanges, rng)
    reached = [int(np.count_nonzero(np.abs(sums[:, k]) >= abs(observed[k]))) for k in range(3)]
    found = int(_sigma_difference(observed, edits))
    reached.append(int(np.count_nonzero(np.abs(_sigma_difference(sums, edits)) >= abs(found))))
    nominal, chain, edit, sigma = ((count + 1) / (exchanges + 1) for count in reached)
    return SignFlips(nominal, chain, edit, sigma, exchanges)


def _sigma_difference(sums: IntArray, edits: int) -> IntArray:
    """Sigma1 - Sigma2 in quarter wins, from differences of sums (..., 3) in half wins.

    With d the difference and e the sum of two judges' numbers, the one's is (e + d)/2 and the
    other's (e - d)/2.
    """
    chain, edit = sums[..., 1], sums[..., 2]
    return np.asarray(2 * chain - np.abs(edits + edit) + np.abs(edits - edit))


def holm(p_values: ArrayLike) -> list[float]:
    """Adjust p-values of several tests so that any false alarm among them has chance 5% at 0.05.

    Holm (1979): the k-th smallest of m is multiplied by m - k + 1, never below one before it.
    Holds however the tests depend on each other.

    Returns:
        The adjusted values, in the order given.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = np.minimum(1.0, p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.maximum.accumulate(scaled) if p.size else scaled
    return [float(value) for value in adjusted]
