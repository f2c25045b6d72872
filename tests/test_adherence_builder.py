"""A person writes quotes and gets spans; what cannot be meant is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.adherence.builder import ReplayBuilder, locate
from chaincheck.adherence.protocols import load_protocol
from chaincheck.adherence.replay import Source, Span
from chaincheck.errors import InvalidReplay, UsageError

TEXT = "Ann met Ann. 🎬 Ananan."


def draft() -> ReplayBuilder:
    out = ReplayBuilder("r", load_protocol("chain-evidence/1"), verdict="PASS")
    out.source("p1", "context", TEXT)
    out.source("rationale", "rationale", TEXT)
    return out


@given(st.text(min_size=1, max_size=12), st.data())
def test_a_found_span_is_verbatim(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    quoted = text[start:end]
    at = [i for i in range(len(text)) if text.startswith(quoted, i)]
    for number, place in enumerate(at, 1):
        found = locate(Source("s", "context", text), quoted, number)
        assert found == Span("s", place, place + len(quoted), quoted)
    if len(at) > 1:
        with pytest.raises(UsageError, match=f"stands {len(at)} times"):
            locate(Source("s", "context", text), quoted)
    else:
        assert locate(Source("s", "context", text), quoted).start == start


def test_an_ambiguous_quote_names_its_places() -> None:
    with pytest.raises(UsageError, match="stands 2 times in the source 'p1', at 0, 8"):
        draft().quote("p1", "Ann")
    assert draft().quote("p1", "Ann", 2).start == 8
    assert draft().quote("p1", "nan", 2).start == 18  # occurrences may overlap


@pytest.mark.parametrize(
    ("quoted", "occurrence", "words"),
    [
        ("", None, "empty quote"),
        ("ann", None, "does not stand"),
        ("Ann", 0, "no occurrence 0"),
        ("Ann", 3, "no occurrence 3"),
    ],
)
def test_a_quote_that_is_not_there(quoted: str, occurrence: int | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        draft().quote("p1", quoted, occurrence)


def test_sources_have_one_name_each() -> None:
    one = draft()
    with pytest.raises(UsageError, match="already"):
        one.source("p1", "context", "x")
    with pytest.raises(UsageError, match=r"no source 'p2'.*p1, rationale"):
        one.whole("p2")


def test_an_absence_quotes_every_context_text() -> None:
    one = draft()
    one.source("p2", "context", "Nothing.")
    one.source("p3", "context", "")
    one.absent("c_hop2")
    one.unknown("p_ext")
    recorded = one.build(gold="FAIL")
    absence, open_one = recorded.replay.annotations
    assert [span.source for span in absence.evidence] == ["p1", "p2"]
    assert (open_one.value, open_one.evidence) == ("UNKNOWN", ())
    assert recorded.gold == "FAIL"


def test_what_is_built_is_checked_as_a_file_is() -> None:
    one = draft()
    one.annotate("j_hop1", "TRUE", one.quote("p1", "met"))
    with pytest.raises(InvalidReplay, match=r"^replay 'r': WRONG_SOURCE_KIND at \$\.annotations"):
        one.build()
    broken = draft()
    broken.unknown("p_ext", explanation="\ud83d")
    with pytest.raises(InvalidReplay, match="HALF_SURROGATE"):
        broken.build()
