"""The JSON form of replays and protocols: its types, and the JSON Schema written from them.

One set of types serves three ends: decoding converts into them, the explanation of a refusal is
found by walking them, and ``chaincheck audit schema`` writes them as JSON Schema. What a schema
cannot say (that an atom is declared, that a quote stands at its offsets) is checked in
:mod:`chaincheck.adherence.decode` only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from chaincheck.adherence.logic import OPERATORS, arity_problem
from chaincheck.adherence.replay import (
    ATOM_ID,
    SCHEMA,
    Annotation,
    AtomDeclaration,
    Grounding,
    Name,
    SourceKind,
    Verdict,
)
from chaincheck.refusals import LIMITS

__all__ = [
    "STATUS",
    "ConstraintObject",
    "ProtocolObject",
    "ReplayObject",
    "RequirementObject",
    "SourceObject",
    "protocol_schema",
    "replay_schema",
]

STATUS = r"^[a-z][a-z0-9_-]{0,63}$(?!\n)"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

ExpressionObject: TypeAlias = Annotated[
    dict[str, Any], msgspec.Meta(extra_json_schema={"$ref": "#/$defs/Expression"})
]


class SourceObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text; its id is the key that it stands under."""

    kind: SourceKind
    text: str


class ConstraintObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds whatever the judge does."""

    id: Name
    expr: ExpressionObject
    description: str = ""


class RequirementObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the protocol asks of the judge, and when it can be seen whether it was done."""

    id: Name
    expr: ExpressionObject
    addressed: ExpressionObject | msgspec.UnsetType = msgspec.UNSET
    description: str = ""


class ProtocolObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules that a judge was given, translated."""

    id: Name
    atoms: Annotated[
        tuple[AtomDeclaration, ...],
        msgspec.Meta(extra_json_schema={"maxItems": LIMITS.atoms}),
    ]
    decision: ExpressionObject
    constraints: tuple[ConstraintObject, ...] = ()
    requirements: tuple[RequirementObject, ...] = ()
    grounding: tuple[Grounding, ...] = ()
    description: str = ""


class ReplayObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One evaluation by a judge, its protocol, and somebody's reading of it."""

    schema: Annotated[
        Literal["chaincheck.replay/1"],
        msgspec.Meta(extra={"refusal": "WRONG_SCHEMA", "what": SCHEMA}),
    ]
    id: Name
    translation_status: Annotated[
        str,
        msgspec.Meta(
            pattern=STATUS, extra={"refusal": "BAD_STATUS", "what": "a translation status"}
        ),
    ]
    sources: dict[Name, SourceObject]
    protocol: ProtocolObject
    verdict: Verdict
    annotations: tuple[Annotation, ...]
    gold: Verdict | None = None


def _arguments(op: str) -> dict[str, Any]:
    """Say how many arguments an operator takes, as told by :mod:`chaincheck.adherence.logic`."""
    allowed = [count for count in range(4) if arity_problem(op, count) is None]
    least = {"type": "array", "items": {"$ref": "#/$defs/Expression"}, "minItems": allowed[0]}
    return least if allowed[-1] == 3 else least | {"maxItems": allowed[-1]}


def _expression() -> dict[str, Any]:
    """The schema of an expression."""

    def only(**properties: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    return {
        "title": "Expression",
        "description": "A Boolean expression over the protocol's atoms.",
        "anyOf": [
            only(atom={"type": "string", "pattern": ATOM_ID}),
            only(const={"type": "boolean"}),
            *(only(op={"const": op}, args=_arguments(op)) for op in OPERATORS),
        ],
    }


def _schema_of(kind: type, title: str) -> dict[str, Any]:
    """Write the schema of one type, with everything that it refers to."""
    (top,), parts = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    own = parts.pop(top["$ref"].rsplit("/", 1)[1])
    for part in (own, *parts.values()):
        # The first sentence of a docstring; how its attributes read in Python is no news here.
        part["description"] = part["description"].split("\n\n")[0].replace("``", "")
    parts["Expression"] = _expression()
    whole = {"$schema": _DIALECT, **own, "title": title, "$defs": dict(sorted(parts.items()))}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(whole))
    return plain


def replay_schema() -> dict[str, Any]:
    """Return the JSON Schema of a replay."""
    return _schema_of(ReplayObject, SCHEMA)


def protocol_schema() -> dict[str, Any]:
    """Return the JSON Schema of a protocol that stands by itself in a file."""
    return _schema_of(ProtocolObject, "chaincheck.protocol/1")
