"""Files of replays from files of triplets, and the claims of such files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from tabulate import tabulate

from chaincheck.adherence.batch import replay_lines
from chaincheck.adherence.chain_evidence import replay_of
from chaincheck.adherence.claim_report import ClaimReport, report_claims
from chaincheck.adherence.claims import read_claims
from chaincheck.adherence.decode import decode_replay
from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.replay import Recorded
from chaincheck.adherence.wording import counted, printable
from chaincheck.atomic import open_output
from chaincheck.errors import (
    BrokenLine,
    DuplicateItem,
    InvalidReplay,
    PathLike,
    UnknownScore,
    quote,
)
from chaincheck.items import Item, read_items
from chaincheck.jsonl import decode_object, read_lines
from chaincheck.score_files import read_scores

__all__ = ["Made", "Refused", "claims_file", "make_replays", "read_replies", "write_replays"]

_MOST_SHOWN = 20


class Progress(Protocol):
    """Wraps an iterable in a progress bar."""

    def __call__(self, items: Iterable[Any], *, what: str, total: int | None = None) -> Any:
        """Yield the items."""


def _silent(items: Iterable[Any], *, what: str, total: int | None = None) -> Iterator[Any]:
    del what, total
    yield from items


class Refused(msgspec.Struct, frozen=True):
    """A reply that is no rationale.

    Attributes:
        item_id: the item.
        line: its line in the file of replies, or None.
        code: why.
        path: where in the reply.
        problem: what is wrong.
    """

    item_id: str
    line: int | None
    code: str
    path: str
    problem: str


@dataclass(frozen=True)
class Made:
    """What came of the replies.

    Attributes:
        made: replays by cell.
        refused: the replies that are INVALID.
        lacking: items by cell that there is no reply to, or no verdict of.
    """

    made: Mapping[str, int]
    refused: tuple[Refused, ...]
    lacking: Mapping[str, int]

    @property
    def codes(self) -> dict[str, int]:
        """The INVALID replies by reason."""
        return dict(sorted(Counter(one.code for one in self.refused).items()))

    def to_text(self) -> str:
        """The counts for a terminal."""
        cells = sorted({*self.made, *self.lacking})
        rows = [(cell, self.made.get(cell, 0), self.lacking.get(cell, 0)) for cell in cells]
        made = counted(sum(self.made.values()), "replay")
        parts = [f"{made} made, {counted(len(self.refused), 'reply', 'replies')} INVALID"]
        parts.append(tabulate(rows, headers=("cell", "replays", "items without a reply")))
        parts += [f"  {code}: {count}" for code, count in self.codes.items()]
        for one in self.refused[:_MOST_SHOWN]:
            where = "" if one.line is None else f"line {one.line}, "
            item = quote(one.item_id)
            parts.append(f"  {where}item {item}: {one.code} at {one.path}: {one.problem}")
        if len(self.refused) > _MOST_SHOWN:
            parts.append(f"  and {len(self.refused) - _MOST_SHOWN} more")
        return printable("\n".join(parts))

    def to_json(self) -> str:
        """Everything, the first 20 INVALID replies in full."""
        value = {
            "replays": self.made,
            "invalid": len(self.refused),
            "invalid_codes": self.codes,
            "invalid_replies": self.refused[:_MOST_SHOWN],
            "lacking": self.lacking,
        }
        return msgspec.json.format(msgspec.json.encode(value), indent=1).decode()


def read_replies(path: PathLike) -> Iterator[tuple[int, str, str]]:
    """Read what a judge wrote: a line number, an item's id and a reply each.

    Lines are ``{"item_id": ..., "reply": ...}``. The reply is the judge's text as it came.

    Raises:
        InputError: the file or a line is at fault; ``DuplicateItem`` for an id that stands twice.
    """
    seen: dict[str, int] = {}
    for line, raw in read_lines(path):
        row = decode_object(raw, path=path, line=line)
        name, reply = row.get("item_id"), row.get("reply")
        if not isinstance(name, str) or not name or not isinstance(reply, str):
            raise BrokenLine(
                'should hold {"item_id": "...", "reply": "..."}, both texts',
                path=path,
                line=line,
                item=name,
                remedy="Keep the judge's text as it came; the reply is not to be parsed before",
            )
        if name in seen:
            raise DuplicateItem(
                f"two replies to this item, the first on line {seen[name]}",
                path=path,
                line=line,
                item=name,
                remedy="Remove one of the two",
            )
        seen[name] = line
        yield line, name, reply


def make_replays(
    items: Iterable[Item],
    replies: Iterable[tuple[int | None, str, str]],
    out: PathLike,
    *,
    strict: bool = False,
    path: PathLike = "the replies",
) -> Made:
    """Translate replies and write the replays, one a line, in the order of the data.

    Args:
        items: the data.
        replies: line, item's id and text of each.
        out: where the replays go, whole or not at all.
        strict: by ``chain-evidence/1s``.
        path: where the replies are from, for messages.

    Raises:
        UnknownScore: a reply to an item that the data does not hold.
        InputError: the data is at fault.
        UnwritableOutput: the output cannot be written.
    """
    known = list(items)
    given = {name: (line, reply) for line, name, reply in replies}
    strange = given.keys() - {item.item_id for item in known}
    if strange:
        name = min(strange)
        raise UnknownScore(
            "a reply to an item that the data does not hold"
            + (f", one of {len(strange)} such replies" if len(strange) > 1 else ""),
            path=path,
            line=given[name][0],
            item=name,
            remedy="Name the data that the judge was asked about",
        )
    refused: list[Refused] = []

    def translated() -> Iterator[tuple[Item, Recorded | None]]:
        for item in known:
            recorded = None
            if item.item_id in given:
                line, reply = given[item.item_id]
                # Faults of the data itself are raised before a reply can be blamed for them.
                try:
                    recorded = replay_of(item, reply, strict=strict, path=path, line=line)
                except InvalidReplay as error:
                    if error.path.startswith("item "):
                        raise
                    refused.append(
                        Refused(item.item_id, line, error.code, error.json_path, error.reason)
                    )
                    continue
            yield item, recorded

    made, lacking = write_replays(translated(), out)
    return Made(made, tuple(refused), lacking)


def write_replays(
    replays: Iterable[tuple[Item, Recorded | None]], out: PathLike
) -> tuple[dict[str, int], dict[str, int]]:
    """Write replays, one a line, whole or not at all.

    Args:
        replays: each item with its replay, or with None if there is none.
        out: where they go.

    Returns:
        By cell how many were written, and how many items have none.
    """
    made: Counter[str] = Counter()
    lacking: Counter[str] = Counter()
    with open_output(out) as file:
        for item, recorded in replays:
            if recorded is None:
                lacking[item.cell] += 1
                continue
            made[item.cell] += 1
            file.write(encode_replay(recorded) + b"\n")
    return dict(sorted(made.items())), dict(sorted(lacking.items()))


def claims_file(
    data: PathLike,
    replays: PathLike,
    scores: PathLike | None = None,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
    progress: Progress = _silent,
) -> ClaimReport:
    """Audit a file of replays beside their triplets and count the claims.

    Args:
        data: the triplets.
        replays: their replays.
        scores: the judge's scores of the same items.
        level: coverage.
        resamples: bootstrap resamples behind Sigma.
        seed: seed of the resampling.
        progress: wraps the replays.

    Raises:
        InputError: a file is at fault; every line of the replays has to be valid.
    """
    items = list(read_items(data))
    seen: set[str] = set()

    def decoded() -> Iterator[Recorded]:
        for line, raw in progress(replay_lines(replays), what="auditing"):
            recorded = decode_replay(raw, path=replays, line=line)
            if recorded.replay.id in seen:
                raise DuplicateItem(
                    f"two replays of {quote(recorded.replay.id)}",
                    path=replays,
                    line=line,
                    item=recorded.replay.id,
                    remedy="Remove one of the two",
                )
            seen.add(recorded.replay.id)
            yield recorded

    claims = list(read_claims(items, decoded(), path=replays))
    lacking = Counter(item.cell for item in items if item.item_id not in seen)
    return report_claims(
        claims,
        read_scores(scores) if scores is not None else None,
        lacking=dict(sorted(lacking.items())),
        level=level,
        resamples=resamples,
        seed=seed,
    )
