"""2WikiMultiHopQA (Ho et al., COLING 2020), in its original layout.

A JSON array, or one record a line: ``_id``, ``type``, ``question``, ``context`` (``[title,
[sentence, ...]]``), ``supporting_facts`` (``[title, sentence index]``), ``evidences`` (``[subject,
relation, object]``), ``answer``. The compositional and inference questions are chains: the
object of the first evidence is the subject of the second. The comparison questions set two
entities side by side and have no bridge to break; what they state still feeds the pools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chaincheck.chains import Chain, Fact, Hop, Unusable
from chaincheck.errors import PathLike
from chaincheck.jsonl import read_objects
from chaincheck.sources.contexts import (
    Page,
    Support,
    fold,
    pages_of,
    stands_in,
    supports_of,
    without_qualifier,
)
from chaincheck.sources.records import NoChain, Record, Rows
from chaincheck.sources.relations import kind_of, pronoun_of, slot_name, subject_kind_of

__all__ = ["TwoWiki"]

_CHAINS = ("compositional", "inference")
_OTHERS = ("comparison", "bridge_comparison")


class _Evidence(NamedTuple):
    subject: str
    relation: str
    object: str


def _evidences(record: Record) -> tuple[_Evidence, ...]:
    found = []
    for place, value in enumerate(record.rows("evidences")):
        triple = record.as_list(value, f"evidence {place}")
        if len(triple) != 3:
            record.fail(f"evidence {place} should be [subject, relation, object]")
        texts = [record.as_text(text, f"evidence {place}").strip() for text in triple]
        found.append(_Evidence(texts[0], slot_name(texts[1]), texts[2]))
    return tuple(found)


def _place(pages: tuple[Page, ...], support: Support, names: tuple[str, ...]) -> int | None:
    """Find the one page that a supporting fact means; None where two may be meant.

    Distractors can bear the same title. The page meant has the sentence, and of several that
    have it only one names in it what the evidence says.
    """
    places = [
        place
        for place, page in enumerate(pages)
        if page.title == support.title and support.sentence < len(page.sentences)
    ]
    if len(places) > 1:
        places = [
            place
            for place in places
            if any(stands_in(name, pages[place].sentences[support.sentence]) for name in names)
        ]
    return places[0] if len(places) == 1 else None


def _is_title(title: str, name: str) -> bool:
    return fold(name) in (fold(title), fold(without_qualifier(title)))


def _facts(
    pages: tuple[Page, ...], evidences: tuple[_Evidence, ...], source_id: str
) -> tuple[Fact, ...]:
    """Return the evidences whose subject has one page of its own that names the object."""
    facts = []
    for evidence in evidences:
        homes = [page for page in pages if _is_title(page.title, evidence.subject)]
        if len(homes) == 1 and stands_in(evidence.object, homes[0].passage.text):
            facts.append(
                Fact(
                    relation=evidence.relation,
                    head=evidence.subject,
                    tail=evidence.object,
                    passage=homes[0].passage,
                    kind=kind_of(evidence.relation),
                    pronoun=pronoun_of(evidence.relation),
                    source_id=source_id,
                )
            )
    return tuple(facts)


def _spouse_pronoun(relation: str, question: str) -> str | None:
    """Tell a spouse's pronoun from the question's own word for them."""
    words = set(re.findall(r"\w+", fold(question)))
    if relation == "spouse" and ("husband" in words) != ("wife" in words):
        return "he" if "husband" in words else "she"
    return None


def _order(
    supports: tuple[Support, ...], first: _Evidence, bridge: tuple[str, ...]
) -> tuple[Support, Support]:
    """Return the supporting facts of the first and of the second evidence.

    They come in the order of the evidences; titles that say the opposite count for more.
    """
    by_title: dict[str, Support] = {}
    for support in supports:
        by_title.setdefault(support.title, support)
    if len(by_title) != 2:
        raise NoChain("support-pages", f"the supporting facts name {len(by_title)} pages, not 2")
    one, two = by_title.values()
    straight = _is_title(one.title, first.subject) + any(_is_title(two.title, n) for n in bridge)
    crossed = _is_title(two.title, first.subject) + any(_is_title(one.title, n) for n in bridge)
    return (two, one) if crossed > straight else (one, two)


def _chain(
    record: Record,
    question: str,
    pages: tuple[Page, ...],
    evidences: tuple[_Evidence, ...],
) -> Chain:
    if len(evidences) != 2:
        raise NoChain("evidence-count", f"a chain has 2 evidences, this record {len(evidences)}")
    first, second = evidences
    bridge = first.object
    one, two = _order(supports_of(record), first, (bridge, second.subject))
    earlier = _place(pages, one, (bridge, second.subject))
    later = _place(pages, two, (second.object,))
    if earlier is None or later is None:
        title = one.title if earlier is None else two.title
        if not any(page.title == title for page in pages):
            raise NoChain("support-missing", f"the supporting page {title!r} is not in the context")
        raise NoChain("ambiguous-title", "which page a supporting fact means cannot be told")
    names = (second.subject, without_qualifier(pages[later].title))
    aliases = tuple(dict.fromkeys(name for name in names if name != bridge))
    told = {k for k in (kind_of(first.relation), subject_kind_of(second.relation)) if k}
    pronoun = pronoun_of(first.relation) or _spouse_pronoun(first.relation, question)
    stated = tuple(
        Fact(
            relation=evidence.relation,
            head=evidence.subject,
            tail=evidence.object,
            tail_aliases=others,
            passage=pages[place].passage,
            kind=kind_of(evidence.relation),
            pronoun=pronoun if evidence is first else pronoun_of(evidence.relation),
            source_id=record.source_id,
        )
        for evidence, place, others in ((first, earlier, aliases), (second, later, ()))
    )
    return Chain(
        source="twowiki",
        source_id=record.source_id,
        question=question,
        passages=tuple(page.passage for page in pages),
        earlier=Hop(
            question=f"{first.subject} >> {first.relation}",
            answer=bridge,
            support=earlier,
            relation=first.relation,
            subject=first.subject,
        ),
        later=Hop(
            question=f"#1 >> {second.relation}",
            answer=second.object,
            support=later,
            relation=second.relation,
            subject=bridge,
        ),
        bridge=bridge,
        bridge_aliases=aliases,
        answer=record.text("answer"),
        kind=told.pop() if len(told) == 1 else None,
        pronoun=pronoun,
        facts=stated,
    )


class TwoWiki:
    """Reader of 2WikiMultiHopQA."""

    name = "twowiki"

    def read(self, path: PathLike) -> Iterator[Chain | Unusable]:
        """Yield a chain a compositional or inference record, the rest with their reasons.

        Raises:
            InputError: the file is not 2WikiMultiHopQA's, or a record is broken.
        """
        yield from self.read_rows(lambda: read_objects(path), path)

    def read_rows(self, rows: Rows, path: PathLike) -> Iterator[Chain | Unusable]:
        """Do the same for rows that are decoded already."""
        for line, row in rows():
            record = Record(row, path=path, line=line, source=self.name, id_columns=("_id", "id"))
            yield self._one(record)

    @staticmethod
    def _one(record: Record) -> Chain | Unusable:
        question = record.text("question")
        kind = record.text("type")
        pages = pages_of(record)
        facts: tuple[Fact, ...] = ()
        try:
            if not record.row.get("evidences"):
                raise NoChain("no-evidences", "the record has no evidences (a test set)")
            evidences = _evidences(record)
            facts = _facts(pages, evidences, record.source_id)
            if kind in _OTHERS:
                raise NoChain(
                    f"{kind.replace('_', '-')}-question",
                    "a comparison has no bridge that could be broken",
                )
            if kind not in _CHAINS:
                record.fail(f"column type should be one of {', '.join(_CHAINS + _OTHERS)}")
            return _chain(record, question, pages, evidences)
        except NoChain as found:
            return Unusable(record.source_id, record.line, found.code, found.reason, facts)
