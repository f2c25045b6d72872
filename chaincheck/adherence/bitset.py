"""Exact answers from truth tables held as the bits of one integer.

With ``k`` open atoms a truth table has ``2**k`` rows. Row ``r`` is bit ``r`` of a Python integer,
and the atom that is declared first is the most significant bit of ``r``; so one bitwise operation
applies an operator to all rows at once, and the lowest bit that is set is the lexicographically
smallest model (FALSE before TRUE, atoms in the order of declaration).

Atoms that the annotations settle are constants. The remaining ones fall into components that
share no formula; each gets a table of its own, as long as it has at most ``limit`` atoms.
:class:`TooLarge` says that one has more, after formulas that the facts settle, or that force one
atom, have been taken out and a long disjunction has been taken apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from chaincheck.adherence.formulas import (
    AND,
    FALSE,
    IFF,
    IMPLIES,
    NOT,
    OR,
    TRUE,
    Facts,
    Formula,
)

__all__ = [
    "TABLE_ATOMS",
    "TooLarge",
    "components",
    "lexicographic_min",
    "members",
    "projection",
    "settled",
    "smallest",
    "table_of",
]

TABLE_ATOMS = 16
"""Most atoms that one truth table may have: 65,536 rows, 8 KiB."""


class TooLarge(Exception):
    """A component has more open atoms than a table may have; ask another engine."""


@lru_cache(maxsize=256)
def _column(place: int, count: int) -> int:
    """The table of the atom at ``place`` (0 is the most significant) among ``count``."""
    run = 1 << (count - 1 - place)
    column = ((1 << run) - 1) << run
    width = 2 * run
    while width < 1 << count:
        column |= column << width
        width *= 2
    return column


def members(atoms: int) -> list[int]:
    """Return the numbers of the atoms in a set, ascending."""
    found = []
    while atoms:
        lowest = atoms & -atoms
        found.append(lowest.bit_length() - 1)
        atoms ^= lowest
    return found


def _run(program: Sequence[int], columns: dict[int, int], full: int) -> int:
    """Run a program on columns of a table; ``full`` is the column that is true in every row."""
    stack: list[int] = []
    push, pop = stack.append, stack.pop
    for code in program:
        if code >= 0:
            push(columns[code])
        elif code == AND:
            right = pop()
            stack[-1] &= right
        elif code == OR:
            right = pop()
            stack[-1] |= right
        elif code == NOT:
            stack[-1] ^= full
        elif code == IMPLIES:
            right = pop()
            stack[-1] = (stack[-1] ^ full) | right
        elif code == TRUE:
            push(full)
        elif code == FALSE:
            push(0)
        else:
            right = pop()
            stack[-1] ^= right
            if code == IFF:
                stack[-1] ^= full
    return stack[0]


def table_of(formulas: Sequence[Formula], atoms: Sequence[int], facts: Facts) -> int:
    """The truth table of a conjunction over its open atoms, with the facts as constants."""
    count = len(atoms)
    full = (1 << (1 << count)) - 1
    columns = {atom: _column(place, count) for place, atom in enumerate(atoms)}
    table = full
    for formula in formulas:
        for atom in formula.atoms:
            if atom not in columns:
                columns[atom] = full if facts.value >> atom & 1 else 0
        table &= _run(formula.program, columns, full)
        if not table:
            break
    return table


def projection(table: int, chosen: Sequence[int], count: int) -> int:
    """Return the rows that agree with some row of a table on the chosen atoms.

    Args:
        table: over ``count`` atoms.
        chosen: places of atoms among them, ascending; the others are quantified away.
        count: number of atoms.
    """
    kept = set(chosen)
    for place in range(count):
        if place not in kept:
            column = _column(place, count)
            run = 1 << (count - 1 - place)
            high = table & column
            low = table ^ high
            table |= high >> run | low << run
    return table


def settled(formula: Formula, facts: Facts) -> bool | None:
    """Return what the facts make of a formula by Kleene's rules: true, false or open (None).

    Two tables of one row are carried along, "can be true" and "can be false", as two bits.
    """
    # Bit 0: true is possible; bit 1: false is possible.
    stack: list[int] = []
    for code in formula.program:
        if code >= 0:
            known = facts.known >> code & 1
            stack.append((1 if facts.value >> code & 1 else 2) if known else 3)
        elif code == NOT:
            stack.append(_flip(stack.pop()))
        elif code in {TRUE, FALSE}:
            stack.append(1 if code == TRUE else 2)
        else:
            right, left = stack.pop(), stack.pop()
            if code == IMPLIES:
                left, code = _flip(left), OR  # noqa: PLW2901
            if code == AND:
                stack.append((left & right & 1) | ((left | right) & 2))
            elif code == OR:
                stack.append(((left | right) & 1) | (left & right & 2))
            elif left == 3 or right == 3:
                stack.append(3)
            else:
                stack.append(1 if (left == right) is (code == IFF) else 2)
    return {1: True, 2: False, 3: None}[stack[0]]


def _flip(possible: int) -> int:
    return (possible >> 1) | ((possible & 1) << 1)


def components(formulas: Sequence[Formula], known: int) -> list[tuple[int, list[Formula]]]:
    """Group formulas that are linked by atoms outside ``known``.

    Args:
        formulas: formulas that each have such an atom.
        known: the atoms that link nothing.

    Returns:
        The open atoms and the formulas of each group, in the order of the first formula.
    """
    if len(formulas) == 1:  # the common case
        return [(formulas[0].support & ~known, list(formulas))]
    groups: dict[int, tuple[int, list[Formula]]] = {}
    owner: dict[int, int] = {}
    for number, formula in enumerate(formulas):
        atoms = formula.support & ~known
        joined = {owner[atom] for atom in members(atoms) if atom in owner}
        home = min(joined, default=number)
        mask, content = groups.setdefault(home, (0, []))
        for other in sorted(joined - {home}):
            other_mask, other_content = groups.pop(other)
            mask |= other_mask
            content.extend(other_content)
            for atom in members(other_mask):
                owner[atom] = home
        for atom in members(atoms):
            owner[atom] = home
        content.append(formula)
        groups[home] = (mask | atoms, content)
    return [groups[home] for home in sorted(groups)]


def lexicographic_min(models: Sequence[int]) -> int:
    """Return the model that comes first: FALSE before TRUE, first atom most significant."""
    best = models[0]
    for model in models[1:]:
        difference = best ^ model
        if difference and not model & difference & -difference:
            best = model
    return best


def smallest(formulas: Sequence[Formula], facts: Facts, limit: int = TABLE_ATOMS) -> int | None:
    """Return the lexicographically smallest model of a conjunction under facts.

    Args:
        formulas: what has to hold.
        facts: what is known; need not agree with the formulas.
        limit: most open atoms that one component may have.

    Returns:
        The open atoms that are TRUE in the model, or None where there is no model. An atom that
        occurs in no formula is FALSE.

    Raises:
        TooLarge: a component has more atoms than ``limit``.
    """
    return _smallest(formulas, facts, limit, split=True)


def _smallest(formulas: Sequence[Formula], facts: Facts, limit: int, *, split: bool) -> int | None:
    known = facts.known
    unsettled = []
    for formula in formulas:
        if formula.support & ~known:
            unsettled.append(formula)
        elif not table_of((formula,), (), facts):
            return None
    model = 0
    large: list[list[Formula]] = []
    for mask, content in components(unsettled, known):
        if mask.bit_count() > limit:
            large.append(content)
            continue
        atoms = members(mask)
        table = table_of(content, atoms, facts)
        if not table:
            return None
        model |= _spread((table & -table).bit_length() - 1, atoms)
    for content in large:
        part = _reduced(content, facts, limit, split=split)
        if part is None:
            return None
        model |= part
    return model


def _spread(row: int, atoms: Sequence[int]) -> int:
    """Return the atoms that are TRUE in a row of a table over ``atoms``."""
    model = 0
    for atom in reversed(atoms):
        if row & 1:
            model |= 1 << atom
        row >>= 1
    return model


def _reduced(content: list[Formula], facts: Facts, limit: int, *, split: bool) -> int | None:
    """Solve a component that is too large, if it is so only at first sight."""
    start = facts
    while True:
        known = facts.known
        step = _propagated(content, facts)
        if step is None:
            return None
        content, facts = step
        if facts.known == known:
            break
    model = facts.value & ~start.known
    for mask, part in components(content, facts.known):
        if mask.bit_count() <= limit:
            found = _smallest(part, facts, limit, split=False)
        elif split:
            found = _by_cases(part, facts, limit)
        else:
            raise TooLarge
        if found is None:
            return None
        model |= found
    return model


def _propagated(content: list[Formula], facts: Facts) -> tuple[list[Formula], Facts] | None:
    """Drop what the facts settle and add the atoms that one formula forces; None: no model."""
    rest: list[Formula] = []
    for formula in content:
        value = settled(formula, facts)
        if value is False:
            return None
        if value is True:
            continue
        rest.append(formula)
        atoms = formula.support & ~facts.known
        if atoms.bit_count() == 1:
            # Bit 0 of the table: the atom may be FALSE; bit 1: it may be TRUE.
            table = table_of((formula,), members(atoms), facts)
            if not table:
                return None
            if table != 3:
                facts = Facts(facts.known | atoms, facts.value | (atoms if table == 2 else 0))
    return rest, facts


def _by_cases(content: list[Formula], facts: Facts, limit: int) -> int | None:
    """Take apart the widest disjunction of a component and compare what its cases give."""
    wide = max(content, key=lambda formula: (formula.support & ~facts.known).bit_count())
    cases = wide.disjuncts
    if len(cases) < 2:
        raise TooLarge
    rest = [formula for formula in content if formula is not wide]
    models = [_smallest([*rest, *case], facts, limit, split=False) for case in cases]
    found = [model for model in models if model is not None]
    return lexicographic_min(found) if found else None
