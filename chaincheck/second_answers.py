"""Other answers, and other ways to the answer, that passages beside the supports hold.

"What other movie did the star of Escape from L.A. play in?" has as many answers as passages name
films of his, and in a broken context those that were left alone still answer it. Nor may another
passage tell the later step in its own words, or a page that the question names tell the end.
"""

from __future__ import annotations

import re

from chaincheck.bypass import fold_tokens, holds, sentences, step_words
from chaincheck.draft import Draft, residue, telling_words
from chaincheck.kinds import base_title, sort_in_definition
from chaincheck.mentions import stands
from chaincheck.relation_cues import CUES

__all__ = ["end_by_name", "rivals"]

_WHICH_FILM = re.compile(
    r"\b(?:which|what)(?: other)? (?:film|movie|show|series|tv show|sitcom)\b", re.IGNORECASE
)
_SCREEN = frozenset(("film", "series"))
# Relations in which one thing often has several values.
_SEVERAL = frozenset(
    ("record label", "member of sports team", "spouse", "child", "sibling", "employer")
)
_TELLING = 2
"""So many words of a step beside its answer tell the step."""


def rivals(draft: Draft, cell: str = "D") -> dict[int, str]:
    """Passages beside the supports that answer the later step, in one way or another.

    Args:
        draft: the draft.
        cell: the cell to look at.

    Returns:
        The reasons by passage.
    """
    found: dict[int, str] = {}
    for index, text in enumerate(draft.cells[cell]):
        if index in (draft.earlier, draft.later):
            continue
        reason = _another_answer(draft, index, text) or _told(draft, index, text)
        if reason:
            found[index] = reason
    return found


def _another_answer(draft: Draft, index: int, text: str) -> str | None:
    """Why a passage gives the bridge another value of the later step, or None."""
    hop = draft.chain.later
    films = _WHICH_FILM.search(hop.question) is not None
    several = hop.relation in _SEVERAL
    if not (films or several) or not (stands(text, draft.bridge) or residue(text, draft.bridge)):
        return None
    title, _, body = text.partition("\n")
    page = base_title(title)
    if films:
        asked = holds(draft.chain.question, page)
        film = sort_in_definition(body) in _SCREEN or "film" in title or "series" in title
        return None if asked or not film else f"passage {index} is on {page!r}, another answer"
    cues = CUES.get(hop.relation or "")
    words = telling_words(draft.bridge.name)
    told = cues is not None and any(
        words & set(fold_tokens(line)) and cues.search(line) for line in sentences(body or text)
    )
    return f"passage {index} may give another {hop.relation} of the bridge" if told else None


def _told(draft: Draft, index: int, text: str) -> str | None:
    """Why a passage tells the later step in the step's own words, or None."""
    question = draft.chain.later.question
    if ">>" in question:
        return None
    known = {word for form in draft.answers[0] for word in fold_tokens(form)}
    asked = step_words(question, known | telling_words(draft.bridge.name))
    forms = draft.answers[0]
    for line in sentences(text):
        here = step_words(line, frozenset()) & asked
        if len(here) >= _TELLING and any(holds(line, form) for form in forms):
            return f"passage {index} tells {' + '.join(sorted(here))!r} beside the answer"
    return None


def _of(word: str, inner: set[str]) -> bool:
    """Whether a word is one of an inner answer's, or an adjective of it."""
    return any(word == name or (len(name) > 3 and word.startswith(name)) for name in inner)


def end_by_name(draft: Draft) -> str | None:
    """A page that the question names and that holds the final answer, or None.

    Where an inner link is broken, the end of the question may stand on a page of its own name.
    """
    chain = draft.chain
    if chain.link == chain.hops:
        return None
    here = (chain.passages[draft.earlier].whole, chain.passages[draft.later].whole)
    inner = {word for name in (*chain.joints, chain.later.answer) for word in fold_tokens(name)}
    for passage in chain.gold:
        page = base_title(passage.title)
        # "a book about growing up in #2" names "Growing Up American" where #2 is America.
        named = " ".join(word for word in fold_tokens(page) if not _of(word, inner))
        if passage.whole in here or not telling_words(named) or not holds(chain.question, named):
            continue
        if any(holds(passage.whole, form) for form in draft.answers[-1]):
            return f"the question names {page!r}, whose page holds the final answer"
    return None
