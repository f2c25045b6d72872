"""Invented names that keep the kind and the shape of a real one.

A name is invented token by token: what carries identity is replaced, what carries shape (leading
article, particle, initial, generic word such as "University", "River" or "Band", generation
suffix) stays in place. A new token is ``prefix + core + ending``. All combinations of the three
inventories below were compared once with large word lists of ten European languages and with
the names of all populated places of 500 inhabitants and more, and the cores that met one were
left out, so an invented token is pronounceable and is no common word and no known place.

Drawing is deterministic: the generator is passed in, and nothing else is read.
"""

# ruff: noqa: SIM905 - a split string reads better than hundreds of quoted words

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np

__all__ = ["TakenNames", "fold", "identity_words", "invent"]

_CORES = (
    "balth bembr bethr bilth bimbr birv bithr bolth bombr borv brald bralm bralth bralv breld "
    "brelm brelth brelv brild brilm brilsk brilth brilv brimb brold brolm brolth brolv brulm "
    "brulth brulv brumb bulth bumbr bustr buthr dandr dathr delth dethr dilsk dilth dilv dimbr "
    "dindr dirg dirm dithr dolth drald dralm dralth dralv dramb dreld drelm drelth drelv dremb "
    "drild drilv drimb drind drold drolm drolsk drolth drolv dromb drond drulm drulth drulv "
    "drund dulth dulv duthr famb fambr fathr felth femb fembr ferth fethr findr fird firv fithr "
    "fobr folth folv fombr fothr fralm fralsk fralth fralv freld frelth frild frilm frilth "
    "frilv frimb frolm frolth frolv fruld frulm frulth frulv fubr fundr fustr futhr galth gathr "
    "gelth gelv gembr gethr gilsk gilth gimbr gindr githr golth gostr grald gralm gralth gralv "
    "greld grelm grelth grelv gremb grild grilm grilsk grilth grilv grimb grold grolth grolv "
    "gruld grulm grulth grulv gulth gulv gundr halth hastr hathr hemb hethr hilsk hilth himbr "
    "hirg hirl hirv hithr holth holv hostr hothr hudr huthr jalth jambr jarth jathr jedr jelth "
    "jelv jemb jestr jethr jilth jilv jimbr jirth jirv jithr jold jolsk jolth jolv jombr jondr "
    "jorth jostr jothr julm julth jumbr jurth justr juthr kethr kird kirl kladr klard klarth "
    "klarv klendr klerg klern klerth klerv klibr klindr klird klirg klirm klirn klirv klithr "
    "klombr klond klondr klord klorth klorv klothr kludr klumbr klurn kolth krald kralm kralth "
    "kramb krelth krild krimb krolm kruld kulth kuthr lathr lerth lethr limbr lird lirg lirm "
    "lirth lirv lithr lorth lurth malsk mathr melth methr midr milth mimb mimbr molv mombr mubr "
    "multh muthr nalm nalth nathr nelsk nelth nemb nembr nend nendr nethr nilth nimbr nindr "
    "nird nirn nirth nithr nodr nolm nolth nondr nothr nudr nulm nundr nurg nurth nuthr "
    "palth pelsk pelth pembr pidr pilth pimbr pindr pird pithr polth pothr pralm pralth preld "
    "prelm prelv premb prild prilm prilth prilv primb prold prolsk prolth prolv promb prond "
    "pruld prulm prulth prulv prumb pulth pundr purth puthr qualth qualv quamb quambr quarm "
    "quarth quarv quastr quedr queld quelm quelsk quelv quemb quembr quendr querd querg querv "
    "quibr quidr quild quirm quirth quirv quistr quithr quobr quodr quold quolm quolth "
    "quolv quomb quombr quondr quorg quorm quorth quorv quostr ralth ralv relth rild rilth rilv "
    "rolth ruld rulm rulsk rulth rulv salth selth serth sethr sindr sithr skabr skalth skambr "
    "skandr skarth skedr skelm skelth skelv skerg skerth skerv skestr skilm skilv skimbr skind "
    "skirth skistr skithr skolth skolv skombr skond skondr skorl skorm skorth skostr skothr "
    "skudr skulm skurm skurth skurv tastr thabr thadr thald thastr thebr thelsk therv thestr "
    "thibr thidr thilv thimbr thirg thirn tholv thond thondr thostr thulv thurv thustr tilsk "
    "tilv tird tistr tithr tothr tralv trelm trelth trilth trilv trolm tulsk tulth tulv tuthr "
    "valth vambr vathr velth vethr vilth vilv vimbr vindr virth vistr vithr volth vombr vorth "
    "vothr vubr vudr vulth vumbr vundr vurl vurth vustr vuthr walv wambr wathr welth welv wembr "
    "wilv wirg wirv wobr wolth wombr worv wostr wothr wulm wulsk wulth wumbr wurv yalth yambr "
    "yandr yastr yelth yemb yembr yendr yerl yestr yibr yidr yilm yilth yilv yimb yimbr yindr "
    "yirv yistr yithr yolm yolsk yolth yomb yombr yondr yorl yorv yostr yothr yubr yudr yuld "
    "yulth yulv yumbr yundr yurn yurth yustr yuthr zalth zarv zathr zelth zendr zerth zethr "
    "zilth zindr zirth zirv zithr zolm zolsk zolth zolv zombr zorl zorm zorth zothr zudr zuld "
    "zulth zulv zumbr zundr zurm zurth zustr zuthr "
).split()

