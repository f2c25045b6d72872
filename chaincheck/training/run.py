"""One training run: from triplets and a base model to an adapter, and what it rests on.

A run's folder holds

==================== ===========================================================================
``run.json``         what is trained on what: recipe, data, base and its tokenizer; written
                     before the first step
``metrics.jsonl``    loss, its terms, mean scores and validations, one line a step
``checkpoints/``     where an interrupted run goes on from
``adapter/``         the LoRA adapter, safetensors, written when the run is done
``training.json``    what came out, and how long it took
==================== ===========================================================================

A run whose folder is there goes on from its last whole checkpoint, if recipe, data and base are
the same, and is refused if they are not.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chaincheck.errors import MissingExtra, PathLike, UsageError
from chaincheck.items import Triplet, read_triplets
from chaincheck.judges.causal import CausalSettings
from chaincheck.judges.causal_model import LoadedModel, load_causal_model, versions
from chaincheck.judges.prompts import load_prompt
from chaincheck.judges.token_sets import tokenizer_hash
from chaincheck.models import find_model, weights_hash
from chaincheck.training.examples import Example, draw, encode, run_order
from chaincheck.training.recipe import Recipe
from chaincheck.training.run_folder import (
    ADAPTER,
    METRICS,
    TrainingSummary,
    begin,
    claimed,
    finished,
    is_first_process,
    keep_adapter,
    lines_hash,
    make_folder,
    refuse_overlap,
    write_summary,
)
from chaincheck.training.trainer_setup import (
    loading_device,
    own_bar,
    process_count,
    put_adapter,
    stopping,
    training_arguments,
    trains_on_cpu,
)

__all__ = ["TrainingSummary", "train"]


def train(
    base: str,
    data: PathLike,
    out: PathLike,
    recipe: Recipe,
    *,
    validation: PathLike | None = None,
    device: str = "auto",
    threads: int | None = None,
    code: Sequence[str] = (),
) -> TrainingSummary:
    """Train a LoRA adapter, or go on with training one.

    Args:
        base: a model's folder or name.
        data: triplets to train on.
        out: the run's folder; made if it is not there.
        recipe: how.
        validation: triplets to validate with; they choose the state that is kept.
        device: "auto", "cpu" or "cuda".
        threads: threads of the CPU.
        code: Python files of the base's folder that may run.

    Returns:
        What was done.

    Raises:
        MissingExtra: peft is not installed.
        UsageError: the folder is of another run, or the recipe does not fit base or data.
        IncompleteTriplet: a triplet lacks a cell that the recipe needs.
        InvalidModel: the base cannot be used, or the adapter would be on its embedding or head.
        TrainingDiverged: a loss that is not finite.
        UnwritableOutput: the folder cannot be written, or the disk is full; the last whole
            checkpoint is kept.
    """
    try:
        import peft  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra("training", "training") from None
    if recipe.eval_every and validation is None:
        raise UsageError(
            "the recipe validates while it trains, and there is nothing to validate with",
            remedy="Name a file of triplets with --validation",
        )
    processes = process_count()
    triplets = read_triplets(data, cells=recipe.cells)
    held_out = read_triplets(validation) if validation is not None else []
    refuse_overlap(triplets, held_out, validation)
    run = Path(out)
    identity = {
        "recipe": recipe.settings,
        "data": lines_hash(data),
        "validation": lines_hash(validation) if validation is not None else "",
        "prompt": load_prompt(recipe.prompt).digest,
    }
    done = finished(run, identity)
    if done is not None:
        _refuse_other_base(done, base, run)
        return done
    settings = CausalSettings(
        model=base,
        dtype=recipe.dtype,
        attention=recipe.attention,
        device=loading_device(device),
        threads=threads,
        code=tuple(code),
        prompt=recipe.prompt,
    )
    loaded = load_causal_model(settings)
    template = str(getattr(loaded.tokenizer, "chat_template", None))
    identity |= {
        "base": dict(loaded.identity),
        "tokenizer": tokenizer_hash(loaded.tokenizer)[:16],
        "template": hashlib.sha256(template.encode()).hexdigest()[:16],
    }
    job = _Run(loaded, settings, recipe, run, identity, on_cpu=trains_on_cpu(device))
    with contextlib.ExitStack() as stack:
        if is_first_process():
            make_folder(run)
            stack.enter_context(claimed(run))
            begin(run, identity)
            # Another process may have ended this run while the base was loaded here.
            done = finished(run, identity) if processes == 1 else None
            if done is not None:
                return done
        return job.go(triplets, held_out, data, validation)


def _refuse_other_base(done: TrainingSummary, base: str, run: Path) -> None:
    """Refuse to give what a run came to as that of another base; nothing is loaded for that."""
    weights = weights_hash(find_model(base))
    if weights != done.base["weights"]:
        raise UsageError(
            f"{run} is of another run (base: {done.base['weights'][:16]} there, {weights[:16]} "
            "now)",
            remedy="Name another folder, or the base of that run",
        )


class _Run:
    """The parts of one run, so that each step of it can be read by itself."""

    def __init__(
        self,
        loaded: LoadedModel,
        settings: CausalSettings,
        recipe: Recipe,
        folder: Path,
        identity: dict[str, Any],
        *,
        on_cpu: bool,
    ) -> None:
        self.on_cpu = on_cpu
        self.loaded, self.settings, self.recipe = loaded, settings, recipe
        self.folder, self.identity = folder, identity

    def go(
        self,
        triplets: Sequence[Triplet],
        held_out: Sequence[Triplet],
        data: PathLike,
        validation: PathLike | None,
    ) -> TrainingSummary:
        """Encode, train, keep the adapter and say what was done."""
        import torch
        import transformers
        from transformers.trainer_callback import PrinterCallback

        from chaincheck.judges.rendering import Renderer
        from chaincheck.judges.token_sets import find_token_sets
        from chaincheck.training.answer_head import install
        from chaincheck.training.judge_trainer import (
            JudgeTrainer,
            MetricsFile,
            last_whole_checkpoint,
            steps_without_a_better_one,
        )

        started = time.monotonic()
        prompt = load_prompt(self.recipe.prompt)
        sets = find_token_sets(
            self.loaded.tokenizer,
            prompt.yes,
            prompt.no,
            rows=len(self.loaded.model.get_output_embeddings().weight),
        )
        render = Renderer(self.loaded.tokenizer, prompt, where=self.loaded.where)
        generator = np.random.default_rng(self.recipe.seed)
        order = run_order(draw(triplets, self.recipe, generator), self.recipe, generator, triplets)
        known = self._encoded([triplets[place] for place in sorted(set(order))], render, data)
        by_place = dict(zip(sorted(set(order)), known, strict=True))
        checked = self._encoded(held_out, render, validation or data, cells=("A", "B", "D"))
        transformers.set_seed(self.recipe.seed)
        model = put_adapter(self.loaded.model, self.recipe, self.settings.model)
        install(model.get_base_model(), sets)
        checkpoints = self.folder / "checkpoints"
        resumed = last_whole_checkpoint(checkpoints)
        done = int(resumed.name.rpartition("-")[2]) if resumed else 0
        with own_bar():
            trainer = JudgeTrainer(
                recipe=self.recipe,
                yes=len(sets.yes),
                validation=checked,
                diverged=self.folder / "diverged.json",
                model=model,
                args=training_arguments(
                    self.recipe,
                    checkpoints,
                    len(order),
                    on_cpu=self.on_cpu,
                    validated=bool(checked),
                ),
                eval_dataset=checked or None,
                train_dataset=[by_place[place] for place in order],
                callbacks=[
                    MetricsFile(self.folder / METRICS, done),
                    *stopping(self.recipe, steps_without_a_better_one(resumed) if resumed else 0),
                ],
            )
            # It prints every log where no bar is shown; ours go to a file.
            trainer.remove_callback(PrinterCallback)
            trainer.train(resume_from_checkpoint=str(resumed) if resumed else None)
            trainer.check_finite()
            final = trainer.validate() if checked else {}
        state = trainer.state
        keep_adapter(trainer, self.folder / ADAPTER, self.loaded.identity)
        counts = Counter(triplets[place].variant for place in order)
        summary = TrainingSummary(
            adapter=str(self.folder / ADAPTER),
            recipe=self.recipe.digest,
            data=self.identity["data"],
            validation=self.identity["validation"],
            base={"name": self.loaded.name, "weights": str(self.loaded.identity["weights"])},
            triplets=dict(sorted(counts.items())),
            steps=(state.global_step, state.max_steps),
            kept=state.best_global_step or state.global_step,
            seconds=time.monotonic() - started,
            final=final,
            validated=dict(sorted(Counter(one.variant for one in checked).items())),
            acquisition={
                "device": str(trainer.args.device),
                "threads": torch.get_num_threads(),
                "processes": trainer.args.world_size,
                "versions": versions(),
            },
        )
        if trainer.args.should_save:
            write_summary(self.folder, summary)
            shutil.rmtree(checkpoints, ignore_errors=True)
        return summary

    def _encoded(
        self,
        triplets: Sequence[Triplet],
        render: Any,
        path: PathLike,
        cells: tuple[str, ...] | None = None,
    ) -> list[Example]:
        found = encode(
            triplets, render, cells or self.recipe.cells, context=self.loaded.context, path=path
        )
        return list(found)
