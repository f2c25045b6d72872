"""Cross-encoders: the right output, the same in a batch as alone, and no model that would make
scores up."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

from recorded_judges import make_item
from tiny_encoders import WORDS, make_model

from chaincheck.errors import InvalidModel, UnjudgeableItem, UsageError
from chaincheck.items import Item
from chaincheck.judges import cross_encoder, open_judge
from chaincheck.judges.base import Judge, instrument_of
from chaincheck.judges.cross_encoder import (
    CrossEncoderJudge,
    PairTemplate,
    label_index,
    log_odds,
)
from chaincheck.judges.encoder_batches import EncoderSettings
from chaincheck.judges.record import LiveJudge, RecordedJudge

NLI = ["contradiction", "entailment", "neutral"]


def items(count: int, seed: int = 0) -> list[Item]:
    draws = random.Random(seed)

    def words(most: int) -> str:
        return " ".join(draws.choices(WORDS, k=draws.randint(1, most)))

    return [
        make_item(
            number,
            query=words(6) + " ?",
            passages=tuple(words(9) for _ in range(draws.randint(1, 4))),
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "bert": make_model(folder / "bert", "bert"),
        "roberta": make_model(folder / "roberta", "roberta", labels=NLI),
        "deberta": make_model(folder / "deberta", "deberta-v2", labels=NLI),
        "multi": make_model(
            folder / "multi",
            "bert",
            labels=["clear", "sufficient"],
            problem_type="multi_label_classification",
        ),
    }


def judge_of(models: dict[str, Path], name: str, **more: Any) -> CrossEncoderJudge:
    label = {"bert": None, "multi": "sufficient"}.get(name, "entailment")
    return CrossEncoderJudge(str(models[name]), label=label, **more)


def test_public_names_are_pinned() -> None:
    assert cross_encoder.__all__ == [
        "KEYS",
        "CrossEncoderJudge",
        "PairTemplate",
        "label_index",
        "log_odds",
        "open_cross_encoder",
    ]


def plainly(folder: Path, item: Item, index: int | None, *, multi: bool = False) -> float:
    """Score one item by the library alone: no batch, no padding, no code of ours."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        inputs = tokenizer(item.query, "\n".join(item.passages), return_tensors="pt")
        logits = model(**inputs).logits[0].double()
    if index is None or multi:
        return float(logits[index or 0])
    probability = torch.softmax(logits, 0)[index]
    return float(torch.log(probability) - torch.log1p(-probability))


@pytest.mark.parametrize(
    ("name", "index"), [("bert", None), ("roberta", 1), ("deberta", 1), ("multi", 1)]
)
class TestEquality:
    def test_the_score_is_the_librarys(
        self, models: dict[str, Path], name: str, index: int | None
    ) -> None:
        some = items(6)
        found = [one.score for one in judge_of(models, name).score(some)]
        wanted = [plainly(models[name], one, index, multi=name == "multi") for one in some]
        assert found == pytest.approx(wanted, abs=1e-4)
        assert len({round(score, 3) for score in wanted}) > 3

    def test_a_batch_gives_what_each_gives_alone(
        self, models: dict[str, Path], name: str, index: int | None
    ) -> None:
        some = items(40, seed=1)
        alone = judge_of(models, name, settings=EncoderSettings(batch=1))
        together = judge_of(models, name, settings=EncoderSettings(batch=16))
        assert alone.fingerprint == together.fingerprint
        assert alone.acquisition != together.acquisition
        one, other = ([j.score for j in judge.score(some)] for judge in (alone, together))
        assert one == pytest.approx(other, abs=1e-4)
        assert [j.item_id for j in together.score(some)] == [item.item_id for item in some]

    def test_equal_texts_get_equal_scores_to_the_last_bit(
        self, models: dict[str, Path], name: str, index: int | None
    ) -> None:
        first = items(1)[0]
        twin = make_item(99, query=first.query, passages=first.passages)
        found = list(judge_of(models, name).score([first, *items(30, seed=2), twin]))
        assert found[0].score == found[-1].score


class TestLogOdds:
    @given(st.lists(st.floats(-600, 600), min_size=2, max_size=5), st.data())
    def test_it_is_the_logit_of_the_softmax(self, logits: list[float], data: st.DataObject) -> None:
        index = data.draw(st.integers(0, len(logits) - 1))
        others = [value for place, value in enumerate(logits) if place != index]
        top = max(others)
        wanted = logits[index] - top - math.log(sum(math.exp(value - top) for value in others))
        assert log_odds(logits, index) == pytest.approx(wanted, abs=1e-9)
        assert math.isfinite(log_odds(logits, index))

    def test_two_labels_give_the_difference(self) -> None:
        assert log_odds([1.0, 3.5], 1) == 2.5
        assert log_odds([1000.0, -1000.0], 0) == 2000.0


