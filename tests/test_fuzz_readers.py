"""Damaged files: every reader gives a result or one of our errors, never another exception.

Two kinds of damage: bytes of a valid file changed, cut, doubled or gzipped and then damaged, and
valid JSON in which any node is replaced, removed or joined by another. ``CHAINCHECK_FUZZ`` sets
how many inputs each reader gets of each kind (300 otherwise); the last test prints the counts.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chaincheck.chains import Chain, Unusable
from chaincheck.errors import InputError
from chaincheck.index import read_index
from chaincheck.items import Item, read_items, read_triplets, write_items
from chaincheck.scores import join_files, read_scores
from chaincheck.sources import open_source
from chaincheck.sources.hub import to_original
from chaincheck.sources.records import recognize

EXAMPLES = int(os.environ.get("CHAINCHECK_FUZZ", "300"))
fuzzed = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)
TRIED: Counter[str] = Counter()
READ: Counter[str] = Counter()

MUSIQUE: list[Any] = [
    {
        "id": f"2hop__{k}",
        "paragraphs": [
            {"idx": 0, "title": "Arrival", "paragraph_text": "By Denis.", "is_supporting": True},
            {"idx": 1, "title": "Denis", "paragraph_text": "Born in Gentilly."},
        ],
        "question": "Where was the director of Arrival born?",
        "question_decomposition": [
            {"question": "Arrival >> director", "answer": "Denis", "paragraph_support_idx": 0},
            {"question": "where was #1 born", "answer": "Gentilly", "paragraph_support_idx": 1 - k},
        ],
        "answer": "Gentilly",
        "answer_aliases": ["Gentilly, Quebec"],
        "answerable": k == 0,
    }
    for k in (0, 0, 1)
]
MUSIQUE[1]["question_decomposition"][1]["paragraph_support_idx"] = None
MUSIQUE[1]["answerable"] = False
TWOWIKI: list[Any] = [
    {
        "_id": f"w{kind}",
        "type": kind,
        "question": "Where was the director of film Arrival (Film) born?",
        "context": [
            ["Denis Villeneuve", ["He films.", "Denis Villeneuve was born in Gentilly."]],
            ["Arrival (film)", ["Arrival was directed by Denis Villeneuve."]],
        ],
        "supporting_facts": [["Arrival (film)", 0], ["Denis Villeneuve", 1]],
        "evidences": [
            ["Arrival", "director", "Denis Villeneuve"],
            ["Denis Villeneuve", "place of birth", "Gentilly"],
        ],
        "answer": "Gentilly",
    }
    for kind in ("compositional", "comparison")
]
HOTPOT: list[Any] = [
    {key: value for key, value in row.items() if key != "evidences"} | {"type": kind}
    for row, kind in zip(TWOWIKI, ("bridge", "comparison"), strict=True)
]
DOCUMENTS: list[Any] = [
    {
        "id": "d1",
        "question": "Where was the director of Arrival born?",
        "answer": "Gentilly",
        "passages": ["By Denis.", {"title": "Denis", "text": "Born in Gentilly."}],
        "bridge": "Denis",
        "bridge_aliases": ["Denis V."],
        "earlier_support": 0,
        "later_support": 1,
        "kind": "person",
        "pronoun": "he",
        "subject": "Arrival",
        "relation": "director",
        "note": 1.5,
    }
]
ITEMS: list[Any] = [
    {
        "item_id": f"i{cell}",
        "pair_id": "p",
        "variant": "real",
        "cell": cell,
        "query": "Where?",
        "passages": ["By Denis.", "Born \u00e9 in Gentilly."],
        "answer": "Gentilly",
        "bridge": "Denis",
        "replacement": "Jane",
        "chain": "intact",
        "edit": False,
        "earlier_support": 0,
        "later_support": [1],
        "label_sufficient": True,
        "cb_27b_correct": None if cell == "A" else False,
        "source": "musique",
        "source_id": "s",
        "link": 2,
        "edits": [{"passage": 0, "start": 3, "end": 8, "before": "Denis", "after": "Jane"}],
        "note": {"deep": [1, None]},
    }
    for cell in "ABD"
]
SCORES: list[Any] = [{"item_id": f"i{cell}", "score": k / 4} for k, cell in enumerate("ABD")]


def _source(name: str) -> Callable[[Path], object]:
    def read(path: Path) -> object:
        found = list(open_source(name).read(path))
        for one in found:
            assert isinstance(one, Chain | Unusable)
            msgspec.json.encode(one)  # whatever is read can be written
            if isinstance(one, Chain):
                for hop in (one.earlier, one.later):
                    assert 0 <= hop.support < len(one.passages)
                assert one.bridge.strip() and one.answer.strip() and one.question.strip()
        return found

    return read


def _items(path: Path) -> object:
    found = list(read_items(path))
    for item in found:
        assert isinstance(item, Item)
        assert item.passages and all(passage.strip() for passage in item.passages)
        for index in (*item.earlier_support, *item.later_support):
            assert 0 <= index < len(item.passages)
    copy_path = path.with_name("copy.jsonl")
    write_items(copy_path, found)
    assert list(read_items(copy_path)) == found
    return found


def _index(path: Path) -> object:
    """The index reads what the full reader reads, and refuses no row that that one takes."""
    rows = list(read_index(path, columns=("cb_27b_correct",)))
    try:
        items = list(read_items(path))
    except InputError:
        return rows  # a fault in a column that evaluating does not look at
    assert [(r.item_id, r.pair_id, r.variant, r.cell, r.query, r.bridge) for r in rows] == [
        (i.item_id, i.pair_id, i.variant, i.cell, i.query, i.bridge) for i in items
    ]
    assert [row.flags for row in rows] == [(item.cb_27b_correct,) for item in items]
    return rows


def _join(path: Path) -> object:
    scores = path.with_name("scores.jsonl")
    scores.write_text("".join(json.dumps(row) + "\n" for row in SCORES))
    return join_files([path], scores, exclude=("cb_27b_correct",), allow_missing=True)


READERS: dict[str, tuple[list[Any], Callable[[Path], object]]] = {
    "musique": (MUSIQUE, _source("musique")),
    "twowiki": (TWOWIKI, _source("twowiki")),
    "hotpot": (HOTPOT, _source("hotpot")),
    "documents": (DOCUMENTS, _source("documents")),
    "items": (ITEMS, _items),
    "triplets": (ITEMS, read_triplets),
    "index": (ITEMS, _index),
    "join": (ITEMS, _join),
    "scores": (SCORES, read_scores),
}


def try_reader(name: str, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    TRIED[name] += 1
    try:
        READERS[name][1](path)
    except InputError as error:
        message = str(error)
        assert "\n" not in message and len(message) < 4000
        assert message.startswith((str(path), str(path.with_name("scores.jsonl"))))
    else:
        READ[name] += 1


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "damaged.jsonl"


def valid_bytes(name: str, *, array: bool) -> bytes:
    rows = READERS[name][0]
    return (json.dumps(rows) if array else "\n".join(map(json.dumps, rows))).encode()


@pytest.mark.parametrize("name", READERS)
@fuzzed
@given(data=st.data())
def test_damaged_bytes(name: str, path: Path, data: st.DataObject) -> None:
    raw = bytearray(valid_bytes(name, array=data.draw(st.booleans())))
    if data.draw(st.booleans()):
        raw = bytearray(gzip.compress(bytes(raw), 1, mtime=0))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw)))
        end = min(len(raw), start + data.draw(st.integers(0, 6)))
        kind = data.draw(st.sampled_from(["replace", "cut", "double", "end", "token"]))
        if kind == "replace":
            raw[start:end] = data.draw(st.binary(max_size=6))
        elif kind == "cut":
            del raw[start:end]
        elif kind == "double":
            raw[end:end] = raw[start:end]
        elif kind == "end":
            del raw[start:]
        else:
            tokens = [b"NaN", b"1e999", b"null", b"\xff", b"\\ud800", b"\n", b"[", b"}", b'"', b","]
            raw[start:end] = data.draw(st.sampled_from(tokens))
    try_reader(name, path, bytes(raw))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["", " ", "#1", "#9", "A", "B", "\ud800", "x" * 300, 0, 1, 10**30, -1])
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every node of a JSON value as its holder and its key there."""
    found = []
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        found.append((value, key))
        if isinstance(value[key], dict | list):
            found += places(value[key])
    return found


