"""Every error that ChainCheck raises on purpose, and the exit code that each becomes.

The tree::

    ChainCheckError                 exit 2: the input, the command or the environment is at fault
    ├── UsageError                  an option or a name that cannot be used as given
    ├── MissingExtra                a package that only an optional extra installs
    ├── InputError                  a file that cannot be used; names path, line and item
    │   ├── UnreadableFile          missing, not permitted, truncated, corrupt, wrongly encoded
    │   ├── BrokenLine              a line that is not one JSON object
    │   ├── WrongSource             a file of another data set than the one named
    │   ├── InvalidItem             a row whose columns are missing or hold the wrong thing
    │   ├── DuplicateItem           the same item, cell or score twice
    │   ├── IncompleteTriplet       a triplet that lacks one of its cells
    │   ├── InvalidScore            a score that is not a finite number
    │   ├── MissingScore            an item that has no score
    │   ├── MissingJudgment         an item that a judgment log does not hold
    │   ├── UnknownScore            a score for no item of the data
    │   ├── InvalidReplay           a replay or a protocol that is refused; has a code and a place
    │   ├── InvalidPrompt           a prompt's file that does not make a prompt
    │   ├── InvalidModel            a model folder, or a package with one, that cannot be used
    │   └── IntegrityError          exit 3: a record that cannot be trusted
    │       ├── DamagedLog          a record that is not as it was written, or not in its place
    │       ├── ForeignLog          a log of another instrument, or a file that is no log
    │       ├── AlteredScores       scores that are not those that a judge is on record with
    │       └── ForeignScores       scores that a judge gave to other data
    ├── UnjudgeableItem             an item that a judge cannot be asked about
    ├── ServerFailed                a server that did not answer, or not as it was asked to
    ├── LogInUse                    a judgment log that another process is writing
    ├── UnwritableOutput            a path that cannot be written, or a full disk
    ├── NotebookFailed              a notebook's cell that raised; exit 1
    └── MeasuredFailure             a check that ran and failed; exit 1
        └── TrainingDiverged        a loss that is NaN or infinite

A constructor takes the facts and writes the message itself, so that every message of one kind
reads alike: where, what, and what to do about it. Nothing here is raised for a programming
error; those stay ordinary Python exceptions.
"""

from __future__ import annotations

import os
from typing import ClassVar

__all__ = [
    "AlteredScores",
    "BrokenLine",
    "ChainCheckError",
    "DamagedLog",
    "DuplicateItem",
    "ForeignLog",
    "ForeignScores",
    "IncompleteTriplet",
    "InputError",
    "IntegrityError",
    "InvalidItem",
    "InvalidModel",
    "InvalidPrompt",
    "InvalidScore",
    "LogInUse",
    "MeasuredFailure",
    "MissingExtra",
    "MissingJudgment",
    "MissingScore",
    "NotebookFailed",
    "PathLike",
    "ServerFailed",
    "TrainingDiverged",
    "UnjudgeableItem",
    "UnknownScore",
    "UnreadableFile",
    "UnwritableOutput",
    "UsageError",
    "WrongSource",
    "one_line",
    "quote",
    "quote_apart",
]

_LONGEST_QUOTE = 120
PathLike = str | os.PathLike[str]


def one_line(text: str) -> str:
    """Fold ``text`` to one printable line, since a message quotes what a file holds."""
    folded = "".join(ch if ch.isprintable() else " " for ch in text)
    return " ".join(folded.split())


def quote(value: object) -> str:
    """Quote a value from a file for a message: one line, printable, cut at 120 characters."""
    text = one_line(value if isinstance(value, str) else repr(value))
    return f"'{text[:_LONGEST_QUOTE]}…'" if len(text) > _LONGEST_QUOTE else f"'{text}'"


def quote_apart(one: object, other: object) -> tuple[str, str]:
    """Quote two values that differ, so that it shows: by their escapes, if only spaces differ."""
    first, second = quote(one), quote(other)
    return (
        (first, second) if first != second else (quote(repr(one))[1:-1], quote(repr(other))[1:-1])
    )


class ChainCheckError(Exception):
    """Base of the tree.

    Attributes:
        remedy: what the user can do about it, or None.
        exit_code: what the command line exits with.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, problem: str, *, remedy: str | None = None) -> None:
        self.problem = problem
        self.remedy = remedy
        super().__init__(f"{problem}. {remedy}" if remedy else problem)


class UsageError(ChainCheckError):
    """An option, a name or a combination that cannot be used as given."""


class MissingExtra(ChainCheckError):
    """A feature whose packages are not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            f"{feature} needs packages that are not installed",
            remedy=f"Install them with: pip install 'chaincheck-book[{extra}]'",
        )


