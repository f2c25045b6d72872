"""Auditing a judge that gives nothing but scores: each hop is asked as a question of its own.

From an item come two more, with the same passages: the question of hop 1, and that of hop 2 with
the name that the passages give for hop 1 (the replacement in cell B, else the bridge). A judge
scores them like any other item. A score above a threshold is taken as the claim that the passages
answer the question. In D hop 2 then asks about the bridge, of which the renamed passage says
nothing, and whoever claims it all the same over-claims.

The steps are told by the source that the triplets were built from (MuSiQue, 2WikiMultiHopQA and
the book's own facts keep them), or by a column ``hop_questions`` of the items: two texts, of
which the second holds ``{bridge}`` where the name goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from chaincheck.adherence.construction import gold_of, hop_name, known_of
from chaincheck.chains import Chain, Hop, Unusable
from chaincheck.errors import InvalidItem, UsageError, quote
from chaincheck.items import Item

__all__ = ["COLUMN", "Steps", "ask_hops", "hop_id", "steps_of", "wording"]

COLUMN = "hop_questions"
_BRIDGE = "{bridge}"
_REFERENCE = re.compile(r"#\d+")
_MARKED = re.compile(r"(?P<subject>.+?)\s*>>\s*(?P<relation>.+)", re.DOTALL)
_Key = tuple[str | None, str | None, int | None]

Steps = Mapping[_Key, tuple[str, str]]
"""For (source, source_id, link) the two questions, the second with ``{bridge}`` in it."""


def hop_id(item_id: str, hop: int) -> str:
    """The id of the item that asks about one hop of another."""
    return f"{item_id}/hop{hop}"


def wording(step: str) -> str:
    """Word a step as a question.

    Examples:
        ``Rubber Soul >> performer`` becomes "What is the performer of Rubber Soul?"; a step that
        is a question already stays as it is.
    """
    text = " ".join(step.split())
    marked = _MARKED.fullmatch(text)
    if marked:
        return f"What is the {marked['relation']} of {marked['subject']}?"
    return text if text.endswith("?") else f"{text}?"


def _two_steps(chain: Chain) -> tuple[str, str] | None:
    earlier, later = chain.earlier, chain.later
    if not _asks_for_itself(earlier, chain.question) or chain.hops != 2:
        return None
    second = wording(_REFERENCE.sub(lambda _: _BRIDGE, later.question))
    return (wording(earlier.question), second) if _BRIDGE in second else None


def _asks_for_itself(hop: Hop, question: str) -> bool:
    """Whether a hop has words of its own: some sources give the whole question for each."""
    return hop.question != question and not _REFERENCE.search(hop.question)


def steps_of(records: Iterable[Chain | Unusable]) -> Steps:
    """Read the steps of every chain of two hops whose source words them.

    Args:
        records: what a source yields, as it was when the triplets were built.
    """
    found: dict[_Key, tuple[str, str]] = {}
    for record in records:
        if isinstance(record, Chain):
            questions = _two_steps(record)
            if questions is not None:
                found[record.source, record.source_id, record.link] = questions
    return found


def ask_hops(items: Iterable[Item], steps: Steps | None = None) -> Iterator[Item]:
    """Yield for each item two that ask about its hops.

    Each is the item but for its ids, its question and what is known of the hop, so that a file
    of them can be scored like any other.

    Args:
        items: the cells of triplets.
        steps: the questions; an item's own column ``hop_questions`` goes before them.

    Raises:
        UsageError: nothing says how an item's hops are asked.
        InvalidItem: a malformed column ``hop_questions``.
    """
    for item in items:
        first, second = _questions(item, steps or {})
        name = hop_name(item)
        if name is None:
            raise UsageError(
                f"item {quote(item.item_id)} has no "
                f"{'replacement' if item.cell == 'B' else 'bridge'}, so its second hop cannot be "
                "asked",
                remedy="Add the column",
            )
        yield _asked(item, 1, first, name)
        yield _asked(item, 2, second.replace(_BRIDGE, name), item.answer)


def _asked(item: Item, hop: int, question: str, answer: str | None) -> Item:
    holds = known_of(item, 1 if hop == 1 else 2).holds
    extra = {key: value for key, value in item.extra.items() if key != COLUMN}
    return msgspec.structs.replace(
        item,
        item_id=hop_id(item.item_id, hop),
        pair_id=hop_id(item.pair_id, hop),
        query=question,
        answer=answer,
        label_sufficient=holds,
        cb_27b_correct=None,
        extra={**extra, "asks_about": item.item_id, "hop": hop, "sufficient": gold_of(item)},
    )


def _questions(item: Item, steps: Steps) -> tuple[str, str]:
    given = item.extra.get(COLUMN)
    if given is None:
        key = (item.source, item.source_id, item.link)
        if key not in steps:
            raise UsageError(
                f"nothing says how the hops of item {quote(item.item_id)} are asked",
                remedy="Name the source that its triplet was built from, with --source and its "
                f"file, or give the items a column {COLUMN}: two texts, the second with "
                f"{_BRIDGE} in it",
            )
        return steps[key]
    return _own_questions(item, given)


def _own_questions(item: Item, given: object) -> tuple[str, str]:
    texts = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    problem = None
    if len(texts) != 2 or texts != given or not all(text.strip() for text in texts):
        problem = f"should be two texts, not {quote(given)}"
    elif _BRIDGE in texts[0] or _BRIDGE not in texts[1]:
        problem = f"should hold {_BRIDGE} in the second text, and not in the first"
    if problem is not None:
        raise InvalidItem(
            f"column {COLUMN} {problem}",
            path="the items",
            item=item.item_id,
            remedy=f"Give the question of each hop, with {_BRIDGE} where the name goes that hop 1 "
            "leads to",
        )
    return texts[0], texts[1]
