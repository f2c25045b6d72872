"""Steps in any wording give the slot of the marked form, or none."""

from __future__ import annotations

import pytest

from chaincheck.sources.relations import (
    Step,
    kind_of,
    parse_step,
    pronoun_of,
    slot_name,
    subject_kind_of,
)


@pytest.mark.parametrize(
    ("question", "relation", "subject"),
    [
        ("Arrival >> director", "director", "Arrival"),
        ("#1 >> Place of Birth", "place of birth", "#1"),
        ("Old #1 >> part of", "part of", "Old #1"),
        ("who directed Arrival", "director", "Arrival"),
        ("Who directed the film Arrival?", "director", "Arrival"),
        ("where was #1 born", "place of birth", "#1"),
        ("What is the name of the city #1 was born in?", "place of birth", "#1"),
        ("What was Tammy Leitner's city of birth?", "place of birth", "Tammy Leitner"),
        ("Where did #1 live when he died?", "place of death", "#1"),
        ("What year did #1 past away?", "date of death", "#1"),
        ("Who was the mother of Suzanne Farrington?", "mother", "Suzanne Farrington"),
        ("who is John's father", "father", "John"),
        ("The father of Chiang Hsiao-wen is whom?", "father", "Chiang Hsiao-wen"),
        ("Who wrote The Canon of Medicine?", "author", "The Canon of Medicine"),
        ("who wrote the song the story sung by #1", "songwriter", "the story sung by #1"),
        ("who plays vision in avengers age of ultron", "cast role", "avengers age of ultron"),
        ("who played thelma in thelma and louise movie", "cast role", "thelma and louise"),
        ("Who portrayed Y in Z?", "cast role", "Z"),
        ("Who starred in True Grit?", "cast member", "True Grit"),
        ("who played mary poppins in the 1964 film", "cast role", None),
        ("What country is this landmark in?", "country", None),
        ("Who is Malchiostro Annunciation by?", "creator", "Malchiostro Annunciation"),
        ("What city is WOCA located?", "city", "WOCA"),
        ("Who sang or played Delta Hardware?", "performer", "Delta Hardware"),
        ("who sang moon river", "performer", "moon river"),
        ("Which state is WEKL located?", "state", "WEKL"),
        ("What is Leeds Minster named after?", "named after", "Leeds Minster"),
        ("What company made Daihatsu Charmant?", "manufacturer", "Daihatsu Charmant"),
        ("What university did Susan Winchester attend?", "educated at", "Susan Winchester"),
    ],
)
def test_slots(question: str, relation: str, subject: str | None) -> None:
    assert parse_step(question) == Step(relation, subject)


@pytest.mark.parametrize(
    "question",
    [
        "when did #2 become its own country",
        "How many books were said to have been written by #1 ?",
        "who was the king of england in 1950",
        "#1 is a character in which film?",
        "",
    ],
)
def test_no_guess(question: str) -> None:
    assert parse_step(question) == Step(None, None)


def test_names_kinds_and_pronouns() -> None:
    assert slot_name("  Date  of Birth? ") == "date of birth"
    assert slot_name("lyrics by") == "songwriter"
    assert (kind_of("director"), kind_of("place of birth"), kind_of("performer")) == (
        "person",
        "place",
        None,
    )
    assert (kind_of(None), subject_kind_of(None), pronoun_of(None)) == (None, None, None)
    assert (subject_kind_of("spouse"), subject_kind_of("capital")) == ("person", "place")
    assert (pronoun_of("mother"), pronoun_of("father"), pronoun_of("spouse")) == ("she", "he", None)


def test_long_questions_take_no_long_time() -> None:
    import time

    begin = time.perf_counter()
    for text in ("who is the " * 3000, "what is " + "'s " * 5000, "who plays " + "in " * 5000):
        parse_step(text)
    assert time.perf_counter() - begin < 5
