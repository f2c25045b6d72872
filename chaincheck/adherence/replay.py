"""A replay: one recorded evaluation by a judge, with the protocol that it should have followed.

These are the values that everything else in this package works on. They are built by
:mod:`chaincheck.adherence.decode` (from JSON) and :mod:`chaincheck.adherence.builder` (from
Python), which check them; a value that is built by hand is not checked again.

The gold label is no part of a :class:`Replay`. It stands beside it, in :class:`Recorded`, so that
whoever solves a replay cannot see which verdict would have been right.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from chaincheck.adherence.logic import Expression

__all__ = [
    "ATOM_ID",
    "SCHEMA",
    "Annotation",
    "AtomDeclaration",
    "AtomId",
    "Constraint",
    "Grounding",
    "Name",
    "Protocol",
    "Recorded",
    "Replay",
    "Requirement",
    "Role",
    "Source",
    "SourceKind",
    "Span",
    "Value",
    "Verdict",
]

SCHEMA = "chaincheck.replay/1"
# In Python "$" also matches before a line feed at the end, which JSON Schema's does not.
ATOM_ID = r"^[a-z][a-z0-9_]{0,63}$(?!\n)"

Role: TypeAlias = Literal["judge", "context", "procedure"]
SourceKind: TypeAlias = Literal["protocol", "context", "question", "response", "rationale", "trace"]
Value: TypeAlias = Literal["TRUE", "FALSE", "UNKNOWN"]
Verdict: TypeAlias = Literal["PASS", "FAIL"]
AtomId: TypeAlias = Annotated[
    str, msgspec.Meta(pattern=ATOM_ID, extra={"refusal": "BAD_ATOM_ID", "what": "an atom id"})
]
Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]


class Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text that evidence can quote.

    Attributes:
        id: its name within the replay.
        kind: what it is; decides which atoms may quote it.
        text: the text itself.
    """

    id: str
    kind: SourceKind
    text: str


class AtomDeclaration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement that the protocol speaks of.

    Attributes:
        id: ``[a-z][a-z0-9_]{0,63}``.
        role: ``judge`` (what the judge asserts), ``context`` (an independent reading of the
            material) or ``procedure`` (an observable step).
        description: the statement in words.
    """

    id: AtomId
    role: Role
    description: str = ""


class Constraint(msgspec.Struct, frozen=True):
    """What holds whatever the judge does."""

    id: str
    expr: Expression
    description: str = ""


class Requirement(msgspec.Struct, frozen=True):
    """What the protocol asks of the judge.

    Attributes:
        id: its name within the protocol.
        expr: true exactly when the requirement is met.
        addressed: true when the material lets one see whether it is met; None where the
            protocol does not say.
        description: the requirement in words.
    """

    id: str
    expr: Expression
    addressed: Expression | None = None
    description: str = ""


class Grounding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge atom and the context atom that says whether it is so.

    Attributes:
        judge: id of an atom of role ``judge``.
        context: id of an atom of role ``context``.
    """

    judge: AtomId
    context: AtomId


class Protocol(msgspec.Struct, frozen=True):
    """The rules that a judge was given, translated.

    Attributes:
        id: name and version, as in ``factual-claims/1``.
        description: the rules in words.
        atoms: every statement that occurs below, declared once.
        constraints: what holds in any case.
        decision: the verdict is PASS exactly when this is true.
        requirements: what the judge has to do.
        grounding: which claims are compared with the context.
    """

    id: str
    atoms: tuple[AtomDeclaration, ...]
    decision: Expression
    constraints: tuple[Constraint, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    grounding: tuple[Grounding, ...] = ()
    description: str = ""

    def roles(self) -> dict[str, Role]:
        """The role of each atom, in the order of declaration."""
        return {atom.id: atom.role for atom in self.atoms}


class Span(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A piece of a source, quoted.

    Attributes:
        source: id of the source.
        start: index of the first code point.
        end: index after the last one; ``text[start:end] == quote``.
        quote: the piece, verbatim.
    """

    source: str
    start: Annotated[int, msgspec.Meta(extra_json_schema={"minimum": 0})]
    end: Annotated[int, msgspec.Meta(extra_json_schema={"minimum": 1})]
    quote: Annotated[str, msgspec.Meta(extra_json_schema={"minLength": 1})]


class Annotation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody's reading of one atom.

    Attributes:
        atom: id of the atom.
        value: ``TRUE``, ``FALSE`` or ``UNKNOWN``; the last asserts nothing.
        evidence: where it can be seen.
        explanation: why the evidence says so.
        origin: who or what made it, as in ``mechanical``.
    """

    atom: AtomId
    value: Value
    evidence: tuple[Span, ...] = ()
    explanation: str = ""
    origin: str = ""


class Replay(msgspec.Struct, frozen=True):
    """One evaluation, as far as it may be looked at by whoever solves it.

    Attributes:
        id: its name.
        translation_status: ``valid``, or another word if the protocol could not be translated;
            then nothing of it is evaluated.
        sources: the texts.
        protocol: the rules.
        verdict: what the judge said.
        annotations: the readings, in order; an atom may occur more than once.
    """

    id: str
    sources: tuple[Source, ...]
    protocol: Protocol
    verdict: Verdict
    annotations: tuple[Annotation, ...]
    translation_status: str = "valid"

    def source(self, name: str) -> Source:
        """Return a source by its id.

        Raises:
            KeyError: there is none of that id.
        """
        for source in self.sources:
            if source.id == name:
                return source
        raise KeyError(name)


class Recorded(msgspec.Struct, frozen=True):
    """A replay and, kept apart from it, the verdict that would have been right.

    Attributes:
        replay: all that is solved.
        gold: the right verdict, or None where nobody knows it.
    """

    replay: Replay
    gold: Verdict | None = None
