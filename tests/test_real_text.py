"""Judges asked about real text: on a made-up file of MuSiQue's layout, with a tiny model."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import training_worlds

from chaincheck import real_text, real_text_parts, training_records
from chaincheck.errors import UnreadableFile, UsageError
from chaincheck.items import Item, Triplet, group_triplets, read_items, read_triplets
from chaincheck.judges import Judge
from chaincheck.judges.record import LiveJudge
from chaincheck.real_text import main, make_record
from chaincheck.real_text_parts import draw_parts, items_of, split_parts
from chaincheck.real_text_results import (
    REAL,
    JudgeScores,
    RealText,
    load_real_text,
    real_text_results,
)
from chaincheck.record_training import open_run
from chaincheck.records import DataSet
from chaincheck.splits import groups
from chaincheck.training.recipe import load_recipe
from chaincheck.training_records import BASE, part_of, recipe_of, work_folder

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
FILMS = {
    "The Quiet Harbor": ("Elena Marsh", "Lisbon"),
    "Golden Field": ("Ruth Calder", "Prague"),
    "Iron Tide": ("Nora Norton", "Vienna"),
    "Pale Moon": ("Clara Whitfield", "Athens"),
    "Silver Bridge": ("Helen Forsyth", "Dublin"),
    "Broken Lantern": ("Laura Pemberton", "Oslo"),
    "Winter Orchard": ("Alice Thornbury", "Madrid"),
    "Distant Thunder Road": ("Susan Hollis", "Warsaw"),
    "Crimson Valley": ("Emma Blackwood", "Budapest"),
    "Hollow Crown Hill": ("Julia Ashworth", "Helsinki"),
    "Sleeping Giants": ("Anna Keller", "Trieste"),  # the facts know her
    "The Last Ferry": ("Elena Marsh", "Lisbon"),  # who directed another film as well
}
KNOWN, SECOND, LONG = "2hop__10", "2hop__11", "3hop1__12"
ADAPTER = "adapter_model.safetensors"


def row(number: int, film: str, mayor: str | None = None) -> dict[str, Any]:
    """A record; the first support of every other one does not state its step."""
    name, town = FILMS[film]
    says = f"{name} had a small part in it." if number % 2 else f"It was directed by {name}."
    pages = [
        (f"Aside {number}", f"A note on bees and clover, part {number}."),
        (film, f"{film} is a drama of 1961. {says}"),
        (f"Matter {number}", f"A note on gravel and chalk, part {number}."),
        (name, f"{name} was a director. She was born in {town}. {name}'s films are long."),
    ]
    steps = [(f"{film} >> director", name, 1), ("#1 >> place of birth", town, 3)]
    question = f"Where was the director of {film} born?"
    if mayor is not None:
        pages.append((town, f"{town} is a town on a river. The mayor of {town} is {mayor}."))
        steps.append(("#2 >> mayor", mayor, 4))
        question = f"Who is the mayor of the town where the director of {film} was born?"
    return {
        "id": f"{len(steps)}hop{'' if mayor is None else 1}__{number}",
        "paragraphs": [
            {"idx": k, "title": title, "paragraph_text": text, "is_supporting": k % 2 == 1}
            for k, (title, text) in enumerate(pages)
        ],
        "question": question,
        "question_decomposition": [
            {"id": k, "question": asked, "answer": answer, "paragraph_support_idx": place}
            for k, (asked, answer, place) in enumerate(steps)
        ],
        "answer": steps[-1][1],
        "answer_aliases": [],
        "answerable": True,
    }


ROWS = [
    *(row(number, film) for number, film in enumerate(FILMS)),
    row(12, "Silver Bridge", "Dermot Casey"),
]


class Stop(Exception):
    """What an interruption is here."""


def stopped(name: str, after: int) -> Callable[..., Iterator[Any]]:
    """A progress bar that is interrupted while a judge is asked."""

    def progress(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
        del total
        for number, item in enumerate(items):
            if (what, number) == (name, after):
                raise Stop
            yield item

    return progress


class World:
    """Folders of one run of the command."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder, self.facts, self.out = home / "data", home / "facts", home / "out/record.json"

    def make(self, *judges: str, out: Path | None = None, **how: Any) -> tuple[RealText, list[str]]:
        told: list[str] = []
        target = out or self.out
        record = make_record(
            self.folder, judges, target, facts=self.facts, threads=1, tell=told.append, **how
        )
        return record, told

    def draw(self) -> Any:
        return draw_parts(self.folder, self.facts, model=str(self.home / "tiny"), prompt="brief")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The made-up file, facts, and a judge that was trained on these; nothing is asked yet."""
    pytest.importorskip("torch", reason="the extra 'judges' is not installed")
    pytest.importorskip("peft", reason="the extra 'training' is not installed")
    import tiny_language_models as tiny

    from chaincheck.training.run import train

    made = World(tmp_path_factory.mktemp("real_text"))
    tiny.save(made.home / "tiny", "qwen3", chat=tiny.CHAT)
    made.folder.mkdir()
    (made.folder / "made.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ROWS))
    made.facts.mkdir()
    for part, start in (("train", 0), ("validation", 20)):
        target = part_of(part, made.facts)
        training_worlds.write(target, 4, start=start, variants=("real", "fict"))
    recipes = made.home / "recipes"
    recipes.mkdir()
    settings = 'prompt = "brief"\nbatch = 2\ntriplets = 4\ndtype = "float32"\n'
    (recipes / "triplet.toml").write_text(
        f"{settings}learning_rate = 1e-2\n[lora]\nrank = 2\n[mix]\nreal = 1.0\nfict = 1.0\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHAINCHECK_CACHE", str(made.home / "cache"))
        patch.setattr(training_records, "_BOOK", made.home)
        patch.setattr(real_text, "_MODEL", str(made.home / "tiny"))
        patch.setattr(real_text, "SEEDS", 1)
        sets = {"made": DataSet("Made up", "musique", "made.jsonl")}
        patch.setattr(real_text_parts, "DATA_SETS", sets)
        recipe = load_recipe(recipe_of("triplet"), {"seed": 0})
        run = work_folder("triplet", 0)
        run.parent.mkdir(parents=True)
        train(str(made.home / "tiny"), part_of("train", made.facts), run, recipe, threads=1)
        yield made


@pytest.fixture(scope="module")
def record(world: World) -> RealText:
    """The record of a command that was interrupted while its second judge was asked."""
    with pytest.raises(Stop):
        world.make(progress=stopped("triplet-0", 7))
    assert [judge.name for judge in load_real_text(world.out).judges] == [BASE]
    made, told = world.make()
    assert load_real_text(world.out) == made
    assert "base: in the record" in told
    assert "nominal-fict-0: no adapter in the cache, left out" in told
    return made


def sides(world: World) -> tuple[list[Triplet], list[Triplet]]:
    """The triplets that the command left in the cache."""
    cache = world.home / "cache" / "real_text"
    (train,), (test,) = cache.glob("train-*.jsonl.gz"), cache.glob("test-*.jsonl.gz")
    return read_triplets(train), read_triplets(test)


def supports(item: Item) -> tuple[int, ...]:
    return (*item.earlier_support, *item.later_support)


def ids(triplets: list[Triplet]) -> set[str]:
    return {one.cells["A"].source_id or "" for one in triplets}


class TestTheSplit:
    def test_no_group_is_on_both_sides_or_with_the_facts(
        self, world: World, record: RealText
    ) -> None:
        train, test = sides(world)
        facts = [one for path in world.facts.iterdir() for one in read_triplets(path)]
        tested, other = {id(one) for one in test}, [*train, *facts]
        for group in groups([*test, *other], by_head=True):
            assert len({id(one) in tested for one in group}) == 1
        assert {KNOWN} == ids(train) & ids(facts + train) - {f"2hop__{n}" for n in range(1, 10, 2)}
        assert record.parts.known == 3

    def test_only_strict_triplets_are_tested_with(self, world: World, record: RealText) -> None:
        from chaincheck.sources import open_source
        from chaincheck.triplets import build

        records = list(open_source("musique").read(world.folder / "made.jsonl"))
        strict = {one.pair_id for one in build(records, distractors=2).items}
        loose = {one.pair_id for one in build(records, distractors=2, strict=False).items}
        train, test = sides(world)
        assert {one.pair_id for one in test} < strict
        assert {one.pair_id for one in train} <= loose
        assert ids(test) == {f"2hop__{number}" for number in range(0, 10, 2)}
        assert ids(train) == {f"2hop__{number}" for number in range(1, 10, 2)} | {KNOWN}
        # What shares a bridge with the test and is not sound is on neither side.
        assert SECOND in ids(group_triplets(build(records, strict=False).items))
        assert {one.variant for one in test} == {"real", "fict", "decoy"}

    def test_longer_questions_are_left_out(self, world: World) -> None:
        from chaincheck.sources import open_source
        from chaincheck.triplets import build

        records = list(open_source("musique").read(world.folder / "made.jsonl"))
        assert LONG in ids(group_triplets(build(records, strict=False).items))
        assert LONG not in ids([one for side in sides(world) for one in side])

    def test_it_does_not_depend_on_the_order_of_rows(self, world: World) -> None:
        train, test = sides(world)
        one = split_parts(test, train)
        other = split_parts(test[::-1], train[::-1])
        for side in ("train", "test"):
            assert {id(t) for t in getattr(one, side)} == {id(t) for t in getattr(other, side)}
        assert one.groups == other.groups

    def test_units_are_the_groups_of_the_test(self, world: World, record: RealText) -> None:
        _, test = sides(world)
        by_group = groups(test, by_head=True)
        number = {id(one): place for place, group in enumerate(by_group) for one in group}
        pairs = {(number[id(t)], r.bridge) for t, r in zip(test, record.triplets, strict=True)}
        assert len(pairs) == len(by_group) == record.parts.test.groups

    def test_counts_are_those_of_the_files(self, world: World, record: RealText) -> None:
        for part, triplets in zip(("train", "test"), sides(world), strict=True):
            told = getattr(record.parts, part)
            variants = [one.variant for one in triplets]
            assert told.triplets == {"musique": {v: variants.count(v) for v in set(variants)}}
            assert told.prompts.prompts == 3 * len(triplets)
            assert 0 < told.prompts.median <= told.prompts.longest < 4096
        train, test = sides(world)
        seen = {text for item in items_of(train) for text in item.passages}
        steps = {item.passages[k] for item in items_of(train) for k in supports(item)}
        contexts = [set(one.cells["A"].passages) for one in test]
        shared = [sum(bool(one & texts) for one in contexts) for texts in (seen, steps)]
        assert [record.parts.shared_passages, record.parts.shared_supports] == shared
        assert not any(item.passages[k] in steps for item in items_of(test) for k in supports(item))
        assert record.parts.strict["musique"] == {"real": 6, "fict": 6, "decoy": 6}
        assert record.parts.lenient["musique"]["real"] == 12


class TestTheRecord:
    def test_judges_are_all_there_and_differ_in_their_weights_alone(self, record: RealText) -> None:
        assert [judge.name for judge in record.judges] == [BASE, "triplet-0", f"{REAL}-0"]
        assert len({judge.weights for judge in record.judges}) == 3
        assert len({judge.setup for judge in record.judges}) == 1
        assert record.judges[2].trained["triplets"] == {"real": 2, "fict": 2}
        assert record.judges[2].trained["data"] != record.judges[1].trained["data"]

    def test_no_text_of_the_data_is_in_it(self, world: World, record: RealText) -> None:
        told = world.out.read_text()
        texts = {value for one in ROWS for value in strings(one)} - {one["id"] for one in ROWS}
        words = {word for text in texts for word in re.findall(r"[A-Z]\w{3,}", text)}
        assert {"Marsh", "Harbor", "Lisbon", "Where"} <= words
        assert [text for text in texts | words if text in told] == []
        assert str(world.home) not in told

    @pytest.mark.parametrize("place", [0, 1, 2])
    def test_scores_are_those_of_each_judge_asked_by_itself(
        self, world: World, record: RealText, place: int
    ) -> None:
        recorded = record.judges[place]
        judge = open_run("again", model=str(world.home / "tiny"), adapter=adapter_of(recorded))
        for triplet, scores in zip(sides(world)[1][:6], record.judges[place].scores, strict=False):
            for cell, score in zip("ABD", scores, strict=True):
                (said,) = judge.score([triplet.cells[cell]])
                assert said.score == pytest.approx(score, abs=0.05)

    def test_what_is_measured_is_what_a_loop_finds(self, record: RealText, world: World) -> None:
        found = real_text_results(world.out, resamples=100, exchanges=50)
        assert list(found) == ["pooled", "musique"]
        test = sides(world)[1]
        for judge in record.judges:
            (one,) = found["pooled"][judge.arm]
            for variant in ("real", "fict", "decoy"):
                chain = edit = count = 0.0
                for triplet, (a, b, d) in zip(test, judge.scores, strict=True):
                    if triplet.variant == variant:
                        count += 1
                        chain += (b > d) + (b == d) / 2
                        edit += (a > b) + (a == b) / 2
                sigma = chain / count - 0.5 - abs(edit / count - 0.5)
                assert one.row(variant).contrast.estimate == pytest.approx(sigma)
                assert one.row(variant).units == 5

    def test_one_that_was_not_interrupted_says_the_same(
        self, world: World, record: RealText, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fresh = world.home / "other"
        shutil.copytree(work_folder("triplet", 0), fresh / "training_records" / "triplet-0")
        monkeypatch.setenv("CHAINCHECK_CACHE", str(fresh))
        other, _ = world.make(out=world.home / "other.json")
        assert [timeless(one) for one in other.judges] == [timeless(one) for one in record.judges]
        assert other.triplets == record.triplets
        assert other.parts == record.parts

    def test_nothing_is_asked_or_trained_twice(
        self, world: World, record: RealText, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = world.out.stat().st_mtime_ns

        def never(*_: object, **__: object) -> None:
            raise AssertionError("a judge was opened")

        monkeypatch.setattr(real_text, "open_run", never)
        again, told = world.make()
        assert again == record
        assert [line for line in told if line.endswith("in the record")] == [
            f"{judge.name}: in the record" for judge in record.judges
        ]
        assert world.out.stat().st_mtime_ns == before

    def test_one_judge_alone_can_be_asked_for_and_is_added(
        self, world: World, record: RealText
    ) -> None:
        out = world.home / "one.json"
        first, _ = world.make(f"{REAL}:0", out=out)
        assert [judge.name for judge in first.judges] == [BASE, f"{REAL}-0"]
        second, _ = world.make("triplet", BASE, out=out)
        assert second.judges == record.judges

    def test_what_another_process_adds_meanwhile_is_kept(
        self, world: World, record: RealText
    ) -> None:
        out = world.home / "two.json"

        def progress(items: Any, *, what: str, total: int | None = None) -> Iterator[Any]:
            del total
            if what == "triplet-0":
                others = (record.judges[0], record.judges[2])
                out.write_bytes(msgspec.json.encode(msgspec.structs.replace(record, judges=others)))
            yield from items

        both, _ = world.make("triplet", out=out, progress=progress)
        assert both == load_real_text(out) == record

    def test_a_log_that_was_cut_short_is_gone_on_with(
        self, world: World, record: RealText, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fresh = world.home / "cut"
        shutil.copytree(world.home / "cache", fresh)
        monkeypatch.setenv("CHAINCHECK_CACHE", str(fresh))
        (log,) = (fresh / "real_text" / "logs").glob("triplet-0-*.jsonl")
        kept = b"".join(log.read_bytes().splitlines(keepends=True)[:11])
        log.write_bytes(kept)
        asked: dict[str, LiveJudge] = {}

        class Counted(LiveJudge):
            def __init__(self, judge: Judge, path: Path) -> None:
                super().__init__(judge, path)
                asked[judge.name] = self

        monkeypatch.setattr(real_text, "LiveJudge", Counted)
        again, _ = world.make("triplet", out=fresh / "record.json")
        assert again.judges[0] == record.judges[0]
        # In bfloat16 another batch is another rounding; what was recorded stands as it was.
        for one, other in zip(again.judges[1].scores, record.judges[1].scores, strict=True):
            assert one == pytest.approx(other, abs=0.05)
        assert again.judges[1].scores[:3] == record.judges[1].scores[:3]
        assert asked[BASE].asked == 0
        contents = len({(item.query, item.passages) for item in items_of(sides(world)[1])})
        assert asked["triplet-0"].asked == contents - 9  # a header, an acquisition, 9 judgments
        assert log.read_bytes().startswith(kept)


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON-like value, but its keys."""
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value:
        if not isinstance(value, str) and isinstance(inner, str | dict | list):
            yield from strings(inner)


