"""Each rule catches its own violation, and no other rule does."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from chaincheck.chains import Chain, Fact, Hop, Passage
from chaincheck.items import Edit
from chaincheck.kinds import Nature
from chaincheck.leftovers import leftover
from chaincheck.mentions import Entity
from chaincheck.other_bearers import opens_otherwise
from chaincheck.soundness import decoy_unstated
from chaincheck.validator import RULES, Decoy, Draft, cell_c, validate

WOMAN = Nature("person", "person", "she")
MAN = Nature("person", "person", "he")
FILM = Passage("The Quiet Harbor", "The Quiet Harbor is a 1961 drama directed by Elena Marsh.")
PERSON = Passage("Elena Marsh", "Elena Marsh was a painter of stage sets. She was born in Lisbon.")
ENGINEER = Passage("Walter Pruitt", "Walter Pruitt was an engineer. He worked in Oslo.")
OTHER = Passage("Golden Field", "Golden Field is a 1955 drama directed by Ruth Calder.")
QUESTION = "Where was the director of The Quiet Harbor born?"


def chain(*passages: Passage, question: str = QUESTION, **changes: object) -> Chain:
    values: dict[str, object] = {
        "source": "test",
        "source_id": "one",
        "question": question,
        "passages": passages or (FILM, PERSON, ENGINEER, OTHER),
        "earlier": Hop(
            question="The Quiet Harbor >> director",
            relation="director",
            subject="The Quiet Harbor",
            answer="Elena Marsh",
            support=0,
        ),
        "later": Hop(
            question="#1 >> place of birth",
            relation="place of birth",
            subject="Elena Marsh",
            answer="Lisbon",
            support=1,
        ),
        "bridge": "Elena Marsh",
        "answer": "Lisbon",
    }
    return Chain(**(values | changes))  # type: ignore[arg-type]


def spans(passages: tuple[str, ...], old: str, new: str, only: tuple[int, ...]) -> tuple[Edit, ...]:
    """Every place of ``old``, found by hand and not by the code under test."""
    found = []
    for index in only:
        start = passages[index].find(old)
        while start >= 0:
            found.append(
                Edit(passage=index, start=start, end=start + len(old), before=old, after=new)
            )
            start = passages[index].find(old, start + 1)
    return tuple(found)


def draft(source: Chain | None = None, *, old: str | None = None, **changes: object) -> Draft:
    """A sound draft by plain replacement; ``old`` is what to replace beside the bridge."""
    source = source or chain()
    name, new = old or "Elena Marsh", "Nora Vance"
    a = tuple(passage.whole for passage in source.passages)
    b = tuple(text.replace(name, new).replace("Elena Marsh", new) for text in a)
    later = source.later.support
    d = (*a[:later], b[later], *a[later + 1 :])
    edits = spans(a, "Elena Marsh", new, tuple(range(len(a))))
    if old:
        edits += spans(a, old, new, tuple(range(len(a))))
    values: dict[str, object] = {
        "chain": source,
        "variant": "real",
        "bridge": Entity("Elena Marsh", "person"),
        "replacement": Entity(new, "person"),
        "bridge_nature": WOMAN,
        "replacement_nature": WOMAN,
        "cells": {"A": a, "B": b, "D": d},
        "edits": {"B": edits, "D": tuple(edit for edit in edits if edit.passage == later)},
    }
    return Draft(**(values | changes))  # type: ignore[arg-type]


def failing(one: Draft) -> list[str]:
    """Every rule that fails, each asked on its own."""
    return [name for name, (rule, _) in RULES.items() if rule(one) is not None]


def with_cells(one: Draft, **cells: tuple[str, ...]) -> Draft:
    return replace(one, cells={**one.cells, **cells})


def put(cell: tuple[str, ...], index: int, text: str) -> tuple[str, ...]:
    return (*cell[:index], text, *cell[index + 1 :])


def distractor(text: str) -> Draft:
    return draft(chain(FILM, PERSON, Passage("Aside", text), OTHER))


def test_the_sound_draft_passes_every_rule() -> None:
    assert failing(draft()) == []
    assert validate(draft()) == []


def test_every_rule_has_a_statement() -> None:
    assert list(RULES) == [f"Q{number}" for number in range(1, 10)]
    assert all(len(statement) > 20 for _, statement in RULES.values())


ANOTHER_HOP = Passage("Lisbon", "Lisbon lies on the Tagus.")

VIOLATIONS = {
    "Q1 another hop": (
        "Q1",
        lambda: draft(chain(answer="Tagus", hops=3, gold=(FILM, PERSON, ANOTHER_HOP))),
    ),
    "Q1 link": ("Q1", lambda: draft(chain(link=3))),
    "Q1 bridge": (
        "Q1",
        lambda: draft(chain(later=msgspec.structs.replace(chain().later, subject="Oslo"))),
    ),
    # The earlier support writes another name, which was renamed all the same.
    "Q2": (
        "Q2",
        lambda: draft(
            chain(
                Passage("The Quiet Harbor", "The Quiet Harbor is a drama by Helena Marchant."),
                PERSON,
                ENGINEER,
                OTHER,
            ),
            old="Helena Marchant",
        ),
    ),
    "Q3": (
        "Q3",
        lambda: draft(
            chain(
                FILM,
                Passage("Helena Marchant", "Helena Marchant was a painter, born in Lisbon."),
                ENGINEER,
                OTHER,
            ),
            old="Helena Marchant",
        ),
    ),
    "Q3 namesake": (
        "Q3",
        lambda: draft(
            chain(
                Passage("The Quiet Harbor", "The singer Elena Marsh directed it."),
                Passage("Rowers", "Elena Marsh is a Dutch golfer, born in Lisbon."),
                ENGINEER,
                OTHER,
            )
        ),
    ),
    "Q1 two joints": (
        "Q1",
        lambda: draft(
            chain(
                gold=(FILM, PERSON, Passage("Mill", "In Penn, Ohio and in Penn, Texas.")),
                passages=(FILM, PERSON, Passage("Mill", "In Penn, Ohio and in Penn, Texas.")),
                joints=("Elena Marsh", "Penn"),
            )
        ),
    ),
    "Q4 missing": (
        "Q4",
        lambda: draft(chain(FILM, Passage("Elena Marsh", "Elena Marsh was born in Porto."), OTHER)),
    ),
    "Q4 overlap": ("Q4", lambda: draft(chain(answer_aliases=("the town of Elena Marsh",)))),
    "Q5 bridge": (
        "Q5",
        lambda: draft(chain(question="Where was Marsh, director of The Quiet Harbor, born?")),
    ),
    "Q5 gender": (
        "Q5",
        lambda: draft(
            chain(
                FILM,
                Passage("Elena Marsh", "Elena Marsh was a painter, born in Lisbon."),
                question="Where was the actress who directed The Quiet Harbor born?",
            ),
            bridge_nature=Nature("person", "person"),
            replacement_nature=Nature("person", "person"),
        ),
    ),
    "Q6 surname": ("Q6", lambda: distractor("A letter by Marsh was sold in Oslo.")),
    "Q6 record": ("Q6", lambda: replace(draft(), edits={"B": draft().edits["B"][:-1], "D": ()})),
    "Q7 distractor": (
        "Q7",
        lambda: with_cells(draft(), D=put(draft().cells["D"], 2, "Another text altogether.")),
    ),
    "Q7 later": (
        "Q7",
        lambda: with_cells(
            draft(), D=put(draft().cells["D"], 1, draft().cells["D"][1] + " She died young.")
        ),
    ),
    "Q8 stale": ("Q8", lambda: distractor("A letter by a certain Vance was sold in Oslo.")),
    "Q8 pronoun": ("Q8", lambda: draft(replacement_nature=MAN)),
    "Q8 gender": (
        "Q8",
        lambda: draft(
            bridge_nature=Nature("person", "person"), replacement_nature=Nature("person", "person")
        ),
    ),
    "Q8 kind": ("Q8", lambda: draft(replacement_nature=Nature("place", "town"))),
    "Q9 subject": ("Q9", lambda: distractor("The Quiet Harbor was shot in Lisbon.")),
    "Q9 later": (
        "Q9",
        lambda: draft(
            chain(
                FILM,
                Passage("Elena Marsh", "Elena Marsh made The Quiet Harbor. Born in Lisbon."),
                ENGINEER,
            )
        ),
    ),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_a_violation_is_caught_by_its_rule_alone(name: str) -> None:
    rule, make = VIOLATIONS[name]
    one = make()
    assert failing(one) == [rule]
    assert [found for found, _ in validate(one)] == [rule]


@pytest.mark.parametrize(
    ("step", "caught"),
    [
        ("When did #1 open the Gallery of Tides?", True),
        ("Who did #1 play in the Gallery of Tides?", False),
        ("Where was #1 born?", False),
    ],
)
def test_a_step_that_a_named_thing_answers_is_a_bypass(step: str, caught: bool) -> None:
    page = Passage("Elena Marsh", "Elena Marsh opened the Gallery of Tides in Lisbon.")
    later = msgspec.structs.replace(chain().later, question=step, relation=None)
    one = draft(chain(FILM, page, ENGINEER, later=later))
    assert failing(one) == (["Q9"] if caught else [])


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("Elena Marsh and Marsh Pictures made it.", True),
        ("Elena Marsh is the sister of Paul Marsh.", False),
        ("Elena Marsh is short for Helena.", True),
    ],
)
def test_leftovers_of_a_name_are_found(text: str, caught: bool) -> None:
    """Asked of the rule alone, without the detector of the mentions."""
    one = draft(chain(FILM, PERSON, Passage("Aside", text), OTHER))
    assert (leftover(one, one.cells["B"][2]) is not None) == caught


def test_a_distractor_with_bridge_and_answer_is_a_bypass() -> None:
    one = distractor("Elena Marsh often spoke of Lisbon.")
    assert "Q9" in failing(one)


@pytest.mark.parametrize(
    ("answer", "text", "caught"),
    [
        ("10 May 1943", "The Quiet Harbor opened on May 10, 1943.", True),
        ("10 May 1943", "The Quiet Harbor opened in May 1943.", True),
        ("10 May 1943", "The Quiet Harbor opened in 1943.", False),
        ("1943", "The Quiet Harbor opened in 1943.", True),
        ("12", "The Quiet Harbor ran for 112 minutes.", False),
        ("1,500", "The Quiet Harbor was seen by 1500 people.", True),
        ("Lisbon, Portugal", "The Quiet Harbor was shot in Lisbon.", True),
        ("France", "The Quiet Harbor is a French drama.", True),
    ],
)
def test_dates_numbers_and_parts_of_an_answer_give_it_away(
    answer: str, text: str, caught: bool
) -> None:
    one = draft(
        chain(
            FILM,
            Passage("Elena Marsh", f"Elena Marsh was a painter. She knew {answer}."),
            Passage("Aside", text),
            answer=answer,
            later=msgspec.structs.replace(
                chain().later, answer=answer, question="What did #1 know?", relation=None
            ),
        )
    )
    assert failing(one) == (["Q9"] if caught else [])


def test_a_passage_that_tells_the_final_answer_early_is_a_bypass_for_an_inner_link() -> None:
    """For an inner link the answer is the later hop's own, and the final one counts too."""
    aside = Passage("Aside", "The Quiet Harbor made people think of the Tagus.")
    river = Passage("Lisbon", "Lisbon lies on the Tagus.")
    inner = {"answer": "Tagus", "hops": 3, "link": 2}
    assert failing(draft(chain(FILM, PERSON, ENGINEER, river, **inner))) == []
    assert failing(draft(chain(FILM, PERSON, aside, river, **inner))) == ["Q9"]


