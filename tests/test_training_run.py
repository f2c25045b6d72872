"""Training for real on tiny models: resumed as if never stopped, refused where it cannot be."""

from __future__ import annotations

import errno
import json
import os
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")

import tiny_language_models as tiny  # noqa: E402
import training_worlds  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from chaincheck.errors import (  # noqa: E402
    ChainCheckError,
    IncompleteTriplet,
    IntegrityError,
    InvalidModel,
    MeasuredFailure,
    TrainingDiverged,
    UnjudgeableItem,
    UnwritableOutput,
    UsageError,
)
from chaincheck.items import read_items, read_triplets, write_items  # noqa: E402
from chaincheck.judges import open_judge  # noqa: E402
from chaincheck.judges.causal import CausalSettings  # noqa: E402
from chaincheck.judges.causal_model import load_causal_model  # noqa: E402
from chaincheck.models import file_hash  # noqa: E402
from chaincheck.training import judge_trainer  # noqa: E402
from chaincheck.training import run as run_module  # noqa: E402
from chaincheck.training.adapter import open_adapter  # noqa: E402
from chaincheck.training.recipe import Recipe, read_recipe  # noqa: E402
from chaincheck.training.run import train  # noqa: E402
from chaincheck.training.run_folder import claimed  # noqa: E402

SHORT: dict[str, Any] = {
    "dtype": "float32",
    "batch": 2,
    "learning_rate": 3e-3,
    "lora": {"rank": 4, "alpha": 8.0},
}


PROMPT = """user = "{{passages}} {{question}} {}"
passage = "<p>\\n{{text}}\\n</p>"
delimiters = ["<p>", "</p>"]
plain = "{{system}}{{user}}"
"""


@pytest.fixture(autouse=True)
def one_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums in one order, and a cache of the test's own."""
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tmp_path_factory.mktemp("base") / "model", "llama")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return training_worlds.write(tmp_path_factory.mktemp("data") / "train.jsonl", 16)


def recipe(**changes: Any) -> Recipe:
    return read_recipe({**SHORT, **changes})


def weights(folder: Path) -> dict[str, Any]:
    return dict(load_file(folder / "adapter" / "adapter_model.safetensors"))


def same(one: Path, other: Path) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


