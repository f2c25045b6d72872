"""Our own sentences: how each pair of relations is asked and told.

The texts stand in ``pairs.toml``; this module reads them strictly and fills their slots for a
row. A phrasing with a slot that the row cannot fill (no year, no surname) is not used for it.
"""

from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from chaincheck import names
from chaincheck.errors import InvalidItem, UnreadableFile
from chaincheck.invented import fold
from chaincheck.sources.facts.tables import Row

__all__ = ["PHRASINGS", "Pair", "Phrasing", "Phrasings", "coarse", "load_phrasings", "surname"]

PHRASINGS = Path(__file__).with_name("pairs.toml")
FEWEST = 4  # phrasings a question and a relation

_COARSE = {
    "person": "person",
    **dict.fromkeys(("city", "country", "river", "mountain", "landmark", "building"), "place"),
    **dict.fromkeys(("company", "university", "museum", "club", "band"), "organization"),
    **dict.fromkeys(
        ("film", "novel", "painting", "opera", "play", "song", "album", "game", "work"), "work"
    ),
    **dict.fromkeys(("car", "other"), "other"),
}
_PRONOUNS = {
    "he": {"he": "he", "him": "him", "his": "his"},
    "she": {"he": "she", "him": "her", "his": "her"},
    "it": {"he": "it", "him": "it", "his": "its"},
    "they": {"he": "they", "him": "them", "his": "their"},
}
_VERBS = {"is": "are", "was": "were", "has": "have"}
_SLOTS = frozenset(
    (
        *("head", "alias", "year", "bridge", "surname", "byear", "answer", "role", "a_role"),
        *("the_head", "The_head", "the_alias", "the_bridge", "The_bridge"),
        *("the_answer", "The_answer", "he", "He", "him", "his", "His", "is", "was", "has"),
    )
)
_BRIDGE_SLOTS = frozenset(("bridge", "the_bridge", "The_bridge"))


class Phrasing(msgspec.Struct, frozen=True):
    """One wording of a question or of a passage.

    Attributes:
        text: the words, with slots.
        slots: the slots, in order, each as often as it stands.
    """

    text: str
    slots: tuple[str, ...]

    @property
    def mentions(self) -> tuple[int, int]:
        """How often the bridge is named in full and by its surname.

        Two passages with equal counts hold the bridge's names equally often, so that exchanging
        two bridges between them changes neither counts nor length.
        """
        full = sum(slot in _BRIDGE_SLOTS for slot in self.slots)
        return full, self.slots.count("surname")

    def fill(self, words: Mapping[str, str]) -> str | None:
        """Fill the slots; None if one of them has no word."""
        if any(slot not in words for slot in self.slots):
            return None
        # A name may bring the mark that ends the sentence: "Washington, D.C.", "Instant Karma!".
        return re.sub(r"(?<![.!?])([.!?])[.](?=\s|$)", r"\1", self.text.format_map(words))


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of relations.

    Attributes:
        name: the table's name.
        head: fine kind of the head ("film"); so for bridge and answer.
        bridge: see ``head``.
        answer: see ``head``.
        earlier: slot of the first relation.
        later: slot of the second relation.
        role: the bridge's occupation; empty for places and organizations.
        questions: wordings of the question.
        earlier_passages: wordings of the first relation's passage.
        later_passages: wordings of the second relation's passage.
    """

    name: str
    head: str
    bridge: str
    answer: str
    earlier: str
    later: str
    role: str
    questions: tuple[Phrasing, ...]
    earlier_passages: tuple[Phrasing, ...]
    later_passages: tuple[Phrasing, ...]


class Phrasings(msgspec.Struct, frozen=True, kw_only=True):
    """All pairs, and which names are written with "the".

    Attributes:
        pairs: by name.
        with_article: names that take "the" although their kind goes without.
        without_article: names that take none although their kind goes with it.
        article_kinds: kinds whose names take "the".
        no_surname: persons whose last word is no surname.
    """

    pairs: dict[str, Pair]
    with_article: frozenset[str]
    without_article: frozenset[str]
    article_kinds: frozenset[str]
    no_surname: frozenset[str]

    def takes_article(self, name: str, kind: str) -> bool:
        """Whether running text writes "the" before a name that does not begin with it."""
        if re.match(r"(?i)the\b", name) or name in self.without_article:
            return False
        if name in self.with_article or kind in self.article_kinds:
            return True
        return kind == "university" and name.startswith(("University of", "Technical University"))

    def words(self, row: Row, articles: Mapping[str, bool] | None = None) -> dict[str, str]:
        """The word for each slot that a row can fill, aliases aside.

        Args:
            row: the row.
            articles: whether head, bridge and answer take "the", for invented names, which
                inherit it; None reads it off the names.
        """
        pair = self.pairs[row.pair]
        kinds = {"head": pair.head, "bridge": pair.bridge, "answer": pair.answer}
        words = {"head": row.head, "bridge": row.bridge, "answer": row.answer}
        for role, kind in kinds.items():
            name = words[role]
            takes = articles[role] if articles else self.takes_article(name, kind)
            words[f"the_{role}"] = f"the {name}" if takes else name
            words[f"The_{role}"] = f"The {name}" if takes else name[0].upper() + name[1:]
        if row.head_year is not None:
            words["year"] = str(row.head_year)
        if row.bridge_year is not None:
            words["byear"] = str(row.bridge_year)
        if pair.role:
            words["role"] = pair.role
            words["a_role"] = f"{'an' if pair.role[0] in 'aeiou' else 'a'} {pair.role}"
        if pair.bridge == "person" and row.bridge not in self.no_surname:
            family = surname(row.bridge, row.bridge_aliases)
            words |= {"surname": family} if family else {}
        forms = _PRONOUNS[row.pronoun]
        words |= forms | {"He": forms["he"].capitalize(), "His": forms["his"].capitalize()}
        return words | {
            verb: plural if row.pronoun == "they" else verb for verb, plural in _VERBS.items()
        }

    def with_alias(self, words: dict[str, str], row: Row, alias: str) -> dict[str, str]:
        """Add an alias of the head to a row's words."""
        pair = self.pairs[row.pair]
        takes = alias in self.with_article or (
            words["the_head"] != words["head"] and self.takes_article(alias, pair.head)
        )
        return words | {"alias": alias, "the_alias": f"the {alias}" if takes else alias}


