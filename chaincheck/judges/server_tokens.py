"""Which tokens of a served model read as an answer word.

A token counts if its text, without the white space around it and in lower case, is one of the
prompt's answer words. Its id is found in a tokenizer's file, or asked of a server that has
``/tokenize`` and ``/detokenize`` (vLLM).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chaincheck.errors import MissingExtra, UnreadableFile, UsageError

__all__ = ["Vocabulary", "candidates", "ids_from_server", "read_vocabulary", "reads_as"]

_BEFORE = ("", " ", "  ", "\n", "\n\n", "\t")
_AFTER = ("", " ", "\n")
Post = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Sends a request to a path of the server and gives the reply's JSON."""


def reads_as(text: str, words: Collection[str]) -> bool:
    """Tell whether a token's text is one of the words, but for case and the space around it."""
    return text.strip().lower() in words


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A tokenizer's tokens.

    Attributes:
        texts: what each token reads as, alone, by id; without special tokens.
        marks: special tokens, and added ones that look like marks (``<think>``).
        path: where it was read.
    """

    texts: dict[int, str]
    marks: tuple[str, ...]
    path: Path

    def ids(self, words: Collection[str]) -> tuple[int, ...]:
        """Give the ids of all tokens that read as one of the words.

        Raises:
            UsageError: there are none.
        """
        found = tuple(one for one, text in self.texts.items() if reads_as(text, words))
        if not found:
            raise UsageError(
                f"no single token of {self.path} reads as {' or '.join(sorted(words))}",
                remedy="Ask for other answer words in the prompt's file",
            )
        return found


def read_vocabulary(folder: Path) -> Vocabulary:
    """Read a tokenizer.

    The whole vocabulary is decoded, token by token: a search by spelling would miss tokens that
    are written as bytes.

    Args:
        folder: holds ``tokenizer.json``.

    Raises:
        MissingExtra: the package ``tokenizers`` is not installed.
        UnreadableFile: the tokenizer cannot be read.
    """
    try:
        from tokenizers import Tokenizer
    except ModuleNotFoundError:
        raise MissingExtra("finding tokens in a tokenizer", "judges") from None
    path = folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as cause:  # its own errors have no narrower class
        raise UnreadableFile(
            f"no tokenizer: {cause}", path=path, remedy="Name a folder that holds tokenizer.json"
        ) from None
    added = tokenizer.get_added_tokens_decoder()
    special = {one for one, token in added.items() if token.special}
    ids = sorted(set(tokenizer.get_vocab(with_added_tokens=True).values()) - special)
    texts = tokenizer.decode_batch([[one] for one in ids], skip_special_tokens=False)
    marks = {
        token.content
        for token in added.values()
        if token.content.strip() and (token.special or _looks_like_a_mark(token.content))
    }
    return Vocabulary(dict(zip(ids, texts, strict=True)), tuple(sorted(marks)), path)


def _looks_like_a_mark(text: str) -> bool:
    return len(text) > 2 and not text[0].isalnum() and not any(map(str.isspace, text))


def candidates(words: Collection[str]) -> Iterator[str]:
    """Give the spellings of the words that a vocabulary may hold as one token."""
    for word in sorted(words):
        for cased in dict.fromkeys((word, word.capitalize(), word.upper())):
            for before in _BEFORE:
                for after in _AFTER:
                    yield before + cased + after


async def ids_from_server(post: Post, model: str, words: Collection[str]) -> tuple[int, ...]:
    """Find, by asking the server, the ids of the tokens that read as one of the words.

    Every spelling of ``candidates`` is tokenized. Where that is one token, its text is asked
    for, since a tokenizer may drop or add a space. A vocabulary's odder spellings ("yEs") are
    not found in this way.

    Raises:
        UsageError: no spelling is a single token.
        ServerFailed: the server has no ``/tokenize``.
    """
    found: set[int] = set()
    for text in candidates(words):
        asked = {"model": model, "prompt": text, "add_special_tokens": False}
        tokens = _member(await post("/tokenize", asked), "tokens")
        if isinstance(tokens, list) and len(tokens) == 1 and isinstance(tokens[0], int):
            found.add(tokens[0])
    kept = []
    for one in sorted(found):
        said = await post("/detokenize", {"model": model, "tokens": [one]})
        text = _member(said, "prompt")
        if isinstance(text, str) and reads_as(text, words):
            kept.append(one)
    if not kept:
        raise UsageError(
            f"the server knows no single token that reads as {' or '.join(sorted(words))}",
            remedy='Give yes_ids and no_ids, or the tokenizer; only vLLM knows mode "ids"',
        )
    return tuple(kept)


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None
