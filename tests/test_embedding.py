"""The embedding judge: nearness as the library gives it, the same in a batch as alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

from recorded_judges import make_item
from tiny_encoders import WORDS, make_model

from chaincheck.errors import ChainCheckError, InvalidModel, UnjudgeableItem, UsageError
from chaincheck.items import Item
from chaincheck.judges import embedding, open_judge
from chaincheck.judges.embedding import EmbeddingJudge, nearness, pooling_of
from chaincheck.judges.encoder_batches import EncoderSettings


def words(draws: random.Random, most: int) -> str:
    return " ".join(draws.choices(WORDS, k=draws.randint(1, most)))


def items(count: int, seed: int = 0) -> list[Item]:
    draws = random.Random(seed)
    return [
        make_item(
            number,
            query=words(draws, 9),
            passages=tuple(words(draws, 20) for _ in range(draws.randint(1, 5))),
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("m") / "tiny", "bert", head="none")


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("m") / "roberta", "roberta", head="none")


def test_public_names_are_pinned() -> None:
    assert embedding.__all__ == [
        "KEYS",
        "EmbeddingJudge",
        "nearness",
        "open_embedding",
        "pooling_of",
    ]


def plainly(folder: Path, item: Item, best: int, pooling: str) -> float:
    """Score one item by the library alone: no batch, no padding, no code of ours."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    encoder = AutoModel.from_pretrained(folder).eval()

    def vector(text: str) -> Any:
        with torch.no_grad():
            hidden = encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        return hidden.mean(0) if pooling == "mean" else hidden[0]

    question = vector(item.query)
    near = [
        float(torch.nn.functional.cosine_similarity(question, vector(text), dim=0))
        for text in item.passages
    ]
    return float(np.mean(sorted(near)[-best:]))


@pytest.mark.parametrize(("best", "pooling"), [(1, "mean"), (2, "mean"), (2, "cls"), (9, "mean")])
@pytest.mark.parametrize("family", ["model", "roberta"])
def test_the_score_is_the_librarys(
    request: pytest.FixtureRequest, family: str, best: int, pooling: Any
) -> None:
    folder: Path = request.getfixturevalue(family)
    some = items(5)
    judge = EmbeddingJudge(str(folder), best=best, pooling=pooling)
    found = [one.score for one in judge.score(some)]
    assert found == pytest.approx([plainly(folder, one, best, pooling) for one in some], abs=1e-4)


@pytest.mark.parametrize("family", ["model", "roberta"])
def test_a_batch_gives_what_each_gives_alone(request: pytest.FixtureRequest, family: str) -> None:
    folder: Path = request.getfixturevalue(family)
    some = items(30, seed=3)
    alone, together = (
        EmbeddingJudge(str(folder), settings=EncoderSettings(batch=batch)) for batch in (1, 32)
    )
    assert alone.fingerprint == together.fingerprint
    one, other = ([j.score for j in judge.score(some)] for judge in (alone, together))
    assert one == pytest.approx(other, abs=1e-4)
    again = [j.score for j in together.score(some)]
    assert again == other


def test_what_two_cells_share_is_the_same_to_the_last_bit(model: Path) -> None:
    """A tie must stay a tie, whatever else stands in the batch."""
    draws = random.Random(5)
    near, far = (words(draws, 15) for _ in range(2))
    cells = [
        make_item(number, query=near, passages=(*order, far))
        for number, order in enumerate([(near, near + " a"), (near + " a", near)])
    ]
    stream = [cells[0], *items(40, seed=6), cells[1]]
    found = list(EmbeddingJudge(str(model), best=1).score(stream))
    assert found[0].score == found[-1].score


def test_nearness_is_the_mean_of_the_best() -> None:
    question = np.array([1.0, 0.0])
    passages = [np.array([0.6, 0.8]), np.array([1.0, 0.0]), np.array([0.0, 1.0])]
    assert [nearness(question, passages, best) for best in (1, 2, 3, 4)] == pytest.approx(
        [1.0, 0.8, 1.6 / 3, 1.6 / 3]
    )


def test_vectors_have_length_one(model: Path) -> None:
    vectors = EmbeddingJudge(str(model)).embed(["the film", "born in trieste ."])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0, 1.0])


def test_a_text_that_is_too_long_is_cut_and_flagged_or_refused(model: Path) -> None:
    long = make_item(0, query="who ?", passages=("the film " * 40,))
    (found,) = EmbeddingJudge(str(model)).score([long])
    assert found.flags == ("a text cut at 64 tokens",)
    strict = EmbeddingJudge(str(model), settings=EncoderSettings(too_long="refuse"))
    with pytest.raises(UnjudgeableItem, match="82 tokens"):
        list(strict.score([long]))


