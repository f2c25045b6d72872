"""What was measured on data that is not part of the book, kept as numbers that pages read.

Some pages show figures for data sets whose files are not part of the book. They are computed by
one command and committed as two small JSON files below ``book/records``, which hold counts and
statistics and no text of any record::

    python -m chaincheck.records FOLDER        # or: make records SHARED=FOLDER

``FOLDER`` holds the original files that ``DATA_SETS`` names. The same files give the same
records, byte for byte on one machine.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, overload

import msgspec

from chaincheck import __version__
from chaincheck.atomic import write_bytes
from chaincheck.command_guard import guarded
from chaincheck.errors import InvalidItem, PathLike, UnreadableFile, UsageError
from chaincheck.evaluation import Evaluation
from chaincheck.intervals import Interval
from chaincheck.items import read_triplets
from chaincheck.pipeline import build_file, measure_judges
from chaincheck.reports import BuildReport
from chaincheck.triplet_views import SplitStudy, study_split

__all__ = [
    "DATA_SETS",
    "FOLDER",
    "BuiltSet",
    "DataSet",
    "JudgedSet",
    "MeasuredRow",
    "ShortcutRecord",
    "YieldRecord",
    "load_record",
    "make_records",
    "write_records",
]

FOLDER = Path(__file__).resolve().parent.parent / "book" / "records"
"""Where the committed records lie in a checkout."""

_COMMAND = "make records SHARED=../shared/data"
_TEST_SHARE = 0.2


@dataclass(frozen=True)
class DataSet:
    """One file that the records are made of.

    Attributes:
        title: the data set's name, as pages print it.
        source: what reads it.
        file: its name.
        cells: the cells that are built.
    """

    title: str
    source: str
    file: str
    cells: tuple[str, ...] = ("A", "B", "D")

    @property
    def command(self) -> str:
        """The command that builds the same triplets."""
        cells = "" if self.cells == ("A", "B", "D") else f" --cells {','.join(self.cells)}"
        return (
            f"chaincheck build --source {self.source} {self.file}"
            f" --out {Path(self.file).stem}.triplets.jsonl.gz --seed 0{cells} --report report.json"
        )


DATA_SETS: Mapping[str, DataSet] = {
    "musique": DataSet("MuSiQue", "musique", "musique_ans_dev.jsonl"),
    "twowiki": DataSet("2WikiMultiHopQA", "twowiki", "twowiki_dev.jsonl"),
    "musique_full": DataSet(
        "MuSiQue-Full", "musique", "musique_full_train.jsonl", ("A", "B", "D", "C")
    ),
}
"""The files, by the name that records and pages use."""

_TOO_FEW = 5  # a data set with fewer triplets in some variant has no shortcut results


class BuiltSet(msgspec.Struct, frozen=True, kw_only=True):
    """What the builder made of one file.

    Attributes:
        title, file: of the data set.
        command: builds the same triplets.
        input: first 16 digits of the file's SHA-256.
        data: hash of the triplets, as signatures show it.
        report: counts of the build, without examples.
        lenient: links and triplets by number of hops and variant, had only the nine rules of the
            design been asked (``build --lenient``).
        split: how train and test can be kept apart.
    """

    title: str
    file: str
    command: str
    input: str
    data: str
    report: BuildReport
    lenient: dict[str, dict[str, int]]
    split: SplitStudy


class YieldRecord(msgspec.Struct, frozen=True, kw_only=True):
    """How many triplets real data give.

    Attributes:
        command: makes the record.
        version: version of chaincheck that made it.
        sets: one entry a data set, by its key in ``DATA_SETS``.
    """

    command: str
    version: str
    sets: dict[str, BuiltSet]


class MeasuredRow(msgspec.Struct, frozen=True, kw_only=True):
    """One judge on one variant of one data set, for tables and figures.

    Attributes:
        variant: "real", "fict" or "decoy".
        n: number of triplets.
        nominal: AUC(A > D) with its percentile interval.
        chain_effect, edit_effect: CE and EE, likewise.
        contrast: Sigma with the two-sided contrast interval.
        ties: tied triplets of each comparison.
        notes: doubts.
    """

    variant: str
    n: int
    nominal: Interval
    chain_effect: Interval
    edit_effect: Interval
    contrast: Interval
    ties: dict[str, int]
    notes: tuple[str, ...]

    @property
    def selectivity(self) -> float:
        """Sigma = CE - |EE|."""
        return self.contrast.estimate


class JudgedSet(msgspec.Struct, frozen=True, kw_only=True):
    """What the lexical judges get on one data set.

    Attributes:
        title: the data set's name.
        data: hash of the triplets.
        rows: for each judge its measured variants.
        signatures: for each judge the line that the results can be traced by.
    """

    title: str
    data: str
    rows: dict[str, tuple[MeasuredRow, ...]]
    signatures: dict[str, str]


class ShortcutRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What surface cues alone get on real data.

    Attributes:
        command: makes the record.
        version: version of chaincheck that made it.
        sets: one entry a data set, by its key in ``DATA_SETS``.
    """

    command: str
    version: str
    sets: dict[str, JudgedSet]


