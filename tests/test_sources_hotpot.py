"""HotpotQA: a chain only where order and bridge follow from the record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chaincheck.chains import Chain, Unusable
from chaincheck.errors import InvalidItem, WrongSource
from chaincheck.sources.hotpot import Hotpot

RECORD: dict[str, Any] = {
    "_id": "h1",
    "type": "bridge",
    "level": "hard",
    "question": "In which village was the director of Arrival born?",
    "context": [
        ["Denis Villeneuve", ["Denis Villeneuve is a Canadian.", " He was born in Gentilly."]],
        ["Noise", ["Nothing here."]],
        ["Arrival (film)", ["Arrival was directed by Denis Villeneuve.", " It won prizes."]],
    ],
    "supporting_facts": [["Denis Villeneuve", 1], ["Arrival (film)", 0]],
    "answer": "Gentilly",
}


def read(tmp_path: Path, *rows: dict[str, Any]) -> list[Chain | Unusable]:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(list(rows)))
    return list(Hotpot().read(path))


def test_the_later_page_is_the_bridge_s_own(tmp_path: Path) -> None:
    (chain,) = read(tmp_path, RECORD)
    assert isinstance(chain, Chain)
    assert (chain.bridge, chain.answer) == ("Denis Villeneuve", "Gentilly")
    assert (chain.earlier.support, chain.later.support) == (2, 0)
    assert (chain.earlier.subject, chain.later.subject) == ("Arrival", "Denis Villeneuve")
    # HotpotQA's sentences bring their own spaces.
    assert chain.passages[0].text == "Denis Villeneuve is a Canadian. He was born in Gentilly."


def test_the_earlier_page_is_the_bridge_s_own(tmp_path: Path) -> None:
    changes = {
        "question": "Which prize did the lead of the 1998 space film by Ann Lee win?",
        "context": [
            ["Far Star", ["Far Star is a 1998 space film by Ann Lee."]],
            ["Bo Kay", ["Bo Kay played the lead in Far Star and won the Golden Cup."]],
        ],
        "supporting_facts": [["Far Star", 0], ["Bo Kay", 0]],
        "answer": "Golden Cup",
    }
    (chain,) = read(tmp_path, {**RECORD, **changes})
    assert isinstance(chain, Chain)
    assert (chain.bridge, chain.earlier.support, chain.later.support) == ("Far Star", 0, 1)
    assert chain.earlier.subject is None
    named = "Which prize did Bo Kay, the lead of the 1998 space film by Ann Lee, win?"
    (found,) = read(tmp_path, {**RECORD, **changes, "question": named})
    assert isinstance(found, Unusable) and found.code == "order-uncertain"


def test_a_question_may_point_to_the_earlier_page_by_another_name(tmp_path: Path) -> None:
    context = [
        RECORD["context"][0],
        ["Arrival (film)", ["Arrival, with Amy Adams, was directed by Denis Villeneuve."]],
    ]
    question = "Where was the director of the film with Amy Adams born?"
    (chain,) = read(tmp_path, {**RECORD, "context": context, "question": question})
    assert isinstance(chain, Chain)
    (found,) = read(
        tmp_path, {**RECORD, "context": context, "question": "Where was the director born?"}
    )
    assert isinstance(found, Unusable) and found.code == "order-uncertain"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"type": "comparison", "answer": "yes"}, "comparison-question"),
        ({"answer": "Paris"}, "answer-place"),
        ({"answer": "Denis Villeneuve"}, "answer-place"),
        ({"question": "Where was Denis Villeneuve of Arrival born?"}, "bridge-in-question"),
        ({"supporting_facts": [["Noise", 0]]}, "support-pages"),
        ({"supporting_facts": [["Noise", 0], ["Absent", 0]]}, "support-missing"),
        ({"supporting_facts": [["Denis Villeneuve", 1], ["Noise", 0]]}, "no-bridge"),
        ({"context": [*RECORD["context"], RECORD["context"][2]]}, "ambiguous-title"),
        ({"supporting_facts": []}, "unlabeled"),
        (
            {
                "context": [
                    ["Denis Villeneuve", ["He made Arrival and was born in Gentilly."]],
                    RECORD["context"][2],
                ]
            },
            "two-bridges",
        ),
    ],
)
def test_unusable(tmp_path: Path, changes: dict[str, Any], code: str) -> None:
    (found,) = read(tmp_path, {**RECORD, **changes})
    assert isinstance(found, Unusable)
    assert (found.code, found.source_id) == (code, "h1")


def test_broken_and_foreign_records(tmp_path: Path) -> None:
    with pytest.raises(InvalidItem, match="column type should be bridge or comparison"):
        read(tmp_path, {**RECORD, "type": "other"})
    with pytest.raises(InvalidItem, match="column answer should be text"):
        read(tmp_path, {**RECORD, "answer": 5})
    with pytest.raises(WrongSource, match="--source twowiki"):
        read(tmp_path, {**RECORD, "type": "compositional", "evidences": []})
