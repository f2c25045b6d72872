"""A judge on a running server against the same model in this process. Not part of CI.

Start a server (book/served.md has the command lines), write the judge's TOML file, and name both
the file and the model::

    CHAINCHECK_SERVED=judge.toml CHAINCHECK_SERVED_MODEL=smollm2 \
        python -m pytest tests/test_served.py -s

The model's scores are computed here in the plainest way: one item at a time, logits of the whole
vocabulary in 32 bits, every token that reads as yes or no.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from chaincheck.items import Item, read_items
from chaincheck.judges import open_judge
from chaincheck.judges.base import Judgment
from chaincheck.judges.server import ServerJudge
from chaincheck.pipeline import build_file

JUDGE = os.environ.get("CHAINCHECK_SERVED")
MODEL = os.environ.get("CHAINCHECK_SERVED_MODEL")
COUNT = int(os.environ.get("CHAINCHECK_SERVED_ITEMS", "45"))
# What was seen in 32 bits is 2e-5 (vLLM) and 1e-4 (llama.cpp); other precisions differ by more.
TOLERANCE = float(os.environ.get("CHAINCHECK_SERVED_TOLERANCE", "1e-3"))

pytestmark = pytest.mark.skipif(
    not (JUDGE and MODEL),
    reason="CHAINCHECK_SERVED and CHAINCHECK_SERVED_MODEL name no server's judge and no model",
)


@pytest.fixture(scope="module")
def judge() -> ServerJudge:
    found = open_judge(str(JUDGE))
    assert isinstance(found, ServerJudge)
    return found


@pytest.fixture(scope="module")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    path = tmp_path_factory.mktemp("served") / "facts.jsonl.gz"
    build_file("facts", None, path)
    return list(itertools.islice(read_items(path), COUNT))


@pytest.fixture(scope="module")
def plain(judge: ServerJudge, items: list[Item]) -> list[float]:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from chaincheck.models import find_model

    folder = find_model(str(MODEL))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    prompt = judge.settings.prompt
    texts = [tokenizer.decode([one]).strip().lower() for one in range(len(tokenizer))]
    yes = [one for one, text in enumerate(texts) if text in prompt.yes]
    no = [one for one, text in enumerate(texts) if text in prompt.no]
    scores = []
    for item in items:
        turns = prompt.messages(item, specials=tokenizer.all_special_tokens)
        asked = tokenizer.apply_chat_template(
            turns, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
        )
        with torch.inference_mode():
            logits = model(**asked).logits[0, -1].double()
        scores.append(float(logits[yes].logsumexp(0) - logits[no].logsumexp(0)))
    return scores


def test_the_server_says_what_the_model_says(
    judge: ServerJudge, items: list[Item], plain: list[float], tmp_path: Path
) -> None:
    judgments = list(judge.score(items))
    assert [one.item_id for one in judgments] == [one.item_id for one in items]
    assert {one.model for one in judgments} == {judge.settings.model_returned}
    apart = []
    for judgment, score in zip(judgments, plain, strict=True):
        if judgment.score is None:
            low, high = judgment.bounds or (None, None)
            assert low is None or low <= score + TOLERANCE, judgment
            assert high is None or score <= high + TOLERANCE, judgment
        else:
            apart.append(abs(judgment.score - score))
    widths = [
        one.bounds[1] - one.bounds[0]
        for one in judgments
        if one.bounds and one.bounds[0] is not None and one.bounds[1] is not None
    ]
    print(f"\n{len(apart)} scores, {len(judgments) - len(apart)} bounds of {len(items)} items")
    if apart:
        mean = sum(apart) / len(apart)
        print(f"scores apart from the plain ones: mean {mean:.1e}, most {max(apart):.1e}")
    if widths:
        print(f"bounds apart: mean {sum(widths) / len(widths):.2f}, most {max(widths):.2f}")
    print(turned_around(items, judgments, plain))
    assert max(apart, default=0.0) <= TOLERANCE


def turned_around(items: list[Item], judgments: list[Judgment], plain: list[float]) -> str:
    """Count the pairs of cells of a triplet that the server puts in another order."""
    scored = [
        (item.pair_id, judgment.score, score)
        for item, judgment, score in zip(items, judgments, plain, strict=True)
        if judgment.score is not None
    ]
    pairs = [
        (one[1] - other[1]) * (one[2] - other[2])
        for one, other in itertools.combinations(scored, 2)
        if one[0] == other[0] and one[1] is not None and other[1] is not None
    ]
    return f"{sum(pair <= 0 for pair in pairs)} of {len(pairs)} pairs of cells turned around"


def test_asked_again_it_says_the_same(judge: ServerJudge, items: list[Item]) -> None:
    first, second = (list(judge.score(items[:12])) for _ in range(2))
    apart = [
        abs(one.score - two.score)
        for one, two in zip(first, second, strict=True)
        if one.score is not None and two.score is not None
    ]
    print(f"\nasked twice: at most {max(apart, default=0.0):.1e} apart")
    assert max(apart, default=0.0) <= TOLERANCE
