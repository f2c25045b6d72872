"""Merging on models of real classes: the bits of peft's own merge, and nothing lost on the way."""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
peft = pytest.importorskip("peft", reason="the extra 'training' is not installed")

import transformers  # noqa: E402
from tiny_models import (  # noqa: E402
    MTP,
    QWEN3,
    QWEN3_5,
    VISION,
    add_mtp,
    plain_adapter,
    plain_base,
    read_tensors,
    set_config,
)
from transformers import (  # noqa: E402
    GPT2Config,
    GPT2LMHeadModel,
    Qwen3_5Config,
    Qwen3_5ForCausalLM,
    Qwen3_5ForConditionalGeneration,
    Qwen3_5TextConfig,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from chaincheck.errors import ChainCheckError, InvalidModel  # noqa: E402
from chaincheck.models import find_model  # noqa: E402
from chaincheck.training.adapter import open_adapter, place_on  # noqa: E402
from chaincheck.training.audit import audit  # noqa: E402
from chaincheck.training.checkpoint import open_checkpoint  # noqa: E402
from chaincheck.training.merge import merge, restore  # noqa: E402

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()

# What the libraries tell the developers of libraries, and peft of a bias in LoRA.
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore:Adapter 'default'"),
]
CACHE = os.environ.get("CHAINCHECK_CACHE")
GPT2 = {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 32}


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    torch.set_num_threads(threads)
    gc.collect()


def train(model: Any, folder: Path, **settings: Any) -> Any:
    """Put a LoRA on a model, draw its weights (B starts at zero), save it."""
    tuned = peft.get_peft_model(model, peft.LoraConfig(**{"r": 4, "lora_alpha": 8, **settings}))
    with torch.no_grad():
        for name, weight in tuned.named_parameters():
            if "lora_" in name:
                weight.normal_(std=0.05)
    tuned.save_pretrained(folder)
    return tuned


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "rank-stabilized": {"use_rslora": True},
    "ranks and alphas by pattern": {
        "rank_pattern": {"q_proj": 2, r"layers\.1\.mlp\.up_proj": 3},
        "alpha_pattern": {"o_proj": 1, "self_attn.k_proj": 5},
    },
    "some layers": {"layers_to_transform": [1], "layers_pattern": "layers"},
    "with dropout": {"lora_dropout": 0.5, "init_lora_weights": "gaussian"},
}


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        *((case, torch.bfloat16) for case in CASES),
        ("plain", torch.float32),
        ("rank-stabilized", torch.float32),
        ("plain", torch.float16),
    ],
    ids=str,
)
def test_the_bits_are_those_of_peft(case: str, dtype: torch.dtype, tmp_path: Path) -> None:
    model = Qwen3ForCausalLM(Qwen3Config(**QWEN3)).to(dtype)
    model.save_pretrained(tmp_path / "base")
    modules = "all-linear" if "layers_to_transform" not in CASES[case] else ["q_proj", "down_proj"]
    loaded = Qwen3ForCausalLM.from_pretrained(tmp_path / "base", dtype=dtype)
    tuned = train(loaded, tmp_path / "adapter", target_modules=modules, **CASES[case])
    theirs = tuned.merge_and_unload().state_dict()
    found = merge(tmp_path / "base", tmp_path / "adapter", tmp_path / "merged").audit
    ours = read_tensors(tmp_path / "merged")
    assert found.counts["merged"] > 1
    for name, tensor in ours.items():
        assert tensor.dtype == dtype
        assert torch.equal(tensor, theirs[name]), name


def test_layers_that_keep_their_weights_transposed(tmp_path: Path) -> None:
    GPT2LMHeadModel(GPT2Config(**GPT2)).save_pretrained(tmp_path / "base")
    loaded = GPT2LMHeadModel.from_pretrained(tmp_path / "base")
    tuned = train(
        loaded, tmp_path / "adapter", target_modules=["c_attn", "c_fc"], fan_in_fan_out=True
    )
    theirs = tuned.merge_and_unload().state_dict()
    found = merge(tmp_path / "base", tmp_path / "adapter", tmp_path / "merged").audit
    assert found.counts == {"unchanged": 24, "merged": 4}
    for name, tensor in read_tensors(tmp_path / "merged").items():
        full = name if name in theirs else f"transformer.{name}"
        assert torch.equal(tensor, theirs[full]), name


