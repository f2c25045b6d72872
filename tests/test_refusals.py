"""Places in a document are spelled right, and every code is in the manual."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from chaincheck.adherence.decode import decode_protocol
from chaincheck.adherence.scaffold import inspect_protocol
from chaincheck.refusals import CODES, LIMITS, Refusal, json_path

MANUAL = Path(__file__).resolve().parents[1] / "book" / "protocols.md"


def test_a_place_is_spelled_as_json_path() -> None:
    assert json_path([]) == "$"
    assert json_path(["a", 3, "b_1"]) == "$.a[3].b_1"
    assert json_path(["a b", "é", '"', "1"]) == '$["a b"]["\\u00e9"]["\\""]["1"]'
    assert json_path(["k" * 10**6]) == '$["' + "k" * 120 + '…"]'
    error = Refusal("EMPTY", (((None, "x"), 2), "y"), "nothing").of_file("f.json", 4)
    assert (error.json_path, error.line, error.code) == ("$.x[2].y", 4, "EMPTY")
    assert str(error) == f"f.json:4: EMPTY at $.x[2].y: nothing. {CODES['EMPTY'].remedy}"


def test_the_manual_lists_every_code_as_it_is() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", MANUAL.read_text("utf-8"), re.MULTILINE)
    assert rows == [(name, code.meaning, code.remedy) for name, code in CODES.items()]


def test_the_limits_that_messages_name_are_those_in_force() -> None:
    assert f"{LIMITS.size // 2**20} MiB" in CODES["TOO_LARGE"].meaning
    assert f"{LIMITS.depth} levels" in CODES["TOO_DEEP"].meaning
    assert f"{LIMITS.nodes:,} nodes" in CODES["TOO_MANY_NODES"].meaning
    assert f"{LIMITS.atoms} atoms" in CODES["TOO_MANY_ATOMS"].meaning


def test_the_protocol_of_the_manual_has_no_weakness(tmp_path: Path) -> None:
    # Fields of the protocol; what is a whole object, such as a judge's reply, is no part of it.
    blocks = re.findall(r"```json\n([^{].*?)```", MANUAL.read_text("utf-8"), re.DOTALL)
    if not blocks:
        pytest.fail("the manual builds a protocol step by step")
    whole = json.loads('{"id": "summary/1",' + ",".join(blocks) + "}")
    own = tmp_path / "summary.json"
    own.write_text(json.dumps(whole))
    assert decode_protocol(own.read_bytes(), path=own).id == "summary/1"
    assert inspect_protocol(own).weaknesses == ()
