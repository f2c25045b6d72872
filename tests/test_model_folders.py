"""What a model's folder must hold, and what is refused before anything is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_language_models import safetensors

from chaincheck.errors import InvalidModel
from chaincheck.model_folders import check_adapter_folder, check_model_folder, code_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(safetensors())
    return tmp_path


def refused(folder: Path, problem: str, **how: object) -> None:
    with pytest.raises(InvalidModel) as caught:
        check_model_folder(folder, **how)
    assert problem in str(caught.value), str(caught.value)


def test_a_whole_folder_passes_and_gives_its_configuration(folder: Path) -> None:
    assert check_model_folder(folder) == {"model_type": "llama"}


def test_a_pickle_beside_safetensors_is_not_read_and_does_not_matter(folder: Path) -> None:
    (folder / "pytorch_model.bin").touch()
    check_model_folder(folder)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
def test_pickles_alone_are_refused_with_the_remedy(folder: Path, name: str) -> None:
    (folder / "model.safetensors").rename(folder / name)
    refused(folder, "run code when they are loaded; they are refused. Convert them")


def test_missing_parts_are_named(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()
    refused(folder, "holds no tokenizer")
    check_model_folder(folder, tokenizer=False)
    (folder / "model.safetensors").unlink()
    refused(folder, "has no weights")
    (folder / "m.gguf").touch()
    refused(folder, "has no weights but m.gguf. Convert it")
    (folder / "config.json").unlink()
    refused(folder, "holds no config.json, so it is no model's folder")
    (folder / "adapter_config.json").touch()
    refused(folder, "but an adapter's")
    refused(folder / "none", "is no folder")


@pytest.mark.parametrize("config", ["{", "[]", "\xff"])
def test_a_broken_configuration_is_named(folder: Path, config: str) -> None:
    (folder / "config.json").write_text(config, "latin-1")
    refused(folder, "config.json: ")


@pytest.mark.parametrize("kept", [0, 5, 30, len(safetensors()) - 1])
def test_weights_that_are_cut_short_are_named(folder: Path, kept: int) -> None:
    (folder / "model.safetensors").write_bytes(safetensors()[:kept])
    refused(folder, "is no whole safetensors file")


def test_a_pointer_of_git_lfs_is_no_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid x")
    refused(folder, "git lfs pull")


def test_every_shard_must_be_there(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text('{"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}')
    refused(folder, "the shard model-2.safetensors is missing")
    index.write_text('{"weight_map": {"a": "../model-1.safetensors"}}')
    refused(folder, "is missing")
    index.write_text("{}")
    refused(folder, "names no shards")


class TestCode:
    def test_it_is_refused_unless_named(self, folder: Path) -> None:
        (folder / "config.json").write_text(
            '{"auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "model_own.Own"}}'
        )
        refused(folder, "run Python code of its own: Config of own.py; that is refused. Read own")
        refused(folder, "model_own.py", code=["own.py"])
        check_model_folder(folder, code=["own.py", "model_own.py"])
        assert code_of(folder) == {"own.py": "Config", "model_own.py": "Own"}

    def test_a_tokenizers_code_counts_too(self, folder: Path) -> None:
        (folder / "tokenizer_config.json").write_text(
            '{"auto_map": {"AutoTokenizer": ["tok.Slow", null]}}'
        )
        refused(folder, "Slow of tok.py")

    def test_code_of_another_repository_is_always_refused(self, folder: Path) -> None:
        (folder / "config.json").write_text('{"auto_map": {"AutoModel": "them/repo--own.Model"}}')
        refused(folder, "from another repository", code=["them/repo--own.py"])


def test_adapters_are_held_to_the_same(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text('{"r": 8}')
    (tmp_path / "adapter_model.bin").touch()
    with pytest.raises(InvalidModel, match="the adapter's weights are pickles"):
        check_adapter_folder(tmp_path)
    (tmp_path / "adapter_model.safetensors").write_bytes(safetensors())
    assert check_adapter_folder(tmp_path) == {"r": 8}
    with pytest.raises(InvalidModel, match="is no folder"):
        check_adapter_folder(tmp_path / "none")


def test_an_adapter_beside_a_model_would_be_put_on_it_unasked(folder: Path) -> None:
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    refused(folder, "holds an adapter (adapter_config.json) beside the model")


@pytest.mark.parametrize(
    "config",
    [
        '{"attn_implementation": "owner/kernel"}',
        '{"text_config": {"_attn_implementation": "owner/kernel"}}',
    ],
)
def test_a_kernel_of_a_hub_is_code_too(folder: Path, config: str) -> None:
    (folder / "config.json").write_text(config)
    refused(folder, "code from a hub, the attention kernel 'owner/kernel'; that is refused")
    (folder / "config.json").write_text('{"_attn_implementation": "sdpa"}')
    check_model_folder(folder)
