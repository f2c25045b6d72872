"""The hard kinds of mentions that the book shows: renamed right, or refused."""

from __future__ import annotations

import pytest

from chaincheck.mention_examples import Attempt, attempt, hard_cases
from chaincheck.mentions import residue

ATTEMPTS = {case.kind: attempt(case) for case in hard_cases()}
# Worked out by hand: what a careful writer would make of each text.
RIGHT = {
    "possessive": "Ines Moreau's opera was a success.",
    "surname only": "Ines Moreau wrote an opera. In 1990 Moreau moved to Bern.",
    "given name only": "Ines Moreau wrote an opera. Ines was twelve.",
    "initials": "The opera is by Ines Moreau. Ines Moreau was twelve.",
    "accents": "Ines Moreau built the hall. The plans of Ines Moreau are lost.",
    "invisible characters": "The hall was built by Ines Moreau in 1901.",
    "capitals": "The stone reads INES MOREAU, the book Ines Moreau.",
    "spaced punctuation": "The hall is by Ines Moreau-Lind.",
    "a or an": "A Bern firm cast the bell.",
    "abbreviation": "The Coastal Bus Company (CBC) grew. The CBC paid.",
    "part of a longer word": "Oslo is quiet. Bernhard Keller was born there.",
}
REFUSED = {
    "a name inside a name",
    "looks like a possessive",
    "two of one surname",
    "the plural",
    "adjective",
    "two in one",
}


def test_every_kind_is_named_once() -> None:
    assert len(ATTEMPTS) == len(hard_cases())
    assert set(ATTEMPTS) == RIGHT.keys() | REFUSED


@pytest.mark.parametrize("kind", RIGHT)
def test_what_is_renamed_is_renamed_right(kind: str) -> None:
    found = ATTEMPTS[kind]
    assert (found.renamed, found.refusal) == (RIGHT[kind], None)
    assert residue(found.renamed or "", found.case.entity) == ()


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_what_is_in_doubt_is_refused_with_a_reason(kind: str) -> None:
    found = ATTEMPTS[kind]
    assert found.renamed is None
    assert found.refusal


def test_replacing_the_string_is_right_in_the_easy_case_alone() -> None:
    assert [kind for kind, found in ATTEMPTS.items() if found.agree] == ["possessive"]


def test_what_is_left_behind_is_told() -> None:
    def left(kind: str) -> Attempt:
        return ATTEMPTS[kind]

    assert left("surname only").left == ("Brandt",)
    assert left("adjective").left == ("Norwegian",)
    assert left("part of a longer word").naive == "Oslo is quiet. Oslohard Keller was born there."
