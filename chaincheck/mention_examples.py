"""Short texts in which replacing a string goes wrong, and what renaming makes of them.

Each case is a *kind* of difficulty that real passages hold, told in a sentence or two of our own
about persons and places that mostly do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass

from chaincheck.mentions import AmbiguousMention, Entity, rename, residue

__all__ = ["Attempt", "HardCase", "attempt", "hard_cases"]


@dataclass(frozen=True)
class HardCase:
    """One kind of difficulty.

    Attributes:
        kind: what is hard, in a few words.
        text: the text.
        entity: whom or what to rename in it.
        replacement: what to call it.
    """

    kind: str
    text: str
    entity: Entity
    replacement: Entity


@dataclass(frozen=True)
class Attempt:
    """A case handled twice.

    Attributes:
        case: the case.
        naive: what ``str.replace`` makes of the text.
        left: what of the entity ``str.replace`` leaves behind, as the residue check sees it.
        renamed: what ``rename`` makes of it; None where it refuses.
        refusal: why it refuses; None where it does not.
    """

    case: HardCase
    naive: str
    left: tuple[str, ...]
    renamed: str | None
    refusal: str | None

    @property
    def agree(self) -> bool:
        """Whether both ways come to the same text."""
        return self.naive == self.renamed


def _person(name: str) -> Entity:
    return Entity(name, "person")


def _place(name: str) -> Entity:
    return Entity(name, "place")


def hard_cases() -> tuple[HardCase, ...]:
    """The cases, easy ones first."""
    ada, ines = _person("Ada Brandt"), _person("Ines Moreau")
    authority = Entity("Northern Rail Authority", "organization")
    bus = Entity("Coastal Bus Company", "organization")
    rows = (
        ("possessive", "Ada Brandt's opera was a success.", ada, ines),
        ("surname only", "Ada Brandt wrote an opera. In 1990 Brandt moved to Bern.", ada, ines),
        ("given name only", "Ada Brandt wrote an opera. Ada was twelve.", ada, ines),
        ("initials", "The opera is by A. Brandt. Ada Brandt was twelve.", ada, ines),
        (
            "accents",
            "Zoë Müller built the hall. The plans of Zoe Muller are lost.",
            _person("Zoë Müller"),
            ines,
        ),
        ("invisible characters", "The hall was built by Ada\u200b Brandt in 1901.", ada, ines),
        ("capitals", "The stone reads ADA BRANDT, the book Ada Brandt.", ada, ines),
        (
            "spaced punctuation",
            "The hall is by Mary Sackett- West.",
            _person("Mary Sackett-West"),
            _person("Ines Moreau-Lind"),
        ),
        ("a or an", "An Oslo firm cast the bell.", _place("Oslo"), _place("Bern")),
        ("abbreviation", "The Northern Rail Authority (NRA) grew. The NRA paid.", authority, bus),
        (
            "part of a longer word",
            "Bern is quiet. Bernhard Keller was born there.",
            _place("Bern"),
            _place("Oslo"),
        ),
        ("a name inside a name", "He taught at the Ada Brandt School.", ada, ines),
        (
            "looks like a possessive",
            "The path to Arthur's Seat is steep.",
            _person("Arthur"),
            _person("Edmund"),
        ),
        (
            "two of one surname",
            "Ada Brandt wrote it. Her brother Karl Brandt sang, and Brandt was praised.",
            ada,
            ines,
        ),
        ("the plural", "The Brandts sold the mill when Ada Brandt left.", ada, ines),
        (
            "adjective",
            "Norway has many fjords. Norwegian boats cross them.",
            _place("Norway"),
            _place("Portugal"),
        ),
        (
            "two in one",
            "Bern and Basel share a railway.",
            _place("Bern and Basel"),
            _place("Genoa and Turin"),
        ),
    )
    return tuple(HardCase(*row) for row in rows)


def attempt(case: HardCase) -> Attempt:
    """Replace the string, and rename the entity."""
    naive = case.text.replace(case.entity.name, case.replacement.name)
    left = tuple(surface for _, _, surface in residue(naive, case.entity))
    renamed, refusal = None, None
    try:
        renamed = rename(case.text, case.entity, case.replacement).text
    except AmbiguousMention as doubt:
        refusal = doubt.reason
    return Attempt(case, naive, left, renamed, refusal)
