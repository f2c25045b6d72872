import numpy as np
import pytest

from chaincheck import cells
from chaincheck.cells import CellScores, labels, pool

SOME = np.array([1.0, 2.0, 3.0])


def test_public_names_are_pinned():
    assert cells.__all__ == ["CellScores", "labels", "pool"]


def test_scores_are_copied_and_locked():
    given = [3, 2, 1]
    a = np.array(given, dtype=np.float32)
    scores = CellScores("f", "real", a, given, SOME)
    a[0] = 99
    assert scores.a.tolist() == [3.0, 2.0, 1.0]
    assert scores.b.dtype == np.float64
    assert scores.n == 3
    with pytest.raises(ValueError, match="read-only"):
        scores.a[0] = 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": [], "b": [], "d": []}, "a is empty"),
        ({"b": SOME[:2]}, "b has 2 entries, a has 3"),
        ({"d": [[1.0], [2.0], [3.0]]}, "d must be one-dimensional"),
        ({"a": 1.0}, "a must be one-dimensional"),
        ({"b": [1.0, np.nan, 2.0]}, r"b\[1\] is .*nan"),
        ({"d": [1.0, 2.0, -np.inf]}, r"d\[2\] is .*inf"),
        ({"c": [1.0, np.inf, 2.0]}, r"c\[1\] is .*inf"),
        ({"c": [np.nan] * 3}, "pass None"),
        ({"c": [1.0]}, "c has 1 entries"),
        ({"cluster": [0.0, 1.0, 2.0]}, "cluster must hold whole numbers"),
        ({"cluster": [0, 1]}, "cluster has 2 entries"),
        ({"coarse": ["x", "y", "z"]}, "coarse must hold whole numbers"),
    ],
)
def test_misfits_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        CellScores("f", "real", **{"a": SOME, "b": SOME, "d": SOME, **change})


def test_c_may_be_missing_in_places():
    scores = CellScores("f", "real", SOME, SOME, SOME, c=[np.nan, 1.0, np.nan])
    assert np.isnan(scores.c).tolist() == [True, False, True]


def test_labels_number_keys_by_first_appearance():
    assert labels(["q7", "q2", "q7", None]).tolist() == [0, 1, 0, 2]
    assert labels([]).size == 0


def test_pool_joins_variants_and_their_labels():
    real = CellScores("f", "real", SOME, SOME, SOME, c=SOME, cluster=[0, 1, 2])
    fict = CellScores("f", "fict", SOME[:2], SOME[:2], SOME[:2], cluster=[0, 2])
    both = pool([real, fict])
    assert (both.file, both.variant, both.n) == ("f", "all", 5)
    assert both.cluster.tolist() == [0, 1, 2, 0, 2]
    assert np.isnan(both.c).tolist() == [False] * 3 + [True] * 2
    assert both.coarse is None


def test_pool_refuses_what_does_not_belong_together():
    one = CellScores("f", "real", SOME, SOME, SOME, cluster=[0, 1, 2])
    with pytest.raises(ValueError, match="at least one"):
        pool([])
    with pytest.raises(ValueError, match="one file"):
        pool([one, CellScores("g", "real", SOME, SOME, SOME, cluster=[0, 1, 2])])
    with pytest.raises(ValueError, match="some rows only"):
        pool([one, CellScores("f", "fict", SOME, SOME, SOME)])
