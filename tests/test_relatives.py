"""Relatives of a renamed person take the new surname along; all other bearers keep theirs."""

from __future__ import annotations

import pytest

from chaincheck.mentions import AmbiguousMention, Entity, rename, rename_all
from chaincheck.names import tokens
from chaincheck.relatives import is_relative

DAVIS = Entity("Jefferson Davis", "person")
HALE = Entity("Victor Hale", "person")


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("His eldest brother Joseph Emory Davis came.", "Joseph", True),
        ("Her father, Francesco Davis, was a clerk.", "Francesco", True),
        ("He is the son of Ella Beatrice (née Casey) and Clevie Davis.", "Clevie", True),
        ("He was the brother of quality guru Joseph M. Davis.", "Joseph", True),
        ("His father died. Miles Davis played.", "Miles", False),
        ("The father of the whole long debate was Miles Davis.", "Miles", False),
        ("Heir and namesake Miles Davis played.", "Miles", False),
        ("Miles Davis had a brother.", "Miles", False),
    ],
)
def test_who_is_called_a_relative(text: str, name: str, expected: bool) -> None:
    found = tokens(text)
    start = next(at for at, token in enumerate(found) if token.surface == name)
    assert is_relative(found, start) is expected


def test_a_relative_takes_the_surname_along() -> None:
    text = (
        "Jefferson Davis\nDavis grew up in Mississippi. His brother Joseph Emory Davis farmed. "
        "Joseph Emory Davis's land was wide."
    )
    assert rename(text, DAVIS, HALE).text == (
        "Victor Hale\nHale grew up in Mississippi. His brother Joseph Emory Hale farmed. "
        "Joseph Emory Hale's land was wide."
    )


def test_a_longer_name_on_the_own_page() -> None:
    text = "Raymond Carver\nCarver was the son of Clevie Raymond Carver. Carver wrote."
    assert rename(text, Entity("Raymond Carver", "person"), HALE).text == (
        "Victor Hale\nHale was the son of Clevie Raymond Hale. Hale wrote."
    )
    with pytest.raises(AmbiguousMention):  # off the own page nothing tells father from son
        rename("He met the son of Clevie Raymond Carver.", Entity("Raymond Carver", "person"), HALE)


def test_who_is_no_relative_keeps_the_name() -> None:
    text = "Jefferson Davis\nDavis left. Miles Davis played."
    assert rename(text, DAVIS, HALE).text == "Victor Hale\nHale left. Miles Davis played."


def test_a_relative_whom_another_passage_names_is_doubtful() -> None:
    passages = (
        "Jefferson Davis\nDavis had a brother Joseph Davis.",
        "Joseph Davis\nJoseph Davis farmed. Davis owned land.",
    )
    with pytest.raises(AmbiguousMention) as caught:
        rename_all(passages, DAVIS, HALE)
    assert caught.value.passage == 1


def test_the_answer_and_a_protected_subject_are_never_renamed() -> None:
    text = "Jefferson Davis\nDavis had a daughter, Varina Davis."
    with pytest.raises(AmbiguousMention, match="protected"):
        rename(text, DAVIS, HALE, protect=("Varina Davis",))


def test_a_name_without_a_surname_cannot_be_given_to_relatives() -> None:
    text = "Jefferson Davis\nDavis had a brother Joseph Davis."
    with pytest.raises(AmbiguousMention, match="surname"):
        rename(text, DAVIS, Entity("Alexander the Great", "person"))
