"""An embedding model as a judge: how near is the question to the passages nearest to it?

Question and passages are embedded one by one; a passage's nearness is the cosine between its
vector and the question's. The score is the mean nearness of the ``best`` nearest passages, by
default two, since a chain has two. Such a judge sees one passage at a time. It can tell that
passages about the right things are there; that they are linked it cannot see.

The TOML file, kind ``embedding``:

=================== ============================================================================
``model``           a model's folder or a name, see ``models.find_model``
``best``            how many of the nearest passages count
``pooling``         "mean" of the tokens' vectors or the first token's ("cls"); by default as the
                    folder says, else mean
``question_prefix`` what the model wants before a question, such as "query: "
``passage_prefix``  and before a passage
``max_tokens``      longest text in tokens; by default what the folder says, else what it can read
=================== ============================================================================

and ``too_long``, ``special_tokens``, ``dtype``, ``attention``, ``device``, ``batch`` and ``name``
as of a cross-encoder; a text that is too long is cut by default and the judgment flagged, since
embedding models read little at a time. ``open_judge("minilm")`` opens all-MiniLM-L6-v2, which
``chaincheck model minilm`` gets.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from chaincheck.errors import InvalidModel, UsageError
from chaincheck.intervals import FloatArray
from chaincheck.items import Item
from chaincheck.judges.base import Judgment, fingerprint_of, no_passages
from chaincheck.judges.encoder_batches import (
    Encoded,
    EncoderSettings,
    Memory,
    in_windows,
    read_keys,
)
from chaincheck.judges.encoders import Encoder
from chaincheck.model_folders import read_config
from chaincheck.models import find_model

__all__ = ["KEYS", "EmbeddingJudge", "nearness", "open_embedding", "pooling_of"]

_REVISION = 1  # part of every fingerprint: raise it when any score below can change


class _File(EncoderSettings, frozen=True, kw_only=True):
    """The keys as they stand in the file."""

    model: str
    best: int = 2
    pooling: Literal["mean", "cls"] | None = None
    question_prefix: str = ""
    passage_prefix: str = ""
    too_long: Literal["refuse", "cut"] = "cut"
    name: str | None = None


KEYS = frozenset(_File.__struct_fields__)
"""The keys of such a judge's file."""


def open_embedding(keys: Mapping[str, Any], folder: Path) -> EmbeddingJudge:
    """Open a judge from the keys of its TOML file.

    Args:
        keys: see the module.
        folder: what a relative path is relative to.

    Raises:
        ChainCheckError: as ``EmbeddingJudge``; ``UsageError`` for a key of the wrong kind.
    """
    file = read_keys(keys, _File)
    return EmbeddingJudge(
        file.model,
        best=file.best,
        pooling=file.pooling,
        question_prefix=file.question_prefix,
        passage_prefix=file.passage_prefix,
        settings=file.settings(),
        name=file.name,
        folder=folder,
    )


def nearness(question: FloatArray, passages: Sequence[FloatArray], best: int) -> float:
    """Mean cosine of a question with the passages nearest to it.

    Args:
        question: a vector of length 1, shape (d,).
        passages: others.
        best: how many count; all of them if there are fewer.
    """
    near = sorted((float(question @ one) for one in passages), reverse=True)[:best]
    return sum(near) / len(near)


