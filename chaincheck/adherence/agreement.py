"""How far two sets of annotations of the same replays agree.

The values are compared by Krippendorff's alpha, for each role by itself: what a judge asserts is
easier to read than whether it used what it remembered. UNKNOWN is a reading like TRUE and FALSE;
an atom without an annotation is missing. The quotes are compared by the characters that both
quote, where both read the same truth value. The overall status is compared after an audit of
either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import numpy as np
from tabulate import tabulate

from chaincheck.adherence.audit import audit
from chaincheck.adherence.batch import replay_lines
from chaincheck.adherence.decode import decode_replay
from chaincheck.adherence.krippendorff import alpha, alpha_of_tables
from chaincheck.adherence.rates import clopper_pearson
from chaincheck.adherence.replay import Annotation, Recorded, Replay, Role, Span
from chaincheck.adherence.wording import counted, printable
from chaincheck.errors import InputError, PathLike, UsageError, quote
from chaincheck.intervals import FloatArray

__all__ = [
    "Agreement",
    "RoleAgreement",
    "StatusAgreement",
    "compare_annotations",
    "compare_files",
    "jaccard",
    "readings",
]

_ROLES: tuple[Role, ...] = ("judge", "context", "procedure")
_VALUES = ("TRUE", "FALSE", "UNKNOWN", "BOTH")
_STATUSES = ("SATISFIED", "VIOLATED", "UNKNOWN")
_LEGEND = """\
alpha: Krippendorff's, 1 for agreement on all and 0 for what chance gives; – where only one value
  occurs, so that chance has no measure. Its interval resamples replays.
quoted: atoms that both read alike, as TRUE or FALSE, and quote. overlap: the share of the
  characters quoted by either that both quote, on average.
The interval of the overall status is the exact one of Clopper and Pearson. Either takes the
  replays as independent: several of one question make it too short."""


class RoleAgreement(msgspec.Struct, frozen=True):
    """Agreement on the atoms of one role.

    Attributes:
        atoms: how many atoms, over all replays, both sets annotate.
        same: how many of them get the same value.
        alpha: Krippendorff's alpha, None where it is undefined.
        low: lower end of its interval, by resampling replays; None where too few resamples
            define it. With a few dozen replays such an interval is too short (Hughes 2022,
            arXiv:2210.13265).
        high: upper end.
        quoted: how many atoms get the same truth value and a quote from both.
        overlap: mean share of the quoted characters that both quote, None where there is none.
        same_quotes: how many of them have just the same characters quoted.
    """

    atoms: int
    same: int
    alpha: float | None
    low: float | None
    high: float | None
    quoted: int
    overlap: float | None
    same_quotes: int


class StatusAgreement(msgspec.Struct, frozen=True):
    """Agreement on the overall status.

    Attributes:
        replays: how many replays.
        same: how many of them get the same status.
        low: lower end of the exact interval around the share.
        high: upper end.
        alpha: Krippendorff's alpha, None where it is undefined.
        table: how many replays get the first word from the first set and the second from the
            second.
    """

    replays: int
    same: int
    low: float
    high: float
    alpha: float | None
    table: dict[str, dict[str, int]]


class Agreement(msgspec.Struct, frozen=True):
    """Agreement of two sets of annotations.

    Attributes:
        replays: replays in both sets.
        only_first: ids of those in the first only.
        only_second: ids of those in the second only.
        roles: agreement for each role.
        status: agreement on the overall status.
        level: coverage of the intervals.
    """

    replays: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    roles: dict[str, RoleAgreement]
    status: StatusAgreement
    level: float

    def to_json(self) -> str:
        """The comparison as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def to_text(self) -> str:
        """The comparison as text for a terminal."""
        parts = [f"{counted(self.replays, 'replay')} in both"]
        for name, ids in (("first", self.only_first), ("second", self.only_second)):
            if ids:
                parts.append(f"{len(ids)} only in the {name} set, such as {quote(ids[0])}")
        rows = [
            (
                role,
                one.atoms,
                one.same,
                _shown(one.alpha),
                f"[{_shown(one.low)}, {_shown(one.high)}]",
                one.quoted,
                _shown(one.overlap),
                one.same_quotes,
            )
            for role, one in self.roles.items()
        ]
        heads = (
            "role",
            "atoms",
            "same",
            "alpha",
            f"{self.level:.4g}",
            "quoted",
            "overlap",
            "same quotes",
        )
        parts.append(tabulate(rows, headers=heads, disable_numparse=True))
        status = self.status
        parts.append(
            f"overall status: the same for {status.same} of {status.replays} "
            f"[{status.low:.3f}, {status.high:.3f}], alpha {_shown(status.alpha)}"
        )
        return printable("\n".join([*parts, _LEGEND]))


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def readings(replay: Replay) -> dict[str, str]:
    """What the annotations say of each atom that has one: a value, or BOTH for TRUE and FALSE."""
    out: dict[str, str] = {}
    for one in replay.annotations:
        before = out.get(one.atom, "UNKNOWN")
        if "UNKNOWN" in (before, one.value):
            out[one.atom] = before if one.value == "UNKNOWN" else one.value
        else:
            out[one.atom] = before if before == one.value else "BOTH"
    return out


