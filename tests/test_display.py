"""Tables and quoted numbers as the pages will print them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.display import ends, estimate, markdown_table, number, percent, span
from chaincheck.intervals import Interval

pytest.importorskip("IPython", reason="tables need the extra 'book'")


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (0.1285, {}, "0.129"),
        (-0.009, {}, "−0.009"),
        (-0.0001, {}, "0.000"),
        (0.25, {"signed": True}, "+0.250"),
        (0.0, {"signed": True}, "0.000"),
        (12345.6, {"digits": 0}, "12,346"),
        (math.nan, {}, "–"),
        (-math.inf, {}, "−∞"),
    ],
)
def test_numbers(value: float, options: dict[str, int | bool], text: str) -> None:
    assert number(value, **options) == text  # type: ignore[arg-type]


@given(st.floats(-1e6, 1e6), st.integers(0, 6))
def test_a_printed_number_reads_back_within_half_a_digit(value: float, digits: int) -> None:
    read = float(number(value, digits, signed=True).replace("−", "-").replace(",", ""))
    assert abs(read - value) <= 0.5 * 10.0**-digits + 1e-9


def test_intervals() -> None:
    interval = Interval(-0.01, -0.05, 0.2, "t")
    assert ends(interval) == "[−0.050, 0.200]"
    assert estimate(interval, 2, signed=True) == "−0.01 [−0.05, +0.20]"


def test_a_table_aligns_numbers_and_escapes_bars() -> None:
    table = markdown_table(["name", "|EE|", "n"], [["a", 0.5, 3], ["b|c", 0.25, 12]])
    assert table.data.splitlines() == [
        "| name | \\|EE\\| | n |",
        "| :--- | ---: | ---: |",
        "| a | 0.500 | 3 |",
        "| b\\|c | 0.250 | 12 |",
    ]


@pytest.mark.parametrize("align", ["l", "lx", "lrr"])
def test_a_table_refuses_what_does_not_fit(align: str) -> None:
    with pytest.raises(ValueError, match="align"):
        markdown_table(["a", "b"], [[1, 2]], align)


def test_a_table_refuses_a_ragged_row() -> None:
    with pytest.raises(ValueError, match="2 columns"):
        markdown_table(["a", "b"], [[1, 2], [3]])


def test_printed_numbers_stand_to_the_right_and_words_to_the_left() -> None:
    interval = Interval(-0.01, -0.05, math.inf, "t")
    row = ["1,234", "−0.5", estimate(interval), ends(interval), percent(0.948, 0.005), "3 hops", ""]
    rules = markdown_table(list("abcdefg"), [row]).data.splitlines()[1]
    assert rules == "| ---: | ---: | ---: | ---: | ---: | :--- | :--- |"


def test_shares_and_spans() -> None:
    assert percent(0.9483) == "94.8"
    assert percent(0.9483, 0.00496) == "94.8 ± 0.5"
    assert span([0.3, -0.1, 0.2], 1) == "−0.1 to 0.3"
    assert span([0.501, 0.499], 2) == "0.50"
    with pytest.raises(ValueError, match="at least one"):
        span([])
