"""Reading lines and objects: every fault is named, nothing is read beyond its bounds."""

from __future__ import annotations

import gzip
import json
import time
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck import jsonl
from chaincheck.errors import BrokenLine, InputError, UnreadableFile


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def objects(path: Path) -> list[tuple[int, dict[str, object]]]:
    return list(jsonl.read_objects(path))


def test_lines_keep_their_numbers_over_blank_ones(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"a":1}\n\n  \r\n{"b":2}\r\n{"c":3}')
    assert objects(path) == [(1, {"a": 1}), (4, {"b": 2}), (5, {"c": 3})]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
@pytest.mark.parametrize("packed", [True, False])
def test_gzip_is_told_by_its_bytes_whatever_the_name(
    tmp_path: Path, name: str, packed: bool
) -> None:
    data = b'{"a":1}\n'
    path = write(tmp_path / name, gzip.compress(data) if packed else data)
    assert objects(path) == [(1, {"a": 1})]


def test_several_gzip_members_are_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gz", gzip.compress(b'{"a":1}\n') + gzip.compress(b'{"b":2}\n'))
    assert objects(path) == [(1, {"a": 1}), (2, {"b": 2})]


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"no\.jsonl: no such file"):
        objects(tmp_path / "no.jsonl")
    with pytest.raises(UnreadableFile, match="is a folder"):
        objects(tmp_path)
    with pytest.raises(UnreadableFile, match="cannot be read"):
        objects(Path("a\0b"))


@pytest.mark.parametrize("cut", [3, 9, 15, 40, -9, -4, -1])
def test_truncated_gzip(tmp_path: Path, cut: int) -> None:
    whole = gzip.compress(b"".join(b'{"a":%d}\n' % n for n in range(50_000)))
    with pytest.raises(UnreadableFile, match="ends early") as caught:
        objects(write(tmp_path / "a.gz", whole[:cut]))
    assert "truncated" in str(caught.value)
    assert caught.value.line is not None


def test_corrupt_gzip(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(b"".join(b'{"a":%d}\n' % (n * 7919) for n in range(5_000))))
    whole[len(whole) // 2] ^= 0xFF
    with pytest.raises(InputError, match=r"corrupt|not JSON|ends early|UTF-8"):
        objects(write(tmp_path / "a.gz", bytes(whole)))
    whole = bytearray(gzip.compress(b'{"a":1}\n'))
    whole[-6] ^= 0xFF  # the check sum
    with pytest.raises(UnreadableFile, match="corrupt"):
        objects(write(tmp_path / "b.gz", bytes(whole)))
    with pytest.raises(UnreadableFile, match="corrupt"):
        objects(write(tmp_path / "c.gz", gzip.compress(b'{"a":1}\n') + b"rubbish"))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        ('{"a":1}'.encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04 and so on", "zip archive"),
        (b"PAR1....", "parquet"),
        (b"[]", "no record"),
        (b'[{"a":1}', "ends early"),
        (b'[{"a":1}, {"b"', "ends early"),
    ],
)
def test_unreadable(tmp_path: Path, data: bytes, problem: str) -> None:
    with pytest.raises(UnreadableFile, match=problem):
        objects(write(tmp_path / "a.jsonl", data))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"a":1', "not JSON"),
        (b'{"a":1}}', "not JSON"),
        (b"{'a':1}", "not JSON"),
        (b"null", "null"),
        (b'"text"', "a string"),
        (b"1.5", "a number"),
        (b"true", "true or false"),
        (b'{"a":1,"a":2}', "key 'a' stands twice"),
        (b'{"x":{"a":1,"a":2}}', "key 'a' stands twice"),
        (b'{"a":1,"\\u0061":2}', "key 'a' stands twice"),
        (b'{"a":NaN}', "NaN is not a JSON number"),
        (b'{"a":Infinity}', "Infinity is not a JSON number"),
        (b'{"a":-Infinity}', "-Infinity is not a JSON number"),
        (b'{"a":"\\ud800"}', "surrogate"),
        (b'{"a":"tab\there"}', "not JSON"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deep"),
        (b'{"a":' + b"9" * 5_000 + b"}", "not JSON"),
    ],
)
def test_broken_line_names_its_place(tmp_path: Path, line: bytes, problem: str) -> None:
    path = write(tmp_path / "a.jsonl", b'{"ok":1}\n' + line + b"\n")
    with pytest.raises(BrokenLine, match=problem) as caught:
        objects(path)
    assert caught.value.line == 2
    assert str(caught.value).startswith(f"{path}:2: ")
    assert "\n" not in str(caught.value)
    assert caught.value.remedy


def test_wrong_encoding_names_the_byte(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"ok":1}\n{"a":"caf\xe9"}\n')
    with pytest.raises(UnreadableFile, match=r"0xe9 at byte 10") as caught:
        objects(path)
    assert caught.value.line == 2


def test_surrogate_pairs_are_one_character(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"a":"\\ud83d\\ude00"}')
    assert objects(path) == [(1, {"a": "\U0001f600"})]


def test_numbers_keep_their_value(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"a":[1,1.0,1.50,1e3,0.12345678901234567890,1e999]}')
    values = objects(path)[0][1]["a"]
    assert values == [1, 1.0, 1.5, 1000.0, Decimal("0.12345678901234567890"), Decimal("1E+999")]
    assert [type(value) for value in values] == [int, float, float, float, Decimal, Decimal]


