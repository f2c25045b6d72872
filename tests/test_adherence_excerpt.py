"""A piece of the report for other pages: complete, escaped, with links that lead somewhere."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from chaincheck.adherence.examples import claims_case
from chaincheck.adherence.excerpt import marked_texts


def test_every_link_has_its_target_and_every_reading_its_line() -> None:
    replay = claims_case("C").replay
    found = marked_texts(replay, ["passage", "rationale"])
    targets = set(re.findall(r' id="([^"]+)"', found))
    assert set(re.findall(r'href="#([^"]+)"', found)) <= targets
    assert found.count("<li") == len(replay.annotations)
    assert 'mark class="judge"' in found
    assert "Compare each" not in found  # the rules were not asked for


def test_the_words_of_a_replay_stay_words() -> None:
    replay = claims_case("C").replay
    hostile = replace(
        replay,
        annotations=(replace(replay.annotations[0], explanation="<script>1</script>"),),
        sources=(*replay.sources[:2], replace(replay.sources[2], text="<img src=x onerror=1>")),
    )
    hostile = replace(hostile, annotations=(replace(hostile.annotations[0], evidence=()),))
    found = marked_texts(hostile, [hostile.sources[2].id])
    assert "<script" not in found
    assert "<img" not in found


def test_an_unknown_text_is_refused() -> None:
    with pytest.raises(KeyError):
        marked_texts(claims_case("A").replay, ["nothing"])
