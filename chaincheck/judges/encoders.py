"""Encoder models from a local folder: loaded safely, run in batches, the same as one by one.

What the cross-encoder judge and the embedding judge have in common. Weights are safetensors and
nothing in the folder is run (``model_folders``). A model whose weights do not fill every layer
that a score passes through is refused: the library that loads it would make the rest up at random
and only say so in a warning. Batches are padded on the right and masked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from chaincheck.errors import InvalidModel, MissingExtra, UnjudgeableItem, UsageError
from chaincheck.judges.encoder_batches import Encoded, EncoderSettings
from chaincheck.judges.escaping import Escaper
from chaincheck.judges.placement import check_kernel, usable_device
from chaincheck.model_folders import check_model_folder
from chaincheck.models import file_hash, weights_hash

__all__ = ["Encoder"]

_TOKENIZER_FILES = (
    *("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "spiece.model", "sentencepiece.bpe.model"),
    *("spm.model", "tokenizer.model"),
)
# These number their positions from the padding token's id on.
_OFFSET_POSITIONS = frozenset(
    {
        *("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "data2vec-text"),
        *("mpnet", "longformer"),
    }
)


class Encoder:
    """A loaded encoder with its tokenizer.

    Args:
        folder: the model's folder, see ``models.find_model``.
        head: what is loaded on top: "classification" or nothing ("none").
        settings: how.
        unused: prefixes of weights that no score passes through and that may be missing.

    Attributes:
        model, tokenizer: as loaded.
        config: ``config.json``.
        limit: longest input in tokens.

    Raises:
        InvalidModel: the folder cannot be used, or lacks weights of some layer.
        MissingExtra: torch or transformers is not installed.
        UsageError: a setting that this model does not allow.
    """

    def __init__(
        self,
        folder: Path,
        head: Literal["classification", "none"],
        settings: EncoderSettings,
        *,
        unused: tuple[str, ...] = (),
    ) -> None:
        self.config = check_model_folder(folder)
        self.settings = settings
        try:
            import torch
            import transformers
        except ModuleNotFoundError:
            raise MissingExtra("a judge that runs a model", "judges") from None
        check_kernel(settings.attention)
        self._device = usable_device(settings.device, torch)
        self._torch = torch
        self._folder = folder
        self._versions = {
            "torch": str(torch.__version__),
            "transformers": str(transformers.__version__),
        }
        loader = (
            transformers.AutoModelForSequenceClassification
            if head == "classification"
            else transformers.AutoModel
        )
        self.tokenizer = self._load_tokenizer(transformers)
        self.model = self._load_model(loader, unused)
        self.limit = self._limit()
        specials = self.tokenizer.all_special_tokens if settings.special_tokens == "escape" else ()
        self._escape = Escaper((), specials)
        self._taken = frozenset(self.tokenizer.model_input_names) | {"input_ids", "attention_mask"}

    def _load_tokenizer(self, transformers: Any) -> Any:
        try:
            found = transformers.AutoTokenizer.from_pretrained(
                self._folder, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, ImportError) as cause:
            raise InvalidModel(
                f"the tokenizer cannot be loaded: {cause}",
                path=self._folder,
                remedy="Copy all of the tokenizer's files from the model's source",
            ) from None
        if found.pad_token_id is None:
            raise InvalidModel(
                "the tokenizer has no padding token, without which texts cannot be batched",
                path=self._folder,
                remedy="Set pad_token in tokenizer_config.json as the model's source says",
            )
        return found

    def _load_model(self, loader: Any, unused: tuple[str, ...]) -> Any:
        torch, how = self._torch, self.settings
        from transformers.utils import logging

        # What is lacking is said below, in an error; its own report is not for users of a judge.
        shown, loud = logging.is_progress_bar_enabled(), logging.get_verbosity()
        logging.disable_progress_bar()
        logging.set_verbosity_error()
        extra = {} if how.attention is None else {"attn_implementation": how.attention}
        try:
            model, loading = loader.from_pretrained(
                self._folder,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=getattr(torch, how.dtype),
                output_loading_info=True,
                **extra,
            )
            model = model.eval().to(self._device)
        except (OSError, ValueError, KeyError, ImportError, RuntimeError) as cause:
            if how.attention and "attn_implementation=" in str(cause):
                raise UsageError(
                    f"the attention kernel {how.attention!r} cannot be used with this model",
                    remedy="Leave the key 'attention' out, or set it to \"eager\"",
                ) from None
            raise InvalidModel(
                f"the model cannot be loaded: {cause}",
                path=self._folder,
                remedy="Check the folder, and the key 'attention'",
            ) from None
        finally:
            logging.set_verbosity(loud)
            if shown:
                logging.enable_progress_bar()
        missing = sorted(
            name for name in loading["missing_keys"] if not name.startswith(unused or ("\0",))
        )
        if missing:
            more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
            raise InvalidModel(
                f"holds no weights for {', '.join(missing[:3])}{more}: every score would be made "
                "of random numbers",
                path=self._folder,
                remedy="Name a model that was trained for this task, with all of its weights",
            )
        return model

    def _limit(self) -> int:
        """Longest input that model and tokenizer take, or less if the settings say so."""
        limits = [int(min(self.tokenizer.model_max_length, 10**9))]
        positions = self.config.get("max_position_embeddings")
        if isinstance(positions, int) and positions > 0:
            offset = 0
            if self.config.get("model_type") in _OFFSET_POSITIONS:
                offset = int(getattr(self.model.config, "pad_token_id", 0) or 0) + 1
            limits.append(positions - offset)
        most, wanted = min(limits), self.settings.max_tokens
        if wanted is None:
            return most
        if not 8 <= wanted <= most:
            raise UsageError(
                f"this model reads 8 to {most:,} tokens, not {wanted:,}",
                remedy=f"Set the key 'max_tokens' to at most {most}, or leave it out",
            )
        return wanted

    def instrument(self) -> dict[str, Any]:
        """Describe what of the model, its tokenizer and its settings can change a score."""
        how = self.settings
        tokenizer = {
            name: file_hash(self._folder / name)
            for name in _TOKENIZER_FILES
            if (self._folder / name).is_file()
        }
        listed = "".join(f"{digest}  {name}\n" for name, digest in sorted(tokenizer.items()))
        return {
            "model": {
                "architecture": type(self.model).__name__,
                "weights": weights_hash(self._folder),
                "config": file_hash(self._folder / "config.json"),
            },
            "tokenizer": hashlib.sha256(listed.encode()).hexdigest(),
            "dtype": how.dtype,
            "attention": str(getattr(self.model.config, "_attn_implementation", None)),
            "max_tokens": self.limit,
            "too_long": how.too_long,
            "special_tokens": how.special_tokens,
        }

    def acquisition(self) -> dict[str, Any]:
        """Describe how the model is run: what ought not to change a score, but may."""
        return {
            "batch": self.settings.batch,
            "device": str(self.model.device),
            "threads": self._torch.get_num_threads(),
            **self._versions,
        }

    def encode(
        self, first: str, second: str | None, item_id: str, *, cuttable: Literal[1, 2] = 2
    ) -> Encoded:
        """Turn a text, or a pair of texts, into tokens.

        Args:
            first: the text, or the pair's first.
            second: the pair's second.
            item_id: for messages.
            cuttable: which of the two may be cut.

        Raises:
            UnjudgeableItem: longer than the limit and not to be cut, or not to be cut enough.
        """
        texts = [self._escape(text)[0] for text in (first, second) if text is not None]
        plain = self.tokenizer(*texts, truncation=False, verbose=False)
        size = len(plain["input_ids"])
        if size <= self.limit:
            return Encoded(self._columns(plain))
        problem = f"takes {size:,} tokens, and the limit is {self.limit:,}"
        if self.settings.too_long == "refuse":
            raise UnjudgeableItem(
                problem,
                item=item_id,
                remedy='Leave it out of the data, or set too_long = "cut", which loses the end',
            )
        place = 0 if second is None or cuttable == 1 else 1
        may_go = self.tokenizer(texts[place], add_special_tokens=False, verbose=False)
        if size - len(may_go["input_ids"]) >= self.limit:
            raise UnjudgeableItem(
                f"{problem}; what may not be cut fills all of it",
                item=item_id,
                remedy="Leave it out of the data, or ask a judge that reads more",
            )
        strategy = ("only_first", "only_second")[place]
        shorter = self.tokenizer(*texts, truncation=strategy, max_length=self.limit, verbose=False)
        return Encoded(self._columns(shorter), cut=size)

    def _columns(self, found: Mapping[str, Any]) -> dict[str, list[int]]:
        return {
            name: list(row)
            for name, row in found.items()
            if name in self._taken and name != "attention_mask"
        }

    def run(self, batch: Sequence[Encoded]) -> tuple[Any, Any]:
        """Run the model on a batch.

        Returns:
            What the model gives, and the attention mask, shape (texts, longest).
        """
        torch, longest = self._torch, max(map(len, batch))
        fill = {
            "input_ids": self.tokenizer.pad_token_id,
            "token_type_ids": self.tokenizer.pad_token_type_id,
        }
        inputs = {
            name: torch.tensor(
                [
                    [*one.columns[name], *([fill.get(name, 0)] * (longest - len(one)))]
                    for one in batch
                ],
                device=self.model.device,
            )
            for name in batch[0].columns
        }
        mask = torch.tensor(
            [[1] * len(one) + [0] * (longest - len(one)) for one in batch],
            device=self.model.device,
        )
        with torch.inference_mode():
            return self.model(**inputs, attention_mask=mask), mask
