"""How much of a delta rounding takes, by the size of the delta.

A weight in bfloat16 has eight significant bits. What is added to it and is smaller than half the
distance to the next number that can be written is lost; so the smaller a delta is beside the
weights, the larger is the share of it that a merge loses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chaincheck.errors import PathLike
from chaincheck.training.adapter import open_adapter, place_on
from chaincheck.training.checkpoint import open_checkpoint
from chaincheck.training.merge import add_delta

__all__ = ["SizedLoss", "lost_by_size", "step_of"]

_BITS = 8  # significant bits of bfloat16, the leading one among them


@dataclass(frozen=True)
class SizedLoss:
    """What rounding takes of a delta of one size.

    Attributes:
        factor: what the adapter's delta was multiplied by.
        size: |delta| / |weights|, root of the sums of squares over the tensors.
        lost: |merged - weights - delta| / |delta|, likewise.
        unmoved: share of the numbers that the merge leaves as they are.
    """

    factor: float
    size: float
    lost: float
    unmoved: float


def step_of(weight: float) -> float:
    """Distance of a number in bfloat16 to the next larger one in size.

    Raises:
        ValueError: 0, or no finite number.
    """
    if not weight or not math.isfinite(weight):
        raise ValueError(f"{weight!r} has no next number to be told")
    return math.ldexp(1.0, math.frexp(weight)[1] - _BITS)


def lost_by_size(
    base: PathLike,
    adapter: PathLike,
    factors: Iterable[float] = (1.0,),
    *,
    tensors: int = 7,
) -> list[SizedLoss]:
    """Merge a delta that is multiplied by each factor, and measure what is lost.

    Args:
        base: the base's folder.
        adapter: the adapter's folder.
        factors: what the delta is multiplied by, each above 0.
        tensors: so many of the tensors that the adapter changes, spread evenly, are looked at.

    Raises:
        InvalidModel: base or adapter cannot be used, or do not belong together.
        ValueError: the delta is 0 everywhere, or no tensor is asked for.
    """
    if tensors < 1:
        raise ValueError("at least one tensor must be looked at")
    one, change = open_checkpoint(base), open_adapter(adapter)
    targets, _ = place_on(change, one)
    names = _spread(sorted(targets), tensors)
    found = []
    for factor in factors:
        weights = delta = error = 0.0
        numbers = unmoved = 0
        for name in names:
            target = replace(targets[name], scale=targets[name].scale * factor)
            old = one.tensor(name)
            new, wanted = add_delta(old, change, target), change.delta(target).double()
            weights += float((old.double() ** 2).sum())
            delta += float((wanted**2).sum())
            error += float(((new.double() - old.double() - wanted) ** 2).sum())
            numbers += old.numel()
            unmoved += int((new == old).sum())
        if not delta:
            raise ValueError("the adapter changes nothing: its delta is 0 everywhere")
        found.append(
            SizedLoss(
                factor, math.sqrt(delta / weights), math.sqrt(error / delta), unmoved / numbers
            )
        )
    return found


def _spread(names: Sequence[str], most: int) -> list[str]:
    """At most so many of the names, evenly spread over them."""
    count = min(most, len(names))
    return [names[(2 * k + 1) * len(names) // (2 * count)] for k in range(count)]
