"""Models on disk: found, refused when damaged, never got behind anyone's back."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec
import pytest

from chaincheck import models
from chaincheck.errors import InvalidModel, UnreadableFile, UsageError
from chaincheck.models import (
    MODELS,
    PROVENANCE,
    Provenance,
    Stored,
    cache_folder,
    damage,
    file_hash,
    find_model,
    model_folder,
    weights_hash,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CHAINCHECK_CACHE", str(folder))
    return folder


@pytest.fixture
def minilm(cache: Path) -> Path:
    """A cached model of three small files."""
    folder = cache / "models" / "minilm"
    folder.mkdir(parents=True)
    contents = {"config.json": b"{}", "model.safetensors": b"x" * 2**21, "tokenizer.json": b"{}"}
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    model = MODELS["minilm"]
    provenance = Provenance(
        model=model.name,
        title=model.title,
        license=model.license,
        package=model.package,
        version=model.version,
        wheel_sha256=model.wheel_sha256,
        source=model.folder,
        source_sha256="",
        made_with={},
        files={
            name: Stored(len(data), hashlib.sha256(data).hexdigest())
            for name, data in contents.items()
        },
    )
    (folder / PROVENANCE).write_bytes(msgspec.json.encode(provenance))
    return folder


class TestFinding:
    def test_a_folder_is_taken_as_it_is(self, tmp_path: Path) -> None:
        (tmp_path / "mine").mkdir()
        assert find_model(tmp_path / "mine") == tmp_path / "mine"
        assert find_model("mine", folder=tmp_path) == tmp_path / "mine"

    def test_a_known_model_lies_in_the_cache(self, minilm: Path) -> None:
        assert find_model("minilm") == minilm

    def test_a_known_model_that_is_absent_is_answered_by_the_command(self) -> None:
        with pytest.raises(UsageError, match=r"Get it with: chaincheck model smollm2$"):
            find_model("smollm2")

    def test_a_misspelled_name_is_answered_by_the_nearest(self) -> None:
        with pytest.raises(UsageError, match="Did you mean 'smollm2'"):
            find_model("smolm2")

    def test_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "x.gguf").touch()
        with pytest.raises(UnreadableFile, match="is a file"):
            find_model("x.gguf", folder=tmp_path)

    def test_a_hub_name_is_looked_up_on_this_machine_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("huggingface_hub", reason="the extra 'judges' is not installed")
        import socket

        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("a connection was tried")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        with pytest.raises(UsageError, match="hf download nobody/nothing --revision v2"):
            find_model("nobody/nothing", folder=tmp_path, revision="v2")

    def test_the_cache_is_where_the_variable_says(self, cache: Path) -> None:
        assert cache_folder() == cache
        assert model_folder("smollm2") == cache / "models" / "smollm2"
        assert model_folder("smollm2", "x") == Path("x/models/smollm2")

    def test_without_the_variable_it_is_the_platforms(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        platformdirs = pytest.importorskip("platformdirs")
        monkeypatch.delenv("CHAINCHECK_CACHE")
        assert cache_folder() == Path(platformdirs.user_cache_dir("chaincheck", appauthor=False))


class TestDamage:
    def test_a_whole_model_has_none(self, minilm: Path) -> None:
        assert damage(MODELS["minilm"], minilm) is None

    @pytest.mark.parametrize("thorough", [True, False])
    def test_each_kind_is_told(self, minilm: Path, thorough: bool) -> None:
        def told() -> str | None:
            return damage(MODELS["minilm"], minilm, thorough=thorough)

        (minilm / "config.json").write_bytes(b"[]")
        assert told() == "config.json has changed"
        (minilm / "config.json").write_bytes(b"{")
        assert told() == "config.json is not as long as it was"
        (minilm / "config.json").unlink()
        assert told() == "config.json is missing"
        (minilm / PROVENANCE).write_bytes(b"{")
        assert told() == f"{PROVENANCE} is damaged"
        (minilm / PROVENANCE).unlink()
        assert told() == f"{PROVENANCE} is missing"

    def test_a_damaged_model_is_not_found(self, minilm: Path) -> None:
        with (minilm / "model.safetensors").open("r+b") as file:
            file.write(b"y")
        with pytest.raises(InvalidModel, match=r"has changed\. Get it anew with: chaincheck model"):
            find_model("minilm")

    def test_another_package_is_told(self, minilm: Path) -> None:
        assert "another package" in str(damage(MODELS["smollm2"], minilm))


@pytest.mark.parametrize("name", ["mine", "minilm"])
def test_what_has_no_revisions_is_never_called_one(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match="has no revision 'v2' to choose"):
        find_model(name, folder=tmp_path, revision="v2")


class TestHashes:
    def test_they_are_those_of_the_bytes(self, tmp_path: Path) -> None:
        for size in (0, 10, 2**21):
            (tmp_path / "file").write_bytes(os.urandom(size))
            expected = hashlib.sha256((tmp_path / "file").read_bytes()).hexdigest()
            assert file_hash(tmp_path / "file") == expected
            assert file_hash(tmp_path / "file") == expected

    def test_large_files_are_read_once_until_they_change(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "large"
        path.write_bytes(b"x" * 2**21)
        reads = []
        digest = hashlib.file_digest
        monkeypatch.setattr(
            models.hashlib, "file_digest", lambda *args: reads.append(1) or digest(*args)
        )
        first = file_hash(path)
        assert file_hash(path) == first and len(reads) == 1
        assert file_hash(path, remember=False) == first and len(reads) == 2
        path.write_bytes(b"y" * 2**21)
        assert file_hash(path) != first and len(reads) == 3

    @pytest.mark.parametrize("how", ["written over", "replaced"])
    def test_other_bytes_of_the_same_size_and_time_are_read(self, tmp_path: Path, how: str) -> None:
        """Every fine-tuned model is as long as its base; archives and copies set the time."""
        path, other = tmp_path / "large", tmp_path / "other"
        path.write_bytes(b"x" * 2**21)
        os.utime(path, ns=(0, 0))
        first = file_hash(path)
        target = path if how == "written over" else other
        target.write_bytes(b"y" * 2**21)
        os.utime(target, ns=(0, 0))
        target.replace(path)
        assert file_hash(path) == hashlib.sha256(b"y" * 2**21).hexdigest() != first

    def test_a_broken_or_unwritable_memory_does_no_harm(self, tmp_path: Path, cache: Path) -> None:
        path = tmp_path / "large"
        path.write_bytes(b"x" * 2**21)
        first = file_hash(path)
        for memory in (cache / "hashes").iterdir():
            memory.write_bytes(b"{")
        assert file_hash(path) == first
        for memory in (cache / "hashes").iterdir():
            memory.unlink()
        (cache / "hashes").rmdir()
        (cache / "hashes").write_bytes(b"")
        assert file_hash(path) == first

    def test_that_of_weights_knows_names_and_contents(self, tmp_path: Path) -> None:
        (tmp_path / "a.safetensors").write_bytes(b"1")
        first = weights_hash(tmp_path)
        (tmp_path / "config.json").write_bytes(b"{}")
        assert weights_hash(tmp_path) == first
        (tmp_path / "a.safetensors").rename(tmp_path / "b.safetensors")
        second = weights_hash(tmp_path)
        (tmp_path / "b.safetensors").write_bytes(b"2")
        assert len({first, second, weights_hash(tmp_path)}) == 3

    def test_no_weights_no_hash(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidModel, match="holds no weights"):
            weights_hash(tmp_path)

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile, match="none: cannot read"):
            file_hash(tmp_path / "none")
