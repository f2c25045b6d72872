"""Timings of the causal judge, side by side with the plain loop. Run by ``make bench``.

The plain loop is what one would write first: one item at a time, logits of every position, the
definition of the score. It is written out here once more and shares no code with the judge. Both
score the same items in one run, and their scores are asserted to be equal. The tiny models have
random weights, a head of real size and prompts of real length: what is timed is the arithmetic.
On a large model the head is a smaller part of the work, and with it what the shortcuts save; the
last table tells what is left of it on a model of 135 million weights.
"""

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).parent.parent))
import tiny_language_models as tiny
from gpu_memory import resident

from chaincheck.errors import ChainCheckError
from chaincheck.items import Item
from chaincheck.judges.causal import CausalJudge, CausalSettings
from chaincheck.judges.causal_model import LoadedModel, load_causal_model
from chaincheck.judges.prompts import load_prompt
from chaincheck.judges.rendering import Renderer

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")
pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

ROWS = {"qwen3": 151_936, "qwen3_5": 248_320}
PROMISED_RATIO = {"qwen3": 8, "qwen3_5": 5}
PROMISED_MEMORY = 10
STEPS = (
    ("last position only", {"logits": "last", "batch": 1, "share_prefix": False}),
    ("and yes/no rows in float32", {"batch": 1, "share_prefix": False}),
    ("and batches of like length", {"share_prefix": False}),
    ("and common beginnings once", {}),
)
REPEATS = int(os.environ.get("CHAINCHECK_BENCH_REPEATS", "2"))
TRIPLETS = int(os.environ.get("CHAINCHECK_BENCH_TRIPLETS", "4"))


def triplets(count, words, seed=0):
    """Triplets of ten passages, the two supports anywhere, edited as in real ones."""
    draw = random.Random(seed)
    found = []
    for number in range(count):
        length = draw.randint(*words) // 10
        passages = [" ".join(draw.choices(tiny.WORDS, k=length)) for _ in range(10)]
        earlier, later = draw.sample(range(10), 2)
        for cell, edited in (("A", ()), ("B", (earlier, later)), ("D", (later,))):
            found.append(
                Item(
                    item_id=f"{number}{cell}",
                    pair_id=f"p{number}",
                    variant="real",
                    cell=cell,
                    query="where was the director of Velvet Harbor born",
                    passages=tuple(
                        ("Anna" if n in edited else "Clara") + f" Keller {text}"
                        for n, text in enumerate(passages)
                    ),
                )
            )
    return found


def plain_loop(loaded, items):
    """One item at a time, all logits, the definition."""
    render = Renderer(loaded.tokenizer, load_prompt("sufficiency"))
    texts = [loaded.tokenizer.decode([n]).strip().lower() for n in range(len(loaded.tokenizer))]
    special = set(loaded.tokenizer.all_special_ids)
    yes, no = (
        [n for n, text in enumerate(texts) if text in words and n not in special]
        for words in (("yes", "y"), ("no", "n"))
    )

    def score(items):
        found = []
        for item in items:
            ids = loaded.tokenizer(render.text(item), add_special_tokens=False)["input_ids"]
            with torch.inference_mode():
                last = loaded.model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
                chances = torch.log_softmax(last.float(), -1)
                found.append(float(chances[yes].logsumexp(0) - chances[no].logsumexp(0)))
        return found

    return score


def judge_loop(loaded, changes):
    judge = CausalJudge(loaded, CausalSettings(model="bench", minimum_mass=0, **changes))
    judge._longest_shared()

    def score(items):
        judge._memory._values.clear()
        return [one.score for one in judge.score(items)]

    return score


