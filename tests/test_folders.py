"""Folders appear whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from chaincheck.errors import UnreadableFile, UnwritableOutput
from chaincheck.training.folders import copy_file, new_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_it_appears_at_the_end(tmp_path: Path) -> None:
    with new_folder(tmp_path / "new") as part:
        (part / "deep").mkdir()
        (part / "deep" / "file").write_text("x", "utf-8")
        assert not (tmp_path / "new").exists()
    assert names(tmp_path) == ["new"]
    assert (tmp_path / "new" / "deep" / "file").read_text("utf-8") == "x"


@pytest.mark.parametrize(
    "cause",
    [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError("x")],
    ids=lambda one: type(one).__name__,
)
def test_whatever_goes_wrong_nothing_is_left(cause: BaseException, tmp_path: Path) -> None:
    (tmp_path / "last_good").mkdir()
    expected = UnwritableOutput if isinstance(cause, OSError) else type(cause)
    with pytest.raises(expected), new_folder(tmp_path / "new") as part:
        (part / "half").write_text("x", "utf-8")
        raise cause
    assert names(tmp_path) == ["last_good"]


@pytest.mark.parametrize("kind", ["folder", "file", "broken link"])
def test_what_stands_there_is_kept(kind: str, tmp_path: Path) -> None:
    target = tmp_path / "there"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("x", "utf-8")
    else:
        target.symlink_to(tmp_path / "nowhere")
    with (
        pytest.raises(UnwritableOutput, match=r"exists already.*Name another folder"),
        new_folder(target),
    ):
        pass
    assert names(tmp_path) == ["there"]


def test_what_came_meanwhile_is_kept(tmp_path: Path) -> None:
    with pytest.raises(UnwritableOutput, match="meanwhile"), new_folder(tmp_path / "new"):
        (tmp_path / "new").mkdir()
    assert names(tmp_path) == ["new"]


def test_a_folder_that_is_read_is_not_written_into(tmp_path: Path) -> None:
    (tmp_path / "read").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "read")
    for where in ("read/new", "link/new"):
        with (
            pytest.raises(UnwritableOutput, match="which is read"),
            new_folder(tmp_path / where, apart_from=(tmp_path / "read",)),
        ):
            pass
    assert names(tmp_path / "read") == []


def test_no_parent(tmp_path: Path) -> None:
    with pytest.raises(UnwritableOutput, match="does not exist"), new_folder(tmp_path / "a" / "b"):
        pass


def test_copies_follow_links_and_are_hashed(tmp_path: Path) -> None:
    (tmp_path / "blob").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("blob")
    digest = copy_file(tmp_path / "link", tmp_path / "copy")
    assert digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert not (tmp_path / "copy").is_symlink()
    assert os.path.getsize(tmp_path / "copy") == 3  # noqa: PTH202 - not the link's
    with pytest.raises(UnreadableFile):
        copy_file(tmp_path / "none", tmp_path / "other")
