"""The gate: pass, fail and refuse; whatever was changed after the conditions were fixed is seen."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from gate_files import PLAN, edit_json, gate_folder, guessing, reading, scored_gate, triplets

from chaincheck.cli import main
from chaincheck.errors import (
    ChainCheckError,
    DamagedLog,
    DuplicateItem,
    ForeignLog,
    InputError,
    IntegrityError,
    InvalidItem,
    InvalidScore,
    MeasuredFailure,
    MissingJudgment,
    UnreadableFile,
    UsageError,
)
from chaincheck.items import Item, write_items
from chaincheck.judges.base import Judgment
from chaincheck.judges.record import LiveJudge, RecordedJudge
from chaincheck.paired_intervals import paired_rate_floor
from chaincheck.pipeline import score_file
from chaincheck.training.gate import check_gate, refuse_unlike, weights_only
from chaincheck.training.gate_plan import (
    lock_path,
    lock_plan,
    open_lock,
    read_plan,
    triplets_needed,
)
from chaincheck.training.gate_results import VERDICT, Condition
from chaincheck.training.gate_score import Planned, score_for_gate
from chaincheck.training.sealed import digest_of, read_sealed, sealed, sealed_json


class TestOutcomes:
    def test_a_judge_that_reads_the_chain_passes(self, tmp_path: Path) -> None:
        plan, lock = scored_gate(tmp_path)
        verdict = check_gate(plan)
        assert verdict.passed
        assert [(c.kind, c.variant) for c in verdict.conditions] == [
            ("sigma", "real"),
            ("sigma", "fict"),
            ("nominal", "real"),
        ]
        assert list(verdict.differences) == ["model.weights"]
        text = verdict.to_text()
        assert "gate a release: PASS" in text
        assert lock.gate_id in text

    def test_the_numbers_are_those_of_the_statistics(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path)
        verdict = check_gate(plan)
        base, candidate = guessing(), reading()
        items = [item for item in triplets() if item.variant == "real"]
        by_judge = []
        for judge in (base, candidate):
            scores = {one.item_id: one.score for one in judge.score(items)}
            by_judge.append(
                {
                    cell: np.array([scores[f"real-{k}-{cell}"] for k in range(250)], dtype=float)
                    for cell in "ABD"
                }
            )
        wins = [(one["A"] > one["D"]).astype(int) for one in by_judge]
        gained = int(((wins[1] - wins[0]) > 0).sum())
        lost = int(((wins[1] - wins[0]) < 0).sum())
        nominal = verdict.conditions[2]
        assert nominal.estimate == pytest.approx(wins[1].mean() - wins[0].mean())
        assert nominal.bound == pytest.approx(paired_rate_floor(gained, lost, 250))
        assert nominal.threshold == -0.02
        chain = (by_judge[1]["B"] > by_judge[1]["D"]).mean() - 0.5
        edit = (by_judge[1]["A"] > by_judge[1]["B"]).mean() - 0.5
        assert verdict.conditions[0].estimate == pytest.approx(chain - abs(edit))

    def test_a_judge_that_guesses_fails_on_sigma(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path, guessing(), guessing("other"))
        verdict = check_gate(plan)
        assert not verdict.passed
        assert [one.passed for one in verdict.conditions] == [False, False, True]
        assert "FAIL" in verdict.to_text()
        assert isinstance(verdict.failure(), MeasuredFailure)
        assert "sigma on test.jsonl real, sigma on test.jsonl fict" in str(verdict.failure())

    def test_a_judge_that_loses_nominal_fails_there(self, tmp_path: Path) -> None:
        weaker = reading()
        weaker.shift = {"A": 1.2, "B": 1.2, "D": 0.0}
        plan, _ = scored_gate(tmp_path, candidate=weaker)
        assert [one.passed for one in check_gate(plan).conditions] == [True, True, False]

    def test_equal_wins_on_too_few_triplets_show_nothing(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path, items=triplets(100))
        lock = lock_plan(plan)
        assert "a candidate no better than the base passes with 189 at least" in lock.to_text()
        score_for_gate(plan, guessing(), "base")
        score_for_gate(plan, reading(), "candidate")
        verdict = check_gate(plan)
        assert verdict.conditions[2].estimate == 0.0
        assert not verdict.conditions[2].passed

    @pytest.mark.parametrize(("margin", "level"), [(0.02, 0.95), (0.05, 0.95), (0.1, 0.8)])
    @pytest.mark.parametrize("lost", [0, 1, 4])
    def test_the_number_needed_is_the_smallest_that_is_enough(
        self, margin: float, level: float, lost: int
    ) -> None:
        enough = [
            n
            for n in range(max(1, lost), 800)
            if paired_rate_floor(0, lost, n, (1 + level) / 2) > -margin
        ]
        assert triplets_needed(margin, lost=lost, level=level) == enough[0]
        assert enough == list(range(enough[0], 800)), "and every larger one is"
        if not lost:  # the bound is -z^2 / (n + z^2) then
            z = NormalDist().inv_cdf((1 + level) / 2)
            assert enough[0] == math.floor(z * z * (1 - margin) / margin) + 1

    @pytest.mark.parametrize(("margin", "lost"), [(0.0, 0), (1.0, 0), (0.1, -1), (math.nan, 0)])
    def test_no_number_of_triplets_is_enough_for_what_no_plan_has(
        self, margin: float, lost: int
    ) -> None:
        with pytest.raises(ValueError, match="no plan has"):
            triplets_needed(margin, lost=lost)

    def test_a_bound_that_is_not_a_number_passes_nothing(self) -> None:
        row = Condition("sigma", "f", "real", 1, 0.5, math.nan, 0.0)
        assert not row.passed
        assert row.to_dict()["bound"] is None

    def test_zero_itself_is_not_above_zero(self) -> None:
        assert not Condition("sigma", "f", "real", 9, 0.0, 0.0, 0.0).passed

    def test_the_record_is_sealed_and_names_no_folder_of_the_machine(self, tmp_path: Path) -> None:
        plan, lock = scored_gate(tmp_path)
        record = check_gate(plan).to_dict()
        text = sealed_json(record)
        assert str(tmp_path) not in text
        (tmp_path / "verdict.json").write_text(text, "utf-8")
        read = read_sealed(tmp_path / "verdict.json", VERDICT, remedy="")
        assert read["gate"] == lock.gate_id
        assert read["candidate"]["rows"]
        edit_json(tmp_path / "verdict.json", lambda one: one.update(passed=False))
        with pytest.raises(IntegrityError, match="not as it was written"):
            read_sealed(tmp_path / "verdict.json", VERDICT, remedy="")

    def test_columns_that_exclude_are_honored(self, tmp_path: Path) -> None:
        items = [
            Item(**{**vars_of(item), "extra": {"known": item.pair_id in {"p1", "p2"}}})
            for item in triplets()
        ]
        plan = gate_folder(tmp_path, plan='exclude = ["known"]\n' + PLAN, items=items)
        lock = lock_plan(plan)
        assert lock.record["data"][0]["triplets"] == {"real": 248, "fict": 48}
        score_for_gate(plan, guessing(), "base")
        score_for_gate(plan, reading(), "candidate")
        assert [one.n for one in check_gate(plan).conditions] == [248, 48, 248]


def vars_of(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__struct_fields__}


class TestChangedAfterwards:
    @pytest.mark.parametrize(
        ("old", "new", "named"),
        [
            ('nominal = ["real"]', 'nominal = ["real"]\n\n', None),
            ("resamples = 200", "resamples = 200\nmargin = 0.05", "margin was '0.02'"),
            ("resamples = 200", "resamples = 200\nlevel = 0.8", "level was '0.95'"),
            ('sigma = ["real", "fict"]', 'sigma = ["real"]', "data was"),
            ('nominal = ["real"]', 'nominal = ["fict"]', "data was"),
            ("resamples = 200", "resamples = 200\nseed = 7", "seed was '0'"),
            ("resamples = 200", 'resamples = 200\ncluster = "bridge"', "cluster was"),
        ],
    )
    def test_conditions(self, old: str, new: str, named: str | None, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path)
        plan.write_text(PLAN.replace(old, new), "utf-8")
        if named is None:
            assert check_gate(plan).passed, "white space changes no condition"
            return
        with pytest.raises(IntegrityError, match="changed after they were fixed") as caught:
            check_gate(plan)
        assert named in str(caught.value)
        assert caught.value.exit_code == 3

    def test_the_lock(self, tmp_path: Path) -> None:
        plan, lock = scored_gate(tmp_path)
        edit_json(lock.path, lambda one: one["plan"].update(margin=0.5))
        with pytest.raises(IntegrityError, match="not as it was written"):
            check_gate(plan)

    def test_the_lock_with_a_new_seal(self, tmp_path: Path) -> None:
        plan, lock = scored_gate(tmp_path)

        def change(record: dict[str, Any]) -> None:
            record["plan"]["margin"] = 0.5
            record["digest"] = digest_of(record)

        edit_json(lock.path, change)
        plan.write_text("margin = 0.5\n" + PLAN, "utf-8")
        with pytest.raises(IntegrityError, match="does not carry the gate's id"):
            check_gate(plan)

    def test_lock_and_plan_made_anew(self, tmp_path: Path) -> None:
        plan, lock = scored_gate(tmp_path)
        lock.path.unlink()
        with pytest.raises(IntegrityError, match="after the candidate was scored"):
            lock_plan(plan)

    def test_judgments_from_before_the_conditions(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        elsewhere = tmp_path / "elsewhere.jsonl"
        with LiveJudge(reading(), elsewhere) as judge:
            list(judge.score(triplets()))
        lock_plan(plan)
        score_for_gate(plan, guessing(), "base")
        shutil.copy(elsewhere, tmp_path / "candidate.log.jsonl")
        with pytest.raises(IntegrityError, match="does not carry the gate's id"):
            check_gate(plan)
        score_for_gate(plan, reading(), "candidate")  # nothing is left to ask for
        with pytest.raises(IntegrityError, match="does not carry the gate's id"):
            check_gate(plan)

    @pytest.mark.parametrize("kind", ["log", "recorded"])
    def test_judgments_from_before_that_are_replayed_under_the_gates_id(
        self, kind: str, tmp_path: Path
    ) -> None:
        """A log of before, given as a judge, would be written anew with the id of the gate."""
        plan = gate_folder(tmp_path)
        data, log = tmp_path / "test.jsonl", tmp_path / "l"
        score_file(data, reading(), tmp_path / "s", log=log, live=True)
        judge = tmp_path / "judge.toml"
        judge.write_text(f'kind = "{kind}"\npath = "{kind[0] if kind == "log" else "s"}"\n')
        lock = lock_plan(plan)
        score_for_gate(plan, guessing(), "base")
        for role in ("base", "candidate"):
            with pytest.raises(UsageError, match="gives judgments of before again"):
                score_for_gate(plan, str(judge), role)
        with LiveJudge(
            Planned(RecordedJudge(log), lock.gate_id, "candidate"),
            tmp_path / "candidate.log.jsonl",
        ) as forged:
            list(forged.score(triplets()))
        with pytest.raises(IntegrityError, match="not recorded for the candidate of the"):
            check_gate(plan)

    def test_two_logs_that_changed_places(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path)
        one, other = tmp_path / "base.log.jsonl", tmp_path / "candidate.log.jsonl"
        one.rename(tmp_path / "x")
        other.rename(one)
        (tmp_path / "x").rename(other)
        with pytest.raises(IntegrityError, match="was not recorded for the base"):
            check_gate(plan)

    def test_the_data(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path)
        write_items(tmp_path / "test.jsonl", triplets()[:-3])
        with pytest.raises(IntegrityError, match="the data were changed"):
            check_gate(plan)

    def test_another_order_of_the_data_is_the_same_data(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path)
        write_items(tmp_path / "test.jsonl", triplets()[::-1])
        assert check_gate(plan).passed

    def test_a_score_in_a_log(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path)
        log = tmp_path / "candidate.log.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        lines[9] = lines[9].replace(b'"score":', b'"score":1')
        log.write_bytes(b"".join(lines))
        with pytest.raises(DamagedLog):
            check_gate(plan)

    def test_a_lock_is_never_written_over(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        before = lock_plan(plan).path.read_bytes()
        with pytest.raises(InputError, match="fixed already"):
            lock_plan(plan)
        assert lock_path(plan).read_bytes() == before


class TestBaseScoredBefore:
    def before(self, folder: Path) -> Path:
        plan = gate_folder(folder)
        with LiveJudge(guessing(), folder / "base.log.jsonl") as judge:
            list(judge.score(triplets()))
        return plan

    def test_it_is_noted_and_passes(self, tmp_path: Path) -> None:
        plan = self.before(tmp_path)
        lock = lock_plan(plan)
        assert lock.base_before is not None
        assert lock.base_before["judgments"] == 900
        assert "scored before the conditions were fixed" in lock.to_text()
        score_for_gate(plan, reading(), "candidate")
        verdict = check_gate(plan)
        assert verdict.passed
        assert "900 judgments of the base are from before" in verdict.to_text()

    def test_another_log_in_its_place_is_refused(self, tmp_path: Path) -> None:
        plan = self.before(tmp_path)
        lock_plan(plan)
        score_for_gate(plan, reading(), "candidate")
        (tmp_path / "base.log.jsonl").unlink()
        other = guessing()
        other.shift = {"A": 0.0, "B": 0.0, "D": 0.0}
        with LiveJudge(other, tmp_path / "base.log.jsonl") as judge:
            list(judge.score(triplets()))
        with pytest.raises(IntegrityError, match="not the log that was there"):
            check_gate(plan)

    def test_a_longer_one_is_taken(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        with LiveJudge(guessing(), tmp_path / "base.log.jsonl") as judge:
            list(judge.score(triplets()[:300]))
        lock_plan(plan)
        score_for_gate(plan, guessing(), "base")
        score_for_gate(plan, reading(), "candidate")
        assert check_gate(plan).passed


class TestRefusals:
    def test_a_judgment_that_is_not_recorded(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        lock_plan(plan)
        for role, judge in (("base", guessing()), ("candidate", None)):
            command = rf"chaincheck gate score \S+gate\.toml --judge JUDGE --role {role}"
            with pytest.raises(UnreadableFile, match=rf"{role}\.log.*nothing is.*{command}"):
                check_gate(plan)
            if judge:
                score_for_gate(plan, judge, "base")
        judge = reading()

        def some(items: Any) -> Any:
            for number, item in enumerate(items):
                if number == 400:
                    raise KeyboardInterrupt
                yield Judgment(item_id=item.item_id, score=1.0 * number)

        judge.score = some  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            score_for_gate(plan, judge, "candidate")
        with pytest.raises(MissingJudgment, match=r"chaincheck gate score .* --role candidate"):
            check_gate(plan)

    @pytest.mark.parametrize(
        ("change", "match"),
        [({"prompt": "two"}, "prompt is 'one' and 'two'"), ({"dtype": "float16"}, "dtype")],
    )
    def test_another_instrument(self, change: dict[str, Any], match: str, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path, candidate=reading(**change))
        with pytest.raises(ForeignLog, match=match):
            check_gate(plan)

    def test_a_judgment_without_a_score(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        lock_plan(plan)
        score_for_gate(plan, guessing(), "base")
        judge = reading()

        def refusing(items: Iterable[Item]) -> Iterator[Judgment]:
            for item in items:
                yield Judgment(
                    item_id=item.item_id, score=None, bounds=(None, None), flags=("refused: so",)
                )

        judge.score = refusing  # type: ignore[method-assign]
        score_for_gate(plan, judge, "candidate")
        with pytest.raises(InvalidScore, match=r"no score: refused: so.*minimum_mass = 0\.0"):
            check_gate(plan)

    def test_the_same_instrument_twice(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path, candidate=guessing())
        with pytest.raises(ForeignLog, match="the same instrument"):
            check_gate(plan)

    @pytest.mark.parametrize("role", ["base", "candidate"])
    def test_it_is_refused_before_it_is_asked(self, role: Any, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        lock = lock_plan(plan)
        refuse_unlike(lock, guessing(), role)  # nothing is recorded yet
        score_for_gate(plan, reading(), "candidate" if role == "base" else "base")
        refuse_unlike(lock, guessing(), role)
        with pytest.raises(ForeignLog, match="differ in more than their weights: prompt is"):
            refuse_unlike(lock, guessing(prompt="two"), role)
        with pytest.raises(ForeignLog, match="the same instrument"):
            refuse_unlike(lock, reading(), role)

    def test_an_adapter_counts_as_weights(self) -> None:
        base = {"model": {"weights": "a", "adapter": None}}
        tuned = {"model": {"weights": "a", "adapter": {"weights": "b", "config": "c"}}}
        found, others = weights_only(base, tuned)
        assert found
        assert not others

    @pytest.mark.parametrize(
        "part",
        [
            lambda value: {"model": {"code": {"adapter.py": value}}},
            lambda value: {"model": {"code": {"weights.py": value}}},
            lambda value: {"chat": {"arguments": {"adapter": value}}},
            lambda value: {"prompt": {"revision": value}},
            lambda value: {"models": {"weights": value}},
            lambda value: {"revision_of_the_prompt": value},
        ],
    )
    def test_only_the_model_s_own_weights_may_differ(self, part: Any) -> None:
        """The words weights, adapter and revision are just words elsewhere."""
        found, others = weights_only(part("a"), part("b"))
        assert list(found) == others
        assert others

    def test_each_way_to_name_weights_counts(self) -> None:
        one = {"model": {"weights": "a", "adapter": None, "revision": None}, "revision": "a"}
        other = {"model": {"weights": "b", "adapter": {"config": "c"}, "revision": "r"}}
        found, others = weights_only(one, {**other, "revision": "b"})
        assert len(found) == 5
        assert not others

    def test_a_judge_that_states_no_instrument(self, tmp_path: Path) -> None:
        class Silent:
            def __init__(self, name: str) -> None:
                self.name, self.fingerprint = name, name * 4

            def score(self, items: Any) -> Any:
                yield from reading().score(items)

        plan = gate_folder(tmp_path)
        lock_plan(plan)
        score_for_gate(plan, Silent("abcd"), "base")
        score_for_gate(plan, Silent("efab"), "candidate")
        with pytest.raises(ForeignLog, match="fingerprint"):
            check_gate(plan)

    def test_scoring_without_a_lock(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        with pytest.raises(UnreadableFile, match="chaincheck gate plan"):
            score_for_gate(plan, guessing(), "base")

    @pytest.mark.parametrize(
        ("plan", "match"),
        [
            ("", "missing required field"),
            (PLAN + "\n[oops", "is no TOML"),
            ("mragin = 0.02\n" + PLAN, "unknown field `mragin`"),
            ("margin = 0.0\n" + PLAN, "margin is 0.0"),
            ("margin = nan\n" + PLAN, "margin is nan"),
            ("level = 1.0\n" + PLAN, "level is 1.0"),
            ('cluster = "town"\n' + PLAN, "cluster is 'town'"),
            ("seed = -1\n" + PLAN, "seed is negative"),
            (PLAN.replace('sigma = ["real", "fict"]', "sigma = []"), "no file has a condition"),
            (PLAN.replace('["real", "fict"]', '["real", "real"]'), "a variant stands twice"),
            (PLAN.replace('["real", "fict"]', '["raal"]'), "no triplet of the variant 'raal'"),
            (PLAN.replace("candidate.log", "base.log"), "base and candidate are one log"),
            (PLAN.replace('"a release"', '""'), "a name or path is empty"),
            (PLAN.replace("test.jsonl", "none.jsonl"), "no such file"),
            (PLAN.replace("sigma =", "sigmas ="), "unknown field `sigmas`"),
        ],
    )
    def test_a_plan_that_cannot_be_used(self, plan: str, match: str, tmp_path: Path) -> None:
        path = gate_folder(tmp_path, plan=plan)
        with pytest.raises(InputError, match=match) as caught:
            lock_plan(path)
        assert caught.value.exit_code == 2
        assert not lock_path(path).exists()

    @pytest.mark.parametrize(
        ("change", "match"),
        [
            (("candidate.log", "./base.log"), "are one file"),
            (("candidate.log.jsonl", "test.jsonl"), "are one file"),
            (("candidate.log.jsonl", "gate.toml"), "are one file"),
            (("candidate.log.jsonl", "gate.lock.json"), "are one file"),
            (("base.log", "nowhere/base.log"), "lies in a folder that does not exist"),
            (("candidate.log.jsonl", "candidate.jsonl.gz"), "cannot be gzipped"),
        ],
    )
    def test_a_place_that_cannot_be_used(
        self, change: tuple[str, str], match: str, tmp_path: Path
    ) -> None:
        path = gate_folder(tmp_path, plan=PLAN.replace(*change))
        with pytest.raises(InputError, match=match):
            lock_plan(path)
        assert not lock_path(path).exists()

    def test_toml_that_is_nested_too_deeply(self, tmp_path: Path) -> None:
        path = gate_folder(tmp_path, plan=f"a = {'[' * 5000}")
        with pytest.raises(UnreadableFile, match="is no TOML"):
            lock_plan(path)

    def test_a_column_that_no_row_has(self, tmp_path: Path) -> None:
        path = gate_folder(tmp_path, plan='exclude = ["nobody"]\n' + PLAN)
        with pytest.raises(InvalidItem, match="no row has the column nobody"):
            lock_plan(path)

    def test_a_record_of_another_kind(self, tmp_path: Path) -> None:
        plan = gate_folder(tmp_path)
        lock_path(plan).write_text(json.dumps(sealed("a verdict", {})), "utf-8")
        with pytest.raises(IntegrityError, match="is 'a verdict', not 'the conditions of a gate'"):
            open_lock(plan)


def marked(value: Any) -> list[Item]:
    """Triplets of which those of the variant fict have ``value`` in a column of their own."""
    return [
        msgspec.structs.replace(item, extra={"bad": value if item.variant == "fict" else False})
        for item in triplets(8, 4)
    ]


def copies() -> list[Item]:
    """Two triplets, forty times under other ids."""
    return [
        msgspec.structs.replace(
            item, item_id=f"{number} {item.item_id}", pair_id=f"{number} {item.pair_id}"
        )
        for number in range(40)
        for item in triplets(2, 2)
    ]


class TestDataThatCannotBeMeasured:
    """It is found out when the conditions are fixed: afterwards neither can be mended."""

    @pytest.mark.parametrize(
        ("items", "more", "match"),
        [
            (copies, "", r"has the question and passages of pair '0 p0', and would count twice"),
            (lambda: triplets(8, 4)[:-1], "", "has no cell D.*Add the missing rows"),
            (lambda: marked("true"), 'exclude = ["bad"]\n', "should be true, false, 0, 1"),
            (lambda: marked(1), 'exclude = ["bad"]\n', "no triplet of the variant 'fict'"),
            (lambda: marked(True), 'exclude = ["bad"]\n', "no triplet of the variant 'fict'"),
            (lambda: triplets(8, 4), 'exclude = ["extra"]\n', "no row has the column extra"),
            (lambda: triplets(8, 4), 'exclude = ["query"]\n', "should be true, false, 0, 1"),
            (
                lambda: [msgspec.structs.replace(one, bridge=None) for one in triplets(8, 4)],
                'cluster = "bridge"\n',
                "no bridge to resample by",
            ),
        ],
    )
    def test_in_one_file(
        self, items: Callable[[], list[Item]], more: str, match: str, tmp_path: Path
    ) -> None:
        path = gate_folder(tmp_path, plan=more + PLAN, items=items())
        with pytest.raises(InputError, match=match) as caught:
            lock_plan(path)
        assert caught.value.exit_code == 2
        assert not lock_path(path).exists()

    def test_the_same_items_in_two_files(self, tmp_path: Path) -> None:
        plan = PLAN + '[[data]]\npath = "again.jsonl"\nsigma = ["real"]\n'
        path = gate_folder(tmp_path, plan=plan, items=triplets(8, 4))
        write_items(tmp_path / "again.jsonl", triplets(8, 4))
        with pytest.raises(DuplicateItem, match="stands in two of the files"):
            lock_plan(path)
        (tmp_path / "again.jsonl").unlink()
        (tmp_path / "again.jsonl").symlink_to("test.jsonl")
        with pytest.raises(InputError, match="are one file"):
            lock_plan(path)

    def test_what_is_left_out_may_be_incomplete_or_a_copy(self, tmp_path: Path) -> None:
        items = [*triplets(8, 4), *copies()]
        items = [msgspec.structs.replace(one, extra={"bad": " " in one.pair_id}) for one in items]
        path = gate_folder(tmp_path, plan='exclude = ["bad"]\n' + PLAN, items=items[:-1])
        assert lock_plan(path).record["data"][0]["triplets"] == {"fict": 4, "real": 8}

    def test_what_is_not_independent_is_noted(self, tmp_path: Path) -> None:
        lock = lock_plan(gate_folder(tmp_path, items=triplets(250, 50)))
        assert (
            "note: test.jsonl real: 250 triplets of 125 bridges are resampled as if each stood "
            'alone; cluster = "bridge" would not' in lock.to_text()
        )
        other = tmp_path / "other"
        other.mkdir()
        plan = gate_folder(other, plan='cluster = "bridge"\n' + PLAN, items=triplets(250, 50))
        assert "stood alone" not in lock_plan(plan).to_text()


@pytest.mark.parametrize(
    "change",
    [
        {"data": None},
        {"data": []},
        {"data": "x"},
        {"data": [5]},
        {"base_before": 5},
        {"base_before": {}},
        {"made": None},
        {"notes": 1},
        {"format": 2},
        {"plan": {}},
    ],
    ids=str,
)
def test_a_lock_that_lacks_a_part_is_no_lock(change: dict[str, Any], tmp_path: Path) -> None:
    plan, _ = scored_gate(tmp_path)
    record = json.loads(lock_path(plan).read_bytes())
    record = {key: value for key, value in (record | change).items() if value is not None}
    record["digest"] = digest_of(record)
    lock_path(plan).write_text(json.dumps(record), "utf-8")
    with pytest.raises(IntegrityError):
        check_gate(plan)


def test_a_folder_whose_name_is_no_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"no\xfftext")
    folder.mkdir()
    plan, _ = scored_gate(folder)
    assert check_gate(plan).passed


class TestScoring:
    def test_what_is_recorded_is_not_asked_again(self, tmp_path: Path) -> None:
        plan, _ = scored_gate(tmp_path)
        again = reading()
        text = score_for_gate(plan, again, "candidate")
        assert again.asked == 0
        assert "0 judgments recorded" in text

    def test_every_judgment_carries_the_id(self, tmp_path: Path) -> None:
        _, lock = scored_gate(tmp_path)
        lines = (tmp_path / "candidate.log.jsonl").read_text("utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        ways = {one["acquisition"] for one in records if one["kind"] == "judgment"}
        settings = {
            one["acquisition"]: one["settings"]["gate"]
            for one in records
            if one["kind"] == "acquisition"
        }
        assert {settings[way] for way in ways} == {lock.gate_id}

    def test_two_gates_have_two_ids(self, tmp_path: Path) -> None:
        ids = set()
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            plan = gate_folder(tmp_path / name, plan=PLAN.replace("a release", name))
            ids.add(lock_plan(plan).gate_id)
        assert len(ids) == 2


class TestCommandLine:
    def test_the_four_exit_codes(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        good, bad = tmp_path / "good", tmp_path / "bad"
        good.mkdir()
        bad.mkdir()
        plan, _ = scored_gate(good)
        assert main(["gate", "check", str(plan), "--json", str(good / "verdict.json")]) == 0
        assert "PASS" in capsys.readouterr().out
        assert json.loads((good / "verdict.json").read_text("utf-8"))["passed"] is True
        failing, _ = scored_gate(bad, guessing(), guessing("other"))
        assert main(["gate", "check", str(failing), "--json", str(bad / "verdict.json")]) == 1
        captured = capsys.readouterr()
        assert "FAIL" in captured.out
        assert "gate a release failed" in captured.err
        assert json.loads((bad / "verdict.json").read_text("utf-8"))["passed"] is False
        plan.write_text("margin = 0.1\n" + PLAN, "utf-8")
        assert main(["gate", "check", str(plan)]) == 3
        plan.write_text("margin = 7\n" + PLAN, "utf-8")
        assert main(["gate", "check", str(plan)]) == 2

    @pytest.mark.parametrize(
        "name",
        ["gate.toml", "gate.lock.json", "base.log.jsonl", "candidate.log.jsonl", "test.jsonl"],
    )
    def test_the_verdict_is_not_written_over_what_it_is_made_of(
        self, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        plan, _ = scored_gate(tmp_path)
        before = (tmp_path / name).read_bytes()
        assert main(["gate", "check", str(plan), "--json", str(tmp_path / name)]) == 2
        assert "is read by the same command" in capsys.readouterr().err
        assert (tmp_path / name).read_bytes() == before

    def test_plan_and_score(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        plan = gate_folder(tmp_path, items=triplets(200))
        assert main(["gate", "plan", str(plan)]) == 0
        assert "Publish the id before scoring" in capsys.readouterr().out
        code = main(["gate", "score", str(plan), "--judge", "lexical", "--role", "base"])
        assert code == 0
        assert "750 judgments recorded" in capsys.readouterr().out
        line = ["gate", "score", str(plan), "--judge", "repeated-names", "--role", "candidate"]
        assert main(line) == 3
        assert "differ in more than their weights" in capsys.readouterr().err
        assert not (tmp_path / "candidate.log.jsonl").exists()

    def test_help_has_examples(self) -> None:
        from chaincheck.cli import command

        for name in ("plan", "score", "check"):
            done = CliRunner().invoke(command, ["gate", name, "--help"])
            assert "Examples:" in done.output


def test_defaults_are_written_out(tmp_path: Path) -> None:
    plan = read_plan(gate_folder(tmp_path))
    found = plan.to_dict()
    assert found["margin"] == 0.02
    assert found["data"][0]["nominal"] == ["real"]


def test_errors_are_of_the_tree(tmp_path: Path) -> None:
    with pytest.raises(ChainCheckError):
        check_gate(tmp_path / "nowhere.toml")