class TestLabels:
    def find(self, label: str | None, outputs: int = 3, **config: Any) -> int | None:
        named = {"id2label": dict(enumerate(NLI))}
        return label_index(config or named, outputs, label, Path("m"))

    def test_by_name_in_any_case_or_by_number(self) -> None:
        assert self.find("entailment") == self.find("ENTAILMENT") == self.find("1") == 1
        assert self.find(None, 1, id2label={"0": "LABEL_0"}) is None
        assert self.find("LABEL_1", 2, id2label=None) == 1

    @pytest.mark.parametrize(
        ("label", "says"),
        [(None, "which one means"), ("entail", "no label 'entail'"), ("3", "no label '3'")],
    )
    def test_none_or_an_unknown_one_is_refused_with_those_that_there_are(
        self, label: str | None, says: str
    ) -> None:
        with pytest.raises(UsageError, match=says) as caught:
            self.find(label)
        assert "0 (contradiction), 1 (entailment), 2 (neutral)" in str(caught.value)

    def test_an_ambiguous_one_is_refused(self) -> None:
        names = {"id2label": {"0": "yes", "1": "Yes"}}
        with pytest.raises(UsageError, match="2 labels are called"):
            self.find("yes", 2, **names)
        assert self.find("1", 2, **names) == 1

    def test_one_output_has_no_label(self) -> None:
        with pytest.raises(UsageError, match="one output"):
            self.find("entailment", 1, id2label={"0": "score"})

    def test_labels_that_do_not_fit_the_outputs(self) -> None:
        with pytest.raises(InvalidModel, match="4 outputs and names 3"):
            self.find("neutral", 4)


class TestTemplate:
    def test_it_says_what_stands_where(self) -> None:
        item = make_item(0, query="Who {passages}?", passages=("One {question}.", "Two."))
        made = PairTemplate("{passages}", "About: {question}", "({number}) {text}", " | ")
        assert made.fill(item) == ("(1) One {question}. | (2) Two.", "About: Who {passages}?")
        assert (made.place, PairTemplate().place) == (1, 2)

    @pytest.mark.parametrize(
        ("fields", "says"),
        [
            (("{question}", "no"), "must have the field {passages}"),
            (("{question} {passages}", "{passages}"), "and not both"),
            (("{passages}", "no"), "neither 'first' nor 'second'"),
            (("{question}", "{passages}", "{number}"), "lacks the field {text}"),
            (("{question!r}", "{passages}"), "a field that is none"),
            (("{question}", "{passages} {x}"), "It may hold {passages}, {question}"),
            (("{question", "{passages}"), "Write a brace that is meant twice"),
        ],
    )
    def test_what_the_model_would_never_see_is_refused(
        self, fields: tuple[str, ...], says: str
    ) -> None:
        with pytest.raises(UsageError) as caught:
            PairTemplate(*fields)
        assert says in str(caught.value)

    def test_it_is_part_of_the_instrument(self, models: dict[str, Path]) -> None:
        prints = {
            judge_of(models, "roberta", **more).fingerprint
            for more in (
                {},
                {"template": PairTemplate(separator=" ")},
                {"settings": EncoderSettings(max_tokens=32)},
                {"settings": EncoderSettings(too_long="cut")},
            )
        }
        prints.add(CrossEncoderJudge(str(models["roberta"]), label="neutral").fingerprint)
        assert len(prints) == 5


class TestLong:
    LONG = make_item(0, query="who ?", passages=("the film " * 20, "born in trieste " * 20))

    @pytest.mark.parametrize("name", ["bert", "roberta"])
    def test_it_is_refused_or_cut_as_declared(self, models: dict[str, Path], name: str) -> None:
        with pytest.raises(UnjudgeableItem, match="the limit is 64"):
            list(judge_of(models, name).score([self.LONG]))
        cutting = judge_of(models, name, settings=EncoderSettings(too_long="cut"))
        (found,) = cutting.score([self.LONG])
        assert found.flags == ("cut at 64 tokens",)
        assert found.details["tokens"] > 64
        shorter = make_item(1, query="who ?", passages=(self.LONG.passages[0], "the"))
        assert next(cutting.score([shorter])).flags == ()

    def test_the_question_is_never_cut(self, models: dict[str, Path]) -> None:
        judge = judge_of(models, "bert", settings=EncoderSettings(too_long="cut"))
        item = make_item(0, query="who " * 70, passages=("the film",))
        with pytest.raises(UnjudgeableItem, match="may not be cut fills all of it"):
            list(judge.score([item]))

    def test_more_than_the_model_reads_is_no_setting(self, models: dict[str, Path]) -> None:
        for tokens in (65, 7):
            with pytest.raises(UsageError, match="reads 8 to 64 tokens"):
                judge_of(models, "roberta", settings=EncoderSettings(max_tokens=tokens))