def loads_fully(folder: Path, kind: Any) -> Any:
    model, info = kind.from_pretrained(folder, output_loading_info=True, dtype=torch.bfloat16)
    assert not info["missing_keys"]
    assert not info["mismatched_keys"]
    return model


def tokens() -> Any:
    return torch.arange(2, 14)[None]


class TestQwen3Tied:
    def test_a_tied_head_stays_tied(self, tmp_path: Path) -> None:
        config = Qwen3Config(**QWEN3, tie_word_embeddings=True)
        Qwen3ForCausalLM(config).bfloat16().save_pretrained(tmp_path / "base")
        loaded = Qwen3ForCausalLM.from_pretrained(tmp_path / "base", dtype=torch.bfloat16)
        tuned = train(loaded, tmp_path / "adapter", target_modules="all-linear")
        merge(tmp_path / "base", tmp_path / "adapter", tmp_path / "merged")
        assert "lm_head.weight" not in read_tensors(tmp_path / "merged")
        model = loads_fully(tmp_path / "merged", Qwen3ForCausalLM)
        assert model.lm_head.weight is model.model.embed_tokens.weight
        theirs = tuned.merge_and_unload()
        assert torch.equal(model(tokens()).logits, theirs(tokens()).logits)

    @pytest.mark.parametrize("modules", [["embed_tokens"], ["lm_head"], ["q_proj", "lm_head"]])
    def test_lora_on_embedding_or_tied_head_is_refused(
        self, modules: list[str], tmp_path: Path
    ) -> None:
        config = Qwen3Config(**QWEN3, tie_word_embeddings=True)
        Qwen3ForCausalLM(config).save_pretrained(tmp_path / "base")
        loaded = Qwen3ForCausalLM.from_pretrained(tmp_path / "base")
        with pytest.warns(UserWarning):
            train(loaded, tmp_path / "adapter", target_modules=modules)
        with pytest.raises(InvalidModel, match=r"embedding|tied output head|whole tensor"):
            merge(tmp_path / "base", tmp_path / "adapter", tmp_path / "merged")
        assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    "settings",
    [
        {"use_dora": True},
        {"bias": "lora_only"},
        {"bias": "all"},
        {"lora_bias": True},
        {"modules_to_save": ["lm_head"]},
        {"trainable_token_indices": [1, 2]},
    ],
    ids=lambda one: next(iter(one)) + "=" + str(next(iter(one.values()))),
)
def test_what_is_no_plain_lora_is_refused_by_name(settings: dict[str, Any], tmp_path: Path) -> None:
    config = Qwen3Config(**QWEN3, tie_word_embeddings=False, attention_bias=True)
    Qwen3ForCausalLM(config).save_pretrained(tmp_path / "base")
    loaded = Qwen3ForCausalLM.from_pretrained(tmp_path / "base")
    train(loaded, tmp_path / "adapter", target_modules=["q_proj"], **settings)
    with pytest.raises(InvalidModel, match="which is not merged here") as caught:
        merge(tmp_path / "base", tmp_path / "adapter", tmp_path / "merged")
    named = {"use_dora": "DoRA", "bias": "biases"}
    assert named.get(next(iter(settings)), next(iter(settings))) in str(caught.value)


def text_model(folder: Path, **more: Any) -> None:
    Qwen3_5ForCausalLM(Qwen3_5TextConfig(**QWEN3_5, **more)).bfloat16().save_pretrained(folder)


def vision_model(folder: Path, **more: Any) -> None:
    config = Qwen3_5Config(text_config={**QWEN3_5, **more}, vision_config=VISION, **more)
    Qwen3_5ForConditionalGeneration(config).bfloat16().save_pretrained(folder)


Make = Callable[..., None]


