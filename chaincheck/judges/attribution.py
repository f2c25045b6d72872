"""Whose scores a score file holds: a statement beside it, bound to the scores and to the data.

A score file has one ``{"item_id": ..., "score": number}`` a line and says nothing of who gave the
scores, so nothing in it keeps the scores of one judge from being taken for another's. ``score``
therefore writes a second file beside it, ``scores.jsonl.provenance.json`` for ``scores.jsonl``,
that states the judge: its instrument in full, how the scores were got, the judgments used, and
the caveats.

Why beside it and not in it: a first line of another kind is not a score, and a reader of score
files that is not ours stops at it or counts it; a key more on each line is read by some readers
and refused by others, has no room for the full description, and says the same thing 100,000
times. A file beside it can be lost, so two things are arranged for that. The statement holds the
hash of the scores, whatever their order or compression: beside other scores, or beside these
after one was edited, it is refused, never ignored. And scores without a statement are signed with
their own hash, which is no judge's: they can be measured, and pass for nobody's.

The statement also holds the hash of what was judged, item by item: the item's id with whatever
of its content reaches the judge (``content_of``). Added columns and another order of the rows do
not change it; a changed passage does, which the data hash of a signature does not cover.

A statement ends in the digest of itself. It is no signature: whoever recomputes it can write
another one. It shows an edit by hand and a damage on the way.
"""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from chaincheck import __version__
from chaincheck.errors import AlteredScores, ForeignScores, PathLike, UnreadableFile, quote
from chaincheck.items import Item, decode_item
from chaincheck.jsonl import decode_object, read_lines
from chaincheck.judges.base import Judge, Judgment, acquisition_of, differences, fingerprint_of
from chaincheck.judges.log_format import acquisition_hash, content_of, header_for
from chaincheck.judges.provenance import Provenance, Used
from chaincheck.pipes import check_rereadable
from chaincheck.score_files import hash_scores, read_scores

__all__ = [
    "Attribution",
    "Ledger",
    "attributed",
    "attribution_path",
    "check_scores",
    "contents_of",
    "instrument_differences",
    "read_attribution",
]

_KIND = "whose scores these are"
_FORMAT = 1
_SUFFIX = ".provenance.json"
_DIGITS = 16
_LARGEST = 2**24
_ENCODER = msgspec.json.Encoder(order="deterministic")
_READS = ("query", "passages")


