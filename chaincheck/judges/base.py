"""The Judge protocol: what every judge, of any kind, offers to the rest of ChainCheck."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, runtime_checkable

import msgspec

from chaincheck.items import Item

__all__ = ["Judge", "Judgment", "fingerprint_of"]


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge says of one item.

    Attributes:
        item_id: the item judged.
        score: a finite number; higher means more sufficient. Only its order within a triplet
            enters the win rates, so its scale is the judge's own.
    """

    item_id: str
    score: float


@runtime_checkable
class Judge(Protocol):
    """Anything that scores items.

    A judge is deterministic for a given fingerprint: equal fingerprints promise equal scores for
    equal items. Whatever can change a score belongs in the fingerprint; whatever cannot (batch
    size, progress bars) must stay out of it.
    """

    @property
    def name(self) -> str:
        """Short name for tables and plots."""
        ...

    @property
    def fingerprint(self) -> str:
        """Stable identity of everything that can change a score, as short hexadecimal text."""
        ...

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Judge the items lazily, one judgment an item, in order."""
        ...


def fingerprint_of(settings: Mapping[str, object]) -> str:
    """Hash a judge's settings.

    Args:
        settings: everything that can change a score, as plain JSON-like values.

    Returns:
        The first 16 hexadecimal digits of the SHA-256 of the settings in canonical JSON
        (sorted keys), so that the order in which they were given does not matter.
    """
    canonical = msgspec.json.encode(dict(settings), order="sorted")
    return hashlib.sha256(canonical).hexdigest()[:16]
