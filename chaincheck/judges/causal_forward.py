r"""What a causal model says at the first answer position, the plain way and faster ones.

The score is

.. math:: s = \log\sum_{i \in \mathrm{yes}} e^{z_i} - \log\sum_{i \in \mathrm{no}} e^{z_i},

with the logits :math:`z` at the last token of the prompt. The sum over the whole vocabulary
cancels, so the score needs the logits of the yes and no tokens only. The probability that yes and
no have together needs all of them, at this one position.

Three shortcuts, each of which can be left out:

- the output head is applied at the last position only ("last"), and of its rows those of yes and
  no are applied in float32, whatever the precision of the model ("rows");
- prompts go in batches, padded on the right: no real token ever sees a token behind it;
- what several prompts begin with is computed once, and each goes on from a copy of that state.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from chaincheck.errors import UsageError
from chaincheck.judges.token_sets import TokenSets

__all__ = ["Forward", "Reading"]

_PROBE = (80, 40, 23)  # tokens of a beginning, and of two ways to go on, not multiples of a chunk
_TOLERANCE = {"float32": 1e-3, "bfloat16": 0.05, "float16": 0.02}
_SCALED = ("final_logit_softcapping", "logit_scale", "logits_scaling", "lm_head_multiplier")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the model says after one prompt.

    Attributes:
        score: log-odds of yes over no.
        yes, no: natural logarithms of their probabilities among all tokens, as the model's own
            head gives them in its own precision.
        mass: probability of yes and no together.
    """

    score: float
    yes: float
    no: float
    mass: float


