import dataclasses
import json

import numpy as np
import pytest

from chaincheck import results
from chaincheck.cells import CellScores
from chaincheck.results import Signature, report
from chaincheck.selectivity import measure_all

SIGNATURE = Signature("3f2a", "lexical-1", 40, "contrast95 by triplet", 2000, 0, "0.1.0")

# What the --json contract promises.
KEYS = {
    "file",
    "variant",
    "pairs",
    "ties",
    "nominal",
    "chain_effect",
    "edit_effect",
    "selectivity",
    "kit_ci95",
    "contrast_ci95",
    "mde80",
}


def some_results(**more):
    rng = np.random.default_rng(0)
    a, b, d = rng.normal(size=(3, 40)) + np.array([[1.0], [0.8], [0.0]])
    return measure_all([CellScores("f.jsonl", "real", a, b, d, **more)])


def test_public_names_are_pinned():
    assert results.__all__ == [
        "By",
        "Comparison",
        "Draws",
        "FourthCell",
        "Gap",
        "Selectivity",
        "Signature",
        "report",
    ]


def test_a_signature_is_one_line():
    assert str(SIGNATURE) == (
        "data:3f2a|judge:lexical-1|n:40|interval:contrast95 by triplet"
        "|resamples:2000|seed:0|chaincheck:0.1.0"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        SIGNATURE.seed = 1


def test_rows_keep_the_contract():
    (result,) = some_results()
    row = result.to_row()
    assert set(row) >= KEYS
    assert set(row["ties"]) == {"A>D", "B>D", "A>B"}
    assert set(row["kit_ci95"]) == {"nominal", "chain_effect", "edit_effect", "selectivity"}
    assert row["kit_ci95"]["selectivity"] == [result.kit.low, result.kit.high]
    assert row["contrast_ci95"] == [result.contrast.low, result.contrast.high]
    assert row["selectivity"] == result.selectivity  # unrounded
    assert row["pairs"] == 40
    for value in (row["nominal"], *row["contrast_ci95"], row["mde80"]):
        assert type(value) is float
    for count in (*row["ties"].values(), *row["wins"].values()):
        assert type(count) is int


def test_another_level_is_named_in_the_keys():
    rng = np.random.default_rng(0)
    scores = CellScores("f", "real", *rng.normal(size=(3, 40)))
    (result,) = measure_all([scores], level=0.9)
    row = result.to_row()
    assert "contrast_ci90" in row
    assert "contrast_ci95" not in row


def test_a_report_is_json_with_signature_and_rows():
    found = report(some_results(c=np.zeros(40)), SIGNATURE)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["signature"] == str(SIGNATURE)
    assert len(found["rows"]) == 1
    fourth = found["rows"][0]["fourth_cell"]
    assert fourth["pairs"] == 40
    assert len(fourth["interaction_ci95"]) == 2
