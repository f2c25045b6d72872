"""How fast and how large training and release are on a model of four billion weights.

A model of the public shape with random weights is made on the device, and nothing is downloaded.
Then, in this order: the causal judge scores triplets; a LoRA adapter is trained, each step through
the trainer that ``chaincheck train`` uses, for batches of 1, 2, 4, ... until the memory ends, with
the forward pass kept and computed twice; the adapter is merged into the base on the disk and
audited, in a process of its own. Times are those of steps, each measured to its end on the device
after one that is not counted. The result is one JSON file, written anew after each part::

    python tests/benchmarks/gpu_4b.py --size 4b --device cuda --out gpu_4b.json
    python tests/benchmarks/gpu_4b.py --size tiny --device cpu --out tiny.json

Random weights train as fast as real ones; what a judge learns is not seen here. The prompts have
the lengths that ``--tokens`` says, evenly spread. Not run on a GPU so far.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import gpu_shapes as shapes
import torch
from gpu_memory import free, peak, reset, resident, wait

from chaincheck import __version__
from chaincheck.atomic import write_bytes
from chaincheck.items import Triplet
from chaincheck.judges.causal import CausalJudge, CausalSettings
from chaincheck.judges.causal_model import LoadedModel
from chaincheck.judges.prompts import load_prompt
from chaincheck.judges.rendering import Renderer
from chaincheck.judges.token_sets import find_token_sets

CELLS = ("A", "B", "D")
PUBLISHED = {"triplets": 7481, "minutes": 46.0, "device": "one B200", "model": "4B"}
LIBRARIES = (
    *("torch", "transformers", "peft", "accelerate", "safetensors", "tokenizers"),
    *("flash-linear-attention", "causal-conv1d", "flash-attn"),
)
DTYPE = "bfloat16"
Row = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write the file."""
    given = _parser().parse_args(arguments)
    if given.merge:
        print(json.dumps(_merge_here(*map(Path, given.merge))))
        return 0
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no CUDA device is to be had here; --size tiny --device cpu tries the script")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        Bench(given, Path(folder)).run()
    return 0


def _parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    found.add_argument("--size", choices=["tiny", "4b"], default="tiny")
    found.add_argument("--kind", choices=["qwen3", "qwen3_5"], default="qwen3")
    found.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    found.add_argument("--out", type=Path, default=Path("gpu_4b.json"), help="the result")
    found.add_argument("--folder", type=Path, help="where base and merged model are written")
    found.add_argument(
        "--tokens", type=int, nargs=2, metavar=("LOW", "HIGH"), help="600 1500 at 4b, else 400 600"
    )
    found.add_argument("--repeats", type=int, help="steps that are timed: 4 at 4b, 2 at tiny")
    found.add_argument("--largest-batch", type=int, help="128 at 4b, 2 at tiny")
    found.add_argument("--scored", type=int, help="triplets that are scored: 32 at 4b, 2 at tiny")
    found.add_argument("--rank", type=int, default=16, help="of the adapter")
    found.add_argument("--minutes", type=float, help="start no further batch size after this")
    found.add_argument("--no-merge", action="store_true", help="write nothing but the result")
    found.add_argument("--merge", nargs=3, help=argparse.SUPPRESS)
    return found


