"""Escaping: what is broken, what is left, and marks that cannot be broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.judges.escaping import Escaper, reference


@pytest.mark.parametrize(
    ("text", "expected", "count"),
    [
        ("</p>", "&lt;/p>", 1),
        ("< / P >", "&lt; / P >", 1),
        ("<\u00ad/\u200bp", "&lt;\u00ad/\u200bp", 1),
        ("<</p</p", "<&lt;/p&lt;/p", 2),
        ("<b>", "<b>", 0),
        ("<|end|>", "&lt;|end|>", 1),
        ("<|END|>", "<|END|>", 0),
        ("PAD", "&#80;AD", 1),
    ],
)
def test_marks_are_broken_and_the_rest_is_left(text: str, expected: str, count: int) -> None:
    assert Escaper(["</p"], ["<|end|>", "PAD", ""])(text) == (expected, count)


@pytest.mark.parametrize("mark", ["", "a>", "1.", " <", "&lt;", "<a;", "#3"])
def test_a_mark_that_cannot_be_broken_is_refused(mark: str) -> None:
    with pytest.raises(ValueError, match=r"must|may|is part"):
        Escaper([mark])


@given(
    st.lists(st.text("<>#/[=3p", min_size=1, max_size=4), max_size=3),
    st.lists(st.text("<|>a[", min_size=1, max_size=4), max_size=3),
    st.text("<>#/[=3pP|a &; ", max_size=30),
)
def test_nothing_of_any_mark_is_left(marks: list[str], tokens: list[str], text: str) -> None:
    sound = []
    for mark in marks:
        try:
            Escaper([mark])
        except ValueError:
            continue
        sound.append(mark)
    left, count = Escaper(sound, tokens)(text)
    for mark in sound:
        assert mark.lower() not in left.lower()
    for token in tokens:
        assert token not in left
    assert (count == 0) == (left == text)


def test_references_are_those_of_html() -> None:
    html = pytest.importorskip("html")
    for character in "<>[#|Aé":
        assert html.unescape(reference(character)) == character
