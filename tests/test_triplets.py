"""From chains to triplets: cells, variants, provenance, determinism, the report."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from chaincheck.bypass import fold_tokens
from chaincheck.chains import Chain, Fact, Hop, Passage, Unusable
from chaincheck.describe import describe, marked
from chaincheck.errors import UsageError
from chaincheck.items import Edit, Item, Triplet, group_triplets
from chaincheck.mentions import stands
from chaincheck.triplets import BuildResult, build

DIRECTORS = {
    "The Quiet Harbor": ("Elena Marsh", "Lisbon"),
    "Golden Field": ("Ruth Calder", "Prague"),
    "Iron Tide": ("Anna Norton", "Vienna"),
    "Pale Moon": ("Clara Whitfield", "Athens"),
}


ANOTHER_HOP = Passage("Lisbon", "Lisbon lies on the Tagus.")


def page(film: str) -> Passage:
    return Passage(film, f"{film} is a drama of 1961. It was directed by {DIRECTORS[film][0]}.")


def life(film: str) -> Passage:
    name, town = DIRECTORS[film]
    return Passage(name, f"{name} was a director. She was born in {town}. {name}'s films are long.")


def chain(film: str, *others: Passage, **changes: object) -> Chain:
    name, town = DIRECTORS[film]
    aside = [Passage(f"Aside {n}", f"A note on bees and clover, part {n}.") for n in range(4)]
    values: dict[str, object] = {
        "source": "test",
        "source_id": film,
        "question": f"Where was the director of {film} born?",
        "passages": (aside[0], page(film), aside[1], life(film), *(others or aside[2:])),
        "earlier": Hop(
            question=f"{film} >> director",
            relation="director",
            subject=film,
            answer=name,
            support=1,
        ),
        "later": Hop(
            question="#1 >> place of birth",
            relation="place of birth",
            subject=name,
            answer=town,
            support=3,
        ),
        "bridge": name,
        "answer": town,
        "kind": "person",
        "facts": (
            Fact(
                relation="director",
                head=film,
                tail=name,
                passage=page(film),
                source_id=film,
                kind="person",
            ),
        ),
    }
    return Chain(**(values | changes))  # type: ignore[arg-type]


def world() -> list[Chain]:
    return [chain(film) for film in DIRECTORS]


def of(result: BuildResult, variant: str, source_id: str = "The Quiet Harbor") -> Triplet:
    return next(
        triplet
        for triplet in group_triplets(result.items)
        if triplet.variant == variant and triplet.cells["A"].source_id == source_id
    )


def replay(item: Item, edits: Iterable[Edit]) -> tuple[str, ...]:
    """Apply recorded edits by hand, from right to left."""
    texts = list(item.passages)
    for edit in sorted(edits, key=lambda found: -found.start):
        text = texts[edit.passage]
        assert text[edit.start : edit.end] == edit.before
        texts[edit.passage] = text[: edit.start] + edit.after + text[edit.end :]
    return tuple(texts)


def test_every_chain_of_a_clean_world_gives_every_variant() -> None:
    report = build(world()).report
    assert report.triplets == {"real": 4, "fict": 4, "decoy": 4}
    assert report.rejected == {}
    assert (report.records, report.chains) == (4, 4)
    assert report.by_hops == {"2": {"chains": 4, "real": 4, "fict": 4, "decoy": 4}}


@pytest.mark.parametrize("variant", ["real", "fict", "decoy"])
def test_the_cells_are_what_they_claim(variant: str) -> None:
    triplet = of(build(world()), variant)
    a, b, d = (triplet.cells[cell] for cell in "ABD")
    assert [(c.chain, c.edit, c.label_sufficient) for c in (a, b, d)] == [
        ("intact", False, True),
        ("intact", True, True),
        ("broken", True, False),
    ]
    (later,) = a.later_support
    (earlier,) = a.earlier_support
    assert [n for n in range(len(a.passages)) if a.passages[n] != d.passages[n]] == [later]
    assert d.passages[later] == b.passages[later]
    assert a.replacement is not None
    assert "Elena Marsh" in a.passages[earlier]
    assert "Elena Marsh" in d.passages[earlier]
    assert a.replacement in b.passages[earlier]
    for text in (b.passages[earlier], b.passages[later]):
        assert "Marsh" not in text
        assert a.replacement in text
    assert all("Lisbon" in cell.passages[later] for cell in (a, b, d))


def test_a_is_the_source_untouched_save_for_a_placed_decoy() -> None:
    source = world()[0]
    passages = tuple(passage.whole for passage in source.passages)
    result = build(world())
    assert of(result, "real").cells["A"].passages == passages
    assert of(result, "fict").cells["A"].passages == passages
    decoy = of(result, "decoy").cells["A"].passages
    changed = [n for n in range(len(passages)) if passages[n] != decoy[n]]
    assert len(changed) == 1
    assert changed[0] not in (source.earlier.support, source.later.support)


@pytest.mark.parametrize("variant", ["real", "fict", "decoy"])
def test_the_edits_are_the_whole_difference(variant: str) -> None:
    triplet = of(build(world()), variant)
    a, b, d = (triplet.cells[cell] for cell in "ABD")
    assert a.edits == ()
    assert replay(a, b.edits) == b.passages
    assert replay(a, d.edits) == d.passages
    assert set(d.edits) < set(b.edits)


def test_a_real_replacement_is_another_record_s_bridge() -> None:
    replacement = of(build(world()), "real").cells["A"].replacement
    assert replacement in {name for name, _ in DIRECTORS.values()} - {"Elena Marsh"}


def test_a_decoy_exchanges_the_two_names() -> None:
    triplet = of(build(world()), "decoy")
    a, b, d = (triplet.cells[cell] for cell in "ABD")
    other = a.replacement
    assert other is not None
    holding = {
        cell: {
            name: [n for n, text in enumerate(item.passages) if stands(text, name)]
            for name in ("Elena Marsh", other)
        }
        for cell, item in (("A", a), ("B", b), ("D", d))
    }
    (seat,) = holding["A"][other]
    assert holding["A"]["Elena Marsh"] == [1, 3]
    assert holding["B"] == {"Elena Marsh": [seat], other: [1, 3]}
    assert holding["D"] == {"Elena Marsh": [1], other: sorted([3, seat])}


def test_surface_counts_tie_between_b_and_d_of_a_decoy() -> None:
    triplet = of(build(world()), "decoy")
    counts = []
    for cell in "BD":
        words = [w for text in triplet.cells[cell].passages for w in fold_tokens(text)]
        counts.append((len(words), sorted(words.count(w) for w in set(words))))
    assert counts[0] == counts[1]
    assert build(world()).report.decoys == {"placed": 4, "tied": 4}


def test_the_same_seed_gives_the_same_items_in_whatever_order() -> None:
    first, second = build(world(), seed=3), build(world()[::-1], seed=3)
    assert first.items == build(world(), seed=3).items
    assert {item.item_id: item for item in first.items} == {
        item.item_id: item for item in second.items
    }
    assert build(world(), seed=4).items != first.items


def test_ids_are_content_hashes() -> None:
    items = build(world()).items
    assert len({item.item_id for item in items}) == len(items)
    triplets = group_triplets(items)
    assert len({triplet.pair_id for triplet in triplets}) == len(triplets) == 12
    moved = [msgspec.structs.replace(one, source_id="x" + one.source_id) for one in world()]
    assert not {item.pair_id for item in build(moved).items} & {item.pair_id for item in items}


def test_a_record_that_stands_twice_is_built_once() -> None:
    report = build([*world(), world()[0]], variants=["fict"]).report
    assert report.triplets == {"fict": 4}
    assert report.unusable == {"duplicate": 1}


def test_a_distractor_with_a_doubtful_mention_is_left_out_of_every_cell() -> None:
    doubtful = Passage("Letters", "A letter by a certain Marsh was sold.")
    sound = [Passage(f"Note {n}", f"On hay and barley, part {n}.") for n in range(3)]
    records = [chain("The Quiet Harbor", doubtful, *sound), *world()[1:]]
    triplet = of(build(records), "fict")
    assert all(doubtful.whole not in triplet.cells[cell].passages for cell in "ABD")
    assert {len(triplet.cells[cell].passages) for cell in "ABD"} == {7}
    assert build(records).report.left_out["1"] >= 2
    report = build(records, keep_all=True).report
    assert report.triplets["fict"] == 3
    assert [example.source_id for example in report.examples["Q6"]] == ["The Quiet Harbor"] * 2


def test_a_distractor_that_names_the_bridge_is_renamed_or_gives_way_to_the_decoy() -> None:
    third = Passage("Festival", "The festival of 1962 honored Elena Marsh.")
    records = [chain("The Quiet Harbor", third), *world()[1:]]
    result = build(records)
    real = of(result, "real").cells
    assert real["B"].passages[4].endswith(f"honored {real['A'].replacement}.")
    assert real["D"].passages[4] == third.whole
    decoy = of(result, "decoy").cells
    assert third.whole not in decoy["A"].passages


def test_fewer_distractors_keep_the_supports() -> None:
    triplet = of(build(world(), distractors=1), "real")
    a = triplet.cells["A"]
    assert len(a.passages) == 3
    assert "Elena Marsh" in a.passages[a.earlier_support[0]]
    assert "Lisbon" in a.passages[a.later_support[0]]


@pytest.mark.parametrize("variant", ["real", "fict", "decoy"])
def test_the_support_of_no_hop_is_ever_left_out(variant: str) -> None:
    """Another hop rests on a passage that a distractor would be left out for."""
    doubtful = Passage("Tagus", "The Tagus, which a certain Marsh painted, flows past Lisbon.")
    source = chain("The Quiet Harbor", *[Passage(f"Note {n}", "On hay.") for n in range(3)])
    gold = (source.passages[1], source.passages[3], doubtful)
    inner = {"question": "Which river is it?", "answer": "Tagus", "hops": 3, "gold": gold}
    passages = (*source.passages, doubtful)
    lost = msgspec.structs.replace(source, passages=passages, **inner)
    result = build([lost, *world()[1:]], variants=[variant], distractors=1)
    assert not [item for item in result.items if item.source_id == "The Quiet Harbor"]
    sound = msgspec.structs.replace(
        lost,
        passages=(*source.passages, ANOTHER_HOP),
        gold=(*gold[:2], ANOTHER_HOP),
    )
    result = build([sound, *world()[1:]], variants=[variant], distractors=1)
    for item in of(result, variant).cells.values():
        assert ANOTHER_HOP.whole in item.passages
    records = [msgspec.structs.replace(chain(film), gold=(page(film),)) for film in DIRECTORS]
    assert build(records).report.triplets == {"real": 4, "fict": 4, "decoy": 4}


def test_cell_c_puts_an_unedited_passage_in_the_place_of_the_later_support() -> None:
    result = build(world(), cells=["A", "B", "C", "D"])
    triplet = of(result, "real")
    a, c = triplet.cells["A"], triplet.cells["C"]
    (later,) = a.later_support
    assert [n for n in range(len(a.passages)) if a.passages[n] != c.passages[n]] == [later]
    assert c.passages[later] in {p.whole for one in world()[1:] for p in one.passages}
    assert (c.chain, c.edit, c.label_sufficient) == ("broken", False, False)
    assert (c.earlier_support, c.later_support) == (a.earlier_support, ())
    assert result.report.cell_c == {"made": 12}


def test_a_source_s_own_broken_context_comes_first() -> None:
    gone = (Passage("Hay", "On hay."), page("The Quiet Harbor"), Passage("Oats", "On oats."))
    records = [chain("The Quiet Harbor", broken_contexts=(gone,)), *world()[1:]]
    c = of(build(records, cells=["A", "B", "D", "C"]), "real").cells["C"]
    assert c.passages == tuple(passage.whole for passage in gone)
    assert c.earlier_support == (1,)


def test_an_inner_link_keeps_the_final_answer() -> None:
    river = Passage("Lisbon", "Lisbon lies on the Tagus.")
    inner = chain(
        "The Quiet Harbor",
        river,
        question="Which river flows past the birthplace of the director of The Quiet Harbor?",
        answer="Tagus",
        hops=3,
        link=2,
    )
    result = build([inner, *world()[1:]])
    item = of(result, "real").cells["D"]
    assert (item.answer, item.link) == ("Tagus", 2)
    assert river.whole in item.passages
    assert result.report.by_hops["3"] == {"chains": 1, "real": 1, "fict": 1, "decoy": 1}


def test_a_broken_chain_is_counted_with_every_rule_that_it_breaks() -> None:
    leak = chain("The Quiet Harbor", question="Where was Marsh of The Quiet Harbor born?")
    missing = chain("Golden Field", answer="Rome", later=Hop(question="", answer="Rome", support=3))
    nowhere = chain("Iron Tide", later=Hop(question="", answer="Vienna", support=99))
    unusable = Unusable("u", 7, "comparison", "compares two films")
    report = build([leak, missing, nowhere, unusable], variants=["real"]).report
    assert report.rejected == {"Q5": 1, "Q4": 1, "Q1": 1, "unusable": 1}
    assert report.unusable == {"comparison": 1}
    (example,) = report.examples["Q5"]
    assert (example.source_id, example.variant) == ("The Quiet Harbor", "real")
    decoded = msgspec.json.decode(report.to_json())
    assert decoded["records"] == 4
    assert decoded["triplets"] == {"real": 0}
    assert "comparison 1" in report.to_text()


def test_without_others_to_borrow_from_only_the_invented_name_is_left() -> None:
    report = build(world()[:1]).report
    assert report.triplets == {"real": 0, "fict": 1, "decoy": 0}
    assert report.rejected_by_variant == {"real": {"Q8": 1}, "decoy": {"Q8": 1}}


def test_columns_of_the_user_travel_to_every_item() -> None:
    records = [chain("The Quiet Harbor", extra={"topic": "film", "cb_27b_correct": True})]
    for item in build(records, variants=["fict"]).items:
        assert item.extra == {"topic": "film"}
        assert item.cb_27b_correct is True


@pytest.mark.parametrize(
    "wrong", [{"variants": ["reel"]}, {"cells": ["A", "B", "E"]}, {"cells": ["A", "B"]}]
)
def test_unknown_variants_and_cells_are_refused(wrong: dict[str, list[str]]) -> None:
    with pytest.raises(UsageError):
        build(world(), **wrong)  # type: ignore[arg-type]


def test_progress_sees_every_record() -> None:
    seen = []

    def progress(rows: Iterable[object], *, what: str, total: int) -> Iterable[object]:
        for row in rows:
            seen.append((what, total))
            yield row

    build(world(), variants=["fict"], progress=progress)  # type: ignore[arg-type]
    assert seen == [("building triplets", 4)] * 4


def test_a_triplet_is_shown_with_its_edits_marked() -> None:
    triplet = of(build(world(), cells=["A", "B", "D", "C"]), "decoy")
    text = describe(triplet)
    other = triplet.cells["A"].replacement
    assert f"[Elena Marsh → {other}]" in text
    assert f"[{other} → Elena Marsh]" in text
    assert "Where was the director of The Quiet Harbor born?" in text
    assert "in C instead" in text
    assert marked("no edit", []) == "no edit"


def test_lenient_keeps_what_only_the_wider_questions_reject() -> None:
    """A star in both supports ties them past the break: the nine rules do not ask for that."""
    film = Passage(
        "The Quiet Harbor",
        "The Quiet Harbor is a drama of 1961 with Otto Brandvold. It was directed by Elena Marsh.",
    )
    person = Passage(
        "Elena Marsh",
        "Elena Marsh was a director. She was born in Lisbon. She married Otto Brandvold.",
    )
    one = chain("The Quiet Harbor")
    passages = tuple(
        {film.title: film, person.title: person}.get(passage.title, passage)
        for passage in one.passages
    )
    star = msgspec.structs.replace(one, passages=passages, gold=())
    chains = [star, *world()[1:]]
    strict = build(chains, variants=("fict",))
    lenient = build(chains, variants=("fict",), strict=False)
    ids = [{item.source_id for item in result.items} for result in (strict, lenient)]
    assert ids[1] - ids[0] == {"The Quiet Harbor"}
    ((rule, reason),) = strict.report.examples["Q9"][0].reasons
    assert rule == "Q9"
    assert "brandvold" in reason
