"""Faults put into a merged model on purpose, one at a time, to see whether an audit finds each.

Every fault is one that a release has seen somewhere: a layer that a loader dropped, a head that
was untied, an adapter that was merged twice. They are planted in a copy of a merged checkpoint of
``tiny_checkpoints``, kind "qwen3_5", whose tensor names are those of the published models.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck.errors import PathLike
from chaincheck.training.checkpoint import INDEX, SINGLE, open_checkpoint

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["FAULTS", "PlantedFault", "plant"]

Tensors = dict[str, "Tensor"]
Change = Callable[[Tensors, Mapping[str, "Tensor"]], None]

_TEXT = "model.language_model"
_EMBEDDING = f"{_TEXT}.embed_tokens.weight"
_NORM = f"{_TEXT}.norm.weight"
_LORA = f"{_TEXT}.layers.0.mlp.up_proj.weight"  # the adapter changes it
_HEAD = "lm_head.weight"
_LEFT = f"{_TEXT}.layers.0.mlp.up_proj.lora_A.weight"


@dataclass(frozen=True)
class PlantedFault:
    """One fault.

    Attributes:
        name: a short name.
        done: what is done to which tensor, in words.
        tensor: the name that an audit should give; "" for the config.
        finding: the kind of finding that it should be, a key of ``audit_results.FINDINGS``.
        change: does it, to the merged tensors; the base's are there to look at.
        config: what it changes in the config of the text part.
    """

    name: str
    done: str
    tensor: str
    finding: str
    change: Change = field(default=lambda merged, base: None, repr=False)
    config: Mapping[str, Any] = field(default_factory=dict)


def _last_bit(tensor: Tensor) -> Tensor:
    """The tensor with the last bit of its first element turned round."""
    import torch

    changed = tensor.clone()
    changed.view(-1).view(torch.int16)[0] ^= 1
    return changed


def _dropped(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    del merged["mtp.fc.weight"]


def _renamed(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    merged["model.final_norm.weight"] = merged.pop(_NORM)


def _retyped(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    merged[_NORM] = merged[_NORM].float()


def _changed(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    merged["model.visual.pos_embed.weight"] = _last_bit(merged["model.visual.pos_embed.weight"])


def _twice(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    old, new = base[_LORA].float(), merged[_LORA].float()
    merged[_LORA] = (new + (new - old)).to(base[_LORA].dtype)


def _not_at_all(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    merged[_LORA] = base[_LORA].clone()


def _untied(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    merged[_HEAD] = _last_bit(merged[_EMBEDDING])


def _unexplained(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    merged[_LEFT] = merged[_LORA][:4].clone()


def _not_a_number(merged: Tensors, base: Mapping[str, Tensor]) -> None:
    merged[_LORA] = merged[_LORA].clone()
    merged[_LORA][0, 0] = float("nan")


FAULTS: tuple[PlantedFault, ...] = (
    PlantedFault(
        "dropped",
        "one tensor of the prediction layer is left out",
        "mtp.fc.weight",
        "missing",
        _dropped,
    ),
    PlantedFault(
        "renamed", "the last norm is stored as model.final_norm", _NORM, "renamed", _renamed
    ),
    PlantedFault("retyped", "the last norm is stored in float32", _NORM, "retyped", _retyped),
    PlantedFault(
        "changed",
        "the last bit of one number in the visual tower is turned round",
        "model.visual.pos_embed.weight",
        "changed",
        _changed,
    ),
    PlantedFault("merged twice", "the delta of one layer is added twice", _LORA, "changed", _twice),
    PlantedFault(
        "not merged", "one layer is left as it is in the base", _LORA, "changed", _not_at_all
    ),
    PlantedFault(
        "untied",
        "an output head is stored that is the embedding but for one bit",
        _HEAD,
        "untied",
        _untied,
    ),
    PlantedFault(
        "unexplained",
        "a tensor of the adapter is left in the file",
        _LEFT,
        "unexplained",
        _unexplained,
    ),
    PlantedFault(
        "not a number", "one number of one layer is NaN", _LORA, "nonfinite", _not_a_number
    ),
    PlantedFault(
        "config",
        "the config tells of two prediction layers",
        "",
        "config",
        config={"mtp_num_hidden_layers": 2},
    ),
)
"""Every fault; none is of two kinds."""


def plant(fault: PlantedFault, base: PathLike, merged: PathLike, out: PathLike) -> Path:
    """Copy a merged checkpoint with one fault in it.

    Args:
        fault: which.
        base: the base's folder.
        merged: the folder of the sound merged model.
        out: the folder to write; it must not exist.

    Returns:
        ``out``.
    """
    from safetensors.torch import save_file

    one, sound = open_checkpoint(base), open_checkpoint(merged)
    tensors = {name: sound.tensor(name) for name in sound.tensors}
    fault.change(tensors, {name: one.tensor(name) for name in one.tensors})
    target = Path(out)
    shutil.copytree(merged, target, ignore=shutil.ignore_patterns("*.safetensors", INDEX))
    save_file(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        target / SINGLE,
        metadata={"format": "pt"},
    )
    if fault.config:
        path = target / "config.json"
        config = json.loads(path.read_text("utf-8"))
        config["text_config"] |= fault.config
        path.write_text(json.dumps(config, indent=2), "utf-8")
    return target
