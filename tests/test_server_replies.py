from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from server_faults import answer

from chaincheck.errors import ServerFailed
from chaincheck.judges.server_replies import entries_of, number_of, read_answer

BODY = {"messages": [{"role": "user", "content": "?"}], "logprobs": True, "top_logprobs": 5}


def failed(problem: str, remedy: str | None = None) -> ServerFailed:
    return ServerFailed(problem, endpoint="http://h/v1", item="x", remedy=remedy)


def written(text: str | None, finish_reason: str = "stop") -> Any:
    said = answer(BODY)
    said["choices"][0]["message"]["content"] = text
    said["choices"][0]["finish_reason"] = finish_reason
    return read_answer(json.dumps(said).encode(), failed)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["model", "choices", "message", "logprobs", "content", "token", "logprob", "usage",
             "top_logprobs", "tokens", "token_logprobs", "text", "error", "score"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


class TestAnswers:
    @given(st.binary(max_size=80) | json_values.map(lambda value: json.dumps(value).encode()))
    def test_whatever_comes_is_an_answer_or_a_failure_of_the_server(self, data: bytes) -> None:
        try:
            found = read_answer(data, failed)
        except ServerFailed:
            return
        assert found.model

    @given(st.sampled_from(["chat", "completions"]), json_values, st.data())
    def test_a_reply_with_one_place_changed_gives_finite_entries_or_fails(
        self, api: str, value: Any, data: st.DataObject
    ) -> None:
        said = answer(BODY if api == "chat" else {"prompt": "?", "logprobs": 5})
        place: Any = said["choices"]
        while True:
            keys = list(range(len(place))) if isinstance(place, list) else list(place)
            key = data.draw(st.sampled_from(keys))
            if (
                not isinstance(place[key], dict | list)
                or not place[key]
                or data.draw(st.booleans())
            ):
                place[key] = value
                break
            place = place[key]
        try:
            entries = entries_of(read_answer(json.dumps(said).encode(), failed), failed)
        except ServerFailed:
            return
        assert entries and all(math.isfinite(one.logprob) for one in entries)

    def test_counts_of_the_usage_are_kept_and_nothing_else(self) -> None:
        said = answer(BODY)
        said["usage"] = {
            "prompt_tokens": 3,
            "cost": 0.5,
            "note": "text",
            "details": {"cached_tokens": 1, "none": None, "deep": {"deeper": 1}},
            "empty": {},
        }
        found = read_answer(json.dumps(said).encode(), failed)
        assert found.usage == {"prompt_tokens": 3, "cost": 0.5, "details": {"cached_tokens": 1}}

    def test_a_drawn_token_beside_the_top_k_is_one_more(self) -> None:
        said = answer(BODY)
        first = said["choices"][0]["logprobs"]["content"][0]
        first |= {"token": "other", "logprob": -7.0}
        entries = entries_of(read_answer(json.dumps(said).encode(), failed), failed)
        assert [one.text for one in entries].count("other") == 1 and len(entries) == 6

    def test_two_tokens_of_one_text_stay_two(self) -> None:
        said = answer(BODY)
        said["choices"][0]["logprobs"]["content"][0]["top_logprobs"] = [
            {"token": "\ufffd", "logprob": -1.0, "id": 1},
            {"token": "\ufffd", "logprob": -1.0, "id": 2},
        ]
        entries = entries_of(read_answer(json.dumps(said).encode(), failed), failed)
        assert [one.token_id for one in entries if one.text == "\ufffd"] == [1, 2]


class TestNumbers:
    @given(st.floats(0, 1) | st.sampled_from([0, 1]), st.sampled_from([None, 0, 2]))
    def test_a_number_in_range_comes_back_as_it_is(self, value: float, indent: int | None) -> None:
        found = number_of(written(json.dumps({"score": value}, indent=indent)), failed)
        assert isinstance(found, float) and found == value

    @given(json_values.map(lambda value: json.dumps({"score": value})) | st.text(max_size=30))
    def test_anything_else_is_refused(self, text: str) -> None:
        try:
            found = number_of(written(text), failed)
        except ServerFailed:
            return
        decoded = json.loads(text)
        assert list(decoded) == ["score"] and not isinstance(decoded["score"], bool)
        assert decoded["score"] == found and 0 <= found <= 1

    @pytest.mark.parametrize(
        "text",
        [
            '{"score": .5}', '{"score": 5e-1.0}', '{"score": 0x1}', '{"score": +0.5}',
            '{"score": 01}', '{"score": 1.}', '{"score": Infinity}', '{"score": 0.5,}',
            "{'score': 0.5}", '\ufeff{"score": 0.5}', '{"score": 0.5}}',
            '{"Score": 0.5}', '{"score": "0.5"}', '{"score": [0.5]}', '{"score": ٠}',
        ],
    )  # fmt: skip
    def test_what_json_does_not_allow_is_not_allowed(self, text: str) -> None:
        with pytest.raises(ServerFailed):
            number_of(written(text), failed)

    def test_white_space_around_it_is(self) -> None:
        assert number_of(written(' {\n"score" :\t0.5\r\n}\n'), failed) == 0.5