def decoy_draft(**changes: object) -> Draft:
    """Exchange Elena Marsh and Ruth Calder by hand."""
    source = chain()
    a = tuple(passage.whole for passage in source.passages)
    old, new = "Elena Marsh", "Ruth Calder"
    b = (a[0].replace(old, new), a[1].replace(old, new), a[2], a[3].replace(new, old))
    edits = spans(a, old, new, (0, 1)) + spans(a, new, old, (3,))
    fact = Fact(
        relation="director", head="Golden Field", tail=new, passage=OTHER, source_id="other"
    )
    return draft(
        source,
        variant="decoy",
        replacement=Entity(new, "person"),
        cells={"A": a, "B": b, "D": (a[0], b[1], a[2], a[3])},
        edits={"B": edits, "D": tuple(edit for edit in edits if edit.passage == 1)},
        decoy=Decoy(index=3, fact=fact, placed=True, tied=True),
        **changes,
    )


def test_a_sound_decoy_passes() -> None:
    assert failing(decoy_draft()) == []


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (2, "Aside\nRuth Calder was an engineer."),
        (3, "Golden Field\nGolden Field is a drama directed by Ruth Calder in Lisbon."),
        (3, "Golden Field\nThe Quiet Harbor came before Golden Field, by Ruth Calder."),
    ],
)
def test_a_decoy_that_is_no_dead_end_is_caught(index: int, text: str) -> None:
    one = decoy_draft()
    a = put(one.cells["A"], index, text)
    swapped = text.replace("Ruth Calder", "Elena Marsh") if index == 3 else text
    cells = {
        "A": a,
        "B": put(one.cells["B"], index, swapped),
        "D": put(one.cells["D"], index, text),
    }
    edits = tuple(edit for edit in one.edits["B"] if edit.passage != 3)
    edits += spans(a, "Ruth Calder", "Elena Marsh", (3,))
    broken = replace(one, cells=cells, edits={"B": edits, "D": one.edits["D"]})
    assert failing(broken) == ["Q8"]


