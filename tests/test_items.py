"""Items: published and own columns, round trips, determinism, and faults with their place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.errors import DuplicateItem, IncompleteTriplet, InvalidItem
from chaincheck.items import (
    Edit,
    Item,
    content_hash,
    encode_item,
    group_triplets,
    read_items,
    read_triplets,
    write_items,
)

PUBLISHED: dict[str, Any] = {
    "item_id": "i1",
    "pair_id": "p1",
    "variant": "real",
    "cell": "A",
    "query": "Where was the director of Arrival born?",
    "passages": ["Arrival\nArrival was directed by Denis Villeneuve.", "Denis was born in Quebec."],
    "answer": "Quebec",
    "bridge": "Denis Villeneuve",
    "replacement": "Jane Campion",
    "chain": "intact",
    "edit": False,
    "earlier_support": 0,
    "later_support": 1,
    "label_sufficient": True,
    "cb_27b_correct": None,
    "source": "musique",
}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def one(tmp_path: Path, **changes: Any) -> Item:
    return next(iter(read_items(write(tmp_path / "a.jsonl", [{**PUBLISHED, **changes}]))))


def test_a_published_row(tmp_path: Path) -> None:
    item = one(tmp_path)
    assert item.passages == tuple(PUBLISHED["passages"])
    assert (item.earlier_support, item.later_support) == ((0,), (1,))
    assert (item.label_sufficient, item.cb_27b_correct, item.edit) == (True, None, False)
    assert (item.source_id, item.link, item.edits, item.extra) == (None, None, (), {})


def test_published_columns_are_read_liberally(tmp_path: Path) -> None:
    item = one(
        tmp_path,
        earlier_support=[0, 1],
        later_support=None,
        edit=1,
        cb_27b_correct=0,
        label_sufficient=1.0,
        pair_id=17,
        chain=True,
        variant="another",
    )
    assert item.earlier_support == (0, 1)
    assert item.later_support == ()
    assert (item.edit, item.cb_27b_correct, item.label_sufficient) == (True, False, True)
    assert (item.pair_id, item.chain, item.variant) == ("17", "intact", "another")


def test_a_support_column_of_true_is_kept(tmp_path: Path) -> None:
    item = one(tmp_path, later_support=True)
    assert item.later_support == ()
    assert json.loads(encode_item(item))["later_support"] is True


def test_only_six_columns_are_needed(tmp_path: Path) -> None:
    needed = ("item_id", "pair_id", "variant", "cell", "query", "passages")
    path = write(tmp_path / "a.jsonl", [{name: PUBLISHED[name] for name in needed}])
    assert next(iter(read_items(path))).answer is None
    for name in needed:
        row = {key: value for key, value in PUBLISHED.items() if key != name}
        with pytest.raises(InvalidItem, match=f"column {name} is missing"):
            list(read_items(write(tmp_path / "b.jsonl", [row])))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"passages": []}, "column passages should hold at least one"),
        ({"passages": "text"}, "column passages should be a list"),
        ({"passages": ["a", 5]}, "column passages passage 1 should be text"),
        ({"passages": ["a", "", "c"]}, "column passages passage 1 is blank"),
        ({"earlier_support": 2}, "column earlier_support index '2' is out of range"),
        ({"later_support": [0, 9]}, "column later_support index '9' is out of range"),
        ({"later_support": "1"}, "column later_support should be a passage index"),
        ({"cell": "E"}, "column cell should be one of A, B, D, C"),
        ({"cell": None}, "column cell should be one of"),
        ({"variant": ""}, "column variant should be text"),
        ({"variant": 3}, "column variant should be text"),
        ({"query": "  "}, "column query should be text"),
        ({"item_id": None}, "column item_id should be text"),
        ({"edit": "yes"}, "column edit should be true"),
        ({"cb_27b_correct": 2}, "column cb_27b_correct should be true"),
        ({"answer": 5}, "column answer should be text or null"),
        ({"link": 1}, "column link should be a hop"),
        ({"edits": [{"passage": 0}]}, "column edits not a list of edits"),
        (
            {"edits": [{"passage": 5, "start": 0, "end": 1, "before": "a", "after": "b"}]},
            "column edits passage 5 is out of range",
        ),
        (
            {"edits": [{"passage": 0, "start": 3, "end": 4, "before": "ab", "after": "b"}]},
            "column edits the span 3-4 does not fit",
        ),
    ],
)
def test_invalid_columns(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    path = write(
        tmp_path / "a.jsonl",
        [{**PUBLISHED, "item_id": "i0", "cell": "B"}, {**PUBLISHED, **changes}],
    )
    with pytest.raises(InvalidItem, match=problem) as caught:
        list(read_items(path))
    assert caught.value.line == 2
    assert caught.value.item == {**PUBLISHED, **changes}["item_id"]
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


def test_duplicates(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [PUBLISHED, {**PUBLISHED, "cell": "B"}])
    with pytest.raises(DuplicateItem, match=r"a\.jsonl:2: item 'i1': this item_id stands twice"):
        list(read_items(path))
    path = write(tmp_path / "b.jsonl", [PUBLISHED, {**PUBLISHED, "item_id": "i2"}])
    with pytest.raises(DuplicateItem, match=r":2: item 'i2': cell A of pair 'p1', variant 'real'"):
        list(read_items(path))
    path = write(tmp_path / "c.jsonl", [PUBLISHED, {**PUBLISHED, "item_id": "i2", "variant": "x"}])
    assert len(list(read_items(path))) == 2


def test_unknown_columns_travel_unchanged(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    tail = (
        '"a_note":{"z":1,"a":[1.0,1,true,null,"\u00e9"]},"exact":0.12345678901234567890,'
        '"large":123456789012345678901234567890}'
    )
    source.write_text(json.dumps(PUBLISHED)[:-1] + "," + tail + "\n", encoding="utf-8")
    write_items(tmp_path / "b.jsonl", read_items(source))
    assert (tmp_path / "b.jsonl").read_text(encoding="utf-8").rstrip("\n").endswith("," + tail)
    write_items(tmp_path / "c.jsonl", read_items(tmp_path / "b.jsonl"))
    assert (tmp_path / "c.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_what_is_written_can_be_read_by_the_kit(tmp_path: Path) -> None:
    item = one(tmp_path)
    row = json.loads(encode_item(item))
    assert {key: row[key] for key in PUBLISHED} == PUBLISHED
    assert list(row)[: len(PUBLISHED)] == list(PUBLISHED)
    assert list(row)[len(PUBLISHED) :] == ["source_id", "link", "edits"]


names = st.text(min_size=1, max_size=8).filter(lambda text: text.strip())
supports = st.lists(st.integers(0, 1), max_size=2).map(tuple)
items = st.builds(
    Item,
    item_id=names,
    pair_id=names,
    variant=st.sampled_from(["real", "fict", "decoy"]),
    cell=st.sampled_from(["A", "B", "C", "D"]),
    query=names,
    passages=st.lists(names, min_size=2, max_size=4).map(tuple),
    answer=st.none() | st.text(max_size=5),
    bridge=st.none() | st.text(max_size=5),
    chain=st.sampled_from([None, "intact", "broken"]),
    edit=st.none() | st.booleans(),
    earlier_support=supports,
    later_support=supports,
    cb_27b_correct=st.none() | st.booleans(),
    link=st.none() | st.integers(2, 4),
    edits=st.lists(
        st.builds(
            lambda passage, start, before, after: Edit(
                passage=passage, start=start, end=start + len(before), before=before, after=after
            ),
            st.integers(0, 1),
            st.integers(0, 9),
            names,
            st.text(max_size=5),
        ),
        max_size=2,
    ).map(tuple),
    extra=st.dictionaries(
        st.text(max_size=5),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=5),
        max_size=3,
    ),
)


@settings(max_examples=150, deadline=None)
@given(item=items)
def test_round_trip(item: Item, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("items")
    write_items(folder / "a.jsonl.gz", [item])
    assert list(read_items(folder / "a.jsonl.gz")) == [item]
    write_items(folder / "b.jsonl.gz", read_items(folder / "a.jsonl.gz"))
    assert (folder / "a.jsonl.gz").read_bytes() == (folder / "b.jsonl.gz").read_bytes()


def test_order_of_extra_columns_does_not_matter(tmp_path: Path) -> None:
    forward = one(tmp_path, x=1, y=2)
    backward = one(tmp_path, y=2, x=1)
    assert encode_item(forward) == encode_item(backward)


def test_content_hash_ignores_the_order_of_keys() -> None:
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})
    assert content_hash({"a": 1}) != content_hash({"a": 2})
    assert len(content_hash("x", length=10)) == 10


def test_triplets(tmp_path: Path) -> None:
    rows = [
        {**PUBLISHED, "item_id": f"{variant}{cell}", "variant": variant, "cell": cell}
        for cell in "DBA"
        for variant in ("real", "fict")
    ]
    path = write(tmp_path / "a.jsonl.gz", rows)
    found = read_triplets(path)
    assert [(t.pair_id, t.variant, sorted(t.cells)) for t in found] == [
        ("p1", "real", ["A", "B", "D"]),
        ("p1", "fict", ["A", "B", "D"]),
    ]
    assert group_triplets(read_items(path)) == found
    with pytest.raises(IncompleteTriplet, match="pair 'p1', variant 'fict', has no cell B"):
        read_triplets(write(tmp_path / "b.jsonl", [r for r in rows if r["item_id"] != "fictB"]))
