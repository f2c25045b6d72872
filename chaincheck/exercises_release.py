"""Checkers of the exercises of chapter 7, and what they ask about."""

from __future__ import annotations

import re
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck.exercises import exercise
from chaincheck.gate_histories import HISTORIES, run_history
from chaincheck.rounding_study import step_of
from chaincheck.training.audit import audit
from chaincheck.training.audit_results import Audit
from chaincheck.training.checkpoint import SINGLE
from chaincheck.training.gate_plan import triplets_needed

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LOST", "MARGIN", "WEIGHT", "doctored_audit"]

MARGIN, LOST = 0.03, 2
"""Of exercise 7.2: the margin, and how many triplets the candidate loses."""

WEIGHT = 0.75
"""Of exercise 7.4: the weight that is added to."""

_FORM = re.compile(r"\w+ \[[\d, ]*\]")


@lru_cache(maxsize=1)
def doctored_audit() -> Audit:
    """The audit of a checkpoint that a release script spoiled in several ways at once.

    Raises:
        MissingExtra: torch or transformers is not installed.
    """
    from chaincheck.tiny_checkpoints import save_tiny

    with tempfile.TemporaryDirectory() as folder:
        base = save_tiny(Path(folder) / "base", "qwen3")
        doctored = save_tiny(Path(folder) / "doctored", "qwen3")
        _doctor(doctored / SINGLE)
        return audit(base, doctored)


def _doctor(path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    tensors: dict[str, Tensor] = load_file(path)
    layer = "model.layers.{}.{}.weight".format
    tensors["model.layers.1.mlp.expand.weight"] = tensors.pop(layer(1, "mlp.up_proj"))
    lost = tensors.pop(layer(0, "self_attn.v_proj"))
    tensors["model.layers.0.attention.values"] = (lost.float() * 1.01).to(lost.dtype)
    del tensors[layer(1, "self_attn.q_norm")]
    tensors["model.layers.1.mlp.mask"] = torch.ones(48, dtype=torch.bfloat16)
    norm = layer(0, "input_layernorm")
    tensors[norm] = tensors[norm].float()
    save_file(tensors, path, metadata={"format": "pt"})


def _forms(found: Audit, kind: str) -> dict[str, str]:
    """Type and shape of each tensor of one kind of finding, as its detail has them."""
    forms = {}
    for one in found.findings:
        form = _FORM.match(one.detail)
        if one.kind == kind and form:
            forms[one.tensor] = form[0]
    return forms


@exercise("7.1", "Give two names: the tensor's in the base, and what it is called now.")
def _which_tensor(answer: Any) -> str | None:
    old, new = (str(name).strip() for name in answer)
    if min(len(old), len(new)) < 2:
        raise ValueError("not two names")
    found = doctored_audit()
    missing, extra = _forms(found, "missing"), _forms(found, "unexplained")
    if old not in missing:
        told = {one.tensor: one.kind for one in found.findings}
        if told.get(old) == "renamed":
            return "That one the audit did pair: its values are the base's."
        return "The first name must be of a tensor that the audit calls missing."
    if new not in extra:
        return "The second name must be of a tensor that the audit calls unexplained."
    if missing[old] != extra[new]:
        return "A tensor that only got another name and other values keeps its type and shape."
    return None


@exercise("7.2", "Give a whole number of triplets.")
def _how_many(answer: Any) -> str | None:
    right = triplets_needed(MARGIN, lost=LOST)
    if int(answer) == float(answer) == right:
        return None
    if float(answer) == triplets_needed(MARGIN):
        return "That many are enough if the two judges never differ. Here two triplets are lost."
    if float(answer) < right:
        return "With so few the bound lies at or below minus the margin: ask paired_rate_floor."
    return "That many are enough. Would one fewer be?"


@exercise("7.3", "Give four exit codes, for a, b, c and d.")
def _histories(answer: Any) -> str | None:
    given = list(answer)
    if len(given) != len(HISTORIES) or not all(type(one) is int for one in given):
        raise ValueError("not four whole numbers")
    wrong = [
        name
        for code, (name, steps) in zip(given, HISTORIES.items(), strict=True)
        if code != run_history(steps)
    ]
    if wrong:
        return (
            f"Look again at {wrong[0]}: which judgments can be told to be of after the conditions?"
        )
    return None


@exercise("7.4", "Give a number, to three digits that count.")
def _smallest_delta(answer: Any) -> str | None:
    right, given = step_of(WEIGHT) / 2, float(answer)
    if abs(given - right) <= 0.006 * right:
        return None
    if abs(given - 2 * right) <= 0.012 * right:
        return "That is the distance to the next number. Rounding goes to the nearer of two."
    return "In bfloat16 a number has eight significant bits: how far apart are they at this weight?"
