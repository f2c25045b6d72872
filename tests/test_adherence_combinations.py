"""The tables of every combination against the design's own words."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("z3", reason="the extra 'audit' is not installed")

from chaincheck.adherence import combinations
from chaincheck.adherence.combinations import (
    CLASSIFICATIONS,
    QUESTIONS,
    aggregation,
    classified,
    requirement_and_coverage,
)


def test_each_cell_is_what_the_design_says() -> None:
    found = classified()
    assert set(found) == set(product(QUESTIONS, CLASSIFICATIONS))
    for (question, kind), audit in found.items():
        wanted = {"ENTAILED": "SATISFIED", "REFUTED": "VIOLATED"}.get(kind, "UNKNOWN")
        if question == "coverage" and kind == "REFUTED":
            wanted = "UNKNOWN"
        assert audit.dimensions[question] == wanted
        forced = kind in {"INCONSISTENT", "SOLVER_UNKNOWN"}
        assert bool(audit.overall_forced_by) is forced
        assert audit.overall == ("UNKNOWN" if forced else wanted)


def test_a_requirement_beside_its_coverage() -> None:
    found = requirement_and_coverage()
    assert len(found) == 9
    warned = {key for key, audit in found.items() if audit.warnings}
    assert warned == {("REFUTED", "REFUTED")}
    assert found["REFUTED", "REFUTED"].overall == "VIOLATED"
    details = {seen: found["UNDERDETERMINED", seen].requirements[0].detail for _, seen in found}
    assert details == {
        "ENTAILED": "observable_undetermined",
        "REFUTED": "not_observable",
        "UNDERDETERMINED": "coverage_undetermined",
    }


def test_the_overall_status_is_the_worst_of_four() -> None:
    found = aggregation()
    seen = {tuple(one.dimensions.values()) for one in found}
    assert len(seen) == len(found) == 3 * 10 * 4
    for one in found:
        statuses = set(one.dimensions.values())
        absent = "NOT_SPECIFIED" in {one.dimensions["procedure"], one.dimensions["grounding"]}
        if "VIOLATED" in statuses:
            assert one.overall == "VIOLATED"
        elif "UNKNOWN" in statuses or absent:
            assert one.overall == "UNKNOWN"
        else:
            assert one.overall == "SATISFIED"


def test_a_replay_that_comes_out_otherwise_is_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = dict(combinations._READ) | {"REFUTED": ("TRUE",)}
    monkeypatch.setattr(combinations, "_READ", wrong)
    with pytest.raises(RuntimeError, match="verdict is ENTAILED, not REFUTED"):
        classified()
