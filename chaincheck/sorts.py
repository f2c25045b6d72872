"""Kinds, sorts and the words and relations that tell them. Data only, folded to lower case."""

# ruff: noqa: SIM905 - a split string reads better than hundreds of quoted words

from __future__ import annotations

from chaincheck.mentions import Kind

__all__ = [
    "BY_SOMEBODY",
    "KINDS",
    "NAME_NOUNS",
    "NAME_SORTS",
    "NOUNS",
    "ORGANIZATION_SLOTS",
    "PERSON_SLOTS",
    "PLACE_SLOTS",
    "SLOT_SORTS",
    "SORTS",
    "TOWN_SLOTS",
]

KINDS: dict[str, Kind] = {
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
SORTS: dict[str, tuple[Kind, str]] = {
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
NOUNS: dict[str, str] = {noun: sort for sort, (_, nouns) in SORTS.items() for noun in nouns.split()}
# Nouns that also begin or end the proper names of the sort that they name.
NAME_NOUNS = frozenset(
    "county province voivodeship oblast prefecture governorate canton district borough gmina "
    "municipality township parish island river creek lake sea bay gulf ocean mountain university "
    "college school institute academy conservatory orchestra navy army agency bureau league "
    "foundation association party republic kingdom records company corporation war prize award "
    "language band peninsula region territory stadium arena airport museum castle palace cathedral "
    "hotel press bank airlines garden club islands sound street bridge park liga".split()
)
NAME_SORTS = {
    "records": "label",
    "islands": "island",
    "garden": "arena",
    "airlines": "company",
    "liga": "league",
}

# Wikidata-style relation -> kind and, where the relation settles it, sort of what it leads to.
PERSON_SLOTS = frozenset(
    (
        "father|mother|spouse|husband|wife|child|sibling|director|author|composer|"
        "screenwriter|cast member|producer|founder|founded by|head of government|"
        "head of state|named after person|discoverer or inventor|architect|painter|editor|"
        "presenter|chairperson|owner person|lyricist|doctoral advisor|ruler|narrator|"
        "inventor|leader|film editor|cinematographer|voice actor"
    ).split("|")
)
PLACE_SLOTS = frozenset(
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
ORGANIZATION_SLOTS = frozenset(
    (
        "member of sports team|educated at|employer|record label|owned by|manufacturer|"
        "publisher|developer|operator|member of|member of political party|"
        "part of organization|drafted by|original broadcaster|school|team|company"
    ).split("|")
)
# Where people are born or die is a town unless the name is known for a region.
TOWN_SLOTS = frozenset(
    (
        *("place of birth", "place of death", "licensed to broadcast to", "work location"),
        *("location of formation", "headquarters location", "residence"),
    )
)
# What is made or done by somebody: a person or a group, never a place.
BY_SOMEBODY = frozenset(
    ("performer", "author", "composer", "creator", "cast member", "director", "producer")
)
SLOT_SORTS = {
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
