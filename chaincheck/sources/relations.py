"""Relation slots: one name for one kind of step, however a data set words it.

Two steps with the same slot ask for the same kind of thing, so that one record's answer can
stand in for another's. MuSiQue words a step either as ``X >> director`` or as a question of its
own; 2WikiMultiHopQA names the relation. A question that fits no template has no slot: a guess
would lend a person to a place.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Step", "kind_of", "parse_step", "pronoun_of", "slot_name", "subject_kind_of"]


class Step(NamedTuple):
    """What a step asks.

    Attributes:
        relation: the slot, or None.
        subject: what it is asked of, as the step words it; None where that cannot be told.
    """

    relation: str | None
    subject: str | None


_SAME = {
    "date of birth": "date of birth",
    "notable work": "notable work",
    "lyrics by": "songwriter",
    "country of origin": "country of origin",
    "founder": "founded by",
    "voice actor": "cast role",
    "production company": "production company",
}
_PERSON = (
    "author",
    "award winner",
    "cast member",
    "cast role",
    "chairperson",
    "chief executive officer",
    "child",
    "composer",
    "director",
    "director of photography",
    "father",
    "film editor",
    "head of government",
    "head of state",
    "mother",
    "screenwriter",
    "sibling",
    "songwriter",
    "spouse",
)
_PLACE = (
    "capital",
    "city",
    "continent",
    "country",
    "country of citizenship",
    "country of origin",
    "headquarters location",
    "located in or next to body of water",
    "located in the administrative territorial entity",
    "located on terrain feature",
    "location of formation",
    "mouth of the watercourse",
    "place of birth",
    "place of burial",
    "place of death",
    "residence",
    "shares border with",
    "state",
)
_ORGANIZATION = (
    "educated at",
    "manufacturer",
    "member of political party",
    "member of sports team",
    "original broadcaster",
    "production company",
    "publisher",
    "record label",
)
_WORK = ("notable work", "present in work")
_OTHER = ("date of birth", "date of death", "inception", "publication date")
_KINDS = {
    **dict.fromkeys(_PERSON, "person"),
    **dict.fromkeys(_PLACE, "place"),
    **dict.fromkeys(_ORGANIZATION, "organization"),
    **dict.fromkeys(_WORK, "work"),
    **dict.fromkeys(_OTHER, "other"),
}
# What may be asked of one kind of thing only.
_SUBJECT_KINDS = {
    **dict.fromkeys(
        (
            "child",
            "country of citizenship",
            "date of birth",
            "date of death",
            "educated at",
            "father",
            "member of political party",
            "member of sports team",
            "mother",
            "place of birth",
            "place of burial",
            "place of death",
            "position held",
            "sibling",
            "spouse",
        ),
        "person",
    ),
    **dict.fromkeys(
        ("capital", "contains administrative territorial entity", "head of government"), "place"
    ),
    **dict.fromkeys(
        ("author", "cast member", "cast role", "director", "screenwriter", "songwriter"), "work"
    ),
}
_PRONOUNS = {"father": "he", "mother": "she"}

_S = r"(?P<s>.+?)"
_THE_WORK = (
    r"(?:(?:the )?(?:\d{4} )?"
    r"(?:book|novel|play|film|movie|opera|poem|album|tv show|series|musical) )"
)
_TEMPLATES: tuple[tuple[str, str], ...] = (
    ("place of birth", rf"(?:where|in what city|in which city) was {_S} born"),
    ("place of birth", rf"(?:what|which) (?:city|town|place) was {_S} born in"),
    ("place of birth", rf"what is the name of the (?:city|place) (?:where )?{_S} was born(?: in)?"),
    ("place of birth", rf"what (?:is|was) {_S} ?['’]s? (?:city|place) of birth"),
    ("place of birth", rf"which (?:city|town) was the birthplace of {_S}"),
    ("place of birth", rf"what (?:is|was) the (?:birthplace|place of birth) of {_S}"),
    ("place of death", rf"(?:where|in what place|in what city|in which city) did {_S} die"),
    ("place of death", rf"(?:where|what city|in what city) did {_S} live when (?:s?he|they) died"),
    ("date of birth", rf"(?:when|what year|in what year) was {_S} born"),
    ("date of death", rf"(?:when|what year|in what year) did {_S} (?:die|pass away|past away)"),
    ("mother", rf"who (?:is|was) (?:the )?mother of {_S}"),
    ("mother", rf"who (?:is|was) {_S} ?['’]s? mother"),
    ("father", rf"who (?:is|was) (?:the )?father of {_S}"),
    ("father", rf"who (?:is|was) {_S} ?['’]s? father"),
    ("father", rf"the father of {_S} is whom"),
    ("spouse", rf"who (?:is|was) the (?:spouse|wife|husband) of {_S}"),
    ("spouse", rf"who (?:is|was) {_S} ?['’]s? (?:spouse|wife|husband)"),
    ("sibling", rf"who (?:is|was) the (?:sibling|brother|sister) of {_S}"),
    ("sibling", rf"who (?:is|was) {_S} ?['’]s? (?:sibling|brother|sister)"),
    ("child", rf"who (?:is|was) the (?:child|son|daughter) of {_S}"),
    ("songwriter", rf"who (?:wrote|writes) the song {_S}"),
    ("author", rf"who (?:wrote|writes) {_THE_WORK}?{_S}"),
    ("author", rf"who (?:is|was) the (?:author|writer) of {_THE_WORK}?{_S}"),
    ("author", rf"{_S} was written by whom"),
    ("performer", rf"who sang or played {_S}"),
    ("performer", rf"who (?:sang|sings|performed|performs) (?:the song )?{_S}"),
    ("performer", rf"(?:which|what) artist or group performed {_S}"),
    ("performer", rf"whose performance is {_S}"),
    ("performer", rf"what is the name of the performer that released the album {_S}"),
    ("performer", rf"who (?:is|was) the (?:singer|performer) of {_S}"),
    ("cast member", rf"who (?:has )?acted in {_THE_WORK}?{_S}"),
    ("cast member", rf"who starred in {_THE_WORK}?{_S}"),
    ("cast member", rf"who (?:is|was) in {_S} as a cast member"),
    ("cast member", rf"who (?:is|was) the star of {_S}"),
    ("cast role", rf"who (?:plays|played|portrays|portrayed|voices|voiced) .+? (?:in|on) {_S}"),
    ("cast role", rf"who (?:does|did) the (?:original )?voice of .+? (?:in|on) {_S}"),
    ("director", rf"who directed {_THE_WORK}?{_S}"),
    ("director", rf"who (?:is|was) the director of {_THE_WORK}?{_S}"),
    ("screenwriter", rf"who (?:is|was) the screenwriter (?:of|for) {_S}"),
    ("composer", rf"who composed {_S}"),
    ("composer", rf"who (?:is|was) the composer of {_S}"),
    ("producer", rf"who (?:is|was) the producer of {_S}"),
    ("creator", rf"who (?:is|was) the creator of {_S}"),
    ("creator", rf"which was the creator of {_S}"),
    ("creator", rf"who created {_S}"),
    ("creator", rf"who is {_S} by"),
    ("creator", rf"what artist was responsible for the creation of {_S}"),
    ("manufacturer", rf"(?:which|what) (?:company|corporation) (?:manufactured|made|built) {_S}"),
    ("developer", rf"who developed {_S}"),
    ("founded by", rf"who (?:founded|was the founder of|is the founder of) {_S}"),
    ("named after", rf"(?:what|who) (?:is|was) {_S} named (?:after|for)"),
    ("named after", rf"{_S} was named (?:after|for) whom"),
    ("country", rf"(?:what|which) country (?:is|was) {_S} (?:located )?in"),
    ("country", rf"(?:what|which) is the country (?:where|in which) {_S} is located"),
    ("state", rf"(?:in )?(?:what|which) state is {_S}(?: located)?(?: in)?"),
    ("state", rf"what is the name of the state where {_S} is located"),
    ("city", rf"(?:in )?(?:what|which) city is {_S} (?:located|based)(?: in)?"),
    ("record label", rf"what (?:is|was) the record label of {_S}"),
    ("record label", rf"what (?:record )?label was responsible for {_S}"),
    ("educated at", rf"(?:what|which) (?:university|college|school) did {_S} attend"),
    ("educated at", rf"what is the name of (?:the )?university that educated {_S}"),
    ("publisher", rf"(?:what|who) (?:is|was) (?:the name of )?the publisher of {_S}"),
    ("publisher", rf"who published {_S}"),
    ("owned by", rf"who (?:is|was) the owner of {_S}"),
    ("owned by", rf"who owns {_S}"),
    ("capital", rf"what (?:is|was) the capital of {_S}"),
    ("original broadcaster", rf"(?:what|which) network (?:hosts|hosted|broadcast|airs|aired) {_S}"),
)
_COMPILED = tuple(
    (slot, re.compile(rf"{pattern}\s*\??\s*", re.IGNORECASE)) for slot, pattern in _TEMPLATES
)
_TRAILER = re.compile(r"\s+(?:the )?(?:movie|film|tv show|tv series)$", re.IGNORECASE)
_DESCRIPTION = re.compile(
    r"(?:the )?\d{4} (?:film|movie|show|version|musical|series)|(?:this|that|these|those) .*",
    re.IGNORECASE,
)
_MARKED = re.compile(r"(?P<s>.*?)\s*>>\s*(?P<r>[^>]+?)\s*", re.DOTALL)


def parse_step(question: str) -> Step:
    """Tell the slot and the subject of a step.

    Args:
        question: ``X >> relation``, a question, or a bare relation name.

    Examples:
        ``Arrival >> director`` and ``who directed the film Arrival?`` both give
        ``Step("director", "Arrival")``.
    """
    text = " ".join(question.split())
    marked = _MARKED.fullmatch(text)
    if marked:
        return Step(slot_name(marked["r"]), marked["s"] or None)
    for slot, pattern in _COMPILED:
        match = pattern.fullmatch(text)
        if match:
            return Step(slot, _name_of(match["s"]))
    return Step(None, None)


def _name_of(words: str) -> str | None:
    """Return the name in a template's subject; None where it only describes ("the 1964 film")."""
    text = words.strip(" \"'`“”")
    if _DESCRIPTION.fullmatch(text):
        return None
    return _TRAILER.sub("", text) or None


def slot_name(relation: str) -> str:
    """Normalize a relation's name: one case, single spaces, one name for equal meanings."""
    name = " ".join(relation.split()).casefold().rstrip("?. ")
    return _SAME.get(name, name)


def kind_of(relation: str | None) -> str | None:
    """Tell what kind of thing a slot leads to; None where it may be several."""
    return _KINDS.get(relation) if relation else None


def subject_kind_of(relation: str | None) -> str | None:
    """Tell what kind of thing a slot is asked of; None where it may be several."""
    return _SUBJECT_KINDS.get(relation) if relation else None


def pronoun_of(relation: str | None) -> str | None:
    """Tell the pronoun of what a slot leads to, where the slot alone tells it."""
    return _PRONOUNS.get(relation) if relation else None
