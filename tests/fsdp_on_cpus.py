"""``chaincheck`` with its weights spread over CPU processes, for tests; run by accelerate launch.

accelerate takes several CPU processes for plain data parallelism, whatever its configuration says,
so a test on CPUs would never see what the sharding of weights breaks. Here it is told otherwise
before it starts, and whether the weights were spread is held to be true at the end.

``CHAINCHECK_TEST_STOP`` names a step after which the run is to fail.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from accelerate.state import AcceleratorState, PartialState
from accelerate.utils import DistributedType

from chaincheck.cli import main
from chaincheck.training.judge_trainer import JudgeTrainer


def spread() -> None:
    """Let accelerate shard on CPUs as it does on GPUs."""
    start = AcceleratorState.__init__

    def begin(self: Any, *given: Any, fsdp_plugin: Any = None, **named: Any) -> None:
        start(self, *given, fsdp_plugin=fsdp_plugin, **named)
        if fsdp_plugin is not None:
            self.distributed_type = DistributedType.FSDP
            self.fsdp_plugin = fsdp_plugin
            PartialState._shared_state["distributed_type"] = DistributedType.FSDP

    AcceleratorState.__init__ = begin


def watched() -> list[str]:
    """Note the kind of each weight as a step sees it; fail where a test wants a run to."""
    kinds: list[str] = []
    loss = JudgeTrainer.compute_loss
    stop = int(os.environ.get("CHAINCHECK_TEST_STOP", "-1"))

    def compute_loss(self: Any, *given: Any, **named: Any) -> Any:
        if self.state.global_step == stop:
            raise KeyboardInterrupt
        kinds[:] = sorted({type(weight.data).__name__ for weight in self.model.parameters()})
        return loss(self, *given, **named)

    JudgeTrainer.compute_loss = compute_loss  # type: ignore[method-assign]
    return kinds


if __name__ == "__main__":
    spread()
    seen = watched()
    code = main(sys.argv[1:])
    if code == 0 and seen != ["DTensor"]:
        sys.exit(f"the weights were not spread: {seen}")
    sys.exit(code)
