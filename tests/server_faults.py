"""What the server of ``faulty_server`` answers, and how it goes wrong, by the fault's name.

Where nothing is wrong it answers as a model would: the log-probabilities of a small vocabulary,
which depend on the prompt alone, through a hash. ``test_server`` computes the same.
"""

from __future__ import annotations

import hashlib
import json
import math
import socket
import struct
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

MODEL = "tiny"
VOCABULARY = (
    "Yes", " Yes", "yes", "Y", "No", " no", "n", "NO",
    "The", "It", "<|im_end|>", "\n", "Maybe", " I", "Paris", "Given",
)  # fmt: skip


def logprobs_of(prompt: str) -> dict[str, float]:
    """Log-probabilities of the vocabulary, most probable first, as any text gives them."""
    digest = hashlib.sha256(prompt.encode()).digest()
    logits = {token: byte / 32 for token, byte in zip(VOCABULARY, digest, strict=False)}
    norm = math.log(math.fsum(map(math.exp, logits.values())))
    return dict(sorted(((t, v - norm) for t, v in logits.items()), key=lambda one: -one[1]))


def prompt_of(body: dict[str, Any]) -> str:
    """What of a request the answer depends on."""
    return json.dumps(body.get("messages", body.get("prompt")), sort_keys=True)


def _count(body: dict[str, Any]) -> int:
    asked = body.get("top_logprobs", body.get("logprobs"))
    return int(asked) if asked is not True and asked is not None else 0


def rationale(both: bool) -> str:
    """What a model writes that explains itself."""
    hops = [
        {"hop": n, "claim": "...", "object": "...", "supported": n == 1 or both, "quotes": []}
        for n in (1, 2)
    ]
    verdict = "yes" if both else "no"
    return json.dumps({"hops": hops, "verdict": verdict, "used_outside_knowledge": False})


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """The reply of a server with which nothing is wrong."""
    found = logprobs_of(prompt_of(body))
    top = list(found.items())[: _count(body)]
    first = next(iter(found))
    if "logprob_token_ids" in body:
        values = list(found.values())
        ids = [VOCABULARY.index(first), *body["logprob_token_ids"]]
        named = dict(zip(found, values, strict=True))
        top = [(f"token_id:{one}", named[VOCABULARY[one]]) for one in dict.fromkeys(ids)]
        first = top[0][0]
    choice: dict[str, Any] = {"index": 0, "finish_reason": "length"}
    if body.get("response_format", {}).get("json_schema", {}).get("name") == "rationale":
        choice["message"] = {"role": "assistant", "content": rationale(found["Yes"] > found["No"])}
        choice["finish_reason"] = "stop"
    elif "response_format" in body:
        share = math.exp(found["Yes"])
        choice["message"] = {"role": "assistant", "content": json.dumps({"score": share})}
        choice["finish_reason"] = "stop"
    elif "messages" in body:
        choice["message"] = {"role": "assistant", "content": first}
        entries = [{"token": token, "logprob": value, "bytes": None} for token, value in top]
        choice["logprobs"] = {"content": [{**entries[0], "top_logprobs": entries}]}
    else:
        choice["text"] = first
        choice["logprobs"] = {
            "tokens": [first],
            "token_logprobs": [top[0][1]],
            "top_logprobs": [dict(top)],
            "text_offset": [0],
        }
    return {
        "id": "1",
        "model": MODEL,
        "choices": [choice],
        "usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8},
        "system_fingerprint": "fp_1",
    }


Handler = BaseHTTPRequestHandler
Fault = Callable[[Handler, dict[str, Any], int], None]
FAULTS: dict[str, Fault] = {}


def fault(name: str) -> Callable[[Fault], Fault]:
    """Register what goes wrong under a name; a fault gets the body and the request's number."""

    def register(function: Fault) -> Fault:
        FAULTS[name] = function
        return function

    return register


