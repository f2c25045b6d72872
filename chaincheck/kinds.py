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

_KINDS: dict[str, Kind] = {
    "person": "person",
    "human": "person",
    "per": "person",
    "place": "place",
    "location": "place",
    "loc": "place",
    "organization": "organization",
    "organisation": "organization",
    "org": "organization",
    "company": "organization",
    "work": "work",
    "other": "other",
}

# sort -> (kind, nouns that name it)
_SORTS: dict[str, tuple[Kind, str]] = {
    "county": ("place", "county"),
    "state": ("place", "state"),
    "country": ("place", "country nation kingdom republic"),
    "province": ("place", "province voivodeship oblast prefecture governorate canton"),
    "district": ("place", "district borough municipality commune gmina arrondissement"),
    "township": ("place", "township parish"),
    "town": ("place", "city town village hamlet settlement suburb capital metropolis"),
    "region": ("place", "region territory peninsula department"),
    "island": ("place", "island archipelago atoll"),
    "river": ("place", "river stream creek tributary"),
    "lake": ("place", "lake reservoir"),
    "sea": ("place", "sea ocean bay gulf strait"),
    "mountain": ("place", "mountain hill volcano peak range"),
    "arena": ("place", "stadium arena venue"),
    "building": ("place", "building castle palace church cathedral museum hotel theater theatre"),
    "continent": ("place", "continent"),
    "school": ("organization", "university college school institute academy conservatory"),
    "band": ("organization", "band duo trio quartet orchestra ensemble choir"),
    "team": ("organization", "team club"),
    "label": ("organization", "label"),
    "company": (
        "organization",
        "company corporation conglomerate manufacturer retailer brand publisher airline "
        "developer firm subsidiary broadcaster network",
    ),
    "bank": ("organization", "bank"),
    "party": ("organization", "party"),
    "military": ("organization", "navy army force"),
    "agency": ("organization", "agency bureau ministry council commission"),
    "league": ("organization", "league conference federation"),
    "organization": ("organization", "organization organisation foundation association charity"),
    "newspaper": ("work", "newspaper magazine journal"),
    "film": ("work", "film movie"),
    "series": ("work", "series sitcom show program programme soap"),
    "album": ("work", "album ep"),
    "song": ("work", "song single ballad"),
    "book": ("work", "novel book poem play memoir novella"),
    "painting": ("work", "painting sculpture artwork"),
    "game": ("work", "videogame"),
    "language": ("other", "language dialect"),
    "religion": ("other", "religion"),
    "war": ("other", "war battle conflict rebellion revolution"),
    "award": ("other", "award prize medal trophy"),
    "event": ("other", "championship tournament election olympics festival"),
    "species": ("other", "species genus animal plant"),
    "character": ("other", "character superhero"),
    "people": ("other", "ethnic tribe people"),
    "person": (
        "person",
        "actor actress singer musician composer director filmmaker screenwriter writer author "
        "novelist poet playwright politician statesman player footballer cricketer wrestler boxer "
        "golfer racer driver swimmer philosopher physicist chemist mathematician scientist "
        "inventor engineer painter artist sculptor architect photographer journalist comedian "
        "rapper songwriter drummer guitarist pianist violinist saxophonist conductor producer "
        "king queen emperor empress prince princess duke duchess earl count countess baron "
        "nobleman noblewoman lawyer judge jurist businessman businesswoman economist "
        "entrepreneur historian theologian bishop pope priest missionary explorer admiral "
        "colonel officer soldier president minister governor senator activist model dancer "
        "choreographer host leader critic editor astronaut athlete quarterback pitcher baseman "
        "linebacker midfielder goalkeeper striker defender sultan ruler peer baronet landowner "
        "aristocrat botanist biologist physician surgeon psychologist scholar professor "
        "vocalist performer consort",
    ),
}
_NOUNS: dict[str, str] = {
    noun: sort for sort, (_, nouns) in _SORTS.items() for noun in nouns.split()
}
# Nouns that also begin or end the proper names of the sort that they name.
_NAME_NOUNS = frozenset(
    "county province voivodeship oblast prefecture governorate canton district borough gmina "
    "municipality township parish island river creek lake sea bay gulf ocean mountain university "
    "college school institute academy conservatory orchestra navy army agency bureau league "
    "foundation association party republic kingdom records company corporation war prize award "
    "language band peninsula region territory stadium arena airport museum castle palace cathedral "
    "hotel press bank airlines garden club islands sound street bridge park".split()
)
_NAME_SORTS = {"records": "label", "islands": "island", "garden": "arena", "airlines": "company"}

