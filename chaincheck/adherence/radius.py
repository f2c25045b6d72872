"""How far a replay is from another overall status, counted in annotations.

A flip turns one annotation from TRUE to FALSE or back. Annotations are flipped one by one, as they
stand: of two annotations that say the same, flipping one makes the evidence contradict itself,
which is a change as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from chaincheck.adherence.classify import Reading
from chaincheck.adherence.findings import FlipRadius, Status
from chaincheck.adherence.formulas import Facts, Query
from chaincheck.adherence.replay import Annotation
from chaincheck.adherence.solving import Solving

__all__ = ["flip_radius"]


def flip_radius(
    solving: Solving, annotations: Sequence[Annotation], observed: str, overall: Status
) -> FlipRadius:
    """Find the fewest flips that change the overall status, trying sets in order of size.

    Args:
        solving: the engines.
        annotations: of the replay.
        observed: the verdict that the judge gave.
        overall: the status without a flip; it must not rest on an undecided check.
    """
    index = solving.compiled.index
    literals = [
        (place, index[annotation.atom], annotation.value == "TRUE")
        for place, annotation in enumerate(annotations)
        if annotation.value != "UNKNOWN"
    ]
    statuses = _Statuses(solving, observed, overall, _reading(literals, ()))
    alone = len({atom for _, atom, _ in literals}) == len(literals)
    trials = solving.limits.trials // solving.compiled.weight
    undecided = False
    most = min(solving.limits.flips, len(literals))
    for size in range(1, most + 1):
        for flipped in combinations(range(len(literals)), size):
            if not trials:
                return _not_found(size - 1, undecided)
            trials -= 1
            if alone:
                bits = 0
                for number in flipped:
                    bits |= 1 << literals[number][1]
                true, false = statuses.reading
                reading = Reading(true ^ bits, false ^ bits)
            else:
                reading = _reading(literals, flipped)
            status = statuses.after(reading)
            if status is None:
                undecided = True
            elif status != overall and not undecided:
                places = tuple(literals[number][0] for number in flipped)
                return FlipRadius(size, places, status, searched=size - 1)
        if undecided:
            return _not_found(size - 1, undecided)
    if most == len(literals):
        return FlipRadius(None, searched=most, reason="none")
    return _not_found(most, undecided)


def _not_found(searched: int, undecided: bool) -> FlipRadius:
    """Say how far the search came; ``searched`` sizes were tried in full."""
    reason = "undecided" if undecided else f"not found within limit {searched}"
    return FlipRadius(None, searched=searched, reason=reason)


def _reading(literals: Sequence[tuple[int, int, bool]], flipped: Sequence[int]) -> Reading:
    true = false = 0
    for number, (_, atom, value) in enumerate(literals):
        if value is (number not in flipped):
            true |= 1 << atom
        else:
            false |= 1 << atom
    return Reading(true, false)


_LEVELS: dict[str, int] = {"ENTAILED": 0, "UNDERDETERMINED": 1, "REFUTED": 2}
_UNDECIDED = 3
_NAMES: tuple[Status, ...] = ("SATISFIED", "UNKNOWN", "VIOLATED")


class _Statuses:
    """The overall status after flips, from what the flips touch and what was known before.

    A status is a number: 0 SATISFIED, 1 UNKNOWN, 2 VIOLATED, 3 undecided.
    """

    def __init__(self, solving: Solving, observed: str, overall: Status, reading: Reading) -> None:
        self.solving = solving
        self.observed = observed
        self.overall = overall
        self.reading = reading
        compiled = solving.compiled
        self.questions: list[tuple[Query, int]] = [
            *((query, 2) for query in compiled.requirements),
            # That a requirement cannot be seen is UNKNOWN, not VIOLATED.
            *((query, 1) for query in compiled.coverage if query is not None),
            *((query, 2) for query in compiled.grounding),
        ]
        # Without a requirement or without a pair the overall status is never SATISFIED.
        self.least = 0 if compiled.requirements and compiled.grounding else 1
        self.consistent = not reading.true & reading.false
        self.before: list[int] = []
        self.verdict_before = 1
        if self.consistent:
            facts = reading.facts
            self.before = [self._level(query, worst, facts) for query, worst in self.questions]
            self.verdict_before = self._verdict(facts)

    def _level(self, query: Query, worst: int, facts: Facts) -> int:
        level = _LEVELS.get(
            self.solving.finding(query, facts, witnesses=False).classification, _UNDECIDED
        )
        return min(level, worst) if level != _UNDECIDED else level

    def _verdict(self, facts: Facts) -> int:
        """The status of the verdict; -1 where the base is inconsistent."""
        base, finding = self.solving.verdict(facts, self.observed, witnesses=False)
        return -1 if base == "UNSAT" else _LEVELS.get(finding.classification, _UNDECIDED)

    def after(self, reading: Reading) -> Status | None:
        """Return the overall status for a reading, None where a check was undecided."""
        if reading.true & reading.false:
            return "UNKNOWN"
        facts = reading.facts
        touched = -1
        if self.consistent:
            touched = (reading.true ^ self.reading.true) | (reading.false ^ self.reading.false)
        verdict = self.verdict_before
        if touched & self.solving.compiled.support:
            verdict = self._verdict(facts)
        if verdict == -1:
            return "UNKNOWN"
        levels = [self.least, verdict]
        for number, (query, worst) in enumerate(self.questions):
            if query.support & touched or not self.consistent:
                levels.append(self._level(query, worst, facts))
            else:
                levels.append(self.before[number])
        highest = max(levels)
        return None if highest == _UNDECIDED else _NAMES[highest]
