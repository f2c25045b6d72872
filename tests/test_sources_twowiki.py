"""2WikiMultiHopQA: evidences on their pages, titles that repeat, and the real records."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chaincheck.chains import Chain, Unusable
from chaincheck.errors import InvalidItem, WrongSource
from chaincheck.sources import open_source
from chaincheck.sources.twowiki import TwoWiki

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

RECORD: dict[str, Any] = {
    "_id": "r1",
    "type": "compositional",
    "question": "Where was the director of film Arrival (Film) born?",
    "context": [
        ["Noise", ["Nothing here."]],
        ["Denis Villeneuve", ["He films.", "Denis Villeneuve was born in Gentilly."]],
        ["Arrival (film)", ["Arrival is a film.", "It was directed by Denis Villeneuve."]],
    ],
    "supporting_facts": [["Arrival (film)", 1], ["Denis Villeneuve", 1]],
    "evidences": [
        ["Arrival", "director", "Denis Villeneuve"],
        ["Denis Villeneuve", "place of birth", "Gentilly"],
    ],
    "answer": "Gentilly",
    "entity_ids": "Q1_Q2",
}


def read(tmp_path: Path, *rows: dict[str, Any], array: bool = False) -> list[Chain | Unusable]:
    path = tmp_path / "a.json"
    lines = [json.dumps(row) for row in rows]
    path.write_text("[" + ", ".join(lines) + "]" if array else "\n".join(lines))
    return list(TwoWiki().read(path))


def chain_of(tmp_path: Path, **changes: Any) -> Chain:
    (found,) = read(tmp_path, {**RECORD, **changes})
    assert isinstance(found, Chain)
    return found


@pytest.mark.parametrize("array", [True, False])
def test_a_chain(tmp_path: Path, array: bool) -> None:
    (chain,) = read(tmp_path, RECORD, array=array)
    assert isinstance(chain, Chain)
    assert (chain.bridge, chain.bridge_aliases, chain.answer) == (
        "Denis Villeneuve",
        (),
        "Gentilly",
    )
    assert (chain.earlier.support, chain.later.support) == (2, 1)
    assert (chain.earlier.relation, chain.earlier.subject) == ("director", "Arrival")
    assert (chain.later.relation, chain.later.subject) == ("place of birth", "Denis Villeneuve")
    assert (chain.kind, chain.pronoun, chain.link, chain.hops) == ("person", None, 2, 2)
    assert chain.passages[2].text == "Arrival is a film. It was directed by Denis Villeneuve."
    assert [(f.head, f.relation, f.tail) for f in chain.facts] == [
        tuple(evidence) for evidence in RECORD["evidences"]
    ]


def test_names_of_the_bridge_that_differ_are_aliases(tmp_path: Path) -> None:
    evidences = [
        ["Arrival", "director", "D. Villeneuve"],
        ["Denis V.", "place of birth", "Gentilly"],
    ]
    chain = chain_of(tmp_path, evidences=evidences)
    assert chain.bridge == "D. Villeneuve"
    assert chain.bridge_aliases == ("Denis V.", "Denis Villeneuve")
    assert chain.facts[0].tail_aliases == chain.bridge_aliases


def test_supports_in_the_other_order(tmp_path: Path) -> None:
    chain = chain_of(tmp_path, supporting_facts=RECORD["supporting_facts"][::-1])
    assert (chain.earlier.support, chain.later.support) == (2, 1)


@pytest.mark.parametrize(
    ("relation", "question", "pronoun"),
    [
        ("father", "Where did X's father die?", "he"),
        ("mother", "Where did X's mother die?", "she"),
        ("spouse", "Where was X's husband born?", "he"),
        ("spouse", "Where is X's wife?", "she"),
        ("spouse", "Who is X's spouse?", None),
        ("director", "Where was the husband born?", None),
    ],
)
def test_pronouns(tmp_path: Path, relation: str, question: str, pronoun: str | None) -> None:
    evidences = [["Arrival", relation, "Denis Villeneuve"], RECORD["evidences"][1]]
    chain = chain_of(tmp_path, evidences=evidences, question=question)
    assert (chain.pronoun, chain.facts[0].pronoun) == (pronoun, pronoun)


class TestRepeatedTitles:
    """Some contexts hold two pages of one title, of which one is a distractor."""

    def test_the_page_that_says_it_is_meant(self, tmp_path: Path) -> None:
        other = ["Denis Villeneuve", ["A footballer.", "He plays."]]
        for context in ([other, *RECORD["context"]], [*RECORD["context"], other]):
            chain = chain_of(tmp_path, context=context)
            assert "Gentilly" in chain.passages[chain.later.support].text

    def test_the_page_that_has_the_sentence_is_meant(self, tmp_path: Path) -> None:
        short = ["Denis Villeneuve", ["Gentilly."]]
        chain = chain_of(tmp_path, context=[short, *RECORD["context"]])
        assert chain.later.support == 2

    def test_two_that_say_it_are_ambiguous(self, tmp_path: Path) -> None:
        context = [*RECORD["context"], RECORD["context"][1]]
        (found,) = read(tmp_path, {**RECORD, "context": context})
        assert isinstance(found, Unusable) and found.code == "ambiguous-title"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"type": "comparison"}, "comparison-question"),
        ({"type": "bridge_comparison"}, "bridge-comparison-question"),
        ({"evidences": []}, "no-evidences"),
        ({"evidences": RECORD["evidences"] * 2}, "evidence-count"),
        ({"supporting_facts": [["Noise", 0]]}, "support-pages"),
        ({"supporting_facts": [["Noise", 0], ["Absent", 0]]}, "support-missing"),
        ({"supporting_facts": [["Noise", 7], ["Denis Villeneuve", 0]]}, "ambiguous-title"),
    ],
)
def test_unusable(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    (found,) = read(tmp_path, {**RECORD, **changes})
    assert isinstance(found, Unusable)
    assert (found.code, found.source_id) == (code, "r1")


def test_comparisons_still_state_facts(tmp_path: Path) -> None:
    (found,) = read(tmp_path, {**RECORD, "type": "comparison"})
    assert [(fact.head, fact.tail) for fact in found.facts] == [
        ("Arrival", "Denis Villeneuve"),
        ("Denis Villeneuve", "Gentilly"),
    ]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"type": "other"}, "column type should be one of"),
        ({"type": None}, "column type should be text"),
        ({"question": 1}, "column question should be text"),
        ({"answer": ""}, "column answer should be text"),
        ({"context": []}, "column context is empty"),
        ({"context": [["a"]]}, "entry 0 of context should be"),
        ({"context": [["a", "b"]]}, "the sentences of entry 0 of context should be a list"),
        ({"context": [["a", [1]]]}, "the sentences of entry 0 of context should be texts"),
        ({"context": [[None, []]]}, "the title of entry 0"),
        ({"evidences": [["a", "b"]]}, "evidence 0 should be"),
        ({"evidences": [["a", "b", None]]}, "evidence 0 should be text"),
        ({"supporting_facts": [["Noise"]]}, "supporting fact 0 should be"),
        ({"supporting_facts": [["Noise", -1]]}, "the sentence of supporting fact 0"),
        ({"supporting_facts": [["Noise", True]]}, "the sentence of supporting fact 0"),
        ({"supporting_facts": {}}, "column supporting_facts should be a list"),
    ],
)
def test_broken_records(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidItem, match=problem) as caught:
        read(tmp_path, RECORD, {**RECORD, "_id": "r2", **changes})
    assert (caught.value.line, caught.value.item) == (2, "r2")


def test_another_data_set(tmp_path: Path) -> None:
    musique = {"id": "a", "paragraphs": [], "question": "?", "question_decomposition": []}
    with pytest.raises(WrongSource, match=r":1: .*one of musique.*Read it with --source musique"):
        read(tmp_path, musique)
    hotpot = {key: RECORD[key] for key in ("_id", "question", "context", "supporting_facts")}
    with pytest.raises(WrongSource, match="--source hotpot"):
        read(tmp_path, RECORD, {**hotpot, "type": "bridge"})


def test_registry() -> None:
    assert isinstance(open_source("twowiki"), TwoWiki)
    assert isinstance(open_source("2wiki"), TwoWiki)


@pytest.mark.skipif(not DATA.is_dir(), reason="the real records (../shared/data) are not here")
def test_real_records() -> None:
    found = list(TwoWiki().read(DATA / "twowiki_dev.jsonl"))
    chains = [one for one in found if isinstance(one, Chain)]
    assert Counter(one.code for one in found if isinstance(one, Unusable)) == {
        "comparison-question": 54,
        "bridge-comparison-question": 43,
    }
    assert len(chains) == 57 + 10
    rows = {}
    for line in (DATA / "twowiki_dev.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["_id"]] = row
    for chain in chains:
        row = rows[chain.source_id]
        titles = [title for title, _ in row["supporting_facts"]]
        assert chain.passages[chain.earlier.support].title == titles[0]
        assert chain.passages[chain.later.support].title == titles[1]
        assert chain.kind in ("person", "organization", None)
        for title, sentence in row["supporting_facts"]:
            page = next(passage for passage in chain.passages if passage.title == title)
            sentences = [s for t, ss in row["context"] if t == title for s in ss]
            assert sentences[sentence] in page.text
