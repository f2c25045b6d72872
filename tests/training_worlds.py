"""Small triplets in words that the tiny tokenizer knows whole, for tests that train."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from chaincheck.items import Item, content_hash, write_items

_HEADS = ("Velvet Harbor", "Winter Harbor", "Velvet Winter", "Harbor film", "Winter film")
_BRIDGES = ("Anna Keller", "Clara Winter", "Anna Winter", "Clara Keller")


def _item(pair: str, variant: str, cell: str, question: str, passages: Sequence[str]) -> Item:
    return Item(
        item_id=content_hash([pair, variant, cell]),
        pair_id=pair,
        variant=variant,
        cell=cell,
        query=question,
        passages=tuple(passages),
        bridge=passages[0].rpartition(" by ")[2],
        source_id=question,
        edit=cell in "BD",
        chain="intact" if cell in "AB" else "broken",
    )


def triplets(count: int, *, variants: Sequence[str] = ("real",), start: int = 0) -> list[Item]:
    """Make so many triplets a variant, with all four cells; the questions are all different."""
    items = []
    for number in range(start, start + count):
        head = f"{_HEADS[number % len(_HEADS)]} {['a', 'of', 'the', 'in'][number // 5 % 4]}"
        question = f"where was the director of {head} born {'y' * (number // 20 + 1)}"
        for variant in variants:
            old = _BRIDGES[number % 4]
            new = _BRIDGES[(number + 1 + ("real", "fict", "decoy").index(variant)) % 4]
            film, birth = "{0} is a film by {1}", "{0} was born in Trieste"
            cells = {
                "A": (film.format(head, old), birth.format(old)),
                "B": (film.format(head, new), birth.format(new)),
                "D": (film.format(head, old), birth.format(new)),
                "C": (film.format(head, old), "Trieste is in the Harbor"),
            }
            pair = content_hash([question, variant])
            items += [
                _item(pair, variant, cell, question, passages) for cell, passages in cells.items()
            ]
    return items


def write(path: Path, count: int, **how: object) -> Path:
    """Write such triplets to a file."""
    write_items(path, triplets(count, **how))  # type: ignore[arg-type]
    return path
