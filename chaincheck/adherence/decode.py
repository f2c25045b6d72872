"""From JSON to a replay or a protocol: strictly, and with a reason for every refusal.

Nothing is repaired, guessed or ignored. What is refused and why is listed, with its code, in
:mod:`chaincheck.refusals`.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from chaincheck.adherence.logic import OPERATORS, Atom, Const, Expression, Op, arity_problem
from chaincheck.adherence.replay import (
    ATOM_ID,
    Annotation,
    Constraint,
    Protocol,
    Recorded,
    Replay,
    Requirement,
    Role,
    Source,
    SourceKind,
)
from chaincheck.adherence.schema import ProtocolObject, ReplayObject
from chaincheck.adherence.spans import check_span
from chaincheck.errors import PathLike, UnreadableFile, quote
from chaincheck.json_faults import explain
from chaincheck.jsonl import open_bytes
from chaincheck.refusals import LIMITS, Refusal, Trail
from chaincheck.strict_json import parse_json

__all__ = [
    "decode_protocol",
    "decode_replay",
    "protocol_from",
    "read_file",
    "read_protocol",
    "read_replay",
    "recorded_from",
]

_ATOM_ID = re.compile(ATOM_ID)
_SHOWS: Mapping[Role, frozenset[SourceKind]] = {
    "judge": frozenset({"rationale"}),
    "procedure": frozenset({"rationale", "trace"}),
    "context": frozenset({"context"}),
}
_PROTOCOL: Trail = (None, "protocol")


class _Expressions:
    """Builds the expressions of one protocol and counts their nodes."""

    def __init__(self, declared: Mapping[str, Role]) -> None:
        self._declared = declared
        self._nodes = 0

    def build(self, value: Any, trail: Trail, depth: int = 0) -> Expression:
        """Build an expression from its JSON object.

        Args:
            value: the object.
            trail: its place.
            depth: how many operators it stands under.

        Raises:
            Refusal: it is none.
        """
        self._nodes += 1
        if self._nodes > LIMITS.nodes:
            problem = f"the expressions have more than {LIMITS.nodes:,} nodes"
            raise Refusal("TOO_MANY_NODES", trail, problem)
        if not isinstance(value, dict):
            raise Refusal("WRONG_TYPE", trail, "an expression is an object")
        keys = value.keys()
        if keys == {"op", "args"}:
            return self._operator(value["op"], value["args"], trail, depth + 1)
        if keys == {"atom"}:
            return Atom(self.atom(value["atom"], (trail, "atom")))
        if keys == {"const"}:
            if not isinstance(value["const"], bool):
                raise Refusal("WRONG_TYPE", (trail, "const"), "a constant is true or false")
            return Const(value["const"])
        named = ", ".join(quote(key) for key in list(keys)[:4]) or "none"
        raise Refusal("BAD_EXPRESSION", trail, f"no expression has just these fields: {named}")

    def _operator(self, op: Any, args: Any, trail: Trail, depth: int) -> Op:
        if depth > LIMITS.depth:
            problem = f"operators nested more than {LIMITS.depth} deep"
            raise Refusal("TOO_DEEP", trail, problem)
        if not isinstance(op, str):
            raise Refusal("WRONG_TYPE", (trail, "op"), "an operator's name is a string")
        if op not in OPERATORS:
            raise Refusal("UNKNOWN_OPERATOR", (trail, "op"), f"there is no operator {quote(op)}")
        if not isinstance(args, list):
            raise Refusal("WRONG_TYPE", (trail, "args"), "the arguments are an array")
        arity = arity_problem(op, len(args))
        if arity is not None:
            raise Refusal("BAD_ARITY", (trail, "args"), arity)
        inner: Trail = (trail, "args")
        built = tuple(self.build(arg, (inner, at), depth) for at, arg in enumerate(args))
        return Op(op, built)

    def atom(self, name: Any, trail: Trail) -> str:
        """Check the id of an atom that is used."""
        if not isinstance(name, str):
            raise Refusal("WRONG_TYPE", trail, "an atom's id is a string")
        if name not in self._declared:
            if not _ATOM_ID.search(name):
                raise Refusal("BAD_ATOM_ID", trail, f"{quote(name)} is no atom id")
            raise Refusal("UNDECLARED_ATOM", trail, f"the atom {quote(name)} is not declared")
        return name


def _unique(parts: Sequence[Any], trail: Trail, code: str, what: str) -> None:
    seen: set[str] = set()
    for at, part in enumerate(parts):
        if part.id in seen:
            problem = f"the {what} {quote(part.id)} stands twice"
            raise Refusal(code, ((trail, at), "id"), problem)
        seen.add(part.id)


def _convert(value: Any, kind: type[Any], trail: Trail) -> Any:
    """Convert plain JSON to one of the schema's types."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as cause:
        raise explain(value, kind, trail, str(cause)) from None
    except RecursionError:
        raise _too_deep(trail) from None


