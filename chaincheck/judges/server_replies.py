"""Reading what a server says: nothing in it is taken on trust, guessed or put right."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import msgspec

from chaincheck.errors import ServerFailed, quote
from chaincheck.judges.server_http import said_by
from chaincheck.judges.server_scores import Entry

__all__ = ["Answer", "entries_of", "number_of", "read_answer"]

_ID = re.compile(r"token_id:(\d{1,9})\Z", re.ASCII)
# One member and no second of the same name, which decoders of JSON let pass.
_NUMBER = re.compile(
    r"[ \t\r\n]*\{[ \t\r\n]*\"score\"[ \t\r\n]*:[ \t\r\n]*"
    r"(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)[ \t\r\n]*\}[ \t\r\n]*\Z",
    re.ASCII,
)


class _Top(msgspec.Struct):
    token: str
    logprob: float
    id: int | None = None


class _Position(msgspec.Struct):
    token: str
    logprob: float
    top_logprobs: list[_Top] = []
    id: int | None = None


class _Logprobs(msgspec.Struct):
    """Both layouts: a list of positions, or (completions) three lists side by side."""

    content: list[_Position] | None = None
    tokens: list[str] | None = None
    token_logprobs: list[float | None] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None


class _Message(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    text: str | None = None
    logprobs: _Logprobs | None = None
    finish_reason: str | None = None


class _Whole(msgspec.Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    system_fingerprint: str | None = None
    error: Any = None


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The one choice of a reply.

    Attributes:
        model: the model that the reply names.
        text: what the model wrote, if it did.
        finish_reason: why it stopped.
        logprobs: as they came.
        usage: the counts among the usage.
        system_fingerprint: what the server says of its own configuration.
    """

    model: str
    text: str | None
    finish_reason: str | None
    logprobs: _Logprobs | None
    usage: dict[str, Any]
    system_fingerprint: str | None


Failed = Callable[..., ServerFailed]
"""Makes the error of this item, from a problem and a remedy."""


def read_answer(data: bytes, failed: Failed) -> Answer:
    """Decode a reply.

    Args:
        data: a reply with status 200.
        failed: makes the error.

    Raises:
        ServerFailed: it is not JSON, holds an error, not one choice, a tool's call or a refusal,
            or names no model.
    """
    try:
        whole = msgspec.json.decode(data, type=_Whole)
    except msgspec.ValidationError as cause:
        raise failed(f"the reply is not of the form that was asked for: {cause}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as cause:
        raise failed(f"the reply is no valid JSON: {cause}: {_around(data, str(cause))}") from None
    if whole.error is not None:
        raise failed(f"the server answers with an error: {said_by(str(whole.error))}")
    if not whole.choices:
        raise failed("the reply holds no choices")
    if len(whole.choices) > 1:
        raise failed(f"the reply holds {len(whole.choices)} choices, and one was asked for")
    choice = whole.choices[0]
    message = choice.message
    if message and message.refusal:
        raise failed(f"the model refuses: {said_by(message.refusal)}", _LEAVE_OUT)
    if choice.finish_reason == "content_filter":
        raise failed("the server's content filter stopped the answer", _LEAVE_OUT)
    if message and (message.tool_calls or message.function_call):
        raise failed(
            "the model calls a tool, and none was offered",
            "Serve it without tools, or leave the item's triplet out of the data",
        )
    if not whole.model:
        raise failed("the reply names no model, so nobody can tell which one answered")
    return Answer(
        model=whole.model,
        text=message.content if message else choice.text,
        finish_reason=choice.finish_reason,
        logprobs=choice.logprobs,
        usage=_counts(whole.usage or {}),
        system_fingerprint=whole.system_fingerprint,
    )


_LEAVE_OUT = "Leave the item's triplet out of the data, or ask another judge"


def _around(data: bytes, problem: str) -> str:
    """Quote the place that a decoder's message names."""
    found = re.search(r"byte (\d+)", problem)
    start = max(0, int(found[1]) - 30) if found else 0
    return quote(data[start : start + 80].decode("utf-8", "replace"))


def _counts(usage: dict[str, Any], depth: int = 2) -> dict[str, Any]:
    """Keep the counts of what a reply cost, without what is not stated."""
    kept: dict[str, Any] = {}
    for key, value in usage.items():
        if isinstance(value, dict) and depth > 1:
            if inner := _counts(value, depth - 1):
                kept[key] = inner
        elif isinstance(value, int | float) and math.isfinite(value):
            kept[key] = value
    return kept


def entries_of(answer: Answer, failed: Failed) -> list[Entry]:
    """Give the tokens that were returned for the first position.

    Raises:
        ServerFailed: there are no log-probabilities, or only that of the token that was drawn.
    """
    found = answer.logprobs
    if found is not None and found.content:
        first = found.content[0]
        entries = [_entry(one.token, one.logprob, one.id) for one in first.top_logprobs]
        drawn: Entry | None = _entry(first.token, first.logprob, first.id)
    elif found is not None and found.tokens and found.top_logprobs and found.top_logprobs[0]:
        entries = [_entry(text, value, None) for text, value in found.top_logprobs[0].items()]
        value = (found.token_logprobs or [None])[0]
        drawn = None if value is None else _entry(found.tokens[0], value, None)
    else:
        entries = []
        drawn = None
    if not entries:
        raise failed(
            "the reply holds no log-probabilities, though they were asked for: this server drops "
            "the request in silence, as `transformers serve` does",
            'Serve the model with vLLM, SGLang or llama.cpp, or set mode = "json" and call it '
            "another judge",
        )
    if drawn is not None and not any(_same(one, drawn) for one in entries):
        entries.append(drawn)
    return entries


def _same(one: Entry, other: Entry) -> bool:
    ids = (one.token_id, other.token_id)
    return one.text == other.text and (None in ids or ids[0] == ids[1])


def _entry(text: str, logprob: float, token_id: int | None) -> Entry:
    if found := _ID.match(text):
        token_id = int(found[1])
    return Entry(text, logprob, token_id)


def number_of(answer: Answer, failed: Failed) -> float:
    """Read the number that a model was made to write.

    Raises:
        ServerFailed: the answer is not exactly one JSON object with the one member ``score``, a
            number from 0 to 1. Nothing is cut out of prose, rounded or clipped.
    """
    text = answer.text
    if not text:
        raise failed("the model wrote nothing", _LEAVE_OUT)
    if answer.finish_reason == "length":
        raise failed(f"the answer was cut off: {quote(text)}", _LEAVE_OUT)
    found = _NUMBER.match(text)
    if not found:
        raise failed(
            f"the answer {quote(text)} is not a JSON object that holds one number, 'score', and "
            "nothing else",
            "Use a server that enforces response_format, or leave the triplet out of the data",
        )
    value = float(found[1])
    if not 0 <= value <= 1:
        raise failed(
            f"the score {quote(found[1])} is not from 0 to 1, and is not clipped", _LEAVE_OUT
        )
    return value
