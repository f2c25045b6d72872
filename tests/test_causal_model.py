"""Loading: what is refused, and what tells one model from another."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import tiny_language_models as tiny

from chaincheck.errors import InvalidModel, UsageError
from chaincheck.judges.causal import CausalSettings
from chaincheck.judges.causal_model import LoadedModel, load_causal_model, versions
from chaincheck.model_folders import BASE_RECORD

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
transformers = pytest.importorskip("transformers", reason="the extra 'judges' is not installed")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "tiny"))


def load(folder: Path, **changes: Any) -> LoadedModel:
    return load_causal_model(CausalSettings(model=str(folder), device="cpu", **changes))


class TestLoading:
    def test_a_folder_gives_its_model_and_says_which_it_is(self, folder: Path) -> None:
        found = load(folder)
        assert found.name == "tiny" and found.context == 4096
        assert found.model.dtype is torch.float32 and not found.model.training
        assert found.identity["architecture"] == "LlamaForCausalLM"
        assert found.identity["adapter"] is None
        assert load(folder, dtype="bfloat16").model.dtype is torch.bfloat16
        assert load(folder, name="mine").name == "mine"

    def test_a_relative_path_is_relative_to_the_judges_file(self, folder: Path) -> None:
        settings = CausalSettings(model="tiny", device="cpu")
        assert load_causal_model(settings, folder.parent).name == "tiny"

    def test_identity_follows_weights_and_configuration(self, folder: Path) -> None:
        first = load(folder).identity
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(
            json.dumps({**config, "transformers_version": "0", "rms_norm_eps": 1e-3})
        )
        second = load(folder).identity
        assert first["config"] != second["config"]
        assert first["weights"] == second["weights"]
        (folder / "config.json").write_text(json.dumps({**config, "transformers_version": "0"}))
        assert load(folder).identity == first
        tiny.model("llama", config["vocab_size"], seed=1).save_pretrained(folder)
        assert load(folder).identity["weights"] != first["weights"]

    def test_a_commit_of_the_hub_is_the_revision(self, folder: Path) -> None:
        snapshot = folder.parent / "snapshots" / "abc123"
        shutil.copytree(folder, snapshot)
        assert load(snapshot).identity["revision"] == "abc123"
        assert load(folder).identity["revision"] is None

    def test_versions_are_those_that_are_installed(self) -> None:
        assert versions()["torch"] == torch.__version__


class TestRefusals:
    def test_weights_that_are_lacking_would_be_drawn_at_random(self, folder: Path) -> None:
        from safetensors.torch import load_file, save_file

        weights = load_file(folder / "model.safetensors")
        del weights["lm_head.weight"]
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(InvalidModel, match=r"1 weights .*lm_head\.weight.* at random"):
            load(folder)

    def test_another_kind_of_model(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, "model_type": "t5"}))
        with pytest.raises(InvalidModel, match="cannot be loaded as a causal language model"):
            load(folder)

    def test_a_broken_tokenizer(self, folder: Path) -> None:
        (folder / "tokenizer.json").write_text("{}")
        with pytest.raises(InvalidModel, match="its tokenizer cannot be loaded"):
            load(folder)

    def test_pickles_and_foreign_code(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(
            json.dumps({**config, "auto_map": {"AutoModelForCausalLM": "own.Own"}})
        )
        with pytest.raises(InvalidModel, match=r"allow it by name: code = \[\"own.py\"\]"):
            load(folder)
        (folder / "config.json").write_text(json.dumps(config))
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        with pytest.raises(InvalidModel, match="pickles"):
            load(folder)

    @pytest.mark.parametrize("device", ["nonsense", "cuda:99"])
    def test_a_device_that_is_not_there(self, folder: Path, device: str) -> None:
        settings = CausalSettings(model=str(folder), device=device)
        with pytest.raises(UsageError, match=r'cannot be used.*Set device = "cpu"'):
            load_causal_model(settings)

    @pytest.mark.parametrize("kernel", ["flash_attention_2", "nonsense"])
    def test_a_kernel_that_is_not_there(self, folder: Path, kernel: str) -> None:
        with pytest.raises((UsageError, InvalidModel), match=kernel):
            load(folder, attention=kernel)


class TestAdapters:
    @pytest.fixture
    def adapter(self, folder: Path, tmp_path: Path) -> Path:
        peft = pytest.importorskip("peft", reason="the extra 'training' is not installed")
        base = transformers.AutoModelForCausalLM.from_pretrained(folder)
        config = peft.LoraConfig(r=4, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM")
        model = peft.get_peft_model(base, config)
        torch.manual_seed(0)
        for name, weight in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight)
        model.save_pretrained(tmp_path / "adapter")
        return tmp_path / "adapter"

    def test_one_changes_the_scores_as_its_maker_meant(self, folder: Path, adapter: Path) -> None:
        import peft

        ids = torch.arange(3, 40)[None]
        bare, adapted = load(folder), load(folder, adapter=str(adapter))
        maker = peft.PeftModel.from_pretrained(
            transformers.AutoModelForCausalLM.from_pretrained(folder), adapter
        ).eval()
        with torch.no_grad():
            expected = maker(ids).logits
            assert torch.allclose(adapted.model(ids).logits, expected, atol=1e-6)
            assert not torch.allclose(bare.model(ids).logits, expected, atol=1e-2)
        assert adapted.identity["weights"] == bare.identity["weights"]
        assert set(adapted.identity["adapter"]) == {"weights", "config"}
        # A table of both must tell them apart; a run's folder holds its adapter as "adapter".
        assert bare.name == "tiny"
        assert adapted.name.startswith("tiny+")
        run = shutil.copytree(adapter, folder.parent / "run_7" / "adapter")
        assert load(folder, adapter=str(run)).name == "tiny+run_7"
        kept = shutil.copytree(adapter, folder.parent / "mine")
        assert load(folder, adapter=str(kept)).name == "tiny+mine"
        assert load(folder, adapter=str(kept), name="judge").name == "judge"
        assert type(adapted.model) is type(bare.model)

    def test_the_librarys_advice_is_not_for_who_scores(
        self, folder: Path, adapter: Path, recwarn: pytest.WarningsRecorder
    ) -> None:
        load(folder, adapter=str(adapter))
        assert not [str(one.message) for one in recwarn]

    def test_one_of_another_model_is_refused(self, adapter: Path, tmp_path: Path) -> None:
        other = tiny.save(tmp_path / "other", hidden_size=32)
        with pytest.raises(InvalidModel, match="the adapter does not fit the model"):
            load(other, adapter=str(adapter))
        other = tiny.save(tmp_path / "deeper", num_hidden_layers=3)
        with pytest.raises(InvalidModel, match="of the model's adapter weights are lacking"):
            load(other, adapter=str(adapter))

    def test_one_of_another_model_of_the_same_shape_is_refused_by_its_record(
        self, folder: Path, adapter: Path, tmp_path: Path
    ) -> None:
        other = tiny.save(tmp_path / "other", seed=1)
        record = json.dumps({"weights": load(folder).identity["weights"]})
        (adapter / BASE_RECORD).write_text(record)
        assert load(folder, adapter=str(adapter)).identity["adapter"]
        with pytest.raises(InvalidModel, match=r"is not for the model .*other: it was trained on"):
            load(other, adapter=str(adapter))

    def test_a_pickle_is_refused(self, folder: Path, adapter: Path) -> None:
        (adapter / "adapter_model.safetensors").rename(adapter / "adapter_model.bin")
        with pytest.raises(InvalidModel, match="pickles"):
            load(folder, adapter=str(adapter))
