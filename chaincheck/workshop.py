"""One chain on the bench: a draft of each variant, or the reasons why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TypedDict

import numpy as np

from chaincheck.bypass import fold_tokens
from chaincheck.chains import Chain
from chaincheck.distractors import SHARE_LEFT_OUT, only, protected, seat, without_doubtful
from chaincheck.drafting import PLACEHOLDER, Reasons, attempt
from chaincheck.invented import TakenNames
from chaincheck.items import content_hash
from chaincheck.kinds import Nature
from chaincheck.mentions import AmbiguousMention, find_all, stands
from chaincheck.names import core
from chaincheck.pools import Pools
from chaincheck.replacements import (
    context_words,
    decoy_facts,
    invented_name,
    real_candidates,
)
from chaincheck.surfaces import entity_of
from chaincheck.validator import Decoy, Draft, residue

__all__ = ["Made", "Workshop", "generator"]

_MOST_TRIES = 6
_MOST_DECOYS = 40
# Rules on the question and the supports, which no choice of a decoy can mend.
_OF_SUPPORTS = ("Q1", "Q2", "Q3", "Q4", "Q5")


def generator(seed: int, *parts: object) -> np.random.Generator:
    """A generator that depends on the seed and on some JSON-like values, and on nothing else."""
    digest = content_hash([seed, *parts], length=16)
    return np.random.default_rng([seed % 2**32, int(digest, 16)])


@dataclass(frozen=True)
class Made:
    """What came of one chain in one variant.

    Attributes:
        variant: the variant.
        draft: a sound draft, or None.
        reasons: the rules that failed, where there is no draft.
        left_out: how many distractors the context lost.
    """

    variant: str
    draft: Draft | None
    reasons: Reasons
    left_out: int = 0


class _How(TypedDict):
    """What every attempt of one chain shares, see ``attempt``."""

    plain: frozenset[str]
    strict: bool


class Workshop:
    """One chain on the bench: its bridge, its words, its generators.

    Args:
        chain: the chain.
        pools: pools of the whole input.
        seed: seed of the build.
        keep_all: never leave a distractor out.
        strict: see ``Draft``.
    """

    def __init__(
        self, chain: Chain, pools: Pools, seed: int, *, keep_all: bool, strict: bool
    ) -> None:
        self.pools = pools
        self.key = [chain.source, chain.source_id, chain.link, chain.question, chain.bridge]
        self.seed = seed
        name = core(chain.bridge)
        self.nature = pools.bridge_nature(chain, name)
        self.name = core(chain.bridge, self.nature.kind) or name
        self.entity = entity_of(self.name, self.nature, chain.bridge_aliases)
        self.bridge = (self.entity, self.nature)
        self.left_out = 0
        self.keep_all = keep_all
        self._how: _How = {"plain": frozenset(), "strict": strict}
        if not keep_all:
            chain, self.left_out = without_doubtful(chain, self.bridge)
        self.chain = chain
        self.texts = [passage.whole for passage in chain.passages]
        self._how["plain"] = self._plain()
        self.words = context_words([*self.texts, chain.question, chain.answer])
        self._invented: Made | None = None

    def _plain(self) -> frozenset[str]:
        """Passages that hold no word of the bridge's name and nothing that may name it.

        Only where the whole context is free of doubt: then what is left out here cannot change
        how the rest is read.
        """
        try:
            found = find_all(self.texts, self.entity)
        except AmbiguousMention:
            return frozenset()
        names = (self.name, *self.entity.aliases)
        parts = {word for name in names for word in fold_tokens(name)}
        supports = (self.chain.earlier.support, self.chain.later.support)
        return frozenset(
            text
            for index, (text, mentions) in enumerate(zip(self.texts, found, strict=True))
            if index not in supports
            and not mentions
            and not parts & set(fold_tokens(text))
            and not residue(text, self.entity)
        )

    def _rng(self, variant: str) -> np.random.Generator:
        return generator(self.seed, variant, *self.key)

    def make(self, variant: str) -> Made:
        """Make a draft of a variant.

        What is wrong whatever the replacement is shows in the attempt with an invented name, so
        that comes first. Only for a decoy a distractor at fault may give way to the decoy.
        """
        if self._invented is None:
            self._invented = self._fict()
        general = [reason for reason in self._invented.reasons if reason[0] != "Q8"]
        if variant == "fict":
            return self._invented
        if variant == "decoy" and not (general and general[0][0] in _OF_SUPPORTS):
            made = self._decoy()
            earlier = made.draft is None and general and general[0][0] < made.reasons[0][0]
            return replace(made, reasons=general) if earlier else made
        return Made(variant, None, general) if general else self._real()

    def _fict(self) -> Made:
        rng = self._rng("fict")
        taken = TakenNames([*self.texts, self.chain.question, self.chain.answer])
        known = self.nature.kind is not None
        # Without a kind no triplet can come of it, but the other rules may have more to say.
        nature = self.nature if known else Nature("other")
        reasons: Reasons = [("Q8", "no free name could be invented")]
        for _ in range(_MOST_TRIES if known else 1):
            name = invented_name(self.name, nature, rng, taken) or PLACEHOLDER
            replacement = (entity_of(name, self.nature), self.nature)
            draft, reasons = attempt(self.chain, "fict", self.bridge, replacement, **self._how)
            if draft and name != PLACEHOLDER:
                return Made("fict", draft, [], self.left_out)
            if any(rule != "Q8" for rule, _ in reasons):
                break
        return Made("fict", None, reasons)

    def _real(self) -> Made:
        reasons: Reasons = [("Q8", _no_candidate(self.nature))]
        candidates = real_candidates(
            self.chain, (self.name, self.nature), self.pools, self._rng("real"), self.words
        )
        for candidate in islice(candidates, _MOST_TRIES):
            replacement = (entity_of(candidate.name, candidate.nature), candidate.nature)
            draft, reasons = attempt(self.chain, "real", self.bridge, replacement, **self._how)
            if draft:
                return Made("real", draft, [], self.left_out)
        return Made("real", None, reasons)

    def _decoy(self) -> Made:
        safe = protected(self.chain)
        holding = [
            index
            for index, text in enumerate(self.texts)
            if index not in safe and (residue(text, self.entity) or stands(text, self.entity))
        ]
        room = 0 if self.keep_all else (len(self.texts) - len(safe)) // SHARE_LEFT_OUT
        if len(holding) > 1 + room:
            return self._no_decoy(f"the bridge stands in {len(holding)} other passages")
        rng = self._rng("decoy")
        free = holding or [index for index in range(len(self.texts)) if index not in safe]
        if not free:
            return self._no_decoy("no distractor leaves room for a decoy")
        place = free[int(rng.integers(len(free)))]
        surplus = [index for index in holding if index != place]
        stay = [index for index in range(len(self.texts)) if index not in surplus]
        context = only(self.chain, stay) if surplus else self.chain
        staying = [text for index, text in enumerate(self.texts) if index not in {*holding, place}]
        words = context_words([*staying, self.chain.question, self.chain.answer])
        made = self._no_decoy("no passage of the input states the relation of another head")
        offers = decoy_facts(self.chain, (self.name, self.nature), self.pools, rng, words)
        for fact, candidate, tied in islice(offers, _MOST_DECOYS):
            chain, index, placed = seat(context, fact, stay.index(place), must=bool(holding))
            if index is None:
                continue
            entity = entity_of(candidate.name, candidate.nature, fact.tail_aliases)
            decoy = Decoy(index=index, fact=fact, placed=placed, tied=tied)
            draft, reasons = attempt(
                chain,
                "decoy",
                self.bridge,
                (entity, candidate.nature),
                decoy=decoy,
                **self._how,
            )
            if draft:
                return Made("decoy", draft, [], self.left_out + len(surplus))
            made = Made("decoy", None, reasons)
        return made

    @staticmethod
    def _no_decoy(reason: str) -> Made:
        return Made("decoy", None, [("Q8", reason)])


def _no_candidate(nature: Nature) -> str:
    if nature.kind is None:
        return "the kind of the bridge is unknown"
    return "no other bridge of the same slot, kind, pronoun and shape is fresh here"
