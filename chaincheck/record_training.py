"""Make the recorded training runs: train, ask about the triplets held out, release one.

One command makes whatever is missing of ``training_records``::

    python -m chaincheck.record_training                       # or: make trainings
    python -m chaincheck.record_training triplet nominal-fict  # some of the recipes

It can be interrupted and carried on, and several can run at a time, each on recipes of its own. A
run takes minutes on two cores, all of them take hours. To change a record, delete its files first.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from chaincheck import audit_records, training_records
from chaincheck.atomic import write_bytes
from chaincheck.command_guard import guarded
from chaincheck.errors import PathLike, UnreadableFile, UsageError
from chaincheck.items import Item, read_items, write_items
from chaincheck.judges import Judge, open_judge
from chaincheck.judges.record import RecordedJudge
from chaincheck.models import cache_folder
from chaincheck.packed_logs import carried_on
from chaincheck.progress_bars import shown
from chaincheck.seen_passages import shown_decoys
from chaincheck.training_records import (
    BASE,
    COMMAND,
    DECOYS,
    FOLDER,
    PARTS,
    SHOWN,
    Run,
    asked_items,
    log_of,
    part_of,
    recipe_of,
    release_of,
    run_judge,
    run_of,
    work_folder,
)

__all__ = ["check_before", "draw_triplets", "main", "make_record", "open_run"]

_MODEL = "smollm2"
_DTYPE = "bfloat16"
_DISTRACTORS = 2
_TEST_SHARE = 0.12
_VALIDATION_SHARE = 0.09
_GATE = """\
# Written before any judge was asked about these triplets.
name = "SmolLM2, chain judge"
base = "base.jsonl"
candidate = "candidate.jsonl"
cluster = "bridge"
margin = 0.02

[[data]]
path = "../test.jsonl.gz"
sigma = ["real", "fict", "decoy"]
"""


def draw_triplets(kept_apart: Sequence[Item] = ()) -> dict[str, list[Item]]:
    """Build triplets from all of the book's facts, with two distractors, and split them.

    Args:
        kept_apart: items that nothing trained on may share a bridge or a step with.

    Returns:
        Items by part. Parts share no bridge, no later support and no earlier one.
    """
    from chaincheck.sources.facts import FactsSource
    from chaincheck.splits import groups, split
    from chaincheck.triplets import build

    items = build(
        list(FactsSource().read(None)),
        seed=0,
        distractors=_DISTRACTORS,
        cells=("A", "B", "D", "C"),
    ).items
    rest, test = split(items, _TEST_SHARE, seed=0, by_head=True)
    train, validation = split(rest, _VALIDATION_SHARE, seed=1, by_head=True)
    barred = {id(item) for item in kept_apart}
    tied = {
        id(item)
        for group in groups([*train, *kept_apart], by_head=True)
        if any(id(item) in barred for item in group)
        for item in group
    }
    train = [item for item in train if id(item) not in tied]
    return dict(zip(PARTS, (train, validation, test), strict=True))


def _write_triplets(home: Path) -> None:
    if all(part_of(part, home).exists() for part in PARTS):
        return
    # Chapter 9 audits a trained judge on these, so it must not have seen them.
    audited = list(read_items(audit_records.triplets_of()))
    for part, items in draw_triplets(audited).items():
        write_items(part_of(part, home), items)


def open_run(
    name: str,
    *,
    model: str | None = None,
    adapter: PathLike | None = None,
    prompt: str = "brief",
    dtype: str = _DTYPE,
    threads: int | None = None,
) -> Judge:
    """Open a judge the way the recorded ones are opened, or with another prompt or precision.

    Args:
        name: name for tables.
        model: the base's or the merged model's folder or name; by default the book's base.
        adapter: an adapter's folder.
        prompt: a prompt's name or file.
        dtype: what the model is kept and computed in.
        threads: threads of the CPU.

    Raises:
        ChainCheckError: as ``open_judge``.
    """
    keys: dict[str, Any] = {
        "kind": "causal",
        "model": _absolute(model or _MODEL),
        "dtype": dtype,
        "prompt": _absolute(prompt),
        # The loss knows only the odds of yes against no. How much the two have together is free,
        # and training moves it, in some runs to next to nothing.
        "minimum_mass": 0.0,
        "name": name,
        **({} if adapter is None else {"adapter": _absolute(adapter)}),
        **({} if threads is None else {"threads": threads}),
    }
    lines = [f"{key} = {msgspec.json.encode(value).decode()}" for key, value in keys.items()]
    path = _work() / f"{name}.toml"
    write_bytes(path, "\n".join(lines).encode() + b"\n")
    return open_judge(str(path))


def _absolute(place: PathLike) -> str:
    """A name as it is, a file or folder with its whole path: the judge's file lies elsewhere."""
    path = Path(place)
    return str(path.resolve()) if path.exists() else str(place)


