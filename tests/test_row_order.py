"""One signature, one set of numbers: the order of rows and of scores changes nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from chaincheck.comparison_pipeline import compare_files, noise_files
from chaincheck.evaluation import evaluate_files


def files(folder: Path, order: random.Random | None, *, uneven: bool = False) -> dict[str, Path]:
    """The same 60 questions in two variants, with scores of two judges, in some order."""
    draw = random.Random(7)
    rows: list[dict[str, Any]] = []
    scores: dict[str, list[dict[str, Any]]] = {"first": [], "second": []}
    for number in range(60):
        for variant in ("real", "fict", "my own"):
            for cell in "ABDC" if number % 3 else "ABD":
                name = f"{variant}{number}{cell}"
                # Published rows may differ inside a triplet in what only groups them.
                more = cell if uneven else ""
                rows.append(
                    {
                        "item_id": name, "pair_id": f"p{number * 37 % 60}", "variant": variant,
                        "cell": cell, "query": f"question {number // 2}{more}?",
                        "bridge": f"bridge {number // 5}{more}", "passages": ["one", "two"],
                        "x": cell == "A" and number == 4, "y": cell == "B" and number in (4, 5),
                    }
                )  # fmt: skip
                for judge in scores.values():
                    value = draw.gauss({"A": 0.5, "B": 0.4}.get(cell, 0.0), 1.0)
                    judge.append({"item_id": name, "score": round(value, 1)})
    found = {}
    for name, lines in ({"data": rows} | scores).items():
        if order is not None:
            order.shuffle(lines)
        found[name] = folder / name
        found[name].write_text("".join(json.dumps(line) + "\n" for line in lines))
    return found


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("cluster", ["triplet", "question", "bridge"])
def test_shuffled_rows_and_scores_give_the_same_numbers(
    tmp_path: Path, cluster: str, uneven: bool
) -> None:
    told = []
    for seed in (None, 1, 2):
        at = files(tmp_path, None if seed is None else random.Random(seed), uneven=uneven)
        options: dict[str, Any] = {"cluster": cluster, "exclude": ["x", "y"], "resamples": 300}
        both = (at["data"],), at["first"], at["second"]
        told.append(
            [
                evaluate_files(both[0], at["first"], **options).to_json(),
                compare_files(*both, exchanges=200, **options).to_json(),
                noise_files(*both, exchanges=200, **options).to_json(),
            ]
        )
    assert json.loads(told[0][0])["dropped"] == {"x is true": 3, "y is true": 3}
    assert told[0] == told[1] == told[2]
