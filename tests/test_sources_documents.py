"""A user's own rows: documented columns in, clear errors out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chaincheck.chains import Chain
from chaincheck.errors import DuplicateItem, InvalidItem, WrongSource
from chaincheck.sources import documents
from chaincheck.sources.documents import Documents

ROW: dict[str, Any] = {
    "question": "Where was the director of Arrival born?",
    "answer": "Gentilly",
    "passages": [
        "Arrival was directed by Denis Villeneuve.",
        {"title": "Denis Villeneuve", "text": "He was born in Gentilly."},
    ],
    "bridge": "Denis Villeneuve",
    "earlier_support": 0,
    "later_support": 1,
}
FULL: dict[str, Any] = {
    **ROW,
    "id": "mine",
    "bridge_aliases": ["Villeneuve", ""],
    "answer_aliases": ["Gentilly, Quebec"],
    "kind": "person",
    "pronoun": "he",
    "subject": "Arrival",
    "relation": "Director",
    "cb_27b_correct": True,
    "ticket": 17,
}


def read(tmp_path: Path, *rows: dict[str, Any]) -> list[Chain]:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(Documents().read(path))  # type: ignore[arg-type]


def test_the_required_columns(tmp_path: Path) -> None:
    (chain,) = read(tmp_path, ROW)
    assert [passage.whole for passage in chain.passages] == [
        "Arrival was directed by Denis Villeneuve.",
        "Denis Villeneuve\nHe was born in Gentilly.",
    ]
    assert (chain.bridge, chain.answer, chain.kind, chain.facts) == (
        "Denis Villeneuve",
        "Gentilly",
        None,
        (),
    )
    assert len(chain.source_id) == 16
    (again,) = read(tmp_path, dict(reversed(ROW.items())))
    assert again.source_id == chain.source_id


def test_all_columns(tmp_path: Path) -> None:
    (chain,) = read(tmp_path, FULL)
    assert (chain.source_id, chain.kind, chain.pronoun) == ("mine", "person", "he")
    assert (chain.bridge_aliases, chain.answer_aliases) == (("Villeneuve",), ("Gentilly, Quebec",))
    assert (chain.earlier.relation, chain.earlier.subject) == ("director", "Arrival")
    assert [(f.head, f.relation, f.tail) for f in chain.facts] == [
        ("Arrival", "director", "Denis Villeneuve")
    ]
    assert chain.extra == {"cb_27b_correct": True, "ticket": 17}


@pytest.mark.parametrize("column", list(ROW))
def test_missing_columns(tmp_path: Path, column: str) -> None:
    row = {"id": "x", **{key: value for key, value in ROW.items() if key != column}}
    with pytest.raises(InvalidItem, match=f":1: item 'x': column {column} is missing"):
        read(tmp_path, row)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"passages": []}, "column passages is empty"),
        ({"passages": ["a", 5]}, "passage 1 should be text"),
        ({"passages": ["a", " "]}, "passage 1 should be text that is not blank"),
        ({"passages": [{"title": "a"}]}, "the text of passage 0"),
        ({"passages": [{"title": 5, "text": "a"}]}, "the title of passage 0"),
        ({"later_support": 2}, "column later_support: index 2 is out of range"),
        ({"later_support": -1}, "column later_support should be a whole number"),
        ({"later_support": "1"}, "column later_support should be a whole number"),
        ({"bridge": " "}, "column bridge should be text"),
        ({"kind": "Person"}, "column kind should be one of person"),
        ({"pronoun": "him"}, "column pronoun should be one of"),
        ({"bridge_aliases": "Denis"}, "column bridge_aliases should be a list"),
        ({"cb_27b_correct": "yes"}, "column cb_27b_correct should be true"),
        ({"variant": "real"}, "column variant has a name that items use"),
        ({"id": 5}, "column id should be text"),
    ],
)
def test_invalid_columns(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidItem, match=problem):
        read(tmp_path, {**ROW, **changes})


def test_rows_that_stand_twice(tmp_path: Path) -> None:
    with pytest.raises(DuplicateItem, match=r":2: .*this row stands twice"):
        read(tmp_path, ROW, ROW)
    assert len(read(tmp_path, {**ROW, "id": "a"}, {**ROW, "id": "b"})) == 2


def test_a_data_set_given_as_documents(tmp_path: Path) -> None:
    with pytest.raises(WrongSource, match="--source musique"):
        read(tmp_path, {"id": "a", "paragraphs": [], "question": "?"})


def test_every_column_is_documented() -> None:
    assert documents.__doc__
    for column in (*documents.COLUMNS, "cb_27b_correct"):
        assert f"``{column}``" in documents.__doc__
