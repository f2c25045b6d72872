"""What one replay of a triplet's cell comes to: claims, verdict, and the faults that it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from chaincheck.adherence.audit import audit
from chaincheck.adherence.findings import Audit
from chaincheck.adherence.replay import Recorded
from chaincheck.errors import InputError, PathLike, UnknownScore
from chaincheck.items import Item

__all__ = ["FAULTS", "Claims", "claims_of", "read_claims"]

Known = bool | None


@dataclass(frozen=True, slots=True)
class Claims:
    """One replay, read beside the item that it is of.

    Attributes:
        item_id, pair_id, question, variant, cell: the item's.
        passes: whether the verdict is PASS.
        right: whether it is what the item's cell asks for.
        claimed: for hop 1 and hop 2 whether the judge says that the passages state it; None
            where it does not say.
        holds: whether they do.
        statuses: ``overall`` and each dimension.
        requirements: each requirement's status.
    """

    item_id: str
    pair_id: str
    question: str
    variant: str
    cell: str
    passes: bool
    right: bool
    claimed: tuple[Known, Known]
    holds: tuple[Known, Known]
    statuses: Mapping[str, str]
    requirements: Mapping[str, str]

    def over_claim(self, hop: int) -> Known:
        """Whether the judge claims a hop that the passages do not state; None if unknown."""
        return _both(self.claimed[hop - 1], _not(self.holds[hop - 1]))

    def under_claim(self, hop: int) -> Known:
        """Whether the judge denies a hop that the passages state; None if unknown."""
        return _both(_not(self.claimed[hop - 1]), self.holds[hop - 1])

    @property
    def wrong_reason(self) -> Known:
        """Right verdict, and a claim that is not as the passages have it."""
        if not self.right:
            return False
        return _violated(self.statuses["grounding"])

    def broken(self, requirement: str) -> Known:
        """Whether a requirement is violated; None if unknown or not part of the protocol."""
        return _violated(self.requirements.get(requirement, "UNKNOWN"))


def _violated(status: str) -> Known:
    return {"VIOLATED": True, "SATISFIED": False}.get(status)


def _not(value: Known) -> Known:
    return None if value is None else not value


def _both(one: Known, other: Known) -> Known:
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _either(one: Known, other: Known) -> Known:
    return _not(_both(_not(one), _not(other)))


FAULTS: Mapping[str, Callable[[Claims], Known]] = MappingProxyType(
    {
        "over-claim": lambda one: _either(one.over_claim(1), one.over_claim(2)),
        "under-claim": lambda one: _either(one.under_claim(1), one.under_claim(2)),
        "omits a hop": lambda one: one.broken("both_hops"),
        "no quote": lambda one: _either(one.broken("cite_hop1"), one.broken("cite_hop2")),
        "not verbatim": lambda one: one.broken("verbatim"),
        "outside knowledge": lambda one: one.broken("context_only"),
        "verdict against claims": lambda one: _violated(one.statuses["verdict"]),
        "wrong reason": lambda one: one.wrong_reason,
    }
)
"""Each fault that is counted: its name, and whether a replay shows it."""


def claims_of(item: Item, recorded: Recorded, found: Audit) -> Claims:
    """Read a replay under ``chain-evidence``.

    Args:
        item: the item that it is of.
        recorded: the replay.
        found: its audit.
    """
    values = {one.atom: one.value for one in recorded.replay.annotations}
    known = {"TRUE": True, "FALSE": False}
    read = {atom: known.get(value) for atom, value in values.items()}
    return Claims(
        item_id=item.item_id,
        pair_id=item.pair_id,
        question=item.query,
        variant=item.variant,
        cell=item.cell,
        passes=recorded.replay.verdict == "PASS",
        right=recorded.replay.verdict == recorded.gold,
        claimed=(read.get("j_hop1"), read.get("j_hop2")),
        holds=(read.get("c_hop1"), read.get("c_hop2")),
        statuses={
            "overall": found.overall,
            **{str(k): str(v) for k, v in found.dimensions.items()},
        },
        requirements={one.id: one.status for one in found.requirements},
    )


def read_claims(
    items: Iterable[Item], replays: Iterable[Recorded], *, path: PathLike = "the replays"
) -> Iterator[Claims]:
    """Audit replays and read them beside their items.

    Args:
        items: the data.
        replays: each with the id of its item.
        path: where they are from, for messages.

    Raises:
        UnknownScore: a replay of an item that the data does not hold.
        InputError: a replay by another protocol.
    """
    known = {item.item_id: item for item in items}
    for recorded in replays:
        name = recorded.replay.id
        if name not in known:
            raise UnknownScore(
                "a replay of an item that the data does not hold",
                path=path,
                item=name,
                remedy="Name the data that the replays were made of",
            )
        if not recorded.replay.protocol.id.startswith("chain-evidence/"):
            raise InputError(
                f"its protocol is {recorded.replay.protocol.id}, not chain-evidence/1",
                path=path,
                item=name,
                remedy="Make the replays with chaincheck audit replays",
            )
        yield claims_of(known[name], recorded, audit(recorded.replay, explain=False))
