"""The training loss of a triplet, term by term.

With s(X) the log-odds of yes over no for cell X, the loss of one triplet is

    softplus(-s(A)) + softplus(-s(B)) + softplus(s(D))                        answers
    + w_m relu(m - (min(s(A), s(B)) - s(D)))                                  margin
    + w_i |s(A) - s(B)|                                                       invariance
    + w_c softplus(s(C))                                                      cell C

The first line is the binary cross-entropy of the three answers. The margin holds the lower one of
the two intact cells above the broken one. Invariance asks that an edit which leaves the chain
whole leaves the score alone. A *nominal* objective has no B: it is what a judge is trained with
who is only told that an intact context is better than a broken one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LossTerms", "answer_loss", "triplet_loss"]


class LossTerms(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weights of the terms.

    Attributes:
        margin: m, in log-odds.
        margin_weight: w_m; 0 leaves the margin out.
        invariance_weight: w_i; needs cell B.
        cell_c_weight: w_c; needs cell C beside D.
        answer_b: whether B has an answer of its own in the first line.
    """

    margin: float = 2.0
    margin_weight: float = 1.0
    invariance_weight: float = 0.0
    cell_c_weight: float = 0.0
    answer_b: bool = True


def answer_loss(score: Tensor, *, yes: bool) -> Tensor:
    """Binary cross-entropy of a log-odds score, in nats.

    Args:
        score: any shape.
        yes: whether the right answer is yes.
    """
    from torch.nn.functional import softplus

    return softplus(-score if yes else score)


def triplet_loss(
    scores: Mapping[str, Tensor], terms: LossTerms, *, broken: str = "D"
) -> tuple[Tensor, dict[str, Tensor]]:
    """Compute the loss of each triplet.

    Args:
        scores: log-odds by cell, each of shape (triplets,). "A" and the broken cell must be
            there; without "B" the objective is nominal.
        terms: weights of the terms.
        broken: the cell that must score low, "D" or "C".

    Returns:
        The loss of each triplet, shape (triplets,), and its terms by name, weighted, each of the
        same shape; they add up to it.

    Raises:
        ValueError: a term needs a cell that is not there.
    """
    from torch import minimum
    from torch.nn.functional import relu

    intact, low = scores["A"], scores[broken]
    parts = {"answers": answer_loss(intact, yes=True) + answer_loss(low, yes=False)}
    edited = scores.get("B")
    if edited is not None:
        if terms.answer_b:
            parts["answers"] = parts["answers"] + answer_loss(edited, yes=True)
        intact = minimum(intact, edited)
    if terms.margin_weight:
        parts["margin"] = terms.margin_weight * relu(terms.margin - (intact - low))
    if terms.invariance_weight:
        if edited is None:
            raise ValueError("the invariance term compares A with B, and there is no B")
        parts["invariance"] = terms.invariance_weight * (scores["A"] - edited).abs()
    if terms.cell_c_weight:
        if "C" not in scores or broken == "C":
            raise ValueError("the term of cell C needs that cell beside D")
        parts["cell_c"] = terms.cell_c_weight * answer_loss(scores["C"], yes=False)
    total = parts["answers"]
    for name, part in parts.items():
        if name != "answers":
            total = total + part
    return total, parts
