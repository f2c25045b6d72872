"""Small checkpoints and adapters for the tests of merging; those of real classes need peft."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

from chaincheck.training.checkpoint import INDEX, SINGLE

MTP = (
    *("mtp.fc", "mtp.norm", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden"),
    *(
        f"mtp.layers.0.{part}"
        for part in (
            *("input_layernorm", "post_attention_layernorm", "mlp.down_proj", "mlp.gate_proj"),
            *("mlp.up_proj", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
            *("self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm"),
        )
    ),
)
"""The prediction layer's 15 tensors, as Qwen3.5 checkpoints call them (without ``.weight``)."""

QWEN3 = {
    **{"vocab_size": 64, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8},
    "max_position_embeddings": 128,
}
QWEN3_5 = {
    **QWEN3,
    "num_hidden_layers": 4,
    **{"linear_key_head_dim": 8, "linear_value_head_dim": 8},
    **{"linear_num_key_heads": 2, "linear_num_value_heads": 4},
}
VISION = {
    **{"depth": 2, "hidden_size": 16, "intermediate_size": 32, "num_heads": 2},
    **{"out_hidden_size": 32, "patch_size": 4, "num_position_embeddings": 16},
}


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), "utf-8")


def write_sharded(
    folder: Path, shards: Sequence[Mapping[str, torch.Tensor]], **metadata: Any
) -> None:
    """Write shards and their index."""
    weight_map = {}
    size = 0
    for number, tensors in enumerate(shards, 1):
        name = f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        save_file(dict(tensors), folder / name, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(tensors, name)
        size += sum(one.numel() * one.element_size() for one in tensors.values())
    write_json(
        folder / INDEX, {"metadata": {"total_size": size, **metadata}, "weight_map": weight_map}
    )


def plain_base(
    folder: Path,
    *,
    dtype: torch.dtype = torch.bfloat16,
    layers: int = 2,
    shards: int = 1,
    tied: bool = False,
    mtp: bool = True,
    width: int = 8,
) -> Path:
    """A model of no class: an embedding, layers with two weights, a norm, a head, an MTP layer."""
    draw = torch.Generator().manual_seed(1)
    tensors = {"model.embed_tokens.weight": torch.randn(16, width, generator=draw)}
    for number in range(layers):
        tensors[f"model.layers.{number}.q_proj.weight"] = torch.randn(width, width, generator=draw)
        tensors[f"model.layers.{number}.up_proj.weight"] = torch.randn(
            2 * width, width, generator=draw
        )
        tensors[f"model.layers.{number}.norm.weight"] = torch.randn(width, generator=draw)
    if not tied:
        tensors["lm_head.weight"] = torch.randn(16, width, generator=draw)
    if mtp:
        tensors |= {f"{name}.weight": torch.randn(width, width, generator=draw) for name in MTP}
    tensors = {name: one.to(dtype) for name, one in tensors.items()}
    folder.mkdir()
    if shards == 1:
        save_file(tensors, folder / SINGLE, metadata={"format": "pt"})
    else:
        names = list(tensors)
        write_sharded(
            folder, [{name: tensors[name] for name in names[k::shards]} for k in range(shards)]
        )
    config = {
        "architectures": ["PlainForCausalLM"],
        "model_type": "plain",
        "tie_word_embeddings": tied,
        "vocab_size": 16,
    }
    write_json(folder / "config.json", config | ({"mtp_num_hidden_layers": 1} if mtp else {}))
    (folder / "tokenizer.json").write_text("{}", "utf-8")
    (folder / "chat_template.jinja").write_text("{{ messages }}", "utf-8")
    (folder / "LICENSE").write_text("A license.", "utf-8")
    (folder / "README.md").write_text("# The base\n", "utf-8")
    return folder


def plain_adapter(
    folder: Path,
    base: Path,
    *,
    modules: Sequence[str] | None = None,
    rank: int = 2,
    size: float = 0.1,
    extra: Mapping[str, torch.Tensor] | None = None,
    **settings: Any,
) -> Path:
    """A LoRA adapter as peft writes it, for all q_proj and up_proj of ``plain_base``."""
    draw = torch.Generator().manual_seed(2)
    weights = read_tensors(base)
    if modules is None:
        modules = [
            name.removesuffix(".weight")
            for name in weights
            if name.startswith("model.layers") and name.endswith("proj.weight")
        ]
    tensors = {}
    for module in modules:
        rows, columns = weights[f"{module}.weight"].shape
        start = f"base_model.model.{module}"
        tensors[f"{start}.lora_A.weight"] = torch.randn(rank, columns, generator=draw)
        tensors[f"{start}.lora_B.weight"] = size * torch.randn(rows, rank, generator=draw)
    folder.mkdir()
    save_file(tensors | dict(extra or {}), folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "r": rank,
        "lora_alpha": 2 * rank,
        "target_modules": sorted({module.rpartition(".")[2] for module in modules}),
        "base_model_name_or_path": f"somewhere/{base.name}",
    }
    write_json(folder / "adapter_config.json", config | settings)
    return folder


def read_tensors(folder: Path) -> dict[str, torch.Tensor]:
    """Every tensor that stands in a folder's files."""
    found: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        found |= load_file(path)
    return found


def rewrite(folder: Path, change: Mapping[str, torch.Tensor | None]) -> None:
    """Change or remove tensors of a folder, or add them to its last file; mend the index."""
    files = sorted(folder.glob("*.safetensors"))
    left = dict(change)
    weight_map = {}
    for path in files:
        tensors = load_file(path)
        for name in [name for name in tensors if name in left]:
            new = left.pop(name)
            if new is None:
                del tensors[name]
            else:
                tensors[name] = new
        if path == files[-1]:
            tensors |= {name: one for name, one in left.items() if one is not None}
        if not tensors:
            path.unlink()
            continue
        save_file(tensors, path, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(tensors, path.name)
    if (folder / INDEX).is_file():
        write_json(folder / INDEX, {"metadata": {}, "weight_map": weight_map})


def set_config(folder: Path, **values: Any) -> None:
    path = folder / "config.json"
    write_json(path, json.loads(path.read_text("utf-8")) | values)


def add_mtp(folder: Path, *, shards: bool, hidden: int = 32) -> None:
    """Give a Qwen3.5 checkpoint the prediction layer that its class would drop."""
    draw = torch.Generator().manual_seed(3)
    extra = {
        f"{name}.weight": torch.randn(hidden, hidden, generator=draw).bfloat16() for name in MTP
    }
    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config.get("text_config", config)["mtp_num_hidden_layers"] = 1
    write_json(path, config)
    tensors = read_tensors(folder)
    if shards:
        (folder / SINGLE).unlink()
        write_sharded(folder, [tensors, extra])
    else:
        save_file(tensors | extra, folder / SINGLE, metadata={"format": "pt"})
