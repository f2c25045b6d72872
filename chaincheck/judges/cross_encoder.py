"""Cross-encoders: models that read a question and passages together and give one of some labels.

Rerankers give one number, models of natural language inference (NLI) one for each of their labels.
The TOML file of such a judge, kind ``cross_encoder``:

=================== ============================================================================
``model``           a model's folder, see ``models.find_model``
``label``           the label that means "sufficient": its name, or its number in quotes; needed
                    unless the model has one output
``first``           the pair's first text; ``{question}`` and ``{passages}`` stand for what they say
``second``          the pair's second text
``passage``         one passage: ``{text}``, and ``{number}`` if they are numbered
``separator``       what stands between two passages
``max_tokens``      longest pair in tokens; by default the longest that the model takes
``too_long``        "refuse" a longer pair, or "cut" the passages at their end, flagged
``special_tokens``  "escape" the tokenizer's signs in question and passages, or "keep" them
``dtype``           "float32", "bfloat16" or "float16"
``attention``       the attention kernel; by default the model's own
``device``          "cpu", "cuda"
``batch``           pairs in a batch
``name``            name for tables; by default the folder's
=================== ============================================================================

By default the first text is the question and the second the passages, as rerankers are trained.
For an NLI model the passages are the premise::

    kind = "cross_encoder"
    model = "nli-model"
    label = "entailment"
    first = "{passages}"
    second = "The passages state everything that is needed to answer: {question}"

The score is the one output; or, of several labels, the log-odds of the named one against all
others, ``z_label - logsumexp(z_others)``, which is the logit of its softmax probability; or, where
the model declares labels that do not exclude each other, the output of the named one.

No cross-encoder with weights was found among the packages of the Python index, so none with
trained weights is part of this project's own checks: they run on small models with random weights.
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from chaincheck.errors import InvalidModel, UsageError, quote
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
from chaincheck.models import find_model

__all__ = [
    "KEYS",
    "CrossEncoderJudge",
    "PairTemplate",
    "label_index",
    "log_odds",
    "open_cross_encoder",
]

_REVISION = 1  # part of every fingerprint: raise it when any score below can change
_FIELDS = {"question", "passages"}


@dataclass(frozen=True, slots=True)
class PairTemplate:
    """How a question and its passages become two texts.

    Attributes:
        first, second, passage, separator: as the TOML file has them.

    Raises:
        UsageError: an unknown field, or a question or passages that the model would never see.
    """

    first: str = "{question}"
    second: str = "{passages}"
    passage: str = "{text}"
    separator: str = "\n"

    def __post_init__(self) -> None:
        found = {
            "first": _fields_of("first", self.first, _FIELDS),
            "second": _fields_of("second", self.second, _FIELDS),
        }
        if "text" not in _fields_of("passage", self.passage, {"text", "number"}):
            raise UsageError(
                "key 'passage' lacks the field {text}", remedy="The model would see no passage"
            )
        if "question" not in found["first"] | found["second"]:
            raise UsageError(
                "neither 'first' nor 'second' has the field {question}",
                remedy="The model would never see the question",
            )
        if ("passages" in found["first"]) == ("passages" in found["second"]):
            raise UsageError(
                "one of 'first' and 'second' must have the field {passages}, and not both",
                remedy='Set, for instance, first = "{question}" and second = "{passages}"',
            )

    @property
    def place(self) -> Literal[1, 2]:
        """Which of the two texts holds the passages."""
        return 1 if "passages" in _fields_of("first", self.first, _FIELDS) else 2

    def fill(self, item: Item) -> tuple[str, str]:
        """Fill in one item.

        Raises:
            UnjudgeableItem: it has no passages.
        """
        if not item.passages:
            raise no_passages(item.item_id)
        passages = self.separator.join(
            self.passage.format(text=text, number=number)
            for number, text in enumerate(item.passages, 1)
        )
        fields = {"question": item.query, "passages": passages}
        return self.first.format(**fields), self.second.format(**fields)


class _File(EncoderSettings, frozen=True, kw_only=True):
    """The keys as they stand in the file."""

    model: str
    label: str | None = None
    first: str = "{question}"
    second: str = "{passages}"
    passage: str = "{text}"
    separator: str = "\n"
    name: str | None = None


KEYS = frozenset(_File.__struct_fields__)
"""The keys of such a judge's file."""


def open_cross_encoder(keys: Mapping[str, Any], folder: Path) -> CrossEncoderJudge:
    """Open a judge from the keys of its TOML file.

    Args:
        keys: see the module.
        folder: what a relative path is relative to.

    Raises:
        ChainCheckError: as ``CrossEncoderJudge``; ``UsageError`` for a key of the wrong kind.
    """
    file = read_keys(keys, _File)
    return CrossEncoderJudge(
        file.model,
        label=file.label,
        template=PairTemplate(file.first, file.second, file.passage, file.separator),
        settings=file.settings(),
        name=file.name,
        folder=folder,
    )


