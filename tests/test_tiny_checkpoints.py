"""Tiny checkpoints: the names of the published ones, the same bytes every time, and usable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

import tiny_models  # noqa: E402

from chaincheck.items import Item  # noqa: E402
from chaincheck.judges import open_judge  # noqa: E402
from chaincheck.tiny_checkpoints import KINDS, MTP, Kind, merge_by_class, save_tiny  # noqa: E402
from chaincheck.training.adapter import open_adapter  # noqa: E402
from chaincheck.training.audit import audit  # noqa: E402
from chaincheck.training.checkpoint import open_checkpoint  # noqa: E402
from chaincheck.training.merge import merge, restore  # noqa: E402


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    torch.set_num_threads(1)


def test_the_prediction_layer_has_the_names_of_the_published_one() -> None:
    assert set(MTP) == {f"{name}.weight" for name in tiny_models.MTP}


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_is_sound_and_the_same_every_time(kind: Kind, tmp_path: Path) -> None:
    state = torch.random.get_rng_state()
    one, again = (save_tiny(tmp_path / name, kind) for name in ("one", "again"))
    assert torch.equal(torch.random.get_rng_state(), state)
    for path in one.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name
    other = save_tiny(tmp_path / "other", kind, seed=1)
    assert not audit(one, other).passed
    found = open_checkpoint(one)
    assert not found.faults
    assert found.tied
    assert found.head is None
    assert {info.dtype for info in found.tensors.values()} == {"BF16"}
    visual = any(name.startswith("model.visual.") for name in found.tensors)
    assert visual == (set(MTP) <= set(found.tensors)) == (kind == "qwen3_5")
    if visual:
        assert found.prediction_layers == 1
        assert len(found.files) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_it_can_be_asked(kind: Kind, tmp_path: Path) -> None:
    save_tiny(tmp_path / "model", kind)
    (tmp_path / "judge.toml").write_text(
        'kind = "causal"\nmodel = "model"\nprompt = "brief"\nminimum_mass = 0.0\n', "utf-8"
    )
    item = Item(item_id="i", pair_id="p", variant="real", cell="A", query="Who?", passages=("I.",))
    (judgment,) = open_judge(str(tmp_path / "judge.toml")).score([item])
    assert judgment.score is not None


def test_a_merge_by_class_loses_what_the_class_does_not_know(tmp_path: Path) -> None:
    pytest.importorskip("peft", reason="the extra 'training' is not installed")
    base, adapter, theirs = (tmp_path / name for name in ("base", "adapter", "theirs"))
    save_tiny(base, "qwen3_5")
    told = merge_by_class(base, adapter, theirs)
    assert told == {"missing_keys": [], "unexpected_keys": []}, "the loader says nothing"
    found = audit(base, theirs, open_adapter(adapter))
    lost = {one.tensor for one in found.findings if one.kind == "missing"}
    visual = {name for name in open_checkpoint(base).tensors if name.startswith("model.visual.")}
    assert lost == visual | set(MTP)
    assert json.loads((theirs / "config.json").read_bytes())["model_type"] != "qwen3_5"
    whole = restore(base, theirs, tmp_path / "whole", adapter=adapter)
    assert whole.audit.counts["restored"] == len(lost)
    own = merge(base, adapter, tmp_path / "merged")
    assert own.audit.passed
    assert own.audit.counts["merged"] == whole.audit.counts["merged"]
    assert audit(tmp_path / "merged", tmp_path / "whole").passed, "bit for bit the same tensors"
