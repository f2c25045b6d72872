"""The training loop: the library's own, with our loss, our validation and our order.

Four things of ``transformers.Trainer`` do not fit and are overridden. Its loss is the model's own.
Where a model's forward takes further arguments, it holds the loss to be summed over tokens and
does not divide it by the number of accumulated batches. It shuffles by itself. And a checkpoint
that was cut short looks like a whole one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Sampler, SequentialSampler
from transformers import Trainer, TrainerCallback

from chaincheck.atomic import write_bytes
from chaincheck.cells import CellScores, labels
from chaincheck.errors import MeasuredFailure, TrainingDiverged, UnwritableOutput
from chaincheck.models import file_hash
from chaincheck.selectivity import measure
from chaincheck.training.answer_head import log_odds
from chaincheck.training.examples import Example, collate
from chaincheck.training.loss import triplet_loss
from chaincheck.training.recipe import Recipe

__all__ = [
    "COMPLETE",
    "JudgeTrainer",
    "MetricsFile",
    "last_whole_checkpoint",
    "steps_without_a_better_one",
]

_CALMER = 'Lower learning_rate, or set dtype = "float32"; the last checkpoint is whole'
COMPLETE = "complete.json"
"""Written into a checkpoint when everything else of it is on the disk, with the files' hashes."""


