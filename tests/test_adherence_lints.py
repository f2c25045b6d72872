"""Every weakness of a protocol: planted where it must be found, absent where it must not."""

import random

import oracles_adherence as oracle
import pytest
import replays_at_random as at_random

from chaincheck.adherence.lints import lint
from chaincheck.adherence.solving import Limits


def op(name, *args):
    return {"op": name, "args": list(args)}


def atom(name):
    return {"atom": name}


def rules(**changes):
    """A protocol without any weakness, changed."""
    value = {
        "id": "sound/1",
        "atoms": [
            {"id": "j_one", "role": "judge"},
            {"id": "j_two", "role": "judge"},
            {"id": "c_one", "role": "context"},
            {"id": "c_two", "role": "context"},
            {"id": "p_list", "role": "procedure"},
            {"id": "p_check", "role": "procedure"},
        ],
        "constraints": [{"id": "order", "expr": op("implies", atom("p_check"), atom("p_list"))}],
        "decision": op("and", atom("j_one"), atom("j_two")),
        "requirements": [{"id": "check", "expr": atom("p_check")}],
        "grounding": [
            {"judge": "j_one", "context": "c_one"},
            {"judge": "j_two", "context": "c_two"},
        ],
    }
    return value | changes


def codes(value, **options):
    return {(one.code, one.subject) for one in lint(at_random.protocol_of(value), **options)}


def constraint(expr, name="added"):
    return [*rules()["constraints"], {"id": name, "expr": expr}]


J1, J2, C1, P1, P2 = map(atom, ("j_one", "j_two", "c_one", "p_list", "p_check"))
EITHER = op("or", J1, op("not", J1))
PLANTED = {
    "none": (rules(), set()),
    "mixes": (
        rules(constraints=constraint(op("implies", C1, J1))),
        {("constraint_mixes_judge_and_context", "added")},
    ),
    "entails": (
        rules(constraints=constraint(P2)),
        {("constraint_entails_requirement", "added")},
    ),
    "entail together": (
        rules(
            constraints=[
                {"id": "a", "expr": op("implies", P1, P2)},
                {"id": "b", "expr": P1},
            ]
        ),
        {("constraints_entail_requirement", "check")},
    ),
    "contradictory": (
        rules(constraints=[{"id": "a", "expr": P1}, {"id": "b", "expr": op("not", P1)}]),
        {("constraints_contradictory", "constraints")},
    ),
    "no judge atom": (
        rules(decision=op("and", P1, op("or", J1, op("not", J1)))),
        {("decision_without_judge_atom", "decision")},
    ),
    "constant decision": (
        rules(decision={"const": True}),
        {("decision_without_judge_atom", "decision")},
    ),
    "depends on context": (
        rules(decision=op("and", J1, J2, C1)),
        {("decision_depends_on_context", "c_one")},
    ),
    "mentions context without depending on it": (
        rules(decision=op("and", J1, J2, op("implies", C1, C1))),
        set(),
    ),
    "always true": (
        rules(requirements=[{"id": "empty", "expr": EITHER}]),
        {("requirement_always_true", "empty")},
    ),
    "never true": (
        rules(requirements=[{"id": "absurd", "expr": op("not", EITHER)}]),
        {("requirement_never_true", "absurd")},
    ),
    "not grounded": (
        rules(grounding=rules()["grounding"][:1]),
        {("judge_atom_not_grounded", "j_two")},
    ),
}


@pytest.mark.parametrize("engine", ["auto", "z3", "bitset"])
@pytest.mark.parametrize("name", PLANTED)
def test_what_is_planted_is_found_and_nothing_else(name, engine):
    value, expected = PLANTED[name]
    assert codes(value, engine=engine) == expected


def test_a_lint_tells_what_to_do_in_one_line():
    for value, _ in PLANTED.values():
        for one in lint(at_random.protocol_of(value)):
            assert one.message[0].isupper()
            assert "\n" not in one.message


def test_lints_of_random_protocols_agree_with_tables():
    rng = random.Random(3)
    for kind in at_random.KINDS * 25:
        protocol = at_random.replay(rng, rng.randint(3, 7), kind)["protocol"]
        order = [a["id"] for a in protocol["atoms"]]
        exprs = [c["expr"] for c in protocol["constraints"]]

        def entails(premises, expr, order=order):
            return not oracle.Base(order, [*premises, oracle.negation(expr)], {}).consistent()

        consistent = oracle.Base(order, exprs, {}).consistent()
        expected = set() if consistent else {("constraints_contradictory", "constraints")}
        roles = {a["id"]: a["role"] for a in protocol["atoms"]}
        for each in protocol["constraints"]:
            if {"judge", "context"} <= {roles[a] for a in oracle.atoms_in(each["expr"])}:
                expected.add(("constraint_mixes_judge_and_context", each["id"]))
        for each in protocol["requirements"]:
            if entails([], each["expr"]):
                expected.add(("requirement_always_true", each["id"]))
                continue
            if entails([], oracle.negation(each["expr"])):
                expected.add(("requirement_never_true", each["id"]))
            if consistent and entails(exprs, each["expr"]):
                alone = [
                    c["id"] for c in protocol["constraints"] if entails([c["expr"]], each["expr"])
                ]
                expected |= {("constraint_entails_requirement", name) for name in alone}
                if not alone:
                    expected.add(("constraints_entail_requirement", each["id"]))
        columns = oracle.rows(order)
        decision = oracle.truth(protocol["decision"], columns)

        def matters(name, columns=columns, protocol=protocol, decision=decision):
            other = {**columns, name: ~columns[name]}
            return bool((decision != oracle.truth(protocol["decision"], other)).any())

        named = oracle.atoms_in(protocol["decision"])
        if not any(matters(a) for a in named if roles[a] == "judge"):
            expected.add(("decision_without_judge_atom", "decision"))
        expected |= {
            ("decision_depends_on_context", a)
            for a in named
            if roles[a] == "context" and matters(a)
        }
        paired = {pair["judge"] for pair in protocol["grounding"]}
        expected |= {
            ("judge_atom_not_grounded", a) for a in named if roles[a] == "judge" and a not in paired
        }
        assert codes(protocol) == expected


def test_what_is_not_decided_is_said_to_be_so():
    names = [f"p{i}" for i in range(30)]
    parity = atom(names[0])
    for name in names[1:]:
        parity = op("xor", parity, atom(name))
    value = rules(
        atoms=rules()["atoms"] + [{"id": name, "role": "procedure"} for name in names],
        requirements=[{"id": "odd", "expr": op("or", parity, op("not", parity))}],
    )
    assert codes(value, engine="bitset", limits=Limits(table_atoms=2)) == {("undecided", "odd")}
