"""A file of replays: in order, whatever a line holds; taken up after a kill; counted right."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from chaincheck.adherence import batch
from chaincheck.adherence.batch import audit_line, audit_lines, replay_lines, takes_up
from chaincheck.adherence.batch_summary import DIMENSIONS, Tally
from chaincheck.adherence.encode import encode_replay, replay_document
from chaincheck.adherence.examples import CASES, chain_case, claims_case
from chaincheck.adherence.rates import clopper_pearson
from chaincheck.errors import LogInUse, UnreadableFile
from chaincheck.refusals import LIMITS

T = TypeVar("T")
DOCUMENTS = [*(replay_document(claims_case(name)) for name in CASES), replay_document(chain_case())]


def lines(count: int) -> list[bytes]:
    out = []
    for at in range(count):
        out.append(json.dumps({**DOCUMENTS[at % 5], "id": f"r{at}"}).encode())
    return out


def written(path: Path, raw: list[bytes]) -> Path:
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def reports(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.part"))


def test_one_report_a_line_in_order(tmp_path: Path) -> None:
    source, out = written(tmp_path / "in.jsonl", lines(12)), tmp_path / "out.jsonl"
    summary = audit_lines(source, out)
    found = reports(out)
    assert [one["id"] for one in found] == [f"r{at}" for at in range(12)]
    assert [one["overall"] for one in found[:5]] == ["SATISFIED", *["VIOLATED"] * 4]
    assert found[3] == {**audit_line(lines(4)[3], path=source, line=4)}
    assert (summary.lines, summary.audited, summary.invalid) == (12, 12, 0)
    assert parts(tmp_path) == []


def test_a_broken_line_is_counted_apart_and_nothing_else_changes(tmp_path: Path) -> None:
    raw = lines(9)
    expected = reports_of(tmp_path, raw)
    broken = json.loads(raw[4])
    broken["annotations"][0]["evidence"][0]["start"] = True
    raw[2], raw[4] = b'{"id": "r2", ', json.dumps(broken).encode()
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\n\n" + b"\r\n \n".join(raw))
    summary = audit_lines(source, out)
    found = reports(out)
    assert len(found) == 9
    assert [one for at, one in enumerate(found) if at not in {2, 4}] == [
        one for at, one in enumerate(expected) if at not in {2, 4}
    ]
    assert {key: found[2][key] for key in ("id", "overall", "line", "code", "path")} == {
        "id": None,
        "overall": "INVALID",
        "line": 7,
        "code": "NOT_JSON",
        "path": "$",
    }
    assert (found[4]["id"], found[4]["code"]) == ("r4", "WRONG_TYPE")
    assert found[4]["path"] == "$.annotations[0].evidence[0].start"
    assert "dimensions" not in found[4]
    assert (summary.lines, summary.audited, summary.invalid) == (9, 7, 2)
    assert summary.invalid_codes == {"NOT_JSON": 1, "WRONG_TYPE": 1}
    assert summary.invalid_lines[0] == (7, "NOT_JSON", "$")
    assert sum(summary.statuses["overall"].values()) == 7
    assert "line 7: NOT_JSON at $" in summary.to_text()


def reports_of(folder: Path, raw: list[bytes]) -> list[dict[str, Any]]:
    out = folder / "whole.jsonl"
    audit_lines(written(folder / "whole_in.jsonl", raw), out)
    return reports(out)


def test_rates_leave_out_the_invalid_and_bound_the_unknown() -> None:
    tally = Tally()
    for status, count in (("VIOLATED", 3), ("UNKNOWN", 2), ("SATISFIED", 5)):
        for _ in range(count):
            tally.add(_report(status, grounding="NOT_SPECIFIED"))
    tally.add(
        _report("UNKNOWN", forced=("translation_status: ambiguous",), verdict="NOT_EVALUATED")
    )
    tally.add({"overall": "INVALID", "code": "NOT_JSON", "path": "$", "line": 3})
    found = tally.summary(0.9)
    overall = found.rates["overall"]
    assert (overall.violated, overall.unknown, overall.total) == (3, 3, 11)
    assert (overall.low, overall.high) == clopper_pearson(3, 11, 0.9)
    assert (overall.least, overall.most) == (3 / 11, 6 / 11)
    assert found.rates["grounding"].total == 1, "what is not specified is in no rate"
    assert found.rates["verdict"].unknown == 3
    assert (found.forced, found.invalid, found.audited) == (1, 1, 11)
    assert found.by_gold["right"] == {"SATISFIED": 5, "UNKNOWN": 3, "VIOLATED": 3}
    assert json.loads(found.to_json())["rates"]["overall"]["violated"] == 3


def _report(status: str, forced: tuple[str, ...] = (), **dimensions: str) -> dict[str, Any]:
    names = ("verdict", "procedure", "coverage", "grounding")
    return {
        "overall": status,
        "overall_forced_by": forced,
        "dimensions": {name: dimensions.get(name, status) for name in names},
        "gold_match": True,
    }


def test_nothing_audited_has_no_rate(tmp_path: Path) -> None:
    source = written(tmp_path / "in.jsonl", [b"{}"])
    summary = audit_lines(source, tmp_path / "out.jsonl")
    assert summary.rates["overall"].estimate is None
    assert "0 replays audited, 1 line INVALID" in summary.to_text()


@pytest.mark.parametrize("torn", [b'{"half a report', b"", b"null\n", None])
@pytest.mark.parametrize("stop", [1, 3, 7])
def test_an_interrupted_batch_is_taken_up(
    stop: int, torn: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = written(tmp_path / "in.jsonl", lines(10)), tmp_path / "out.jsonl"
    expected = reports_of(tmp_path, lines(10))

    def stopping(items: Iterable[T], *, what: str, start: int = 0) -> Iterator[T]:
        for at, item in enumerate(items, start):
            if at == stop:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        audit_lines(source, out, progress=stopping)
    assert not out.exists(), "the output appears whole or not at all"
    (part,) = parts(tmp_path)
    assert len(part.read_bytes().splitlines()) == stop
    if torn is None:  # a report that is whole but for its line feed
        part.write_bytes(part.read_bytes()[:-1])
        stop -= 1
    else:
        with part.open("ab") as file:
            file.write(torn)
    asked: list[int] = []
    real = audit_line

    def counting(raw: bytes, **rest: Any) -> dict[str, Any]:
        asked.append(rest["line"])
        return real(raw, **rest)

    monkeypatch.setattr(batch, "audit_line", counting)
    summary = audit_lines(source, out)
    assert asked == list(range(stop + 1, 11)), "what was audited is not audited again"
    assert reports(out) == expected
    assert summary.audited == 10
    assert summary == audit_lines(source, tmp_path / "again.jsonl")
    assert parts(tmp_path) == []


def test_a_partial_file_of_another_input_is_not_taken_up(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    source = written(tmp_path / "in.jsonl", lines(3))

    def stopping(items: Iterable[T], *, what: str, start: int = 0) -> Iterator[T]:
        for at, item in enumerate(items):
            if at == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        audit_lines(source, out, progress=stopping)
    audit_lines(source, tmp_path / "plain.jsonl")
    audit_lines(source, out, explain=True)
    assert all(one["radius"] for one in reports(out)), "nor one that was audited otherwise"
    written(source, [json.dumps({**DOCUMENTS[0], "id": f"x{at}"}).encode() for at in range(3)])
    audit_lines(source, out)
    assert [one["id"] for one in reports(out)] == ["x0", "x1", "x2"]


def test_two_processes_do_not_write_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="this system cannot lock files")
    source, out = written(tmp_path / "in.jsonl", lines(3)), tmp_path / "out.jsonl"

    def meddling(items: Iterable[T], *, what: str, start: int = 0) -> Iterator[T]:
        with pytest.raises(LogInUse):
            audit_lines(source, out)
        assert len(parts(tmp_path)) == 1, "it is left to the one that writes it"
        yield from items

    assert audit_lines(source, out, progress=meddling).audited == 3


def test_a_killed_process_loses_little(tmp_path: Path) -> None:
    source, out = written(tmp_path / "in.jsonl", lines(1500)), tmp_path / "out.jsonl"
    command = [sys.executable, "-m", "chaincheck", "audit", "batch", str(source)]
    command += ["--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not (parts(tmp_path) and parts(tmp_path)[0].stat().st_size):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not out.exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [one["id"] for one in reports(out)] == [f"r{at}" for at in range(1500)]
    assert parts(tmp_path) == []


def test_what_cannot_be_taken_up_leaves_nothing(tmp_path: Path) -> None:
    pipe, out = tmp_path / "pipe", tmp_path / "out.jsonl"
    os.mkfifo(pipe)
    raw = b"\n".join(lines(4))
    writer = threading.Thread(target=pipe.write_bytes, args=(raw,))
    writer.start()

    def stopped(items: Iterable[Any], *, what: str, start: int = 0) -> Iterator[Any]:
        for at, item in enumerate(items):
            if at == 2:
                raise KeyboardInterrupt
            yield item

    with pytest.raises(KeyboardInterrupt):
        audit_lines(pipe, out, progress=stopped)
    writer.join()
    assert list(tmp_path.iterdir()) == [pipe]
    assert not takes_up(pipe, out)
    assert not takes_up(written(tmp_path / "in.jsonl", lines(1)), "/dev/stdout")
    assert takes_up(tmp_path / "in.jsonl", out)


def test_an_end_that_is_not_zero_or_one_is_not_shown_as_such(tmp_path: Path) -> None:
    tally = Tally()
    report: dict[str, Any] = {"overall": "SATISFIED", "gold_match": None, "overall_forced_by": []}
    report["dimensions"] = dict.fromkeys(DIMENSIONS[1:], "VIOLATED")
    for _ in range(100_000):
        tally.add(report)
    shown = tally.summary()
    overall, verdict = (shown.rates[name] for name in ("overall", "verdict"))
    assert 0 < overall.high < 0.0005 and 0.9995 < verdict.low < 1
    assert "[0.000, <0.001]" in shown.to_text()
    assert "[>0.999, 1.000]" in shown.to_text()


@pytest.mark.parametrize("head", [b"", b"\n \n"])
def test_a_replay_over_several_lines_is_told_from_broken_lines(tmp_path: Path, head: bytes) -> None:
    spread = encode_replay(claims_case("A"), indent=1)
    source = tmp_path / "in.jsonl"
    source.write_bytes(head + spread + b"\n" + spread)
    with pytest.raises(
        UnreadableFile, match=r"over several lines.*json\.tool --no-indent"
    ) as found:
        audit_lines(source, tmp_path / "out.jsonl")
    assert str(source) in str(found.value)
    assert parts(tmp_path) == []
    done = subprocess.run(
        [sys.executable, "-m", "json.tool", "--no-indent"],
        input=spread, capture_output=True, check=True,
    )  # fmt: skip
    source.write_bytes(done.stdout)
    assert audit_lines(source, tmp_path / "out.jsonl").audited == 1


@pytest.mark.parametrize("rest", [b"", b"{", b"[", b"x"])
def test_a_first_line_that_is_broken_costs_its_neighbors_nothing(
    tmp_path: Path, rest: bytes
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\n".join([b"{", rest, *lines(2)]))
    audit_lines(source, out)
    broken = ["INVALID"] * (2 if rest else 1)
    assert [one["overall"] for one in reports(out)] == [*broken, "SATISFIED", "VIOLATED"]
    assert [one.get("line") for one in reports(out)][: len(broken)] == [1, 2][: len(broken)]
    source.write_bytes(b"{")
    assert audit_lines(source, out).invalid == 1


def test_where_nothing_is_known_no_interval_pretends_to_know() -> None:
    tally = Tally()
    report: dict[str, Any] = {"overall": "UNKNOWN", "gold_match": None, "overall_forced_by": []}
    report["dimensions"] = dict.fromkeys(DIMENSIONS[1:], "UNKNOWN") | {"verdict": "VIOLATED"}
    for _ in range(50):
        tally.add(report)
    rows = {line.split()[0]: line.split() for line in tally.summary().to_text().splitlines()}
    assert rows["procedure"] == ["procedure", "0", "0", "50", "unknown", "–", "[0.000,", "1.000]"]
    assert rows["verdict"][4:] == ["1.000", "[0.929,", "1.000]", "[1.000,", "1.000]"]


def test_packed_files(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl.gz", tmp_path / "out.jsonl.gz"
    source.write_bytes(gzip.compress(b"\n".join(lines(4))))
    assert audit_lines(source, out).audited == 4
    assert len(gzip.decompress(out.read_bytes()).splitlines()) == 4
    source.write_bytes(gzip.compress(b"\n".join(lines(4)))[:-12])
    with pytest.raises(UnreadableFile, match="cannot be read on"):
        audit_lines(source, tmp_path / "other.jsonl")
    assert not (tmp_path / "other.jsonl").exists()


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    for raw in (b"", b"\n \r\n"):
        source = tmp_path / "in.jsonl"
        source.write_bytes(raw)
        with pytest.raises(UnreadableFile, match="is empty"):
            audit_lines(source, tmp_path / "out.jsonl")
        assert parts(tmp_path) == []


def test_a_line_that_is_too_long_is_never_held_and_costs_its_neighbors_nothing(
    tmp_path: Path,
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    first, second = lines(2)
    source.write_bytes(first + b"\n" + b"x" * (3 * LIMITS.size) + b"\n" + second)
    assert max(len(raw) for _, raw in replay_lines(source)) <= LIMITS.size + 2
    audit_lines(source, out)
    assert [one["overall"] for one in reports(out)] == ["SATISFIED", "INVALID", "VIOLATED"]
    assert (reports(out)[1]["code"], reports(out)[1]["line"]) == ("TOO_LARGE", 2)


def test_a_replay_of_4_mib_in_a_line(tmp_path: Path) -> None:
    document = json.loads(lines(1)[0])
    document["sources"]["long"] = {"kind": "trace", "text": ""}
    document["sources"]["long"]["text"] = "x" * (LIMITS.size - len(json.dumps(document)))
    raw = json.dumps(document).encode()
    assert len(raw) == LIMITS.size
    source = written(tmp_path / "in.jsonl", [raw, raw])
    assert audit_lines(source, tmp_path / "out.jsonl").audited == 2
