"""What rounding takes of a delta: the audit's own figure, and the spacing of bfloat16."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.rounding_study import lost_by_size, step_of

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from tiny_models import plain_adapter, plain_base, read_tensors  # noqa: E402

from chaincheck.training.merge import merge  # noqa: E402


@given(st.floats(1e-30, 1e30) | st.floats(-1e30, -1e-30))
def test_a_step_leads_to_the_next_number(value: float) -> None:
    weight = torch.tensor(value).bfloat16()
    step = step_of(float(weight))
    bits = weight.view(torch.int16)
    after = (bits + 1).view(torch.bfloat16)
    assert abs(float(after)) - abs(float(weight)) == step
    # A little more than half of it moves the weight, a little less does not.
    away = math.copysign(step, float(weight))
    assert (weight.double() + 0.51 * away).bfloat16() == after
    assert (weight.double() + 0.49 * away).bfloat16() == weight


@pytest.mark.parametrize("weight", [0.0, math.nan, math.inf])
def test_what_has_no_step(weight: float) -> None:
    with pytest.raises(ValueError, match="no next number"):
        step_of(weight)


def test_over_all_tensors_it_is_what_the_audit_says(tmp_path: Path) -> None:
    base = plain_base(tmp_path / "base", width=16)
    adapter = plain_adapter(tmp_path / "adapter", base, size=1e-3)
    done = merge(base, adapter, tmp_path / "merged")
    (found,) = lost_by_size(base, adapter, tensors=99)
    assert found.lost == pytest.approx(done.audit.lost, rel=1e-4)
    old, new = read_tensors(base), read_tensors(tmp_path / "merged")
    names = [name for name in old if name.startswith("model.layers") and "proj" in name]
    same = sum(int((old[name] == new[name]).sum()) for name in names)
    assert found.unmoved == same / sum(old[name].numel() for name in names)


def test_the_larger_the_delta_the_less_is_lost(tmp_path: Path) -> None:
    base = plain_base(tmp_path / "base", width=16)
    adapter = plain_adapter(tmp_path / "adapter", base, size=1e-4)
    factors = (0.1, 1.0, 10.0, 100.0)
    found = lost_by_size(base, adapter, factors, tensors=2)
    lost = [one.lost for one in found]
    assert lost == sorted(lost, reverse=True)
    assert [one.size / found[1].size for one in found] == pytest.approx(factors)
    assert found[0].unmoved > 0.9
    assert found[-1].unmoved < 0.2
    with pytest.raises(ValueError, match="at least one tensor"):
        lost_by_size(base, adapter, tensors=0)
    with pytest.raises(ValueError, match="changes nothing"):
        lost_by_size(base, adapter, [0.0])