def coarse(kind: str) -> str:
    """The shared kind (person, place, organization, work, other) of a fine one."""
    return _COARSE[kind]


@lru_cache(maxsize=4096)
def surname(name: str, aliases: tuple[str, ...] = ()) -> str | None:
    """The surname by which a text may go on naming a person; None unless it is certain.

    Certain is the last word of "Given Family" and of a name with initials ("J. K. Rowling",
    "F. Scott Fitzgerald"). Particles, double surnames, family name first and single names are
    not taken apart, unless an alias says that the last word alone names the person.
    """
    tokens = name.split()
    last = tokens[-1]
    parts = names.person(name)
    if len(tokens) < 2 or not parts.certain or parts.suffix or parts.surname_text != last:
        return None
    # "Márquez" is not the surname of one who is also called "García Márquez".
    folded = [fold(token) for token in tokens]
    endings = [folded[start:] for start in range(1, len(tokens) - 1)]
    if tokens[0] in aliases or any(fold(alias).split() in endings for alias in aliases):
        return None
    initials = [token for token in tokens[:-1] if re.fullmatch(r"(?:\w\.)+", token)]
    plain = len(tokens) == 2 or len(tokens) - len(initials) <= 2 or initials == tokens[:1]
    return last if plain or last in aliases else None


def _fail(path: Path, where: str, problem: str) -> InvalidItem:
    return InvalidItem(
        problem, path=path, item=where, remedy="See the comments at the head of the file"
    )


def _phrasings(path: Path, where: str, texts: Any) -> tuple[Phrasing, ...]:
    if not isinstance(texts, list) or len(texts) < FEWEST or len(set(texts)) < len(texts):
        raise _fail(path, where, f"needs at least {FEWEST} different phrasings")
    found: list[Phrasing] = []
    for text in texts:
        slots = tuple(slot for _, slot, _, _ in string.Formatter().parse(text) if slot is not None)
        if unknown := set(slots) - _SLOTS:
            raise _fail(path, where, f"unknown slot {sorted(unknown)[0]!r}")
        found.append(Phrasing(text, slots))
    return tuple(found)


def _strings(path: Path, where: str, table: Mapping[str, Any], keys: Sequence[str]) -> list[str]:
    for key in keys:
        if not isinstance(table.get(key), str):
            raise _fail(path, where, f"lacks {key!r}")
    return [table[key] for key in keys]


def load_phrasings(path: Path = PHRASINGS) -> Phrasings:
    """Read the phrasings.

    Raises:
        UnreadableFile: missing or not TOML.
        InvalidItem: a pair or relation with too few phrasings, an unknown slot, an unknown
            kind, or a relation that no table of relations words.
    """
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"cannot be read as TOML: {error}", path=path) from error
    later = {
        slot: _phrasings(path, f"relations.{slot}", relation.get("passages"))
        for slot, relation in data.get("relations", {}).items()
    }
    pairs: dict[str, Pair] = {}
    for name, table in data.get("pairs", {}).items():
        where = f"pairs.{name}"
        head, bridge, answer, first, second = _strings(
            path, where, table, ("head", "bridge", "answer", "earlier", "later")
        )
        for kind in (head, bridge, answer):
            if kind not in _COARSE:
                raise _fail(path, where, f"unknown kind {kind!r}")
        if second not in later:
            raise _fail(path, where, f"no phrasings for the relation {second!r}")
        pairs[name] = Pair(
            name=name,
            head=head,
            bridge=bridge,
            answer=answer,
            earlier=first,
            later=second,
            role=str(table.get("role", "")),
            questions=_phrasings(path, where, table.get("questions")),
            earlier_passages=_phrasings(path, where, table.get("passages")),
            later_passages=later[second],
        )
    articles = data.get("articles", {})
    return Phrasings(
        pairs=pairs,
        with_article=frozenset(articles.get("with", ())),
        without_article=frozenset(articles.get("without", ())),
        article_kinds=frozenset(articles.get("kinds", ())),
        no_surname=frozenset(data.get("people", {}).get("no_surname", ())),
    )
