"""Score the data of a gate: every judgment carries the gate's id.

The id is the hash of the conditions. A record of a log that contains it was written by somebody
who knew the conditions, hence after they were fixed; and since each line of a log holds the
digest of the line before, so was all that follows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from chaincheck.errors import PathLike, UsageError
from chaincheck.items import Item, read_items
from chaincheck.judges import RecordedScores, open_judge
from chaincheck.judges.base import Judge, Judgment, acquisition_of, instrument_of, reads_of
from chaincheck.judges.record import LiveJudge, RecordedJudge
from chaincheck.training.audit import Progress, silent
from chaincheck.training.gate_plan import open_lock

__all__ = ["GATE", "ROLE", "Planned", "Role", "recorded_for", "score_for_gate"]

GATE = "gate"
"""Key of the acquisition under which a judgment carries the id of its gate."""

ROLE = "gate role"
"""Key under which it says as what its judge was asked: two logs cannot change places."""

Role = Literal["base", "candidate"]


class Planned:
    """A judge whose acquisition names the gate that it is asked for.

    Its instrument is the inner judge's: naming the gate changes no score.

    Args:
        judge: the judge.
        gate_id: the gate's id.
        role: as what it is asked.
    """

    def __init__(self, judge: Judge, gate_id: str, role: Role) -> None:
        self._judge = judge
        self._gate = {GATE: gate_id, ROLE: role}
        self.name = judge.name
        self.fingerprint = judge.fingerprint
        self.instrument = instrument_of(judge)
        self.reads = reads_of(judge)

    @property
    def acquisition(self) -> dict[str, Any]:
        """How the inner judge gets its scores, for which gate and as what."""
        return {**acquisition_of(self._judge), **self._gate}

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Ask the inner judge."""
        yield from self._judge.score(items)


def recorded_for(settings: Mapping[str, Any], gate_id: str, role: Role) -> bool:
    """Whether judgments got in this way were asked for under a gate, in a role, not replayed."""
    asked = settings.get(GATE) == gate_id and settings.get(ROLE, role) == role
    return asked and "recorded" not in settings


def score_for_gate(
    plan: PathLike,
    judge: str | Judge,
    role: Role,
    *,
    progress: Progress[Any] = silent,
) -> str:
    """Ask a judge for everything that the gate's data hold, and record it in the gate's log.

    What the log holds already is not asked again.

    Args:
        plan: the gate's plan, which must be locked.
        judge: a judge, or what ``open_judge`` understands.
        role: whose log is written.
        progress: shows how many judgments are there.

    Returns:
        What was recorded, as text.

    Raises:
        UsageError: the judge replays judgments that were recorded before.
        IntegrityError: plan or data were changed, or the log is of another judge.
        ChainCheckError: as the judge raises, or the log cannot be written.
    """
    lock = open_lock(plan)
    chosen = open_judge(judge) if isinstance(judge, str) else judge
    if isinstance(chosen, RecordedJudge | RecordedScores):
        raise UsageError(
            f"the judge {chosen.name!r} gives judgments of before again, which nobody could tell "
            "from those of this gate",
            remedy="Name the judge itself",
        )
    log = lock.folder / (lock.plan.base if role == "base" else lock.plan.candidate)
    total = sum(sum(1 for _ in read_items(path)) for path in lock.data_paths())
    with LiveJudge(Planned(chosen, lock.gate_id, role), log) as recording:
        items = (item for path in lock.data_paths() for item in read_items(path))
        for _ in progress(recording.score(items), f"scoring with {chosen.name}", total):
            pass
        return f"{log}: {recording.asked:,} judgments recorded\n{recording.provenance().to_text()}"
