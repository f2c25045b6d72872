"""Lexical judges against hand-made contexts and a brute-force reading of their cues."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.errors import MissingScore, UnreadableFile, UsageError
from chaincheck.items import Item
from chaincheck.judges import SHORTCUTS, Judge, LexicalJudge, RecordedScores, open_judge
from chaincheck.judges.lexical import CUES
from chaincheck.judges.surface import Surface, content_words

QUESTION = "Where was the director of Velvet Harbor born?"
EARLIER = "Velvet Harbor\nVelvet Harbor is a film directed by {}."
LATER = "{0}\nThe director {0} was born in Trieste."
DECOY = "Iron Meadow\nIron Meadow is a film directed by {}."


def item(*passages: str, item_id: str = "x") -> Item:
    return Item(
        item_id=item_id, pair_id="p", variant="real", cell="A", query=QUESTION, passages=passages
    )


def judged(cue: str, *passages: str) -> float:
    (judgment,) = LexicalJudge(cue).score([item(*passages)])
    return judgment.score


def triplet(kind: str) -> dict[str, tuple[str, ...]]:
    """Cells of a small triplet: plain renaming, or the exchange with a decoy's bridge."""
    a, b = "Anna Keller", "Clara Winter"
    if kind == "real":
        other = "Dora Fuchs"
        return {
            "A": (EARLIER.format(a), LATER.format(a), DECOY.format(other)),
            "B": (EARLIER.format(b), LATER.format(b), DECOY.format(other)),
            "D": (EARLIER.format(a), LATER.format(b), DECOY.format(other)),
        }
    return {
        "A": (EARLIER.format(a), LATER.format(a), DECOY.format(b)),
        "B": (EARLIER.format(b), LATER.format(b), DECOY.format(a)),
        "D": (EARLIER.format(a), LATER.format(b), DECOY.format(b)),
    }


@pytest.mark.parametrize("cue", ["names-once", "repeated-names"])
def test_name_linkers_win_every_renaming_without_reading_the_question(cue: str) -> None:
    cells = triplet("real")
    scores = {cell: judged(cue, *passages) for cell, passages in cells.items()}
    assert scores["A"] == scores["B"] > scores["D"]


@pytest.mark.parametrize("cue", [c for c in SHORTCUTS if c != "length"])
def test_no_shortcut_sees_an_exchange_with_a_decoy(cue: str) -> None:
    cells = triplet("decoy")
    assert judged(cue, *cells["B"]) == judged(cue, *cells["D"])


def test_following_the_chain_by_words_sees_both() -> None:
    for kind in ("real", "decoy"):
        cells = triplet(kind)
        scores = {cell: judged("lexical", *passages) for cell, passages in cells.items()}
        assert scores["A"] == scores["B"] > scores["D"], kind


def test_length_counts_characters() -> None:
    assert judged("length", "ab", "cde") == 5


def test_question_overlap_counts_pairs_of_word_and_passage() -> None:
    assert judged("question-overlap", "The harbor was velvet.", "A director.", "Nothing.") == 3


def test_unfamiliar_names_prefers_spellings_it_has_seen() -> None:
    assert judged("unfamiliar-names", "Born to Steven.") > judged(
        "unfamiliar-names", "Born to Xqvzjk."
    )


def test_a_name_is_a_capitalized_word_not_written_small_elsewhere() -> None:
    surface = Surface(("The River Po rises there.", "Every river in Italy’s north and the PO."))
    assert surface.names == [{"po"}, {"italy", "po"}]


def test_content_words_drop_function_words_and_possessives() -> None:
    assert content_words("Who was Ravel's mother?") == {"ravel", "mother"}


@given(st.lists(st.text(st.sampled_from("aB .'é-"), max_size=30), min_size=1, max_size=5))
def test_cues_are_finite_and_blind_to_the_order_of_passages(passages: list[str]) -> None:
    for cue in CUES:
        forward, backward = judged(cue, *passages), judged(cue, *reversed(passages))
        assert math.isfinite(forward)
        if (
            cue != "lexical"
        ):  # a path has a first and a second passage; their order is not the list's
            assert forward == backward


