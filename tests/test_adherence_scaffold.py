"""A replay to start from, and a protocol at a glance."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from chaincheck.adherence.audit import audit
from chaincheck.adherence.decode import read_replay
from chaincheck.adherence.page import report_page
from chaincheck.adherence.protocols import load_protocol
from chaincheck.adherence.report import report_text
from chaincheck.adherence.scaffold import inspect_protocol, scaffold, scaffold_file
from chaincheck.errors import UnreadableFile, UnwritableOutput
from chaincheck.refusals import LIMITS


def test_every_atom_is_unknown_and_sources_are_named_after_their_kind() -> None:
    rules = load_protocol("chain-evidence/1")
    texts = {"context": ["one"], "trace": ["a", "b"], "rationale": ["why"]}
    recorded = scaffold("x", rules, texts, verdict="FAIL", gold="PASS")  # type: ignore[arg-type]
    names = [source.id for source in recorded.replay.sources]
    assert names == ["p1", "trace1", "trace2", "rationale"]
    said = {(one.atom, one.value) for one in recorded.replay.annotations}
    assert said == {(atom.id, "UNKNOWN") for atom in rules.atoms}
    assert (recorded.replay.verdict, recorded.gold) == ("FAIL", "PASS")
    assert audit(recorded.replay).overall == "UNKNOWN"


def test_texts_come_from_files_of_any_line_end(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_bytes("Malmö\r\nis\r\n".encode())
    packed.write_bytes(gzip.compress(b"x\n\n"))
    out = tmp_path / "new.json"
    scaffold_file(
        out,
        "x",
        "chain-evidence/1",
        claims={},
        texts={"context": [plain, packed], "rationale": []},
        verdict="PASS",
    )
    assert [one.text for one in read_replay(out).replay.sources] == ["Malmö\r\nis", "x\n"]


def test_what_cannot_be_a_text_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    out = tmp_path / "new.json"

    def make(target: Path = out) -> None:
        texts = {"context": [bad]}
        scaffold_file(target, "x", "chain-evidence/1", claims={}, texts=texts, verdict="PASS")

    with pytest.raises(UnreadableFile, match="no such file"):
        make()
    bad.write_bytes(b"\xff")
    with pytest.raises(UnreadableFile, match="not UTF-8"):
        make()
    bad.write_bytes(b"x" * (LIMITS.size + 1))
    with pytest.raises(UnreadableFile, match="larger than 4 MiB"):
        make()
    bad.write_bytes(b"x")
    with pytest.raises(UnwritableOutput):
        make(bad)
    assert bad.read_bytes() == b"x"
    assert not out.exists()


def test_a_replay_that_may_have_been_filled_in_is_not_written_over(tmp_path: Path) -> None:
    text, out = tmp_path / "p.txt", tmp_path / "new.json"
    text.write_text("x")

    def make(target: Path) -> None:
        texts = {"context": [text]}
        scaffold_file(target, "x", "chain-evidence/1", claims={}, texts=texts, verdict="PASS")

    make(out)
    filled = out.read_text().replace("to be read", "read")
    out.write_text(filled)
    link = tmp_path / "link.json"
    link.symlink_to(out)
    for target in (out, link):
        with pytest.raises(UnwritableOutput, match="exists already"):
            make(target)
    assert out.read_text() == filled
    make(Path("/dev/null"))


def test_every_weakness_names_what_is_weak(tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    atoms = [{"id": "j_a", "role": "judge"}, {"id": "c_a", "role": "context"}]
    tie = {"op": "iff", "args": [{"atom": "j_a"}, {"atom": "c_a"}]}
    rules = {"id": "own/1", "atoms": atoms, "decision": {"atom": "j_a"}}
    rules |= {"constraints": [{"id": "tie\x1b", "expr": tie}]}
    rules |= {"requirements": [{"id": "nothing", "expr": {"const": True}}]}
    own.write_text(json.dumps(rules))
    view = inspect_protocol(own)
    text = view.to_text()
    assert {one.subject for one in view.weaknesses} >= {"tie\x1b", "nothing", "j_a"}
    for one in view.weaknesses:
        assert f"{one.code} ({one.subject.replace(chr(27), '').strip()}): " in text
    recorded = scaffold("r", load_protocol(own), {}, verdict="PASS")
    found = audit(recorded.replay)
    shown, page = report_text(recorded, found), report_page(recorded, found)
    for lint in found.lints:
        subject = lint.subject.replace("\x1b", "")
        assert f"{lint.code} ({subject}): " in shown
        assert f"<code>{lint.code}</code> (<bdi>{subject}" in page


def test_a_protocol_at_a_glance(tmp_path: Path) -> None:
    found = inspect_protocol("chain-evidence/1s")
    assert found.atoms == {"judge": 2, "context": 2, "procedure": 8}
    assert (found.constraints, found.requirements, found.pairs) == (2, 6, 2)
    assert (found.unused, found.weaknesses) == ((), ())
    own = tmp_path / "own.json"
    atoms = [{"id": "j_a", "role": "judge"}, {"id": "spare", "role": "procedure"}]
    own.write_text(json.dumps({"id": "own/1", "atoms": atoms, "decision": {"atom": "j_a"}}))
    view = inspect_protocol(own)
    assert view.unused == ("spare",)
    codes = [one.code for one in view.weaknesses]
    assert codes[-3:] == ["atom_unused", "no_requirement", "no_grounding"]
    assert "weakness: no_grounding" in view.to_text()
    assert json.loads(view.to_json())["unused"] == ["spare"]