def test_cell_c_must_be_broken_and_unedited() -> None:
    one = draft()
    a = one.cells["A"]
    assert cell_c(with_cells(one, C=put(a, 1, "Standin\nA passage on bees."))) is None
    assert "still there" in str(cell_c(with_cells(one, C=a)))
    assert "edited" in str(cell_c(with_cells(one, C=one.cells["D"])))
    links = "Standin\nElena Marsh loved Lisbon."
    assert "links to" in str(cell_c(with_cells(one, C=put(a, 1, links))))
    assert "earlier support is gone" in str(
        cell_c(with_cells(one, C=("Standin\nA passage on bees.", *a[2:])))
    )


def test_a_nickname_of_a_place_is_a_trace_of_it() -> None:
    """Asked of the rule alone: "the Twin Cities" in a passage that was edited."""
    city = Passage("Harbor", "Minneapolis is large. The Twin Cities have many lakes.")
    one = draft(chain(FILM, city, ENGINEER, bridge="Minneapolis"))
    a, new = one.cells["A"], "Denver"
    b = tuple(text.replace("Minneapolis", new).replace("Elena Marsh", new) for text in a)
    edits = spans(a, "Minneapolis", new, (1,)) + spans(a, "Elena Marsh", new, (0,))
    place = Nature("place", "town")
    told = replace(
        one,
        bridge=Entity("Minneapolis", "place"),
        replacement=Entity(new, "place"),
        bridge_nature=place,
        replacement_nature=place,
        cells={"A": a, "B": b, "D": (a[0], b[1], a[2])},
        edits={"B": edits, "D": edits[:1]},
    )
    assert "twin cities" in str(RULES["Q6"][0](told))


