"""Each thing that must not be done to a gate is refused, and leaves the gate as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_files import PLAN, scored_gate

from chaincheck.errors import DamagedLog, ForeignLog, IntegrityError, MissingJudgment
from chaincheck.gate_histories import CellJudge
from chaincheck.planted_gate_faults import GATE_FAULTS, GateFault, refusal_of
from chaincheck.training.gate import check_gate

KIND = {
    "judgment missing": MissingJudgment,
    "score edited": DamagedLog,
    "another instrument": ForeignLog,
}
SAID = {
    "condition changed": "margin was '0.02' and is '0.04'",
    "data changed": "the data were changed after",
    "judgment missing": "no judgment of it is recorded",
    "score edited": "",
    "logs exchanged": "of the other role",
    "fixed afterwards": "after the candidate was scored",
    "another instrument": "differ in more than their weights",
}


@pytest.mark.parametrize("fault", GATE_FAULTS, ids=lambda fault: fault.name)
def test_each_is_refused(fault: GateFault, tmp_path: Path) -> None:
    (tmp_path / "gate").mkdir()
    plan, _ = scored_gate(tmp_path / "gate")
    before = {path.name: path.read_bytes() for path in plan.parent.iterdir()}
    found = refusal_of(fault, plan, tmp_path / "copy", CellJudge("other", 1.0))
    assert isinstance(found, KIND.get(fault.name, IntegrityError))
    assert found.exit_code == fault.exit_code
    assert SAID[fault.name] in str(found)
    assert {path.name: path.read_bytes() for path in plan.parent.iterdir()} == before


def test_what_is_no_fault_is_not_refused(tmp_path: Path) -> None:
    (tmp_path / "gate").mkdir()
    plan, _ = scored_gate(tmp_path / "gate")
    assert plan.read_text("utf-8") == PLAN
    nothing = GateFault("nothing", "nothing is done", 0, lambda plan, other: plan)
    assert refusal_of(nothing, plan, tmp_path / "copy", CellJudge("other", 1.0)) is None
    assert check_gate(plan).passed
