"""Audit: every tensor of the base is accounted for in the merged model, or the release stops.

A loader drops what its class does not know, without a word: Qwen3.5 lists ``mtp.*`` among what to
ignore, and its text-only class ``model.visual.*`` as well. What such a class then saves has lost
these tensors, and the config still tells of them. So nothing is taken on trust: base, adapter and
merged model are read from their files, and each tensor of the base must be one of ``CLASSES``.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from chaincheck.errors import PathLike
from chaincheck.judges.base import differences
from chaincheck.training.adapter import Adapter, Target, place_on
from chaincheck.training.audit_results import Account, Audit, Finding
from chaincheck.training.checkpoint import (
    Checkpoint,
    TensorInfo,
    count_prediction_layers,
    open_checkpoint,
)
from chaincheck.training.tensor_checks import delta_fault, same_bits, unlike, worsened

__all__ = ["Progress", "audit", "base_name", "silent"]

_T = TypeVar("_T")
Progress = Callable[[Iterable[_T], str, int], Iterable[_T]]
"""Shows how far a loop is: takes the items, what is done to them, and how many there are."""

# What saving a model again may change in a config without changing the model.
_VOLATILE = ("transformers_version", "_name_or_path", "torch_dtype", "dtype", "use_cache")
# What decides by being there, whatever a class makes of it.
_DECISIVE = frozenset(
    {
        *("architectures", "model_type", "auto_map", "quantization_config"),
        *("attn_implementation", "_attn_implementation"),
    }
)
_MOST_TRIED = 8
_CARRIED = (
    *("tokenizer.json", "tokenizer_config.json", "chat_template.jinja", "generation_config.json"),
    "special_tokens_map.json",
)


def silent(items: Iterable[_T], what: str, total: int) -> Iterable[_T]:
    """Show nothing."""
    return items


def base_name(name: str, renames: Mapping[str, str]) -> str:
    """Say how the base calls a tensor of the merged model.

    Args:
        name: the merged model's name.
        renames: starts of names: the merged model's, and the base's for it; the longest fits.
    """
    for start in sorted(renames, key=len, reverse=True):
        if name.startswith(start):
            return renames[start] + name.removeprefix(start)
    return name


def audit(
    base: PathLike | Checkpoint,
    merged: PathLike,
    adapter: Adapter | None = None,
    *,
    renames: Mapping[str, str] | None = None,
    restored: Collection[str] = (),
    progress: Progress[Any] = silent,
) -> Audit:
    """Account for every tensor of the base in a merged model.

    Args:
        base: the base, a folder or an open one.
        merged: the folder of the merged model.
        adapter: what was merged; without it every tensor must be the base's.
        renames: starts of tensor names that the merged model writes otherwise than the base.
        restored: the base's names of tensors that were put back from it.
        progress: shows how many tensors have been looked at.

    Raises:
        InvalidModel: a file is missing or damaged, the base has faults of its own, or the adapter
            is not for it.
    """
    one = base if isinstance(base, Checkpoint) else open_checkpoint(base)
    other = open_checkpoint(merged, sound=False)
    targets = place_on(adapter, one)[0] if adapter else {}
    sides = _Sides(one, other, adapter, targets, renames or {}, restored)
    return _Work(sides).run(progress)


@dataclass(frozen=True)
class _Sides:
    """What is held against what."""

    base: Checkpoint
    merged: Checkpoint
    adapter: Adapter | None
    targets: Mapping[str, Target]
    renames: Mapping[str, str]
    restored: Collection[str]


class _Work:
    """One audit while it goes on."""

    def __init__(self, sides: _Sides) -> None:
        self.base = sides.base
        self.merged = sides.merged
        self.adapter = sides.adapter
        self.targets = sides.targets
        self.renames = sides.renames
        self.restored = sides.restored
        self.accounts: list[Account] = []
        self.findings: list[Finding] = [
            Finding("layout", "", fault) for fault in sides.merged.faults
        ]
        self.notes: list[str] = []
        self.error = self.size = 0.0
        self.there: dict[str, str] = {}  # the base's name -> the merged model's

    def run(self, progress: Progress[Any]) -> Audit:
        for name in self.merged.tensors:
            old = base_name(name, self.renames)
            if old in self.there:
                self._find("layout", old, f"stands there as {self.there[old]} and as {name}")
            self.there[old] = name
        missing = []
        for name in progress(self.base.tensors, "auditing", len(self.base.tensors)):
            if name not in self.there:
                missing.append(name)
            elif not (self.base.tied and name == self.base.head):
                self._compare(name)
        extra = [name for name in self.there if name not in self.base.tensors]
        self._head(missing, extra)
        self._unmatched(missing, extra)
        self.findings += _config_findings(self.base, self.merged, self.there)
        self.notes += _file_notes(self.base.folder, self.merged.folder)
        return Audit(
            base=str(self.base.folder),
            merged=str(self.merged.folder),
            accounts=tuple(self.accounts),
            findings=tuple(self.findings),
            notes=tuple(self.notes),
            lost=math.sqrt(self.error / self.size) if self.size else None,
        )

    def _find(self, kind: str, tensor: str, detail: str) -> None:
        self.findings.append(Finding(kind, tensor, detail))

    def _form_fault(self, old: TensorInfo, new: TensorInfo) -> tuple[str, str] | None:
        if old.dtype != new.dtype:
            return "retyped", f"{old.dtype} in the base, {new.dtype} here"
        if old.shape != new.shape:
            return "reshaped", f"{list(old.shape)} in the base, {list(new.shape)} here"
        return None

    def _compare(self, name: str) -> None:
        """Look at a tensor that both have."""
        new_name = self.there[name]
        fault = self._form_fault(self.base.tensors[name], self.merged.tensors[new_name])
        if fault is None:
            fault = self._value_fault(name, new_name, keep=True)
        if fault:
            self._find(fault[0], name, fault[1])
            return
        kind = "merged" if name in self.targets else "unchanged"
        self.accounts.append(Account(name, "restored" if name in self.restored else kind))

    def _value_fault(self, name: str, new_name: str, *, keep: bool) -> tuple[str, str] | None:
        """Compare the values of two tensors of one form; ``keep`` the measure of rounding."""
        old, new = self.base.tensor(name), self.merged.tensor(new_name)
        target = self.targets.get(name)
        if target is None or self.adapter is None:
            if same_bits(old, new):
                return None
            if worsened(old, new):
                return "nonfinite", unlike(old, new)
            why = "" if self.adapter else ", and no adapter was named that would explain it"
            return "changed", unlike(old, new) + why
        if worsened(old, new):
            return "nonfinite", "it holds NaN or infinity, the base does not"
        found = delta_fault(self.adapter, target, old, new, self.base.tensors[name].dtype)
        if found.fault:
            return "changed", found.fault
        if keep:
            self.error += found.error
            self.size += found.size
            if found.size and not found.moved:
                self.notes.append(f"{name}: the whole delta is below the type's rounding")
        return None

    def _head(self, missing: list[str], extra: list[str]) -> None:
        """Account for a tied output head; take it out of what is missing or extra."""
        head, other = self.base.head, self.merged.head
        if not self.base.tied:
            return
        if head in missing:
            missing.remove(head)
            self.accounts.append(Account(head, "tied", "not stored"))
        if other is None:
            return
        name = base_name(other, self.renames)
        if name in extra:
            extra.remove(name)
        embedding = self.merged.embedding
        same = embedding is not None and self._alike(embedding, other)
        if same:
            self.accounts.append(Account(name, "tied", "stored, and the embedding bit for bit"))
        elif head is not None and self._untied_in_base() and self._is_bases_head(head, other):
            self.accounts.append(Account(name, "unchanged"))
            self.notes.append(
                f"{name}: the base itself stores a head that is not the embedding its config ties "
                "it to; kept as it is"
            )
        else:
            self._find("untied", name, "stored with values that are not the embedding's")

    def _alike(self, one: str, other: str) -> bool:
        infos = self.merged.tensors[one], self.merged.tensors[other]
        return self._form_fault(*infos) is None and same_bits(
            self.merged.tensor(one), self.merged.tensor(other)
        )

    def _is_bases_head(self, head: str, other: str) -> bool:
        infos = self.base.tensors[head], self.merged.tensors[other]
        return self._form_fault(*infos) is None and same_bits(
            self.base.tensor(head), self.merged.tensor(other)
        )

    def _untied_in_base(self) -> bool:
        head, embedding = self.base.head, self.base.embedding
        return head is not None and (
            embedding is None or not same_bits(self.base.tensor(head), self.base.tensor(embedding))
        )

    def _unmatched(self, missing: list[str], extra: list[str]) -> None:
        """Pair what is missing with what is extra, and report both."""
        for name in missing:
            new = next((one for one in self._candidates(name, extra) if self._is(name, one)), None)
            if new is None:
                why = "the adapter changes it" if name in self.targets else ""
                self._find("missing", name, why or self.base.tensors[name].described())
                continue
            extra.remove(new)
            self._find("renamed", name, f"the merged model has it as {self.there[new]}")
        for name in extra:
            info = self.merged.tensors[self.there[name]]
            self._find("unexplained", self.there[name], f"{info.described()}, not in the base")

    def _candidates(self, name: str, extra: Iterable[str]) -> Iterator[str]:
        """A few extra tensors of the same form, those with the most last parts in common first."""
        info = self.base.tensors[name]
        fitting = [
            one
            for one in extra
            if self._form_fault(info, self.merged.tensors[self.there[one]]) is None
        ]
        parts = name.split(".")[::-1]

        def shared(other: str) -> int:
            pairs = zip(parts, other.split(".")[::-1], strict=False)
            return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))

        yield from sorted(fitting, key=shared, reverse=True)[:_MOST_TRIED]

    def _is(self, name: str, extra: str) -> bool:
        return self._value_fault(name, self.there[extra], keep=False) is None


def _config_findings(
    base: Checkpoint, merged: Checkpoint, names: Iterable[str]
) -> Iterator[Finding]:
    told, silent_on_one_side = [], {}
    for key, (old, new) in differences(base.config, merged.config).items():
        leaf = key.rpartition(".")[2]
        if leaf in _VOLATILE or leaf == "tie_word_embeddings":
            continue
        if (old is None or new is None) and not _DECISIVE & set(key.split(".")):
            silent_on_one_side[key] = (old, new)
            continue
        told.append(key)
        yield Finding("config", "", f"{key} is {old!r} in the base and {new!r} here")
    if silent_on_one_side and "model_type" not in told:
        for key, (old, new) in _by_their_class(base, merged, silent_on_one_side).items():
            if key not in told:
                yield Finding("config", "", f"{key} is {old!r} in the base and {new!r} here")
    if base.tied != merged.tied:
        words = {True: "tied", False: "not tied"}
        yield Finding(
            "config",
            "",
            f"the head is {words[base.tied]} in the base and {words[merged.tied]} here",
        )
    said, found = merged.prediction_layers, count_prediction_layers(names)
    if said is not None and said != found:
        yield Finding(
            "config",
            "",
            f"it tells of {said} multi-token prediction layers, the tensors are of {found}",
        )


def _by_their_class(
    base: Checkpoint, merged: Checkpoint, differing: Mapping[str, tuple[Any, Any]]
) -> dict[str, tuple[Any, Any]]:
    """Say in what two configs differ when their class has filled in what they leave out.

    Saving a model again writes out defaults, or leaves them out, and changes nothing by that. A
    setting that is lost is one too, by its default. Where no class is known, nothing tells the two
    apart, and all of ``differing`` counts.
    """
    both = [_filled_in(one.folder) for one in (base, merged)]
    if both[0] is None or both[1] is None:
        return dict(differing)
    return {
        key: pair
        for key, pair in differences(both[0], both[1]).items()
        if key.rpartition(".")[2] not in (*_VOLATILE, "tie_word_embeddings")
    }


def _filled_in(folder: Path) -> dict[str, Any] | None:
    try:
        import transformers

        config = transformers.AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
        found: dict[str, Any] = json.loads(config.to_json_string(use_diff=False))
    except Exception:  # not installed, no class of this type, or none that takes these settings
        return None
    return found


def _file_notes(base: Path, merged: Path) -> Iterator[str]:
    for name in _CARRIED:
        if (base / name).is_file():
            if not (merged / name).is_file():
                yield f"{name} of the base is lacking"
            elif (base / name).read_bytes() != (merged / name).read_bytes():
                yield f"{name} is not the base's"
