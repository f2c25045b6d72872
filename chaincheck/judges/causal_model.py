"""A causal language model from a folder, loaded so that its scores can be traced.

Whatever would make the scores meaningless is refused here: weights that are missing and would be
drawn at random, an adapter that does not fit, a head that gives no tokens.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import json
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck.errors import InvalidModel, MissingExtra, UsageError
from chaincheck.judges.placement import check_kernel, usable_device
from chaincheck.model_folders import base_of_adapter, check_adapter_folder, check_model_folder
from chaincheck.models import PROVENANCE, file_hash, find_model, weights_hash

if TYPE_CHECKING:
    from chaincheck.judges.causal import CausalSettings

__all__ = ["LoadedModel", "load_causal_model", "versions"]

_VOLATILE = ("transformers_version", "_name_or_path", "torch_dtype", "dtype", "use_cache")
_ADAPTER = "adapter_model.safetensors"


@dataclass(frozen=True)
class LoadedModel:
    """A model and its tokenizer, ready to be asked.

    Attributes:
        model, tokenizer: of the library transformers; the model in evaluation mode.
        name: name for tables.
        identity: what tells its weights from others, for the instrument.
        where: the folder, for messages.
    """

    model: Any
    tokenizer: Any
    name: str
    identity: Mapping[str, Any]
    where: str = "the model"
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def context(self) -> int:
        """The longest prompt that the model takes, in tokens."""
        limits = [getattr(self.model.config.get_text_config(), "max_position_embeddings", None)]
        limits.append(getattr(self.tokenizer, "model_max_length", None))
        known = [int(limit) for limit in limits if limit and limit < 10**9]
        return min(known, default=10**9)


def versions() -> dict[str, str]:
    """Versions of the libraries that a score passes through."""
    found = {}
    for name in ("torch", "transformers", "tokenizers", "peft"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def load_causal_model(settings: CausalSettings, folder: Path = Path()) -> LoadedModel:
    """Load a model.

    Args:
        settings: which one, and how.
        folder: what relative paths are relative to.

    Raises:
        MissingExtra: torch or transformers is not installed; or peft, for an adapter.
        UsageError: the model is not here, or device or attention kernel is not to be had.
        InvalidModel: the folder cannot be used, see ``check_model_folder``; weights are missing.
    """
    where = find_model(settings.model, folder=folder, revision=settings.revision)
    config = check_model_folder(where, code=settings.code)
    try:
        import torch
        import transformers
    except ModuleNotFoundError:
        raise MissingExtra("a judge of kind 'causal'", "judges") from None
    check_kernel(settings.attention)
    device = usable_device(settings.device, torch)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    with _quiet(transformers):
        tokenizer = _load_tokenizer(where, settings, transformers)
        model = _load_weights(where, settings, torch, transformers)
    identity: dict[str, Any] = {
        "architecture": type(model).__name__,
        "weights": weights_hash(where),
        "config": _config_hash(config),
        "revision": settings.revision or _revision_of(where),
        "code": {name: file_hash(where / name) for name in sorted(settings.code)},
        "adapter": None,
    }
    if settings.adapter:
        adapter = find_model(settings.adapter, folder=folder)
        _check_base(adapter, identity["weights"], where)
        model = _with_adapter(model, adapter)
        identity["adapter"] = {
            "weights": file_hash(adapter / _ADAPTER),
            "config": _config_hash(check_adapter_folder(adapter)),
        }
    return LoadedModel(
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        name=settings.name or _name_of(settings),
        identity=identity,
        where=str(where),
    )


def _name_of(settings: CausalSettings) -> str:
    """The model's own name, and with an adapter that of its run: the base is another judge."""
    base = Path(settings.model).name
    if not settings.adapter:
        return base
    parts = Path(settings.adapter).parts
    own = [part for part in parts if part not in ("adapter", ".", "..", "/")]
    return f"{base}+{own[-1] if own else 'adapter'}"


@contextlib.contextmanager
def _quiet(transformers: Any) -> Iterator[None]:
    """Keep bars and advice of the library to itself for a moment."""
    logging = transformers.utils.logging
    before, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(before)
        if bars:
            logging.enable_progress_bar()


