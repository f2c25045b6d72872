"""Whether the supports state the chain.

The source vouches for a chain by pointing at two passages. Where the passages were matched to
facts by machine, a passage may name both ends of a relation without stating it: a cast list in
which a husband and his wife stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from chaincheck.bypass import fold_tokens, holds, sentences
from chaincheck.chains import Chain, Fact, Hop
from chaincheck.draft import Draft, telling_words
from chaincheck.kinds import base_title
from chaincheck.relation_cues import CUES, INSIDE, LIFE, OF_ONE, PLAYED, WORDINGS
from chaincheck.sources.relations import slot_name

__all__ = [
    "another_unstated",
    "decoy_unstated",
    "earlier_unstated",
    "later_unstated",
    "statements",
    "unstated",
]

_ABBREVIATED = re.compile(
    r"(?:\b[A-Z]|\b(?:St|Ste|Mr|Mrs|Ms|Dr|Jr|Sr|Prof|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|Mt|Ft"
    r"|No|Nos|vs|ca|approx|U\.S|U\.K|D\.C|Inc|Ltd|Co|Corp|Bros|al|b|d|c|r|fl))\.[\"'”’)]*$"
)


@lru_cache(maxsize=8192)
def statements(text: str) -> tuple[str, ...]:
    """The sentences of a text; an initial or an abbreviation ends none."""
    found: list[str] = []
    for line in text.splitlines():
        open_ended = False
        for part in sentences(line):
            if open_ended:
                found[-1] = f"{found[-1]} {part}"
            else:
                found.append(part)
            open_ended = _ABBREVIATED.search(part) is not None
    return tuple(found)


def _forms(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name and fold_tokens(name)))


def _about(page: str, forms: Iterable[str]) -> bool:
    """Whether a page's title names one of the forms, or a telling part of it alone."""
    words = telling_words(page)
    return any(holds(page, form) or (words and words <= set(fold_tokens(form))) for form in forms)


def _without(text: str, forms: Iterable[str]) -> str:
    """The text without the names themselves: "Slade School" states no schooling."""
    for form in sorted(forms, key=len, reverse=True):
        text = re.sub(re.escape(form), " ", text, flags=re.IGNORECASE)
    return text


_PARENTHESES = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
# Between the halves of a life; a lost dash leaves "1908San Diego".
_DASH = re.compile(r"\s+-\s+|[–—]|\s-(?=\d)|(?<=\d)-(?=\d)|(?<=\d{4})(?=[A-Z])")


def _in_life(sentence: str, value: Iterable[str], *, second: bool) -> bool:
    """Whether a half of "(1906, Graz - 1994, Paris)" holds the value."""
    for match in _PARENTHESES.finditer(sentence):
        halves = _DASH.split(match[1])
        if len(halves) < 2:
            continue
        half = halves[-1] if second else halves[0]
        if any(holds(half, form) for form in value):
            return True
    return False


_NEAR = 4
# A country is told of whatever stands before it: "an island in X, Y District, southern Laos".
_FAR = 14
_INSIDE = re.compile(r"[,(]|\b(?:in|of|within|at|near|on)\b")


def _gaps(sentence: str, first: Iterable[str], second: Iterable[str]) -> Iterator[str]:
    """What stands between a name and the next place of another, folded."""
    folded = sentence.casefold()
    for one in first:
        for match in re.finditer(re.escape(one.casefold()), folded):
            rest = folded[match.end() :]
            for other in second:
                at = rest.find(other.casefold())
                if at > 0:
                    yield rest[:at]


def _inside(sentence: str, entity: Iterable[str], value: Iterable[str], most: int) -> bool:
    """Whether a sentence writes "Notus, Canyon County" or "Notus, a village in Canyon County"."""
    return any(
        _INSIDE.search(gap) and len(gap.split()) <= most for gap in _gaps(sentence, entity, value)
    )


