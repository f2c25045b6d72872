"""A LoRA adapter on disk: what it changes in which tensor of which base, or why it is refused.

A module's weight W becomes W + s B A, with s = alpha / r, or alpha / sqrt(r) where the adapter
says ``use_rslora``; r and alpha may differ by module (``rank_pattern``, ``alpha_pattern``). Layers
that keep their weight the other way around (``fan_in_fan_out``) get the transpose. Everything
else that an adapter can be is refused by name: it would be merged wrongly, or in part.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck.errors import InvalidModel, PathLike, quote
from chaincheck.model_folders import BASE_RECORD, base_of_adapter, check_adapter_folder
from chaincheck.training.checkpoint import (
    Checkpoint,
    TensorInfo,
    read_tensor,
    tensors_of,
)

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["BASE_RECORD", "Adapter", "Target", "open_adapter", "place_on"]

_CONFIG = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"
_PREFIX = "base_model.model."
_KEY = re.compile(r"base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])\.weight")
# Settings that change neither what is learned nor how it is merged, or that are read here.
_READ = frozenset(
    {
        *("task_type", "peft_type", "peft_version", "auto_mapping", "base_model_name_or_path"),
        *("revision", "inference_mode", "r", "target_modules", "exclude_modules", "lora_alpha"),
        *("lora_dropout", "fan_in_fan_out", "bias", "use_rslora", "init_lora_weights"),
        *("layers_to_transform", "layers_pattern", "rank_pattern", "alpha_pattern"),
        *("megatron_core", "megatron_config", "eva_config", "qalora_group_size", "runtime_config"),
        *("loftq_config", "corda_config", "lora_ga_config", "ensure_weight_tying"),
    }
)
_WHAT = {
    "use_dora": "DoRA",
    "modules_to_save": "whole modules trained beside LoRA (modules_to_save)",
    "lora_bias": "a bias in LoRA (lora_bias)",
    "trainable_token_indices": "trained token embeddings (trainable_token_indices)",
    "target_parameters": "LoRA on bare parameters (target_parameters)",
    "layer_replication": "replicated layers (layer_replication)",
}
_PLAIN_STARTS = (True, False, None, "gaussian", "eva", "orthogonal")
# Model types whose layers keep their weights transposed. peft looks at the layer and overrules the
# adapter's setting; where a weight is square nothing but the type would show a wrong one.
_TRANSPOSED = frozenset({"gpt2", "openai-gpt", "imagegpt", "decision_transformer"})
_FOREIGN_KEYS = (
    ("lora_embedding_", "LoRA on an embedding"),
    ("lora_magnitude_vector", "DoRA"),
    (".lora_B.bias", "a bias in LoRA"),
    (".lora_A.bias", "a bias in LoRA"),
)
_LARGEST_ALPHA = 1e30
_LAYER = re.compile(r".*\.[^.]*\.(\d+)\.")  # where peft looks for a layer's number
# How the same module is called in a model's own checkpoint and in the class that loads its text
# part only: (start in the adapter, start in the checkpoint).
_RENAMES = (
    ("", ""),
    ("model.", "model.language_model."),
    ("model.language_model.", "model."),
    ("model.", "language_model.model."),
    ("model.language_model.", "language_model.model."),
    ("", "model."),
    ("model.", ""),
)


@dataclass(frozen=True)
class Target:
    """One tensor of the base that an adapter changes.

    Attributes:
        module: the module as the adapter calls it.
        tensor: the base's tensor.
        scale: s of the formula above.
        rank: r.
    """

    module: str
    tensor: str
    scale: float
    rank: int


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter that can be merged.

    Attributes:
        folder: where it is.
        config: its ``adapter_config.json``.
        modules: for each module the infos of A and B.
        base_hash: hash of the base's weights that it was trained on, if it says so.
    """

    folder: Path
    config: Mapping[str, Any]
    modules: Mapping[str, tuple[TensorInfo, TensorInfo]]
    base_hash: str | None

    @property
    def base_name(self) -> str | None:
        """What the adapter calls its base."""
        name = self.config.get("base_model_name_or_path")
        return name if isinstance(name, str) and name else None

    def factors(self, target: Target) -> tuple[Tensor, Tensor]:
        """Read A, shape (r, inputs), and B, shape (outputs, r), as float32."""
        path = self.folder / _WEIGHTS
        a, b = (read_tensor(path, info.name).float() for info in self.modules[target.module])
        return a, b

    def delta(self, target: Target) -> Tensor:
        """Compute s B A in float32, in the shape of the base's tensor.

        The operations and their order are those of peft, so that the bits are too.
        """
        a, b = self.factors(target)
        product: Tensor = b @ a
        if self.config.get("fan_in_fan_out"):
            product = product.T
        return product * target.scale


