"""Texts in batches of alike length, in order, and what they gave before: no model in here.

A batch is padded to its longest text, so texts of one length belong together. What an input gave
is remembered for a while: the cells of a triplet share most of their text, and what is equal
shall give equal numbers, not numbers that differ in the last digit because other texts stood in
the batch.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec

from chaincheck.errors import UsageError

__all__ = ["Encoded", "EncoderSettings", "Memory", "in_windows", "read_keys"]

_WINDOW = 8  # batches that are looked at together, to sort them by length
_REMEMBERED = 50_000
_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")
_T = TypeVar("_T")


class EncoderSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How an encoder is loaded and run.

    Attributes:
        max_tokens: longest input; None for the longest that the model takes.
        too_long: whether a longer one is refused or cut. A cut loses the end of the passages,
            which may be the very passage that is asked for; it is flagged.
        special_tokens: "escape" the tokenizer's signs where a text spells them, or "keep" them.
        dtype: "float32", "bfloat16" or "float16".
        attention: "eager", "sdpa" and the like; None for the model's own.
        device: "cpu", "cuda", "cuda:1".
        batch: texts in one batch.
    """

    max_tokens: int | None = None
    too_long: Literal["refuse", "cut"] = "refuse"
    special_tokens: Literal["escape", "keep"] = "escape"
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    attention: str | None = None
    device: str = "cpu"
    batch: Annotated[int, msgspec.Meta(ge=1, le=4096)] = 16

    def settings(self) -> EncoderSettings:
        """These alone, of a kind that has more."""
        names = EncoderSettings.__struct_fields__
        return EncoderSettings(**{name: getattr(self, name) for name in names})


_F = TypeVar("_F", bound=EncoderSettings)


def read_keys(keys: Mapping[str, Any], kind: type[_F]) -> _F:
    """Read the keys of a judge's TOML file.

    Args:
        keys: as they stand there.
        kind: what they should be.

    Raises:
        UsageError: one is missing or of the wrong kind.
    """
    try:
        return msgspec.convert(dict(keys), kind)
    except msgspec.ValidationError as cause:
        raise UsageError(f"the judge's keys: {cause}", remedy="Correct the judge's file") from None


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text, or a pair of them, as a model's input.

    Attributes:
        columns: for each name of an input, such as ``input_ids``, its numbers.
        cut: tokens that it had before it was cut; 0 if it was not.
    """

    columns: Mapping[str, Sequence[int]]
    cut: int = 0

    def __len__(self) -> int:
        return len(self.columns["input_ids"])

    @property
    def key(self) -> bytes:
        """What tells it from other inputs."""
        rows = repr(sorted((name, list(row)) for name, row in self.columns.items()))
        return hashlib.sha256(rows.encode()).digest()


@dataclass
class Memory(Generic[_K, _V]):
    """The values last used, up to a number of them."""

    most: int = _REMEMBERED
    _values: OrderedDict[_K, _V] = field(default_factory=OrderedDict)

    def __contains__(self, key: _K) -> bool:
        return key in self._values

    def __getitem__(self, key: _K) -> _V:
        self._values.move_to_end(key)
        return self._values[key]

    def __setitem__(self, key: _K, value: _V) -> None:
        self._values[key] = value
        self._values.move_to_end(key)

    def trim(self) -> None:
        """Forget what was used longest ago."""
        while len(self._values) > self.most:
            self._values.popitem(last=False)


def in_windows(
    items: Iterable[_T],
    encode: Callable[[_T], Sequence[Encoded]],
    run: Callable[[Sequence[Encoded]], Sequence[_V]],
    *,
    batch: int,
    memory: Memory[bytes, _V],
) -> Iterator[tuple[_T, list[Encoded], list[_V]]]:
    """Run what is to be run for each item, in batches of alike length, in the items' order.

    Args:
        items: taken a window of some batches at a time.
        encode: the inputs of an item.
        run: what a batch of inputs gives.
        batch: inputs in a batch.
        memory: what inputs gave before; an equal input is not run again.

    Yields:
        Each item with its inputs and what they gave.
    """
    stream = iter(items)
    while window := list(islice(stream, batch * _WINDOW)):
        encoded = [list(encode(item)) for item in window]
        keys = [[one.key for one in inputs] for inputs in encoded]
        fresh: dict[bytes, Encoded] = {}
        for inputs, names in zip(encoded, keys, strict=True):
            fresh |= {
                name: one for name, one in zip(names, inputs, strict=True) if name not in memory
            }
        waiting = sorted(fresh.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        for start in range(0, len(waiting), batch):
            part = waiting[start : start + batch]
            given = run([one for _, one in part])
            for (name, _), value in zip(part, given, strict=True):
                memory[name] = value
        for item, inputs, names in zip(window, encoded, keys, strict=True):
            yield item, inputs, [memory[name] for name in names]
        memory.trim()
