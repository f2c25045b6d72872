"""Chains: what every source yields and the triplet builder eats.

A chain is a question with its passages, the two hops of one link, the bridge entity that joins
them and the answer. A record with more than two hops yields one chain for every link that can
be broken; ``link`` says which.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

__all__ = ["Chain", "Fact", "Hop", "Passage", "Source", "Unusable"]


class Passage(msgspec.Struct, frozen=True):
    """One passage of a context.

    Attributes:
        title: the page's title; empty where the source has none.
        text: the passage itself.
    """

    title: str
    text: str

    @property
    def whole(self) -> str:
        """Title and text as one string: what a judge reads and what an item holds."""
        return f"{self.title}\n{self.text}" if self.title else self.text


class Hop(msgspec.Struct, frozen=True, kw_only=True):
    """One step of a chain.

    Attributes:
        question: the step's question, or its relation, as the source words it.
        relation: the relation slot, normalised so that two records with the same slot can lend
            each other entities ("director", "place of birth"); None where it is free text.
        subject: what the step asks about; None where the source does not say. For a later hop
            this is the bridge.
        answer: the step's answer.
        support: index of the supporting passage.
    """

    question: str
    answer: str
    support: int
    relation: str | None = None
    subject: str | None = None


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that states one relation about one head: material for decoys and replacements.

    Attributes:
        relation: the relation slot.
        head: the entity the passage is about.
        tail: what the relation leads to (the bridge b' of a decoy).
        tail_aliases: other names of the tail.
        passage: the passage that states it.
        kind: kind of the tail ("person", "place", "organization", "work", ...), None if unknown.
        pronoun: "he", "she", "it" or "they" for the tail, None if unknown.
        source_id: the record that it comes from.
    """

    relation: str
    head: str
    tail: str
    passage: Passage
    source_id: str
    tail_aliases: tuple[str, ...] = ()
    kind: str | None = None
    pronoun: str | None = None


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """A question, its passages and one breakable link.

    Attributes:
        source: the source's name ("musique", "twowiki", "hotpot", "documents", "facts", ...).
        source_id: the record's own id.
        question: the question.
        passages: the context, in the source's order.
        earlier: the hop that leads to the bridge.
        later: the hop that starts at the bridge. Its answer is the chain's answer for two-hop
            questions and for the last link; for an inner link it is the next bridge.
        bridge: the entity that joins the hops (the earlier hop's answer).
        bridge_aliases: other names of the bridge that the source gives.
        answer: the final answer of the question.
        answer_aliases: other wordings of the final answer.
        link: number of the later hop, from 2.
        hops: how many hops the question has.
        kind: kind of the bridge, where the source says it.
        pronoun: pronoun of the bridge, where the source says it.
        decoys: facts of the earlier relation about other heads that the source offers as decoys.
        facts: every single fact this record states, for the pools of the whole source.
        broken_contexts: whole contexts of the same question in which the later hop's support is
            missing (MuSiQue-Full's unanswerable versions), for cell C.
        gold: the passages that the hops of the question rest on, all of them, where it has more
            hops than the two; none of them may be missing from a cell. The two supports count
            whether they are named here or not.
        joints: every entity that joins two hops of the question, where it has more than two.
        beside: answers of further hops, beside the bridge, that the later hop's question builds on.
        rejoined: answers of hops off the broken branch that a hop after the later one builds on as
            well as on the later one's: another way to the final answer.
        extra: further columns of a user's row; they travel to every item of the triplet.
    """

    source: str
    source_id: str
    question: str
    passages: tuple[Passage, ...]
    earlier: Hop
    later: Hop
    bridge: str
    answer: str
    bridge_aliases: tuple[str, ...] = ()
    answer_aliases: tuple[str, ...] = ()
    link: int = 2
    hops: int = 2
    kind: str | None = None
    pronoun: str | None = None
    decoys: tuple[Fact, ...] = ()
    facts: tuple[Fact, ...] = ()
    broken_contexts: tuple[tuple[Passage, ...], ...] = ()
    gold: tuple[Passage, ...] = ()
    joints: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    rejoined: tuple[str, ...] = ()
    extra: dict[str, object] = {}


class Unusable(msgspec.Struct, frozen=True):
    """A well-formed record that yields no chain; counted, with its reason, never dropped.

    Attributes:
        source_id: the record's own id.
        line: 1-based line or record number.
        code: short stable name of the reason ("comparison-question", "unanswerable", ...).
        reason: one sentence.
        facts: the single facts that the record states all the same, for the pools.
    """

    source_id: str
    line: int
    code: str
    reason: str
    facts: tuple[Fact, ...] = ()


class Source(Protocol):
    """A reader of one data set's own layout."""

    name: str

    def read(self, path: Any) -> Iterator[Chain | Unusable]:
        """Yield the chains of a file, and each record that gives none with its reason.

        Args:
            path: the file; None for a source that comes with the package.

        Raises:
            InputError: the file is not in this source's layout, or a line is broken.
        """
        ...
