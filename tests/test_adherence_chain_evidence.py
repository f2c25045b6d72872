from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.adherence.audit import audit
from chaincheck.adherence.chain_evidence import replay_of
from chaincheck.adherence.construction import known_of
from chaincheck.adherence.encode import replay_document
from chaincheck.adherence.replay import Recorded
from chaincheck.adherence.report import report_document
from chaincheck.errors import InvalidReplay, UnjudgeableItem
from chaincheck.items import Item, decode_item
from chaincheck.rationale import decode_rationale, reply_format

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "adherence"
PASSAGES = (
    "Jaws\nJaws is a film by Ann Lee. Ann Lee is alive.",
    "Ann Lee was born in Rome.",
    "Rome.",
)
FIELDS = ("claim", "object", "supported", "quotes")


def item_of(cell: str = "A", **columns: Any) -> Item:
    later = PASSAGES[1].replace("Ann Lee", "Eva Roe") if cell == "D" else PASSAGES[1]
    values: dict[str, Any] = {
        "item_id": f"i-{cell}",
        "pair_id": "p",
        "variant": "real",
        "cell": cell,
        "query": "Where was the director of Jaws born?",
        "passages": (PASSAGES[0], later, PASSAGES[2]),
        "answer": "Rome",
        "bridge": "Ann Lee",
        "replacement": "Eva Roe",
        "earlier_support": (0,),
        "later_support": () if cell == "C" else (1,),
        "label_sufficient": cell in "AB",
    }
    return Item(**{**values, **columns})


def hop(number: int, **fields: Any) -> dict[str, Any]:
    quotes = {
        1: {"passage": 1, "text": "a film by Ann Lee"},
        2: {"passage": 2, "text": "born in Rome"},
    }
    whole = {
        "hop": number,
        "claim": "…",
        "object": {1: "Ann Lee", 2: "Rome"}[number],
        "supported": True,
        "quotes": [quotes[number]],
    }
    return {key: value for key, value in {**whole, **fields}.items() if value is not None}


def reply(*hops: dict[str, Any], **fields: Any) -> str:
    whole = {
        "hops": list(hops or (hop(1), hop(2))),
        "verdict": "yes",
        "used_outside_knowledge": False,
    }
    return json.dumps(
        {k: v for k, v in {**whole, **fields}.items() if v is not None}, ensure_ascii=False
    )


def values(recorded: Recorded) -> dict[str, str]:
    return {one.atom: one.value for one in recorded.replay.annotations}


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the shared examples are not beside the repository")
@pytest.mark.parametrize(("name", "strict"), [("chain_D", False), ("chain_D_strict", True)])
def test_the_golden_pair_comes_out_exactly(name: str, strict: bool) -> None:
    row = json.loads((GOLDEN / "chain_D_item.json").read_text("utf-8"))
    text = (GOLDEN / "chain_D_judge_output.txt").read_text("utf-8")
    recorded = replay_of(decode_item(row, path="item", line=1), text, strict=strict)
    assert json.loads(json.dumps(replay_document(recorded))) == json.loads(
        (GOLDEN / f"{name}.json").read_text("utf-8")
    )
    report = report_document(recorded, audit(recorded.replay))
    wanted = json.loads((GOLDEN / f"{name}.expected.json").read_text("utf-8"))
    assert {key: report[key] for key in wanted} == wanted


class TestContextAtoms:
    @pytest.mark.parametrize(
        ("cell", "second"), [("A", "TRUE"), ("B", "TRUE"), ("C", "FALSE"), ("D", "FALSE")]
    )
    def test_each_cell_gives_both_for_free(self, cell: str, second: str) -> None:
        found = values(replay_of(item_of(cell), reply()))
        assert (found["c_hop1"], found["c_hop2"]) == ("TRUE", second)

    def test_the_carrying_sentence_is_quoted_and_no_title(self) -> None:
        known = known_of(item_of("A"), 1)
        assert [one.text for one in known.pieces] == ["Jaws is a film by Ann Lee."]

    def test_a_sentence_that_stands_twice_is_quoted_where_it_was_found(self) -> None:
        item = item_of("A", passages=("Ann Lee.\nAnn Lee.\nBy Ann Lee.", PASSAGES[1]))
        known = known_of(item, 1)
        recorded = replay_of(item, reply())
        span = next(one for one in recorded.replay.annotations if one.atom == "c_hop1").evidence[0]
        assert span.quote == known.pieces[0].text
        assert item.passages[0][span.start : span.end] == span.quote

    def test_without_a_recorded_passage_all_are_quoted(self) -> None:
        item = item_of("A", earlier_support=(), later_support=())
        annotations = {one.atom: one for one in replay_of(item, reply()).replay.annotations}
        assert [one.source for one in annotations["c_hop1"].evidence] == ["p1", "p2", "p3"]

    @pytest.mark.parametrize(
        "given",
        ["", {}, {"hop1": 1}, {"hop1": {"passage": 0, "span": "Jaws"}},
         {"hop1": {"passage": True, "span": "Jaws"}}, {"hop1": {"passage": 1, "span": ""}},
         {"hop1": {"passage": 4, "span": "Jaws"}}, {"hop1": {"passage": 2, "span": "Jaws"}}],
    )  # fmt: skip
    def test_a_malformed_provenance_is_refused(self, given: Any) -> None:
        with pytest.raises(InvalidReplay, match="i-A"):
            replay_of(item_of("A", extra={"provenance": given}), reply())

    def test_a_longer_chain_is_not_evaluated(self) -> None:
        for columns in ({"link": 3}, {"link": 2, "source": "musique", "source_id": "3hop1__1_2_3"}):
            found = audit(replay_of(item_of("A", **columns), reply()).replay)
            assert (found.overall, found.verdict) == ("UNKNOWN", None)

    def test_an_item_without_passages_is_refused(self) -> None:
        with pytest.raises(UnjudgeableItem):
            replay_of(item_of("A", passages=("",)), reply())


