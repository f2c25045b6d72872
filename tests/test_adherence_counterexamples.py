"""Each mistake gives an answer that the audit does not give."""

import msgspec
import pytest
import replays_at_random as at_random

from chaincheck.adherence.audit import audit
from chaincheck.adherence.counterexamples import (
    unchecked_verdict,
    unread,
    with_gold_as_a_fact,
    with_unknown_as_false,
)


@pytest.fixture
def adherent():
    """Two claims, both made and both so; steps listed, then checked; nothing from outside."""
    value = {
        "id": "adherent",
        "translation_status": "valid",
        "protocol": {
            "id": "claims/1",
            "atoms": [
                {"id": "j_came", "role": "judge"},
                {"id": "j_leads", "role": "judge"},
                {"id": "c_came", "role": "context"},
                {"id": "c_leads", "role": "context"},
                {"id": "listed", "role": "procedure"},
                {"id": "checked", "role": "procedure"},
                {"id": "external", "role": "procedure"},
            ],
            "constraints": [
                {
                    "id": "check_needs_list",
                    "expr": {"op": "implies", "args": [{"atom": "checked"}, {"atom": "listed"}]},
                }
            ],
            "decision": {"op": "and", "args": [{"atom": "j_came"}, {"atom": "j_leads"}]},
            "requirements": [
                {"id": "list", "expr": {"atom": "listed"}},
                {"id": "check", "expr": {"atom": "checked"}},
                {"id": "context_only", "expr": {"op": "not", "args": [{"atom": "external"}]}},
            ],
            "grounding": [
                {"judge": "j_came", "context": "c_came"},
                {"judge": "j_leads", "context": "c_leads"},
            ],
        },
        "verdict": "PASS",
        "annotations": [
            *({"atom": a, "value": "TRUE"} for a in ("j_came", "j_leads", "c_came", "c_leads")),
            {"atom": "listed", "value": "TRUE"},
            {"atom": "checked", "value": "TRUE"},
            {"atom": "external", "value": "FALSE"},
        ],
    }
    return at_random.replay_of(value)


def test_unknown_as_false_acquits_and_convicts_without_evidence(adherent):
    assert audit(adherent).overall == "SATISFIED"
    assert with_unknown_as_false(adherent) == adherent
    # Nobody looked for outside knowledge: taken for absent.
    silent = unread(adherent, "external")
    assert audit(silent).overall == "UNKNOWN"
    assert audit(with_unknown_as_false(silent)).overall == "SATISFIED"
    # Nobody read what the judge says of a claim: taken for denied.
    silent = unread(adherent, "j_leads")
    assert audit(silent).overall == "UNKNOWN"
    convicted = audit(with_unknown_as_false(silent))
    assert convicted.overall == "VIOLATED"
    assert convicted.violations == ("verdict", "grounding j_leads=c_leads (under_claim)")


def test_an_inconsistent_base_entails_both_verdicts_if_nobody_checks(adherent):
    annotations = tuple(
        msgspec.structs.replace(each, value="FALSE") if each.atom == "listed" else each
        for each in adherent.annotations
    )
    broken = msgspec.structs.replace(adherent, annotations=annotations)
    assert unchecked_verdict(broken, "PASS") == unchecked_verdict(broken, "FAIL") == "ENTAILED"
    found = audit(broken)
    assert found.verdict.classification == "INCONSISTENT"
    assert found.overall == "UNKNOWN"
    assert found.conflicts["all"].literals == ("listed=FALSE", "checked=TRUE")
    # Where the base is consistent, the check makes no difference.
    for replay in (adherent, unread(adherent, "j_leads")):
        assert unchecked_verdict(replay) == audit(replay).verdict.classification
    assert unchecked_verdict(adherent, "FAIL") == "REFUTED"


def test_gold_as_a_fact_settles_what_the_evidence_leaves_open(adherent):
    silent = unread(adherent, "j_leads")
    assert audit(silent).verdict.classification == "UNDERDETERMINED"
    for gold, expected in (("PASS", "SATISFIED"), ("FAIL", "VIOLATED")):
        assert audit(with_gold_as_a_fact(silent, gold)).dimensions["verdict"] == expected
    # Where judge and gold differ, the base contradicts itself and the judge cannot be judged.
    found = audit(with_gold_as_a_fact(adherent, "FAIL"))
    assert found.overall_forced_by == ("base all: INCONSISTENT",)
    assert found.conflicts["all"].constraints == ("gold",)
