"""The gate: is a candidate judge better than its base in what was fixed before anyone looked?

Three outcomes: pass; fail (``MeasuredFailure``, exit code 1); or a refusal to say (exit code 2
for input that cannot be used, 3 where conditions, data or judgments are not those that were
fixed). A judgment that is not recorded is a refusal, never a zero.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.atomic import write_lines
from chaincheck.comparison_pipeline import compare_joined
from chaincheck.errors import (
    ForeignLog,
    IntegrityError,
    InvalidScore,
    PathLike,
    UnreadableFile,
    quote,
)
from chaincheck.evaluation import Evaluation, evaluate_cells
from chaincheck.items import read_items
from chaincheck.jsonl import open_bytes
from chaincheck.judges.base import Judge, differences, instrument_of, reads_of
from chaincheck.judges.log_file import JudgmentLog
from chaincheck.judges.log_format import content_of
from chaincheck.judges.record import RecordedJudge
from chaincheck.scores import Joined, join_files
from chaincheck.training.gate_plan import Lock, open_lock
from chaincheck.training.gate_results import Condition, Verdict
from chaincheck.training.gate_score import Role, recorded_for

__all__ = ["check_gate", "refuse_unlike", "weights_only"]

_WEIGHTS = ("model.weights", "model.adapter", "model.revision", "revision")
"""Parts of an instrument that say which weights are used. Elsewhere such a word is just a word: a
file of code may be called adapter.py."""


def weights_only(
    base: Mapping[str, Any], candidate: Mapping[str, Any]
) -> tuple[dict[str, tuple[Any, Any]], list[str]]:
    """Compare two instruments.

    Returns:
        Where they differ, and the keys among these that are not about the weights.
    """
    found = differences(base, candidate)
    starts = tuple(f"{key}." for key in _WEIGHTS)
    return found, [key for key in found if key not in _WEIGHTS and not key.startswith(starts)]


def check_gate(path: PathLike) -> Verdict:
    """Hold the recorded judgments against the conditions.

    Args:
        path: the gate's plan, locked and scored.

    Raises:
        InputError: a file cannot be used, or a judgment is not recorded.
        IntegrityError: conditions, data or judgments are not those that were fixed; a log is
            damaged; the two judges differ in more than their weights.
    """
    lock = open_lock(path)
    command = f"chaincheck gate score {shlex.quote(str(path))} --judge JUDGE --role"
    logs = [lock.folder / lock.plan.base, lock.folder / lock.plan.candidate]
    base, candidate = (
        _recorded(log, f"{command} {role}")
        for log, role in zip(logs, ("base", "candidate"), strict=True)
    )
    found = _check_instruments(_told(base), _told(candidate), logs[1])
    notes = [*_check_ids(lock, logs[0], "base", before=lock.base_before)]
    notes += _check_ids(lock, logs[1], "candidate", before=None)
    with tempfile.TemporaryDirectory() as folder:
        joined = [
            _joined(lock, judge, Path(folder) / f"{number}.jsonl")
            for number, judge in enumerate((base, candidate))
        ]
    options: dict[str, Any] = {
        "cluster": lock.plan.cluster,
        "resamples": lock.plan.resamples,
        "level": lock.plan.level,
        "seed": lock.plan.seed,
    }
    evaluations = [
        _evaluated(one, judge, options)
        for one, judge in zip(joined, (base, candidate), strict=True)
    ]
    comparison = compare_joined(joined[1], joined[0], names=("candidate", "base"), **options)
    base_proof, proof = (
        replace(judge.provenance(), logs={log: judge.provenance().logs[str(path)]})
        for judge, log, path in zip(
            (base, candidate), (lock.plan.base, lock.plan.candidate), logs, strict=True
        )
    )
    proofs = (base_proof, proof)
    for name, proof in zip(("base", "candidate"), proofs, strict=True):
        notes += [f"{name}: {caveat}" for caveat in proof.caveats]
    return Verdict(
        lock=lock,
        conditions=tuple(_conditions(lock, evaluations[1], comparison.rows)),
        base=evaluations[0],
        candidate=evaluations[1],
        comparison=comparison,
        instruments=(base.instrument, candidate.instrument),
        differences=found,
        provenance=proofs,
        notes=tuple(notes),
    )


def _recorded(log: Path, command: str) -> RecordedJudge:
    """Open a log of the gate; of one that is not there say the command that writes it."""
    if not log.exists():
        raise UnreadableFile(
            "nothing is recorded yet: there is no such log",
            path=log,
            remedy=f"Record it with: {command}",
        )
    return RecordedJudge(log, command=command)


def refuse_unlike(lock: Lock, judge: Judge, role: Role) -> None:
    """Refuse a judge that the other's log allows no verdict on, before it is asked for hours.

    Args:
        lock: the gate.
        judge: who is to be asked.
        role: as what.

    Raises:
        ForeignLog: base and candidate would differ in more than their weights, or in nothing.
    """
    logs = {"base": lock.folder / lock.plan.base, "candidate": lock.folder / lock.plan.candidate}
    other = "candidate" if role == "base" else "base"
    try:
        told = {role: _told(judge), other: _told(RecordedJudge(logs[other]))}
    except UnreadableFile:  # nothing is recorded yet
        return
    _check_instruments(told["base"], told["candidate"], logs[other])


def _told(judge: Judge) -> dict[str, Any]:
    """What a judge's scores depend on."""
    return {"reads": list(reads_of(judge)), **instrument_of(judge)}


