"""Namesakes in the supports of one question."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from chaincheck.chains import Chain, Fact, Hop, Passage
from chaincheck.identity import qualifiers, qualifiers_tie, two_bearers, two_joints, two_places
from chaincheck.kinds import Nature
from chaincheck.mentions import Kind

FAIR = "The Fair\nThe fair of Marlow, Ohio, is held in May."


def chain(first: str, second: str, *, name: str, question: str = "where is #1 ?") -> Chain:
    return Chain(
        source="test",
        source_id="one",
        question="Where is it?",
        passages=(Passage("First", first), Passage("Second", second)),
        earlier=Hop(question="who made it", answer=name, support=0),
        later=Hop(question=question, answer="nobody", support=1, subject=name),
        bridge=name,
        answer="nobody",
    )


def test_qualifiers_are_what_stands_behind_a_comma() -> None:
    text = "In Marlow, Ohio, and in Marlow, New South Wales; Marlow grew, Texas did not."
    assert qualifiers(text, "Marlow") == ("Ohio", "New South Wales")
    assert qualifiers(text, "Mar") == ()


@pytest.mark.parametrize(
    ("texts", "tie"),
    [
        (("In Marlow.", "Marlow has a mill.", "In Penn."), True),
        (("In Marlow, Ohio.", "Marlow has a mill.", "In Penn."), True),
        (("In Marlow, Ohio.", "Marlow, Ohio, has a mill.", "In Penn, Ohio."), True),
        (("In Marlow, Ohio.", "Marlow has a mill.", "In Penn, Ohio, and in Penn, Ohio."), True),
        (("In Marlow, Ohio.", "Marlow has a mill.", "In Penn, Texas."), False),
        (("In Marlow.", "Marlow, Ohio, has a mill.", "In Penn, Ohio."), False),
        (("In Marlow, Ohio.", "Marlow, Ohio, has a mill.", "In Penn."), False),
        (("In Marlow.", "Marlow has a mill, Bath, Texas, has not.", "In Penn, Ohio."), True),
    ],
)
def test_regions_of_a_decoy_must_tie(texts: tuple[str, str, str], tie: bool) -> None:
    """Against a slow count of "NAME, Region" in the cells B and D."""
    names = ("Marlow", "Penn")
    earlier, _, decoy = texts
    swap = {"Marlow": "Penn", "Penn": "Marlow"}
    new = [re.sub("Marlow|Penn", lambda found: swap[found[0]], text) for text in texts]
    counts = []
    for cell in (new, [earlier, new[1], decoy]):
        told = Counter(re.findall(r"(?:Marlow|Penn), \w+", " ".join(cell)))
        counts.append(sorted(told.values()))
    regions = set(re.findall(r"(?:Marlow|Penn), (\w+)", " ".join(texts)))
    assert tie == (counts[0] == counts[1] and len(regions) < 2)
    assert qualifiers_tie(names, texts) == tie


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("The mill of Marlow, Georgia, burned down.", True),
        ("The largest city in Georgia is Marlow.", True),
        ("The largest city in Ohio is Marlow, the smallest in Georgia is Penn.", False),
        ("Marlow has a mill. Georgia has many.", False),
        ("Marlow is home to the University of Victoria Press.", False),
        ("The mill of Penn, Georgia, burned down.", False),
        ("The county seat is Marlow.", False),
    ],
)
def test_two_towns_of_one_name(text: str, caught: bool) -> None:
    assert (two_places("Marlow", (FAIR, text)) is not None) == caught


def test_a_region_does_not_lie_beside_itself() -> None:
    assert (
        two_places("Georgia", ("Georgia, Ohio and Texas met.", "Georgia lies by Alabama.")) is None
    )


@pytest.mark.parametrize(
    ("first", "second", "caught"),
    [
        ("A song by American singer Paul Venn.", "Paul Venn is a uniformed officer.", True),
        ("A song by American singer Paul Venn.", "Paul Venn was a Danish cricketer.", True),
        ("A song by American singer Paul Venn.", "Paul Venn is a composer and pianist.", False),
        ("A song by American singer Paul Venn.", "Paul Venn is a politician.", False),
        ("An opera of 1975 by Paul Venn.", "He taught with Paul Venn in 1873 and 1891.", True),
        ("An opera of 1915 by Paul Venn.", "He taught with Paul Venn in 1873 and 1891.", False),
    ],
)
def test_two_persons_of_one_name(first: str, second: str, caught: bool) -> None:
    one = chain(first, second, name="Paul Venn")
    reason = two_bearers(one, "Paul Venn", Nature("person", "person", "he"))
    assert (reason is not None) == caught


def test_a_page_of_its_own_settles_who_is_meant() -> None:
    one = chain("An opera of 1975 after Paul Venn.", "He wrote plays in 1873.", name="Second")
    assert two_bearers(one, "Second", Nature("person", "person", "he")) is None


@pytest.mark.parametrize(
    ("second", "question", "kind", "caught"),
    [
        ("She began by playing the spoiled Wren Salt.", "where is #1 ?", "organization", True),
        ("Ann Dole is known for Wren Salt.", "who played #1 in the film", "organization", True),
        ("Wren Salt toured in May.", "where is #1 ?", "organization", False),
        ("She began by playing the spoiled Wren Salt.", "who played #1", "other", False),
        ("The novelist Wren Salt lives there.", "where is #1 ?", "organization", True),
    ],
)
def test_a_band_is_no_role_and_no_person(
    second: str, question: str, kind: Kind, caught: bool
) -> None:
    one = chain("A single by the band Wren Salt.", second, name="Wren Salt", question=question)
    if kind == "other":
        one = chain("A tale of Wren Salt.", second, name="Wren Salt", question=question)
    assert (two_bearers(one, "Wren Salt", Nature(kind, None)) is not None) == caught


def test_a_namesake_at_another_joint_spoils_every_link() -> None:
    texts = ("It lies in Marlow, Georgia.", "Marlow, Ohio is in Penn County.", "A mill.")
    gold = tuple(Passage(f"Page {n}", text) for n, text in enumerate(texts))
    one = chain("In Penn County.", "Penn County has a mill.", name="Penn County")
    values = {name: getattr(one, name) for name in one.__struct_fields__}
    spoiled = Chain(**{**values, "gold": gold, "joints": ("Marlow", "Penn County"), "hops": 3})
    assert two_joints(one) is None
    assert "Marlow" in str(two_joints(spoiled))


def test_a_person_at_another_joint_is_told_by_the_kind_of_the_fact() -> None:
    gold = (
        Passage("Opera", "An opera of 1975 by Paul Venn."),
        Passage("Painter", "He painted with Paul Venn in 1873."),
    )
    fact = Fact(
        relation="composer",
        head="Opera",
        tail="Paul Venn",
        passage=gold[0],
        source_id="one",
        kind="person",
    )
    one = chain("In Rome.", "Rome is large.", name="Rome")
    values = {name: getattr(one, name) for name in one.__struct_fields__}
    spoiled = {**values, "gold": gold, "joints": ("Paul Venn", "Rome")}
    assert two_joints(Chain(**spoiled)) is None
    assert "years" in str(two_joints(Chain(**{**spoiled, "facts": (fact,)})))
