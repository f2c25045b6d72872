"""Cell C: the chain is broken without an edit, since another passage stands in for a support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from chaincheck.chains import Passage
from chaincheck.validator import Draft, cell_c

__all__ = ["broken_context"]

_MOST_TRIES = 40


def broken_context(
    draft: Draft, standins: Sequence[Passage], rng: np.random.Generator
) -> tuple[str, ...] | None:
    """Make the context of cell C.

    The source's own broken context comes first (MuSiQue-Full's unanswerable version of the same
    question); else an unedited passage of another question takes the place of the later support.

    Args:
        draft: a sound draft.
        standins: passages of other questions to choose from.
        rng: the generator.

    Returns:
        The passages, or None where no choice passes ``cell_c``.
    """
    a = draft.cells["A"]
    options: list[tuple[str, ...]] = [
        tuple(passage.whole for passage in context) for context in draft.chain.broken_contexts
    ]
    for option in options:
        if cell_c(replace(draft, cells={**draft.cells, "C": option})) is None:
            return option
    present = set(a)
    if not standins:
        return None
    for place in rng.integers(len(standins), size=_MOST_TRIES).tolist():
        passage = standins[place].whole
        if passage in present:
            continue
        option = (*a[: draft.later], passage, *a[draft.later + 1 :])
        if cell_c(replace(draft, cells={**draft.cells, "C": option})) is None:
            return option
    return None
