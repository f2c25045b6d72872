"""Countries with their adjectives, states of the USA, and cities that need no region.

A country renamed in a passage that also says "French" would be half-renamed, and a state is no
stand-in for a country. Names are folded to lower case; a leading "the" is dropped by the caller.
"""

# ruff: noqa: SIM905 - a split string reads better than hundreds of quoted words

from __future__ import annotations

from typing import Literal

__all__ = ["demonym", "is_common", "nations_in", "nicknames", "sort_of"]

_SINGLE = """
    afghanistan:afghan albania:albanian algeria:algerian angola:angolan argentina:argentine
    armenia:armenian australia:australian austria:austrian azerbaijan:azerbaijani
    bangladesh:bangladeshi belarus:belarusian belgium:belgian bolivia:bolivian botswana:botswanan
    brazil:brazilian bulgaria:bulgarian burma:burmese cambodia:cambodian cameroon:cameroonian
    canada:canadian chad:chadian chile:chilean china:chinese colombia:colombian croatia:croatian
    cuba:cuban cyprus:cypriot czechoslovakia:czechoslovak denmark:danish ecuador:ecuadorian
    egypt:egyptian england:english eritrea:eritrean estonia:estonian ethiopia:ethiopian fiji:fijian
    finland:finnish france:french gambia:gambian georgia:georgian germany:german ghana:ghanaian
    greece:greek guatemala:guatemalan guinea:guinean haiti:haitian honduras:honduran
    hungary:hungarian iceland:icelandic india:indian indonesia:indonesian iran:iranian iraq:iraqi
    ireland:irish israel:israeli italy:italian jamaica:jamaican japan:japanese jordan:jordanian
    kazakhstan:kazakh kenya:kenyan kuwait:kuwaiti laos:laotian latvia:latvian lebanon:lebanese
    liberia:liberian libya:libyan lithuania:lithuanian luxembourg:luxembourgish
    madagascar:malagasy malaysia:malaysian mali:malian malta:maltese mexico:mexican
    moldova:moldovan mongolia:mongolian morocco:moroccan mozambique:mozambican myanmar:burmese
    namibia:namibian nepal:nepalese netherlands:dutch niger:nigerien nigeria:nigerian
    norway:norwegian oman:omani pakistan:pakistani panama:panamanian paraguay:paraguayan
    peru:peruvian philippines:filipino poland:polish portugal:portuguese prussia:prussian
    qatar:qatari romania:romanian russia:russian rwanda:rwandan scotland:scottish
    senegal:senegalese serbia:serbian singapore:singaporean slovakia:slovak slovenia:slovenian
    somalia:somali spain:spanish sudan:sudanese sweden:swedish switzerland:swiss syria:syrian
    taiwan:taiwanese tanzania:tanzanian thailand:thai togo:togolese tunisia:tunisian
    turkey:turkish uganda:ugandan ukraine:ukrainian uruguay:uruguayan usa:american
    venezuela:venezuelan vietnam:vietnamese wales:welsh yemen:yemeni yugoslavia:yugoslav
    zambia:zambian zimbabwe:zimbabwean ussr:soviet uk:british
"""
_PHRASES = {
    "great britain": "british",
    "united kingdom": "british",
    "united states": "american",
    "united states of america": "american",
    "new zealand": "zealander",
    "saudi arabia": "saudi",
    "south africa": "african",
    "north korea": "korean",
    "south korea": "korean",
    "sri lanka": "lankan",
    "costa rica": "rican",
    "el salvador": "salvadoran",
    "soviet union": "soviet",
    "russian federation": "russian",
    "sierra leone": "leonean",
    "czech republic": "czech",
    "dominican republic": "dominican",
    "weimar republic": "german",
}
_CONTINENTS = {
    "america": "american",
    "britain": "british",
    "europe": "european",
    "asia": "asian",
    "africa": "african",
    "australasia": "australasian",
}
_COUNTRIES: dict[str, str] = {
    **dict(entry.split(":", 1) for entry in _SINGLE.split()),
    **_PHRASES,
}
_STATES = frozenset(
    (
        "alabama|alaska|arizona|arkansas|california|colorado|connecticut|delaware|florida|georgia|"
        "hawaii|idaho|illinois|indiana|iowa|kansas|kentucky|louisiana|maine|maryland|"
        "massachusetts|michigan|minnesota|mississippi|missouri|montana|nebraska|nevada|"
        "new hampshire|new jersey|new mexico|new york|north carolina|north dakota|ohio|oklahoma|"
        "oregon|pennsylvania|rhode island|south carolina|south dakota|tennessee|texas|utah|"
        "vermont|virginia|washington|west virginia|wisconsin|wyoming"
    ).split("|")
)
# Cities that a text names without their region.
_CITIES = frozenset(
    (
        "amsterdam|athens|bangkok|barcelona|beijing|beirut|belgrade|berlin|birmingham|bombay|"
        "boston|brussels|bucharest|budapest|buenos aires|cairo|calcutta|chicago|cologne|"
        "copenhagen|cracow|dallas|damascus|delhi|detroit|dresden|dublin|edinburgh|florence|"
        "frankfurt|geneva|genoa|glasgow|hamburg|hanoi|havana|helsinki|hollywood|hong kong|istanbul|"
        "jakarta|jerusalem|kiev|kyoto|leipzig|lima|lisbon|liverpool|london|los angeles|lyon|madrid|"
        "manchester|manila|marseille|melbourne|mexico city|milan|minneapolis|minsk|montreal|"
        "moscow|mumbai|munich|nanjing|naples|new delhi|new york city|odessa|osaka|oslo|ottawa|"
        "palermo|paris|philadelphia|phoenix|pittsburgh|prague|rio de janeiro|rome|rotterdam|"
        "saint petersburg|san diego|san francisco|santiago|seattle|seoul|seville|shanghai|sofia|"
        "st petersburg|stockholm|strasbourg|sydney|tehran|tel aviv|tokyo|toronto|trieste|turin|"
        "vancouver|venice|vienna|warsaw|zagreb|zurich|atlanta|baltimore|cincinnati|cleveland|"
        "denver|houston|miami|nashville|new orleans|sacramento|st louis"
    ).split("|")
)
_CALENDAR = frozenset(
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday".split()
)
_DEMONYMS = frozenset(_COUNTRIES.values()) | frozenset(_CONTINENTS.values())


