"""The protocols that come with the package, templates, and files of one's own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from chaincheck.adherence.decode import read_replay
from chaincheck.adherence.encode import protocol_document
from chaincheck.adherence.protocols import NAMES, load_protocol
from chaincheck.adherence.scaffold import inspect_protocol
from chaincheck.errors import InvalidReplay, UnreadableFile, UsageError

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "adherence"
CLAIMS = {
    "came": "Mira Osei came to Northgate in 2021",
    "leads": "Mira Osei leads the optics group",
}


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="the golden replays are not beside the repository")
def test_they_are_those_of_the_golden_replays() -> None:
    for name, file, claims in [
        ("factual-claims/1", "claims_A.json", CLAIMS),
        ("chain-evidence/1", "chain_D.json", None),
        ("chain-evidence/1s", "chain_D_strict.json", None),
    ]:
        assert load_protocol(name, claims) == read_replay(GOLDEN / file).replay.protocol


@pytest.mark.parametrize("name", NAMES)
def test_each_is_named_as_it_is_loaded(name: str, tmp_path: Path) -> None:
    protocol = load_protocol(name, CLAIMS if name == "factual-claims/1" else None)
    assert protocol.id == name
    assert all(one.description for one in protocol.atoms)
    own = tmp_path / "own.json"
    own.write_text(json.dumps(protocol_document(protocol)))
    assert load_protocol(own) == protocol


def test_a_claim_fills_atoms_decision_and_pairs() -> None:
    three = load_protocol("factual-claims/1", {"a": "one {claim}", "b": "two", "c": "three"})
    roles = three.roles()
    assert [name for name, role in roles.items() if role == "judge"] == ["j_a", "j_b", "j_c"]
    assert [pair.context for pair in three.grounding] == ["c_a", "c_b", "c_c"]
    assert "one {claim}" in three.atoms[0].description, "a statement is not filled again"


@pytest.mark.parametrize(
    ("name", "claims", "words"),
    [
        ("factual-claims/1", None, "made for the claims at hand"),
        ("factual-claims/1", {}, "made for the claims at hand"),
        ("factual-claims/1", {"A b": "x"}, "'A b' is no id of a claim"),
        ("chain-evidence/1", {"a": "x"}, "takes no claims"),
        ("chain-evidence/2", None, "no protocol 'chain-evidence/2'. Name one of factual-claims/1"),
    ],
)
def test_what_does_not_fit_is_refused(name: str, claims: dict[str, str] | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load_protocol(name, claims)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('{"for_each": "claim", "id": "x"}', "UNKNOWN_FIELD", "$.for_each"),
        ('{"atoms": [{"for_each": "hop"}]}', "WRONG_VALUE", "$.atoms[0].for_each"),
        ('{"atoms": ' + '{"op":' * 600 + "1" + "}" * 600 + "}", "TOO_DEEP", "$"),
        ("[]", "WRONG_TYPE", "$"),
        ('{"id": "a", "id": "b"}', "DUPLICATE_KEY", "$.id"),
    ],
)
def test_a_broken_file_of_ones_own(text: str, code: str, place: str, tmp_path: Path) -> None:
    own = tmp_path / "own.json"
    own.write_text(text)
    with pytest.raises(InvalidReplay) as caught:
        load_protocol(own, {"a": "x"} if "for_each" in text else None)
    assert (caught.value.code, caught.value.json_path) == (code, place)
    assert caught.value.path == str(own)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        load_protocol(tmp_path / "none.json")


def test_the_manual_s_steps_make_a_protocol_without_a_weakness(tmp_path: Path) -> None:
    manual = (Path(__file__).resolve().parents[1] / "book" / "protocols.md").read_text("utf-8")
    section = manual.partition("## Write a protocol of your own")[2].partition("\n## ")[0]
    name = re.search(r'an `id` such as `"([^"]+)"`', section)
    assert name is not None
    fields = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    assert len(fields) == 5
    own = tmp_path / "own.json"
    own.write_text(f'{{"id": "{name[1]}", {", ".join(fields)}}}')
    assert inspect_protocol(own).weaknesses == ()
