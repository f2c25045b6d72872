"""The index reads what evaluating needs, and refuses what the full reader would refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chaincheck import index
from chaincheck.errors import BrokenLine, DuplicateItem, InputError, InvalidItem, UnreadableFile
from chaincheck.index import IndexRow, read_index
from chaincheck.items import read_items

ROW: dict[str, Any] = {
    "item_id": "i1",
    "pair_id": "p1",
    "variant": "real",
    "cell": "A",
    "query": "Who?",
    "passages": ["One passage.", "Another \u00e9 \"item_id\" 'cell' \\ passage, rather longer."],
    "bridge": "B",
    "earlier_support": 0,
    "later_support": [1],
    "cb_27b_correct": True,
    "source_id": "s",
}


def write(path: Path, *rows: dict[str, Any] | bytes, escape: bool = True) -> Path:
    lines = [
        row if isinstance(row, bytes) else json.dumps(row, ensure_ascii=escape).encode()
        for row in rows
    ]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def read(path: Path, *columns: str) -> list[IndexRow]:
    return list(read_index(path, columns=columns))


@pytest.mark.parametrize("escape", [True, False])
def test_rows(tmp_path: Path, escape: bool) -> None:
    path = write(tmp_path / "a.jsonl", {**ROW, "own": True}, escape=escape)
    found = read(path, "cb_27b_correct", "own", "missing")
    assert found == [
        IndexRow(
            1,
            "i1",
            "p1",
            "real",
            "A",
            "Who?",
            "B",
            "s",
            (True, True, None),
            (True, True, False),
        )
    ]


def test_the_fast_way_is_taken_for_plain_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a plain row needs no strict decoding")

    monkeypatch.setattr(index._Reader, "_strict", refuse)
    rows = [ROW, {**ROW, "item_id": "i2", "cell": "B", "earlier_support": None}]
    for escape in (True, False):
        path = write(tmp_path / "a.jsonl", *rows, escape=escape)
        assert [row.cell for row in read(path, "cb_27b_correct")] == ["A", "B"]


def test_passages_are_not_kept(tmp_path: Path) -> None:
    import tracemalloc

    rows = [
        {**ROW, "item_id": f"i{n}", "pair_id": f"p{n}", "passages": ["x" * 50_000] * 2}
        for n in range(100)
    ]
    path = write(tmp_path / "a.jsonl", *rows)
    tracemalloc.start()
    found = read(path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 100
    assert held < 200_000
    assert peak < 4 * 2**20


def test_an_evaluating_column_may_be_one_that_is_read_anyway(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {**ROW, "bridge": None})
    assert read(path, "bridge")[0].flags == (None,)
    with pytest.raises(InvalidItem, match="column cell should be true"):
        read(path, "cell")


def test_whole_number_ids(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", {**ROW, "item_id": 5, "pair_id": 6})
    assert (read(path)[0].item_id, read(path)[0].pair_id) == ("5", "6")


FAULTS: list[dict[str, Any]] = [
    {"passages": []},
    {"passages": ["a", 1]},
    {"passages": ["a", " "]},
    {"passages": ["a", ""]},
    {"passages": "a"},
    {"passages": None},
    {"earlier_support": 2},
    {"later_support": [0, -1]},
    {"later_support": "0"},
    {"cell": "E"},
    {"cell": 1},
    {"variant": " "},
    {"query": ""},
    {"query": None},
    {"item_id": ""},
    {"pair_id": None},
    {"pair_id": 1.5},
]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_the_same_rows_are_refused_as_by_the_full_reader(
    tmp_path: Path, fault: dict[str, Any]
) -> None:
    path = write(tmp_path / "a.jsonl", ROW, {**ROW, "item_id": "i2", "cell": "B", **fault})
    with pytest.raises(InvalidItem) as full:
        list(read_items(path))
    with pytest.raises(InvalidItem) as fast:
        read(path, "cb_27b_correct")
    assert str(fast.value) == str(full.value)
    assert fast.value.line == 2


@pytest.mark.parametrize("column", ["item_id", "pair_id", "variant", "cell", "query", "passages"])
def test_missing_columns(tmp_path: Path, column: str) -> None:
    row = {key: value for key, value in ROW.items() if key != column}
    with pytest.raises(InvalidItem, match=f"column {column} is missing"):
        read(write(tmp_path / "a.jsonl", row))


@pytest.mark.parametrize(
    "twice",
    [
        b'"cell":"B",',
        b'"passages":["x"],',
        b'"c\\u0065ll":"B",',
        b'"query":"x",',
        b'"cb_27b_correct":false,',
    ],
)
def test_a_key_that_stands_twice(tmp_path: Path, twice: bytes) -> None:
    plain = json.dumps(ROW).encode()
    for raw in (b"{" + twice + plain[1:], plain[:-1] + b"," + twice[:-1] + b"}"):
        with pytest.raises(BrokenLine, match="stands twice in one object"):
            read(write(tmp_path / "a.jsonl", raw), "cb_27b_correct")


def test_duplicates_and_flags_and_encoding(tmp_path: Path) -> None:
    with pytest.raises(DuplicateItem, match="item_id stands twice"):
        read(write(tmp_path / "a.jsonl", ROW, {**ROW, "cell": "B"}))
    with pytest.raises(DuplicateItem, match="cell A of pair 'p1'"):
        read(write(tmp_path / "a.jsonl", ROW, {**ROW, "item_id": "i2"}))
    with pytest.raises(InvalidItem, match="column cb_27b_correct should be true"):
        read(write(tmp_path / "a.jsonl", {**ROW, "cb_27b_correct": "no"}), "cb_27b_correct")
    with pytest.raises(UnreadableFile, match="not UTF-8"):
        read(write(tmp_path / "a.jsonl", json.dumps(ROW).encode().replace(b"One", b"\xe9ne")))
    with pytest.raises(InputError):
        read(write(tmp_path / "a.jsonl", json.dumps(ROW).encode()[:-1]))
