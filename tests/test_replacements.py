"""Kinds, pronouns, slots, pools and the choice of replacements."""

from __future__ import annotations

import numpy as np
import pytest

from chaincheck import gender
from chaincheck.chains import Chain, Fact, Hop, Passage
from chaincheck.kinds import Nature, compatible, nature_of, sort_in_definition, sort_in_name
from chaincheck.mentions import residue
from chaincheck.pools import Pools, is_name
from chaincheck.replacements import (
    context_words,
    decoy_facts,
    invented_name,
    real_candidates,
)
from chaincheck.slots import slot_of
from chaincheck.surfaces import entity_of, surface

SHE = Nature("person", "person", "she")


@pytest.mark.parametrize(
    ("question", "slot"),
    [
        ("Jaws >> director", "director"),
        ("who played thelma in thelma and louise movie", "cast member"),
        ("who does mila kunis play in american dad", "role"),
        ("Who wrote The Canon of Medicine?", "author"),
        ("What does Toongabbie Creek flow into?", "river"),
        ("In which state is Dell the sixth largest company?", "state"),
        ("who was the king of england in 1950", "ruler"),
        ("Who theorized about pulmonary circulation?", None),
    ],
)
def test_slots_are_read_from_the_wording(question: str, slot: str | None) -> None:
    assert slot_of(None, question) == slot


def test_the_source_s_own_relation_outranks_the_wording() -> None:
    assert slot_of("Place of Birth", "Where was she born?") == "place of birth"
    assert slot_of("cast role", "") == slot_of("cast member", "")


@pytest.mark.parametrize(
    ("name", "sort"),
    [
        ("Ryki County", "county"),
        ("Lake Erie", "lake"),
        ("Orange River", "river"),
        ("University of Oklahoma", "school"),
        ("Texas", "state"),
        ("Georgia", "state"),
        ("the Netherlands", "country"),
        ("Paris", "town"),
        ("Warner Bros. Records", "label"),
        ("Natalie Wood", None),
    ],
)
def test_a_name_tells_its_sort(name: str, sort: str | None) -> None:
    assert sort_in_name(name) == sort


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("Woolhampton is a village and civil parish in West Berkshire.", "town"),
        ("Madina Lake was an American rock band from Chicago.", "band"),
        ("Jane Doe (born 1950) is a British film director and singer.", "person"),
        ("Compaq was a company founded in 1982.", "company"),
        ("It rained for days.", None),
    ],
)
def test_a_definition_tells_the_sort(text: str, sort: str | None) -> None:
    assert sort_in_definition(text) == sort


def test_the_pronoun_comes_from_the_page_before_the_given_name() -> None:
    page = Passage("Evelyn Waugh", "Evelyn Waugh was a writer. He wrote novels. His wife left.")
    assert nature_of("Evelyn Waugh", kind="person", own_pages=[page]).pronoun == "he"
    assert nature_of("Evelyn Waugh", kind="person").pronoun == "she"


def test_a_borrowed_name_takes_no_pronoun_from_what_stands_around_it() -> None:
    """The passage may speak of somebody else: "Zed Lorr wrote that she moves as no one does"."""
    text = "In 1961 Zed Lorr wrote that she moves as no one does."
    assert nature_of("Zed Lorr", kind="person", passages=[text]).pronoun == "she"
    assert nature_of("Zed Lorr", kind="person", passages=[text], borrowed=True).pronoun is None


def test_contradictory_signs_of_gender_leave_the_pronoun_open() -> None:
    page = Passage("Kim Vance", "Kim Vance was a singer. She toured for years.")
    nature = nature_of("Kim Vance", kind="person", slot="father", own_pages=[page])
    assert nature.pronoun is None


def test_a_page_that_speaks_of_both_genders_alike_tells_no_pronoun() -> None:
    assert gender.pronoun_of_page("He left. She stayed. He wrote; she did not.") is None
    assert gender.pronoun_of_page("She left. Her husband stayed. She wrote to him. Her book.") == (
        "she"
    )


def test_a_person_that_owns_a_company_is_no_company() -> None:
    text = "In 2015 her husband Jay Zell bought the firm."
    nature = nature_of("Jay Zell", slot="owned by", passages=[text])
    assert nature.kind is None


def test_a_town_s_name_for_its_team_leaves_the_kind_open() -> None:
    text = "He joined Barnsley in 1953 and left when the club went down."
    assert nature_of("Barnsley", kind="place", passages=[text]).kind is None


def test_a_band_with_a_place_in_its_name_is_no_place() -> None:
    text = "It is the first album by rock band Madina Lake."
    nature = nature_of("Madina Lake", slot="performer", passages=[text])
    assert (nature.kind, nature.sort) == ("organization", "band")


def test_real_entities_of_unknown_sort_are_never_exchanged() -> None:
    assert not compatible(Nature("place"), Nature("place"))
    assert not compatible(Nature("place", "town"), Nature("place", "river"))
    assert compatible(SHE, Nature("person", "person", "he"))  # pronouns are the caller's concern


@pytest.mark.parametrize(
    "name", ["during the war", "Taiwan, 1950", "the sea", "Route 66", "plankton", ""]
)
def test_phrases_and_numbers_are_no_names(name: str) -> None:
    assert not is_name(name)


