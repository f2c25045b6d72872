"""Data sets from a public hub, or from a folder in a hub's layout, through ``datasets``.

Needs the extra ``hub``. The name is ``owner/name`` or the path of a local folder of parquet or
JSON files, and may be followed by options: ``hotpotqa/hotpot_qa?config=distractor&split=train``.

- ``config``: the data set's configuration, where it has several.
- ``split``: "validation" by default, else the only one there is, else "train".
- ``revision``: a commit, tag or branch of the hub; the commit that it stands for is recorded.

A folder that exists is read without the network. Only a name that is no folder is looked up on
the hub, and the rows are streamed. The rows are brought to the original layout of MuSiQue,
2WikiMultiHopQA or HotpotQA, whichever their columns show, and given to that reader. Each chain
carries ``hub`` (the name) and ``hub_revision`` (the commit; "local" for a folder) as further
columns.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from chaincheck.chains import Chain, Unusable
from chaincheck.errors import (
    ChainCheckError,
    MissingExtra,
    PathLike,
    UnreadableFile,
    UsageError,
    WrongSource,
    quote,
)
from chaincheck.sources.hotpot import Hotpot
from chaincheck.sources.musique import Musique
from chaincheck.sources.records import recognize
from chaincheck.sources.twowiki import TwoWiki

__all__ = ["Hub", "Place", "parse_place", "to_original"]

_OPTIONS = ("config", "split", "revision")
_PREFIX = "hub:"
_SENTENCES = ("sentences", "content", "paragraph_text", "text")
_SUPPORT = ("sent_id", "sent_idx", "sentence_id")
_EVIDENCE = (("fact", "subject"), ("relation",), ("entity", "object"))


class Place(NamedTuple):
    """Where a data set is and which part of it is meant."""

    name: str
    config: str | None = None
    split: str | None = None
    revision: str | None = None


def parse_place(text: str) -> Place:
    """Read ``name?config=...&split=...&revision=...``; a leading ``hub:`` is dropped.

    Raises:
        UsageError: no name, or an option that is not one of these.
    """
    name, _, query = text.removeprefix(_PREFIX).partition("?")
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(options.keys() - set(_OPTIONS))
    if not name.strip() or unknown:
        problem = f"unknown option {unknown[0]!r}" if unknown else "no data set is named"
        raise UsageError(
            f"{quote(text)}: {problem}",
            remedy="Write owner/name?config=...&split=...&revision=..., each option at will",
        )
    return Place(name, **{key: value or None for key, value in options.items()})


def _column(table: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((table[name] for name in names if name in table), None)


def _tuples(value: object, *columns: tuple[str, ...]) -> object:
    """Bring a list of objects, or an object of lists, to a list of lists.

    Args:
        value: the column; what is neither is returned as it is, for its reader to judge.
        columns: for each place of the inner lists the names that its column may have.
    """
    if isinstance(value, Mapping):
        lists = [_column(value, names) for names in columns]
        if all(isinstance(found, list) for found in lists) and len(set(map(len, lists))) == 1:
            return [list(row) for row in zip(*lists, strict=True)]
        return value
    if isinstance(value, list):
        return [
            [_column(row, names) for names in columns] if isinstance(row, Mapping) else row
            for row in value
        ]
    return value


def _objects(value: object) -> object:
    """Bring an object of lists to a list of objects; return anything else as it is."""
    if isinstance(value, Mapping) and all(isinstance(found, list) for found in value.values()):
        lengths = {len(found) for found in value.values()}
        if len(lengths) == 1:
            return [
                {key: found[place] for key, found in value.items()} for place in range(*lengths)
            ]
    return value


def to_original(row: Mapping[str, Any]) -> dict[str, Any]:
    """Bring a row of a hub to the original layout of its data set.

    Hubs store a list of records as an object of columns, or as JSON text, and a column that a
    row lacks as null.
    """
    found = {key: value for key, value in row.items() if value is not None}
    for key in ("context", "supporting_facts", "evidences", "paragraphs", "question_decomposition"):
        if isinstance(found.get(key), str):
            try:
                found[key] = json.loads(found[key])
            except ValueError:
                continue  # the reader says that the column is no list
    if "context" in found:
        found["context"] = _tuples(found["context"], ("title",), _SENTENCES)
    if "supporting_facts" in found:
        found["supporting_facts"] = _tuples(found["supporting_facts"], ("title",), _SUPPORT)
    if "evidences" in found:
        found["evidences"] = _tuples(found["evidences"], *_EVIDENCE)
    for key in ("paragraphs", "question_decomposition"):
        if key in found:
            found[key] = _objects(found[key])
    return found


class Hub:
    """Reader of data sets on a hub or in a local folder of the same layout.

    Args:
        name: the data set, as ``parse_place`` reads it; otherwise ``read`` is given it.

    Attributes:
        revision: the commit last read; "local" for a folder, None before reading.
    """

    name = "hub"

    def __init__(self, name: str | None = None) -> None:
        self._place = name
        self.revision: str | None = None

    def read(self, path: PathLike = "") -> Iterator[Chain | Unusable]:
        """Yield what the reader of the data set's own layout yields.

        Raises:
            MissingExtra: ``datasets`` is not installed.
            UsageError: the name, configuration or split does not exist.
            UnreadableFile: the data cannot be had.
            WrongSource: the columns are none of the three layouts.
            InputError: a record is broken; its line is the row's number.
        """
        place = parse_place(self._place or str(path))
        local = Path(place.name).is_dir()
        self.revision = "local" if local else _commit(place)
        data = _load(place, self.revision if not local else None)

        def rows() -> Iterator[tuple[int, dict[str, Any]]]:
            for number, row in enumerate(_guarded(data, place), start=1):
                yield number, to_original(row)

        reader = _reader(rows(), place)
        # A folder's own name, so that the same data gives the same bytes wherever it lies.
        shown = Path(place.name).resolve().name if local else place.name
        extra = {"hub": shown, "hub_revision": self.revision}
        for found in reader.read_rows(rows, place.name):
            if isinstance(found, Chain):
                yield msgspec.structs.replace(found, extra={**found.extra, **extra})
            else:
                yield found


def _reader(rows: Iterator[tuple[int, dict[str, Any]]], place: Place) -> Musique | TwoWiki | Hotpot:
    first = next(rows, None)
    if first is None:
        raise UnreadableFile("holds no row", path=place.name, remedy="Name another split")
    source = recognize(first[1])
    readers: dict[str | None, type[Musique | TwoWiki | Hotpot]] = {
        "musique": Musique,
        "twowiki": TwoWiki,
        "hotpot": Hotpot,
    }
    if source not in readers:
        raise WrongSource(
            f"its columns are {quote(', '.join(sorted(first[1])))}",
            path=place.name,
            remedy="The hub reader knows the layouts of MuSiQue, 2WikiMultiHopQA and HotpotQA",
        )
    return readers[source]()


def _modules() -> tuple[Any, Any]:
    """Import what the extra installs; heavy, so only when data is asked for."""
    try:
        return import_module("datasets"), import_module("huggingface_hub")
    except ImportError:
        raise MissingExtra("reading from a hub", "hub") from None


def _unreadable(place: Place, cause: Exception) -> ChainCheckError:
    """Turn a failure of the hub's libraries into an error of the data set.

    They have no exception in common: a failed connection is an error of whichever HTTP client
    the installed version uses, a broken file one of its decoder. So each call of theirs is
    caught whole, and the cause is quoted.
    """
    text = str(cause).strip().splitlines()
    return UnreadableFile(
        f"the data set cannot be had: {text[0] if text else type(cause).__name__}",
        path=place.name,
        remedy="Check the name and the network, or name a local folder",
    )


def _commit(place: Place) -> str:
    """Look up the commit that a revision of a data set stands for."""
    _, hub = _modules()
    try:
        return str(hub.HfApi().dataset_info(place.name, revision=place.revision).sha)
    except Exception as cause:  # see _unreadable
        raise _unreadable(place, cause) from None


def _load(place: Place, revision: str | None) -> Any:
    """Open one split as a stream."""
    datasets, _ = _modules()
    datasets.disable_progress_bars()
    try:
        splits = datasets.load_dataset(place.name, place.config, revision=revision, streaming=True)
    except Exception as cause:  # see _unreadable
        raise _unreadable(place, cause) from None
    wanted = place.split
    if wanted is None:
        wanted = "validation" if "validation" in splits else "train"
        if wanted not in splits and len(splits) == 1:
            wanted = next(iter(splits))
    if wanted not in splits:
        raise UsageError(
            f"{place.name} has no split {wanted!r}",
            remedy=f"Its splits are: {', '.join(sorted(splits))}; write ?split=NAME",
        )
    return splits[wanted]


def _guarded(data: Any, place: Place) -> Iterator[dict[str, Any]]:
    """Go through a stream; what goes wrong on the way is an error of the data."""
    rows = iter(data)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except Exception as cause:  # see _unreadable
            raise _unreadable(place, cause) from None
        yield row
