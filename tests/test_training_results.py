"""Seeds of recorded runs, measured: against plain loops over the scores."""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import training_worlds
from recorded_judges import Fake

from chaincheck import plots_seeds, training_results
from chaincheck.errors import UnreadableFile, UsageError
from chaincheck.items import Item, read_triplets
from chaincheck.judges import Judgment
from chaincheck.judges.record import LiveJudge
from chaincheck.pooled_runs import measure_pooled, stacked
from chaincheck.scores import Joined
from chaincheck.training_records import BASE, asked_items, log_of, part_of, run_judge
from chaincheck.training_results import (
    SeedResult,
    Spread,
    join_judge,
    measure_run,
    measure_runs,
    seed_differences,
    spread,
)

VARIANTS = ("real", "fict", "decoy")


def reader(lean: Mapping[str, float], salt: int) -> Fake:
    """A judge that leans by cell, with noise that the item and a salt decide."""

    def says(item: Item) -> Judgment:
        noise = hashlib.sha256(f"{salt} {item.query} {item.passages}".encode()).digest()[0] / 255
        return Judgment(item_id=item.item_id, score=lean[item.cell] + noise)

    judge = Fake(says, salt=salt)
    judge.name = f"fake {salt}"
    return judge


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records of a base and of two seeds of one recipe, and one seed of another."""
    folder = tmp_path_factory.mktemp("records")
    training_worlds.write(part_of("test", folder), 12, variants=VARIANTS)
    judges = {
        (BASE, 0): reader(dict.fromkeys("ABD", 0.0), 0),
        ("triplet", 0): reader({"A": 1.0, "B": 0.9, "D": 0.2}, 1),
        ("triplet", 3): reader({"A": 1.0, "B": 1.0, "D": 0.6}, 2),
        ("nominal-fict", 1): reader({"A": 1.0, "B": 0.1, "D": 0.0}, 3),
    }
    for number, ((arm, seed), judge) in enumerate(judges.items()):
        plain = folder / f"{number}.jsonl"
        with LiveJudge(judge, plain) as live:
            assert len(list(live.score(asked_items("test", folder)))) == 108
        target = log_of(arm, seed, folder)
        target.parent.mkdir(exist_ok=True)
        data = plain.read_bytes()
        target.write_bytes(gzip.compress(data) if target.suffix == ".gz" else data)
        plain.unlink()
    return folder


@pytest.fixture(scope="module")
def found(home: Path) -> dict[str, list[SeedResult]]:
    arms = ["triplet", "nominal-fict", "nominal-real"]
    return measure_runs(arms, home, resamples=200, exchanges=100)


def plain(judge: Fake, home: Path, variant: str) -> dict[str, Any]:
    """Nominal, CE, EE and Sigma by a loop over the triplets."""
    wins = {"AD": 0.0, "BD": 0.0, "AB": 0.0}
    sums = dict.fromkeys("ABD", 0.0)
    rows = [one for one in read_triplets(part_of("test", home)) if one.variant == variant]
    for triplet in rows:
        scores = {cell: next(judge.score([triplet.cells[cell]])).score or 0.0 for cell in "ABD"}
        for cell, score in scores.items():
            sums[cell] += score / len(rows)
        for pair in wins:
            gap = scores[pair[0]] - scores[pair[1]]
            wins[pair] += (1.0 if gap > 0 else 0.5 if gap == 0 else 0.0) / len(rows)
    chain, edit = wins["BD"] - 0.5, wins["AB"] - 0.5
    return {
        "nominal": wins["AD"],
        "chain_effect": chain,
        "edit_effect": edit,
        "contrast": chain - abs(edit),
        "means": sums,
    }


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_seed_is_measured_as_a_plain_loop_does(
    home: Path, found: dict[str, list[SeedResult]], variant: str
) -> None:
    judge = reader({"A": 1.0, "B": 1.0, "D": 0.6}, 2)
    expected = plain(judge, home, variant)
    base = plain(reader(dict.fromkeys("ABD", 0.0), 0), home, variant)
    one = found["triplet"][1]
    assert (one.arm, one.seed) == ("triplet", 3)
    for quantity in ("nominal", "chain_effect", "edit_effect", "contrast"):
        assert getattr(one.row(variant), quantity).estimate == pytest.approx(expected[quantity])
    for cell in "ABD":
        assert one.means[variant][cell] == pytest.approx(expected["means"][cell])
    gain = one.gains[variant].selectivity.interval
    assert gain.estimate == pytest.approx(expected["contrast"] - base["contrast"])
    assert gain.low <= gain.estimate <= gain.high


def test_what_is_recorded_is_found_and_nothing_else(found: dict[str, list[SeedResult]]) -> None:
    assert list(found) == [BASE, "triplet", "nominal-fict", "nominal-real"]
    assert [len(some) for some in found.values()] == [1, 2, 1, 0]
    assert found[BASE][0].gains == {}
    assert found[BASE][0].evaluation.signature.n == 36
    assert "bridge" in found["triplet"][0].evaluation.signature.interval
    with pytest.raises(KeyError):
        found[BASE][0].row("other")


def test_a_spread_keeps_every_run(found: dict[str, list[SeedResult]]) -> None:
    runs = spread(found["triplet"], "real", "contrast")
    assert runs.values == tuple(one.row("real").contrast.estimate for one in found["triplet"])
    assert (runs.low, runs.high) == (min(runs.values), max(runs.values))
    assert Spread((1.0, 2.0, 6.0)).mean == 3.0
    with pytest.raises(ValueError, match="one seed"):
        spread([], "real", "contrast")


class TestPooledRuns:
    """Two runs of a recipe measured together."""

    def test_a_rate_is_its_mean_over_the_runs(
        self, home: Path, found: dict[str, list[SeedResult]]
    ) -> None:
        pooled = measure_pooled(["triplet", "nominal-real"], home, resamples=200, exchanges=100)
        assert list(pooled) == ["triplet"]
        both = pooled["triplet"]
        assert (both.seeds, both.shared, both.against) == ((0, 3), (0, 3), BASE)
        for variant in VARIANTS:
            row = both.row(variant)
            assert (row.n, both.triplets(variant)) == (24, 12)
            for quantity in ("nominal", "chain_effect", "edit_effect"):
                mean = spread(found["triplet"], variant, quantity).mean
                assert getattr(row, quantity).estimate == pytest.approx(mean)
            # Sigma is that of the mean effects: opposite leans of two runs cancel.
            sigma = row.chain_effect.estimate - abs(row.edit_effect.estimate)
            assert row.contrast.estimate == pytest.approx(sigma)
            gain = both.differences[variant]
            means = spread([found[BASE][0]] * 2, variant, "chain_effect").mean
            assert gain.chain_effect.interval.estimate == pytest.approx(
                row.chain_effect.estimate - means
            )

    def test_a_bridge_is_one_unit_whatever_the_number_of_runs(
        self, home: Path, found: dict[str, list[SeedResult]]
    ) -> None:
        both = measure_pooled(["triplet"], home, resamples=50, exchanges=50)["triplet"]
        for variant in VARIANTS:
            assert both.row(variant).units == found["triplet"][0].row(variant).units

    def test_a_run_that_is_pooled_with_itself_gives_the_interval_of_one(self, home: Path) -> None:
        alone = measure_pooled(["triplet"], home, seeds=1, resamples=300)["triplet"]
        assert alone.seeds == (0,)
        one = measure_runs(["triplet"], home, resamples=300)["triplet"][0]
        for variant in VARIANTS:
            assert alone.row(variant).edit_effect == one.row(variant).edit_effect
        threefold = stacked([joined(home, 0)] * 3)
        again = training_results.measure_joined(("x", None), "f" * 64, threefold, resamples=300)
        for variant in VARIANTS:
            for quantity in ("nominal", "chain_effect", "edit_effect", "contrast"):
                mine, other = (getattr(some.row(variant), quantity) for some in (again, alone))
                assert mine.estimate == pytest.approx(other.estimate)
                assert (mine.low, mine.high) == pytest.approx((other.low, other.high))

    def test_runs_about_different_triplets_are_refused(self, home: Path) -> None:
        whole = joined(home, 0)
        some = [item for item in asked_items("test", home) if item.pair_id[-1] in "02468"]
        part = join_judge(some, run_judge("triplet", 0, home))
        other = dataclasses.replace(whole, pair_ids=tuple(row[::-1] for row in whole.pair_ids))
        for one in (part, other):
            with pytest.raises(UsageError, match="different triplets"):
                stacked([whole, one])

    def test_recipes_are_held_against_each_other_seed_by_seed(
        self, home: Path, tmp_path: Path
    ) -> None:
        other = log_of("nominal-fict", 3, home)
        other.write_bytes(log_of("nominal-fict", 1, home).read_bytes())
        try:
            found = measure_pooled(
                ["triplet", "nominal-fict"], home, against="triplet", resamples=100, exchanges=50
            )
            assert (found["triplet"].against, found["triplet"].differences) == (None, {})
            assert found["nominal-fict"].seeds == (1, 3)  # of which the other has one, 3
            assert found["nominal-fict"].shared == (3,)
            assert found["triplet"].shared == ()
            only = found["nominal-fict"].differences["real"]
            runs = measure_runs(["triplet", "nominal-fict"], home, resamples=100, exchanges=50)
            mine, held = runs["nominal-fict"][1], runs["triplet"][1]
            assert (mine.seed, held.seed) == (3, 3)
            assert only.edit_effect.interval.estimate == pytest.approx(
                mine.row("real").edit_effect.estimate - held.row("real").edit_effect.estimate
            )
            assert seed_differences(
                runs["nominal-fict"], runs["triplet"], "real", "edit_effect"
            ) == {3: pytest.approx(only.edit_effect.interval.estimate)}
            assert not seed_differences(runs[BASE], runs["triplet"], "real", "contrast")
            none = measure_pooled(["nominal-fict"], home, against="triplet", seeds=2, resamples=50)
            assert none["nominal-fict"].differences == {}
        finally:
            other.unlink()


def joined(home: Path, seed: int) -> Joined:
    items = asked_items("test", home)
    return join_judge(items, run_judge("triplet", seed, home))


def test_one_judge_can_be_measured_by_itself(home: Path) -> None:
    judge = reader({"A": 1.0, "B": 0.9, "D": 0.2}, 1)
    items = asked_items("test", home)
    alone = measure_run(judge, items, resamples=100)
    assert alone.gains == {}
    beside = measure_run(judge, items, before=reader(dict.fromkeys("ABD", 0.0), 0), resamples=100)
    assert beside.gains["real"].selectivity.interval.estimate > 0
    assert alone.row("real").contrast == beside.row("real").contrast


def test_without_the_base_there_is_nothing_to_hold_a_run_against(
    home: Path, tmp_path: Path
) -> None:
    part_of("test", tmp_path).write_bytes(part_of("test", home).read_bytes())
    with pytest.raises(UnreadableFile):
        measure_runs(["triplet"], tmp_path)


def test_figures_show_every_run(found: dict[str, list[SeedResult]]) -> None:
    figure = plots_seeds.seeds_figure(found, VARIANTS)
    assert len(figure.axes) == 4
    labels = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert labels == list(found)
    marks = [line for line in figure.axes[3].lines if line.get_marker() in "osD"]
    assert len(marks) == 3 * 4  # runs and variants
    shown = sorted(line.get_xdata()[0] for line in marks)
    expected = sorted(
        one.row(variant).contrast.estimate
        for some in found.values()
        for one in some
        for variant in VARIANTS
    )
    assert shown == pytest.approx(expected)
    scores = plots_seeds.scores_figure(found, ("real", "decoy"))
    assert [axes.get_title() for axes in scores.axes] == ["real", "decoy"]
    for draw in (plots_seeds.seeds_figure, plots_seeds.scores_figure):
        with pytest.raises(ValueError, match="at least one run"):
            draw({}, VARIANTS)
    assert training_results.CLUSTER == "bridge"