# Words after a name that begin to tell of somebody else, the page's own subject.
_ELSEWHERE = re.compile(r"\b(?:and (?:is|was|has|had)|s?he|they|it)\b|;")
_OTHERS = re.compile(r"\b(?:graduates|alumn\w+|students)\b", re.IGNORECASE)


def _of_entity(sentence: str, entity: Iterable[str], value: Iterable[str]) -> bool:
    """Whether a sentence on another page tells the value of the entity, not of that page."""
    if _OTHERS.search(sentence):
        return True
    return any(not _ELSEWHERE.search(gap) for gap in _gaps(sentence, entity, value))


_PRONOUN = re.compile(r"(?:S?he|They|It|His|Her|Their|Its)\b")


def _following(lines: Sequence[str], entity: Iterable[str]) -> set[str]:
    """Sentences that go on about the entity with a pronoun: "Ada Ek was a golfer. She was ..."."""
    found: set[str] = set()
    speaks = False
    for line in lines:
        pronoun = _PRONOUN.match(line) is not None
        if speaks and pronoun:
            found.add(line)
        speaks = any(line.startswith(form) for form in entity) or (speaks and pronoun)
    return found


def _relation(hop: Hop) -> str | None:
    if hop.relation:
        return hop.relation
    _, marked, relation = hop.question.partition(">>")
    return slot_name(relation) if marked else None


def unstated(hop: Hop, title: str, text: str, entity: Iterable[str], value: Iterable[str]) -> bool:
    """Whether a passage merely names both ends of a hop and never says how they are related.

    Args:
        hop: the hop.
        title: the passage's title.
        text: the passage, with its title or without.
        entity: names of what the hop is asked of.
        value: wordings of the hop's answer.

    Returns:
        True where no sentence with the value states the relation. False also where the value does
        not stand there at all, which is no question of wording.
    """
    entity, value = _forms(entity), _forms(value)
    relation = _relation(hop)
    page = base_title(title)
    lines = statements(text)
    if not any(holds(text, form) for form in value):
        return False
    if relation in INSIDE:
        most = _FAR if relation == "country" else _NEAR
        return not (
            not entity
            or _about(page, entity)
            or _about(page, value)
            or any(_inside(line, entity, value, most) for line in lines)
        )
    cues = CUES.get(relation) if relation else None
    if relation is None:
        cues = next((cues for asked, cues in WORDINGS if asked.search(hop.question)), None)
    if cues is None:
        return False
    told = [line for line in lines if any(holds(line, form) for form in value)]
    if _about(page, value):
        told += [line for line in lines if any(holds(line, form) for form in entity)]
    life = LIFE.get(relation) if relation else None
    own = not entity or _about(page, entity)
    if relation in OF_ONE and not own:
        follow = _following(lines, entity)
        told = [line for line in told if line in follow or _of_entity(line, entity, value)]
    named = (*entity, *value)
    if told and own and cues.search(_without(page, named)):
        return False
    return not any(
        cues.search(_without(line, named))
        or (relation in PLAYED and any(f"({form}" in line for form in value))
        or (life is not None and _in_life(line, value, second=life))
        for line in told
    )


_PLAYED_ASKED = re.compile(
    r"\bwho (?:play(?:s|ed)|portray(?:s|ed)|voice[sd])\b|\b(?:played|portrayed|voiced) by\b"
    r"|\b(?:play|portray|voice)\b.*\b(?:in|on)\b",
    re.IGNORECASE,
)
_PLAYING_WORDS = frozenset(
    {
        *("play", "plays", "played", "portray", "portrays", "portrayed"),
        *("voice", "voices", "voiced", "character", "role", "part", "actor", "actress"),
        *("person", "film", "movie", "show", "series", "who", "what", "which", "does", "did"),
    }
)


