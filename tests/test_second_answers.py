"""Other answers to the later step, other passages that tell it, an end that the question names."""

from __future__ import annotations

import msgspec
import pytest
from test_ways_around import draft

from chaincheck.distractors import without_doubtful
from chaincheck.drafting import unedited
from chaincheck.second_answers import end_by_name, rivals

FILM = "Deep Water (film)\nDeep Water is a 2016 film. Ada Ek joined the cast."


@pytest.mark.parametrize(
    ("step", "text", "found"),
    [
        ("#1 is a character in which film?", FILM, True),
        ("what other movie did #1 play in", FILM, True),
        ("where did #1 go", FILM, False),
        ("#1 is a character in which film?", FILM.replace("Ada Ek", "Ivo Bran"), False),
        # The film of the question itself is no other answer.
        ("#1 is a character in which film?", FILM.replace("Deep Water", "Dry Summer"), False),
        ("#1 is a character in which film?", "Elm\nElm is a town. Ada Ek is here.", False),
    ],
)
def test_another_film_of_the_bridge(step: str, text: str, found: bool) -> None:
    late = "Cold Eight\nCold Eight is a film with Ada Ek."
    made = draft(late, "Dry Summer\nAda Ek directed it.", text, step=step, answer="Cold Eight")
    assert bool(rivals(made)) is found


@pytest.mark.parametrize(
    ("relation", "text", "found"),
    [
        ("record label", "Elm\nIn 1980 Ada Ek signed with Owl Records.", True),
        ("record label", "Elm\nIn 1980 Ada Ek came. Ivo Bran signed with Owl Records.", False),
        ("place of birth", "Elm\nIn 1980 Ada Ek signed with Owl Records.", False),
    ],
)
def test_another_value_of_a_relation(relation: str, text: str, found: bool) -> None:
    made = draft("Ada Ek\nAda Ek is on Elk Records.", "Dry Summer\nBy Ada Ek.", text)
    later = msgspec.structs.replace(made.chain.later, relation=relation)
    chain = msgspec.structs.replace(made.chain, later=later)
    assert bool(rivals(unedited(chain, (made.bridge, made.bridge_nature)))) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Wars\nBy the Peace of Oda they ceded a vast territory.", True),
        ("Wars\nThe Peace of Oda held. They ceded a vast territory.", False),
        ("Wars\nBy the Peace of Oda they left.", False),
    ],
)
def test_a_passage_that_tells_the_step_in_its_own_words(text: str, found: bool) -> None:
    made = draft(
        "Land\nIn the Peace of Oda they ceded the land up to Ada Ek.",
        "Dry Summer\nIt is on Ada Ek.",
        text,
        step="what treaty ceded territory extending west to #1",
        answer="Peace of Oda",
    )
    assert bool(rivals(made)) is found


def test_a_rival_is_left_out_of_the_context() -> None:
    late = "Cold Eight\nCold Eight is a film with Ada Ek."
    others = (FILM, *(f"Page {n}\nIt rains." for n in range(4)))
    made = draft(late, "Dry Summer\nBy Ada Ek.", *others, step="in which film is #1")
    chain, left_out = without_doubtful(made.chain, (made.bridge, made.bridge_nature))
    assert left_out == 1
    assert FILM not in [passage.whole for passage in chain.passages]


@pytest.mark.parametrize(
    ("link", "question", "title", "found"),
    [
        (2, "When was the Elm Pact of the ruler's heir printed?", "Elm Pact", True),
        (3, "When was the Elm Pact of the ruler's heir printed?", "Elm Pact", False),
        (2, "When was it printed?", "Elm Pact", False),
        (2, "When was the book on growing up there printed?", "Growing Up Turkuan", True),
        (2, "When was the book on living there printed?", "Growing Up Turkuan", False),
        (2, "When was the book on it printed?", "Turkuan", False),
    ],
)
def test_an_end_that_the_question_names(link: int, question: str, title: str, found: bool) -> None:
    """Whole, or but for the answer of a step between."""
    made = draft(answer="1948")
    end = msgspec.structs.replace(made.chain.passages[2], title=title, text="Printed in 1948.")
    chain = msgspec.structs.replace(
        made.chain,
        question=question,
        link=link,
        hops=3,
        gold=(*made.chain.passages[:2], end),
        joints=("Ada Ek", "Turku"),
    )
    assert (end_by_name(unedited(chain, (made.bridge, made.bridge_nature))) is not None) is found
