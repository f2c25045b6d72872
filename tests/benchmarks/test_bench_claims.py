"""How many replays a second are made from triplets, audited, and counted, from files to a table."""

from __future__ import annotations

import json
import time
from pathlib import Path

from chaincheck.adherence.batch import audit_lines
from chaincheck.adherence.replay_files import claims_file
from chaincheck.adherence.scripted import scripted
from chaincheck.items import write_items
from chaincheck.replay_pipeline import replays_file
from chaincheck.sources.facts import FactsSource
from chaincheck.triplets import build


def test_thousands_end_to_end(tmp_path: Path) -> None:
    records = list(FactsSource().read())[::3]
    items = build(records, cells=("A", "B", "D", "C"), distractors=3).items
    data, said = tmp_path / "t.jsonl", tmp_path / "r.jsonl"
    write_items(data, items)
    rows = ({"item_id": one.item_id, "reply": scripted(one)} for one in items)
    said.write_text("".join(json.dumps(row) + "\n" for row in rows))
    replays, times = tmp_path / "replays.jsonl", [time.perf_counter()]
    made = replays_file(data, replays, rationales=said)
    times.append(time.perf_counter())
    summary = audit_lines(replays, tmp_path / "reports.jsonl")
    times.append(time.perf_counter())
    report = claims_file(data, replays)
    times.append(time.perf_counter())
    assert not made.refused and summary.audited == report.replays == len(items)
    for name, start, end in zip(("made", "audited", "counted"), times, times[1:], strict=False):
        rate = len(items) / (end - start)
        print(f"{name}: {len(items):,} replays in {end - start:.1f} s, {rate:,.0f} a second")
