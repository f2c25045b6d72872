"""A device that computes, and a kernel that is here: anything else is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_encoders
import tiny_language_models as tiny

from chaincheck.errors import UsageError
from chaincheck.judges import open_judge, placement
from chaincheck.judges.placement import check_kernel, usable_device

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")


def test_public_names_are_pinned() -> None:
    assert placement.__all__ == ["check_kernel", "usable_device"]


def test_the_cpu_is_always_there() -> None:
    assert usable_device("cpu", torch).type == "cpu"
    assert usable_device("auto", torch).type in {"cpu", "cuda"}


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "meta", ""])
def test_a_device_on_which_nothing_can_be_computed_is_refused(device: str) -> None:
    with pytest.raises(UsageError, match=r'cannot be used: .+ Set device = "cpu"'):
        usable_device(device, torch)


@pytest.mark.parametrize("name", ["owner/kernel", "owner/kernel@v1:fn", "paged|owner/kernel"])
def test_a_kernel_of_a_hub_is_refused_before_anything_could_fetch_it(name: str) -> None:
    with pytest.raises(UsageError, match="code from a hub, which is not fetched"):
        check_kernel(name)


@pytest.mark.parametrize("number", [2, 3, 4])
def test_flash_attention_that_is_not_installed_is_not_fetched_either(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "_installed", lambda package: False)
    with pytest.raises(UsageError, match=f"flash_attention_{number}' is not to be had"):
        check_kernel(f"flash_attention_{number}")
    monkeypatch.setattr(placement, "_installed", lambda package: True)
    check_kernel(f"flash_attention_{number}")


@pytest.mark.parametrize("name", [None, "sdpa", "eager", "paged|eager", "flex_attention"])
def test_kernels_of_the_library_itself_pass(name: str | None) -> None:
    check_kernel(name)


@pytest.mark.parametrize("kind", ["causal", "cross_encoder", "embedding"])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('device = "meta"', "the device 'meta' cannot be used"),
        ('device = "nonsense"', "the device 'nonsense' cannot be used"),
        ('attention = "owner/kernel"', "the attention kernel 'owner/kernel' is code from a hub"),
        ('attention = "nonsense"', "the attention kernel 'nonsense' cannot be used"),
    ],
)
def test_every_kind_of_judge_that_runs_a_model_refuses_them(
    tmp_path: Path, kind: str, line: str, problem: str
) -> None:
    if kind == "causal":
        tiny.save(tmp_path / "model")
    else:
        head = "classification" if kind == "cross_encoder" else "none"
        tiny_encoders.make_model(tmp_path / "model", head=head)
    judge = tmp_path / "judge.toml"
    judge.write_text(f'kind = "{kind}"\nmodel = "model"\n{line}\n')
    with pytest.raises(UsageError, match=problem):
        open_judge(str(judge))
