"""Files written tensor by tensor are those of the safetensors library, byte for byte."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from safetensors.torch import save_file  # noqa: E402

from chaincheck.training.checkpoint import TensorInfo, read_tensor, tensors_of  # noqa: E402
from chaincheck.training.write_shards import nbytes, write_index, write_safetensors  # noqa: E402

DTYPES = [
    *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64),
    *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool),
    *(torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2),
]
NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
SHAPES = st.lists(st.integers(0, 3), max_size=3)


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(NAMES, st.tuples(SHAPES, st.sampled_from(DTYPES)), min_size=1, max_size=8),
    st.booleans(),
)
def test_the_bytes_are_those_of_the_library(
    wanted: dict[str, tuple[list[int], torch.dtype]], described: bool
) -> None:
    if "__metadata__" in wanted:
        return
    tensors = {
        name: torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
        for name, (shape, dtype) in wanted.items()
    }
    metadata = {"format": "pt"} if described else None
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = Path(folder) / "theirs", Path(folder) / "ours"
        save_file(tensors, theirs, metadata=metadata)
        infos = list(tensors_of(theirs))
        digest = write_safetensors(
            ours, infos, lambda info: read_tensor(theirs, info.name), metadata=metadata
        )
        assert ours.read_bytes() == theirs.read_bytes()
        assert digest == hashlib.sha256(ours.read_bytes()).hexdigest()


def test_a_tensor_of_another_size_is_an_error_of_the_caller(tmp_path: Path) -> None:
    info = TensorInfo("w", "F32", (3,), "f")
    with pytest.raises(ValueError, match="has 8 bytes, not 12"):
        write_safetensors(tmp_path / "f", [info], lambda _: torch.ones(2))


def test_the_total_size_is_counted(tmp_path: Path) -> None:
    infos = [TensorInfo("b", "BF16", (2, 3), "f2"), TensorInfo("a", "F32", (), "f1")]
    assert [nbytes(info) for info in infos] == [12, 4]
    write_index(tmp_path / "index", infos, {"total_size": 99, "kept": 1})
    found = json.loads((tmp_path / "index").read_text("utf-8"))
    assert found == {
        "metadata": {"total_size": 16, "kept": 1},
        "weight_map": {"a": "f1", "b": "f2"},
    }
