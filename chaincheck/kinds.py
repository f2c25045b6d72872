"""What an entity is: its kind, its sort and its pronoun, read from whatever a record says.

A *kind* is coarse (person, place, organization, work, other). A *sort* is the finer class that a
reader would miss if it changed: a county renamed to a river, a band to a company. Sorts come from
a word inside the name ("Ryki County"), from the definition on the entity's own page ("Compaq was
a company ..."), from the question ("the river that ...") or from the relation. A claim that two
of these sources contradict is dropped, and an unknown sort never counts as equal to a known one.
"""

# ruff: noqa: SIM905 - a split string reads better than hundreds of quoted words

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chaincheck import gazetteer, gender
from chaincheck.chains import Passage
from chaincheck.mentions import Kind
from chaincheck.name_words import REGIONS
from chaincheck.sorts import (
    BY_SOMEBODY,
    KINDS,
    NAME_NOUNS,
    NAME_SORTS,
    NOUNS,
    ORGANIZATION_SLOTS,
    PERSON_SLOTS,
    PLACE_SLOTS,
    SLOT_SORTS,
    SORTS,
    TOWN_SLOTS,
)

__all__ = [
    "Nature",
    "base_title",
    "compatible",
    "kind_of",
    "nature_of",
    "normal_kind",
    "ranks_of",
    "sort_in_definition",
    "sort_in_name",
    "sort_in_question",
    "sort_near",
    "type_words",
]

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_PARENTHESES = re.compile(r"\s*[(\[][^)\]]*[)\]]")
_COPULA = re.compile(
    r"\b(?:is|was|are|were)\s+(?:(?:also|currently|formerly|once|perhaps|one of)\s+)*"
    r"(?:an?|the|one of the|one)\s+(?P<rest>[^.;]{1,200})"
)
_STOP_HEAD = re.compile(
    r"\b(?:of|in|from|at|by|for|on|with|that|which|who|whose|located|based|founded|situated"
    r"|and|known|best|born|near|between|to)\b|,"
)


@dataclass(frozen=True)
class Nature:
    """What an entity is.

    Attributes:
        kind: coarse class, None if unknown.
        sort: finer class ("county", "band", ...), None if unknown.
        pronoun: "he" or "she" for a person whose gender is known, else None.
    """

    kind: Kind | None
    sort: str | None = None
    pronoun: str | None = None


def normal_kind(kind: str | None) -> Kind | None:
    """Map a source's word for a kind to ours; None for an unknown word."""
    return None if kind is None else KINDS.get(kind.strip().casefold())


def base_title(title: str) -> str:
    """A page title without the parenthesis that tells it from its namesakes."""
    return _PARENTHESES.sub("", title).strip() or title.strip()


def _plain(name: str) -> str:
    return " ".join(name.casefold().removeprefix("the ").split())


def kind_of(sort: str | None) -> Kind | None:
    """The kind that a sort belongs to."""
    return SORTS[sort][0] if sort in SORTS else None


def sort_in_name(name: str) -> str | None:
    """The sort that a name carries in itself ("Ryki County", "Lake Erie", "Texas")."""
    plain = _plain(name)
    region = gazetteer.sort_of(plain)
    if region:
        return region
    words = [word.casefold() for word in _WORD.findall(name)]
    if len(words) < 2:
        return None
    for word in (words[-1], words[0]):
        if word in NAME_NOUNS:
            return NAME_SORTS.get(word) or NOUNS.get(word) or word
    if words[-2] in {"university", "republic", "kingdom"} or words[1] in {"of"}:
        return NOUNS.get(words[0])
    return None


def type_words(name: str) -> frozenset[str]:
    """The words of a name that say what it names ("Gmina" in "Gmina Ryki")."""
    return frozenset(word.casefold() for word in _WORD.findall(name)) & NAME_NOUNS


