"""Checkers for the exercises of chapter 2, and the small contexts that they are about."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.errors import InputError
from chaincheck.exercises import exercise
from chaincheck.items import Edit, Item, Triplet
from chaincheck.mentions import Entity, rename_all, residue
from chaincheck.rule_examples import sound_draft
from chaincheck.sources import open_source
from chaincheck.triplet_views import name_map
from chaincheck.triplets import build
from chaincheck.validator import RULES, Draft, validate

__all__ = ["flawed_draft", "halden_passages", "third_passage_triplet"]

_BRIDGE = Entity("Ada Brandt", "person")
_NEW = Entity("Ines Moreau", "person")
_LATER = 1


def halden_passages() -> tuple[str, ...]:
    """Cell A of exercise 2.1: earlier support, later support, distractor."""
    return (
        "Halden Bridge\nThe Halden Bridge is Ada Brandt's last work. It was opened in 1902.",
        "Ada Brandt\nAda Brandt grew up in Bern. Brandt had two sisters.",
        "The Aare\nThe river Aare was painted by many, A. Brandt among them. "
        "Ada Brandt's picture is lost.",
    )


@exercise("2.1", "Give two lists of three passages: those of cell B and those of cell D.")
def _cells_by_hand(answer: Any) -> str | None:
    b, d = (tuple(cell) for cell in answer)
    a = halden_passages()
    if len(b) != len(a) or len(d) != len(a) or not all(isinstance(text, str) for text in (*b, *d)):
        raise ValueError("not two lists of passages")
    right = [one.text for one in rename_all(a, _BRIDGE, _NEW)]
    for index, text in enumerate(b):
        left = residue(text, _BRIDGE)
        if left:
            return f"Passage {index} of B still holds '{left[0][2]}'."
        if text != right[index]:
            return f"Passage {index} of B: a full name becomes a full one, a surname a surname."
    for index, text in enumerate(d):
        if index != _LATER and text != a[index]:
            return f"Passage {index} of D is not the later support: leave it as it is in A."
    if d[_LATER] != right[_LATER]:
        return "The later support of D must be that of B."
    return None


def flawed_draft() -> Draft:
    """The draft of exercise 2.2: one mention was overlooked, and more than one rule minds."""
    draft = sound_draft()
    place = len(draft.cells["A"]) - 1
    text = "Cincinnati\nCincinnati lies in Ohio. A street there bears the name of S. Spielberg."
    cells = {name: (*cell[:place], text) for name, cell in draft.cells.items()}
    return replace(draft, cells=cells)


@exercise("2.2", 'Give a list of rules, like ["Q1", "Q2"].')
def _broken_rules(answer: Any) -> str | None:
    given = {str(rule) for rule in answer}
    if not given or not given <= RULES.keys():
        raise ValueError("not rules")
    broken = {rule for rule, _ in validate(flawed_draft())}
    wrong, missed = sorted(given - broken), sorted(broken - given)
    if wrong:
        return f"{wrong[0]} holds. It says: {RULES[wrong[0]][1]}"
    if missed:
        return f"There is more: {len(missed)} of the broken rules are not in your list."
    return None


def third_passage_triplet() -> Triplet:
    """The triplet of exercise 2.3: a decoy, and the bridge stands in a third passage as well."""
    bridge, new = "Ada Brandt", "Ines Moreau"
    a = (
        f"Halden Bridge\nThe Halden Bridge was built by {bridge}.",
        f"A sculptor\n{bridge} was born in Bern.",
        f"Elm Bridge\nThe Elm Bridge was built by {new}.",
        f"Prizes\n{bridge} won a prize.",
    )
    edits = tuple(
        Edit(passage=index, start=start, end=start + len(old), before=old, after=other)
        for index, text in enumerate(a)
        for old, other in ((bridge, new), (new, bridge))
        if (start := text.find(old)) >= 0
    )
    b = tuple(
        text[: edit.start] + edit.after + text[edit.end :]
        for text, edit in zip(a, edits, strict=True)
    )
    cells = {}
    for cell, passages, made in (("A", a, ()), ("B", b, edits), ("D", (a[0], b[1], *a[2:]), ())):
        cells[cell] = Item(
            item_id=cell,
            pair_id="exercise",
            variant="decoy",
            cell=cell,
            query="Where was the builder of the Halden Bridge born?",
            passages=passages,
            answer="Bern",
            bridge=bridge,
            replacement=new,
            earlier_support=(0,),
            later_support=(_LATER,),
            edits=made if cell != "D" else tuple(edit for edit in edits if edit.passage == _LATER),
        )
    return Triplet(pair_id="exercise", variant="decoy", cells=cells)


@exercise(
    "2.3",
    "Give four numbers of passages: with the bridge in B and in D, then with the new name.",
)
def _third_passage(answer: Any) -> str | None:
    found = name_map(third_passage_triplet())
    names = (("bridge", "B"), ("bridge", "D"), ("replacement", "B"), ("replacement", "D"))
    given = [float(value) for value in answer]
    if len(given) != len(names):
        raise ValueError("not four numbers")
    for value, (name, cell) in zip(given, names, strict=True):
        if value != found.passages_with(cell, name):
            word = "bridge" if name == "bridge" else "new name"
            return f"Look at the {word} in {cell}: which passages hold it there?"
    return None


_ROW_COLUMNS = ("question", "answer", "passages", "bridge", "earlier_support", "later_support")


@exercise("2.4", "Give one row with the columns of your own documents, as a dict.")
def _own_row(answer: Any) -> str | None:
    if not isinstance(answer, dict) or not all(name in answer for name in _ROW_COLUMNS):
        raise ValueError("not a row")
    if len(answer["passages"]) < 3:
        return "Add a distractor: a passage that supports neither hop."
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "row.jsonl"
        path.write_bytes(msgspec.json.encode(answer) + b"\n")
        try:
            chains = list(open_source("documents").read(path))
        except InputError as error:
            return _without_path(str(error), path)
    report = build(chains, variants=("fict",)).report
    if report.triplets["fict"]:
        return None
    return "; ".join(_reasons(report.examples))


def _without_path(message: str, path: Path) -> str:
    return message.replace(f"{path}:1: ", "").replace(str(path), "the row")


def _reasons(examples: dict[str, list[Any]]) -> Sequence[str]:
    return [
        f"{rule}: {reason}"
        for found in examples.values()
        for example in found
        for rule, reason in example.reasons
    ]
