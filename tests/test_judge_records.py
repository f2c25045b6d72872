"""The records that chapters replay: complete, small, made and carried on by one command."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from chaincheck import judge_records
from chaincheck.errors import MissingJudgment, UnreadableFile, UsageError
from chaincheck.injection import probe
from chaincheck.injection_attacks import ATTACKS
from chaincheck.items import Item, write_items
from chaincheck.judge_records import (
    FOLDER,
    RECORDED,
    RecordedModel,
    answer_without_passages,
    chapter_judge,
    check_live,
    judged_triplets,
    make_records,
    recorded_judge,
    token_texts,
)
from chaincheck.judges import LexicalJudge
from chaincheck.judges.record import LiveJudge, RecordedJudge


def cells(variants: tuple[str, ...] = ("real", "fict", "decoy")) -> list[Item]:
    return [
        item
        for triplet in judged_triplets()
        if triplet.variant in variants
        for item in triplet.cells.values()
    ]


class TestTheBook:
    """What lies below ``book/records/judges``."""

    @pytest.mark.parametrize("name", RECORDED)
    def test_each_record_holds_what_chapters_ask_of_it(self, name: str) -> None:
        judge, one = recorded_judge(name), RECORDED[name]
        assert judge.missing(cells(one.variants)) == []
        if one.attacks:
            real = [triplet for triplet in judged_triplets() if triplet.variant == "real"]
            attacks = {attack: ATTACKS[attack] for attack in one.attacks}
            assert len(probe(real, judge, attacks=attacks, limit=16).rows) == len(attacks)

    def test_together_they_are_small(self) -> None:
        assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 600_000

    def test_each_was_got_in_one_way(self) -> None:
        for name in RECORDED:
            found = recorded_judge(name).provenance(whole=True)
            assert found.caveats == (), name

    def test_the_plain_way_is_the_same_instrument_and_precision_is_another(self) -> None:
        first, plain, half = (
            recorded_judge(name) for name in ("smollm2", "smollm2-plain", "smollm2-bfloat16")
        )
        assert first.fingerprint == plain.fingerprint != half.fingerprint
        assert first.acquisition != plain.acquisition

    def test_the_plain_way_gives_the_same_scores(self) -> None:
        items = cells(("real",))
        pairs = zip(
            *(recorded_judge(name).score(items) for name in ("smollm2", "smollm2-plain")),
            strict=True,
        )
        for one, other in pairs:
            assert one.score == pytest.approx(other.score, abs=1e-4)

    def test_every_question_was_answered_and_every_token_reads_as_its_side(self) -> None:
        lines = (FOLDER / "answers.jsonl").read_bytes().splitlines()
        asked = {msgspec.json.decode(line)["query"] for line in lines}
        assert asked == {item.query for item in cells()}
        for side, texts in token_texts():
            assert {text.strip().lower() for text in texts} <= {side, side[0]}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of records in which a judge that runs no model is recorded."""
    one = RecordedModel("lexical", variants=("real",), attacks=("claim",))
    monkeypatch.setattr(judge_records, "RECORDED", {"mine": one})
    monkeypatch.setattr(judge_records, "_PROBED", 2)
    few = [item for triplet in judged_triplets()[:6] for item in triplet.cells.values()]
    records = tmp_path / "records"
    records.mkdir()
    write_items(records / "triplets.jsonl.gz", few)
    for name in ("answers.jsonl", "tokens.json"):
        (records / name).write_text("{}")
    yield records


class TestMaking:
    def test_a_record_is_made_once_and_is_the_same_bytes_when_made_again(
        self, mine: Path, tmp_path: Path
    ) -> None:
        make_records(["mine"], mine, work=tmp_path / "work")
        first = (mine / "mine.jsonl.gz").read_bytes()
        assert list((tmp_path / "work").iterdir()) == []
        make_records(["mine"], mine, work=tmp_path / "work")
        assert (mine / "mine.jsonl.gz").read_bytes() == first
        judge = recorded_judge("mine", mine)
        triplets = judged_triplets(mine)
        real = [triplet for triplet in triplets if triplet.variant == "real"]
        assert judge.missing(item for one in real for item in one.cells.values()) == []
        probe(real, judge, attacks={"claim": ATTACKS["claim"]}, limit=2)

    def test_what_an_interrupted_run_left_is_carried_on(self, mine: Path, tmp_path: Path) -> None:
        work = tmp_path / "work"
        work.mkdir()
        items = [item for one in judged_triplets(mine) for item in one.cells.values()]
        with LiveJudge(LexicalJudge("lexical"), work / "mine.jsonl") as live:
            list(live.score(items[:2]))
        begun = (work / "mine.jsonl").read_bytes()
        make_records(["mine"], mine, work=work)
        assert gzip.decompress((mine / "mine.jsonl.gz").read_bytes()).startswith(begun)

    def test_the_command_refuses_a_name_that_it_does_not_know(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert judge_records.main(["smolm2"]) == 2
        assert "no judge 'smolm2' is recorded" in capsys.readouterr().err


class TestOpening:
    def test_a_judge_of_the_book_is_replayed_and_a_miss_names_the_command(
        self, tmp_path: Path
    ) -> None:
        judge = chapter_judge("smollm2", logs=tmp_path)
        assert isinstance(judge, RecordedJudge)
        other = msgspec.structs.replace(cells()[0], query="Who?")
        with pytest.raises(MissingJudgment, match=r"python -m chaincheck\.judge_records smollm2"):
            list(judge.score([other]))

    def test_a_judge_without_a_model_needs_no_log(self, tmp_path: Path) -> None:
        assert isinstance(chapter_judge("lexical", logs=tmp_path), LexicalJudge)

    def test_what_was_never_recorded_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no judge is called"):
            chapter_judge("no-such-judge", logs=tmp_path)
        with pytest.raises(UsageError, match=r"is recorded in the book\. Known: smollm2"):
            recorded_judge("no-such-judge")
        with pytest.raises(UnreadableFile):
            recorded_judge("smollm2", tmp_path)


class TestAskingNow:
    def test_a_replay_is_identical_and_the_record_agrees(self, mine: Path, tmp_path: Path) -> None:
        make_records(["mine"], mine, work=tmp_path / "work")
        items = [item for one in judged_triplets(mine)[:1] for item in one.cells.values()]
        found = check_live("mine", items, work=tmp_path / "live", records=mine)
        assert (found.items, found.identical, found.recorded, found.apart) == (3, True, 3, 0.0)
        assert "the same, bit by bit" in found.to_text()
        assert "the scores are the same bits" in found.to_text()

    def test_a_judge_that_is_not_in_the_book_has_no_record(self, tmp_path: Path) -> None:
        found = check_live("length", cells()[:3], work=tmp_path / "live")
        assert (found.problem, found.identical, found.recorded) == (None, True, 0)
        assert "holds none of these" in found.to_text()

    def test_a_model_that_is_not_here_is_said(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path))
        found = check_live("smollm2", cells()[:3], work=tmp_path / "live")
        assert found.to_text().startswith("not asked: the model 'smollm2'")
        assert "chaincheck model smollm2" in found.to_text()


def test_a_model_answers_without_passages(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the extra 'judges' is not installed")
    pytest.importorskip("transformers", reason="the extra 'judges' is not installed")
    from tests.tiny_language_models import save

    folder = save(tmp_path / "tiny")
    questions = ["Where was Anna Keller born?", "Who is Clara Winter?"]
    rows = list(answer_without_passages(folder, questions))
    assert [row["query"] for row in rows] == questions
    assert rows == list(answer_without_passages(folder, questions))
