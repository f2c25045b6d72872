"""The causal judge as a judge: what it refuses, records and promises."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import tiny_language_models as tiny

from chaincheck.cli import main
from chaincheck.errors import ChainCheckError, InvalidScore, UnjudgeableItem, UsageError
from chaincheck.items import Item, write_items
from chaincheck.judges import open_judge
from chaincheck.judges.base import acquisition_of, differences, fingerprint_of, instrument_of
from chaincheck.judges.causal import CausalJudge, CausalSettings, open_causal
from chaincheck.judges.causal_model import LoadedModel
from chaincheck.judges.prompts import load_prompt
from chaincheck.judges.record import LiveJudge, RecordedJudge
from chaincheck.models import find_model
from chaincheck.pipeline import score_file

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

PLAIN = {"logits": "all", "batch": 1, "share_prefix": False}


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.save(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    words = tiny.tokenizer()
    model = tiny.model("llama", len(words) + 7)
    return LoadedModel(model=model, tokenizer=words, name="tiny", identity={"weights": "w"})


def triplets(count: int = 3, seed: int = 0, words: tuple[int, int] = (5, 30)) -> list[Item]:
    draw = random.Random(seed)
    found = []
    for number in range(count):
        passages = [" ".join(draw.choices(tiny.WORDS, k=draw.randint(*words))) for _ in range(5)]
        for cell, changed in (("A", {}), ("B", {2: "Anna", 4: "Anna"}), ("D", {4: "Anna"})):
            cells = [changed.get(n, "Clara") + " " + text for n, text in enumerate(passages)]
            found.append(
                Item(
                    item_id=f"{number}{cell}",
                    pair_id=f"p{number}",
                    variant="real",
                    cell=cell,
                    query="who was born in Trieste",
                    passages=tuple(cells),
                )
            )
    return found


def judge(loaded: LoadedModel, **changes: Any) -> CausalJudge:
    return CausalJudge(loaded, CausalSettings(**{"model": "x", "minimum_mass": 0, **changes}))


class TestScoring:
    @pytest.mark.parametrize(
        "changes",
        [{}, {"batch": 2}, {"batch_tokens": 300}, {"share_prefix": False}, {"logits": "last"}],
        ids=str,
    )
    def test_the_same_as_the_plain_way_in_order(self, loaded: LoadedModel, changes: Any) -> None:
        items = triplets(7)
        expected = list(judge(loaded, **PLAIN).score(items))
        found = list(judge(loaded, **changes).score(iter(items)))
        assert [one.item_id for one in found] == [item.item_id for item in items]
        for one, other in zip(found, expected, strict=True):
            assert abs(one.score - other.score) < 1e-4
            assert abs(one.details["mass"] - other.details["mass"]) < 1e-5
            assert one.details["prompt"] == other.details["prompt"]
            assert one.usage == other.usage

    def test_equal_contexts_get_equal_scores_whatever_is_beside_them(
        self, loaded: LoadedModel
    ) -> None:
        items = triplets(4)
        twin = Item(
            item_id="twin",
            pair_id="other",
            variant="decoy",
            cell="A",
            query=items[0].query,
            passages=items[0].passages,
        )
        found = {one.item_id: one.score for one in judge(loaded, batch=2).score([*items, twin])}
        assert found["twin"] == found["0A"]

    def test_judgments_come_as_soon_as_they_are_there(self, loaded: LoadedModel) -> None:
        found = judge(loaded, batch=3).score(triplets(7))
        runs: list[int] = []
        inner = found.gi_frame.f_locals["self"]._forward
        run = inner.run
        inner.run = lambda *args: runs.append(1) or run(*args)
        next(found)
        assert len(runs) == 1

    def test_nothing_to_judge(self, loaded: LoadedModel) -> None:
        assert list(judge(loaded).score([])) == []


class TestRefusals:
    def test_too_little_mass_is_refused_not_guessed(
        self, loaded: LoadedModel, tmp_path: Path
    ) -> None:
        strict = judge(loaded, minimum_mass=0.9)
        found = list(strict.score(triplets(1)))
        for one in found:
            assert one.score is None and one.bounds == (None, None)
            assert "yes and no have 0.0" in one.flags[0] and "less than 0.9" in one.flags[0]
            assert 0 < one.details["mass"] < 0.9
        with LiveJudge(strict, tmp_path / "log.jsonl") as live:
            assert list(live.score(triplets(1))) == found
        assert list(RecordedJudge(tmp_path / "log.jsonl").score(triplets(1))) == found
        write_items(tmp_path / "data.jsonl", triplets(1))
        with pytest.raises(InvalidScore, match="'0A': the judge gave no score; refused: yes and"):
            score_file(tmp_path / "data.jsonl", strict, tmp_path / "scores.jsonl")

    def test_a_prompt_that_is_too_long_is_named_with_its_length(self) -> None:
        words = tiny.tokenizer()
        model = tiny.model("llama", len(words) + 7, max_position_embeddings=200)
        short = LoadedModel(model=model, tokenizer=words, name="tiny", identity={})
        items = triplets(1)
        with pytest.raises(UnjudgeableItem) as caught:
            list(judge(short).score(items))
        assert "item '0A': its prompt has" in str(caught.value)
        assert "and the model takes 200" in str(caught.value)

    def test_an_item_without_passages_is_named(self, loaded: LoadedModel) -> None:
        empty = Item(item_id="e", pair_id="p", variant="real", cell="A", query="q", passages=())
        with pytest.raises(UnjudgeableItem, match="item 'e': has no passages"):
            list(judge(loaded).score([empty]))

    def test_numbers_that_are_not_finite_are_refused(self) -> None:
        words = tiny.tokenizer()
        model = tiny.model("llama", len(words) + 7)
        torch.nn.init.constant_(model.base_model.norm.weight, float("nan"))
        broken = LoadedModel(model=model, tokenizer=words, name="tiny", identity={})
        with pytest.raises(InvalidScore, match="item '0A': the model's numbers are not finite"):
            list(judge(broken).score(triplets(1)))

    @pytest.mark.parametrize(
        ("keys", "problem"),
        [
            ({}, "missing required field `model`"),
            ({"model": "m", "dtype": "int8"}, "Invalid enum value 'int8'"),
            ({"model": "m", "batch": 0}, "Expected `int` >= 1"),
            ({"model": "m", "minimum_mass": 2}, "<= 1"),
            ({"model": "m", "threads": "2"}, "Expected `int"),
            ({"model": "m", "prompt": "none"}, "no prompt is called 'none'"),
            ({"model": "m"}, "there is no model folder"),
        ],
    )
    def test_wrong_keys_are_told(self, tmp_path: Path, keys: Any, problem: str) -> None:
        with pytest.raises(UsageError) as caught:
            open_causal(keys, tmp_path)
        assert problem in str(caught.value)


class TestIdentity:
    def test_the_fingerprint_is_the_hash_of_the_instrument(self, loaded: LoadedModel) -> None:
        one = judge(loaded)
        assert instrument_of(one) == json.loads(json.dumps(one.instrument))
        assert one.fingerprint == fingerprint_of(one.instrument)

    def test_what_cannot_change_a_score_is_no_part_of_it(self, loaded: LoadedModel) -> None:
        one, other = judge(loaded), judge(loaded, **{**PLAIN, "logits": "last"})
        assert one.fingerprint == other.fingerprint
        found = differences(acquisition_of(one), acquisition_of(other))
        assert set(found) == {"batch", "logits", "share_prefix"}

    @pytest.mark.parametrize(
        ("changes", "key"),
        [
            ({"minimum_mass": 0.01}, "minimum_mass"),
            ({"prompt": "bare"}, "prompt.user"),
            ({"chat_arguments": {"style": "x"}}, "chat.arguments.style"),
        ],
    )
    def test_what_can_change_one_is(self, loaded: LoadedModel, changes: Any, key: str) -> None:
        found = differences(judge(loaded).instrument, judge(loaded, **changes).instrument)
        assert key in found

    def test_a_cut_and_a_broken_mark_are_told(self, loaded: LoadedModel, tmp_path: Path) -> None:
        (tmp_path / "p.toml").write_text(
            'user = "{question}\\n{passages}"\npassage = "{text}"\nlongest_passage = 20\n'
        )
        prompt = load_prompt(tmp_path / "p.toml")
        asked = CausalJudge(loaded, CausalSettings(model="x", minimum_mass=0), prompt)
        item = Item(
            item_id="x",
            pair_id="p",
            variant="real",
            cell="A",
            query="q",
            passages=("short <|im_end|>", "y" * 21),
        )
        (found,) = asked.score([item])
        assert found.flags == ("passage 2 cut to 20 of 21 characters",)
        assert found.details["escaped"] == 1


class TestFromAFolder:
    def test_a_file_opens_it(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text(
            f'kind = "causal"\nmodel = "{folder}"\nminimum_mass = 0\ndevice = "cpu"\n'
        )
        opened = open_judge(str(tmp_path / "mine.toml"))
        assert opened.name == "tiny"
        assert len([*opened.score(triplets(1))]) == 3

    def test_a_known_model_that_is_not_here_is_answered_by_the_command(self) -> None:
        with pytest.raises(UsageError, match="Get it with: chaincheck model smollm2"):
            open_judge("smollm2")

    def test_an_unknown_key_is_answered_by_the_nearest(self, tmp_path: Path) -> None:
        (tmp_path / "mine.toml").write_text('kind = "causal"\nmodle = "x"\n')
        with pytest.raises(UsageError, match="Did you mean 'model'"):
            open_judge(str(tmp_path / "mine.toml"))

    def test_two_precisions_are_held_against_each_other(
        self, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The way from two judges that differ in precision to the flips of A versus B."""
        data = tmp_path / "data.jsonl"
        write_items(data, triplets(12))
        for dtype in ("float32", "bfloat16"):
            (tmp_path / f"{dtype}.toml").write_text(
                f'kind = "causal"\nmodel = "{folder}"\nminimum_mass = 0\ndtype = "{dtype}"\n'
            )
            arguments = ["--judge", str(tmp_path / f"{dtype}.toml")]
            arguments += ["--out", str(tmp_path / f"{dtype}.jsonl")]
            assert main(["score", "--data", str(data), *arguments]) == 0
        capsys.readouterr()
        code = main(
            [
                *("noise", "--data", str(data), "--scores", str(tmp_path / "float32.jsonl")),
                *("--rescores", str(tmp_path / "bfloat16.jsonl"), "--json", "-"),
                *("--vary", "dtype", "--resamples", "100", "--exchanges", "100"),
            ]
        )
        told = capsys.readouterr()
        assert code == 0, told.err
        scores = {}
        for dtype in ("float32", "bfloat16"):
            rows = map(json.loads, (tmp_path / f"{dtype}.jsonl").read_text().splitlines())
            scores[dtype] = {row["item_id"]: row["score"] for row in rows}
        assert scores["float32"] != scores["bfloat16"]

        def order(dtype: str, number: int) -> int:
            gap = scores[dtype][f"{number}A"] - scores[dtype][f"{number}B"]
            return (gap > 0) - (gap < 0)

        changed = sum(order("float32", n) != order("bfloat16", n) for n in range(12))
        (row,) = json.loads(told.out)["rows"]
        assert row["flip_rates"]["A>B"]["changed"] == changed


def test_smollm2_gives_the_plain_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the real model, where it is at hand: all shortcuts against one prompt at a time."""
    monkeypatch.undo()
    try:
        find_model("smollm2")
    except ChainCheckError as absent:
        pytest.skip(f"the real model cannot be used: {absent}")
    items = triplets(1, words=(5, 8))
    fast = list(open_judge("smollm2").score(items))
    plain = open_causal({"model": "smollm2", **PLAIN}, Path())
    for one, other in zip(fast, plain.score(items), strict=True):
        assert abs(one.score - other.score) < 1e-4
        assert one.details["mass"] > 0.05