def open_adapter(folder: PathLike) -> Adapter:
    """Read an adapter's config and the header of its weights.

    Raises:
        InvalidModel: a file is missing, damaged or pickled, the adapter is something that is not
            merged here, or it holds NaN or infinity.
    """
    place = Path(folder)
    config = check_adapter_folder(place)
    _check_config(config, place / _CONFIG)
    weights = place / _WEIGHTS
    infos = list(tensors_of(weights))
    modules = _pairs(infos, weights)
    _check_named(config, modules, place / _CONFIG)
    _check_finite(infos, weights)
    return Adapter(place, config, modules, base_of_adapter(place))


def _refused(what: str, path: Path, *, remedy: str = "Only plain LoRA is merged") -> InvalidModel:
    return InvalidModel(
        f"the adapter has {what}, which is not merged here", path=path, remedy=remedy
    )


def _check_config(config: Mapping[str, Any], path: Path) -> None:
    kind = config.get("peft_type")
    if kind != "LORA":
        raise InvalidModel(f"is an adapter of type {quote(kind)}, not LORA", path=path)
    for key, value in config.items():
        if value and key not in _READ:
            raise _refused(_WHAT.get(key, f"the setting {quote(key)}"), path)
    if config.get("bias", "none") != "none":
        raise _refused(f"trained biases (bias = {quote(config['bias'])})", path)
    if config.get("init_lora_weights", True) not in _PLAIN_STARTS:
        raise _refused(
            f"a start that changes the base's own weights ({quote(config['init_lora_weights'])})",
            path,
            remedy="Save it with path_initial_model_for_weight_conversion, as plain LoRA",
        )

    for key in ("rank_pattern", "alpha_pattern"):
        _check_patterns(config.get(key), key, path)
    for key in ("target_modules", "exclude_modules"):
        _check_patterns(dict.fromkeys(_names_meant(config.get(key))), key, path)


def _check_patterns(patterns: Any, key: str, path: Path) -> None:
    """Refuse what should map regular expressions to values and does not."""
    try:
        if patterns and not isinstance(patterns, dict):
            raise ValueError("it is no mapping")
        for pattern in patterns or ():
            re.compile(pattern)
    except (ValueError, TypeError, RecursionError, OverflowError, re.error) as cause:
        raise InvalidModel(
            f"{key} cannot be used: {cause}", path=path, remedy="Copy the adapter again"
        ) from None


def _names_meant(said: object) -> list[str]:
    """Regular expressions of the whole names of modules that a setting means; none: any name."""
    if isinstance(said, str):
        return [] if said.lower() in {"", "all-linear"} else [said]
    names = said if isinstance(said, list | tuple) else ()
    return [rf"(?:.*\.)?{re.escape(str(name))}" for name in names]


def _check_named(config: Mapping[str, Any], modules: Mapping[str, Any], path: Path) -> None:
    """Refuse weights of modules that the config leaves out: loading it would leave them out too."""
    wanted, barred = (_names_meant(config.get(f"{key}_modules")) for key in ("target", "exclude"))
    layers = None if config.get("layers_pattern") else config.get("layers_to_transform")
    layers = [layers] if isinstance(layers, int) else layers or []
    for module in modules:
        number = _LAYER.match(module)
        if wanted and not any(re.fullmatch(pattern, module) for pattern in wanted):
            left_out = "target_modules does not name"
        elif any(re.fullmatch(pattern, module) for pattern in barred):
            left_out = "exclude_modules names"
        elif layers and number and int(number[1]) not in layers:
            left_out = "is in a layer that layers_to_transform does not name"
        else:
            continue
        raise InvalidModel(
            f"the weights change {module}, which {left_out}",
            path=path,
            remedy="The config is of another adapter: copy both again",
        )


def _pairs(infos: Sequence[TensorInfo], path: Path) -> dict[str, tuple[TensorInfo, TensorInfo]]:
    sides: dict[str, dict[str, TensorInfo]] = {}
    for info in infos:
        for mark, what in _FOREIGN_KEYS:
            if mark in info.name:
                raise _refused(f"{what} ({info.name})", path)
        match = _KEY.fullmatch(info.name)
        if match is None:
            raise _refused(f"the whole tensor {info.name.removeprefix(_PREFIX)}", path)
        if len(info.shape) != 2 or 0 in info.shape:
            raise _refused(f"{info.name} of shape {list(info.shape)}", path)
        if info.dtype not in {"F32", "BF16", "F16", "F64"}:
            raise _refused(f"{info.name} of type {info.dtype}", path)
        sides.setdefault(match["module"], {})[match["side"]] = info
    for module, found in sides.items():
        lacking = next((side for side in "AB" if side not in found), None)
        if lacking:
            raise InvalidModel(f"{module} has no lora_{lacking}", path=path, remedy="Save it again")
        if found["A"].shape[0] != found["B"].shape[1]:
            raise InvalidModel(
                f"A and B of {module} do not fit: {found['A'].described()} and "
                f"{found['B'].described()}",
                path=path,
            )
    if not sides:
        raise InvalidModel("the adapter changes nothing", path=path, remedy="Check the path")
    return {module: (found["A"], found["B"]) for module, found in sorted(sides.items())}