def test_an_item_without_passages_is_refused(model: Path) -> None:
    with pytest.raises(UnjudgeableItem, match="no passages"):
        list(EmbeddingJudge(str(model)).score([make_item(0, passages=())]))


def test_what_can_change_a_score_is_in_the_fingerprint(model: Path, roberta: Path) -> None:
    judges = [
        EmbeddingJudge(str(model)),
        EmbeddingJudge(str(model), best=1),
        EmbeddingJudge(str(model), pooling="cls"),
        EmbeddingJudge(str(model), question_prefix="question : "),
        EmbeddingJudge(str(model), passage_prefix="question : "),
        EmbeddingJudge(str(model), settings=EncoderSettings(max_tokens=32, too_long="cut")),
        EmbeddingJudge(str(roberta)),
    ]
    assert len({judge.fingerprint for judge in judges}) == len(judges)
    some = items(8)
    scores = [tuple(j.score for j in judge.score(some)) for judge in judges]
    assert len(set(scores)) >= len(judges) - 1  # none of these texts is longer than 32 tokens


class TestTheFolderSays:
    def pooled(self, folder: Path, **modes: bool) -> Path:
        (folder / "1_Pooling").mkdir(parents=True)
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes))
        return folder

    def test_how_it_pools(self, tmp_path: Path) -> None:
        assert pooling_of(tmp_path) == (None, None)
        modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
        assert pooling_of(self.pooled(tmp_path / "a", **modes)) == ("cls", None)
        for other in ({"pooling_mode_max_tokens": True}, {}, dict.fromkeys(modes, True)):
            with pytest.raises(InvalidModel, match="pools by"):
                pooling_of(self.pooled(tmp_path / str(len(list(tmp_path.iterdir()))), **other))

    def test_how_much_it_reads(self, model: Path, tmp_path: Path) -> None:
        for file in model.iterdir():
            (tmp_path / file.name).write_bytes(file.read_bytes())
        (tmp_path / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
        judge = EmbeddingJudge(str(tmp_path))
        assert judge.instrument["max_tokens"] == 16

    def test_a_layer_that_is_not_applied_is_refused(self, tmp_path: Path) -> None:
        layers = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Pooling", "Dense")]
        (tmp_path / "modules.json").write_text(json.dumps(layers))
        with pytest.raises(InvalidModel, match="a layer Dense"):
            pooling_of(tmp_path)
        (tmp_path / "modules.json").write_text("[3]")
        with pytest.raises(InvalidModel, match="lists no modules"):
            pooling_of(tmp_path)


def test_it_is_opened_from_a_file_or_by_name(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judge.toml"
    path.write_text(f'kind = "embedding"\nmodel = "{model}"\nbest = 1\n')
    assert open_judge(str(path)).fingerprint == EmbeddingJudge(str(model), best=1).fingerprint
    path.write_text(f'kind = "embedding"\nmodel = "{model}"\nbest = 0\n')
    with pytest.raises(UsageError, match="'best' is 0"):
        open_judge(str(path))
    path.write_text(f'kind = "embedding"\nmodel = "{model}"\npoolin = "cls"\n')
    with pytest.raises(UsageError, match="Did you mean 'pooling'"):
        open_judge(str(path))
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path))
    with pytest.raises(ChainCheckError, match="chaincheck model minilm"):
        open_judge("minilm")


def test_the_real_model_agrees_with_the_library_and_prefers_what_the_question_is_about() -> None:
    """Runs where all-MiniLM-L6-v2 is on this machine."""
    try:
        judge = open_judge("minilm")
    except ChainCheckError as missing:
        pytest.skip(f"{missing}")
    from chaincheck.models import find_model

    question = "Where was the director of Jaws born?"
    about = ("Jaws is a film directed by Steven Spielberg.", "Spielberg was born in Cincinnati.")
    other = ("The Danube rises in the Black Forest.", "Bread is made of flour and water.")
    some = [
        make_item(0, query=question, passages=about),
        make_item(1, query=question, passages=other),
    ]
    scores = [one.score for one in judge.score(some)]
    assert scores == pytest.approx(
        [plainly(find_model("minilm"), one, 2, "mean") for one in some], abs=1e-4
    )
    assert scores[0] is not None and scores[1] is not None
    assert scores[0] > scores[1] + 0.2
