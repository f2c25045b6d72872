"""What the judgments behind a number are, as three hashes and a list of doubts.

- *instrument*: everything that can change a score. It is the judge's fingerprint, one for a log.
- *acquisition*: batch, hardware, retries, versions. One log may hold several; they are a caveat,
  not another judge. One that holds ``"deterministic": False`` says that the judge, asked again,
  may answer otherwise; so does a caveat then.
- *judgments used*: the contents that were asked for with their scores, in no order. What a log
  holds beyond these does not change it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chaincheck.errors import quote
from chaincheck.judges.base import Judgment, differences, fingerprint_of
from chaincheck.judges.log_format import Header, Record

__all__ = ["Provenance", "Used", "hash_judgments", "signed"]

_DIGITS = 16
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


@dataclass(frozen=True)
class Provenance:
    """What a set of judgments rests on.

    Attributes:
        judge: the judge's name.
        instrument: hash of everything that can change a score; the judge's fingerprint.
        acquisition: hash of how the judgments were got; where they were got in several ways, a
            hash of all of these.
        judgments: hash of the judgments used, see ``hash_judgments``.
        used: how many different contents were judged.
        logs: digest of the last line of each log, by path.
        caveats: what to doubt about them, each a sentence.
        acquisitions: how the judgments were got, in full, by hash; only those that were used.
    """

    judge: str
    instrument: str
    acquisition: str
    judgments: str
    used: int
    logs: dict[str, str]
    caveats: tuple[str, ...] = ()
    acquisitions: Mapping[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    def to_text(self) -> str:
        """The three hashes on one line, and a line for each caveat."""
        first = (
            f"{self.judge}: instrument {self.instrument}, acquisition {self.acquisition}, "
            f"judgments {self.judgments} ({self.used:,})"
        )
        return "\n".join([first, *(f"  {caveat}" for caveat in self.caveats)])


def signed(content: str, judgment: Judgment) -> str:
    """Write a judgment as the line by which it enters the hash."""
    return f"{content}\t{judgment.score!r}\t{judgment.bounds!r}\n"


def hash_judgments(judgments: Iterable[tuple[str, Judgment]]) -> str:
    """Hash judgments, whatever their order.

    Args:
        judgments: what was judged (``content_of``) and what the judge said of it.

    Returns:
        16 hexadecimal digits of the SHA-256 of one line a judgment, sorted: the content, the
        score as the shortest decimal that gives the double back, and the bounds. Item ids,
        replies and usage do not enter.
    """
    lines = sorted({signed(content, judgment) for content, judgment in judgments})
    return _hash_lines(lines)


def _hash_lines(lines: Iterable[str]) -> str:
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:_DIGITS]


class Used:
    """What was given out: of a log, or by a judge that is asked without one."""

    def __init__(self) -> None:
        self._signed: dict[str, str] = {}
        self._acquisitions: Counter[str] = Counter()
        self._models: Counter[str] = Counter()
        # Flags that differ in numbers alone are one kind: a judgment has it or not.
        self._flags: Counter[str] = Counter()
        self._worded: dict[str, set[str]] = {}
        self._bounded = 0

    def add(self, record: Record) -> None:
        """Note a recorded judgment that is given out; one of the same content counts once."""
        self.note(record, content=record.content, acquisition=record.acquisition)

    def note(self, judgment: Judgment, *, content: str, acquisition: str) -> None:
        """Note a judgment that is given out; one of the same content counts once.

        Args:
            judgment: what the judge said.
            content: hash of what it judged, see ``content_of``.
            acquisition: hash of how the judgment was got.
        """
        if content in self._signed:
            return
        self._signed[content] = signed(content, judgment)
        self._acquisitions[acquisition] += 1
        self._flags.update({_NUMBER.sub("#", flag) for flag in judgment.flags})
        for flag in judgment.flags:
            self._worded.setdefault(_NUMBER.sub("#", flag), set()).add(flag)
        self._bounded += judgment.score is None
        if judgment.model is not None:
            self._models[judgment.model] += 1

    def provenance(
        self, header: Header, acquisitions: dict[str, dict[str, Any]], logs: dict[str, str]
    ) -> Provenance:
        """Sum up what was given out.

        Args:
            header: the logs' header.
            acquisitions: how the judgments were got, by hash.
            logs: digest of the last line of each log, by path.
        """
        hashes = sorted(self._acquisitions)
        together = hashes[0] if len(hashes) == 1 else fingerprint_of({"acquisitions": hashes})
        return Provenance(
            judge=header.judge,
            instrument=header.fingerprint,
            acquisition=together,
            judgments=_hash_lines(sorted(self._signed.values())),
            used=len(self._signed),
            logs=logs,
            caveats=tuple(self._caveats(acquisitions)),
            acquisitions={name: acquisitions[name] for name in hashes},
        )

    def _caveats(self, acquisitions: dict[str, dict[str, Any]]) -> Iterator[str]:
        unsteady = sum(
            count
            for name, count in self._acquisitions.items()
            if acquisitions[name].get("deterministic") is False
        )
        if unsteady:
            yield (
                f"the judge is not deterministic: asked again it may answer otherwise "
                f"({unsteady:,} judgments)"
            )
        if len(self._acquisitions) > 1:
            settings = [acquisitions[name] for name in self._acquisitions]
            keys = sorted({key for one in settings[1:] for key in differences(settings[0], one)})
            yield (
                f"the judgments were got in {len(settings)} ways, which differ in "
                f"{', '.join(keys)}: {_counted(self._acquisitions)}"
            )
        if len(self._models) > 1:
            yield f"the replies name {len(self._models)} models: {_counted(self._models)}"
        if self._bounded:
            yield f"of {self._bounded:,} items the judge gave bounds, not a score"
        for kind, count in sorted(self._flags.items(), key=lambda one: min(self._worded[one[0]])):
            worded = self._worded[kind]
            more = f" or alike ({len(worded):,} wordings)" if len(worded) > 1 else ""
            yield f"{count:,} judgments are flagged {quote(min(worded))}{more}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} ({count:,})" for name, count in counts.most_common())
