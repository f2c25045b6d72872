"""Each planted fault is found for what it is, by name, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("peft", reason="the extra 'training' is not installed")

from chaincheck.cli import main  # noqa: E402
from chaincheck.planted_faults import FAULTS, PlantedFault, plant  # noqa: E402
from chaincheck.tiny_checkpoints import merge_by_class, save_tiny  # noqa: E402
from chaincheck.training.adapter import open_adapter  # noqa: E402
from chaincheck.training.audit import audit  # noqa: E402
from chaincheck.training.audit_results import FINDINGS  # noqa: E402
from chaincheck.training.merge import merge  # noqa: E402


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base, an adapter and a sound merged model."""
    folder = tmp_path_factory.mktemp("release")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAINCHECK_CACHE", str(folder / "cache"))
        torch.set_num_threads(1)
        save_tiny(folder / "base", "qwen3_5")
        merge_by_class(folder / "base", folder / "adapter", folder / "theirs")
        merge(folder / "base", folder / "adapter", folder / "merged")
    return folder


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_is_found(fault: PlantedFault, release: Path, tmp_path: Path) -> None:
    out = plant(fault, release / "base", release / "merged", tmp_path / "planted")
    found = audit(release / "base", out, open_adapter(release / "adapter"))
    assert {(one.kind, one.tensor) for one in found.findings} == {(fault.finding, fault.tensor)}
    assert audit(release / "base", release / "merged", open_adapter(release / "adapter")).passed


def test_every_tensor_s_fault_that_an_audit_knows_is_tried() -> None:
    # A file that is torn or named twice is tried in the tests of the audit; shapes there too.
    assert {fault.finding for fault in FAULTS} == set(FINDINGS) - {"layout", "reshaped"}
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_the_command_ends_with_1(release: Path, tmp_path: Path) -> None:
    out = plant(FAULTS[0], release / "base", release / "merged", tmp_path / "planted")
    words = ["merge", str(release / "base"), "--adapter", str(release / "adapter")]
    assert main([*words, "--audit-only", str(release / "merged")]) == 0
    assert main([*words, "--audit-only", str(out)]) == 1
