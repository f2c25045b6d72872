"""Contexts of titled pages and sentences, as 2WikiMultiHopQA and HotpotQA give them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from chaincheck.chains import Passage
from chaincheck.sources.records import Record

__all__ = [
    "Page",
    "Support",
    "fold",
    "join_sentences",
    "pages_of",
    "stands_in",
    "supports_of",
    "without_qualifier",
]

_QUALIFIER = re.compile(r"\s*\([^()]*\)\s*$")


class Page(NamedTuple):
    """A page of a context: its title, its sentences and the passage that they make."""

    title: str
    sentences: tuple[str, ...]
    passage: Passage


class Support(NamedTuple):
    """A supporting fact: a title and a sentence of its page, from 0."""

    title: str
    sentence: int


def join_sentences(sentences: Sequence[str]) -> str:
    """Join the sentences of a page; those that bring their own space get no second one."""
    text = ""
    for sentence in sentences:
        if text and sentence and not text[-1].isspace() and not sentence[0].isspace():
            text += " "
        text += sentence
    return text


def without_qualifier(title: str) -> str:
    """Drop the qualifier at a title's end: "Arrival (film)" gives "Arrival"."""
    return _QUALIFIER.sub("", title) or title


def fold(text: str) -> str:
    """Fold case, accents, invisible characters and spaces, for comparing names."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    kept = (
        ch for ch in plain if not unicodedata.combining(ch) and unicodedata.category(ch) != "Cf"
    )
    return " ".join("".join(kept).split())


def stands_in(name: str, text: str) -> bool:
    """Tell whether a name stands in a text as whole words, under ``fold``."""
    wanted = fold(name)
    return bool(wanted) and bool(re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", fold(text)))


def pages_of(record: Record) -> tuple[Page, ...]:
    """Decode the column ``context``: a list of ``[title, [sentence, ...]]``.

    Raises:
        InvalidItem: it is not.
    """
    pages = []
    for place, value in enumerate(record.rows("context")):
        pair = record.as_list(value, f"entry {place} of context")
        if len(pair) != 2:
            record.fail(f"entry {place} of context should be [title, sentences]")
        title = record.as_text(pair[0], f"the title of entry {place} of context")
        sentences = record.as_list(pair[1], f"the sentences of entry {place} of context")
        if not all(isinstance(sentence, str) for sentence in sentences):
            record.fail(f"the sentences of entry {place} of context should be texts")
        passage = Passage(title, join_sentences(sentences))
        pages.append(Page(title, tuple(sentences), passage))
    if not pages:
        record.fail("column context is empty")
    return tuple(pages)


def supports_of(record: Record) -> tuple[Support, ...]:
    """Decode the column ``supporting_facts``: a list of ``[title, sentence index]``.

    Raises:
        InvalidItem: it is not, or names a title that the context does not have.
    """
    supports = []
    for place, value in enumerate(record.rows("supporting_facts")):
        pair = record.as_list(value, f"supporting fact {place}")
        if len(pair) != 2:
            record.fail(f"supporting fact {place} should be [title, sentence index]")
        title = record.as_text(pair[0], f"the title of supporting fact {place}")
        index = record.as_index(pair[1], f"the sentence of supporting fact {place}")
        supports.append(Support(title, index))
    return tuple(supports)
