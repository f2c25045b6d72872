"""MuSiQue and MuSiQue-Full (Trivedi et al., TACL 2022), in their original layout.

One record a line: ``id``, ``paragraphs`` (``idx``, ``title``, ``paragraph_text``), ``question``,
``question_decomposition`` (``question``, ``answer``, ``paragraph_support_idx``), ``answer``,
``answer_aliases``, ``answerable``. A step names the answer of step j as ``#j``; each such
reference is a link that can be broken, and gives a chain.

MuSiQue-Full gives a question a second time, under the same id, with ``answerable`` false and the
supports of some steps taken out. Such a record is no chain; where it lacks the later support of
a link and has the earlier one, it is a broken context of the answerable record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from chaincheck.chains import Chain, Fact, Hop, Passage, Unusable
from chaincheck.errors import PathLike
from chaincheck.jsonl import read_objects
from chaincheck.pipes import check_rereadable
from chaincheck.sources.records import Record, Rows
from chaincheck.sources.relations import kind_of, parse_step, pronoun_of, subject_kind_of

__all__ = ["Musique"]

_REFERENCE = re.compile(r"#(\d+)")


class _Step(NamedTuple):
    question: str
    answer: str
    support: int | None  # position in the passages
    references: tuple[int, ...]  # numbers of the steps that it builds on, from 1


class _Question(NamedTuple):
    record: Record
    question: str
    answer: str
    aliases: tuple[str, ...]
    answerable: bool
    passages: tuple[Passage, ...]
    steps: tuple[_Step, ...]


def _passages(record: Record) -> tuple[tuple[Passage, ...], dict[int, int]]:
    """Return the passages and where each ``idx`` stands."""
    passages = []
    places: dict[int, int] = {}
    for place, value in enumerate(record.rows("paragraphs")):
        row = record.as_object(value, f"paragraph {place}")
        title = row.get("title", "")
        text = row.get("paragraph_text")
        if not isinstance(title, str):
            record.fail(f"the title of paragraph {place} should be text")
        index = record.as_index(row.get("idx", place), f"idx of paragraph {place}")
        if index in places:
            record.fail(f"two paragraphs have the idx {index}")
        places[index] = place
        passages.append(Passage(title, record.as_text(text, f"the text of paragraph {place}")))
    if not passages:
        record.fail("column paragraphs is empty")
    return tuple(passages), places


def _steps(record: Record, places: dict[int, int]) -> tuple[_Step, ...]:
    steps = []
    for number, value in enumerate(record.rows("question_decomposition"), start=1):
        row = record.as_object(value, f"step {number}")
        question = record.as_text(row.get("question"), f"the question of step {number}")
        answer = record.as_text(row.get("answer"), f"the answer of step {number}")
        index = row.get("paragraph_support_idx")
        support = None
        if index is not None:
            index = record.as_index(index, f"paragraph_support_idx of step {number}")
            if index not in places:
                record.fail(f"paragraph_support_idx {index} of step {number} is no paragraph")
            support = places[index]
        references = tuple(dict.fromkeys(int(found) for found in _REFERENCE.findall(question)))
        # "#5" in step 3 is part of a name ("the #5 ranked team"), not a reference.
        references = tuple(found for found in references if 1 <= found < number)
        steps.append(_Step(question, answer, support, references))
    return tuple(steps)


def _fill(text: str, steps: tuple[_Step, ...], number: int) -> str:
    """Put the answers of earlier steps in the place of their references."""

    def answer(match: re.Match[str]) -> str:
        found = int(match[1])
        return steps[found - 1].answer if 1 <= found < number else match[0]

    return " ".join(_REFERENCE.sub(answer, text).split())


def _hop(steps: tuple[_Step, ...], number: int) -> Hop:
    """Turn a step with a support into a hop; its subject has the references filled in."""
    step = steps[number - 1]
    assert step.support is not None
    relation, subject = parse_step(step.question)
    return Hop(
        question=step.question,
        answer=step.answer,
        support=step.support,
        relation=relation,
        subject=_fill(subject, steps, number) if subject else None,
    )


def _asks_only_of(question: str, number: int) -> bool:
    """Tell whether a step's subject is the answer of step ``number`` and nothing more."""
    subject = parse_step(question).subject
    return subject is not None and subject.strip() == f"#{number}"


def _facts(question: _Question) -> tuple[Fact, ...]:
    facts = []
    for number, step in enumerate(question.steps, start=1):
        if step.support is None:
            continue
        hop = _hop(question.steps, number)
        if hop.relation is None or hop.subject is None:
            continue
        facts.append(
            Fact(
                relation=hop.relation,
                head=hop.subject,
                tail=hop.answer,
                passage=question.passages[step.support],
                kind=kind_of(hop.relation),
                pronoun=pronoun_of(hop.relation),
                source_id=question.record.source_id,
            )
        )
    return tuple(facts)


def _kind(earlier: str | None, later: str | None) -> str | None:
    """Kind of a bridge from the slot that leads to it and the one that is asked of it."""
    told = {kind for kind in (kind_of(earlier), subject_kind_of(later)) if kind}
    return told.pop() if len(told) == 1 else None


