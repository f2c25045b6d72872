"""Ways to an answer that do not lead over the bridge: what a broken context must not hold.

Everything here is generous on purpose. A form of the answer that merely may be one, or a word of
the question that merely may name its subject, is enough to reject a triplet, since a broken cell
that still answers the question costs more than a lost triplet.
"""

# ruff: noqa: SIM905 - a split string reads better than hundreds of quoted words

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chaincheck import gazetteer
from chaincheck.name_words import GENERIC, HONORIFICS

__all__ = [
    "FAMILY",
    "Subject",
    "answer_forms",
    "answer_traces",
    "capitalized_words",
    "distinctive",
    "fold_tokens",
    "holds",
    "holds_name",
    "lone_surname",
    "sentences",
    "step_anchor",
    "step_words",
    "subject_of",
    "subject_traces",
]

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’`][^\W\d_]+)*")
_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_DATE = re.compile(
    r"(?P<d1>\d{1,2})\s+(?P<m1>[A-Z][a-z]+),?\s+(?P<y1>\d{3,4})"
    r"|(?P<m2>[A-Z][a-z]+)\s+(?P<d2>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<y2>\d{3,4})"
    r"|(?P<m3>[A-Z][a-z]+)\s+(?P<y3>\d{3,4})",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b1\d{3}\b|\b20\d{2}\b")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9])|\n+")
_TITLES = frozenset(
    "sir dame lord lady king queen prince princess duke duchess earl count countess baron "
    "baroness emperor empress saint st dr mr mrs ms pope president senator admiral general adm "
    "gen colonel captain professor prof archduke archduchess".split()
)
# Words of questions that say nothing about whom or what they ask.
_STOP = frozenset(
    """
    a an and are as at be been being besides both but by did do does for from had has have he her
    hers him his how i if in into is it its itself last like made make many me more most my name
    named names no not of off on one or other our out over own s same she so some such t than that
    the their them then there these they this those through to too two under up upon used was way
    we were what when where which while who whom whose why will with would you your also along
    actor actors actress play plays played playing player role part character characters cast
    member members star stars starred starring act acted voice voices voiced sing sings sang sung
    singer song songs album albums perform performs performed performer performance artist artists
    band group single singles movie movies film films show shows series season episode tv
    television book books novel author authors write writes wrote written writer publish published
    publisher direct directed director produce produced producer compose composed composer create
    created creator creators develop developed developer develops make makes maker manufacture
    manufactured manufacturer work works worked working person people man woman men women guy girl
    boy first second third main original new old best long longest largest biggest top current
    currently time times year years date day ever find found known call called considered become
    became say said says did win won wins winner get gets got take takes took use uses go goes
    went come came give gives gave hold holds held live lives lived born birth death die died
    place located location country state city town county river area region world company team
    father mother husband wife spouse son daughter child children brother sister sibling parent
    married marry marries full real during after before between about against within without only
    help helped lead led leader leaders head king queen president
    """.split()
)
FAMILY = frozenset("father mother spouse child sibling husband wife son daughter relative".split())


@lru_cache(maxsize=65536)
def fold_tokens(text: str) -> tuple[str, ...]:
    """Lower-case tokens without accents, invisible characters, possessives and punctuation.

    Numbers keep their decimals and lose their thousands separators.
    """
    return tuple(folded for folded, _ in _cased_tokens(text))


@lru_cache(maxsize=4096)
def _cased_tokens(text: str) -> tuple[tuple[str, bool], ...]:
    visible = "".join(ch for ch in text if unicodedata.category(ch) != "Cf")
    plain = "".join(
        ch for ch in unicodedata.normalize("NFKD", visible) if not unicodedata.combining(ch)
    )
    tokens = []
    for match in _TOKEN.finditer(plain):
        raw = match.group()
        if raw[0].isdigit():
            whole = re.sub(r",(?=\d{3}(?:\D|$))", "", raw)
            tokens.append((whole, True))
            continue
        word = raw.replace("’", "'").replace("`", "'").casefold()
        for tail in ("'s", "'"):
            word = word.removesuffix(tail)
        # "iPhone" is a name too, and scripts without capitals write names as they write all.
        named = not raw[0].islower() or any(letter.isupper() for letter in raw)
        tokens.append((word, named))
    return tuple(tokens)