# A prefix lengthens a token; the bare vowels also keep "an" right where a name began with one
# ("U" is left out: it may sound like "you").
_VOWEL_PREFIXES = ("a", "e", "i", "o")
_PREFIXES = tuple("ba bo da de do ga ha ka ke li lo mi na no ro ru sa ta ve wa yo za zo".split())

_ENDINGS: dict[str, tuple[str, ...]] = {
    "male": ("an", "or", "ec", "ic", "ulf", "eth", "imo", "on"),
    "female": ("a", "ia", "ine", "elle", "enna", "isa", "ora", "ith"),
    "surname": (
        *("ak", "en", "ell", "ich", "ano", "owe"),
        *("ard", "ino", "une", "ock", "ett", "ova"),
    ),
    "city": ("ow", "ana", "ern", "eda", "osk", "ilo", "ona", "ay", "ade", "unt"),
    "country": ("ia", "eria", "avia", "ovia", "una", "ania", "ora", "istan"),
    "river": ("a", "ir", "une", "ova", "ei", "ane", "el", "oo"),
    "mountain": ("ak", "un", "or", "ahn", "oth", "ik", "et", "ald"),
    "work": ("ane", "el", "eon", "ium", "ora", "in", "ade", "ish", "owe", "une"),
    "organization": ("ix", "eon", "ane", "ara", "ella", "orp", "ith", "ode", "isk", "uma"),
    "plural": ("els", "oons", "ards", "ines", "acks", "ettes"),
}

# Finer kinds (those of our own facts) and the shared ones, each with its style of ending.
_STYLES = {
    "person": "person",
    "city": "city",
    "town": "city",
    "place": "city",
    "landmark": "city",
    "building": "city",
    "country": "country",
    "region": "country",
    "river": "river",
    "lake": "river",
    "sea": "river",
    "mountain": "mountain",
    "island": "mountain",
}
_ORGANIZATIONS = frozenset(
    "organization organisation company university college school museum club team band group "
    "party agency maker developer studio newspaper".split()
)

_ARTICLES = frozenset("the a an le la les l' el los las il lo gli der die das".split())
_PARTICLES = frozenset(
    "of de da di du des del della dos das do van von den der the and y e et und in on at upon "
    "by for to from with without la le les el al bin ibn zu zur ter ten or".split()
)
_PERSON_PARTICLES = frozenset("van von de da di del della du la le el al bin ibn st. mc".split())
_SUFFIXES = frozenset("jr jr. sr sr. ii iii iv vi vii viii ix xi xii xiii xiv xv".split())
_TITLES = frozenset("sir dame lord lady saint st. st dr. dr king queen prince princess".split())