def _check_finite(infos: Sequence[TensorInfo], path: Path) -> None:
    import torch

    for info in infos:
        if not bool(torch.isfinite(read_tensor(path, info.name)).all()):
            raise InvalidModel(
                f"{info.name} holds NaN or infinity",
                path=path,
                remedy="Train again, or stop earlier",
            )


def _of_module(config: Mapping[str, Any], key: str, module: str, default: Any) -> Any:
    """Look up a pattern as peft does: the first that matches the end of the module's name."""
    patterns = config.get(key) or {}
    for pattern, value in patterns.items():
        if re.match(rf"(.*\.)?({pattern})$", module):
            return value
    return default


def _scale(adapter: Adapter, module: str) -> tuple[float, int]:
    config = adapter.config
    rank = adapter.modules[module][0].shape[0]
    said = _of_module(config, "rank_pattern", module, config.get("r"))
    alpha = _of_module(config, "alpha_pattern", module, config.get("lora_alpha"))
    path = adapter.folder / _CONFIG
    if said != rank:
        raise InvalidModel(
            f"the rank of {module} is {rank} in the weights and {quote(said)} in the config",
            path=path,
            remedy="The config is of another adapter: copy both again",
        )
    number = isinstance(alpha, int | float) and not isinstance(alpha, bool)
    if not (number and abs(alpha) <= _LARGEST_ALPHA):  # NaN is not either
        raise InvalidModel(f"lora_alpha is {quote(alpha)}, no finite number of use", path=path)
    return alpha / (math.sqrt(rank) if config.get("use_rslora") else rank), rank


def place_on(adapter: Adapter, base: Checkpoint) -> tuple[dict[str, Target], tuple[str, str]]:
    """Find the tensor of the base that each module of the adapter changes.

    The class that trained may have called its modules otherwise than the checkpoint does (the
    text part of a vision-language model). One renaming of the start of ALL names must fit.

    Returns:
        The targets by the base's tensor, and the renaming (start in the adapter, in the base).

    Raises:
        InvalidModel: no renaming or more than one fits, a shape differs, or a tensor cannot take a
            delta: the tied embedding or head, or a type that is not floating point.
    """
    fitting = []
    closest: tuple[int, str] = (-1, "")
    for old, new in _RENAMES:
        names = {
            module: f"{new}{module.removeprefix(old)}.weight"
            for module in adapter.modules
            if module.startswith(old)
        }
        there = [module for module, name in names.items() if name in base.tensors]
        if len(there) == len(adapter.modules):
            fitting.append((names, (old, new)))
        lacking = next(iter(sorted(set(adapter.modules) - set(there))), "")
        closest = max(closest, (len(there), lacking), key=lambda one: one[0])
    if len(fitting) != 1:
        why = (
            f"the base has {closest[0]} of its {len(adapter.modules)} modules, not {closest[1]}"
            if not fitting
            else "its modules can be found in the base under more than one name"
        )
        raise InvalidModel(
            f"the adapter is not for the base {base.folder}: {why}",
            path=adapter.folder,
            remedy="Name the base that it was trained on",
        )
    names, rename = fitting[0]
    _check_orientation(adapter, base)
    targets = {}
    for module, name in names.items():
        _check_target(adapter, module, base, name)
        scale, rank = _scale(adapter, module)
        targets[name] = Target(module, name, scale, rank)
    return targets, rename


def _check_orientation(adapter: Adapter, base: Checkpoint) -> None:
    """Refuse an adapter that takes the base's weights to be transposed, or not, and is wrong."""
    said = bool(adapter.config.get("fan_in_fan_out"))
    kind = base.config.get("model_type")
    if said != (kind in _TRANSPOSED):
        raise InvalidModel(
            f"fan_in_fan_out is {said}, and layers of a model of type {quote(kind)} keep their "
            f"weights {'plain' if said else 'transposed'}: the delta would be added the wrong way "
            "around",
            path=adapter.folder / _CONFIG,
            remedy=f"Save the adapter again with fan_in_fan_out = {not said}",
        )


def _check_target(adapter: Adapter, module: str, base: Checkpoint, name: str) -> None:
    a, b = adapter.modules[module]
    info = base.tensors[name]
    if name == base.embedding or (base.tied and name == base.head):
        what = "the input embedding" if name == base.embedding else "the tied output head"
        raise InvalidModel(
            f"LoRA is on {what} ({name}), which cannot be merged without changing the other",
            path=adapter.folder,
            remedy="Train without it: target_modules='all-linear' leaves both out",
        )
    shape = (b.shape[0], a.shape[1])
    if adapter.config.get("fan_in_fan_out"):
        shape = shape[::-1]
    if info.shape != shape:
        raise InvalidModel(
            f"the adapter is not for the base {base.folder}: {module} needs shape {list(shape)}, "
            f"{name} has {list(info.shape)}",
            path=adapter.folder,
            remedy="Name the base that it was trained on",
        )
    if info.dtype not in {"F32", "BF16", "F16", "F64"}:
        raise InvalidModel(
            f"{name} is quantized or no floating-point number ({info.dtype})",
            path=base.folder,
            remedy="Merge into the base's unquantized weights",
        )