class Bench:
    """One run of all parts.

    Args:
        given: the command line.
        folder: for base, adapter and merged model.
    """

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given, self.folder = given, folder
        self.started = time.perf_counter()
        tiny = given.size == "tiny"
        self.largest = given.largest_batch or (2 if tiny else 128)
        self.scored = given.scored or (2 if tiny else 32)
        self.tokens = given.tokens or ([400, 600] if tiny else [600, 1500])
        self.repeats = given.repeats or (2 if tiny else 4)
        self.weights = shapes.parameters(given.kind, given.size)
        if not given.no_merge:
            _check_disk(folder, self.weights)
        self.tell(f"making {self.weights:,} weights on {given.device}")
        start = time.perf_counter()
        self.model = shapes.build(given.kind, given.size, given.device, DTYPE)
        wait(given.device)
        made = time.perf_counter() - start
        self.words = shapes.tokenizer()
        self.result: Row = {
            "format": 1,
            "complete": False,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": 0.0,
            "settings": {
                **{key: getattr(given, key) for key in ("size", "kind", "device")},
                **{
                    "tokens": list(self.tokens),
                    "repeats": self.repeats,
                    "rank": given.rank,
                    "minutes": given.minutes,
                },
                **{"largest_batch": self.largest, "scored": self.scored, "dtype": DTYPE},
                **{"prompt": shapes.PROMPT, "cells": list(CELLS), "attention": "sdpa"},
                "shape": shapes.SHAPES[given.kind, given.size],
            },
            "device": _device(given.device),
            "versions": {"chaincheck": __version__, "python": platform.python_version()}
            | {name: _version(name) for name in LIBRARIES},
            "model": {"weights": self.weights, "bytes": 2 * self.weights, "seconds": made},
            "prompts": None,
            "scoring": [],
            "training": [],
            "merge": None,
            "projection": None,
        }

    def run(self) -> None:
        """All parts, the result written after each."""
        low, high = self.tokens
        if not self.given.no_merge:
            self.tell("writing the base")
            self.model.save_pretrained(self.folder / "base", max_shard_size="5GB")
            self.words.save_pretrained(self.folder / "base")
        known = shapes.triplets(max(self.scored, self.largest), low, high, self.words)
        render = Renderer(self.words, load_prompt(shapes.PROMPT))
        lengths = [len(render(one.cells[cell]).ids) for one in known for cell in CELLS]
        self.result["prompts"] = {
            **{"triplets": len(known), "shortest": min(lengths), "longest": max(lengths)},
            "mean": statistics.mean(lengths),
        }
        self.keep()
        for name, changes in (
            ("one by one", {"batch": 1, "share_prefix": False}),
            ("batches, beginnings shared", {}),
        ):
            self.tell(f"scoring, {name}")
            self.result["scoring"].append(self.scoring(name, changes, known[: self.scored]))
            self.keep()
        self.training(known, render)
        if not self.given.no_merge:
            self.tell("merging and auditing")
            self.model = None
            free(self.given.device)
            self.result["merge"] = _merge_apart(self.folder)
        self.result["projection"] = _projection(self.result["training"])
        self.result["complete"] = True
        self.keep()
        self.tell(f"done: {self.given.out}")

    def scoring(self, name: str, changes: Row, known: Sequence[Triplet]) -> Row:
        """Time the causal judge."""
        device = self.given.device
        loaded = LoadedModel(self.model, self.words, "random", identity={})
        settings = CausalSettings(model="random", dtype=DTYPE, minimum_mass=0.0, **changes)
        judge = CausalJudge(loaded, settings)
        items = [one.cells[cell] for one in known for cell in CELLS]
        list(judge.score(items[:3]))  # what happens once happens now
        reset(device)
        times = []
        for _ in range(self.repeats):
            judge._memory._values.clear()
            start = time.perf_counter()
            list(judge.score(items))
            wait(device)
            times.append(time.perf_counter() - start)
        row = {
            **{"way": name, "batch": settings.batch, "batch_tokens": judge._batch_tokens},
            **{"share_prefix": settings.share_prefix, "logits": judge._forward.logits},
        }
        return row | _timed(times, len(known)) | {"peak": peak(device)}

    def training(self, known: Sequence[Triplet], render: Renderer) -> None:
        """Time steps of each batch size, with the forward pass kept and computed twice."""
        from chaincheck.training import trainer_setup
        from chaincheck.training.answer_head import install
        from chaincheck.training.examples import encode
        from chaincheck.training.recipe import read_recipe

        rows = len(self.model.get_output_embeddings().weight)
        prompt = load_prompt(shapes.PROMPT)
        sets = find_token_sets(self.words, prompt.yes, prompt.no, rows=rows)
        examples = list(encode(known, render, CELLS, context=10**9, path="random"))
        settings = {"dtype": DTYPE, "lora": {"rank": self.given.rank}}
        wrapped = trainer_setup.put_adapter(self.model, read_recipe(settings), "base")
        install(wrapped.get_base_model(), sets)
        for again in (False, True):
            batch = 1
            while batch <= self.largest and not self.late():
                self.tell(f"training, batch {batch}, {'again' if again else 'kept'}")
                recipe = read_recipe(settings | {"batch": batch, "gradient_checkpointing": again})
                row = self.steps(wrapped, recipe, len(sets.yes), examples)
                self.result["training"].append(row)
                self.keep()
                if not row["fits"]:
                    break
                batch *= 2
        if not self.given.no_merge:
            wrapped.save_pretrained(self.folder / "adapter", save_embedding_layers=False)

    def steps(self, model: Any, recipe: Any, yes: int, examples: Sequence[Any]) -> Row:
        """Train one step that is not timed and some that are."""
        from transformers import TrainerCallback
        from transformers.trainer_callback import PrinterCallback

        from chaincheck.training import trainer_setup
        from chaincheck.training.judge_trainer import JudgeTrainer

        device, times = self.given.device, []

        class Clock(TrainerCallback):  # type: ignore[misc]
            def on_step_begin(self, *_: Any, **__: Any) -> None:
                wait(device)
                times.append(time.perf_counter())

            def on_step_end(self, *_: Any, **__: Any) -> None:
                wait(device)
                times[-1] = time.perf_counter() - times[-1]

        count = recipe.batch * (1 + self.repeats)
        chosen = [examples[place % len(examples)] for place in range(count)]
        row = {"batch": recipe.batch, "gradient_checkpointing": recipe.gradient_checkpointing}
        reset(device)
        trainer = None
        try:
            with trainer_setup.own_bar():
                trainer = JudgeTrainer(
                    recipe=recipe,
                    yes=yes,
                    validation=[],
                    diverged=self.folder / "diverged.json",
                    model=model,
                    args=trainer_setup.training_arguments(
                        recipe,
                        self.folder / "steps",
                        count,
                        on_cpu=device == "cpu",
                        validated=False,
                    ),
                    train_dataset=chosen,
                    callbacks=[Clock()],
                )
                trainer.remove_callback(PrinterCallback)
                trainer.train()
        except torch.OutOfMemoryError:
            return row | {"fits": False, "peak": peak(device)}
        finally:
            del trainer
            model.zero_grad(set_to_none=True)
            free(device)
        tokens = [sum(map(len, one.prompts.values())) for one in chosen[recipe.batch :]]
        timed = _timed(times[1:], recipe.batch)
        speed = sum(tokens) / sum(timed["seconds"])
        minutes = PUBLISHED["triplets"] / timed["triplets_per_second"]["median"] / 60
        return row | {
            **{"fits": True, **timed, "tokens_per_second": speed},
            **{"peak": peak(device), "projected_minutes": minutes},
        }

    def late(self) -> bool:
        """Whether the time is up."""
        limit = self.given.minutes
        return limit is not None and time.perf_counter() - self.started > 60 * limit

    def keep(self) -> None:
        """Write what is known so far."""
        self.result["seconds"] = time.perf_counter() - self.started
        write_bytes(self.given.out, json.dumps(self.result, indent=1).encode() + b"\n")

    def tell(self, what: str) -> None:
        """One line on stderr."""
        print(f"[{time.perf_counter() - self.started:7.1f} s] {what}", file=sys.stderr, flush=True)


