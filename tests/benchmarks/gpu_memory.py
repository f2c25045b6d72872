"""Peak memory of a part of a benchmark, on a GPU or of the process."""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path

__all__ = ["free", "peak", "reset", "resident", "wait"]


def wait(device: str) -> None:
    """Wait until the device has done what it was told."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def free(device: str) -> None:
    """Give back what nobody holds any more."""
    gc.collect()
    if device == "cuda":
        import torch

        torch.cuda.empty_cache()


def reset(device: str) -> None:
    """Begin a new peak; of a process's own memory only Linux knows a new one."""
    free(device)
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
    elif sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")


def peak(device: str) -> dict[str, int]:
    """Bytes: of tensors and of what was reserved for them on a GPU, else of the process."""
    if device == "cpu":
        return {"process": resident()}
    import torch

    return {
        "allocated": torch.cuda.max_memory_allocated(),
        "reserved": torch.cuda.max_memory_reserved(),
    }


def resident() -> int:
    """Most memory of this process, in bytes."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
