from __future__ import annotations

from pathlib import Path

import pytest

from chaincheck.audit_records import FOLDER, log_of, main, replies_of, triplets_of
from chaincheck.items import read_items, read_triplets
from chaincheck.judges.record import RecordedJudge
from chaincheck.replay_pipeline import asked_items


def test_what_the_book_holds_is_whole() -> None:
    items = list(read_items(triplets_of()))
    assert read_triplets(triplets_of(), cells=("A", "B", "C", "D"))
    asked = list(asked_items(items))
    judge, trained = (RecordedJudge(log_of(name)) for name in ("smollm2", "smollm2-trained"))
    assert judge.missing(asked) == trained.missing(asked) == []
    # The two differ in their weights and in nothing else.
    assert judge.instrument["model"]["adapter"] is None
    assert trained.instrument["model"]["adapter"]["weights"]
    assert {**judge.instrument, "model": 0} == {**trained.instrument, "model": 0}
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000


def test_a_record_is_made_and_carried_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path_factory.mktemp("cache")))
    few = list(read_items(triplets_of()))[:4]
    from chaincheck.items import write_items

    write_items(triplets_of(tmp_path), few)
    for _ in range(2):
        assert main(["mine", "--judge", "lexical", "--out", str(tmp_path)]) == 0
    judge = RecordedJudge(log_of("mine", tmp_path))
    assert judge.missing(asked_items(few)) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mine.jsonl.gz",
        "triplets.jsonl.gz",
    ]
    assert not replies_of("mine", tmp_path).exists()


def test_mistakes_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["../x"], [".x"], ["nobody"]):
        assert main([*arguments, "--out", str(tmp_path)]) == 2
        assert "chaincheck: error:" in capsys.readouterr().err