def test_a_decoy_must_be_as_long_broken_as_intact() -> None:
    """Named twice in its dead end and once in the support, a longer name would tell."""
    one = decoy_draft()
    text = "Golden Field\nGolden Field is a drama directed by Ruth Calder. Ruth Calder wrote it."
    a = put(one.cells["A"], 3, text)
    swapped = text.replace("Ruth Calder", "Elena Marsh")
    assert failing(with_cells(one, A=a, D=put(one.cells["D"], 3, text), B=one.cells["B"])) != []
    cells = {"A": a, "B": put(one.cells["B"], 3, swapped), "D": put(one.cells["D"], 3, text)}
    edits = tuple(edit for edit in one.edits["B"] if edit.passage != 3)
    edits += spans(a, "Ruth Calder", "Elena Marsh", (3,))
    level = replace(one, cells=cells, edits={"B": edits, "D": one.edits["D"]})
    assert failing(level) == []  # the two names are equally long
    longer = replace(level, cells={**cells, "D": put(cells["D"], 3, text + ".")})
    assert "Q8" in failing(longer)


def test_a_decoy_must_state_the_relation_of_the_step() -> None:
    told = Passage("Golden Field", "Golden Field is a drama directed by Ruth Calder.")
    silent = Passage("Golden Field", "Golden Field is a drama that Ruth Calder once saw.")
    facts = [
        Fact(
            relation="director",
            head="Golden Field",
            tail="Ruth Calder",
            passage=page,
            source_id="x",
        )
        for page in (told, silent)
    ]
    assert [decoy_unstated(fact) for fact in facts] == [False, True]


@pytest.mark.parametrize(
    ("opening", "caught"),
    [("Elena Marsh (1901-1980)", False), ("Helena March (1901-1980)", True)],
)
def test_a_page_that_opens_with_another_spelling_is_half_renamed(
    opening: str, caught: bool
) -> None:
    page = Passage("Elena Marsh", f"{opening} was a painter, born in Lisbon. Marsh liked it there.")
    one = draft(chain(FILM, page, ENGINEER))
    found = opens_otherwise(one, 1)
    assert (found is not None) == caught