class Attribution(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who gave the scores of a file, to what data, and how.

    Attributes:
        kind, format: that it is such a statement, and of which version.
        judge: the judge's name.
        fingerprint: hash of the instrument, which is the judge's identity.
        instrument: everything that can change a score, in full.
        reads: attributes of an item that reach the judge.
        acquisition: hash of how the scores were got; of several ways, a hash of all of them.
        acquisitions: each way in full, by its hash.
        judgments: hash of the judgments used, see ``provenance.hash_judgments``.
        used: how many different contents were judged.
        logs: digest of the last line of each judgment log that was used.
        items: how many scores there are.
        data: hash of what was judged: of the lines ``item id, tab, content hash``, sorted.
        scores: hash of the scores, see ``score_files.hash_scores``.
        caveats: what to doubt about them, each a sentence.
        version: the version of chaincheck that wrote the statement.
        digest: SHA-256 of the rest of it in compact JSON with sorted keys.
    """

    kind: str
    format: int
    judge: str
    fingerprint: str
    instrument: dict[str, Any]
    reads: tuple[str, ...]
    acquisition: str
    acquisitions: dict[str, dict[str, Any]]
    judgments: str
    used: int
    logs: tuple[str, ...]
    items: int
    data: str
    scores: str
    caveats: tuple[str, ...]
    version: str
    digest: str = ""

    def sealed(self) -> Attribution:
        """Return the statement with its digest, as it reads back from a file."""
        whole = msgspec.structs.replace(self, digest=self._digest())
        return msgspec.json.decode(_ENCODER.encode(whole), type=Attribution)

    def _digest(self) -> str:
        rest = {name: getattr(self, name) for name in self.__struct_fields__ if name != "digest"}
        return hashlib.sha256(_ENCODER.encode(rest)).hexdigest()

    def fault(self) -> str | None:
        """Say why the statement cannot be what was written, None if it can."""
        unstated = {"judge": self.judge, "fingerprint": self.fingerprint}
        hashes = sorted(self.acquisitions)
        together = hashes[0] if len(hashes) == 1 else fingerprint_of({"acquisitions": hashes})
        if self.digest != self._digest():
            return "it is not as it was written"
        if self.instrument != unstated and fingerprint_of(self.instrument) != self.fingerprint:
            return "its fingerprint is not the hash of its instrument"
        if self.acquisition != together or any(
            acquisition_hash(settings) != name for name, settings in self.acquisitions.items()
        ):
            return "its acquisition is not the hash of what it says of it"
        return None

    def to_json(self) -> bytes:
        """The statement as indented JSON."""
        return msgspec.json.format(_ENCODER.encode(self), indent=1) + b"\n"

    def summary(self) -> dict[str, Any]:
        """What a result says of the judge behind it: the name, the hashes, the instrument."""
        return {
            "name": self.judge,
            "instrument": self.fingerprint,
            "acquisition": self.acquisition,
            "judgments": self.judgments,
            "described": self.instrument,
        }


def attribution_path(scores: PathLike) -> Path | None:
    """Where the statement about a score file stands.

    Returns:
        The score file's path with ``.provenance.json`` added; None for a device or a pipe,
        beside which nothing can stand.
    """
    path = Path(scores)
    absolute = path.absolute().as_posix()
    if absolute.startswith(("/dev/", "/proc/")) and not absolute.startswith("/dev/shm/"):
        return None
    if path.exists() and not path.is_file():
        return None
    return path.with_name(path.name + _SUFFIX)


class Ledger:
    """Notes what a judge is given and what it says of it, and makes the statement at the end.

    Args:
        judge: the judge, or the judge on its log.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._header = header_for(judge)
        self._waiting: deque[tuple[str, str]] = deque()
        self._lines: list[str] = []
        self._scores: dict[str, float] = {}
        self._used = Used()
        self._acquisitions: dict[str, dict[str, Any]] = {}

    def given(self, items: Iterable[Item]) -> Iterator[Item]:
        """Pass the items on to the judge."""
        for item in items:
            self._waiting.append((item.item_id, content_of(item, self._header.reads)))
            yield item

    def said(self, judgment: Judgment) -> Judgment:
        """Note a judgment; one without a score is no part of what is stated of the scores.

        Raises:
            ValueError: it is not of the item that was next: an error of the judge's code.
        """
        item_id, content = self._waiting.popleft() if self._waiting else (None, "")
        if judgment.item_id != item_id:
            raise ValueError(
                f"judge {self._judge.name!r} gave a judgment of item {judgment.item_id!r} where "
                f"{item_id!r} was next"
            )
        if judgment.score is not None:
            self._lines.append(_line(judgment.item_id, content))
            self._scores[judgment.item_id] = float(judgment.score)
        settings = acquisition_of(self._judge)
        how = acquisition_hash(settings)
        self._acquisitions[how] = settings
        self._used.note(judgment, content=content, acquisition=how)
        return judgment

    def statement(self, logged: Provenance | None = None) -> Attribution:
        """Make the statement about everything that was noted.

        Args:
            logged: what the judgments rest on, where a judgment log was used.

        Raises:
            ValueError: the judge left an item out: an error of its code.
        """
        if self._waiting:
            raise ValueError(
                f"judge {self._judge.name!r} gave no judgment of item {self._waiting[0][0]!r}"
            )
        found = logged or self._used.provenance(self._header, self._acquisitions, {})
        return Attribution(
            kind=_KIND,
            format=_FORMAT,
            judge=found.judge,
            fingerprint=found.instrument,
            instrument=self._header.instrument,
            reads=self._header.reads,
            acquisition=found.acquisition,
            acquisitions=dict(found.acquisitions),
            judgments=found.judgments,
            used=found.used,
            logs=tuple(sorted(found.logs.values())),
            items=len(self._scores),
            data=_hash_lines(self._lines),
            scores=hash_scores(self._scores),
            caveats=found.caveats,
            version=__version__,
        ).sealed()


def _line(item_id: str, content: str) -> str:
    return f"{item_id}\t{content}\n"


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:_DIGITS]


class _Version(msgspec.Struct):
    kind: str
    format: int


_WRITTEN_ANEW = "Score the data again, or delete this file if the scores are your own"