def damage(rows: list[Any], data: st.DataObject) -> list[Any]:
    """Replace, remove or add up to three nodes."""
    rows = copy.deepcopy(rows)
    for _ in range(data.draw(st.integers(1, 3))):
        nodes = places(rows)
        if not nodes:
            break
        holder, key = nodes[data.draw(st.integers(0, len(nodes) - 1))]
        kind = data.draw(st.sampled_from(["replace", "remove", "add", "copy"]))
        if kind == "replace":
            holder[key] = data.draw(json_values)
        elif kind == "remove":
            del holder[key]
        elif kind == "copy":
            other, name = nodes[data.draw(st.integers(0, len(nodes) - 1))]
            holder[key] = copy.deepcopy(other[name])
        elif isinstance(holder, dict):
            holder[data.draw(st.sampled_from(list(holder)) | st.text(max_size=6))] = data.draw(
                json_values
            )
        else:
            holder.insert(key, data.draw(json_values))
    return rows


@pytest.mark.parametrize("name", READERS)
@fuzzed
@given(data=st.data())
def test_damaged_values(name: str, path: Path, data: st.DataObject) -> None:
    rows = damage(READERS[name][0], data)
    # json.dumps writes NaN and lone surrogates as they come in wrongly made files.
    array = data.draw(st.booleans())
    text = json.dumps(rows) if array else "\n".join(map(json.dumps, rows))
    try_reader(name, path, text.encode())


@fuzzed
@given(data=st.data())
def test_damaged_hub_rows(data: st.DataObject) -> None:
    rows = damage([*MUSIQUE, *TWOWIKI, *HOTPOT], data)
    TRIED["hub"] += 1
    for row in rows:
        if isinstance(row, dict):
            source = recognize(to_original(row))
            if source in ("musique", "twowiki", "hotpot"):
                reader: Any = open_source(source)
                try:
                    list(reader.read_rows(lambda row=row: [(1, to_original(row))], "owner/name"))
                except InputError as error:
                    assert str(error).startswith("owner/name:1: ")
                else:
                    READ["hub"] += 1


def test_counts(
    capsys: pytest.CaptureFixture[str], record_testsuite_property: Callable[[str, object], None]
) -> None:
    """Say how many inputs were tried, and that the damage left some of them readable."""
    record_testsuite_property("fuzzed inputs", TRIED.total())
    with capsys.disabled():
        print(f"\nfuzzed inputs: {TRIED.total():,} ({READ.total():,} readable): {dict(TRIED)}")
    if len(TRIED) == len(READERS) + 1:  # not when some of the tests were selected
        assert TRIED.total() >= EXAMPLES * (2 * len(READERS) + 1) * 0.9
        assert all(READ[name] for name in TRIED), READ
