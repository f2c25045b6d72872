"""An output head that knows only yes and no.

A step needs two sums over a dozen logits, and the head of a language model computes 50,000 to
250,000. So the head is replaced by a copy of the rows that count, in float32, as the causal judge
reads them (``causal_forward``). The model's own forward pass stays what it is, with whatever it
does to logits after the head, and works unchanged under data parallelism and sharding, where
rows of a head that is spread over devices could not be picked out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch import nn

if TYPE_CHECKING:
    from torch import Tensor

    from chaincheck.judges.token_sets import TokenSets

__all__ = ["AnswerHead", "install", "log_odds"]


class AnswerHead(nn.Module):  # type: ignore[misc, unused-ignore]
    """Rows of an output head, frozen, in float32.

    Args:
        head: the linear layer that gives all logits.
        ids: the rows to keep, in order.
    """

    def __init__(self, head: Any, ids: tuple[int, ...]) -> None:
        super().__init__()
        rows = list(ids)
        self.weight = nn.Parameter(head.weight.detach()[rows].float().clone(), requires_grad=False)
        bias = getattr(head, "bias", None)
        self.bias = (
            None
            if bias is None
            else nn.Parameter(bias.detach()[rows].float().clone(), requires_grad=False)
        )

    def forward(self, states: Tensor) -> Tensor:
        """Turn states (..., hidden) into logits (..., rows)."""
        return nn.functional.linear(states.float(), self.weight, self.bias)


def install(model: Any, sets: TokenSets) -> AnswerHead:
    """Put the rows of yes and no in the place of a causal model's output head.

    The model then gives logits of shape (batch, positions, yes tokens + no tokens), yes first.
    """
    head = AnswerHead(model.get_output_embeddings(), sets.ids)
    model.set_output_embeddings(head)
    return head


def log_odds(logits: Tensor, yes: int) -> Tensor:
    """Score = logsumexp over yes - logsumexp over no; the normalizer of the softmax cancels.

    Args:
        logits: shape (n, yes tokens + no tokens).
        yes: how many of the columns say yes; they come first.

    Returns:
        Shape (n,), in float32.
    """
    first, second = logits.float().tensor_split([yes], -1)
    return first.logsumexp(-1) - second.logsumexp(-1)
