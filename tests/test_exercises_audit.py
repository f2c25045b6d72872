from __future__ import annotations

import json
from typing import Any

import pytest

from chaincheck.adherence.chain_evidence import replay_of
from chaincheck.adherence.claim_rates import fault_shares
from chaincheck.adherence.claims import FAULTS, read_claims
from chaincheck.adherence.scripted import scripted
from chaincheck.exercises import check
from chaincheck.exercises_audit import broken_item, mystery_replies


def right(name: str, answer: Any) -> bool:
    found = check(name, answer)
    assert found.right or found.remark
    return found.right is True


def test_a_judge_that_claims_everything() -> None:
    assert right("9.1", (1, 0, 0))
    for wrong in ((0, 0, 0), (1, 1, 0), (1, 0, 1), (1, 0), "none"):
        assert not right("9.1", wrong)


def test_the_mystery_is_solved_by_counting() -> None:
    replies = mystery_replies()
    claims = read_claims([item for item, _ in replies], [replay_of(*one) for one in replies])
    found = fault_shares(list(claims))
    there = [name for name, one in found.items() if one.found]
    assert len(there) == 1
    assert [name for name in FAULTS if right("9.2", name)] == there


def test_only_one_requirement_is_met_unseen() -> None:
    ids = ("both_hops", "cite_hop1", "cite_hop2", "verbatim", "context_only")
    assert [name for name in ids if right("9.3", name)] == ["cite_hop2"]


def test_an_adherent_reply_is_told_from_others() -> None:
    item = broken_item()
    assert right("9.4", scripted(item))
    for fault in ("over-claim", "omits a hop", "no quote", "not verbatim", "prose"):
        assert not right("9.4", scripted(item, fault))
    assert "kind of answer" in check("9.4", "yes").remark
    assert "MISSING_FIELD" in check("9.4", "{}").remark
    assert "kind of answer" in check("9.4", json.loads(scripted(item))).remark


@pytest.mark.parametrize("name", ["9.1", "9.2", "9.3", "9.4"])
def test_without_an_answer_it_says_what_is_wanted(name: str) -> None:
    assert check(name).right is None
