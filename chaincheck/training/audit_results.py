"""What an audit of merged weights finds: frozen values, their text and their JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chaincheck.errors import MeasuredFailure, one_line

__all__ = ["CLASSES", "FINDINGS", "Account", "Audit", "Finding"]

CLASSES = ("unchanged", "merged", "restored", "tied")
"""What a tensor may be: the base's bit for bit; base plus delta within its type's rounding; the
base's, put back because the loader had dropped it; the embedding under the head's name."""

FINDINGS = {
    "missing": "the base has it, the merged model does not",
    "renamed": "it stands under another name",
    "retyped": "its type is another",
    "reshaped": "its shape is another",
    "changed": "its values are neither the base's nor base plus delta",
    "nonfinite": "it holds NaN or infinity where the base does not",
    "untied": "the output head is stored apart from the embedding that it is tied to",
    "unexplained": "the merged model has it, the base does not",
    "layout": "the files and the index do not agree",
    "config": "the config does not fit the base or the tensors",
}
"""Each kind of finding; any of them stops a release."""

_SHOWN = 20
_MOST = 0.5
"""Share of the delta from which rounding took most of it."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        kind: a key of ``FINDINGS``.
        tensor: the base's name of the tensor (the merged model's where the base has none); ""
            where it is about no single tensor.
        detail: what is wrong, in words.
    """

    kind: str
    tensor: str
    detail: str

    def to_text(self) -> str:
        """One line."""
        who = f"{self.tensor}: " if self.tensor else ""
        return f"{self.kind:<11} {one_line(who + self.detail)}"


@dataclass(frozen=True)
class Account:
    """What became of one tensor of the base.

    Attributes:
        tensor: its name.
        kind: one of ``CLASSES``.
        detail: a remark, or "".
    """

    tensor: str
    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Audit:
    """An audit of merged weights against the base.

    Attributes:
        base, merged: the folders.
        accounts: every tensor of the base that is accounted for.
        findings: what is wrong.
        notes: what to know, each a sentence.
        lost: share of the adapter's delta that the type's rounding took away, as
            |merged - base - delta| / |delta| over all changed tensors (root of the sum of
            squares); None without an adapter.
    """

    base: str
    merged: str
    accounts: tuple[Account, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    lost: float | None

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the merged model another judge though each tensor is accounted for.

        It may: the share is one of size, and the scores may hang on the part that is left. Only
        comparing them shows it, see ``score_drift``.
        """
        if self.lost is None and self.counts.get("merged"):
            return (
                "the adapter's delta is zero everywhere (alpha, or one of its factors, is 0), so "
                "the merged model is the base",
            )
        if self.lost is None or self.lost <= _MOST:
            return ()
        return (
            f"rounding took {self.lost:.1%} of the delta, so the merged model may not be the judge "
            "that was trained; compare their scores (--compare-on), or release base and adapter",
        )

    @property
    def counts(self) -> dict[str, int]:
        """How many tensors are in each class."""
        found = Counter(one.kind for one in self.accounts)
        return {kind: found[kind] for kind in CLASSES if found[kind]}

    def to_text(self) -> str:
        """The counts, every finding on a line, warnings and notes."""
        counts = ", ".join(f"{count:,} {kind}" for kind, count in self.counts.items())
        lines = [f"{self.merged}: {counts or 'no tensor accounted for'}"]
        if self.lost is not None:
            lines.append(f"rounding took away {self.lost:.1%} of the delta")
        lines += [f"warning: {warning}" for warning in self.warnings]
        lines += [f"note: {one_line(note)}" for note in self.notes]
        if self.findings:
            lines.append(f"{len(self.findings)} findings:")
            lines += [f"  {one.to_text()}" for one in self.findings]
        else:
            lines.append("every tensor of the base is accounted for")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values: each class with the names of its tensors."""
        classes: dict[str, list[str]] = {}
        for one in self.accounts:
            classes.setdefault(one.kind, []).append(one.tensor)
        return {
            "passed": self.passed,
            "counts": self.counts,
            "lost": self.lost,
            "findings": [
                {"kind": one.kind, "tensor": one.tensor, "detail": one.detail}
                for one in self.findings
            ],
            "warnings": list(self.warnings),
            "notes": list(self.notes),
            "tensors": classes,
        }

    def failure(self) -> MeasuredFailure:
        """The error that stops a release; its message lists the findings."""
        return MeasuredFailure(
            f"{self.merged} is not the base with the adapter: {_listed(self.findings)}",
            remedy="Nothing was released",
        )


def _listed(findings: Sequence[Finding]) -> str:
    told = [f"{one.kind} {one.tensor or one.detail}" for one in findings[:_SHOWN]]
    more = len(findings) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")