def sort_in_definition(text: str) -> str | None:
    """The sort stated by a page's first definition ("X is a village in ...").

    The class is the last known class noun of the noun phrase before its first preposition or
    comma, looked for in the first two sentences.
    """
    cleaned = _PARENTHESES.sub("", text[:600])
    match = _COPULA.search(cleaned)
    if not match or match.start() > 250:
        return None
    phrase = _STOP_HEAD.split(match.group("rest"), maxsplit=1)[0]
    for word in reversed(_WORD.findall(phrase)):
        lowered = word.casefold()
        sort = NOUNS.get(lowered) or NOUNS.get(lowered.removesuffix("s"))
        if sort:
            return sort
    return None


_RANKS = frozenset(
    "king queen emperor empress pope saint st prince princess sultan caliph tsar czar lord lady "
    "sir dame duke duchess president captain colonel general bishop archbishop cardinal".split()
)


def ranks_of(name: str, passages: Iterable[str]) -> frozenset[str]:
    """The titles that texts write directly before a person's name ("Pope", "King")."""
    pattern = re.compile(rf"\b([A-Z][a-z]+)\.? {re.escape(name)}\b")
    found = {match.casefold() for text in passages for match in pattern.findall(text)}
    return frozenset(found & _RANKS)


def sort_near(name: str, passages: Iterable[str]) -> str | None:
    """The sort that a text gives in apposition: "rock band NAME", "NAME is a singer".

    All that is found must agree.
    """
    quoted = re.escape(name)
    before = re.compile(rf"(?P<words>(?:[^\W\d_]+[ -]){{1,3}}){quoted}\b")
    after = re.compile(
        rf"\b{quoted}(?:\s*\([^)]{{0,80}}\))?,?\s+(?:is|was|are|were)?\s*(?:an?|the)\s+"
        r"(?P<words>[^.;,]{1,80})"
    )
    found: set[str] = set()
    for text in passages:
        for match in before.finditer(text):
            word = _WORD.findall(match.group("words"))[-1]
            # "the film Aaron Spelling produced": a work before a name seldom is what it names.
            if word.islower() and word in NOUNS and kind_of(NOUNS[word]) != "work":
                found.add(NOUNS[word])
        for match in after.finditer(text):
            phrase = _STOP_HEAD.split(match.group("words"), maxsplit=1)[0]
            sorts = [NOUNS[word] for word in _WORD.findall(phrase.casefold()) if word in NOUNS]
            found.update(sorts[-1:])
    return found.pop() if len(found) == 1 else None


def sort_in_question(question: str, slot: str | None = None) -> str | None:
    """The sort that a first hop's wording asks for ("Which river ...", "What team ...")."""
    if slot in SLOT_SORTS:
        return SLOT_SORTS[slot]
    folded = question.casefold()
    match = re.match(
        r"(?:in |on |at |of )?(?:what|which)(?: is the| was the)? (?P<rest>[^?]{1,40})",
        folded,
    )
    if match:
        for word in _WORD.findall(match.group("rest"))[:2]:
            if word in NOUNS:
                return NOUNS[word]
    if re.match(r"who became the\b", folded):
        found = [NOUNS[word] for word in _WORD.findall(folded)[3:7] if word in NOUNS]
        return found[0] if found else None
    return None


def _kind_from_slot(slot: str | None, question: str) -> Kind | None:
    if slot in PERSON_SLOTS:
        return "person"
    if slot in PLACE_SLOTS:
        return "place"
    if slot in ORGANIZATION_SLOTS:
        return "organization"
    folded = question.casefold()
    if re.match(r"(?:in |at |on |from )?where\b", folded) or re.search(r"\bwhere\s*\?*$", folded):
        return "place"
    return None


def _single(values: Iterable[str | None]) -> str | None:
    known = {value for value in values if value}
    return known.pop() if len(known) == 1 else None


def _with_region(name: str, passages: Sequence[str]) -> bool:
    """Whether a text writes the name as a town's is written: "in NAME, Ontario"."""
    pattern = re.compile(rf"\b(?:in|at|from|to|near|of|midtown|downtown) {re.escape(name)}, [A-Z]")
    return any(pattern.search(text) for text in passages)


def _named_as_team(name: str, passages: Sequence[str]) -> bool:
    """Whether a text speaks of a place's name as of the team that plays there."""
    verbs = r"(?:joined|rejoined|signed (?:for|with)|played for|plays for|loan to|loan at|moved to)"
    pattern = re.compile(
        rf"\b{verbs} {re.escape(name)}\b|\b{re.escape(name)} (?:F\.?C|A\.?F\.?C)\b"
    )
    return any(pattern.search(text) and "club" in text for text in passages)