def jaccard(first: Iterable[Span], second: Iterable[Span]) -> float | None:
    """The share of the characters quoted by either that both quote.

    Args:
        first: spans of one set, which may overlap each other.
        second: spans of the other.

    Returns:
        From 0 to 1; None where neither quotes anything.
    """
    ours, theirs = _by_source(first), _by_source(second)
    both = either = 0
    for source in ours.keys() | theirs.keys():
        one, other = ours.get(source, []), theirs.get(source, [])
        union = _length(_merged([*one, *other]))
        either += union
        both += _length(one) + _length(other) - union
    return both / either if either else None


def _by_source(spans: Iterable[Span]) -> dict[str, list[tuple[int, int]]]:
    out: dict[str, list[tuple[int, int]]] = {}
    for span in spans:
        out.setdefault(span.source, []).append((span.start, span.end))
    return {source: _merged(pieces) for source, pieces in out.items()}


def _merged(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join pieces that overlap or touch."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out


def _length(pieces: Iterable[tuple[int, int]]) -> int:
    return sum(end - start for start, end in pieces)


def compare_annotations(
    first: Mapping[str, Replay],
    second: Mapping[str, Replay],
    *,
    rng: np.random.Generator,
    resamples: int = 2000,
    level: float = 0.95,
    overall: Callable[[Replay], str] = lambda replay: audit(replay, explain=False).overall,
) -> Agreement:
    """Compare two sets of annotations.

    Args:
        first: replays by id.
        second: the same replays, annotated by somebody else.
        rng: draws the resamples.
        resamples: how many, behind each interval around alpha.
        level: coverage of the intervals.
        overall: finds the overall status.

    Raises:
        UsageError: the sets have no replay in common, or one that differs in more than its
            annotations.
    """
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError(
            "the two sets have no replay in common", remedy="Give the same replays the same ids"
        )
    for name in shared:
        _check_same(first[name], second[name])
    statuses = [(overall(first[name]), overall(second[name])) for name in shared]
    pairs = [(first[name], second[name]) for name in shared]
    counted = {role: _Counts(role, pairs) for role in _ROLES}
    flat = np.stack([one.tables for one in counted.values()], axis=1).reshape(len(pairs), -1)
    drawn = np.empty((resamples, flat.shape[1]))
    for at in range(resamples):
        weights = np.bincount(rng.integers(len(pairs), size=len(pairs)), minlength=len(pairs))
        drawn[at] = weights @ flat
    alphas = alpha_of_tables(drawn.reshape(resamples, len(_ROLES), len(_VALUES), len(_VALUES)))
    return Agreement(
        replays=len(shared),
        only_first=tuple(name for name in first if name not in second),
        only_second=tuple(name for name in second if name not in first),
        roles={
            role: counted[role].agreement(alphas[:, at], level) for at, role in enumerate(_ROLES)
        },
        status=_status(statuses, level),
        level=level,
    )


def _check_same(one: Replay, other: Replay) -> None:
    for what, same in (
        ("protocol", one.protocol == other.protocol),
        ("sources", one.sources == other.sources),
        ("verdict", one.verdict == other.verdict),
    ):
        if not same:
            raise UsageError(
                f"the replay {quote(one.id)} differs in its {what} from one set to the other",
                remedy="Compare annotations of the same evaluations",
            )


class _Counts:
    """What two sets say about the atoms of one role.

    Attributes:
        tables: shape (replays, values, values): how many atoms get the row's value from the
            first set and the column's from the second.
    """

    def __init__(self, role: Role, pairs: Sequence[tuple[Replay, Replay]]) -> None:
        self.tables = np.zeros((len(pairs), len(_VALUES), len(_VALUES)))
        self._units: list[tuple[str, str]] = []
        self._overlaps: list[float] = []
        for at, (one, other) in enumerate(pairs):
            ours, theirs = readings(one), readings(other)
            for atom in one.protocol.atoms:
                if atom.role != role or atom.id not in ours or atom.id not in theirs:
                    continue
                left, right = ours[atom.id], theirs[atom.id]
                self._units.append((left, right))
                self.tables[at, _VALUES.index(left), _VALUES.index(right)] += 1
                if left == right and left in {"TRUE", "FALSE"}:
                    share = jaccard(_spans(one, atom.id), _spans(other, atom.id))
                    self._overlaps += [] if share is None else [share]

    def agreement(self, alphas: FloatArray, level: float) -> RoleAgreement:
        """Sum up, with the coefficients of the resamples, NaN where undefined."""
        found = alphas[~np.isnan(alphas)]
        ends = None
        # Where most resamples hold one category only, what the others say is no interval.
        if len(found) > 0.95 * len(alphas):
            ends = np.quantile(found, [(1 - level) / 2, (1 + level) / 2])
        overlaps = self._overlaps
        return RoleAgreement(
            atoms=len(self._units),
            same=sum(left == right for left, right in self._units),
            alpha=alpha(self._units),
            low=None if ends is None else float(ends[0]),
            high=None if ends is None else float(ends[1]),
            quoted=len(overlaps),
            overlap=sum(overlaps) / len(overlaps) if overlaps else None,
            same_quotes=overlaps.count(1.0),
        )


def _spans(replay: Replay, atom: str) -> list[Span]:
    found: list[Annotation] = [one for one in replay.annotations if one.atom == atom]
    return [span for one in found if one.value != "UNKNOWN" for span in one.evidence]


def _status(statuses: list[tuple[str, str]], level: float) -> StatusAgreement:
    same = sum(left == right for left, right in statuses)
    low, high = clopper_pearson(same, len(statuses), level)
    return StatusAgreement(
        replays=len(statuses),
        same=same,
        low=low,
        high=high,
        alpha=alpha(statuses),
        table={
            left: {right: statuses.count((left, right)) for right in _STATUSES}
            for left in _STATUSES
        },
    )


def _read(path: PathLike) -> dict[str, Replay]:
    out: dict[str, Replay] = {}
    for line, raw in replay_lines(path):
        recorded: Recorded = decode_replay(raw, path=path, line=line)
        if recorded.replay.id in out:
            raise InputError(
                "this id stands twice",
                path=path,
                line=line,
                item=recorded.replay.id,
                remedy="Give each replay an id of its own",
            )
        out[recorded.replay.id] = recorded.replay
    return out


def compare_files(
    first: PathLike, second: PathLike, *, resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> Agreement:
    """Compare two files with one replay a line.

    Args:
        first: one set.
        second: the other.
        resamples: behind each interval around alpha.
        seed: of the resamples.
        level: coverage of the intervals.

    Raises:
        InputError: a file cannot be read, a line is refused, or an id stands twice.
        UsageError: as :func:`compare_annotations`.
    """
    rng = np.random.default_rng(seed)
    return compare_annotations(
        _read(first), _read(second), rng=rng, resamples=resamples, level=level
    )
