"""The recorded training runs: what the book holds, and that one command makes it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import tiny_language_models
import training_worlds

from chaincheck import record_training, seen_passages, training_records
from chaincheck.audit_records import triplets_of
from chaincheck.errors import UnreadableFile, UsageError
from chaincheck.items import Triplet, read_triplets
from chaincheck.judges.record import RecordedJudge
from chaincheck.record_training import main
from chaincheck.seen_passages import shown_decoys
from chaincheck.splits import groups
from chaincheck.training.gate import check_gate
from chaincheck.training.recipe import load_recipe
from chaincheck.training_records import (
    ARMS,
    BASE,
    DECOYS,
    FOLDER,
    PARTS,
    RELEASED,
    SHOWN,
    Arm,
    asked_items,
    log_of,
    part_of,
    read_run,
    recipe_of,
    recorded_seeds,
    release_of,
    run_judge,
    work_folder,
)

RECORDED = [(arm, seed) for arm in ARMS for seed in recorded_seeds(arm, FOLDER, ARMS[arm].parts[0])]


class TestTheBook:
    """What lies below ``book/records/training``."""

    def test_the_parts_share_no_bridge_and_no_step(self) -> None:
        parts = {part: read_triplets(part_of(part), cells=("A", "B", "D", "C")) for part in PARTS}
        rows = [triplet for found in parts.values() for triplet in found]
        home = {id(triplet): part for part, found in parts.items() for triplet in found}
        for group in groups(rows, by_head=True):
            assert len({home[id(triplet)] for triplet in group}) == 1

    def test_what_chapter_9_audits_was_not_trained_on(self) -> None:
        train, audited = read_triplets(part_of("train")), read_triplets(triplets_of())
        held = {id(triplet) for triplet in audited}
        for group in groups([*train, *audited], by_head=True):
            assert len({id(triplet) in held for triplet in group}) == 1

    def test_questions_that_share_a_head_share_their_bridge(self) -> None:
        """So intervals that resample bridges resample heads whole."""

        def head(triplet: Triplet) -> str:
            item = triplet.cells["A"]
            return item.passages[item.earlier_support[0]]

        for part in PARTS:
            bridges: dict[str, set[str | None]] = {}
            for triplet in read_triplets(part_of(part)):
                bridges.setdefault(head(triplet), set()).add(triplet.cells["A"].bridge)
            assert {len(found) for found in bridges.values()} == {1}

    @pytest.mark.parametrize("arm", ARMS)
    def test_each_recipe_can_be_read_and_differs_from_every_other(self, arm: str) -> None:
        recipe = load_recipe(recipe_of(arm))
        assert [load_recipe(recipe_of(other)) for other in ARMS].count(recipe) == 1

    @pytest.mark.parametrize(("arm", "seed"), RECORDED)
    def test_each_run_is_whole_and_by_the_recipe_of_today(self, arm: str, seed: int) -> None:
        run = read_run(arm, seed)
        assert run.recipe == load_recipe(recipe_of(arm), {"seed": seed}).settings
        assert run.summary["steps"][0] == run.summary["steps"][1] == run.metrics[-2]["step"]
        for part in ARMS[arm].parts:
            judge = run_judge(arm, seed, part=part)
            asked = shown_decoys(arm, seed) if part == SHOWN else asked_items(part)
            assert judge.missing(asked) == []
            assert judge.instrument["model"]["adapter"]["weights"]
            # All that is recorded of a run was said by one judge.
            assert judge.fingerprint == run_judge(arm, seed, part=ARMS[arm].parts[0]).fingerprint
            # Runs differ in their weights and in nothing else.
            base = run_judge(BASE).instrument
            assert {**base, "model": None} == {**judge.instrument, "model": None}

    def test_the_base_was_asked_in_one_way(self) -> None:
        for part in ("validation", DECOYS):
            assert run_judge(BASE, part=part).instrument == run_judge(BASE).instrument

    def test_no_two_runs_gave_the_same_weights(self) -> None:
        weights = [
            run_judge(arm, seed, part=ARMS[arm].parts[0]).instrument["model"]["adapter"]["weights"]
            for arm, seed in RECORDED
        ]
        assert len(set(weights)) == len(weights)

    def test_the_gate_was_fixed_before_anything_was_scored(self) -> None:
        # A log that was begun before the conditions were fixed is refused here.
        verdict = check_gate(release_of() / "gate.toml")
        assert len(verdict.conditions) == 6
        # What was gated is what the merge wrote, of the run that was named beforehand.
        merged = json.loads((release_of() / "merge.json").read_bytes())
        gated = RecordedJudge(release_of() / "candidate.jsonl").instrument["model"]
        assert gated["weights"] == merged["merged"]["weights"]
        adapter = run_judge(*RELEASED).instrument["model"]["adapter"]
        assert merged["adapter"]["files"]["adapter_model.safetensors"] == adapter["weights"]

    def test_no_file_is_large(self) -> None:
        files = [path for path in FOLDER.rglob("*") if path.is_file()]
        assert max(path.stat().st_size for path in files) < 1_000_000


def small_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny base, two recipes, one of them with decoys, and a folder with triplets."""
    pytest.importorskip("torch", reason="the extra 'judges' is not installed")
    pytest.importorskip("peft", reason="the extra 'training' is not installed")
    tiny_language_models.save(tmp_path / "tiny", "qwen3")
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(record_training, "_MODEL", str(tmp_path / "tiny"))
    monkeypatch.setattr(training_records, "_BOOK", tmp_path)
    monkeypatch.setattr(
        training_records,
        "ARMS",
        {
            "plain": Arm(1, "no decoys", (SHOWN,)),  # asked about those of the next one
            "mine": Arm(1, "x", ("test", "validation", DECOYS, SHOWN)),
        },
    )
    monkeypatch.setattr(seen_passages, "_WITH_DECOYS", "mine")
    monkeypatch.setattr(training_records, "RELEASED", ("mine", 0))
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "mine.toml").write_text(
        'prompt = "brief"\nbatch = 2\ntriplets = 6\ndtype = "float32"\n[lora]\nrank = 2\n'
        "[mix]\nreal = 1.0\ndecoy = 2.0\n",
        "utf-8",
    )
    (tmp_path / "recipes" / "plain.toml").write_text(
        'prompt = "brief"\nbatch = 2\ntriplets = 2\ndtype = "float32"\n[lora]\nrank = 2\n'
        "[mix]\nreal = 1.0\n",
        "utf-8",
    )
    home = tmp_path / "records"
    home.mkdir()
    variants = ("real", "fict", "decoy")
    for part, start in zip(PARTS, (0, 20, 40), strict=True):
        training_worlds.write(part_of(part, home), 3, start=start, variants=variants)
    return home


