"""One instrument or two: what compare says of it, and what noise refuses."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from recorded_judges import Fake, true_score

from chaincheck import instruments
from chaincheck.cli import main
from chaincheck.comparison_pipeline import compare_files, noise_files
from chaincheck.errors import ForeignScores, UsageError
from chaincheck.items import Item, read_items, write_items
from chaincheck.judges.attribution import attribution_path
from chaincheck.judges.base import Judgment
from chaincheck.pipeline import build_file, score_file

QUICK: dict[str, Any] = {"resamples": 100, "exchanges": 19}


def test_public_names_are_pinned() -> None:
    assert instruments.__all__ == [
        "Judges",
        "check_one_instrument",
        "compared_notes",
        "rescored_notes",
    ]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "t.jsonl"
    build_file("facts", None, path, limit=12)
    return path


class Scored:
    """Writes score files of judges that differ as told."""

    def __init__(self, data: Path, folder: Path) -> None:
        self.data, self.folder = data, folder

    def __call__(
        self, name: str, *, seed: int = 0, batch: int = 1, known: bool = True, **instrument: Any
    ) -> Path:
        draws = random.Random(seed)

        def say(item: Item) -> Judgment:
            return Judgment(item_id=item.item_id, score=true_score(item) + draws.gauss(0, 0.1))

        out = self.folder / f"{name}.jsonl"
        score_file(self.data, Fake(say, acquisition={"batch": batch}, **instrument), out)
        beside = attribution_path(out)
        assert beside is not None
        if not known:
            beside.unlink()
        return out


@pytest.fixture
def scored(data: Path, tmp_path: Path) -> Scored:
    return Scored(data, tmp_path)


class TestCompare:
    def test_two_instruments_and_what_differs(self, data: Path, scored: Scored) -> None:
        one = scored("one", prompt={"file": "a", "cut": 100})
        other = scored("other", seed=1, prompt={"file": "b", "cut": 100}, dtype="bf16")
        found = compare_files([data], one, other, **QUICK)
        assert (
            "the instruments differ in dtype ('None', 'bf16'), prompt.file ('a', 'b')"
            in found.notes
        )
        judges = json.loads(found.to_json())["judges"]
        assert [judge["name"] for judge in judges] == ["fake", "fake"]
        first, second = (judge["instrument"] for judge in judges)
        assert f"judge:one.jsonl={first},other.jsonl={second}|scores:" in str(found.signature)

    def test_one_instrument_twice_is_allowed_and_said(self, data: Path, scored: Scored) -> None:
        found = compare_files([data], scored("one"), scored("two", seed=1), **QUICK)
        assert any("scored twice: see noise" in note for note in found.notes)

    def test_one_known_and_one_not(self, data: Path, scored: Scored) -> None:
        found = compare_files([data], scored("one"), scored("two", seed=1, known=False), **QUICK)
        assert any("nothing states whose scores two.jsonl holds" in note for note in found.notes)
        assert json.loads(found.to_json())["judges"][1] is None

    def test_two_files_of_ones_own_are_compared_as_ever(self, data: Path, scored: Scored) -> None:
        one, other = scored("one", known=False), scored("two", seed=1, known=False)
        found = compare_files([data], one, other, **QUICK)
        assert found.notes == ()
        assert "scores:" not in str(found.signature)

    def test_scores_of_other_data_are_refused(
        self, data: Path, scored: Scored, tmp_path: Path
    ) -> None:
        rows = list(read_items(data))
        changed = tmp_path / "changed.jsonl"
        passages = (rows[0].passages[0] + "!", *rows[0].passages[1:])
        from msgspec.structs import replace

        write_items(changed, [replace(rows[0], passages=passages), *rows[1:]])
        one, other = scored("one"), scored("other", known=False)
        theirs = Scored(changed, tmp_path)("theirs", seed=1)
        with pytest.raises(ForeignScores, match="another content"):
            compare_files([data], one, theirs, **QUICK)
        # Each fits its own data, but the data are not the same.
        for mine in (one, other):
            with pytest.raises(UsageError, match="1 items have the same ids and other passages"):
                compare_files([data], mine, theirs, against_data=[changed], **QUICK)

    def test_caveats_come_along(self, data: Path, scored: Scored, tmp_path: Path) -> None:
        unsteady = tmp_path / "u.jsonl"
        score_file(data, Fake(acquisition={"deterministic": False}), unsteady)
        found = compare_files([data], scored("one", dtype=1), unsteady, **QUICK)
        assert any("u.jsonl: the judge is not deterministic" in note for note in found.notes)
        assert "u.jsonl: the judge is not deterministic" in found.to_text()


class TestNoise:
    def test_another_batch_is_the_same_instrument(self, data: Path, scored: Scored) -> None:
        found = noise_files([data], scored("one"), scored("two", seed=1, batch=8), **QUICK)
        assert "the runs were got in ways that differ in batch ('1', '8')" in found.notes

    def test_the_same_way_twice_is_said(self, data: Path, scored: Scored) -> None:
        found = noise_files([data], scored("one"), scored("two", seed=1), **QUICK)
        assert any("got in the same way" in note for note in found.notes)

    def test_two_instruments_are_refused_by_key(
        self, data: Path, scored: Scored, capsys: pytest.CaptureFixture[str]
    ) -> None:
        one, other = scored("one", dtype="fp32"), scored("two", seed=1, dtype="bf16")
        with pytest.raises(UsageError, match=r"they differ in dtype \('fp32', 'bf16'\)"):
            noise_files([data], one, other, **QUICK)
        command = ["noise", "--data", data, "--scores", one, "--rescores", other]
        command += ["--exchanges", 19, "--resamples", 100]
        assert main([str(word) for word in command]) == 2
        assert "name that key with --vary" in capsys.readouterr().err
        assert main([str(word) for word in [*command, "--vary", "dtype"]]) == 0
        assert "the instruments differ in dtype" in capsys.readouterr().out

    def test_a_named_key_stands_for_all_below_it_and_for_no_other(
        self, data: Path, scored: Scored
    ) -> None:
        one = scored("one", model={"dtype": "fp32", "kernel": "sdpa"}, cut=1)
        two = scored("two", seed=1, model={"dtype": "bf16", "kernel": "eager"}, cut=1)
        three = scored("three", seed=2, model={"dtype": "bf16", "kernel": "eager"}, cut=2)
        assert noise_files([data], one, two, vary=["model"], **QUICK).rows
        with pytest.raises(UsageError, match=r"differ in model\.kernel"):
            noise_files([data], one, two, vary=["model.dtype"], **QUICK)
        with pytest.raises(UsageError, match=r"differ in cut \('1', '2'\)"):
            noise_files([data], one, three, vary=["model"], **QUICK)

    def test_a_key_that_is_none_is_refused(self, data: Path, scored: Scored) -> None:
        one, two = scored("one", dtype="fp32"), scored("two", seed=1, dtype="bf16")
        with pytest.raises(UsageError, match="Did you mean 'dtype'"):
            noise_files([data], one, two, vary=["dtyp"], **QUICK)
        with pytest.raises(UsageError, match="They have dtype, judge"):
            noise_files([data], one, two, vary=["x"], **QUICK)

    def test_what_may_differ_cannot_be_checked_where_nothing_is_stated(
        self, data: Path, scored: Scored
    ) -> None:
        one, two = scored("one", known=False), scored("two", seed=1)
        found = noise_files([data], one, two, vary=["dtype"], **QUICK)
        assert any("only in dtype was not checked" in note for note in found.notes)
        assert any("cannot be told" in note for note in found.notes)
