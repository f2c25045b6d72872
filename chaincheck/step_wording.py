"""What a later step's own wording gives away about its support, whatever the bridge is called.

"Why did Roncalli leave #2?" needs no city, and "who sings it with #1?" no singer: the named thing
finds the one sentence that tells.
"""

# ruff: noqa: SIM905 - a split string reads better than quoted words

from __future__ import annotations

import re

from chaincheck import gazetteer
from chaincheck.bypass import fold_tokens, holds
from chaincheck.draft import Draft, telling_words
from chaincheck.kinds import base_title
from chaincheck.name_words import FUNCTION, GENERIC, ROLES
from chaincheck.soundness import statements

__all__ = ["step_names"]

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_REFERENCE = re.compile(r"#\d+")
# Steps whose answer belongs to the pair of the bridge and the named thing: a cast has many roles.
_OF_THE_PAIR = re.compile(
    r"\b(?:play\w*|portray\w*|voic\w+|character|role|name|wife|husband|girlfriend|boyfriend"
    r"|daughter|son|father|mother|brother|sister|w[io]ns?|signed|marr\w+|rank\w*)\b"
)
# Steps that ask for one more of a list that the question gives: the list is found without #1.
_ONE_MORE = re.compile(
    r"\b(?:besides|along with|apart from|other than|in addition to|as well as)\b.*#\d"
    r"|#\d\s+and\s+\w|\w\s+and\s+#\d"
)
# Steps that ask for the bridge's mate: where there are two of them, one alone is left.
_MATE = re.compile(
    r"\b(?:besides|along with|apart from|other than|in addition to|as well as) #\d+", re.IGNORECASE
)
_MOST_OTHERS = 2
_NOT_TELLING = frozenset(
    (*FUNCTION, *GENERIC, *ROLES, *"governor arabic latin hebrew sanskrit".split())
)
_WORK = r"\b(?:song|single|album|film|movie|book|novel|poem|opera|show|series|painting)"


def _capitalized_only(text: str) -> frozenset[str]:
    """Folded words that a text writes with a capital wherever they stand."""
    upper: set[str] = set()
    lower: set[str] = set()
    for match in _WORD.finditer(text):
        (upper if match.group()[0].isupper() else lower).update(fold_tokens(match.group()))
    return frozenset(upper - lower)


def step_names(draft: Draft) -> str | None:
    """A name in the later step's wording that stands beside the answer and hardly elsewhere.

    "Why did Roncalli leave #2?" needs no city: the one sentence on Roncalli's leaving tells. A
    name that stands in both supports ties them whatever the step asks.
    Only questions that mark the bridge by "#" and a number can be read this way.
    """
    question = draft.chain.later.question
    if not _REFERENCE.search(question):
        return None
    asked = question.partition(">>")[0]
    mate = _MATE.search(asked)
    if mate:
        return mate.group()
    listed = _ONE_MORE.search(asked.casefold()) is not None
    of_the_pair = _OF_THE_PAIR.search(asked.casefold()) is not None and not listed
    passages = draft.cells["D"]
    later = passages[draft.later]
    title, *lines = statements(later)
    forms = draft.answers[0]
    page = " ".join(fold_tokens(base_title(title)))
    titled = re.search(rf"{_WORK} {re.escape(page)} ", f"{' '.join(fold_tokens(asked))} ")
    if titled and not of_the_pair:
        return base_title(title)
    beside = " ".join([title, *(line for line in lines if any(holds(line, f) for f in forms))])
    known = {word for form in forms for word in fold_tokens(form)}
    known |= telling_words(draft.bridge.name) | telling_words(draft.replacement.name)
    words = fold_tokens(_REFERENCE.sub(" ", asked))
    earlier = _capitalized_only(passages[draft.earlier])
    for at, word in enumerate(words):
        common = word in _NOT_TELLING or gazetteer.is_common(word)
        if len(word) < 3 or common or word in known or word not in _capitalized_only(later):
            continue
        if word in earlier:
            return word
        if of_the_pair:
            continue
        # "PBS" tells a sort of station, not one station.
        if not listed and re.search(rf"\b{re.escape(word.upper())}\b", later):
            continue
        phrase = _phrase(words, at, later)
        others = sum(holds(text, phrase) for n, text in enumerate(passages) if n != draft.later)
        if listed or (holds(beside, phrase) and others <= _MOST_OTHERS):
            return phrase
    return None


def _phrase(words: tuple[str, ...], at: int, text: str) -> str:
    """The longest run of words around one that stands in a text: "book of healing"."""
    first, last = at, at + 1
    while first > 0 and holds(text, " ".join(words[first - 1 : last])):
        first -= 1
    while last < len(words) and holds(text, " ".join(words[first : last + 1])):
        last += 1
    while words[first] in FUNCTION:
        first += 1
    while words[last - 1] in FUNCTION:
        last -= 1
    return " ".join(words[first:last])