def _check_instruments(
    base: Mapping[str, Any], candidate: Mapping[str, Any], log: Path
) -> dict[str, tuple[Any, Any]]:
    """Refuse two judges that differ in anything but their weights, or in nothing."""
    found, others = weights_only(base, candidate)
    if not found:
        raise ForeignLog(
            "base and candidate are the same instrument",
            path=log,
            remedy="Check which model each judge's file names, and remove the log of the wrong one",
        )
    if others:
        parts = [f"{key} is {quote(found[key][0])} and {quote(found[key][1])}" for key in others]
        raise ForeignLog(
            "base and candidate differ in more than their weights: " + "; ".join(parts),
            path=log,
            remedy="Score both with one prompt, precision and set of tokens",
        )
    return found


def _check_ids(
    lock: Lock, path: Path, role: Role, *, before: Mapping[str, Any] | None
) -> Iterator[str]:
    """Refuse judgments that were not recorded for this gate, nor known of when it was fixed."""
    others = 0
    with JudgmentLog(path) as log:
        for data in lock.data_paths():
            for item in read_items(data):
                record = log.get(content_of(item, log.header.reads))
                if record is None or recorded_for(
                    log.acquisitions[record.acquisition], lock.gate_id, role
                ):
                    continue
                if before is None:
                    raise IntegrityError(
                        f"this judgment was not recorded for the {role} of the conditions that "
                        "were fixed: it does not carry the gate's id, or that of the other role",
                        path=path,
                        item=item.item_id,
                        remedy="Fix conditions first, then record with chaincheck gate score",
                    )
                others += 1
    if before is None:
        return
    if others > before["judgments"] or not _stands_in(path, before["digest"]):
        raise IntegrityError(
            "is not the log that was there when the conditions were fixed, nor a longer one",
            path=path,
            remedy="Restore that log, or record the base with chaincheck gate score",
        )
    if others:
        yield f"{others:,} judgments of the base are from before the conditions were fixed"


def _stands_in(path: Path, digest: str) -> bool:
    """Whether a line of a log has this digest; every line before it is then as it was."""
    end = b'"digest":"%b"}\n' % digest.encode()
    with open_bytes(path) as stream:
        return any(line.endswith(end) for line in stream)


def _joined(lock: Lock, judge: RecordedJudge, scores: Path) -> Joined:
    """Bring a judge's recorded scores to the triplets."""

    def lines() -> Iterator[bytes]:
        for data in lock.data_paths():
            for judgment in judge.score(read_items(data)):
                if judgment.score is None:
                    why = "; ".join(judgment.flags) or f"only the bounds {judgment.bounds}"
                    raise InvalidScore(
                        f"the judge gave no score: {why}",
                        path=data,
                        item=judgment.item_id,
                        remedy="A gate needs a score of every item. Ask judges that give one, such "
                        "as a causal judge with minimum_mass = 0.0, under conditions fixed anew",
                    )
                yield msgspec.json.encode({"item_id": judgment.item_id, "score": judgment.score})

    write_lines(scores, lines())
    joined = join_files(lock.data_paths(), scores, exclude=lock.plan.exclude)
    names = {
        os.fspath(lock.folder / data.path).encode("utf-8", "backslashreplace").decode(): data.path
        for data in lock.plan.data
    }
    return replace(joined, cells=tuple(replace(c, file=names[c.file]) for c in joined.cells))


def _evaluated(joined: Joined, judge: RecordedJudge, options: Mapping[str, Any]) -> Evaluation:
    return evaluate_cells(
        joined.cells,
        data_hash=joined.data_hash,
        judge=judge.fingerprint,
        scores_hash=joined.scores_hash,
        dropped=joined.dropped,
        **options,
    )


def _conditions(lock: Lock, candidate: Evaluation, rows: Any) -> Iterator[Condition]:
    alone = {(row.file, row.variant): row for row in candidate.rows}
    paired = {(row.file, row.variant): row for row in rows}
    for data in lock.plan.data:
        for variant in data.sigma:
            row = alone[data.path, variant]
            sigma = row.contrast
            yield Condition(
                "sigma", data.path, variant, row.n, sigma.estimate, float(sigma.low), 0.0
            )
        for variant in data.not_worse:
            pair = paired[data.path, variant]
            yield Condition(
                "nominal",
                data.path,
                variant,
                pair.n,
                pair.nominal.interval.estimate,
                float(pair.nominal_floor),
                -lock.plan.margin,
            )
