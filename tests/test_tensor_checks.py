"""The bounds of a merged tensor, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from tiny_models import plain_adapter, plain_base, read_tensors  # noqa: E402

from chaincheck.training.adapter import Adapter, Target, open_adapter, place_on  # noqa: E402
from chaincheck.training.checkpoint import open_checkpoint  # noqa: E402
from chaincheck.training.merge import add_delta  # noqa: E402
from chaincheck.training.tensor_checks import delta_fault, same_bits, worsened  # noqa: E402

NAME = "model.layers.0.up_proj.weight"
NAMED = {"F32": torch.float32, "BF16": torch.bfloat16, "F16": torch.float16}


@pytest.fixture(scope="module", params=["F32", "BF16", "F16"])
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, torch.Tensor, Adapter, Target]:
    folder = tmp_path_factory.mktemp("made")
    base = plain_base(folder / "base", dtype=NAMED[request.param])
    adapter = open_adapter(plain_adapter(folder / "adapter", base, rank=3))
    target = place_on(adapter, open_checkpoint(base))[0][NAME]
    return request.param, read_tensors(base)[NAME], adapter, target


def neighbors(tensor: torch.Tensor, steps: int) -> torch.Tensor:
    """The number so many steps further from zero, in the tensor's own type."""
    wide = {2: torch.int16, 4: torch.int32}[tensor.element_size()]
    return (tensor.clone().view(wide) + steps).view(tensor.dtype)


def test_the_correctly_rounded_sum_passes(made: tuple[str, torch.Tensor, Adapter, Target]) -> None:
    """Each element rounded from the exact rational sum, computed without torch's arithmetic."""
    dtype, base, adapter, target = made
    a, b = adapter.factors(target)
    rows, columns = base.shape
    exact = [
        [
            Fraction(float(base[i, j]))
            + sum(Fraction(float(b[i, k])) * Fraction(float(a[k, j])) for k in range(target.rank))
            * Fraction(target.scale)
            for j in range(columns)
        ]
        for i in range(rows)
    ]
    # Through double precision: a second rounding that matters in one of 2**29 cases.
    rounded = torch.tensor([[float(one) for one in row] for row in exact], dtype=torch.float64)
    merged = rounded.to(NAMED[dtype])
    found = delta_fault(adapter, target, base, merged, dtype)
    assert found.fault is None
    assert found.size == pytest.approx(float((adapter.delta(target).double() ** 2).sum()))


def test_what_other_tools_round_before_passes(
    made: tuple[str, torch.Tensor, Adapter, Target],
) -> None:
    dtype, base, adapter, target = made
    once = base + adapter.delta(target).to(base.dtype)
    a, b = adapter.factors(target)
    twice = base + (b @ a).to(base.dtype) * target.scale
    for merged in (once, twice):
        assert delta_fault(adapter, target, base, merged, dtype).fault is None


def test_a_few_steps_off_is_a_fault_in_any_element(
    made: tuple[str, torch.Tensor, Adapter, Target],
) -> None:
    dtype, base, adapter, target = made
    good = add_delta(base, adapter, target)
    # In float32 the products' own rounding hides a few steps; a change by 1e-4 is none of it.
    steps = 2000 if dtype == "F32" else 3
    for place in range(0, good.numel(), 7):
        bad = good.clone().reshape(-1)
        bad[place] = neighbors(bad[place : place + 1], steps)[0]
        found = delta_fault(adapter, target, base, bad.reshape(good.shape), dtype)
        assert found.fault is not None
        assert found.fault.startswith("1 of 128 elements")


def test_nan_and_infinity_are_outside(made: tuple[str, torch.Tensor, Adapter, Target]) -> None:
    dtype, base, adapter, target = made
    for value in (float("nan"), float("inf")):
        bad = add_delta(base, adapter, target).clone()
        bad[1, 1] = value
        assert delta_fault(adapter, target, base, bad, dtype).fault
        assert worsened(base, bad)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.integers(0, 255), min_size=1, max_size=12), st.integers(0, 11), st.integers(0, 7)
)
def test_one_bit_tells_two_tensors_apart(content: list[int], place: int, bit: int) -> None:
    one = torch.tensor(content, dtype=torch.uint8)
    other = one.clone()
    assert same_bits(one, other)
    other[place % len(content)] ^= 1 << bit
    assert not same_bits(one, other)


def test_equal_nans_are_the_same_bits_and_zeros_are_not(tmp_path: Path) -> None:
    nan = torch.tensor([float("nan")])
    assert same_bits(nan, nan.clone())
    assert not worsened(nan, nan)
    assert not same_bits(torch.tensor([0.0]), torch.tensor([-0.0]))
