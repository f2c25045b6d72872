"""The join of scores and triplets: exact columns, and no score ever made up."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chaincheck.errors import (
    DuplicateItem,
    IncompleteTriplet,
    InvalidItem,
    MissingScore,
    UnknownScore,
)
from chaincheck.scores import Joined, join_files


def write(path: Path, rows: list[Any]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def item(number: int, cell: str, variant: str = "real", **more: Any) -> dict[str, Any]:
    return {
        "item_id": f"{variant}{number}{cell}",
        "pair_id": f"p{number}",
        "variant": variant,
        "cell": cell,
        "query": f"question {number}",
        "passages": ["one", "two"],
        "bridge": f"bridge {number // 2}",
        "cb_27b_correct": None,
        **more,
    }


def triplet(number: int, variant: str = "real", cells: str = "ABD", **more: Any) -> list[Any]:
    return [item(number, cell, variant, **more) for cell in cells]


def value_of(item_id: str) -> float:
    return (sum(map(ord, item_id)) * 37 % 101) / 8


def score_all(rows: list[Any]) -> list[Any]:
    return [{"item_id": row["item_id"], "score": value_of(row["item_id"])} for row in rows]


def join(tmp_path: Path, rows: list[Any], scores: list[Any], **options: Any) -> Joined:
    data = write(tmp_path / "data.jsonl.gz", rows)
    return join_files([data], write(tmp_path / "scores.jsonl", scores), **options)


class TestJoin:
    """Columns hold each triplet's own scores, whatever the order of the files."""

    def test_columns(self, tmp_path: Path) -> None:
        rows = [
            row
            for variant in ("fict", "real")
            for number in range(5)
            for row in triplet(number, variant)
        ]
        order = np.random.default_rng(0).permutation(len(rows))
        found = join(tmp_path, [rows[k] for k in order], score_all(rows)[::-1])
        assert [(c.variant, c.n) for c in found.cells] == [("real", 5), ("fict", 5)]
        for cells, pairs in zip(found.cells, found.pair_ids, strict=True):
            for cell, column in (("A", cells.a), ("B", cells.b), ("D", cells.d)):
                expected = [value_of(f"{cells.variant}{pair[1:]}{cell}") for pair in pairs]
                assert column.tolist() == expected
            assert cells.c is None
        assert found.dropped == {}

    def test_clusters_mean_the_same_in_all_variants(self, tmp_path: Path) -> None:
        rows = [r for v in ("real", "fict") for k in range(6) for r in triplet(k, v)]
        found = join(tmp_path, rows, score_all(rows))
        real, fict = found.cells
        assert real.cluster is not None and fict.cluster is not None and real.coarse is not None
        by_pair = dict(zip(found.pair_ids[0], real.cluster.tolist(), strict=True))
        assert by_pair == dict(zip(found.pair_ids[1], fict.cluster.tolist(), strict=True))
        assert len(set(real.cluster.tolist())) == 6
        coarse = dict(zip(found.pair_ids[0], real.coarse.tolist(), strict=True))
        assert coarse["p0"] == coarse["p1"] != coarse["p2"]

    def test_without_bridges_there_is_no_coarser_key(self, tmp_path: Path) -> None:
        rows = triplet(0, bridge=None)
        assert join(tmp_path, rows, score_all(rows)).cells[0].coarse is None
        rows += triplet(1) + triplet(2, bridge=None)
        coarse = join(tmp_path, rows, score_all(rows)).cells[0].coarse
        assert coarse is not None and len(set(coarse.tolist())) == 3

    def test_the_fourth_cell(self, tmp_path: Path) -> None:
        rows = triplet(0, cells="ABDC") + triplet(1)
        cells = join(tmp_path, rows, score_all(rows)).cells[0]
        assert cells.c is not None
        assert cells.c[0] == value_of("real0C")
        assert math.isnan(cells.c[1])

    def test_several_files_share_one_score_file(self, tmp_path: Path) -> None:
        one, two = triplet(0), triplet(1)
        paths = [write(tmp_path / "one.jsonl", one), write(tmp_path / "two.jsonl", two)]
        scores = write(tmp_path / "s.jsonl", score_all(one + two))
        found = join_files(paths, scores)
        assert [c.file for c in found.cells] == [str(path) for path in paths]
        with pytest.raises(UnknownScore, match="the data has no such item, nor 2 further ones"):
            join_files(paths[:1], scores)
        with pytest.raises(DuplicateItem, match="stands in two of the files"):
            join_files([paths[0], paths[0]], scores)

    def test_a_missing_score(self, tmp_path: Path) -> None:
        rows = triplet(0) + triplet(1)
        scores = [score for score in score_all(rows) if score["item_id"] != "real1B"]
        with pytest.raises(MissingScore, match=r"item 'real1B': no score .*data\.jsonl\.gz:5"):
            join(tmp_path, rows, scores)
        found = join(tmp_path, rows, scores, allow_missing=True)
        assert found.pair_ids == (("p0",),)
        assert found.dropped == {"a score is missing": 1}

    def test_a_missing_score_of_the_fourth_cell(self, tmp_path: Path) -> None:
        rows = triplet(0, cells="ABDC") + triplet(1, cells="ABDC")
        scores = [score for score in score_all(rows) if score["item_id"] != "real1C"]
        with pytest.raises(MissingScore, match="real1C"):
            join(tmp_path, rows, scores)
        found = join(tmp_path, rows, scores, allow_missing=True)
        assert found.cells[0].n == 2 and found.dropped == {}
        assert found.cells[0].c is not None and math.isnan(found.cells[0].c[1])

    def test_a_missing_cell(self, tmp_path: Path) -> None:
        rows = triplet(0) + triplet(1, cells="AB")
        with pytest.raises(
            IncompleteTriplet, match=r":4: item 'real1A': pair 'p1', variant 'real', has no cell D"
        ):
            join(tmp_path, rows, score_all(rows))
        found = join(tmp_path, rows, score_all(rows), allow_missing=True)
        assert found.dropped == {"no cell D": 1}

    def test_an_unknown_score_is_never_allowed(self, tmp_path: Path) -> None:
        rows = triplet(0)
        scores = [*score_all(rows), {"item_id": "ghost", "score": 1}]
        for allow in (False, True):
            with pytest.raises(UnknownScore, match="item 'ghost': the data has no such item"):
                join(tmp_path, rows, scores, allow_missing=allow)

    def test_nothing_left(self, tmp_path: Path) -> None:
        rows = triplet(0, cells="AB")
        with pytest.raises(IncompleteTriplet, match="no triplet is left"):
            join(tmp_path, rows, score_all(rows), allow_missing=True)


