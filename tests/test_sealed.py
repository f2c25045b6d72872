"""Sealed records: what was changed shows, what is another record is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.errors import IntegrityError, UnreadableFile
from chaincheck.training.sealed import digest_of, read_sealed, sealed, sealed_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
RECORDS = st.dictionaries(st.text(min_size=1, max_size=4), VALUES, max_size=4)


@given(RECORDS)
def test_a_record_reads_back_and_the_order_of_keys_is_no_matter(record: dict[str, Any]) -> None:
    record = {key: value for key, value in record.items() if key not in {"kind", "digest"}}
    made = sealed("k", record)
    assert json.loads(sealed_json(made)) == made
    assert digest_of(dict(reversed(list(made.items())))) == made["digest"]


@given(RECORDS, RECORDS)
def test_another_record_has_another_digest(one: dict[str, Any], other: dict[str, Any]) -> None:
    # JSON tells 1 from true, Python's equality does not.
    if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        assert sealed("k", one)["digest"] != sealed("k", other)["digest"]


def put(path: Path, record: Any) -> Path:
    path.write_text(json.dumps(record), "utf-8")
    return path


def test_what_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    good = sealed("k", {"x": 1})
    assert read_sealed(put(path, good), "k", remedy="") == good
    for bad in ({**good, "x": 2}, {**good, "more": 1}, {"kind": "k"}, {**good, "digest": None}):
        with pytest.raises(IntegrityError, match="not as it was written"):
            read_sealed(put(path, bad), "k", remedy="")
    for other in (sealed("other", {}), [], {"x": 1}, "text"):
        with pytest.raises(IntegrityError, match="not 'k'"):
            read_sealed(put(path, other), "k", remedy="")
    path.write_text("{", "utf-8")
    with pytest.raises(UnreadableFile, match="is no JSON"):
        read_sealed(path, "k", remedy="")
    with pytest.raises(UnreadableFile, match=r"no such file\. Make it"):
        read_sealed(tmp_path / "none", "k", remedy="Make it")
    with pytest.raises(UnreadableFile):
        read_sealed(tmp_path, "k", remedy="")
