"""A model card, made from the records of a run and from nothing else.

Three records are read: the merged folder's provenance, the run that trained the adapter, and a
gate's verdict, which holds the measurements of base and candidate. They must be of one another:
the weights that were gated are those of the folder, the base that was gated is the one that was
merged into, the adapter that was merged is the run's. Where a record is missing or is of another
model no card is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from chaincheck.atomic import refuse_clashes, write_bytes
from chaincheck.errors import IntegrityError, PathLike, UnreadableFile, quote
from chaincheck.model_folders import read_config
from chaincheck.models import PROVENANCE as BASE_PROVENANCE
from chaincheck.models import file_hash, weights_hash
from chaincheck.training.card_text import card_text
from chaincheck.training.checkpoint import WEIGHT_SUFFIXES
from chaincheck.training.gate_results import VERDICT
from chaincheck.training.merge_files import BASE_PREFIX, MERGED, PROVENANCE
from chaincheck.training.recipe import settings_digest
from chaincheck.training.sealed import digest_of, read_sealed

__all__ = ["CardRecords", "read_records", "write_card"]

_ADAPTER = "adapter_model.safetensors"
_SETTINGS = "adapter_config.json"
# What a loader may read of a folder, beside what was there when the model was merged.
_LOADED = (".json", ".jinja", ".py", ".model", *WEIGHT_SUFFIXES)
_VOCABULARIES = frozenset({"vocab.txt", "merges.txt"})
_ODD = (KeyError, TypeError, AttributeError)
_Fact = tuple[object, object, str]


@dataclass(frozen=True)
class CardRecords:
    """Everything that a card says.

    Attributes:
        name: of the merged folder.
        merge: the provenance of the merged folder.
        verdict: the gate's verdict.
        run: what was trained on what.
        training: what came out of it.
        scored: how the gate asked the candidate: "merged" or "adapter".
        license: what the base's records call its license, None if they do not.
        hashes: SHA-256 of each record that was read, by name.
    """

    name: str
    merge: Mapping[str, Any]
    verdict: Mapping[str, Any]
    run: Mapping[str, Any]
    training: Mapping[str, Any]
    scored: str
    license: str | None
    hashes: Mapping[str, str]


def read_records(merged: PathLike, run: PathLike, verdict: PathLike) -> CardRecords:
    """Read the records and check that they are of one another.

    Args:
        merged: the merged folder.
        run: the folder of the training run.
        verdict: what ``chaincheck gate check --json`` wrote.

    Raises:
        UnreadableFile: a record is missing or cannot be read.
        IntegrityError: a record was changed, or is of another model.
    """
    folder, trained = Path(merged), Path(run)
    merge = read_sealed(
        folder / PROVENANCE,
        MERGED,
        remedy="Merge with: chaincheck merge BASE --adapter A --out OUT",
    )
    gated = read_sealed(
        verdict, VERDICT, remedy="Make it with: chaincheck gate check PLAN --json VERDICT"
    )
    began = _record(trained / "run.json", "Name the folder that chaincheck train wrote")
    ended = _record(trained / "training.json", "Let the training run end first")
    try:
        _check_files(folder, merge)
        _check_run(trained, began, ended)
        _check_verdict(gated, verdict)
        scored = _check_chain(folder, merge, gated, _facts(merge, began, ended, trained))
    except _ODD as cause:
        raise _lacking(folder, cause) from None
    paths = {
        PROVENANCE: folder / PROVENANCE,
        Path(verdict).name: Path(verdict),
        "run.json": trained / "run.json",
        "training.json": trained / "training.json",
    }
    return CardRecords(
        name=folder.resolve().name,
        merge=merge,
        verdict=gated,
        run=began,
        training=ended,
        scored=scored,
        license=_license(folder),
        hashes={name: file_hash(path, remember=False) for name, path in paths.items()},
    )


def write_card(
    merged: PathLike, run: PathLike, verdict: PathLike, out: PathLike | None = None
) -> Path:
    """Write a model card.

    Args:
        merged: the merged folder.
        run: the folder of the training run.
        verdict: what ``chaincheck gate check --json`` wrote.
        out: the card; by default ``README.md`` of the merged folder.

    Returns:
        Where it stands.

    Raises:
        ChainCheckError: as ``read_records``; ``UnwritableOutput`` where it cannot be written.
    """
    records = read_records(merged, run, verdict)
    folder = Path(merged)
    target = Path(out) if out is not None else folder / "README.md"
    read = [folder / name for name in (*records.merge["merged"]["files"], PROVENANCE)]
    refuse_clashes([target], [verdict, *read], folders=[run])
    try:
        content = card_text(records).encode()
    except (*_ODD, ValueError, IndexError, RuntimeError) as cause:
        raise _lacking(folder, cause) from None
    write_bytes(target, content)
    return target


def _lacking(folder: Path, cause: Exception) -> IntegrityError:
    """Write the error of a record without something, or with something else in its place."""
    what = f"{type(cause).__name__} {cause}".strip()
    return IntegrityError(
        f"a record lacks what a card needs: {what}", path=folder, remedy="Make it anew"
    )


def _record(path: Path, remedy: str) -> dict[str, Any]:
    if not path.is_file():
        raise UnreadableFile("this record is missing", path=path, remedy=remedy)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, msgspec.MsgspecError) as cause:
        raise UnreadableFile(
            f"this record cannot be read: {cause}", path=path, remedy="Restore a copy"
        ) from None
    return found


def _check_files(folder: Path, merge: Mapping[str, Any]) -> None:
    """Refuse a merged folder whose files are not those that were written."""
    files = merge["merged"]["files"]
    if not isinstance(files, dict) or not files:
        raise IntegrityError("names no files", path=folder / PROVENANCE, remedy="Merge anew")
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        counts = name.endswith(_LOADED) or path.name in _VOCABULARIES
        if counts and path.is_file() and name not in {*files, PROVENANCE}:
            raise IntegrityError(
                "was not there when the model was merged, and could make it another model",
                path=path,
                remedy="Remove it, or merge anew",
            )
    for name, digest in files.items():
        path = folder / name
        if not path.is_file() or file_hash(path) != digest:
            raise IntegrityError(
                "is not as it was when the model was merged", path=path, remedy="Merge anew"
            )


def _check_run(folder: Path, run: Mapping[str, Any], training: Mapping[str, Any]) -> None:
    """Refuse a run whose recipe or data are not those that it ended with."""
    path = folder / "training.json"
    if "digest" in training and training["digest"] != digest_of(training):
        raise IntegrityError(
            "is not as it was written: its digest is another", path=path, remedy="Restore a copy"
        )
    if training.get("run", file_hash(folder / "run.json")) != file_hash(folder / "run.json"):
        raise IntegrityError(
            "is not that of the run which ended",
            path=folder / "run.json",
            remedy="Restore the records that chaincheck train wrote",
        )
    facts = {
        "recipe": settings_digest(run["recipe"]),
        "data": run["data"],
        "validation": run["validation"],
    }
    for key, value in facts.items():
        if value != training[key]:
            raise IntegrityError(
                f"its {key} is not what the run ended with: {quote(value)} and "
                f"{quote(training[key])}",
                path=folder / "run.json",
                remedy="Restore the records that chaincheck train wrote",
            )


def _check_verdict(verdict: Mapping[str, Any], path: PathLike) -> None:
    """Refuse a verdict that is not what its own conditions come to, or not of its own lock."""
    lock = verdict["lock"]
    wanted = {
        (kind, data["path"], variant)
        for data in lock["plan"]["data"]
        for kind, variants in (("sigma", data["sigma"]), ("nominal", data["nominal"]))
        for variant in variants
    }
    found = {(one["kind"], one["file"], one["variant"]): one for one in verdict["conditions"]}
    holds = {
        key: one["bound"] is not None and one["bound"] > one["threshold"]
        for key, one in found.items()
    }
    if (
        found.keys() != wanted
        or any(found[key]["passed"] is not value for key, value in holds.items())
        or verdict["passed"] is not all(holds.values())
        or not verdict["gate"] == lock["digest"] == digest_of(lock)
    ):
        raise IntegrityError(
            "does not say what its own conditions come to",
            path=path,
            remedy="Make it with: chaincheck gate check PLAN --json VERDICT",
        )


def _facts(
    merge: Mapping[str, Any], run: Mapping[str, Any], training: Mapping[str, Any], trained: Path
) -> list[_Fact]:
    """What of the training run must be what was merged: both values, and what they are."""
    base = merge["base"]["weights"]
    lora = run["recipe"].get("lora", {})
    settings = merge["adapter"]["settings"]
    return [
        (
            file_hash(trained / "adapter" / _SETTINGS),
            merge["adapter"]["files"][_SETTINGS],
            "the adapter's settings of the training run",
        ),
        (lora.get("rank", settings["r"]), settings["r"], "the rank of the recipe"),
        (lora.get("alpha", settings["lora_alpha"]), settings["lora_alpha"], "alpha of the recipe"),
        (training["base"]["weights"], base, "the base of the training run"),
        (run["base"]["weights"], base, "the base of the training run"),
        (
            file_hash(trained / "adapter" / _ADAPTER),
            merge["adapter"]["files"][_ADAPTER],
            "the adapter of the training run",
        ),
    ]


def _check_chain(
    folder: Path, merge: Mapping[str, Any], verdict: Mapping[str, Any], facts: list[_Fact]
) -> str:
    """Hold the records against each other; return how the candidate was scored."""
    if not merge["audit"]["passed"]:
        raise IntegrityError("the audit did not pass", path=folder / PROVENANCE)
    base = merge["base"]["weights"]
    adapter = merge["adapter"]["files"][_ADAPTER]
    asked = {name: verdict["instruments"][name]["model"] for name in ("base", "candidate")}
    facts = [
        *facts,
        (merge["merged"]["weights"], weights_hash(folder), "the folder's weights"),
        (asked["base"]["weights"], base, "the base of the gate"),
    ]
    if asked["candidate"]["weights"] == merge["merged"]["weights"]:
        scored = "merged"
    else:
        scored = "adapter"
        part = asked["candidate"].get("adapter") or {}
        facts += [
            (asked["candidate"]["weights"], base, "the candidate of the gate"),
            (part.get("weights"), adapter, "the adapter of the gate"),
        ]
    for one, other, what in facts:
        if one != other:
            raise IntegrityError(
                f"{what} is not what was merged: {quote(str(one)[:16])} and "
                f"{quote(str(other)[:16])}",
                path=folder / PROVENANCE,
                remedy="Name the records of this model",
            )
    if scored == "adapter" and not merge.get("scores"):
        raise IntegrityError(
            "the gate asked base and adapter, and nothing says how the merged model scores",
            path=folder / PROVENANCE,
            remedy="Merge with --compare-on, or gate the merged model",
        )
    return scored


def _license(folder: Path) -> str | None:
    """What the base's own records say of its license."""
    stated = folder / f"{BASE_PREFIX}{BASE_PROVENANCE}"
    if stated.is_file():
        found = read_config(stated).get("license")
        if isinstance(found, str):
            return found
    card = folder / f"{BASE_PREFIX}README.md"
    if card.is_file():
        parts = card.read_text("utf-8", errors="replace").split("---\n")
        lines = parts[1].splitlines() if len(parts) > 2 and not parts[0].strip() else []
        for line in lines:
            key, _, value = line.partition(":")
            if key == "license" and value.strip():
                return value.strip().strip("\"'")
    return None
