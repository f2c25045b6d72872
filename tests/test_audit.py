"""The audit: every planted fault is caught and named, and nothing else is."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from tiny_models import (  # noqa: E402
    MTP,
    plain_adapter,
    plain_base,
    read_tensors,
    rewrite,
    set_config,
    write_json,
)

from chaincheck.training.adapter import open_adapter  # noqa: E402
from chaincheck.training.audit import audit, base_name  # noqa: E402
from chaincheck.training.audit_results import Audit  # noqa: E402
from chaincheck.training.checkpoint import INDEX, SINGLE  # noqa: E402
from chaincheck.training.merge import merge  # noqa: E402

UP = "model.layers.1.up_proj.weight"
NORM = "model.layers.1.norm.weight"
Fault = Callable[[Path], None]


@pytest.fixture(params=[1, 3], ids=["one file", "three files"])
def folders(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Path, Path]:
    base = plain_base(tmp_path / "base", shards=request.param)
    adapter = plain_adapter(tmp_path / "adapter", base)
    merge(base, adapter, tmp_path / "merged")
    return base, adapter, tmp_path / "merged"


def audited(folders: tuple[Path, Path, Path]) -> Audit:
    base, adapter, merged = folders
    return audit(base, merged, open_adapter(adapter))


def found(result: Audit) -> list[tuple[str, str]]:
    return [(one.kind, one.tensor) for one in result.findings]


def test_a_good_merge_passes_and_every_tensor_is_classed(
    folders: tuple[Path, Path, Path],
) -> None:
    result = audited(folders)
    assert result.passed
    assert result.counts == {"unchanged": 2 + 2 + len(MTP), "merged": 4}
    assert {one.tensor for one in result.accounts} == set(read_tensors(folders[0]))
    assert result.notes == ()
    # bfloat16 keeps 8 digits; the base is about 10 times as large as the delta here.
    assert result.lost is not None
    assert 0.002 < result.lost < 0.05


def off_by_one_unit(value: torch.Tensor) -> torch.Tensor:
    bits = value.clone().view(torch.int16)
    bits[0] += 1
    return bits.view(value.dtype)


def change_one(name: str) -> Fault:
    def plant(folder: Path) -> None:
        value = read_tensors(folder)[name]
        rewrite(folder, {name: off_by_one_unit(value.reshape(-1)).reshape(value.shape)})

    return plant


def put(name: str, make: Callable[[dict[str, torch.Tensor]], torch.Tensor | None]) -> Fault:
    def plant(folder: Path) -> None:
        rewrite(folder, {name: make(read_tensors(folder))})

    return plant


def rename(name: str, new: str) -> Fault:
    def plant(folder: Path) -> None:
        rewrite(folder, {new: read_tensors(folder)[name], name: None})

    return plant


def with_nan(value: torch.Tensor) -> torch.Tensor:
    value = value.clone()
    value.reshape(-1)[3] = torch.nan
    return value


FAULTS: dict[str, tuple[Fault, list[tuple[str, str]]]] = {
    "dropped": (put(NORM, lambda _: None), [("missing", NORM)]),
    "dropped where the adapter changes it": (put(UP, lambda _: None), [("missing", UP)]),
    "one bit changed": (change_one(NORM), [("changed", NORM)]),
    "another delta": (put(UP, lambda t: t[UP] + 0.1), [("changed", UP)]),
    "retyped": (put(NORM, lambda t: t[NORM].float()), [("retyped", NORM)]),
    "retyped where the adapter changes it": (
        put(UP, lambda t: t[UP].half()),
        [("retyped", UP)],
    ),
    "renamed": (
        rename(NORM, "model.layers.1.layernorm.weight"),
        [("renamed", NORM)],
    ),
    "renamed where the adapter changes it": (
        rename(UP, "model.layers.1.mlp.up_proj.weight"),
        [("renamed", UP)],
    ),
    "wrong shape": (put(UP, lambda t: t[UP][:-1].contiguous()), [("reshaped", UP)]),
    "transposed": (put(UP, lambda t: t[UP].T.contiguous()), [("reshaped", UP)]),
    "NaN": (put(NORM, lambda t: with_nan(t[NORM])), [("nonfinite", NORM)]),
    "NaN where the adapter changes it": (
        put(UP, lambda t: with_nan(t[UP])),
        [("nonfinite", UP)],
    ),
    "extra": (
        put("model.surprise", lambda _: torch.ones(3)),
        [("unexplained", "model.surprise")],
    ),
    "two exchanged": (
        lambda folder: rewrite(
            folder,
            {
                "model.layers.0.norm.weight": read_tensors(folder)[NORM],
                NORM: read_tensors(folder)["model.layers.0.norm.weight"],
            },
        ),
        [("changed", "model.layers.0.norm.weight"), ("changed", NORM)],
    ),
    "head dropped though it is not tied": (
        put("lm_head.weight", lambda _: None),
        [("missing", "lm_head.weight")],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_caught_by_name(name: str, folders: tuple[Path, Path, Path]) -> None:
    plant, expected = FAULTS[name]
    plant(folders[2])
    result = audited(folders)
    assert sorted(found(result)) == sorted(expected)
    assert not result.passed
    for _kind, tensor in expected:
        assert tensor in str(result.failure())
        assert tensor in result.to_text()


def test_dropping_the_prediction_layer_is_caught_in_tensors_and_config(
    folders: tuple[Path, Path, Path],
) -> None:
    rewrite(folders[2], {f"{name}.weight": None for name in MTP})
    result = audited(folders)
    assert [one.tensor for one in result.findings if one.kind == "missing"] == sorted(
        [f"{name}.weight" for name in MTP],
        key=[one.tensor for one in result.findings].index,
    )
    assert [one.detail for one in result.findings if one.kind == "config"] == [
        "it tells of 1 multi-token prediction layers, the tensors are of 0"
    ]


def test_the_base_alone_is_no_merged_model(folders: tuple[Path, Path, Path]) -> None:
    base, adapter, _ = folders
    result = audit(base, base, open_adapter(adapter))
    assert [kind for kind, _ in found(result)] == ["changed"] * 4
    assert all("still the base's" in one.detail for one in result.findings)


def test_an_adapter_merged_twice_is_caught(
    folders: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    base, adapter, merged = folders
    merge(merged, adapter, tmp_path / "twice", base_called="somewhere/base")
    result = audit(base, tmp_path / "twice", open_adapter(adapter))
    assert [kind for kind, _ in found(result)] == ["changed"] * 4


def test_without_an_adapter_every_change_is_a_finding(folders: tuple[Path, Path, Path]) -> None:
    base, _, merged = folders
    result = audit(base, merged)
    assert [kind for kind, _ in found(result)] == ["changed"] * 4
    assert "no adapter was named" in result.findings[0].detail
    assert audit(base, base).passed


def test_a_delta_below_the_rounding_is_noted(tmp_path: Path) -> None:
    base = plain_base(tmp_path / "base")
    adapter = plain_adapter(tmp_path / "adapter", base, size=1e-9)
    result = merge(base, adapter, tmp_path / "merged").audit
    assert result.passed
    assert len(result.notes) == 4
    assert result.lost == pytest.approx(1.0)


@pytest.mark.parametrize(("size", "warned"), [(3e-4, True), (1e-3, False), (0.1, False)])
def test_rounding_that_takes_most_of_the_delta_is_warned_of(
    size: float, warned: bool, tmp_path: Path
) -> None:
    base = plain_base(tmp_path / "base", width=32)
    adapter = plain_adapter(tmp_path / "adapter", base, size=size)
    done = merge(base, adapter, tmp_path / "merged")
    lost = done.audit.lost
    assert lost is not None
    assert 0 < lost < 1
    assert (lost > 0.5) is warned
    assert done.audit.passed, "a warning stops nothing"
    wanted = f"warning: rounding took {lost:.1%} of the delta, so the merged model may not be"
    assert (wanted in done.to_text()) is warned
    stated = done.to_dict()["audit"]["warnings"]
    assert [f"warning: {one}".startswith(wanted) for one in stated] == [True] * warned
    assert not audit(base, base).warnings, "without an adapter there is no delta"


@pytest.mark.parametrize("how", [{"lora_alpha": 0}, {"size": 0.0}])
def test_a_delta_that_is_zero_is_warned_of(how: dict[str, Any], tmp_path: Path) -> None:
    base = plain_base(tmp_path / "base")
    done = merge(base, plain_adapter(tmp_path / "adapter", base, **how), tmp_path / "merged")
    assert done.audit.passed
    assert "delta is zero everywhere" in done.audit.warnings[0]
    assert "warning: the adapter's delta is zero" in done.to_text()


class TestTied:
    @pytest.fixture
    def folders(self, tmp_path: Path) -> tuple[Path, Path, Path]:
        base = plain_base(tmp_path / "base", tied=True)
        adapter = plain_adapter(tmp_path / "adapter", base)
        merge(base, adapter, tmp_path / "merged")
        return base, adapter, tmp_path / "merged"

    def test_no_head_is_stored(self, folders: tuple[Path, Path, Path]) -> None:
        assert "lm_head.weight" not in read_tensors(folders[2])
        assert audited(folders).passed

    def test_a_head_that_is_the_embedding_is_an_alias(
        self, folders: tuple[Path, Path, Path]
    ) -> None:
        embedding = read_tensors(folders[2])["model.embed_tokens.weight"]
        rewrite(folders[2], {"lm_head.weight": embedding.clone()})
        result = audited(folders)
        assert result.passed
        assert result.counts["tied"] == 1

    def test_another_head_unties(self, folders: tuple[Path, Path, Path]) -> None:
        embedding = read_tensors(folders[2])["model.embed_tokens.weight"]
        rewrite(folders[2], {"lm_head.weight": embedding + 1})
        assert found(audited(folders)) == [("untied", "lm_head.weight")]

    def test_a_config_that_unties_is_caught(self, folders: tuple[Path, Path, Path]) -> None:
        set_config(folders[2], tie_word_embeddings=False)
        result = audited(folders)
        assert [one.detail for one in result.findings] == [
            "the head is tied in the base and not tied here"
        ]

    def test_a_base_that_stores_the_alias_may_lose_it(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", tied=True)
        rewrite(base, {"lm_head.weight": read_tensors(base)["model.embed_tokens.weight"].clone()})
        shutil.copytree(base, tmp_path / "other")
        rewrite(tmp_path / "other", {"lm_head.weight": None})
        result = audit(base, tmp_path / "other")
        assert result.passed
        assert result.counts["tied"] == 1

    def test_a_base_that_is_untied_itself_is_noted(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", tied=True)
        rewrite(base, {"lm_head.weight": torch.ones(16, 8, dtype=torch.bfloat16)})
        shutil.copytree(base, tmp_path / "other")
        result = audit(base, tmp_path / "other")
        assert result.passed
        assert "the base itself stores a head" in result.notes[0]
        rewrite(tmp_path / "other", {"lm_head.weight": torch.zeros(16, 8, dtype=torch.bfloat16)})
        assert found(audit(base, tmp_path / "other")) == [("untied", "lm_head.weight")]


class TestFolders:
    def test_a_single_file_that_hides_the_shards_is_caught(
        self, folders: tuple[Path, Path, Path]
    ) -> None:
        merged = folders[2]
        if (merged / SINGLE).is_file():
            weight_map = dict.fromkeys(read_tensors(merged), "model-00001-of-00001.safetensors")
            shutil.copy(merged / SINGLE, merged / "model-00001-of-00001.safetensors")
            write_json(merged / INDEX, {"metadata": {}, "weight_map": weight_map})
        else:
            shutil.copy(sorted(merged.glob("*.safetensors"))[0], merged / SINGLE)
        kinds = {kind for kind, _ in found(audited(folders))}
        assert "layout" in kinds

    def test_an_index_that_names_too_much_or_too_little_is_caught(self, tmp_path: Path) -> None:
        base = plain_base(tmp_path / "base", shards=2)
        other = tmp_path / "other"
        shutil.copytree(base, other)
        names = {path.name: read_tensors(other) for path in other.glob("*.safetensors")}
        first = sorted(names)[0]
        weight_map = dict.fromkeys(read_tensors(base), first) | {"ghost": first}
        del weight_map[NORM]
        write_json(other / INDEX, {"metadata": {}, "weight_map": weight_map})
        details = [one.detail for one in audit(base, other).findings if one.kind == "layout"]
        text = "\n".join(details)
        assert "the index names ghost" in text
        assert f"holds {NORM}, which the index does not name" in text

    def test_a_changed_config_is_caught(self, folders: tuple[Path, Path, Path]) -> None:
        set_config(folders[2], architectures=["OtherForCausalLM"], vocab_size=17, use_cache=True)
        details = [one.detail for one in audited(folders).findings]
        assert len(details) == 2
        assert "architectures is ['PlainForCausalLM'] in the base" in details[0]
        assert "vocab_size is 16 in the base and 17 here" in details[1]

    def test_an_adapter_beside_the_weights_is_caught(
        self, folders: tuple[Path, Path, Path]
    ) -> None:
        """A loader puts it on the model, unasked and without a word."""
        write_json(folders[2] / "adapter_config.json", {"peft_type": "LORA"})
        assert found(audited(folders)) == [("layout", "")]

    def test_names_of_tensors_are_shown_on_one_line(self, folders: tuple[Path, Path, Path]) -> None:
        rewrite(folders[2], {"x\x1b[31m\ny": torch.ones(1)})
        shown = [line for line in audited(folders).to_text().splitlines() if "unexplained" in line]
        assert len(shown) == 1
        assert "x [31m y: F32" in shown[0]

    def test_other_files_are_noted(self, folders: tuple[Path, Path, Path]) -> None:
        (folders[2] / "tokenizer.json").write_text("{} ", "utf-8")
        (folders[2] / "chat_template.jinja").unlink()
        result = audited(folders)
        assert result.passed
        assert result.notes == (
            "tokenizer.json is not the base's",
            "chat_template.jinja of the base is lacking",
        )


def test_names_are_mapped_before_anything_is_compared(
    folders: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    base, adapter, merged = folders
    tensors = read_tensors(merged)
    renamed = {f"language.{name}": one for name, one in tensors.items()}
    rewrite(merged, dict.fromkeys(tensors) | renamed)
    result = audit(base, merged, open_adapter(adapter))
    # Under these names nobody would find the prediction layer, which the config tells of.
    assert {kind for kind, _ in found(result)} == {"renamed", "config"}
    assert len(result.findings) == len(tensors) + 1
    assert audit(base, merged, open_adapter(adapter), renames={"language.": ""}).passed


def test_the_longest_start_decides() -> None:
    renames = {"model.": "m.", "model.visual.": "visual."}
    assert base_name("model.visual.x", renames) == "visual.x"
    assert base_name("model.y", renames) == "m.y"
    assert base_name("z", renames) == "z"


def test_the_result_says_everything_in_json(folders: tuple[Path, Path, Path]) -> None:
    plain = audited(folders).to_dict()
    assert plain["passed"] is True
    named = [name for names in plain["tensors"].values() for name in names]
    assert sorted(named) == sorted(read_tensors(folders[0]))
