"""JSON records that end in their own digest: a change by hand or on the way shows.

The digest is the SHA-256 of the rest in compact JSON with sorted keys. It is no signature: whoever
computes it anew can write another record. To pin one, publish its digest.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.errors import IntegrityError, PathLike, UnreadableFile, quote

__all__ = ["digest_of", "read_sealed", "sealed", "sealed_json"]

_LARGEST = 2**28
_ENCODER = msgspec.json.Encoder(order="deterministic")


def digest_of(record: Mapping[str, Any]) -> str:
    """Digest of a record, whether it carries one already or not."""
    rest = {key: value for key, value in record.items() if key != "digest"}
    return hashlib.sha256(_ENCODER.encode(rest)).hexdigest()


def sealed(kind: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a record into plain values and end it with its digest."""
    plain: dict[str, Any] = msgspec.json.decode(_ENCODER.encode({"kind": kind, **record}))
    return {**plain, "digest": digest_of(plain)}


def sealed_json(record: Mapping[str, Any]) -> str:
    """A sealed record as indented text."""
    return msgspec.json.format(msgspec.json.encode(record), indent=1).decode()


def read_sealed(path: PathLike, kind: str, *, remedy: str) -> dict[str, Any]:
    """Read a sealed record.

    Args:
        path: the file.
        kind: what it must be.
        remedy: what to do where it is missing.

    Raises:
        UnreadableFile: it is missing, too large, or no JSON object.
        IntegrityError: it is a record of another kind, or not as it was written.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _LARGEST:
            raise UnreadableFile("is far too large for such a record", path=path)
        record = msgspec.json.decode(file.read_bytes())
    except FileNotFoundError:
        raise UnreadableFile("no such file", path=path, remedy=remedy) from None
    except OSError as cause:
        raise UnreadableFile(f"cannot be read: {cause.strerror}", path=path) from None
    except (msgspec.DecodeError, RecursionError) as cause:
        raise UnreadableFile(f"is no JSON: {cause}", path=path, remedy="Restore a copy") from None
    if not isinstance(record, dict) or record.get("kind") != kind:
        found = record.get("kind") if isinstance(record, dict) else None
        raise IntegrityError(
            f"is {quote(found) if found else 'no such record'}, not {quote(kind)}",
            path=path,
            remedy="Check the path",
        )
    if record.get("digest") != digest_of(record):
        raise IntegrityError(
            "is not as it was written: its digest is another", path=path, remedy="Restore a copy"
        )
    return record
