"""Random-weight models of real sizes, and triplets of real lengths, for ``gpu_4b``.

Nothing is downloaded. The words that a prompt is made of are those of a tiny tokenizer, so that a
prompt has as many tokens as it is to have; the embedding and the head have all their real rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import tiny_language_models as tiny

from chaincheck.items import Item, Triplet, group_triplets
from chaincheck.judges.prompts import load_prompt
from chaincheck.judges.rendering import Renderer

__all__ = ["PROMPT", "SHAPES", "build", "parameters", "tokenizer", "triplets"]

PROMPT = "sufficiency"

# The public shape of Qwen3-4B, as its config.json states it. Read on huggingface.co in
# MultiRL/qwen3_4b_instruct_sft and jaman21/Qwen3-4B-Instruct, copies that agree in all of this.
_QWEN3_4B = {
    "vocab_size": 151_936,
    "hidden_size": 2560,
    "intermediate_size": 9728,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 40_960,
    "tie_word_embeddings": True,
}
# The public shape of the language model in Qwen3.5-4B, without visual tower and prediction layer.
# Read on huggingface.co in halen214/st01 (a checkpoint of Qwen3_5ForCausalLM of this size) and
# coderofpears/ClankerCode-Checkpoint1, which agree; rows and heads of attention (16, 4 of keys and
# values) as the card of kshitijthakkar/qwen3.5-moe-4.7B-d4B gives them for Qwen/Qwen3.5-4B.
# Neither excerpt shows whether the embedding is tied; tied is assumed, as in the small ones.
_QWEN3_5_4B = {
    "vocab_size": 248_320,
    "hidden_size": 2560,
    "intermediate_size": 9216,
    "num_hidden_layers": 32,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "max_position_embeddings": 262_144,
    "tie_word_embeddings": True,
}
_TINY = {
    **{"hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4},
    **{"num_key_value_heads": 2, "head_dim": 16},
}
SHAPES: dict[tuple[str, str], dict[str, Any]] = {
    ("qwen3", "4b"): _QWEN3_4B,
    ("qwen3_5", "4b"): _QWEN3_5_4B,
    ("qwen3", "tiny"): {**_QWEN3_4B, **_TINY, "num_hidden_layers": 2},
    ("qwen3_5", "tiny"): {
        **_QWEN3_5_4B,
        **_TINY,
        "num_hidden_layers": 4,
        **{"linear_num_key_heads": 2, "linear_num_value_heads": 4},
        **{"linear_key_head_dim": 16, "linear_value_head_dim": 16},
    },
}
"""What differs from the library's defaults, by kind and size."""


def _config(kind: str, size: str) -> Any:
    import transformers

    made = {"qwen3": transformers.Qwen3Config, "qwen3_5": transformers.Qwen3_5TextConfig}[kind]
    unset = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"))
    return made(**SHAPES[kind, size], **unset)


def build(kind: str, size: str, device: str, dtype: str = "bfloat16") -> Any:
    """Make a model with random weights, where it is to be."""
    import torch
    import transformers

    torch.manual_seed(0)
    with torch.device(device):
        made = transformers.AutoModelForCausalLM.from_config(
            _config(kind, size), dtype=getattr(torch, dtype), attn_implementation="sdpa"
        )
    return made.to(device).eval()


def parameters(kind: str, size: str) -> int:
    """How many weights the model has, tied ones once; nothing is allocated."""
    meta = build(kind, size, "meta")
    return sum({id(one): one.numel() for one in meta.parameters()}.values())


def tokenizer() -> Any:
    """The tiny tokenizer."""
    return tiny.tokenizer()


def triplets(count: int, low: int, high: int, words: Any) -> list[Triplet]:
    """Triplets whose prompts have from ``low`` to ``high`` tokens, evenly spread in any run.

    Ten passages each; the edit of B is in two of them and that of D in one, as in real triplets.
    The three prompts of a triplet have one length.

    Raises:
        ValueError: ``low`` is less than the words around the passages take.
    """
    render = Renderer(words, load_prompt(PROMPT))
    known = [
        word
        for word in tiny.WORDS
        if len(words(f" {word}", add_special_tokens=False)["input_ids"]) == 1
    ]
    shortest = max(len(render(item).ids) for item in _cells(0, 0, known))
    if low < shortest:
        raise ValueError(f"a prompt has at least {shortest} tokens")
    items: list[Item] = []
    for number in range(count):
        # Multiples of the golden ratio fill an interval evenly, however many there are.
        wanted = round(low + (high - low) * (number * 0.6180339887498949 % 1))
        filling = wanted - len(render(next(_cells(number, 0, known))).ids)
        items += _cells(number, filling, known)
    return list(group_triplets(items))


def _cells(number: int, filling: int, known: Sequence[str]) -> Iterator[Item]:
    """The cells A, B and D of a triplet with so many words in its passages."""
    start = number * 7
    text = [known[(start + place * (number % 5 + 1)) % len(known)] for place in range(filling)]
    parts = [text[place * filling // 10 : (place + 1) * filling // 10] for place in range(10)]
    for cell, edited in (("A", ()), ("B", (2, 7)), ("D", (7,))):
        passages = tuple(
            " ".join(["Anna" if place in edited else "Clara", "Keller", *part])
            for place, part in enumerate(parts)
        )
        yield Item(
            item_id=f"{number}{cell}",
            pair_id=f"p{number}",
            variant="real",
            cell=cell,
            query="where was the director of Velvet Harbor born",
            passages=passages,
        )
