"""What a user sees of each fault: exit code, message, and how often the server was asked.

The table below is the one of book/served.md; the last test holds the two together.
"""

from __future__ import annotations

import functools
import json
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from faulty_server import running
from recorded_judges import make_items
from server_faults import FAULTS

from chaincheck.cli import main
from chaincheck.items import write_items
from chaincheck.judges import server as server_module
from chaincheck.judges.record import RecordedJudge
from chaincheck.judges.server_http import Patience

PAGE = Path(__file__).parent.parent / "book" / "served.md"
ITEMS = 6


@dataclass(frozen=True)
class Case:
    """A fault and what a user sees of it.

    Attributes:
        fault: its name in ``server_faults``.
        told: what the message holds.
        code: exit code.
        asked: how often the server was asked about the first item; None to leave it open.
        recorded: judgments in the log afterwards.
        mode: the judge's mode.
        more: further keys of the judge.
    """

    fault: str
    told: str
    code: int = 2
    asked: int | None = 1
    recorded: int = 0
    mode: str = "top"
    more: dict[str, Any] = field(default_factory=dict)


IDS = {"yes_ids": [0, 1, 2, 3], "no_ids": [4, 5, 6, 7]}
KEY = {"api_key_env": "CHAINCHECK_TEST_KEY"}
QUICK = {"timeout": 0.4}
WELL = ""
TABLE = [
    # It passes: the run goes on, and the record says how often it was asked.
    Case("none", WELL, 0, 1, ITEMS),
    Case("429-then-well", WELL, 0, 2, ITEMS),
    Case("429-retry-after-then-well", WELL, 0, 2, ITEMS),
    Case("500-then-well", WELL, 0, 2, ITEMS),
    Case("503-then-well", WELL, 0, 2, ITEMS),
    Case("silent-then-well", WELL, 0, 2, ITEMS, more=QUICK),
    Case("cut-then-well", WELL, 0, 2, ITEMS),
    # It does not pass: the patience ends.
    Case("429-for-ever", "the server answers 429: too busy (asked 3 times)", asked=3),
    Case("429-retry-after-for-ever", "the server answers 429: too busy (asked 3 times)", asked=3),
    Case("500-for-ever", "the server answers 500: too busy (asked 3 times)", asked=3),
    Case("502-for-ever", "the server answers 502: too busy (asked 3 times)", asked=3),
    Case("503-for-ever", "the server answers 503: too busy (asked 3 times)", asked=3),
    Case("html-page-503", "the server answers 503: <html><h1>Service Unavailable", asked=3),
    Case("silent", "no whole reply within 0.4 seconds (0 bytes came)", asked=3, more=QUICK),
    Case("slow-drip", "no whole reply within 0.4 seconds (", asked=3, more=QUICK),
    Case("slow-drip-of-headers", "no whole reply within 0.4 seconds (0", asked=3, more=QUICK),
    Case("cut-before-a-reply", "the connection broke off before the whole reply", asked=3),
    Case("cut-in-the-body", "the connection broke off before the whole reply", asked=3),
    # Asking again would not help.
    Case("400", "the server answers 400: too busy. Change what is asked for"),
    Case("404", "the server answers 404: too busy. Check the judge's url and model"),
    Case("401-echoes-the-key", "the server answers 401: the key *** is unknown", more=KEY),
    Case("redirect", "the server redirects (status 307), which is not followed"),
    Case("html-page", "the reply is no JSON but text/html: <html><body><h1>Welcome to the proxy"),
    Case("wrong-json", "the reply is no valid JSON: JSON is malformed"),
    Case("short-body", "the reply is no valid JSON: Input data was truncated"),
    Case("compressed", "the reply is compressed (gzip), which was not asked for"),
    Case("huge-body", "the reply is longer than 64 MiB"),
    Case("a-list", "the reply is not of the form that was asked for: Expected `object`"),
    Case("error-in-200", "the server answers with an error: {'message': 'no memory'"),
    Case("no-choices", "the reply holds no choices"),
    Case("two-choices", "the reply holds 2 choices, and one was asked for"),
    Case("tool-call", "the model calls a tool, and none was offered"),
    Case("refusal", "the model refuses: I cannot help with that."),
    Case("content-filter", "the server's content filter stopped the answer"),
    # The model is not the one that was asked for.
    Case("no-model", "the reply names no model"),
    Case("other-model", "names the model 'tiny-quantized', and 'tiny' was to answer"),
    Case("other-model-on-the-way", "the server changed its model on the way", recorded=4),
    # Log-probabilities are missing, or none.
    Case("logprobs-dropped", "no log-probabilities, though they were asked for: this server drops"),
    Case("logprobs-null", "no log-probabilities, though they were asked for: this server drops"),
    Case("logprobs-empty", "no log-probabilities, though they were asked for: this server drops"),
    Case("top-logprobs-dropped", "no log-probabilities, though they were asked for"),
    Case("ids-dropped", "drops 'logprob_token_ids' in silence", mode="ids", more=IDS),
    Case("logprobs-dropped", "no log-probabilities", mode="ids", more=IDS),
    Case("nan", "the reply is no valid JSON: JSON is malformed"),
    Case("logprob-true", "Expected `float`, got `bool`"),
    Case("logprob-text", "Expected `float`, got `str`"),
    Case("above-one", "the token 'Yes' has the logarithm 0.7, a probability above 1"),
    Case("sum-above-one", "the returned probabilities sum to 1.81"),
    Case("suppressed", "the logarithm -9999.0: these are taken after tokens were ruled out"),
    # What counts was not returned: recorded as bounds, and no score.
    Case("neither-yes-nor-no", "neither yes nor no among the returned tokens", recorded=1),
    Case("no-no", "could only bound this score: (", recorded=1),
    # A number that is none.
    *(
        Case(name, told, mode="json")
        for name, told in {
            "writes-prose": "'I would say about 0.7.' is not a JSON object that holds one number",
            "writes-fenced": "is not a JSON object that holds one number",
            "writes-1.2": "the score '1.2' is not from 0 to 1, and is not clipped",
            "writes-minus": "the score '-0.01' is not from 0 to 1, and is not clipped",
            "writes-nan": "is not a JSON object that holds one number",
            "writes-true": "is not a JSON object that holds one number",
            "writes-null": "is not a JSON object that holds one number",
            "writes-text": "is not a JSON object that holds one number",
            "writes-more": "is not a JSON object that holds one number",
            "writes-twice": "is not a JSON object that holds one number",
            "writes-list": "is not a JSON object that holds one number",
            "writes-number": "is not a JSON object that holds one number",
            "writes-huge": "the score '1e999' is not from 0 to 1, and is not clipped",
            "writes-nothing": "the model wrote nothing",
            "writes-null-content": "the model wrote nothing",
            "writes-cut-off": "the answer was cut off",
        }.items()
    ),
]
ELSEWHERE = {
    "slow-first",
    "slow-each",
    "breaks-after-five",
    "with-ids",
    "other-configuration-on-the-way",
}
"""Names of ``server_faults`` that other tests use."""

