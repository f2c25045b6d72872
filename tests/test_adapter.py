"""Adapters: what is read, where it goes, and what is refused by name."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402
from tiny_models import plain_adapter, plain_base, set_config, write_json  # noqa: E402

from chaincheck.errors import InvalidModel  # noqa: E402
from chaincheck.training.adapter import BASE_RECORD, open_adapter, place_on  # noqa: E402
from chaincheck.training.checkpoint import open_checkpoint  # noqa: E402

WEIGHTS = "adapter_model.safetensors"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return plain_base(tmp_path / "base")


def make(tmp_path: Path, base: Path, **settings: Any) -> Path:
    return plain_adapter(tmp_path / "adapter", base, **settings)


def set_adapter(folder: Path, **values: Any) -> None:
    path = folder / "adapter_config.json"
    write_json(path, json.loads(path.read_text("utf-8")) | values)


class TestScale:
    @pytest.mark.parametrize(
        ("settings", "q", "up"),
        [
            ({}, 2.0, 2.0),
            ({"use_rslora": True}, 4 / math.sqrt(2), 4 / math.sqrt(2)),
            ({"alpha_pattern": {"up_proj": 10}}, 2.0, 5.0),
            ({"alpha_pattern": {"layers.0.up_proj": 10}}, 2.0, 5.0),
            ({"alpha_pattern": {r".*\.q_proj": 1, "q_proj": 9}}, 0.5, 2.0),
            ({"alpha_pattern": {"proj": 10}}, 2.0, 2.0),  # no part of a name counts, only an end
            ({"lora_alpha": 0.5}, 0.25, 0.25),
        ],
    )
    def test_it_is_that_of_the_module(
        self, settings: dict[str, Any], q: float, up: float, tmp_path: Path, base: Path
    ) -> None:
        adapter = open_adapter(make(tmp_path, base, **settings))
        targets, _ = place_on(adapter, open_checkpoint(base))
        assert targets["model.layers.0.q_proj.weight"].scale == pytest.approx(q)
        assert targets["model.layers.0.up_proj.weight"].scale == pytest.approx(up)

    def test_a_config_of_another_rank_is_refused(self, tmp_path: Path, base: Path) -> None:
        adapter = open_adapter(make(tmp_path, base, rank_pattern={"up_proj": 5}))
        with pytest.raises(InvalidModel, match=r"rank of .*up_proj is 2 in the weights and '5'"):
            place_on(adapter, open_checkpoint(base))

    @pytest.mark.parametrize("alpha", [None, "8", True, 10**400, 1e308, math.nan])
    def test_an_alpha_that_is_none_is_refused(
        self, alpha: object, tmp_path: Path, base: Path
    ) -> None:
        adapter = open_adapter(make(tmp_path, base, lora_alpha=alpha))
        with pytest.raises(InvalidModel, match="lora_alpha"):
            place_on(adapter, open_checkpoint(base))

    @pytest.mark.parametrize("key", ["rank_pattern", "alpha_pattern"])
    @pytest.mark.parametrize("patterns", [{"(": 2}, {"q[": 2}, ["q_proj"], "q_proj", 5])
    def test_patterns_that_are_none(
        self, key: str, patterns: object, tmp_path: Path, base: Path
    ) -> None:
        with pytest.raises(InvalidModel, match=f"{key} cannot be used"):
            open_adapter(make(tmp_path, base, **{key: patterns}))

    @pytest.mark.parametrize(
        "named", [["up_proj"], ["proj"], "model.*up_proj", ["layers.0.q_proj"]]
    )
    def test_weights_that_the_config_does_not_name(
        self, named: object, tmp_path: Path, base: Path
    ) -> None:
        """Loading the adapter leaves them out, so merging them would give another judge."""
        with pytest.raises(InvalidModel, match=r"change .*, which target_modules does not name"):
            open_adapter(make(tmp_path, base, target_modules=named))

    @pytest.mark.parametrize(
        ("settings", "why"),
        [
            ({"exclude_modules": ["up_proj"]}, "exclude_modules names"),
            ({"exclude_modules": r".*layers\.1.*"}, "exclude_modules names"),
            ({"layers_to_transform": [0]}, "layers_to_transform does not name"),
            ({"layers_to_transform": 1}, "layers_to_transform does not name"),
        ],
    )
    def test_weights_that_the_config_leaves_out(
        self, settings: dict[str, Any], why: str, tmp_path: Path, base: Path
    ) -> None:
        with pytest.raises(InvalidModel, match=why):
            open_adapter(make(tmp_path, base, **settings))

    @pytest.mark.parametrize("key", ["target_modules", "exclude_modules"])
    def test_names_that_are_no_expression(self, key: str, tmp_path: Path, base: Path) -> None:
        with pytest.raises(InvalidModel, match=f"{key} cannot be used"):
            open_adapter(make(tmp_path, base, **{key: "("}))

    @pytest.mark.parametrize("kind", ["plain", "gpt2"])
    def test_weights_the_wrong_way_around(self, kind: str, tmp_path: Path, base: Path) -> None:
        """Of a square weight the shape does not tell, and peft overrules the setting."""
        set_config(base, model_type=kind)
        modules = ["model.layers.0.q_proj", "model.layers.1.q_proj"]
        folder = make(tmp_path, base, modules=modules, fan_in_fan_out=kind == "plain")
        with pytest.raises(InvalidModel, match="the wrong way around"):
            place_on(open_adapter(folder), open_checkpoint(base))
        set_adapter(folder, fan_in_fan_out=kind == "gpt2")
        assert len(place_on(open_adapter(folder), open_checkpoint(base))[0]) == 2


class TestNames:
    """The text part of a model may be called otherwise in the class that trained it."""

    @pytest.mark.parametrize(
        ("there", "here"),
        [
            ("model.", "model.language_model."),
            ("model.", "language_model.model."),
            ("model.language_model.", "model."),
            ("model.", ""),
            ("", "model."),
        ],
    )
    def test_one_renaming_of_all_is_found(
        self, there: str, here: str, tmp_path: Path, base: Path
    ) -> None:
        adapter = make(tmp_path, base)
        for path, start in ((base / "model.safetensors", here), (adapter / WEIGHTS, there)):
            lead = "base_model.model." if path.name == WEIGHTS else ""
            tensors = {
                (
                    f"{lead}{start}{name.removeprefix(lead + 'model.')}"
                    if name.startswith(lead + "model.")
                    else name
                ): one
                for name, one in load_file(path).items()
            }
            save_file(tensors, path)
        targets, rename = place_on(open_adapter(adapter), open_checkpoint(base))
        assert f"{here}layers.0.q_proj.weight" in targets
        assert len(targets) == 4
        assert (rename[0], rename[1]) == (there, here)

    def test_two_renamings_are_refused(self, tmp_path: Path, base: Path) -> None:
        adapter = make(tmp_path, base)
        path = base / "model.safetensors"
        tensors = load_file(path)
        more = {
            name.replace("model.", "model.language_model.", 1): one.clone()
            for name, one in tensors.items()
        }
        save_file(tensors | more, path)
        with pytest.raises(InvalidModel, match="under more than one name"):
            place_on(open_adapter(adapter), open_checkpoint(base))


class TestRefused:
    @pytest.mark.parametrize(
        ("settings", "named"),
        [
            ({"peft_type": "IA3"}, "type 'IA3'"),
            ({"use_dora": True}, "DoRA"),
            ({"bias": "all"}, "trained biases"),
            ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
            ({"lora_bias": True}, "a bias in LoRA"),
            ({"target_parameters": ["w"]}, "bare parameters"),
            ({"layer_replication": [[0, 1]]}, "replicated layers"),
            ({"init_lora_weights": "pissa"}, "changes the base's own weights"),
            ({"init_lora_weights": "loftq"}, "changes the base's own weights"),
            ({"alora_invocation_tokens": [1]}, "'alora_invocation_tokens'"),
            ({"use_qalora": True}, "'use_qalora'"),
            ({"a_setting_of_the_future": {"x": 1}}, "'a_setting_of_the_future'"),
        ],
    )
    def test_a_setting(
        self, settings: dict[str, Any], named: str, tmp_path: Path, base: Path
    ) -> None:
        with pytest.raises(InvalidModel, match=named):
            open_adapter(make(tmp_path, base, **settings))

    @pytest.mark.parametrize(
        ("name", "shape", "named"),
        [
            ("model.embed_tokens.lora_embedding_A", (2, 16), "LoRA on an embedding"),
            ("model.layers.0.q_proj.lora_magnitude_vector.weight", (8,), "DoRA"),
            ("model.layers.0.q_proj.lora_B.bias", (8,), "a bias in LoRA"),
            ("lm_head.weight", (16, 8), "the whole tensor lm_head.weight"),
            ("model.conv.lora_A.weight", (2, 3, 1, 1), r"lora_A.weight of shape \[2, 3, 1, 1\]"),
            ("model.other.lora_A.weight", (2, 8), "model.other has no lora_B"),
            ("model.other.lora_B.weight", (8, 2), "model.other has no lora_A"),
        ],
    )
    def test_a_tensor(
        self, name: str, shape: tuple[int, ...], named: str, tmp_path: Path, base: Path
    ) -> None:
        extra = {f"base_model.model.{name}": torch.ones(shape)}
        with pytest.raises(InvalidModel, match=named):
            open_adapter(make(tmp_path, base, extra=extra))

    @pytest.mark.parametrize("value", [float("nan"), float("inf")])
    def test_what_is_not_finite(self, value: float, tmp_path: Path, base: Path) -> None:
        adapter = make(tmp_path, base)
        tensors = load_file(adapter / WEIGHTS)
        name = sorted(tensors)[0]
        tensors[name][0, 0] = value
        save_file(tensors, adapter / WEIGHTS)
        with pytest.raises(InvalidModel, match=f"{name} holds NaN or infinity"):
            open_adapter(adapter)

    def test_factors_that_do_not_fit(self, tmp_path: Path, base: Path) -> None:
        adapter = make(tmp_path, base)
        tensors = load_file(adapter / WEIGHTS)
        name = next(name for name in tensors if "lora_B" in name)
        save_file(tensors | {name: torch.ones(8, 3)}, adapter / WEIGHTS)
        with pytest.raises(InvalidModel, match="do not fit"):
            open_adapter(adapter)

    def test_nothing_in_it(self, tmp_path: Path, base: Path) -> None:
        with pytest.raises(InvalidModel, match="changes nothing"):
            open_adapter(make(tmp_path, base, modules=[]))

    def test_pickles_and_missing_files(self, tmp_path: Path, base: Path) -> None:
        adapter = make(tmp_path, base)
        (adapter / WEIGHTS).rename(adapter / "adapter_model.bin")
        with pytest.raises(InvalidModel, match="pickles"):
            open_adapter(adapter)
        with pytest.raises(InvalidModel):
            open_adapter(base)
        with pytest.raises(InvalidModel, match="no folder"):
            open_adapter(tmp_path / "nowhere")

    def test_a_record_of_the_base_that_is_no_text(self, tmp_path: Path, base: Path) -> None:
        adapter = make(tmp_path, base)
        write_json(adapter / BASE_RECORD, {"weights": 7})
        with pytest.raises(InvalidModel, match="'weights' is no text"):
            open_adapter(adapter)

    @pytest.mark.parametrize(
        ("module", "tied", "named"),
        [
            ("model.embed_tokens", False, "the input embedding"),
            ("model.embed_tokens", True, "the input embedding"),
            ("lm_head", True, "the tied output head"),
        ],
    )
    def test_a_target_that_two_layers_share(
        self, module: str, tied: bool, named: str, tmp_path: Path, base: Path
    ) -> None:
        set_config(base, tie_word_embeddings=tied)
        adapter = open_adapter(make(tmp_path, base, modules=[module]))
        with pytest.raises(InvalidModel, match=named):
            place_on(adapter, open_checkpoint(base))

    def test_a_head_that_is_its_own_can_be_a_target(self, tmp_path: Path, base: Path) -> None:
        adapter = open_adapter(make(tmp_path, base, modules=["lm_head"]))
        assert list(place_on(adapter, open_checkpoint(base))[0]) == ["lm_head.weight"]

    def test_a_quantized_base(self, tmp_path: Path, base: Path) -> None:
        adapter = make(tmp_path, base)
        path = base / "model.safetensors"
        tensors = load_file(path)
        tensors["model.layers.0.q_proj.weight"] = torch.zeros(8, 8, dtype=torch.int8)
        save_file(tensors, path)
        with pytest.raises(InvalidModel, match="quantized"):
            place_on(open_adapter(adapter), open_checkpoint(base))
