"""Readers of single columns: liberal in what a published column may hold, strict beyond that.

Each takes a decoded value and returns what the column means, or raises a ``ValueError`` whose
message continues "column NAME ...".
"""

from __future__ import annotations

from chaincheck.errors import quote

__all__ = [
    "chain_state",
    "flag",
    "hop_number",
    "identifier",
    "optional_text",
    "passage_list",
    "support_indices",
    "text",
]


def flag(value: object) -> bool | None:
    """Read a published yes-or-no column: true, false, 0, 1 (0.0 and 1.0 too) or null.

    Raises:
        ValueError: it is anything else.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    raise ValueError(f"should be true, false, 0, 1 or null, not {quote(value)}")


def support_indices(value: object, passages: int) -> tuple[int, ...]:
    """Read a published support column: an index, a list of indices, true, false or null.

    Args:
        value: the column's value.
        passages: how many passages the row has.

    Returns:
        The indices; none for null, true and false.

    Raises:
        ValueError: it is none of these, or an index is out of range.
    """
    if value is None or isinstance(value, bool):
        return ()
    indices = value if isinstance(value, list) else [value]
    for index in indices:
        if isinstance(index, bool) or not isinstance(index, int):
            raise ValueError(f"should be a passage index or a list of them, not {quote(value)}")
        if not 0 <= index < passages:
            raise ValueError(
                f"index {quote(index)} is out of range: the row has {passages} passages"
            )
    return tuple(indices)


def identifier(value: object) -> str:
    """Read an id: text that is not blank, or a whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"should be text that is not blank, not {quote(value)}")


def text(value: object) -> str:
    """Read text that is not blank."""
    if isinstance(value, str) and value.strip():
        return value
    raise ValueError(f"should be text that is not blank, not {quote(value)}")


def optional_text(value: object) -> str | None:
    """Read text or null."""
    if value is None or isinstance(value, str):
        return value
    raise ValueError(f"should be text or null, not {quote(value)}")


def passage_list(value: object) -> tuple[str, ...]:
    """Read a list of at least one text, none of them blank."""
    if not isinstance(value, list):
        raise ValueError(f"should be a list of texts, not {quote(value)}")
    if not value:
        raise ValueError("should hold at least one passage")
    for index, passage in enumerate(value):
        if not isinstance(passage, str):
            raise ValueError(f"passage {index} should be text, not {quote(passage)}")
        if not passage.strip():
            raise ValueError(f"passage {index} is blank")
    return tuple(value)


def chain_state(value: object) -> str | None:
    """Read "intact" or "broken"; also true and false, or null."""
    if value is None or value in ("intact", "broken"):
        return value
    if isinstance(value, bool):
        return "intact" if value else "broken"
    raise ValueError(f"should be intact, broken or null, not {quote(value)}")


def hop_number(value: object) -> int | None:
    """Read the number of a later hop, from 2, or null."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 2):
        return value
    raise ValueError(f"should be a hop's number from 2, or null, not {quote(value)}")
