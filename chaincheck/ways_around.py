"""Ways around the bridge that the supports themselves leave open.

The later hop may ask about more than the bridge, and what else it asks may find the later support
all the same; or both supports may share a third name that ties them together as the bridge does.
"""

# ruff: noqa: SIM905 - a split string reads better than dozens of quoted words

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from chaincheck import gazetteer, gender
from chaincheck.bypass import FAMILY, fold_tokens, holds, holds_name, sentences
from chaincheck.draft import Draft, residue, telling_words
from chaincheck.kinds import kind_of, sort_in_name
from chaincheck.name_words import FUNCTION, GENERIC, HONORIFICS, MONTHS, REGIONS, ROMAN

__all__ = ["named_beside", "other_ways", "shared_name"]


def _named(name: str, text: str) -> bool:
    """Whether a text names an answer: by its name, its first part or a country's adjective."""
    folded = " ".join(word for word in fold_tokens(name) if word != "the")
    forms = (name, folded, name.split(",", maxsplit=1)[0], gazetteer.demonym(folded) or "")
    return any(form and holds(text, form) for form in forms)


def named_beside(draft: Draft) -> str | None:
    """Why what else the later step builds on leads to its support without the bridge, or None.

    "Where does San Diego rank among the urban areas of California?" leans on two answers. Where
    one link is broken, the other still finds the passage, and the answer in it.
    """
    text = draft.cells["D"][draft.later]
    for name in draft.chain.beside:
        if _named(name, text):
            return f"the later step also builds on {name!r}, which its support names"
    return None


_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_PLACED = re.compile(
    r"\b(?:in|at|near|around|outside|to|toward|of|between)\s+(?:the\s+)?$", re.IGNORECASE
)
_QUALIFIED = re.compile(r",\s+(?:[A-Z][\w-]*\.?\s?){1,3}")


@lru_cache(maxsize=4096)
def _runs(text: str) -> tuple[tuple[tuple[str, ...], bool, bool], ...]:
    """Capitalized words in a row, folded; whether each run opens a sentence, and is a place."""
    found: list[tuple[tuple[str, ...], bool, bool]] = []
    words: list[str] = []
    start = end = 0

    def close() -> None:
        if words:
            before, after = text[:start].rstrip(" \"“‘'("), text[end:]
            opens = not before or before[-1] in ".!?\n:"
            lead = text[max(0, start - 16) : start]
            if opens and len(words) > 1 and words[0].casefold() in FUNCTION:
                lead, opens = f"{words.pop(0)} ", False  # "In Venice", "Then Verdi"
            qualified = _QUALIFIED.match(after)
            region = qualified is not None and _begins_with_region(qualified.group())
            folded = tuple(token for word in words for token in fold_tokens(word))
            found.append((folded, opens, region or _PLACED.search(lead) is not None))
        words.clear()

    for match in _WORD.finditer(text):
        if not match.group()[0].isupper():
            close()
            continue
        if (
            not words
            or text[end : match.start()] not in (" ", ". ")
            or (text[end : match.start()] == ". " and len(words[-1]) > 1)
        ):
            close()
            start = match.start()
        words.append(match.group())
        end = match.end()
    close()
    return tuple(found)


def _begins_with_region(text: str) -> bool:
    words = fold_tokens(text)
    spans = [" ".join(words[:size]) for size in (1, 2, 3)]
    return any(span in REGIONS or gazetteer.sort_of(span) for span in spans)


def _parts(text: str) -> dict[tuple[str, ...], tuple[bool, bool]]:
    """Every part of every run: whether it is a run of its own amid a sentence, and a place."""
    found: dict[tuple[str, ...], tuple[bool, bool]] = {}
    for run, opens, placed in _runs(text):
        for first in range(len(run)):
            for last in range(first + 1, len(run) + 1):
                part = run[first:last]
                alone, place = found.get(part, (False, False))
                whole = len(part) == len(run)
                found[part] = (alone or (whole and not opens), place or (whole and placed))
    return found


