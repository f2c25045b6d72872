"""What is measured from the record of real text: against plain loops, and without any data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from chaincheck.errors import InvalidItem, UnreadableFile
from chaincheck.plots_seeds import seeds_figure
from chaincheck.pooled_runs import pool_runs
from chaincheck.real_text_results import (
    COMMAND,
    POOLED,
    REAL,
    AskedTriplet,
    JudgeScores,
    Part,
    Parts,
    PromptLengths,
    RealText,
    load_real_text,
    real_text_results,
    real_text_runs,
)
from chaincheck.training_records import BASE
from chaincheck.training_results import SeedResult, spread

VARIANTS = ("real", "fict", "decoy")


def part(data: str) -> Part:
    lengths = PromptLengths(prompts=3, mean=5.0, median=5.0, longest=6, cut=0)
    return Part(data=data, triplets={"musique": {"real": 1}}, groups=1, prompts=lengths)


def made(seed: int = 0) -> RealText:
    """A record of 40 bridges of MuSiQue and 3 of 2Wiki, two questions a bridge."""
    draw = np.random.default_rng(seed)
    triplets = tuple(
        AskedTriplet(
            source="musique" if bridge < 40 else "twowiki",
            record=f"2hop__{bridge}_{question}",
            variant=variant,
            bridge=bridge,
        )
        for bridge in range(43)
        for question in range(2)
        for variant in VARIANTS
        if not (variant == "decoy" and bridge >= 40)
    )

    def judge(arm: str, number: int | None, lean: tuple[float, float, float]) -> JudgeScores:
        noise = draw.integers(-3, 4, size=(len(triplets), 3)) / 2  # with ties
        scores = tuple((float(a), float(b), float(d)) for a, b, d in noise + np.array(lean))
        return JudgeScores(
            name=arm if number is None else f"{arm}-{number}",
            arm=arm,
            seed=number,
            fingerprint=f"{arm} {number}",
            setup="s",
            weights=None if number is None else f"{arm}{number}",
            acquisition={},
            trained={},
            scores=scores,
        )

    judges = (
        judge(BASE, None, (0, 0, 0)),
        judge("triplet", 0, (1, 1, 0)),
        judge("triplet", 1, (1.5, 0.5, 0)),
        judge(REAL, 0, (2, 2, 0)),
    )
    parts = Parts(
        files={},
        facts={},
        strict={},
        lenient={},
        known=0,
        train=part("a"),
        test=part("b"),
        shared_passages=0,
        shared_supports=0,
    )
    return RealText(
        command=COMMAND, version="0", parts=parts, recipe={}, triplets=triplets, judges=judges
    )


def write(path: Path, record: RealText, **changes: Any) -> Path:
    changed = msgspec.structs.replace(record, **changes)
    path.write_bytes(msgspec.json.encode(changed))
    return path


@pytest.fixture(scope="module")
def record() -> RealText:
    return made()


@pytest.fixture(scope="module")
def found(
    record: RealText, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, list[SeedResult]]]:
    path = write(tmp_path_factory.mktemp("record") / "r.json", record)
    return real_text_results(path, resamples=400, exchanges=100)


def chosen(record: RealText, scope: str, variant: str) -> Iterator[int]:
    for place, one in enumerate(record.triplets):
        if one.variant == variant and scope in (POOLED, one.source):
            yield place


def plain(record: RealText, judge: JudgeScores, places: list[int]) -> dict[str, float]:
    """Nominal, CE, EE and Sigma by a loop."""
    wins = {"AD": 0.0, "BD": 0.0, "AB": 0.0}
    for place in places:
        score = dict(zip("ABD", judge.scores[place], strict=True))
        for first, second in wins:
            gap = score[first] - score[second]
            wins[first + second] += (1.0 if gap > 0 else 0.5 if gap == 0 else 0.0) / len(places)
    chain, edit = wins["BD"] - 0.5, wins["AB"] - 0.5
    return {
        "nominal": wins["AD"],
        "chain_effect": chain,
        "edit_effect": edit,
        "contrast": chain - abs(edit),
    }


@pytest.mark.parametrize("scope", [POOLED, "musique", "twowiki"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_number_is_what_a_loop_finds(
    record: RealText, found: dict[str, dict[str, list[SeedResult]]], scope: str, variant: str
) -> None:
    places = list(chosen(record, scope, variant))
    results = [one for some in found[scope].values() for one in some]
    for judge, result in zip(record.judges, results, strict=True):
        assert (result.arm, result.seed) == (judge.arm, judge.seed)
        if not places:
            with pytest.raises(KeyError):
                result.row(variant)
            continue
        expected = plain(record, judge, places)
        row = result.row(variant)
        assert (row.n, row.units) == (len(places), len(places) // 2)
        for quantity, value in expected.items():
            assert getattr(row, quantity).estimate == pytest.approx(value)
        for k, cell in enumerate("ABD"):
            mean = sum(judge.scores[place][k] for place in places) / len(places)
            assert result.means[variant][cell] == pytest.approx(mean)
        if judge.arm == BASE:
            assert result.gains == {}
            continue
        gain = result.gains[variant].selectivity.interval
        base = plain(record, record.judges[0], places)
        assert gain.estimate == pytest.approx(expected["contrast"] - base["contrast"])


def test_intervals_resample_bridges_whole(record: RealText, tmp_path: Path) -> None:
    """A bootstrap by a loop over bridges is as wide; one over triplets would be narrower."""
    judge = record.judges[1]
    places = list(chosen(record, POOLED, "real"))
    # Both questions of a bridge say the same here, so a bridge is worth one triplet.
    doubled = list(judge.scores)
    for one, other in zip(places[::2], places[1::2], strict=True):
        assert record.triplets[one].bridge == record.triplets[other].bridge
        doubled[other] = doubled[one]
    changed = msgspec.structs.replace(judge, scores=tuple(doubled))
    draw = np.random.default_rng(1)
    effects = []
    for _ in range(2000):
        drawn = draw.integers(len(places) // 2, size=len(places) // 2)
        effects.append(plain(record, changed, [places[2 * k] for k in drawn])["chain_effect"])
    low, high = np.quantile(effects, [0.025, 0.975])
    path = write(tmp_path / "r.json", record, judges=(record.judges[0], changed))
    result = real_text_results(path, [POOLED], resamples=2000, exchanges=10)
    row = result[POOLED]["triplet"][0].row("real")
    assert row.chain_effect.low == pytest.approx(low, abs=0.03)
    assert row.chain_effect.high == pytest.approx(high, abs=0.03)
    assert (row.by, row.units, row.n) == ("coarse", len(places) // 2, len(places))


def test_runs_stand_under_their_recipe_as_figures_take_them(
    found: dict[str, dict[str, list[SeedResult]]],
) -> None:
    assert list(found) == [POOLED, "musique", "twowiki"]
    assert {arm: len(some) for arm, some in found[POOLED].items()} == {
        BASE: 1,
        "triplet": 2,
        REAL: 1,
    }
    runs = spread(found["musique"]["triplet"], "fict", "contrast")
    assert len(runs.values) == 2
    assert len(seeds_figure(found[POOLED], VARIANTS).axes) == 4


@pytest.mark.parametrize("scope", [POOLED, "musique"])
def test_runs_can_be_pooled_and_held_against_each_other(
    record: RealText,
    found: dict[str, dict[str, list[SeedResult]]],
    tmp_path: Path,
    scope: str,
) -> None:
    base, runs = real_text_runs(write(tmp_path / "r.json", record), scope)
    assert {arm: list(some) for arm, some in runs.items()} == {
        arm: [one.seed for one in some] for arm, some in found[scope].items() if arm != BASE
    }
    pooled = pool_runs(runs, base, resamples=100, exchanges=50)
    for arm in runs:
        for variant in VARIANTS:
            mean = spread(found[scope][arm], variant, "chain_effect").mean
            assert pooled[arm].row(variant).chain_effect.estimate == pytest.approx(mean)
            before = found[scope][BASE][0].row(variant).chain_effect.estimate
            gain = pooled[arm].differences[variant].chain_effect.interval.estimate
            assert gain == pytest.approx(mean - before)
    with pytest.raises(KeyError):
        real_text_runs(tmp_path / "r.json", "hotpot")


def test_three_bridges_bound_nothing(found: dict[str, dict[str, list[SeedResult]]]) -> None:
    row = found["twowiki"]["triplet"][0].row("real")
    assert not row.contrast.bounded
    assert row.notes


def test_one_scope_alone_gives_the_same(
    record: RealText, found: dict[str, dict[str, list[SeedResult]]], tmp_path: Path
) -> None:
    path = write(tmp_path / "r.json", record)
    alone = real_text_results(path, ["musique"], resamples=400, exchanges=100)
    assert list(alone) == ["musique"]
    assert alone["musique"][REAL][0].row("real") == found["musique"][REAL][0].row("real")
    with pytest.raises(KeyError):
        real_text_results(path, ["hotpot"])


def test_the_seed_decides_the_intervals(record: RealText, tmp_path: Path) -> None:
    path = write(tmp_path / "r.json", record)
    rows = [
        real_text_results(path, [POOLED], resamples=200, exchanges=10, seed=seed)[POOLED][REAL][0]
        for seed in (0, 0, 1)
    ]
    assert rows[0].row("real") == rows[1].row("real")
    assert rows[0].row("real").chain_effect != rows[2].row("real").chain_effect


class TestMistakes:
    def test_a_record_that_is_not_there_says_what_makes_it(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile, match=r"python -m chaincheck\.real_text"):
            real_text_results(tmp_path / "no.json")

    @pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"command": 3}', b"\xff"])
    def test_what_is_no_record(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "r.json"
        path.write_bytes(content)
        with pytest.raises(InvalidItem, match="make it anew"):
            real_text_results(path)

    def test_a_record_that_is_not_whole(self, record: RealText, tmp_path: Path) -> None:
        short = msgspec.structs.replace(record.judges[1], scores=record.judges[1].scores[:-1])
        count = len(record.triplets)
        other = msgspec.structs.replace(record.judges[1], setup="t")
        for changes, told in (
            ({"judges": ()}, "untrained"),
            ({"judges": record.judges[1:]}, "untrained"),
            ({"triplets": ()}, "untrained"),
            (
                {"judges": (record.judges[0], short)},
                f"{count - 1} of {count}",
            ),
            ({"judges": (record.judges[0], other)}, "other settings"),
        ):
            path = write(tmp_path / "r.json", record, **changes)
            with pytest.raises(InvalidItem, match=told):
                load_real_text(path)


def test_a_relative_path_is_found_from_any_folder(
    record: RealText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "r.json", record)
    assert load_real_text("r.json") == record
    with pytest.raises(UnreadableFile):
        load_real_text("other.json")
