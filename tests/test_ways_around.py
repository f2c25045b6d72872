"""What the supports themselves leave open beside the bridge."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from chaincheck.chains import Chain, Hop, Passage
from chaincheck.draft import Draft
from chaincheck.drafting import unedited
from chaincheck.kinds import Nature
from chaincheck.mentions import Entity
from chaincheck.sources import open_source
from chaincheck.step_wording import step_names
from chaincheck.ways_around import named_beside, other_ways, shared_name

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def draft(
    later: str = "Elm Hall\nIn May Ada Ek left Elm Hall for Turku.",
    earlier: str = "Dry Summer\nDry Summer is a film that Ada Ek directed.",
    *others: str,
    step: str = "where did #1 go",
    answer: str = "Turku",
    beside: tuple[str, ...] = (),
) -> Draft:
    passages = tuple(
        Passage(*whole.split("\n", 1)) for whole in (earlier, later, *others, "Bees\nBees hum.")
    )
    return unedited(
        Chain(
            source="test",
            source_id="one",
            question="Where did the director of Dry Summer go?",
            passages=passages,
            earlier=Hop(question="Dry Summer >> director", answer="Ada Ek", support=0),
            later=Hop(question=step, subject="Ada Ek", answer=answer, support=1),
            bridge="Ada Ek",
            answer=answer,
            beside=beside,
        ),
        (Entity("Ada Ek", "person"), Nature("person", "person", "she")),
    )


@pytest.mark.parametrize(
    ("beside", "text", "found"),
    [
        (("Oda",), "Rivers\nThe Elm parts Oda from the land of Ada Ek, Turku.", True),
        # A country's adjective names it as well.
        (("France",), "Rivers\nThe French came to Ada Ek in Turku.", True),
        (("Oda",), "Rivers\nThe Elm flows by Ada Ek, Turku.", False),
        ((), "Rivers\nThe Elm parts Oda from the land of Ada Ek, Turku.", False),
    ],
)
def test_another_answer_that_the_step_builds_on(
    beside: tuple[str, ...], text: str, found: bool
) -> None:
    assert (named_beside(draft(text, beside=beside)) is not None) is found


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("It stars Mia Voss.", "Ada Ek met Mia Voss early.", "mia voss"),
        ("He plays with Ordovex.", "Ada Ek joined Ordovex and left.", "ordovex"),
        # One given name of two persons, a place, the question's own words, an award.
        ("It stars David Orr.", "Ada Ek met David Lunn.", None),
        ("It stars a David.", "Ada Ek met a David.", None),
        ("It stars Jack Voss.", "Ada Ek met Mia Voss, and Voss met her.", None),
        ("Then Voss was cast.", "Ada Ek met Mia Voss.", "voss"),
        ("In Lorne it rains.", "Ada Ek saw Lorne.", None),
        ("A Timurid prince comes.", "Ada Ek met a Timurid prince.", None),
        ("It was shot in Port Lorne.", "Ada Ek lived in Port Lorne.", None),
        ("It was shot by Lorne, Ohio.", "Ada Ek liked Lorne, Ohio.", None),
        ("It is called Dry Summer.", "Ada Ek made Dry Summer.", None),
        ("It won the Academy Award.", "Ada Ek won an Academy Award.", None),
        ("It is by Ada Ek.", "So Ada Ek did.", None),
        ("It stars Tom Summer.", "Ada Ek met Tom Summer.", "tom summer"),
    ],
)
def test_a_third_name_in_both_supports(one: str, other: str, found: str | None) -> None:
    made = draft(f"Elm Hall\n{other} She went to Turku.", f"Dry Summer\nAda Ek directed it. {one}")
    assert shared_name(made) == found


def test_a_name_that_stands_elsewhere_too_ties_nothing() -> None:
    later, earlier = "A page\nAda Ek met Mia Voss.", "Dry Summer\nAda Ek directed Mia Voss."
    assert shared_name(draft(later, earlier)) == "mia voss"
    assert shared_name(draft(later, earlier, "Aside\nMia Voss was tall.")) is None


@pytest.mark.skipif(not SHARED.exists(), reason="the real records are not beside the repository")
@pytest.mark.parametrize(
    ("name", "source_id", "link", "check", "found"),
    [
        ("musique", "3hop2__565959_223623_162182", 3, named_beside, True),
        ("musique", "4hop3__387712_132409_146285_35031", 4, named_beside, True),
        ("musique", "4hop2__161602_474028_88460_18966", 3, named_beside, True),
        ("musique", "2hop__35137_22940", 2, step_names, True),
        ("musique", "2hop__559076_55984", 2, step_names, True),
        ("musique", "4hop3__39836_29339_508306_70744", 2, step_names, True),
        ("musique", "2hop__57209_67668", 2, step_names, False),
        ("musique", "2hop__327688_56873", 2, step_names, False),
        ("twowiki", "0d0705fc0bdd11eba7f7acde48001122", 2, shared_name, True),
        ("twowiki", "28bbe1600bdc11eba7f7acde48001122", 2, shared_name, True),
        ("twowiki", "f06815680bdb11eba7f7acde48001122", 2, shared_name, True),
        ("musique", "4hop3__668721_132409_371500_35031", 2, shared_name, True),
        ("musique", "2hop__766973_770570", 2, shared_name, False),
        ("musique", "2hop__276637_126089", 2, shared_name, False),
    ],
)
def test_real_records(name: str, source_id: str, link: int, check: object, found: bool) -> None:
    files = {"musique": "musique_ans_dev.jsonl", "twowiki": "twowiki_dev.jsonl"}
    reasons = [
        check(unedited(one, (Entity(one.bridge), Nature("other"))))  # type: ignore[operator]
        for one in open_source(name).read(SHARED / files[name])
        if isinstance(one, Chain) and (one.source_id, one.link) == (source_id, link)
    ]
    assert reasons, "the record is gone"
    assert any(reason is not None for reason in reasons) == found


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("which team does not play at #1", True),
        ("which team wouldn't one see at #1", True),
        ("which team plays at #1", False),
    ],
)
def test_a_step_that_asks_what_is_not_so(step: str, found: bool) -> None:
    assert (other_ways(draft(step=step)) is not None) is found


@pytest.mark.parametrize(
    ("earlier", "later", "found"),
    [
        ("Ohio governor Ada Ek signed it.", "Jo, spouse of Ohio governor Ada Ek, ran.", True),
        ("Ohio governor Ada Ek signed it.", "Jo, spouse of Texas governor Ada Ek, ran.", False),
        ("American singer Ada Ek sang it.", "Jo, spouse of the singer Ada Ek, ran.", False),
        ("The governor, Ada Ek, signed it.", "Jo, spouse of governor Ada Ek, ran.", False),
    ],
)
def test_one_office_in_both_supports(earlier: str, later: str, found: bool) -> None:
    assert (other_ways(draft(f"One\n{later}", f"Two\n{earlier}")) is not None) is found


@pytest.mark.parametrize(
    ("later", "found"),
    [
        ("The largest town of Penn is Dole, by area it is Marlow.", True),
        ("The largest town of Penn is Dole.", False),
    ],
)
def test_a_town_inside_the_bridge_in_both_supports(later: str, found: bool) -> None:
    chain = draft(f"Towns\n{later}", "WXYZ\nA station in Marlow, Penn.").chain
    state = (Entity("Penn", "place"), Nature("place", "state"))
    assert (other_ways(unedited(chain, state)) is not None) is found


@pytest.mark.parametrize(
    ("earlier", "answer", "found"),
    [
        ("The tract of Ada Ek is of 1710.", "18th", True),
        ("The tract of Ada Ek is of 1800.", "18th century", True),
        ("The tract of Ada Ek is of 1801.", "18th", False),
        ("The tract of Ada Ek has 18 leaves.", "18th", False),
    ],
)
def test_a_year_that_tells_the_century(earlier: str, answer: str, found: bool) -> None:
    one = draft(earlier=f"Tract\n{earlier}", step="what century did #1 live in", answer=answer)
    assert (other_ways(one) is not None) is found
    plain = draft(earlier=f"Tract\n{earlier}", step="which rank had #1", answer=answer)
    assert other_ways(plain) is None


@pytest.mark.parametrize(
    ("later", "found"),
    [
        ("The capital of Penn is Marlow.", True),
        ("The capital of Penn is Dole.", False),
        ("The capital of Penn is the largest in France.", False),
    ],
)
def test_a_place_in_both_supports_of_a_place(later: str, found: bool) -> None:
    chain = draft(f"Towns\n{later}", "Villa\nA villa in Marlow, near Penn, in France.").chain
    province = (Entity("Penn", "place"), Nature("place", "province"))
    assert (other_ways(unedited(chain, province)) is not None) is found
    person = (Entity("Penn", "person"), Nature("person", "person", "he"))
    assert other_ways(unedited(chain, person)) is None


@pytest.mark.parametrize(
    ("rejoined", "found"), [(("Oda", "Marlow"), True), (("Oda",), False), ((), False)]
)
def test_another_branch_that_leads_to_the_answer(rejoined: tuple[str, ...], found: bool) -> None:
    one = draft(answer="Turku")
    gold = (*one.chain.passages[:2], Passage("Ranks", "Marlow ranks third."))
    inner = {"gold": gold, "rejoined": rejoined, "answer": "third", "link": 2, "hops": 4}
    chain = msgspec.structs.replace(one.chain, **inner)
    broken = unedited(chain, (one.bridge, one.bridge_nature))
    assert (other_ways(broken) is not None) is found


@pytest.mark.parametrize(
    ("name", "found"),
    [("Richard Holm", True), ("Floris IV", True), ("Elmsworth Bay", False)],
)
def test_a_person_behind_of_is_no_place(name: str, found: bool) -> None:
    earlier = f"Dry Summer\nDry Summer, a tale of {name}, is a film that Ada Ek directed."
    later = f"Elm Hall\nIn May Ada Ek, widow of {name}, left Elm Hall for Turku."
    assert (shared_name(draft(later, earlier)) is not None) is found


@pytest.mark.parametrize(
    ("earlier", "later", "found"),
    [
        ("It is on Ada Ek (later Empress).", "Ada Ek (1876 - 1930) was Empress of Oda.", True),
        ("It is on the sultan Ada Ek.", "Ada Ek was the third Sultan.", True),
        ("It is on Ada Ek (later Empress).", "Ada Ek sang in Turku.", False),
        ("It is on the queen Ada Ek.", "Ada Ek was Queen of Oda.", False),  # there are many
    ],
)
def test_a_rare_title_in_both_supports(earlier: str, later: str, found: bool) -> None:
    made = draft(f"Ada Ek\n{later}", f"Dry Summer\n{earlier}")
    assert (other_ways(made) is not None) is found


@pytest.mark.parametrize(
    ("later", "relation", "found"),
    [
        ("Ada Ek is a wife of Omar bin Khalid Al Oda.", "mother", True),
        ("Ada Ek is a wife of Saif bin Zayed Al Rim.", "mother", False),
        ("Ada Ek is a wife of Omar bin Khalid Al Oda.", "director", False),
    ],
)
def test_a_forebear_inside_the_subject_s_own_name(later: str, relation: str, found: bool) -> None:
    """A mother is found as the wife of the father whose name her son bears."""
    made = draft(f"Ada Ek\n{later} She lives in Turku.", "Rashid\nHis mother is Ada Ek.")
    subject = "Rashid bin Omar bin Khalid Al Oda"
    earlier = msgspec.structs.replace(made.chain.earlier, relation=relation, subject=subject)
    chain = msgspec.structs.replace(made.chain, earlier=earlier)
    assert (other_ways(unedited(chain, (made.bridge, made.bridge_nature))) is not None) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada Ek fought in the Elm–Oak War (1846–1848) as a colonel.", True),
        ("Ada Ek fought until 1848 in the Elm–Oak War.", False),
        ("Ada Ek fought in the Birch War (1846–1848) as a colonel.", False),
        ("Ada Ek (1846–1848 at war) fought.", False),
    ],
)
def test_an_event_of_the_question_with_its_dates(text: str, found: bool) -> None:
    step = "when did #1 end his fight in the Elm-Oak war"
    one = draft(f"Ada Ek\n{text}", step=step, answer="1848")
    assert (other_ways(one) is not None) is found


@pytest.mark.parametrize(
    ("earlier", "later", "found"),
    [
        (
            "Mia was the second wife of Scottish reformer Ada Ek.",
            "Ada Ek, a Scot, wished to reform the church in Turku.",
            True,
        ),
        ("It is by the Canadian musician Ada Ek.", "Ada Ek is a Canadian folk musician.", True),
        ("It is by Ada Ek, a Canadian musician.", "Ada Ek is a Canadian folk musician.", True),
        ("It is by the Canadian musician Ada Ek.", "Ada Ek is a Danish folk musician.", False),
        ("It is a Canadian film directed by Ada Ek.", "Ada Ek is a Canadian director.", False),
    ],
)
def test_a_description_that_both_supports_give(earlier: str, later: str, found: bool) -> None:
    one = draft(f"Turku\n{later} She went to Turku.", f"Dry Summer\n{earlier}")
    assert (other_ways(one) is not None) is found
