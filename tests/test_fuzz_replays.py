"""Damaged replays: each gives a report or one of our errors, never another exception.

Bytes of valid replays are changed, cut, doubled and exchanged; and nodes of valid JSON are
replaced, removed, moved, renamed, deepened and crossed between replays. ``CHAINCHECK_FUZZ_REPLAYS``
sets how many inputs (1,200 otherwise). What is accepted is audited, reported in all three forms,
and its report read back.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

from chaincheck.adherence import protocols
from chaincheck.adherence.audit import audit
from chaincheck.adherence.decode import decode_protocol, decode_replay
from chaincheck.adherence.encode import encode_replay, replay_document
from chaincheck.adherence.examples import CASES, chain_case
from chaincheck.adherence.lints import lint
from chaincheck.adherence.page import report_page
from chaincheck.adherence.report import encode_report, report_text
from chaincheck.errors import InvalidReplay, UsageError
from chaincheck.refusals import CODES

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "adherence"
COUNT = int(os.environ.get("CHAINCHECK_FUZZ_REPLAYS", "1200"))
PIECES = [
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"NaN", b"-Infinity"),
    *(b"1e999", b"-0", b"0.0", b"1" * 5000, b"\\ud800", b"\\u0000", b"\xff", b"\xed\xa0\x80"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xae", b'"id":"x",', b'{"op":"not","args":[', b"[" * 2000),
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**63, 10**400, 1.0, 1e308, "", "x", "TRUE", "UNKNOWN", "PASS"),
    *("\u202e", "\x00", "<script>", "\U0001f3ac", "e\u0301", [], {}, [[]], {"": ""}, "judge"),
    *("context", "rationale", {"atom": "x"}, {"const": True}, {"op": "and", "args": []}),
]


def seeds() -> list[dict[str, Any]]:
    own = [replay_document(case()) for case in CASES.values()] + [replay_document(chain_case())]
    golden = [
        json.loads(path.read_text("utf-8"))
        for path in sorted(GOLDEN.glob("*.json"))
        if not path.name.endswith((".expected.json", "_item.json"))
    ]
    return own + golden


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    out: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        one = stack.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one))
        for key in keys:
            out.append((one, key))
            if isinstance(one[key], dict | list):
                stack.append(one[key])
    return out


def copied(value: Any) -> Any:
    return json.loads(json.dumps(value))


def nudged(rng: random.Random, value: int | str) -> int | str:
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 100, 10**30))
    at = rng.randrange(len(value) + 1)
    return value[:at] + rng.choice(("\u0301", "\U0001f3ac", "x", "")) + value[at + 1 :]


def damaged_structure(rng: random.Random, pool: list[dict[str, Any]]) -> bytes:
    value = copied(rng.choice(pool))
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        spots = places(value)
        if not spots:
            break
        holder, key = rng.choice(spots)
        kind = rng.randrange(9)
        if kind == 0:
            holder[key] = rng.choice(VALUES)
        elif kind == 1:
            del holder[key]
        elif kind == 2:
            other, name = rng.choice(places(rng.choice(pool)))
            holder[key] = copied(other[name])
        elif kind == 3 and isinstance(holder, list):
            holder.insert(rng.randrange(len(holder) + 1), copied(holder[key]))
        elif kind == 4 and isinstance(holder, dict):
            holder[rng.choice(["", "x", "op", "args", "atom", "const", "a b"])] = holder.pop(key)
        elif kind in {5, 6} and isinstance(holder[key], int | str):
            holder[key] = nudged(rng, holder[key])
        elif kind == 7:
            for _ in range(rng.choice((3, 63, 64, 65, 90))):
                holder[key] = {"op": "not", "args": [holder[key]]}
        else:
            spots = [one for one in spots if one[1] == "value"]
            if spots:
                where, name = rng.choice(spots)
                where[name] = rng.choice(("TRUE", "FALSE", "UNKNOWN"))
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")


def damaged_bytes(rng: random.Random, pool: list[bytes]) -> bytes:
    raw = bytearray(rng.choice(pool))
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(raw) + 1)
        end = min(len(raw), at + rng.choice((0, 1, 1, 3, 40)))
        kind = rng.randrange(5)
        if kind == 0:
            raw[at:end] = bytes(rng.randrange(256) for _ in range(end - at))
        elif kind == 1:
            del raw[at:end]
        elif kind == 2:
            raw[at:at] = rng.choice(PIECES)
        elif kind == 3:
            raw[at:at] = raw[at:end] * 2
        else:
            del raw[at:]
    return bytes(raw)


def check(raw: bytes) -> str:
    """Return the code of the refusal, or the overall status."""
    try:
        recorded = decode_replay(raw, path="fuzz.jsonl", line=3)
    except InvalidReplay as error:
        assert error.code in CODES
        assert error.json_path.startswith("$")
        assert error.remedy
        assert "\n" not in str(error)
        str(error).encode("utf-8")
        return error.code
    again = decode_replay(encode_replay(recorded), path="again")
    assert again == recorded
    found = audit(recorded.replay)
    report = json.loads(encode_report(recorded, found))
    assert report["overall"] == found.overall
    text = report_text(recorded, found)
    assert all(ch.isprintable() for ch in text.replace("\n", ""))
    assert "<script>" not in report_page(recorded, found)
    return f"audited {found.overall}"


def test_no_mutation_of_a_replay_ends_in_another_exception() -> None:
    rng = random.Random(20_000)
    pool = seeds()
    raws = [json.dumps(one, ensure_ascii=False).encode() for one in pool]
    seen: Counter[str] = Counter()
    for at in range(COUNT):
        raw = damaged_structure(rng, pool) if at % 3 else damaged_bytes(rng, raws)
        try:
            seen[check(raw)] += 1
        except Exception:
            print(f"mutation {at}: {raw[:2000]!r}")
            raise
    print(f"{COUNT} mutations: {dict(seen.most_common())}")
    audited = sum(count for code, count in seen.items() if code.startswith("audited"))
    assert audited > COUNT / 20
    assert len(seen) > 15


def test_no_mutation_of_a_protocol_ends_in_another_exception() -> None:
    rng = random.Random(7)
    pool = [one["protocol"] for one in seeds()]
    for _ in range(COUNT // 4):
        raw = damaged_structure(rng, pool)
        try:
            decode_protocol(raw, path="p.json")
        except InvalidReplay as error:
            assert error.code in CODES


def test_no_mutation_of_a_template_ends_in_another_exception(tmp_path: Path) -> None:
    rng = random.Random(8)
    source = Path(protocols.__file__).parent / "factual-claims-1.json"
    pool = [json.loads(source.read_text("utf-8"))]
    own = tmp_path / "own.json"
    loaded = 0
    for at in range(COUNT // 4):
        raws = [json.dumps(pool[0]).encode()]
        own.write_bytes(damaged_structure(rng, pool) if at % 3 else damaged_bytes(rng, raws))
        try:
            protocol = protocols.load_protocol(own, {"a": "one {claim}", "b": "{statement}"})
        except InvalidReplay as error:
            assert error.code in CODES
        except UsageError as error:
            assert "takes no claims" in str(error)
        else:
            lint(protocol)
            loaded += 1
    assert loaded > COUNT / 100