@pytest.mark.parametrize(
    ("make", "tied", "shards"),
    [
        (text_model, False, False),
        (text_model, True, True),
        (vision_model, False, True),
        (vision_model, True, False),
    ],
    ids=["text", "text, tied, shards", "vision, shards", "vision, tied"],
)
class TestQwen35:
    """Checkpoints of Qwen3.5 with a prediction layer, trained through the text-only class."""

    def make(self, make: Make, tied: bool, shards: bool, folder: Path) -> tuple[Path, Path, Any]:
        base = folder / "base"
        make(base, tie_word_embeddings=tied)
        add_mtp(base, shards=shards)
        loaded = Qwen3_5ForCausalLM.from_pretrained(base, dtype=torch.bfloat16)
        tuned = train(loaded, folder / "adapter", target_modules="all-linear")
        return base, folder / "adapter", tuned

    def test_nothing_is_lost(self, make: Make, tied: bool, shards: bool, tmp_path: Path) -> None:
        base, adapter, tuned = self.make(make, tied, shards, tmp_path)
        result = merge(base, adapter, tmp_path / "merged")
        old, new = open_checkpoint(base), open_checkpoint(tmp_path / "merged")
        assert dict(new.tensors) == dict(old.tensors), "names, types, shapes, files"
        targets, rename = place_on(open_adapter(adapter), old)
        assert (rename[1] == "model.language_model.") == (
            "model.language_model.embed_tokens.weight" in old.tensors and rename[0] == "model."
        )
        assert result.audit.counts == {
            "unchanged": len(old.tensors) - len(targets),
            "merged": len(targets),
        }
        assert {f"{name}.weight" for name in MTP} <= set(new.tensors)
        ours = loads_fully(tmp_path / "merged", Qwen3_5ForCausalLM)
        theirs = tuned.merge_and_unload().state_dict()
        for name, tensor in ours.state_dict().items():
            assert torch.equal(tensor, theirs[name]), name

    def test_what_the_loader_drops_is_found_and_put_back(
        self, make: Make, tied: bool, shards: bool, tmp_path: Path
    ) -> None:
        base, adapter, tuned = self.make(make, tied, shards, tmp_path)
        tuned.merge_and_unload().save_pretrained(tmp_path / "theirs")
        change = open_adapter(adapter)
        renames = self.renames(base, tmp_path / "theirs")
        found = audit(base, tmp_path / "theirs", change, renames=renames)
        lost = {one.tensor for one in found.findings if one.kind == "missing"}
        expected = {f"{name}.weight" for name in MTP}
        expected |= {name for name in read_tensors(base) if name.startswith("model.visual.")}
        assert lost == expected
        assert {one.kind for one in found.findings} <= {"missing", "config"}
        whole = tmp_path / "whole"
        result = restore(base, tmp_path / "theirs", whole, adapter=adapter, renames=renames)
        assert result.audit.counts["restored"] == len(expected)
        merge(base, adapter, tmp_path / "merged")
        mine, restored = read_tensors(tmp_path / "merged"), read_tensors(whole)
        assert mine.keys() == restored.keys()
        assert all(torch.equal(mine[name], restored[name]) for name in mine)
        loads_fully(whole, Qwen3_5ForCausalLM)
        if make is vision_model:
            loads_fully(whole, Qwen3_5ForConditionalGeneration)

    def renames(self, base: Path, theirs: Path) -> dict[str, str]:
        """How that class saved the names, if otherwise than the base has them."""
        nested = "model.language_model.embed_tokens.weight"
        there, here = nested in read_tensors(theirs), nested in read_tensors(base)
        if there == here:
            return {}
        return {"model.language_model.": "model."} if there else {"model.": "model.language_model."}


def test_an_adapter_on_the_visual_tower_too(tmp_path: Path) -> None:
    base = tmp_path / "base"
    vision_model(base)
    add_mtp(base, shards=True)
    loaded = Qwen3_5ForConditionalGeneration.from_pretrained(base, dtype=torch.bfloat16)
    tuned = train(loaded, tmp_path / "adapter", target_modules="all-linear")
    merge(base, tmp_path / "adapter", tmp_path / "merged")
    theirs = tuned.merge_and_unload().state_dict()
    ours = read_tensors(tmp_path / "merged")
    assert any(
        "visual" in name
        for name in place_on(open_adapter(tmp_path / "adapter"), open_checkpoint(base))[0]
    )
    for name, tensor in ours.items():
        if not name.startswith("mtp."):
            assert torch.equal(tensor, theirs[name]), name


