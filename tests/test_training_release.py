"""From triplets to a card by the command line alone, on a run that was really trained."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("peft", reason="the extra 'training' is not installed")

import tiny_language_models as tiny  # noqa: E402
import tiny_models  # noqa: E402
import training_worlds  # noqa: E402

from chaincheck.cli import main  # noqa: E402
from chaincheck.judges import open_judge  # noqa: E402
from chaincheck.models import weights_hash  # noqa: E402

RECIPE = """
mix = { real = 1.0, fict = 1.0 }
batch = 2
accumulation = 2
learning_rate = 3e-3
dtype = "float32"
eval_every = 2
[lora]
rank = 4
alpha = 8.0
"""
PLAN = """
name = "tiny judge"
base = "base.log.jsonl"
candidate = "judge.log.jsonl"
cluster = "bridge"
resamples = 200
[[data]]
path = "test.jsonl"
sigma = ["real", "fict"]
nominal = ["real"]
"""
JUDGE = 'kind = "causal"\nmodel = "{}"\ndtype = "float32"\nminimum_mass = 0.0\nthreads = 1\n'


def vision_language(folder: Path) -> None:
    """A Qwen3.5 checkpoint as they are published: visual tower and prediction layer, in shards."""
    import transformers

    words = tiny.tokenizer(tiny.THINKING)
    sizes = {"vocab_size": len(words) + 7, "max_position_embeddings": 4096}
    text = {**tiny_models.QWEN3_5, **sizes, "initializer_range": 0.1}
    config = transformers.Qwen3_5Config(text_config=text, vision_config=tiny_models.VISION)
    torch.manual_seed(0)
    transformers.Qwen3_5ForConditionalGeneration(config).bfloat16().save_pretrained(folder)
    tiny_models.add_mtp(folder, shards=True)
    words.save_pretrained(folder)


@pytest.fixture(params=["qwen3", "qwen3_5 with all that it is published with"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base with its tokenizer, three files of triplets, recipe, judges and the gate's plan."""
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    if request.param == "qwen3":
        tiny.save(tmp_path / "base", "qwen3", chat=tiny.THINKING)
    else:
        vision_language(tmp_path / "base")
    for name, count, start in (("train", 16, 0), ("validation", 6, 20), ("test", 10, 40)):
        variants = ("real", "fict")
        training_worlds.write(tmp_path / f"{name}.jsonl", count, start=start, variants=variants)
    (tmp_path / "recipe.toml").write_text(RECIPE, "utf-8")
    (tmp_path / "gate.toml").write_text(PLAN, "utf-8")
    for name in ("base", "judge"):
        (tmp_path / f"{name}.toml").write_text(JUDGE.format(name), "utf-8")
    return tmp_path


def call(line: str) -> int:
    return main(line.split())


def test_a_run_its_merge_its_gate_and_its_card(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = "train --base base --data train.jsonl --recipe recipe.toml --out run --threads 1"
    assert call(f"{train} --validation validation.jsonl --plot run.svg") == 0
    assert "Sigma" in capsys.readouterr().out
    summary = json.loads((folder / "run" / "training.json").read_bytes())
    assert (folder / "run.svg").stat().st_size > 1000
    merge = "merge base --adapter run/adapter --out judge"
    assert call(f"{merge} --compare-on validation.jsonl --judge base.toml") == 0
    assert "adapter against merged, 48 items" in capsys.readouterr().out
    assert weights_hash(folder / "judge") != weights_hash(folder / "base")
    assert call("gate plan gate.toml") == 0
    assert call("gate score gate.toml --judge base.toml --role base") == 0
    assert call("gate score gate.toml --judge judge.toml --role candidate") == 0
    # Ten triplets cannot pass; what a gate says of them goes on the card all the same.
    assert call("gate check gate.toml --json verdict.json") == 1
    assert call("card judge --run run --verdict verdict.json") == 0
    text = (folder / "judge" / "README.md").read_text("utf-8")
    steps = summary["steps"]
    assert "Gate tiny judge: FAIL" in text
    assert f"{steps[0]} of {steps[1]} planned steps on 16 fict, 16 real triplets" in text
    assert f"the state of step {summary['kept']} is kept" in text
    for key, value in (("mix.fict", "1.0"), ("lora.rank", "4"), ("accumulation", "2")):
        assert f"| `{key}` | `{value}` |" in text
    assert summary["recipe"] in text
    assert summary["data"] in text
    assert summary["validation"] in text
    assert "`model.weights`" in text
    assert "48 items: they differ by" in text
    assert str(folder) not in text, "no path of a machine"
    # What the card tells its reader to save is the judge that was gated.
    block = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
    assert block
    (folder / "read.toml").write_text(block[1], "utf-8")
    verdict = json.loads((folder / "verdict.json").read_bytes())
    found = open_judge(str(folder / "read.toml"))
    assert found.fingerprint == verdict["provenance"]["candidate"]["instrument"]
    # Another run's records are refused.
    assert call(f"{train.replace('--out run', '--out other')} -s seed 7 -s eval_every 0") == 0
    assert call("card judge --run other --verdict verdict.json --out other.md") == 3
    assert not (folder / "other.md").exists()