# Words of a band's name that would make a place of it.
_LANDSCAPE = frozenset(
    "river lake mount mountain mountains sea ocean bay gulf island islands isle peninsula desert "
    "valley cape strait falls county province state states city town district republic kingdom "
    "fort port bridge tower palace castle cathedral church abbey temple mosque house hall square "
    "park garden gardens street avenue station theatre theater".split()
)
# Words that name a class and not a member of it. They are kept, as part of the name's shape.
# Each must be generic to ``chaincheck.name_words`` too: a rename refuses a new name that shares
# a telling word with the old one.
_GENERIC = frozenset(
    # places and buildings
    "river lake mount mt mt. mountain mountains sea ocean bay gulf island islands isle peninsula "
    "desert valley cape strait falls county province state states city town district republic "
    "kingdom union united democratic federal new old great upper lower greater north south east "
    "west northern southern eastern western central san santa saint st. st fort port bridge tower "
    "palace castle cathedral church abbey temple mosque house hall square park garden gardens "
    "street avenue center centre airport station theatre theater "
    # organizations
    "university college institute school academy museum gallery library hospital national royal "
    "imperial international american british german french science technology company corporation "
    "corp corp. inc inc. ltd ltd. co co. group records studios studio pictures entertainment "
    "games game software bank band orchestra club association society foundation "
    "fc f.c. afc a.f.c. cf c.f. sc ac".split()
)
_FORMS = frozenset(
    "dr. mr. mrs. ms. st. no. concerto sonata suite overture symphony quartet quintet portrait "
    "self-portrait ballad".split()
)
_WORKS = frozenset(
    "work film movie novel book play painting opera song album game poem other series".split()
)

# The numbers of rulers and generations: II to XXXIX, no single letter, none above.
_ROMAN = re.compile(r"(?=[XVI]{2})X{0,3}(?:IX|IV|V?I{0,3})\Z")
_TOKEN = re.compile(r"(?P<left>[^\w]*)(?P<core>.*?)(?P<right>[^\w]*)\Z", re.DOTALL)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+\Z|[^\W\d_]\Z")
_ELISION = re.compile(r"(?P<head>[OoDdLl]['’])(?P<rest>[^\W\d_]{2,})\Z")
_GENITIVE = re.compile(r"(?P<rest>.+?)(?P<tail>['’]s|['’])\Z")

_CONSONANTS = "BDFGKLMNPRTVZ"
_VOWEL_SPOKEN = "FLMNR"  # consonants whose names begin with a vowel: "an F", "an L"
_CONSONANT_SPOKEN = "BDGKPTVZ"
_AROUND = ".,:;!?'’\"()"
_STEM = 4  # a shared beginning longer than this makes two words look related
_DRAWS = 8
_SHORT_TRIES = 30
_MOST_TRIES = 4000


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Fold case, accents and invisible characters, so that spellings can be compared."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(
        " " if c.isspace() else c
        for c in decomposed
        if not unicodedata.combining(c) and (c.isprintable() or c.isspace())
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", fold(text))


class TakenNames(Collection[str]):
    """Names (or whole texts) that a new name must not resemble, indexed for quick look-up.

    A plain collection does too, but is folded anew at every call of :func:`invent`.

    Args:
        names: names or texts; each of their words is taken.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: dict[str, None] = {}
        self._words: set[str] = set()
        self._stems: set[str] = set()
        self._tokens: set[str] = set()
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Take a name and each of its words."""
        self._names[name] = None
        self._tokens.update(token.strip(_AROUND) for token in fold(name).split())
        for word in _words(name):
            self._words.add(word)
            self._stems.update(word[:n] for n in range(_STEM, len(word)))

    def clashes(self, token: str) -> bool:
        """Say whether a token equals a taken word, begins like one, or goes on from one."""
        for word in _words(token):
            if word in self._words or (len(word) >= _STEM and word in self._stems):
                return True
            if word[: _STEM + 1] in self._stems:
                return True
            if any(word[:n] in self._words for n in range(_STEM, len(word))):
                return True
        return False

    def holds(self, token: str) -> bool:
        """Say whether a token, blanks around it, stands in a taken name as it is."""
        return fold(token).strip(_AROUND) in self._tokens

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _pick(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]


def _free(token: str, taken: tuple[TakenNames, ...]) -> bool:
    return not any(names.clashes(token) for names in taken)


