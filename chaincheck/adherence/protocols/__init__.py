"""Protocols that come with the package, and protocols of one's own.

A protocol is a JSON object as in a replay. It may also be a *template*: an object with
``"for_each": "claim"`` in a list stands for as many objects as there are claims, and in its
strings ``{claim}`` is the claim's id and ``{statement}`` its words. ``factual-claims/1`` is one,
since each response makes other claims.

- ``factual-claims/1`` passes a response whose every claim the passage supports. The judge lists the
  claims, compares each with the passage, and uses nothing else.
- ``chain-evidence/1`` passes passages that support both hops of a question. The judge states a
  finding for each hop, quotes verbatim where it finds support, and uses the passages only.
- ``chain-evidence/1s`` asks besides that what is quoted for hop 2 names the bridge of hop 1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from chaincheck.adherence.decode import protocol_from, read_file
from chaincheck.adherence.replay import Protocol
from chaincheck.errors import PathLike, UsageError, quote
from chaincheck.refusals import Refusal, Trail
from chaincheck.strict_json import parse_json

__all__ = ["NAMES", "expand", "load_protocol", "needs_claims"]

NAMES = ("factual-claims/1", "chain-evidence/1", "chain-evidence/1s")
_CLAIM = re.compile(r"[a-z0-9_]{1,62}")
_MARK = "for_each"


def load_protocol(name: PathLike, claims: Mapping[str, str] | None = None) -> Protocol:
    """Load a protocol by its name, or from a file of one's own.

    Args:
        name: one of ``NAMES``, or the path of a JSON file.
        claims: for a template the claims: id to statement. The id becomes part of atom ids.

    Raises:
        UsageError: there is no such protocol; claims for one that takes none, or none for one
            that needs them; a claim's id that makes no atom id.
        UnreadableFile: the file cannot be read.
        InvalidReplay: what it holds is no protocol.
    """
    path = _path(name)
    try:
        value = parse_json(read_file(path))
        template = needs_claims(value)
        if template and not claims:
            raise UsageError(
                f"the protocol {quote(str(name))} is made for the claims at hand",
                remedy="Name them, an id and a statement each, as in --claim born 'born in Lund'",
            )
        if claims and not template:
            raise UsageError(f"the protocol {quote(str(name))} takes no claims")
        for claim in claims or {}:
            if not _CLAIM.fullmatch(claim):
                raise UsageError(
                    f"{quote(claim)} is no id of a claim",
                    remedy="Use lower-case ASCII letters, digits and underscores, 62 at most",
                )
        return protocol_from(expand(value, claims or {}))
    except Refusal as refusal:
        raise refusal.of_file(path) from None
    except RecursionError:
        problem = "objects or arrays nested hundreds of levels"
        raise Refusal("TOO_DEEP", None, problem).of_file(path) from None


def _path(name: PathLike) -> Path:
    if name in NAMES:
        return Path(__file__).parent / f"{str(name).replace('/', '-')}.json"
    path = Path(name)
    if not path.exists() and path.suffix != ".json":
        raise UsageError(
            f"there is no protocol {quote(str(name))}",
            remedy=f"Name one of {', '.join(NAMES)}, or a .json file of your own",
        )
    return path


def needs_claims(value: Any) -> bool:
    """Tell whether a protocol's JSON is a template."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            if _MARK in one:
                return True
            stack.extend(one.values())
        elif isinstance(one, list):
            stack.extend(one)
    return False


def expand(value: Any, claims: Mapping[str, str], trail: Trail = None) -> Any:
    """Write a template out for the claims at hand.

    Args:
        value: plain JSON.
        claims: id to statement.
        trail: the value's place.

    Raises:
        Refusal: ``for_each`` names something else than claims, or stands in no list.
    """
    if isinstance(value, dict):
        if _MARK in value:
            problem = "an object with for_each stands where there is no list to repeat it in"
            raise Refusal("UNKNOWN_FIELD", (trail, _MARK), problem)
        return {key: expand(one, claims, (trail, key)) for key, one in value.items()}
    if not isinstance(value, list):
        return value
    out: list[Any] = []
    for at, one in enumerate(value):
        here: Trail = (trail, at)
        if not (isinstance(one, dict) and _MARK in one):
            out.append(expand(one, claims, here))
            continue
        if one[_MARK] != "claim":
            problem = f"there is nothing to repeat but a claim, not {quote(one[_MARK])}"
            raise Refusal("WRONG_VALUE", (here, _MARK), problem, 'Write "for_each": "claim"')
        rest = {key: part for key, part in one.items() if key != _MARK}
        out.extend(
            expand(_filled(rest, claim, statement), claims, here)
            for claim, statement in claims.items()
        )
    return out


def _filled(value: Any, claim: str, statement: str) -> Any:
    """Put one claim into every string of a value."""
    if isinstance(value, str):
        fields = {"{claim}": claim, "{statement}": statement}
        return re.sub(r"\{claim\}|\{statement\}", lambda found: fields[found[0]], value)
    if isinstance(value, dict):
        return {key: _filled(one, claim, statement) for key, one in value.items()}
    return [_filled(one, claim, statement) for one in value] if isinstance(value, list) else value
