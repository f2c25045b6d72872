"""The causal judge: a language model that answers yes or no, scored before it says a word.

The TOML file of such a judge, kind ``causal``:

=================== ============================================================================
``model``           a model's folder or name, see ``models.find_model``
``revision``        of a model in the Hugging Face cache
``adapter``         folder of a LoRA adapter
``prompt``          a prompt's name or file, see ``prompts``
``dtype``           "float32", "bfloat16" or "float16"
``attention``       the attention kernel: "sdpa", "eager" and what else the model knows
``device``          "auto", "cpu", "cuda", "cuda:1"
``minimum_mass``    probability that yes and no must have together; below it nothing is judged
``logits``          "rows": only those of yes and no, in float32; "last": all of the last
                    position; "all": all of all positions
``batch``           most prompts in a batch; 1 for one at a time
``batch_tokens``    most tokens in a batch; by default 2,048 on a CPU, where more is slower, and
                    65,536 elsewhere
``share_prefix``    compute once what the cells of a triplet begin with
``chat_arguments``  a table of what the chat template takes besides
``code``            Python files of the model's folder that may run
``threads``         threads of the CPU
``name``            name for tables; by default the model's
=================== ============================================================================

``logits = "all"``, ``batch = 1`` and ``share_prefix = false`` together are the plain way, which
each shortcut is proven against.
"""

from __future__ import annotations

import hashlib
import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from chaincheck.errors import InvalidScore, UnjudgeableItem, UsageError
from chaincheck.items import Item
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.judges.causal_batches import Batch, plan_batches
from chaincheck.judges.encoder_batches import Memory
from chaincheck.judges.prompts import Prompt, load_prompt

__all__ = ["KEYS", "CausalJudge", "CausalSettings", "check_keys", "open_causal"]

_REVISION = 1  # part of every fingerprint: raise it when any score below can change
_WINDOW = 4  # batches that are looked at together


class CausalSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a causal judge is loaded and run; see the module for each key."""

    model: str
    revision: str | None = None
    adapter: str | None = None
    prompt: str = "sufficiency"
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    attention: str = "sdpa"
    device: str = "auto"
    minimum_mass: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.05
    logits: Literal["rows", "last", "all"] = "rows"
    batch: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 16
    batch_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    share_prefix: bool = True
    chat_arguments: dict[str, Any] = {}
    code: tuple[str, ...] = ()
    threads: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None
    name: str | None = None


KEYS = frozenset(CausalSettings.__struct_fields__)
"""The keys of such a judge's file."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An item and what it is asked with."""

    item: Item
    asked: Any
    key: bytes


