"""Exact binomial intervals against sums of exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.adherence.rates import beta_cdf, clopper_pearson, rate


def upper_tail(k: int, n: int, share: Fraction) -> Fraction:
    """P(X >= k) by its definition, without rounding."""
    return sum(
        (math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k, n + 1)),
        Fraction(0),
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.data())
def test_the_ends_cut_off_the_tails_that_they_promise(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    level = data.draw(st.sampled_from([0.5, 0.9, 0.95, 0.999]))
    tail = (1 - level) / 2
    low, high = clopper_pearson(k, n, level)
    assert 0 <= low <= k / n <= high <= 1
    if k:
        assert float(upper_tail(k, n, Fraction(low))) == pytest.approx(tail, rel=1e-9)
    else:
        assert low == 0
    if k < n:
        below = 1 - upper_tail(k + 1, n, Fraction(high))
        assert float(below) == pytest.approx(tail, rel=1e-9)
    else:
        assert high == 1


def test_known_values() -> None:
    # No success in n: the upper end is 1 - tail ** (1 / n), in closed form.
    for n in (1, 10, 100_000):
        assert clopper_pearson(0, n)[1] == pytest.approx(-math.expm1(math.log(0.025) / n))
    assert clopper_pearson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("k", "n"), [(1, 100_000), (49_871, 100_000), (99_999, 100_000)])
def test_large_counts_agree_with_summed_logarithms(k: int, n: int) -> None:
    low, high = clopper_pearson(k, n)
    at = np.arange(n + 1)
    choose = math.lgamma(n + 1) - np.array(
        [math.lgamma(i + 1) + math.lgamma(n - i + 1) for i in range(n + 1)]
    )

    def masses(share: float) -> np.ndarray:
        return np.exp(choose + at * math.log(share) + (n - at) * math.log1p(-share))

    assert masses(low)[k:].sum() == pytest.approx(0.025, rel=1e-6)
    assert masses(high)[: k + 1].sum() == pytest.approx(0.025, rel=1e-6)


@settings(deadline=None)
@given(st.floats(1e-6, 1 - 1e-6), st.integers(1, 20), st.integers(1, 20))
def test_the_incomplete_beta_function_is_a_binomial_tail(x: float, a: int, b: int) -> None:
    exact = float(upper_tail(a, a + b - 1, Fraction(x)))
    assert beta_cdf(x, a, b) == pytest.approx(exact, rel=1e-9, abs=1e-14)


def test_bounds_count_the_undecided_on_either_side() -> None:
    found = rate(3, 2, 10)
    assert (found.estimate, found.least, found.most) == (0.3, 0.3, 0.5)
    assert (found.low, found.high) == clopper_pearson(3, 10)
    assert rate(0, 0, 0).estimate is None


@pytest.mark.parametrize(
    "wrong",
    [lambda: clopper_pearson(2, 1), lambda: clopper_pearson(1, 2, 1.0), lambda: rate(2, 2, 3)],
)
def test_counts_that_make_no_sense_are_refused(wrong: object) -> None:
    with pytest.raises(ValueError):
        wrong()  # type: ignore[operator]