@lru_cache(maxsize=16384)
def _padded(text: str) -> str:
    return f" {' '.join(fold_tokens(text))} "


def holds(text: str, phrase: str) -> bool:
    """Whether the tokens of ``phrase`` stand in ``text`` in a row, case and accents apart."""
    wanted = fold_tokens(phrase)
    return bool(wanted) and f" {' '.join(wanted)} " in _padded(text)


def holds_name(text: str, name: str) -> bool:
    """Like ``holds``, but a name of common words must be capitalized in the text as well."""
    wanted = fold_tokens(name)
    if not wanted or f" {' '.join(wanted)} " not in _padded(text):
        return False
    tokens = _cased_tokens(text)
    content = [index for index, word in enumerate(wanted) if word not in _STOP] or [0]
    size = len(wanted)
    for start in range(len(tokens) - size + 1):
        same = all(tokens[start + offset][0] == wanted[offset] for offset in range(size))
        if same and all(tokens[start + index][1] for index in content):
            return True
    return False


def lone_surname(surname: str, text: str) -> bool:
    """Whether a surname stands in a text other than at the end of somebody's full name.

    "John Huston" is another person; "Huston" and "Huston Productions" may be the one sought.
    """
    tokens = _cased_tokens(text)
    for place, (word, upper) in enumerate(tokens):
        if word != surname or not upper:
            continue
        before = tokens[place - 1] if place else ("", False)
        after = tokens[place + 1] if place + 1 < len(tokens) else ("", False)
        named = before[1] and not before[0][0].isdigit() and before[0] not in _STOP
        longer = after[1] and after[0] in GENERIC and after[0] not in _STOP
        if not named or longer:
            return True
    return False


def capitalized_words(text: str) -> frozenset[str]:
    """Folded words that a text writes with a capital at least once."""
    return frozenset(word for word, upper in _cased_tokens(text) if upper)