def _rejoined(steps: tuple[_Step, ...], broken: int) -> tuple[str, ...]:
    """The answers of other branches that join the one over step ``broken`` after that step."""
    below = {broken}
    for number in range(broken + 1, len(steps) + 1):
        if below & set(steps[number - 1].references):
            below.add(number)
    others = [
        reference
        for number in sorted(below - {broken})
        for reference in steps[number - 1].references
        if reference not in below
    ]
    return tuple(dict.fromkeys(steps[reference - 1].answer for reference in others))


def _chains(question: _Question, broken: tuple[_Question, ...]) -> Iterator[Chain | Unusable]:
    record, steps = question.record, question.steps
    facts = _facts(question)
    links = [(j, k) for k, step in enumerate(steps, start=1) for j in step.references]
    problem: tuple[str, str] | None = None
    if not question.answerable:
        problem = ("unanswerable", "the supports of some steps are not in the context")
    elif not links:
        problem = ("no-link", "no step builds on the answer of another")
    elif any(step.support is None for step in steps):
        problem = ("no-support", "a step has no supporting paragraph")
    if problem:
        yield Unusable(record.source_id, record.line, *problem, facts)
        return
    supports = dict.fromkeys(step.support for step in steps if step.support is not None)
    gold = tuple(question.passages[place] for place in supports)
    joints = tuple(dict.fromkeys(steps[j - 1].answer for j, _ in links))
    for j, k in links:
        earlier, later = _hop(steps, j), _hop(steps, k)
        if not _asks_only_of(steps[k - 1].question, j):
            later = msgspec.structs.replace(later, relation=None)
        later = msgspec.structs.replace(later, subject=earlier.answer)
        yield Chain(
            source="musique",
            source_id=record.source_id,
            question=question.question,
            passages=question.passages,
            earlier=earlier,
            later=later,
            bridge=earlier.answer,
            answer=question.answer,
            answer_aliases=question.aliases,
            link=k,
            hops=len(steps),
            kind=_kind(earlier.relation, later.relation),
            pronoun=pronoun_of(earlier.relation),
            facts=facts,
            gold=gold,
            joints=joints,
            rejoined=_rejoined(steps, k),
            beside=tuple(steps[n - 1].answer for n in steps[k - 1].references if n != j),
            broken_contexts=tuple(
                twin.passages
                for twin in broken
                if len(twin.steps) == len(steps)
                and twin.steps[k - 1].support is None
                and twin.steps[j - 1].support is not None
            ),
        )


class Musique:
    """Reader of MuSiQue-Answerable and MuSiQue-Full."""

    name = "musique"

    def read(self, path: PathLike) -> Iterator[Chain | Unusable]:
        """Yield one chain a link of each answerable record, the rest with their reasons.

        The unanswerable twin of an answerable record yields nothing of its own: its context
        travels with the chains of its twin.

        Raises:
            InputError: the file is not MuSiQue's, or a record is broken; also a pipe that is not
                kept, since the records are gone through twice.
        """
        check_rereadable(path)
        yield from self.read_rows(lambda: read_objects(path), path)

    def read_rows(self, rows: Rows, path: PathLike) -> Iterator[Chain | Unusable]:
        """Do the same for rows that are decoded already; they are gone through twice."""
        twins = self._twins(rows)
        # A record waits here until its twin has come, so that order does not matter.
        waiting: dict[str, list[_Question]] = {}
        for line, row in rows():
            question = self._decode(row, path, line)
            if question is None:
                yield Unusable(
                    str(row["id"]), line, "no-decomposition", "the record has no steps (a test set)"
                )
                continue
            source_id = question.record.source_id
            if source_id not in twins:
                yield from _chains(question, ())
                continue
            group = waiting.setdefault(source_id, [])
            group.append(question)
            if len(group) == twins[source_id]:
                broken = tuple(found for found in group if not found.answerable)
                for found in group:
                    if found.answerable:
                        yield from _chains(found, broken)
                del waiting[source_id]

    @staticmethod
    def _twins(rows: Rows) -> dict[str, int]:
        """Count the records of each id that comes both with and without ``answerable``."""
        found: dict[str, list[bool]] = {}
        for _, row in rows():
            source_id, answerable = row.get("id"), row.get("answerable", True)
            if isinstance(source_id, str) and "question_decomposition" in row:
                found.setdefault(source_id, []).append(answerable is not False)
        return {key: len(flags) for key, flags in found.items() if len(set(flags)) == 2}

    def _decode(self, row: dict[str, object], path: PathLike, line: int) -> _Question | None:
        record = Record(row, path=path, line=line, source=self.name, id_columns=("id",))
        question = record.text("question")
        passages, places = _passages(record)
        if "question_decomposition" not in row:
            return None
        steps = _steps(record, places)
        answerable = row.get("answerable", True)
        if not isinstance(answerable, bool):
            record.fail("column answerable should be true or false")
        return _Question(
            record=record,
            question=question,
            answer=record.text("answer"),
            aliases=record.texts(row.get("answer_aliases"), "column answer_aliases"),
            answerable=answerable,
            passages=passages,
            steps=steps,
        )
