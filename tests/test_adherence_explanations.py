"""What would settle a verdict, how far a status is from changing, and what is said where no
answer was found within the limits."""

import pytest
import replays_at_random as at_random

from chaincheck.adherence.audit import audit
from chaincheck.adherence.solving import Limits


def op(name, *args):
    return {"op": name, "args": list(args)}


def atom(name):
    return {"atom": name}


def replay(decision, annotations, *, constraints=(), claims=4, verdict="PASS", requirements=None):
    judges = [f"j{i}" for i in range(claims)]
    steps = ["p_list"]
    return {
        "id": "r",
        "translation_status": "valid",
        "protocol": {
            "id": "claims/1",
            "atoms": [
                *({"id": name, "role": "judge"} for name in judges),
                *({"id": f"c{i}", "role": "context"} for i in range(claims)),
                *({"id": name, "role": "procedure"} for name in steps),
            ],
            "constraints": [{"id": f"k{i}", "expr": e} for i, e in enumerate(constraints)],
            "decision": decision,
            "requirements": requirements or [{"id": "list", "expr": atom("p_list")}],
            "grounding": [{"judge": "j0", "context": "c0"}],
        },
        "verdict": verdict,
        "annotations": [{"atom": a, "value": v} for a, v in annotations],
    }


def solved(value, engine="auto", **limits):
    return audit(at_random.replay_of(value), engine=engine, limits=Limits(**limits))


ALL = op("and", *(atom(f"j{i}") for i in range(4)))
ENGINES = pytest.mark.parametrize("engine", ["auto", "z3", "bitset"])


@ENGINES
def test_every_open_claim_is_needed_where_the_verdict_needs_all(engine):
    found = solved(replay(ALL, [("j0", "TRUE"), ("j1", "TRUE")]), engine)
    assert found.settlement.atoms == found.settlement.necessary == ("j2", "j3")


@ENGINES
def test_of_atoms_that_constraints_tie_one_is_enough(engine):
    tied = [op("iff", atom("j1"), atom("j2")), op("iff", atom("j2"), atom("j3"))]
    found = solved(replay(ALL, [("j0", "TRUE")], constraints=tied), engine)
    assert found.settlement.necessary == ()
    assert found.settlement.atoms == ("j1",)
    assert found.verdict.when_true.possibilities == ("j1", "j2", "j3")


@ENGINES
def test_a_settling_set_settles_whatever_the_values_turn_out(engine):
    # One of three claims is made, nobody knows which: two readings tell the third.
    one = [
        op("or", atom("j1"), atom("j2"), atom("j3")),
        *(
            op("not", op("and", atom(a), atom(b)))
            for a, b in (("j1", "j2"), ("j1", "j3"), ("j2", "j3"))
        ),
    ]
    decision = op("or", atom("j1"), op("and", atom("j2"), atom("j0")))
    found = solved(replay(decision, [("j0", "FALSE")], constraints=one), engine)
    assert found.settlement.atoms == ("j1",)
    decision = op("xor", atom("j1"), op("and", atom("j2"), atom("j0")))
    found = solved(replay(decision, [], constraints=one), engine)
    # Neither of j2 and j3 is needed: beside j0 and j1, either tells the other.
    assert found.settlement.atoms == ("j0", "j1", "j2")


@ENGINES
def test_a_settled_verdict_needs_nothing(engine):
    found = solved(replay(ALL, [("j0", "FALSE")]), engine)
    assert found.verdict.classification == "REFUTED"
    assert found.settlement is None


def test_limits_of_settling_sets_are_told():
    # Two claims out of eight pairs: no pair's member is necessary, a member of each is needed.
    pairs = [op("iff", atom(f"j{2 * i}"), atom(f"j{2 * i + 1}")) for i in range(8)]
    decision = op("and", *(atom(f"j{2 * i}") for i in range(8)))
    value = replay(decision, [], constraints=pairs, claims=16)
    found = solved(value)
    assert found.settlement.atoms is None
    assert found.settlement.reason == "not found within limit 6"
    found = solved(value, settle_atoms=8)
    assert found.settlement.atoms == tuple(f"j{2 * i}" for i in range(8))
    found = solved(value, checks=3)
    assert found.settlement.reason == "budget"


SATISFIED = [("j0", "TRUE"), ("c0", "TRUE"), ("p_list", "TRUE")]
ONE = atom("j0")


@ENGINES
def test_one_flip_breaks_what_hangs_by_one_annotation(engine):
    found = solved(replay(ONE, SATISFIED), engine)
    assert found.overall == "SATISFIED"
    assert (found.radius.flips, found.radius.annotations) == (1, (0,))
    assert found.radius.overall == "VIOLATED"
    assert found.radius.searched == 0