def _word(style: str, like: str, rng: np.random.Generator, taken: tuple[TakenNames, ...]) -> str:
    """Draw one capitalised token whose length is near that of ``like`` and which is free.

    Raises:
        ValueError: the inventory is used up (it holds thousands of unrelated tokens).
    """
    vowel = fold(like[:1]) in _VOWEL_PREFIXES
    prefixed = len(like) > 8
    best: str | None = None
    drawn = 0
    for tried in range(_MOST_TRIES):
        if vowel:
            prefix = _pick(_VOWEL_PREFIXES, rng)
        else:
            # Long originals get a prefix, and so does every name once the short ones run out.
            prefixed = prefixed or (drawn == 0 and tried >= _SHORT_TRIES)
            prefix = _pick(_PREFIXES, rng) if prefixed else ""
        token = (prefix + _pick(_CORES, rng) + _pick(_ENDINGS[style], rng)).capitalize()
        if not _free(token, taken):
            continue
        drawn += 1
        if best is None or abs(len(token) - len(like)) < abs(len(best) - len(like)):
            best = token
        if drawn == _DRAWS:
            break
    if best is None:
        raise ValueError(f"no free invented name is left for {like!r}")
    return best


def _letters(like: str, rng: np.random.Generator) -> str:
    """Draw other letters and digits for an acronym, an initial or a number, place by place."""
    out: list[str] = []
    for place, char in enumerate(like):
        if char.isdigit():
            pool = "123456789" if place == 0 or not like[place - 1].isdigit() else "0123456789"
        elif char.isalpha() and fold(char).isalpha():
            pool = _CONSONANTS
            if place == 0:  # "an FBI agent" against "a BBC one"
                spoken = fold(char)[0] in "aefhilmnorsx"
                pool = _VOWEL_SPOKEN if spoken else _CONSONANT_SPOKEN
        else:
            out.append(char)
            continue
        drawn = _pick([c for c in pool if c != fold(char).upper()], rng)
        out.append(drawn.lower() if char.islower() else drawn)
    return "".join(out)


def _is_acronym(core: str) -> bool:
    letters = [c for c in core if c.isalpha()]
    if any(c.isdigit() for c in core):
        return len(letters) <= 3
    return 2 <= len(letters) <= 5 and core.isupper()


def _core(token: str) -> str:
    """Strip what stands around a token, but leave an abbreviation its period."""
    match = _TOKEN.match(token)
    core = match["core"] if match else token
    dotted = f"{core}."
    folded = dotted.casefold()
    known = any(folded in words for words in (_GENERIC, _FORMS, _TITLES, _SUFFIXES))
    if core and dotted in token and (known or _INITIALS.match(dotted)):
        return dotted
    return core or token


def _kept(core: str, kind: str, *, first: bool, capitals: bool) -> bool:
    """Say whether a token belongs to the shape of the name and so stays."""
    folded = core.casefold()
    if not any(c.isalnum() for c in core):
        return True
    if core == folded and capitals and any(c.isalpha() for c in core):
        return True  # particles, articles and the small words of titles
    if _ROMAN.match(core) or folded in _SUFFIXES:
        return True
    if kind == "person":
        # "Bolesław I the Tall": behind a name a lone I is the first of that name, no initial.
        return folded in _TITLES if first else folded in _PERSON_PARTICLES or core == "I"
    if core in {"A", "I", "O"} or folded in _PARTICLES or (first and folded in _ARTICLES):
        return True
    # "Madina Lake" is a band and no lake; "Dulvara Lake" would be one.
    misleading = kind == "band" and folded in _LANDSCAPE
    return not misleading and folded in (_FORMS if kind in _WORKS else _GENERIC)


