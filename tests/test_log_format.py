"""Lines of a judgment log: exact numbers, seals that show every change."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_judges import Fake, make_item

from chaincheck.errors import DamagedLog, ForeignLog, IntegrityError, InvalidScore
from chaincheck.items import Item
from chaincheck.judges.base import Judgment, differences, fingerprint_of, instrument_of
from chaincheck.judges.log_format import (
    Record,
    check_judgment,
    content_of,
    header_for,
    judgment_of,
    parse,
    parse_header,
    record_of,
    seal,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | FINITE | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)
BOUNDS = st.tuples(FINITE, FINITE).map(lambda two: (min(two), max(two)))
JUDGMENTS = st.builds(
    Judgment,
    item_id=TEXT.filter(bool),
    score=FINITE,
    bounds=st.none() | BOUNDS,
    raw=PLAIN,
    logprobs=st.none() | st.dictionaries(TEXT, FINITE, max_size=3),
    model=st.none() | TEXT,
    usage=st.none() | st.dictionaries(TEXT, st.integers(0, 2**40), max_size=3),
    flags=st.lists(TEXT, max_size=2).map(tuple),
    details=st.dictionaries(TEXT, PLAIN, max_size=2),
)


def sealed(judgment: Judgment, previous: str = "p") -> bytes:
    record = record_of(judgment, content="c", instrument="i", acquisition="a", previous=previous)
    return seal(record, path="log")[0]


@given(JUDGMENTS)
def test_what_is_written_is_read_back_bit_for_bit(judgment: Judgment) -> None:
    line = sealed(judgment)
    assert line.count(b"\n") == 1
    record, digest = parse(line[:-1], "p", path="log", line=2)
    assert isinstance(record, Record)
    back = judgment_of(record, record.item_id)
    assert back == judgment
    assert struct.pack("<d", back.score) == struct.pack("<d", judgment.score)
    assert json.loads(line)["digest"] == digest  # to any other reader it is plain JSON
    assert sealed(back) == line


@given(FINITE)
def test_scores_are_the_shortest_text_that_gives_the_double_back(score: float) -> None:
    text = sealed(Judgment(item_id="x", score=score)).split(b'"score":')[1].split(b",")[0].decode()
    assert struct.pack("<d", float(text)) == struct.pack("<d", score)

    def digits(number: str) -> str:
        return number.lower().split("e")[0].replace(".", "").replace("-", "").strip("0")

    assert digits(text) == digits(repr(score))


@given(JUDGMENTS, st.data())
def test_every_changed_byte_shows(judgment: Judgment, data: st.DataObject) -> None:
    line = bytearray(sealed(judgment)[:-1])
    place = data.draw(st.integers(0, len(line) - 1))
    line[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DamagedLog, match="not as it was written"):
        parse(bytes(line), "p", path="log", line=2)


def test_a_line_in_another_place_shows() -> None:
    line = sealed(Judgment(item_id="the item", score=1.5), previous="q")
    with pytest.raises(DamagedLog, match="removed, added or moved") as caught:
        parse(line[:-1], "p", path="log.jsonl", line=7)
    assert str(caught.value).startswith("log.jsonl:7: item 'the item': ")
    assert "head -n 6" in str(caught.value)
    assert caught.value.exit_code == 3
    assert isinstance(caught.value, IntegrityError)


@pytest.mark.parametrize(
    "judgment",
    [
        {"score": math.nan},
        {"score": math.inf},
        {"score": True},
        {"score": "0.5"},
        {"score": 10**400},
        {"score": 2**53 + 1},
        {"score": Fraction(1, 3)},
        {"score": None},
        {"score": None, "bounds": (math.nan, 1.0)},
        {"score": None, "bounds": (-math.inf, 1.0)},
        {"score": 0.0, "bounds": (2.0, 1.0)},
        {"score": 0.0, "raw": {"deep": [1.0, math.nan]}},
        {"score": 0.0, "logprobs": {"yes": -math.inf}},
        {"score": 0.0, "details": {"mass": math.inf}},
    ],
    ids=repr,
)
def test_what_no_log_can_hold_is_refused(judgment: dict[str, Any]) -> None:
    with pytest.raises(InvalidScore, match="x y") as caught:
        check_judgment(Judgment(item_id="x y", **judgment), path="log.jsonl")
    assert "not recorded" in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("raw", [object(), {"k": b"\xff".decode("latin-1"), 1j: 2}, "\ud800"])
def test_what_is_not_json_is_refused(raw: object) -> None:
    with pytest.raises(InvalidScore, match="cannot be written as JSON"):
        sealed(Judgment(item_id="x", score=0.5, raw=raw))


@pytest.mark.parametrize("score", [1, -3, np.float64(0.1), np.float32(0.1), 0.0, -0.0])
def test_numbers_that_a_double_holds_are_taken(score: float) -> None:
    judgment = Judgment(item_id="x", score=score)
    check_judgment(judgment, path="log")
    record, _ = parse(sealed(judgment)[:-1], "p", path="log", line=2)
    assert isinstance(record, Record)
    assert isinstance(record.score, float)
    assert struct.pack("<d", record.score) == struct.pack("<d", float(score))


def test_bounds_may_be_open_and_stand_without_a_score() -> None:
    judgment = Judgment(item_id="x", score=None, bounds=(None, 2.5), flags=("outside top 20",))
    check_judgment(judgment, path="log")
    record, _ = parse(sealed(judgment)[:-1], "p", path="log", line=2)
    assert isinstance(record, Record)
    assert judgment_of(record, "x") == judgment


class TestContent:
    def test_it_depends_on_what_is_read_and_on_nothing_else(self) -> None:
        item = make_item(1)
        same = make_item(1, item_id="other", variant="fict", answer="Oslo", cell="B")
        reads = ("query", "passages")
        assert content_of(item, reads) == content_of(same, reads)
        assert content_of(item, (*reads, "answer")) != content_of(same, (*reads, "answer"))
        for change in ({"query": "Where?"}, {"passages": item.passages[::-1]}, {"passages": ()}):
            assert content_of(make_item(1, **change), reads) != content_of(item, reads)

    @given(st.lists(TEXT, max_size=4), st.lists(TEXT, max_size=4))
    def test_passages_do_not_run_into_each_other(self, one: list[str], two: list[str]) -> None:
        hashes = [
            content_of(make_item(1, passages=tuple(passages)), ("query", "passages"))
            for passages in (one, two)
        ]
        assert (hashes[0] == hashes[1]) == (one == two)

    def test_it_is_stable(self) -> None:
        # A change of this value orphans every log that was ever written.
        item = Item(
            item_id="x", pair_id="p", variant="real", cell="A", query="Q?", passages=("a", "ü")
        )
        text = '[["query","Q?"],["passages",["a","ü"]]]'
        expected = hashlib.sha256(text.encode()).hexdigest()[:32]
        assert content_of(item, ("query", "passages")) == expected


class TestHeader:
    def test_it_describes_the_instrument_in_full(self) -> None:
        judge = Fake(prompt="Is it enough?", sets={"yes": [1, 2], "no": [3]})
        line, _ = seal(header_for(judge), path="log")
        header, _ = parse_header(line[:-1], path="log")
        assert header.instrument == judge.instrument
        assert header.fingerprint == judge.fingerprint == fingerprint_of(header.instrument)
        assert header.reads == ("query", "passages")

    def test_the_order_of_settings_does_not_matter(self) -> None:
        first, second = Fake(a=1, b=2), Fake(b=2, a=1)
        assert seal(header_for(first), path="l") == seal(header_for(second), path="l")

    def test_a_judge_without_an_instrument_stands_by_its_name(self) -> None:
        judge = Fake()
        del judge.instrument
        expected = {"judge": "fake", "fingerprint": judge.fingerprint}
        assert instrument_of(judge) == header_for(judge).instrument == expected

    def test_an_instrument_that_is_not_the_fingerprints_is_refused(self) -> None:
        judge = Fake(prompt="one")
        judge.instrument["prompt"] = "two"
        with pytest.raises(ValueError, match="is not the hash"):
            header_for(judge)

    def test_a_judge_cannot_read_what_no_item_has(self) -> None:
        judge = Fake()
        judge.reads = ("query", "pasages")  # type: ignore[attr-defined]
        with pytest.raises(ValueError, match="pasages"):
            header_for(judge)

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            (b'{"item_id": "x", "score": 0.5}', "no judgment log but a score file"),
            (b"PK or whatever", "no judgment log"),
            (b'{"kind":"log","format":99,"more":1}', "format 99"),
            (sealed(Judgment(item_id="x", score=0.5))[:-1], "no judgment log"),
        ],
    )
    def test_other_files_are_told_apart(self, line: bytes, said: str) -> None:
        with pytest.raises(ForeignLog, match=said) as caught:
            parse_header(line, path="f.jsonl")
        assert caught.value.exit_code == 3

    def test_converted_line_ends_are_named(self) -> None:
        line, _ = seal(header_for(Fake()), path="log")
        with pytest.raises(DamagedLog, match="CR LF"):
            parse_header(line[:-1] + b"\r", path="log")

    def test_deep_nesting_is_no_crash(self) -> None:
        deep = b'{"kind":"log","format":1,"instrument":' + b"[" * 100_000
        with pytest.raises(IntegrityError):
            parse_header(deep, path="log")


def test_differences_name_the_leaves() -> None:
    one = {"dtype": "bf16", "sets": {"yes": (1, 2), "no": [3]}, "same": {"x": None}, "empty": {}}
    other = {"dtype": "fp32", "sets": {"yes": [1], "no": [3]}, "same": {"x": None}, "new": 0}
    assert differences(one, other) == {
        "dtype": ("bf16", "fp32"),
        "empty": ({}, None),
        "new": (None, 0),
        "sets.yes": ([1, 2], [1]),
    }
    assert differences(one, msgspec.json.decode(msgspec.json.encode(one))) == {}