def sentences(text: str) -> list[str]:
    """Split a passage into sentences, roughly; a title is one of its own."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def distinctive(name: str) -> tuple[str, ...]:
    """The folded tokens of a name that may point at its bearer: no articles, titles, initials."""
    return tuple(
        word
        for word in fold_tokens(name)
        if len(word) > 2
        and word not in _TITLES
        and word not in {"the", "and", "von", "van", "der", "del", "dos", "bin", "ibn", "jr"}
    )


def _dates(text: str) -> list[tuple[str, str, str]]:
    found = []
    for match in _DATE.finditer(text):
        groups = match.groupdict()
        day = groups["d1"] or groups["d2"] or ""
        month = (groups["m1"] or groups["m2"] or groups["m3"] or "").casefold()
        year = groups["y1"] or groups["y2"] or groups["y3"] or ""
        if month in _MONTHS:
            found.append((day, month, year))
    return found


def _date_traces(form: str) -> list[str]:
    """What of a date gives it away: its month and year, its day and month, a lone year."""
    dates = _dates(form)
    found = [f"{month} {year}" for _, month, year in dates]
    for day, month, _ in dates:
        if day:
            found += [f"{day} {month}", f"{month} {day}"]
    return found or _YEAR.findall(form)


def answer_forms(answer: str, aliases: Iterable[str] = ()) -> tuple[str, ...]:
    """Wordings that count as the answer: itself, its aliases, and a date in either order."""
    forms = [answer, *aliases]
    for day, month, year in _dates(answer):
        # Only where the date is the whole answer may another order replace it.
        if len(fold_tokens(answer)) <= 3 and day:
            forms += [f"{day} {month} {year}", f"{month} {day} {year}"]
    return tuple(dict.fromkeys(form for form in forms if fold_tokens(form)))


def answer_traces(
    answer: str, aliases: Iterable[str] = (), *, person: bool = False
) -> tuple[str, ...]:
    """Whatever may give the answer away: its forms, and their telling parts.

    For a place its first part ("Montreal" of "Montreal, Quebec") and a country's adjective; for
    a person the name without titles, and the surname; for a date its day or year with the
    month; for a year, or a phrase that holds one, the year.

    Args:
        answer: the answer.
        aliases: other wordings of it.
        person: whether the answer is a person.
    """
    forms = answer_forms(answer, aliases)
    # An alias that is a country, a nationality or a lone common word says too little.
    traces: list[str] = [
        form
        for form in forms
        if form == answer
        or len(fold_tokens(form)) > 1
        or not (form.islower() or gazetteer.is_common(fold_tokens(form)[0]))
    ]
    for form in tuple(traces):
        first = form.split(",")[0]
        if first != form and distinctive(first):
            traces.append(first)
        tokens = fold_tokens(first)
        bare = " ".join(word for word in tokens if word not in _TITLES)
        if bare and bare != " ".join(tokens) and len(bare) > 2:
            traces.append(bare)
        if form == answer:
            adjective = gazetteer.demonym(" ".join(word for word in tokens if word != "the"))
            traces += [adjective] if adjective else []
        if person and len(tokens) > 1:
            name = [word for word in fold_tokens(first) if word in distinctive(first)]
            if name:
                traces.append(name[-1])
        traces += _date_traces(form)
    return tuple(dict.fromkeys(traces))


@dataclass(frozen=True)
class Subject:
    """The earlier hop's subject, as far as the wording tells.

    Attributes:
        names: names of it, or of what stands beside it in the question.
        words: telling folded words of the question; two of them in one sentence describe it.
        parts: folded words that alone name it (given names of relatives).
    """

    names: tuple[str, ...]
    words: frozenset[str]
    parts: frozenset[str]


_LAND = re.compile(
    r"(?P<name>[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*) "
    r"(?:County|Province|District|Region|Township|Parish|Prefecture|Voivodeship|Governorate)"
)


def _stem(word: str) -> str:
    for tail in ("ing", "ed", "es", "s"):
        shortest = 2 if tail == "s" else 3  # "cups" is of "cup", "used" of nothing
        if len(word) > len(tail) + shortest and word.endswith(tail):
            return word[: -len(tail)]
    return word


def step_words(text: str, known: Iterable[str]) -> frozenset[str]:
    """The stems of a text's telling words that are not among ``known``, names and all."""
    left_out = set(known)
    return frozenset(
        _stem(word)
        for word in fold_tokens(text)
        if len(word) > 3 and word not in _STOP and word not in left_out and not word[0].isdigit()
    )


def _runs(question: Sequence[str], support: str) -> list[str]:
    """Maximal token runs of a question that stand in a passage as capitalized names."""
    cased = _cased_tokens(support)
    padded = _padded(support)
    capitalized = {word for word, upper in cased if upper and not word[0].isdigit()}
    runs: list[str] = []
    start = 0
    while start < len(question):
        end = start
        while end < len(question) and f" {' '.join(question[start : end + 1])} " in padded:
            end += 1
        run = list(question[start:end])
        while run and (run[0] in _STOP or run[0] not in capitalized):
            run.pop(0)
        while run and (run[-1] in _STOP or run[-1] not in capitalized):
            run.pop()
        if run:
            runs.append(" ".join(run))
        start = max(end, start + 1)
    return runs


