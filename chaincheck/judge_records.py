"""What models said, once: the judgment logs and answers that chapters replay.

A chapter that quotes what a model said must show the same numbers on a machine without that model.
So the triplets, the models' judgments of them and their answers without passages lie below
``book/records/judges``, made by one command that takes about half an hour on two cores::

    python -m chaincheck.judge_records        # or: make judgments

It asks only for what is missing, so it can be interrupted and carried on. To change a record,
delete its file first.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.atomic import write_bytes
from chaincheck.command_guard import guarded
from chaincheck.errors import (
    InvalidModel,
    MissingExtra,
    PathLike,
    UsageError,
)
from chaincheck.injection import probe
from chaincheck.injection_attacks import ATTACKS
from chaincheck.items import Item, Triplet, read_triplets, write_items
from chaincheck.jsonl import read_objects
from chaincheck.judges import Judge, LexicalJudge, RecordedScores, open_judge
from chaincheck.judges.base import differences
from chaincheck.judges.log_format import content_of
from chaincheck.judges.record import LiveJudge, RecordedJudge
from chaincheck.packed_logs import carried_on, unpack
from chaincheck.progress_bars import shown

__all__ = [
    "BARE_ATTACKS",
    "FOLDER",
    "RECORDED",
    "LiveCheck",
    "RecordedModel",
    "answer_without_passages",
    "chapter_judge",
    "check_live",
    "judged_triplets",
    "make_records",
    "recorded_judge",
    "token_texts",
]

_BOOK = Path(__file__).resolve().parent.parent / "book"
FOLDER = _BOOK / "records" / "judges"
"""Where the records lie in a checkout."""

_COMMAND = "python -m chaincheck.judge_records"
_QUESTION = "Answer in a few words, with the answer alone. {question}"
_LONGEST_ANSWER = 24  # tokens
_EVERY = 12  # of the book's questions: what a small model judges in minutes
_DISTRACTORS = 2
_PROBED = 16
_TRIPLETS = "triplets.jsonl.gz"
_ANSWERS = "answers.jsonl"
_TOKENS = "tokens.json"
BARE_ATTACKS = ("instruction", "delimiter", "special-tokens")
"""The attacks that the bare prompt is probed with."""


@dataclass(frozen=True, slots=True)
class RecordedModel:
    """A judge whose judgments are part of the book.

    Attributes:
        spec: what ``open_judge`` opens; a file is relative to ``book``.
        variants: the variants of the triplets that it judges whole.
        attacks: the attacks that it is probed with, on real triplets.
    """

    spec: str
    variants: tuple[str, ...] = ("real", "fict", "decoy")
    attacks: tuple[str, ...] = ()


RECORDED: Mapping[str, RecordedModel] = {
    "smollm2": RecordedModel("smollm2", attacks=tuple(ATTACKS)),
    "minilm": RecordedModel("minilm", attacks=tuple(ATTACKS)),
    "smollm2-bfloat16": RecordedModel("judges/smollm2-bfloat16.toml"),
    "smollm2-plain": RecordedModel("judges/smollm2-plain.toml", variants=("real",)),
    "smollm2-bare": RecordedModel("judges/smollm2-bare.toml", variants=(), attacks=BARE_ATTACKS),
}
"""The recorded judges by name."""


def judged_triplets(folder: PathLike = FOLDER) -> list[Triplet]:
    """Read the triplets that were judged.

    Args:
        folder: where the records lie.

    Raises:
        UnreadableFile: they are not there.
    """
    return read_triplets(Path(folder) / _TRIPLETS)


def recorded_judge(name: str, folder: PathLike = FOLDER) -> RecordedJudge:
    """Open the record of a judge of ``RECORDED``: no model is loaded.

    Args:
        name: which.
        folder: where the records lie.

    Raises:
        UsageError: no judge of that name is recorded.
        UnreadableFile: the record is not there.
        IntegrityError: it is damaged.
    """
    if name not in RECORDED:
        raise UsageError(
            f"no judge {name!r} is recorded in the book", remedy="Known: " + ", ".join(RECORDED)
        )
    return RecordedJudge(_log_of(name, folder), command=f"{_COMMAND} {name}")


def chapter_judge(
    spec: str, *, live: bool = False, records: PathLike = FOLDER, logs: PathLike
) -> Judge:
    """Open a judge the way a chapter uses it: from its record, unless the reader asks for more.

    Args:
        spec: a name of ``RECORDED``, or what ``open_judge`` understands.
        live: ask the model for what its log lacks, and record it there.
        records: where the book's records lie.
        logs: where logs of the reader's own are kept; a record of the book is carried on there.

    Returns:
        A judge on a log; a judge that runs no model as it is.

    Raises:
        UsageError: no such judge, or a model that is not on this machine.
        UnreadableFile: without ``live``, a judge that was never recorded.
        IntegrityError: its log is damaged, or of another instrument.
    """
    if not live and spec in RECORDED:
        return recorded_judge(spec, records)
    judge = open_judge(_spec_of(spec))
    if isinstance(judge, LexicalJudge | RecordedScores | RecordedJudge):
        return judge
    log = Path(logs) / f"{Path(spec).stem}.jsonl"
    if not live:
        return RecordedJudge(log, expect=judge, command="the same with the parameter live set")
    log.parent.mkdir(parents=True, exist_ok=True)
    packed = _log_of(spec, records)
    carried = packed.exists() and not log.exists()
    if carried and RecordedJudge(packed).fingerprint == judge.fingerprint:
        unpack(packed, log)
    return LiveJudge(judge, log)


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """A judge asked now, beside its log of now and beside its record of then.

    Attributes:
        problem: why it could not be asked; None if it was.
        items: how many different contents it was asked about.
        identical: whether replaying what it just said gives the same scores, bit by bit.
        recorded: how many of them the book's record holds for the same instrument.
        apart: largest difference between a score of now and the recorded one; NaN where there
            are none.
        how: what differs between the two ways of getting them.
    """

    problem: str | None
    items: int = 0
    identical: bool = False
    recorded: int = 0
    apart: float = math.nan
    how: tuple[str, ...] = ()

    def to_text(self) -> str:
        """Say it in a few lines."""
        if self.problem is not None:
            return f"not asked: {self.problem}"
        first = (
            f"asked about {self.items:,} items; a replay of what it said is "
            f"{'the same, bit by bit' if self.identical else 'NOT THE SAME'}"
        )
        if not self.recorded:
            return f"{first}\n  the book's record holds none of these of this instrument"
        ways = f"; got otherwise in {', '.join(self.how)}" if self.how else ""
        held = f"{self.recorded:,} of them stand in the book's record, and {_apart(self.apart)}"
        return f"{first}\n  {held}{ways}"


def _apart(most: float) -> str:
    return f"the scores differ by at most {most:.0e}" if most else "the scores are the same bits"


def check_live(
    spec: str, items: Sequence[Item], *, work: PathLike, records: PathLike = FOLDER
) -> LiveCheck:
    """Ask a judge now, replay what it said, and hold both against the book's record.

    Args:
        spec: a name of ``RECORDED``, or what ``open_judge`` understands.
        items: what to ask; the same content is asked about once.
        work: a new or empty folder for the log.
        records: where the book's records lie.

    Raises:
        ChainCheckError: whatever the judge raises once it is open.
    """
    try:
        judge = open_judge(_spec_of(spec))
    except (UsageError, MissingExtra, InvalidModel) as problem:
        return LiveCheck(str(problem))
    log = Path(work) / f"{Path(spec).stem}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    with LiveJudge(judge, log) as asked:
        now = {one.item_id: one for one in asked.score(items)}
        fresh = asked.asked
    replay = RecordedJudge(log)
    identical = all(one == now[one.item_id] for one in replay.score(items))
    packed = _log_of(spec, records)
    if not packed.exists() or RecordedJudge(packed).fingerprint != judge.fingerprint:
        return LiveCheck(None, fresh, identical)
    then = RecordedJudge(packed)
    missing = set(then.missing(items))
    known = [one for one in items if one.item_id not in missing]
    pairs = [(one.score, now[one.item_id].score) for one in then.score(known)]
    apart = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    return LiveCheck(
        None,
        fresh,
        identical,
        len({content_of(one, then.reads) for one in known}),
        max(apart, default=math.nan),
        _ways_apart(then, replay),
    )


def _ways_apart(then: RecordedJudge, now: RecordedJudge) -> tuple[str, ...]:
    """Name the settings in which two logs were got in different ways."""
    ways = [list(judge.acquisition["recorded"].values()) for judge in (then, now)]
    keys = {key for one in ways[0] for other in ways[1] for key in differences(one, other)}
    return tuple(sorted(keys))


def _spec_of(spec: str) -> str:
    """Say what opens a judge: for one of the book its file, wherever the reader stands."""
    known = RECORDED[spec].spec if spec in RECORDED else spec
    return str(_BOOK / known) if spec in RECORDED and known.endswith(".toml") else known


def _log_of(name: str, folder: PathLike) -> Path:
    return Path(folder) / f"{name}.jsonl.gz"


def _draw_triplets() -> list[Item]:
    """Build the triplets that are judged: from every so manieth question, with few distractors."""
    from chaincheck.sources.facts import FactsSource
    from chaincheck.triplets import build

    chains = list(FactsSource().read(None))[::_EVERY]
    return list(build(chains, seed=0, distractors=_DISTRACTORS).items)


def token_texts(folder: PathLike = FOLDER) -> list[tuple[str, list[str]]]:
    """Read which tokens of SmolLM2 say yes and which say no.

    Args:
        folder: where the records lie.

    Returns:
        "yes" and "no", each with the texts of its tokens, the shortest first.

    Raises:
        UnreadableFile: the record is not there.
    """
    ((_, row),) = read_objects(Path(folder) / _TOKENS)
    return [(side, list(row[side])) for side in ("yes", "no")]


def _write_token_texts(target: Path) -> None:
    judge = open_judge("smollm2")
    found = getattr(judge, "token_sets")  # noqa: B009
    row = {"yes": sorted(found.yes_texts, key=len), "no": sorted(found.no_texts, key=len)}
    write_bytes(target, msgspec.json.encode(row) + b"\n")


def answer_without_passages(
    model: PathLike, questions: Iterable[str], *, wording: str = _QUESTION
) -> Iterator[dict[str, str]]:
    """Let a language model answer questions from what it knows.

    Args:
        model: its folder or a name, see ``models.find_model``.
        questions: the questions.
        wording: what it is asked; ``{question}`` stands for the question.

    Yields:
        Rows of ``query`` and ``answer``, as ``closed_book.add_closed_book`` reads them. Answers
        are the most probable token after token, at most 24 of them.

    Raises:
        ChainCheckError: as ``causal_model.load_causal_model``.
    """
    import torch

    from chaincheck.judges.causal import CausalSettings
    from chaincheck.judges.causal_model import load_causal_model

    loaded = load_causal_model(CausalSettings(model=str(model)), Path())
    for question in questions:
        turn = {"role": "user", "content": wording.format(question=question)}
        given = loaded.tokenizer.apply_chat_template(
            [turn], add_generation_prompt=True, return_dict=True, return_tensors="pt"
        ).to(loaded.model.device)
        with torch.inference_mode():
            ids = loaded.model.generate(**given, do_sample=False, max_new_tokens=_LONGEST_ANSWER)
        told = loaded.tokenizer.decode(
            ids[0, given["input_ids"].shape[1] :], skip_special_tokens=True
        )
        yield {"query": question, "answer": told.strip()}


def _silent(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
    yield from items


def _ask(judge: Judge, one: RecordedModel, triplets: Sequence[Triplet], progress: Any) -> None:
    """Ask a judge whatever the book quotes of it."""
    cells = [
        item
        for triplet in triplets
        if triplet.variant in one.variants
        for item in triplet.cells.values()
    ]
    for _ in judge.score(progress(cells, what=judge.name, total=len(cells))):
        pass
    if one.attacks:
        real = [triplet for triplet in triplets if triplet.variant == "real"]
        attacks = {name: ATTACKS[name] for name in one.attacks}
        probe(real, judge, attacks=attacks, limit=_PROBED, progress=progress)


def make_records(
    names: Sequence[str] = tuple(RECORDED),
    folder: PathLike = FOLDER,
    *,
    work: PathLike,
    progress: Any = _silent,
) -> None:
    """Ask the models what their records lack.

    Args:
        names: which of ``RECORDED``.
        folder: where the records lie.
        work: a folder for the logs while they are written.
        progress: wraps the items in a progress bar.

    Raises:
        UsageError: a model is not on this machine; says the command to get it.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    if not (home / _TRIPLETS).exists():
        write_items(home / _TRIPLETS, _draw_triplets())
    triplets = judged_triplets(home)
    for name in names:
        with carried_on(open_judge(_spec_of(name)), _log_of(name, home), work) as live:
            _ask(live, RECORDED[name], triplets, progress)
    if not (home / _TOKENS).exists():
        _write_token_texts(home / _TOKENS)
    answers = home / _ANSWERS
    if not answers.exists():
        questions = list(dict.fromkeys(one.cells["A"].query for one in triplets))
        rows = progress(
            answer_without_passages("smollm2", questions), what="answers", total=len(questions)
        )
        write_bytes(answers, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the module's own small command line and return its exit code."""
    from chaincheck.models import cache_folder

    parser = argparse.ArgumentParser(
        prog="python -m chaincheck.judge_records",
        description="Let the models judge what the book quotes of them, where that is missing.",
    )
    parser.add_argument("names", nargs="*", default=list(RECORDED), help="judges; all by default")
    parser.add_argument("--out", default=str(FOLDER), help="where the records lie")
    given = parser.parse_intermixed_args(arguments)

    def make() -> None:
        unknown = [name for name in given.names if name not in RECORDED]
        if unknown:
            raise UsageError(
                f"no judge {unknown[0]!r} is recorded in the book",
                remedy="Known: " + ", ".join(RECORDED),
            )
        work = cache_folder() / "judge_records"
        make_records(given.names, given.out, work=work, progress=shown)

    return guarded(make)


if __name__ == "__main__":
    sys.exit(main())
