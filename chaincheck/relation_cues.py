"""Which words state a relation: a passage that holds none of them merely names both ends.

Data only. Stems end in an asterisk; an underscore joins words. A relation without an entry needs
no word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["CUES", "INSIDE", "LIFE", "OF_ONE", "PLAYED", "WORDINGS"]

_BIRTH = "born birth* birthplace native hometown née"
_DEATH = (
    "died dies dying die dead death* kill* drown* murder* assassinat* executed execution perish* "
    "suicide slain crash* shot_dead fell_in deceased beheaded hanged passed_away"
)
_MARRIAGE = (
    "married marries marry marriage* wife wives husband* spouse* wed wedding* widow* "
    "divorc* consort* bride brides bridegroom remarried couple wedded "
    "haseki concubine*"
)
_KIN = (
    "son sons daughter* child children stepson* stepchild* father* mother* parent* offspring "
    "heir heirs heiress begot born fathered sired"
)
_PLAYING = (
    "star stars starred starring cast* play* role* portray* featur* appear* act acts acted acting "
    "actor* actress* as "
    "voice* voicing perform* lead* host* co-star* costar* character*"
)
_WRITING = "writ* wrote author* penned novel* book* by poem* play* essay* text work*"
_MUSIC = "compos* music* scor* song* opera* wrote writ* soundtrack"
_SINGING = (
    "by album* single* song* band* perform* sang sung sing* record* releas* cover* artist* tour* "
    "hit debut track* version* music* vocal* rapper feat* duet* played behind"
)
_MAKING = (
    "novel* comic* creat* made make* by develop* design* paint* built build* invent* founded work* "
    "behind project* publish* propos* "
    "discover* advanc*"
)
_FOUNDING = (
    "found* co-found* cofound* establish* start* creat* launch* formed forms began begun set "
    "organiz* organis* incorporat* initiated goes_back"
)
_STUDY = (
    "educat* attend* stud* graduat* alum* degree* enrol* train* pupil* learn* matriculat* "
    "schooled scholar* expelled bachelor* master* doctora* phd ph.d diploma* dropped major* "
    "admitted entered undergraduate* b.a m.a taught university_years"
)
_WORK = (
    "work* professor* teach* taught direct* employ* staff facult* edit* position* serv* join* "
    "lectur* head* dean chair* fellow* research* hired scientist* economist* reporter* "
    "journalist* writer* critic* coach* manag* officer* engineer* correspondent* anchor* "
    "chief executive member consultant president columnist* contribut* presenter* host* emeritus "
    "emerita appointed post"
)
_BORDER = (
    "border* adjacent adjoin* neighbo* bound* frontier* abut* between next_to surround* separat* "
    "north_of south_of east_of west_of northeast_of northwest_of southeast_of southwest_of "
    "contiguous flank* divid* line"
)
_FLOW = (
    "flow* empt* tributar* join* mouth confluence* discharg* drain* meet* merg* estuar* enter* "
    "reach* feeds debouch* run* into catchment basin"
)

_STATED: Mapping[str, str] = {
    "spouse": _MARRIAGE,
    "father": _KIN,
    "mother": _KIN,
    "child": f"{_KIN} dad mom grand*",
    "sibling": "brother* sister* sibling* half-* twin* son sons daughter* elder younger",
    "place of birth": _BIRTH,
    "date of birth": f"{_BIRTH} b.",
    "place of death": _DEATH,
    "date of death": f"{_DEATH} d.",
    "place of burial": "buri* grave* tomb* cemeter* interr* remains mausoleum* entomb* rest* "
    "crypt* pantheon ashes",
    "headquarters location": "headquarter* based seat* office* located hq campus* home housed",
    "capital": "capital* seat* administrative",
    "capital of": "capital* seat* administrative",
    "shares border with": _BORDER,
    "educated at": _STUDY,
    "employer": _WORK,
    "founded by": _FOUNDING,
    "record label": "record* label* sign* releas* issu* imprint* contract* distribut* album*",
    "author": _WRITING,
    "composer": _MUSIC,
    "songwriter": _MUSIC,
    "screenwriter": "writ* wrote screenplay* script* story adapt*",
    "director": "direct* filmmaker* film-maker* film_by movie_by helm*",
    "producer": "produc*",
    "performer": _SINGING,
    "creator": _MAKING,
    "developer": _MAKING,
    "manufacturer": "manufactur* built build* made make* by produc* design* "
    "construct* develop* behind brand* marque*",
    "cast member": _PLAYING,
    "cast role": _PLAYING,
    "location of formation": f"{_FOUNDING} form* from based hail* origin* together",
    "mouth of the watercourse": _FLOW,
    "member of political party": "party parties member* politician* elect* candidat* represent* "
    "leader* nominat* senator* congress* minister* mp",
    "member of sports team": "play* sign* team* join* career footbal* transfer* club* season* "
    "coach* loan* draft* trad* debut* goal* pitch* captain* squad* roster* professional* for",
    "languages spoken, written or signed": "language* speak* spoke* writ* wrote fluent* in "
    "tongue translat* poet*",
    "drafted by": "draft* select* pick* chosen overall",
    "owned by": "own owns owned owner* owning project* official campus home brand* marque* "
    "belong* acqui* bought purchas* subsidiar* sold division part holding* "
    "held property possess* parent",
    "publisher": "publish* releas* issu* by press imprint print*",
    "original broadcaster": "air* broadcast* on network* premier* channel* televis* aired ran for",
    "work location": "work* active studio* based liv* taught career* office* found* practi*",
    "residence": "liv* resid* home* based house* moved settl* stay* dwell*",
}


def _pattern(cues: str) -> re.Pattern[str]:
    """One pattern for stems ("marri*"), whole words, and words in a row ("next_to")."""
    parts = [
        re.escape(cue).replace(r"\*", r"[\w'’-]*").replace("_", r"\s+") for cue in cues.split()
    ]
    return re.compile(rf"(?<![\w'’])(?:{'|'.join(parts)})(?![\w])", re.IGNORECASE)


CUES: Mapping[str, re.Pattern[str]] = {slot: _pattern(cues) for slot, cues in _STATED.items()}
"""Relation slot -> what states it; one match is enough."""

INSIDE = frozenset(
    (
        "located in the administrative territorial entity",
        "located in or next to body of water",
        "located on terrain feature",
        "continent",
        "country",
        "state",
        "city",
    )
)
"""Relations that need no word, only the order of names: "X, Kern County"."""

LIFE: Mapping[str, bool] = {
    "place of birth": False,
    "date of birth": False,
    "place of death": True,
    "date of death": True,
}
"""Relations that "(6 June 1906, Graz - 2 November 1994, Paris)" states: whether its second half."""

OF_ONE = frozenset((*LIFE, "headquarters location", "educated at", "residence"))
"""What a page states of its own subject: about another name it must say so more clearly."""

PLAYED = frozenset(("cast member", "cast role"))
"""Relations that a name in parentheses after a character states."""

WORDINGS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(asked, re.IGNORECASE), _pattern(cues))
    for asked, cues in (
        (r"\bnatural boundary\b", "boundar* divid* separat* natural"),
        (r"\bmarried\b|\bspouse\b", _MARRIAGE),
        (r"\bplace of death\b|\bdied?\b", _DEATH),
        (r"\bcrowned\b|\bcoronation\b", "crown* coronat* throne ascend* accede* king queen reign*"),
        (r"\bflow into\b|\btributary\b", _FLOW),
    )
)
"""How a question in free words asks, and what then states the answer."""
