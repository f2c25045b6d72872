"""Score files: each line is read strictly, whichever way it takes through the decoder."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.errors import DuplicateItem, InputError, InvalidScore
from chaincheck.score_files import hash_scores, read_scores


def write(path: Path, rows: list[Any]) -> Path:
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_plain(tmp_path: Path) -> None:
    rows = [
        {"item_id": "a", "score": 1},
        {"score": -0.5, "item_id": "b", "note": {"x": [1]}},
        {"item_id": "\u00e9", "score": 1e-300},
        '{"item_id": "d", "score": 2.50, "more": {"score": "nested"}}',
        {"item_id": 7, "score": 0},
    ]
    expected = {"a": 1.0, "b": -0.5, "\u00e9": 1e-300, "d": 2.5, "7": 0.0}
    for name in ("s.jsonl", "s.jsonl.gz"):
        found = read_scores(write(tmp_path / name, rows))
        assert found == expected
        assert all(type(value) is float for value in found.values())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"item_id":"x","score":"0.5"}', "the score is '\"0.5\"', not a finite number"),
        ('{"item_id":"x","score":true}', "the score is 'true', not"),
        ('{"item_id":"x","score":null}', "the score is 'null', not"),
        ('{"item_id":"x","score":[1]}', r"the score is '\[1\]', not"),
        ('{"item_id":"x","score":{"a":1}}', "not a finite number"),
        ('{"item_id":"x","score":1e999}', r"the score is '1E\+999', not"),
        ('{"item_id":"x","score":-1e999}', "not a finite number"),
        ('{"item_id":"x","score":1' + "0" * 400 + "}", "not a finite number"),
        ('{"item_id":"x"}', "has no score"),
        ('{"item_id":"x","passages":["a"]}', "give it as --data"),
        ('{"score":1}', "has no item_id"),
        ('{"item_id":null,"score":1}', "has no item_id"),
        ('{"item_id":" ","score":1}', "the item_id is"),
        ('{"item_id":[],"score":1}', "the item_id is"),
        ('{"item_id":true,"score":1}', "the item_id is"),
    ],
)
def test_invalid(tmp_path: Path, line: str, problem: str) -> None:
    path = write(tmp_path / "s.jsonl", [{"item_id": "a", "score": 1}, line])
    with pytest.raises(InvalidScore, match=problem) as caught:
        read_scores(path)
    assert caught.value.line == 2
    assert caught.value.item in ("x", None)
    assert caught.value.remedy


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_literals_that_are_not_json(tmp_path: Path, literal: str) -> None:
    path = write(tmp_path / "s.jsonl", [f'{{"item_id":"x","score":{literal}}}'])
    with pytest.raises(InvalidScore, match=f":1: item 'x': the score is '{literal}', not"):
        read_scores(path)
    path = write(tmp_path / "s.jsonl", [f'{{"item_id":"x","score":1,"more":{literal}}}'])
    with pytest.raises(InputError, match=f":1: not JSON: {literal} is not a JSON number"):
        read_scores(path)


@pytest.mark.parametrize(
    "line",
    [
        '{"item_id":"x","score":1,"score":2}',
        '{"item_id":"x","item_id":"y","score":2}',
        '{"item_id":"x","score":1,"sc\\u006fre":2}',
    ],
)
def test_keys_that_stand_twice(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match="stands twice"):
        read_scores(write(tmp_path / "s.jsonl", [line]))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("aa", ":2: item 'a': this item is scored twice, on line 1 and here (the same score). "),
        ("aA", ":2: item 'a': this item is scored twice, on line 1 and here (another score). "),
        ("bacaa", ":4: item 'a': this item is scored 3 times, on line 2 and here (the same"),
        ("abab", ":3: item 'a': this item is scored twice, on line 1 and here (the same score); "
         "so is 1 further item. Keep one line for each item"),
        ("abcabcc", "so are 2 further items. Keep one line for each item"),
    ],
)  # fmt: skip
def test_scored_twice(tmp_path: Path, names: str, said: str) -> None:
    rows = [{"item_id": name.lower(), "score": ord(name)} for name in names]
    with pytest.raises(DuplicateItem) as caught:
        read_scores(write(tmp_path / "s.jsonl", rows))
    assert said in str(caught.value)


def test_scores_know_their_lines(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        ["", {"item_id": "b", "score": 1}, "", "", {"item_id": "a", "score": 2}],
    )
    found = read_scores(path)
    assert [(name, found.line(name)) for name in found] == [("b", 2), ("a", 5)]


@settings(max_examples=100, deadline=None)
@given(
    scores=st.dictionaries(
        st.text(min_size=1, max_size=6).filter(lambda t: t.strip()),
        st.floats(allow_nan=False, allow_infinity=False),
        min_size=1,
        max_size=6,
    ),
    escape=st.booleans(),
)
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    scores: dict[str, float],
    escape: bool,
) -> None:
    path = tmp_path_factory.mktemp("scores") / "s.jsonl"
    lines = [json.dumps({"item_id": k, "score": v}, ensure_ascii=escape) for k, v in scores.items()]
    path.write_bytes("\n".join(lines).encode())
    found = read_scores(path)
    assert found == scores
    assert [math.copysign(1, v) for v in found.values()] == [
        math.copysign(1, v) for v in scores.values()
    ]


def test_hash() -> None:
    assert hash_scores({"a": 1.0, "b": 2.0}) == hash_scores({"b": 2.0, "a": 1.0})
    assert hash_scores({"a": 1.0}) != hash_scores({"a": -1.0})
    assert len(hash_scores({})) == 16