def send(
    handler: Handler,
    value: Any,
    status: int = 200,
    kind: str = "application/json",
    **headers: str,
) -> None:
    """Send a whole reply."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(data)))
    for name, text in headers.items():
        handler.send_header(name.replace("_", "-"), text)
    handler.end_headers()
    handler.wfile.write(data)


def cut(handler: Handler) -> None:
    """Break the connection off with a reset."""
    handler.wfile.flush()
    linger = struct.pack("ii", 1, 0)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    handler.connection.close()
    handler.close_connection = True


def message(text: str) -> dict[str, Any]:
    return {"error": {"message": text, "type": "error"}}


@fault("none")
def _none(handler: Handler, body: dict[str, Any], number: int) -> None:
    send(handler, answer(body))


def _at_first(times: int, status: int, **headers: str) -> Fault:
    def fail(handler: Handler, body: dict[str, Any], number: int) -> None:
        if number <= times:
            send(handler, message("too busy"), status, **headers)
        else:
            send(handler, answer(body))

    return fail


FAULTS["429-then-well"] = _at_first(1, 429)
FAULTS["429-retry-after-then-well"] = _at_first(1, 429, Retry_After="1")
FAULTS["429-for-ever"] = _at_first(10**9, 429)
FAULTS["429-retry-after-for-ever"] = _at_first(10**9, 429, Retry_After="0")
FAULTS["500-then-well"] = _at_first(1, 500)
FAULTS["500-for-ever"] = _at_first(10**9, 500)
FAULTS["502-for-ever"] = _at_first(10**9, 502)
FAULTS["503-then-well"] = _at_first(1, 503)
FAULTS["503-for-ever"] = _at_first(10**9, 503)
FAULTS["400"] = _at_first(10**9, 400)
FAULTS["404"] = _at_first(10**9, 404)


@fault("401-echoes-the-key")
def _unauthorized(handler: Handler, body: dict[str, Any], number: int) -> None:
    key = handler.headers.get("Authorization", "").removeprefix("Bearer ")
    send(handler, message(f"the key {key} is\nunknown \x1b[31m{'!' * 900}"), 401)


@fault("silent")
def _silent(handler: Handler, body: dict[str, Any], number: int) -> None:
    handler.server.stopping.wait(30)  # type: ignore[attr-defined]


@fault("silent-then-well")
def _silent_once(handler: Handler, body: dict[str, Any], number: int) -> None:
    if number == 1:
        _silent(handler, body, number)
    else:
        send(handler, answer(body))


@fault("cut-before-a-reply")
def _cut_at_once(handler: Handler, body: dict[str, Any], number: int) -> None:
    cut(handler)


@fault("cut-in-the-body")
def _cut_in_body(handler: Handler, body: dict[str, Any], number: int) -> None:
    data = json.dumps(answer(body)).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[: len(data) // 2])
    cut(handler)


@fault("cut-then-well")
def _cut_once(handler: Handler, body: dict[str, Any], number: int) -> None:
    (_cut_in_body if number == 1 else _none)(handler, body, number)


@fault("short-body")
def _short(handler: Handler, body: dict[str, Any], number: int) -> None:
    """No length is stated, and the body ends early as if it were whole."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(json.dumps(answer(body)).encode()[:80])
    handler.close_connection = True


def _drip(handler: Handler, data: bytes) -> None:
    for byte in data:
        if handler.server.stopping.wait(0.05):  # type: ignore[attr-defined]
            return
        handler.wfile.write(bytes([byte]))
        handler.wfile.flush()


@fault("slow-drip")
def _slow(handler: Handler, body: dict[str, Any], number: int) -> None:
    data = json.dumps(answer(body)).encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    _drip(handler, data)


@fault("slow-drip-of-headers")
def _slow_headers(handler: Handler, body: dict[str, Any], number: int) -> None:
    _drip(handler, b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 1000)


@fault("wrong-json")
def _wrong_json(handler: Handler, body: dict[str, Any], number: int) -> None:
    send(handler, b'{"model": "tiny", "choices": [}')


@fault("nan")
def _nan(handler: Handler, body: dict[str, Any], number: int) -> None:
    said = answer(body)
    said["choices"][0]["logprobs"]["content"][0]["top_logprobs"][0]["logprob"] = math.nan
    send(handler, said)


@fault("html-page")
def _html(handler: Handler, body: dict[str, Any], number: int) -> None:
    page = b"<html><body><h1>Welcome to the proxy</h1></body></html>"
    send(handler, page, kind="text/html; charset=utf-8")


@fault("html-page-503")
def _html_503(handler: Handler, body: dict[str, Any], number: int) -> None:
    send(handler, b"<html><h1>Service Unavailable</h1></html>", 503, kind="text/html")


@fault("redirect")
def _redirect(handler: Handler, body: dict[str, Any], number: int) -> None:
    send(handler, b"", 307, Location="http://user:secret@elsewhere.invalid/v1")


@fault("compressed")
def _compressed(handler: Handler, body: dict[str, Any], number: int) -> None:
    import gzip

    send(handler, gzip.compress(b" " * 5_000_000, 9), Content_Encoding="gzip")


@fault("huge-body")
def _huge(handler: Handler, body: dict[str, Any], number: int) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    block = b" " * 2**20
    for _ in range(500):
        handler.wfile.write(block)
        handler.server.blocks += 1  # type: ignore[attr-defined]


def _changed(change: Callable[[dict[str, Any]], None]) -> Fault:
    def fail(handler: Handler, body: dict[str, Any], number: int) -> None:
        said = answer(body)
        change(said)
        send(handler, said)

    return fail


