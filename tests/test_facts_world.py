"""The invented world: one invented name for each entity, of its kind, real nowhere."""

from __future__ import annotations

import re
from functools import lru_cache

from chaincheck.invented import fold
from chaincheck.sources.facts import load_tables
from chaincheck.sources.facts.phrasings import load_phrasings
from chaincheck.sources.facts.world import Told, invented_world, real_world

ROLES = ("head", "bridge", "answer")


@lru_cache
def world(seed: int = 0) -> tuple[Told, ...]:
    return tuple(invented_world(load_tables(), load_phrasings(), seed))


def pairs_of_names() -> list[tuple[str, str, str]]:
    """(kind, real, invented) of every place in the tables."""
    phrasings = load_phrasings()
    found = []
    for real, told in zip(load_tables(), world(), strict=True):
        pair = phrasings.pairs[real.pair]
        for role in ROLES:
            found.append((getattr(pair, role), getattr(real, role), getattr(told.row, role)))
    return found


def test_one_name_for_each_entity_and_one_entity_for_each_name() -> None:
    forward: dict[tuple[str, str], str] = {}
    back: dict[str, tuple[str, str]] = {}
    for kind, real, new in pairs_of_names():
        assert forward.setdefault((kind, fold(real)), new) == new
        assert back.setdefault(fold(new), (kind, fold(real))) == (kind, fold(real))


def test_no_invented_name_is_a_real_one() -> None:
    rows = load_tables()
    real = {
        fold(name)
        for row in rows
        for role in ROLES
        for name in (getattr(row, role), *getattr(row, f"{role}_aliases"))
    }
    for told in world():
        for role in ROLES:
            names = (getattr(told.row, role), *getattr(told.row, f"{role}_aliases"))
            assert not {fold(name) for name in names} & real


def test_names_look_like_names() -> None:
    for kind, real, new in pairs_of_names():
        assert new[0].isupper() or new[0].isdigit() or new.startswith("the "), (real, new)
        assert len(new.split()) == len(real.split())
        if kind == "person":
            assert re.fullmatch(r"[^\d]+", new)


def test_gender_years_articles_and_line_stay() -> None:
    phrasings = load_phrasings()
    real = real_world(load_tables(), phrasings)
    for old, new in zip(real, world(), strict=True):
        assert (old.row.pronoun, old.row.head_year, old.row.bridge_year, old.row.line) == (
            new.row.pronoun,
            new.row.head_year,
            new.row.bridge_year,
            new.row.line,
        )
        assert old.key == new.key
        for role in ROLES:
            assert (old.words[f"the_{role}"] != old.words[role]) == (
                new.words[f"the_{role}"] != new.words[role]
            )
        if phrasings.pairs[old.row.pair].bridge == "person":
            given = new.row.bridge.split()[0]
            if len(given) > 2 and given != "Lady":  # an initial, a title
                feminine = given.endswith(("a", "ine", "elle", "ith"))
                assert feminine == (old.row.pronoun == "she"), new.row.bridge


def test_aliases_follow_the_names() -> None:
    for told in world():
        row = told.row
        for alias in (*row.bridge_aliases, *row.answer_aliases):
            whole = row.bridge if alias in row.bridge_aliases else row.answer
            assert alias in whole and alias != whole


def test_same_seed_same_world() -> None:
    assert tuple(invented_world(load_tables(), load_phrasings(), 0)) == world()
    other = invented_world(load_tables(), load_phrasings(), 1)
    assert all(a.row.bridge != b.row.bridge for a, b in zip(world(), other, strict=True))
