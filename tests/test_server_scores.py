from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.judges.server_scores import (
    Entry,
    Side,
    Tokens,
    WrongLogprobs,
    logsumexp,
    score_of,
)

YES = ("Yes", " yes", "Y\n", "y")
NO = ("No", "NO ", "n")
OTHER = ("The", "Yesterday", "not", "", "ye", "s")
TEXTS = YES + NO + OTHER
WORDS = (frozenset({"yes", "y"}), frozenset({"no", "n"}))

by_words = Tokens(Side(WORDS[0]), Side(WORDS[1]))
by_ids = Tokens(
    Side(WORDS[0], ids=frozenset(range(4)), all_ids=True),
    Side(WORDS[1], ids=frozenset(range(4, 7)), all_ids=True),
)
by_texts = Tokens(
    Side(WORDS[0], texts=frozenset({"Yes", " yes"})), Side(WORDS[1], texts=frozenset({"No"}))
)

distributions = st.lists(
    st.floats(-30, 5, allow_nan=False), min_size=len(TEXTS), max_size=len(TEXTS)
).map(lambda logits: [value - logsumexp(logits) for value in logits])


def entries(logprobs: list[float], *, ids: bool) -> list[Entry]:
    found = [
        Entry(text, value, number if ids else None)
        for number, (text, value) in enumerate(zip(TEXTS, logprobs, strict=True))
    ]
    return sorted(found, key=lambda one: -one.logprob)


def truth(logprobs: list[float], yes: list[int], no: list[int]) -> float:
    """The score from the whole distribution, by numpy in extended precision."""
    p = np.exp(np.asarray(logprobs, dtype=np.longdouble))
    return float(np.log(p[yes].sum()) - np.log(p[no].sum()))


@pytest.mark.parametrize(
    "case",
    [
        (by_words, False, [0, 1, 2, 3], [4, 5, 6]),
        (by_ids, True, [0, 1, 2, 3], [4, 5, 6]),
        (by_ids, False, [0, 1, 2, 3], [4, 5, 6]),
        (by_texts, False, [0, 1], [4]),
    ],
    ids=["words", "ids", "words that a tokenizer counts", "texts"],
)
@given(logprobs=distributions, k=st.integers(1, len(TEXTS)))
def test_the_true_score_is_the_score_or_within_the_bounds(
    case: tuple[Tokens, bool, list[int], list[int]], logprobs: list[float], k: int
) -> None:
    tokens, ids, yes, no = case
    exact = truth(logprobs, yes, no)
    found = score_of(entries(logprobs, ids=ids)[:k], tokens)
    if found.score is not None:
        assert found.bounds is None and found.missing == 0 and not found.flags
        assert found.score == pytest.approx(exact, abs=1e-9)
        return
    assert found.bounds is not None and found.flags[0] == "score only bounded"
    low, high = found.bounds
    assert low is None or low <= exact + 1e-9
    assert high is None or exact <= high + 1e-9
    returned = {one.text for one in found.counted}
    assert (low is None) == returned.isdisjoint(TEXTS[one] for one in yes)
    assert (high is None) == returned.isdisjoint(TEXTS[one] for one in no)


@given(logprobs=distributions)
def test_everything_returned_is_exact_only_where_it_is_known_to_be_everything(
    logprobs: list[float],
) -> None:
    whole = entries(logprobs, ids=True)
    assert score_of(whole, by_ids).score is not None
    assert score_of(whole, by_texts).score is not None
    assert score_of(whole, by_words).score is None  # the vocabulary may hold another " Yes"


@given(logprobs=distributions, k=st.integers(1, len(TEXTS) - 1))
def test_knowing_how_many_tokens_count_never_widens_the_bounds(
    logprobs: list[float], k: int
) -> None:
    top = entries(logprobs, ids=False)[:k]
    wide, narrow = score_of(top, by_words), score_of(top, by_ids)
    assert wide.bounds is not None
    low, high = narrow.bounds or (narrow.score, narrow.score)
    assert wide.bounds[0] is None or (low is not None and low >= wide.bounds[0] - 1e-12)
    assert wide.bounds[1] is None or (high is not None and high <= wide.bounds[1] + 1e-12)


