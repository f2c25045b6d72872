"""What a model's folder must hold before anything of it is loaded.

Loading a pickle runs whatever its maker put into it, and so does loading a model whose
configuration names Python files of its own. Both are refused here, before a library that would
obey is handed the folder.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from chaincheck.errors import IntegrityError, InvalidModel, PathLike, quote
from chaincheck.models import file_hash

__all__ = [
    "BASE_RECORD",
    "base_of_adapter",
    "check_adapter_folder",
    "check_model_folder",
    "code_of",
    "read_config",
]

BASE_RECORD = "chaincheck_base.json"
"""File in an adapter's folder that says which base it was trained on: ``{"weights": hash}``, the
hash being :func:`chaincheck.models.weights_hash` of the base's folder. Under ``files`` it holds the
SHA-256 of the adapter's own files, by name."""

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "spiece.model", "vocab.json", "vocab.txt")
_KERNEL_KEYS = ("attn_implementation", "_attn_implementation")
_CONVERT = (
    "Convert them where you trust their maker: load the model, and save it with "
    "save_pretrained(FOLDER), which writes safetensors"
)


def read_config(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file of a model.

    Raises:
        InvalidModel: missing, unreadable, or no JSON object.
    """
    try:
        content = path.read_bytes()
        value = json.loads(content)
        if b"\\ud" in content.lower():  # half a character, which no text can be written with
            json.dumps(value, ensure_ascii=False).encode()
    except OSError as error:
        raise InvalidModel(
            f"cannot read: {error.strerror}", path=path, remedy="Copy the whole model folder"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InvalidModel(
            f"is not JSON: {error}", path=path, remedy="Copy the model folder again"
        ) from None
    if not isinstance(value, dict):
        raise InvalidModel("holds no JSON object", path=path, remedy="Copy the folder again")
    return value


def check_model_folder(
    folder: PathLike, *, code: Collection[str] = (), tokenizer: bool = True
) -> dict[str, Any]:
    """Check a model's folder before it is loaded.

    Args:
        folder: the folder.
        code: names of Python files that it may run, such as "modeling_own.py".
        tokenizer: whether it must hold a tokenizer.

    Returns:
        The model's configuration, ``config.json``.

    Raises:
        InvalidModel: no such folder, no or broken configuration, no safetensors, a missing shard,
            pickles only, Python files that were not named, an adapter beside the model, or no
            tokenizer.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InvalidModel("is no folder", path=folder, remedy="Name a model's folder")
    if not (folder / "config.json").is_file():
        raise InvalidModel(
            "holds no config.json, so it is no model's folder"
            + (", but an adapter's" if (folder / "adapter_config.json").is_file() else ""),
            path=folder,
            remedy="Name the folder of a whole model; an adapter goes under the key 'adapter'",
        )
    config = read_config(folder / "config.json")
    if (folder / "adapter_config.json").exists():
        raise InvalidModel(
            "holds an adapter (adapter_config.json) beside the model; the library would put it "
            "on the model unasked",
            path=folder,
            remedy="Move adapter_config.json and adapter_model.safetensors to a folder of their "
            "own, and name that as the adapter if it is meant",
        )
    _check_kernels(config, folder)
    _check_weights(folder, "model")
    _check_code(folder, code)
    if tokenizer and not any((folder / name).is_file() for name in _TOKENIZERS):
        raise InvalidModel(
            "holds no tokenizer",
            path=folder,
            remedy="Copy tokenizer.json and tokenizer_config.json from the model's source",
        )
    return config


def check_adapter_folder(folder: PathLike) -> dict[str, Any]:
    """Check the folder of a LoRA adapter before it is loaded.

    Returns:
        Its ``adapter_config.json``.

    Raises:
        InvalidModel: as ``check_model_folder``.
        IntegrityError: a file is not as it was when the training ended.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InvalidModel("is no folder", path=folder, remedy="Name an adapter's folder")
    config = read_config(folder / "adapter_config.json")
    _check_weights(folder, "adapter")
    record = folder / BASE_RECORD
    files = read_config(record).get("files", {}) if record.is_file() else {}
    for name, digest in files.items() if isinstance(files, dict) else ():
        path = folder / name
        if not path.is_file() or file_hash(path, remember=False) != digest:
            raise IntegrityError(
                "is not as it was when the training ended",
                path=path,
                remedy="Restore the adapter's folder as a whole, or train again; an adapter that "
                f"was changed on purpose has no {BASE_RECORD}",
            )
    return config


def base_of_adapter(folder: PathLike) -> str | None:
    """Say on which base an adapter was trained.

    Returns:
        The hash of the base's weights; None of an adapter that does not record it.

    Raises:
        InvalidModel: the record cannot be read.
    """
    record = Path(folder) / BASE_RECORD
    if not record.is_file():
        return None
    known = read_config(record).get("weights")
    if known is not None and not isinstance(known, str):
        raise InvalidModel("'weights' is no text", path=record, remedy="Train again")
    return known


def _check_weights(folder: Path, what: str) -> None:
    found = sorted(folder.glob("*.safetensors"))
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = read_config(index).get("weight_map")
        if not isinstance(shards, dict):
            raise InvalidModel("names no shards", path=index, remedy="Copy the folder again")
        for name in sorted({str(shard) for shard in shards.values()}):
            if Path(name).name != name or not (folder / name).is_file():
                raise InvalidModel(
                    f"the shard {name} is missing", path=folder, remedy="Copy the whole folder"
                )
    if found:
        for path in found:
            _check_header(path)
        return
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles:
        raise InvalidModel(
            f"the {what}'s weights are pickles ({', '.join(pickles[:3])}), which run code when "
            "they are loaded; they are refused",
            path=folder,
            remedy=_CONVERT,
        )
    others = sorted(path.name for path in folder.glob("*.gguf"))
    raise InvalidModel(
        f"the {what} has no weights" + (f" but {others[0]}" if others else ""),
        path=folder,
        remedy="Copy its *.safetensors files too"
        if not others
        else "Convert it: from_pretrained(FOLDER, gguf_file=FILE), then save as safetensors",
    )


def _check_kernels(config: Mapping[str, Any], folder: Path) -> None:
    """Refuse a configuration that names an attention kernel of a hub: it would be run."""
    for key, value in config.items():
        if isinstance(value, dict):
            _check_kernels(value, folder)
        elif key in _KERNEL_KEYS and isinstance(value, str) and "/" in value:
            raise InvalidModel(
                f"its config.json asks for code from a hub, the attention kernel {quote(value)}; "
                "that is refused",
                path=folder,
                remedy=f"Take the key {key!r} out of config.json",
            )


def _check_header(path: Path) -> None:
    """Refuse a file that is cut short: its first 8 bytes say how long its header is."""
    with path.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        header = stream.read(size) if size <= path.stat().st_size - 8 else b""
    try:
        tensors = json.loads(header)
        end = max(
            (entry["data_offsets"][1] for name, entry in tensors.items() if name[:2] != "__"),
            default=0,
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        end = -1
    if end < 0 or 8 + size + end != path.stat().st_size:
        raise InvalidModel(
            "is no whole safetensors file",
            path=path,
            remedy="Copy or download it again; a file of Git LFS must be fetched with git lfs pull",
        )


def code_of(folder: Path) -> dict[str, str]:
    """List the Python files that a model's configuration asks to run.

    Returns:
        For each file, with the repository that it lies in if that is another, the class it gives.
    """
    found: dict[str, str] = {}
    for name in ("config.json", "tokenizer_config.json", "processor_config.json"):
        path = folder / name
        listed = read_config(path).get("auto_map") if path.is_file() else None
        values = listed.values() if isinstance(listed, dict) else [listed] if listed else []
        for value in values:
            for entry in value if isinstance(value, list | tuple) else [value]:
                if entry:
                    module, _, kind = str(entry).rpartition(".")
                    found[f"{module}.py"] = kind
    return found


def _check_code(folder: Path, allowed: Collection[str]) -> None:
    for file, kind in code_of(folder).items():
        if "--" in file:
            raise InvalidModel(
                f"it wants to run {kind} from another repository ({file}), which is refused",
                path=folder,
                remedy="Put the file into the model's folder, read it, and name it",
            )
        if file not in allowed:
            raise InvalidModel(
                f"it wants to run Python code of its own: {kind} of {file}; that is refused",
                path=folder,
                remedy=f'Read {file}; if you trust it, allow it by name: code = ["{file}"]',
            )