class TestExclusion:
    """A triplet whose column is true in any row is left out and counted."""

    def test_excluded(self, tmp_path: Path) -> None:
        rows = (
            triplet(0, cb_27b_correct=True)
            + triplet(1, cb_27b_correct=False)
            + [item(2, "A"), item(2, "B", cb_27b_correct=1), item(2, "D")]
            + triplet(3, cb_27b_correct=0)
        )
        found = join(tmp_path, rows, score_all(rows), exclude=("cb_27b_correct",))
        assert found.pair_ids == (("p1", "p3"),)
        assert found.dropped == {"cb_27b_correct is true": 2}

    def test_excluded_triplets_need_no_score_and_no_cell(self, tmp_path: Path) -> None:
        rows = triplet(0, cells="A", own=True) + triplet(1, own=False)
        scores = score_all(rows[1:])
        assert join(tmp_path, rows, scores, exclude=("own",)).dropped == {"own is true": 1}

    def test_several_columns(self, tmp_path: Path) -> None:
        rows = (
            triplet(0, x=True, y=False) + triplet(1, x=False, y=True) + triplet(2, x=True, y=True)
        )
        rows += triplet(3, x=None, y=False)
        found = join(tmp_path, rows, score_all(rows), exclude=("x", "y", "x"))
        assert found.dropped == {"x is true": 2, "y is true": 1}

    def test_a_column_of_nulls_says_so(self, tmp_path: Path) -> None:
        rows = triplet(0)
        found = join(tmp_path, rows, score_all(rows), exclude=("cb_27b_correct",))
        assert found.dropped == {"cb_27b_correct holds only null": 0}

    def test_a_column_that_no_row_has(self, tmp_path: Path) -> None:
        rows = triplet(0)
        with pytest.raises(InvalidItem, match="no row has the column closed"):
            join(tmp_path, rows, score_all(rows), exclude=("closed",))


class TestHashes:
    """They follow what decides the result, and nothing else."""

    def test_data(self, tmp_path: Path) -> None:
        rows = triplet(0) + triplet(1)
        base = join(tmp_path, rows, score_all(rows))
        again = join(tmp_path, [{**row, "note": 1} for row in rows[::-1]], score_all(rows))
        assert again.data_hash == base.data_hash
        assert len(base.data_hash) == 16
        for column, value in (("query", "other"), ("bridge", "other"), ("pair_id", "p9")):
            changed = [{**row, column: value} if row["pair_id"] == "p1" else row for row in rows]
            assert join(tmp_path, changed, score_all(rows)).data_hash != base.data_hash

    def test_scores(self, tmp_path: Path) -> None:
        rows = triplet(0)
        scores = score_all(rows)
        base = join(tmp_path, rows, scores).scores_hash
        assert join(tmp_path, rows, scores[::-1]).scores_hash == base
        scores[0]["score"] += 1e-12
        assert join(tmp_path, rows, scores).scores_hash != base