_DENIED = re.compile(r"\b(?:not|never|except|excluding)\b|n't\b")
_OFFICE = re.compile(
    r"((?:\b[A-Z][\w.'-]+ )+(?:[a-z]+ )?(?:governor|president|mayor|senator|minister|chancellor"
    r"|king|queen|emperor|pope|bishop|secretary|ambassador|premier|chairman|CEO|founder))[, ]+$"
)
_CENTURY = re.compile(r"(?:the )?(?P<number>\d{1,2})(?:st|nd|rd|th)(?: century)?", re.IGNORECASE)
_YEAR = re.compile(r"\b[1-9]\d{2,3}\b")
_TOWN = r"\b([A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*), "


def _denied(draft: Draft) -> str | None:
    """What is not true of the bridge is true without it: "which team does not play at #1?"."""
    if _DENIED.search(draft.chain.later.question.casefold()):
        return "the later step asks what is not so: that holds of any other name too"
    return None


def _one_office(draft: Draft) -> str | None:
    """An office that both supports put before the name: "California governor NAME"."""
    name = draft.bridge.name
    held = []
    for index in (draft.earlier, draft.later):
        text = draft.cells["A"][index]
        starts = [found.start() for found in re.finditer(re.escape(name), text)]
        told = (_OFFICE.search(text[max(0, start - 60) : start]) for start in starts)
        held.append({found.group(1) for found in told if found})
    shared = held[0] & held[1]
    return f"both supports tell of one office: {min(shared)!r}" if shared else None


# Titles so rare that two passages which give one to a name speak of one bearer.
_RANK = re.compile(
    r"\b(empress|emperor|pope|sultan|sultana|caliph|tsar|tsarina|czar|czarina|shah|pharaoh|khan"
    r"|doge|dalai lama|shogun)\b",
    re.IGNORECASE,
)
_NEAR_RANK = 140


