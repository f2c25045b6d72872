"""Timings of the judgment log, side by side with rewriting a JSON file. Run by ``make bench``.

All ways record the same judgments in the same folder in one run. They do not promise the same:
the table says what each may lose. The numbers are printed; only what is promised is asserted.
Rewriting is quadratic: the run takes minutes.
"""

import json
import os
import time
from pathlib import Path

from tabulate import tabulate

from chaincheck.items import Item
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.judges.log_file import JudgmentLog
from chaincheck.judges.record import LiveJudge, RecordedJudge

PUTS = 3786
REPLY = "The passages name the director and say where she was born, so yes."
PROMISED_RATIO = 20


class Instant:
    """A judge that takes no time, so that what is timed is the recording."""

    name = "instant"
    instrument = {"judge": "instant"}  # noqa: RUF012
    fingerprint = fingerprint_of(instrument)

    def score(self, items):
        for number, item in enumerate(items):
            yield Judgment(
                item_id=item.item_id,
                score=number / 7,
                raw=REPLY,
                logprobs={"yes": -0.25, "no": -1.5},
                model="tiny",
                usage={"prompt": 900, "reply": 1},
            )


def items():
    return [
        Item(
            item_id=f"item {k}",
            pair_id=f"p{k // 3}",
            variant="real",
            cell="ABD"[k % 3],
            query="Where was the director of the film born?",
            passages=tuple(f"Title {k}-{j}\n" + "Some sentence of a passage. " * 20 for j in "abc"),
        )
        for k in range(PUTS)
    ]


def rewriting(path: Path, judgments, *, safe: bool):
    """Keep everything in one JSON object and write the whole of it for each judgment."""
    held = {}
    for one in judgments:
        held[one.item_id] = {"score": one.score, "raw": one.raw, "logprobs": one.logprobs}
        if not safe:
            path.write_text(json.dumps(held))
            continue
        part = path.with_suffix(".part")
        with part.open("w") as file:
            json.dump(held, file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


def timed(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def recording(path: Path, data, **options):
    def call():
        with LiveJudge(Instant(), path, **options) as judge:
            assert sum(1 for _ in judge.score(data)) == PUTS

    return call


def test_3786_judgments(tmp_path: Path):
    data = items()
    judgments = list(Instant().score(data))
    ways = [
        (
            ("JSON file rewritten for each", "all of it", "all of it"),
            lambda: rewriting(tmp_path / "plain.json", judgments, safe=False),
        ),
        (
            ("the same through a flushed copy", "the one in hand", "the one in hand"),
            lambda: rewriting(tmp_path / "safe.json", judgments, safe=True),
        ),
        (
            ("log, flushed for each", "the one in hand", "the one in hand"),
            recording(tmp_path / "one", data, group=1),
        ),
        (
            ("log, flushed in groups (default)", "the one in hand", "what is not given out yet"),
            recording(tmp_path / "log", data),
        ),
    ]
    seconds = [timed(call) for _, call in ways]
    rows = [
        [*texts, PUTS / took, took, seconds[0] / took, seconds[1] / took]
        for (texts, _), took in zip(ways, seconds, strict=True)
    ]
    print(f"\n\n{PUTS:,} judgments, one run")
    names = ["", "a kill may lose", "a power cut may lose", "a second", "s", "x first", "x second"]
    print(tabulate(rows, headers=names, floatfmt=".1f"))

    opening = timed(lambda: JudgmentLog(tmp_path / "log"))
    replay = RecordedJudge(tmp_path / "log")
    serving = timed(lambda: list(replay.score(data)))
    resuming = timed(recording(tmp_path / "log", data))
    size = (tmp_path / "log").stat().st_size
    print(
        f"the log has {size / PUTS:.0f} bytes a judgment; opened and verified in "
        f"{opening * 1e3:.0f} ms, replayed in {serving * 1e3:.0f} ms, "
        f"resumed with nothing left to ask in {resuming * 1e3:.0f} ms"
    )
    assert [one.score for one in replay.score(data)] == [one.score for one in judgments]
    assert seconds[0] / seconds[3] >= PROMISED_RATIO
    assert seconds[1] / seconds[3] >= PROMISED_RATIO
