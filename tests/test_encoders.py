"""Encoders from a folder: what they read, what they refuse, what they leave as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

from tiny_encoders import make_model

from chaincheck.errors import InvalidModel
from chaincheck.judges import encoders
from chaincheck.judges.encoder_batches import EncoderSettings
from chaincheck.judges.encoders import Encoder


def test_public_names_are_pinned() -> None:
    assert encoders.__all__ == ["Encoder"]


@pytest.mark.parametrize("family", ["bert", "roberta", "deberta-v2"])
def test_the_longest_input_runs_and_no_longer_one_is_let_in(tmp_path: Path, family: str) -> None:
    """Positions of a RoBERTa start behind its padding token's id."""
    folder = make_model(tmp_path / "m", family, head="none", longest=24)
    tokenizer = json.loads((folder / "tokenizer_config.json").read_text())
    tokenizer["model_max_length"] = 10**30  # as many folders say
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    encoder = Encoder(folder, "none", EncoderSettings(too_long="cut"), unused=("pooler.",))
    assert encoder.limit == 24
    longest = encoder.encode("the film " * 30, None, "i")
    assert len(longest) == 24
    assert longest.cut > 24
    given, mask = encoder.run([longest, encoder.encode("film", None, "i")])
    assert given.last_hidden_state.shape[:2] == (2, 24)
    assert mask.sum().item() == 24 + 3


def test_a_tokenizer_without_padding_is_refused(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "m", "bert", head="none")
    for name in ("tokenizer_config.json", "special_tokens_map.json"):
        path = folder / name
        if path.is_file():
            kept = {k: v for k, v in json.loads(path.read_text()).items() if k != "pad_token"}
            path.write_text(json.dumps(kept))
    with pytest.raises(InvalidModel, match="no padding token"):
        Encoder(folder, "none", EncoderSettings())


def test_a_broken_tokenizer_is_refused(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "m", "bert", head="none")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(InvalidModel, match="tokenizer cannot be loaded"):
        Encoder(folder, "none", EncoderSettings())


@pytest.mark.parametrize("shown", [True, False])
def test_the_librarys_progress_bars_are_left_as_they_were(tmp_path: Path, shown: bool) -> None:
    from transformers.utils import logging

    folder = make_model(tmp_path / "m", "bert", head="none")
    before = logging.is_progress_bar_enabled()
    try:
        (logging.enable_progress_bar if shown else logging.disable_progress_bar)()
        Encoder(folder, "none", EncoderSettings(), unused=("pooler.",))
        assert logging.is_progress_bar_enabled() is shown
    finally:
        (logging.enable_progress_bar if before else logging.disable_progress_bar)()


def test_a_moved_folder_is_the_same_instrument(tmp_path: Path) -> None:
    """No path of this machine is part of it, and none reaches a record."""
    found = []
    for name in ("one", "other"):
        folder = make_model(tmp_path / name, "bert", head="none")
        found.append(Encoder(folder, "none", EncoderSettings(), unused=("pooler.",)).instrument())
    assert found[0] == found[1]
    assert str(tmp_path) not in json.dumps(found)