class Forward:
    """Runs prompts through a model.

    Args:
        model: a causal model of the library transformers, in evaluation mode.
        sets: the tokens that say yes and no.
        logits: "rows", "last" or "all", see the module. Where the logits of the model are more
            than its head applied to its last state, "last" takes the place of "rows".

    Attributes:
        logits: what is done in the end.
    """

    def __init__(self, model: Any, sets: TokenSets, logits: str = "rows") -> None:
        import torch

        self._torch = torch
        self._model = model
        self._yes = len(sets.yes)
        self._ids = torch.tensor(sets.ids, device=model.device)
        self._dtype = str(model.dtype).removeprefix("torch.")
        self._cache_name, self._keeps = _interface(model)
        head = model.get_output_embeddings()
        self._head = head
        self._kept: tuple[tuple[int, ...], Any] | None = None
        self.logits = logits
        if logits == "rows":
            with torch.inference_mode():
                self._rows = head.weight[self._ids].float()
                bias = getattr(head, "bias", None)
                self._bias = None if bias is None else bias[self._ids].float()
                self.logits = "rows" if self._rows_will_do() else "last"
        if self.logits == "last" and not self._keeps:
            self.logits = "all"

    @property
    def head_dtype(self) -> str:
        """Precision of the logits that make the score."""
        return "float32" if self.logits == "rows" else self._dtype

    def longest_shared(self) -> int:
        """Find out how long a prompt may be that goes on from a common beginning; 0 for none.

        The model is tried: what it says after going on must be what it says after the whole. A
        model with a sliding window may share while everything fits into the window.
        """
        torch = self._torch
        config = self._model.config.get_text_config()
        draw = torch.Generator().manual_seed(0)
        start, *ends = (
            torch.randint(min(config.vocab_size, len(self._head.weight)), (n,), generator=draw)
            for n in _PROBE
        )
        prompts = [[*start.tolist(), *end.tolist()] for end in ends]
        try:
            with torch.inference_mode():
                whole = torch.cat([self._state([prompt]) for prompt in prompts])
                shared = self._state(prompts, prefix=_PROBE[0])
        except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError):
            return 0
        if not self._alike(shared, whole):
            return 0
        return _window(config)

    def run(self, prompts: Sequence[Sequence[int]], prefix: int = 0) -> list[Reading]:
        """Give what the model says after each of some prompts, computed together.

        Args:
            prompts: tokens.
            prefix: how many tokens all of them begin with and have computed once.

        Raises:
            UsageError: the device's memory does not suffice.
        """
        torch = self._torch
        try:
            with torch.inference_mode():
                state = self._state(prompts, prefix)
                return self._read(state)
        except torch.OutOfMemoryError:
            raise UsageError(
                f"the device's memory does not suffice for {len(prompts)} prompts of up to "
                f"{max(map(len, prompts)):,} tokens",
                remedy="Set a smaller batch or batch_tokens in the judge's file",
            ) from None

    def _state(self, prompts: Sequence[Sequence[int]], prefix: int = 0) -> Any:
        """Last hidden states (batch, hidden) for "rows", else all logits (batch, vocabulary)."""
        torch = self._torch
        if not prefix:
            self._kept = None  # no group goes on: give its memory back
        cache = self._going_on(prompts, prefix) if prefix else None
        rest = [prompt[prefix:] for prompt in prompts]
        longest = max(map(len, rest))
        ids = self._tensor([[*one, *[0] * (longest - len(one))] for one in rest])
        last = self._tensor([len(one) - 1 for one in rest])
        row = torch.arange(len(rest), device=ids.device)
        how = {} if cache is None else {self._cache_name: cache}
        how["use_cache"] = cache is not None
        if self.logits == "rows":
            return self._decoder(input_ids=ids, **how).last_hidden_state[row, last]
        if self.logits == "last":
            kept, place = torch.unique(last, return_inverse=True)
            return self._model(input_ids=ids, logits_to_keep=kept, **how).logits[row, place]
        return self._model(input_ids=ids, **how).logits[row, last]

    def _going_on(self, prompts: Sequence[Sequence[int]], prefix: int) -> Any:
        """The state after the common beginning, once for each prompt.

        The state itself is kept for the next batch of the same group. It is copied, since going
        on changes it, and a recurrent state cannot be wound back.
        """
        beginning = tuple(prompts[0][:prefix])
        if self._kept is None or self._kept[0] != beginning:
            from transformers import DynamicCache

            self._kept = None  # frees the memory of the one before
            cache = DynamicCache(config=self._model.config)
            ids = self._tensor([beginning])
            self._decoder(input_ids=ids, use_cache=True, **{self._cache_name: cache})
            self._kept = beginning, cache
        copied = copy.deepcopy(self._kept[1])
        copied.reorder_cache(self._tensor([0] * len(prompts)))
        return copied

    def _read(self, state: Any) -> list[Reading]:
        """Turn states into readings; sums of exponentials in double precision."""
        torch = self._torch
        everything = (self._head(state) if self.logits == "rows" else state).float()
        total = torch.logsumexp(everything, -1).double()
        own = everything[:, self._ids].double()
        exact = self._from_rows(state).double() if self.logits == "rows" else own
        yes, no = (torch.logsumexp(part, -1) for part in exact.tensor_split([self._yes], -1))
        own_yes, own_no = (torch.logsumexp(part, -1) for part in own.tensor_split([self._yes], -1))
        mass = (torch.logsumexp(own, -1) - total).exp()
        columns = (yes - no, own_yes - total, own_no - total, mass)
        return [Reading(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    def _from_rows(self, state: Any) -> Any:
        logits = state.float() @ self._rows.T
        return logits if self._bias is None else logits + self._bias

    def _rows_will_do(self) -> bool:
        """Try whether the head's rows on the last state give the model's logits."""
        torch = self._torch
        config = self._model.config.get_text_config()
        if any(getattr(config, name, None) not in (None, 1, 1.0) for name in _SCALED):
            return False
        if self._decoder is self._model:
            return False
        ids = torch.arange(8, device=self._model.device)[None]
        plain = self._model(input_ids=ids, use_cache=False).logits[:, -1, self._ids].float()
        return self._alike(self._from_rows(self._state(ids.tolist())), plain)

    def _alike(self, one: Any, other: Any) -> bool:
        difference = (one.float() - other.float()).norm() / other.float().norm().clamp_min(1e-12)
        return bool(difference < _TOLERANCE.get(self._dtype, 1e-3))

    @property
    def _decoder(self) -> Any:
        return self._model.base_model

    def _tensor(self, values: Any) -> Any:
        return self._torch.tensor(values, device=self._model.device)


def _interface(model: Any) -> tuple[str, bool]:
    """Name a model's argument for a state, and say whether it can leave logits out."""
    arguments = inspect.signature(model.forward).parameters
    return ("cache" if "cache" in arguments else "past_key_values"), "logits_to_keep" in arguments


def _window(config: Any) -> int:
    """The longest prompt of which no layer forgets a token."""
    kinds = getattr(config, "layer_types", None) or []
    window = getattr(config, "sliding_window", None)
    slides = any("sliding" in kind or "chunked" in kind for kind in kinds)
    if not slides and (not window or kinds or getattr(config, "use_sliding_window", True) is False):
        return 10**9
    return int(window or getattr(config, "attention_chunk_size", None) or 0)
