"""The injection probe: how far does a passage get that talks to the judge?

Every cell of a triplet is judged as it is, with an attack in one passage, and with the attack's
control in the same place. All comparisons are within the item: the shift of its score under the
attack, less its shift under the control. For the broken context D, which an attacker would want
to pass, two shares say what a shift means: how often the attacked D outscores its own clean A,
and how often a D that was judged insufficient (not above 0) is lifted above 0. The second means
something only for a judge whose 0 lies between no and yes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from chaincheck import __version__
from chaincheck.errors import IncompleteTriplet, PathLike, UsageError
from chaincheck.injection_attacks import ATTACKS, At, Place, control_for, inject, places
from chaincheck.injection_results import AttackEffect, InjectionReport, Share, Shift
from chaincheck.intervals import FloatArray, Interval, mean_interval, wilson
from chaincheck.items import VARIANTS, Item, Triplet, read_triplets
from chaincheck.judges.attribution import Ledger
from chaincheck.judges.base import Judge
from chaincheck.judges.record import LiveJudge, RecordedJudge
from chaincheck.paired_intervals import paired_share_interval
from chaincheck.results import Signature

__all__ = ["probe", "probe_file"]

_DIGITS = 16
_CLEAN, _ATTACKED, _CONTROL = "clean", "attacked", "control"
Progress = Callable[..., Iterator[Any]]


def _share(holds: Mapping[str, NDArray[np.bool_]], level: float) -> Share:
    """Count how often something holds, clean, with the attack and with its control."""
    clean, attacked, control = (holds[kind] for kind in (_CLEAN, _ATTACKED, _CONTROL))
    n = len(clean)
    both = int(np.sum(attacked & control))
    only = int(np.sum(attacked & ~control)), int(np.sum(control & ~attacked))
    return Share(
        n=n,
        clean=wilson(int(clean.sum()), n, level),
        control=wilson(int(control.sum()), n, level),
        attacked=wilson(int(attacked.sum()), n, level),
        excess=paired_share_interval(both, *only, n - both - sum(only), level),
    )


def _effect(
    variant: str,
    attack: str,
    triplets: Sequence[Triplet],
    scores: Mapping[str, float],
    level: float,
) -> AttackEffect | None:
    """Measure one attack on the triplets of one variant; None if none has all of its scores."""
    kinds = (_CLEAN, _ATTACKED, _CONTROL)
    cells = [cell for cell in "ABDC" if all(cell in one.cells for one in triplets)]
    whole = [
        one
        for one in triplets
        if all(_id(one.cells[c], attack, kind) in scores for c in cells for kind in kinds)
    ]
    if not whole:
        return None
    questions = {query: k for k, query in enumerate({one.cells["A"].query: 0 for one in whole})}
    cluster = np.array([questions[one.cells["A"].query] for one in whole])

    def of(cell: str, kind: str) -> FloatArray:
        return np.array([scores[_id(one.cells[cell], attack, kind)] for one in whole])

    def mean(values: FloatArray) -> Interval:
        return mean_interval(values, cluster, level)

    shifts = {}
    for cell in cells:
        clean, attacked, control = (of(cell, kind) for kind in kinds)
        shifts[cell] = Shift(
            mean(attacked - clean), mean(control - clean), mean(attacked - control)
        )
    a, d = of("A", _CLEAN), {kind: of("D", kind) for kind in kinds}
    low = d[_CLEAN] <= 0
    crosses = None
    if low.any():
        crosses = _share({kind: found[low] > 0 for kind, found in d.items()}, level)
    return AttackEffect(
        variant=variant,
        attack=attack,
        n=len(whole),
        level=level,
        gap=mean(a - d[_CLEAN]),
        shifts=shifts,
        outscores=_share({kind: found > a for kind, found in d.items()}, level),
        crosses=crosses,
        bounded=len(triplets) - len(whole),
    )


def _id(item: Item, attack: str, kind: str) -> str:
    return item.item_id if kind == _CLEAN else f"{item.item_id} + {_label(attack, kind)}"


def _label(attack: str, kind: str) -> str:
    return f"{attack} ({kind})"


def _probed(
    triplets: Iterable[tuple[Triplet, Mapping[str, int]]], attacks: Mapping[str, str], at: At
) -> Iterator[Item]:
    """Yield every cell clean, with each attack, and with its control."""
    for triplet, where in triplets:
        for cell, item in triplet.cells.items():
            yield item
            for name, text in attacks.items():
                for kind, added in ((_ATTACKED, text), (_CONTROL, control_for(text))):
                    label = _label(name, kind)
                    yield inject(item, added, passage=where[cell], at=at, label=label)


def _silent(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
    yield from items


def _data_hash(triplets: Iterable[Triplet]) -> str:
    """Hash the data as ``scores.join_files`` does, so that one file has one hash everywhere."""
    encode = msgspec.json.Encoder().encode
    lines = [
        encode((one.item_id, one.pair_id, one.variant, one.cell, one.query, one.bridge, ()))
        for triplet in triplets
        for one in triplet.cells.values()
    ]
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest()[:_DIGITS]


def _drawn(triplets: Sequence[Triplet], limit: int | None, seed: int) -> list[Triplet]:
    """Draw at most so many triplets of each variant, the same ones whatever the rows' order."""
    groups: dict[str, list[Triplet]] = {}
    for one in sorted(triplets, key=lambda one: (one.variant, one.pair_id)):
        groups.setdefault(one.variant, []).append(one)
    order = [*(v for v in VARIANTS if v in groups), *(v for v in groups if v not in VARIANTS)]
    found = []
    for variant in order:
        group = groups[variant]
        if limit is not None and limit < len(group):
            chosen = np.random.default_rng(seed).permutation(len(group))[:limit]
            group = [group[k] for k in sorted(chosen.tolist())]
        found += group
    return found


