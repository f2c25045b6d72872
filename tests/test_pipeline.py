"""Build, score and evaluate as functions, against the shell and against known answers."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from chaincheck.errors import UnwritableOutput, UsageError
from chaincheck.evaluation import evaluate_files, judges_to_json, table
from chaincheck.items import read_items
from chaincheck.judges import CUES, SHORTCUTS, LexicalJudge
from chaincheck.pipeline import build_file, measure_judges, score_file


@pytest.fixture(scope="module")
def triplets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "facts.jsonl.gz"
    build_file("facts", None, path, limit=120)
    return path


def test_scores_are_the_judges_own(triplets: Path, tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    summary = score_file(triplets, "lexical", out)
    judge = LexicalJudge("lexical")
    wanted = {one.item_id: one.score for one in judge.score(read_items(triplets))}
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["item_id"]: row["score"] for row in rows} == wanted
    assert summary.items == len(wanted)
    assert summary.fingerprint == judge.fingerprint
    assert summary.judge in summary.to_text()


def test_several_judges_agree_with_one_at_a_time(triplets: Path, tmp_path: Path) -> None:
    found = measure_judges(triplets)
    assert list(found) == list(CUES)
    for name in ("lexical", "length"):
        scores = tmp_path / f"{name}.jsonl"
        score_file(triplets, name, scores)
        alone = evaluate_files([triplets], scores)
        assert alone.to_dict() == found[name].to_dict()
    assert set(json.loads(judges_to_json(found))) == set(CUES)


def test_what_shortcuts_get_on_the_facts(triplets: Path) -> None:
    """The claims of chapter 1, on a part of the facts."""
    found = measure_judges(triplets)
    at = {(name, row.variant): row for name, one in found.items() for row in one.rows}
    for name in SHORTCUTS:
        assert at[name, "decoy"].selectivity <= 0.05, name
    for name in ("names-once", "repeated-names"):
        for variant in ("real", "fict"):
            assert at[name, variant].selectivity >= 0.4, (name, variant)
    assert at["unfamiliar-names", "fict"].nominal.estimate >= 0.95
    assert at["unfamiliar-names", "fict"].selectivity <= -0.5
    for variant in ("real", "fict", "decoy"):
        assert at["lexical", variant].contrast.low > 0.2, variant


def test_the_broken_cell_of_a_decoy_is_as_long_as_the_intact_one(triplets: Path) -> None:
    lengths: dict[str, dict[str, int]] = {}
    for one in read_items(triplets):
        if one.variant == "decoy":
            lengths.setdefault(one.pair_id, {})[one.cell] = sum(map(len, one.passages))
    assert len(lengths) > 50
    assert all(cells["B"] == cells["D"] for cells in lengths.values())


def test_the_table_numbers_its_doubts(triplets: Path) -> None:
    rows = measure_judges(triplets, ["question-overlap"])["question-overlap"].rows
    lines = table(rows).splitlines()
    assert lines[0].split()[-1] == "doubts"
    assert sum(line.startswith("facts.jsonl.gz") for line in lines) == len(rows)
    assert "  (1) " in table(rows)


def test_a_source_without_its_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Name its file"):
        build_file("musique", None, tmp_path / "t.jsonl")
    assert not any(tmp_path.iterdir())


def test_limit_reads_that_many_records(tmp_path: Path) -> None:
    assert build_file("facts", None, tmp_path / "t.jsonl", limit=3).records == 3


def test_a_test_split_shares_no_bridge_and_no_later_step(tmp_path: Path) -> None:
    whole, train, test = (tmp_path / name for name in ("all.jsonl", "train.jsonl", "test.jsonl"))
    assert build_file("facts", None, whole, limit=90).parts == {}
    report = build_file("facts", None, train, limit=90, test_out=test, test_share=0.3)
    rows = {path: list(read_items(path)) for path in (whole, train, test)}
    for path in (train, test):
        counts = report.parts[path.stem]
        assert sum(counts.values()) == len(rows[path]) / 3
        for variant, count in counts.items():
            assert sum(one.variant == variant for one in rows[path]) == 3 * count
        told = ", ".join(f"{count} {variant}" for variant, count in counts.items())
        assert f"{path.stem}: {told}" in report.to_text()
    assert sorted(one.item_id for one in rows[whole]) == sorted(
        one.item_id for path in (train, test) for one in rows[path]
    )
    share = len(rows[test]) / len(rows[whole])
    assert 0.2 < share < 0.4
    for seen in (
        lambda one: one.bridge,
        lambda one: one.passages[one.later_support[0]] if one.cell == "A" else None,
    ):
        common = {seen(one) for one in rows[train]} & {seen(one) for one in rows[test]}
        assert common <= {None}


@pytest.mark.parametrize("failing", ["train", "test", "report"])
def test_the_outputs_of_a_build_land_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """A disk may be full at any of them, first noticed when its bytes are flushed."""
    old = {name: tmp_path / name for name in ("train", "test", "report")}
    for path in old.values():
        path.write_bytes(b"old")
    flush = os.fsync

    def fsync(handle: int) -> None:
        if Path(f"/proc/self/fd/{handle}").resolve().name.startswith(f".{failing}."):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(UnwritableOutput, match=f"{failing}: cannot write: No space left"):
        build_file(
            "facts", None, old["train"], test_out=old["test"], report_path=old["report"], limit=40
        )
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys(
        old, b"old"
    )


class TestScoresTakeNobodysPlace:
    """A slip in ``--out`` must not cost a log, or what a judge is made of."""

    @pytest.fixture
    def files(self, triplets: Path, tmp_path: Path) -> Path:
        score_file(triplets, "lexical", tmp_path / "s.jsonl", log=tmp_path / "l.jsonl", live=True)
        (tmp_path / "model").mkdir()
        (tmp_path / "model" / "config.json").write_text("{}")
        (tmp_path / "p.toml").write_text("")
        return tmp_path

    @pytest.mark.parametrize(
        ("judge", "out"),
        [
            ('kind = "log"\npath = "l.jsonl"', "l.jsonl"),
            ('kind = "log"\npath = ["l.jsonl"]', "l.jsonl"),
            ('kind = "recorded"\npath = "s.jsonl"', "s.jsonl"),
            ('kind = "causal"\nmodel = "model"\nprompt = "p.toml"', "model/config.json"),
            ('kind = "causal"\nmodel = "model"\nprompt = "p.toml"', "p.toml"),
            ('kind = "causal"\nmodel = "model"\nprompt = "p.toml"', "j.toml"),
        ],
    )
    def test_not_that_of_a_file_that_the_judge_reads(
        self, files: Path, triplets: Path, judge: str, out: str
    ) -> None:
        (files / "j.toml").write_text(judge)
        before = (files / out).read_bytes()
        with pytest.raises(UnwritableOutput, match="is read by the same command"):
            score_file(triplets, str(files / "j.toml"), files / out)
        assert (files / out).read_bytes() == before

    def test_nor_that_of_any_judgment_log(self, files: Path, triplets: Path) -> None:
        before = (files / "l.jsonl").read_bytes()
        with pytest.raises(UnwritableOutput, match="it is a judgment log"):
            score_file(triplets, "length", files / "l.jsonl")
        assert (files / "l.jsonl").read_bytes() == before

    def test_but_that_of_older_scores_and_of_an_empty_file(
        self, files: Path, triplets: Path
    ) -> None:
        (files / "empty.jsonl").touch()
        for out in ("s.jsonl", "empty.jsonl"):
            assert score_file(triplets, "length", files / out).judge == "length"