class EmbeddingJudge:
    """A sentence-embedding model as a judge.

    Args:
        model: its folder, or a name for ``find_model``.
        best: how many of the nearest passages count.
        pooling, question_prefix, passage_prefix: see the module.
        settings: how to load and run it.
        name: name for tables.
        folder: what a relative path is relative to.

    Raises:
        InvalidModel: the model cannot be used.
        MissingExtra: torch or transformers is not installed.
        UsageError: a setting that cannot be used with it.
    """

    def __init__(
        self,
        model: str,
        *,
        best: int = 2,
        pooling: Literal["mean", "cls"] | None = None,
        question_prefix: str = "",
        passage_prefix: str = "",
        settings: EncoderSettings | None = None,
        name: str | None = None,
        folder: Path = Path(),
    ) -> None:
        if best < 1:
            raise UsageError(f"'best' is {best}", remedy="Count at least one passage")
        path = find_model(model, folder=folder)
        stated, longest = pooling_of(path)
        how = settings or EncoderSettings(too_long="cut")
        if how.max_tokens is None and longest is not None:
            how = msgspec.structs.replace(how, max_tokens=longest)
        self._encoder = Encoder(path, "none", how, unused=("pooler.",))
        self._best = best
        self._pooling = pooling or stated or "mean"
        self._prefixes = question_prefix, passage_prefix
        self._memory: Memory[bytes, FloatArray] = Memory()
        self.name = name or path.resolve().name
        self.instrument: dict[str, Any] = {
            "judge": "embedding",
            "code": _REVISION,
            **self._encoder.instrument(),
            "best": best,
            "pooling": self._pooling,
            "question_prefix": question_prefix,
            "passage_prefix": passage_prefix,
        }
        self.fingerprint = fingerprint_of(self.instrument)

    @property
    def acquisition(self) -> dict[str, Any]:
        """Batch, device, versions."""
        return self._encoder.acquisition()

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Judge the items, in order, some batches at a time.

        Raises:
            UnjudgeableItem: an item without passages, or longer than the model reads where that
                is to be refused.
        """
        for item, encoded, (question, *passages) in in_windows(
            items,
            self._encode,
            self._run,
            batch=self._encoder.settings.batch,
            memory=self._memory,
        ):
            cut = any(one.cut for one in encoded)
            yield Judgment(
                item_id=item.item_id,
                score=nearness(question, passages, self._best),
                flags=(f"a text cut at {self._encoder.limit} tokens",) if cut else (),
                details={"nearness": [float(question @ one) for one in passages]},
            )

    def embed(self, texts: Iterable[str]) -> FloatArray:
        """Embed texts as passages, each a vector of length 1; shape (texts, d)."""
        encoded = [self._encoder.encode(self._prefixes[1] + text, None, "") for text in texts]
        return np.array(self._run(encoded)) if encoded else np.zeros((0, 0))

    def _encode(self, item: Item) -> list[Encoded]:
        if not item.passages:
            raise no_passages(item.item_id)
        question, passage = self._prefixes
        texts = [question + item.query, *(passage + text for text in item.passages)]
        return [self._encoder.encode(text, None, item.item_id) for text in texts]

    def _run(self, batch: Sequence[Encoded]) -> list[FloatArray]:
        given, mask = self._encoder.run(batch)
        hidden = given.last_hidden_state.double()
        if self._pooling == "cls":
            pooled = hidden[:, 0]
        else:
            weights = mask.unsqueeze(-1).double()
            pooled = (hidden * weights).sum(1) / weights.sum(1)
        vectors: FloatArray = pooled.cpu().numpy()
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return list(vectors / np.maximum(norms, np.finfo(np.float64).tiny))


def pooling_of(folder: Path) -> tuple[str | None, int | None]:
    """Read how a sentence-embedding model pools, and how much it was made to read.

    Returns:
        "mean" or "cls", and the longest input in tokens; None for what the folder does not say.

    Raises:
        InvalidModel: it pools in another way, or has a layer after pooling that is not applied
            here.
    """
    modules = folder / "modules.json"
    if modules.is_file():
        try:
            listed = json.loads(modules.read_bytes())
            kinds = [str(one["type"]).rsplit(".", 1)[-1] for one in listed]
        except (ValueError, TypeError, KeyError):
            raise InvalidModel("lists no modules", path=modules, remedy="Copy it again") from None
        other = [kind for kind in kinds if kind not in {"Transformer", "Pooling", "Normalize"}]
        if other:
            raise InvalidModel(
                f"has a layer {other[0]}, which this judge does not apply",
                path=modules,
                remedy="Use a model of the layers Transformer, Pooling and Normalize",
            )
    pooling, longest = None, None
    if (folder / "1_Pooling" / "config.json").is_file():
        stated = read_config(folder / "1_Pooling" / "config.json")
        on = sorted(
            key for key in stated if key.startswith("pooling_mode_") and stated[key] is True
        )
        known = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
        if len(on) != 1 or on[0] not in known:
            raise InvalidModel(
                f"pools by {', '.join(on) or 'nothing'}, which this judge does not",
                path=folder,
                remedy="Use a model that pools by mean or by its first token",
            )
        pooling = known[on[0]]
    if (folder / "sentence_bert_config.json").is_file():
        given = read_config(folder / "sentence_bert_config.json").get("max_seq_length")
        longest = given if isinstance(given, int) and given > 0 else None
    return pooling, longest
