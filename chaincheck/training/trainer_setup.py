"""What the library is told before it trains: processes, device, adapter, arguments, callbacks."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chaincheck.errors import InvalidModel, UsageError, one_line, quote
from chaincheck.training.recipe import Recipe

__all__ = [
    "loading_device",
    "own_bar",
    "process_count",
    "put_adapter",
    "stopping",
    "training_arguments",
    "trains_on_cpu",
]

_DEVICES = ("auto", "cpu", "cuda")


def loading_device(device: str) -> str:
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
    return "cpu" if process_count() > 1 else device


def trains_on_cpu(device: str) -> bool:
    """Whether a run that was told this device trains without a GPU."""
    import torch

    return device == "cpu" or not torch.cuda.is_available()


def process_count() -> int:
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


def put_adapter(model: Any, recipe: Recipe, base: str) -> Any:
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


def training_arguments(
    recipe: Recipe, folder: Path, count: int, *, on_cpu: bool, validated: bool
) -> Any:
    """What the library's trainer is told of a recipe.

    Args:
        recipe: the recipe.
        folder: where checkpoints go.
        count: triplets of the whole run, all passes together.
        on_cpu: whether it trains without a GPU.
        validated: whether there are triplets to validate with.

    Returns:
        ``transformers.TrainingArguments``.

    Raises:
        UsageError: the run has less than one step.
    """
    from transformers import TrainingArguments

    processes = process_count()
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


def stopping(recipe: Recipe, steps: int) -> list[Any]:
    """What stops a run early; ``steps`` of it were taken before without a better state."""
    from transformers import EarlyStoppingCallback

    if not recipe.patience:
        return []
    callback = EarlyStoppingCallback(recipe.patience)
    callback.early_stopping_patience_counter = steps // recipe.eval_every
    return [callback]


@contextlib.contextmanager
def own_bar() -> Iterator[None]:
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
