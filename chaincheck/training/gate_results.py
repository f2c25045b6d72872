"""A gate's verdict: frozen values, a table, and a sealed record."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from tabulate import tabulate

from chaincheck import __version__
from chaincheck.comparison_reports import JudgeComparison
from chaincheck.errors import MeasuredFailure
from chaincheck.evaluation import Evaluation
from chaincheck.judges.provenance import Provenance
from chaincheck.training.gate_plan import Lock
from chaincheck.training.sealed import sealed

__all__ = ["LIMITS", "VERDICT", "Condition", "Verdict"]

VERDICT = "the verdict of a gate"

LIMITS = (
    "Each judgment carries the gate's id, which is the hash of the conditions: it was recorded "
    "after they were fixed, unless somebody wrote the log anew. A log and a lock are sealed, not "
    "signed.",
    "That the candidate was not scored elsewhere before, and the conditions chosen to suit, cannot "
    "be seen in these files. Publish the gate's id before scoring: that others can check.",
    "The gate's id names no candidate: that others were scored under it before this one, and their "
    "logs removed, cannot be seen either. Say beforehand which run will be gated.",
    "The times in lock and logs are those of the machines that wrote them.",
    "The conditions are met or not at the stated level, each by itself: all of them must hold, so "
    "no allowance for their number is made or needed.",
)
"""What a verdict proves and what it cannot."""


@dataclass(frozen=True)
class Condition:
    """One condition and how it came out.

    Attributes:
        kind: "sigma" (the interval's lower end must exceed the threshold) or "nominal" (the
            one-sided bound of the difference from the base must).
        file, variant: on which triplets.
        n: how many.
        estimate: the candidate's Sigma; or its Nominal less the base's.
        bound: the lower end that decides; not finite where there are too few triplets for one.
        threshold: what it must exceed: 0, or minus the margin.
    """

    kind: str
    file: str
    variant: str
    n: int
    estimate: float
    bound: float
    threshold: float

    @property
    def passed(self) -> bool:
        """Whether it holds; a bound that is no number exceeds nothing."""
        return self.bound > self.threshold

    def to_dict(self) -> dict[str, Any]:
        """Plain values; what is not finite becomes null."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return {**plain, "passed": self.passed}


@dataclass(frozen=True)
class Verdict:
    """What a gate says.

    Attributes:
        lock: the conditions.
        conditions: each with its outcome.
        base, candidate: each judge by itself.
        comparison: the candidate less the base.
        instruments: the two instruments in full.
        differences: in what they differ: the weights, and nothing else.
        provenance: what each judge's numbers rest on.
        notes: what to know, each a sentence.
    """

    lock: Lock
    conditions: tuple[Condition, ...]
    base: Evaluation
    candidate: Evaluation
    comparison: JudgeComparison
    instruments: tuple[Mapping[str, Any], Mapping[str, Any]]
    differences: Mapping[str, tuple[Any, Any]]
    provenance: tuple[Provenance, Provenance]
    notes: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every condition holds."""
        return all(one.passed for one in self.conditions)

    def to_text(self) -> str:
        """The verdict, the table of conditions, both judges, and what it rests on."""
        rows = [
            [
                Path(one.file).name,
                one.variant,
                one.n,
                "Sigma" if one.kind == "sigma" else "Nominal - base's",
                f"{one.estimate:+.3f}",
                f"{one.bound:+.3f}" if math.isfinite(one.bound) else "n/a",
                f"> {one.threshold:g}",
                "pass" if one.passed else "FAIL",
            ]
            for one in self.conditions
        ]
        heads = ["file", "variant", "n", "quantity", "estimate", "lower bound", "needed", ""]
        lines = [
            f"gate {self.lock.plan.name}: {'PASS' if self.passed else 'FAIL'}",
            tabulate(rows, headers=heads, disable_numparse=True),
            *(f"note: {note}" for note in self.notes),
            "",
            "base",
            self.base.to_text(),
            "",
            "candidate",
            self.candidate.to_text(),
            "",
            *(one.to_text() for one in self.provenance),
            f"gate {self.lock.gate_id}, fixed {self.lock.record['made']}",
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The sealed record that ``--json`` writes and a model card is made from."""
        names = ("base", "candidate")
        return sealed(
            VERDICT,
            {
                "format": 1,
                "chaincheck": __version__,
                "name": self.lock.plan.name,
                "passed": self.passed,
                "gate": self.lock.gate_id,
                "lock": dict(self.lock.record),
                "conditions": [one.to_dict() for one in self.conditions],
                "base": self.base.to_dict(),
                "candidate": self.candidate.to_dict(),
                "comparison": self.comparison.to_dict(),
                "instruments": dict(zip(names, self.instruments, strict=True)),
                "differences": {key: list(pair) for key, pair in self.differences.items()},
                "provenance": dict(zip(names, self.provenance, strict=True)),
                "notes": list(self.notes),
                "limits": list(LIMITS),
            },
        )

    def failure(self) -> MeasuredFailure:
        """The error of a gate that did not pass."""
        failed = [
            f"{one.kind} on {Path(one.file).name} {one.variant}"
            for one in self.conditions
            if not one.passed
        ]
        return MeasuredFailure(f"gate {self.lock.plan.name} failed: {', '.join(failed)}")