SECRET = "sk-0123456789-not-a-real-key"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running() as found:
        yield found


def told_by(address: str, path: str) -> Any:
    with urllib.request.urlopen(f"{address}/{path}") as reply:
        return json.load(reply)


def seen(address: str, fault: str, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = told_by(address, f"{fault}/{session}/seen")
    return found


def write_judge(path: Path, url: str, mode: str, more: dict[str, Any]) -> None:
    keys: dict[str, Any] = {"kind": "server", "url": url, "model": "tiny", "mode": mode}
    if mode == "top":
        keys |= {"top_logprobs": 16, "minimum_mass": 0}
        keys |= {"yes_tokens": ["Yes"], "no_tokens": ["No"]}
    keys |= {"retries": 2, "concurrency": 1, **more}
    path.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items()))


@pytest.mark.parametrize("case", TABLE, ids=lambda case: f"{case.fault} {case.mode}")
def test_a_fault_and_what_a_user_sees(
    case: Case, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAINCHECK_TEST_KEY", SECRET)
    hasty = functools.partial(Patience, first_pause=0.02, longest_asked=0.05)
    monkeypatch.setattr(server_module, "Patience", hasty)
    monkeypatch.chdir(tmp_path)
    url = f"{address}/{case.fault}/{case.mode}/v1"
    write_judge(Path("judge.toml"), url, case.mode, case.more)
    write_items("data.jsonl", make_items(ITEMS))
    asked = "score --data data.jsonl --judge judge.toml --log log.jsonl --live --out scores.jsonl"
    code, told = run(asked)

    assert code == case.code, told
    assert case.told in told
    assert "Traceback" not in told and SECRET not in told and len(told) < 900
    assert told.isprintable() or told.replace("\n", "").isprintable()
    first = seen(address, case.fault, case.mode)[0]["body"]
    same = [one for one in seen(address, case.fault, case.mode) if one["body"] == first]
    assert case.asked is None or len(same) == case.asked
    if case.code:
        assert "http://127.0.0.1" in told or "scores.jsonl" in told
        assert re.search(r"item 'i[0-5]'", told) and not Path("scores.jsonl").exists()
    else:
        assert len(Path("scores.jsonl").read_text().splitlines()) == ITEMS
    assert SECRET not in Path("log.jsonl").read_text()
    if case.recorded:
        recorded = list(RecordedJudge("log.jsonl").score(make_items(case.recorded)))
        usage = recorded[0].usage
        assert usage is not None and usage["attempts"] == case.asked
        if "retry-after" in case.fault:  # it asks for a second; the limit is 0.05 here
            assert 0.05 <= usage["waited_seconds"] <= 0.056
        else:
            assert usage.get("waited_seconds", 0) <= 0.02
    if came := re.search(r"\((\d+) bytes came\)", told):  # a byte each 0.05 seconds
        assert int(came[1]) <= 20
    if case.fault == "huge-body":
        assert told_by(address, "huge-body/top/blocks") < 200


def run(line: str) -> tuple[int, str]:
    """Run a command as the shell would; gives the exit code and what was printed."""
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stderr(out), contextlib.redirect_stdout(out):
        try:
            code = main(line.split())
        except SystemExit as stop:
            code = stop.code
    return int(code or 0), out.getvalue()


def table() -> str:
    """The table as the page has it."""
    rows = ["| fault | mode | exit | asked | recorded | told |", "|---|---|--:|--:|--:|---|"]
    for case in TABLE:
        told = f"`{case.told}`" if case.told else ""
        recorded = f"{case.recorded} of {ITEMS}"
        rows.append(
            f"| {case.fault} | {case.mode} | {case.code} | {case.asked} | {recorded} | {told} |"
        )
    return "\n".join(rows)


def test_the_page_has_this_table() -> None:
    page = PAGE.read_text("utf-8")
    begin, end = "<!-- begin faults -->\n", "\n<!-- end faults -->"
    found = page[page.index(begin) + len(begin) : page.index(end)].strip()
    assert found == table(), "put into the page what `python tests/test_server_faults.py` prints"


def test_every_fault_has_a_row() -> None:
    assert {case.fault for case in TABLE} | ELSEWHERE == set(FAULTS)


if __name__ == "__main__":
    print(table())