def _load_tokenizer(where: Path, settings: CausalSettings, transformers: Any) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(
            where, local_files_only=True, trust_remote_code=bool(settings.code)
        )
    except Exception as cause:  # the library raises many kinds for a folder that it cannot use
        raise _unusable(where, "its tokenizer cannot be loaded", cause) from None


def _load_weights(where: Path, settings: CausalSettings, torch: Any, transformers: Any) -> Any:
    try:
        model, told = transformers.AutoModelForCausalLM.from_pretrained(
            where,
            dtype=getattr(torch, settings.dtype),
            attn_implementation=settings.attention,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=bool(settings.code),
            output_loading_info=True,
        )
    except ImportError as cause:
        raise UsageError(
            f"the attention kernel {settings.attention!r} is not to be had: {_first_line(cause)}",
            remedy='Set attention = "sdpa"',
        ) from None
    except Exception as cause:  # as for the tokenizer
        if "attn_implementation=" in str(cause) and settings.attention != "sdpa":
            raise UsageError(
                f"the attention kernel {settings.attention!r} cannot be used with this model",
                remedy='Set attention = "sdpa" or "eager"',
            ) from None
        raise _unusable(where, "it cannot be loaded as a causal language model", cause) from None
    lacking = sorted(told["missing_keys"])
    if lacking:
        raise InvalidModel(
            f"{len(lacking)} weights of a causal language model are not in its files "
            f"({', '.join(lacking[:3])}), and would be drawn at random",
            path=where,
            remedy="Name the folder of a whole causal language model",
        )
    if model.get_output_embeddings() is None:
        raise InvalidModel("it gives no tokens", path=where, remedy="Name a language model")
    return model


def _check_base(adapter: Path, known: str, base: Path) -> None:
    """Refuse an adapter that was trained on other weights, even where it fits in shape."""
    trained = base_of_adapter(adapter)
    if trained is not None and trained != known:
        raise InvalidModel(
            f"the adapter is not for the model {base}: it was trained on weights {trained[:16]}, "
            f"these are {known[:16]}",
            path=adapter,
            remedy="Name the base that it was trained on",
        )


def _with_adapter(model: Any, adapter: Path) -> Any:
    """Put a LoRA adapter on a model, every weight of it."""
    check_adapter_folder(adapter)
    if not (adapter / _ADAPTER).is_file():
        raise InvalidModel(f"{_ADAPTER} is missing", path=adapter, remedy="Copy the whole folder")
    try:
        import peft
    except ModuleNotFoundError:
        raise MissingExtra("an adapter", "training") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice to whoever calls the library
            config = peft.PeftConfig.from_pretrained(str(adapter))
            config.inference_mode = True
            wrapped = peft.get_peft_model(model, config)
            weights = peft.utils.load_peft_weights(str(adapter), device="cpu")
            told = peft.set_peft_model_state_dict(wrapped, weights)
    except Exception as cause:  # the library raises many kinds for an adapter that does not fit
        raise _unusable(adapter, "the adapter does not fit the model", cause) from None
    lacking = [name for name in told.missing_keys if "lora_" in name]
    if lacking or told.unexpected_keys:
        raise InvalidModel(
            f"the adapter does not fit the model: {len(lacking)} of the model's adapter weights "
            f"are lacking, and {len(told.unexpected_keys)} of the file's have no place",
            path=adapter,
            remedy="Use the base model that it was trained on",
        )
    return wrapped.get_base_model()


def _unusable(where: Path, problem: str, cause: Exception) -> InvalidModel:
    return InvalidModel(
        f"{problem}: {_first_line(cause)}", path=where, remedy="Check what the folder holds"
    )


def _first_line(cause: Exception) -> str:
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0][:300]


def _config_hash(config: Mapping[str, Any]) -> str:
    kept = {key: value for key, value in config.items() if key not in _VOLATILE}
    return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()[:16]


def _revision_of(where: Path) -> str | None:
    """Say which revision a folder is, where it tells: a package's version, or a commit."""
    if (where / PROVENANCE).is_file():
        told = json.loads((where / PROVENANCE).read_text("utf-8"))
        return f"{told['package']} {told['version']}"
    return where.name if where.parent.name == "snapshots" else None
