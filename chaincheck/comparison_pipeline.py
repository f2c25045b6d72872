"""The steps of ``compare`` and ``noise`` as functions: files in, a signed result out.

Notebooks call these too. Two score files are compared only if they are about the same data: the
same items with the same questions, by the hash that every result carries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from chaincheck.comparison import compare
from chaincheck.comparison_reports import JudgeComparison, NoiseReport
from chaincheck.errors import PathLike, UsageError
from chaincheck.instruments import (
    Judges,
    check_one_instrument,
    compared_notes,
    rescored_notes,
)
from chaincheck.matching import Matched, join_both, match, names_of
from chaincheck.noise import measure_noise
from chaincheck.results import By
from chaincheck.scores import Joined

__all__ = [
    "JudgeComparison",
    "NoiseReport",
    "compare_files",
    "compare_joined",
    "noise_files",
]

_BY: dict[str, By] = {"triplet": "triplet", "question": "cluster", "bridge": "coarse"}


def _unit(cluster: str, matched: Matched) -> By:
    """What the statistics call a unit of resampling; refused where the data do not tell it."""
    if cluster not in _BY:
        raise UsageError(f"no unit is called {cluster!r}", remedy=f"Use one of {', '.join(_BY)}")
    if cluster == "bridge" and any(one.coarse is None for one, _, _ in matched.rows):
        raise UsageError(
            "the data have no bridge to resample by", remedy="Use --cluster question or triplet"
        )
    return _BY[cluster]


def compare_files(
    data: Sequence[PathLike],
    scores: PathLike,
    against: PathLike,
    *,
    against_data: Sequence[PathLike] | None = None,
    names: tuple[str, str] | None = None,
    exclude: Sequence[str] = (),
    allow_missing: bool = False,
    cluster: str = "triplet",
    resamples: int = 2000,
    exchanges: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> JudgeComparison:
    """Compare two score files of the same triplets; differences are ``scores`` less ``against``.

    Args:
        data: triplet files.
        scores: the first judge's scores.
        against: the second judge's.
        against_data: the files that the second judge scored, if they are others; refused unless
            they hold the same data.
        names: the judges' names; by default those of the score files.
        exclude: true/false columns; a triplet with a true one is dropped and counted.
        allow_missing: drop triplets that either judge has not scored, instead of refusing them.
        cluster: what is resampled and exchanged: "triplet", "question" or "bridge".
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        level: nominal coverage of every interval.
        seed: seed of every row's generator.

    Raises:
        UsageError: the two are about different data, or an option cannot be used.
        InputError: a file cannot be used.
    """
    (first, second), judges = join_both(
        data,
        (scores, against),
        second_data=against_data,
        exclude=exclude,
        allow_missing=allow_missing,
    )
    return compare_joined(
        first,
        second,
        names=names or names_of(scores, against),
        judges=judges,
        allow_missing=allow_missing,
        cluster=cluster,
        resamples=resamples,
        exchanges=exchanges,
        level=level,
        seed=seed,
    )


def compare_joined(
    first: Joined,
    second: Joined,
    *,
    names: tuple[str, str] = ("first", "second"),
    judges: Judges = (None, None),
    allow_missing: bool = False,
    cluster: str = "triplet",
    resamples: int = 2000,
    exchanges: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> JudgeComparison:
    """Compare two judges whose scores have been joined to their triplets.

    Every row has a generator of its own from ``seed``, so that it depends on no other row.

    Args:
        first: the first judge's scores.
        second: the second judge's.
        names: the judges' names, which must differ unless their scores are the same.
        judges: whose scores they are, where that is known.
        allow_missing: drop triplets that only one of them has, and count them.
        cluster: what is resampled and exchanged: "triplet", "question" or "bridge".
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        level: nominal coverage of every interval.
        seed: seed of every row's generator.

    Raises:
        UsageError: the two are about different data, or an option cannot be used.
    """
    matched = match(first, second, names, judges=judges, allow_missing=allow_missing)
    by = _unit(cluster, matched)
    rows = tuple(
        compare(
            one,
            other,
            np.random.default_rng(seed),
            pair_ids=pair_ids,
            resamples=resamples,
            exchanges=exchanges,
            level=level,
            by=by,
        )
        for one, other, pair_ids in matched.rows
    )
    method = f"two-step{level * 100:g} by {cluster} with {exchanges} exchanges"
    return JudgeComparison(
        signature=matched.signature(method, resamples, seed),
        names=names,
        dropped=matched.dropped,
        notes=matched.notes + compared_notes(judges, names),
        judges=judges,
        rows=rows,
    )


def noise_files(
    data: Sequence[PathLike],
    scores: PathLike,
    rescores: PathLike,
    *,
    names: tuple[str, str] | None = None,
    vary: Sequence[str] = (),
    exclude: Sequence[str] = (),
    allow_missing: bool = False,
    cluster: str = "triplet",
    resamples: int = 2000,
    exchanges: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> NoiseReport:
    """Hold a judge's scores against the same judge's scores of another run.

    Args:
        data: triplet files.
        scores: the scores that are to be used.
        rescores: the same judge's, with another batch size, precision or device.
        names: names of the two runs; by default those of the score files.
        vary: keys of the instrument that may differ between the runs, such as its precision.
        exclude: true/false columns; a triplet with a true one is dropped and counted.
        allow_missing: drop triplets that either run lacks, instead of refusing them.
        cluster: what is resampled and exchanged for the shift of EE.
        resamples: bootstrap resamples.
        exchanges: exchanges of the sign-flip test.
        level: nominal coverage of every interval.
        seed: seed of every row's generator.

    Raises:
        UsageError: the two are about different data or of different judges, or an option cannot
            be used.
        InputError: a file cannot be used.
    """
    (first, second), judges = join_both(
        data, (scores, rescores), exclude=exclude, allow_missing=allow_missing
    )
    found = names or names_of(scores, rescores)
    varied = check_one_instrument(judges, found, vary)
    matched = match(first, second, found, judges=judges, allow_missing=allow_missing)
    by = _unit(cluster, matched)
    rows = tuple(
        measure_noise(
            one,
            other,
            np.random.default_rng(seed),
            pair_ids=pair_ids,
            resamples=resamples,
            exchanges=exchanges,
            level=level,
            by=by,
        )
        for one, other, pair_ids in matched.rows
    )
    method = f"noise{level * 100:g} by {cluster} with {exchanges} exchanges"
    return NoiseReport(
        signature=matched.signature(method, resamples, seed),
        names=found,
        dropped=matched.dropped,
        notes=matched.notes + varied + rescored_notes(judges, found),
        judges=judges,
        rows=rows,
    )