def _work() -> Path:
    place = cache_folder() / "training_records"
    place.mkdir(parents=True, exist_ok=True)
    return place


def _ask(judge: Judge, items: Sequence[Item], packed: Path, progress: Any) -> None:
    with carried_on(judge, packed, _work()) as live:
        for _ in live.score(progress(items, what=judge.name, total=len(items))):
            pass


def _silent(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
    del what, total
    yield from items


def make_record(
    arm: str,
    seed: int = 0,
    folder: PathLike = FOLDER,
    *,
    threads: int | None = None,
    progress: Any = _silent,
) -> None:
    """Train with a recipe and a seed, and ask the judge about the triplets held out, once.

    Args:
        arm: a name of ``ARMS``, or ``BASE`` for the model as it comes.
        seed: of the recipe.
        folder: where the records lie; triplets are drawn and the gate's conditions are fixed if
            they are not there.
        threads: threads of the CPU.
        progress: wraps what is asked.

    Raises:
        ChainCheckError: as ``train`` and as the judge.
    """
    from chaincheck.training.gate_score import score_for_gate

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    _write_triplets(home)
    gate = _fixed_gate(home)
    parts = ("test", "validation", DECOYS) if arm == BASE else training_records.ARMS[arm].parts
    missing = [
        part
        for part in parts
        if _lacks(log_of(arm, seed, home, part), partial(_asked, part, arm, seed, home))
    ]
    adapter = None
    if arm != BASE and (missing or not run_of(arm, seed, home).exists()):
        adapter = _trained(arm, seed, home, threads)
    if missing:
        name = BASE if arm == BASE else f"{arm}-{seed}"
        judge = open_run(name, adapter=adapter, threads=threads)
        for part in set(parts) - set(missing):
            _refuse_other_weights(judge, arm, seed, home, part)
        for part in missing:
            log = log_of(arm, seed, home, part)
            if arm == BASE and part == "test":
                score_for_gate(gate, judge, "base")
            else:
                _ask(judge, _asked(part, arm, seed, home), log, progress)
    candidate = release_of(home) / "candidate.jsonl"
    if (arm, seed) == training_records.RELEASED and _lacks(
        candidate, partial(asked_items, "test", home)
    ):
        _release(home, _trained(arm, seed, home, threads), threads)


def _refuse_other_weights(judge: Judge, arm: str, seed: int, home: Path, part: str) -> None:
    """Refuse to add to the records of a run what another training of it says.

    Raises:
        UsageError: the judge is not the one that was asked before.
    """
    if judge.fingerprint != run_judge(arm, seed, home, part).fingerprint:
        raise UsageError(
            f"{judge.name} has other weights or settings than what was recorded of it ({part})",
            remedy="Delete all records of this run to make them anew, or put its folder back "
            "into the cache",
        )


def _asked(part: str, arm: str, seed: int, home: Path) -> list[Item]:
    return shown_decoys(arm, seed, home) if part == SHOWN else asked_items(part, home)


def _lacks(log: Path, asked: Callable[[], Sequence[Item]]) -> bool:
    """Whether a log has still to be made. The gate's are written in place, so may be cut short."""
    if log.suffix == ".gz" or not log.exists():
        return not log.exists()
    try:
        return bool(RecordedJudge(log).missing(asked()))
    except UnreadableFile:
        return True  # cut short before the first judgment


def _fixed_gate(home: Path) -> Path:
    """Write the gate's conditions and fix them, before anything is asked."""
    from chaincheck.training.gate_plan import lock_path, lock_plan

    plan = release_of(home) / "gate.toml"
    if not plan.exists():
        plan.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(plan, _GATE.encode())
    if not lock_path(plan).exists():
        lock_plan(plan)
    return plan


def _trained(arm: str, seed: int, home: Path, threads: int | None) -> Path:
    """Train, or find trained, and keep settings and metrics; return the adapter."""
    from chaincheck.training.recipe import load_recipe
    from chaincheck.training.run import train

    recipe = load_recipe(recipe_of(arm), {"seed": seed})
    run, kept = work_folder(arm, seed), run_of(arm, seed, home)
    summary = train(_MODEL, part_of("train", home), run, recipe, threads=threads)
    if kept.exists():
        return run / "adapter"
    lines = (run / "metrics.jsonl").read_bytes().splitlines()
    record = Run(
        recipe=recipe.settings,
        summary={**msgspec.to_builtins(summary), "adapter": f"{arm}-{seed}"},
        metrics=[msgspec.json.decode(line) for line in lines],
    )
    write_bytes(kept, msgspec.json.encode(record) + b"\n")
    return run / "adapter"


def _release(home: Path, adapter: Path, threads: int | None) -> None:
    """Merge a run into its base, with the audit, and ask the merged model under the gate."""
    from chaincheck.models import find_model
    from chaincheck.training.gate_score import score_for_gate
    from chaincheck.training.merge import merge
    from chaincheck.training.score_drift import causal_comparison

    merged = _work() / "merged"
    report = release_of(home) / "merge.json"
    if not (report.exists() and merged.exists()):
        shutil.rmtree(merged, ignore_errors=True)
        judge = _work() / f"{BASE}.toml"
        open_run(BASE, threads=threads)
        compare = causal_comparison(part_of("validation", home), find_model(_MODEL), adapter, judge)
        done = merge(find_model(_MODEL), adapter, merged, compare=compare)
        kept = {**done.to_dict(), "out": merged.name}  # where it lies on this machine is left out
        write_bytes(report, msgspec.json.encode(kept) + b"\n")
    candidate = open_run("candidate", model=str(merged), threads=threads)
    score_for_gate(release_of(home) / "gate.toml", candidate, "candidate")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the module's own small command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog=COMMAND,
        description="Train by the book's recipes and keep what the judges say, where missing.",
    )
    parser.add_argument(
        "runs", nargs="*", metavar="RECIPE[:SEED]", help="recipes or single runs; all by default"
    )
    parser.add_argument("--out", default=str(FOLDER), help="where the records lie")
    parser.add_argument("--threads", type=int, help="threads of the CPU, at least 1")
    given = parser.parse_intermixed_args(arguments)

    def make() -> None:
        check_before(given.threads, given.out, _MODEL)
        for arm, seed in _runs(given.runs or [BASE, *training_records.ARMS]):
            make_record(arm, seed, given.out, threads=given.threads, progress=shown)

    return guarded(make)