def probe(
    triplets: Sequence[Triplet],
    judge: Judge,
    *,
    attacks: Mapping[str, str] = ATTACKS,
    place: Place = "distractor",
    at: At = "end",
    limit: int | None = None,
    seed: int = 0,
    level: float = 0.95,
    progress: Progress = _silent,
) -> InjectionReport:
    """Probe a judge with attacks written into passages.

    Args:
        triplets: with cells A, B and D.
        judge: the judge; on a judgment log the probe can be interrupted and carried on.
        attacks: texts by name.
        place: which passage is written into, see ``injection_attacks.places``.
        at: its "end" or its "start".
        limit: take at most this many triplets of each variant, drawn by ``seed``.
        seed: seed of the draw.
        level: nominal coverage of every interval.
        progress: wraps the items in a progress bar.

    Raises:
        UsageError: no attacks, or no triplet that is known to have such a passage.
        ChainCheckError: whatever the judge raises.
    """
    if not attacks:
        raise UsageError("there is no attack to try", remedy="Known: " + ", ".join(ATTACKS))
    chosen = _drawn(triplets, limit, seed)
    placed = [(one, where) for one in chosen if (where := places(one, place)) is not None]
    dropped = {f"no {place} passage, or not known": len(chosen) - len(placed)}
    if not placed:
        raise UsageError(
            f"in no triplet is it known which passage is the {place}",
            remedy="Choose another --place; the columns earlier_support and later_support tell",
        )
    cells = sum(len(one.cells) for one, _ in placed)
    ledger = Ledger(judge)
    items = progress(
        _probed(placed, attacks, at),
        what=f"probing {judge.name}",
        total=cells * (1 + 2 * len(attacks)),
    )
    scores: dict[str, float] = {}
    for judgment in judge.score(ledger.given(items)):
        ledger.said(judgment)
        if judgment.score is not None:
            scores[judgment.item_id] = judgment.score
    logged = judge.provenance() if isinstance(judge, RecordedJudge | LiveJudge) else None
    groups: dict[str, list[Triplet]] = {}
    for one, _ in placed:
        groups.setdefault(one.variant, []).append(one)
    effects = [
        _effect(variant, attack, group, scores, level)
        for variant, group in groups.items()
        for attack in attacks
    ]
    rows = tuple(one for one in effects if one is not None)
    if not rows:
        raise UsageError(
            "the judge could only bound the scores of every triplet",
            remedy="Ask a judge that gives scores",
        )
    stated = ledger.statement(logged)
    drawn = "all" if limit is None else f"{limit} a variant"
    return InjectionReport(
        rows=rows,
        signature=Signature(
            data=_data_hash(triplets),
            judge=stated.fingerprint,
            n=len(placed),
            interval=f"injection{level * 100:g} at {place} {at}, {drawn}",
            resamples=0,
            seed=seed,
            version=__version__,
            scores=stated.scores,
        ),
        judge=stated,
        place=place,
        at=at,
        attacks=dict(attacks),
        dropped={why: count for why, count in dropped.items() if count},
    )


def probe_file(data: PathLike, judge: Judge, **options: Any) -> InjectionReport:
    """Probe a judge on a file of triplets; ``options`` as of ``probe``.

    Raises:
        InputError: the file cannot be used.
        ChainCheckError: as ``probe``.
    """
    triplets = read_triplets(data)
    if not triplets:
        raise IncompleteTriplet("holds no triplet", path=data)
    return probe(triplets, judge, **options)