class CausalJudge:
    """Scores items by the log-odds of yes over no at the first answer position.

    Args:
        loaded: the model, see ``causal_model.LoadedModel``.
        settings: how it is run.
        prompt: the prompt; by default the one that the settings name.

    Attributes:
        name: name for tables.
        fingerprint: hash of the instrument.
        instrument: everything that can change a score.
        acquisition: how the scores are got.
        token_sets: the tokens that say yes and no.

    Raises:
        UsageError: no single token says yes, or none says no.
        InvalidModel: the chat template cannot be used.
    """

    def __init__(self, loaded: Any, settings: CausalSettings, prompt: Prompt | None = None) -> None:
        from chaincheck.judges.causal_forward import Forward
        from chaincheck.judges.rendering import Renderer
        from chaincheck.judges.token_sets import find_token_sets, tokenizer_hash

        self._settings = settings
        self._prompt = load_prompt(settings.prompt) if prompt is None else prompt
        self._context = loaded.context
        self._where = loaded.where
        self.token_sets = find_token_sets(
            loaded.tokenizer,
            self._prompt.yes,
            self._prompt.no,
            rows=len(loaded.model.get_output_embeddings().weight),
        )
        self._render = Renderer(
            loaded.tokenizer, self._prompt, arguments=settings.chat_arguments, where=loaded.where
        )
        self._forward = Forward(loaded.model, self.token_sets, settings.logits)
        self._device = str(loaded.model.device)
        on_cpu = self._device.startswith("cpu")
        self._batch_tokens = settings.batch_tokens or (2048 if on_cpu else 65_536)
        self._shared: int | None = None if settings.share_prefix else 0
        self._memory: Memory[bytes, Any] = Memory()
        self.name: str = loaded.name
        self.instrument: dict[str, Any] = {
            "judge": "causal",
            "code": _REVISION,
            "score": "log-odds of yes over no at the first answer position",
            "model": dict(loaded.identity),
            "dtype": settings.dtype,
            "head": self._forward.head_dtype,
            "attention": loaded.model.config._attn_implementation,
            "tokenizer": tokenizer_hash(loaded.tokenizer)[:16],
            "token_sets": self.token_sets.settings,
            "minimum_mass": settings.minimum_mass,
            "prompt": self._prompt.settings,
            "chat": self._render.settings,
        }
        self.fingerprint = fingerprint_of(self.instrument)

    @property
    def acquisition(self) -> dict[str, Any]:
        """Batch, device, shortcuts, threads, and versions of libraries."""
        import torch

        from chaincheck.judges.causal_model import versions

        return {
            "device": self._device,
            "hardware": _hardware(self._device),
            "batch": self._settings.batch,
            "batch_tokens": self._batch_tokens,
            "logits": self._forward.logits,
            "share_prefix": self._settings.share_prefix,
            "threads": torch.get_num_threads(),
            "versions": versions(),
        }

    def prompt_text(self, item: Item) -> str:
        """Give the text that the model reads for one item, signs and all."""
        return self._render.text(item)

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Judge the items in order, a window of some batches at a time.

        An item whose answer words have less than ``minimum_mass`` together gets no score: its
        judgment has ``score`` None, bounds that bound nothing, and a flag.

        Raises:
            UnjudgeableItem: an item has no passages, or its prompt is longer than the model takes.
            InvalidScore: the model gave no finite number.
        """
        stream = iter(items)
        while window := list(islice(stream, self._settings.batch * _WINDOW)):
            waiting = deque(self._ask(item) for item in window)
            for batch, prompts in self._planned(waiting):
                found = self._forward.run([one.asked.ids for one in prompts], batch.prefix)
                for one, reading in zip(prompts, found, strict=True):
                    self._memory[one.key] = reading
                yield from self._ready(waiting)
            yield from self._ready(waiting)
            self._memory.trim()

    def _ready(self, waiting: deque[_Waiting]) -> Iterator[Judgment]:
        """Take from the front what has been computed, so that an interruption loses little."""
        while waiting and waiting[0].key in self._memory:
            one = waiting.popleft()
            yield self._judgment(one, self._memory[one.key])

    def _ask(self, item: Item) -> _Waiting:
        asked = self._render(item)
        if len(asked.ids) > self._context:
            raise UnjudgeableItem(
                f"its prompt has {len(asked.ids):,} tokens, and the model takes {self._context:,}",
                item=item.item_id,
                remedy="Cut passages shorter with 'longest_passage' in the prompt's file, or "
                "leave the item out; nothing is cut unasked",
            )
        return _Waiting(item, asked, hashlib.sha256(repr(asked.ids).encode()).digest())

    def _planned(self, waiting: Iterable[_Waiting]) -> list[tuple[Batch, list[_Waiting]]]:
        """Batch what has not been run; equal prompts once, so that they get equal numbers."""
        fresh = {one.key: one for one in waiting if one.key not in self._memory}
        ones = list(fresh.values())
        plan = plan_batches(
            [one.asked.ids for one in ones],
            [one.item.pair_id for one in ones],
            batch=self._settings.batch,
            tokens=self._batch_tokens,
            share=self._longest_shared() if ones else 0,
        )
        return [(batch, [ones[member] for member in batch.members]) for batch in plan]

    def _longest_shared(self) -> int:
        if self._shared is None:
            self._shared = self._forward.longest_shared()
        return self._shared

    def _judgment(self, one: _Waiting, reading: Any) -> Judgment:
        if not all(map(math.isfinite, (reading.score, reading.yes, reading.no, reading.mass))):
            raise InvalidScore(
                f"the model's numbers are not finite in {self._settings.dtype}",
                path=self._where,
                item=one.item.item_id,
                remedy='Set dtype = "float32"',
            )
        flags = [
            f"passage {cut.passage + 1} cut to {cut.kept:,} of {cut.length:,} characters"
            for cut in one.asked.cuts
        ]
        refused = reading.mass < self._settings.minimum_mass
        if refused:
            flags.append(
                f"refused: yes and no have {reading.mass:.2g} of the probability together, less "
                f"than {self._settings.minimum_mass:g}"
            )
        return Judgment(
            item_id=one.item.item_id,
            score=None if refused else reading.score,
            bounds=(None, None) if refused else None,
            logprobs={"yes": reading.yes, "no": reading.no},
            usage={"prompt_tokens": len(one.asked.ids)},
            flags=tuple(flags),
            details={
                "prompt": one.asked.digest,
                "mass": reading.mass,
                **({"escaped": one.asked.escaped} if one.asked.escaped else {}),
            },
        )


def _hardware(device: str) -> str:
    import platform

    import torch

    if device.startswith("cuda"):
        return str(torch.cuda.get_device_name(device))
    return platform.processor() or platform.machine()


def open_causal(keys: Mapping[str, Any], folder: Path) -> CausalJudge:
    """Open a judge of kind ``causal``.

    Args:
        keys: the keys of its TOML file but ``kind``.
        folder: what relative paths are relative to.

    Raises:
        UsageError: a key is missing or of the wrong kind.
        ChainCheckError: as ``load_prompt``, ``load_causal_model`` and ``CausalJudge``.
    """
    from chaincheck.judges.causal_model import load_causal_model

    settings, prompt = check_keys(keys, folder)
    return CausalJudge(load_causal_model(settings, folder), settings, prompt)


def check_keys(keys: Mapping[str, Any], folder: Path) -> tuple[CausalSettings, Prompt]:
    """Read what such a judge's file says, without loading a model.

    Args:
        keys: the keys of its TOML file but ``kind``.
        folder: what relative paths are relative to.

    Raises:
        UsageError: a key is missing, unknown or of the wrong kind.
        ChainCheckError: as ``load_prompt``.
    """
    try:
        settings = msgspec.convert(dict(keys), CausalSettings)
    except msgspec.ValidationError as cause:
        raise UsageError(f"the judge's keys: {cause}", remedy="Correct the judge's file") from None
    return settings, load_prompt(settings.prompt, folder=folder)
