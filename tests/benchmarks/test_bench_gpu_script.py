"""The script for a GPU at its tiny size: every figure is there, positive, and fits the others."""

import json
import math
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("peft", reason="the extra 'training' is not installed")

sys.path.insert(0, str(Path(__file__).parent))
import gpu_4b
import gpu_shapes

TOP = {
    *("format", "complete", "made", "seconds", "settings", "device", "versions", "model"),
    *("prompts", "scoring", "training", "merge", "projection"),
}
SETTINGS = {
    *("size", "kind", "device", "repeats", "tokens", "rank", "minutes", "largest_batch"),
    *("scored", "dtype", "prompt", "cells", "attention", "shape"),
}
SPEED = {"seconds", "triplets", "triplets_per_second", "peak"}
MERGE = {
    *("merge_seconds", "audit_seconds", "passed", "counts", "lost", "bytes"),
    *("largest_file_bytes", "peak"),
}


def check_speed(row, repeats):
    assert row.keys() >= SPEED
    assert len(row["seconds"]) == repeats
    speeds = sorted(row["triplets"] / one for one in row["seconds"])
    spread = row["triplets_per_second"]
    assert 0 < spread["low"] <= spread["median"] <= spread["high"] < math.inf
    assert (spread["low"], spread["high"]) == (speeds[0], speeds[-1])
    assert all(value > 0 for value in row["peak"].values())


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"])
def test_every_figure_is_there_and_fits_the_others(kind, tmp_path):
    out = tmp_path / "found.json"
    assert gpu_4b.main(["--kind", kind, "--out", str(out), "--folder", str(tmp_path)]) == 0
    found = json.loads(out.read_bytes())
    assert found.keys() == TOP
    assert found["complete"] is True
    settings = found["settings"]
    assert settings.keys() == SETTINGS
    assert found["versions"]["torch"]
    assert (
        found["device"]["memory_bytes"] > found["model"]["bytes"] == 2 * found["model"]["weights"]
    )
    low, high = settings["tokens"]
    prompts = found["prompts"]
    assert low <= prompts["shortest"] <= prompts["mean"] <= prompts["longest"] <= high
    assert [row["batch"] for row in found["scoring"]] == [1, 16]
    for row in found["scoring"]:
        check_speed(row, settings["repeats"])
        assert row["triplets"] == settings["scored"]
    kinds = [(row["gradient_checkpointing"], row["batch"]) for row in found["training"]]
    assert kinds == [(False, 1), (False, 2), (True, 1), (True, 2)]
    for row in found["training"]:
        assert row["fits"] is True
        check_speed(row, settings["repeats"])
        assert row["triplets"] == row["batch"]
        minutes = 7481 / row["triplets_per_second"]["median"] / 60
        assert row["projected_minutes"] == pytest.approx(minutes)
        tokens = row["tokens_per_second"] * sum(row["seconds"])
        steps = row["batch"] * settings["repeats"]
        assert 3 * low * steps <= tokens + 1e-6 <= 3 * high * steps + 1
    merge = found["merge"]
    assert merge.keys() == MERGE
    assert merge["passed"] is True
    assert merge["merge_seconds"] > 0 < merge["audit_seconds"]
    assert merge["peak"]["process"] >= merge["peak"]["before"] > 0
    assert merge["largest_file_bytes"] <= merge["bytes"]
    assert merge["bytes"] == pytest.approx(found["model"]["bytes"], rel=0.02)
    assert 0 < merge["lost"] < 1
    best = min(row["projected_minutes"] for row in found["training"])
    assert found["projection"]["minutes"] == best
    assert found["projection"]["times_published"] == pytest.approx(best / 46)
    print(f"\n{kind}: " + json.dumps(found["training"][0]["triplets_per_second"]))
    assert [path.name for path in tmp_path.iterdir()] == ["found.json"], "no model is left behind"


@pytest.mark.parametrize(("kind", "billions"), [("qwen3", 4.02), ("qwen3_5", 4.21)])
def test_the_large_ones_have_the_size_that_they_are_called_by(kind, billions):
    assert gpu_shapes.parameters(kind, "4b") / 1e9 == pytest.approx(billions, abs=0.01)


def test_a_disk_that_is_too_small_is_told_before_anything_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_4b.shutil, "disk_usage", lambda _: type("", (), {"free": 2**30}))
    with pytest.raises(SystemExit, match=r"take 1\d\.\d GiB and 1\.0 are free"):
        gpu_4b.main(["--size", "4b", "--folder", str(tmp_path), "--out", str(tmp_path / "o")])


@pytest.mark.skipif(gpu_4b.torch.cuda.is_available(), reason="there is a CUDA device here")
def test_a_device_that_is_not_there_is_told(tmp_path):
    with pytest.raises(SystemExit, match="no CUDA device"):
        gpu_4b.main(["--device", "cuda", "--out", str(tmp_path / "o")])
