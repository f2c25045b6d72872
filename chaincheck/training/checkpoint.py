"""A model on disk: its tensors, read one at a time and accounted for as a loader would see them.

Only safetensors files are read. A loader takes ``model.safetensors`` where there is one and does
not look at ``model.safetensors.index.json`` beside it; else it takes the files that the index
names. What of a folder contradicts that is a *fault*: it is collected, not passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck.errors import InvalidModel, MissingExtra, PathLike, quote
from chaincheck.model_folders import read_config

if TYPE_CHECKING:
    from torch import Tensor

__all__ = [
    "INDEX",
    "SINGLE",
    "WEIGHT_SUFFIXES",
    "Checkpoint",
    "TensorInfo",
    "as_bytes",
    "count_prediction_layers",
    "open_checkpoint",
    "read_tensor",
    "tensors_of",
]

SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
WEIGHT_SUFFIXES = (
    *(".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".ggml", ".h5", ".msgpack"),
    *(".onnx", ".onnx_data", ".npz", ".npy", ".pkl", ".tflite", ".ot"),
)
"""Ends of the names of files that hold weights."""
_EMBEDDING = re.compile(r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|embed_in)\.weight$")
_HEAD = re.compile(r"(?:^|\.)(?:lm_head|embed_out)\.weight$")
_SIDE = re.compile(r"^(?:mtp|model\.mtp|model\.visual|visual)\.")
_MTP_LAYER = re.compile(r"^(?:model\.)?mtp\.layers\.(\d+)\.")
_ADAPTER = "adapter_config.json"
_MTP_KEY = "mtp_num_hidden_layers"


@dataclass(frozen=True)
class TensorInfo:
    """One tensor, as the header of its file has it.

    Attributes:
        name: its key.
        dtype: its type as safetensors writes it, such as "BF16".
        shape: its shape.
        file: name of the file in the folder.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: str

    def described(self) -> str:
        """Type and shape for a message."""
        return f"{self.dtype} {list(self.shape)}"


@dataclass(frozen=True)
class Checkpoint:
    """The tensors of a folder.

    Attributes:
        folder: the folder.
        config: what ``config.json`` holds.
        tensors: by name, in the order of the files and of their headers.
        files: the weight files that a loader reads.
        index: what the index holds; None where there is a single file.
        faults: what is wrong with the folder, each a sentence.
    """

    folder: Path
    config: Mapping[str, Any]
    tensors: Mapping[str, TensorInfo]
    files: tuple[str, ...]
    index: Mapping[str, Any] | None
    faults: tuple[str, ...]

    def tensor(self, name: str) -> Tensor:
        """Map one tensor into memory; only what of it is touched is read."""
        info = self.tensors[name]
        return read_tensor(self.folder / info.file, name)

    @cached_property
    def embedding(self) -> str | None:
        """Name of the input embedding, None if there is none by a known name."""
        return self._one(_EMBEDDING)

    @cached_property
    def head(self) -> str | None:
        """Name of the stored output head, None if none is stored."""
        return self._one(_HEAD)

    @property
    def tied(self) -> bool:
        """Whether the output head is the input embedding.

        The config says so; where it says nothing, a folder without a head has a tied one.
        """
        said = _nested(self.config, "tie_word_embeddings")
        if said is None:
            return self.embedding is not None and self.head is None
        return bool(said)

    @property
    def prediction_layers(self) -> int | None:
        """How many multi-token prediction layers the config tells of, None if it does not."""
        said = _nested(self.config, _MTP_KEY)
        return None if said is None else int(said)

    def _one(self, pattern: re.Pattern[str]) -> str | None:
        names = [name for name in self.tensors if pattern.search(name) and not _SIDE.match(name)]
        return min(names, key=len, default=None)


def _nested(config: Mapping[str, Any], key: str) -> Any:
    """Look a setting up: at the top, or in the part for text."""
    text = config.get("text_config")
    for part in (config, text if isinstance(text, Mapping) else {}):
        if part.get(key) is not None:
            return part[key]
    return None


def count_prediction_layers(names: Iterable[str]) -> int:
    """Count the multi-token prediction layers that tensors are of."""
    return len({match[1] for name in names if (match := _MTP_LAYER.match(name))})


def _safe_open(path: Path) -> Any:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise MissingExtra("reading model files", "judges") from None
    if path.exists() and not path.is_file():
        raise InvalidModel("is no file", path=path, remedy="Copy the folder again")
    try:
        return safe_open(path, framework="pt")
    except ImportError:
        raise MissingExtra("reading model files", "judges") from None
    except FileNotFoundError:
        raise InvalidModel("no such file", path=path, remedy="Copy the folder again") from None
    except (SafetensorError, OSError) as cause:
        raise InvalidModel(
            f"is no whole safetensors file: {cause}", path=path, remedy="Copy it again"
        ) from None