class TestLongLines:
    """A line beyond the limit is refused before it is read whole."""

    def test_a_100_mb_line(self, tmp_path: Path) -> None:
        import tracemalloc

        path = tmp_path / "a.jsonl"
        with path.open("wb") as file:
            file.write(b'{"ok":1}\n{"a":"')
            for _ in range(100):
                file.write(b"x" * 2**20)
            file.write(b'"}\n')
        tracemalloc.start()
        with pytest.raises(BrokenLine, match="longer than 64 MiB") as caught:
            objects(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert caught.value.line == 2
        assert peak < 140 * 2**20

    @pytest.mark.parametrize("data", [b'{"a":"%s"}\n', b'[1,{"a":"%s"},2]'])
    def test_limit_holds_for_lines_and_records(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
    ) -> None:
        monkeypatch.setattr(jsonl, "LONGEST_LINE", 2**21)
        path = write(tmp_path / "a.jsonl", gzip.compress(data % (b"x" * 2**22)))
        with pytest.raises(BrokenLine, match="longer than 2 MiB"):
            list(jsonl.read_records(path))


class TestArrays:
    """The original 2Wiki and HotpotQA files are one JSON array."""

    @pytest.mark.parametrize("indent", [None, 1])
    @pytest.mark.parametrize("packed", [True, False])
    def test_array_equals_lines(self, tmp_path: Path, indent: int | None, packed: bool) -> None:
        rows = [{"n": n, "s": 'a "quoted" \\ [brace} ,', "l": [[1, {}], []]} for n in range(5)]
        data = json.dumps(rows, indent=indent).encode()
        path = write(tmp_path / "a.json", gzip.compress(data) if packed else data)
        assert [row for _, row in objects(path)] == rows

    def test_lines_of_a_pretty_array(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", b'\n[\n{"a":1},\n\n{"b":\n2}, {"c":3}\n]\n')
        assert [line for line, _ in objects(path)] == [3, 5, 6]

    @pytest.mark.parametrize(
        ("data", "problem"),
        [
            (b'[{"a":1},]', "element of the array is missing"),
            (b'[,{"a":1}]', "element of the array is missing"),
            (b'[{"a":1}] x', "text after"),
            (b'[{"a":1}][', "text after"),
            (b'[{"a":1}, 2]', "not a JSON object but a number"),
            (b'[{"a":1} {"b":2}]', "not JSON"),
            (b'[{"a":]}, 1]', "not JSON"),
        ],
    )
    def test_broken(self, tmp_path: Path, data: bytes, problem: str) -> None:
        with pytest.raises(BrokenLine, match=problem):
            objects(write(tmp_path / "a.json", data))

    @settings(max_examples=60, deadline=None)
    @given(
        rows=st.lists(
            st.dictionaries(
                st.text(max_size=6),
                st.recursive(
                    st.none() | st.integers() | st.text(max_size=12),
                    lambda inner: st.lists(inner, max_size=3),
                    max_leaves=6,
                ),
                max_size=4,
            ),
            min_size=1,
            max_size=8,
        ),
        chunk=st.integers(1, 40),
        indent=st.sampled_from([None, 0, 2]),
    )
    def test_chunks_fall_anywhere(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        rows: list[dict[str, object]],
        chunk: int,
        indent: int | None,
    ) -> None:
        path = tmp_path_factory.mktemp("arrays") / "a.json"
        path.write_text(json.dumps(rows, indent=indent, ensure_ascii=False), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jsonl, "_CHUNK", chunk)
            assert [row for _, row in objects(path)] == rows

    @pytest.mark.parametrize(
        "body",
        [
            b'"' + b"x" * 2**26 + b'"',
            b'"' + b'\\"' * 2**25 + b'"',
            b"[" + b"1," * 2**25 + b"1]",
            b"[" + b"{}," * 2**24 + b"[],1]",
            b"[" + b'"a\\\\",' * 2**23 + b"1]",
        ],
        ids=["text", "escapes", "numbers", "objects", "texts"],
    )
    def test_a_record_of_100_mb_is_refused_as_soon_as_a_line_is(
        self, tmp_path: Path, body: bytes
    ) -> None:
        path = write(tmp_path / "a.json", b'\n[{"ok":1},\n{"a":' + body + body + b"}]")
        start = time.process_time()
        with pytest.raises(BrokenLine, match="the record is longer than 64 MiB") as caught:
            objects(path)
        assert caught.value.line == 3
        assert time.process_time() - start < 8  # about 1; looking at bytes again took 10 to 50

    def test_deep_arrays_cost_no_more(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.json", b"[" * 2**22)
        with pytest.raises(BrokenLine, match="nested too deep"):
            objects(path)

    @settings(max_examples=200, deadline=None)
    @given(data=st.text('[]{},:"\\1a \n', max_size=30), chunk=st.integers(1, 8))
    def test_what_is_no_array_is_refused_as_json_refuses_it(
        self, tmp_path_factory: pytest.TempPathFactory, data: str, chunk: int
    ) -> None:
        path = tmp_path_factory.mktemp("arrays") / "a.json"
        path.write_text(f"[{data}", encoding="utf-8")
        try:
            decoded = json.loads(f"[{data}", object_pairs_hook=jsonl._pairs)
            good = bool(decoded) and all(isinstance(value, dict) for value in decoded)
        except ValueError:
            good = False
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(jsonl, "_CHUNK", chunk)
            if good:
                assert [row for _, row in objects(path)] == decoded
            else:
                with pytest.raises(InputError):
                    objects(path)
