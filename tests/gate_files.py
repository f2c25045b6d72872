"""Triplets, judges and plans for the tests of the gate and of the model card."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from chaincheck.items import Item, write_items
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.training.gate_plan import Lock, lock_plan, open_lock
from chaincheck.training.gate_score import score_for_gate

_READY: dict[str, bytes] = {}
PLAN = """
name = "a release"
base = "base.log.jsonl"
candidate = "candidate.log.jsonl"
resamples = 200

[[data]]
path = "test.jsonl"
sigma = ["real", "fict"]
nominal = ["real"]
"""


def triplets(pairs: int = 250, fict: int = 50) -> list[Item]:
    """Items whose passages name pair, variant and cell; fewer of the variant fict."""
    return [
        Item(
            item_id=f"{variant}-{number}-{cell}",
            pair_id=f"p{number}",
            variant=variant,
            cell=cell,
            query=f"Where was number {number} born?",
            passages=(f"{cell} of {number} as {variant}.", "More."),
            bridge=f"bridge {number // 2}",
        )
        for number in range(pairs)
        for variant in (("real", "fict") if number < fict else ("real",))
        for cell in "ABD"
    ]


def noise(*parts: object) -> float:
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return random.Random(digest).gauss(0, 1)


class TestJudge:
    """Scores by cell, with noise of its own weights."""

    __test__ = False

    def __init__(self, weights: str, shift: dict[str, float], **instrument: Any) -> None:
        self.name = f"judge {weights}"
        self.instrument = {
            "judge": "test",
            "prompt": "one",
            "model": {"weights": weights, "architecture": "A"},
            **instrument,
        }
        self.fingerprint = fingerprint_of(self.instrument)
        self.shift = shift
        self.asked = 0

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        for item in items:
            self.asked += 1
            spread = noise(self.name, item.pair_id, item.variant, item.cell)
            yield Judgment(item_id=item.item_id, score=self.shift[item.cell] + 0.5 * spread)


def guessing(weights: str = "base", **instrument: Any) -> TestJudge:
    """A judge that minds the edit: A over B and D alike."""
    return TestJudge(weights, {"A": 3.0, "B": 0.0, "D": 0.0}, **instrument)


def reading(weights: str = "tuned", **instrument: Any) -> TestJudge:
    """A judge that reads the chain."""
    return TestJudge(weights, {"A": 3.0, "B": 3.0, "D": 0.0}, **instrument)


def gate_folder(folder: Path, *, plan: str = PLAN, items: list[Item] | None = None) -> Path:
    """Write data and plan; return the plan."""
    write_items(folder / "test.jsonl", triplets() if items is None else items)
    path = folder / "gate.toml"
    path.write_text(plan, "utf-8")
    return path


def scored_gate(
    folder: Path, base: TestJudge | None = None, candidate: TestJudge | None = None
) -> tuple[Path, Lock]:
    """A gate that is locked and scored; the usual one is scored once and copied."""
    usual = base is None and candidate is None
    if usual and _READY:
        for name, content in _READY.items():
            (folder / name).write_bytes(content)
        return folder / "gate.toml", open_lock(folder / "gate.toml")
    plan = gate_folder(folder)
    lock = lock_plan(plan)
    score_for_gate(plan, base or guessing(), "base")
    score_for_gate(plan, candidate or reading(), "candidate")
    if usual:
        _READY.update((path.name, path.read_bytes()) for path in folder.iterdir())
    return plan, lock


def edit_json(path: Path, change: Any) -> None:
    record = json.loads(path.read_text("utf-8"))
    change(record)
    path.write_text(json.dumps(record), "utf-8")
