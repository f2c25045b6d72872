"""What a judge answers that explains itself, as replays are made of it.

The format itself is :mod:`chaincheck.rationale`, below the judges, which ask for it.
"""

from __future__ import annotations

from chaincheck.rationale import (
    Hop,
    Quote,
    Rationale,
    RationaleObject,
    decode_rationale,
    reply_format,
)

__all__ = ["Hop", "Quote", "Rationale", "RationaleObject", "decode_rationale", "reply_format"]
