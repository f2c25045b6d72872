"""The Judge protocol: what every judge, of any kind, offers to the rest of ChainCheck.

Three members are required (``name``, ``fingerprint``, ``score``). Three more are optional and
read through functions that know a default: a judge that has them can be recorded in full.

- ``instrument``: everything that can change a score, as a plain mapping (``instrument_of``).
- ``acquisition``: how the scores were got, as a plain mapping (``acquisition_of``). A judge that
  may answer otherwise when it is asked again, such as a server, says ``"deterministic": False``
  there: it stands as a caveat under every number that is made of its scores.
- ``reads``: the names of the item's attributes that reach the judge (``reads_of``).
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import msgspec

from chaincheck import __version__
from chaincheck.errors import UnjudgeableItem
from chaincheck.items import Item

__all__ = [
    "Judge",
    "Judgment",
    "acquisition_of",
    "differences",
    "fingerprint_of",
    "instrument_of",
    "no_passages",
    "reads_of",
]


class Judgment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a judge says of one item, and what it was concluded from.

    Attributes:
        item_id: the item judged.
        score: a finite number; higher means more sufficient. Only its order within a triplet
            enters the win rates, so its scale is the judge's own. None where the judge could
            only bound it: then ``bounds`` holds what is known.
        bounds: the least and the greatest value that the score can have, where it is not known
            exactly; None at either end for an end without limit.
        raw: the reply as it came, text or plain JSON values.
        logprobs: natural log-probabilities that the score was made of, by token.
        model: the model that the reply names, where one answered.
        usage: what the reply cost, such as tokens by kind.
        flags: doubts about this judgment, each a short phrase, such as "prompt cut".
        details: whatever else the kind of judge notes, as plain JSON values.
    """

    item_id: str
    score: float | None
    bounds: tuple[float | None, float | None] | None = None
    raw: Any = None
    logprobs: dict[str, float] | None = None
    model: str | None = None
    usage: dict[str, Any] | None = None
    flags: tuple[str, ...] = ()
    details: dict[str, Any] = {}


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


def instrument_of(judge: Judge) -> dict[str, Any]:
    """Describe everything that can change a judge's scores.

    Returns:
        The judge's own ``instrument``; for a judge without one, its name and fingerprint.

    Raises:
        ValueError: the judge has an ``instrument`` that its fingerprint is not the hash of. One
            of the two would then be a lie, so this is an error of the judge's code.
    """
    unstated = {"judge": judge.name, "fingerprint": judge.fingerprint}
    given = getattr(judge, "instrument", None)
    if given is None or given == unstated:
        return unstated
    if fingerprint_of(given) != judge.fingerprint:
        raise ValueError(
            f"the fingerprint of judge {judge.name!r}, {judge.fingerprint}, is not the hash of "
            f"its instrument, {fingerprint_of(given)}"
        )
    return _plain(given)


@lru_cache(maxsize=1)
def _surroundings() -> Mapping[str, str]:
    return {
        "chaincheck": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def acquisition_of(judge: Judge) -> dict[str, Any]:
    """Describe how a judge gets its scores: what ought not to change them, but may.

    Returns:
        The versions of ChainCheck and Python and the kind of machine, and over these the judge's
        own ``acquisition`` (batch size, device, retries, versions of libraries), if it has one.
    """
    return {**_surroundings(), **_plain(getattr(judge, "acquisition", None) or {})}


def reads_of(judge: Judge) -> tuple[str, ...]:
    """Name the attributes of an item that reach a judge.

    Two items that agree in these are the same to the judge.

    Returns:
        The judge's own ``reads``, or the question and the passages.
    """
    return tuple(getattr(judge, "reads", ("query", "passages")))


def no_passages(item_id: str) -> UnjudgeableItem:
    """Write the error of an item that has no passages."""
    return UnjudgeableItem(
        "has no passages, so there is nothing to judge",
        item=item_id,
        remedy="Leave it out of the data",
    )


def _plain(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Turn a mapping into what a JSON file would give back."""
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(dict(mapping)))
    return plain


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and (value or not path):
        for key in value:
            yield from _leaves(value[key], f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Say where two descriptions differ.

    Args:
        first: an instrument or an acquisition.
        second: another one.

    Returns:
        For each key that differs (dotted, where mappings are nested) both values, None where one
        has no such key; keys in alphabetical order.
    """
    one, other = dict(_leaves(_plain(first))), dict(_leaves(_plain(second)))
    return {
        key: (one.get(key), other.get(key))
        for key in sorted(one.keys() | other.keys())
        if (key in one) != (key in other) or one[key] != other[key]
    }