class JudgeTrainer(Trainer):  # type: ignore[misc]
    """Trains a model that carries an ``AnswerHead``.

    Args:
        recipe: what is trained.
        yes: how many of the head's rows say yes.
        validation: triplets to validate with, encoded with cells A, B and D; may be empty.
        diverged: where a batch is kept that gave no finite loss.
        rest: what ``Trainer`` takes.
    """

    control: Any

    def __init__(
        self,
        *,
        recipe: Recipe,
        yes: int,
        validation: Sequence[Example],
        diverged: Path,
        **rest: Any,
    ) -> None:
        super().__init__(data_collator=collate(recipe.cells), **rest)
        self.add_callback(_BestIsHere())
        self.loss_is_scaled_for_ga = False  # it is a mean, and is divided where batches add up
        self._recipe = recipe
        self._yes = yes
        self._validation = list(validation)
        self._diverged = diverged
        self._takes_positions = _takes_positions(self.model)
        self._sums: dict[str, float] = {}
        self._count = 0

    def scores(self, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Compute the log-odds of each prompt of a batch, shape (prompts,)."""
        last = inputs["last"]
        row = torch.arange(len(last), device=last.device)
        if self._takes_positions:
            kept, place = torch.unique(last, return_inverse=True)
            logits = model(
                input_ids=inputs["input_ids"], logits_to_keep=kept, use_cache=False
            ).logits
            return log_odds(logits[row, place], self._yes)
        logits = model(input_ids=inputs["input_ids"], use_cache=False).logits
        return log_odds(logits[row, last], self._yes)

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Mean loss of a batch's triplets.

        Raises:
            TrainingDiverged: it is not finite; the batch is kept.
        """
        cells = self._recipe.cells
        scores = dict(zip(cells, self.scores(model, inputs).chunk(len(cells)), strict=True))
        loss, parts = triplet_loss(scores, self._recipe.loss, broken=self._recipe.broken)
        mean = loss.mean()
        if not torch.isfinite(mean):
            raise self._stop(inputs, scores, mean)
        self._note(parts, scores)
        return (mean, scores) if return_outputs else mean

    def _stop(
        self, inputs: dict[str, Any], scores: dict[str, torch.Tensor], loss: torch.Tensor
    ) -> TrainingDiverged:
        """Keep what gave no finite loss, so that it can be looked into."""
        kept = {
            "step": self.state.global_step + 1,
            "loss": repr(float(loss.detach())),
            "triplets": inputs["members"],
            "scores": {cell: [repr(one) for one in some.tolist()] for cell, some in scores.items()},
            "tokens": inputs["input_ids"].tolist(),
            "last": inputs["last"].tolist(),
        }
        write_bytes(self._diverged, json.dumps(kept, indent=1).encode())
        return TrainingDiverged(self.state.global_step + 1, self._diverged)

    def _note(self, parts: dict[str, torch.Tensor], scores: dict[str, torch.Tensor]) -> None:
        found = {f"loss_{name}": part.mean() for name, part in parts.items()}
        found |= {f"score_{cell}": some.mean() for cell, some in scores.items()}
        for name, value in found.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(value.detach())
        self._count += 1

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """Log, with the terms of the loss and the cells' mean scores since the last time."""
        if "loss" in logs and self._count:
            logs |= {name: value / self._count for name, value in self._sums.items()}
            self._sums, self._count = {}, 0
        super().log(logs, start_time)

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        return SequentialSampler(self.train_dataset)  # the order is drawn beforehand

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """Measure Nominal, CE, EE and Sigma of each variant of the validation triplets.

        ``eval_sigma`` is the lowest Sigma of the variants, by which the best state is chosen; of
        several that are alike the earliest.
        """
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in self.validate().items()}
        self.log(metrics)
        handler: Any = self.callback_handler
        self.control = handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def validate(self) -> dict[str, float]:
        """Score the validation triplets in evaluation mode and measure them."""
        model = self.model_wrapped
        training = model.training
        model.eval()
        cells = ("A", "B", "D")
        gather = collate(cells)
        size = max(1, self._recipe.batch)
        rows: list[np.ndarray[Any, Any]] = []
        with torch.inference_mode():
            for start in range(0, len(self._validation), size):
                batch = self._prepare_inputs(gather(self._validation[start : start + size]))
                rows.append(self.scores(model, batch).double().cpu().numpy().reshape(3, -1))
        model.train(training)
        scores = np.concatenate(rows, axis=1)
        if not np.isfinite(scores).all():
            raise MeasuredFailure(
                f"after step {self.state.global_step:,} the score of a validation triplet is not "
                "finite",
                remedy=_CALMER,
            )
        return _measured(self._validation, scores)

    def check_finite(self) -> None:
        """Refuse an adapter with NaN or infinity: a gradient may hold some where no loss does.

        Raises:
            MeasuredFailure: a weight of it is not finite.
        """
        for name, weight in self.model.named_parameters():
            part = weight.to_local() if hasattr(weight, "to_local") else weight
            if weight.requires_grad and not torch.isfinite(part).all():
                raise MeasuredFailure(
                    f"after step {self.state.global_step:,} {name} holds NaN or infinity; no "
                    "adapter is written",
                    remedy=_CALMER,
                )

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the adapter; every process must call it, and the first one writes.

        Where the weights are spread over processes the library would gather the whole model for
        this; the adapter is all that is asked for.
        """
        if self.is_fsdp_enabled:
            self._save(output_dir, state_dict=_gathered(self.model))
        else:
            super().save_model(output_dir, _internal_call)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Save the adapter and nothing else; the library would pickle its arguments beside it.

        Asked whether the vocabulary has grown, it would look the base up on a hub; it has not.
        """
        if self.args.should_save:
            self.accelerator.unwrap_model(self.model).save_pretrained(
                output_dir or self.args.output_dir,
                state_dict=state_dict,
                save_embedding_layers=False,
            )

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        """Save a checkpoint and mark it as whole; one that cannot be written leaves no trace."""
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        try:
            super()._save_checkpoint(model, trial)
            self.accelerator.wait_for_everyone()  # each process writes its generators' state
            if self.args.should_save:
                write_bytes(folder / COMPLETE, json.dumps(_hashes(folder)).encode())
        except Exception as cause:
            if self.args.should_save:
                shutil.rmtree(folder, ignore_errors=True)
            if isinstance(cause, UnwritableOutput):
                raise
            # Each writer has its own kind of error for a full disk.
            told = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
            raise UnwritableOutput(folder, f"{told}; the checkpoint before it is kept") from cause


def _gathered(model: Any) -> dict[str, torch.Tensor]:
    """Put what is trained together from all processes, on the CPU."""
    return {
        name: (weight.full_tensor() if hasattr(weight, "full_tensor") else weight).detach().cpu()
        for name, weight in model.named_parameters()
        if weight.requires_grad
    }


def _takes_positions(model: Any) -> bool:
    import inspect

    inner = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "logits_to_keep" in inspect.signature(inner.forward).parameters


