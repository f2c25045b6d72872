"""Every shortcut against the plain way, which is written out here once more by itself."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest
import tiny_language_models as tiny

from chaincheck.judges.causal_forward import Forward, Reading
from chaincheck.judges.token_sets import TokenSets

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

SETS = TokenSets((3, 50, 61), (4, 70), ("",) * 3, ("",) * 2)
VOCABULARY = 300
KINDS = ["qwen3", "qwen3_5", "llama"]


def plain(model: Any, prompt: list[int]) -> Reading:
    """One prompt, all logits, the definition in double precision."""
    with torch.no_grad():
        logits = model(torch.tensor([prompt])).logits[0, -1].double()
    chances = torch.softmax(logits, -1)
    yes = sum(float(chances[id_]) for id_ in SETS.yes)
    no = sum(float(chances[id_]) for id_ in SETS.no)
    return Reading(math.log(yes) - math.log(no), math.log(yes), math.log(no), yes + no)


def close(found: list[Reading], expected: list[Reading], tolerance: float = 1e-4) -> bool:
    return len(found) == len(expected) and all(
        abs(getattr(one, name) - getattr(other, name)) < tolerance
        for one, other in zip(found, expected, strict=True)
        for name in ("score", "yes", "no", "mass")
    )


def prompts(lengths: list[int], shared: int = 0, seed: int = 1) -> list[list[int]]:
    draw = random.Random(seed)
    start = [draw.randrange(VOCABULARY) for _ in range(shared)]
    return [start + [draw.randrange(VOCABULARY) for _ in range(length)] for length in lengths]


@pytest.fixture(scope="module", params=list(itertools.product(KINDS, [False, True])))
def model(request: pytest.FixtureRequest) -> Any:
    kind, tied = request.param
    return tiny.model(kind, VOCABULARY, tie_word_embeddings=tied)


@pytest.mark.parametrize("logits", ["rows", "last", "all"])
class TestEqualToThePlainWay:
    def test_one_at_a_time(self, model: Any, logits: str) -> None:
        forward = Forward(model, SETS, logits)
        assert forward.logits == logits
        for prompt in prompts([1, 7, 130]):
            assert close(forward.run([prompt]), [plain(model, prompt)])

    def test_in_a_batch_of_all_lengths(self, model: Any, logits: str) -> None:
        some = prompts([130, 1, 64, 65, 7])
        expected = [plain(model, prompt) for prompt in some]
        assert close(Forward(model, SETS, logits).run(some), expected)

    def test_going_on_from_a_common_beginning(self, model: Any, logits: str) -> None:
        forward = Forward(model, SETS, logits)
        assert forward.longest_shared() == 10**9
        for shared, lengths in ((100, [30, 1, 64, 7]), (64, [5, 90]), (3, [2, 1, 70])):
            some = prompts(lengths, shared)
            expected = [plain(model, prompt) for prompt in some]
            assert close(forward.run(some, shared), expected), (shared, lengths)
            assert close(forward.run(some, shared), expected), "the second time too"


@pytest.mark.parametrize("kind", KINDS)
def test_a_beginning_is_computed_once_for_all_batches_of_its_group(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny.model(kind, VOCABULARY)
    forward = Forward(model, SETS)
    lengths: list[int] = []
    inner = model.base_model.forward

    def counted(*args: Any, **how: Any) -> Any:
        lengths.append(how["input_ids"].shape[1])
        return inner(*args, **how)

    monkeypatch.setattr(model.base_model, "forward", counted)
    one, other = prompts([30, 8, 20], 70), prompts([9, 5], 70, seed=2)
    groups = [one[:2], one[2:], other, one[1:]]
    found = [reading for group in groups for reading in forward.run(group, 70)]
    assert lengths == [70, 30, 20, 70, 9, 70, 20]
    assert close(found, [plain(model, prompt) for group in groups for prompt in group])
    forward.run([[1, 2, 3]])
    assert forward._kept is None, "nothing is kept that nobody needs"


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_in_half_precision_gets_its_head_in_full(kind: str) -> None:
    """The score is off by what the body rounds only; the head's own lattice does not show."""
    model = tiny.model(kind, VOCABULARY).bfloat16().requires_grad_(False)
    exact = Forward(model, SETS, "rows")
    assert exact.head_dtype == "float32"
    assert Forward(model, SETS, "last").head_dtype == "bfloat16"
    some = prompts([40, 30, 20])
    for prompt, found in zip(some, exact.run(some), strict=True):
        with torch.no_grad():
            state = model.base_model(torch.tensor([prompt])).last_hidden_state[0, -1].float()
        logits = model.get_output_embeddings().weight[list(SETS.ids)].float() @ state
        expected = torch.logsumexp(logits[:3], 0) - torch.logsumexp(logits[3:], 0)
        assert abs(found.score - expected.item()) < 0.05
        assert 0 < found.mass <= 1


class TestModelsThatAreOtherwise:
    def test_a_head_with_a_bias(self) -> None:
        model = tiny.model("llama", VOCABULARY)
        model.lm_head.bias = torch.nn.Parameter(torch.randn(VOCABULARY))
        some = prompts([20, 9])
        forward = Forward(model, SETS)
        assert forward.logits == "rows"
        assert close(forward.run(some), [plain(model, prompt) for prompt in some])

    def test_logits_that_are_capped_are_taken_from_the_model(self) -> None:
        import transformers

        config = transformers.Gemma2Config(
            vocab_size=VOCABULARY,
            hidden_size=32,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=16,
            sliding_window=48,
            final_logit_softcapping=0.5,
            attn_implementation="eager",
        )
        torch.manual_seed(0)
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
        forward = Forward(model, SETS)
        assert forward.logits == "last"
        some = prompts([60, 9], 30)
        assert close(forward.run(some), [plain(model, prompt) for prompt in some])
        assert forward.longest_shared() in (0, 48), "no further than its window reaches"

    def test_a_change_of_the_logits_that_no_setting_tells_is_noticed(self) -> None:
        model = tiny.model("llama", VOCABULARY)
        inner = model.forward

        def scaled(*args: Any, **how: Any) -> Any:
            found = inner(*args, **how)
            found.logits = found.logits * 1.5
            return found

        model.forward = scaled
        forward = Forward(model, SETS)
        assert forward.logits != "rows"
        some = prompts([20, 9])
        assert close(forward.run(some), [plain(model, prompt) for prompt in some])

    @pytest.mark.parametrize("fault", ["forgets", "fails"])
    def test_a_model_that_cannot_go_on_shares_nothing(self, fault: str) -> None:
        model = tiny.model("llama", VOCABULARY)
        inner = model.base_model.forward

        def faulty(*args: Any, cache: Any = None, **how: Any) -> Any:
            if cache is not None and fault == "fails":
                raise NotImplementedError
            return inner(*args, **how)

        model.base_model.forward = faulty
        assert Forward(model, SETS).longest_shared() == 0


def test_memory_that_does_not_suffice_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from chaincheck.errors import UsageError

    forward = Forward(tiny.model("llama", VOCABULARY), SETS)

    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    monkeypatch.setattr(forward, "_state", full)
    with pytest.raises(UsageError, match="smaller batch"):
        forward.run([[1, 2]])
