"""What a judge answers that explains itself: one JSON object, decoded strictly.

.. code-block:: json

    {"hops": [{"hop": 1, "claim": "...", "object": "...", "supported": true,
               "quotes": [{"passage": 1, "text": "..."}]}],
     "verdict": "yes", "used_outside_knowledge": false}

``hop`` is 1 or 2, ``passage`` counts from 1, ``verdict`` is yes or no. Nothing else is allowed,
nothing is cut out of prose and nothing is repaired. ``verdict`` and the number of each hop are
needed; any other field may be missing, and what it would have said is then unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from chaincheck.errors import PathLike
from chaincheck.json_faults import explain
from chaincheck.json_positions import Place, places
from chaincheck.refusals import Refusal
from chaincheck.strict_json import parse_json

__all__ = ["Hop", "Quote", "Rationale", "RationaleObject", "decode_rationale", "reply_format"]

_HOPS = (1, 2)
_REMEDY = "A reply is never repaired: have the server hold to the schema, or count it as INVALID"


class Quote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words that the judge says a passage holds.

    Attributes:
        passage: number of the passage, from 1.
        text: the words.
    """

    passage: int | msgspec.UnsetType = msgspec.UNSET
    text: str | msgspec.UnsetType = msgspec.UNSET


class Hop(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the judge says of one hop.

    Attributes:
        hop: 1 or 2.
        claim: what it takes the hop to state.
        object: what it says that the hop leads to: for hop 1 the bridge.
        supported: whether the passages state it.
        quotes: where.
    """

    hop: int
    claim: str | msgspec.UnsetType = msgspec.UNSET
    object: str | msgspec.UnsetType = msgspec.UNSET
    supported: bool | msgspec.UnsetType = msgspec.UNSET
    quotes: tuple[Quote, ...] | msgspec.UnsetType = msgspec.UNSET


class RationaleObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The JSON object; fields as the module says."""

    verdict: Literal["yes", "no"]
    hops: tuple[Hop, ...] | msgspec.UnsetType = msgspec.UNSET
    used_outside_knowledge: bool | msgspec.UnsetType = msgspec.UNSET


class Rationale:
    """A reply that was decoded, and where in its text each part stands.

    Attributes:
        text: the reply as it came.
        verdict: "yes" or "no".
        hops: the entries that there are, by number; None if the field ``hops`` is missing.
        used_outside_knowledge: None if the field is missing.
    """

    def __init__(self, text: str, said: RationaleObject, where: Place) -> None:
        self.text = text
        self.verdict = said.verdict
        self.hops: Mapping[int, Hop] | None = None
        self._entries: Mapping[int, Place] = {}
        if said.hops is not msgspec.UNSET:
            self.hops = {one.hop: one for one in said.hops}
            self._entries = {one.hop: where["hops"][at] for at, one in enumerate(said.hops)}
        self.used_outside_knowledge: bool | None = None
        if said.used_outside_knowledge is not msgspec.UNSET:
            self.used_outside_knowledge = said.used_outside_knowledge
        self._where = where

    def place(self, *steps: str | int) -> tuple[int, int]:
        """Where the value under some keys stands: ``place("hops", 2, "supported")``.

        An entry of ``hops`` goes by its number, not by its position.

        Raises:
            KeyError: the reply has no such value.
        """
        at = self._where
        if len(steps) > 1 and steps[0] == "hops":
            at, steps = self._entries[int(steps[1])], steps[2:]
        for step in steps:
            at = at[step]
        return at.start, at.end


def decode_rationale(
    text: str, *, path: PathLike = "the reply", line: int | None = None
) -> Rationale:
    """Decode a reply.

    Args:
        text: the reply as it came.
        path: where it is from, for messages.
        line: its line there.

    Raises:
        InvalidReplay: it is no such object; ``code`` and ``json_path`` say why and where.
    """
    try:
        value = _parsed(text)
        try:
            said = msgspec.convert(value, RationaleObject)
        except (msgspec.ValidationError, RecursionError) as cause:
            raise explain(value, RationaleObject, None, str(cause)) from None
        _check_numbers(said)
    except Refusal as refusal:
        refusal.remedy = _REMEDY
        raise refusal.of_file(path, line) from None
    return Rationale(text, said, places(text, value))


def _parsed(text: str) -> Any:
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise Refusal("HALF_SURROGATE", None, "the reply holds half a surrogate pair") from None
    return parse_json(raw)


def _check_numbers(said: RationaleObject) -> None:
    """Refuse an entry of another hop, and a second one of the same."""
    seen: set[int] = set()
    for at, one in enumerate(() if said.hops is msgspec.UNSET else said.hops):
        trail = (((None, "hops"), at), "hop")
        if one.hop not in _HOPS:
            raise Refusal("WRONG_VALUE", trail, f"there is no hop {one.hop}, only 1 and 2")
        if one.hop in seen:
            raise Refusal("DUPLICATE_ID", trail, f"hop {one.hop} stands twice")
        seen.add(one.hop)


def reply_format() -> dict[str, Any]:
    """The JSON Schema that a server is asked to hold a reply to, with every field required.

    Closed objects whose fields are all required are what strict decoding on servers takes.
    """
    quote = _closed(passage={"type": "integer", "minimum": 1}, text={"type": "string"})
    hop = _closed(
        hop={"type": "integer", "enum": list(_HOPS)},
        claim={"type": "string"},
        object={"type": "string"},
        supported={"type": "boolean"},
        quotes={"type": "array", "items": quote},
    )
    return _closed(
        hops={"type": "array", "items": hop, "minItems": 2, "maxItems": 2},
        verdict={"type": "string", "enum": ["yes", "no"]},
        used_outside_knowledge={"type": "boolean"},
    )


def _closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
