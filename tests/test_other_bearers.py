"""Others of the old name, and other names beside the new one."""

from __future__ import annotations

import pytest

from chaincheck.chains import Chain, Hop, Passage
from chaincheck.draft import Draft
from chaincheck.kinds import Nature
from chaincheck.mentions import Entity
from chaincheck.other_bearers import another_thing, backwards, kin, other_name

MAN = Nature("person", "person", "he")


def draft(
    earlier: str,
    later: str,
    *,
    names: tuple[str, str] = ("Denis Marlow", "Victor Hale"),
    nature: Nature = MAN,
    relation: str = "director",
    subject: str = "The Film",
    title: str = "Second",
) -> Draft:
    """A draft by plain replacement of the full name."""
    old, new = names
    passages = (Passage("First", earlier), Passage(title, later))
    chain = Chain(
        source="test",
        source_id="one",
        question="?",
        passages=passages,
        earlier=Hop(question="", answer=old, support=0, relation=relation, subject=subject),
        later=Hop(question="#1 >> place of birth", answer="Rome", support=1, subject=old),
        bridge=old,
        answer="Rome",
    )
    a = tuple(passage.whole for passage in passages)
    b = tuple(text.replace(old, new) for text in a)
    return Draft(
        chain=chain,
        variant="real",
        bridge=Entity(old, nature.kind),
        replacement=Entity(new, nature.kind),
        bridge_nature=nature,
        replacement_nature=nature,
        cells={"A": a, "B": b, "D": (a[0], b[1])},
    )


@pytest.mark.parametrize(
    ("earlier", "later", "caught"),
    [
        ("By Denis Marlow.", "Denis Marlow was a brother of Joseph M. Marlow.", True),
        ("By Denis Marlow.", "Denis Marlow led Merchant Marlow Productions.", True),
        ("By Denis Marlow.", "His eldest brother Joseph Emory Marlow met Denis Marlow.", True),
        ("By Denis Marlow and Paul Marlow.", "Denis Marlow was born in Rome.", True),
        ("By Denis Marlow.", "Denis Marlow was born in Rome. He met Denis Diderot.", False),
    ],
)
def test_a_relative_or_a_firm_with_the_old_surname(earlier: str, later: str, caught: bool) -> None:
    one = draft(earlier, later)
    assert any(kin(one, index) for index in (0, 1)) == caught


def test_the_subject_of_a_family_step_may_share_the_surname() -> None:
    texts = ("Ann Marlow is the wife of Denis Marlow.", "Denis Marlow was born in Rome.")
    assert kin(draft(*texts, relation="spouse", subject="Ann Marlow"), 0) is None
    assert kin(draft(*texts, relation="employer", subject="Ann Marlow"), 0) is not None
    other = "Ann Marlow is the wife of Denis Marlow, and Paul Kirk Marlow's sister."
    assert kin(draft(other, texts[1], relation="spouse", subject="Ann Dole"), 0) is not None


def test_a_place_has_no_kin() -> None:
    names = ("Marlow River", "Hale River")
    one = draft("On Marlow River.", "The River.", names=names, nature=Nature("place", "river"))
    assert kin(one, 1) is None


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("It was shot by Victor Hale under the name of Sined Wolram.", True),
        ("Victor Hale wrote it as Ann Dole, a pseudonym.", True),
        ("Victor Hale, alias the Fox, was born in Rome.", True),
        ("Victor Hale was formerly known as Victor Kerr.", True),
        ("Hale was born in Rome in 1890 as Ernst Dole.", True),
        ("Victor Hale was born in Rome as the son of a baker.", False),
        ("Victor Hale made films. The Fox is a pseudonym of Ann Dole.", False),
        ("Victor Hale works as a painter.", False),
    ],
)
def test_another_name_beside_the_new_one(text: str, caught: bool) -> None:
    one = draft("By Denis Marlow.", "Denis Marlow was born in Rome.")
    assert (other_name(one, text) is not None) == caught


def test_on_a_page_of_its_own_every_sentence_is_about_the_name() -> None:
    one = draft("By Denis Marlow.", "Denis Marlow was born in Rome.")
    text = "Victor Hale\nVictor Hale was born in Rome. He sang under the name Fox."
    assert other_name(one, text) is not None
    assert other_name(one, text.replace("Victor Hale\n", "Rome\n")) is None


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("The Kings of Siam (and later Varia) lived there.", True),
        ("It is now Burma (present-day Varia).", True),
        ("The palace (in Varia) is large.", False),
        ("The country (and later Varia) is large.", False),
    ],
)
def test_an_older_name_in_front_of_the_new_one(text: str, caught: bool) -> None:
    land = Nature("place", "country")
    one = draft("In Thailand.", "Thailand is large.", names=("Thailand", "Varia"), nature=land)
    assert (other_name(one, text) is not None) == caught


def test_a_name_spelled_backwards() -> None:
    assert backwards("By Sined Wolram.", "Denis Marlow") == "sined"
    assert backwards("By Denis Marlow, who saw Ada.", "Denis Marlow") is None
    assert backwards("Otto and Hannah sang.", "Hannah Otto") is None


@pytest.mark.parametrize(
    ("title", "text", "caught"),
    [
        ("The Longest Night in Penn", "The Longest Night in Penn () is a 2007 film.", True),
        ("Bank of Penn", "The Bank of Penn is a bank.", False),  # refused by the mentions
        ("History of Penn", "The history of Penn dates back 700 years.", False),
        ("Religion in Penn", "Religion in Penn is free.", False),
        ("Penn (town)", "Penn is a town known for a film.", False),
        ("Penn", "Penn is a town.", False),
        ("Mill", "The mill of Penn is a film set.", False),
    ],
)
def test_the_page_of_another_thing_that_has_the_name_inside(
    title: str, text: str, caught: bool
) -> None:
    town = Nature("place", "town")
    one = draft("In Penn.", text, names=("Penn", "Vale"), nature=town, title=title)
    assert (another_thing(one, 1) is not None) == caught


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("Elm Peak (formerly known as K1) is in the Ghan District of the land of Malta.", False),
        ("Elm Peak, formerly known as Malta, is a mountain of the far and wide north.", True),
        ("Malta, formerly known as Elm, is a land.", True),
    ],
)
def test_another_name_of_something_else_in_the_sentence(text: str, caught: bool) -> None:
    """The older name of a mountain is no other name of the country that it lies in."""
    one = draft(text, "Malta.", names=("Oda", "Malta"), nature=Nature("place", "country"))
    assert (other_name(one, f"Elm Peak\n{text}") is not None) is caught