def test_a_passage_cannot_spell_the_tokenizers_signs(models: dict[str, Path]) -> None:
    judge = judge_of(models, "bert")
    plain = make_item(0, query="who ?", passages=("the film [SEP] born",))
    (encoded,) = judge._encode(plain)
    separator = judge._encoder.tokenizer.sep_token_id
    assert list(encoded.columns["input_ids"]).count(separator) == 2
    keeping = judge_of(models, "bert", settings=EncoderSettings(special_tokens="keep"))
    assert list(keeping._encode(plain)[0].columns["input_ids"]).count(separator) == 3
    assert judge.fingerprint != keeping.fingerprint


def test_an_item_without_passages_is_refused(models: dict[str, Path]) -> None:
    with pytest.raises(UnjudgeableItem, match="no passages"):
        list(judge_of(models, "bert").score([make_item(0, passages=())]))


class TestFolders:
    def test_a_model_without_a_trained_head_is_refused(self, tmp_path: Path) -> None:
        folder = make_model(tmp_path / "m", "bert", head="none")
        with pytest.raises(InvalidModel, match=r"no weights for classifier\.bias"):
            CrossEncoderJudge(str(folder))

    def test_other_outputs_than_there_are_weights_for_are_refused(self, tmp_path: Path) -> None:
        folder = make_model(tmp_path / "m", "bert", labels=NLI)
        config = json.loads((folder / "config.json").read_text())
        config["id2label"] = {"0": "yes", "1": "no"}
        config["label2id"] = {"yes": 0, "no": 1}
        (folder / "config.json").write_text(json.dumps(config))
        with pytest.raises(InvalidModel):
            CrossEncoderJudge(str(folder), label="yes")

    def test_pickles_and_code_are_refused(self, tmp_path: Path) -> None:
        folder = make_model(tmp_path / "m", "bert")
        config = json.loads((folder / "config.json").read_text())
        config["auto_map"] = {"AutoModel": "own.Own"}
        (folder / "config.json").write_text(json.dumps(config))
        with pytest.raises(InvalidModel, match="Python code of its own"):
            CrossEncoderJudge(str(folder))
        (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
        with pytest.raises(InvalidModel, match="pickles"):
            CrossEncoderJudge(str(folder))

    def test_other_weights_are_another_instrument(self, tmp_path: Path) -> None:
        one = make_model(tmp_path / "one", "bert")
        other = make_model(tmp_path / "other", "bert", seed=1)
        same = make_model(tmp_path / "same", "bert")
        prints = [CrossEncoderJudge(str(folder)).fingerprint for folder in (one, other, same)]
        assert prints[0] == prints[2] != prints[1]


class TestFile:
    def open(self, folder: Path, **keys: Any) -> Judge:
        path = folder / "judge.toml"
        lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
        path.write_text("\n".join(['kind = "cross_encoder"', *lines]))
        return open_judge(str(path))

    def test_it_is_opened_from_a_file(self, models: dict[str, Path], tmp_path: Path) -> None:
        (tmp_path / "nli").symlink_to(models["roberta"])
        judge = self.open(
            tmp_path,
            model="nli",
            label="entailment",
            first="{passages}",
            second="It is all there to answer: {question}",
            batch=4,
            name="mine",
        )
        assert isinstance(judge, Judge)
        assert judge.name == "mine"
        assert instrument_of(judge)["template"]["first"] == "{passages}"
        log = tmp_path / "log.jsonl"
        some = items(5)
        with LiveJudge(judge, log) as live:
            asked = list(live.score(some))
        assert list(RecordedJudge(log, expect=judge).score(some)) == asked

    @pytest.mark.parametrize(
        ("keys", "says"),
        [
            ({"model": "nli", "lable": "x"}, "Did you mean 'label'"),
            ({}, "missing required field `model`"),
            ({"model": 3}, "Expected `str`"),
            ({"model": "nli", "dtype": "int8"}, "Invalid enum value 'int8'"),
            ({"model": "nli", "batch": 0}, "Expected `int` >= 1"),
            ({"model": "none"}, "there is no model folder"),
            (
                {"model": "nli", "label": "entailment", "attention": "x"},
                "kernel 'x' cannot be used",
            ),
        ],
    )
    def test_what_is_wrong_in_it_is_said(
        self, models: dict[str, Path], tmp_path: Path, keys: dict[str, Any], says: str
    ) -> None:
        (tmp_path / "nli").symlink_to(models["roberta"])
        with pytest.raises((UsageError, InvalidModel)) as caught:
            self.open(tmp_path, **keys)
        assert says in str(caught.value)
