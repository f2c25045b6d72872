"""Surnames that are also places or common words, and given names that come in pairs."""

from __future__ import annotations

import pytest

from chaincheck.mentions import AmbiguousMention, Entity, rename
from chaincheck.names import tokens
from chaincheck.surname_words import coupled, something_else

HALE = Entity("Victor Hale", "person")


@pytest.mark.parametrize(
    ("text", "word", "caught"),
    [
        ("He lived in London.", "London", True),
        ("It was written by London.", "London", False),
        ("London wrote it.", "London", False),
        ("Young people liked it.", "Young", True),
        ("Young wrote it.", "Young", False),
        ("Young retired.", "Young", False),
        ("It was Young people liked.", "Young", False),
        ("He went from Carver to her.", "Carver", False),
    ],
)
def test_a_surname_that_is_a_place_or_a_word(text: str, word: str, caught: bool) -> None:
    found = tokens(text)
    at = next(n for n, token in enumerate(found) if token.surface == word)
    assert (something_else(found, at, at + 1) is not None) is caught


def test_records_with_such_a_surname_are_refused() -> None:
    london = Entity("Jack London", "person")
    text = "Jack London\nJack London wrote novels. London sailed."
    assert rename(text, london, HALE).text.endswith("Hale sailed.")
    with pytest.raises(AmbiguousMention, match="place"):
        rename(f"{text} He was ill in London.", london, HALE)


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("Tom and Jerry fight.", True),
        ("Tom and Rita Wilson wed.", False),
        ("Rita came. Tom and Rita wed.", False),
        ("Tom and others.", False),
        ("Tom, and Jerry.", False),
    ],
)
def test_a_pair_of_names(text: str, caught: bool) -> None:
    found = tokens(text)
    at = next(n for n, token in enumerate(found) if token.surface == "Tom")
    assert coupled(found, at) is caught


def test_a_given_name_of_a_pair_is_refused() -> None:
    hanks = Entity("Tom Hanks", "person")
    with pytest.raises(AmbiguousMention, match="pair"):
        rename("Tom Hanks drew it. He liked Tom and Jerry.", hanks, HALE)