def read_attribution(scores: PathLike) -> Attribution | None:
    """Read the statement beside a score file.

    Returns:
        The statement; None where there is none.

    Raises:
        UnreadableFile: it cannot be read, or is of another version of the format.
        AlteredScores: it is not as it was written.
    """
    path = attribution_path(scores)
    if path is None or not os.path.lexists(path):
        return None
    try:
        with path.open("rb") as file:
            raw = file.read(_LARGEST)
    except (OSError, ValueError) as cause:
        reason = getattr(cause, "strerror", None) or str(cause)
        raise UnreadableFile(
            f"cannot be read: {reason}", path=path, remedy="It says whose scores stand beside it"
        ) from None
    try:
        version = msgspec.json.decode(raw, type=_Version)
        if version.kind == _KIND and version.format != _FORMAT:
            raise UnreadableFile(
                f"is of format {version.format}; this version of chaincheck reads {_FORMAT}",
                path=path,
                remedy="Use the version of chaincheck that wrote it",
            )
        found = msgspec.json.decode(raw, type=Attribution)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as cause:
        raise AlteredScores(
            f"does not state whose the scores are: {cause}", path=path, remedy=_WRITTEN_ANEW
        ) from None
    fault = "it is no such statement" if found.kind != _KIND else found.fault()
    if fault:
        raise AlteredScores(
            f"does not state whose the scores are: {fault}", path=path, remedy=_WRITTEN_ANEW
        )
    return found


class _Row(msgspec.Struct):
    item_id: str
    query: str
    passages: tuple[str, ...]


_DECODER = msgspec.json.Decoder(_Row)


def contents_of(path: PathLike, reads: Sequence[str] = _READS) -> Iterator[tuple[str, str]]:
    """Yield each item's id and the hash of what of it reaches a judge.

    Faults that do not change these are left to whoever reads the file for its triplets.
    """
    for line, raw in read_lines(path):
        seen: Any = None
        if tuple(reads) == _READS:
            try:
                seen = _DECODER.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                seen = None
        if seen is None:
            seen = decode_item(decode_object(raw, path=path, line=line), path=path, line=line)
        yield seen.item_id, content_of(seen, reads)


def attributed(data: Sequence[PathLike], scores: PathLike) -> Attribution | None:
    """Say whose scores a file holds, once it is certain that they are, and of these data.

    Args:
        data: the triplet files that the scores are to be joined to. They may hold items that
            were not scored.
        scores: the score file.

    Returns:
        The statement; None where there is none, as beside a file of a user's own.

    Raises:
        AlteredScores: the scores or the statement are not as they were written.
        ForeignScores: the judge gave these scores to other data.
        InputError: a file cannot be read.
    """
    stated = read_attribution(scores)
    if stated is None:
        return None
    found = read_scores(scores)
    check_scores(stated, found, scores)
    lines, left = [], set(found)
    for path in data:
        check_rereadable(path)
        for item_id, content in contents_of(path, stated.reads):
            if item_id in left:
                left.discard(item_id)
                lines.append(_line(item_id, content))
    remedy = f"Give the files that {stated.judge} scored as --data, or score these"
    if left:
        first = next(name for name in found if name in left)
        raise ForeignScores(
            f"{stated.judge} scored other data: {len(left):,} of its {len(found):,} items are "
            "not in these",
            path=scores,
            item=first,
            remedy=remedy,
        )
    if _hash_lines(lines) != stated.data:
        raise ForeignScores(
            f"{stated.judge} scored other data: the items have the same ids here and another "
            f"content ({', '.join(stated.reads)})",
            path=scores,
            remedy=remedy,
        )
    return stated


def check_scores(stated: Attribution, found: Mapping[str, float], scores: PathLike) -> None:
    """Refuse scores that are not those of the statement beside them.

    Raises:
        AlteredScores: one was changed, added or removed.
    """
    if hash_scores(dict(found)) == stated.scores:
        return
    beside = attribution_path(scores)
    more = "" if len(found) == stated.items else f", and there are {len(found):,} of them"
    raise AlteredScores(
        f"these are not the {stated.items:,} scores that {stated.judge} gave{more}: "
        f"{quote(str(beside))} states others",
        path=scores,
        remedy=f"Score the data again, or delete {beside} if the scores are your own",
    )


def instrument_differences(first: Attribution, second: Attribution) -> dict[str, tuple[Any, Any]]:
    """Say in what two instruments differ: each key with both values, see ``base.differences``."""
    one = {"reads": list(first.reads), **first.instrument}
    other = {"reads": list(second.reads), **second.instrument}
    return differences(one, other)