def subject_of(
    *,
    subject: str | None,
    question: str,
    relation: str | None,
    support_title: str,
    support: str,
    bridge: str,
) -> Subject:
    """Work out how a text may name what the earlier hop asks about.

    The source's subject, the title of the earlier support (unless it is the bridge's own page),
    and the parts of the question that the support writes as names.
    """
    bridge_words = set(distinctive(bridge))
    names: list[str] = []
    if subject:
        names.append(subject)
        bare = re.sub(r"\s*[(\[].*?[)\]]", "", subject).split(",")[0].strip()
        if bare and bare != subject:
            names.append(bare)
        land = _LAND.fullmatch(bare)
        if land and not gazetteer.is_common(land["name"].casefold()):
            names.append(land["name"])  # "the counties Pima and Cochise"
    asked = subject or question
    # A page on something wider than the question ("Muslim world") is not its subject.
    title_words = set(distinctive(support_title))
    if title_words and not title_words & bridge_words and title_words & set(fold_tokens(asked)):
        names.append(support_title)
    tokens = [word for word in fold_tokens(asked) if not word.startswith("#")]
    for run in _runs(tokens, support):
        parts_of_run = run.split()
        lone = len(parts_of_run) == 1
        # One word of a longer subject names it no more ("happy" in "Happy Mother's Day").
        part = subject is not None and len(tokens) > 1
        vague = part or gazetteer.is_common(run) or run in GENERIC or len(run) < 3
        if set(parts_of_run) <= bridge_words or (lone and vague):
            continue
        names.append(run)
    words = frozenset(
        _stem(word)
        for word in tokens
        if len(word) > 2
        and word not in _STOP
        and word not in bridge_words
        and not gazetteer.is_common(word)
    )
    parts: frozenset[str] = frozenset()
    if relation in FAMILY and subject:
        given = [word for word in distinctive(subject) if word not in _STOP]
        parts = frozenset(word for word in given[:1] if word not in bridge_words)
        # Relatives share surnames, titles and lands; the given name tells them apart.
        words = frozenset() if parts else words
    return Subject(tuple(dict.fromkeys(names)), words, parts)


# Steps whose answer belongs to the pair of the bridge and the named thing ("who does #1 play in
# True Grit", "when did #1 win the FA Cup", "who sang it with #1"): without the bridge the named
# thing has several answers.
_OF_THE_PAIR = re.compile(
    r"\b(?:play|plays|played|portray\w*|voiced?|voices|character|role|name|wife|husband"
    r"|girlfriend|boyfriend|daughter|son|father|mother|brother|sister|win|won|wins|have|has"
    r"|signed|marry|married|rank|ranks|become|became|end|along with|besides)\b|\bwith #\d"
)
_REFERENCE = re.compile(r"#\d+")


def step_anchor(question: str, support_title: str, support: str) -> str | None:
    """A name in a step's question that leads to its answer without the bridge, or None.

    "When did #1 release Best Day Ever?" is answered by the page on Best Day Ever, whoever
    released it. Only questions that mark the bridge by "#" and a number can be read this way.
    """
    if not _REFERENCE.search(question) or ">>" in question:
        return None
    if _OF_THE_PAIR.search(question.casefold()):
        return None
    bare = _REFERENCE.sub(" ", question)
    title = fold_tokens(support_title)
    asked = f" {' '.join(fold_tokens(bare))} "
    if len(title) > 1 and f" {' '.join(title)} " in asked and set(title) - GENERIC:
        return support_title
    for run in _runs(fold_tokens(bare), support):
        dull = GENERIC | _STOP | HONORIFICS  # "chief justice" is an office, not a name
        telling = [word for word in run.split() if word not in dull]
        if len(run.split()) > 1 and telling and not all(map(gazetteer.is_common, telling)):
            return run
    return None


def subject_traces(subject: Subject, text: str) -> tuple[str, ...]:
    """What in ``text`` names or describes the subject; empty where nothing does."""
    found = [name for name in subject.names if holds_name(text, name)]
    capitalized = {word for word, upper in _cased_tokens(text) if upper}
    found += sorted(part for part in subject.parts if part in capitalized)
    if len(subject.words) >= 2:
        for sentence in sentences(text):
            here = {_stem(word) for word in fold_tokens(sentence)} & subject.words
            if len(here) >= 2:
                found.append(" + ".join(sorted(here)))
                break
    return tuple(found)