def test_a_config_without_the_prediction_layer_is_named(tmp_path: Path) -> None:
    base = tmp_path / "base"
    vision_model(base)
    add_mtp(base, shards=False)
    shutil.copytree(base, tmp_path / "other")
    path = tmp_path / "other" / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config["text_config"]["mtp_num_hidden_layers"] = 2
    path.write_text(json.dumps(config), "utf-8")
    text = audit(base, tmp_path / "other").to_text()
    assert "tells of 2 multi-token prediction layers, the tensors are of 1" in text


class TestConfigsOfOneSide:
    """A setting that one config leaves out counts for what its class makes of that."""

    SET: ClassVar[dict[str, Any]] = {
        "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
        "rms_norm_eps": 1e-5,
    }

    def audited(self, folder: Path, change: Callable[[dict[str, Any]], object]) -> list[str]:
        config = Qwen3Config(**QWEN3, **self.SET)
        Qwen3ForCausalLM(config).save_pretrained(folder / "base")
        shutil.copytree(folder / "base", folder / "merged")
        path = folder / "merged" / "config.json"
        plain = json.loads(path.read_text("utf-8"))
        change(plain)
        path.write_text(json.dumps(plain), "utf-8")
        found = audit(folder / "base", folder / "merged").findings
        assert {one.kind for one in found} <= {"config"}
        return [one.detail for one in found]

    @pytest.mark.parametrize(
        "key", ["rope_parameters", "rms_norm_eps", "head_dim", "num_key_value_heads", "vocab_size"]
    )
    def test_a_lost_setting_is_found(self, key: str, tmp_path: Path) -> None:
        details = self.audited(tmp_path, lambda config: config.pop(key))
        assert details
        assert all(key in one for one in details), details

    @pytest.mark.parametrize(
        "more",
        [
            {"rope_scaling": {"rope_type": "linear", "factor": 8.0}},
            {"quantization_config": {"quant_method": "fp8"}},
            {"auto_map": {"AutoModelForCausalLM": "own.Model"}},
            {"_attn_implementation": "somebody/kernel"},
        ],
        ids=lambda more: next(iter(more)),
    )
    def test_one_that_was_added_is_found(self, more: dict[str, Any], tmp_path: Path) -> None:
        assert self.audited(tmp_path, lambda config: config.update(more))

    def test_a_default_that_is_left_out_or_written_out_is_none(self, tmp_path: Path) -> None:
        def change(config: dict[str, Any]) -> None:
            assert config.pop("attention_dropout") == 0.0
            config.pop("hidden_act")
            config["chunk_size_feed_forward"] = 0

        assert self.audited(tmp_path, change) == []

    def test_where_no_class_is_known_all_count(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base")
        shutil.copytree(base, tmp_path / "merged")
        set_config(tmp_path / "merged", a_setting=3)
        (finding,) = audit(base, tmp_path / "merged").findings
        assert finding.detail == "a_setting is None in the base and 3 here"


def test_smollm2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The book's own base, 135 M weights in bfloat16, tied."""
    if CACHE is None:
        monkeypatch.delenv("CHAINCHECK_CACHE")
    else:
        monkeypatch.setenv("CHAINCHECK_CACHE", CACHE)
    try:
        base = find_model("smollm2")
    except ChainCheckError as cause:
        pytest.skip(f"SmolLM2 is not in the cache: {cause}")
    names = [name for name in open_checkpoint(base).tensors if name.endswith("q_proj.weight")]
    adapter = plain_adapter(
        tmp_path / "adapter",
        base,
        modules=[name.removesuffix(".weight") for name in names],
        size=1e-3,
        base_model_name_or_path=None,
    )
    result = merge(base, adapter, tmp_path / "merged").audit
    assert result.counts["merged"] == len(names) == 30
    assert sum(result.counts.values()) == len(open_checkpoint(base).tensors)