def sort_of(name: str) -> Literal["country", "state", "town"] | None:
    """Whether a folded name is a country's, a state's ("georgia" is one) or a known city's."""
    if name in _STATES:
        return "state"
    if name in _COUNTRIES:
        return "country"
    return "town" if name in _CITIES else None


def demonym(name: str) -> str | None:
    """The adjective of a country or continent, folded; None for any other name."""
    return _COUNTRIES.get(name) or _CONTINENTS.get(name)


_NICKNAMES = {
    "charlemagne": ("carolingian", "carolingians"),
    "boston": ("beantown",),
    "chicago": ("windy city",),
    "detroit": ("motor city", "motown"),
    "dublin": ("fair city",),
    "las vegas": ("sin city",),
    "los angeles": ("city of angels",),
    "minneapolis": ("twin cities", "twin city"),
    "myanmar": ("burma", "burmese"),
    "new orleans": ("big easy", "crescent city"),
    "new york": ("big apple", "empire state"),
    "new york city": ("big apple",),
    "paris": ("city of light", "city of lights"),
    "philadelphia": ("city of brotherly love",),
    "pittsburgh": ("steel city",),
    "rome": ("eternal city",),
    "saint paul": ("twin cities", "twin city"),
    "seattle": ("emerald city",),
    "sri lanka": ("ceylon", "ceylonese"),
    "thailand": ("siam", "siamese"),
    "iran": ("persia", "persian"),
    "istanbul": ("constantinople",),
    # Older spellings, one-letter names and the tongues that are called after a place.
    "beijing": ("peking", "pekingese"),
    "chongqing": ("chungking",),
    "fujian": ("hokkien", "fukien", "fukienese", "fujianese"),
    "guangdong": ("canton", "cantonese", "kwangtung"),
    "guangzhou": ("canton", "cantonese"),
    "hong kong": ("hongkonger", "hongkongers"),
    "nanjing": ("nanking", "ning"),
    "shanghai": ("shanghainese",),
    "sichuan": ("szechuan", "szechwan"),
    "taiwan": ("formosa", "formosan"),
    "tianjin": ("tientsin",),
    "xiamen": ("amoy",),
    "bratislava": ("pressburg",),
    "cambodia": ("kampuchea", "khmer"),
    "chennai": ("madras",),
    "ethiopia": ("abyssinia", "abyssinian"),
    "gdansk": ("danzig",),
    "ho chi minh city": ("saigon",),
    "kaliningrad": ("konigsberg",),
    "kolkata": ("calcutta",),
    "ljubljana": ("laibach",),
    "lviv": ("lwow", "lvov", "lemberg"),
    "mumbai": ("bombay",),
    "netherlands": ("holland", "hollander", "hollanders"),
    "oslo": ("christiania", "kristiania"),
    "saint petersburg": ("leningrad", "petrograd"),
    "tallinn": ("reval",),
    "tokyo": ("edo",),
    "vilnius": ("vilna", "wilno"),
    "volgograd": ("stalingrad", "tsaritsyn"),
    "wroclaw": ("breslau",),
    "yangon": ("rangoon",),
    "zimbabwe": ("rhodesia", "rhodesian"),
}


def nicknames(name: str) -> tuple[str, ...]:
    """Other names of a folded place or ruler that texts use unexplained; empty for most."""
    return _NICKNAMES.get(name, ())


def nations_in(name: str) -> frozenset[str]:
    """The nationality in a longer name, with the country that it belongs to.

    "Finnish Navy" gives "finnish" and "finland": a text that keeps either still tells whose
    navy it was.
    """
    words = set(name.casefold().replace("’s", "").replace("'s", "").split())
    found = words & _DEMONYMS
    return frozenset(found) | {place for place, word in _COUNTRIES.items() if word in found}


def is_common(word: str) -> bool:
    """Whether a folded word is so common in encyclopedic text that sharing it links nothing.

    Countries, continents, states, their adjectives, months and weekdays.
    """
    return (
        word in _COUNTRIES
        or word in _CONTINENTS
        or word in _STATES
        or word in _DEMONYMS
        or word in _CALENDAR
    )
