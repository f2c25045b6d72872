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
    run,
)

__all__ = [
    "TABLE_ATOMS",
    "TooLarge",
    "WholeTable",
    "components",
    "members",
    "projection",
    "settled",
    "smallest",
    "table_of",
]

TABLE_ATOMS = 16
"""Most atoms that one truth table may have: 65,536 rows, 8 KiB."""


_WORK = 6_000
"""How many formulas may be looked at to make a component smaller before it is too large."""
_STEP = 100
"""What one look at all of them costs beside; bounds how many atoms are tried within another."""


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
        table &= run(formula.program, columns, full)
        if not table:
            break
    return table


class WholeTable:
    """The table of a conjunction over all its atoms, made once and cut by the facts of each replay.

    Args:
        formulas: the conjunction.
        support: its atoms, and any others that should have rows of their own.
    """

    __slots__ = ("atoms", "columns", "table")

    def __init__(self, formulas: Sequence[Formula], support: int) -> None:
        self.atoms = members(support)
        count = len(self.atoms)
        full = (1 << (1 << count)) - 1
        self.table = table_of(formulas, self.atoms, Facts(0, 0))
        self.columns = []
        for place, atom in enumerate(self.atoms):
            column = _column(place, count)
            self.columns.append((1 << atom, column, column ^ full))

    def smallest(self, facts: Facts) -> int | None:
        """Return the smallest model as :func:`smallest` does."""
        known, value = facts
        table = self.table
        for atom, true, false in self.columns:
            if known & atom:
                table &= true if value & atom else false
        if not table:
            return None
        return _spread((table & -table).bit_length() - 1, self.atoms) & ~known


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
        The open atoms and the formulas of each group.
    """
    groups: list[tuple[int, list[Formula]]] = []
    seen = 0
    for formula in formulas:
        mask = formula.support & ~known
        content = [formula]
        if mask & seen:
            apart = []
            for group in groups:
                if group[0] & mask:
                    # The group that is there is the longer one, mostly.
                    group[1].extend(content)
                    mask, content = mask | group[0], group[1]
                else:
                    apart.append(group)
            groups = apart
        groups.append((mask, content))
        seen |= mask
    return groups


def smallest(formulas: Sequence[Formula], facts: Facts, limit: int = TABLE_ATOMS) -> int | None:
    """Return the lexicographically smallest model of a conjunction under facts.

    Args:
        formulas: what has to hold.
        facts: what is known; need not agree with the formulas.
        limit: most open atoms of a table.

    Returns:
        The open atoms that are TRUE in the model, or None where there is no model. An atom that
        occurs in no formula is FALSE.

    Raises:
        TooLarge: a component stays larger than ``limit``.
    """
    known, value = facts
    unsettled = []
    for formula in formulas:
        if formula.support & ~known:
            unsettled.append(formula)
        elif not formula.holds(value):
            return None
    return _solve(unsettled, facts, limit, [_WORK]) if unsettled else 0


def _solve(formulas: Sequence[Formula], facts: Facts, limit: int, work: list[int]) -> int | None:
    """Solve formulas that each have an open atom; ``work`` holds how many more to look at."""
    model = 0
    large = []
    for mask, content in components(formulas, facts.known):
        if mask.bit_count() > limit:
            large.append(content)
            continue
        atoms = members(mask)
        table = table_of(content, atoms, facts)
        if not table:
            return None
        model |= _spread((table & -table).bit_length() - 1, atoms)
    for content in large:
        part = _solve_large(content, facts, limit, work)
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


def _solve_large(content: list[Formula], facts: Facts, limit: int, work: list[int]) -> int | None:
    """Solve a component that is too large for a table, if a few steps make it small enough."""
    start, size = facts, len(content)
    while True:
        known = facts.known
        work[0] -= len(content) + _STEP
        if work[0] < 0:
            raise TooLarge
        step = _propagated(content, facts)
        if step is None:
            return None
        content, facts = step
        if facts.known == known:
            break
    forced = facts.value & ~start.known
    if facts != start or len(content) < size:
        found = _solve(content, facts, limit, work)
        return None if found is None else found | forced
    # FALSE is tried first, on the first atom: what is found there comes before all else.
    support = 0
    for formula in content:
        support |= formula.support
    first = support & ~facts.known
    first &= -first
    for value in (0, first):
        found = _solve_large(content, Facts(facts.known | first, facts.value | value), limit, work)
        if found is not None:
            return found | value
    return None


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
