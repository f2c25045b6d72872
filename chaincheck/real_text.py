"""Ask judges that were trained on the book's facts about real text, and train some on it.

One command builds two-hop triplets with two distractors from the MuSiQue and 2WikiMultiHopQA files
of a folder, splits them, and asks about the test part: the untrained model; every run of the given
recipes of ``training_records`` that has an adapter in the user's cache; and judges trained on the
train part::

    python -m chaincheck.real_text ../shared/data                     # [--threads N]
    python -m chaincheck.real_text ../shared/data triplet real-text:0  # some of the judges

The texts stay in the user's cache, below ``real_text``, with the judgment logs and the trained
adapters. What is kept in the book is ``real_text_results.RECORD``: scores and counts, and no text.
The command asks only for what is missing, so it can be interrupted and carried on, and repeated
when further adapters are there; once the untrained model is in the record, several can run at a
time, each with judges of its own. To change a record, delete it first.

Which triplets are trained on and which are tested with is said in ``real_text_parts``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from chaincheck import __version__
from chaincheck.atomic import write_bytes
from chaincheck.command_guard import guarded
from chaincheck.errors import InvalidScore, PathLike, UnreadableFile, UsageError
from chaincheck.items import content_hash, write_items
from chaincheck.judges import Judge
from chaincheck.judges.base import fingerprint_of
from chaincheck.judges.record import LiveJudge, RecordedJudge
from chaincheck.models import cache_folder, file_hash
from chaincheck.progress_bars import shown
from chaincheck.real_text_parts import Drawn, draw_parts, items_of
from chaincheck.real_text_results import (
    COMMAND,
    REAL,
    RECORD,
    AskedTriplet,
    JudgeScores,
    Part,
    Parts,
    RealText,
    load_real_text,
)
from chaincheck.record_training import check_before, open_run
from chaincheck.training_records import (
    ARMS,
    BASE,
    FOLDER,
    part_of,
    recipe_of,
    work_folder,
)

__all__ = ["CARRIED", "SEEDS", "main", "make_record"]

CARRIED = ("triplet", "triplet-decoy", "nominal-fict")
"""The recipes whose judges are asked by default."""

SEEDS = 3
"""How many seeds of each recipe, and of training on real text."""

_MODEL = "smollm2"
_RECIPE = "triplet"
_PROMPT = "brief"
# One triplet at a time, two a step: the same step, and half the memory for prompts that are three
# times as long as those of the facts. The checkpoints let an interrupted run go on.
_CHANGES = {"batch": 1, "accumulation": 2, "save_every": 20}
_WEIGHTS = "adapter_model.safetensors"


def _silent(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
    del what, total
    yield from items


def make_record(
    folder: PathLike,
    judges: Sequence[str] = (),
    out: PathLike = RECORD,
    *,
    facts: PathLike | None = None,
    threads: int | None = None,
    progress: Any = _silent,
    tell: Callable[[str], None] = lambda line: None,
) -> RealText:
    """Ask what has not been asked yet, and write it down, judge by judge.

    Args:
        folder: holds the files that ``records.DATA_SETS`` names.
        judges: ``BASE``, ``REAL``, recipes of ``training_records.ARMS``, or RECIPE:SEED; by
            default all of ``CARRIED``, and ``REAL``. The base is always asked, first.
        out: the record.
        facts: where the triplets of the book's facts lie; by default where the book has them.
        threads: threads of the CPU.
        progress: wraps what is built and asked.
        tell: takes lines on what is done.

    Returns:
        The record, as far as it goes.

    Raises:
        UsageError: an unknown judge; a run that is named with its seed and has no adapter, or an
            adapter that other triplets or another recipe made; the record is of other triplets.
        ChainCheckError: as ``draw_parts``, ``train`` and the judges.
    """
    wanted = _wanted(judges or (*CARRIED, REAL))
    drawn, parts = draw_parts(folder, facts, model=_MODEL, prompt=_PROMPT, progress=progress)
    for name, part in (("train", parts.train), ("test", parts.test)):
        tell(f"{name}: {_told(part)}")
    job = _Job(
        drawn=drawn,
        parts=parts,
        out=Path(out),
        facts=FOLDER if facts is None else facts,
        threads=threads,
        progress=progress,
        tell=tell,
    )
    job.ask(BASE, None, explicit=True)
    for arm, seed, explicit in wanted:
        job.ask(arm, seed, explicit=explicit)
    return job.record


def _told(part: Part) -> str:
    counts = "; ".join(
        f"{source} " + ", ".join(f"{number} {variant}" for variant, number in row.items())
        for source, row in part.triplets.items()
    )
    total = sum(sum(row.values()) for row in part.triplets.values())
    lengths = part.prompts
    return (
        f"{total} triplets ({counts}) in {part.groups} groups; prompts of {lengths.mean:.0f} "
        f"tokens, at most {lengths.longest}; {lengths.cut} cut"
    )


def _wanted(judges: Sequence[str]) -> list[tuple[str, int | None, bool]]:
    """Read NAME and NAME:SEED into recipe, seed and whether the seed was named."""
    found: list[tuple[str, int | None, bool]] = []
    for text in judges:
        arm, mark, seed = text.partition(":")
        if arm == BASE and not mark:
            continue
        if arm != REAL:
            recipe_of(arm)
        if mark and not (seed.isdecimal() and int(seed) < SEEDS):
            raise UsageError(
                f"{text!r} is no judge", remedy=f"Give a seed from 0 to {SEEDS - 1}, or none"
            )
        found += [(arm, int(seed), True)] if mark else [(arm, k, False) for k in range(SEEDS)]
    return found


class _Job:
    """One call of the command: what it works with and the record as it grows."""

    def __init__(
        self,
        *,
        drawn: Drawn,
        parts: Parts,
        out: Path,
        facts: PathLike,
        threads: int | None,
        progress: Any,
        tell: Callable[[str], None],
    ) -> None:
        from chaincheck.training.recipe import load_recipe
        from chaincheck.training.run_folder import make_folder

        self.home = cache_folder() / "real_text"
        for place in (self.home / "logs", self.home / "runs", out.parent):
            make_folder(place)
        self.out, self.facts, self.threads = out, facts, threads
        self.progress, self.tell = progress, tell
        self.items = items_of(drawn.test)
        self.train_file = self.home / f"train-{parts.train.data}.jsonl.gz"
        recipe = _plain(load_recipe(recipe_of(_RECIPE), _CHANGES).settings)
        recipe.pop("seed")
        self.record = RealText(
            command=COMMAND,
            version=__version__,
            parts=parts,
            recipe=recipe,
            triplets=tuple(
                AskedTriplet(
                    source=one.cells["A"].source or "",
                    record=one.cells["A"].source_id or "",
                    variant=one.variant,
                    bridge=unit,
                )
                for one, unit in zip(drawn.test, drawn.units, strict=True)
            ),
            judges=(),
        )
        if out.exists():
            self._take_up(load_real_text(out))
        write_items(self.train_file, items_of(drawn.train))
        write_items(self.home / f"test-{parts.test.data}.jsonl.gz", self.items)

    def _take_up(self, known: RealText) -> None:
        """Go on with a record, if it is of these triplets."""
        for what in ("parts", "triplets", "recipe"):
            if getattr(known, what) != getattr(self.record, what):
                raise UsageError(
                    f"{self.out} is of another {what.removesuffix('s')} than there would be now",
                    remedy="Delete it to make it anew, or name another file with --out",
                )
        self.record = msgspec.structs.replace(self.record, judges=known.judges)

    def ask(self, arm: str, seed: int | None, *, explicit: bool) -> None:
        """Ask a judge, unless the record has it, and write the record."""
        name = arm if seed is None else f"{arm}-{seed}"
        adapter: Path | None = None
        trained: dict[str, Any] = {}
        if arm == REAL:
            adapter, trained = self._trained(name, seed or 0)
        elif seed is not None:
            found = self._carried(arm, seed)
            if found is None:
                told = f"{name}: no adapter in the cache"
                if explicit:
                    raise UsageError(
                        told, remedy=f"Train it: python -m chaincheck.record_training {arm}:{seed}"
                    )
                self.tell(f"{told}, left out")
                return
            adapter, trained = found
        weights = None if adapter is None else file_hash(adapter / _WEIGHTS)
        if (name, weights) in {(one.name, one.weights) for one in self.record.judges}:
            self.tell(f"{name}: in the record")
            return
        said = self._asked(name, adapter)
        new = JudgeScores(arm=arm, seed=seed, weights=weights, trained=trained, **said)
        if self.out.exists():  # another process may have added a judge of its own meanwhile
            self._take_up(load_real_text(self.out))
        others = [one for one in self.record.judges if one.name != name]
        for one in others[:1]:
            if one.setup != new.setup:
                raise UsageError(
                    f"{name} is asked in another way than {one.name} was",
                    remedy=f"Delete {self.out} to ask all anew",
                )
        judges = sorted([*others, new], key=_place)
        self.record = msgspec.structs.replace(self.record, judges=tuple(judges))
        write_bytes(self.out, msgspec.json.encode(self.record) + b"\n")
        self.tell(f"{name}: {len(new.scores)} triplets")

    def _asked(self, name: str, adapter: Path | None) -> dict[str, Any]:
        judge: Judge = open_run(
            name, model=_MODEL, adapter=adapter, prompt=_PROMPT, threads=self.threads
        )
        log = self.home / "logs" / f"{name}-{judge.fingerprint}.jsonl"
        with LiveJudge(judge, log) as live:
            asked = self.progress(self.items, what=name, total=len(self.items))
            for _ in live.score(asked):
                pass
        recorded = RecordedJudge(log)
        scores: list[float] = []
        for judgment in recorded.score(self.items):
            if judgment.score is None:
                raise InvalidScore(f"{name} gave no score", path=log, item=judgment.item_id)
            scores.append(judgment.score)
        model = {**recorded.instrument["model"], "adapter": None}
        return {
            "name": name,
            "fingerprint": recorded.fingerprint,
            "setup": fingerprint_of({**recorded.instrument, "model": model}),
            "acquisition": recorded.acquisition,
            "scores": tuple(zip(scores[0::3], scores[1::3], scores[2::3], strict=True)),
        }

    def _trained(self, name: str, seed: int) -> tuple[Path, dict[str, Any]]:
        """Train on real text, or find trained."""
        from chaincheck.training.recipe import load_recipe
        from chaincheck.training.run import train

        recipe = load_recipe(recipe_of(_RECIPE), {**_CHANGES, "seed": seed})
        run = self.home / "runs" / f"{name}-{content_hash([recipe.digest, self.train_file.name])}"
        self.tell(f"{name}: training, or trained already")
        return run / "adapter", _kept(
            train(_MODEL, self.train_file, run, recipe, threads=self.threads)
        )

    def _carried(self, arm: str, seed: int) -> tuple[Path, dict[str, Any]] | None:
        """Find a run that was trained on facts, and see that it is by what the book holds now."""
        from chaincheck.training.recipe import load_recipe
        from chaincheck.training.run_folder import SUMMARY, TrainingSummary, lines_hash

        run = work_folder(arm, seed)
        if not (run / "adapter" / _WEIGHTS).is_file() or not (run / SUMMARY).is_file():
            return None
        try:
            summary = msgspec.json.decode((run / SUMMARY).read_bytes(), type=TrainingSummary)
        except msgspec.MsgspecError as cause:
            raise UnreadableFile(
                f"is not what a run came to: {cause}", path=run / SUMMARY, remedy="Train it anew"
            ) from None
        recipe = load_recipe(recipe_of(arm), {"seed": seed})
        data = lines_hash(part_of("train", self.facts))
        if (summary.recipe, summary.data) != (recipe.digest, data):
            raise UsageError(
                f"{run} was trained by another recipe, or on other triplets, than the book has now",
                remedy=f"Delete it and run: python -m chaincheck.record_training {arm}:{seed}",
            )
        return run / "adapter", _kept(summary)


def _kept(summary: Any) -> dict[str, Any]:
    """What of a run's summary is recorded: no path of this machine."""
    whole = _plain(summary)
    return {key: whole[key] for key in ("recipe", "data", "triplets", "steps", "seconds")}


def _plain(value: Any) -> dict[str, Any]:
    """Turn a value into what a JSON file would give back."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value))
    return found


def _place(judge: JudgeScores) -> tuple[int, int]:
    """The base first, the recipes in the order of ``ARMS``, and real text last."""
    order = (BASE, *ARMS, REAL)
    return order.index(judge.arm), judge.seed or 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the module's own small command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m chaincheck.real_text",
        description="Ask trained judges about real text and keep what they say, without the text.",
    )
    parser.add_argument("folder", help="folder that holds the original files")
    parser.add_argument(
        "judges",
        nargs="*",
        metavar="JUDGE",
        help=f"recipes, RECIPE:SEED, or {REAL}; by default {', '.join(CARRIED)} and {REAL}",
    )
    parser.add_argument("--out", default=str(RECORD), help="the record")
    parser.add_argument("--threads", type=int, help="threads of the CPU")
    given = parser.parse_intermixed_args(arguments)

    def make() -> None:
        check_before(given.threads, Path(given.out).parent)
        make_record(
            given.folder,
            given.judges,
            given.out,
            threads=given.threads,
            progress=shown,
            tell=lambda line: print(line, flush=True),
        )

    return guarded(make)


if __name__ == "__main__":
    sys.exit(main())
