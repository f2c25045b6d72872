"""Checkers for the exercises of chapter 8, and the replays that they are about."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from msgspec.structs import replace

from chaincheck.adherence.audit import audit
from chaincheck.adherence.builder import ReplayBuilder
from chaincheck.adherence.decode import decode_replay, protocol_from
from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.examples import claims_case
from chaincheck.adherence.lints import lint
from chaincheck.adherence.logic import Atom, Expression, Op, evaluate
from chaincheck.adherence.replay import (
    AtomDeclaration,
    Constraint,
    Grounding,
    Protocol,
    Recorded,
    Replay,
)
from chaincheck.adherence.wrong_turns import closed_world, without
from chaincheck.errors import InvalidReplay
from chaincheck.exercises import exercise
from chaincheck.refusals import Refusal
from chaincheck.strict_json import parse_json

__all__ = ["masked_replay", "minutes_atoms", "open_replay"]

_Values = Mapping[str, bool]

_MINUTES = {
    "j_decided": ("judge", "The judge says that the minutes record the decision"),
    "j_withdrawn": ("judge", "The judge says that a later minute withdraws it"),
    "c_decided": ("context", "The minutes record the decision"),
    "c_withdrawn": ("context", "A later minute withdraws it"),
    "p_quotes_decision": ("procedure", "The rationale quotes the minute with the decision"),
    "p_quotes_withdrawal": ("procedure", "The rationale quotes the minute that withdraws it"),
    "p_outside": ("procedure", "The judge used something else than the minutes"),
}
# The rules in words and as plain Python, apart from the expressions that they are compared with.
_RULES: tuple[tuple[str, Callable[[_Values], bool]], ...] = (
    (
        "If you find the decision, quote its minute",
        lambda v: v["p_quotes_decision"] if v["j_decided"] else True,
    ),
    (
        "If you find a withdrawal, quote its minute",
        lambda v: v["p_quotes_withdrawal"] if v["j_withdrawn"] else True,
    ),
    ("Use nothing but the minutes", lambda v: not v["p_outside"]),
)
_PAIRS = {("j_decided", "c_decided"), ("j_withdrawn", "c_withdrawn")}


def minutes_atoms() -> list[dict[str, str]]:
    """The atoms of exercise 8.1, as JSON."""
    return [
        {"id": atom, "role": role, "description": text} for atom, (role, text) in _MINUTES.items()
    ]


def _passes(values: _Values) -> bool:
    return values["j_decided"] and not values["j_withdrawn"]


def _assignments() -> Iterator[dict[str, bool]]:
    for row in product((False, True), repeat=len(_MINUTES)):
        yield dict(zip(_MINUTES, row, strict=True))


def _says(expr: Expression, rule: Callable[[_Values], bool]) -> bool:
    """Whether an expression is true exactly where a rule is kept."""
    return all(evaluate(expr, values) is rule(values) for values in _assignments())


def _protocol(answer: Any) -> Protocol | str:
    """Read a protocol, or say why it is refused."""
    if not isinstance(answer, dict) or "atoms" not in answer:
        raise ValueError("not a protocol")
    try:
        return protocol_from(parse_json(json.dumps(answer).encode()))
    except Refusal as refusal:
        return f"{refusal.code} at {refusal.json_path}: {refusal.problem}."


@exercise("8.1", "Give the protocol as a dict with the fields of a protocol file.")
def _encode_a_protocol(answer: Any) -> str | None:
    protocol = _protocol(answer)
    if isinstance(protocol, str):
        return protocol
    if protocol.roles() != {atom: role for atom, (role, _) in _MINUTES.items()}:
        return "Take the atoms as they are given: their ids, roles and order."
    if not _says(protocol.decision, _passes):
        return "The decision: read the first sentence again, with the withdrawal."
    return _differs(protocol)


def _differs(protocol: Protocol) -> str | None:
    """Say where constraints, requirements or pairs are not those of the rules."""
    for constraint in protocol.constraints:
        if not _says(constraint.expr, lambda _: True):
            return (
                f"The constraint {constraint.id} rules out what a judge can well do. The rules say "
                "what ought to be, not what cannot be otherwise."
            )
    for text, rule in _RULES:
        if not any(_says(one.expr, rule) for one in protocol.requirements):
            return f"No requirement says just this: {text}."
    for one in protocol.requirements:
        if not any(_says(one.expr, rule) for _, rule in _RULES):
            return f"The requirement {one.id} is none of the rules."
    if {(pair.judge, pair.context) for pair in protocol.grounding} != _PAIRS:
        return "Grounding: each thing that the judge finds is compared with the same thing read."
    return None


def masked_replay() -> Replay:
    """The replay of exercise 8.2: a violation is there, and the overall status is UNKNOWN."""
    case = claims_case("C").replay
    tied = (
        Constraint(
            "found_where_it_is", Op("implies", (Atom("c_opened"), Atom("j_opened"))), "A plain year"
        ),
        Constraint(
            "designer_known", Op("implies", (Atom("j_designed"), Atom("c_designed"))), "Never wrong"
        ),
    )
    protocol = replace(case.protocol, constraints=(*case.protocol.constraints, *tied))
    return replace(case, id="masked", protocol=protocol)


def _unmasked() -> dict[str, set[str]]:
    """What each constraint hides: the dimensions that are VIOLATED once it is gone."""
    replay = masked_replay()
    out = {}
    for constraint in replay.protocol.constraints:
        rest = tuple(one for one in replay.protocol.constraints if one != constraint)
        found = audit(replace(replay, protocol=replace(replay.protocol, constraints=rest)))
        seen: set[str] = {name for name, status in found.dimensions.items() if status == "VIOLATED"}
        out[constraint.id] = seen if found.overall == "VIOLATED" else set()
    return out


@exercise("8.2", "Give two words: the constraint's id, and the dimension that is violated.")
def _masked(answer: Any) -> str | None:
    name, dimension = (str(word).strip() for word in answer)
    hidden = _unmasked()
    if name not in hidden:
        raise ValueError("no constraint of the protocol")
    if not hidden[name]:
        flagged = {one.subject for one in lint(masked_replay().protocol)}
        tail = " A weakness it may be, but look at the conflict." if name in flagged else ""
        return f"Without {name} the overall status is UNKNOWN as before.{tail}"
    if dimension not in hidden[name]:
        return f"{name} it is. Leave it out and read the four dimensions."
    return None


@exercise("8.3", "Give a replay, as ReplayBuilder.build returns it.")
def _contradictory(answer: Any) -> str | None:
    recorded = Recorded(answer) if isinstance(answer, Replay) else answer
    if not isinstance(recorded, Recorded):
        raise ValueError("not a replay")
    try:
        replay = decode_replay(encode_replay(recorded), path="your replay").replay
    except InvalidReplay as error:
        return f"It is refused: {error.code} at {error.json_path}."
    found = audit(replay)
    if found.bases["proto"] != "SAT":
        return "The protocol contradicts itself, so no judge could obey it."
    if found.bases["evid"] != "SAT":
        return (
            "Some atom is read both TRUE and FALSE. The readings must hold together by themselves."
        )
    if found.bases["all"] != "UNSAT":
        return f"The base of all is {found.bases['all']}: nothing contradicts anything."
    conflict = found.conflicts["all"]
    if conflict is None or len(conflict.annotations) < 3:
        return "There is a contradiction with fewer readings: any two of yours must be possible."
    return None


def open_replay() -> Replay:
    """The replay of exercise 8.4: three of five atoms are open, and so is the verdict."""
    atoms = {
        "j_dated": "The judge finds a date",
        "j_signed": "The judge finds a signature",
        "j_sealed": "The judge finds a seal",
        "j_copied": "The judge takes the deed for a copy",
        "c_dated": "The deed bears a date",
    }
    protocol = Protocol(
        "deed/1",
        tuple(
            AtomDeclaration(atom, "context" if atom[0] == "c" else "judge", text)
            for atom, text in atoms.items()
        ),
        Op(
            "and",
            (
                Atom("j_dated"),
                Op("or", (Atom("j_signed"), Atom("j_sealed"))),
                Op("not", (Atom("j_copied"),)),
            ),
        ),
        constraints=(
            Constraint("no_seal_on_a_copy", Op("implies", (Atom("j_sealed"), _no("j_copied")))),
            Constraint("one_or_the_other", Op("or", (Atom("j_sealed"), Atom("j_copied")))),
        ),
        grounding=(Grounding("j_dated", "c_dated"),),
        description="PASS a deed that is dated, signed or sealed, and no copy",
    )
    draft = ReplayBuilder("deed", protocol, verdict="PASS")
    draft.source("deed", "context", "Given at Lund on the 3rd of May 1702.")
    draft.source("rationale", "rationale", "It is dated. PASS.")
    draft.annotate("j_dated", "TRUE", draft.quote("rationale", "It is dated"))
    draft.annotate("c_dated", "TRUE", draft.quote("deed", "3rd of May 1702"))
    return draft.build().replay


def _no(atom: str) -> Expression:
    return Op("not", (Atom(atom),))


@exercise("8.4", "Give a list of atoms, as few as there can be.")
def _settling(answer: Any) -> str | None:
    replay = open_replay()
    given = {str(atom) for atom in answer}
    if not given or not given <= replay.protocol.roles().keys():
        raise ValueError("not atoms of the protocol")
    settled = audit(replay).settlement
    if settled is None or settled.atoms is None:
        raise RuntimeError("the exercise asks for a set that there is not")
    read = {one.atom for one in replay.annotations}
    if given & read:
        return f"{min(given & read)} has been read already."
    if not _settles(replay, given):
        return "Whatever is read there, somebody may still ask which verdict follows."
    if len(given) > len(settled.atoms):
        return f"They settle it, but {len(settled.atoms)} would do. Use the constraints."
    return None


def _settles(replay: Replay, atoms: set[str]) -> bool:
    """Whether the verdict is settled under every reading of the atoms, by trying them all."""
    roles = replay.protocol.roles()
    fixed = {one.atom: one.value == "TRUE" for one in replay.annotations}
    seen: dict[tuple[bool, ...], set[bool]] = {}
    for row in product((False, True), repeat=len(roles)):
        values = dict(zip(roles, row, strict=True))
        if any(values[atom] is not value for atom, value in fixed.items()):
            continue
        if all(evaluate(one.expr, values) for one in replay.protocol.constraints):
            key = tuple(values[atom] for atom in sorted(atoms))
            seen.setdefault(key, set()).add(evaluate(replay.protocol.decision, values))
    return all(len(verdicts) == 1 for verdicts in seen.values())


@exercise("8.5", "Give the id of an atom.")
def _silence(answer: Any) -> str | None:
    if not isinstance(answer, str):
        raise ValueError("not an id")
    replay = claims_case("B").replay
    if answer not in replay.protocol.roles():
        raise ValueError("not an atom of the protocol")
    silent = without(replay, [answer])
    right, wrong = audit(silent).overall, audit(closed_world(silent)).overall
    if (right, wrong) == ("UNKNOWN", "SATISFIED"):
        return None
    return f"Without that reading ours says {right}, and the one that guesses says {wrong}."