def _timed(seconds: Sequence[float], triplets: int) -> Row:
    """Repeats of the same work, and what they come to."""
    speeds = sorted(triplets / one for one in seconds)
    spread = {"median": statistics.median(speeds), "low": speeds[0], "high": speeds[-1]}
    return {"seconds": list(seconds), "triplets": triplets, "triplets_per_second": spread}


def _projection(rows: Sequence[Row]) -> Row | None:
    fitting = [row for row in rows if row["fits"]]
    if not fitting:
        return None
    best = min(fitting, key=lambda row: row["projected_minutes"])
    return {
        **{"published": PUBLISHED, "minutes": best["projected_minutes"], "batch": best["batch"]},
        "gradient_checkpointing": best["gradient_checkpointing"],
        "times_published": best["projected_minutes"] / PUBLISHED["minutes"],
        "note": "steps alone, random weights, prompts of the lengths above; loading, validation "
        "and saving come on top, and the published prompts' lengths are not known",
    }


def _check_disk(folder: Path, weights: int) -> None:
    """Refuse to start where base and merged model will not fit: 2 bytes a weight, twice."""
    needed = int(2 * 2 * weights * 1.05) + 2**28
    room = shutil.disk_usage(folder).free
    if room < needed:
        sys.exit(
            f"{folder}: base and merged model take {needed / 2**30:.1f} GiB and "
            f"{room / 2**30:.1f} are free; name another --folder, or --no-merge"
        )


def _merge_apart(folder: Path) -> Row:
    """Merge in a process of its own, whose memory is then its own too."""
    paths = [str(folder / name) for name in ("base", "adapter", "merged")]
    # Without the device: merging is work for the processor.
    done = subprocess.run(
        [sys.executable, __file__, "--merge", *paths],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    found: Row = json.loads(done.stdout.splitlines()[-1])
    return found


def _merge_here(base: Path, adapter: Path, out: Path) -> Row:
    """Merge, then audit what stands on the disk once more."""
    from chaincheck.training.adapter import open_adapter
    from chaincheck.training.audit import audit
    from chaincheck.training.merge import merge

    before = resident()
    start = time.perf_counter()
    done = merge(base, adapter, out)
    merged = time.perf_counter()
    found = audit(base, out, open_adapter(adapter))
    audited = time.perf_counter()
    files = sorted(out.glob("*.safetensors"))
    return {
        **{"merge_seconds": merged - start, "audit_seconds": audited - merged},
        **{"passed": done.audit.passed and found.passed, "counts": dict(found.counts)},
        **{"lost": found.lost, "bytes": sum(one.stat().st_size for one in files)},
        "largest_file_bytes": max(one.stat().st_size for one in files),
        "peak": {"process": resident(), "before": before},
    }


def _device(name: str) -> Row:
    found: Row = {"type": name, "name": platform.processor() or platform.machine()}
    found["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if name == "cuda":
        about = torch.cuda.get_device_properties(0)
        found |= {"name": about.name, "memory_bytes": about.total_memory}
        found |= {"capability": f"{about.major}.{about.minor}", "cuda": torch.version.cuda}
    return found | {"threads": torch.get_num_threads(), "cores": os.cpu_count()}


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