def test_a_run_is_recorded_released_and_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = small_world(tmp_path, monkeypatch)
    arguments = ["base", "plain", "mine:0", "--out", str(home), "--threads", "1"]
    assert main(arguments) == 0
    made = {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()}
    assert {path.name for path in made} == {
        *("train.jsonl.gz", "validation.jsonl.gz", "test.jsonl.gz"),
        *("base.validation.jsonl.gz", "base.jsonl", "candidate.jsonl"),
        *("gate.toml", "gate.lock.json", "merge.json"),
        *("mine-0.jsonl.gz", "mine-0.validation.jsonl.gz", "mine-0.run.json.gz"),
        *("plain-0.run.json.gz", "plain-0.shown.jsonl.gz"),
        *("mine-0.shown.jsonl.gz", "mine-0.decoys.jsonl.gz", "base.decoys.jsonl.gz"),
    }
    for part in ("test", "validation", DECOYS):
        assert RecordedJudge(log_of("mine", 0, home, part)).missing(asked_items(part, home)) == []
    kinds = {
        part: {item.variant for item in asked_items(part, home)} for part in ("validation", DECOYS)
    }
    assert kinds == {"validation": {"real", "fict"}, DECOYS: {"decoy"}}
    both = {item.item_id for part in ("validation", DECOYS) for item in asked_items(part, home)}
    assert both == {
        triplet.cells[cell].item_id
        for triplet in read_triplets(part_of("validation", home))
        for cell in "ABD"
    }
    shown = shown_decoys("mine", 0, home)
    assert len(shown) == 9
    assert {item.variant for item in shown} == {"decoy"}
    assert RecordedJudge(log_of("mine", 0, home, SHOWN)).missing(shown) == []
    assert run_judge("plain", 0, home, SHOWN).missing(shown) == []
    assert read_run("mine", 0, home).summary["steps"] == [2, 2]
    assert not check_gate(release_of(home) / "gate.toml").passed
    # Nothing is left to be done, and what was lost is made anew without training again.
    assert main(arguments) == 0
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*") if path.is_file()} == made
    log_of("mine", 0, home).unlink()
    for name in ("base.jsonl", "candidate.jsonl"):  # these are written in place
        cut = (release_of(home) / name).read_bytes().splitlines(keepends=True)
        (release_of(home) / name).write_bytes(b"".join(cut[:9]))
    assert main(arguments) == 0
    for name in ("base.jsonl", "candidate.jsonl"):
        judge = RecordedJudge(release_of(home) / name)
        assert judge.missing(asked_items("test", home)) == []
    assert log_of("mine", 0, home).exists()
    # Of a run whose folder is lost what is still lacking cannot be asked: it is another run's.
    shutil.rmtree(work_folder("mine", 0))
    log_of("mine", 0, home, SHOWN).unlink()
    tiny_language_models.save(tmp_path / "tiny", "qwen3", seed=1)
    assert main(["mine", "--out", str(home), "--threads", "1"]) == 2
    assert "mine-0 has other weights" in capsys.readouterr().err
    assert not log_of("mine", 0, home, SHOWN).exists()
    text = "".join(path.read_bytes().decode("latin-1") for path in made if path.suffix != ".gz")
    assert str(tmp_path) not in text, "no path of a machine"


