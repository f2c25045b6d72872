"""Batches of alike length in order, and what inputs gave before."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.errors import UsageError
from chaincheck.judges import encoder_batches
from chaincheck.judges.encoder_batches import (
    Encoded,
    EncoderSettings,
    Memory,
    in_windows,
    read_keys,
)


def test_public_names_are_pinned() -> None:
    assert encoder_batches.__all__ == [
        "Encoded",
        "EncoderSettings",
        "Memory",
        "in_windows",
        "read_keys",
    ]


def encoded(numbers: Sequence[int]) -> Encoded:
    return Encoded({"input_ids": list(numbers)})


class Adder:
    """Gives each input the sum of its numbers, and notes the batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def __call__(self, batch: Sequence[Encoded]) -> list[int]:
        self.batches.append([len(one) for one in batch])
        return [sum(one.columns["input_ids"]) for one in batch]


TEXTS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), max_size=4)


@given(st.lists(TEXTS, max_size=40), st.integers(1, 5), st.integers(1, 30))
def test_each_item_gets_what_its_inputs_give(
    items: list[list[list[int]]], batch: int, most: int
) -> None:
    run = Adder()
    found = list(
        in_windows(
            items,
            lambda item: [encoded(one) for one in item],
            run,
            batch=batch,
            memory=Memory(most),
        )
    )
    assert [item for item, _, _ in found] == items
    assert [values for _, _, values in found] == [[sum(one) for one in item] for item in items]
    assert all(len(sizes) <= batch for sizes in run.batches)


def test_equal_inputs_are_run_once_and_long_ones_first() -> None:
    run = Adder()
    items = [[[1]], [[1, 2, 3]], [[1]], [[1, 2]], [[1, 2, 3]]]
    list(
        in_windows(
            items, lambda item: [encoded(one) for one in item], run, batch=2, memory=Memory()
        )
    )
    assert run.batches == [[3, 2], [1]]


def test_items_are_taken_a_window_at_a_time() -> None:
    taken: list[int] = []

    def stream() -> object:
        for number in range(100):
            taken.append(number)
            yield number

    found = in_windows(
        stream(),  # type: ignore[arg-type]
        lambda number: [encoded([number])],
        Adder(),
        batch=2,
        memory=Memory(),
    )
    next(found)
    assert len(taken) == 16


def test_what_was_used_longest_ago_is_forgotten() -> None:
    memory: Memory[str, int] = Memory(2)
    for number, key in enumerate("abc"):
        memory[key] = number
    assert memory["a"] == 0  # in use: now the newest
    memory.trim()
    assert ("a" in memory, "b" in memory, "c" in memory) == (True, False, True)


def test_inputs_are_told_apart_by_every_column() -> None:
    one = Encoded({"input_ids": [1, 2], "token_type_ids": [0, 0]})
    other = Encoded({"token_type_ids": [0, 1], "input_ids": [1, 2]})
    turned = Encoded({"token_type_ids": [0, 0], "input_ids": [1, 2]}, cut=9)
    assert one.key != other.key
    assert one.key == turned.key
    assert len(one) == 2


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"dtype": "int4"}, "Invalid enum value 'int4'"),
        ({"batch": 0}, ">= 1"),
        ({"max_tokens": "many"}, "Expected `int | null`"),
        ({"too_long": True}, "Expected `str`"),
    ],
)
def test_a_key_of_the_wrong_kind_is_refused(keys: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_keys(keys, EncoderSettings)
    assert says in str(caught.value)
    assert "judge's keys" in str(caught.value)
