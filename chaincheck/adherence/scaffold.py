"""Start a replay from texts, and look a protocol over before it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec
from tabulate import tabulate

from chaincheck.adherence.builder import ReplayBuilder
from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.findings import Lint
from chaincheck.adherence.lints import lint
from chaincheck.adherence.logic import atoms_of
from chaincheck.adherence.protocols import load_protocol
from chaincheck.adherence.replay import Protocol, Recorded, SourceKind, Verdict
from chaincheck.adherence.wording import plain, weakness
from chaincheck.atomic import refuse_clashes, write_bytes
from chaincheck.errors import PathLike, UnreadableFile, UnwritableOutput
from chaincheck.jsonl import decode_text, open_bytes
from chaincheck.refusals import LIMITS

__all__ = ["ProtocolView", "inspect_protocol", "scaffold", "scaffold_file"]


def scaffold(
    replay_id: str,
    protocol: Protocol,
    texts: Mapping[SourceKind, Sequence[str]],
    *,
    verdict: Verdict,
    gold: Verdict | None = None,
) -> Recorded:
    """Make a replay in which every atom is UNKNOWN.

    Args:
        replay_id: its name.
        protocol: the rules.
        texts: the texts of each kind. One text of a kind is named after its kind; several are
            numbered, contexts ``p1``, ``p2``, ..., like passages.
        verdict: what the judge said.
        gold: what would have been right.

    Raises:
        InvalidReplay: the replay would break a rule, as with half a surrogate pair in a text.
    """
    draft = ReplayBuilder(replay_id, protocol, verdict=verdict)
    for kind, several in texts.items():
        stem = "p" if kind == "context" else kind
        for number, text in enumerate(several, 1):
            alone = len(several) == 1 and kind != "context"
            draft.source(kind if alone else f"{stem}{number}", kind, text)
    for atom in protocol.atoms:
        draft.unknown(atom.id, explanation="to be read")
    return draft.build(gold=gold)


def scaffold_file(
    out: PathLike,
    replay_id: str,
    protocol: PathLike,
    *,
    claims: Mapping[str, str],
    texts: Mapping[str, Sequence[PathLike]],
    verdict: Verdict,
    gold: Verdict | None = None,
) -> None:
    """Make such a replay from files and write it, indented, for a person to fill in.

    Args:
        out: where it goes.
        replay_id: its name.
        protocol: name or path of the protocol.
        claims: for a template, its claims.
        texts: for each kind of source the paths of its texts. A line feed at the end of a file
            is no part of its text.
        verdict: what the judge said.
        gold: what would have been right.

    Raises:
        UnreadableFile: a text cannot be read, or is not UTF-8.
        UsageError: there is no such protocol.
        InvalidReplay: the protocol, or the replay, breaks a rule.
        UnwritableOutput: the output cannot be written, is one of the inputs, or exists: what
            somebody filled in is not written over.
    """
    refuse_clashes([out], [path for several in texts.values() for path in several])
    if Path(out).is_file():
        raise UnwritableOutput(out, "it exists already, and somebody may have filled it in")
    rules = load_protocol(protocol, claims or None)
    read = {
        cast(SourceKind, kind): [_text(path) for path in several]
        for kind, several in texts.items()
        if several
    }
    recorded = scaffold(replay_id, rules, read, verdict=verdict, gold=gold)
    write_bytes(out, encode_replay(recorded, indent=1) + b"\n")


def _text(path: PathLike) -> str:
    with open_bytes(path) as file:
        raw = file.read(LIMITS.size + 1)
    if len(raw) > LIMITS.size:
        raise UnreadableFile(
            f"is larger than {LIMITS.size // 2**20} MiB",
            path=path,
            remedy="No replay can hold it: keep the part that is quoted",
        )
    return decode_text(raw, path=path, line=1).removesuffix("\n").removesuffix("\r")


class ProtocolView(msgspec.Struct, frozen=True):
    """A protocol at a glance.

    Attributes:
        id: its name.
        description: the rules in words.
        atoms: how many atoms of each role.
        constraints: how many constraints.
        requirements: how many requirements.
        pairs: how many grounding pairs.
        unused: atoms that nothing refers to.
        weaknesses: ways in which an audit by it would say less than it seems to.
    """

    id: str
    description: str
    atoms: dict[str, int]
    constraints: int
    requirements: int
    pairs: int
    unused: tuple[str, ...]
    weaknesses: tuple[Lint, ...]

    def to_json(self) -> str:
        """The view as JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1).decode()

    def to_text(self) -> str:
        """The view as text for a terminal."""
        head = f"{plain(self.id)}: {plain(self.description) or 'no description'}"
        rows = [(f"{role} atoms", count) for role, count in self.atoms.items()]
        rows += [("constraints", self.constraints), ("requirements", self.requirements)]
        rows += [("grounding pairs", self.pairs)]
        parts = [head, "", tabulate(rows, tablefmt="plain"), ""]
        parts += [f"weakness: {weakness(one)}" for one in self.weaknesses]
        if not self.weaknesses:
            parts.append("no weakness found")
        return "\n".join(parts)


def inspect_protocol(name: PathLike, claims: Mapping[str, str] | None = None) -> ProtocolView:
    """Look a protocol over.

    Beside the weaknesses that :func:`chaincheck.adherence.lints.lint` finds, an audit can never
    be SATISFIED by a protocol without a requirement or without a grounding pair, and an atom
    that nothing refers to changes nothing.

    Args:
        name: its name, or the path of a file.
        claims: for a template, its claims.

    Raises:
        UsageError: there is no such protocol.
        InvalidReplay: it is refused.
    """
    protocol = load_protocol(name, claims or None)
    used = set(atoms_of(protocol.decision))
    for one in protocol.constraints:
        used.update(atoms_of(one.expr))
    for rule in protocol.requirements:
        used.update(atoms_of(rule.expr))
        used.update(atoms_of(rule.addressed) if rule.addressed is not None else ())
    for pair in protocol.grounding:
        used.update((pair.judge, pair.context))
    unused = tuple(atom.id for atom in protocol.atoms if atom.id not in used)
    roles = list(protocol.roles().values())
    own = [
        Lint("atom_unused", atom, f"nothing refers to the atom {atom}; remove it, or use it")
        for atom in unused
    ]
    for what, there in (("requirement", protocol.requirements), ("grounding", protocol.grounding)):
        if not there:
            thing = "requirement" if what == "requirement" else "grounding pair"
            own.append(
                Lint(f"no_{what}", protocol.id, f"without a {thing} no audit can be SATISFIED")
            )
    return ProtocolView(
        id=protocol.id,
        description=protocol.description,
        atoms={role: roles.count(role) for role in ("judge", "context", "procedure")},
        constraints=len(protocol.constraints),
        requirements=len(protocol.requirements),
        pairs=len(protocol.grounding),
        unused=unused,
        weaknesses=(*lint(protocol), *own),
    )