def tiny_model(kind):
    words = tiny.tokenizer()
    size = {"hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 4, "head_dim": 64}
    if kind == "qwen3_5":
        size |= {"linear_key_head_dim": 64, "linear_value_head_dim": 64}
    model = tiny.model(kind, ROWS[kind], initializer_range=0.02, **size)
    return LoadedModel(model=model, tokenizer=words, name=kind, identity={})


def timed(ways, items):
    """The shortest times of each way, taken in turns so that a busy machine hits all alike.

    Returns:
        Seconds on the clock and of all processors, by name; and the scores.
    """
    clock, processors, scores = {}, {}, {}
    for _ in range(REPEATS):
        for name, score in ways.items():
            start, used = time.perf_counter(), time.process_time()
            scores[name] = score(items)
            clock[name] = min(clock.get(name, 9e9), time.perf_counter() - start)
            processors[name] = min(processors.get(name, 9e9), time.process_time() - used)
    return clock, processors, scores


def report(title, clock, processors, items, lengths):
    """Print the table; return how many times the plain loop's work the last way saves.

    What is asserted is the processors' time: the clock's is that of everybody on the machine.
    """
    plain = before = processors["plain loop"]
    rows = []
    for name, seconds in processors.items():
        ratios = (clock["plain loop"] / clock[name], plain / seconds, before / seconds)
        rows.append([name, clock[name], len(items) / clock[name], seconds, *ratios])
        before = seconds
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(
        f"\n{title}: {len(items)} prompts of {min(lengths)}-{max(lengths)} tokens, float32, "
        f"{torch.get_num_threads()} threads, {os.cpu_count()} cores, load {load}"
    )
    heads = ("way", "s, clock", "prompts/s", "s, processors")
    heads += ("times plain, clock", "times plain, processors", "times the row above")
    print(tabulate(rows, headers=heads, floatfmt=(None, *[".2f"] * 3, ".1f", ".1f", ".2f")))
    return plain / before


def compare(title, loaded, items, steps=STEPS):
    ways = {"plain loop": plain_loop(loaded, items)}
    ways |= {name: judge_loop(loaded, changes) for name, changes in steps}
    for score in ways.values():
        score(items[:1])  # what happens once happens now
    clock, processors, scores = timed(ways, items)
    expected = scores["plain loop"]
    for name, found in scores.items():
        off = max(abs(one - other) for one, other in zip(found, expected, strict=True))
        assert off < 1e-4, f"{name} is off by {off}"
    render = Renderer(loaded.tokenizer, load_prompt("sufficiency"))
    return report(title, clock, processors, items, [len(render(item).ids) for item in items])


@pytest.mark.parametrize("kind", list(ROWS))
def test_throughput(kind):
    ratio = compare(
        f"{kind}, 4 layers, hidden 256, {ROWS[kind]:,} rows",
        tiny_model(kind),
        triplets(TRIPLETS, (100, 800)),
    )
    assert ratio >= PROMISED_RATIO[kind]


def test_what_is_left_of_it_on_a_real_model():
    try:
        loaded = load_causal_model(CausalSettings(model="smollm2"))
    except ChainCheckError as absent:
        pytest.skip(f"the real model cannot be used: {absent}")
    compare("SmolLM2-135M-Instruct", loaded, triplets(2, (100, 500)))


def peak(kind, way):
    """Peak memory of a process that scores a few items in one way, in MB."""
    done = subprocess.run(
        [sys.executable, __file__, kind, way], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_peak_memory():
    rows = []
    for kind, size in ROWS.items():
        base, plain, ours = (peak(kind, way) for way in ("nothing", "plain", "ours"))
        rows.append([kind, size, base, plain - base, ours - base])
    print("\nPeak memory in MB while 3 prompts of about 1,200 tokens are scored")
    heads = ("model", "rows", "loading", "plain loop, above that", "ours, above that")
    print(tabulate(rows, headers=heads, floatfmt=(None, *[",.0f"] * 4)))
    assert all(PROMISED_MEMORY * ours < plain for *_, plain, ours in rows)


def _work(kind, way):
    loaded = tiny_model(kind)
    items = triplets(1, (900, 900))
    if way != "nothing":
        (plain_loop(loaded, items) if way == "plain" else judge_loop(loaded, {}))(items)
    # Not ru_maxrss, which on Linux is the parent's peak if that was higher at the start.
    print(json.dumps(resident() / 2**20))


if __name__ == "__main__":
    _work(*sys.argv[1:])
