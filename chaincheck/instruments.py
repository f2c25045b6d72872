"""Two score files with a statement of whose they are: one instrument or two, and what differs.

``compare`` holds any two judges against each other and says where they are one. ``noise`` is of
one instrument that was asked twice: it refuses two, and names the keys in which they differ. A
key that is meant to differ, such as the precision, has to be named.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chaincheck.errors import UsageError, quote, quote_apart
from chaincheck.judges.attribution import Attribution, instrument_differences
from chaincheck.judges.base import differences

__all__ = ["Judges", "check_one_instrument", "compared_notes", "rescored_notes"]

Judges = tuple[Attribution | None, Attribution | None]
"""Whose scores two files hold; None where no statement says."""

_MOST = 4


def _listed(found: Mapping[str, tuple[Any, Any]]) -> str:
    """Name keys with both values, at most a few."""
    parts = [f"{key} ({', '.join(quote_apart(*values))})" for key, values in found.items()]
    more = f" and {len(parts) - _MOST} more" if len(parts) > _MOST else ""
    return ", ".join(parts[:_MOST]) + more


def _whole(judges: Judges) -> tuple[Attribution, Attribution] | None:
    one, other = judges
    return None if one is None or other is None else (one, other)


def _doubts(judges: Judges, names: tuple[str, str]) -> Iterator[str]:
    known = [judge is not None for judge in judges]
    if any(known) and not all(known):
        yield (
            f"nothing states whose scores {names[known.index(False)]} holds: whether both are "
            "one judge's cannot be told"
        )
    for judge, name in zip(judges, names, strict=True):
        for caveat in judge.caveats if judge else ():
            yield f"{name}: {caveat}"


def compared_notes(judges: Judges, names: tuple[str, str]) -> tuple[str, ...]:
    """Doubts about a comparison of two judges, each a sentence."""
    notes = list(_doubts(judges, names))
    both = _whole(judges)
    if both:
        found = instrument_differences(*both)
        if both[0].fingerprint == both[1].fingerprint:
            notes.append(f"both are the instrument {both[0].fingerprint}, scored twice: see noise")
        else:
            notes.append(f"the instruments differ in {_listed(found)}")
    return tuple(notes)


def check_one_instrument(
    judges: Judges, names: tuple[str, str], vary: Sequence[str] = ()
) -> tuple[str, ...]:
    """Refuse two instruments where one was to be asked twice.

    Args:
        judges: whose scores the two files hold.
        names: names of the two runs.
        vary: keys of the instrument that may differ; a key stands for all below it.

    Returns:
        A note on what of these differs, if anything does.

    Raises:
        UsageError: the instruments differ in another key, or ``vary`` names none of theirs.
    """
    both = _whole(judges)
    if both is None:
        keys = ", ".join(vary)
        return (
            (f"nothing states the instruments: whether they differ only in {keys} was not checked",)
            if vary
            else ()
        )
    found = instrument_differences(*both)
    _check_keys(both, vary)
    other = {
        key: values
        for key, values in found.items()
        if not any(key == one or key.startswith(f"{one}.") for one in vary)
    }
    if both[0].fingerprint == both[1].fingerprint:
        return ()
    if other or not found:
        raise UsageError(
            f"{names[0]} and {names[1]} are of different instruments, {both[0].fingerprint} and "
            f"{both[1].fingerprint}: they differ in {_listed(other) or 'what they do not state'}",
            remedy="Hold two judges against each other with compare; for one judge whose "
            "precision was changed name that key with --vary",
        )
    return (f"the instruments differ in {_listed(found)}, as was asked for",)


def _check_keys(both: tuple[Attribution, Attribution], vary: Sequence[str]) -> None:
    known = set(differences(both[0].instrument, {})) | set(differences(both[1].instrument, {}))
    parents = {".".join(key.split(".")[:k]) for key in known for k in range(1, key.count(".") + 2)}
    for key in vary:
        if key not in parents:
            close = difflib.get_close_matches(key, sorted(parents), n=1)
            raise UsageError(
                f"the instruments have no key {quote(key)}",
                remedy=f"Did you mean {quote(close[0])}"
                if close
                else "They have " + ", ".join(sorted(known)),
            )


def rescored_notes(judges: Judges, names: tuple[str, str]) -> tuple[str, ...]:
    """Doubts about one judge scored twice: how the two runs were got, and their caveats."""
    notes = list(_doubts(judges, names))
    both = _whole(judges)
    if both and both[0].acquisition == both[1].acquisition:
        notes.append(
            f"both runs were got in the same way (acquisition {both[0].acquisition}): what "
            "another batch size or device does is not seen here"
        )
    elif both and all(len(judge.acquisitions) == 1 for judge in both):
        one, other = (next(iter(judge.acquisitions.values())) for judge in both)
        notes.append(f"the runs were got in ways that differ in {_listed(differences(one, other))}")
    return tuple(notes)