def _too_deep(trail: Trail) -> Refusal:
    return Refusal("TOO_DEEP", trail, "objects or arrays nested hundreds of levels")


def protocol_from(value: Any, trail: Trail = None) -> Protocol:
    """Build a protocol from plain JSON.

    Equal protocols in one run are often one and the same object.

    Args:
        value: what ``parse_json`` gives.
        trail: its place in the document.

    Raises:
        Refusal: it is none.
    """
    try:
        encoded = msgspec.json.encode(value)
    except RecursionError:
        raise _too_deep(trail) from None
    except OverflowError:
        raise explain(value, ProtocolObject, trail, "it holds a huge number") from None
    return _protocol(encoded, trail)


@lru_cache(maxsize=16)
def _protocol(encoded: bytes, trail: Trail) -> Protocol:
    raw: ProtocolObject = _convert(msgspec.json.decode(encoded), ProtocolObject, trail)
    atoms: Trail = (trail, "atoms")
    if len(raw.atoms) > LIMITS.atoms:
        problem = f"{len(raw.atoms):,} atoms are declared, more than {LIMITS.atoms}"
        raise Refusal("TOO_MANY_ATOMS", atoms, problem)
    _unique(raw.atoms, atoms, "DUPLICATE_ATOM", "atom")
    _unique(raw.constraints, (trail, "constraints"), "DUPLICATE_ID", "constraint")
    _unique(raw.requirements, (trail, "requirements"), "DUPLICATE_ID", "requirement")
    roles: dict[str, Role] = {atom.id: atom.role for atom in raw.atoms}
    make = _Expressions(roles)
    constraints = tuple(
        Constraint(
            one.id, make.build(one.expr, (((trail, "constraints"), at), "expr")), one.description
        )
        for at, one in enumerate(raw.constraints)
    )
    decision = make.build(raw.decision, (trail, "decision"))
    requirements = []
    for at, one in enumerate(raw.requirements):
        here: Trail = ((trail, "requirements"), at)
        expr = make.build(one.expr, (here, "expr"))
        addressed = (
            None
            if one.addressed is msgspec.UNSET
            else make.build(one.addressed, (here, "addressed"))
        )
        requirements.append(Requirement(one.id, expr, addressed, one.description))
    for at, pair in enumerate(raw.grounding):
        here = ((trail, "grounding"), at)
        for role, name in (("judge", pair.judge), ("context", pair.context)):
            if roles[make.atom(name, (here, role))] != role:
                problem = f"the atom {quote(name)} is a {roles[name]} atom, not a {role} atom"
                raise Refusal("WRONG_ROLE", (here, role), problem)
    return Protocol(
        id=raw.id,
        atoms=raw.atoms,
        decision=decision,
        constraints=constraints,
        requirements=tuple(requirements),
        grounding=raw.grounding,
        description=raw.description,
    )