def _fields_of(key: str, text: str, known: set[str]) -> set[str]:
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as cause:
        raise UsageError(
            f"key {key!r}: {cause}", remedy="Write a brace that is meant twice"
        ) from None
    found = {field for _, field, _, _ in parts if field is not None}
    if any(form or conversion for _, _, form, conversion in parts) or found - known:
        raise UsageError(
            f"key {key!r} has a field that is none: {quote(text)}",
            remedy="It may hold " + ", ".join(f"{{{name}}}" for name in sorted(known)),
        )
    return found


def label_index(
    config: Mapping[str, Any], outputs: int, label: str | None, path: Path
) -> int | None:
    """Find the output that means "sufficient".

    Args:
        config: the model's configuration.
        outputs: how many outputs it has.
        label: the name of one, in any case, or its number.
        path: the model's folder, for messages.

    Returns:
        Its index; None for a model with one output.

    Raises:
        UsageError: no label, an unknown one, or one too many.
        InvalidModel: the configuration does not name each output once.
    """
    given = config.get("id2label")
    names = {str(key): str(value) for key, value in given.items()} if given else {}
    if not names:
        names = {str(index): f"LABEL_{index}" for index in range(outputs)}
    if sorted(names) != sorted(map(str, range(outputs))):
        raise InvalidModel(
            f"has {outputs} outputs and names {len(names)} labels",
            path=path,
            remedy="Correct id2label in its config.json",
        )
    listed = ", ".join(f"{index} ({names[str(index)]})" for index in range(outputs))
    if outputs == 1:
        if label is not None:
            raise UsageError(
                f"the model has one output, so no label {quote(label)} can be meant",
                remedy="Leave out the key 'label'",
            )
        return None
    if label is None:
        raise UsageError(
            f"the model has {outputs} outputs, and which one means 'sufficient' is not said",
            remedy=f"Set the key 'label' to one of: {listed}",
        )
    if label in names:
        return int(label)
    found = [int(key) for key, name in names.items() if name.casefold() == label.casefold()]
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} labels are called {quote(label)}",
            remedy=f"Name one by its number: {listed}",
        )
    if not found:
        raise UsageError(f"the model has no label {quote(label)}", remedy=f"It has: {listed}")
    return found[0]


def log_odds(logits: Sequence[float], index: int) -> float:
    """Log-odds of one of several exclusive labels: its logit less the logsumexp of the others.

    Args:
        logits: two or more finite numbers.
        index: which.
    """
    others = [value for place, value in enumerate(logits) if place != index]
    top = max(others)
    return logits[index] - top - math.log(math.fsum(math.exp(value - top) for value in others))


class CrossEncoderJudge:
    """A sequence-classification model as a judge.

    Args:
        model: its folder, or a name for ``find_model``.
        label: see the module.
        template: likewise.
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
        label: str | None = None,
        template: PairTemplate | None = None,
        settings: EncoderSettings | None = None,
        name: str | None = None,
        folder: Path = Path(),
    ) -> None:
        path = find_model(model, folder=folder)
        self._template = template or PairTemplate()
        self._encoder = Encoder(path, "classification", settings or EncoderSettings())
        config = self._encoder.model.config
        self._index = label_index(self._encoder.config, int(config.num_labels), label, path)
        self._exclusive = config.problem_type != "multi_label_classification"
        self._memory: Memory[bytes, tuple[float, ...]] = Memory()
        self.name = name or path.resolve().name
        self.instrument: dict[str, Any] = {
            "judge": "cross_encoder",
            "code": _REVISION,
            **self._encoder.instrument(),
            "template": asdict(self._template),
            "label": self._index,
            "exclusive": self._exclusive,
        }
        self.fingerprint = fingerprint_of(self.instrument)

    @property
    def acquisition(self) -> dict[str, Any]:
        """Batch, device, versions."""
        return self._encoder.acquisition()

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Judge the items, in order, some batches at a time.

        Raises:
            UnjudgeableItem: an item without passages, or longer than the model reads.
        """
        for item, (encoded,), (logits,) in in_windows(
            items,
            self._encode,
            self._run,
            batch=self._encoder.settings.batch,
            memory=self._memory,
        ):
            limit = self._encoder.limit
            yield Judgment(
                item_id=item.item_id,
                score=self._score(logits),
                raw=list(logits),
                flags=(f"cut at {limit} tokens",) if encoded.cut else (),
                details={"tokens": encoded.cut or len(encoded)},
            )

    def _encode(self, item: Item) -> list[Encoded]:
        first, second = self._template.fill(item)
        return [self._encoder.encode(first, second, item.item_id, cuttable=self._template.place)]

    def _run(self, batch: Sequence[Encoded]) -> list[tuple[float, ...]]:
        given, _ = self._encoder.run(batch)
        return [tuple(row) for row in given.logits.double().cpu().tolist()]

    def _score(self, logits: Sequence[float]) -> float:
        if self._index is None:
            return logits[0]
        return log_odds(logits, self._index) if self._exclusive else logits[self._index]
