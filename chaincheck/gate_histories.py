"""Short histories of a gate, each run for real with judges that need no model.

A history is a list of steps in an order. What becomes of it is what the gate says, not what is
written down here.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from chaincheck.atomic import write_bytes
from chaincheck.errors import ChainCheckError
from chaincheck.items import Item, write_items
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.judges.record import LiveJudge
from chaincheck.training.gate import check_gate
from chaincheck.training.gate_plan import lock_plan
from chaincheck.training.gate_score import score_for_gate

__all__ = ["HISTORIES", "STEPS", "CellJudge", "Interrupted", "run_history"]

_TRIPLETS = 30
_PLAN = """\
name = "a history"
base = "base.log.jsonl"
candidate = "candidate.log.jsonl"
margin = {margin}
resamples = 200
[[data]]
path = "test.jsonl"
sigma = ["real"]
"""

STEPS: Mapping[str, str] = {
    "fix": "the conditions are fixed, with a margin of 0.2",
    "base": "the base is asked under the gate's id",
    "base before": "the base is asked, under no gate",
    "candidate": "the candidate is asked under the gate's id",
    "candidate before": "the candidate is asked, under no gate",
    "interrupted": "the candidate is asked under the gate's id and stopped before the last triplet",
    "raise": "the margin is raised to 0.3",
    "check": "the gate is checked",
}
"""What can be done."""

HISTORIES: Mapping[str, tuple[str, ...]] = {
    "a": ("fix", "base", "candidate", "raise", "check"),
    "b": ("base before", "fix", "candidate", "check"),
    "c": ("candidate before", "fix", "base", "candidate", "check"),
    "d": ("fix", "base", "interrupted", "check"),
}
"""The histories of exercise 7.3."""


class Interrupted(Exception):
    """A judge was stopped before it was done."""


class CellJudge:
    """A judge that looks the cell up and needs no model: for trying out what is around a judge.

    Args:
        weights: stands for the hash of a model's weights.
        chain: how much more an intact context scores than a broken one, beside noise of size 1.
        most: it stops after so many items, as if interrupted.
        settings: what else its instrument holds.
    """

    def __init__(
        self, weights: str, chain: float, *, most: int | None = None, **settings: Any
    ) -> None:
        self.name = weights
        self.instrument = {"judge": "cell", "model": {"weights": weights}, **settings}
        self.fingerprint = fingerprint_of(self.instrument)
        self._chain, self._most = chain, most

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Score in order."""
        for number, item in enumerate(items):
            if number == self._most:
                raise Interrupted
            digest = hashlib.sha256(f"{self.name} {item.item_id}".encode()).digest()
            noise = int.from_bytes(digest[:8], "big") / 2**64
            intact = item.cell in "AB"
            yield Judgment(item_id=item.item_id, score=self._chain * intact + noise)


def _items() -> list[Item]:
    """Triplets that say which they are."""
    return [
        Item(
            item_id=f"{number}-{cell}",
            pair_id=f"p{number}",
            variant="real",
            cell=cell,
            query=f"Where was number {number} born?",
            passages=(f"{cell} of {number}.",),
        )
        for number in range(_TRIPLETS)
        for cell in "ABD"
    ]


def run_history(steps: Iterable[str]) -> int:
    """Take the steps one after the other.

    Args:
        steps: keys of ``STEPS``.

    Returns:
        The exit code of the first command that does not end with 0; else 0.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        plan = place / "gate.toml"
        items = _items()
        write_items(place / "test.jsonl", items)
        write_bytes(plan, _PLAN.format(margin=0.2).encode())
        try:
            for step in steps:
                _take(step, plan, items)
        except ChainCheckError as error:
            return error.exit_code
    return 0


def _take(step: str, plan: Path, items: list[Item]) -> None:
    base, candidate = CellJudge("base", 0.0), CellJudge("tuned", 2.0)
    match step:
        case "fix":
            lock_plan(plan)
        case "base":
            score_for_gate(plan, base, "base")
        case "candidate":
            score_for_gate(plan, candidate, "candidate")
        case "interrupted":
            some = CellJudge("tuned", 2.0, most=len(items) - 3)
            with contextlib.suppress(Interrupted):
                score_for_gate(plan, some, "candidate")
        case "base before":
            _ask(base, plan.with_name("base.log.jsonl"), items)
        case "candidate before":
            _ask(candidate, plan.with_name("candidate.log.jsonl"), items)
        case "raise":
            write_bytes(plan, _PLAN.format(margin=0.3).encode())
        case "check":
            verdict = check_gate(plan)
            if not verdict.passed:
                raise verdict.failure()
        case _:
            raise ValueError(f"{step!r} is no step")


def _ask(judge: CellJudge, log: Path, items: list[Item]) -> None:
    with LiveJudge(judge, log) as live:
        for _ in live.score(items):
            pass