def _measured(examples: Sequence[Example], scores: np.ndarray[Any, Any]) -> dict[str, float]:
    """Measure scores of shape (3, n), rows A, B, D, variant by variant."""
    questions = labels([example.question for example in examples])
    found: dict[str, float] = {}
    for variant in sorted({example.variant for example in examples}):
        mask = np.array([example.variant == variant for example in examples])
        a, b, d = scores[:, mask]
        cells = CellScores("validation", variant, a, b, d, cluster=questions[mask])
        row = measure(cells, np.random.default_rng(0), resamples=200, by="cluster")
        found |= {
            f"{variant}_nominal": row.nominal.estimate,
            f"{variant}_ce": row.chain_effect.estimate,
            f"{variant}_ee": row.edit_effect.estimate,
            # Equal counts must give equal numbers: the last bit of a difference would else choose
            # among states that are alike, where the earliest is to be kept.
            f"{variant}_sigma": round(row.selectivity, 12),
            f"{variant}_gap": float(np.mean(b - d)),
        }
    return {**found, "sigma": min(v for k, v in found.items() if k.endswith("_sigma"))}


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.name: file_hash(path)
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != COMPLETE
    }


def last_whole_checkpoint(folder: Path) -> Path | None:
    """Find the last checkpoint that a run can go on from; remove those that it cannot.

    Every file of it must be as it was written. So must every file of the checkpoint that it calls
    the best: at the end that one is kept, and without it the library would keep the last, and say
    nothing.

    Args:
        folder: where the checkpoints are.
    """
    found = {
        int(number): path
        for path in folder.glob("checkpoint-*")
        if (number := path.name.rpartition("-")[2]).isdigit()
    }
    whole = {step: path for step, path in sorted(found.items()) if _is_whole(path)}
    chosen = None
    for step, path in sorted(whole.items(), reverse=True):
        if _best_of(path) in {None, *whole}:
            chosen = step
            break
    for step, path in found.items():
        if step not in whole or chosen is None or step > chosen:
            shutil.rmtree(path, ignore_errors=True)
    return None if chosen is None else whole[chosen]


def _is_whole(checkpoint: Path) -> bool:
    try:
        return bool(json.loads((checkpoint / COMPLETE).read_bytes()) == _hashes(checkpoint))
    except (OSError, ValueError):
        return False


def _best_of(checkpoint: Path) -> int | None:
    """The step of the best state so far; None where nothing was validated."""
    state = json.loads((checkpoint / "trainer_state.json").read_bytes())
    step: int | None = state.get("best_global_step")
    return step or None


class _BestIsHere(TrainerCallback):  # type: ignore[misc]
    """Tells the library where the best state lies: it remembers a place, and a folder may move."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **rest: Any) -> None:
        """Put the place right that a checkpoint has recorded."""
        if state.best_global_step:
            best = Path(args.output_dir) / f"checkpoint-{state.best_global_step}"
            state.best_model_checkpoint = str(best)


def steps_without_a_better_one(checkpoint: Path) -> int:
    """Steps of a checkpoint since its best state: the library forgets them when it goes on."""
    best = _best_of(checkpoint)
    return 0 if best is None else int(checkpoint.name.rpartition("-")[2]) - best


class MetricsFile(TrainerCallback):  # type: ignore[misc]
    """Appends what is logged to a file, one JSON object a line.

    Args:
        path: the file; lines behind ``step`` are taken off, as those steps are taken again, and so
            is what is no such line, as one that was cut short.
        step: the step that the run goes on from.
    """

    def __init__(self, path: Path, step: int) -> None:
        self._path = path
        kept = []
        if step and path.is_file():
            kept = [line for line in path.read_bytes().splitlines() if 0 <= _step_of(line) <= step]
        write_bytes(path, b"".join(line + b"\n" for line in kept))

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **rest: Any
    ) -> None:
        """Write one line on the first process.

        Raises:
            UnwritableOutput: it cannot be written, as on a full disk.
        """
        if state.is_world_process_zero and logs:
            try:
                with self._path.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({"step": state.global_step, **logs}) + "\n")
            except OSError as cause:
                raise UnwritableOutput(self._path, cause) from None


def _step_of(line: bytes) -> int:
    """The step of a line of metrics, -1 if it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return -1
    step = found.get("step") if isinstance(found, dict) else None
    return step if isinstance(step, int) else -1
