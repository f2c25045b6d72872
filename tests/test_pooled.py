"""The pooled AUC against a count of every cross pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.pooled import pooled_auc


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=6),
    st.lists(st.integers(-3, 3), min_size=1, max_size=6),
)
def test_pooled_auc_counts_every_cross_pair(first: list[int], second: list[int]) -> None:
    points = [1.0 if x > y else 0.5 if x == y else 0.0 for x in first for y in second]
    assert pooled_auc(first, second) == pytest.approx(np.mean(points))


def test_no_scores_have_no_auc() -> None:
    with pytest.raises(ValueError, match="two lists"):
        pooled_auc([], [1.0])