@ENGINES
def test_two_violations_take_two_flips(engine):
    annotations = [("j0", "TRUE"), ("c0", "FALSE"), ("p_list", "FALSE")]
    found = solved(replay(ONE, annotations), engine)
    assert found.overall == "VIOLATED"
    assert (found.radius.flips, found.radius.annotations) == (2, (1, 2))
    assert found.radius.overall == "SATISFIED"
    assert found.radius.searched == 1


@ENGINES
def test_a_flip_of_one_of_two_equal_annotations_makes_a_contradiction(engine):
    annotations = [*SATISFIED[1:], ("j0", "TRUE"), ("j0", "TRUE")]
    found = solved(replay(op("and", ONE, atom("p_list")), annotations), engine)
    assert found.overall == "SATISFIED"
    assert found.notes == ("j0: annotated TRUE 2 times; merged",)
    assert (found.radius.annotations, found.radius.overall) == ((0,), "VIOLATED")
    # A contradiction is one flip from none.
    annotations = [*SATISFIED[1:], ("j0", "TRUE"), ("j0", "FALSE")]
    found = solved(replay(ONE, annotations), engine)
    assert found.overall == "UNKNOWN"
    assert found.overall_forced_by == ("base evid: INCONSISTENT", "base all: INCONSISTENT")
    assert found.conflicts["evid"].literals == ("j0=FALSE", "j0=TRUE")
    assert found.conflicts["evid"].annotations == (3, 2)
    assert found.radius.flips == 1


def test_what_no_flip_changes_is_told_apart_from_what_was_not_found():
    found = solved(replay(ONE, [("c0", "TRUE")]))
    assert found.radius.flips is None
    assert found.radius.reason == "none"
    requirements = [{"id": "all", "expr": op("or", *(atom(f"j{i}") for i in range(4)))}]
    annotations = [(f"j{i}", "TRUE") for i in range(4)]
    value = replay(op("or", *(atom(f"j{i}") for i in range(4))), annotations)
    value["protocol"]["requirements"] = requirements
    found = solved(value)
    # All four claims have to be wrong before anything else follows.
    assert found.radius.flips is None
    assert found.radius.reason == "not found within limit 3"
    assert solved(value, flips=4).radius.annotations == (0, 1, 2, 3)
    found = solved(value, trials=5)
    assert found.radius.reason == "not found within limit 1"


def test_nothing_is_evaluated_where_the_translation_is_not_valid():
    value = replay(ONE, SATISFIED) | {"translation_status": "ambiguous"}
    found = audit(at_random.replay_of(value))
    assert found.overall == "UNKNOWN"
    assert found.overall_forced_by == ("translation_status: ambiguous",)
    assert set(found.bases.values()) == set(found.dimensions.values()) == {"NOT_EVALUATED"}
    assert found.verdict is None
    assert found.requirements == found.grounding == found.violations == ()


def test_without_requirements_or_pairs_nothing_is_ever_satisfied():
    for absent, reason in (
        ("requirements", "procedure: no requirement"),
        ("grounding", "grounding: no pair"),
    ):
        value = replay(ONE, SATISFIED)
        value["protocol"][absent] = []
        found = audit(at_random.replay_of(value))
        assert found.overall == "UNKNOWN"
        assert found.overall_forced_by == (reason,)
        # What is broken is broken all the same.
        value["verdict"] = "FAIL"
        assert audit(at_random.replay_of(value)).overall == "VIOLATED"


@ENGINES
def test_an_unknown_beside_a_value_gives_way_and_is_noted(engine):
    annotations = [("j0", "UNKNOWN"), *SATISFIED]
    found = solved(replay(ONE, annotations), engine)
    assert found.overall == "SATISFIED"
    assert found.notes == ("j0: annotated UNKNOWN and TRUE; TRUE is taken",)
    assert found.unannotated == ("j1", "j2", "j3", "c1", "c2", "c3")


def test_coverage_tells_what_could_be_seen():
    def requirement(addressed, value):
        one = {"id": "r", "expr": atom("p_list"), "addressed": addressed}
        annotations = [*SATISFIED[:2], *([("p_list", value)] if value else [])]
        return audit(at_random.replay_of(replay(ONE, annotations, requirements=[one])))

    seen, unseen, open_ = {"const": True}, {"const": False}, atom("j3")
    found = requirement(seen, None)
    assert found.requirements[0].detail == "observable_undetermined"
    assert found.dimensions["coverage"] == "SATISFIED"
    found = requirement(unseen, None)
    assert found.requirements[0].detail == "not_observable"
    assert found.dimensions["coverage"] == "UNKNOWN"
    assert found.dimensions["procedure"] == "UNKNOWN"
    assert requirement(open_, None).requirements[0].detail == "coverage_undetermined"
    # Broken although it cannot be seen: it stays broken, with a warning.
    found = requirement(unseen, "FALSE")
    assert found.dimensions["procedure"] == found.overall == "VIOLATED"
    assert found.warnings == ("coverage_conflict: r",)
    # Not to be seen is not to be broken.
    assert requirement(unseen, "TRUE").overall == "UNKNOWN"
