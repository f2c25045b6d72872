"""The committed tables of two-hop facts: read strictly, every row checked.

A table is a CSV file named after its pair of relations ("film_director_birthplace.csv"), with
the columns of :data:`COLUMNS`. Aliases are split by ``|``; years are whole numbers or empty.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from chaincheck.errors import DuplicateItem, InvalidItem, PathLike, UnreadableFile, WrongSource
from chaincheck.invented import fold, identity_words

__all__ = ["COLUMNS", "PRONOUNS", "TABLES", "Row", "load_tables", "read_table"]

COLUMNS = (
    "head",
    "head_aliases",
    "head_year",
    "bridge",
    "bridge_aliases",
    "bridge_pronoun",
    "bridge_year",
    "answer",
    "answer_aliases",
)
PRONOUNS = ("he", "she", "it", "they")
TABLES = Path(__file__).parent / "tables"
_NAMES = ("head", "bridge", "answer")
_YEARS = range(1, 2101)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One two-hop chain: head -> bridge -> answer.

    Attributes:
        pair: the pair of relations, the table's name.
        head: what the question names.
        bridge: what the first relation leads to.
        answer: what the second relation leads to.
        head_aliases: other names of the head; so for bridge and answer.
        bridge_aliases: see ``head_aliases``.
        answer_aliases: see ``head_aliases``.
        head_year: year of the head (release, foundation), None where the table gives none.
        bridge_year: year of the bridge (birth, foundation), likewise.
        pronoun: pronoun of the bridge.
        path: the file.
        line: 1-based line of the file.
    """

    pair: str
    head: str
    bridge: str
    answer: str
    pronoun: str
    head_aliases: tuple[str, ...] = ()
    bridge_aliases: tuple[str, ...] = ()
    answer_aliases: tuple[str, ...] = ()
    head_year: int | None = None
    bridge_year: int | None = None
    path: str = ""
    line: int = 0

    @property
    def key(self) -> str:
        """A stable name of the row: its pair and its head."""
        return f"{self.pair}/{'-'.join(fold(self.head).split())}"


def _invalid(path: PathLike, line: int, problem: str, remedy: str, item: str = "") -> InvalidItem:
    return InvalidItem(problem, path=path, line=line, item=item or None, remedy=remedy)


def _name(path: Path, line: int, column: str, value: str) -> str:
    """Check that a name is written as a name: not blank, one line, single plain blanks."""
    if not value:
        raise _invalid(path, line, f"column {column} is empty", "Fill it or remove the row")
    if not value.isprintable() or value != " ".join(value.split()):
        raise _invalid(
            path,
            line,
            f"column {column} holds stray blanks or invisible characters: {value!r}",
            "Write the name with single blanks and nothing around it",
        )
    return value


def _aliases(path: Path, line: int, column: str, value: str, name: str) -> tuple[str, ...]:
    if not value:
        return ()
    aliases = tuple(_name(path, line, column, alias) for alias in value.split("|"))
    if len(set(aliases)) < len(aliases) or name in aliases:
        raise _invalid(path, line, f"column {column} says a name twice", "Keep each name once")
    return aliases


def _year(path: Path, line: int, column: str, value: str) -> int | None:
    if not value:
        return None
    if not (value.isascii() and value.isdigit()) or int(value) not in _YEARS:
        raise _invalid(
            path, line, f"column {column} is no year: {value!r}", "Give a whole year or nothing"
        )
    return int(value)


def _row(path: Path, line: int, cells: Sequence[str]) -> Row:
    if len(cells) != len(COLUMNS):
        raise _invalid(
            path,
            line,
            f"the row has {len(cells)} cells instead of {len(COLUMNS)}",
            "Quote a cell that holds a comma",
        )
    cell = dict(zip(COLUMNS, cells, strict=True))
    if cell["bridge_pronoun"] not in PRONOUNS:
        raise _invalid(
            path,
            line,
            f"column bridge_pronoun is {cell['bridge_pronoun']!r}",
            f"Use one of {', '.join(PRONOUNS)}",
        )
    head, bridge, answer = (_name(path, line, column, cell[column]) for column in _NAMES)

    def aliases(column: str) -> tuple[str, ...]:
        return _aliases(path, line, f"{column}_aliases", cell[f"{column}_aliases"], cell[column])

    return Row(
        pair=path.stem,
        head=head,
        bridge=bridge,
        answer=answer,
        head_aliases=aliases("head"),
        bridge_aliases=aliases("bridge"),
        answer_aliases=aliases("answer"),
        pronoun=cell["bridge_pronoun"],
        head_year=_year(path, line, "head_year", cell["head_year"]),
        bridge_year=_year(path, line, "bridge_year", cell["bridge_year"]),
        path=str(path),
        line=line,
    )


def _check_apart(row: Row, path: Path) -> None:
    """Refuse a row whose names share a word: renaming one would touch another."""
    words = {column: set(identity_words(getattr(row, column))) for column in _NAMES}
    for first, second in (("head", "bridge"), ("bridge", "answer"), ("head", "answer")):
        if shared := words[first] & words[second]:
            raise _invalid(
                path,
                row.line,
                f"{first} and {second} share the word {sorted(shared)[0]!r}",
                "Remove the row: one name would give the other away",
                row.head,
            )


def _check_together(rows: Iterable[Row], path: Path) -> None:
    """Refuse a head that stands twice and a bridge about which two rows disagree."""
    heads: dict[str, Row] = {}
    bridges: dict[str, Row] = {}
    for row in rows:
        other = heads.setdefault(fold(row.head), row)
        if other is not row:
            raise DuplicateItem(
                f"the head also stands in line {other.line}",
                path=path,
                line=row.line,
                item=row.head,
                remedy="Keep one of the two rows",
            )
        first = bridges.setdefault(fold(row.bridge), row)
        for column in ("bridge", "answer", "pronoun", "bridge_year"):
            if getattr(first, column) != getattr(row, column):
                raise _invalid(
                    path,
                    row.line,
                    f"{row.bridge} has another {column} in line {first.line}",
                    "Say the same of a bridge in every row",
                    row.head,
                )


def read_table(path: PathLike) -> list[Row]:
    """Read one table.

    Raises:
        UnreadableFile: missing, not permitted, not UTF-8, or not CSV.
        WrongSource: the columns are not those of a table of facts.
        InvalidItem: a row that breaks a rule, named with its line.
        DuplicateItem: a head that stands twice.
    """
    path = Path(path)
    rows: list[Row] = []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            if tuple(header) != COLUMNS:
                raise WrongSource(
                    "not a table of facts",
                    path=path,
                    line=1,
                    remedy=f"The first line must be: {','.join(COLUMNS)}",
                )
            for cells in reader:
                rows.append(_row(path, reader.line_num, cells))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UnreadableFile(
            f"cannot be read as a CSV file in UTF-8: {error}", path=path, remedy="Check the file"
        ) from error
    for row in rows:
        _check_apart(row, path)
    _check_together(rows, path)
    return rows


def load_tables(path: PathLike | None = None) -> list[Row]:
    """Read every table of a folder, in the order of their names.

    Args:
        path: a folder of tables, or one table; None for those that come with the package.

    Raises:
        InputError: as :func:`read_table`; also a folder without tables.
    """
    where = TABLES if path is None else Path(path)
    if not where.is_dir():
        return read_table(where)
    files = sorted(where.glob("*.csv"))
    if not files:
        raise UnreadableFile("no table (*.csv) in this folder", path=where)
    return [row for file in files for row in read_table(file)]
