"""`chaincheck audit` as its users meet it: exit codes, files, one clear line for a mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.examples import CASES, chain_case, claims_case
from chaincheck.adherence.schema import protocol_schema, replay_schema
from chaincheck.cli import main
from chaincheck.refusals import CODES

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def replays(tmp_path: Path) -> dict[str, Path]:
    out = {}
    for name in CASES:
        out[name] = tmp_path / f"{name}.json"
        out[name].write_bytes(encode_replay(claims_case(name), indent=1))
    out["chain"] = tmp_path / "chain.json"
    out["chain"].write_bytes(encode_replay(chain_case()))
    return out


def refused(arguments: list[str], capsys: Capture) -> str:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("chaincheck: error: ")
    assert err.count("\n") == 1
    return err


def test_the_exit_code_is_the_status(
    replays: dict[str, Path], tmp_path: Path, capsys: Capture
) -> None:
    codes = {name: main(["audit", str(path)]) for name, path in replays.items()}
    assert codes == {"A": 0, "B": 1, "C": 1, "D": 1, "chain": 1}
    assert capsys.readouterr().out.startswith("SATISFIED  bridge-A\n")
    document = json.loads(replays["A"].read_text())
    document["annotations"] = document["annotations"][:3]
    unknown = tmp_path / "unknown.json"
    unknown.write_text(json.dumps(document))
    assert main(["audit", str(unknown)]) == 3
    assert main(["audit", "file", str(unknown)]) == 3


def test_options_may_stand_first_and_files_are_written(
    replays: dict[str, Path], tmp_path: Path, capsys: Capture
) -> None:
    page, out = tmp_path / "page.html", tmp_path / "out.json"
    assert main(["audit", "--html", str(page), "--json", str(out), str(replays["C"])]) == 1
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert json.loads(out.read_text())["overall"] == "VIOLATED"
    assert "over-claim" in capsys.readouterr().out
    assert main(["audit", str(replays["C"]), "--json", "-"]) == 1
    assert json.loads(capsys.readouterr().out) == json.loads(out.read_text())


def test_bad_input_is_one_line_with_its_code(tmp_path: Path, capsys: Capture) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('{"schema": "chaincheck.replay/1", "schema": 1}')
    assert "DUPLICATE_KEY at $.schema" in refused(["audit", str(bad)], capsys)
    assert "no such file" in refused(["audit", str(tmp_path / "none.json")], capsys)
    assert "is a folder" in refused(["audit", str(tmp_path)], capsys)
    bad.write_bytes(b"\x00\xff")
    assert "NOT_UTF8" in refused(["audit", str(bad)], capsys)
    many = tmp_path / "many.jsonl"
    many.write_text("{}\n{}\n")
    assert "chaincheck audit batch" in refused(["audit", str(many)], capsys)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("btach", "batch"),
        ("Batch", "batch"),
        ("replay", "replays"),
        ("claim", "claims"),
        ("agreemnt", "agreement"),
        ("protocols", "protocol"),
        ("qoute", "quote"),
    ],
)
def test_a_misspelt_command_is_told_its_neighbor(
    word: str, meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    for more in ([], ["in.jsonl", "--out", "out.jsonl"]):
        err = refused(["audit", word, *more], capsys)
        assert f"'{meant}'" in err
        assert word in err
        assert "No such option" not in err


def test_a_word_without_a_neighbor_is_told_all_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    err = refused(["audit", "xyzzy"], capsys)
    assert all(name in err for name in ("agreement", "ask", "batch", "claims", "new", "replays"))
    assert "\x1b" not in refused(["audit", "x\x1b[2J"], capsys)


def test_a_file_may_have_any_name(
    replays: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("btach", "batch", "replay", "-"):
        Path(name).write_bytes(replays["A"].read_bytes())
    assert main(["audit", "btach"]) == main(["audit", "replay"]) == 0
    assert main(["audit", "./batch"]) == main(["audit", "./-"]) == 0


def test_an_output_may_not_be_the_input(replays: dict[str, Path], capsys: Capture) -> None:
    before = replays["A"].read_bytes()
    refused(["audit", str(replays["A"]), "--html", str(replays["A"])], capsys)
    assert replays["A"].read_bytes() == before


def test_help_tells_the_exit_codes(capsys: Capture) -> None:
    assert main(["audit", "--help"]) == 0
    shown = capsys.readouterr().out
    for words in ("0  SATISFIED", "1  VIOLATED", "3  UNKNOWN", "REPLAY.json", "batch"):
        assert words in shown
    assert main(["audit", "batch", "-h"]) == 0
    assert "INVALID" in capsys.readouterr().out


def test_batch(replays: dict[str, Path], tmp_path: Path, capsys: Capture) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    raw = [encode_replay(claims_case(name)) for name in CASES]
    source.write_bytes(b"\n".join(raw))
    summary = tmp_path / "summary.json"
    arguments = ["audit", "batch", str(source), "--out", str(out), "--json", str(summary)]
    assert main(arguments) == 0
    assert "4 replays audited, 0 lines INVALID" in capsys.readouterr().out
    assert json.loads(summary.read_text())["rates"]["grounding"]["violated"] == 1
    source.write_bytes(b"\n".join([*raw, b"{"]))
    assert main(arguments) == 2
    assert "line 5: NOT_JSON at $" in capsys.readouterr().out
    assert len(out.read_bytes().splitlines()) == 5
    refused(["audit", "batch", str(source), "--out", str(source)], capsys)


def test_a_batch_says_what_its_intervals_take_for_granted(
    replays: dict[str, Path], tmp_path: Path, capsys: Capture
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(b"\n".join(encode_replay(claims_case(name)) for name in CASES))
    summary = tmp_path / "s.json"
    arguments = ["audit", "batch", str(source), "--out", str(tmp_path / "o.jsonl")]
    assert main([*arguments, "--json", str(summary)]) == 0
    shown = capsys.readouterr().out
    assert "independent of each other" in shown
    assert "chaincheck audit claims" in shown
    assert "(V+U)/N" in shown
    assert "independent" in json.loads(summary.read_text())["interval"]


def test_batch_through_pipes(tmp_path: Path) -> None:
    raw = b"\n".join(encode_replay(claims_case(name)) for name in CASES)
    command = [sys.executable, "-m", "chaincheck", "audit", "batch", "/dev/stdin"]
    done = subprocess.run(
        [*command, "--out", "/dev/stdout"], input=raw, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in found] == [f"bridge-{name}" for name in CASES]
    assert b"4 replays audited" in done.stderr
    missing = tmp_path / "none" / "out.jsonl"
    done = subprocess.run(
        [*command, "--out", str(missing)], input=raw, capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert str(missing).encode() in done.stderr


def test_a_new_replay_is_unknown_until_it_is_filled_in(tmp_path: Path, capsys: Capture) -> None:
    texts = {}
    for name, text in {
        "p1": "Jaws was directed by Steven Spielberg.\n",
        "p2": "Spielberg was born in Cincinnati.",
        "why": "Passage 1 names the director, passage 2 the place.",
        "q": "Where was the director of Jaws born?",
    }.items():
        texts[name] = tmp_path / f"{name}.txt"
        texts[name].write_text(text)
    out = tmp_path / "new.json"
    arguments = ["audit", "new", "--protocol", "chain-evidence/1", "--id", "jaws"]
    arguments += ["--context", str(texts["p1"]), "--context", str(texts["p2"])]
    arguments += ["--question", str(texts["q"]), "--rationale", str(texts["why"])]
    assert main([*arguments, "--gold", "PASS", "--out", str(out)]) == 0
    document = json.loads(out.read_text())
    assert list(document["sources"]) == ["p1", "p2", "question", "rationale"]
    assert document["sources"]["p1"]["text"] == "Jaws was directed by Steven Spielberg."
    assert {one["value"] for one in document["annotations"]} == {"UNKNOWN"}
    assert main(["audit", str(out)]) == 3
    capsys.readouterr()

    assert main(["audit", "quote", str(out), "rationale", "names the director"]) == 0
    span = json.loads(capsys.readouterr().out)
    document["annotations"][0] = {"atom": "j_hop1", "value": "TRUE", "evidence": [span]}
    out.write_text(json.dumps(document))
    assert main(["audit", str(out)]) == 3
    capsys.readouterr()
    assert "stands 2 times" in refused(["audit", "quote", str(out), "rationale", "assage"], capsys)
    assert "no source" in refused(["audit", "quote", str(out), "p9", "x"], capsys)
    assert "no protocol 'x'" in refused([*arguments[:3], "x", "--out", "x.json"], capsys)


def test_a_template_takes_claims(tmp_path: Path, capsys: Capture) -> None:
    text, out = tmp_path / "t.txt", tmp_path / "new.json"
    text.write_text("She was born in Lund.")
    arguments = ["audit", "new", "--protocol", "factual-claims/1", "--context", str(text)]
    arguments += ["--rationale", str(text), "--out", str(out)]
    assert "claims at hand" in refused(arguments, capsys)
    assert main([*arguments, "--claim", "born", "she was born in Lund"]) == 0
    atoms = json.loads(out.read_text())["protocol"]["atoms"]
    assert [one["id"] for one in atoms[:2]] == ["j_born", "c_born"]


def test_what_was_not_said_of_a_new_replay_is_said_by_it(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "new.json"
    arguments = ["audit", "new", "--protocol", "chain-evidence/1", "--out"]
    assert main([*arguments, str(out)]) == 0
    assert "verdict PASS, since no --verdict was given" in capsys.readouterr().out
    assert "exists already" in refused([*arguments, str(out)], capsys)
    assert main([*arguments, str(tmp_path / "2.json"), "--verdict", "FAIL"]) == 0
    assert "--verdict" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["new", "protocol"])
def test_a_claim_is_named_once(command: str, tmp_path: Path, capsys: Capture) -> None:
    name = ["factual-claims/1"] if command == "protocol" else ["--protocol", "factual-claims/1"]
    more = ["--out", str(tmp_path / "n.json")] if command == "new" else []
    claims = ["--claim", "a", "one", "--claim", "a", "another"]
    assert "two claims 'a'" in refused(["audit", command, *name, *claims, *more], capsys)
    assert not (tmp_path / "n.json").exists()


def test_an_interrupted_batch_says_how_to_go_on(
    replays: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\n".join(encode_replay(claims_case(name)) for name in CASES))

    def interrupted(*_arguments: object, **_options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("chaincheck.adherence.batch.audit_lines", interrupted)
    assert main(["audit", "batch", str(source), "--out", str(out)]) == 130
    assert "the same command goes on" in capsys.readouterr().err
    assert main(["audit", "batch", str(source), "--out", "/dev/stdout"]) == 130
    assert "goes on" not in capsys.readouterr().err


def test_a_protocol_is_looked_over(tmp_path: Path, capsys: Capture) -> None:
    assert main(["audit", "protocol", "chain-evidence/1s"]) == 0
    assert "no weakness found" in capsys.readouterr().out
    own = tmp_path / "own.json"
    own.write_text(
        json.dumps(
            {
                "id": "own/1",
                "atoms": [
                    {"id": "j_a", "role": "judge"},
                    {"id": "c_a", "role": "context"},
                    {"id": "spare", "role": "procedure"},
                ],
                "constraints": [
                    {"id": "k", "expr": {"op": "iff", "args": [{"atom": "j_a"}, {"atom": "c_a"}]}}
                ],
                "decision": {"atom": "j_a"},
            }
        )
    )
    assert main(["audit", "protocol", str(own), "--json", "-"]) == 1
    found = json.loads(capsys.readouterr().out)
    codes = [one["code"] for one in found["weaknesses"]]
    assert set(codes) >= {"atom_unused", "no_requirement", "no_grounding"}
    assert "constraint_mixes_judge_and_context" in codes
    own.write_text('{"id": "own/1"}')
    assert "MISSING_FIELD at $" in refused(["audit", "protocol", str(own)], capsys)


def test_schema_and_codes(capsys: Capture) -> None:
    assert main(["audit", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == replay_schema()
    assert main(["audit", "schema", "--protocol"]) == 0
    assert json.loads(capsys.readouterr().out) == protocol_schema()
    assert main(["audit", "codes"]) == 0
    shown = capsys.readouterr().out
    assert all(f"{code}\n" in shown for code in CODES)


def test_agreement(tmp_path: Path, capsys: Capture) -> None:
    first = tmp_path / "a.jsonl"
    first.write_bytes(b"\n".join(encode_replay(claims_case(name)) for name in CASES))
    arguments = ["audit", "agreement", str(first), str(first), "--resamples", "100"]
    assert main(arguments) == 0
    assert "the same for 4 of 4" in capsys.readouterr().out
    second = tmp_path / "b.jsonl"
    second.write_bytes(encode_replay(chain_case()))
    assert "no replay in common" in refused(["audit", "agreement", str(first), str(second)], capsys)
