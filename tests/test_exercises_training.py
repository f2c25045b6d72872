"""Checkers of chapter 5."""

from __future__ import annotations

import pytest

from chaincheck.exercises import check
from chaincheck.exercises_training import one_triplet, unnamed_judges
from chaincheck.training.loss import LossTerms
from chaincheck.training_records import recorded_seeds

RECIPE = {
    "objective": "triplet",
    "mix": {"real": 1.0, "decoy": 2.0},
    "later": ["decoy"],
    "triplets": 96,
    "loss": {"invariance_weight": 0.5, "margin_weight": 0.0},
}


def test_the_loss_is_the_one_that_trains() -> None:
    torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
    from chaincheck.training.loss import triplet_loss

    scores = {cell: torch.tensor([value]) for cell, value in one_triplet().items()}
    _, parts = triplet_loss(scores, LossTerms())
    answers, margin = float(parts["answers"]), float(parts["margin"])
    assert check("5.1", (answers, margin)).right
    assert check("5.1", (round(answers, 2), round(margin, 2))).right
    assert not check("5.1", (answers, margin - 1)).right
    assert not check("5.1", (answers + 0.1, margin)).right


def test_judges_are_told_by_their_effects() -> None:
    if not (recorded_seeds("triplet") and recorded_seeds("nominal-fict")):
        pytest.skip("the runs are not recorded")
    names = [name for name, _ in unnamed_judges()]
    assert check("5.2", names).right
    for other in ([names[1], names[0], names[2]], [names[2], names[1], names[0]], ["base"] * 3):
        assert not check("5.2", other).right


def test_a_name_linker_is_worked_out() -> None:
    assert check("5.3", ((0.5, 0, 0.5), (0, 0, 0))).right
    for wrong in (((0.5, 0, 0.5), (0.5, 0, 0.5)), ((0, 0, 0), (0, 0, 0)), ((0.5, 0), (0, 0))):
        assert not check("5.3", wrong).right


@pytest.mark.parametrize(
    "change",
    [
        {"objective": "nominal", "loss": {}},
        {"mix": {"real": 1.0, "decoy": 1.0}},
        {"mix": {"real": 1.0, "decoy": 2.0, "fict": 1.0}},
        {"later": []},
        {"triplets": 0},
        {"loss": {"margin_weight": 0.0}},
        {"loss": {"invariance_weight": 0.5}},
        {"losss": {}},
    ],
)
def test_a_recipe_is_checked_key_by_key(change: dict[str, object]) -> None:
    assert check("5.4", RECIPE).right
    assert not check("5.4", {**RECIPE, **change}).right