def _set(*path: str | int, value: Any) -> Fault:
    """Change one place of the reply."""

    def change(said: Any) -> None:
        for step in path[:-1]:
            said = said[step]
        said[path[-1]] = value

    return _changed(change)


def _first(**values: Any) -> Fault:
    return _changed(lambda said: said["choices"][0].update(values))


def _writes(text: str | None, finish_reason: str = "stop") -> Fault:
    return _first(message={"role": "assistant", "content": text}, finish_reason=finish_reason)


def _top(tokens: dict[str, Any]) -> Fault:
    entries = [{"token": token, "logprob": value} for token, value in tokens.items()]
    return _first(logprobs={"content": [{**entries[0], "top_logprobs": entries}]})


FAULTS |= {
    "logprobs-dropped": _changed(lambda said: said["choices"][0].pop("logprobs")),
    "logprobs-null": _first(logprobs=None),
    "logprobs-empty": _first(logprobs={"content": []}),
    "top-logprobs-dropped": _first(
        logprobs={"content": [{"token": "Yes", "logprob": -0.5, "top_logprobs": []}]}
    ),
    "ids-dropped": _top({"token_id:0": -0.5}),
    "other-model": _set("model", value="tiny-quantized"),
    "no-model": _changed(lambda said: said.pop("model")),
    "neither-yes-nor-no": _top({"The": -0.5, "It": -1.5}),
    "no-no": _top({"Yes": -0.5, "The": -1.5}),
    "above-one": _top({"Yes": 0.7, "No": -1.0}),
    "sum-above-one": _top({"Yes": -0.1, "No": -0.1}),
    "suppressed": _top({"Yes": 0.0, "No": -9999.0}),
    "logprob-true": _top({"Yes": True, "No": -1.0}),
    "logprob-text": _top({"Yes": "-0.5", "No": -1.0}),
    "no-choices": _set("choices", value=[]),
    "two-choices": _changed(lambda said: said["choices"].append(said["choices"][0])),
    "error-in-200": _changed(lambda said: (said.clear(), said.update(message("no memory")))),
    "a-list": _changed(lambda said: None),
    "tool-call": _first(
        message={"content": None, "tool_calls": [{"id": "1", "function": {"name": "search"}}]}
    ),
    "refusal": _first(message={"content": None, "refusal": "I cannot help with that."}),
    "content-filter": _first(finish_reason="content_filter"),
    "writes-prose": _writes("I would say about 0.7."),
    "writes-fenced": _writes('```json\n{"score": 0.7}\n```'),
    "writes-1.2": _writes('{"score": 1.2}'),
    "writes-minus": _writes('{"score": -0.01}'),
    "writes-nan": _writes('{"score": NaN}'),
    "writes-true": _writes('{"score": true}'),
    "writes-null": _writes('{"score": null}'),
    "writes-text": _writes('{"score": "0.7"}'),
    "writes-more": _writes('{"score": 0.7, "reason": "so"}'),
    "writes-twice": _writes('{"score": 0.7, "score": 0.1}'),
    "writes-list": _writes("[0.7]"),
    "writes-number": _writes("0.7"),
    "writes-huge": _writes('{"score": 1e999}'),
    "writes-nothing": _writes(""),
    "writes-null-content": _writes(None),
    "writes-cut-off": _writes('{"score": 0.7', "length"),
}


@fault("a-list")
def _list(handler: Handler, body: dict[str, Any], number: int) -> None:
    send(handler, [answer(body)])


@fault("other-model-on-the-way")
def _swapped(handler: Handler, body: dict[str, Any], number: int) -> None:
    send(handler, {**answer(body), "model": MODEL if number <= 4 else "tiny-v2"})


@fault("other-configuration-on-the-way")
def _configured(handler: Handler, body: dict[str, Any], number: int) -> None:
    send(handler, {**answer(body), "system_fingerprint": "fp_1" if number <= 4 else "fp_2"})


@fault("slow-first")
def _slow_first(handler: Handler, body: dict[str, Any], number: int) -> None:
    if number == 1:
        handler.server.stopping.wait(0.4)  # type: ignore[attr-defined]
    send(handler, answer(body))


@fault("slow-each")
def _slow_each(handler: Handler, body: dict[str, Any], number: int) -> None:
    handler.server.stopping.wait(0.15)  # type: ignore[attr-defined]
    send(handler, answer(body))


@fault("breaks-after-five")
def _breaks(handler: Handler, body: dict[str, Any], number: int) -> None:
    if number > 5:
        send(handler, message("this prompt is too long"), 400)
    else:
        send(handler, answer(body))


@fault("with-ids")
def _with_ids(handler: Handler, body: dict[str, Any], number: int) -> None:
    said = answer(body)
    for one in said["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
        one["id"] = VOCABULARY.index(one["token"])
    send(handler, said)
