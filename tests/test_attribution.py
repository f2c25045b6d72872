"""A score file's statement of whose scores it holds: written, checked, and never passed over."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recorded_judges import Fake, true_score

from chaincheck.cli import main
from chaincheck.errors import (
    AlteredScores,
    ForeignScores,
    InvalidScore,
    UnreadableFile,
    UnwritableOutput,
)
from chaincheck.evaluation import evaluate_files
from chaincheck.items import Item, read_items, write_items
from chaincheck.judges import LexicalJudge, RecordedScores, attribution
from chaincheck.judges.attribution import (
    Ledger,
    attributed,
    attribution_path,
    read_attribution,
)
from chaincheck.judges.base import Judgment, acquisition_of
from chaincheck.judges.log_format import content_of
from chaincheck.judges.provenance import hash_judgments
from chaincheck.judges.record import RecordedJudge
from chaincheck.pipeline import build_file, score_file
from chaincheck.score_files import hash_scores, read_scores


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "facts.jsonl.gz"
    build_file("facts", None, path, limit=12)
    return path


@pytest.fixture
def data(built: Path, tmp_path: Path) -> Path:
    return shutil.copy(built, tmp_path / "t.jsonl.gz")


@pytest.fixture
def scores(data: Path, tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    score_file(data, "lexical", path)
    return path


@pytest.fixture
def stated(scores: Path) -> tuple[Path, bytes]:
    """A score file, and what its statement says."""
    return scores, beside(scores).read_bytes()


def beside(scores: Path) -> Path:
    path = attribution_path(scores)
    assert path is not None
    return path


def test_public_names_are_pinned() -> None:
    assert attribution.__all__ == [
        "Attribution",
        "Ledger",
        "attributed",
        "attribution_path",
        "check_scores",
        "contents_of",
        "instrument_differences",
        "read_attribution",
    ]


class TestWriting:
    def test_the_score_file_stays_as_the_published_reader_expects_it(self, scores: Path) -> None:
        rows = [json.loads(line) for line in scores.read_text().splitlines()]
        assert all(list(row) == ["item_id", "score"] for row in rows)

    def test_it_says_who_judged_what_and_how(self, data: Path, scores: Path) -> None:
        stated = read_attribution(scores)
        assert stated is not None
        judge = LexicalJudge("lexical")
        items = list(read_items(data))
        contents = [content_of(item, ("query", "passages")) for item in items]
        assert (stated.judge, stated.fingerprint) == ("lexical", judge.fingerprint)
        assert stated.instrument == judge.instrument
        assert list(stated.acquisitions.values()) == [acquisition_of(judge)]
        assert list(stated.acquisitions) == [stated.acquisition]
        assert stated.items == len(items)
        assert stated.used == len(set(contents))
        assert stated.scores == hash_scores(read_scores(scores))
        assert stated.judgments == hash_judgments(zip(contents, judge.score(items), strict=True))
        assert stated.caveats == ()
        assert beside(scores).name == "s.jsonl.provenance.json"

    def test_a_log_gives_the_same_statement_but_for_the_log(
        self, data: Path, scores: Path, tmp_path: Path
    ) -> None:
        out, log = tmp_path / "logged.jsonl", tmp_path / "log.jsonl"
        score_file(data, "lexical", out, log=log, live=True)
        live = json.loads(beside(out).read_text())
        assert live.pop("logs") == [RecordedJudge(log).provenance(whole=True).logs[str(log)]]
        plain = json.loads(beside(scores).read_text())
        assert plain.pop("logs") == []
        assert {**live, "digest": ""} == {**plain, "digest": ""}
        replayed = tmp_path / "replayed.jsonl"
        score_file(data, None, replayed, log=log)
        assert beside(replayed).read_bytes() == beside(out).read_bytes()

    def test_several_ways_and_an_unsteady_judge_are_caveats(
        self, data: Path, tmp_path: Path
    ) -> None:
        ways = iter([{"batch": 1, "deterministic": False}] * 20 + [{"batch": 8}] * 10_000)

        def say(item: Item) -> Judgment:
            judge.acquisition = next(ways)
            return Judgment(item_id=item.item_id, score=true_score(item), flags=("prompt cut",))

        judge = Fake(say)
        out = tmp_path / "s.jsonl"
        score_file(data, judge, out)
        found = evaluate_files([data], out, resamples=100)
        assert found.judge is not None
        text = found.to_text()
        assert "caveat: the judge is not deterministic" in text
        assert "caveat: the judgments were got in 2 ways, which differ in batch, determ" in text
        assert "judgments are flagged 'prompt cut'" in text
        assert found.to_dict()["caveats"] == list(found.judge.caveats)

    def test_nothing_stands_beside_a_device(self, data: Path, capfd: Any) -> None:
        assert attribution_path("/dev/stdout") is None
        score_file(data, "length", "/dev/null")
        assert not list(Path("/dev").glob("null*.json"))

    def test_the_statement_is_no_input_and_must_be_writable(
        self, data: Path, tmp_path: Path
    ) -> None:
        out = tmp_path / "s.jsonl"
        beside(out).mkdir()
        with pytest.raises(UnwritableOutput, match="folder"):
            score_file(data, "length", out)
        assert not out.exists()

    def test_a_judge_that_fails_leaves_what_was_there(self, data: Path, scores: Path) -> None:
        before = scores.read_bytes(), beside(scores).read_bytes()

        def say(item: Item) -> Judgment:
            raise RuntimeError("the model is gone")

        with pytest.raises(RuntimeError):
            score_file(data, Fake(say), scores)
        assert (scores.read_bytes(), beside(scores).read_bytes()) == before
        assert {path.name for path in scores.parent.iterdir()} == {
            "t.jsonl.gz",
            "s.jsonl",
            "s.jsonl.provenance.json",
        }

    @pytest.mark.parametrize("score", [float("nan"), float("inf"), True])
    def test_what_is_no_score_is_never_written(
        self, data: Path, tmp_path: Path, score: float
    ) -> None:
        out = tmp_path / "s.jsonl"
        judge = Fake(lambda item: Judgment(item_id=item.item_id, score=score))
        with pytest.raises(InvalidScore):
            score_file(data, judge, out)
        assert not out.exists()

    def test_bounds_stop_a_run_or_are_left_out_and_counted(
        self, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first = next(read_items(data)).item_id

        def say(item: Item) -> Judgment:
            known = item.item_id != first
            return Judgment(
                item_id=item.item_id,
                score=true_score(item) if known else None,
                bounds=None if known else (None, 0.5),
            )

        out = tmp_path / "s.jsonl"
        with pytest.raises(InvalidScore, match="--leave-out-bounded"):
            score_file(data, Fake(say), out)
        assert not out.exists()
        score_file(data, Fake(say), out, leave_out=True)
        stated = attributed([data], out)
        assert stated is not None
        assert stated.items == len(list(read_items(data))) - 1
        assert stated.caveats == ("of 1 items the judge gave bounds, not a score",)
        found = evaluate_files([data], out, allow_missing=True, resamples=100)
        assert found.dropped == {"a score is missing": 1}
        assert "caveat: of 1 items" in found.to_text()

    def test_no_score_at_all_is_no_score_file(self, data: Path, tmp_path: Path) -> None:
        out = tmp_path / "s.jsonl"
        judge = Fake(lambda item: Judgment(item_id=item.item_id, score=None, bounds=(0, 1)))
        with pytest.raises(InvalidScore, match="no score at all"):
            score_file(data, judge, out, leave_out=True)
        assert not out.exists()
        assert not beside(out).exists()

    @pytest.mark.parametrize("keep", [0, 5])
    def test_a_judge_that_mixes_items_up_is_an_error(
        self, data: Path, tmp_path: Path, keep: int
    ) -> None:
        class Forgetful(Fake):
            def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
                found = list(super().score(items))
                yield from found[:keep]
                yield from found[keep + 1 :]

        with pytest.raises(ValueError, match="was next"):
            score_file(data, Forgetful(), tmp_path / "s.jsonl")

    def test_a_judge_that_stops_early_is_an_error(self, data: Path) -> None:
        ledger = Ledger(Fake())
        list(ledger.given(read_items(data)))
        with pytest.raises(ValueError, match="gave no judgment"):
            ledger.statement()


class TestEvaluating:
    def test_the_signature_names_the_instrument_and_the_scores(
        self, data: Path, scores: Path
    ) -> None:
        found = evaluate_files([data], scores, resamples=100)
        wanted = LexicalJudge("lexical").fingerprint
        assert f"|judge:{wanted}|scores:{hash_scores(read_scores(scores))}|" in str(found.signature)
        judge = found.to_dict()["judge"]
        assert (judge["name"], judge["instrument"]) == ("lexical", wanted)

    def test_a_file_of_ones_own_is_signed_by_its_scores(self, data: Path, scores: Path) -> None:
        known = evaluate_files([data], scores, resamples=100)
        beside(scores).unlink()
        own = evaluate_files([data], scores, resamples=100)
        assert f"|judge:{hash_scores(read_scores(scores))}|n:" in str(own.signature)
        assert "judge" not in own.to_dict()
        assert own.rows == known.rows

    def test_order_compression_and_added_columns_change_nothing(
        self, data: Path, scores: Path, tmp_path: Path
    ) -> None:
        rows = list(read_items(data))
        random.Random(0).shuffle(rows)
        marked = tmp_path / "marked.jsonl"
        with marked.open("w") as file:
            for line in gzip.decompress(data.read_bytes()).splitlines():
                file.write(json.dumps({"mark": True, **json.loads(line)}) + "\n")
        packed = tmp_path / "packed.jsonl.gz"
        lines = scores.read_text().splitlines()
        random.Random(1).shuffle(lines)
        packed.write_bytes(gzip.compress("\n".join(lines).encode()))
        shutil.copy(beside(scores), beside(packed))
        shuffled = tmp_path / "shuffled.jsonl"
        write_items(shuffled, rows)
        assert attributed([data], scores) == attributed([marked], packed)
        assert attributed([data], scores) == attributed([shuffled], packed) != None  # noqa: E711

    def test_a_gzipped_score_file_has_one_too(self, data: Path, tmp_path: Path) -> None:
        out = tmp_path / "s.jsonl.gz"
        score_file(data, "length", out)
        stated = attributed([data], out)
        assert stated is not None
        assert stated.judge == "length"
        assert (tmp_path / "s.jsonl.gz.provenance.json").exists()

    def test_the_data_may_hold_more_than_was_scored(
        self, data: Path, scores: Path, tmp_path: Path
    ) -> None:
        part, out = tmp_path / "part.jsonl", tmp_path / "p.jsonl"
        rows = list(read_items(data))
        few = {row.pair_id for row in rows[: len(rows) // 2]}
        write_items(part, (row for row in rows if row.pair_id in few))
        score_file(part, "lexical", out)
        assert attributed([data], out) is not None
        found = evaluate_files([data], out, allow_missing=True, resamples=100)
        assert found.judge is not None
        assert found.dropped["a score is missing"] > 0
        with pytest.raises(ForeignScores, match="are not in these"):
            attributed([part], scores)


def edit(line: dict[str, Any]) -> dict[str, Any]:
    return {**line, "score": line["score"] + 1e-9}


TAMPERING: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {
    "one score": lambda rows: [edit(rows[0]), *rows[1:]],
    "one removed": lambda rows: rows[1:],
    "one added": lambda rows: [*rows, {"item_id": "mine", "score": 1}],
    "two exchanged": lambda rows: [
        {**rows[0], "score": rows[1]["score"] + 1},
        {**rows[1], "score": rows[0]["score"] - 1},
        *rows[2:],
    ],
    "all": lambda rows: [{**row, "score": -row["score"] - 1} for row in rows],
}


class TestTampering:
    @pytest.mark.parametrize("how", TAMPERING)
    def test_altered_scores_are_refused(
        self, data: Path, scores: Path, how: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = [json.loads(line) for line in scores.read_text().splitlines()]
        scores.write_text("".join(json.dumps(row) + "\n" for row in TAMPERING[how](rows)))
        with pytest.raises(AlteredScores, match=r"not the .* scores that lexical gave"):
            evaluate_files([data], scores)
        assert main(["evaluate", "--data", str(data), "--scores", str(scores)]) == 3
        assert "if the scores are your own" in capsys.readouterr().err
        with pytest.raises(AlteredScores):
            RecordedScores(scores)

    @settings(
        max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
    )
    @given(drawn=st.data())
    def test_no_edit_of_the_statement_passes(
        self, drawn: st.DataObject, stated: tuple[Path, bytes]
    ) -> None:
        scores, raw = stated
        place = drawn.draw(st.integers(0, len(raw) - 1))
        byte = drawn.draw(st.integers(32, 126))
        changed = raw[:place] + bytes([byte]) + raw[place + 1 :]
        beside(scores).write_bytes(changed)
        try:
            same = json.loads(changed) == json.loads(raw)
        except ValueError:
            same = False
        if same:  # white space
            assert read_attribution(scores) is not None
        else:
            with pytest.raises((AlteredScores, UnreadableFile)):
                read_attribution(scores)

    def test_a_statement_that_contradicts_itself_is_refused(self, scores: Path) -> None:
        stated = read_attribution(scores)
        assert stated is not None
        for change in (
            {"fingerprint": "0" * 16},
            {"instrument": {"judge": "another"}},
            {"acquisition": "0" * 16},
            {"acquisitions": {"0" * 16: {}}},
        ):
            forged = attribution.msgspec.structs.replace(stated, **change).sealed()
            beside(scores).write_bytes(forged.to_json())
            with pytest.raises(AlteredScores, match="is not the hash"):
                read_attribution(scores)

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            (b"", AlteredScores),
            (b"{}", AlteredScores),
            (b"[" * 100_000, AlteredScores),
            (b"\xff\xfe", AlteredScores),
            (b'{"kind": "whose scores these are", "format": 2}', UnreadableFile),
        ],
    )
    def test_what_is_no_statement_is_refused(
        self, scores: Path, text: bytes, error: type[Exception]
    ) -> None:
        beside(scores).write_bytes(text)
        with pytest.raises(error):
            read_attribution(scores)

    def test_a_statement_that_cannot_be_read_is_not_passed_over(self, scores: Path) -> None:
        beside(scores).unlink()
        beside(scores).symlink_to("nowhere")
        with pytest.raises(UnreadableFile):
            read_attribution(scores)


class TestForeign:
    def test_the_statement_of_another_judges_scores_is_refused(
        self, data: Path, scores: Path, tmp_path: Path
    ) -> None:
        other = tmp_path / "other.jsonl"
        score_file(data, "length", other)
        shutil.copy(beside(other), beside(scores))
        with pytest.raises(AlteredScores, match="scores that length gave"):
            evaluate_files([data], scores)

    def test_the_same_ids_with_another_passage_are_other_data(
        self, data: Path, scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = [json.loads(line) for line in gzip.decompress(data.read_bytes()).splitlines()]
        rows[3]["passages"][0] += " And more."
        changed = tmp_path / "changed.jsonl"
        changed.write_text("".join(json.dumps(row) + "\n" for row in rows))
        with pytest.raises(ForeignScores, match="same ids here and another content"):
            evaluate_files([changed], scores)
        assert main(["evaluate", "--data", str(changed), "--scores", str(scores)]) == 3
        assert "Give the files that lexical scored" in capsys.readouterr().err

    def test_other_triplets_are_other_data(self, scores: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.jsonl"
        build_file("facts", None, other, limit=5, seed=9)
        with pytest.raises(ForeignScores, match=r"scored other data: [0-9,]+ of its"):
            evaluate_files([other], scores)


def test_a_score_file_as_a_judge_names_the_judge_that_it_came_from(
    data: Path, scores: Path, tmp_path: Path
) -> None:
    judge = RecordedScores(scores)
    assert judge.acquisition["recorded from"] == {
        "judge": "lexical",
        "instrument": LexicalJudge("lexical").fingerprint,
    }
    out = tmp_path / "again.jsonl"
    score_file(data, judge, out)
    stated = attributed([data], out)
    assert stated is not None
    assert stated.fingerprint == judge.fingerprint != LexicalJudge("lexical").fingerprint
    assert "recorded from" in next(iter(stated.acquisitions.values()))