def read_tensor(path: Path, name: str) -> Tensor:
    """Map one tensor of a safetensors file into memory.

    Raises:
        InvalidModel: the file is missing or damaged.
    """
    with _safe_open(path) as file:
        tensor: Tensor = file.get_tensor(name)
        return tensor


def as_bytes(tensor: Tensor) -> Tensor:
    """See a tensor as its bytes: shape (n,), uint8. Equal bytes are equal bits, NaN included."""
    import torch

    return tensor.contiguous().reshape(-1).view(torch.uint8)


def tensors_of(path: Path) -> Iterator[TensorInfo]:
    """List the tensors of a safetensors file without reading them.

    Raises:
        InvalidModel: the file is missing or damaged.
    """
    with _safe_open(path) as file:
        for name in file.keys():  # noqa: SIM118 - it is no mapping
            part = file.get_slice(name)
            yield TensorInfo(name, part.get_dtype(), tuple(part.get_shape()), path.name)


def open_checkpoint(folder: PathLike, *, sound: bool = True) -> Checkpoint:
    """Read the headers of a model's files.

    Args:
        folder: the model.
        sound: refuse a folder with faults instead of collecting them.

    Raises:
        InvalidModel: there is no model, its weights are pickled, a file is damaged, or the folder
            has faults and ``sound`` is set.
    """
    place = Path(folder)
    if not place.is_dir():
        raise InvalidModel("no such folder", path=place, remedy="Name a model's folder")
    config = read_config(place / "config.json")
    said = _nested(config, _MTP_KEY)
    if said is not None and (not isinstance(said, int) or isinstance(said, bool) or said < 0):
        raise InvalidModel(
            f"{_MTP_KEY} is {quote(said)}, no number of layers",
            path=place / "config.json",
            remedy="Copy the model again",
        )
    faults: list[str] = []
    if (place / _ADAPTER).exists():
        faults.append(f"{_ADAPTER} lies beside the model: a loader would put that adapter on it")
    index = read_config(place / INDEX) if (place / INDEX).is_file() else None
    files = _files(place, index, faults)
    tensors: dict[str, TensorInfo] = {}
    for name in files:
        for info in tensors_of(place / name):
            if info.name in tensors:
                faults.append(f"{info.name} stands in {tensors[info.name].file} and in {name}")
            tensors[info.name] = info
    if index is not None and files != (SINGLE,):
        faults += _index_faults(index, tensors)
    if sound and faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise InvalidModel(faults[0] + more, path=place, remedy="Copy the model again")
    return Checkpoint(place, config, tensors, files, index, tuple(faults))


def _files(place: Path, index: Mapping[str, Any] | None, faults: list[str]) -> tuple[str, ...]:
    """Name the files that a loader reads."""
    here = sorted(path.name for path in place.glob("*.safetensors"))
    named: set[str] = set()
    if index is not None:
        weight_map = index.get("weight_map")
        if not isinstance(weight_map, dict) or not weight_map:
            raise InvalidModel("has no weight_map", path=place / INDEX, remedy="Copy it again")
        named = {str(name) for name in weight_map.values()}
        for name in sorted(named):
            if Path(name).name != name or not name.endswith(".safetensors"):
                raise InvalidModel(
                    f"names {quote(name)}, which is no safetensors file of this folder",
                    path=place / INDEX,
                    remedy="Copy the model again",
                )
    if SINGLE in here:
        shadowed = sorted(named - {SINGLE})
        if shadowed:
            faults.append(
                f"{SINGLE} hides the files that the index names, such as {shadowed[0]}: a loader "
                "takes the first and never looks at the others"
            )
        return (SINGLE,)
    if index is None:
        pickled = sorted(p.name for p in place.iterdir() if p.suffix in {".bin", ".pt", ".pth"})
        what = (
            f"holds pickled weights ({pickled[0]}), which are not read"
            if pickled
            else (f"holds neither {SINGLE} nor {INDEX}" if here else "holds no weights")
        )
        raise InvalidModel(what, path=place, remedy="Convert the model to safetensors")
    faults += [
        f"{name} is in the folder but not in the index" for name in here if name not in named
    ]
    return tuple(sorted(named))


def _index_faults(index: Mapping[str, Any], tensors: Mapping[str, TensorInfo]) -> Iterator[str]:
    """Hold the index against the files that it names."""
    weight_map: dict[str, str] = index["weight_map"]
    for name, file in weight_map.items():
        if name not in tensors:
            yield f"the index names {name}, which {file} does not hold"
        elif tensors[name].file != file:
            yield f"the index puts {name} into {file}; it is in {tensors[name].file}"
    for name, info in tensors.items():
        if name not in weight_map:
            yield f"{info.file} holds {name}, which the index does not name"
