"""Tiny encoder models with random weights and tokenizers of a few words, made on the spot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_TEXT = (
    "the director of velvet harbor iron meadow film is was born in trieste who where anna keller "
    "clara winter dora fuchs directed by a and . , ? ! passages state everything that needed to "
    "answer : one two three four five yes no question"
)
WORDS = _TEXT.split()


def _tokenizer(folder: Path, *, roberta: bool, longest: int) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    signs = ["<s>", "<pad>", "</s>", "<unk>"] if roberta else ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    vocabulary = {word: number for number, word in enumerate([*signs, *WORDS])}
    start, end = ("<s>", "</s>") if roberta else ("[CLS]", "[SEP]")
    unknown, padding = ("<unk>", "<pad>") if roberta else ("[UNK]", "[PAD]")
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    between = f"{end} {end}" if roberta else end
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}",
        pair=f"{start} $A {between} $B{'' if roberta else ':1'} {end}{'' if roberta else ':1'}",
        special_tokens=[(start, vocabulary[start]), (end, vocabulary[end])],
    )
    names = ["input_ids", "attention_mask"]
    found = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token=unknown,
        pad_token=padding,
        cls_token=start,
        sep_token=end,
        model_max_length=longest,
        model_input_names=names if roberta else [*names, "token_type_ids"],
    )
    found.save_pretrained(folder)
    return found


def make_model(
    folder: Path,
    family: str = "bert",
    *,
    head: str = "classification",
    labels: list[str] | None = None,
    longest: int = 64,
    seed: int = 0,
    **config: Any,
) -> Path:
    """Write a model's folder.

    Args:
        folder: where.
        family: "bert", "roberta" or "deberta-v2".
        head: "classification" or "none".
        labels: names of the outputs; one output without a name by default.
        longest: tokens that it reads.
        seed: of its weights.
        config: further settings of it.
    """
    import torch
    import transformers

    roberta = family == "roberta"
    tokenizer = _tokenizer(folder, roberta=roberta, longest=longest)
    names = labels or ["score"]
    settings: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": longest + (tokenizer.pad_token_id + 1 if roberta else 0),
        "pad_token_id": tokenizer.pad_token_id,
        "id2label": dict(enumerate(names)),
        "label2id": {name: number for number, name in enumerate(names)},
        "initializer_range": 0.5,
    }
    if family == "deberta-v2":
        settings |= {"relative_attention": True, "position_biased_input": False}
        settings |= {"pos_att_type": ["p2c", "c2p"], "type_vocab_size": 0}
    loader = (
        transformers.AutoModelForSequenceClassification
        if head == "classification"
        else transformers.AutoModel
    )
    torch.manual_seed(seed)
    made = transformers.AutoConfig.for_model(family, **{**settings, **config})
    loader.from_config(made).save_pretrained(folder)
    return folder
