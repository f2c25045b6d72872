"""The tokens that say yes and no, on real tokenizers made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny_language_models as tiny

from chaincheck.errors import UsageError
from chaincheck.judges import token_sets
from chaincheck.judges.token_sets import find_token_sets, tokenizer_hash

pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

YES, NO = ("yes", "y"), ("no", "n")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def words() -> Any:
    return tiny.tokenizer()


def test_they_are_those_that_read_so_one_by_one(words: Any) -> None:
    found = find_token_sets(words, YES, NO, rows=10_000)
    for ids, texts, answers in (
        (found.yes, found.yes_texts, YES),
        (found.no, found.no_texts, NO),
    ):
        plain = [id_ for id_ in range(len(words)) if words.decode([id_]).strip().lower() in answers]
        assert list(ids) == plain
        assert [words.decode([id_]) for id_ in ids] == list(texts)
    assert {" Yes", "Yes", "yes", " YES", "y", " Y"} <= set(found.yes_texts)
    assert not set(found.yes) & set(found.no)
    assert found.ids == found.yes + found.no


def test_a_byte_that_is_a_letter_counts(words: Any) -> None:
    """A tokenizer that writes bytes as <0x59> gives the letter only when it decodes."""
    from tokenizers import Tokenizer, decoders, models
    from transformers import PreTrainedTokenizerFast

    vocabulary = {f"<0x{byte:02X}>": byte for byte in range(256)} | {"▁yes": 256, "▁No": 257}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[], byte_fallback=True))
    made.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    )
    found = find_token_sets(
        PreTrainedTokenizerFast(tokenizer_object=made), YES, NO, rows=300, remember=False
    )
    assert set(found.yes) == {0x59, 0x79, 256}
    assert set(found.no) == {0x4E, 0x6E, 257}


def test_special_tokens_do_not_count() -> None:
    special = tiny.tokenizer()
    special.add_special_tokens({"additional_special_tokens": [" yes "]})
    found = find_token_sets(special, YES, NO, rows=10_000, remember=False)
    assert special.convert_tokens_to_ids(" yes ") not in found.yes


@pytest.mark.parametrize(
    ("yes", "no", "named"), [(("never",), NO, "never"), (YES, ("nay",), "nay")]
)
def test_a_vocabulary_without_an_answer_is_refused(
    words: Any, yes: tuple[str, ...], no: tuple[str, ...], named: str
) -> None:
    with pytest.raises(UsageError, match=f"has no single token that reads {named}"):
        find_token_sets(words, yes, no, rows=10_000)


def test_a_token_without_a_row_is_refused(words: Any) -> None:
    with pytest.raises(UsageError, match="has no row in the model's output of 300"):
        find_token_sets(words, YES, NO, rows=300)


def test_a_token_cannot_say_both(words: Any) -> None:
    with pytest.raises(UsageError, match="would say yes and no"):
        find_token_sets(words, ("yes",), ("yes",), rows=10_000)


def test_they_are_remembered_by_the_tokenizers_hash(
    words: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = find_token_sets(words, YES, NO, rows=10_000)
    monkeypatch.setattr(token_sets, "_texts", None)
    assert find_token_sets(words, YES, NO, rows=10_000) == first
    with pytest.raises(TypeError):
        find_token_sets(words, ("maybe",), NO, rows=10_000)
    with pytest.raises(TypeError):
        find_token_sets(tiny.tokenizer(words=("Yes", "No")), YES, NO, rows=10_000)
    with pytest.raises(UsageError, match="has no row"):
        find_token_sets(words, YES, NO, rows=300)
    (memory,) = (cache / "token_sets").iterdir()
    memory.write_bytes(b"{")
    with pytest.raises(TypeError):
        find_token_sets(words, YES, NO, rows=10_000)


def test_the_hash_tells_tokenizers_apart(words: Any) -> None:
    same = tiny.tokenizer()
    assert tokenizer_hash(same) == tokenizer_hash(words)
    same.add_tokens(["more"])
    assert tokenizer_hash(same) != tokenizer_hash(words)


def test_the_settings_follow_the_ids(words: Any) -> None:
    found = find_token_sets(words, YES, NO, rows=10_000)
    other = find_token_sets(words, ("yes",), NO, rows=10_000)
    assert found.settings["yes"] == len(found.yes)
    assert found.settings["hash"] != other.settings["hash"]
