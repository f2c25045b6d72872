"""Outputs are whole or absent, and equal content is equal bytes."""

from __future__ import annotations

import errno
import gzip
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaincheck import atomic
from chaincheck.atomic import (
    check_target,
    open_output,
    refuse_clashes,
    together,
    write_bytes,
    write_lines,
)
from chaincheck.errors import UnwritableOutput


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_plain_and_gzip(tmp_path: Path) -> None:
    assert write_lines(tmp_path / "a.jsonl", [b"x", b"y"]) == 2
    assert (tmp_path / "a.jsonl").read_bytes() == b"x\ny\n"
    write_lines(tmp_path / "a.jsonl.gz", [b"x", b"y"])
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == b"x\ny\n"
    assert names(tmp_path) == ["a.jsonl", "a.jsonl.gz"]


def test_gzip_holds_no_time_and_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path / "one.gz", [b"x"] * 1000)
    monkeypatch.setattr("time.time", lambda: 4e9)
    write_lines(tmp_path / "two.gz", [b"x"] * 1000)
    one, two = (tmp_path / "one.gz").read_bytes(), (tmp_path / "two.gz").read_bytes()
    assert one == two
    assert one[3:8] == b"\0\0\0\0\0"  # no flags (so no name), and a time of zero


def test_permissions_are_those_of_a_new_file_or_of_the_old_one(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        write_bytes(tmp_path / "new", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o600)
    write_bytes(tmp_path / "new", b"y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["no/such/out", "file/out", "folder", "a\0b", "x" * 300])
def test_paths_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnwritableOutput, match="cannot write") as caught:
        write_lines(tmp_path / name, [b"x"])
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)
    assert names(tmp_path) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("size", [1, 5_000_000])
def test_dev_full(size: int) -> None:
    with pytest.raises(UnwritableOutput, match="No space left"):
        write_lines("/dev/full", [b"x" * size])


class Full:
    """A file that takes a number of bytes and then finds the disk full."""

    def __init__(self, file: object, room: int) -> None:
        self._file = file
        self._room = room

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def __enter__(self) -> Full:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # type: ignore[attr-defined]

    def write(self, data: bytes) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self._file.write(data))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
@pytest.mark.parametrize("room", [0, 50_000])
def test_full_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, room: int
) -> None:
    (tmp_path / name).write_bytes(b"old")
    real = os.fdopen
    monkeypatch.setattr(
        atomic.os, "fdopen", lambda *args, **options: Full(real(*args, **options), room)
    )
    noise = [os.urandom(1000).hex().encode() for _ in range(3000)]
    with pytest.raises(UnwritableOutput, match="No space left on device"):
        write_lines(tmp_path / name, noise)
    assert names(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == b"old"


def test_a_real_full_disk(tmp_path: Path) -> None:
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("mounting a small disk needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.decode().strip()}")
    try:
        write_bytes(disk / "out.gz", b"old")
        before = (disk / "out.gz").read_bytes()
        with pytest.raises(UnwritableOutput, match="No space left"):
            write_lines(disk / "out.gz", [os.urandom(2**20)])
        assert names(disk) == ["out.gz"]
        assert (disk / "out.gz").read_bytes() == before
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_failure_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (tmp_path / "out").write_bytes(b"old")
    if failing == "fsync":
        monkeypatch.setattr(atomic.os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UnwritableOutput):
        write_bytes(tmp_path / "out", b"new")
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"old"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError, FileNotFoundError])
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "new.jsonl"])
def test_what_the_caller_raises_passes_and_leaves_nothing(
    tmp_path: Path, error: type[BaseException], name: str
) -> None:
    if name.startswith("out"):
        (tmp_path / name).write_bytes(b"old")
    before = names(tmp_path)

    def lines() -> Iterator[bytes]:
        yield b"x" * 100_000
        raise error

    with pytest.raises(error):
        write_lines(tmp_path / name, lines())
    assert names(tmp_path) == before


