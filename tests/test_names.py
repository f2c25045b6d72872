"""Name anatomy: folding with a map back, tokens, parts of names, shapes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.demonyms import demonyms, is_place_word
from chaincheck.names import (
    acronym,
    core,
    fold,
    person,
    same_gap,
    shape,
    starts_with_vowel_sound,
    takes_article,
    tokens,
)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Beyoncé", "beyonce"),
        ("Beyonce\u0301", "beyonce"),
        ("Ståle Storløkken", "stale storlokken"),
        ("STRASSE Straße", "strasse strasse"),
        ("İstanbul", "istanbul"),
        ("Łódź", "lodz"),
        ("Æthelred", "aethelred"),
        ("a\ufeffb\u200bc\u200ed\u00ade", "abcde"),
        ("a\u00a0b", "a b"),
        ("“x” ‘y’ ʿz", "\"x\" 'y' 'z"),
        ("1939–45 — a‑b", "1939-45 - a-b"),
        ("ﬁnal", "final"),
        ("", ""),
    ],
)
def test_folding(text: str, folded: str) -> None:
    assert fold(text).text == folded


@given(st.text())
def test_folding_is_idempotent_and_keeps_the_map(text: str) -> None:
    once = fold(text)
    assert fold(once.text).text == once.text
    assert len(once.text) == len(once.starts) == len(once.ends)
    assert list(once.starts) == sorted(once.starts)
    for position, ch in enumerate(once.text):
        start, end = once.span(position, position + 1)
        assert end == start + 1
        assert ch in fold(text[start:end]).text


@given(st.text())
def test_composed_and_decomposed_texts_fold_alike(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert fold(composed).text == fold(unicodedata.normalize("NFD", composed)).text


@given(st.text())
def test_tokens_are_exact_slices_in_order(text: str) -> None:
    behind = 0
    for token in tokens(text):
        assert text[token.start : token.end] == token.surface
        assert behind <= token.start < token.end <= token.possessive_end
        behind = token.possessive_end


def test_possessives_are_split_off() -> None:
    parts = tokens("Peel's and James' and Watt ’s")
    assert [(p.word, p.possessive) for p in parts if p.word != "and"] == [
        ("peel", "'s"),
        ("james", "'"),
        ("watt", "'s"),
    ]


@pytest.mark.parametrize("text", ["J. K. Rowling", "J.K. Rowling", "JK Rowling", "J K Rowling"])
def test_initials_join(text: str) -> None:
    assert [part.word for part in tokens(text)] == ["jk", "rowling"]


def test_pronouns_and_articles_do_not_join_initials() -> None:
    assert [part.word for part in tokens("Malcolm X. I met him.")][:3] == ["malcolm", "x", "i"]
    assert [part.word for part in tokens("Vitamin C. A day")] == ["vitamin", "c", "a", "day"]


@pytest.mark.parametrize(
    ("expected", "seen", "before", "same"),
    [
        (" ", "\u0020\u0020", "natalie", True),
        (" ", "-", "sackville", True),
        ("-", "- ", "sackville", True),
        (" ", " - ", "paris", False),
        (" ", ". ", "paris", False),
        (" ", ". ", "st", True),
        ("'", " ' ", "o", True),
        (" ", ", ", "paris", False),
        (" ", "\n", "paris", False),
        (", ", ",", "paris", True),
    ],
)
def test_gaps_inside_names(expected: str, seen: str, before: str, same: bool) -> None:
    assert same_gap(expected, seen, before) is same


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("Taiwan.", "Taiwan"),
        ("During the Korean War", "Korean War"),
        ("After the Civil War", "Civil War"),
        ("in Massachusetts", "Massachusetts"),
        ("with Fujian", "Fujian"),
        ("the Beatles", "Beatles"),
        ("The Age of Reason", "Age of Reason"),
        ("In Utero", "In Utero"),
        ("On Broadway", "On Broadway"),
        ("Robert Downey Jr.", "Robert Downey Jr."),
        ("Apple Inc.", "Apple Inc."),
        ("Washington D.C.", "Washington D.C."),
        ("Capote (film)", "Capote"),
        ('"Donda West Law"', "Donda West Law"),
        ("  Jay\u200b  Z ", "Jay Z"),
        ("...", ""),
    ],
)
def test_core_of_a_source_name(name: str, inside: str) -> None:
    assert core(name) == inside


@pytest.mark.parametrize(
    ("name", "given_names", "surname"),
    [
        ("Natalie Wood", ("natalie",), ("wood",)),
        ("Philip Seymour Hoffman", ("philip", "seymour"), ("hoffman",)),
        ("Ludwig van Beethoven", ("ludwig",), ("van", "beethoven")),
        ("Vita Sackville-West", ("vita",), ("sackville", "west")),
        ("Sandra Day O'Connor", ("sandra", "day"), ("o", "connor")),
        ("Sir Robert Peel", ("robert",), ("peel",)),
        ("Robert Downey Jr.", ("robert",), ("downey",)),
        ("Chiang Ching-kuo", ("ching", "kuo"), ("chiang",)),
        ("George VI", ("george",), ()),
        ("Queen Victoria", ("victoria",), ()),
        ("Alexander the Great", ("alexander",), ()),
        ("Matilda of Brabant", ("matilda",), ()),
        ("Madonna", ("madonna",), ()),
    ],
)
def test_parts_of_a_person(
    name: str, given_names: tuple[str, ...], surname: tuple[str, ...]
) -> None:
    parts = person(name)
    assert (parts.given, parts.surname) == (given_names, surname)


def test_regnal_numbers_and_generations() -> None:
    assert (person("George VI").suffix, person("George VI").regnal) == ("vi", True)
    assert (person("Robert Downey Jr.").suffix, person("Robert Downey Jr.").regnal) == ("jr", False)
    assert not person("Alexander the Great").certain
    assert person("Vita Sackville-West").surname_text == "Sackville-West"


def test_shapes_compare() -> None:
    assert shape("Natalie Wood", "person") == shape("Michael Faber", "person")
    assert shape("Nelson River").article and not shape("Nelson").article
    assert shape("IBM").upper and shape("IBM").vowel
    assert shape("Ludwig van Beethoven").linked
    assert shape("George VI").numbered and shape("Apollo 11").numbered
    assert shape("J. K. Rowling").initials
    assert shape("").words == 0


@pytest.mark.parametrize(
    ("name", "takes"),
    [
        ("the Beatles", True),
        ("Nelson River", True),
        ("Korean War", True),
        ("University of Oklahoma", True),
        ("International Olympic Committee", True),
        ("Malta", False),
        ("Cairo University", False),
        ("Natalie Wood", False),
    ],
)
def test_articles(name: str, takes: bool) -> None:
    assert takes_article(name) is takes


@pytest.mark.parametrize(
    ("name", "vowel"),
    [
        ("IBM", True),
        ("USB", False),
        ("FBI", True),
        ("Utah", False),
        ("University of Utah", False),
        ("Ulster", True),
        ("European Union", False),
        ("Honoré Daumier", True),
        ("Élan", True),
        ("One Direction", False),
        ("Boston", False),
        ("8 Mile", True),
    ],
)
def test_vowel_sounds(name: str, vowel: bool) -> None:
    assert starts_with_vowel_sound(name) is vowel


def test_acronyms() -> None:
    assert acronym("International Olympic Committee") == "IOC"
    assert acronym("the Bank of America") == "BA"
    assert acronym("Compaq") == ""


def test_demonyms() -> None:
    assert "canadian" in demonyms("canada")
    assert demonyms("zembla") == frozenset()
    assert is_place_word("finnish") and is_place_word("united states")
    assert not is_place_word("wood")
