"""A support must state its hop, not merely name both ends of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaincheck.chains import Chain, Fact, Hop, Passage
from chaincheck.draft import Draft
from chaincheck.drafting import unedited
from chaincheck.kinds import Nature
from chaincheck.mentions import Entity
from chaincheck.relation_cues import CUES, INSIDE, LIFE, OF_ONE, PLAYED
from chaincheck.soundness import (
    another_unstated,
    earlier_unstated,
    later_unstated,
    statements,
    unstated,
)
from chaincheck.sources import open_source

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def told(relation: str, title: str, text: str, entity: str, value: str) -> bool:
    hop = Hop(question=f"#1 >> {relation}", answer=value, support=0, relation=relation)
    return not unstated(hop, title, f"{title}\n{text}", (entity,), (value,))


@pytest.mark.parametrize(
    ("relation", "title", "text", "entity", "value", "stated"),
    [
        ("spouse", "Dry Summer", "It stars Ada Ek and Ivo Bran.", "Ada Ek", "Ivo Bran", False),
        ("spouse", "Tom Bran", "Tom is the son of Ivo Bran and his wife Ada Ek.", "Ada Ek",
         "Ivo Bran", True),
        ("spouse", "Ada Ek", "In 1950 she married Ivo Bran.", "Ada Ek", "Ivo Bran", True),
        # A word of the names themselves states nothing.
        ("educated at", "Ada Ek", "Ada Ek lived beside Elm School.", "Ada Ek", "Elm School", False),
        ("educated at", "Ada Ek", "Ada Ek graduated from Elm School.", "Ada Ek", "Elm School",
         True),
        ("place of birth", "Ivo Bran", "Ivo Bran is a singer based in Turku, who sang with Ada Ek.",
         "Ada Ek", "Turku", False),
        # Somebody else's birth does not count.
        ("place of birth", "Ivo Bran", "Ivo Bran (born in Turku) sang with Ada Ek.", "Ada Ek",
         "Turku", False),
        ("place of birth", "Golf", "Ada Ek is a golfer. She was born in Turku.", "Ada Ek", "Turku",
         True),
        ("place of birth", "Ada Ek", "Ada Ek (Turku, 2 May 1901 – 3 May 1980, Oslo) was a poet.",
         "Ada Ek", "Turku", True),
        ("place of death", "Ada Ek", "Ada Ek (Turku, 2 May 1901 – 3 May 1980, Oslo) was a poet.",
         "Ada Ek", "Oslo", True),
        ("place of death", "Ada Ek", "Ada Ek (Turku, 2 May 1901 – 3 May 1980, Oslo) was a poet.",
         "Ada Ek", "Turku", False),
        ("place of death", "Ada Ek", "Her last film was shot in Oslo.", "Ada Ek", "Oslo", False),
        ("date of death", "Reform", "Ada Ek (1901–1980) began it.", "Ada Ek", "1980", True),
        ("headquarters location", "Reed", "Reed is owned by Elm Group and is based in Turku.",
         "Elm Group", "Turku", False),
        ("headquarters location", "Elm", "The Elm is a Turku drink; its main part is rum.", "Elm",
         "Turku", False),
        ("headquarters location", "Elm Group", "Elm Group has its headquarters in Turku.",
         "Elm Group", "Turku", True),
        ("capital of", "Ivo Bran", "Ivo Bran, a farmer from Ely, sat for Reed County.", "Ely",
         "Reed County", False),
        ("capital of", "Ely", "Ely is the seat of Reed County.", "Ely", "Reed County", True),
        ("shares border with", "Elm Light", "Elm Light serves southern Reed County and Ash County.",
         "Ash County", "Reed County", False),
        ("shares border with", "Ash County", "It lies north of Reed County.", "Ash County",
         "Reed County", True),
        ("continent", "Ada Ek", "Born in Ely, Ada Ek showed works all over Asia.", "Ely", "Asia",
         False),
        ("located on terrain feature", "Cave", "A cave on Reed Island, in Ash Province.",
         "Ash Province", "Reed Island", False),
        ("located in the administrative territorial entity", "Mill", "A mill in Ely, Reed County.",
         "Ely", "Reed County", True),
        ("located in the administrative territorial entity", "Ely, Ohio",
         "Ely is a small town of no fame whatever, far away in the hills of Reed County.", "Ely",
         "Reed County", True),
        ("cast role", "Dry Summer", "Little Mia (Ada Ek) goes to sea.", "Dry Summer", "Ada Ek",
         True),
        ("producer", "Dry Summer", "Dry Summer is a film starring Ada Ek.", "Dry Summer", "Ada Ek",
         False),
        ("drafted by", "Season", "They got Ivo Bran from Elm City in a trade.", "Ivo Bran",
         "Elm City", False),
        # A relation that is in no table is believed.
        ("favorite dish of", "Ada Ek", "Ada Ek, Oslo.", "Ada Ek", "Oslo", True),
        # An answer that is not there is another rule's business.
        ("spouse", "Ada Ek", "Ada Ek was a golfer.", "Ada Ek", "Ivo Bran", True),
    ],
)  # fmt: skip
def test_a_relation_must_be_worded(  # noqa: PLR0917 - a row of the table
    relation: str, title: str, text: str, entity: str, value: str, stated: bool
) -> None:
    assert told(relation, title, text, entity, value) is stated


def test_a_question_in_free_words_is_asked_for_its_own_cues() -> None:
    hop = Hop(question="what natural boundary lies between Oda and #1", answer="Elm", support=0)
    text = "Elm borders Oda and Ash."
    assert unstated(hop, "Elm", text, ("Ash",), ("Elm",))
    assert not unstated(hop, "Elm", "The river Elm divides Oda from Ash.", ("Ash",), ("Elm",))


def test_an_initial_or_an_abbreviation_ends_no_sentence() -> None:
    text = "Title\nAda B. Ek met Dr. Bran in St. Ives. She left. It rained."
    assert statements(text) == (
        "Title",
        "Ada B. Ek met Dr. Bran in St. Ives.",
        "She left.",
        "It rained.",
    )


def test_every_relation_of_the_tables_has_its_words() -> None:
    assert set(LIFE) | OF_ONE | PLAYED <= set(CUES)
    assert not INSIDE & set(CUES)
    assert not CUES["father"].search("a song of childhood")
    assert not CUES["place of death"].search("the executive producer")
    assert CUES["educated at"].search("the university years")


FILM = Passage("Dry Summer", "Dry Summer is a film by Ada Ek. She directed it in a month.")
CAST = Passage("Wet Winter", "Wet Winter stars Ada Ek and Ivo Bran.")


def chain(**changes: object) -> Chain:
    values: dict[str, object] = {
        "source": "test",
        "source_id": "one",
        "question": "Who is the spouse of the director of Dry Summer?",
        "passages": (FILM, CAST),
        "earlier": Hop(
            question="Dry Summer >> director",
            relation="director",
            subject="Dry Summer",
            answer="Ada Ek",
            support=0,
        ),
        "later": Hop(
            question="#1 >> spouse",
            relation="spouse",
            subject="Ada Ek",
            answer="Ivo Bran",
            support=1,
        ),
        "bridge": "Ada Ek",
        "answer": "Ivo Bran",
    }
    return Chain(**(values | changes))  # type: ignore[arg-type]


def test_both_supports_of_a_draft_are_asked() -> None:
    person = (Entity("Ada Ek", "person"), Nature("person", "person", "she"))
    one = unedited(chain(), person)
    assert earlier_unstated(one) is None
    assert "does not state 'spouse'" in str(later_unstated(one))
    wed = Passage("Wet Winter", "Wet Winter stars Ada Ek and her husband Ivo Bran.")
    starring = Passage("Dry Summer", "Dry Summer is a film with Ada Ek.")
    other = unedited(chain(passages=(starring, wed)), person)
    assert "does not state 'director'" in str(earlier_unstated(other))
    assert later_unstated(other) is None


def test_a_hop_beside_the_broken_link_must_be_stated_as_well() -> None:
    fact = Fact(relation="spouse", head="Ada Ek", tail="Ivo Bran", passage=CAST, source_id="one")
    assert "spouse of 'Ada Ek'" in str(another_unstated(chain(hops=3, facts=(fact,))))
    assert another_unstated(chain(hops=2, facts=(fact,))) is None


@pytest.mark.skipif(not SHARED.exists(), reason="the real records are not beside the repository")
@pytest.mark.parametrize(
    ("source_id", "link", "which", "found"),
    [
        ("2hop__60686_229757", 2, "later", True),
        ("2hop__71871_494136", 2, "later", True),
        ("2hop__51965_165532", 2, "later", True),
        ("2hop__496732_658428", 2, "later", True),
        ("3hop1__254856_400692_51423", 2, "later", True),
        ("3hop1__109196_720914_41132", 2, "later", True),
        ("4hop1__567737_141375_458768_33637", 3, "later", True),
        ("2hop__475808_71302", 2, "earlier", True),
        ("2hop__2683_577502", 2, "later", False),
        ("2hop__71900_712629", 2, "later", False),
        ("2hop__374767_152023", 2, "later", False),
        ("2hop__766973_770570", 2, "later", False),
        ("2hop__765678_310556", 2, "later", False),
    ],
)
def test_real_records(source_id: str, link: int, which: str, found: bool) -> None:
    for one in open_source("musique").read(SHARED / "musique_ans_dev.jsonl"):
        if isinstance(one, Chain) and (one.source_id, one.link) == (source_id, link):
            entity = Entity(one.bridge.rstrip("."))
            made = unedited(one, (entity, Nature("other")))
            reason = later_unstated(made) if which == "later" else earlier_unstated(made)
            assert (reason is not None) == found
            return
    pytest.fail("the record is gone")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It tells of Eliza Doolittle. It starred Rex Harrison and Ada Ek.", True),
        ("It tells of Eliza Doolittle, played by Ada Ek. It was a success.", False),
        ("Ada Ek starred as Eliza.", False),
        ("Eliza Doolittle (Ada Ek) sells flowers.", False),
    ],
)
def test_a_role_and_its_player_stand_in_one_sentence(text: str, found: bool) -> None:
    step = "who played eliza doolittle in my fair lady"
    one = worded(earlier=f"My Fair Lady\n{text}", first=step)
    assert (earlier_unstated(one) is not None) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It stars Mia Voss as Tilde, and Ada Ek. Her aunt is Clarisse Renaldi.", True),
        ("It stars Mia Voss as Tilde. Her aunt is Clarisse Renaldi (Ada Ek).", False),
        ("Ada Ek appears as Clarisse Renaldi.", False),
    ],
)
def test_a_player_and_the_role_stand_in_one_sentence(text: str, found: bool) -> None:
    step = "who does #1 play in princess diaries"
    one = worded(later=f"The Princess Diaries\n{text}", second=step, answer="Clarisse Renaldi")
    assert (later_unstated(one) is not None) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ada Ek married Ivo Bran in 1950.", False),
        ("Ada Ek was briefly married to Tor Lind and later married Ivo Bran.", True),
        ("Ada Ek was married to Tor Lind (1918–1923). She married Ivo Bran in 1929.", True),
        ("Her second husband was Ivo Bran.", True),
        ("Ada Ek and her husband Ivo Bran remarried.", True),
    ],
)
def test_a_spouse_is_one_of_several(text: str, found: bool) -> None:
    one = worded(later=f"Ada Ek\n{text}", second="#1 >> spouse", answer="Ivo Bran")
    assert (later_unstated(one) is not None) is found


def worded(
    *,
    earlier: str = "Dry Summer\nDry Summer is a film that Ada Ek directed.",
    later: str = "Ada Ek\nAda Ek went to Turku.",
    first: str = "Dry Summer >> director",
    second: str = "where did #1 go",
    answer: str = "Turku",
) -> Draft:
    passages = tuple(Passage(*whole.split("\n", 1)) for whole in (earlier, later))
    return unedited(
        Chain(
            source="test",
            source_id="one",
            question="What is asked?",
            passages=passages,
            earlier=Hop(question=first, answer="Ada Ek", support=0),
            later=Hop(question=second, subject="Ada Ek", answer=answer, support=1),
            bridge="Ada Ek",
            answer=answer,
        ),
        (Entity("Ada Ek", "person"), Nature("person", "person", "she")),
    )
