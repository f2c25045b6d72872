"""The loss of a triplet against its formula, written out term by term with plain numbers."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from chaincheck.training.loss import LossTerms, triplet_loss  # noqa: E402

SCORES = st.floats(-30, 30, width=32)
WEIGHTS = st.floats(0, 4, width=32)


def entropy(score: float, *, yes: bool) -> float:
    """Cross-entropy by way of the probability, in exact enough arithmetic."""
    return math.log1p(math.exp(-score if yes else score))


def column(value: float) -> object:
    return torch.tensor([value], dtype=torch.float64)


@given(
    st.tuples(SCORES, SCORES, SCORES, SCORES),
    st.builds(
        LossTerms,
        margin=WEIGHTS,
        margin_weight=WEIGHTS,
        invariance_weight=WEIGHTS,
        cell_c_weight=WEIGHTS,
        answer_b=st.booleans(),
    ),
)
def test_the_loss_is_its_formula(
    scores: tuple[float, float, float, float], terms: LossTerms
) -> None:
    a, b, d, c = scores
    columns = {cell: column(score) for cell, score in zip("ABDC", scores, strict=True)}
    found, parts = triplet_loss(columns, terms)
    wanted = entropy(a, yes=True) + entropy(d, yes=False)
    if terms.answer_b:
        wanted += entropy(b, yes=True)
    wanted += terms.margin_weight * max(0.0, terms.margin - (min(a, b) - d))
    wanted += terms.invariance_weight * abs(a - b) + terms.cell_c_weight * entropy(c, yes=False)
    assert found.item() == pytest.approx(wanted, rel=1e-6, abs=1e-6)
    assert sum(part.item() for part in parts.values()) == pytest.approx(found.item(), abs=1e-9)


@given(SCORES, SCORES, st.sampled_from("DC"))
def test_a_nominal_loss_knows_no_edited_intact_cell(a: float, low: float, broken: str) -> None:
    terms = LossTerms(margin=2.0, margin_weight=1.0)
    found, _ = triplet_loss({"A": column(a), broken: column(low)}, terms, broken=broken)
    wanted = entropy(a, yes=True) + entropy(low, yes=False) + max(0.0, 2.0 - (a - low))
    assert found.item() == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_each_triplet_has_a_loss_of_its_own() -> None:
    scores = {cell: torch.randn(5, dtype=torch.float64) for cell in "ABD"}
    together, _ = triplet_loss(scores, LossTerms())
    alone = [
        triplet_loss({k: v[n : n + 1] for k, v in scores.items()}, LossTerms())[0] for n in range(5)
    ]
    assert together.shape == (5,)
    assert torch.equal(together, torch.cat(alone))


def test_the_margin_pulls_at_the_lower_intact_cell_and_the_broken_one() -> None:
    a, b, d = (torch.tensor([x], requires_grad=True) for x in (3.0, 1.0, 0.5))
    terms = LossTerms(margin=2.0)
    _, parts = triplet_loss({"A": a, "B": b, "D": d}, terms)
    parts["margin"].sum().backward()
    assert (
        (a.grad is None or float(a.grad) == 0.0) and float(b.grad) == -1.0 and float(d.grad) == 1.0
    )


@pytest.mark.parametrize(
    ("terms", "cells", "broken"),
    [
        (LossTerms(invariance_weight=1.0), "AD", "D"),
        (LossTerms(cell_c_weight=1.0), "ABD", "D"),
        (LossTerms(cell_c_weight=1.0), "AC", "C"),
    ],
)
def test_a_term_without_its_cell_is_an_error_of_the_caller(
    terms: LossTerms, cells: str, broken: str
) -> None:
    with pytest.raises(ValueError, match=r"cell C|no B"):
        triplet_loss({cell: torch.zeros(1) for cell in cells}, terms, broken=broken)