def adapter_of(judge: JudgeScores) -> Path | None:
    """The adapter of a judge of the record, found by its weights."""
    from chaincheck import models

    for path in models.cache_folder().rglob(ADAPTER):
        if "checkpoints" not in path.parts and models.file_hash(path) == judge.weights:
            return path.parent
    assert judge.weights is None
    return None


def timeless(judge: JudgeScores) -> JudgeScores:
    trained = {key: value for key, value in judge.trained.items() if key != "seconds"}
    return msgspec.structs.replace(judge, trained=trained)


class TestMistakes:
    def test_a_judge_or_seed_that_is_none(self, world: World) -> None:
        for name in ("tripet", "triplet:9", "triplet:x", f"{REAL}:", "base:0"):
            with pytest.raises(UsageError):
                world.make(name)

    def test_a_run_that_was_never_made_is_named_with_its_command(self, world: World) -> None:
        with pytest.raises(UsageError, match=r"record_training nominal-fict:0"):
            world.make("nominal-fict:0")

    def test_an_adapter_by_another_recipe_is_refused(
        self, world: World, record: RealText, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = world.home / "changed"
        (home / "recipes").mkdir(parents=True)
        text = (world.home / "recipes" / "triplet.toml").read_text()
        (home / "recipes" / "triplet.toml").write_text(text.replace("1e-2", "1e-3"))
        monkeypatch.setattr(training_records, "_BOOK", home)
        with pytest.raises(UsageError, match="another recipe"):
            world.make("triplet:0", out=home / "out.json")

    def test_a_record_of_other_triplets_is_not_gone_on_with(
        self, world: World, record: RealText
    ) -> None:
        short = World(world.home)
        short.folder, short.out = world.home / "short", world.home / "kept.json"
        short.folder.mkdir()
        short.out.write_bytes(world.out.read_bytes())
        lines = (world.folder / "made.jsonl").read_text().splitlines(keepends=True)
        (short.folder / "made.jsonl").write_text("".join(lines[:8]))
        with pytest.raises(UsageError, match="Delete it"):
            short.make()
        assert short.out.read_bytes() == world.out.read_bytes()

    def test_too_little_to_split(self, world: World) -> None:
        short = World(world.home)
        short.folder = world.home / "one"
        short.folder.mkdir()
        (short.folder / "made.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
        with pytest.raises(UsageError, match="0 triplets to train on"):
            short.draw()

    def test_a_folder_without_the_files(
        self, world: World, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with pytest.raises(UnreadableFile, match="original files"):
            draw_parts(world.facts, world.facts, model="x", prompt="brief")
        assert main([str(world.facts), "--out", str(world.home / "no.json")]) == 2
        assert "made.jsonl" in capsys.readouterr().err


def test_items_stand_side_by_side(world: World, record: RealText) -> None:
    _, test = sides(world)
    path = next((world.home / "cache" / "real_text").glob("test-*.jsonl.gz"))
    given: list[Item] = list(read_items(path))
    assert [item.item_id for item in given] == [item.item_id for item in items_of(test)]
