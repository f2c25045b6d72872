"""Checkers of chapter 7."""

from __future__ import annotations

import pytest

from chaincheck.exercises import check
from chaincheck.exercises_release import LOST, MARGIN
from chaincheck.paired_intervals import paired_rate_floor

VALUES = "model.layers.0.self_attn.v_proj.weight"
QUERY_NORM = "model.layers.1.self_attn.q_norm.weight"
NOW = "model.layers.0.attention.values"
MASK = "model.layers.1.mlp.mask"


@pytest.fixture
def models(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the extra 'judges' is not installed")
    pytest.importorskip("transformers", reason="the extra 'judges' is not installed")
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path))


def test_the_number_needed_is_the_smallest() -> None:
    right = next(n for n in range(LOST, 5000) if paired_rate_floor(0, LOST, n) > -MARGIN)
    assert check("7.2", right).right
    assert "one fewer" in check("7.2", right + 1).remark
    assert "below minus the margin" in check("7.2", right - 1).remark
    never = next(n for n in range(1, 5000) if paired_rate_floor(0, 0, n) > -MARGIN)
    assert "never differ" in check("7.2", never).remark


def test_half_a_step_is_what_torch_rounds_away() -> None:
    torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
    weight = torch.tensor(0.75).bfloat16()
    moved = [k for k in range(1, 4000) if (weight.double() + k * 1e-6).bfloat16() != weight]
    assert check("7.4", moved[0] * 1e-6).right
    assert not check("7.4", moved[0] * 0.9e-6).right


# 7.3 by the rules: raised afterwards, sound, asked before, lacking.
@pytest.mark.parametrize(
    ("name", "answer"), [("7.3", [3, 0, 3, 2]), ("7.4", 0.00195), ("7.4", 0.00196)]
)
def test_right_answers_are_accepted(name: str, answer: object) -> None:
    verdict = check(name, answer)
    assert verdict.right, verdict


@pytest.mark.parametrize(
    ("name", "answer", "hint"),
    [
        ("7.3", [0, 0, 3, 2], "Look again at a"),
        ("7.3", [3, 3, 3, 2], "Look again at b"),
        ("7.3", [3, 0, 0, 2], "Look again at c"),
        ("7.3", [3, 0, 3, 1], "Look again at d"),
        ("7.3", [3, 0, 3], "kind of answer"),
        ("7.3", [3.0, 0, 3, 2], "kind of answer"),
        ("7.4", 0.00391, "the nearer of two"),
        ("7.4", 0.1, "eight significant bits"),
    ],
)
def test_wrong_answers_get_a_hint(name: str, answer: object, hint: str) -> None:
    verdict = check(name, answer)
    assert verdict.right is False
    assert hint in verdict.remark


@pytest.mark.usefixtures("models")
def test_the_tensor_that_was_renamed_and_changed() -> None:
    assert check("7.1", (VALUES, NOW)).right
    for answer, hint in {
        ("model.layers.1.mlp.up_proj.weight", NOW): "its values are the base's",
        ("model.norm.weight", NOW): "calls missing",
        (VALUES, "model.norm.weight"): "calls unexplained",
        (VALUES, MASK): "keeps its type and shape",
        (QUERY_NORM, NOW): "keeps its type and shape",
    }.items():
        verdict = check("7.1", answer)
        assert verdict.right is False
        assert hint in verdict.remark
