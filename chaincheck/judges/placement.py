"""Where a model runs, and by which attention kernel: what of it is here, and nothing fetched.

The library transformers takes a kernel that is called OWNER/NAME, or a flash attention that is
not installed, from a hub and runs it, where the package ``kernels`` is installed. Nothing is
downloaded and no foreign code is run here unasked, so these are refused before it sees them.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from chaincheck.errors import UsageError, quote

__all__ = ["check_kernel", "usable_device"]

_PACKAGES = {
    "flash_attention_2": "flash_attn",
    "flash_attention_3": "flash_attn_interface",
    "flash_attention_4": "flash_attn.cute",
}


def usable_device(wanted: str, torch: Any) -> Any:
    """Find a device, and make sure that a number can be computed on it and read back.

    Args:
        wanted: "auto", "cpu", "cuda", "cuda:1" and the like.
        torch: the library.

    Raises:
        UsageError: there is no such device here, or nothing can be computed on it.
    """
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(wanted)
        torch.ones(1, device=device).item()
    except (RuntimeError, AssertionError, NotImplementedError) as cause:
        first = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
        raise UsageError(
            f"the device {wanted!r} cannot be used: {first}", remedy='Set device = "cpu"'
        ) from None
    return device


def check_kernel(name: str | None) -> None:
    """Refuse an attention kernel that the library would take from a hub.

    Args:
        name: as transformers calls it; None for the model's own.

    Raises:
        UsageError: it is not on this machine.
    """
    for part in (name or "").split("|"):
        if "/" in part:
            raise UsageError(
                f"the attention kernel {quote(part)} is code from a hub, which is not fetched",
                remedy='Set attention = "sdpa"',
            )
        package = _PACKAGES.get(part)
        if package and not _installed(package):
            raise UsageError(
                f"the attention kernel {quote(part)} is not to be had: the package {package} is "
                "not installed",
                remedy='Set attention = "sdpa"',
            )


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that it would be a part of
        return False
