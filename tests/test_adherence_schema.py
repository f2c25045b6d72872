"""The JSON Schema and the decoder say the same about whatever a schema can say."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from chaincheck.adherence.decode import decode_protocol, decode_replay
from chaincheck.adherence.encode import protocol_document, replay_document
from chaincheck.adherence.examples import CASES, chain_case
from chaincheck.adherence.schema import protocol_schema, replay_schema
from chaincheck.errors import InvalidReplay

jsonschema = pytest.importorskip("jsonschema", reason="the extra 'book' is not installed")
GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "adherence"
# What a schema cannot say: names that refer to each other, texts, sizes of the whole.
BEYOND = {
    *("UNDECLARED_ATOM", "DUPLICATE_ATOM", "DUPLICATE_ID", "WRONG_ROLE", "UNKNOWN_SOURCE"),
    *("NO_EVIDENCE", "WRONG_SOURCE_KIND", "PARTIAL_ABSENCE", "SPAN_BOUNDS", "SPAN_MISMATCH"),
    *("TOO_DEEP", "TOO_MANY_NODES"),
}


def documents() -> list[dict[str, Any]]:
    own = [replay_document(case()) for case in CASES.values()] + [replay_document(chain_case())]
    golden = [
        json.loads(path.read_text("utf-8"))
        for path in sorted(GOLDEN.glob("*.json"))
        if not path.name.endswith((".expected.json", "_item.json"))
    ]
    return own + golden


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at]
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*at, index))
    return found


def mutated(value: Any, rng: random.Random) -> Any:
    """Replace, remove or add one part anywhere."""
    out = copy.deepcopy(value)
    at = rng.choice(places(out)[1:])
    parent = out
    for step in at[:-1]:
        parent = parent[step]
    kind = rng.randrange(4)
    if kind == 0:
        del parent[at[-1]]
    elif kind == 1 and isinstance(parent, dict):
        parent["extra"] = 1
    elif kind == 2 and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[at[-1]]))
    else:
        parent[at[-1]] = rng.choice(
            [None, True, 0, -1, 2.5, "", "x", "X y\n", [], {}, [[]], {"a": 1}, "TRUE", "judge"]
        )
    return out


def test_the_schemas_are_schemas() -> None:
    for schema in (replay_schema(), protocol_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert json.loads(json.dumps(schema)) == schema
        for part in schema["$defs"].values():
            assert part["description"].endswith(".")
            assert "``" not in part["description"]


@pytest.mark.parametrize("document", documents(), ids=lambda one: one["id"])
def test_valid_replays_pass_the_schema(document: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(replay_schema()).validate(document)
    jsonschema.Draft202012Validator(protocol_schema()).validate(document["protocol"])


def test_both_refuse_the_same_mutations() -> None:
    rng = random.Random(5)
    validator = jsonschema.Draft202012Validator(replay_schema())
    pool = documents()
    refused = beyond = accepted = 0
    for _ in range(700):
        value = mutated(rng.choice(pool), rng)
        valid = validator.is_valid(value)
        try:
            decode_replay(json.dumps(value).encode(), path="r")
        except InvalidReplay as error:
            if error.code in BEYOND:
                # The decoder reads on only after the whole shape is right, and the protocol
                # before the texts; a bad expression may stand beside what no schema can say.
                beyond += 1
            else:
                assert not valid, (error.code, error.json_path)
                refused += 1
        else:
            assert valid, value
            accepted += 1
    assert min(refused, beyond, accepted) > 50, (refused, beyond, accepted)


def test_a_protocol_by_itself_is_judged_alike() -> None:
    rng = random.Random(6)
    validator = jsonschema.Draft202012Validator(protocol_schema())
    value = protocol_document(chain_case().replay.protocol)
    for _ in range(400):
        other = mutated(value, rng)
        try:
            decode_protocol(json.dumps(other).encode(), path="p")
        except InvalidReplay as error:
            assert error.code in BEYOND or not validator.is_valid(other)
        else:
            assert validator.is_valid(other)
