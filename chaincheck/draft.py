"""A triplet before it is written: what the rules of the validator judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from chaincheck.bypass import (
    Subject,
    answer_forms,
    answer_traces,
    distinctive,
    fold_tokens,
    subject_of,
)
from chaincheck.chains import Chain, Fact
from chaincheck.items import Edit
from chaincheck.kinds import Nature, base_title
from chaincheck.mentions import Entity
from chaincheck.mentions import residue as find_residue
from chaincheck.name_words import GENERIC, ROMAN

__all__ = ["Decoy", "Draft", "residue", "telling_words"]

_PERSON_RELATIONS = frozenset(
    ("father", "mother", "spouse", "child", "sibling", "director", "author", "composer")
)


def telling_words(name: str) -> frozenset[str]:
    """The folded words of a name that point at its bearer and not at its kind or number."""
    return frozenset(word for word in distinctive(name) if word not in GENERIC | ROMAN)


@dataclass(frozen=True)
class Decoy:
    """The dead end of a decoy triplet.

    Attributes:
        index: where its passage stands in the context.
        fact: what the passage states; its tail is the replacement.
        placed: whether the passage was put in the place of a distractor.
        tied: whether the surface counts of both names tie in the edited cells.
    """

    index: int
    fact: Fact
    placed: bool
    tied: bool


@dataclass(frozen=True)
class Draft:
    """A triplet before it is written.

    Attributes:
        chain: what it was made of.
        variant: "real", "fict" or "decoy".
        bridge, replacement: the two names.
        bridge_nature, replacement_nature: what they name.
        cells: passages of "A", "B", "D" and, where asked for, "C"; all of one length but "C".
        edits: renamed spans of "B" and "D", in offsets of "A".
        decoy: the dead end of a decoy triplet, else None.
        strict: whether the rules also look for what the nine of the design leave open: a source
            whose supports do not state the chain, and ways around the bridge.
    """

    chain: Chain
    variant: str
    bridge: Entity
    replacement: Entity
    bridge_nature: Nature
    replacement_nature: Nature
    cells: Mapping[str, tuple[str, ...]]
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    decoy: Decoy | None = None
    strict: bool = True

    @property
    def earlier(self) -> int:
        """Index of the earlier support."""
        return self.chain.earlier.support

    @property
    def later(self) -> int:
        """Index of the later support."""
        return self.chain.later.support

    @cached_property
    def subject(self) -> Subject:
        """How the earlier hop's subject may be named."""
        passage = self.chain.passages[self.earlier]
        return subject_of(
            subject=self.chain.earlier.subject,
            question=self.chain.earlier.question,
            relation=self.chain.earlier.relation,
            support_title=base_title(passage.title),
            support=passage.whole,
            bridge=self.bridge.name,
        )

    @cached_property
    def answers(self) -> tuple[tuple[str, ...], ...]:
        """Forms of the later hop's answer and, where it differs, of the final answer."""
        chain = self.chain
        final = (chain.answer, *chain.answer_aliases)
        inner = chain.later.answer
        if any(fold_tokens(inner) == fold_tokens(form) for form in final):
            return (answer_forms(inner, final),)
        if chain.link == chain.hops:
            return (answer_forms(inner, final),)
        return (answer_forms(inner), answer_forms(chain.answer, chain.answer_aliases))

    @cached_property
    def traces(self) -> tuple[str, ...]:
        """Whatever may give the later hop's answer or the final answer away."""
        person = self.chain.later.question.casefold().startswith("who") or (
            self.chain.later.relation in _PERSON_RELATIONS
        )
        return tuple(
            dict.fromkeys(
                trace
                for forms in self.answers
                for trace in answer_traces(forms[0], forms[1:], person=person)
            )
        )


@lru_cache(maxsize=8192)
def residue(text: str, entity: Entity) -> tuple[tuple[int, int, str], ...]:
    """:func:`chaincheck.mentions.residue`, remembered: several rules ask the same of a passage."""
    return tuple(find_residue(text, entity))