# Wikidata-style relation -> kind and, where the relation settles it, sort of what it leads to.
_PERSON_SLOTS = frozenset(
    (
        "father|mother|spouse|husband|wife|child|sibling|director|author|composer|"
        "screenwriter|cast member|producer|founder|founded by|head of government|"
        "head of state|named after person|discoverer or inventor|architect|painter|editor|"
        "presenter|chairperson|owner person|lyricist|doctoral advisor|ruler|narrator|"
        "inventor|leader|film editor|cinematographer|voice actor"
    ).split("|")
)
_PLACE_SLOTS = frozenset(
    (
        "place of birth|place of death|place of burial|country|country of citizenship|"
        "capital|located in the administrative territorial entity|headquarters location|"
        "location|capital of|shares border with|"
        "contains administrative territorial entity|work location|continent|"
        "mouth of the watercourse|located on terrain feature|crosses|"
        "location of formation|residence|located in or next to body of water|"
        "licensed to broadcast to|country of origin|state|city|river|filming location"
    ).split("|")
)
_ORGANIZATION_SLOTS = frozenset(
    (
        "member of sports team|educated at|employer|record label|owned by|manufacturer|"
        "publisher|developer|operator|member of|member of political party|"
        "part of organization|drafted by|original broadcaster|school|team|company"
    ).split("|")
)
# Where people are born or die is a town unless the name is known for a region.
_TOWN_SLOTS = frozenset(
    (
        *("place of birth", "place of death", "licensed to broadcast to", "work location"),
        *("location of formation", "headquarters location", "residence"),
    )
)
# What is made or done by somebody: a person or a group, never a place.
_BY_SOMEBODY = frozenset(
    ("performer", "author", "composer", "creator", "cast member", "director", "producer")
)
_SLOT_SORTS = {
    "member of sports team": "team",
    "team": "team",
    "educated at": "school",
    "school": "school",
    "record label": "label",
    "member of political party": "party",
    "country": "country",
    "country of citizenship": "country",
    "country of origin": "country",
    "river": "river",
    "state": "state",
    "city": "town",
    "capital": "town",
    "company": "company",
    "manufacturer": "company",
}

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
    return None if kind is None else _KINDS.get(kind.strip().casefold())


def base_title(title: str) -> str:
    """A page title without the parenthesis that tells it from its namesakes."""
    return _PARENTHESES.sub("", title).strip() or title.strip()


def _plain(name: str) -> str:
    return " ".join(name.casefold().removeprefix("the ").split())


def kind_of(sort: str | None) -> Kind | None:
    """The kind that a sort belongs to."""
    return _SORTS[sort][0] if sort in _SORTS else None


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
        if word in _NAME_NOUNS:
            return _NAME_SORTS.get(word) or _NOUNS.get(word) or word
    if words[-2] in {"university", "republic", "kingdom"} or words[1] in {"of"}:
        return _NOUNS.get(words[0])
    return None


def type_words(name: str) -> frozenset[str]:
    """The words of a name that say what it names ("Gmina" in "Gmina Ryki")."""
    return frozenset(word.casefold() for word in _WORD.findall(name)) & _NAME_NOUNS


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
        sort = _NOUNS.get(lowered) or _NOUNS.get(lowered.removesuffix("s"))
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
            if word.islower() and word in _NOUNS and kind_of(_NOUNS[word]) != "work":
                found.add(_NOUNS[word])
        for match in after.finditer(text):
            phrase = _STOP_HEAD.split(match.group("words"), maxsplit=1)[0]
            sorts = [_NOUNS[word] for word in _WORD.findall(phrase.casefold()) if word in _NOUNS]
            found.update(sorts[-1:])
    return found.pop() if len(found) == 1 else None


def sort_in_question(question: str, slot: str | None = None) -> str | None:
    """The sort that a first hop's wording asks for ("Which river ...", "What team ...")."""
    if slot in _SLOT_SORTS:
        return _SLOT_SORTS[slot]
    folded = question.casefold()
    match = re.match(
        r"(?:in |on |at |of )?(?:what|which)(?: is the| was the)? (?P<rest>[^?]{1,40})",
        folded,
    )
    if match:
        for word in _WORD.findall(match.group("rest"))[:2]:
            if word in _NOUNS:
                return _NOUNS[word]
    if re.match(r"who became the\b", folded):
        found = [_NOUNS[word] for word in _WORD.findall(folded)[3:7] if word in _NOUNS]
        return found[0] if found else None
    return None


def _kind_from_slot(slot: str | None, question: str) -> Kind | None:
    if slot in _PERSON_SLOTS:
        return "person"
    if slot in _PLACE_SLOTS:
        return "place"
    if slot in _ORGANIZATION_SLOTS:
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


def _sort_from_slot(
    name: str, kind: str | None, slot: str | None, passages: Sequence[str]
) -> str | None:
    """The sort of a slot's tails where slot and kind, or slot and wording, leave one only."""
    if slot == "performer" and normal_kind(kind) == "organization":
        return "band"  # who performs and is no person
    known_region = " ".join(name.casefold().split()) in REGIONS
    if slot in _TOWN_SLOTS and not known_region and _with_region(name, passages):
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

    Returns:
        The nature; parts that are unknown or contradictory are None.
    """
    named = sort_in_name(name)
    if kind_of(named) == "place" and slot in _BY_SOMEBODY:
        named = None  # "Madina Lake" made an album: it is no lake
    defined = _single(sort_in_definition(page.text) for page in own_pages)
    defined = defined or sort_near(name, passages)
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
    if given is None:
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
