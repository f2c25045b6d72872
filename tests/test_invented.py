"""Invented names keep kind and shape and resemble nothing that is taken."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck import invented, name_words
from chaincheck.invented import TakenNames, fold, invent


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("kind", "like", "pattern"),
    [
        ("person", "Emily Brontë", r"[A-Z]\w+ [A-Z]\w+"),
        ("person", "J. K. Rowling", r"[A-Z]\. [A-Z]\. [A-Z]\w+"),
        ("person", "J.R.R. Tolkien", r"[A-Z]\.[A-Z]\.[A-Z]\. [A-Z]\w+"),
        ("person", "Ludwig van Beethoven", r"[A-Z]\w+ van [A-Z]\w+"),
        ("person", "Martin Luther King Jr.", r"[A-Z]\w+ [A-Z]\w+ (?!King)[A-Z]\w+ Jr\."),
        ("person", "Antoine de Saint-Exupéry", r"[A-Z]\w+ de [A-Z]\w+-[A-Z]\w+"),
        ("person", "Eugene O'Neill", r"[A-Z]\w+ O'[A-Z]\w+"),
        ("person", "Plato", r"[A-Z]\w+"),
        ("organization", "University of Cambridge", r"University of [A-Z]\w+"),
        ("museum", "National Gallery", r"(?!National)[A-Z]\w+ Gallery"),
        ("museum", "Museum of Modern Art", r"Museum of (?!Modern)[A-Z]\w+ [A-Z]\w+"),
        ("club", "FC Barcelona", r"FC [A-Z]\w+"),
        ("company", "BMW", r"[BDGKPTVZ][A-Z]{2}"),
        ("city", "New York City", r"New [A-Z]\w+ City"),
        ("city", "Stratford-upon-Avon", r"[A-Z]\w+-upon-[A-Z]\w+"),
        ("river", "River Thames", r"River [A-Z]\w+"),
        ("country", "the Netherlands", r"the [A-Z]\w+"),
        ("film", "Schindler's List", r"[A-Z]\w+'s (?!List)[A-Z]\w+"),
        ("film", "2001: A Space Odyssey", r"(?!2001)\d{4}: A [A-Z]\w+ [A-Z]\w+"),
        ("work", "The Old Man and the Sea", r"The [A-Z]\w+ [A-Z]\w+ and the [A-Z]\w+"),
        ("novel", "1984", r"(?!1984)\d{4}"),
        ("film", "8½", r"[^8]½"),
        ("other", "bell hooks", r"[A-Z]\w+ [A-Z]\w+"),
        (None, "Ōsaka", r"[AEIO]\w+"),
    ],
)
def test_shape_is_kept(kind: str | None, like: str, pattern: str) -> None:
    for seed in range(20):
        name = invent(kind, like, rng(seed), ())
        assert re.fullmatch(pattern, name), name


def test_gender_shows_in_the_given_name() -> None:
    female = {invent("person", "Mary Shelley", rng(s), (), "she").split()[0] for s in range(60)}
    male = {invent("person", "Mark Shelley", rng(s), (), "he").split()[0] for s in range(60)}
    assert not female & male
    assert all(re.search(r"(a|ine|elle|ith)$", name) for name in female)
    assert not any(name.endswith("a") for name in male)


@pytest.mark.parametrize("name", ["John XXIII", "Louis XIX", "Rama IX", "George II", "Otto XXXIX"])
def test_the_number_of_a_ruler_is_no_acronym(name: str) -> None:
    first, number = name.split()
    made = invent("person", name, rng(), ()).split()
    assert made[1] == number
    assert made[0] != first


@pytest.mark.parametrize("number", ["XL", "CIV", "IIII", "VX", "X"])
def test_other_letters_are_no_ruler_s_number(number: str) -> None:
    assert number not in invent("person", f"Malcolm {number}", rng(), ())


def test_a_band_keeps_no_word_for_a_place() -> None:
    assert "Lake" not in invent("band", "Madina Lake", rng(), ())
    assert "Band" in invent("band", "Madina Band", rng(), ())
    assert "Lake" in invent("lake", "Madina Lake", rng(), ())


def test_plural_band_stays_plural() -> None:
    assert invent("band", "The Beatles", rng(), (), "they").endswith("s")
    assert not invent("band", "Queen", rng(), (), "they").endswith("s")


def test_vowel_sound_is_kept_so_that_articles_stay_right() -> None:
    for seed in range(30):
        assert invent("city", "Oxford", rng(seed), ())[0] in "AEIO"
        assert invent("city", "Boston", rng(seed), ())[0] not in "AEIOU"


def test_same_seed_same_name() -> None:
    assert invent("person", "Ada Lovelace", rng(5), (), "she") == invent(
        "person", "Ada Lovelace", rng(5), (), "she"
    )


def test_thousands_of_names_share_no_word_and_no_beginning() -> None:
    taken, words, draw = TakenNames(), [], rng()
    for _ in range(1500):
        name = invent("person", "Anna Karlsson", draw, taken, "she")
        taken.add(name)
        words += fold(name).split()
    assert len(set(words)) == len(words)
    ordered = sorted(words)
    # In sorted order a word that begins another one stands right before one that it begins.
    assert not any(b.startswith(a) for a, b in pairwise(ordered))


@given(
    kind=st.sampled_from(["person", "city", "company", "film", "other", None]),
    like=st.from_regex(r"\A[A-Z][a-zé]{2,9}( (of|[A-Z][a-z]{2,8}|[A-Z]\.)){0,3} [A-Z][a-z]{3,9}\Z"),
    seed=st.integers(0, 2**32),
    pronoun=st.sampled_from(["he", "she", "they", "it", None]),
)
@settings(max_examples=200, deadline=None)
def test_never_the_original_and_same_number_of_tokens(
    kind: str | None, like: str, seed: int, pronoun: str | None
) -> None:
    name = invent(kind, like, rng(seed), [like], pronoun)
    assert name != like
    assert len(name.split()) == len(like.split())
    assert name[0].isupper()


def test_taken_may_be_a_whole_text() -> None:
    text = invent("city", "Boston", rng(7), ()) + "s and more words"
    assert fold(invent("city", "Boston", rng(7), [text])) not in fold(text)


def test_a_rename_finds_the_kept_words_generic_too() -> None:
    """Or every invented name for "Tata Motors" would be refused for sharing "Motors"."""
    abbreviations = {"fc", "afc", "cf", "sc", "ac", "inc", "ltd", "corp", "co"}
    kept = {word.replace(".", "") for word in invented._GENERIC}
    assert kept - abbreviations <= name_words.GENERIC


@pytest.mark.parametrize("blank", ["", "  "])
def test_blank_is_refused(blank: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        invent("city", blank, rng(), ())


def test_exhaustion_is_said() -> None:
    taken = [f"{letter}" for letter in "BCDFGHJKLMNPQRSTVWXYZAEIOU23456789"] + ["1"]
    with pytest.raises(ValueError, match="no free"):
        invent("film", "1", rng(), taken)


def test_the_first_of_a_name_keeps_its_number() -> None:
    made = invent("person", "Bolesław I the Tall", np.random.default_rng(0), [], "he")
    assert made.split()[1:3] == ["I", "the"]