class TestJudgeAtoms:
    def test_a_good_answer_is_satisfied_in_each_cell(self) -> None:
        assert audit(replay_of(item_of("A"), reply(), strict=False).replay).overall == "SATISFIED"
        denied = reply(hop(1), hop(2, supported=False, quotes=[]), verdict="no")
        for cell in "CD":
            assert audit(replay_of(item_of(cell), denied).replay).overall == "SATISFIED"

    @pytest.mark.parametrize("field", ["supported", "quotes"])
    @pytest.mark.parametrize("number", [1, 2])
    def test_a_missing_field_is_unknown_and_never_satisfied(self, field: str, number: int) -> None:
        hops = [hop(n, **({field: None} if n == number else {})) for n in (1, 2)]
        recorded = replay_of(item_of("A"), reply(*hops))
        atom = {"supported": "j_hop", "quotes": "p_cite"}[field]
        assert values(recorded)[f"{atom}{number}"] == "UNKNOWN"
        assert audit(recorded.replay).overall == "UNKNOWN"

    def test_missing_fields_at_the_top_are_unknown(self) -> None:
        recorded = replay_of(item_of("A"), reply(used_outside_knowledge=None))
        assert values(recorded)["p_ext"] == values(recorded)["p_ext_stated"] == "UNKNOWN"
        assert audit(recorded.replay).overall == "UNKNOWN"
        found = values(replay_of(item_of("A"), '{"verdict": "yes"}'))
        assert {found[atom] for atom in found if atom[0] != "c"} == {"UNKNOWN"}

    def test_an_entry_that_is_left_out_is_seen(self) -> None:
        recorded = replay_of(item_of("A"), reply(hop(1)))
        assert values(recorded)["p_both"] == "FALSE"
        assert audit(recorded.replay).dimensions["procedure"] == "VIOLATED"

    @given(
        st.lists(st.sampled_from([(n, f) for n in (1, 2) for f in FIELDS]), unique=True),
        st.booleans(),
        st.sampled_from("ABCD"),
    )
    @settings(max_examples=60, deadline=None)
    def test_leaving_fields_out_never_makes_it_better(
        self, gone: list[tuple[int, str]], top: bool, cell: str
    ) -> None:
        whole = replay_of(item_of(cell), reply(), strict=True)
        hops = [hop(n, **{f: None for m, f in gone if m == n}) for n in (1, 2)]
        less = replay_of(
            item_of(cell), reply(*hops, used_outside_knowledge=None if top else False), strict=True
        )
        before, after = values(whole), values(less)
        assert all(after[atom] in (before[atom], "UNKNOWN") for atom in before)
        if audit(whole.replay, explain=False).overall != "SATISFIED":
            assert audit(less.replay, explain=False).overall != "SATISFIED"

    @pytest.mark.parametrize(
        ("quotes", "value"),
        [
            ([{"passage": 2, "text": "born in Rome"}], "TRUE"),
            ([{"passage": 2, "text": "Born in Rome"}], "FALSE"),  # another case is no quote
            ([{"passage": 1, "text": "born in Rome"}], "FALSE"),  # in a passage, not in this one
            ([{"passage": 9, "text": "born in Rome"}], "FALSE"),
            ([{"passage": -1, "text": "Rome."}], "FALSE"),
            ([{"passage": 2, "text": ""}], "FALSE"),
            ([{"text": "born in Rome"}], "UNKNOWN"),
            ([{"passage": 2}], "UNKNOWN"),
            ([{"passage": 2}, {"passage": 2, "text": "x"}], "FALSE"),
            ([], "UNKNOWN"),
        ],
    )
    def test_quotes_are_looked_up_where_they_say(self, quotes: Any, value: str) -> None:
        recorded = replay_of(item_of("A"), reply(hop(1), hop(2, quotes=quotes)))
        assert values(recorded)["p_verb2"] == value
        assert values(recorded)["p_cite2"] == ("TRUE" if quotes else "FALSE")

    @pytest.mark.parametrize(
        ("bridge", "text", "value"),
        [
            ("Ann Lee", "Ann Lee was born in Rome", "TRUE"),
            ("Ann Lee", "was born in Rome", "FALSE"),
            ("Ann L", "Ann Lee was born in Rome", "FALSE"),
            ("", "Ann Lee was born in Rome", "UNKNOWN"),
            (None, "Ann Lee was born in Rome", "UNKNOWN"),
        ],
    )
    def test_the_strict_protocol_asks_for_the_link(
        self, bridge: str | None, text: str, value: str
    ) -> None:
        second = hop(2, quotes=[{"passage": 2, "text": text}])
        recorded = replay_of(item_of("A"), reply(hop(1, object=bridge), second), strict=True)
        assert values(recorded)["p_link"] == value


