"""What lies around a name and still tells whose it was."""

from __future__ import annotations

import pytest

from chaincheck.leftovers import adjective_of, silent_page


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Pyrrhus", "hence the term Pyrrhic victory", "pyrrhic"),
        ("Charles Darwin", "the Darwinian view", "darwinian"),
        ("Georgia", "George wrote to Georgette", None),
        ("Elena Marsh", "the marshes of Kent", None),
    ],
)
def test_words_derived_from_a_name_are_found(name: str, text: str, found: str | None) -> None:
    assert adjective_of(name, text) == found


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("Avicenna\nIbn Sina created an extensive corpus of works.", True),
        ("Avicenna\nHe created an extensive corpus of works.", False),
        ("Avicenna\nAvicenna created an extensive corpus of works.", False),
        ("Medicine\nIbn Sina created an extensive corpus of works.", False),
        ("Avicenna", False),
    ],
)
def test_a_page_that_never_says_its_title_may_call_its_subject_otherwise(
    text: str, silent: bool
) -> None:
    assert silent_page(text, "Avicenna") is silent