def metrics(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def stop_after(step: int, monkeypatch: pytest.MonkeyPatch, cause: BaseException) -> None:
    """Let the run fail at the first batch after so many steps."""
    before: Callable[..., Any] = judge_trainer.JudgeTrainer.compute_loss

    def failing(self: Any, *given: Any, **named: Any) -> Any:
        if self.state.global_step == step:
            raise cause
        return before(self, *given, **named)

    monkeypatch.setattr(judge_trainer.JudgeTrainer, "compute_loss", failing)


def test_the_loss_falls_and_the_base_stays_as_it_was(
    base: Path, data: Path, tmp_path: Path
) -> None:
    before = (base / "model.safetensors").read_bytes()
    settings = recipe(passes=8, objective="nominal", broken="C")
    summary = train(str(base), data, tmp_path / "run", settings)
    told = [line["loss"] for line in metrics(tmp_path / "run") if "loss" in line]
    assert len(told) == summary.steps[0] == 64
    assert sum(told[-4:]) < 0.5 * sum(told[:4])
    assert (base / "model.safetensors").read_bytes() == before
    assert summary.triplets == {"real": 128}
    assert not (tmp_path / "run" / "checkpoints").exists()
    names = {path.name for path in (tmp_path / "run" / "adapter").iterdir()}
    assert names == {"adapter_config.json", "adapter_model.safetensors", "chaincheck_base.json"}
    assert (
        str(base.parent) not in (tmp_path / "run" / "adapter" / "adapter_config.json").read_text()
    )


def test_whoever_trains_is_not_told_what_libraries_tell_each_other(
    base: Path, data: Path, tmp_path: Path
) -> None:
    settings = recipe(triplets=2)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        train(str(base), data, tmp_path / "run", settings)
    assert [str(one.message) for one in told if one.category is FutureWarning] == []


def test_the_same_seed_gives_the_same_weights_and_another_one_others(
    base: Path, data: Path, tmp_path: Path
) -> None:
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        train(str(base), data, tmp_path / name, recipe(seed=seed))
    assert same(tmp_path / "one", tmp_path / "two")
    assert not same(tmp_path / "one", tmp_path / "three")


@pytest.mark.parametrize("changes", [{}, {"lora": {"rank": 4, "alpha": 8.0, "dropout": 0.2}}])
def test_an_interrupted_run_ends_as_one_that_never_was(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    settings = recipe(save_every=2, passes=2, **changes)
    train(str(base), data, tmp_path / "whole", settings)
    with monkeypatch.context() as patch:
        stop_after(5, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            train(str(base), data, tmp_path / "torn", settings)
    assert not (tmp_path / "torn" / "adapter").exists()
    train(str(base), data, tmp_path / "torn", settings)
    assert same(tmp_path / "whole", tmp_path / "torn")
    kept = ("step", "loss", "learning_rate", "score_A")
    rows = [
        [[line.get(key) for key in kept] for line in metrics(tmp_path / name) if "loss" in line]
        for name in ("whole", "torn")
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize("part", ["tokenizer", "template"])
def test_an_interrupted_run_does_not_go_on_with_other_tokens(
    part: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another tokenizer or chat template makes other prompts of the same weights and data."""
    base = tiny.save(tmp_path / "base")
    settings = recipe(save_every=2)
    with monkeypatch.context() as patch:
        stop_after(5, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            train(str(base), data, tmp_path / "run", settings)
    changed = tiny.tokenizer(tiny.THINKING if part == "template" else tiny.CHAT)
    if part == "tokenizer":
        changed.add_tokens(["passage"])
    changed.save_pretrained(base)
    with pytest.raises(UsageError, match=f"is of another run .*{part}"):
        train(str(base), data, tmp_path / "run", settings)
    tiny.tokenizer().save_pretrained(base)
    assert train(str(base), data, tmp_path / "run", settings).steps == (8, 8)


@pytest.mark.parametrize("told", ["abc", "0", "-2", "", "1.5"])
def test_a_count_of_processes_that_is_none_is_named(
    told: str, base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a launcher's script with a typing error leaves it."""
    monkeypatch.setenv("WORLD_SIZE", told)
    with pytest.raises(UsageError, match="WORLD_SIZE"):
        train(str(base), data, tmp_path / "run", recipe())
    assert not (tmp_path / "run").exists()


def test_two_batches_accumulated_are_one_of_twice_the_size(
    base: Path, data: Path, tmp_path: Path
) -> None:
    train(str(base), data, tmp_path / "two", recipe(batch=2, accumulation=2))
    train(str(base), data, tmp_path / "one", recipe(batch=4, accumulation=1))
    first, second = weights(tmp_path / "two"), weights(tmp_path / "one")
    # Adam's first steps are signs: a rounding error in a tiny gradient may grow, but not far.
    assert max(float((first[name] - second[name]).abs().max()) for name in first) < 1e-4
    losses = [
        [line["loss"] for line in metrics(tmp_path / name) if "loss" in line]
        for name in ("two", "one")
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)


@pytest.mark.parametrize("kind", ["llama", "qwen3", "qwen3_5"])
def test_the_score_of_training_is_the_judge_s(kind: str, data: Path, tmp_path: Path) -> None:
    base = tiny.save(tmp_path / "base", kind)
    train(str(base), data, tmp_path / "run", recipe(triplets=8))
    (tmp_path / "judge.toml").write_text(
        'kind = "causal"\nmodel = "base"\nadapter = "run/adapter"\nminimum_mass = 0\n', "utf-8"
    )
    items = [item for item in read_items(data) if item.cell in "ABD"][:12]
    judged = {
        one.item_id: one.score for one in open_judge(str(tmp_path / "judge.toml")).score(items)
    }
    seen: dict[str, float] = {}
    before = judge_trainer.JudgeTrainer.train

    def look(self: Any, **_: Any) -> None:
        """In the place of training: score with the adapter's weights, as a step would."""
        import peft

        found = peft.utils.load_peft_weights(str(tmp_path / "run" / "adapter"), device="cpu")
        peft.set_peft_model_state_dict(self.model, found)
        self.model.eval()
        gather = judge_trainer.collate(("A", "B", "D"))
        by_pair = {example.pair_id: example for example in self.train_dataset}
        with torch.inference_mode():
            for pair, example in by_pair.items():
                scores = self.scores(self.model, gather([example])).tolist()
                for cell, score in zip("ABD", scores, strict=True):
                    seen[f"{pair} {cell}"] = score

    judge_trainer.JudgeTrainer.train = look  # type: ignore[method-assign]
    try:
        train(str(base), data, tmp_path / "again", recipe(triplets=16))
    finally:
        judge_trainer.JudgeTrainer.train = before  # type: ignore[method-assign]
    compared = [
        (seen[f"{item.pair_id} {item.cell}"], judged[item.item_id])
        for item in items
        if f"{item.pair_id} {item.cell}" in seen
    ]
    assert len(compared) == 12
    assert max(abs(one - float(other or 0)) for one, other in compared) < 1e-4


def test_validation_chooses_what_is_kept_and_stops_early(
    base: Path, data: Path, tmp_path: Path
) -> None:
    held_out = training_worlds.write(tmp_path / "val.jsonl", 6, start=40, variants=("real", "fict"))
    settings = recipe(eval_every=2, patience=2, passes=6)
    summary = train(str(base), data, tmp_path / "run", settings, validation=held_out)
    told = {line["step"]: line for line in metrics(tmp_path / "run") if "eval_sigma" in line}
    best = max(told, key=lambda step: (told[step]["eval_sigma"], -step))
    assert summary.kept == best
    assert summary.final["sigma"] == told[best]["eval_sigma"]
    assert summary.final["sigma"] == min(summary.final["real_sigma"], summary.final["fict_sigma"])
    assert summary.steps[0] == min(best + 4, summary.steps[1]), "two validations without a better"


def test_a_run_that_is_done_is_not_done_again(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train(str(base), data, tmp_path / "run", recipe())
    stop_after(0, monkeypatch, AssertionError("it trained again"))
    assert train(str(base), data, tmp_path / "run", recipe()) == first
    with pytest.raises(UsageError, match=r"another run \(recipe\.seed: 0 there, 1 now\)"):
        train(str(base), data, tmp_path / "run", recipe(seed=1))


def test_what_a_run_came_to_is_sealed(base: Path, data: Path, tmp_path: Path) -> None:
    first = train(str(base), data, tmp_path / "run", recipe())
    path = tmp_path / "run" / "training.json"
    content = path.read_text("utf-8")
    path.write_text(content.replace('"kept": ', '"kept": 9'), "utf-8")
    with pytest.raises(IntegrityError, match="its digest is another"):
        train(str(base), data, tmp_path / "run", recipe())
    # An earlier version wrote the summary without a seal.
    path.write_text(first.to_json(), "utf-8")
    assert train(str(base), data, tmp_path / "run", recipe()) == first


def test_a_folder_that_holds_something_else_is_left_alone(
    base: Path, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", "utf-8")
    with pytest.raises(UsageError, match="not empty"):
        train(str(base), data, tmp_path / "mine", recipe())
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_its_batch(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = judge_trainer.JudgeTrainer.scores

    def broken(self: Any, model: Any, inputs: Any) -> Any:
        found = before(self, model, inputs)
        return found * float("nan") if self.state.global_step == 3 else found

    monkeypatch.setattr(judge_trainer.JudgeTrainer, "scores", broken)
    with pytest.raises(TrainingDiverged, match="step 4") as raised:
        train(str(base), data, tmp_path / "run", recipe(save_every=2))
    assert raised.value.exit_code == 1
    kept = json.loads((tmp_path / "run" / "diverged.json").read_text())
    assert kept["step"] == 4
    assert len(kept["triplets"]) == 2
    assert len(kept["tokens"]) == 6
    assert (tmp_path / "run" / "checkpoints" / "checkpoint-2" / "complete.json").is_file()


@pytest.mark.parametrize(
    "what", ["optimizer.pt", "adapter_model.safetensors", "trainer_state.json"]
)
def test_a_torn_checkpoint_is_passed_over(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    settings = recipe(save_every=2)
    train(str(base), data, tmp_path / "whole", settings)
    with monkeypatch.context() as patch:
        stop_after(5, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            train(str(base), data, tmp_path / "torn", settings)
    torn = tmp_path / "torn" / "checkpoints" / "checkpoint-4" / what
    torn.write_bytes(torn.read_bytes()[:-1])
    train(str(base), data, tmp_path / "torn", settings)
    assert same(tmp_path / "whole", tmp_path / "torn")


@pytest.fixture(scope="module")
def held_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("held out")
    return training_worlds.write(folder / "val.jsonl", 6, start=40, variants=("real", "fict"))


@pytest.mark.parametrize(
    ("best", "spoiled", "left"),
    [
        ({2: None, 4: None}, None, 4),
        ({2: None, 4: None}, 4, 2),
        ({2: None, 4: None}, 2, 4),
        ({2: 2, 4: 2}, None, 4),
        ({2: 2, 4: 2}, 4, 2),
        ({2: 2, 4: 2}, 2, None),
        ({2: 2, 4: 4}, 2, 4),
        ({4: 2}, None, None),
        ({}, None, None),
    ],
)
def test_where_a_run_goes_on_from(
    best: dict[int, int | None], spoiled: int | None, left: int | None, tmp_path: Path
) -> None:
    """From a whole checkpoint whose best one is whole, too; what is of no use is removed."""
    for step, of in best.items():
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        (folder / "trainer_state.json").write_text(json.dumps({"best_global_step": of}), "utf-8")
        hashes = {path.name: file_hash(path) for path in folder.iterdir()}
        (folder / judge_trainer.COMPLETE).write_text(json.dumps(hashes), "utf-8")
        if step == spoiled:
            (folder / "trainer_state.json").write_text("{", "utf-8")
    found = judge_trainer.last_whole_checkpoint(tmp_path)
    assert found == (None if left is None else tmp_path / f"checkpoint-{left}")
    rest = {int(path.name.rpartition("-")[2]) for path in tmp_path.glob("checkpoint-*")}
    assert rest == {step for step in best if left is not None and step <= left and step != spoiled}


VALIDATED: dict[str, Any] = {"eval_every": 2, "passes": 6}


@pytest.fixture(scope="module")
def validated(
    base: Path, data: Path, held_out: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int]:
    """A run with validations, and the step that was kept: an early one."""
    folder = tmp_path_factory.mktemp("validated") / "run"
    summary = train(str(base), data, folder, recipe(**VALIDATED), validation=held_out)
    assert summary.kept + 5 < summary.steps[1]
    counts = Counter(triplet.variant for triplet in read_triplets(held_out))
    assert summary.validated == counts
    assert all(f"{name} (n = {count})" in summary.to_text() for name, count in counts.items())
    return folder, summary.kept


@pytest.fixture
def again(base: Path, data: Path, held_out: Path) -> Callable[..., Any]:
    """Trains, or goes on, in a folder, and stops before a step if it is told to."""

    def run(folder: Path, stop: int | None = None, **more: Any) -> Any:
        settings = recipe(**VALIDATED, **more)
        if stop is None:
            return train(str(base), data, folder, settings, validation=held_out)
        with pytest.MonkeyPatch.context() as patch:
            stop_after(stop, patch, KeyboardInterrupt())
            with pytest.raises(KeyboardInterrupt):
                train(str(base), data, folder, settings, validation=held_out)
        return None

    return run


class TestGoingOnWithValidations:
    """What is kept is the best state, and not the last: also after an interruption."""

    def test_the_best_checkpoint_must_be_whole_too(
        self, validated: tuple[Path, int], again: Callable[..., Any], tmp_path: Path
    ) -> None:
        whole, kept = validated
        again(tmp_path / "run", stop=kept + 5)
        best = tmp_path / "run" / "checkpoints" / f"checkpoint-{kept}"
        assert len(list(best.parent.iterdir())) == 2, "the best one and the last"
        file = best / "adapter_model.safetensors"
        file.write_bytes(file.read_bytes()[:-64] + bytes(64))
        again(tmp_path / "run")
        assert same(whole, tmp_path / "run")

    def test_the_folder_may_have_been_moved(
        self, validated: tuple[Path, int], again: Callable[..., Any], tmp_path: Path
    ) -> None:
        """Also where no further checkpoint is saved, which would name the new place."""
        whole, kept = validated

        def failing(*_: Any) -> None:
            raise KeyboardInterrupt

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(judge_trainer.JudgeTrainer, "_load_best_model", failing)
            with pytest.raises(KeyboardInterrupt):
                again(tmp_path / "run")
        moved = (tmp_path / "run").rename(tmp_path / "moved")
        assert again(moved).kept == kept
        assert same(whole, moved)

    def test_patience_goes_on_where_it_was(self, again: Callable[..., Any], tmp_path: Path) -> None:
        once = again(tmp_path / "once", patience=3)
        assert once.steps[0] == once.kept + 6 < once.steps[1]
        again(tmp_path / "run", stop=once.kept + 5, patience=3)
        assert again(tmp_path / "run", patience=3).steps == once.steps
        assert same(tmp_path / "once", tmp_path / "run")


@pytest.mark.parametrize(
    "torn", [b'{"step": 4, "lo', b"\xff\xfe", b"5", b"[]", b'{"step": "a"}', b"[" * 99_999]
)
def test_a_torn_line_of_metrics_is_taken_off(
    torn: bytes, base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a full disk leaves one."""
    settings = recipe(save_every=2)
    with monkeypatch.context() as patch:
        stop_after(3, patch, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            train(str(base), data, tmp_path / "run", settings)
    file = tmp_path / "run" / "metrics.jsonl"
    file.write_bytes(torn + b"\n" + file.read_bytes() + torn)
    train(str(base), data, tmp_path / "run", settings)
    steps = [line["step"] for line in metrics(tmp_path / "run")]
    assert steps == sorted(steps)
    assert set(range(1, max(steps) + 1)) == set(steps)


def test_metrics_that_cannot_be_written_are_named(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Path.open

    def full(self: Path, mode: str = "r", *given: Any, **named: Any) -> Any:
        if self.name == "metrics.jsonl" and "a" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return before(self, mode, *given, **named)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(UnwritableOutput, match=r"metrics\.jsonl: cannot write: No space left"):
        train(str(base), data, tmp_path / "run", recipe())


def test_a_gradient_that_is_not_finite_gives_no_adapter(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the last step no further loss shows it."""
    before: Callable[..., Any] = judge_trainer.JudgeTrainer.compute_loss

    def infinite(self: Any, model: Any, *given: Any, **named: Any) -> Any:
        loss = before(self, model, *given, **named)
        if self.state.global_step < self.state.max_steps - 1:
            return loss
        some = next(one for one in model.parameters() if one.requires_grad)
        return loss + (some.sum() * 0).abs().sqrt()

    monkeypatch.setattr(judge_trainer.JudgeTrainer, "compute_loss", infinite)
    with pytest.raises(MeasuredFailure, match="holds NaN or infinity; no adapter is written"):
        train(str(base), data, tmp_path / "run", recipe(clip=0.0))
    assert not (tmp_path / "run" / "adapter").exists()
    assert not (tmp_path / "run" / "training.json").exists()


def test_a_validation_that_is_not_finite_is_named(
    base: Path, data: Path, held_out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = judge_trainer.JudgeTrainer.scores

    def broken(self: Any, model: Any, inputs: Any) -> Any:
        found = before(self, model, inputs)
        return found if model.training else found * float("nan")

    monkeypatch.setattr(judge_trainer.JudgeTrainer, "scores", broken)
    with pytest.raises(MeasuredFailure, match="score of a validation triplet is not finite"):
        train(str(base), data, tmp_path / "run", recipe(eval_every=2), validation=held_out)


def test_a_full_disk_leaves_the_last_checkpoint(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = torch.save

    def full(value: Any, path: Any, *given: Any, **named: Any) -> None:
        if "checkpoint-4" in str(path) and "optimizer" in str(path):
            Path(path).write_bytes(b"half")
            raise RuntimeError("PytorchStreamWriter failed writing file: No space left on device")
        before(value, path, *given, **named)

    settings = recipe(save_every=2)
    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(UnwritableOutput, match=r"checkpoint-4.*No space left"):
            train(str(base), data, tmp_path / "run", settings)
    left = [path.name for path in (tmp_path / "run" / "checkpoints").iterdir()]
    assert left == ["checkpoint-2"]
    train(str(base), data, tmp_path / "run", settings)
    train(str(base), data, tmp_path / "whole", settings)
    assert same(tmp_path / "run", tmp_path / "whole")


def test_an_adapter_that_cannot_be_written_leaves_the_checkpoints(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = judge_trainer.JudgeTrainer.save_model

    def full(self: Any, output_dir: str, **named: Any) -> None:
        if "checkpoint" not in output_dir:
            raise OSError(28, "No space left on device")
        before(self, output_dir, **named)

    settings = recipe(save_every=2)
    with monkeypatch.context() as patch:
        patch.setattr(judge_trainer.JudgeTrainer, "save_model", full)
        with pytest.raises(UnwritableOutput, match=r"adapter.*No space left"):
            train(str(base), data, tmp_path / "run", settings)
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        *("run.json", "metrics.jsonl", "checkpoints"),
    }
    train(str(base), data, tmp_path / "run", settings)
    train(str(base), data, tmp_path / "whole", settings)
    assert same(tmp_path / "run", tmp_path / "whole")


def test_a_run_that_is_done_is_of_its_base_and_of_its_prompt(
    base: Path, data: Path, tmp_path: Path
) -> None:
    ours = tmp_path / "ours.toml"
    ours.write_text(PROMPT.format("Do they suffice?"))
    settings = recipe(prompt=str(ours))
    done = train(str(base), data, tmp_path / "run", settings)
    other = tiny.save(tmp_path / "other", seed=1)
    with pytest.raises(UsageError, match=r"is of another run \(base: "):
        train(str(other), data, tmp_path / "run", settings)
    moved = Path(shutil.copytree(base, tmp_path / "moved"))
    assert train(str(moved), data, tmp_path / "run", settings) == done
    ours.write_text(PROMPT.format("Do they not?"))
    with pytest.raises(UsageError, match=r"is of another run \(prompt: "):
        train(str(base), data, tmp_path / "run", settings)


def test_a_run_that_is_done_and_lost_its_adapter_says_so(
    base: Path, data: Path, tmp_path: Path
) -> None:
    train(str(base), data, tmp_path / "run", recipe())
    shutil.rmtree(tmp_path / "run" / "adapter")
    with pytest.raises(UsageError, match="is done, and its adapter is gone"):
        train(str(base), data, tmp_path / "run", recipe())


@pytest.mark.parametrize("name", ["adapter_model.safetensors", "adapter_config.json"])
def test_an_adapter_that_was_changed_is_refused(
    name: str, base: Path, data: Path, tmp_path: Path
) -> None:
    """By whatever reads it: a scale that was edited gives another judge."""
    run = tmp_path / "run"
    train(str(base), data, run, recipe())
    file = run / "adapter" / name
    content = file.read_bytes()
    edited = content.replace(b'"lora_alpha": ', b'"lora_alpha": 1')
    file.write_bytes(edited if name.endswith(".json") else content[:-64] + bytes(64))
    settings = CausalSettings(model=str(base), adapter=str(run / "adapter"), dtype="float32")
    for use in (
        lambda: train(str(base), data, run, recipe()),
        lambda: open_adapter(run / "adapter"),
        lambda: load_causal_model(settings),
    ):
        with pytest.raises(IntegrityError, match=f"{name}: is not as it was when the training"):
            use()


def test_a_recipe_that_did_not_fit_can_be_put_right_in_the_same_folder(
    base: Path, data: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="targets cannot be used"):
        train(str(base), data, tmp_path / "run", recipe(lora={"targets": ["nope"]}))
    assert train(str(base), data, tmp_path / "run", recipe()).steps


def test_a_run_that_another_process_has_ended_meanwhile(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train(str(base), data, tmp_path / "run", recipe())
    real, asked = run_module.finished, []

    def not_yet(*given: Any) -> Any:
        asked.append(given)
        return None if len(asked) == 1 else real(*given)

    monkeypatch.setattr(run_module, "finished", not_yet)
    stop_after(0, monkeypatch, AssertionError("it trained again"))
    assert train(str(base), data, tmp_path / "run", recipe()) == first


def test_two_processes_do_not_train_in_one_folder(base: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with (
        claimed(tmp_path / "run"),
        pytest.raises(UsageError, match="another process is training in"),
    ):
        train(str(base), data, tmp_path / "run", recipe())
    train(str(base), data, tmp_path / "run", recipe())


class TestRefusals:
    def test_a_folder_that_is_a_file(self, base: Path, data: Path) -> None:
        with pytest.raises(UsageError, match="is a file"):
            train(str(base), data, data, recipe())

    def test_triplets_without_a_cell(self, base: Path, data: Path, tmp_path: Path) -> None:
        lacking = tmp_path / "ab.jsonl"
        write_items(lacking, [item for item in read_items(data) if item.cell in "AB"])
        with pytest.raises(IncompleteTriplet, match="no cell D"):
            train(str(base), lacking, tmp_path / "run", recipe())
        assert not (tmp_path / "run").exists()

    def test_a_question_on_both_sides(self, base: Path, data: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="also trained on"):
            train(str(base), data, tmp_path / "run", recipe(), validation=data)

    def test_a_mix_of_what_is_not_there(self, base: Path, data: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="fict"):
            train(str(base), data, tmp_path / "run", recipe(mix={"real": 1.0, "fict": 1.0}))

    def test_validations_without_triplets(self, base: Path, data: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="--validation"):
            train(str(base), data, tmp_path / "run", recipe(eval_every=2))

    def test_fewer_triplets_than_a_step_takes(self, base: Path, data: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="one step takes 34"):
            train(str(base), data, tmp_path / "run", recipe(batch=17, accumulation=2))

    @pytest.mark.parametrize("layer", ["embed_tokens", "lm_head"])
    @pytest.mark.parametrize("tied", [True, False])
    def test_an_adapter_on_embedding_or_head(
        self, data: Path, tmp_path: Path, layer: str, tied: bool
    ) -> None:
        base = tiny.save(tmp_path / "base", "llama", tie_word_embeddings=tied)
        settings = recipe(lora={"targets": ["q_proj", layer]})
        with pytest.raises(InvalidModel, match=layer):
            train(str(base), data, tmp_path / "run", settings)

    @pytest.mark.parametrize("targets", [["no_such_layer"], "(", "[", "", ".*", [""]])
    def test_layers_that_are_not_there(
        self, targets: object, base: Path, data: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(UsageError, match=r"lora\.targets cannot be used"):
            train(str(base), data, tmp_path / "run", recipe(lora={"targets": targets}))

    def test_a_folder_whose_name_is_no_text(self, base: Path, data: Path, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="is no text"):
            train(str(base), data, tmp_path / os.fsdecode(b"r\xff"), recipe())

    def test_a_base_without_answer_words(self, data: Path, tmp_path: Path) -> None:
        words = tiny.tokenizer(words=("the", "of"))
        folder = tmp_path / "base"
        tiny.model("llama", len(words) + 7).save_pretrained(folder)
        words.save_pretrained(folder)
        prompt = tmp_path / "prompt.toml"
        prompt.write_text(
            'user = "{question} {passages}"\npassage = "{text}"\nyes = ["yes"]\nno = ["no"]\n'
        )
        with pytest.raises(UsageError, match="no single token that reads yes"):
            train(str(folder), data, tmp_path / "run", recipe(prompt=str(prompt)))

    def test_a_prompt_longer_than_the_context(self, data: Path, tmp_path: Path) -> None:
        base = tiny.save(tmp_path / "base", "llama", max_position_embeddings=64)
        with pytest.raises(UnjudgeableItem, match="the model takes 64"):
            train(str(base), data, tmp_path / "run", recipe())

    def test_a_model_that_is_not_here(self, data: Path, tmp_path: Path) -> None:
        with pytest.raises(ChainCheckError, match="smollm2"):
            train("smollm2", data, tmp_path / "run", recipe())


@pytest.mark.parametrize("n", range(2, 40))
def test_states_with_equal_counts_are_alike_to_the_last_bit(n: int) -> None:
    """CE - |EE| is 0 wherever as many B lie above D as A above B, whatever the floats say."""
    from chaincheck.training.examples import Example

    examples = [Example(str(k), "real", str(k), {}) for k in range(n)]
    for wins in range(n // 2 + 1, n + 1):
        higher = np.arange(n) < wins
        b = np.zeros(n)
        a, d = np.where(higher, 1.0, -1.0), np.where(higher, -1.0, 1.0)
        found = judge_trainer._measured(examples, np.stack([a, b, d]))
        mirrored = judge_trainer._measured(examples, np.stack([-a, b, d]))
        assert found["sigma"] == mirrored["sigma"] == found["real_sigma"] == 0
