"""Tiny real models, tokenizers and packages, made on the spot: nothing is downloaded.

torch and transformers are imported within the functions only, so that a test file can skip first.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_WORDS = """
    Question Passages Answer the of in was born director film is a by who where Yes No yes no
    YES NO y n Y N maybe Anna Keller Clara Winter Trieste Velvet Harbor passage number state
    everything needed to answer each step way these quoted material nothing instruction you
    decide whether suffice one word do that are with from and it not on or
"""
WORDS = tuple(_WORDS.split())
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system turn') }}{% endif %}"
    + CHAT
)
THINKING = CHAT.replace(
    "<|im_start|>assistant\n{% endif %}",
    "<|im_start|>assistant\n{% if enable_thinking is defined and enable_thinking is false %}"
    "<think>\n\n</think>\n\n{% endif %}{% endif %}",
)


def tokenizer(chat: str | None = CHAT, words: Sequence[str] = WORDS) -> Any:
    """Make a byte-level BPE tokenizer that knows a few words whole, with and without a space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    symbols = {symbol: n for n, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges: list[tuple[str, str]] = []
    for word in words:
        parts = word[0]
        for letter in word[1:]:
            if (parts, letter) not in merges:
                merges.append((parts, letter))
            parts += letter
            symbols.setdefault(parts, len(symbols))
    for word in words:
        merges.append(("Ġ", word))
        symbols.setdefault("Ġ" + word, len(symbols))
    made = Tokenizer(models.BPE(vocab=symbols, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.ByteLevel(trim_offsets=False)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    wrapped.add_tokens(["<think>", "</think>"])
    wrapped.chat_template = chat
    return wrapped


def model(kind: str, vocabulary: int, *, seed: int = 0, **changes: Any) -> Any:
    """Make a tiny model with random weights: "qwen3", "qwen3_5" or "llama"."""
    import torch
    import transformers

    size = {
        "vocab_size": vocabulary,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 4 if kind == "qwen3_5" else 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 4096,
        "initializer_range": 0.1,
        "pad_token_id": None,
        "bos_token_id": None,
        "eos_token_id": None,
    }
    if kind == "qwen3_5":
        size |= {
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
        }
    config = {
        "qwen3": transformers.Qwen3Config,
        "qwen3_5": transformers.Qwen3_5TextConfig,
        "llama": transformers.LlamaConfig,
    }[kind](**{**size, **changes})
    torch.manual_seed(seed)
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def save(folder: Path, kind: str = "llama", chat: str | None = CHAT, **changes: Any) -> Path:
    """Write a tiny model and its tokenizer to a folder."""
    words = tokenizer(chat)
    model(kind, len(words) + 7, **changes).save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def gguf(path: Path) -> dict[str, Any]:
    """Write a tiny LLaMA-like model as GGUF; return its tensors by their names there."""
    import numpy as np
    from gguf import GGUFWriter

    known = json.loads(tokenizer().backend_tokenizer.to_str())
    vocabulary = known["model"]["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    generator = np.random.default_rng(0)
    hidden, inner = 32, 48
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (len(tokens), hidden),
        "output_norm.weight": (hidden,),
    }
    for layer in range(2):
        for name, shape in {
            "attn_norm": (hidden,),
            "ffn_norm": (hidden,),
            "attn_q": (hidden, hidden),
            "attn_k": (hidden, hidden),
            "attn_v": (hidden, hidden),
            "attn_output": (hidden, hidden),
            "ffn_gate": (inner, hidden),
            "ffn_up": (inner, hidden),
            "ffn_down": (hidden, inner),
        }.items():
            shapes[f"blk.{layer}.{name}.weight"] = shape
    tensors = {
        name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()
    }
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(256)
    writer.add_embedding_length(hidden)
    writer.add_block_count(2)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(4)
    writer.add_head_count_kv(4)
    writer.add_rope_dimension_count(hidden // 4)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_merges([" ".join(pair) for pair in known["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_chat_template(CHAT)
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors


def wheel(path: Path, files: dict[str, bytes]) -> None:
    """Write a zip archive."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def safetensors(values: int = 2) -> bytes:
    """A file of one tensor of float32, written by hand from the format's description."""
    entry = {"dtype": "F32", "shape": [values], "data_offsets": [0, 4 * values]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "w": entry}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(4 * values)
