"""ChainCheck: tell whether a judge reads the evidence chain or the traces of editing."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
