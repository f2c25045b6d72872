"""A user's own documents: questions with passages of their own, in documented columns.

One JSON object a line (or a JSON array). Required:

- ``question``: text.
- ``answer``: text, as it stands in the later passage.
- ``passages``: list of texts, or of ``{"title": ..., "text": ...}``.
- ``bridge``: the name that joins the two passages, as the earlier passage has it.
- ``earlier_support``: index, from 0, of the passage that leads to the bridge.
- ``later_support``: index of the passage that leads from the bridge to the answer.

Optional:

- ``id``: text; otherwise a hash of the row.
- ``bridge_aliases``, ``answer_aliases``: lists of texts.
- ``kind`` of the bridge: person, place, organization, work or other.
- ``pronoun`` of the bridge: he, she, it or they.
- ``subject``: what the question starts from, as the earlier passage names it.
- ``cb_27b_correct``: whether the 27B reference answers the question closed-book, true or false.
- ``relation``: what leads from the subject to the bridge ("director"). Rows with one relation
  lend each other replacements and decoys.

Any other column travels to the items that are built of the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chaincheck.chains import Chain, Fact, Hop, Passage, Unusable
from chaincheck.errors import DuplicateItem, PathLike, quote
from chaincheck.items import Item, content_hash
from chaincheck.jsonl import read_objects
from chaincheck.sources.records import Record
from chaincheck.sources.relations import kind_of, slot_name

__all__ = ["COLUMNS", "Documents"]

COLUMNS = (
    "id",
    "question",
    "answer",
    "answer_aliases",
    "passages",
    "bridge",
    "bridge_aliases",
    "earlier_support",
    "later_support",
    "kind",
    "pronoun",
    "subject",
    "relation",
)
_KINDS = ("person", "place", "organization", "work", "other")
_PRONOUNS = ("he", "she", "it", "they")
# Columns of items that a row may not have: what is built of it would overwrite them.
_OURS = frozenset(Item.__struct_fields__) - {*COLUMNS, "cb_27b_correct"}


def _passages(record: Record) -> tuple[Passage, ...]:
    found = []
    for place, value in enumerate(record.rows("passages")):
        what = f"passage {place}"
        if isinstance(value, dict):
            title = value.get("title", "")
            if not isinstance(title, str):
                record.fail(f"the title of {what} should be text, not {quote(title)}")
            found.append(Passage(title, record.as_text(value.get("text"), f"the text of {what}")))
        else:
            found.append(Passage("", record.as_text(value, what)))
    if not found:
        record.fail("column passages is empty")
    return tuple(found)


def _support(record: Record, column: str, passages: tuple[Passage, ...]) -> int:
    index = record.as_index(record.get(column), f"column {column}")
    if index >= len(passages):
        record.fail(
            f"column {column}: index {index} is out of range: the row has {len(passages)} passages"
        )
    return index


def _choice(record: Record, column: str, choices: tuple[str, ...]) -> str | None:
    value = record.row.get(column)
    if value is not None and value not in choices:
        record.fail(f"column {column} should be one of {', '.join(choices)}, not {quote(value)}")
    return value


def _optional(record: Record, column: str) -> str | None:
    return None if record.row.get(column) is None else record.text(column)


class Documents:
    """Reader of a user's own rows."""

    name = "documents"

    def read(self, path: PathLike) -> Iterator[Chain | Unusable]:
        """Yield one chain a row.

        Raises:
            InvalidItem: a column is missing or holds what it may not hold.
            DuplicateItem: two rows have one id, or are equal and have none.
            InputError: the file is not such a file, or a line is broken.
        """
        seen: set[str] = set()
        for line, given in read_objects(path):
            row = given if given.get("id") is not None else {**given, "id": content_hash(given)}
            chain = self._chain(Record(row, path=path, line=line, source=self.name))
            if chain.source_id in seen:
                raise DuplicateItem(
                    "this row stands twice",
                    path=path,
                    line=line,
                    item=chain.source_id,
                    remedy="Remove one, or give each an id of its own",
                )
            seen.add(chain.source_id)
            yield chain

    @staticmethod
    def _chain(record: Record) -> Chain:
        clash = sorted(_OURS & record.row.keys())
        if clash:
            record.fail(f"column {clash[0]} has a name that items use: rename it")
        closed_book = record.row.get("cb_27b_correct")
        if closed_book is not None and not isinstance(closed_book, bool):
            record.fail(f"column cb_27b_correct should be true or false, not {quote(closed_book)}")
        passages = _passages(record)
        earlier = _support(record, "earlier_support", passages)
        later = _support(record, "later_support", passages)
        bridge, answer = record.text("bridge"), record.text("answer")
        question = record.text("question")
        aliases = record.texts(record.row.get("bridge_aliases"), "column bridge_aliases")
        subject, relation = _optional(record, "subject"), _optional(record, "relation")
        slot = slot_name(relation) if relation else None
        kind = _choice(record, "kind", _KINDS)
        pronoun = _choice(record, "pronoun", _PRONOUNS)
        facts: tuple[Fact, ...] = ()
        if slot and subject:
            facts = (
                Fact(
                    relation=slot,
                    head=subject,
                    tail=bridge,
                    tail_aliases=aliases,
                    passage=passages[earlier],
                    kind=kind or kind_of(slot),
                    pronoun=pronoun,
                    source_id=record.source_id,
                ),
            )
        extra: dict[str, Any] = {k: v for k, v in record.row.items() if k not in COLUMNS}
        return Chain(
            source="documents",
            source_id=record.source_id,
            question=question,
            passages=passages,
            earlier=Hop(
                question=question, answer=bridge, support=earlier, relation=slot, subject=subject
            ),
            later=Hop(question=question, answer=answer, support=later, subject=bridge),
            bridge=bridge,
            bridge_aliases=aliases,
            answer=answer,
            answer_aliases=record.texts(record.row.get("answer_aliases"), "column answer_aliases"),
            kind=kind or kind_of(slot),
            pronoun=pronoun,
            facts=facts,
            extra=extra,
        )
