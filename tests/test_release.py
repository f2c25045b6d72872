"""From an adapter to a card, by the command line alone, with judges that are real models."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
peft = pytest.importorskip("peft", reason="the extra 'training' is not installed")

import tiny_language_models  # noqa: E402
from tiny_models import write_json  # noqa: E402
from transformers import AutoModelForCausalLM  # noqa: E402

from chaincheck.cli import main  # noqa: E402
from chaincheck.items import read_items, write_items  # noqa: E402
from chaincheck.judges import open_judge  # noqa: E402
from chaincheck.models import weights_hash  # noqa: E402
from chaincheck.training.adapter import BASE_RECORD  # noqa: E402
from chaincheck.training.merge_files import PROVENANCE  # noqa: E402
from chaincheck.training.recipe import settings_digest  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")

PLAN = """
name = "tiny"
base = "base.log.jsonl"
candidate = "merged.log.jsonl"
resamples = 200
[[data]]
path = "test.jsonl"
sigma = ["real"]
"""
JUDGE = 'kind = "causal"\nmodel = "{}"\nminimum_mass = 0.0\nthreads = 1\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base, an adapter with weights drawn at random, what a training run records, triplets."""
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    base = tiny_language_models.save(tmp_path / "base", chat=tiny_language_models.THINKING)
    model = AutoModelForCausalLM.from_pretrained(base)
    tuned = peft.get_peft_model(model, peft.LoraConfig(r=4, target_modules="all-linear"))
    torch.manual_seed(1)
    with torch.no_grad():
        for name, weight in tuned.named_parameters():
            if "lora_" in name:
                weight.normal_(std=0.1)
    tuned.save_pretrained(tmp_path / "run" / "adapter")
    known = weights_hash(base)
    write_json(tmp_path / "run" / "adapter" / BASE_RECORD, {"weights": known})
    begun: dict[str, Any] = {
        "recipe": {"seed": 1},
        "data": "d",
        "validation": "",
        "base": {"weights": known},
    }
    write_json(tmp_path / "run" / "run.json", begun)
    write_json(
        tmp_path / "run" / "training.json",
        {
            **begun,
            "recipe": settings_digest(begun["recipe"]),
            **{"triplets": {"real": 1}, "steps": [1, 1], "kept": 1, "acquisition": {}},
        },
    )
    build = ["build", "--source", "facts", "--variants", "real", "--limit", "12"]
    assert main([*build, "--distractors", "1", "--out", str(tmp_path / "all.jsonl")]) == 0
    write_items(tmp_path / "test.jsonl", list(read_items(tmp_path / "all.jsonl"))[:18])
    (tmp_path / "gate.toml").write_text(PLAN, "utf-8")
    for name in ("base", "merged"):
        (tmp_path / f"{name}.toml").write_text(JUDGE.format(name), "utf-8")
    return tmp_path


def test_the_whole_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = {name: str(folder / name) for name in ("base", "merged", "run", "gate.toml")}
    adapter, verdict = str(folder / "run" / "adapter"), str(folder / "verdict.json")
    merging = ["merge", where["base"], "--adapter", adapter, "--out", where["merged"]]
    compare = ["--compare-on", str(folder / "test.jsonl"), "--judge", str(folder / "base.toml")]
    assert main([*merging, *compare]) == 0
    assert "every tensor of the base is accounted for" in capsys.readouterr().out
    drift = json.loads((folder / "merged" / PROVENANCE).read_bytes())["scores"]
    assert drift["items"] == 18
    assert drift["largest"] < 1e-3, "in float32 only the order of the sums differs"
    assert drift["spread"] > 100 * drift["largest"]
    auditing = ["merge", where["base"], "--adapter", adapter, "--audit-only"]
    assert main([*auditing, where["merged"]]) == 0
    assert main([*auditing, where["base"]]) == 1
    captured = capsys.readouterr()
    assert "still the base's" in captured.out
    assert "is not the base with the adapter" in captured.err
    assert main(["gate", "plan", where["gate.toml"]]) == 0
    assert "a candidate no better than the base passes with" in capsys.readouterr().out
    for role, judge in (("base", "base"), ("candidate", "merged")):
        told = ["--judge", str(folder / f"{judge}.toml"), "--role", role]
        assert main(["gate", "score", where["gate.toml"], *told]) == 0
    assert main(["gate", "check", where["gate.toml"], "--json", verdict]) == 1
    assert main(["card", where["merged"], "--run", where["run"], "--verdict", verdict]) == 0
    text = (folder / "merged" / "README.md").read_text("utf-8")
    assert "Gate tiny: FAIL" in text
    # The judge that the card describes is the instrument that was gated.
    block = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert block
    (folder / "judge.toml").write_text(block[1], "utf-8")
    record = json.loads((folder / "verdict.json").read_bytes())
    found = open_judge(str(folder / "judge.toml"))
    assert found.fingerprint == record["provenance"]["candidate"]["instrument"]


def test_options_that_do_not_go_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base = str(folder / "base")
    for options, told in (
        ([], "--out is missing"),
        (["--out", "x"], "--adapter is missing"),
        (["--audit-only", base, "--out", "x"], "writes nothing"),
        (["--adapter", "a", "--out", "x", "--rename", "a=b"], "that others merged"),
        (["--audit-only", base, "--rename", "ab"], "takes MERGED=BASE"),
        (["--adapter", "a", "--out", "x", "--judge", "j"], "is for --compare-on"),
        (["--audit-only", base, "--compare-on", "d"], "needs an adapter"),
        (["--audit-only", str(folder / "nowhere")], "no such folder"),
        (["--adapter", base, "--out", "x"], "adapter_config.json"),
    ):
        assert main(["merge", base, *options]) == 2
        assert told in capsys.readouterr().err
