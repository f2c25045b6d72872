"""Comparing score files: the same data or a refusal, and results that name both judges."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chaincheck import comparison_pipeline, comparison_reports
from chaincheck.comparison import compare
from chaincheck.comparison_pipeline import compare_files, noise_files
from chaincheck.errors import MissingScore, UsageError
from chaincheck.evaluation import evaluate_files
from chaincheck.scores import join_files

PAIRS = 30
QUICK: dict[str, Any] = {"resamples": 200, "exchanges": 99}


def rows(variants: tuple[str, ...] = ("real", "fict"), pairs: int = PAIRS) -> list[dict[str, Any]]:
    return [
        {
            "item_id": f"{variant}-{number}-{cell}",
            "pair_id": f"{variant}-{number}",
            "variant": variant,
            "cell": cell,
            "query": f"question {number}",
            "passages": ["One.", "Two."],
            "bridge": f"bridge {number // 3}",
            "known": number % 5 == 0,
        }
        for number in range(pairs)
        for variant in variants
        for cell in "ABD"
    ]


def write(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), "utf-8")
    return path


def scored(data: list[dict[str, Any]], seed: int, noise: float = 1.0) -> list[dict[str, Any]]:
    shared, own = random.Random(0), random.Random(seed)
    shift = {"A": 0.4, "B": 0.0, "D": -1.0}
    return [
        {
            "item_id": row["item_id"],
            "score": shift[row["cell"]] + shared.gauss(0, 1) + own.gauss(0, noise),
        }
        for row in data
    ]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path, Path]:
    data = rows()
    return (
        write(tmp_path / "data.jsonl", data),
        write(tmp_path / "mine.jsonl", scored(data, 1)),
        write(tmp_path / "theirs.jsonl", scored(data, 2)),
    )


def test_public_names_are_pinned() -> None:
    assert comparison_pipeline.__all__ == [
        "JudgeComparison",
        "NoiseReport",
        "compare_files",
        "compare_joined",
        "noise_files",
    ]
    assert comparison_reports.__all__ == ["JudgeComparison", "NoiseReport"]


def test_it_is_the_comparison_of_the_joined_scores(files: tuple[Path, Path, Path]) -> None:
    data, mine, theirs = files
    found = compare_files([data], mine, theirs, seed=3, **QUICK)
    joined = [join_files([data], path) for path in (mine, theirs)]
    for place, row in enumerate(found.rows):
        one, other = (each.cells[place] for each in joined)
        expected = compare(
            one,
            other,
            np.random.default_rng(3),
            pair_ids=joined[0].pair_ids[place],
            **QUICK,
        )
        assert row == expected
    assert [row.variant for row in found.rows] == ["real", "fict"]


def test_each_judges_sigma_is_the_evaluated_one(files: tuple[Path, Path, Path]) -> None:
    data, mine, theirs = files
    found = compare_files([data], mine, theirs, **QUICK)
    for path, name in ((mine, "first"), (theirs, "second")):
        alone = evaluate_files([data], path, resamples=200)
        assert [getattr(row, name).selectivity for row in found.rows] == [
            row.contrast for row in alone.rows
        ]


def test_the_result_names_data_and_judges(files: tuple[Path, Path, Path], tmp_path: Path) -> None:
    data, mine, theirs = files
    found = compare_files([data], mine, theirs, **QUICK)
    hashes = [join_files([data], path).scores_hash for path in (mine, theirs)]
    signature = str(found.signature)
    assert f"mine.jsonl={hashes[0]},theirs.jsonl={hashes[1]}" in signature
    assert "n:60|interval:two-step95 by triplet with 99 exchanges" in signature
    out = tmp_path / "out.json"
    found.write_json(out)
    row = json.loads(out.read_text())
    assert row["signature"] == signature
    assert (row["first"], row["second"]) == ("mine.jsonl", "theirs.jsonl")
    assert len(row["rows"]) == 2
    for one in row["rows"]:
        for difference in one["difference"].values():
            assert difference["p"] <= difference["p_holm"] <= min(1.0, 2 * difference["p"])
    text = found.to_text(flips=2)
    assert text.endswith(signature)
    assert "8 p-values stand here" in text
    assert "more: see --json" in text
    assert len(text.splitlines()) < len(found.to_text(flips=30).splitlines())


def test_the_same_seed_gives_the_same_bytes(files: tuple[Path, Path, Path]) -> None:
    data, mine, theirs = files
    once, again = (compare_files([data], mine, theirs, seed=5, **QUICK) for _ in range(2))
    assert once.to_json() == again.to_json()
    assert once.to_json() != compare_files([data], mine, theirs, seed=6, **QUICK).to_json()


def test_questions_and_bridges_can_be_the_units(files: tuple[Path, Path, Path]) -> None:
    data, mine, theirs = files
    units = [
        compare_files([data], mine, theirs, cluster=cluster, **QUICK).rows[0].units
        for cluster in ("triplet", "question", "bridge")
    ]
    assert units == [30, 30, 10]
    with pytest.raises(UsageError, match="no unit"):
        compare_files([data], mine, theirs, cluster="word", **QUICK)


def test_bridges_must_be_known(tmp_path: Path) -> None:
    data = [{**row, "bridge": None} for row in rows()]
    path = write(tmp_path / "d.jsonl", data)
    one, other = (write(tmp_path / f"{k}.jsonl", scored(data, k)) for k in (1, 2))
    with pytest.raises(UsageError, match="no bridge"):
        compare_files([path], one, other, cluster="bridge", **QUICK)


def test_exclusions_are_counted_once(files: tuple[Path, Path, Path]) -> None:
    data, mine, theirs = files
    found = compare_files([data], mine, theirs, exclude=["known"], **QUICK)
    assert found.dropped == {"both": {"known is true": 12}}
    assert found.rows[0].n == 24
    assert "dropped 12 triplets: known is true (both)" in found.to_text()


class TestTheSameData:
    def test_the_order_of_the_rows_does_not_matter(
        self, files: tuple[Path, Path, Path], tmp_path: Path
    ) -> None:
        data, mine, theirs = files
        shuffled = rows()
        random.Random(1).shuffle(shuffled)
        other = write(tmp_path / "shuffled.jsonl", shuffled)
        found = compare_files([data], mine, theirs, against_data=[other], **QUICK)
        plain = compare_files([data], mine, theirs, **QUICK)
        assert found.to_dict()["rows"] == plain.to_dict()["rows"]

    def test_other_triplets_are_refused_by_name(
        self, files: tuple[Path, Path, Path], tmp_path: Path
    ) -> None:
        data, mine, _ = files
        fewer = rows(pairs=PAIRS - 2)
        other = write(tmp_path / "fewer.jsonl", fewer)
        theirs = write(tmp_path / "few.jsonl", scored(fewer, 2))
        with pytest.raises(UsageError) as refused:
            compare_files([data], mine, theirs, against_data=[other], **QUICK)
        text = str(refused.value)
        assert "did not score the same data" in text
        assert "4 triplets only for mine.jsonl, such as pair 'real-28', variant 'real'" in text
        for path in ([data], [other]):
            assert join_files(path, mine if path == [data] else theirs).data_hash in text

    def test_the_same_triplets_with_other_questions_are_refused(
        self, files: tuple[Path, Path, Path], tmp_path: Path
    ) -> None:
        data, mine, theirs = files
        asked = [{**row, "query": row["query"] + "?"} for row in rows()]
        other = write(tmp_path / "asked.jsonl", asked)
        with pytest.raises(UsageError, match="questions, bridges or columns are not"):
            compare_files([data], mine, theirs, against_data=[other], **QUICK)

    def test_a_missing_score_is_refused_or_dropped_for_both(
        self, files: tuple[Path, Path, Path], tmp_path: Path
    ) -> None:
        data, _, theirs = files
        short = write(tmp_path / "short.jsonl", scored(rows(), 1)[1:])
        fewer = write(tmp_path / "less.jsonl", scored(rows(), 2)[:-1])
        with pytest.raises(MissingScore):
            compare_files([data], short, theirs, **QUICK)
        found = compare_files([data], short, fewer, allow_missing=True, **QUICK)
        assert [row.n for row in found.rows] == [29, 29]
        assert found.dropped["compared"] == {
            "scored by short.jsonl only": 1,
            "scored by less.jsonl only": 1,
        }
        assert {flip.pair_id for row in found.rows for flip in row.flips}.isdisjoint(
            {"real-0", f"fict-{PAIRS - 1}"}
        )
        # The triplets that are left are those of a file without the two.
        kept = [row for row in rows() if row["pair_id"] not in {"real-0", f"fict-{PAIRS - 1}"}]
        names = {row["item_id"] for row in kept}
        paths = [
            write(tmp_path / f"k{k}.jsonl", [s for s in scored(rows(), k) if s["item_id"] in names])
            for k in (1, 2)
        ]
        alone = compare_files([write(tmp_path / "kept.jsonl", kept)], *paths, **QUICK)
        for one, other in zip(found.rows, alone.rows, strict=True):
            assert one.differences == other.differences

    def test_nothing_in_common(self, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
        data, _, _ = files
        halves = [
            write(tmp_path / f"{k}.jsonl", scored(rows(), k)[part])
            for k, part in ((1, slice(90)), (2, slice(90, None)))
        ]
        with pytest.raises(UsageError, match="no triplet was scored by both"):
            compare_files([data], *halves, allow_missing=True, **QUICK)


class TestNames:
    def test_two_judges_need_two_names(self, files: tuple[Path, Path, Path]) -> None:
        data, mine, theirs = files
        with pytest.raises(UsageError, match="both called 'same'"):
            compare_files([data], mine, theirs, names=("same", "same"), **QUICK)
        found = compare_files([data], mine, theirs, names=("new", "old"), **QUICK)
        assert "judge:new=" in str(found.signature)

    def test_equal_file_names_are_told_apart(
        self, files: tuple[Path, Path, Path], tmp_path: Path
    ) -> None:
        data, mine, _ = files
        (tmp_path / "other").mkdir()
        theirs = write(tmp_path / "other" / "mine.jsonl", scored(rows(), 2))
        found = compare_files([data], mine, theirs, **QUICK)
        assert found.names == (str(mine), str(theirs))

    def test_one_judge_is_said_to_be_one(self, files: tuple[Path, Path, Path]) -> None:
        data, mine, _ = files
        found = compare_files([data], mine, mine, **QUICK)
        assert found.notes == ("both score files hold the same scores",)
        assert all(row.flips == () for row in found.rows)


class TestNoise:
    def test_two_runs_of_one_judge(self, files: tuple[Path, Path, Path], tmp_path: Path) -> None:
        data, mine, _ = files
        again = [
            {**one, "score": one["score"] + random.Random(k).gauss(0, 0.1)}
            for k, one in enumerate(scored(rows(), 1))
        ]
        found = noise_files([data], mine, write(tmp_path / "again.jsonl", again), **QUICK)
        assert [row.variant for row in found.rows] == ["real", "fict"]
        assert "noise95 by triplet" in str(found.signature)
        row = json.loads(found.to_json())["rows"][0]
        assert 0 < row["smallest_edit_effect"] < 0.3
        assert row["score_rescore"][0] == pytest.approx(0.067, abs=0.03)
        text = found.to_text()
        assert "|EE| to trust" in text
        assert text.endswith(str(found.signature))

    def test_scores_held_against_themselves_are_told(self, files: tuple[Path, Path, Path]) -> None:
        data, mine, _ = files
        found = noise_files([data], mine, mine, **QUICK)
        assert found.notes == ("both score files hold the same scores",)
        assert found.rows[0].noise_sd == 0.0