class TestMistakes:
    def test_what_cannot_go_well_is_told_before_anything_is_drawn(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def draws(*given: object) -> None:
            raise AssertionError("triplets were drawn")

        monkeypatch.setattr(record_training, "_MODEL", str(tmp_path))
        monkeypatch.setattr(record_training, "draw_triplets", draws)
        (tmp_path / "file").touch()
        for line, told in (
            ("base --threads 0", "0 threads"),
            (f"base --out {tmp_path / 'file'}", "is a file"),
            (f"base:1 --out {tmp_path / 'records'}", "no seeds"),
        ):
            assert main(line.split()) == 2
            assert told in capsys.readouterr().err
        monkeypatch.setattr(record_training, "_MODEL", "no-such-model")
        assert main(["base", "--out", str(tmp_path / "records")]) == 2
        assert "no-such-model" in capsys.readouterr().err
        assert not (tmp_path / "records").exists()

    def test_an_unknown_recipe_or_seed_is_named(self, capsys: pytest.CaptureFixture[str]) -> None:
        for text in ("nominl", "triplet:x", "triplet:99", "triplet:"):
            assert main([text]) == 2
            assert "triplet" in capsys.readouterr().err
        with pytest.raises(UsageError):
            recipe_of("../x")

    def test_a_record_that_is_not_there_says_what_makes_it(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile):
            run_judge("triplet", 0, tmp_path)
        with pytest.raises(UnreadableFile):
            read_run("triplet", 0, tmp_path)

    def test_a_record_of_settings_that_is_none_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "triplet-0.run.json.gz").write_bytes(b"{}")
        with pytest.raises(UnreadableFile, match=r"triplet-0\.run"):
            read_run("triplet", 0, tmp_path)


def test_the_released_run_is_a_recorded_one() -> None:
    arm, seed = RELEASED
    assert seed < ARMS[arm].seeds