class InputError(ChainCheckError):
    """Something wrong with a file that was read.

    Args:
        problem: what is wrong, without a full stop.
        path: the file.
        line: 1-based line number, if the fault has one.
        item: the id of the item or record at fault, if known.
        remedy: what to do, a whole sentence without a full stop at its end.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: PathLike,
        line: int | None = None,
        item: object | None = None,
        remedy: str | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.item = item
        where = self.path if line is None else f"{self.path}:{line}"
        who = "" if item is None else f"item {quote(item)}: "
        super().__init__(one_line(f"{where}: {who}{problem}"), remedy=remedy)


class UnreadableFile(InputError):
    """The bytes cannot be had: missing, a folder, not permitted, truncated, wrongly encoded."""


class BrokenLine(InputError):
    """A line that is not one JSON object of a sensible size."""


class WrongSource(InputError):
    """A file in the layout of another data set than the one that was named."""


class InvalidItem(InputError):
    """A row whose columns are missing or hold something they may not hold."""


class DuplicateItem(InputError):
    """An item id, a cell of a triplet, or a score that stands twice."""


class IncompleteTriplet(InputError):
    """A triplet that lacks one of the cells that a statistic needs."""


class InvalidScore(InputError):
    """A score that is not a finite number."""


class MissingScore(InputError):
    """An item of the data that the score file does not mention."""


class MissingJudgment(InputError):
    """An item that a judgment log holds no judgment of; it is never given a made-up score."""


class UnknownScore(InputError):
    """A score for an item that the data does not hold."""


class InvalidPrompt(InputError):
    """A prompt's file with an unknown key, or without what a judge must be told."""


class InvalidReplay(InputError):
    """A replay or a protocol that is refused.

    Args:
        problem: what is wrong, without a full stop.
        code: the stable name of the reason; chaincheck.refusals lists them.
        json_path: the place in the document, as in ``$.annotations[0].value``.
        path: the file, or the name of what was built.
        line: 1-based line number, where a file has a replay a line.
        remedy: what to do.
    """

    def __init__(
        self,
        problem: str,
        *,
        code: str,
        json_path: str,
        path: PathLike,
        line: int | None = None,
        remedy: str | None = None,
    ) -> None:
        self.code = code
        self.json_path = json_path
        self.reason = problem
        super().__init__(f"{code} at {json_path}: {problem}", path=path, line=line, remedy=remedy)


class InvalidModel(InputError):
    """A model that is not there, is damaged, or would run foreign code when it is loaded."""


class IntegrityError(InputError):
    """A record that cannot be trusted to say what a judge said; nothing of it is used."""

    exit_code: ClassVar[int] = 3


class DamagedLog(IntegrityError):
    """A record that is not as it was written, or that does not follow the one before it."""


class ForeignLog(IntegrityError):
    """A log that another instrument wrote, or a file that is no judgment log."""


class AlteredScores(IntegrityError):
    """Scores, or the statement of whose they are, that are not as they were written."""


class ForeignScores(IntegrityError):
    """Scores that a judge gave to other data than those at hand."""


class UnjudgeableItem(ChainCheckError):
    """An item that a judge cannot be asked about: no passages, or more than the model can read.

    Args:
        problem: what is wrong, without a full stop.
        item: the item's id.
        remedy: what to do, a whole sentence without a full stop at its end.
    """

    def __init__(self, problem: str, *, item: object, remedy: str | None = None) -> None:
        self.item = item
        super().__init__(one_line(f"item {quote(item)}: {problem}"), remedy=remedy)


class ServerFailed(ChainCheckError):
    """A server that did not answer, or whose reply is not what it was asked for.

    Args:
        problem: what is wrong, without a full stop.
        endpoint: the address that was asked; holds no credentials.
        item: the id of the item that it was asked about, if it was one.
        remedy: what to do, a whole sentence without a full stop at its end.
    """

    def __init__(
        self,
        problem: str,
        *,
        endpoint: str,
        item: object | None = None,
        remedy: str | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.item = item
        who = "" if item is None else f"item {quote(item)}: "
        super().__init__(one_line(f"{endpoint}: {who}{problem}"), remedy=remedy)


class LogInUse(ChainCheckError):
    """A judgment log that another process is writing.

    Args:
        path: the log.
        pid: the process, where the system tells which.
    """

    def __init__(self, path: PathLike, pid: int | None) -> None:
        self.path = os.fspath(path)
        self.pid = pid
        who = "another process" if pid is None else f"process {pid}"
        super().__init__(
            one_line(f"{self.path}: {who} is writing this log"),
            remedy="Let it finish or stop it: what it has recorded is kept, and is not asked again",
        )


class UnwritableOutput(ChainCheckError):
    """An output that could not be written; the target is left as it was."""

    def __init__(
        self,
        path: PathLike,
        cause: OSError | str,
        *,
        remedy: str = "Nothing was left half-written; free space or name another path",
    ) -> None:
        self.path = os.fspath(path)
        reason = cause if isinstance(cause, str) else (cause.strerror or str(cause))
        super().__init__(one_line(f"{self.path}: cannot write: {reason}"), remedy=remedy)


class NotebookFailed(ChainCheckError):
    """A notebook cell that raised while the book was built."""

    exit_code: ClassVar[int] = 1

    def __init__(self, notebook: PathLike, cell: int, cause: str) -> None:
        self.notebook = os.fspath(notebook)
        self.cell = cell
        super().__init__(one_line(f"{self.notebook}: cell {cell} failed: {cause}"))


class MeasuredFailure(ChainCheckError):
    """A check that was carried out and did not hold."""

    exit_code: ClassVar[int] = 1


class TrainingDiverged(MeasuredFailure):
    """A loss that is NaN or infinite.

    Args:
        step: the step that it is of.
        batch: file that keeps the batch.
    """

    def __init__(self, step: int, batch: PathLike) -> None:
        self.step = step
        self.batch = os.fspath(batch)
        super().__init__(
            one_line(f"the loss of step {step} is not finite; its batch is kept in {self.batch}"),
            remedy='Lower learning_rate, or set dtype = "float32"; the last checkpoint is whole',
        )
