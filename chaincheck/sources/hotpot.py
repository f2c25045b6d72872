"""HotpotQA (Yang et al., EMNLP 2018), in its original layout.

A JSON array, or one record a line: ``_id``, ``type``, ``question``, ``context`` (``[title,
[sentence, ...]]``), ``supporting_facts`` (``[title, sentence index]``), ``answer``. A bridge
question has two supporting pages; the bridge is the title of one that stands in the other.

The data set says neither which page comes first nor what the bridge is. A record yields a chain
only where both follow:

- The later page is the one that holds the answer; the other must not hold it.
- The bridge is the title of one page that stands in the other page, in one direction only, and
  the question does not name it.
- The question points to the earlier page: it names its title, or a name of the question stands
  there and not in the later page. It does not name the later page's title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chaincheck.chains import Chain, Hop, Unusable
from chaincheck.errors import PathLike
from chaincheck.jsonl import read_objects
from chaincheck.sources.contexts import Page, pages_of, stands_in, supports_of, without_qualifier
from chaincheck.sources.records import NoChain, Record, Rows

__all__ = ["Hotpot"]

_NAME = re.compile(r"\b(?:[A-Z]\w+|\d{3,})\b")


def _support_places(record: Record, pages: tuple[Page, ...]) -> tuple[int, int]:
    """Return where the two supporting pages stand."""
    titles = list(dict.fromkeys(support.title for support in supports_of(record)))
    if len(titles) != 2:
        raise NoChain("support-pages", f"the supporting facts name {len(titles)} pages, not 2")
    found = []
    for title in titles:
        places = [place for place, page in enumerate(pages) if page.title == title]
        if not places:
            raise NoChain("support-missing", f"the supporting page {title!r} is not in the context")
        if len(places) > 1:
            raise NoChain("ambiguous-title", f"two pages have the title {title!r}")
        found.append(places[0])
    return found[0], found[1]


def _points_to(question: str, earlier: Page, later: Page) -> bool:
    """Tell whether the question names the earlier page, or something that only it names."""
    if stands_in(without_qualifier(earlier.title), question):
        return True
    names = _NAME.findall(question)[1:]  # the first word has its capital from its place
    return any(
        stands_in(name, earlier.passage.whole) and not stands_in(name, later.passage.whole)
        for name in names
    )


def _order(
    question: str, answer: str, pages: tuple[Page, ...], places: tuple[int, int]
) -> tuple[int, int, str]:
    """Return the earlier place, the later place and the bridge, or say why they cannot be told."""
    holding = [place for place in places if stands_in(answer, pages[place].passage.whole)]
    if len(holding) != 1:
        where = "both supporting pages" if holding else "neither supporting page"
        raise NoChain("answer-place", f"the answer stands in {where}")
    later = holding[0]
    earlier = places[0] if later == places[1] else places[1]
    first, second = pages[earlier], pages[later]
    titles = {place: without_qualifier(pages[place].title) for place in places}
    forward = stands_in(titles[later], first.passage.text)
    backward = stands_in(titles[earlier], second.passage.text)
    if forward and backward:
        raise NoChain("two-bridges", "each supporting page names the other")
    if not forward and not backward:
        raise NoChain("no-bridge", "neither supporting page names the other")
    bridge = titles[later] if forward else titles[earlier]
    if stands_in(bridge, question):
        raise NoChain("bridge-in-question", "the question names the bridge")
    if backward and stands_in(titles[later], question):
        raise NoChain("order-uncertain", "the question names the page that holds the answer")
    if not (stands_in(titles[earlier], question) or _points_to(question, first, second)):
        raise NoChain("order-uncertain", "the question does not point to one page")
    return earlier, later, bridge


class Hotpot:
    """Reader of HotpotQA's bridge questions."""

    name = "hotpot"

    def read(self, path: PathLike) -> Iterator[Chain | Unusable]:
        """Yield a chain for each bridge question whose order is certain, the rest with reasons.

        Raises:
            InputError: the file is not HotpotQA's, or a record is broken.
        """
        yield from self.read_rows(lambda: read_objects(path), path)

    def read_rows(self, rows: Rows, path: PathLike) -> Iterator[Chain | Unusable]:
        """Do the same for rows that are decoded already."""
        for line, row in rows():
            record = Record(row, path=path, line=line, source=self.name, id_columns=("_id", "id"))
            try:
                yield self._chain(record)
            except NoChain as found:
                yield Unusable(record.source_id, line, found.code, found.reason)

    @staticmethod
    def _chain(record: Record) -> Chain:
        question = record.text("question")
        pages = pages_of(record)
        if not record.row.get("supporting_facts") or "answer" not in record.row:
            raise NoChain("unlabeled", "the record has no answer or supports (a test set)")
        kind = record.text("type")
        answer = record.text("answer")
        if kind == "comparison":
            raise NoChain("comparison-question", "a comparison has no bridge to break")
        if kind != "bridge":
            record.fail("column type should be bridge or comparison")
        earlier, later, bridge = _order(question, answer, pages, _support_places(record, pages))
        return Chain(
            source="hotpot",
            source_id=record.source_id,
            question=question,
            passages=tuple(page.passage for page in pages),
            earlier=Hop(
                question=question,
                answer=bridge,
                support=earlier,
                subject=None
                if without_qualifier(pages[earlier].title) == bridge
                else without_qualifier(pages[earlier].title),
            ),
            later=Hop(question=question, answer=answer, support=later, subject=bridge),
            bridge=bridge,
            answer=answer,
        )
