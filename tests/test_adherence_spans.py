"""Where a quote stands, and which mistake offsets betray, for any text."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chaincheck.adherence.replay import Span
from chaincheck.adherence.spans import check_span, occurrences
from chaincheck.refusals import CODES, Refusal

FORMS: tuple[tuple[Literal["NFC", "NFD"], Literal["NFC", "NFD"]], ...] = (
    ("NFC", "NFD"),
    ("NFD", "NFC"),
)
# Letters of one, two, three and four UTF-8 bytes, one and two UTF-16 units, and a mark.
LETTERS = st.text(alphabet="ab é\u0301ö–漢🎬", min_size=1, max_size=14)


@st.composite
def spans(draw: st.DrawFn) -> tuple[str, int, int]:
    text = draw(LETTERS)
    start = draw(st.integers(0, len(text) - 1))
    return text, start, draw(st.integers(start + 1, len(text)))


@given(spans())
def test_code_points_fit(found: tuple[str, int, int]) -> None:
    text, start, end = found
    check_span(Span("s", start, end, text[start:end]), text, None)


@pytest.mark.parametrize(
    ("encoding", "width", "name"), [("utf-16-le", 2, "UTF-16 units"), ("utf-8", 1, "UTF-8 bytes")]
)
@given(found=spans())
def test_other_units_are_recognized_and_the_offsets_to_write_are_right(
    encoding: str, width: int, name: str, found: tuple[str, int, int]
) -> None:
    text, start, end = found
    quoted = text[start:end]
    low = len(text[:start].encode(encoding)) // width
    high = len(text[:end].encode(encoding)) // width
    assume(text[low:high] != quoted)
    with pytest.raises(Refusal) as caught:
        check_span(Span("s", low, high, quoted), text, None)
    assert caught.value.code in {"SPAN_BOUNDS", "SPAN_MISMATCH"}
    # Both units may fit, and either hint is right; what it says to write has to fit.
    said = re.fullmatch(
        r"These offsets count (.+); in code points they are (\d+) to (\d+)", caught.value.remedy
    )
    assert said
    assert said[1].startswith((name, "UTF-16 units"))
    assert text[int(said[2]) : int(said[3])] == quoted


@given(st.text(max_size=12), st.integers(-3, 15), st.integers(-3, 15), LETTERS)
def test_a_span_fits_exactly_when_it_is_verbatim(
    text: str, start: int, end: int, quoted: str
) -> None:
    fits = 0 <= start < end <= len(text) and text[start:end] == quoted
    try:
        check_span(Span("s", start, end, quoted), text, None)
    except Refusal as refusal:
        assert not fits
        assert refusal.remedy
    else:
        assert fits


@given(LETTERS)
def test_normal_forms_are_told_apart(text: str) -> None:
    for form, other in FORMS:
        quoted = unicodedata.normalize(form, text)
        source = unicodedata.normalize(other, text)
        assume(quoted not in source)
        with pytest.raises(Refusal) as caught:
            check_span(Span("s", 0, len(source), quoted), source, None)
        assert f"normalized ({form})" in caught.value.remedy


def test_an_empty_quote_never_fits() -> None:
    for end in (0, 1, 3):
        with pytest.raises(Refusal):
            check_span(Span("s", 0, end, ""), "abc", None)


def test_offsets_of_thousands_of_digits_are_not_spelled() -> None:
    with pytest.raises(Refusal) as caught:
        check_span(Span("s", 0, 10**5000, "abc"), "abc", None)
    assert "a huge number" in caught.value.problem
    assert caught.value.remedy == "The quote stands at 0 to 3"


@given(st.text(alphabet="ab", max_size=12), st.text(alphabet="ab", min_size=1, max_size=3))
def test_occurrences_include_overlaps(text: str, wanted: str) -> None:
    exact = [at for at in range(len(text)) if text.startswith(wanted, at)]
    assert occurrences(text, wanted) == exact
    assert occurrences(text, wanted, 2) == exact[:2]


def test_without_a_clue_the_general_remedy_stands() -> None:
    with pytest.raises(Refusal) as caught:
        check_span(Span("s", 0, 3, "xyz"), "abc", None)
    assert caught.value.remedy == CODES["SPAN_MISMATCH"].remedy
