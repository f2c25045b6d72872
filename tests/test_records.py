"""The committed records: readable, without text of any record, and made by the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from chaincheck import records
from chaincheck.errors import InvalidItem, UnreadableFile, UsageError
from chaincheck.judges import CUES
from chaincheck.records import DATA_SETS, load_record, main, make_records

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"


def near(given: Any, right: Any) -> bool:
    """Whether two plain values agree, floats to nine digits."""
    if isinstance(right, float) and isinstance(given, int | float):
        return given == pytest.approx(right, rel=1e-9, abs=1e-12)
    if isinstance(right, dict):
        return given.keys() == right.keys() and all(near(given[key], right[key]) for key in right)
    if isinstance(right, list | tuple):
        return len(given) == len(right) and all(map(near, given, right))
    return bool(given == right)


def test_the_records_are_committed_and_whole() -> None:
    yields, shortcuts = load_record("yields"), load_record("shortcuts")
    assert set(yields.sets) == set(DATA_SETS)
    assert {"musique", "twowiki"} <= set(shortcuts.sets)
    for name, one in yields.sets.items():
        report = one.report
        assert report.examples == {}, "examples quote the data set"
        for variant, made in report.triplets.items():
            lost = sum(report.rejected_by_variant.get(variant, {}).values())
            assert made + lost == report.chains, (name, variant)
        assert one.split.triplets == sum(report.triplets.values())
        assert one.split.shared == 0
        assert DATA_SETS[name].command == one.command
    for name, judged in shortcuts.sets.items():
        assert list(judged.rows) == sorted(CUES)
        assert judged.data == yields.sets[name].data
        for rows in judged.rows.values():
            assert {row.variant: row.n for row in rows} == yields.sets[name].report.triplets


def test_names_alone_link_real_records_and_not_decoys() -> None:
    # What the chapters say in words; on a data set large enough to say it.
    rows = load_record("shortcuts").sets["musique"].rows
    for judge in ("names-once", "repeated-names"):
        at = {row.variant: row for row in rows[judge]}
        assert min(at["real"].selectivity, at["fict"].selectivity) > 0.3, judge
    for judge in set(CUES) - {"lexical"}:
        at = {row.variant: row for row in rows[judge]}
        assert at["decoy"].selectivity <= 0.05, judge


@pytest.mark.parametrize("name", DATA_SETS)
def test_the_command_makes_the_committed_record(name: str) -> None:
    if not (SHARED / DATA_SETS[name].file).is_file():
        pytest.skip(f"the data set {DATA_SETS[name].file} is not at hand: {SHARED} is missing")
    yields, shortcuts = make_records(SHARED, [name])
    for made, kind in ((yields, load_record("yields")), (shortcuts, load_record("shortcuts"))):
        fresh, kept = msgspec.to_builtins(made), msgspec.to_builtins(kind)
        remedy = f"the record of {name} is out of date: run {kind.command}"
        assert near(fresh["sets"].get(name), kept["sets"].get(name)), remedy


def test_a_record_is_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_record("yields", "book/records/yields.json") == load_record("yields")


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no record 'yield'"):
        load_record("yield")  # type: ignore[call-overload]
    with pytest.raises(UnreadableFile, match="make records"):
        load_record("yields", tmp_path / "none.json")
    (tmp_path / "bad.json").write_text('{"command": 1}')
    with pytest.raises(InvalidItem, match="is no record of yields"):
        load_record("yields", tmp_path / "bad.json")


def test_without_the_files_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "musique_ans_dev.jsonl" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


ROW = {
    "id": "one",
    "question": "Which river flows through the home town of the builder of the Halden Mill?",
    "answer": "Aare",
    "bridge": "Bern",
    "kind": "place",
    "subject": "Halden Mill",
    "relation": "home town",
    "earlier_support": 0,
    "later_support": 1,
    "passages": [
        {"title": "Halden Mill", "text": "The builder of the Halden Mill came from Bern."},
        {"title": "Bern", "text": "Bern lies on the Aare."},
        {"title": "Wheels", "text": "A wheel turns."},
    ],
}


def test_a_record_of_a_small_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.jsonl").write_bytes(msgspec.json.encode(ROW) + b"\n")
    mine = records.DataSet("Mine", "documents", "mine.jsonl")
    monkeypatch.setattr(records, "DATA_SETS", {"mine": mine})
    yields, shortcuts = make_records(tmp_path, ["mine"])
    one = yields.sets["mine"]
    assert one.report.triplets == {"real": 0, "fict": 1, "decoy": 0}
    assert one.title == "Mine"
    assert one.input != one.data
    assert shortcuts.sets == {}, "too few triplets to measure a judge"


def test_recorded_rows_are_drawn_like_measured_ones() -> None:
    pytest.importorskip("matplotlib", reason="figures need the extra 'book'")
    from chaincheck.plots import effect_plane, effects

    rows = load_record("shortcuts").sets["musique"].rows
    assert len(effects(rows).axes) == 4
    assert len(effect_plane(rows).axes) == 3
