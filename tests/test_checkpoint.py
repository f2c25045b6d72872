"""Checkpoints: what a loader would see, faults named, damaged and pickled models refused."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from safetensors.torch import save_file  # noqa: E402
from tiny_models import plain_base, read_tensors, set_config, write_json  # noqa: E402

from chaincheck.errors import InvalidModel  # noqa: E402
from chaincheck.training.checkpoint import (  # noqa: E402
    INDEX,
    SINGLE,
    as_bytes,
    count_prediction_layers,
    open_checkpoint,
)


def test_types_shapes_and_places(tmp_path: Path) -> None:
    base = plain_base(tmp_path / "base", shards=2)
    found = open_checkpoint(base)
    tensors = read_tensors(base)
    assert found.tensors.keys() == tensors.keys()
    for name, info in found.tensors.items():
        assert info.shape == tuple(tensors[name].shape)
        assert info.dtype == "BF16"
        assert torch.equal(found.tensor(name), tensors[name])
    assert found.embedding == "model.embed_tokens.weight"
    assert found.head == "lm_head.weight"
    assert found.prediction_layers == 1
    assert count_prediction_layers(found.tensors) == 1
    assert found.faults == ()


@pytest.mark.parametrize(
    ("config", "head", "tied"),
    [
        ({"tie_word_embeddings": True}, True, True),
        ({"tie_word_embeddings": False}, True, False),
        ({"tie_word_embeddings": None}, True, False),
        ({"tie_word_embeddings": None}, False, True),
        ({"tie_word_embeddings": None, "text_config": {"tie_word_embeddings": True}}, True, True),
    ],
)
def test_who_is_tied(config: dict[str, object], head: bool, tied: bool, tmp_path: Path) -> None:
    base = plain_base(tmp_path / "base", tied=not head)
    set_config(base, **config)
    assert open_checkpoint(base).tied is tied


def test_bytes_of_every_type_can_be_seen() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.float8_e4m3fn):
        for shape in ((), (0,), (2, 3)):
            tensor = torch.ones(shape).to(dtype)
            assert as_bytes(tensor).numel() == tensor.numel() * tensor.element_size()


class TestRefused:
    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidModel, match="no such folder"):
            open_checkpoint(tmp_path / "nothing")

    def test_pickles(self, tmp_path: Path) -> None:
        write_json(tmp_path / "config.json", {})
        (tmp_path / "pytorch_model.bin").write_bytes(b"x")
        with pytest.raises(InvalidModel, match="pickled weights"):
            open_checkpoint(tmp_path)

    def test_no_weights(self, tmp_path: Path) -> None:
        write_json(tmp_path / "config.json", {})
        with pytest.raises(InvalidModel, match="holds no weights"):
            open_checkpoint(tmp_path)

    def test_shards_without_their_index(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        (base / INDEX).unlink()
        with pytest.raises(InvalidModel, match=f"neither {SINGLE} nor {INDEX}"):
            open_checkpoint(base)

    @pytest.mark.parametrize("cut", [0, 4, 100, -1])
    def test_a_file_that_is_cut_short(self, cut: int, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base")
        path = base / SINGLE
        path.write_bytes(path.read_bytes()[:cut])
        with pytest.raises(InvalidModel, match="no whole safetensors file"):
            open_checkpoint(base)

    def test_a_shard_that_is_not_there(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=3)
        sorted(base.glob("*.safetensors"))[1].unlink()
        with pytest.raises(InvalidModel, match="no such file"):
            open_checkpoint(base)

    @pytest.mark.parametrize("name", ["../model.safetensors", "/etc/passwd", "model.bin", ""])
    def test_an_index_that_leads_elsewhere(self, name: str, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        write_json(base / INDEX, {"weight_map": {"w": name}})
        with pytest.raises(InvalidModel, match="no safetensors file of this folder"):
            open_checkpoint(base)

    @pytest.mark.parametrize("content", [{}, {"weight_map": {}}, {"weight_map": [1]}])
    def test_an_index_without_a_map(self, content: object, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        write_json(base / INDEX, content)
        with pytest.raises(InvalidModel, match="has no weight_map"):
            open_checkpoint(base)


class TestOddSettings:
    @pytest.mark.parametrize("said", ["two", [1], math.inf, math.nan, -1, True, 1.5])
    def test_a_number_of_prediction_layers_that_is_none(self, said: object, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base")
        set_config(base, mtp_num_hidden_layers=said)
        with pytest.raises(InvalidModel, match="no number of layers"):
            open_checkpoint(base)

    def test_an_adapter_beside_the_model(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base")
        write_json(base / "adapter_config.json", {})
        with pytest.raises(InvalidModel, match="a loader would put that adapter on it"):
            open_checkpoint(base)

    @pytest.mark.parametrize("content", ["[" * 99_999, '{"a": "\\ud800"}', '{"a": "\\uDfff"}'])
    @pytest.mark.parametrize("name", ["config.json", INDEX])
    def test_json_that_cannot_be_used(self, content: str, name: str, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        (base / name).write_text(content, "utf-8")
        with pytest.raises(InvalidModel, match="is not JSON"):
            open_checkpoint(base)

    @pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
    def test_weights_that_are_no_file(self, make: Any, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base")
        (base / SINGLE).unlink()
        make(base / SINGLE)
        with pytest.raises(InvalidModel, match="is no file"):
            open_checkpoint(base)


class TestFaults:
    def test_a_file_that_hides_the_shards(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        save_file({"w": torch.ones(1)}, base / SINGLE)
        with pytest.raises(InvalidModel, match=f"{SINGLE} hides the files"):
            open_checkpoint(base)
        found = open_checkpoint(base, sound=False)
        assert list(found.tensors) == ["w"], "what a loader would take"

    def test_a_tensor_in_two_files(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        first, second = sorted(base.glob("*.safetensors"))
        from safetensors.torch import load_file

        tensors = load_file(second) | {"lm_head.weight": torch.ones(1)}
        tensors |= {"model.embed_tokens.weight": torch.ones(1)}
        save_file(tensors, second)
        faults = open_checkpoint(base, sound=False).faults
        assert any(f"stands in {first.name} and in {second.name}" in one for one in faults)

    def test_a_file_beside_the_index(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        save_file({"w": torch.ones(1)}, base / "more.safetensors")
        assert open_checkpoint(base, sound=False).faults == (
            "more.safetensors is in the folder but not in the index",
        )

    def test_a_tensor_in_another_file_than_the_index_says(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        import json

        index = json.loads((base / INDEX).read_text("utf-8"))
        first, second = sorted(set(index["weight_map"].values()))
        name = next(name for name, file in index["weight_map"].items() if file == first)
        index["weight_map"][name] = second
        write_json(base / INDEX, index)
        (fault,) = open_checkpoint(base, sound=False).faults
        assert fault == f"the index puts {name} into {second}; it is in {first}"
