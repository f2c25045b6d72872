"""Merging: the arithmetic, the files, what is refused, and what is left when something fails."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from safetensors.torch import save_file  # noqa: E402
from tiny_models import (  # noqa: E402
    MTP,
    plain_adapter,
    plain_base,
    read_tensors,
    rewrite,
    set_config,
    write_json,
)

from chaincheck.cli import main  # noqa: E402
from chaincheck.errors import (  # noqa: E402
    InvalidModel,
    MeasuredFailure,
    UnwritableOutput,
    UsageError,
)
from chaincheck.models import weights_hash  # noqa: E402
from chaincheck.training import merge as module  # noqa: E402
from chaincheck.training.adapter import BASE_RECORD, open_adapter  # noqa: E402
from chaincheck.training.audit import audit  # noqa: E402
from chaincheck.training.checkpoint import INDEX, SINGLE, open_checkpoint  # noqa: E402
from chaincheck.training.merge import merge, restore  # noqa: E402
from chaincheck.training.merge_files import PROVENANCE  # noqa: E402

UP = "model.layers.1.up_proj.weight"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return plain_base(tmp_path / "base")


@pytest.fixture
def adapter(tmp_path: Path, base: Path) -> Path:
    return plain_adapter(tmp_path / "adapter", base)


def left_behind(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name.endswith(".part"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("settings", [{}, {"use_rslora": True}, {"alpha_pattern": {"up_proj": 6}}])
def test_each_weight_is_base_plus_scaled_product(
    dtype: torch.dtype, settings: dict[str, Any], tmp_path: Path
) -> None:
    base = plain_base(tmp_path / "base", dtype=dtype)
    adapter = plain_adapter(tmp_path / "adapter", base, rank=3, **settings)
    merge(base, adapter, tmp_path / "merged")
    old, new, factors = (read_tensors(one) for one in (base, tmp_path / "merged", adapter))
    for name, tensor in old.items():
        start = f"base_model.model.{name.removesuffix('.weight')}"
        if f"{start}.lora_A.weight" not in factors:
            assert torch.equal(tensor, new[name])
            continue
        alpha = 6 if settings.get("alpha_pattern") and "up_proj" in name else 6.0
        scale = alpha / (3**0.5 if settings.get("use_rslora") else 3)
        product = factors[f"{start}.lora_B.weight"] @ factors[f"{start}.lora_A.weight"]
        wide = torch.promote_types(dtype, torch.float32)
        assert torch.equal(new[name], (tensor.to(wide) + (product * scale).to(wide)).to(dtype))
        assert not torch.equal(new[name], tensor)


def test_files_of_the_base_are_carried_over_and_weights_are_not(
    base: Path, adapter: Path, tmp_path: Path
) -> None:
    (base / "sub").mkdir()
    (base / "sub" / "more.json").write_text("[]", "utf-8")
    (base / "old.gguf").write_bytes(b"weights")
    (base / ".hidden").write_text("x", "utf-8")
    result = merge(base, adapter, tmp_path / "merged")
    merged = tmp_path / "merged"
    names = {str(path.relative_to(merged)) for path in merged.rglob("*") if path.is_file()}
    assert names == {
        *("config.json", "tokenizer.json", "chat_template.jinja", "LICENSE", "BASE_README.md"),
        *(SINGLE, "sub/more.json", PROVENANCE),
    }
    assert (merged / "config.json").read_bytes() == (base / "config.json").read_bytes()
    assert result.record["left_out"] == ["old.gguf"]
    assert "old.gguf" in result.to_text()
    assert merged.stat().st_mode & 0o777 == base.stat().st_mode & 0o777


def test_the_record_holds_the_hash_of_every_input_and_output(
    base: Path, adapter: Path, tmp_path: Path
) -> None:
    merge(base, adapter, tmp_path / "merged")
    record = json.loads((tmp_path / "merged" / PROVENANCE).read_bytes())
    for part, folder in (
        ("base", base),
        ("adapter", adapter),
        ("merged", tmp_path / "merged"),
    ):
        files = record[part]["files"]
        assert files
        for name, digest in files.items():
            assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        assert record[part]["weights"] == weights_hash(folder)
    merged = {path.name for path in (tmp_path / "merged").iterdir()} - {PROVENANCE}
    assert set(record["merged"]["files"]) == merged
    assert record["audit"]["passed"] is True
    assert str(tmp_path) not in json.dumps(record["base"]), "no path of a machine"


def test_the_same_inputs_give_the_same_bytes(base: Path, adapter: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        merge(base, adapter, tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_shards_stay_shards_and_the_total_is_counted_anew(tmp_path: Path) -> None:
    base = plain_base(tmp_path / "base", shards=4)
    index = json.loads((base / INDEX).read_text("utf-8"))
    write_json(base / INDEX, index | {"metadata": {"total_size": 1, "total_parameters": 7}})
    adapter = plain_adapter(tmp_path / "adapter", base)
    merge(base, adapter, tmp_path / "merged")
    found = json.loads((tmp_path / "merged" / INDEX).read_text("utf-8"))
    assert found["weight_map"] == index["weight_map"]
    assert found["metadata"] == {
        "total_size": index["metadata"]["total_size"],
        "total_parameters": 7,
    }


def test_a_hundred_shards_are_merged_in_the_memory_of_about_one(tmp_path: Path) -> None:
    """100 shards of 2 MiB: to hold base or merged model would take 200 MiB."""
    if not Path("/proc/self/status").is_file():
        # The peak that getrusage gives is at least the size of the process that started this one.
        pytest.skip("this system has no /proc to tell the peak of memory")
    base = tmp_path / "base"
    base.mkdir()
    weight_map = {}
    for number in range(1, 101):
        name = f"model.layers.{number - 1}.q_proj.weight"
        file = f"model-{number:05d}-of-00100.safetensors"
        tensor = torch.full((1024, 1024), 1.0 + number, dtype=torch.bfloat16)
        save_file({name: tensor}, base / file, metadata={"format": "pt"})
        weight_map[name] = file
    write_json(base / INDEX, {"metadata": {}, "weight_map": weight_map})
    write_json(base / "config.json", {"model_type": "plain", "tie_word_embeddings": False})
    modules = [f"model.layers.{number}.q_proj" for number in range(0, 100, 2)]
    plain_adapter(tmp_path / "adapter", base, modules=modules)
    script = (
        "import sys\n"
        "from chaincheck.training.merge import merge\n"
        "def peak():\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith('VmHWM'))\n"
        "import torch, safetensors\n"
        "torch.set_num_threads(1)\n"
        "torch.ones(4, 4) @ torch.ones(4, 4)\n"
        "before = peak()\n"
        "found = merge(*sys.argv[1:])\n"
        "print(peak() - before, *found.audit.counts.values())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, base, tmp_path / "adapter", tmp_path / "merged"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    grown, unchanged, merged = map(int, done.stdout.split())
    assert (unchanged, merged) == (50, 50)
    # Libraries that are loaded late, a tensor in float32 with its delta, some rows in double
    # precision: 60 to 90 MiB, with 100 shards of 2 MiB as with 100 shards of 32 MiB.
    assert grown < 120 * 1024, f"{grown / 1024:.0f} MiB"
    assert len(list((tmp_path / "merged").glob("*.safetensors"))) == 100


class TestOutput:
    def test_nothing_is_written_over(self, base: Path, adapter: Path, tmp_path: Path) -> None:
        (tmp_path / "there").mkdir()
        with pytest.raises(UnwritableOutput, match="exists already"):
            merge(base, adapter, tmp_path / "there")

    @pytest.mark.parametrize("where", ["base", "base/inside", "adapter/inside"])
    def test_the_inputs_are_not_written_into(
        self, where: str, base: Path, adapter: Path, tmp_path: Path
    ) -> None:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(UnwritableOutput):
            merge(base, adapter, tmp_path / where)
        assert sorted(p for p in tmp_path.rglob("*") if "cache" not in p.parts) == before

    def test_a_full_disk_leaves_nothing(self, base: Path, adapter: Path, tmp_path: Path) -> None:
        script = (
            "import resource, signal, sys\n"
            "from chaincheck.cli import main\n"
            "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
            "sys.exit(main(sys.argv[1:]))\n"
        )
        done = subprocess.run(
            [
                *(sys.executable, "-c", script, "merge", base, "--adapter", adapter),
                *("--out", tmp_path / "merged"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert "cannot write: File too large" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (tmp_path / "merged").exists()
        assert left_behind(tmp_path) == []

    def test_what_the_audit_finds_leaves_nothing(
        self, base: Path, adapter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "add_delta", lambda base, *_: base)
        with pytest.raises(MeasuredFailure, match=f"changed {UP}"):
            merge(base, adapter, tmp_path / "merged")
        assert not (tmp_path / "merged").exists()
        assert left_behind(tmp_path) == []

    def test_an_interruption_leaves_nothing(
        self, base: Path, adapter: Path, tmp_path: Path
    ) -> None:
        def stop(items: Any, what: str, total: int) -> Any:
            for number, item in enumerate(items):
                if number == 5:
                    raise KeyboardInterrupt
                yield item

        with pytest.raises(KeyboardInterrupt):
            merge(base, adapter, tmp_path / "merged", progress=stop)
        assert left_behind(tmp_path) == []


class TestBelongsTogether:
    def test_the_hash_of_the_base_decides(self, base: Path, adapter: Path, tmp_path: Path) -> None:
        write_json(adapter / BASE_RECORD, {"weights": weights_hash(base)})
        config = json.loads((adapter / "adapter_config.json").read_text("utf-8"))
        write_json(
            adapter / "adapter_config.json", config | {"base_model_name_or_path": "another/name"}
        )
        result = merge(base, adapter, tmp_path / "merged")
        assert "holds the hash" in result.record["base"]["agreement"]
        rewrite(base, {"model.layers.0.norm.weight": torch.ones(8, dtype=torch.bfloat16)})
        with pytest.raises(InvalidModel, match="it was trained on weights"):
            merge(base, adapter, tmp_path / "again")

    def test_without_a_hash_the_name_must_fit_or_be_given(
        self, base: Path, adapter: Path, tmp_path: Path
    ) -> None:
        config = json.loads((adapter / "adapter_config.json").read_text("utf-8"))
        name = "someone/Other-4B"
        write_json(adapter / "adapter_config.json", config | {"base_model_name_or_path": name})
        with pytest.raises(InvalidModel, match="--base-called someone/Other-4B"):
            merge(base, adapter, tmp_path / "merged")
        assert merge(base, adapter, tmp_path / "merged", base_called=name).audit.passed

    def test_a_hub_cache_counts_as_the_name(self, base: Path, tmp_path: Path) -> None:
        place = tmp_path / "models--Someone--Other-4B" / "snapshots" / "abc123"
        shutil.copytree(base, place)
        adapter = plain_adapter(
            tmp_path / "adapter", base, base_model_name_or_path="Someone/Other-4B"
        )
        result = merge(place, adapter, tmp_path / "merged")
        assert result.audit.passed
        assert result.record["base"]["name"] == "Someone/Other-4B"

    def test_another_architecture_is_named(self, base: Path, tmp_path: Path) -> None:
        other = plain_base(tmp_path / "other", layers=3)
        adapter = plain_adapter(tmp_path / "adapter", other, base_model_name_or_path=None)
        with pytest.raises(InvalidModel, match=r"not for the base .*4 of its 6 modules, not "):
            merge(base, adapter, tmp_path / "merged")

    def test_another_width_is_named(self, base: Path, tmp_path: Path) -> None:
        other = plain_base(tmp_path / "other", width=10)
        adapter = plain_adapter(tmp_path / "adapter", other, base_model_name_or_path=None)
        with pytest.raises(InvalidModel, match=r"needs shape \[10, 10\], .* has \[8, 8\]"):
            merge(base, adapter, tmp_path / "merged")


class TestRestore:
    """A model that a loader without prediction layers has merged and saved."""

    @pytest.fixture
    def lost(self, base: Path, adapter: Path, tmp_path: Path) -> Path:
        merge(base, adapter, tmp_path / "lost")
        rewrite(tmp_path / "lost", {f"{name}.weight": None for name in MTP})
        return tmp_path / "lost"

    def test_what_was_dropped_is_put_back_into_a_file_of_its_own(
        self, base: Path, adapter: Path, lost: Path, tmp_path: Path
    ) -> None:
        set_config(lost, mtp_num_hidden_layers=0)
        result = restore(base, lost, tmp_path / "whole", adapter=adapter)
        assert result.audit.counts == {"unchanged": 4, "merged": 4, "restored": 15}
        whole = tmp_path / "whole"
        assert not (whole / SINGLE).exists(), "it would hide the index"
        index = json.loads((whole / INDEX).read_text("utf-8"))
        assert {index["weight_map"][f"{name}.weight"] for name in MTP} == {
            "model-00002-of-00002.safetensors"
        }
        sizes = sum(one.numel() * 2 for one in read_tensors(whole).values())
        assert index["metadata"]["total_size"] == sizes
        assert open_checkpoint(whole).config["mtp_num_hidden_layers"] == 1
        merge(base, adapter, tmp_path / "direct")
        direct = read_tensors(tmp_path / "direct")
        restored = read_tensors(whole)
        assert all(torch.equal(direct[name], restored[name]) for name in direct)

    def test_names_are_those_of_the_base_again(
        self, base: Path, adapter: Path, lost: Path, tmp_path: Path
    ) -> None:
        tensors = read_tensors(lost)
        renamed = {name.replace("model.", "text."): one for name, one in tensors.items()}
        rewrite(lost, dict.fromkeys(tensors) | renamed)
        whole = tmp_path / "whole"
        restore(base, lost, whole, adapter=adapter, renames={"text.": "model."})
        assert set(read_tensors(whole)) == set(read_tensors(base))

    def test_a_renaming_that_gives_two_tensors_one_name(
        self, base: Path, lost: Path, tmp_path: Path
    ) -> None:
        rewrite(lost, {"model.extra": torch.ones(1), "text.extra": torch.ones(1)})
        with pytest.raises(UsageError, match=r"two tensors of .* one name"):
            restore(base, lost, tmp_path / "whole", renames={"text.": "model."})

    def test_nothing_else_is_put_back(
        self, base: Path, adapter: Path, lost: Path, tmp_path: Path
    ) -> None:
        rewrite(lost, {"model.layers.0.norm.weight": None})
        with pytest.raises(MeasuredFailure, match=r"missing model\.layers\.0\.norm\.weight"):
            restore(base, lost, tmp_path / "whole", adapter=adapter)
        assert not (tmp_path / "whole").exists()

    def test_a_tied_head_is_not_put_back(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", tied=True)
        embedding = read_tensors(base)["model.embed_tokens.weight"]
        rewrite(base, {"lm_head.weight": embedding.clone()})
        shutil.copytree(base, tmp_path / "lost")
        rewrite(tmp_path / "lost", {"lm_head.weight": None, "mtp.fc.weight": None})
        result = restore(base, tmp_path / "lost", tmp_path / "whole")
        assert "lm_head.weight" not in read_tensors(tmp_path / "whole")
        assert result.audit.counts["tied"] == 1
        assert result.audit.counts["restored"] == 1

    def test_where_nothing_was_lost_one_file_stays_one(
        self, base: Path, adapter: Path, tmp_path: Path
    ) -> None:
        merge(base, adapter, tmp_path / "merged")
        restore(base, tmp_path / "merged", tmp_path / "whole", adapter=adapter)
        assert (tmp_path / "whole" / SINGLE).is_file()
        assert not (tmp_path / "whole" / INDEX).exists()
        assert audit(base, tmp_path / "whole", open_adapter(adapter)).passed


@pytest.mark.parametrize("place", ["base", "adapter", "merged", "out"])
def test_the_report_is_not_written_into_a_model(
    place: str, base: Path, adapter: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It could take the place of weights, settings or the record."""
    merge(base, adapter, tmp_path / "merged")
    report = str(tmp_path / place / "config.json")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    command = ["merge", str(base), "--adapter", str(adapter), "--json", report]
    to = ["--out", str(tmp_path / "out")]
    if place == "merged":
        to = ["--audit-only", str(tmp_path / "merged")]
    assert main([*command, *to]) == 2
    assert "lies in a folder that the same command works on" in capsys.readouterr().err
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
