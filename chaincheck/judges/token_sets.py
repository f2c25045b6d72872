"""Which tokens say yes and which say no.

A vocabulary holds an answer many times over: with a space before it, in capitals, as a byte. All
single tokens count whose text, stripped and in lower case, is an answer word. They are found by
decoding every token, since the names of tokens in a vocabulary are not their texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from chaincheck.atomic import write_bytes
from chaincheck.errors import ChainCheckError, UsageError
from chaincheck.models import cache_folder

__all__ = ["TokenSets", "find_token_sets", "tokenizer_hash"]

_FORMAT = 1  # raise it when other tokens can be found


class TokenSets(msgspec.Struct, frozen=True):
    """The tokens that say yes and those that say no.

    Attributes:
        yes, no: their ids, in ascending order.
        yes_texts, no_texts: their texts, as decoded alone.
    """

    yes: tuple[int, ...]
    no: tuple[int, ...]
    yes_texts: tuple[str, ...]
    no_texts: tuple[str, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """All ids, yes before no."""
        return self.yes + self.no

    @property
    def settings(self) -> dict[str, Any]:
        """What of it can change a score, for the instrument."""
        return {
            "yes": len(self.yes),
            "no": len(self.no),
            "hash": hashlib.sha256(repr((self.yes, self.no)).encode()).hexdigest()[:16],
        }


def tokenizer_hash(tokenizer: Any) -> str:
    """SHA-256 of everything by which a tokenizer turns text into tokens and back.

    Args:
        tokenizer: of the library transformers.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        whole = backend.to_str()
    else:  # written in Python: its vocabulary, its special tokens and its class
        added = {id_: str(token) for id_, token in tokenizer.added_tokens_decoder.items()}
        whole = repr((type(tokenizer).__name__, sorted(tokenizer.get_vocab().items()), added))
    return hashlib.sha256(whole.encode()).hexdigest()


def find_token_sets(
    tokenizer: Any, yes: Collection[str], no: Collection[str], *, rows: int, remember: bool = True
) -> TokenSets:
    """Find the tokens of the answer words.

    Args:
        tokenizer: of the library transformers.
        yes: the answer words that say yes, in lower case.
        no: those that say no.
        rows: rows of the model's output head; often more than the tokenizer has tokens.
        remember: keep what was found in the cache, by the tokenizer's hash.

    Raises:
        UsageError: no single token says yes, or none says no, or the model has no row for one.
    """
    memory = _memory_of(tokenizer, yes, no) if remember else None
    found = _recall(memory) if memory else None
    if found is None:
        texts = _texts(tokenizer)
        (yes_ids, yes_texts), (no_ids, no_texts) = (_reading(texts, words) for words in (yes, no))
        found = TokenSets(yes_ids, no_ids, yes_texts, no_texts)
    _check(found, yes, no, rows)
    if memory:
        _keep(memory, found)
    return found


def _reading(
    texts: Sequence[tuple[int, str]], words: Collection[str]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Pick the tokens that read as one of the words."""
    picked = [(id_, text) for id_, text in texts if text.strip().lower() in words]
    return tuple(id_ for id_, _ in picked), tuple(text for _, text in picked)


def _texts(tokenizer: Any) -> list[tuple[int, str]]:
    """Decode every token that is no special one, each alone."""
    special = {
        id_ for id_, token in tokenizer.added_tokens_decoder.items() if getattr(token, "special", 0)
    }
    ids = sorted(set(tokenizer.get_vocab().values()) - special)
    alone = [[id_] for id_ in ids]
    backend = getattr(tokenizer, "backend_tokenizer", None)
    decode = tokenizer.batch_decode if backend is None else backend.decode_batch
    texts: Sequence[str] = decode(alone, skip_special_tokens=False)
    return list(zip(ids, texts, strict=True))


def _check(found: TokenSets, yes: Collection[str], no: Collection[str], rows: int) -> None:
    for ids, words in ((found.yes, yes), (found.no, no)):
        if not ids:
            raise UsageError(
                f"the tokenizer has no single token that reads {' or '.join(sorted(words))}",
                remedy="Set the prompt's keys 'yes' and 'no' to words that it has",
            )
    both = set(found.yes) & set(found.no)
    if both:
        raise UsageError(
            f"the tokens {sorted(both)} would say yes and no",
            remedy="Set the prompt's keys 'yes' and 'no' to other words",
        )
    if max(found.ids) >= rows:
        raise UsageError(
            f"the tokenizer's token {max(found.ids)} has no row in the model's output of {rows:,}",
            remedy="Use the tokenizer that belongs to the model",
        )


def _memory_of(tokenizer: Any, yes: Collection[str], no: Collection[str]) -> Any:
    try:
        folder = cache_folder() / "token_sets"
    except ChainCheckError:
        return None
    what = repr((_FORMAT, tokenizer_hash(tokenizer), sorted(yes), sorted(no)))
    return folder / f"{hashlib.sha256(what.encode()).hexdigest()[:32]}.json"


def _recall(memory: Any) -> TokenSets | None:
    try:
        return msgspec.json.decode(memory.read_bytes(), type=TokenSets)
    except (OSError, msgspec.MsgspecError):
        return None


def _keep(memory: Any, found: TokenSets) -> None:
    """Remember what was found if that is possible; a cache that cannot be written is no fault."""
    if memory.exists():
        return
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(memory, msgspec.json.encode(found))
    except (OSError, ChainCheckError):
        return
