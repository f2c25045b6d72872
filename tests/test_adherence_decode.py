"""Every refusal of a replay: its code, its place, its remedy; and what is not refused."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chaincheck.adherence.decode import (
    decode_protocol,
    decode_replay,
    read_protocol,
    read_replay,
)
from chaincheck.adherence.encode import encode_replay, protocol_document, replay_document
from chaincheck.adherence.examples import CASES, chain_case, claims_case
from chaincheck.errors import InvalidReplay, UnreadableFile
from chaincheck.refusals import CODES, LIMITS

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "adherence"
Document = dict[str, Any]


def document() -> Document:
    """A valid replay as plain JSON, to be damaged."""
    return copy.deepcopy(replay_document(claims_case("C")))


def decoded(value: Any) -> Any:
    return decode_replay(json.dumps(value).encode(), path="r.json")


def refusal(raw: bytes) -> InvalidReplay:
    with pytest.raises(InvalidReplay) as caught:
        decode_replay(raw, path="r.json", line=7)
    error = caught.value
    assert error.code in CODES
    assert error.remedy and not error.remedy.endswith(".")
    assert str(error).startswith(f"r.json:7: {error.code} at {error.json_path}: ")
    assert "\n" not in str(error)
    assert error.exit_code == 2
    return error


def nested(depth: int) -> Document:
    expr: Document = {"atom": "external"}
    for _ in range(depth):
        expr = {"op": "not", "args": [expr]}
    return expr


def many(count: int) -> Document:
    return {"op": "or", "args": [{"atom": "external"}] * (count - 1)}


# Each entry damages a valid replay in one way: the code, the place, the damage.
Damage = Callable[[Document], object]


def _set(*steps: str | int, to: Any) -> Damage:
    def apply(value: Any) -> None:
        for step in steps[:-1]:
            value = value[step]
        value[steps[-1]] = to

    return apply


def _drop(*steps: str | int) -> Damage:
    def apply(value: Any) -> None:
        for step in steps[:-1]:
            value = value[step]
        del value[steps[-1]]

    return apply


def _judge_evidence(value: Document) -> Document:
    return next(one for one in value["annotations"] if one["atom"] == "j_opened")


def _at(atom: str) -> int:
    return next(at for at, one in enumerate(document()["annotations"]) if one["atom"] == atom)


J, C = _at("j_opened"), _at("c_designed")
SPAN = ("annotations", J, "evidence", 0)
RULE = ("protocol", "requirements", 0, "expr")
DAMAGES: list[tuple[str, str, Damage]] = [
    ("MISSING_FIELD", "$", _drop("verdict")),
    ("MISSING_FIELD", f"$.annotations[{J}].evidence[0]", _drop(*SPAN, "start")),
    ("MISSING_FIELD", "$.protocol", _drop("protocol", "decision")),
    ("UNKNOWN_FIELD", "$.verdicts", _set("verdicts", to="PASS")),
    ("UNKNOWN_FIELD", "$.sources.passage.lang", _set("sources", "passage", "lang", to="en")),
    ("UNKNOWN_FIELD", '$["a b"]', _set("a b", to=1)),
    ("WRONG_SCHEMA", "$.schema", _set("schema", to="chaincheck.replay/2")),
    ("WRONG_SCHEMA", "$.schema", _set("schema", to=1)),
    ("EMPTY", "$.id", _set("id", to="")),
    ("EMPTY", '$.sources[""]', _set("sources", "", to={"kind": "trace", "text": ""})),
    ("BAD_STATUS", "$.translation_status", _set("translation_status", to="Valid")),
    ("BAD_STATUS", "$.translation_status", _set("translation_status", to="valid\n")),
    ("WRONG_TYPE", f"$.annotations[{J}].evidence[0].start", _set(*SPAN, "start", to=True)),
    ("WRONG_TYPE", f"$.annotations[{J}].evidence[0].start", _set(*SPAN, "start", to=3.0)),
    ("WRONG_TYPE", f"$.annotations[{J}].evidence[0].end", _set(*SPAN, "end", to="9")),
    ("WRONG_TYPE", f"$.annotations[{J}].evidence", _set("annotations", J, "evidence", to=None)),
    ("WRONG_TYPE", "$.sources", _set("sources", to=[])),
    ("WRONG_TYPE", "$.protocol", _set("protocol", to="factual-claims/1")),
    ("WRONG_TYPE", "$.verdict", _set("verdict", to=True)),
    ("WRONG_TYPE", "$.protocol.requirements[0].expr", _set(*RULE, to="claims_listed")),
    ("WRONG_TYPE", "$.protocol.requirements[0].addressed", _set(*RULE[:3], "addressed", to=None)),
    ("WRONG_TYPE", "$.protocol.requirements[0].expr.const", _set(*RULE, to={"const": 1})),
    ("WRONG_TYPE", "$.protocol.requirements[0].expr.atom", _set(*RULE, to={"atom": 1})),
    ("WRONG_TYPE", "$.protocol.requirements[0].expr.op", _set(*RULE, to={"op": [], "args": []})),
    ("WRONG_TYPE", "$.protocol.requirements[0].expr.args", _set(*RULE, to={"op": "or", "args": 1})),
    ("WRONG_TYPE", "$.protocol.decision.args[0]", _set("protocol", "decision", "args", 0, to=[])),
    ("WRONG_VALUE", "$.verdict", _set("verdict", to="pass")),
    ("WRONG_VALUE", "$.verdict", _set("verdict", to="UNKNOWN")),
    ("WRONG_VALUE", "$.gold", _set("gold", to="YES")),
    ("WRONG_VALUE", f"$.annotations[{J}].value", _set("annotations", J, "value", to="true")),
    ("WRONG_VALUE", "$.sources.passage.kind", _set("sources", "passage", "kind", to="passage")),
    ("WRONG_VALUE", "$.protocol.atoms[0].role", _set("protocol", "atoms", 0, "role", to="solver")),
    ("BAD_ATOM_ID", "$.protocol.atoms[0].id", _set("protocol", "atoms", 0, "id", to="J_opened")),
    ("BAD_ATOM_ID", "$.protocol.atoms[0].id", _set("protocol", "atoms", 0, "id", to="a" * 65)),
    ("BAD_ATOM_ID", "$.protocol.atoms[0].id", _set("protocol", "atoms", 0, "id", to="a\n")),
    ("BAD_ATOM_ID", "$.protocol.atoms[0].id", _set("protocol", "atoms", 0, "id", to="é")),
    ("BAD_ATOM_ID", f"$.annotations[{J}].atom", _set("annotations", J, "atom", to="")),
    ("BAD_ATOM_ID", "$.protocol.requirements[0].expr.atom", _set(*RULE, to={"atom": "A"})),
    ("DUPLICATE_ATOM", "$.protocol.atoms[1].id", _set("protocol", "atoms", 1, "id", to="j_opened")),
    (
        "DUPLICATE_ID",
        "$.protocol.requirements[1].id",
        _set("protocol", "requirements", 1, "id", to="list_claims"),
    ),
    (
        "DUPLICATE_ID",
        "$.protocol.constraints[1].id",
        lambda value: value["protocol"]["constraints"].append(value["protocol"]["constraints"][0]),
    ),
    ("UNDECLARED_ATOM", "$.protocol.requirements[0].expr.atom", _set(*RULE, to={"atom": "other"})),
    ("UNDECLARED_ATOM", f"$.annotations[{J}].atom", _set("annotations", J, "atom", to="other")),
    (
        "UNDECLARED_ATOM",
        "$.protocol.grounding[0].context",
        _set("protocol", "grounding", 0, "context", to="other"),
    ),
    (
        "WRONG_ROLE",
        "$.protocol.grounding[0].judge",
        _set("protocol", "grounding", 0, "judge", to="external"),
    ),
    (
        "WRONG_ROLE",
        "$.protocol.grounding[0].context",
        _set("protocol", "grounding", 0, "context", to="j_opened"),
    ),
    ("BAD_EXPRESSION", "$.protocol.requirements[0].expr", _set(*RULE, to={})),
    ("BAD_EXPRESSION", "$.protocol.requirements[0].expr", _set(*RULE, to={"op": "not"})),
    (
        "BAD_EXPRESSION",
        "$.protocol.requirements[0].expr",
        _set(*RULE, to={"atom": "external", "const": True}),
    ),
    (
        "UNKNOWN_OPERATOR",
        "$.protocol.requirements[0].expr.op",
        _set(*RULE, to={"op": "nand", "args": [{"atom": "external"}]}),
    ),
    (
        "UNKNOWN_OPERATOR",
        "$.protocol.requirements[0].expr.op",
        _set(*RULE, to={"op": "AND", "args": [{"atom": "external"}]}),
    ),
    *(
        (
            "BAD_ARITY",
            "$.protocol.requirements[0].expr.args",
            _set(*RULE, to={"op": op, "args": [{"atom": "external"}] * count}),
        )
        for op, count in [
            *(("not", 0), ("not", 2), ("and", 0), ("or", 0), ("implies", 1), ("implies", 3)),
            *(("iff", 1), ("iff", 3), ("xor", 1), ("xor", 3)),
        ]
    ),
    (
        "TOO_DEEP",
        "$.protocol.requirements[0].expr" + ".args[0]" * LIMITS.depth,
        _set(*RULE, to=nested(LIMITS.depth + 1)),
    ),
    (
        "TOO_MANY_NODES",
        "$.protocol.requirements[0].expr.args[19993]",
        _set(*RULE, to=many(LIMITS.nodes + 1)),
    ),
    (
        "TOO_MANY_ATOMS",
        "$.protocol.atoms",
        lambda value: value["protocol"]["atoms"].extend(
            {"id": f"x{at}", "role": "procedure"} for at in range(LIMITS.atoms)
        ),
    ),
    ("UNKNOWN_SOURCE", f"$.annotations[{J}].evidence[0].source", _set(*SPAN, "source", to="no")),
    ("NO_EVIDENCE", f"$.annotations[{J}].evidence", _set("annotations", J, "evidence", to=[])),
    ("NO_EVIDENCE", f"$.annotations[{J}].evidence", _drop("annotations", J, "evidence")),
    ("NO_EVIDENCE", f"$.annotations[{C}].evidence", _set("annotations", C, "evidence", to=[])),
    (
        "WRONG_SOURCE_KIND",
        f"$.annotations[{J}].evidence[0].source",
        _set(*SPAN, to={"source": "passage", "start": 0, "end": 3, "quote": "The"}),
    ),
    (
        "WRONG_SOURCE_KIND",
        f"$.annotations[{C}].evidence[0].source",
        _set(
            *("annotations", C, "evidence", 0),
            to={"source": "rationale", "start": 0, "end": 3, "quote": "Two"},
        ),
    ),
    (
        "PARTIAL_ABSENCE",
        f"$.annotations[{C}].evidence",
        _set(
            *("annotations", C, "evidence", 0),
            to={"source": "passage", "start": 0, "end": 3, "quote": "The"},
        ),
    ),
    (
        "PARTIAL_ABSENCE",
        f"$.annotations[{C}].evidence",
        _set("sources", "second", to={"kind": "context", "text": "Not searched."}),
    ),
    ("SPAN_BOUNDS", f"$.annotations[{J}].evidence[0].start", _set(*SPAN, "start", to=-1)),
    ("SPAN_BOUNDS", f"$.annotations[{J}].evidence[0].end", _set(*SPAN, "end", to=10**6)),
    ("SPAN_BOUNDS", f"$.annotations[{J}].evidence[0].end", _set(*SPAN, "end", to=10**30)),
    ("SPAN_BOUNDS", f"$.annotations[{J}].evidence[0].end", _set(*SPAN, "end", to=0)),
    ("SPAN_MISMATCH", f"$.annotations[{J}].evidence[0].quote", _set(*SPAN, "quote", to="The")),
]

RAW: list[tuple[str, str, bytes]] = [
    ("TOO_LARGE", "$", b" " * (LIMITS.size + 1)),
    ("BYTE_ORDER_MARK", "$", b"\xef\xbb\xbf{}"),
    ("BYTE_ORDER_MARK", "$", "{}".encode("utf-16")),
    ("NOT_UTF8", "$", b'{"id": "\xff"}'),
    ("NOT_UTF8", "$", b'{"id": "\xed\xa0\x80"}'),  # a surrogate, encoded by itself
    ("NOT_JSON", "$", b""),
    ("NOT_JSON", "$", b"{'id': 1}"),
    ("NOT_JSON", "$", b'{"id": "a\nb"}'),
    ("NOT_JSON", "$", b'{"id": 1}{"id": 1}'),
    ("NOT_JSON", "$", b'{"id": ' + b"1" * 5000 + b"}"),
    ("NOT_A_NUMBER", "$.id", b'{"id": NaN}'),
    ("NOT_A_NUMBER", "$.id[1]", b'{"id": [0, -Infinity]}'),
    ("NOT_A_NUMBER", "$", b'{"id": NaN, }'),
    ("DUPLICATE_KEY", "$", b'{"id": 1, "id": 2} and more'),
    ("DUPLICATE_KEY", "$.id", b'{"id": "a", "id": "a"}'),
    ("DUPLICATE_KEY", "$.a[1].b", b'{"a": [{"b": 1}, {"b": 1, "b": {"c": 1, "c": 2}}]}'),
    ("HALF_SURROGATE", "$.id", b'{"id": "\\ud83d"}'),
    ("HALF_SURROGATE", "$.a[0]", b'{"a": [{"\\uDC00": 1}]}'),
    ("TOO_DEEP", "$", b"[" * 100_000),
    ("TOO_DEEP", "$", b'{"a":' * 100_000),
    ("WRONG_TYPE", "$", b"[]"),
    ("WRONG_TYPE", "$", b"null"),
    ("WRONG_TYPE", "$", b"1e999"),
]


@pytest.mark.parametrize(
    ("code", "place", "damage"), DAMAGES, ids=[f"{one[0]}-{at}" for at, one in enumerate(DAMAGES)]
)
def test_a_damaged_replay_is_refused(code: str, place: str, damage: Damage) -> None:
    value = document()
    damage(value)
    error = refusal(json.dumps(value).encode())
    assert (error.code, error.json_path) == (code, place)


@pytest.mark.parametrize(
    ("code", "place", "raw"), RAW, ids=[f"{one[0]}-{at}" for at, one in enumerate(RAW)]
)
def test_bad_bytes_are_refused(code: str, place: str, raw: bytes) -> None:
    error = refusal(raw)
    assert (error.code, error.json_path) == (code, place)


def test_a_double_among_very_many_keys_is_found_at_once() -> None:
    keys = ",".join(f'"k{at}":0' for at in range(200_000))
    assert refusal(f'{{{keys},"k7":1}}'.encode()).json_path == "$.k7"


def test_every_code_has_a_test() -> None:
    assert {one[0] for one in [*DAMAGES, *RAW]} == set(CODES)


def test_a_protocol_nested_hundreds_deep_is_refused_with_its_place() -> None:
    raw = json.dumps(document()).replace(
        '"decision": {', '"decision": {"op": ' + '{"op":' * 400 + "1" + "}" * 400 + '}, "x": {'
    )
    assert refusal(raw.encode()).code in {"TOO_DEEP", "WRONG_TYPE", "UNKNOWN_FIELD"}


def test_a_number_that_no_program_holds_is_refused() -> None:
    value = document()
    value["protocol"]["requirements"][0]["expr"] = {"const": 2**80}
    assert refusal(json.dumps(value).encode()).code == "WRONG_TYPE"


@pytest.mark.parametrize(
    "damage",
    [
        _set(*RULE, to=nested(LIMITS.depth)),
        _set(*RULE, to=many(LIMITS.nodes - 30)),
        _drop("gold"),
        _set("gold", to=None),
        _set("translation_status", to="ambiguous"),
        _set("annotations", J, to={"atom": "j_opened", "value": "UNKNOWN"}),
        _set("protocol", "requirements", to=[]),
        _set("protocol", "grounding", to=[]),
        _drop("protocol", "constraints"),
        _set("sources", "<b>\u202e{{x}}", to={"kind": "trace", "text": "\u0000"}),
        lambda value: value["annotations"].append(value["annotations"][J]),
        lambda value: value["annotations"].append({"atom": "j_opened", "value": "UNKNOWN"}),
    ],
)
def test_what_is_allowed_is_not_refused(damage: Damage) -> None:
    value = document()
    damage(value)
    decoded(value)


def test_512_atoms_and_4_mib_are_allowed() -> None:
    value = document()
    have = len(value["protocol"]["atoms"])
    value["protocol"]["atoms"] += [
        {"id": f"x{at}", "role": "procedure"} for at in range(LIMITS.atoms - have)
    ]
    value["sources"]["long"] = {"kind": "trace", "text": ""}
    room = LIMITS.size - len(json.dumps(value).encode())
    value["sources"]["long"]["text"] = "x" * room
    raw = json.dumps(value).encode()
    assert len(raw) == LIMITS.size
    assert len(decode_replay(raw, path="r").replay.protocol.atoms) == LIMITS.atoms
    assert refusal(raw + b" ").code == "TOO_LARGE"


def test_an_empty_context_shows_an_absence_without_a_quote() -> None:
    value = document()
    value["sources"]["passage"]["text"] = ""
    value["annotations"] = [
        one for one in value["annotations"] if not one["atom"].startswith("c_")
    ] + [{"atom": "c_designed", "value": "FALSE"}]
    decoded(value)
    del value["sources"]["passage"]
    assert refusal(json.dumps(value).encode()).code == "NO_EVIDENCE"


KINDS = ("protocol", "context", "question", "response", "rationale", "trace")
MAY_SHOW = {
    "judge": {"rationale"},
    "procedure": {"rationale", "trace"},
    "context": {"context"},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("role", "atom"), [("judge", "j_opened"), ("procedure", "external"), ("context", "c_opened")]
)
@pytest.mark.parametrize("value", ["TRUE", "UNKNOWN"])
def test_which_text_can_show_which_atom(role: str, atom: str, kind: str, value: str) -> None:
    document_ = document()
    document_["sources"] = {"s": {"kind": kind, "text": "Words."}}
    span = {"source": "s", "start": 0, "end": 5, "quote": "Words"}
    document_["annotations"] = [{"atom": atom, "value": value, "evidence": [span]}]
    raw = json.dumps(document_).encode()
    if kind in MAY_SHOW[role]:
        decode_replay(raw, path="r")
    else:
        assert refusal(raw).code == "WRONG_SOURCE_KIND"


def test_an_absence_may_quote_the_place_that_speaks_most_against_it_beside_the_whole() -> None:
    value = document()
    part = {"source": "passage", "start": 0, "end": 3, "quote": "The"}
    value["annotations"][C]["evidence"].append(part)
    decoded(value)
    value["annotations"][C]["evidence"].reverse()
    decoded(value)


class TestHints:
    """The remedy names the mistake when the offsets count something else than code points."""

    TEXT = "🎬🎬 Björk sang – loudly – in Malmö."

    def hint(self, start: int, end: int, quoted: str, text: str | None = None) -> str:
        value = document()
        value["sources"]["rationale"]["text"] = self.TEXT if text is None else text
        span = {"source": "rationale", "start": start, "end": end, "quote": quoted}
        value["annotations"] = [{"atom": "j_opened", "value": "TRUE", "evidence": [span]}]
        return refusal(json.dumps(value).encode()).remedy or ""

    def test_utf_16_units(self) -> None:
        text, quoted = self.TEXT, "Björk"
        start = len(text[: text.index(quoted)].encode("utf-16-le")) // 2
        hint = self.hint(start, start + 5, quoted)
        assert "UTF-16 units" in hint
        assert "3 to 8" in hint

    def test_utf_8_bytes_within_and_beyond_the_text(self) -> None:
        for quoted in ("Björk", "Malmö"):
            start = len(self.TEXT[: self.TEXT.index(quoted)].encode())
            hint = self.hint(start, start + len(quoted.encode()), quoted)
            assert "UTF-8 bytes" in hint
            at = self.TEXT.index(quoted)
            assert f"{at} to {at + 5}" in hint

    def test_normal_forms(self) -> None:
        assert "normalized (NFC)" in self.hint(0, 5, "Björk", "Bjo\u0308rk sang")
        assert "normalized (NFD)" in self.hint(0, 6, "Bjo\u0308rk", "Björk sang")

    def test_elsewhere(self) -> None:
        assert self.hint(0, 5, "Björk") == "The quote stands at 3 to 8"
        assert "and elsewhere" in self.hint(0, 1, "b", "ab b b b b")

    def test_nothing_known(self) -> None:
        assert self.hint(0, 4, "Oslo") == CODES["SPAN_MISMATCH"].remedy


class TestFiles:
    def test_plain_and_gzipped(self, tmp_path: Path) -> None:
        for recorded in [*(case() for case in CASES.values()), chain_case()]:
            raw = encode_replay(recorded, indent=1)
            plain, packed = tmp_path / "r.json", tmp_path / "r.json.gz"
            plain.write_bytes(raw)
            packed.write_bytes(gzip.compress(raw))
            assert read_replay(plain) == read_replay(packed) == recorded
            assert decode_replay(encode_replay(recorded), path="r") == recorded

    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile):
            read_replay(tmp_path / "none.json")
        broken = tmp_path / "r.json.gz"
        broken.write_bytes(gzip.compress(b"{}" * 50)[:-9])
        with pytest.raises(UnreadableFile):
            read_replay(broken)

    def test_a_bomb_is_not_unpacked(self, tmp_path: Path) -> None:
        bomb = tmp_path / "r.json.gz"
        bomb.write_bytes(gzip.compress(b" " * (LIMITS.size * 8)))
        with pytest.raises(InvalidReplay, match="TOO_LARGE"):
            read_replay(bomb)

    def test_a_protocol_by_itself(self, tmp_path: Path) -> None:
        protocol = chain_case().replay.protocol
        path = tmp_path / "p.json"
        path.write_text(json.dumps(protocol_document(protocol)))
        assert read_protocol(path) == protocol
        with pytest.raises(InvalidReplay) as caught:
            decode_protocol(b'{"id": "x", "atoms": []}', path="p.json")
        assert (caught.value.code, caught.value.json_path) == ("MISSING_FIELD", "$")


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden replays are not beside the repository")
def test_golden_replays_are_read_and_written_back_as_they_are() -> None:
    paths = [
        path
        for path in sorted(GOLDEN.glob("*.json"))
        if not path.name.endswith((".expected.json", "_item.json"))
    ]
    assert len(paths) >= 6
    for path in paths:
        assert replay_document(read_replay(path)) == json.loads(path.read_text("utf-8"))
