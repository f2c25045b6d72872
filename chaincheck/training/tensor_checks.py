"""Is this tensor that one plus this delta, within what its type can hold?

The check is made in double precision, on rows at a time, and shares no arithmetic with the merge.
With t the base's value, d the delta (both exact to double precision) and m the merged value,

    |m - (t + d')| <= half a unit in the last place of m or t + d'   (the sum is rounded once)
                      + e,   e = (r + 2) 2**-24 (s |B| |A| + |t + d'|)

where e is what products and sum in float32 may be off, and d' is one of the deltas that merging
tools add: d itself; d rounded to the tensor's type, as d - e and as d + e; or s times the product
B A, the product rounded to the type and then the whole. A value that is a few units in the last
place from all of these is outside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chaincheck.training.adapter import Adapter, Target
from chaincheck.training.checkpoint import as_bytes

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["Delta", "delta_fault", "same_bits", "unlike", "worsened"]

_ELEMENTS = 2**18  # in double precision, with a dozen such arrays at a time: 25 MB
_PRECISION = {"BF16": (8, -126), "F16": (11, -14), "F32": (24, -126), "F64": (53, -1022)}
_SINGLE = 2.0**-24


@dataclass(frozen=True)
class Delta:
    """How a changed tensor compares with what it should be.

    Attributes:
        fault: what is wrong, None if nothing is.
        error: sum of the squares of merged - base - delta.
        size: sum of the squares of the delta.
        moved: how many elements are not the base's any more.
    """

    fault: str | None
    error: float
    size: float
    moved: int


def same_bits(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors of one type and shape are the same bit for bit."""
    import torch

    one, other = as_bytes(first), as_bytes(second)
    # Pieces, so that a mapped file is read through and let go.
    return all(
        torch.equal(one[k : k + _ELEMENTS], other[k : k + _ELEMENTS])
        for k in range(0, one.numel(), _ELEMENTS)
    )


def worsened(base: Tensor, merged: Tensor) -> bool:
    """Whether there is NaN or infinity in ``merged`` where ``base`` has a number."""
    import torch

    if not merged.is_floating_point():
        return False
    if merged.element_size() == 1:  # the eight-bit types know no isfinite
        base, merged = base.float(), merged.float()
    return bool((~torch.isfinite(merged) & torch.isfinite(base)).any())


def unlike(base: Tensor, merged: Tensor) -> str:
    """Say by how much two tensors that are not the same differ."""
    one, other = base.reshape(-1), merged.reshape(-1)
    step = base.element_size()
    bits = as_bytes(one).reshape(-1, step), as_bytes(other).reshape(-1, step)
    places = (bits[0] != bits[1]).any(dim=1)
    text = f"{int(places.sum()):,} of {one.numel():,} elements differ"
    if base.is_floating_point() or base.element_size() <= 4:
        gap = float((other[places].double() - one[places].double()).abs().max())
        text += f", by up to {gap:.3g}"
    return text


def _rows(
    adapter: Adapter, target: Target, base: Tensor, merged: Tensor
) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Yield rows of base, merged, delta and s |B| |A|, in double precision."""
    a, b = (factor.double() for factor in adapter.factors(target))
    left, right = (a.T, b.T) if adapter.config.get("fan_in_fan_out") else (b, a)
    step = max(1, _ELEMENTS // max(1, base.shape[1]))
    for start in range(0, base.shape[0], step):
        rows = slice(start, start + step)
        yield (
            base[rows].double(),
            merged[rows].double(),
            left[rows] @ right * target.scale,
            left[rows].abs() @ right.abs() * abs(target.scale),
        )


def _off(
    old: Tensor,
    new: Tensor,
    delta: Tensor,
    noise: Tensor,
    *,
    scale: float,
    stored: Any,
    dtype: str,
) -> Tensor:
    """Which values are not the base's plus a delta that was rounded before, shape (n,)."""
    added = [(delta - noise).to(stored), (delta + noise).to(stored)]
    if scale:
        added.append(((delta / scale).to(stored).double() * scale).to(stored))
    off = ~_within(new, old + added[0].double(), noise, dtype)
    for one in added[1:]:
        off &= ~_within(new, old + one.double(), noise, dtype)
    return off


def _within(new: Tensor, exact: Tensor, noise: Tensor, dtype: str) -> Tensor:
    """Whether each value is the exact one rounded once to the type; NaN is not."""
    import torch

    digits, least = _PRECISION[dtype]
    largest = torch.maximum(exact.abs(), new.abs())
    exponent = torch.frexp(largest).exponent.clamp(min=least + 1)
    half_unit = torch.ldexp(torch.ones_like(largest), exponent - digits - 1)
    within: Tensor = (new - exact).abs() <= half_unit + noise
    return within


def delta_fault(
    adapter: Adapter, target: Target, base: Tensor, merged: Tensor, dtype: str
) -> Delta:
    """Hold a changed tensor against base plus delta.

    Args:
        adapter: the adapter.
        target: what it does to this tensor.
        base: the base's tensor, shape (rows, columns).
        merged: the merged model's, of the same type and shape.
        dtype: their type as safetensors writes it.
    """
    import torch

    outside = moved = 0
    error = size = worst = 0.0
    for old, new, delta, bulk in _rows(adapter, target, base, merged):
        noise = (target.rank + 2) * _SINGLE * (bulk + (old + delta).abs())
        left = new - (old + delta)
        bad = ~_within(new, old + delta, noise, dtype)
        if bad.any():  # few are, where the sum was rounded once
            parts = [one[bad] for one in (old, new, delta, noise)]
            off = _off(*parts, scale=target.scale, stored=base.dtype, dtype=dtype)
            outside += int(off.sum())
            if off.any():
                worst = max(worst, float(left[bad][off].abs().nan_to_num(torch.inf).max()))
        error += float((left**2).sum())
        size += float((delta**2).sum())
        moved += int((new != old).sum())
    fault = None
    if outside:
        fault = (
            f"{outside:,} of {base.numel():,} elements are not base + delta, by up to {worst:.3g}"
        )
        if moved == 0:
            fault = f"it is still the base's: the delta is lacking in {outside:,} elements"
    return Delta(fault, error, size, moved)