def recorded_from(value: Any) -> Recorded:
    """Build a replay and its gold label from plain JSON.

    Args:
        value: what ``parse_json`` gives.

    Raises:
        Refusal: it is none.
    """
    raw: ReplayObject = _convert(value, ReplayObject, None)
    protocol = protocol_from(value["protocol"], _PROTOCOL)
    sources = {name: Source(name, one.kind, one.text) for name, one in raw.sources.items()}
    roles = protocol.roles()
    contexts = [source for source in sources.values() if source.kind == "context"]
    for at, annotation in enumerate(raw.annotations):
        _check_annotation(annotation, ((None, "annotations"), at), roles, sources, contexts)
    replay = Replay(
        id=raw.id,
        sources=tuple(sources.values()),
        protocol=protocol,
        verdict=raw.verdict,
        annotations=raw.annotations,
        translation_status=raw.translation_status,
    )
    return Recorded(replay, raw.gold)


def _check_annotation(
    annotation: Annotation,
    trail: Trail,
    roles: Mapping[str, Role],
    sources: Mapping[str, Source],
    contexts: Sequence[Source],
) -> None:
    """Check an annotation against the protocol and the texts."""
    role = roles.get(annotation.atom)
    if role is None:
        problem = f"the atom {quote(annotation.atom)} is not declared"
        raise Refusal("UNDECLARED_ATOM", (trail, "atom"), problem)
    allowed = _SHOWS[role]
    evidence: Trail = (trail, "evidence")
    for at, span in enumerate(annotation.evidence):
        here: Trail = (evidence, at)
        source = sources.get(span.source)
        if source is None:
            problem = f"there is no source {quote(span.source)}"
            raise Refusal("UNKNOWN_SOURCE", (here, "source"), problem)
        if source.kind not in allowed:
            problem = f"a {role} atom cannot be seen in a source of kind {source.kind}"
            raise Refusal("WRONG_SOURCE_KIND", (here, "source"), problem)
        check_span(span, source.text, here)
    if annotation.value == "UNKNOWN":
        return
    absence = role == "context" and annotation.value == "FALSE"
    if not annotation.evidence and not (
        absence and contexts and not any(source.text for source in contexts)
    ):
        problem = f"{quote(annotation.atom)} is read as {annotation.value} without evidence"
        raise Refusal("NO_EVIDENCE", evidence, problem)
    if absence:
        whole = {
            one.source
            for one in annotation.evidence
            if not one.start and one.end == len(sources[one.source].text)
        }
        for source in contexts:
            if source.text and source.id not in whole:
                problem = (
                    f"{quote(annotation.atom)} is FALSE, but the source {quote(source.id)} is not "
                    f"quoted as a whole (0 to {len(source.text)})"
                )
                raise Refusal("PARTIAL_ABSENCE", evidence, problem)


def decode_replay(raw: bytes, *, path: PathLike, line: int | None = None) -> Recorded:
    """Decode the JSON of a replay.

    Args:
        raw: the bytes.
        path: where they are from, for messages.
        line: the line that they are, in a file of many.

    Raises:
        InvalidReplay: it is refused; ``code`` and ``json_path`` say why and where.
    """
    try:
        return recorded_from(parse_json(raw))
    except Refusal as refusal:
        raise refusal.of_file(path, line) from None


def decode_protocol(raw: bytes, *, path: PathLike) -> Protocol:
    """Decode the JSON of a protocol that stands by itself.

    Raises:
        InvalidReplay: it is refused.
    """
    try:
        return protocol_from(parse_json(raw))
    except Refusal as refusal:
        raise refusal.of_file(path) from None


def read_file(path: PathLike) -> bytes:
    """Read a file, plain or gzipped, but never much more than is allowed.

    Raises:
        UnreadableFile: the bytes cannot be had.
    """
    with open_bytes(path) as file:
        try:
            return file.read(LIMITS.size + 1)
        except (EOFError, zlib.error, OSError) as cause:
            raise UnreadableFile(f"cannot be read: {cause}", path=path) from None


def read_replay(path: PathLike) -> Recorded:
    """Read the file of one replay, plain or gzipped.

    Raises:
        UnreadableFile: the bytes cannot be had.
        InvalidReplay: the replay is refused.
    """
    return decode_replay(read_file(path), path=path)


def read_protocol(path: PathLike) -> Protocol:
    """Read the file of one protocol, plain or gzipped.

    Raises:
        UnreadableFile: the bytes cannot be had.
        InvalidReplay: the protocol is refused.
    """
    return decode_protocol(read_file(path), path=path)