@overload
def load_record(name: Literal["yields"], path: PathLike | None = None) -> YieldRecord: ...
@overload
def load_record(name: Literal["shortcuts"], path: PathLike | None = None) -> ShortcutRecord: ...
def load_record(name: str, path: PathLike | None = None) -> YieldRecord | ShortcutRecord:
    """Read a committed record.

    A chapter gives the path as a parameter, so that its pages are made anew when the record is.

    Args:
        name: "yields" or "shortcuts".
        path: its file, by default the committed one. A relative path is looked for in the
            current folder and then in the checkout.

    Raises:
        UsageError: no record of that name.
        UnreadableFile: the file is missing.
        InvalidItem: the file is no such record.
    """
    kinds: dict[str, type[YieldRecord] | type[ShortcutRecord]] = {
        "yields": YieldRecord,
        "shortcuts": ShortcutRecord,
    }
    if name not in kinds:
        raise UsageError(
            f"there is no record {name!r}", remedy=f"The records are {', '.join(kinds)}"
        )
    file = Path(path) if path is not None else FOLDER / f"{name}.json"
    if not file.is_file() and not file.is_absolute():
        file = FOLDER.parent.parent / file
    try:
        return msgspec.json.decode(file.read_bytes(), type=kinds[name])
    except OSError as error:
        raise UnreadableFile(
            f"cannot read: {error.strerror or error}", path=file, remedy=f"Make it: {_COMMAND}"
        ) from error
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InvalidItem(
            f"is no record of {name}: {error}", path=file, remedy=f"Make it anew: {_COMMAND}"
        ) from error


def _row(row: Any) -> MeasuredRow:
    names = ("nominal", "chain_effect", "edit_effect", "contrast")
    return MeasuredRow(
        variant=row.variant,
        n=row.n,
        ties=row.ties,
        notes=row.notes,
        **{name: getattr(row, name) for name in names},
    )


def _judged(title: str, found: Mapping[str, Evaluation]) -> JudgedSet:
    return JudgedSet(
        title=title,
        data=next(iter(found.values())).signature.data,
        rows={name: tuple(map(_row, one.rows)) for name, one in found.items()},
        signatures={name: str(one.signature) for name, one in found.items()},
    )


def make_records(
    folder: PathLike, names: Sequence[str] = tuple(DATA_SETS)
) -> tuple[YieldRecord, ShortcutRecord]:
    """Build the triplets of each file and measure the lexical judges on them.

    Args:
        folder: holds the files that ``DATA_SETS`` names.
        names: which of them.

    Raises:
        UnreadableFile: a file is missing.
    """
    built: dict[str, BuiltSet] = {}
    judged: dict[str, JudgedSet] = {}
    for name in names:
        one = DATA_SETS[name]
        path = Path(folder) / one.file
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise UnreadableFile(
                f"cannot read: {error.strerror or error}",
                path=path,
                remedy="Name the folder that holds the original files",
            ) from error
        with tempfile.TemporaryDirectory() as place:
            triplets = Path(place) / "triplets.jsonl.gz"
            report = build_file(one.source, path, triplets, cells=one.cells, seed=0)
            found = measure_judges(triplets, seed=0)
            study = study_split(read_triplets(triplets), _TEST_SHARE, 0)
            lenient = build_file(one.source, path, triplets, seed=0, strict=False)
        # Examples quote the records, whose text is not ours to pass on.
        report.examples = {}
        shortcuts = _judged(one.title, found)
        if min(report.triplets.values()) >= _TOO_FEW:
            judged[name] = shortcuts
        built[name] = BuiltSet(
            title=one.title,
            file=one.file,
            command=one.command,
            input=digest,
            data=shortcuts.data,
            report=report,
            lenient=lenient.by_hops,
            split=study,
        )
    return (
        YieldRecord(command=_COMMAND, version=__version__, sets=built),
        ShortcutRecord(command=_COMMAND, version=__version__, sets=judged),
    )


def write_records(folder: PathLike, out: PathLike = FOLDER) -> tuple[Path, Path]:
    """Make both records and write them.

    Args:
        folder: holds the files that ``DATA_SETS`` names.
        out: where to write ``yields.json`` and ``shortcuts.json``.

    Raises:
        UnreadableFile: a file is missing.
        UnwritableOutput: a record cannot be written.
    """
    yields, shortcuts = make_records(folder)
    target = Path(out)
    target.mkdir(parents=True, exist_ok=True)
    paths = (target / "yields.json", target / "shortcuts.json")
    for path, record in zip(paths, (yields, shortcuts), strict=True):
        text = msgspec.json.format(msgspec.json.encode(record, order="sorted"), indent=1)
        write_bytes(path, text + b"\n")
    return paths


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the module's own small command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m chaincheck.records",
        description="Measure real data once and write the numbers that the book's pages read.",
    )
    parser.add_argument("folder", help="folder that holds the original files")
    parser.add_argument("--out", default=str(FOLDER), help="where to write the records")
    given = parser.parse_args(arguments)

    def make() -> None:
        for path in write_records(given.folder, given.out):
            print(path)

    return guarded(make)


if __name__ == "__main__":
    sys.exit(main())
