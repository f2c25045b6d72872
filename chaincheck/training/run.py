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
import os
import re
import shutil
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chaincheck.errors import InvalidModel, MissingExtra, PathLike, UsageError, one_line, quote
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

__all__ = ["TrainingSummary", "train"]

_DEVICES = ("auto", "cpu", "cuda")


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
    processes = _processes()
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
        device=_loading_device(device),
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
    job = _Run(loaded, settings, recipe, run, identity, on_cpu=_on_cpu(device))
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
        model = _with_adapter(self.loaded.model, self.recipe, self.settings.model)
        install(model.get_base_model(), sets)
        checkpoints = self.folder / "checkpoints"
        resumed = last_whole_checkpoint(checkpoints)
        done = int(resumed.name.rpartition("-")[2]) if resumed else 0
        with _bars():
            trainer = JudgeTrainer(
                recipe=self.recipe,
                yes=len(sets.yes),
                validation=checked,
                diverged=self.folder / "diverged.json",
                model=model,
                args=_arguments(self.recipe, checkpoints, len(order), self.on_cpu, bool(checked)),
                eval_dataset=checked or None,
                train_dataset=[by_place[place] for place in order],
                callbacks=[
                    MetricsFile(self.folder / METRICS, done),
                    *_stopping(self.recipe, steps_without_a_better_one(resumed) if resumed else 0),
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


def _loading_device(device: str) -> str:
    """Where the base is put before the library takes it over.

    Of several processes each loads it into the computer's memory: "cuda" would mean the first
    device to all of them, and where the weights are to be spread over the devices the whole
    would not fit on one.

    Raises:
        UsageError: the device is none of those that a run can be told.
    """
    if device not in _DEVICES:
        raise UsageError(
            f"a run cannot be told to use the device {device!r}",
            remedy="Give auto, cpu or cuda; CUDA_VISIBLE_DEVICES says which one",
        )
    return "cpu" if _processes() > 1 else device


def _on_cpu(device: str) -> bool:
    import torch

    return device == "cpu" or not torch.cuda.is_available()


def _processes() -> int:
    """How many processes train together; a launcher tells each of them.

    Raises:
        UsageError: what it tells is no count.
    """
    told = os.environ.get("WORLD_SIZE", "1")
    if not re.fullmatch("[1-9][0-9]{0,5}", told):
        raise UsageError(
            f"the environment says that {quote(told)} processes train together: WORLD_SIZE",
            remedy="Unset WORLD_SIZE, or start the processes with accelerate launch",
        )
    return int(told)


def _with_adapter(model: Any, recipe: Recipe, base: str) -> Any:
    """Put a LoRA adapter on a model.

    Raises:
        UsageError: the recipe names layers that the model has not.
        InvalidModel: the adapter would be on the embedding or the output head.
    """
    import peft

    targets = recipe.lora.targets
    config = peft.LoraConfig(
        task_type="CAUSAL_LM",
        r=recipe.lora.rank,
        lora_alpha=recipe.lora.alpha,
        lora_dropout=recipe.lora.dropout,
        target_modules=targets if isinstance(targets, str) else list(targets),
    )
    barred = {id(model.get_input_embeddings()), id(model.get_output_embeddings())}
    names = {name for name, module in model.named_modules() if id(module) in barred}
    try:
        with warnings.catch_warnings():
            # peft asks for it by the name that the other library is about to drop.
            warnings.filterwarnings("ignore", ".*is_gradient_checkpointing", FutureWarning)
            wrapped = peft.get_peft_model(model, config)
    except (ValueError, re.error, RecursionError) as cause:
        raise UsageError(
            f"lora.targets cannot be used: {one_line(str(cause))[:300]}",
            remedy='Set targets = "all-linear"',
        ) from None
    on = {
        name.removeprefix("base_model.model.")
        for name, module in wrapped.named_modules()
        if hasattr(module, "lora_A")
    }
    for name in sorted(names & on):
        raise InvalidModel(
            f"the adapter would be on {name}, the embedding or the output head, which cannot be "
            "merged into a model that ties the two, and of which only yes and no are computed",
            path=base,
            remedy='Set lora.targets = "all-linear", which leaves both out',
        )
    # The folder's place on this machine would be written into the adapter otherwise.
    wrapped.peft_config["default"].base_model_name_or_path = Path(base).name
    return wrapped


def _arguments(recipe: Recipe, folder: Path, count: int, on_cpu: bool, validated: bool) -> Any:
    from transformers import TrainingArguments

    processes = _processes()
    steps = count // (recipe.batch * recipe.accumulation * processes)
    if steps < 1:
        raise UsageError(
            f"{processes} processes take {recipe.batch * recipe.accumulation * processes} triplets "
            f"a step, and the run has {count}",
            remedy="Set a smaller batch or accumulation",
        )
    every = recipe.eval_every if validated else 0
    # What is kept is chosen among the states that were validated, so each of them is saved.
    save = every or recipe.save_every
    arguments = TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=recipe.batch,
        gradient_accumulation_steps=recipe.accumulation,
        max_steps=steps,
        learning_rate=recipe.learning_rate,
        lr_scheduler_type=recipe.schedule,
        warmup_steps=round(recipe.warmup * steps),
        weight_decay=recipe.weight_decay,
        max_grad_norm=recipe.clip,
        optim="adamw_torch",
        seed=recipe.seed,
        data_seed=recipe.seed,
        logging_steps=1,
        logging_nan_inf_filter=False,
        report_to="none",
        eval_strategy="steps" if every else "no",
        eval_steps=every or None,
        save_strategy="steps" if save else "no",
        save_steps=save or 500,
        save_total_limit=2,
        load_best_model_at_end=bool(every),
        metric_for_best_model="sigma" if every else None,
        greater_is_better=True if every else None,
        activation_checkpointing=recipe.gradient_checkpointing,
        activation_checkpointing_kwargs={"use_reentrant": False},
        remove_unused_columns=False,
        dataloader_pin_memory=not on_cpu,
        use_cpu=on_cpu,
        disable_tqdm=not sys.stderr.isatty(),
    )
    # Of a process that sees several devices the library would make threads that split each batch,
    # positions and all. One process takes one device.
    arguments._n_gpu = min(1, arguments.n_gpu)
    return arguments


def _stopping(recipe: Recipe, steps: int) -> list[Any]:
    """What stops a run early; ``steps`` of it were taken before without a better state."""
    from transformers import EarlyStoppingCallback

    if not recipe.patience:
        return []
    callback = EarlyStoppingCallback(recipe.patience)
    callback.early_stopping_patience_counter = steps // recipe.eval_every
    return [callback]


@contextlib.contextmanager
def _bars() -> Iterator[None]:
    """Keep the library's advice and its printed logs to itself; its progress bar stays."""
    import transformers

    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
            # About names that the library will drop some day; not for whoever trains.
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.set_verbosity(before)
