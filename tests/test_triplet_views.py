"""Where names stand, what was lost, and what train and test share."""

from __future__ import annotations

from typing import Any

import pytest

from chaincheck.errors import UsageError
from chaincheck.items import Edit, Item, Triplet
from chaincheck.reports import BuildReport
from chaincheck.triplet_views import Outcome, name_map, outcomes, study_split

FILM = "Jaws\nJaws was directed by Steven Spielberg."
PERSON = "Steven Spielberg\nSteven Spielberg was born in Cincinnati."
OTHER = "Alien\nAlien was directed by Ridley Scott."
ASIDE = "Sharks\nSharks swim."
# Edits of the passages above, by hand.
IN_FILM = Edit(passage=0, start=26, end=42, before="Steven Spielberg", after="Ridley Scott")
IN_PERSON = (
    Edit(passage=1, start=0, end=16, before="Steven Spielberg", after="Ridley Scott"),
    Edit(passage=1, start=17, end=33, before="Steven Spielberg", after="Ridley Scott"),
)
IN_OTHER = Edit(passage=2, start=28, end=40, before="Ridley Scott", after="Steven Spielberg")


def swap(text: str) -> str:
    return (
        text.replace("Steven Spielberg", "@")
        .replace("Ridley Scott", "Steven Spielberg")
        .replace("@", "Ridley Scott")
    )


def triplet(variant: str = "real", pair_id: str = "p", **changes: Any) -> Triplet:
    a = (FILM, PERSON, OTHER if variant == "decoy" else ASIDE)
    b = tuple(map(swap, a))
    d = (a[0], b[1], a[2])
    edits_b: tuple[Edit, ...] = (IN_FILM, *IN_PERSON)
    if variant == "decoy":
        edits_b = (*edits_b, IN_OTHER)
    values: dict[str, Any] = {
        "pair_id": pair_id,
        "variant": variant,
        "query": "Where was the director of Jaws born?",
        "bridge": "Steven Spielberg",
        "replacement": "Ridley Scott",
        "earlier_support": (0,),
        "later_support": (1,),
    } | changes
    cells = {
        cell: Item(item_id=f"{pair_id}{cell}", cell=cell, passages=passages, edits=edits, **values)
        for cell, passages, edits in (("A", a, ()), ("B", b, edits_b), ("D", d, IN_PERSON))
    }
    return Triplet(pair_id=pair_id, variant=variant, cells=cells)


def counts(one: Triplet) -> dict[str, tuple[int, int]]:
    found = name_map(one)
    return {
        cell: (found.passages_with(cell, "bridge"), found.passages_with(cell, "replacement"))
        for cell in found.cells
    }


def test_a_real_triplet_leaves_each_name_alone_in_d() -> None:
    assert counts(triplet()) == {"A": (2, 0), "B": (0, 2), "D": (1, 1)}
    assert name_map(triplet()).roles == ("earlier", "later", "distractor")


def test_a_decoy_triplet_has_equal_counts_in_b_and_d() -> None:
    found = counts(triplet("decoy"))
    assert found == {"A": (2, 1), "B": (1, 2), "D": (1, 2)}
    assert name_map(triplet("decoy")).roles == ("earlier", "later", "decoy")


def test_a_surname_that_was_edited_counts_as_a_mention() -> None:
    one = triplet()
    short = {
        cell: "Jaws\nSpielberg directed Jaws." if cell != "B" else "Jaws\nScott directed Jaws."
        for cell in "ABD"
    }
    edit = Edit(passage=0, start=5, end=14, before="Spielberg", after="Scott")
    cells = {}
    for cell, item in one.cells.items():
        import msgspec

        edits = tuple(edit if old.passage == 0 else old for old in item.edits)
        passages = (short[cell], *item.passages[1:])
        cells[cell] = msgspec.structs.replace(item, passages=passages, edits=edits)
    assert counts(Triplet(pair_id="p", variant="real", cells=cells))["B"] == (0, 2)
    assert counts(Triplet(pair_id="p", variant="real", cells=cells))["D"] == (1, 1)


def test_outcomes_come_in_the_order_of_the_variants() -> None:
    report = BuildReport(
        triplets={"decoy": 1, "real": 3}, rejected_by_variant={"real": {"Q9": 2, "Q3": 5}}
    )
    found = outcomes(report)
    assert list(found) == ["real", "decoy"]
    assert found["real"] == Outcome(3, {"Q3": 5, "Q9": 2})
    assert found["real"].links == 10
    assert found["real"].share == pytest.approx(0.3)
    assert Outcome(0, {}).share == 0.0


def many() -> list[Triplet]:
    """Twenty questions; the first ten share one later passage and one bridge."""
    rows = []
    for number in range(20):
        changes: dict[str, Any] = {"query": f"Question {number}?"}
        one = triplet(pair_id=f"p{number}", **changes)
        if number >= 10:
            import msgspec

            cells = {
                cell: msgspec.structs.replace(
                    item,
                    bridge=f"Person {number}",
                    passages=(item.passages[0], f"Page {number}\nA page.", item.passages[2]),
                )
                for cell, item in one.cells.items()
            }
            one = Triplet(pair_id=one.pair_id, variant="real", cells=cells)
        rows.append(one)
    return rows


def test_a_split_by_groups_shares_nothing_and_one_by_question_does() -> None:
    study = study_split(many(), 0.3, seed=1)
    assert (study.triplets, study.questions, study.bridges, study.steps) == (20, 20, 11, 11)
    assert (study.groups, study.largest) == (11, 10)
    assert study.train + study.test == 20
    assert study.shared == 0
    assert study.naive_test == 6
    assert study.naive_shared > 0


def test_a_share_is_a_share() -> None:
    with pytest.raises(UsageError, match="not a share"):
        study_split(many(), 1.5, seed=0)