@given(
    st.lists(
        st.lists(st.sampled_from(["Ada", "Bo", "Cy", "dee", "fog"]), max_size=5),
        min_size=1,
        max_size=4,
    )
)
def test_name_counts_agree_with_brute_force(texts: list[list[str]]) -> None:
    passages = [" ".join(words) for words in texts]
    standing = {name: sum(name in words for words in texts) for name in ("Ada", "Bo", "Cy")}
    assert judged("names-once", *passages) == -sum(n == 1 for n in standing.values())
    assert judged("repeated-names", *passages) == sum(n > 1 for n in standing.values())


def test_fingerprints_are_stable_and_differ_between_cues() -> None:
    prints = [LexicalJudge(cue).fingerprint for cue in CUES]
    assert prints == [LexicalJudge(cue).fingerprint for cue in CUES]
    assert len(set(prints)) == len(CUES)
    assert all(isinstance(LexicalJudge(cue), Judge) for cue in CUES)


def test_recorded_scores_are_served_by_id_and_never_made_up(tmp_path: Path) -> None:
    path = tmp_path / "mine.scores.jsonl"
    path.write_text('{"item_id": "x", "score": 0.1}\n{"item_id": "y", "score": -2}\n')
    judge = RecordedScores(path)
    assert judge.name == "mine"
    assert [j.score for j in judge.score([item("p", item_id="y"), item("p")])] == [-2.0, 0.1]
    with pytest.raises(MissingScore, match=r"mine\.scores\.jsonl: item 'z'"):
        list(judge.score([item("p", item_id="z")]))
    shuffled = tmp_path / "other.jsonl"
    shuffled.write_text('{"item_id": "y", "score": -2}\n{"item_id": "x", "score": 0.1}\n')
    assert RecordedScores(shuffled).fingerprint == judge.fingerprint
    shuffled.write_text('{"item_id": "y", "score": -2}\n{"item_id": "x", "score": 0.11}\n')
    assert RecordedScores(shuffled).fingerprint != judge.fingerprint


def test_a_judge_opens_by_name_or_by_toml(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"item_id": "x", "score": 3}\n')
    config = tmp_path / "judge.toml"
    config.write_text('kind = "recorded"\npath = "s.jsonl"\nname = "ours"\n')
    assert open_judge(str(config)).name == "ours"
    config.write_text('kind = "lexical"\ncue = "length"\n')
    assert open_judge(str(config)).fingerprint == open_judge("length").fingerprint


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('kind = "lexicl"', "Did you mean 'lexical'"),
        ('kind = "lexical"\ncues = "length"', "Did you mean 'cue'"),
        ('kind = "lexical"\ncue = "lenght"', "Did you mean 'length'"),
        ('kind = "lexical"\ncue = 3', "must be a text"),
        ('kind = "recorded"', "judge.toml: .*needs the key 'path'"),
        ('kind = "causal"', "judge.toml: .*`model`"),
        ('kind = "embedding"', "judge.toml: .*`model`"),
        ("path = 3", "names no kind"),
    ],
)
def test_a_wrong_judge_file_is_refused_with_the_nearest_known_word(
    tmp_path: Path, text: str, says: str
) -> None:
    config = tmp_path / "judge.toml"
    config.write_text(text)
    with pytest.raises(UsageError, match=says):
        open_judge(str(config))


def test_a_judge_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Did you mean 'lexical'"):
        open_judge("lexcal")
    with pytest.raises(UnreadableFile):
        open_judge(str(tmp_path / "none.toml"))
    broken = tmp_path / "broken.toml"
    broken.write_text("kind = ")
    with pytest.raises(UnreadableFile, match="not valid TOML"):
        open_judge(str(broken))


def test_scores_survive_a_round_trip_through_json() -> None:
    score = judged("lexical", *triplet("real")["A"])
    assert json.loads(json.dumps(score)) == score
