"""Z3's side: its limits, its unknown, its absence; and results that no history changes."""

import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import replays_at_random as at_random
import z3

from chaincheck.adherence.audit import audit
from chaincheck.adherence.formulas import Facts, Formula, compile_protocol
from chaincheck.adherence.logic import Atom, Const, Op
from chaincheck.adherence.solver import Session, Undecided
from chaincheck.adherence.solving import Limits
from chaincheck.errors import MissingExtra, UsageError


def op(name, *args):
    return {"op": name, "args": list(args)}


def atom(name):
    return {"atom": name}


def pigeons(holes):
    """More pigeons than holes: without a model, and hard to see."""
    names = [[f"p{i}_{j}" for j in range(holes)] for i in range(holes + 1)]
    constraints = [op("or", *map(atom, row)) for row in names]
    for j in range(holes):
        for a in range(holes + 1):
            constraints += [
                op("not", op("and", atom(names[a][j]), atom(names[b][j]))) for b in range(a)
            ]
    return [name for row in names for name in row], constraints


def hard(holes=6, verdict="PASS"):
    """A replay whose constraints are the pigeons', with nothing annotated but one claim."""
    names, constraints = pigeons(holes)
    return {
        "id": "hard",
        "translation_status": "valid",
        "protocol": {
            "id": "hard/1",
            "atoms": [
                {"id": "j_claim", "role": "judge"},
                {"id": "c_claim", "role": "context"},
                *({"id": name, "role": "procedure"} for name in names),
            ],
            "constraints": [{"id": f"k{i}", "expr": e} for i, e in enumerate(constraints)],
            "decision": op("or", atom("j_claim"), atom("p0_0")),
            "requirements": [{"id": "r", "expr": atom("j_claim"), "addressed": {"const": True}}],
            "grounding": [{"judge": "j_claim", "context": "c_claim"}],
        },
        "verdict": verdict,
        "annotations": [
            {"atom": "j_claim", "value": "TRUE"},
            {"atom": "c_claim", "value": "FALSE"},
        ],
    }


@pytest.mark.parametrize("engine", ["auto", "z3"])
def test_a_check_at_its_limit_is_unknown_and_neither_answer(engine):
    replay = at_random.replay_of(hard())
    found = audit(replay, engine=engine, limits=Limits(rlimit=2_000))
    assert found.bases == {"proto": "SOLVER_UNKNOWN", "evid": "SAT", "all": "SOLVER_UNKNOWN"}
    assert found.verdict.classification == "SOLVER_UNKNOWN"
    assert found.overall == "UNKNOWN"
    assert found.overall_forced_by == (
        "base proto: SOLVER_UNKNOWN",
        "base all: SOLVER_UNKNOWN",
        "verdict: SOLVER_UNKNOWN",
    )
    # What was decided stands, and is listed although it does not make the overall status.
    assert found.requirements[0].met.classification == "ENTAILED"
    assert found.violations == ("grounding j_claim=c_claim (over_claim)",)
    assert found.dimensions["grounding"] == "VIOLATED"
    assert found.conflicts == {}
    assert found.settlement is None
    assert found.radius.reason == "undecided"
    assert "undecided" in {lint.code for lint in found.lints}


def test_with_room_to_work_the_same_base_is_found_inconsistent():
    found = audit(at_random.replay_of(hard(4)), limits=Limits(checks=0), explain=False)
    assert found.bases == {"proto": "UNSAT", "evid": "SAT", "all": "UNSAT"}
    conflict = found.conflicts["proto"]
    # Every pigeon and every hole is needed: five rows and four times ten pairs.
    assert len(conflict) == 45
    assert conflict.annotations == ()
    # That nothing smaller exists was not shown, and is not claimed.
    assert conflict.smallest is None


def test_tables_alone_leave_open_what_is_too_large_for_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    found = audit(at_random.replay_of(hard()), engine="bitset")
    assert found.bases["all"] == "SOLVER_UNKNOWN"
    assert found.dimensions["grounding"] == "VIOLATED"


