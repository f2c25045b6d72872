"""Write safetensors files tensor by tensor, so that one tensor is in memory and not a whole file.

The format: eight bytes with the length of the header, the header as JSON padded with spaces to a
multiple of eight, the tensors' bytes one after the other. Wide types stand first, so that every
tensor is aligned; this is the order, and these are the bytes, of the safetensors library.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck.training.checkpoint import TensorInfo, as_bytes

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["nbytes", "write_index", "write_safetensors"]

_BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F4",), 4),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
}
# The library's own order of types of one width.
_ORDER = (
    *("BOOL", "F4", "F6_E2M3", "F6_E3M2", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E5M2FNUZ"),
    *("F8_E4M3FNUZ", "F8_E8M0", "I16", "U16", "F16", "BF16", "I32", "U32", "F32", "C64", "F64"),
    *("I64", "U64"),
)


def nbytes(info: TensorInfo) -> int:
    """Size of a tensor in bytes."""
    count = 1
    for length in info.shape:
        count *= length
    return count * _BITS.get(info.dtype, 8) // 8


def _place(info: TensorInfo) -> tuple[int, str]:
    return (-_ORDER.index(info.dtype) if info.dtype in _ORDER else 0, info.name)


def write_safetensors(
    path: Path,
    infos: Sequence[TensorInfo],
    tensor: Callable[[TensorInfo], Tensor],
    *,
    metadata: dict[str, str] | None = None,
) -> str:
    """Write one file.

    Args:
        path: the file.
        infos: what it will hold; types and shapes must be those of the tensors.
        tensor: gives each tensor when its turn comes.
        metadata: texts for the header.

    Returns:
        The SHA-256 of the file.

    Raises:
        OSError: it cannot be written.
        ValueError: a tensor is not as large as announced.
    """
    ordered = sorted(infos, key=_place)
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    offset = 0
    for info in ordered:
        end = offset + nbytes(info)
        header[info.name] = {
            "dtype": info.dtype,
            "shape": list(info.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for part in (len(text).to_bytes(8, "little"), text):
            file.write(part)
            digest.update(part)
        for info in ordered:
            data = memoryview(as_bytes(tensor(info)).numpy())
            if data.nbytes != nbytes(info):
                raise ValueError(f"{info.name} has {data.nbytes} bytes, not {nbytes(info)}")
            file.write(data)
            digest.update(data)
    return digest.hexdigest()


def write_index(
    path: Path, infos: Sequence[TensorInfo], metadata: dict[str, Any] | None = None
) -> None:
    """Write an index; its ``total_size`` is the sum of what the tensors take.

    Raises:
        OSError: it cannot be written.
    """
    found = {
        "metadata": {**(metadata or {}), "total_size": sum(map(nbytes, infos))},
        "weight_map": {info.name: info.file for info in sorted(infos, key=lambda one: one.name)},
    }
    path.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