def _role_apart(
    hop: Hop, title: str, text: str, entity: Sequence[str], value: Sequence[str]
) -> bool:
    """Whether a step asks who played a role, and no sentence names role and player together.

    "It tells of Eliza Doolittle. It starred Rex Harrison and Julie Andrews" does not say who
    played her.
    """
    relation = _relation(hop)
    if not (relation is None or relation in PLAYED) or not _PLAYED_ASKED.search(hop.question):
        return False
    page = base_title(title)
    if _about(page, value):
        return False  # a sentence on its subject need not name it
    here = () if _about(page, entity) else entity
    named = (hop.subject or "", *entity, *value)
    known = {word for form in named for word in fold_tokens(form)}
    role = telling_words(hop.question) - known - _PLAYING_WORDS
    together = [line for line in statements(text) if any(holds(line, form) for form in value)]
    return bool(role) and not any(
        role & set(fold_tokens(line)) or any(holds(line, form) for form in here)
        for line in together
    )


_TWICE = re.compile(
    r"\b(?:later|then|again|re)[ -]?marri|\bmarried again\b"
    r"|\b(?:first|second|third|former|ex)[ -](?:wife|husband|spouse|marriage)\b"
    r"|\bmarri(?:ed|ages?)\b[^.;]{0,120}(?:\d{4}|divorc)[^;]{0,120}\bmarri(?:ed|ages?)\b",
    re.IGNORECASE,
)


def _several_spouses(hop: Hop, text: str) -> bool:
    """Whether a step asks for the spouse of somebody who, by the passage, married twice."""
    return _relation(hop) == "spouse" and _TWICE.search(text) is not None


def _worded(hop: Hop) -> str:
    return repr(_relation(hop) or hop.question)


def earlier_unstated(draft: Draft) -> str | None:
    """Why the earlier support does not lead from its subject to the bridge, or None."""
    chain = draft.chain
    hop, passage = chain.earlier, chain.passages[chain.earlier.support]
    names = (draft.bridge.name, chain.bridge, *draft.bridge.aliases)
    if unstated(hop, passage.title, passage.whole, _forms((hop.subject,)), names):
        return f"the earlier support names the bridge and does not state {_worded(hop)}"
    if _role_apart(hop, passage.title, passage.whole, _forms((hop.subject,)), _forms(names)):
        return f"the earlier support does not say who played whom: {_worded(hop)}"
    return None


def decoy_unstated(fact: Fact) -> bool:
    """Whether a decoy's passage names its head and its tail and never says how they are related."""
    hop = Hop(
        question=f"{fact.head} >> {fact.relation}",
        answer=fact.tail,
        support=0,
        relation=fact.relation,
        subject=fact.head,
    )
    passage, tail = fact.passage, (fact.tail, *fact.tail_aliases)
    return unstated(hop, passage.title, passage.whole, (fact.head,), tail)


def later_unstated(draft: Draft) -> str | None:
    """Why the later support does not lead from the bridge to the answer, or None."""
    chain = draft.chain
    hop, passage = chain.later, chain.passages[chain.later.support]
    names = (draft.bridge.name, chain.bridge, *draft.bridge.aliases)
    if not any(holds(passage.whole, name) for name in names):
        return None  # that is the business of another rule
    if unstated(hop, passage.title, passage.whole, names, draft.answers[0]):
        return f"the later support names the answer and does not state {_worded(hop)}"
    answers = _forms(draft.answers[0])
    if _role_apart(hop, passage.title, passage.whole, _forms(names), answers):
        return f"the later support does not say who played whom: {_worded(hop)}"
    if _several_spouses(hop, passage.whole):
        return "the later support tells of more than one marriage"
    return None


def another_unstated(chain: Chain) -> str | None:
    """Why the question has no answer, whichever link is broken: a hop that no passage states."""
    for fact in chain.facts if chain.hops > 2 else ():
        hop = Hop(question="", answer=fact.tail, support=0, relation=fact.relation)
        tail = (fact.tail, *fact.tail_aliases)
        if unstated(hop, fact.passage.title, fact.passage.whole, (fact.head,), tail):
            return f"no support states the {fact.relation} of {fact.head!r}"
    return None
