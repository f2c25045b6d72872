"""Which prompts go through a causal model together: no model in here.

A batch is padded to its longest prompt, so prompts of one length belong together. Where the cells
of a triplet begin alike, what they share can be computed once, and each goes on from there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

__all__ = ["Batch", "common_prefix", "plan_batches"]

_WORTHWHILE = 0.25  # share of a group's tokens that a common beginning must save


@dataclass(frozen=True, slots=True)
class Batch:
    """Prompts that are computed together.

    Attributes:
        members: indices of the prompts.
        prefix: how many tokens they share and have computed once; 0 if each is computed whole.
    """

    members: tuple[int, ...]
    prefix: int = 0


def common_prefix(prompts: Sequence[Sequence[int]]) -> int:
    """Count the tokens with which all prompts begin."""
    tuples = [tuple(prompt) for prompt in prompts]
    first, last = min(tuples), max(tuples)  # whatever these two share, those between share too
    for index, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return index
    return min(len(first), len(last))


def plan_batches(
    prompts: Sequence[Sequence[int]],
    groups: Sequence[Hashable],
    *,
    batch: int,
    tokens: int,
    share: int,
) -> list[Batch]:
    """Put every prompt into one batch.

    Args:
        prompts: tokens, no two prompts alike.
        groups: for each prompt what it belongs to; only prompts of one group can share.
        batch: most prompts in a batch.
        tokens: most tokens in a batch, padding included; a longer prompt goes alone.
        share: the longest prompt that may share its beginning; 0 for none. In batches of one
            nothing is shared.

    Returns:
        The batches, in the order of their first prompts.
    """
    left: list[int] = []
    found: list[Batch] = []
    for members in _grouped(groups).values():
        prefix = _worthwhile_prefix(
            [prompts[member] for member in members], share if batch > 1 else 0
        )
        if prefix:
            found += _filled(members, prompts, prefix, batch, tokens)
        else:
            left += members
    found += _filled(left, prompts, 0, batch, tokens)
    return sorted(found, key=lambda one: min(one.members))


def _grouped(groups: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for index, group in enumerate(groups):
        found.setdefault(group, []).append(index)
    return found


def _worthwhile_prefix(prompts: Sequence[Sequence[int]], longest: int) -> int:
    if len(prompts) < 2 or max(map(len, prompts)) > longest:
        return 0
    # Each prompt keeps a token of its own, since what follows is read off its last one.
    prefix = min(common_prefix(prompts), min(map(len, prompts)) - 1)
    saved = prefix * (len(prompts) - 1)
    return prefix if saved >= _WORTHWHILE * sum(map(len, prompts)) else 0


def _filled(
    members: Sequence[int],
    prompts: Sequence[Sequence[int]],
    prefix: int,
    batch: int,
    tokens: int,
) -> list[Batch]:
    """Fill batches from the longest prompt to the shortest."""
    ordered = sorted(members, key=lambda member: (-len(prompts[member]), member))
    found: list[Batch] = []
    start = 0
    while start < len(ordered):
        width = len(prompts[ordered[start]]) - prefix
        size = max(1, min(batch, tokens // max(1, width)))
        found.append(Batch(tuple(ordered[start : start + size]), prefix))
        start += size
    return found
