"""Say which rule of a schema a piece of JSON breaks, by walking its types beside it.

A type with a code of its own for what does not fit carries it as ``extra`` of its
``msgspec.Meta``: ``{"refusal": code, "what": ...}``, in words what belongs there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import inspect

from chaincheck.errors import quote
from chaincheck.refusals import Refusal, Trail

__all__ = ["explain"]

_PLAIN = ((inspect.IntType, int, "a whole number"), (inspect.BoolType, bool, "true or false"))


def _name(value: Any) -> str:
    """Name the JSON type of a value."""
    if isinstance(value, bool):
        return "true or false"
    names = {str: "a string", int: "a whole number", float: "a number with a fraction"}
    names |= {dict: "an object", list: "an array", type(None): "null"}
    return names.get(type(value), type(value).__name__)


def explain(value: Any, kind: type[Any], trail: Trail, fallback: str) -> Refusal:
    """Find the first fault of a value that does not convert to a type.

    Args:
        value: plain JSON.
        kind: the type, a struct of the schema.
        trail: the value's place.
        fallback: what to say where no rule is found to be broken.
    """
    found = _fault(value, inspect.type_info(kind), trail)
    return found or Refusal("WRONG_TYPE", trail, fallback)


def _fault(value: Any, kind: inspect.Type, trail: Trail) -> Refusal | None:
    """Find the first fault, depth first, in the order of the type's fields."""
    if isinstance(kind, inspect.Metadata):
        if kind.extra and (isinstance(value, str) or isinstance(kind.type, inspect.LiteralType)):
            return _own(value, kind.type, trail, kind.extra)
        return _fault(value, kind.type, trail)
    if isinstance(kind, inspect.UnionType):  # of a word and null: only the gold label
        return None if value is None else _fault(value, kind.types[0], trail)
    if isinstance(kind, inspect.StructType):
        return _struct(value, kind, trail)
    if isinstance(kind, inspect.VarTupleType | inspect.DictType):
        return _parts(value, kind, trail)
    return _scalar(value, kind, trail)


def _parts(
    value: Any, kind: inspect.VarTupleType | inspect.DictType, trail: Trail
) -> Refusal | None:
    if isinstance(kind, inspect.VarTupleType):
        if not isinstance(value, list):
            return _wrong(value, "an array", trail)
        return _first(_fault(item, kind.item_type, (trail, at)) for at, item in enumerate(value))
    if not isinstance(value, dict):
        return _wrong(value, "an object", trail)
    return _first(
        _fault(key, kind.key_type, (trail, key)) or _fault(item, kind.value_type, (trail, key))
        for key, item in value.items()
    )


def _first(faults: Iterable[Refusal | None]) -> Refusal | None:
    return next((fault for fault in faults if fault), None)


def _wrong(value: Any, wanted: str, trail: Trail) -> Refusal:
    return Refusal("WRONG_TYPE", trail, f"{wanted} belongs here, not {_name(value)}")


def _struct(value: Any, kind: inspect.StructType, trail: Trail) -> Refusal | None:
    if not isinstance(value, dict):
        return _wrong(value, "an object", trail)
    known = [field.encode_name for field in kind.fields]
    for key in value:
        if key not in known:
            problem = f"there is no field {quote(key)} here"
            remedy = f"Remove it; the fields are {', '.join(known)}"
            return Refusal("UNKNOWN_FIELD", (trail, key), problem, remedy)
    for field in kind.fields:
        name = field.encode_name
        if name in value:
            fault = _fault(value[name], field.type, (trail, name))
            if fault:
                return fault
        elif field.required:
            return Refusal("MISSING_FIELD", trail, f"the field {quote(name)} is missing")
    return None


def _scalar(value: Any, kind: inspect.Type, trail: Trail) -> Refusal | None:
    if isinstance(kind, inspect.LiteralType):
        return _word(value, kind.values, trail)
    for number, plain, wanted in _PLAIN:
        if isinstance(kind, number):
            return None if type(value) is plain else _wrong(value, wanted, trail)
    if isinstance(kind, inspect.StrType):
        if not isinstance(value, str):
            return _wrong(value, "a string", trail)
        if kind.min_length and not value:
            return Refusal("EMPTY", trail, "a name is empty")
    return None


def _own(value: Any, kind: inspect.Type, trail: Trail, extra: dict[str, str]) -> Refusal | None:
    """Find the fault of a value whose type names its own code."""
    if isinstance(kind, inspect.StrType):
        fits = re.search(kind.pattern or "", value) is not None
    else:
        fits = isinstance(kind, inspect.LiteralType) and value in kind.values
    problem = f"{quote(value)} is not {extra['what']}"
    return None if fits else Refusal(extra["refusal"], trail, problem)


def _word(value: Any, allowed: Sequence[Any], trail: Trail) -> Refusal | None:
    if isinstance(value, str) and value in allowed:
        return None
    listed = " or ".join(str(word) for word in allowed)
    if not isinstance(value, str):
        return _wrong(value, f"one of the words {listed}", trail)
    return Refusal("WRONG_VALUE", trail, f"{quote(value)} is not {listed}", f"Write {listed}")