def _on_club_page(name: str, passages: Sequence[str]) -> bool:
    """Whether a page is titled as a football club's is: "NAME F.C."."""
    title = re.compile(rf"{re.escape(name)} (?:F\.?C\.?|A\.?F\.?C\.?)(?:\n|$)")
    return any(title.match(text) for text in passages)


def _sort_from_slot(
    name: str, kind: str | None, slot: str | None, passages: Sequence[str]
) -> str | None:
    """The sort of a slot's tails where slot and kind, or slot and wording, leave one only."""
    if slot == "performer" and normal_kind(kind) == "organization":
        return "band"  # who performs and is no person
    known_region = " ".join(name.casefold().split()) in REGIONS
    if slot in TOWN_SLOTS and not known_region and _with_region(name, passages):
        return "town"
    return None


def nature_of(
    name: str,
    *,
    kind: str | None = None,
    pronoun: str | None = None,
    slot: str | None = None,
    question: str = "",
    own_pages: Sequence[Passage] = (),
    passages: Sequence[str] = (),
    borrowed: bool = False,
) -> Nature:
    """Guess what an entity is.

    Args:
        name: its name.
        kind: what the source says, which outranks every guess.
        pronoun: what the source says ("he", "she"; anything else counts as unknown).
        slot: relation slot of the hop that leads to it.
        question: wording of that hop.
        own_pages: passages whose title is the entity.
        passages: other passages that name it.
        borrowed: whether the name is to be put into other passages. Then a pronoun that merely
            clashes with nothing around is not enough: the passage may speak of somebody else.

    Returns:
        The nature; parts that are unknown or contradictory are None.
    """
    named = sort_in_name(name)
    if kind_of(named) == "place" and slot in BY_SOMEBODY:
        named = None  # "Madina Lake" made an album: it is no lake
    defined = _single(sort_in_definition(page.text) for page in own_pages)
    defined = defined or sort_near(name, passages)
    if defined is None and _on_club_page(name, passages):
        defined = "team"
    asked = sort_in_question(question, slot) or _sort_from_slot(name, kind, slot, passages)
    sort = named or defined or asked
    settled = (
        normal_kind(kind)
        or (kind_of(sort) if named or defined else None)
        or _kind_from_slot(slot, question)
        or kind_of(sort)
    )
    human = gender.pronoun_near(name, passages) or gender.pronoun_of_given_name(name)
    if human and not (named or defined):
        # A company may be owned by a person, and a person's name may be a company's.
        settled = "person" if settled in (None, "person") else None
    if settled == "place" and sort != "team" and _named_as_team(name, passages):
        settled = None
    if settled is None:
        return Nature(None)
    if settled == "person":
        sort = "person"
    elif sort is not None and kind_of(sort) != settled:
        sort = None
    if settled != "person":
        return Nature(settled, sort)
    if pronoun in {"he", "she"}:
        return Nature("person", "person", pronoun)
    strong = [gender.pronoun_of_relation(slot or ""), gender.pronoun_of_name(name)]
    strong += [gender.pronoun_of_page(page.text) for page in own_pages]
    if re.search(r"\bactress\b", question.casefold()):
        strong.append("she")
    strong.append(gender.pronoun_near(name, passages, following=True))
    if any(strong):
        return Nature("person", "person", _single(strong))
    given = gender.pronoun_of_given_name(name, alone=True)
    if given is None and not borrowed:
        # Where every gendered word around is of one gender, that one clashes with none of them.
        words = {word for text in passages for word in gender.gendered_words(text)}
        given = words.pop() if len(words) == 1 else None
    return Nature("person", "person", given)


def compatible(one: Nature, other: Nature) -> bool:
    """Whether one real entity can take the other's place in a text without a clash of kind.

    Kinds and sorts must be known and equal; pronouns are compared by the caller.
    """
    return (
        one.kind is not None and one.sort is not None and one == replace(other, pronoun=one.pronoun)
    )