def _invent_core(
    core: str, style: str, rng: np.random.Generator, taken: tuple[TakenNames, ...]
) -> str:
    """Invent what stands for one token, hyphens, elisions and possessives kept."""
    if _INITIALS.match(core):
        return _letters(core, rng)  # an initial alone names nobody, so it may recur
    if _is_acronym(core):
        for _ in range(_MOST_TRIES):
            letters = _letters(core, rng)
            if not any(names.holds(letters) for names in taken):
                return letters
        raise ValueError(f"no free invented letters are left for {core!r}")
    if match := _GENITIVE.match(core):
        return _invent_core(match["rest"], style, rng, taken) + match["tail"]
    if match := _ELISION.match(core):
        return match["head"] + _word(style, match["rest"], rng, taken)
    if "-" in core.strip("-"):
        parts = core.split("-")
        return "-".join(
            part
            if not part or (part.islower() and place and part in _PARTICLES)
            else _invent_core(part, style, rng, taken)
            for place, part in enumerate(parts)
        )
    return _word(style, core, rng, taken)


def _style(kind: str, pronoun: str | None, *, last: bool, alone: bool, core: str) -> str:
    if kind == "person":
        if last and not alone:
            return "surname"
        return "female" if pronoun == "she" else "male"
    if kind in _ORGANIZATIONS:
        plural = last and pronoun == "they" and core.endswith("s")
        return "plural" if plural else "organization"
    return _STYLES.get(kind, "work")


@lru_cache(maxsize=65536)
def identity_words(name: str) -> tuple[str, ...]:
    """The words of a name that tell which one it is: no articles, particles, generic words.

    Returns:
        Folded words in order. A name made of nothing else gives all its words, so the result is
        empty only for a name without letters and digits.
    """
    words = tuple(
        word
        for token in name.split()
        for word in _words(token)
        if word not in _ARTICLES | _PARTICLES | _GENERIC | _FORMS | {"s"}
        and not (len(word) == 1 and word.isalpha())
    )
    return words or tuple(_words(name))


def invent(
    kind: str | None,
    like: str,
    rng: np.random.Generator,
    taken: Collection[str],
    pronoun: str | None = None,
) -> str:
    """Invent a name of the kind and shape of a real one.

    Kept: the number of tokens, a leading article, particles ("of", "de", "von"), generic words
    ("University", "River", "Band"; of a name made of nothing else the first one is replaced),
    initials as initials and acronyms as acronyms of other letters, digits as other digits,
    generation suffixes, hyphens, possessives, and whether the name begins with a vowel sound.
    A person's given names follow the pronoun: "she" or any other.

    Args:
        kind: "person", "place", "organization", "work", "other", None, or a finer kind ("city",
            "country", "river", "mountain", "company", "university", "film", ...); an unknown
            one is treated as a work.
        like: the real name.
        rng: the generator; the same state gives the same name.
        taken: names or texts from which the new name must keep clear: no word of it equals,
            begins or continues one of theirs. Not changed; add the result to it yourself. A
            :class:`TakenNames` saves indexing it at every call.
        pronoun: pronoun of the entity, if known.

    Returns:
        A capitalised name, no word of which stands in ``taken`` except for what is kept.

    Raises:
        ValueError: ``like`` is blank, or no free name is left.
    """
    tokens = like.split()
    if not tokens:
        raise ValueError("a name to invent after is blank")
    given = taken if isinstance(taken, TakenNames) else TakenNames(taken)
    own = TakenNames([like])
    cores = [_core(token) for token in tokens]
    capitals = any(c.isupper() for c in like)
    kind = kind or "other"
    kept = [
        _kept(core, kind, first=place == 0, capitals=capitals) for place, core in enumerate(cores)
    ]
    if all(kept):
        small = _ARTICLES | _PARTICLES
        free = [p for p, core in enumerate(cores) if core.casefold() not in small]
        # "National Gallery" loses its first word, "Museum of Modern Art" the one after "of".
        of = [p for p in free if p and cores[p - 1].casefold() == "of"]
        kept[(of or free or [len(cores) - 1])[0]] = False
    changed = [place for place, keep in enumerate(kept) if not keep]
    out: list[str] = []
    for place, (token, core) in enumerate(zip(tokens, cores, strict=True)):
        if kept[place]:
            out.append(token)
            continue
        style = _style(kind, pronoun, last=place == changed[-1], alone=len(changed) == 1, core=core)
        name = _invent_core(core, style, rng, (given, own))
        own.add(name)
        out.append(token.replace(core, name, 1))
    return " ".join(out)
