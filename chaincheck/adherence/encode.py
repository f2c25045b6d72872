"""From a replay or a protocol to JSON; decoding what is written here gives the same values."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from chaincheck.adherence.logic import to_json
from chaincheck.adherence.replay import SCHEMA, Protocol, Recorded

__all__ = ["encode_replay", "protocol_document", "replay_document"]


def protocol_document(protocol: Protocol) -> dict[str, Any]:
    """Return a protocol as plain JSON; descriptions that are empty are left out."""
    return _without_blanks(
        {
            "id": protocol.id,
            "description": protocol.description,
            "atoms": [_without_blanks(msgspec.to_builtins(atom)) for atom in protocol.atoms],
            "constraints": [
                _without_blanks(
                    {"id": one.id, "description": one.description, "expr": to_json(one.expr)}
                )
                for one in protocol.constraints
            ],
            "decision": to_json(protocol.decision),
            "requirements": [
                _without_blanks(
                    {
                        "id": one.id,
                        "description": one.description,
                        "expr": to_json(one.expr),
                        "addressed": "" if one.addressed is None else to_json(one.addressed),
                    }
                )
                for one in protocol.requirements
            ],
            "grounding": [msgspec.to_builtins(pair) for pair in protocol.grounding],
        }
    )


def _without_blanks(value: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is an empty string."""
    return {key: item for key, item in value.items() if item != ""}


def replay_document(recorded: Recorded) -> dict[str, Any]:
    """Return a replay and its gold label as plain JSON, keys in the order of the schema."""
    replay = recorded.replay
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "id": replay.id,
        "translation_status": replay.translation_status,
        "sources": {one.id: {"kind": one.kind, "text": one.text} for one in replay.sources},
        "protocol": protocol_document(replay.protocol),
        "verdict": replay.verdict,
        "annotations": [
            {
                key: [*item] if key == "evidence" else item
                for key, item in msgspec.to_builtins(one).items()
                if item not in ("", ())
            }
            for one in replay.annotations
        ],
    }
    if recorded.gold is not None:
        document["gold"] = recorded.gold
    return document


def encode_replay(recorded: Recorded, *, indent: int | None = None) -> bytes:
    """Encode a replay as JSON.

    Args:
        recorded: the replay and its gold label.
        indent: spaces a level, for a file that people edit; None for one line.

    Returns:
        UTF-8 without a line feed at its end. The same replay gives the same bytes.
    """
    document = replay_document(recorded)
    if indent is None:
        return msgspec.json.encode(document)
    return json.dumps(document, ensure_ascii=False, indent=indent).encode()
