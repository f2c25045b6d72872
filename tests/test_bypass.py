"""How the subject of the earlier hop may be named, and what counts as a name."""

from __future__ import annotations

import pytest

from chaincheck import gazetteer
from chaincheck.bypass import Subject, capitalized_words, holds_name, subject_of, subject_traces


def subject(name: str, support: str, bridge: str = "Ada Ek") -> Subject:
    return subject_of(
        subject=name,
        question="?",
        relation="manufacturer",
        support_title="",
        support=support,
        bridge=bridge,
    )


@pytest.mark.parametrize("name", ["iPhone", "eBay", "macOS", "Łódź", "上海", "IPhone"])
def test_a_name_need_not_begin_with_a_capital(name: str) -> None:
    text = f"It runs on {name} too."
    assert holds_name(text, name)
    assert subject_traces(subject(name, f"{name} is of Ada Ek."), text)


def test_a_word_in_lower_case_is_no_name() -> None:
    assert not holds_name("It ran on a phone.", "Phone")
    assert capitalized_words("An iPhone and a phone") == {"an", "iphone"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It lies in three counties (Pima, Santa Cruz, and Cochise).", True),
        ("It lies in Pima County.", True),
        ("It lies in Cochise County.", False),
    ],
)
def test_a_county_may_be_named_without_the_word(text: str, found: bool) -> None:
    made = subject("Pima County", "Pima County holds Ada Ek.")
    assert bool(subject_traces(made, text)) is found


def test_a_plural_is_the_same_word() -> None:
    made = subject("1979–80 European Cup", "The Cup of 1979–80 went to Ada Ek.")
    assert subject_traces(made, "They won the 1979 and 1980 European Cups.")


@pytest.mark.parametrize(
    ("place", "other"), [("fujian", "hokkien"), ("nanjing", "ning"), ("mumbai", "bombay")]
)
def test_other_names_that_texts_use_unexplained(place: str, other: str) -> None:
    assert other in gazetteer.nicknames(place)