def test_without_z3_tables_still_do_what_they_can(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    rng = random.Random(1)
    for kind in at_random.KINDS:
        audit(at_random.replay_of(at_random.replay(rng, 8, kind)))
    with pytest.raises(MissingExtra, match=r"chaincheck-book\[audit\]"):
        audit(at_random.replay_of(hard()))
    with pytest.raises(MissingExtra):
        audit(at_random.replay_of(at_random.replay(rng, 4)), engine="z3")


def test_z3_is_imported_by_the_first_question_that_needs_it():
    code = (
        "import sys, chaincheck.adherence.audit; assert 'z3' not in sys.modules;"
        "import chaincheck.adherence.lints; assert 'z3' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("answer", [z3.unknown, z3.unsat, z3.sat])
def test_an_answer_is_compared_and_never_tested(monkeypatch, answer):
    session = Session()
    monkeypatch.setattr(z3.Solver, "check", lambda *_: answer)
    formula = Formula(Atom("a"), True, {"a": 0})
    if answer == z3.unknown:
        with pytest.raises(Undecided):
            session.satisfiable([formula], Facts(0, 0))
    else:
        assert session.satisfiable([formula], Facts(0, 0)) is (answer == z3.sat)


def test_all_checks_of_a_session_have_a_limit_together():
    session = Session(total=1)
    formula = Formula(Op("or", (Atom("a"), Atom("b"))), True, {"a": 0, "b": 1})
    assert session.satisfiable([formula], Facts(0, 0))
    with pytest.raises(Undecided):
        session.satisfiable([formula], Facts(0, 0))


def test_a_model_that_drops_atoms_is_completed_with_the_smallest():
    index = {"a": 0, "b": 1, "c": 2}
    either = Formula(Op("or", (Atom("a"), Atom("c"))), True, index)
    nothing = Formula(Op("or", (Atom("b"), Const(True))), True, index)
    assert Session().smallest([either, nothing], Facts(0, 0)) == 0b100


def test_ids_that_a_solver_would_understand_are_only_names():
    for name in ("true", "not", "x0", "s0", "and", "let"):
        index = {name: 0, "x1": 1}
        formulas = [Formula(Atom(name), False, index), Formula(Atom("x1"), True, index)]
        assert Session().smallest(formulas, Facts(0, 0)) == 0b10


def unseen_tautology(names):
    """True whatever holds, which a table of two atoms cannot tell."""
    parity = atom(names[0])
    for name in names[1:]:
        parity = op("xor", parity, atom(name))
    return op("or", parity, op("not", parity))


def with_open_requirement(annotations):
    """A replay with one requirement that is plain where ``j_claim`` is TRUE, and hard elsewhere."""
    names = [f"p{i}" for i in range(40)]
    value = hard(1)
    value["protocol"] |= {
        "atoms": [
            *value["protocol"]["atoms"][:2],
            *({"id": n, "role": "procedure"} for n in names),
        ],
        "constraints": [],
        "decision": atom("j_claim"),
        "requirements": [{"id": "odd", "expr": op("or", atom("j_claim"), unseen_tautology(names))}],
    }
    value["annotations"] = [{"atom": a, "value": v} for a, v in annotations]
    return at_random.replay_of(value)


FEW = Limits(table_atoms=2)


def test_one_undecided_requirement_forces_the_overall_status():
    replay = with_open_requirement([("c_claim", "TRUE"), ("j_claim", "FALSE")])
    found = audit(replay, engine="bitset", limits=FEW)
    assert set(found.bases.values()) == {"SAT"}
    assert found.overall == "UNKNOWN"
    assert found.overall_forced_by == ("requirement odd: SOLVER_UNKNOWN",)
    assert found.violations == ("verdict", "grounding j_claim=c_claim (under_claim)")
    # With Z3 to ask, nothing is forced.
    assert audit(replay, limits=FEW).overall == "VIOLATED"


def test_a_flip_into_the_undecided_leaves_the_radius_undecided():
    replay = with_open_requirement([("j_claim", "TRUE"), ("c_claim", "TRUE")])
    found = audit(replay, engine="bitset", limits=FEW)
    assert found.overall == "SATISFIED"
    assert (found.radius.flips, found.radius.reason) == (None, "undecided")
    assert found.radius.searched == 0
    assert audit(replay, limits=FEW).radius.annotations == (0,)


def test_what_one_engine_or_limit_left_open_is_asked_again():
    replay = at_random.replay_of(hard(5))
    for settings in ({"engine": "bitset"}, {"limits": Limits(rlimit=1_000)}):
        found = audit(replay, **settings, explain=False)
        assert found.bases["all"] == "SOLVER_UNKNOWN"
    assert audit(replay, limits=Limits(checks=0), explain=False).bases["all"] == "UNSAT"
    again = audit(replay, engine="bitset", explain=False)
    assert again.bases["all"] == "SOLVER_UNKNOWN"


# ----- results that no history changes


def hard_mix():
    rng = random.Random(4)
    values = [at_random.replay(rng, rng.randint(4, 9), kind) for kind in at_random.KINDS]
    values += [at_random.large(rng, 30, unknown=0.9) for _ in range(2)]
    values += [hard(3), hard(6), hard(3, verdict="FAIL")]
    return values


@pytest.mark.parametrize("engine", ["auto", "z3"])
def test_results_depend_on_no_order_and_no_thread(engine):
    # The limit lies where some checks end within it and some do not.
    limits = Limits(rlimit=2_000, table_atoms=3, checks=100, trials=50)

    def solved(value):
        return audit(at_random.replay_of(value), engine=engine, limits=limits)

    values = hard_mix()
    expected = [solved(value) for value in values]
    statuses = {status for found in expected for status in found.bases.values()}
    assert statuses == {"SAT", "UNSAT", "SOLVER_UNKNOWN"}
    order = list(range(len(values)))
    random.Random(5).shuffle(order)
    for number in [*order, *order[::-1]]:
        assert solved(values[number]) == expected[number]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(solved, values)) == expected


def test_the_order_of_annotations_changes_no_answer():
    rng = random.Random(6)
    for kind in at_random.KINDS * 4:
        value = at_random.replay(rng, 8, kind)
        found = audit(at_random.replay_of(value), explain=False)
        rng.shuffle(value["annotations"])
        again = audit(at_random.replay_of(value), explain=False)
        for key in ("overall", "bases", "verdict", "requirements", "grounding", "dimensions"):
            assert getattr(again, key) == getattr(found, key)
        for base, conflict in found.conflicts.items():
            assert again.conflicts[base].literals == conflict.literals
            assert again.conflicts[base].constraints == conflict.constraints


def test_equal_protocols_are_compiled_once():
    value = hard(3)["protocol"]
    first, second = at_random.protocol_of(value), at_random.protocol_of(value)
    assert first is not second
    assert compile_protocol(first) is compile_protocol(second)
    other = at_random.protocol_of({**value, "id": "hard/2"})
    assert compile_protocol(other) is not compile_protocol(first)


# ----- sizes


def nested(depth, leaf):
    expr = leaf
    for level in range(depth):
        expr = op(("not", "and", "or", "xor")[level % 4], expr, *([leaf] if level % 4 else []))
    return expr


@pytest.mark.parametrize("engine", ["auto", "z3"])
def test_the_deepest_and_the_largest_formulas_are_solved(engine):
    names = [f"p{i}" for i in range(16)]
    rng = random.Random(7)
    wide = op("or", *(op("and", *map(atom, rng.sample(names, 3))) for _ in range(4_000)))
    value = {
        "id": "large",
        "translation_status": "valid",
        "protocol": {
            "id": "large/1",
            "atoms": [{"id": name, "role": "procedure"} for name in names],
            "constraints": [],
            "decision": wide,
            "requirements": [{"id": "r", "expr": nested(64, atom("p0"))}],
            "grounding": [],
        },
        "verdict": "PASS",
        "annotations": [],
    }
    found = audit(at_random.replay_of(value), engine=engine, explain=engine == "auto")
    assert found.verdict.classification == "UNDERDETERMINED"
    assert not any(found.verdict.when_false.values.values())
    assert found.requirements[0].met.classification in {"UNDERDETERMINED", "ENTAILED", "REFUTED"}


def test_limits_refuse_what_they_cannot_be():
    for wrong in ({"table_atoms": 17}, {"rlimit": 0}, {"flips": -1}, {"total": -1}):
        with pytest.raises(UsageError):
            Limits(**wrong)
    with pytest.raises(UsageError, match="'magic'"):
        audit(at_random.replay_of(hard(3)), engine="magic")
