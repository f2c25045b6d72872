"""The progress bar of long commands: on stderr, and only where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

__all__ = ["shown"]

_T = TypeVar("_T")


def shown(items: Iterable[_T], *, what: str, total: int | None = None) -> Iterator[_T]:
    """Yield items while a bar shows how many have passed.

    Args:
        items: what to count.
        what: what stands before the bar.
        total: how many there will be, where that is known; the bar then estimates the end.
    """
    from tqdm import tqdm

    yield from tqdm(items, desc=what, total=total, unit="", disable=not sys.stderr.isatty())