def test_a_worked_bound() -> None:
    # Yes has 0.6, No 0.3, a third token 0.06: what is left, 0.04 and the rounding, may be either.
    top = [Entry("Yes", math.log(0.6)), Entry("No", math.log(0.3)), Entry("The", math.log(0.06))]
    found = score_of(top, by_words)
    assert found.bounds is not None
    assert found.bounds == pytest.approx((math.log(0.6 / 0.341), math.log(0.641 / 0.3)))
    assert found.mass == pytest.approx(0.9) and found.missing is None
    # One token is known to be missing on each side: at most 0.041 and at most 0.06 by the floor.
    one_each = Tokens(
        Side(WORDS[0], texts=frozenset({"Yes", "yes"})),
        Side(WORDS[1], texts=frozenset({"No", "no"})),
    )
    found = score_of([*top[:2], Entry("The", math.log(0.001))], one_each)
    assert found.bounds == pytest.approx((math.log(0.6 / 0.301), math.log(0.601 / 0.3)))
    assert found.missing == 2


@given(logprobs=distributions, k=st.integers(1, len(TEXTS)), least=st.floats(0, 1))
def test_too_little_probability_of_yes_and_no_is_refused_only_where_it_is_sure(
    logprobs: list[float], k: int, least: float
) -> None:
    mass = math.fsum(math.exp(value) for value in logprobs[:7])
    for tokens in (by_words, by_ids):
        top = entries(logprobs, ids=False)[:k]
        found = score_of(top, tokens, minimum_mass=least)
        if found.flags and found.flags[0].startswith("refused"):
            assert found.score is None and found.bounds == (None, None)
            assert mass < least
        else:
            assert found == score_of(top, tokens)
            assert k < len(TEXTS) or mass >= least - 2e-3


@pytest.mark.parametrize(
    ("given_entries", "tokens", "match"),
    [
        ([], by_words, "no tokens"),
        ([Entry("Yes", 0.7), Entry("No", -1)], by_words, "a probability above 1"),
        ([Entry("Yes", -0.1), Entry("No", -0.1)], by_words, "sum to 1.81"),
        ([Entry("Yes", 0.0), Entry("No", -9999.0)], by_words, "ruled out"),
        ([Entry("Yes", -1), Entry("yes", -2)], by_texts, None),
        (
            [Entry(text, -3.0) for text in ("Yes", "yes", "Y", "y", " y", "y ")],
            by_ids,
            "6 of the returned tokens",
        ),
        (
            [Entry("Yes", -1)],
            Tokens(Side(WORDS[0], ids=frozenset({1})), Side(WORDS[1], ids=frozenset({2}))),
            "without their ids",
        ),
    ],
)
def test_what_cannot_be_log_probabilities_is_refused(
    given_entries: list[Entry], tokens: Tokens, match: str | None
) -> None:
    if match is None:
        assert score_of(given_entries, tokens).score is None
    else:
        with pytest.raises(WrongLogprobs, match=match):
            score_of(given_entries, tokens)


def test_rounding_of_a_sum_is_no_fault() -> None:
    # llama.cpp's probabilities of its whole vocabulary sum to 1.00014.
    found = score_of([Entry("Yes", math.log(0.6001)), Entry("No", math.log(0.4))], by_words)
    assert found.bounds is not None and None not in found.bounds


@given(st.lists(st.floats(-700, 0, allow_nan=False), max_size=6))
def test_logsumexp_agrees_with_numpy(values: list[float]) -> None:
    expected = float(np.logaddexp.reduce(np.asarray(values))) if values else -math.inf
    assert logsumexp(values) == pytest.approx(expected, abs=1e-12)
