"""Tiny checkpoints with the tensor names of published ones, made on the spot from a config.

The weights are drawn at random, so such a model knows nothing. What a merge, an audit or a gate
does with it is what they do with a large one: the layout of the files, the names, types and ties
of the tensors are the same. It reads byte by byte, which needs no vocabulary that was learned.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from chaincheck.errors import MissingExtra, PathLike

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["KINDS", "MTP", "Kind", "merge_by_class", "save_tiny"]

Kind = Literal["qwen3", "qwen3_5"]
KINDS: Mapping[str, str] = {
    "qwen3": "a text model whose output head is tied to its embedding",
    "qwen3_5": "a vision-language model with a layer that predicts several tokens, in two files",
}
"""What can be made."""

MTP = tuple(
    f"mtp.{part}.weight"
    for part in (
        *("fc", "norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden"),
        *(
            f"layers.0.{part}"
            for part in (
                *("input_layernorm", "post_attention_layernorm"),
                *("mlp.down_proj", "mlp.gate_proj", "mlp.up_proj"),
                *("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
                *("self_attn.o_proj", "self_attn.q_norm", "self_attn.k_norm"),
            )
        ),
    )
)
"""The 15 tensors of one multi-token prediction layer, as checkpoints of Qwen3.5 call them."""

_WIDTH = 32
_TEXT: dict[str, Any] = {
    **{"hidden_size": _WIDTH, "intermediate_size": 48, "num_hidden_layers": 2, "head_dim": 8},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 8192},
    **{"pad_token_id": None, "bos_token_id": None, "eos_token_id": None},
    "initializer_range": 0.1,
}
_LINEAR: dict[str, Any] = {
    "num_hidden_layers": 4,  # three of linear attention to one of full
    **{"linear_key_head_dim": 8, "linear_value_head_dim": 8},
    **{"linear_num_key_heads": 2, "linear_num_value_heads": 4},
}
_VISION: dict[str, Any] = {
    **{"depth": 2, "hidden_size": 16, "intermediate_size": 32, "num_heads": 2},
    **{"out_hidden_size": _WIDTH, "patch_size": 4, "num_position_embeddings": 16},
}
_TURNS = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def save_tiny(folder: PathLike, kind: Kind = "qwen3", *, seed: int = 0) -> Path:
    """Write a tiny checkpoint in bfloat16, with a tokenizer.

    Args:
        folder: where; made if it is not there.
        kind: a key of ``KINDS``.
        seed: of the weights.

    Returns:
        The folder.

    Raises:
        MissingExtra: torch or transformers is not installed.
    """
    torch, transformers = _libraries()
    place = Path(folder)
    with _quiet(transformers), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        words = _tokenizer()
        sizes = {**_TEXT, "vocab_size": len(words), "tie_word_embeddings": True}
        if kind == "qwen3":
            model = transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**sizes))
        else:
            config = transformers.Qwen3_5Config(
                text_config={**sizes, **_LINEAR}, vision_config=_VISION, tie_word_embeddings=True
            )
            model = transformers.Qwen3_5ForConditionalGeneration(config)
        model.bfloat16().save_pretrained(place)
        words.save_pretrained(place)
        if kind == "qwen3_5":
            _add_prediction_layer(place)
    return place


def merge_by_class(base: PathLike, adapter: PathLike, merged: PathLike, *, seed: int = 0) -> Any:
    """Do as many a script does: load the model by class, put LoRA on it, merge, save.

    The class is the one for causal language models. The adapter's weights are drawn at random.

    Args:
        base: the checkpoint.
        adapter: where the adapter is saved.
        merged: where the merged model is saved.
        seed: of the adapter.

    Returns:
        What the loader reported: its missing, unexpected and mismatched keys.

    Raises:
        MissingExtra: torch, transformers or peft is not installed.
    """
    torch, transformers = _libraries()
    try:
        import peft
    except ModuleNotFoundError:
        raise MissingExtra("an adapter", "training") from None
    with _quiet(transformers), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model, told = transformers.AutoModelForCausalLM.from_pretrained(
            base, dtype=torch.bfloat16, output_loading_info=True
        )
        tuned = peft.get_peft_model(
            model, peft.LoraConfig(r=4, lora_alpha=8, target_modules="all-linear")
        )
        with torch.no_grad():
            for name, weight in tuned.named_parameters():
                if "lora_" in name:
                    weight.normal_(std=0.05)
        tuned.save_pretrained(adapter)
        tuned.merge_and_unload().save_pretrained(merged)
        # The tokenizer is saved too, as such a script does.
        transformers.AutoTokenizer.from_pretrained(base).save_pretrained(merged)
    return {key: sorted(told[key]) for key in ("missing_keys", "unexpected_keys")}


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ModuleNotFoundError:
        raise MissingExtra("a checkpoint", "training") from None
    return torch, transformers


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Keep bars and advice of the libraries to themselves for a moment."""
    logging = transformers.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def _tokenizer() -> Any:
    """A tokenizer of bytes, with the signs of a chat."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = {letter: n for n, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    made = Tokenizer(models.BPE(vocab=letters, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=["<|im_start|>"],
    )
    wrapped.chat_template = _TURNS
    return wrapped


def _add_prediction_layer(folder: Path) -> None:
    """Put the prediction layer into a second file, tell the config of it, write the index."""
    import torch
    from safetensors.torch import load_file, save_file

    from chaincheck.training.checkpoint import INDEX, SINGLE

    path = folder / "config.json"
    config = json.loads(path.read_text("utf-8"))
    config["text_config"]["mtp_num_hidden_layers"] = 1
    path.write_text(json.dumps(config, indent=2), "utf-8")
    layer = {
        name: torch.randn((_WIDTH,) if "norm" in name else (_WIDTH, _WIDTH)).bfloat16()
        for name in MTP
    }
    shards: list[dict[str, Tensor]] = [load_file(folder / SINGLE), layer]
    (folder / SINGLE).unlink()
    placed: dict[str, str] = {}
    size = 0
    for number, tensors in enumerate(shards, 1):
        name = f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        save_file(tensors, folder / name, metadata={"format": "pt"})
        placed |= dict.fromkeys(tensors, name)
        size += sum(one.numel() * one.element_size() for one in tensors.values())
    index = {"metadata": {"total_size": size}, "weight_map": placed}
    (folder / INDEX).write_text(json.dumps(index, indent=2), "utf-8")
