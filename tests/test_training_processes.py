"""Training in two processes that share the weights: as one process does it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("peft")
pytest.importorskip("accelerate")

import tiny_language_models as tiny  # noqa: E402
import training_worlds  # noqa: E402
from safetensors.torch import load_file  # noqa: E402

from chaincheck import training  # noqa: E402
from chaincheck.errors import UsageError  # noqa: E402
from chaincheck.training import trainer_setup  # noqa: E402
from chaincheck.training.recipe import read_recipe  # noqa: E402
from chaincheck.training.run import train  # noqa: E402


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


def weights(folder: Path) -> dict[str, Any]:
    return dict(load_file(folder / "adapter" / "adapter_model.safetensors"))


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Train by the shipped configuration, on two CPU processes instead of eight devices."""
    shipped = Path(training.__file__).with_name("fsdp2.yaml").read_text("utf-8")
    config = tmp_path_factory.mktemp("config") / "fsdp2.yaml"
    config.write_text(shipped.replace("num_processes: 8", "num_processes: 2\nuse_cpu: true"))
    script = Path(__file__).with_name("fsdp_on_cpus.py")
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config)]

    def run(base: Path, data: Path, out: Path, *options: str, **environment: str) -> Any:
        command = [*launch, str(script), "train", "--base", str(base), "--data", str(data)]
        settings = ["-s", "lora.rank", "4", "-s", "batch", "2", *options]
        return subprocess.run(
            [*command, "--out", str(out), *settings],
            env={
                **os.environ,
                **environment,
                "OMP_NUM_THREADS": "1",
                "MASTER_PORT": str(_free_port()),
            },
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def apart(one: Path, other: Path) -> float:
    first, second = weights(one), weights(other)
    assert first.keys() == second.keys()
    return max(float((first[name] - second[name]).abs().max()) for name in first)


def test_two_processes_that_share_the_weights_train_as_one(
    base: Path, data: Path, tmp_path: Path, two_processes: Callable[..., Any]
) -> None:
    """Interrupted and resumed on the way."""
    options = ("-s", "dtype", "float32", "-s", "save_every", "2")
    torn = two_processes(base, data, tmp_path / "two", *options, CHAINCHECK_TEST_STOP="3")
    assert torn.returncode != 0
    assert not (tmp_path / "two" / "adapter").exists()
    assert (tmp_path / "two" / "checkpoints" / "checkpoint-2" / "complete.json").is_file()
    done = two_processes(base, data, tmp_path / "two", *options)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("state of step") == 1, "one process speaks"
    train(
        str(base),
        data,
        tmp_path / "one",
        read_recipe({"dtype": "float32", "lora": {"rank": 4}, "batch": 4}),
    )
    assert apart(tmp_path / "one", tmp_path / "two") < 1e-6
    told = json.loads((tmp_path / "two" / "training.json").read_text())
    assert told["acquisition"]["processes"] == 2
    lines = map(json.loads, (tmp_path / "two" / "metrics.jsonl").read_text().splitlines())
    steps = [line["step"] for line in lines if "loss" in line]
    assert steps == [1, 2, 3, 4]


def test_two_processes_share_a_base_in_bfloat16_and_validate(
    base: Path, data: Path, tmp_path: Path, two_processes: Callable[..., Any]
) -> None:
    """Frozen weights in one type, trained ones in another, and forward passes computed twice."""
    held_out = training_worlds.write(tmp_path / "val.jsonl", 6, start=40)
    settings = {"gradient_checkpointing": "true", "eval_every": "2"}
    options = [word for key, value in settings.items() for word in ("-s", key, value)]
    more = ("--validation", str(held_out))
    done = two_processes(base, data, tmp_path / "two", *options, *more)
    assert done.returncode == 0, done.stderr[-3000:]
    same_way = {"gradient_checkpointing": True, "eval_every": 2, "lora": {"rank": 4}, "batch": 4}
    train(str(base), data, tmp_path / "one", read_recipe(same_way), validation=held_out)
    assert apart(tmp_path / "one", tmp_path / "two") < 1e-3
    assert {str(one.dtype) for one in weights(tmp_path / "two").values()} == {"torch.float32"}


@pytest.mark.parametrize(
    ("processes", "asked", "loaded", "on_cpu"),
    [
        ("1", "auto", "auto", False),
        ("1", "cuda", "cuda", False),
        ("1", "cpu", "cpu", True),
        ("8", "auto", "cpu", False),
        ("8", "cuda", "cpu", False),
        ("8", "cpu", "cpu", True),
    ],
)
def test_of_several_processes_none_puts_the_whole_base_on_a_device(
    processes: str, asked: str, loaded: str, on_cpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", processes)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert trainer_setup.loading_device(asked) == loaded
    assert trainer_setup.trains_on_cpu(asked) is on_cpu
    with pytest.raises(UsageError, match="cuda:1"):
        trainer_setup.loading_device("cuda:1")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_a_process_that_sees_several_devices_takes_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import TrainingArguments

    def seen(self: Any) -> Any:
        self._n_gpu = 4
        return torch.device("cpu")

    monkeypatch.setattr(TrainingArguments, "_setup_devices", property(seen))
    arguments = trainer_setup.training_arguments(
        read_recipe({"batch": 2}), tmp_path, 8, on_cpu=True, validated=False
    )
    assert arguments.n_gpu == 1
    assert arguments.train_batch_size == 2
