"""Scores of base and adapter against those of the merged model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from chaincheck.errors import InvalidScore, UsageError
from chaincheck.items import Item, write_items
from chaincheck.judges.base import Judgment
from chaincheck.training.score_drift import causal_comparison, measure_drift


def item(pair: int, cell: str) -> Item:
    return Item(
        item_id=f"{pair}{cell}",
        pair_id=f"{pair}",
        variant="real",
        cell=cell,
        query="q",
        passages=("p",),
    )


ITEMS = [item(pair, cell) for pair in range(2) for cell in "ABD"]


def test_differences_and_orders_are_counted() -> None:
    found = measure_drift(
        ITEMS,
        lambda _: [3.0, 2.0, 1.0, 3.0, 2.0, 1.0],
        lambda _: [3.0, 2.5, 1.0, 1.0, 2.0, 1.0],
    )
    assert (found.items, found.largest) == (6, 2.0)
    assert found.mean == pytest.approx(2.5 / 6)
    assert found.spread == pytest.approx((2 / 3) ** 0.5)
    assert found.compared == {"A>D": 2, "B>D": 2, "A>B": 2}
    assert found.flips == {"A>D": 1, "B>D": 0, "A>B": 1}, "a tie against an order counts"
    assert "A>D 1 of 2" in found.to_text()
    assert found.to_dict()["flips"]["A>B"] == 1


@pytest.mark.parametrize(
    ("merged", "arrived"),
    [(1.0, 1.0), (0.6, 0.6), (0.4, 0.4), (0.0, 0.0), (-1.0, -1.0), (1.6, 1.6)],
)
def test_what_of_training_arrived_decides_whether_it_is_warned_of(
    merged: float, arrived: float
) -> None:
    base = [0.5, 0.0, -0.5, 0.1, 0.2, 0.3]
    moves = [2.0, -1.0, 0.5, 0.25, 1.0, -2.0]
    tuned, after = (
        [was + part * move for was, move in zip(base, moves, strict=True)] for part in (1, merged)
    )
    found = measure_drift(ITEMS, lambda _: tuned, lambda _: after, lambda _: base)
    assert found.moved == pytest.approx(sum(map(abs, moves)) / 6)
    assert found.arrived == pytest.approx(arrived)
    warned = f"warning: {arrived:.0%} of what training moved these scores by arrived"
    assert (warned in found.to_text()) == (not 0.5 <= merged <= 1.5)
    assert f"moved these scores by 1.12 on average; {arrived:.0%} of that" in found.to_text()
    assert found.to_dict()["arrived"] == found.arrived
    assert len(found.to_dict()["warnings"]) == (not 0.5 <= merged <= 1.5)


def test_what_did_not_move_cannot_arrive() -> None:
    same = [1.0] * len(ITEMS)
    found = measure_drift(ITEMS, lambda _: same, lambda _: same, lambda _: same)
    assert (found.moved, found.arrived, found.warnings) == (0.0, None, ())
    assert "by 0 on average" in found.to_text()
    alone = measure_drift(ITEMS, lambda _: same, lambda _: same)
    assert (alone.moved, alone.arrived, alone.warnings) == (None, None, ())
    assert "training" not in alone.to_text()


def test_items_without_their_triplet_have_no_order() -> None:
    found = measure_drift([ITEMS[0], ITEMS[4]], lambda _: [1.0, 2.0], lambda _: [1.0, 2.0])
    assert found.compared == {}
    assert "none compared" in found.to_text()


@pytest.mark.parametrize("wrong", [[1.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_scores_that_are_none_are_an_error(wrong: Sequence[float]) -> None:
    with pytest.raises(ValueError, match="one finite score an item"):
        measure_drift(ITEMS[:2], lambda _: [1.0, 2.0], lambda _: wrong)


def test_no_items() -> None:
    with pytest.raises(UsageError):
        measure_drift([], lambda _: [], lambda _: [])


def test_only_a_causal_judge_can_be_merged(tmp_path: Path) -> None:
    (tmp_path / "judge.toml").write_text('kind = "recorded"\npath = "s.jsonl"\n', "utf-8")
    with pytest.raises(UsageError, match="no judge of kind 'causal'"):
        causal_comparison(tmp_path / "d", tmp_path, tmp_path, tmp_path / "judge.toml")


@pytest.mark.parametrize(
    "line", ["dtype = 5", 'dtype = "float8"', "mass = 0.1", 'prompt = "nope"', "batch = 0"]
)
def test_a_judge_that_cannot_be_is_refused_before_anything_is_merged(
    line: str, tmp_path: Path
) -> None:
    write_items(tmp_path / "d.jsonl", ITEMS)
    (tmp_path / "judge.toml").write_text(f'kind = "causal"\nmodel = "m"\n{line}\n', "utf-8")
    with pytest.raises(UsageError):
        causal_comparison(tmp_path / "d.jsonl", "base", "adapter", tmp_path / "judge.toml")


class Hesitant:
    """Opened in the place of a causal judge: yes and no have a thousandth together."""

    def __init__(self, keys: Mapping[str, Any], _: Path) -> None:
        self.least = keys.get("minimum_mass", 0.05)

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        for place, one in enumerate(items):
            if self.least > 0.001:
                yield Judgment(
                    item_id=one.item_id, score=None, bounds=(None, None), flags=("refused: so",)
                )
            else:
                yield Judgment(item_id=one.item_id, score=float(place))


class TestMass:
    """What training leaves free must not stop a comparison that nobody gave a limit."""

    @pytest.fixture
    def data(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr("chaincheck.judges.causal.open_causal", Hesitant)
        write_items(tmp_path / "d.jsonl", ITEMS)
        return tmp_path / "d.jsonl"

    def test_none_is_asked_for_unless_a_judge_says_so(self, data: Path) -> None:
        assert causal_comparison(data, "base", "adapter")(Path("merged")).items == len(ITEMS)

    def test_a_limit_that_refuses_is_named_with_what_to_do(self, data: Path) -> None:
        (data.parent / "judge.toml").write_text('kind = "causal"\nmodel = "x"\n', "utf-8")
        compare = causal_comparison(data, "base", "adapter", data.parent / "judge.toml")
        with pytest.raises(InvalidScore, match=r"refused: so.*minimum_mass = 0\.0"):
            compare(Path("merged"))