def _one_rank(draft: Draft) -> str | None:
    """A rare title that both supports give the bridge: "NAME (later Empress)"."""
    if draft.bridge_nature.kind != "person":
        return None
    held = []
    for index in (draft.earlier, draft.later):
        text = draft.cells["A"][index]
        ranks: set[str] = set()
        for found in re.finditer(re.escape(draft.bridge.name), text):
            near = text[max(0, found.start() - _NEAR_RANK // 7) : found.end() + _NEAR_RANK]
            ranks |= {rank.casefold() for rank in _RANK.findall(near)}
        held.append(ranks)
    shared = (held[0] & held[1]) - telling_words(draft.bridge.name)
    return f"both supports call the bridge {min(shared)!r}" if shared else None


def _forebear(draft: Draft) -> str | None:
    """A relative whose name is a part of the subject's, and stands in both supports.

    The mother of "Mohammed bin Hamad bin Khalifa" is found as the wife of "Hamad bin Khalifa".
    """
    hop = draft.chain.earlier
    own = fold_tokens(hop.subject or "")
    if hop.relation not in FAMILY or len(own) < _LONG:
        return None
    later = draft.cells["D"][draft.later]
    known = telling_words(draft.bridge.name) | set(own[:1])
    for size in range(len(own) - 1, 2, -1):
        run = own[-size:]
        if not known & set(run) and holds_name(later, " ".join(run)):
            return f"both supports name {' '.join(run)!r}"
    return None


_LONG = 4


def _inside_place(draft: Draft) -> str | None:
    """A town that the earlier support puts into the bridge, and the later support names.

    "Augusta, NAME" leads to the passage on a state whose largest town by area is Augusta.
    """
    if draft.bridge_nature.kind != "place":
        return None
    earlier, later = (draft.cells["A"][index] for index in (draft.earlier, draft.later))
    for town in re.findall(_TOWN + re.escape(draft.bridge.name) + r"\b", earlier):
        if holds_name(later, town):
            return f"both supports name {town!r}, which lies in the bridge"
    return None


def _dated(draft: Draft) -> str | None:
    """A year beside the bridge that lies in the century asked for."""
    asked = _CENTURY.fullmatch(draft.answers[0][0].strip())
    if asked is None or "centur" not in f"{draft.chain.later.question} {draft.chain.question}":
        return None
    for index, text in enumerate(draft.cells["D"]):
        if index == draft.later or not (index == draft.earlier or residue(text, draft.bridge)):
            continue
        for year in _YEAR.findall(text):
            if (int(year) - 1) // 100 + 1 == int(asked["number"]):
                return f"passage {index} tells the century by the year {year}"
    return None


_WORD = re.compile(r"[\w'’-]+")
_APPOSED = re.compile(r",? (?:an?|the) ((?:[\w'’-]+ ?){1,6})")
_ALIKE = 4  # letters by which "Scot" and "Scottish", "reform" and "reformer" are one word


def _described(text: str, name: str) -> frozenset[str]:
    """Beginnings of the words that describe a name right beside it: "Scottish reformer NAME"."""
    found: set[str] = set()
    for match in re.finditer(re.escape(name), text):
        for word in reversed(_WORD.findall(re.split(r"[.,;:()\n]", text[: match.start()])[-1])):
            if word.casefold() in FUNCTION:
                break
            found.add(word)
        after = _APPOSED.match(text, match.end())
        found.update(_WORD.findall(after[1]) if after else ())
    words = {fold for word in found for fold in fold_tokens(word)} - set(fold_tokens(name))
    return frozenset(
        word[:_ALIKE] for word in words if len(word) >= _ALIKE and word not in FUNCTION
    )


def _described_alike(draft: Draft) -> str | None:
    """A description beside the bridge that the later support repeats, so that no name is needed.

    "The second wife of Scottish reformer NAME" finds "NAME, a Scot who urged to reform the Church".
    """
    if draft.bridge_nature.kind not in {"person", "organization"}:
        return None
    name = draft.bridge.name
    told = _described(draft.cells["A"][draft.earlier], name)
    for line in draft.cells["A"][draft.later].splitlines():
        for sentence in sentences(line):
            here = {word[:_ALIKE] for word in fold_tokens(sentence)}
            if holds(sentence, name) and len(told & here) > 1:
                return f"both supports describe {name!r} alike: {sorted(told & here)}"
    return None


_BRACKETED = re.compile(r"((?:[\w.'’\-–]+ ){0,6}[\w.'’\-–]+) \(([^()]*)\)")


def _event_dated(draft: Draft) -> str | None:
    """What the question names, and the later support writes the answer beside in brackets.

    "He fought in the Mexican–American War (1846–1848)" tells when that war ended, whoever fought.
    """
    asked = telling_words(draft.chain.later.question) | telling_words(draft.chain.question)
    parted = telling_words(draft.bridge.name) | telling_words(draft.replacement.name)
    for match in _BRACKETED.finditer(draft.cells["A"][draft.later]):
        if not any(holds(match[2], form) for form in draft.answers[0]):
            continue
        words: list[str] = []
        for word in reversed(match[1].split()):
            if not word[0].isupper() and word not in FUNCTION:
                break
            words.insert(0, word)
        named = telling_words(" ".join(words))
        if named and named <= asked and not named & parted:
            return f"the later support writes the answer beside {' '.join(words)!r}"
    return None


def _rejoined(draft: Draft) -> str | None:
    """Another branch of the question that leads to the final answer past the broken link."""
    finals = draft.answers[-1]
    for passage in draft.chain.gold:
        text = passage.whole
        told = any(holds(text, form) for form in finals)
        name = next((name for name in draft.chain.rejoined if told and _named(name, text)), None)
        if name:
            return f"another branch of the question leads over {name!r} to the answer"
    return None


def _shared_place(draft: Draft) -> str | None:
    """A place that both supports name, where the bridge is a place too.

    A villa in Haarlem and a province whose capital is Haarlem need no name of the province. What
    is as wide as a country or a state ties nothing together.
    """
    if draft.bridge_nature.kind != "place":
        return None
    passages = draft.cells["A"]
    one, other = _parts(passages[draft.earlier]), _parts(passages[draft.later])
    for part in sorted(one.keys() & other.keys(), key=lambda found: (-len(found), found)):
        name = " ".join(part)
        placed = one[part][1] or other[part][1]
        if placed and name not in REGIONS and _may_link(draft, part, place=True):
            return f"both supports name the place {name!r}"
    return None


def other_ways(draft: Draft) -> str | None:
    """A way that needs neither a name nor the bridge, or None.

    A step that asks what is not so, an office that both supports tell of, a town inside the
    bridge or beside it, a year that tells the century, another branch of the question.
    """
    ways = (
        *(_denied, _one_office, _one_rank, _forebear),
        *(_inside_place, _shared_place, _dated, _event_dated, _rejoined, _described_alike),
    )
    return next((found for way in ways if (found := way(draft))), None)


_NO_NAME = frozenset(
    "academy award awards prize war best first second new century grammy emmy oscar bafta golden "
    "globe world cup league championship championships olympic olympics summer winter census act "
    "north south east west northern southern eastern western english christian catholic jewish "
    "muslim latin roman god internet tv usa u.s uk".split()
)


def shared_name(draft: Draft) -> str | None:
    """A third name that stands in both supports and nowhere else, or None.

    An actress in the earlier film's cast and on the director's page ties the two together as
    well as the director's name does. Places are left out: many things lie in one place.
    """
    passages = draft.cells["A"]
    one, other = _parts(passages[draft.earlier]), _parts(passages[draft.later])
    shared = {part for part in one.keys() & other.keys() if _may_link(draft, part)}
    for part in sorted(shared, key=lambda found: (-len(found), found)):
        placed = one[part][1] or other[part][1]
        if placed and not _person(part):
            continue
        if len(part) == 1 and not _alone(part[0], one, other):
            continue
        name = " ".join(part)
        elsewhere = any(
            holds_name(text, name)
            for index, text in enumerate(passages)
            if index not in (draft.earlier, draft.later)
        )
        if not elsewhere:
            return name
    return None


def _person(part: tuple[str, ...]) -> bool:
    """Whether a name reads as a person's: "son of Richard Woodville" is no place."""
    named = gender.pronoun_of_given_name(part[0], alone=True) is not None
    return len(part) > 1 and (named or part[-1] in ROMAN)


_ADJECTIVE = re.compile(r"(?:ian|ean|ese|ish|id)$")
_Parts = Mapping[tuple[str, ...], tuple[bool, bool]]


def _alone(word: str, one: _Parts, other: _Parts) -> bool:
    """Whether one word may be somebody's or something's whole name in one of the supports.

    "David" is not, nor "Clough" where one tells of Jack Clough and the other of Brian Clough.
    """
    if gender.pronoun_of_given_name(word, alone=True) or _ADJECTIVE.search(word):
        return False
    longer = [any(word in part and len(part) > 1 for part in parts) for parts in (one, other)]
    return (one[word,][0] or other[word,][0]) and not all(longer)


def _may_link(draft: Draft, part: tuple[str, ...], *, place: bool = False) -> bool:
    """Whether words in a row may be the name of a third person or body, or of a place."""
    asked = telling_words(draft.chain.question)
    known: frozenset[str] = frozenset()
    for name in (draft.bridge.name, draft.chain.bridge, *draft.bridge.aliases):
        known |= telling_words(name)
    telling = [
        word
        for word in part
        if len(word) > 2
        and word not in FUNCTION | GENERIC | HONORIFICS | MONTHS | _NO_NAME
        and not gazetteer.is_common(word)
    ]
    if (
        known & set(part)
        or asked.issuperset(telling)
        or part[0] in FUNCTION
        or part[-1] in FUNCTION
    ):
        return False
    name = " ".join(part)
    if place:
        return gazetteer.sort_of(name) not in ("country", "state")
    wide = name in REGIONS or gazetteer.sort_of(name) or kind_of(sort_in_name(name)) == "place"
    return not wide and (len(part) > 1 or len(telling[0]) > 3)
