r"""From log-probabilities to a score, or to what can be said where some were not returned.

The score is :math:`\log\sum_{t \in Y} p_t - \log\sum_{t \in N} p_t` over the tokens Y that say
yes and N that say no, at the first position of the answer. A server that returns the k most
probable tokens leaves others out. Then the score is known only within bounds:

- a token that was left out is at most as probable as the least probable one that was returned;
- all that were left out together have what remains of 1, and 0.001 for the rounding of 32 bits
  (llama.cpp's probabilities of a whole vocabulary of 49,152 were seen to sum to 1.00014);
- nothing but 0 bounds them from below.

So bounds are given, however tight, and no score. Where yes and no together are surely less
probable than a stated mass, the model was about to say something else, and nothing is judged: the
bounds then bound nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from chaincheck.judges.server_tokens import reads_as

__all__ = ["Entry", "Scored", "Side", "Tokens", "WrongLogprobs", "logsumexp", "score_of"]

_ROUNDING = 1e-3  # of a sum of probabilities that were computed in 32 bits
_SUPPRESSED = -1000.0  # a softmax over 32-bit logits gives nothing near it; servers write -9999
_NEITHER = "neither yes nor no among the returned tokens"
_BOUNDED = "score only bounded"


class WrongLogprobs(ValueError):
    """What was returned cannot be log-probabilities of the model."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A returned token.

    Attributes:
        text: its text as the server gives it.
        logprob: natural logarithm of its probability.
        token_id: its id, where the server says so.
    """

    text: str
    logprob: float
    token_id: int | None = None


@dataclass(frozen=True, slots=True)
class Side:
    """The tokens that say yes, or those that say no.

    Attributes:
        words: answer words; a token counts that reads as one of them.
        texts: exact texts; if there are any, only these count.
        ids: ids; if there are any, only these count.
        all_ids: whether ``ids`` are all that read as one of the words.
    """

    words: frozenset[str]
    texts: frozenset[str] = frozenset()
    ids: frozenset[int] = frozenset()
    all_ids: bool = False

    @property
    def size(self) -> int | None:
        """How many tokens count; None if that is not known."""
        return len(self.ids) or len(self.texts) or None

    def holds(self, entry: Entry) -> bool:
        """Tell whether a token counts.

        Raises:
            WrongLogprobs: ids are needed and the server gives none.
        """
        if self.ids and entry.token_id is not None:
            return entry.token_id in self.ids
        if self.ids and not self.all_ids:
            raise WrongLogprobs("the server returned tokens without their ids, which were named")
        if self.texts:
            return entry.text in self.texts
        return reads_as(entry.text, self.words)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens that count."""

    yes: Side
    no: Side


@dataclass(frozen=True, slots=True)
class Scored:
    """What the returned tokens say.

    Attributes:
        score: the score, if every token that counts was returned.
        bounds: else the least and the greatest that it can be, None for no limit.
        mass: summed probability of the returned tokens that count.
        missing: how many tokens that count were left out; None if that is not known.
        counted: the returned tokens that count.
        total: summed probability of all returned tokens.
        floor: logarithm of the least of these.
        flags: doubts.
    """

    score: float | None
    bounds: tuple[float | None, float | None] | None
    mass: float
    missing: int | None
    counted: tuple[Entry, ...]
    total: float
    floor: float
    flags: tuple[str, ...] = ()


def logsumexp(values: Sequence[float]) -> float:
    """Logarithm of the summed exponentials; minus infinity for none."""
    top = max(values, default=-math.inf)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))


def score_of(entries: Sequence[Entry], tokens: Tokens, *, minimum_mass: float = 0.0) -> Scored:
    """Score one answer.

    Args:
        entries: the returned tokens of the first position, each once.
        tokens: which of them count.
        minimum_mass: probability that these must have together.

    Raises:
        WrongLogprobs: the values are no log-probabilities, or no tokens were returned.
    """
    if not entries:
        raise WrongLogprobs("no tokens were returned")
    if above := [one for one in entries if one.logprob > _ROUNDING]:
        raise WrongLogprobs(
            f"the token {above[0].text!r} has the logarithm {above[0].logprob!r}, a probability "
            "above 1"
        )
    total = math.fsum(math.exp(one.logprob) for one in entries)
    if total > 1 + _ROUNDING:
        raise WrongLogprobs(f"the returned probabilities sum to {total:.4g}")
    yes = [one for one in entries if tokens.yes.holds(one)]
    no = [one for one in entries if tokens.no.holds(one)]
    counted = tuple(yes + no)
    for one in counted:
        if one.logprob < _SUPPRESSED:
            raise WrongLogprobs(
                f"the token {one.text!r} has the logarithm {one.logprob!r}: these are taken after "
                "tokens were ruled out, not the model's own"
            )
    rest = math.log(max(0.0, 1 - total) + _ROUNDING)
    floor = min(one.logprob for one in entries)
    found_yes, found_no = (logsumexp([one.logprob for one in side]) for side in (yes, no))
    lacking_yes = _lacking(tokens.yes, yes)
    lacking_no = _lacking(tokens.no, no)
    mass = math.exp(logsumexp([found_yes, found_no])) if yes or no else 0.0
    lacking = None if lacking_yes is None or lacking_no is None else lacking_yes + lacking_no
    if mass + math.exp(_most(lacking, floor, rest)) < minimum_mass:
        flag = f"refused: yes and no have less than {minimum_mass:g} of the probability together"
        return Scored(None, (None, None), mass, lacking, counted, total, floor, (flag,))
    if lacking == 0:
        return Scored(found_yes - found_no, None, mass, 0, counted, total, floor)
    most_yes = logsumexp([found_yes, _most(lacking_yes, floor, rest)])
    most_no = logsumexp([found_no, _most(lacking_no, floor, rest)])
    bounds = (
        found_yes - most_no if yes else None,
        most_yes - found_no if no else None,
    )
    flags = (_BOUNDED,) if yes or no else (_BOUNDED, _NEITHER)
    return Scored(None, bounds, mass, lacking, counted, total, floor, flags)


def _lacking(side: Side, returned: Sequence[Entry]) -> int | None:
    """Count the tokens that were left out; None if nobody knows."""
    if side.size is None:
        return None
    found = len({one.text for one in returned} if side.texts else returned)
    if found > side.size:
        raise WrongLogprobs(
            f"{found} of the returned tokens read as an answer word, and the tokenizer that was "
            f"named has only {side.size}: it is not the server's"
        )
    return side.size - found


def _most(lacking: int | None, floor: float, rest: float) -> float:
    """Bound the logarithm of the summed probability of tokens that were left out."""
    if lacking is None:
        return rest
    if lacking == 0:
        return -math.inf
    return min(rest, math.log(lacking) + floor)