def test_standard_output_that_is_a_file_is_appended_to(tmp_path: Path) -> None:
    code = (
        "import sys; print('before', flush=True)\n"
        "from chaincheck.atomic import write_lines\n"
        "write_lines('/dev/stdout', [b'line'])\n"
        "print('after')"
    )
    with (tmp_path / "log").open("wb") as log:
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "before\nline\nafter\n"


def test_outputs_can_be_nested(tmp_path: Path) -> None:
    with open_output(tmp_path / "a") as a, open_output(tmp_path / "b.gz") as b:
        a.write(b"1")
        b.write(b"2")
    assert names(tmp_path) == ["a", "b.gz"]


class TestTogether:
    """Several outputs take their places at once or not at all."""

    @staticmethod
    def contents(folder: Path) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def test_none_is_seen_before_the_end(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"old")
        with together():
            write_bytes(tmp_path / "a", b"new")
            with together():  # of one command called by another
                write_bytes(tmp_path / "b.gz", b"new")
            assert (tmp_path / "a").read_bytes() == b"old"
            assert not (tmp_path / "b.gz").exists()
        assert (tmp_path / "a").read_bytes() == b"new"
        assert names(tmp_path) == ["a", "b.gz"]

    @pytest.mark.parametrize("error", [KeyboardInterrupt(), UnwritableOutput("x", "full")])
    def test_whatever_fails_all_stay_as_they_were(
        self, tmp_path: Path, error: BaseException
    ) -> None:
        (tmp_path / "a").write_bytes(b"old")
        with pytest.raises(type(error)), together():
            write_bytes(tmp_path / "a", b"new")
            write_bytes(tmp_path / "b", b"new")
            raise error
        assert self.contents(tmp_path) == {"a": b"old"}

    @pytest.mark.parametrize("failing", [1, 2, 3])
    @pytest.mark.parametrize("links", [True, False])
    @pytest.mark.parametrize("error", [PermissionError(errno.EPERM, "no"), KeyboardInterrupt()])
    def test_a_place_that_cannot_be_taken(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        failing: int,
        links: bool,
        error: BaseException,
    ) -> None:
        (tmp_path / "a").write_bytes(b"old a")
        (tmp_path / "c").write_bytes(b"old c")
        if not links and failing > 1:
            pytest.skip("without second names what was replaced cannot be put back")
        if not links:
            monkeypatch.setattr(os, "link", lambda *_: Path("none").stat())
        replace, count = Path.replace, 0

        def third(self: Path, target: Path) -> Path:
            nonlocal count
            count += self.suffix == ".part"
            if count == failing and self.suffix == ".part":
                raise error
            return replace(self, target)

        monkeypatch.setattr(Path, "replace", third)
        with pytest.raises((KeyboardInterrupt, UnwritableOutput)), together():
            for name in "abc":
                write_bytes(tmp_path / name, b"new")
        assert self.contents(tmp_path) == {"a": b"old a", "c": b"old c"}

    def test_they_are_free_again_after_a_failure(self, tmp_path: Path) -> None:
        with pytest.raises(RuntimeError), together():
            raise RuntimeError
        write_bytes(tmp_path / "a", b"new")
        assert names(tmp_path) == ["a"]


def test_an_output_in_a_folder_that_is_worked_on_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    for place in (folder / "new.json", tmp_path / "link" / "new.json", folder / "a" / ".." / "b"):
        with pytest.raises(UnwritableOutput, match="lies in a folder"):
            refuse_clashes([place], folders=[None, folder])
    refuse_clashes([None, tmp_path / "model.json", "/dev/stdout"], folders=[folder])


def test_a_target_is_checked_before_there_is_anything_to_write(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "none" / "x"):
        with pytest.raises(UnwritableOutput):
            check_target(place)
    check_target(tmp_path / "new")
    check_target("/dev/stdout")
    assert not list(tmp_path.iterdir())
