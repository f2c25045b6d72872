"""From scores to claims: a replay of a judge that wrote no rationale.

A score above a threshold is a claim. The threshold is 0, which is where the log-odds of yes and
no are even, or one that was fitted on other questions (:func:`split_half`). What was scored and
against which threshold stands in the replay as a record in JSON, so that every claim has a span.

Nothing of the procedure can be seen in a score: whether the judge looked at both hops, what it
would quote, what it knew besides. Those atoms stay UNKNOWN, and so no such replay is ever
SATISFIED.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chaincheck.adherence.chain_evidence import ORIGIN, begin, protocol_of, read_construction
from chaincheck.adherence.construction import gold_of, known_of
from chaincheck.adherence.hop_questions import hop_id
from chaincheck.adherence.replay import Recorded, Span
from chaincheck.errors import UsageError, quote
from chaincheck.items import Item, content_hash

__all__ = ["Range", "Scored", "Thresholds", "best_threshold", "ranges_of", "replay_of_scores",
           "split_half", "zero"]  # fmt: skip

Range = tuple[float, float]
"""The least and the greatest value that a score can have; equal where it is known."""

Thresholds = Mapping[str, float]
"""For the id of each item, and of each that asks about a hop, where a claim begins."""

_ASKED = ("question", "hop1", "hop2")


class Scored(Protocol):
    """What is read of a judgment: :class:`chaincheck.judges.base.Judgment` has it."""

    @property
    def item_id(self) -> str: ...  # noqa: D102
    @property
    def score(self) -> float | None: ...  # noqa: D102
    @property
    def bounds(self) -> tuple[float | None, float | None] | None: ...  # noqa: D102


def ranges_of(judgments: Iterable[Scored]) -> dict[str, Range]:
    """Tell by item what is known of its score."""
    found: dict[str, Range] = {}
    for one in judgments:
        if one.score is not None:
            found[one.item_id] = (one.score, one.score)
        else:
            low, high = one.bounds or (None, None)
            found[one.item_id] = (
                -math.inf if low is None else low,
                math.inf if high is None else high,
            )
    return found


def zero(items: Iterable[Item]) -> dict[str, float]:
    """The threshold 0 for everything that is asked about the items."""
    return {name: 0.0 for item in items for name in _ids(item)}


def _ids(item: Item) -> tuple[str, str, str]:
    return item.item_id, hop_id(item.item_id, 1), hop_id(item.item_id, 2)


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    kind: str  # "question" or "hop"
    half: int
    label: bool


def _cases(items: Iterable[Item]) -> list[_Case]:
    cases = []
    for item in items:
        half = int(content_hash(item.query), 16) % 2
        whole, first, second = _ids(item)
        cases.append(_Case(whole, "question", half, gold_of(item) == "PASS"))
        cases.append(_Case(first, "hop", half, known_of(item, 1).holds))
        cases.append(_Case(second, "hop", half, known_of(item, 2).holds))
    return cases


def split_half(items: Sequence[Item], ranges: Mapping[str, Range]) -> dict[str, float]:
    """Fit thresholds on one half of the questions for the other half, both ways.

    All variants and cells of one question lie in the same half, which a hash of the question
    decides. Whole questions have one threshold and the questions about hops have another; each
    is where the mean of the two error rates is least in the half that it is not used in.

    Args:
        items: the items.
        ranges: the scores of the items and of those that ask about their hops.

    Raises:
        UsageError: a half without both kinds of answer, as with very few questions.
    """
    cases = [one for one in _cases(items) if one.name in ranges]
    found: dict[str, float] = {}
    for kind in ("question", "hop"):
        for half in (0, 1):
            fitted = [one for one in cases if one.kind == kind and one.half != half]
            known = [one for one in fitted if ranges[one.name][0] == ranges[one.name][1]]
            scores = [ranges[one.name][0] for one in known]
            threshold = best_threshold(scores, [one.label for one in known])
            if threshold is None:
                raise UsageError(
                    "a threshold cannot be fitted: one half of the questions lacks contexts that "
                    "suffice, or such that do not",
                    remedy="Take more triplets, or the threshold 0",
                )
            found |= {o.name: threshold for o in cases if o.kind == kind and o.half == half}
    return found


def best_threshold(scores: Sequence[float], labels: Sequence[bool]) -> float | None:
    """The threshold with the least mean of the two error rates.

    Args:
        scores: finite.
        labels: whether each should be above.

    Returns:
        A value halfway between two neighboring scores (of several equally good ones the middle
        one), never a score itself; None if either kind is missing.
    """
    x, y = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    if y.all() or not y.any():
        return None
    values = np.unique(x)
    cuts = np.concatenate([[values[0] - 1.0], (values[:-1] + values[1:]) / 2, [values[-1] + 1.0]])
    missed = np.searchsorted(np.sort(x[y]), cuts, side="right") / y.sum()
    passed = 1.0 - np.searchsorted(np.sort(x[~y]), cuts, side="right") / (~y).sum()
    errors = missed + passed
    best = np.flatnonzero(errors <= errors.min() + 1e-12)
    return float(cuts[best[(len(best) - 1) // 2]])


def _claim(known: Range, threshold: float) -> bool | None:
    """Whether a score is above a threshold; None where its bounds do not say."""
    low, high = known
    if low > threshold:
        return True
    return False if high <= threshold else None


def _score_text(known: Range) -> float | list[float | None]:
    low, high = known
    if low == high:
        return low
    return [low if math.isfinite(low) else None, high if math.isfinite(high) else None]


def replay_of_scores(
    item: Item, ranges: Mapping[str, Range], thresholds: Thresholds, *, strict: bool = False
) -> Recorded | None:
    """Translate three scores into a replay: of the question, of hop 1, of hop 2.

    Args:
        item: what was judged.
        ranges: scores by id, see :func:`ranges_of`. A hop that was not scored is UNKNOWN.
        thresholds: where a claim begins, by id.
        strict: by ``chain-evidence/1s``.

    Returns:
        The replay, or None if the item's own score is bounded so loosely that it is no verdict.

    Raises:
        UsageError: the item itself was not scored.
        InvalidReplay: as :func:`chaincheck.adherence.chain_evidence.replay_of`.
    """
    names = dict(zip(_ASKED, _ids(item), strict=True))
    if item.item_id not in ranges:
        raise UsageError(
            f"item {quote(item.item_id)} has no score", remedy="Score the data with the judge"
        )
    verdict = _claim(ranges[item.item_id], thresholds[item.item_id])
    if verdict is None:
        return None
    parts = {
        asked: json.dumps({"score": _score_text(ranges[name]), "threshold": thresholds[name]})
        for asked, name in names.items()
        if name in ranges
    }
    text = "{" + ", ".join(f'"{asked}": {part}' for asked, part in parts.items()) + "}"
    draft = begin(item, protocol_of(strict=strict), "PASS" if verdict else "FAIL", text)
    for hop in ("hop1", "hop2"):
        name, atom = names[hop], f"j_{hop}"
        value = _claim(ranges[name], thresholds[name]) if name in ranges else None
        if value is None:
            why = "bounded around the threshold" if name in ranges else "not asked"
            draft.unknown(atom, explanation=why, origin=ORIGIN)
            continue
        start = text.index(f'"{hop}": ') + len(f'"{hop}": ')
        span = Span("rationale", start, start + len(parts[hop]), parts[hop])
        told = f"asked by itself: score {'above' if value else 'not above'} the threshold"
        draft.annotate(atom, "TRUE" if value else "FALSE", span, explanation=told, origin=ORIGIN)
    read_construction(draft, item)
    for atom in draft.unread():
        draft.unknown(atom, explanation="cannot be seen in a score", origin=ORIGIN)
    return draft.build(gold=gold_of(item))