def film(title: str, director: str, *, extra: str = "") -> Passage:
    return Passage(title, f"{title} is a 1960 drama directed by {director}.{extra}")


def fact(title: str, director: str, *, pronoun: str = "she", extra: str = "") -> Fact:
    return Fact(
        relation="director",
        head=title,
        tail=director,
        passage=film(title, director, extra=extra),
        source_id=title,
        kind="person",
        pronoun=pronoun,
    )


def world(*facts: Fact) -> tuple[Chain, Pools]:
    chain = Chain(
        source="test",
        source_id="one",
        question="Where was the director of The Quiet Harbor born?",
        passages=(
            film("The Quiet Harbor", "Elena Marsh"),
            Passage("Elena Marsh", "Elena Marsh was born in Lisbon. She left."),
        ),
        earlier=Hop(
            question="The Quiet Harbor >> director",
            relation="director",
            subject="The Quiet Harbor",
            answer="Elena Marsh",
            support=0,
        ),
        later=Hop(
            question="#1 >> place of birth", relation="place of birth", answer="Lisbon", support=1
        ),
        bridge="Elena Marsh",
        answer="Lisbon",
        kind="person",
        pronoun="she",
        facts=facts,
    )
    return chain, Pools([chain])


def choose(*facts: Fact, words: frozenset[str] = frozenset()) -> list[str]:
    chain, pools = world(*facts)
    rng = np.random.default_rng(0)
    found = real_candidates(chain, ("Elena Marsh", SHE), pools, rng, words)
    return [candidate.name for candidate in found]


def test_a_real_replacement_shares_slot_kind_pronoun_and_shape() -> None:
    facts = (
        fact("Golden Field", "Ruth Calder"),
        fact("Iron Tide", "Paul Norton", pronoun="he"),
        fact("Pale Moon", "Madonna"),
        fact("Red Sand", "Anna Maria Vidal Costa"),
    )
    assert choose(*facts) == ["Ruth Calder"]


def test_names_of_another_length_come_after_those_of_the_same() -> None:
    facts = (fact("A One", "Anna Maria Vidal"), fact("B Two", "Ruth Calder"))
    assert choose(*facts) == ["Ruth Calder", "Anna Maria Vidal"]


def test_a_replacement_that_is_not_fresh_is_left_alone() -> None:
    facts = (fact("Golden Field", "Ruth Calder"), fact("Grey Wolf", "Nora Marsh"))
    assert choose(*facts, words=context_words(["Letters of a Mr. Calder"])) == []
    assert choose(*facts) == ["Ruth Calder"]  # the other shares the bridge's surname


def test_a_record_does_not_lend_itself_anything() -> None:
    chain, _ = world()
    own = Fact(
        relation="director",
        head="Other",
        tail="Ruth Calder",
        passage=film("Other", "Ruth Calder"),
        source_id=chain.source_id,
        kind="person",
        pronoun="she",
    )
    assert choose(own) == []


def test_decoys_whose_surface_ties_come_first() -> None:
    loose = fact("Golden Field", "Ruth Calder", extra=" Calder wrote it. Calder shot it.")
    tied = fact("Iron Tide", "Anna Norton")
    chain, pools = world(loose, tied)
    rng = np.random.default_rng(0)
    found = list(decoy_facts(chain, ("Elena Marsh", SHE), pools, rng, frozenset()))
    assert [(fact.tail, ties) for fact, _, ties in found] == [
        ("Anna Norton", True),
        ("Ruth Calder", False),
    ]


def test_the_surface_of_a_name_counts_its_forms() -> None:
    entity = entity_of("Ruth Calder", SHE)
    found = surface("Ruth Calder sang. Calder's voice carried.", entity)
    assert found is not None
    assert (found.forms, found.words, found.letters) == (("full", "surname+s"), 2, 11)


@pytest.mark.parametrize(
    ("name", "nature", "kept"),
    [
        ("Elena Marsh", SHE, ""),
        ("Orange River", Nature("place", "river"), "River"),
        ("Madison Square Garden", Nature("place", "arena"), "Garden"),
    ],
)
def test_invented_names_leave_nothing_of_the_old_one(name: str, nature: Nature, kept: str) -> None:
    made = invented_name(name, nature, np.random.default_rng(1), [])
    assert made is not None
    assert made.endswith(kept)
    assert len(made.split()) == len(name.split())
    assert not residue(made, entity_of(name, nature))


def test_nothing_is_invented_for_an_unknown_kind() -> None:
    assert invented_name("Qwerty", Nature(None), np.random.default_rng(1), []) is None


def test_who_performs_and_is_no_person_is_a_band() -> None:
    found = nature_of("Radiohead", kind="organization", pronoun="they", slot="performer")
    assert found == Nature("organization", "band")


def test_a_club_s_page_tells_a_team() -> None:
    page = "Elm Forest F.C.\nForest were founders of the league in 1889."
    assert nature_of("Elm Forest", passages=[page]) == Nature("organization", "team")
    assert nature_of("Elm Forest", passages=[page.replace(" F.C.", "")]).sort != "team"
    assert sort_in_name("La Liga") == "league"