class TestDecoding:
    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("", "NOT_JSON"),
            ("Yes.", "NOT_JSON"),
            (f"```json\n{reply()}\n```", "NOT_JSON"),
            (reply() + " Hope this helps!", "NOT_JSON"),
            (reply()[:-1], "NOT_JSON"),
            ("\ufeff" + reply(), "BYTE_ORDER_MARK"),
            ('{"verdict": "yes", "verdict": "no"}', "DUPLICATE_KEY"),
            ('{"verdict": "yes", "score": NaN}', "NOT_A_NUMBER"),
            ('{"verdict": "\\ud800"}', "HALF_SURROGATE"),
            ("\ud800", "HALF_SURROGATE"),
            ("[" * 100_000, "TOO_DEEP"),
            ("[]", "WRONG_TYPE"),
            (reply(verdict=None), "MISSING_FIELD"),
            (reply(verdict="Yes"), "WRONG_VALUE"),
            (reply(verdict=True), "WRONG_TYPE"),
            (reply(confidence=0.9), "UNKNOWN_FIELD"),
            (reply(used_outside_knowledge="no"), "WRONG_TYPE"),
            (reply(hop(1, supported=1), hop(2)), "WRONG_TYPE"),
            (reply(hop(1, supported="true"), hop(2)), "WRONG_TYPE"),
            (reply(hop(1, hop=3), hop(2)), "WRONG_VALUE"),
            (reply(hop(1, hop=1.0), hop(2)), "WRONG_TYPE"),
            (reply(hop(1), hop(1)), "DUPLICATE_ID"),
            (reply(hop(1, quotes=["a film by Ann Lee"]), hop(2)), "WRONG_TYPE"),
            (reply(hop(1, quotes="a film"), hop(2)), "WRONG_TYPE"),
        ],
    )
    def test_what_is_refused_and_why(self, text: str, code: str) -> None:
        with pytest.raises(InvalidReplay) as caught:
            replay_of(item_of("A"), text)
        assert caught.value.code == code
        assert "never repaired" in str(caught.value)

    def test_null_is_not_the_same_as_missing(self) -> None:
        with pytest.raises(InvalidReplay) as caught:
            decode_rationale('{"verdict": "yes", "used_outside_knowledge": null}')
        assert caught.value.json_path == "$.used_outside_knowledge"

    @given(st.text(max_size=30), st.integers(0, 4), st.booleans())
    def test_a_place_is_where_its_value_stands(self, claim: str, indent: int, ascii_: bool) -> None:
        said = json.loads(reply(hop(2, claim=claim), hop(1, claim='"}],[{\\')))
        text = json.dumps(said, indent=indent or None, ensure_ascii=ascii_)
        found = decode_rationale(text)
        for number, at in ((2, 0), (1, 1)):
            for field in FIELDS:
                start, end = found.place("hops", number, field)
                assert json.loads(text[start:end]) == said["hops"][at][field]
        start, end = found.place("hops", 1, "quotes", 0, "text")
        assert json.loads(text[start:end]) == "a film by Ann Lee"
        start, end = found.place("used_outside_knowledge")
        assert text[start:end] == "false"

    @given(st.data())
    @settings(max_examples=150, deadline=None)
    def test_a_mangled_reply_is_refused_or_read(self, data: st.DataObject) -> None:
        text = reply()
        for _ in range(data.draw(st.integers(1, 3))):
            start = data.draw(st.integers(0, len(text)))
            end = data.draw(st.integers(start, min(len(text), start + 12)))
            put = data.draw(
                st.sampled_from(["", '"', "{", "]", ",", "null", "1", "true", "\\", "é"])
            )
            text = text[:start] + put + text[end:]
        try:
            recorded = replay_of(item_of("A"), text)
        except InvalidReplay as error:
            assert error.code and error.json_path.startswith("$")
        else:
            assert audit(recorded.replay, explain=False).id == "i-A"

    def test_what_the_schema_asks_for_is_what_is_read(self) -> None:
        schema = reply_format()
        assert set(schema["required"]) == set(json.loads(reply()))
        assert set(schema["properties"]["hops"]["items"]["required"]) == set(hop(1))
