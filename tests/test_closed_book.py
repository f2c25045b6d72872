"""A closed-book column: every row kept, true where the answer was known, refused where unclear."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from chaincheck import closed_book
from chaincheck.closed_book import add_closed_book
from chaincheck.errors import (
    ChainCheckError,
    DuplicateItem,
    InvalidItem,
    MissingScore,
    UnknownScore,
    UsageError,
)
from chaincheck.items import read_items
from chaincheck.scores import join_files

QUESTIONS = {"p0": ("Where was the director born?", "Lyon"), "p1": ("Who owns it?", "Ada King")}


def rows() -> list[dict[str, Any]]:
    return [
        {
            "item_id": f"{pair}-{cell}",
            "pair_id": pair,
            "variant": "real",
            "cell": cell,
            "query": query,
            "passages": ["One.", f"{answer} it is."],
            "answer": answer,
            "source_id": f"s{pair}",
            "mine": {"kept": [1, 2.50]},
        }
        for pair, (query, answer) in QUESTIONS.items()
        for cell in "ABD"
    ]


def write(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in objects), "utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write(tmp_path / "data.jsonl", rows())


def add(data: Path, answers: list[dict[str, Any]], **more: Any) -> list[Any]:
    found = write(data.parent / "answers.jsonl", answers)
    add_closed_book(data, found, data.parent / "out.jsonl", **more)
    return [item.extra.get("closed_book_correct") for item in read_items(data.parent / "out.jsonl")]


def test_public_names_are_pinned() -> None:
    assert closed_book.__all__ == ["ClosedBookSummary", "add_closed_book"]


@pytest.mark.parametrize("key", ["pair_id", "source_id", "query", "question"])
def test_each_key_reaches_the_same_rows(data: Path, key: str) -> None:
    names = {
        "pair_id": list(QUESTIONS),
        "source_id": ["sp0", "sp1"],
        "query": [query for query, _ in QUESTIONS.values()],
    }
    names["question"] = names["query"]
    answers = [{key: names[key][0], "correct": True}, {key: names[key][1], "correct": 0}]
    assert add(data, answers) == [True] * 3 + [False] * 3


def test_item_ids_say_it_row_by_row(data: Path) -> None:
    answers = [{"item_id": row["item_id"], "correct": row["item_id"] == "p0-B"} for row in rows()]
    assert add(data, answers) == [False, True, False, False, False, False]


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("Lyon", True),
        ("It was LYON.", True),
        ("Lyon or Paris", True),
        ("Lyons", False),
        ("Lyonnais", False),
        ("I do not know", False),
        ("", False),
        (None, None),
    ],
)
def test_answers_as_text(data: Path, given: str | None, right: bool | None) -> None:
    answers = [{"pair_id": "p0", "answer": given}, {"pair_id": "p1", "answer": "nobody"}]
    assert add(data, answers) == [right] * 3 + [False] * 3


def test_other_wordings_count(data: Path) -> None:
    answers = [
        {"pair_id": "p0", "answer": "Lugdunum", "answer_aliases": ["Lugdunum"]},
        {"pair_id": "p1", "answer": "Lovelace", "answer_aliases": []},
    ]
    assert add(data, answers) == [True] * 3 + [False] * 3


def test_scores_count_from_the_threshold_on(data: Path) -> None:
    answers = [{"pair_id": "p0", "score": 0.5}, {"pair_id": "p1", "score": 0.49}]
    assert add(data, answers, threshold=0.5) == [True] * 3 + [False] * 3
    answers[0]["score"] = 1
    assert add(data, answers, threshold=0.5)[0] is True


def test_what_is_excluded_is_what_was_known(data: Path) -> None:
    add(data, [{"pair_id": "p0", "correct": True}, {"pair_id": "p1", "correct": False}])
    out = data.parent / "out.jsonl"
    scores = [{"item_id": row["item_id"], "score": 1.0} for row in rows()]
    joined = join_files(
        [out], write(data.parent / "s.jsonl", scores), exclude=["closed_book_correct"]
    )
    assert joined.pair_ids == (("p1",),)
    assert joined.dropped == {"closed_book_correct is true": 1}


def test_everything_else_is_kept_and_the_bytes_are_the_same(data: Path) -> None:
    answers = write(
        data.parent / "a.jsonl", [{"pair_id": pair, "correct": 1} for pair in QUESTIONS]
    )
    outs = [data.parent / name for name in ("one.jsonl.gz", "two.jsonl.gz")]
    for out in outs:
        add_closed_book(data, answers, out, column="cb_mine")
    assert outs[0].read_bytes() == outs[1].read_bytes()
    written = [json.loads(line) for line in gzip.decompress(outs[0].read_bytes()).splitlines()]
    for row, before in zip(written, rows(), strict=True):
        assert row["cb_mine"] is True
        assert row["mine"] == before["mine"]
        assert {key: row[key] for key in before} == before
    # The digits of unknown columns too.
    assert b"2.5" in gzip.decompress(outs[0].read_bytes())


def test_a_file_may_be_written_over_itself_and_the_column_replaced(data: Path) -> None:
    answers = write(
        data.parent / "a.jsonl", [{"pair_id": pair, "correct": 1} for pair in QUESTIONS]
    )
    add_closed_book(data, answers, data)
    with pytest.raises(InvalidItem, match="column closed_book_correct already"):
        add_closed_book(data, answers, data)
    before = data.read_bytes()
    add_closed_book(data, answers, data, replace=True)
    assert data.read_bytes() == before


def test_the_published_column_can_be_set(data: Path) -> None:
    add(data, [{"pair_id": pair, "correct": True} for pair in QUESTIONS], column="cb_27b_correct")
    assert all(item.cb_27b_correct for item in read_items(data.parent / "out.jsonl"))


def test_the_summary_counts_questions(data: Path) -> None:
    answers = [{"pair_id": "p0", "correct": True}, {"pair_id": "elsewhere", "correct": True}]
    path = write(data.parent / "a.jsonl", answers)
    found = add_closed_book(data, path, data.parent / "o.jsonl", allow_missing=True)
    assert (found.items, found.known, found.unknown, found.untold, found.unused) == (6, 1, 0, 1, 1)
    assert "1 of 2 questions" in found.to_text()
    assert "--exclude-column closed_book_correct" in found.to_text()
    assert json.loads(found.to_json())["untold"] == 1


def test_an_array_will_do(data: Path) -> None:
    path = data.parent / "a.json"
    path.write_text(json.dumps([{"pair_id": pair, "correct": False} for pair in QUESTIONS]))
    assert add_closed_book(data, path, data.parent / "o.jsonl").unknown == 2


P1 = {"pair_id": "p1", "correct": True}


@pytest.mark.parametrize(
    ("answers", "kind", "says"),
    [
        ([P1], MissingScore, "looked for by pair_id"),
        ([P1, P1], DuplicateItem, "stands twice"),
        ([{"correct": True}], InvalidItem, "none of item_id, pair_id"),
        ([{"pair_id": 1.5, "correct": True}], InvalidItem, "pair_id should be text"),
        ([P1, {"query": "x", "correct": True}], InvalidItem, "pair_id should be text"),
        ([P1, {"pair_id": "p0"}], InvalidItem, "none of correct, answer, score"),
        ([P1, {"pair_id": "p0", "correct": "yes"}], InvalidItem, "column correct should be"),
        ([P1, {"pair_id": "p0", "answer": 3}], InvalidItem, "answer should be text"),
        ([P1, {"pair_id": "p0", "answer": "a", "answer_aliases": "b"}], InvalidItem, "list of te"),
        ([P1, {"pair_id": "p0", "score": 1}], InvalidItem, "no threshold"),
        ([P1, {"pair_id": "p0", "score": "1"}], InvalidItem, "not a finite number"),
    ],
)
def test_what_is_refused(
    data: Path, answers: list[dict[str, Any]], kind: type[ChainCheckError], says: str
) -> None:
    with pytest.raises(kind, match=says):
        add(data, answers)
    assert not (data.parent / "out.jsonl").exists()


def test_answers_to_other_questions_are_refused(data: Path) -> None:
    with pytest.raises(UnknownScore, match="no pair_id of these answers"):
        add(data, [{"pair_id": "x", "correct": True}], allow_missing=True)
    assert not (data.parent / "out.jsonl").exists()


@pytest.mark.parametrize("column", ["query", "passages", "cell", "extra", " "])
def test_names_that_no_column_may_have(data: Path, column: str) -> None:
    with pytest.raises(UsageError):
        add(data, [P1], column=column)


def test_a_triplet_without_an_answer_cannot_be_compared_with_text(tmp_path: Path) -> None:
    data = write(tmp_path / "d.jsonl", [{**row, "answer": None} for row in rows()])
    with pytest.raises(InvalidItem, match="own answer is null"):
        add(data, [{"pair_id": pair, "answer": "Lyon"} for pair in QUESTIONS])