def check_before(threads: int | None, folder: PathLike, model: str | None = None) -> None:
    """Refuse what a recording would end at, before minutes are spent on drawing triplets.

    Args:
        threads: of the CPU; None leaves it to the library.
        folder: where records will lie.
        model: the base; None asks nothing of it.

    Raises:
        UsageError: there is no such number of threads, the folder is a file, or the model is not
            here.
    """
    from chaincheck.models import find_model

    if threads is not None and threads < 1:
        raise UsageError(f"no judge computes with {threads} threads", remedy="Use 1 or more")
    if Path(folder).exists() and not Path(folder).is_dir():
        raise UsageError(f"{folder} is a file", remedy="Name a folder for the records")
    if model is not None:
        find_model(model)


def _runs(asked: Sequence[str]) -> list[tuple[str, int]]:
    """Read RECIPE and RECIPE:SEED."""
    found = []
    for text in asked:
        arm, mark, seed = text.partition(":")
        if arm == BASE:
            if mark:
                raise UsageError(f"{text!r} is no recorded run", remedy="The base has no seeds")
            found.append((BASE, 0))
            continue
        recipe_of(arm)
        if mark and not (seed.isdigit() and int(seed) < training_records.ARMS[arm].seeds):
            raise UsageError(
                f"{text!r} is no recorded run",
                remedy=f"Seeds of {arm}: 0 to {training_records.ARMS[arm].seeds - 1}",
            )
        found += (
            [(arm, int(seed))]
            if mark
            else [(arm, one) for one in range(training_records.ARMS[arm].seeds)]
        )
    return found


if __name__ == "__main__":
    sys.exit(main())
