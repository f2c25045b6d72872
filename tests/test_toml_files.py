"""TOML files of users: read, or named with what to do about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaincheck.errors import UnreadableFile
from chaincheck.toml_files import nearest, read_toml


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "one.toml"
    path.write_text('kind = "lexical"\n', "utf-8")
    assert read_toml(path) == {"kind": "lexical"}


@pytest.mark.parametrize(
    "content", [b"kind = ", b"\xff\xfe", b"a = " + b"[" * 9999, b"a = " + b"1" * 9999, None]
)
def test_what_is_none_is_named_with_the_remedy(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "one.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UnreadableFile, match=r"one\.toml") as raised:
        read_toml(path, remedy="Do this")
    assert raised.value.remedy == ("Name an existing TOML file" if content is None else "Do this")


def test_the_nearest_word_is_named_or_all() -> None:
    assert nearest("pasages", {"passages", "question"}) == "Did you mean 'passages'"
    assert nearest("zzz", {"b", "a"}) == "Known: a, b"
