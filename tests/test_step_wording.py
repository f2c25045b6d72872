"""What a later step's wording gives away, whatever the bridge is called."""

from __future__ import annotations

import pytest
from test_ways_around import draft

from chaincheck.step_wording import step_names


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("why did #1 leave Elmsworth", "elmsworth"),
        ("where did #1 go", None),
        ("what is the tvx station of #1", None),
        # Whom somebody plays in a film depends on who it is.
        ("who did #1 play in Elmsworth", None),
        ("besides Jo and #1 , who won Elmsworth", "elmsworth"),
        ("besides #1 , who else left", "besides #1"),
        ("why did she leave Elmsworth", None),
        ("who wrote the song the story sung by #1", None),
    ],
)
def test_a_name_of_the_step_beside_the_answer(step: str, found: str | None) -> None:
    text = "A page\nIn May Ada Ek left Elmsworth for Turku on TVX. It was cold."
    assert step_names(draft(text, step=step)) == found


def test_a_name_of_the_step_in_both_supports_ties_them() -> None:
    later = "A page\nAda Ek married Ivo Bran after the death of Mia Voss."
    earlier = "Dry Summer\nMia Voss stars in it. Ada Ek directed it."
    step = "who did #1 marry after the death of mia voss"
    assert step_names(draft(later, earlier, step=step, answer="Ivo Bran")) == "mia"
    assert step_names(draft(later, step=step, answer="Ivo Bran")) is None


def test_a_name_of_the_step_that_stands_in_many_passages_finds_none_of_them() -> None:
    text = "A page\nIn May Ada Ek left Elmsworth for Turku."
    others = tuple(f"Page {n}\nIn Elmsworth it rains." for n in range(3))
    film = "Dry Summer\nAda Ek directed it."
    assert step_names(draft(text, film, *others, step="why did #1 leave Elmsworth")) is None
    assert step_names(draft(text, film, *others[:2], step="why did #1 leave Elmsworth"))


def test_the_title_of_a_work_in_the_step_needs_no_singer() -> None:
    text = "The Story (song)\nThe Story is a song by Ada Ek, written by Ivo Bran."
    made = draft(text, step="who wrote the song the story sung by #1", answer="Ivo Bran")
    assert step_names(made) == "The Story"
