"""Checkers of chapter 8: right answers pass, each kind of slip gets its hint."""

from __future__ import annotations

from typing import Any

import pytest

from chaincheck.adherence.audit import audit
from chaincheck.adherence.builder import ReplayBuilder
from chaincheck.adherence.decode import protocol_from
from chaincheck.adherence.replay import Recorded
from chaincheck.exercises import check
from chaincheck.exercises_adherence import masked_replay, minutes_atoms, open_replay


def atom(name: str) -> dict[str, Any]:
    return {"atom": name}


def op(name: str, *args: dict[str, Any]) -> dict[str, Any]:
    return {"op": name, "args": list(args)}


FIND = op("implies", atom("j_decided"), atom("p_quotes_decision"))
# The same as an implication, written as a disjunction: any right form is right.
WITHDRAW = op("or", op("not", atom("j_withdrawn")), atom("p_quotes_withdrawal"))
ONLY = op("not", atom("p_outside"))


def minutes(**other: Any) -> dict[str, Any]:
    """The protocol of exercise 8.1, with some fields otherwise."""
    return {
        "id": "minutes/1",
        "atoms": minutes_atoms(),
        "decision": op("and", op("not", atom("j_withdrawn")), atom("j_decided")),
        "requirements": [
            {"id": str(number), "expr": expr} for number, expr in enumerate((FIND, WITHDRAW, ONLY))
        ],
        "grounding": [
            {"judge": "j_withdrawn", "context": "c_withdrawn"},
            {"judge": "j_decided", "context": "c_decided"},
        ],
        **other,
    }


def contradictory(*constraints: dict[str, Any], last: str = "TRUE") -> Recorded:
    """A replay that reads three atoms TRUE."""
    names = ["p_a", "p_b", "p_c"]
    rules = {
        "id": "three/1",
        "atoms": [{"id": one, "role": "procedure"} for one in names]
        + [{"id": "j_a", "role": "judge"}],
        "constraints": [
            {"id": f"k{number}", "expr": expr} for number, expr in enumerate(constraints)
        ],
        "decision": atom("j_a"),
    }
    draft = ReplayBuilder("mine", protocol_from(rules), verdict="PASS")
    draft.source("rationale", "rationale", "a b c PASS")
    for name in names:
        draft.annotate(name, "TRUE", draft.quote("rationale", name[-1]))
    if last == "FALSE":
        draft.annotate("p_c", "FALSE", draft.quote("rationale", "c"))
    return draft.build()


THREE = op("not", op("and", atom("p_a"), atom("p_b"), atom("p_c")))
TWO = op("not", op("and", atom("p_a"), atom("p_b")))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("8.1", minutes()),
        ("8.1", minutes(constraints=[{"id": "k", "expr": {"const": True}}])),
        ("8.2", ("designer_known", "grounding")),
        ("8.3", contradictory(THREE)),
        ("8.3", contradictory(THREE).replay),
        ("8.4", ["j_sealed"]),
        ("8.4", ["j_copied"]),
        ("8.5", "external"),
    ],
)
def test_right_answers_are_accepted(name: str, answer: object) -> None:
    verdict = check(name, answer)
    assert verdict.right, verdict


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (minutes(decision=atom("j_decided")), "with the withdrawal"),
        (minutes(decision=op("and", atom("c_decided"), ONLY)), "with the withdrawal"),
        (minutes(decision=atom("j_decide")), "UNDECLARED_ATOM at $.decision"),
        (minutes(decision=op("not")), "BAD_ARITY at $.decision"),
        (minutes(atoms=minutes_atoms()[1:]), "UNDECLARED_ATOM"),
        (minutes(atoms=[*minutes_atoms(), {"id": "x", "role": "judge"}]), "as they are given"),
        (minutes(requirements=[]), "just this: If you find the decision"),
        (
            minutes(requirements=[{"id": "all", "expr": op("and", FIND, WITHDRAW, ONLY)}]),
            "just this: If you find the decision",
        ),
        (
            minutes(
                requirements=[
                    *minutes()["requirements"],
                    {"id": "more", "expr": atom("p_quotes_withdrawal")},
                ]
            ),
            "more is none of the rules",
        ),
        (minutes(constraints=[{"id": "kept", "expr": ONLY}]), "kept rules out"),
        (minutes(grounding=[]), "compared with the same thing"),
        (
            minutes(grounding=[{"judge": "j_decided", "context": "c_withdrawn"}]),
            "compared with the same thing",
        ),
    ],
)
def test_a_protocol_that_says_something_else_gets_a_hint(answer: object, hint: str) -> None:
    verdict = check("8.1", answer)
    assert verdict.right is False
    assert hint in verdict.remark


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("8.2", ("found_where_it_is", "grounding"), "look at the conflict"),
        ("8.2", ("check_needs_list", "grounding"), "UNKNOWN as before"),
        ("8.2", ("designer_known", "verdict"), "read the four dimensions"),
        ("8.3", contradictory(), "nothing contradicts"),
        ("8.3", contradictory(TWO), "fewer readings"),
        ("8.3", contradictory(THREE, last="FALSE"), "both TRUE and FALSE"),
        ("8.3", contradictory(atom("p_a"), op("not", atom("p_a"))), "no judge could obey"),
        ("8.4", ["j_signed"], "which verdict follows"),
        ("8.4", ["j_sealed", "j_copied"], "1 would do"),
        ("8.4", ["j_dated", "j_sealed"], "j_dated has been read"),
        ("8.5", "claims_checked", "ours says VIOLATED"),
    ],
)
def test_wrong_answers_get_a_hint(name: str, answer: object, hint: str) -> None:
    verdict = check(name, answer)
    assert verdict.right is False
    assert hint in verdict.remark


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("8.2", ("nothing", "grounding")),
        ("8.4", ["j_none"]),
        ("8.5", "j_none"),
        ("8.1", {"atoms": {1, 2}}),
        ("8.1", {"atoms": float("nan")}),
    ],
)
def test_answers_of_another_kind_are_told_what_is_wanted(name: str, answer: object) -> None:
    verdict = check(name, answer)
    assert verdict.right is False


def test_the_replays_are_what_the_exercises_say() -> None:
    assert audit(masked_replay()).overall == "UNKNOWN"
    assert len(audit(masked_replay()).lints) == 2
    found = audit(open_replay())
    assert found.verdict is not None
    assert found.verdict.classification == "UNDERDETERMINED"
