"""Why a replay or a protocol is refused: every reason has a code, and every code its remedy.

A code is stable: programs may branch on it. The words of a message may change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from chaincheck.errors import InvalidReplay, PathLike

__all__ = ["CODES", "LIMITS", "Code", "Limits", "Refusal", "Trail", "json_path"]


class Limits(msgspec.Struct, frozen=True):
    """How large a replay may be.

    Attributes:
        size: bytes of its JSON.
        depth: operators on the longest way down an expression.
        nodes: atoms, constants and operators of all its expressions together.
        atoms: declared atoms.
    """

    size: int = 4 * 2**20
    depth: int = 64
    nodes: int = 20_000
    atoms: int = 512


LIMITS = Limits()


class Code(msgspec.Struct, frozen=True):
    """One reason to refuse.

    Attributes:
        meaning: what is wrong.
        remedy: what to do about it, a sentence without its full stop.
    """

    meaning: str
    remedy: str


CODES: dict[str, Code] = {
    "TOO_LARGE": Code(
        "the JSON is longer than 4 MiB", "Keep the texts that are quoted, and split the rest off"
    ),
    "BYTE_ORDER_MARK": Code("the file starts with a byte-order mark", "Save it without the mark"),
    "NOT_UTF8": Code("the bytes are not UTF-8", "Save it as UTF-8"),
    "NOT_JSON": Code("the text is not JSON", "Correct the syntax; a JSON formatter shows where"),
    "NOT_A_NUMBER": Code(
        "NaN or an infinity, which JSON has not", "Write a number, or leave the field out"
    ),
    "DUPLICATE_KEY": Code("a key stands twice in one object", "Remove one of the two"),
    "HALF_SURROGATE": Code(
        "a string holds half of a surrogate pair",
        "Write the whole character; the program that wrote this cut a string in two",
    ),
    "TOO_DEEP": Code(
        "an expression is nested deeper than 64 levels",
        "Name an inner part by an atom and a constraint (iff) of its own",
    ),
    "TOO_MANY_NODES": Code(
        "the expressions have more than 20,000 nodes together",
        "Name repeated parts by atoms of their own",
    ),
    "TOO_MANY_ATOMS": Code("more than 512 atoms are declared", "Split the protocol"),
    "WRONG_TYPE": Code(
        "a value of another JSON type than the one that belongs there",
        "Write it as the schema says: chaincheck audit schema",
    ),
    "MISSING_FIELD": Code("a field that every replay has is missing", "Add it"),
    "UNKNOWN_FIELD": Code(
        "a field that no replay has", "Remove it, or correct its name; nothing is ignored"
    ),
    "WRONG_SCHEMA": Code(
        "the replay is of another version", 'Write "schema": "chaincheck.replay/1"'
    ),
    "WRONG_VALUE": Code("a word that is none of those allowed", "Write one of those allowed"),
    "EMPTY": Code("a name that is empty", "Give it at least one character"),
    "BAD_STATUS": Code(
        "a translation status that is no lower-case word",
        "Write valid, or the reason in one lower-case word, as in ambiguous",
    ),
    "BAD_ATOM_ID": Code(
        "an atom id that is not of the form [a-z][a-z0-9_]{0,63}",
        "Use lower-case ASCII letters, digits and underscores, a letter first, 64 at most",
    ),
    "DUPLICATE_ATOM": Code("an atom is declared twice", "Declare it once"),
    "DUPLICATE_ID": Code(
        "two constraints, or two requirements, have the same id", "Rename one of them"
    ),
    "UNDECLARED_ATOM": Code("an atom that the protocol does not declare", "Declare it in atoms"),
    "BAD_EXPRESSION": Code(
        "an object that is no expression",
        'Write {"atom": id}, {"const": true or false} or {"op": name, "args": [...]}',
    ),
    "UNKNOWN_OPERATOR": Code(
        "an operator that there is not", "Use not, and, or, implies, iff or xor, in lower case"
    ),
    "BAD_ARITY": Code(
        "an operator with a number of arguments that it does not take",
        "not takes 1; and, or take 1 or more; implies, iff, xor take 2",
    ),
    "WRONG_ROLE": Code(
        "a grounding pair whose atoms are not a judge atom and a context atom, in this order",
        "Pair what the judge asserts with the independent reading of the same statement",
    ),
    "UNKNOWN_SOURCE": Code("evidence from a source that the replay does not hold", "Add it"),
    "NO_EVIDENCE": Code(
        "an atom that is read as true or false without a quote",
        "Quote where it can be seen, or write UNKNOWN",
    ),
    "WRONG_SOURCE_KIND": Code(
        "evidence from a text that cannot show this kind of atom",
        "Judge atoms quote the rationale, procedure atoms the rationale or a trace, context atoms "
        "the context",
    ),
    "PARTIAL_ABSENCE": Code(
        "a context atom that is FALSE without a quote of every context text as a whole",
        "An absence is shown by all that was searched: quote each context source from 0 to its end",
    ),
    "SPAN_BOUNDS": Code(
        "offsets that are no piece of the text",
        "Offsets count Unicode code points: 0 <= start < end <= length",
    ),
    "SPAN_MISMATCH": Code(
        "a quote that is not what stands at its offsets",
        "Quote verbatim; chaincheck audit quote finds the offsets",
    ),
}

# From the innermost step outwards would be costly to spell for every node, so that a place is a
# chain of steps, spelled only when something is wrong: (place of the parent, key or index).
Trail: TypeAlias = "tuple[Trail, str | int] | None"
_LONGEST_KEY = 120
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def json_path(steps: Sequence[str | int]) -> str:
    """Spell a place in a JSON document as in ``$.annotations[3].evidence[0].start``.

    A key of more than 120 characters is cut, since it may be as long as the document.
    """
    out = "$"
    for step in steps:
        if isinstance(step, int):
            out += f"[{step}]"
        elif len(step) > _LONGEST_KEY:
            out += f'[{json.dumps(step[:_LONGEST_KEY])[:-1]}…"]'
        elif _PLAIN_KEY.fullmatch(step):
            out += f".{step}"
        else:
            out += f"[{json.dumps(step)}]"
    return out


def _spelled(trail: Trail) -> str:
    steps: list[str | int] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return json_path(steps[::-1])


class Refusal(Exception):
    """A fault of a document, before it is known which file the document is in.

    Args:
        code: one of ``CODES``.
        trail: where.
        problem: what is wrong with this one, without a full stop.
        remedy: what to do, where it can be said more exactly than by the code.
    """

    def __init__(self, code: str, trail: Trail, problem: str, remedy: str | None = None) -> None:
        super().__init__(code, problem)
        self.code = code
        self.json_path = _spelled(trail)
        self.problem = problem
        self.remedy = remedy if remedy is not None else CODES[code].remedy

    def of_file(self, path: PathLike, line: int | None = None) -> InvalidReplay:
        """Return the error for a file, and for its line where it has many."""
        return InvalidReplay(
            self.problem,
            code=self.code,
            json_path=self.json_path,
            path=path,
            line=line,
            remedy=self.remedy,
        )
