"""Bringing scores together: one order of triplets, whatever the files' own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from chaincheck import matching
from chaincheck.cells import CellScores
from chaincheck.errors import UsageError
from chaincheck.matching import match, names_of
from chaincheck.scores import Joined


def joined(
    pair_ids: list[str], *, file: str = "f", data: str = "d", scores: str = "s", shift: float = 0.0
) -> Joined:
    values = np.array([sum(map(ord, name)) for name in pair_ids]) + shift
    cells = CellScores(
        file,
        "real",
        values,
        values + 1,
        values + 2,
        cluster=np.arange(len(pair_ids)) // 2,
    )
    return Joined((cells,), (tuple(pair_ids),), data, scores)


def test_public_names_are_pinned() -> None:
    assert matching.__all__ == ["Matched", "join_both", "match", "names_of"]


def test_triplets_meet_by_their_ids() -> None:
    first = joined(["a", "b", "c"])
    second = joined(["c", "a", "b"], file="g", scores="t", shift=0.5)
    ((one, other, names),) = match(first, second, ("x", "y")).rows
    assert names == ("a", "b", "c")
    assert np.array_equal(other.a, one.a + 0.5)
    assert np.array_equal(other.d, one.d + 0.5)
    assert one.file == other.file == "f"
    assert one.cluster is not None
    assert np.array_equal(one.cluster, first.cells[0].cluster)
    assert np.array_equal(other.cluster, one.cluster)


def test_what_only_one_has_is_refused_or_left_out() -> None:
    first, second = joined(["a", "b", "c"]), joined(["d", "c", "a"], scores="t")
    with pytest.raises(UsageError, match=r"1 triplet only for x, such as pair 'b'.*only for y"):
        match(first, second, ("x", "y"))
    found = match(first, second, ("x", "y"), allow_missing=True)
    assert found.rows[0][2] == ("a", "c")
    assert found.dropped == {"compared": {"scored by x only": 1, "scored by y only": 1}}
    assert found.rows[0][0].cluster is not None
    assert found.rows[0][0].cluster.tolist() == [0, 1]


def test_the_signature_names_both() -> None:
    found = match(joined(["a"]), joined(["a"], scores="t"), ("x", "y"))
    assert "data:d|judge:x=s,y=t|n:1|interval:i|resamples:5|seed:2" in str(
        found.signature("i", 5, 2)
    )


def test_a_pair_in_two_files_needs_the_same_files() -> None:
    def twice(*files: str) -> Joined:
        parts = [joined(["a"], file=file) for file in files]
        return Joined(
            tuple(part.cells[0] for part in parts),
            tuple(part.pair_ids[0] for part in parts),
            "d",
            "s",
        )

    assert len(match(twice("f", "g"), twice("f", "g"), ("x", "y")).rows) == 2
    with pytest.raises(UsageError, match="stands in two of the files"):
        match(twice("f", "g"), twice("g", "h"), ("x", "y"))


def test_names_are_as_short_as_tells_them_apart() -> None:
    assert names_of("a/x.jsonl", Path("b/y.jsonl")) == ("x.jsonl", "y.jsonl")
    assert names_of("a/x.jsonl", "b/x.jsonl") == ("a/x.jsonl", "b/x.jsonl")
