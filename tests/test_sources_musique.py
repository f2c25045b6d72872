"""MuSiQue: links, subjects, twins, facts; and the real records where they are at hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chaincheck.chains import Chain, Unusable
from chaincheck.errors import InvalidItem, WrongSource
from chaincheck.sources import open_source
from chaincheck.sources.musique import Musique

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
PAGES = ["Arrival", "Denis", "Gentilly", "Other"]


def record(*steps: tuple[str, str, int | None], **changes: Any) -> dict[str, Any]:
    return {
        "id": f"{len(steps)}hop__1",
        "paragraphs": [
            {
                "idx": k,
                "title": title,
                "paragraph_text": f"Text of {title}.",
                "is_supporting": k < 2,
            }
            for k, title in enumerate(PAGES)
        ],
        "question": "Where was the director of Arrival born?",
        "question_decomposition": [
            {"id": k, "question": question, "answer": answer, "paragraph_support_idx": support}
            for k, (question, answer, support) in enumerate(steps)
        ],
        "answer": steps[-1][1] if steps else "none",
        "answer_aliases": ["Gentilly, Quebec"],
        "answerable": True,
        **changes,
    }


TWO = (("Arrival >> director", "Denis", 0), ("#1 >> place of birth", "Gentilly", 1))


def read(tmp_path: Path, *rows: dict[str, Any]) -> list[Chain | Unusable]:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(Musique().read(path))


def chains(found: list[Chain | Unusable]) -> list[Chain]:
    assert all(isinstance(one, Chain) for one in found)
    return [one for one in found if isinstance(one, Chain)]


def test_another_branch_that_joins_the_broken_one(tmp_path: Path) -> None:
    steps = (
        ("Arrival >> director", "Denis", 0),
        ("#1 >> place of birth", "Gentilly", 1),
        ("Other >> capital", "Oda", 3),
        ("how far is #2 from #3", "9 miles", 2),
    )
    found = chains(read(tmp_path, record(*steps)))
    assert [(one.link, one.bridge, one.beside, one.rejoined) for one in found] == [
        (2, "Denis", (), ("Oda",)),
        (4, "Gentilly", ("Oda",), ()),
        (4, "Oda", ("Gentilly",), ()),
    ]
    assert len(found[0].gold) == 4


def test_two_hops(tmp_path: Path) -> None:
    (chain,) = chains(read(tmp_path, record(*TWO)))
    assert (chain.bridge, chain.answer, chain.answer_aliases) == (
        "Denis",
        "Gentilly",
        ("Gentilly, Quebec",),
    )
    assert (chain.link, chain.hops, chain.kind) == (2, 2, "person")
    assert (chain.earlier.relation, chain.earlier.subject, chain.earlier.support) == (
        "director",
        "Arrival",
        0,
    )
    assert (chain.later.relation, chain.later.subject, chain.later.support) == (
        "place of birth",
        "Denis",
        1,
    )
    assert [passage.title for passage in chain.gold] == ["Arrival", "Denis"]
    assert chain.joints == ("Denis",)
    assert [(f.relation, f.head, f.tail, f.kind) for f in chain.facts] == [
        ("director", "Arrival", "Denis", "person"),
        ("place of birth", "Denis", "Gentilly", "place"),
    ]
    assert chain.facts[0].passage == chain.passages[0]
    assert chain.passages[0].whole == "Arrival\nText of Arrival."


def test_paragraphs_are_found_by_idx_not_by_place(tmp_path: Path) -> None:
    row = record(*TWO)
    row["paragraphs"] = row["paragraphs"][::-1]
    (chain,) = chains(read(tmp_path, row))
    assert [chain.passages[hop.support].title for hop in (chain.earlier, chain.later)] == [
        "Arrival",
        "Denis",
    ]


def test_one_chain_a_link(tmp_path: Path) -> None:
    straight = record(*TWO, ("what is the mayor of #2", "Ann", 2))
    fork = record(
        ("Arrival >> director", "Denis", 0),
        ("Other >> country", "France", 3),
        ("when did #1 move to #2", "1999", 1),
    )
    found = chains(read(tmp_path, straight, {**fork, "id": "fork"}))
    assert [(c.link, c.hops, c.bridge, c.earlier.support, c.later.support) for c in found] == [
        (2, 3, "Denis", 0, 1),
        (3, 3, "Gentilly", 1, 2),
        (3, 3, "Denis", 0, 1),
        (3, 3, "France", 3, 1),
    ]
    assert found[1].earlier.subject == "Denis"
    assert found[2].later.relation is None


def test_a_later_step_that_asks_of_more_than_the_bridge_has_no_slot(tmp_path: Path) -> None:
    (chain,) = chains(read(tmp_path, record(TWO[0], ("Old #1 >> part of", "Group", 1))))
    assert (chain.later.relation, chain.later.subject) == (None, "Denis")
    assert chain.facts[1].head == "Old Denis"


def test_a_number_sign_that_is_no_reference(tmp_path: Path) -> None:
    (found,) = read(tmp_path, record(("who is #5 on the list", "Ann", 0), ("who is #2", "B", 1)))
    assert isinstance(found, Unusable) and found.code == "no-link"


@pytest.mark.parametrize(
    ("row", "code"),
    [
        (record(*TWO, answerable=False), "unanswerable"),
        (record(TWO[0], ("who was first", "Ann", 1)), "no-link"),
        (record(TWO[0], ("#1 >> place of birth", "Gentilly", None)), "no-support"),
        ({k: v for k, v in record(*TWO).items() if k in ("id", "paragraphs", "question")},
         "no-decomposition"),
    ],
)  # fmt: skip
def test_unusable(tmp_path: Path, row: dict[str, Any], code: str) -> None:
    (found,) = read(tmp_path, row)
    assert isinstance(found, Unusable)
    assert (found.code, found.source_id, found.line) == (code, "2hop__1", 1)
    assert found.reason


class TestTwins:
    """MuSiQue-Full: an unanswerable version gives its context to the answerable one."""

    broken = record(TWO[0], ("#1 >> place of birth", "Gentilly", None), answerable=False)

    @pytest.mark.parametrize("order", [1, -1])
    def test_order_does_not_matter(self, tmp_path: Path, order: int) -> None:
        other = record(*TWO, id="other")
        found = chains(read(tmp_path, *[self.broken, other, record(*TWO)][::order]))
        by_id = {chain.source_id: chain for chain in found}
        assert len(by_id["2hop__1"].broken_contexts) == 1
        assert by_id["2hop__1"].broken_contexts[0][0].title == "Arrival"
        assert by_id["other"].broken_contexts == ()

    def test_only_where_the_later_support_is_what_is_missing(self, tmp_path: Path) -> None:
        neither = record(
            ("Arrival >> director", "Denis", None),
            ("#1 >> place of birth", "Gentilly", None),
            answerable=False,
        )
        (chain,) = chains(read(tmp_path, record(*TWO), neither))
        assert chain.broken_contexts == ()

    def test_two_unanswerable_versions(self, tmp_path: Path) -> None:
        (chain,) = chains(read(tmp_path, self.broken, record(*TWO), self.broken))
        assert len(chain.broken_contexts) == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": 5}, "column id should be text"),
        ({"question": ""}, "column question should be text"),
        ({"paragraphs": {}}, "column paragraphs should be a list"),
        ({"paragraphs": []}, "column paragraphs is empty"),
        ({"paragraphs": [5]}, "paragraph 0 should be an object"),
        ({"paragraphs": [{"idx": 0, "paragraph_text": " "}]}, "the text of paragraph 0"),
        ({"paragraphs": [{"idx": 0, "paragraph_text": "a"}] * 2}, "two paragraphs have the idx 0"),
        ({"question_decomposition": [{}]}, "the question of step 1"),
        ({"question_decomposition": 5}, "column question_decomposition should be a list"),
        ({"answerable": 1}, "column answerable"),
        ({"answer": None}, "column answer should be text"),
        ({"answer_aliases": "x"}, "column answer_aliases should be a list"),
    ],
)
def test_broken_records(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidItem, match=problem) as caught:
        read(tmp_path, record(*TWO, id="first"), record(*TWO, **change))
    assert caught.value.line == 2


def test_support_index_out_of_range(tmp_path: Path) -> None:
    row = record(TWO[0], ("#1 >> place of birth", "Gentilly", 4))
    with pytest.raises(
        InvalidItem, match=r":1: item '2hop__1': paragraph_support_idx 4 of step 2 is no paragraph"
    ):
        read(tmp_path, row)


def test_another_data_set(tmp_path: Path) -> None:
    with pytest.raises(WrongSource, match=r"one of twowiki.*Read it with --source twowiki"):
        read(tmp_path, {"_id": "a", "question": "?", "context": [], "evidences": []})
    with pytest.raises(WrongSource, match="of no data set known here"):
        read(tmp_path, {"text": "a"})
    with pytest.raises(WrongSource, match="It holds triplets already"):
        read(tmp_path, {"item_id": "a", "pair_id": "b", "cell": "A"})
    with pytest.raises(WrongSource, match="It holds scores"):
        read(tmp_path, {"item_id": "a", "score": 1})


def test_registry() -> None:
    assert isinstance(open_source("musique"), Musique)


needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the real records (../shared/data) are not here"
)


@needs_data
def test_real_answerable_records() -> None:
    found = chains(list(Musique().read(DATA / "musique_ans_dev.jsonl")))
    # Links by the shape of the question: 3hop2 and 4hop2 fork at their first two steps, 4hop3
    # at its last one; 270, 104, 23, 40, 6 and 14 records of the six shapes.
    assert Counter((c.link, c.hops) for c in found) == {
        (2, 2): 270,
        (2, 3): 104,
        (3, 3): 104 + 2 * 23,
        (2, 4): 40 + 14,
        (3, 4): 40 + 2 * 6,
        (4, 4): 40 + 6 + 2 * 14,
    }
    for chain in found:
        # The data set's own promise: a bridge stands in the passage that leads to it.
        assert chain.later.subject == chain.bridge == chain.earlier.answer
        assert 0 <= chain.earlier.support < len(chain.passages)
        if chain.link == chain.hops:
            assert chain.later.answer == chain.answer
    two = [c for c in found if c.hops == 2]
    literal = [c for c in two if c.bridge in c.passages[c.earlier.support].whole]
    assert len(literal) >= 0.99 * len(two)


@needs_data
def test_real_full_records() -> None:
    found = list(Musique().read(DATA / "musique_full_train.jsonl"))
    unusable = [one for one in found if isinstance(one, Unusable)]
    assert Counter(one.code for one in unusable) == {"unanswerable": 9}
    assert len({one.source_id for one in found}) == 20
