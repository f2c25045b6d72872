"""What a surface cue can count of a name in a passage."""

from __future__ import annotations

from dataclasses import dataclass

from chaincheck.bypass import fold_tokens
from chaincheck.kinds import Nature
from chaincheck.mentions import AmbiguousMention, Entity, find

__all__ = ["Surface", "entity_of", "surface"]


def entity_of(name: str, nature: Nature, aliases: tuple[str, ...] = ()) -> Entity:
    """The entity that mentions are looked for and renamed as."""
    return Entity(name, nature.kind, aliases)


@dataclass(frozen=True)
class Surface:
    """What a surface cue can count of one name in one passage.

    Attributes:
        forms: how its mentions are worded, sorted.
        words: number of words of the name.
        letters: length of the name.
    """

    forms: tuple[str, ...]
    words: int
    letters: int


def surface(text: str, entity: Entity) -> Surface | None:
    """Count a name's mentions in a passage; None where some mention is uncertain."""
    try:
        mentions = find(text, entity)
    except AmbiguousMention:
        return None
    forms = tuple(sorted(f"{mention.form}{'+s' * mention.possessive}" for mention in mentions))
    return Surface(forms, len(fold_tokens(entity.name)), len(entity.name))
