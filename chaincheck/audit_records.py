r"""What models were asked about the hops of the book's questions, once: the records of chapter 9.

The triplets, the judgments and the rationales that a model tried to write lie below
``book/records/audit``, so that the chapter shows the same numbers on a machine without the model.
One command makes a record anew, or a record of another judge, such as one that you trained::

    python -m chaincheck.audit_records smollm2 --judge book/judges/smollm2-brief.toml \
        --replies 16 --model smollm2
    python -m chaincheck.audit_records smollm2-trained --judge my_judge.toml

It asks only for what is missing, so it can be interrupted and carried on. To change a record,
delete its file first. The chapter uses every record that it finds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.adherence.hop_questions import COLUMN, steps_of
from chaincheck.atomic import write_bytes
from chaincheck.command_guard import guarded
from chaincheck.errors import PathLike, UsageError
from chaincheck.items import Item, read_items, write_items
from chaincheck.judges import Judge, open_judge
from chaincheck.models import cache_folder
from chaincheck.packed_logs import carried_on
from chaincheck.progress_bars import shown
from chaincheck.replay_pipeline import asked_items

__all__ = [
    "FOLDER",
    "draw_items",
    "log_of",
    "main",
    "make_record",
    "replies_of",
    "triplets_of",
    "write_rationales",
]  # fmt: skip

FOLDER = Path(__file__).resolve().parent.parent / "book" / "records" / "audit"
"""Where the records lie in a checkout."""

_EVERY = 10  # of the book's questions
_DISTRACTORS = 3
_LONGEST_REPLY = 320  # tokens


def triplets_of(folder: PathLike = FOLDER) -> Path:
    """The file of the triplets that were judged."""
    return Path(folder) / "triplets.jsonl.gz"


def log_of(name: str, folder: PathLike = FOLDER) -> Path:
    """The judgment log of a judge: of every item and of both its hops."""
    return Path(folder) / f"{name}.jsonl.gz"


def replies_of(name: str, folder: PathLike = FOLDER) -> Path:
    """The rationales that a model wrote when it was asked for them."""
    return Path(folder) / f"{name}-replies.jsonl"


def draw_items(every: int = _EVERY) -> list[Item]:
    """Build triplets from every k-th of the book's facts: real names, all four cells.

    Each item holds the questions of its hops in a column, so that the file stands by itself.
    """
    from chaincheck.sources.facts import FactsSource
    from chaincheck.triplets import build

    records = list(FactsSource().read())[::every]
    steps = steps_of(records)
    made = build(
        records, variants=("real",), cells=("A", "B", "D", "C"), distractors=_DISTRACTORS
    ).items
    return [
        msgspec.structs.replace(
            item,
            extra={**item.extra, COLUMN: list(steps[item.source, item.source_id, item.link])},
        )
        for item in made
    ]


def write_rationales(model: str, items: Iterable[Item]) -> Iterator[dict[str, str]]:
    """Let a language model answer in the form that an audit reads, without holding it to it.

    Args:
        model: its folder or a name, see ``models.find_model``.
        items: what it is asked about.

    Yields:
        Rows of ``item_id`` and ``reply``. A reply is the most probable token after token, cut
        after 320 of them.

    Raises:
        ChainCheckError: as ``causal_model.load_causal_model``.
    """
    import torch

    from chaincheck.judges.causal import CausalSettings
    from chaincheck.judges.causal_model import load_causal_model
    from chaincheck.judges.prompts import load_prompt

    loaded = load_causal_model(CausalSettings(model=model), Path())
    prompt = load_prompt("rationale")
    for item in items:
        given = loaded.tokenizer.apply_chat_template(
            prompt.messages(item), add_generation_prompt=True, return_dict=True, return_tensors="pt"
        ).to(loaded.model.device)
        with torch.inference_mode():
            ids = loaded.model.generate(**given, do_sample=False, max_new_tokens=_LONGEST_REPLY)
        told = loaded.tokenizer.decode(
            ids[0, given["input_ids"].shape[1] :], skip_special_tokens=True
        )
        yield {"item_id": item.item_id, "reply": told}


def _silent(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
    del what, total
    yield from items


def make_record(
    name: str,
    judge: Judge,
    folder: PathLike = FOLDER,
    *,
    progress: Any = _silent,
) -> Path:
    """Ask a judge about every recorded item and both its hops, and keep the log.

    Args:
        name: what to call the record.
        judge: the judge.
        folder: where the records lie; the triplets are drawn if they are not there.
        progress: wraps what is asked.

    Returns:
        The log.

    Raises:
        ChainCheckError: as the judge.
    """
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    if not triplets_of(home).exists():
        write_items(triplets_of(home), draw_items())
    asked = list(asked_items(read_items(triplets_of(home))))
    packed = log_of(name, home)
    with carried_on(judge, packed, cache_folder() / "audit_records") as live:
        for _ in live.score(progress(asked, what=f"asking {name}", total=len(asked))):
            pass
    return packed


def _asked_for_words(items: Sequence[Item], count: int) -> list[Item]:
    """Pick the cells A and D of triplets from all over the file."""
    pairs = list(dict.fromkeys(item.pair_id for item in items))
    step = max(1, len(pairs) // max(1, count // 2))
    chosen = set(pairs[::step])
    return [item for item in items if item.pair_id in chosen and item.cell in "AD"][:count]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the module's own small command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m chaincheck.audit_records",
        description="Ask a judge about the hops of the book's questions, and keep what it says.",
    )
    parser.add_argument("name", help="what to call the record, such as smollm2-trained")
    parser.add_argument(
        "--judge", help="a judge's name or .toml file; the record's name if not given"
    )
    parser.add_argument("--out", default=str(FOLDER), help="where the records lie")
    parser.add_argument(
        "--replies", type=int, default=0, metavar="N", help="also let it write so many rationales"
    )
    parser.add_argument("--model", help="the model that writes them; the judge if not given")
    given = parser.parse_args(arguments)
    spec = given.judge or given.name

    def make() -> None:
        if "/" in given.name or given.name.startswith("."):
            raise UsageError(f"{given.name!r} is no name of a record", remedy="Use a plain word")
        make_record(given.name, open_judge(spec), given.out, progress=shown)
        replies = replies_of(given.name, given.out)
        if given.replies and not replies.exists():
            items = _asked_for_words(list(read_items(triplets_of(given.out))), given.replies)
            written = write_rationales(given.model or spec, items)
            rows = shown(written, what="rationales", total=len(items))
            write_bytes(replies, b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

    return guarded(make)


if __name__ == "__main__":
    sys.exit(main())
