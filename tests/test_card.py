"""The model card: everything from records, nothing where one is missing, every text escaped."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

torch = pytest.importorskip("torch", reason="the extra 'judges' is not installed")

from gate_files import TestJudge, edit_json, gate_folder, guessing, reading  # noqa: E402
from tiny_models import plain_adapter, plain_base, rewrite, write_json  # noqa: E402

from chaincheck.cli import main  # noqa: E402
from chaincheck.errors import (  # noqa: E402
    IntegrityError,
    UnreadableFile,
)
from chaincheck.judges.prompts import load_prompt  # noqa: E402
from chaincheck.models import file_hash, weights_hash  # noqa: E402
from chaincheck.training import card_text  # noqa: E402
from chaincheck.training.card import read_records, write_card  # noqa: E402
from chaincheck.training.card_text import code, escaped, fenced  # noqa: E402
from chaincheck.training.gate import check_gate  # noqa: E402
from chaincheck.training.gate_plan import lock_plan  # noqa: E402
from chaincheck.training.gate_score import score_for_gate  # noqa: E402
from chaincheck.training.merge import merge  # noqa: E402
from chaincheck.training.merge_files import PROVENANCE  # noqa: E402
from chaincheck.training.recipe import LoraSettings, Recipe  # noqa: E402
from chaincheck.training.run_folder import TrainingSummary, write_summary  # noqa: E402
from chaincheck.training.score_drift import ScoreDrift  # noqa: E402
from chaincheck.training.sealed import digest_of, sealed_json  # noqa: E402

ADAPTER = "adapter_model.safetensors"
DRIFT = ScoreDrift(8, 0.25, 0.125, 2.0, {"A>D": 2}, {"A>D": 1})


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHAINCHECK_CACHE", str(tmp_path / "cache"))


def causal(
    make: Callable[..., TestJudge], weights: str, prompt: Any = None, **model: Any
) -> TestJudge:
    """A judge that says of itself what a causal judge would."""
    return make(
        weights,
        judge="causal",
        prompt=prompt or json.loads(json.dumps(load_prompt("sufficiency").settings)),
        dtype="float32",
        attention="sdpa",
        minimum_mass=0.05,
        model={"weights": weights, "adapter": None, **model},
    )


def release(folder: Path, *, scored: str = "merged", drift: bool = True, **more: Any) -> Path:
    """Train (the records only), merge and gate; the merged folder's name is hostile."""
    base = plain_base(folder / "base")
    write_json(base / "provenance.json", {"license": "Apache-2.0"})
    (folder / "run").mkdir()
    adapter = plain_adapter(folder / "run" / "adapter", base)
    merged = folder / "a_judge <b>|*x*"
    merge(base, adapter, merged, compare=(lambda _: DRIFT) if drift else None)
    # The targets are an expression with a bar, as such ones often are.
    lora = LoraSettings(rank=2, alpha=4.0, targets=".*(q_proj|up_proj)")
    recipe = Recipe(prompt="x|y`z`", lora=lora)
    write_json(
        folder / "run" / "run.json",
        {
            **{"recipe": recipe.settings, "data": "d1", "validation": ""},
            "base": {"weights": weights_hash(base)},
        },
    )
    summary = TrainingSummary(
        adapter="run/adapter",
        recipe=recipe.digest,
        data="d1",
        validation="",
        base={"name": "base", "weights": weights_hash(base)},
        triplets={"real": 40, "fict": 30},
        steps=(10, 12),
        kept=8,
        seconds=3.0,
        final={},
        acquisition={"device": "cpu", "versions": {"torch": "2"}},
    )
    (folder / "run" / "training.json").write_text(summary.to_json(), "utf-8")
    plan = gate_folder(folder)
    lock_plan(plan)
    weights = weights_hash(base)
    score_for_gate(plan, causal(guessing, weights, **more), "base")
    if scored == "merged":
        candidate = causal(reading, weights_hash(merged), **more)
    else:
        part = {"weights": file_hash(adapter / ADAPTER), "config": "c"}
        candidate = causal(reading, weights, adapter=part, **more)
    score_for_gate(plan, candidate, "candidate")
    (folder / "verdict.json").write_text(sealed_json(check_gate(plan).to_dict()), "utf-8")
    return merged


@pytest.fixture
def merged(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release in ``tmp_path``, made once and copied."""
    if "made" not in _MADE:
        folder = tmp_path_factory.mktemp("release")
        release(folder)
        _MADE["made"] = folder
    for path in _MADE["made"].iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
        else:
            shutil.copy2(path, tmp_path)
    return tmp_path / "a_judge <b>|*x*"


_MADE: dict[str, Path] = {}


def written(merged: Path) -> str:
    folder = merged.parent
    return write_card(merged, folder / "run", folder / "verdict.json").read_text("utf-8")


def reseal(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a record and seal it anew, as somebody who knows how can."""

    def both(record: dict[str, Any]) -> None:
        change(record)
        record["digest"] = digest_of(record)

    edit_json(path, both)


def test_it_says_what_the_records_say(merged: Path) -> None:
    text = written(merged)
    record = json.loads((merged / PROVENANCE).read_bytes())
    verdict = json.loads((merged.parent / "verdict.json").read_bytes())
    assert "PASS" in text
    assert "10 of 12 planned steps on 40 real, 30 fict triplets" in text
    assert record["merged"]["weights"] in text
    assert verdict["gate"] in text
    assert verdict["candidate"]["signature"].replace("|", "\\|") in text
    for row in verdict["candidate"]["rows"]:
        assert f"{row['selectivity']:+.3f}" in text
    assert "differ by 0.125 on average and 0.25 at most" in text
    assert "Not measured on decoy triplets" in text
    assert 'license: "apache-2.0"' in text
    assert "differ in `model.weights` and in nothing else" in text
    assert "`lora.rank` | `2`" in text
    assert str(merged.parent) not in text, "no path of a machine"


def test_it_says_where_sigma_is_not_shown(merged: Path) -> None:
    """By the interval: an estimate above zero shows nothing, one below it no liking for edits."""
    path = merged.parent / "verdict.json"
    said = "it is not shown that the chain counts for more than the edit"
    assert said not in written(merged)
    for value, ends in ((0.1, [-0.1, 0.3]), (0.0, [0.0, 0.2]), (-0.4, [-0.6, -0.2])):
        plain = json.loads(path.read_text("utf-8"))
        del plain["digest"]
        row = plain["candidate"]["rows"][0]
        row["selectivity"] = value
        row[next(key for key in row if key.startswith("contrast_"))] = ends
        path.write_text(sealed_json({**plain, "digest": digest_of(plain)}), "utf-8")
        assert f"{said}: Sigma {value:+.3f} " in written(merged)


def test_it_warns_where_rounding_took_most_of_the_delta(merged: Path) -> None:
    assert "warning" not in written(merged)
    reseal(merged / PROVENANCE, lambda r: r["audit"].update(warnings=["another `judge`"]))
    reseal(merged / PROVENANCE, lambda r: r["scores"].update(warnings=["less"]))
    text = written(merged)
    assert r"- **warning:** another \`judge\`" in text
    assert "- **warning:** less" in text
    assert "training moved" not in text
    reseal(merged / PROVENANCE, lambda r: r["scores"].update(moved=2.0, arrived=0.5))
    assert "moved these scores by 2 on average, of which 50% arrived" in written(merged)


def test_the_front_matter_is_yaml_that_says_the_same(merged: Path) -> None:
    yaml = pytest.importorskip("yaml")
    front = written(merged).split("---\n")[1]
    found = yaml.safe_load(front)
    assert found["base_model"] == "base"
    result = found["model-index"][0]
    assert result["name"] == "a_judge <b>|*x*"
    assert len(result["results"]) == 2
    verdict = json.loads((merged.parent / "verdict.json").read_bytes())
    values = {one["type"]: one["value"] for one in result["results"][0]["metrics"]}
    assert values["selectivity"] == verdict["candidate"]["rows"][0]["selectivity"]


def test_hostile_texts_stay_texts(merged: Path) -> None:
    text = written(merged)
    assert r"# a\_judge \<b\>\|\*x\*" in text
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if line.startswith("| ---"):
            columns = line.count("|")
            for row in (lines[at - 1], *_rows_after(lines, at)):
                assert len(re.findall(r"(?<!\\)\|", row)) == columns, row


def _rows_after(lines: list[str], at: int) -> list[str]:
    rows = []
    for line in lines[at + 1 :]:
        if not line.startswith("|"):
            break
        rows.append(line)
    return rows


def test_the_same_records_give_the_same_bytes(merged: Path) -> None:
    assert written(merged) == written(merged)


def test_the_judge_file_on_the_card_can_be_read(merged: Path, tmp_path: Path) -> None:
    import tomllib

    from chaincheck.judges.causal import CausalSettings

    block = re.search(r"```toml\n(.*?)```", written(merged), re.DOTALL)
    assert block
    keys = tomllib.loads(block[1])
    assert keys.pop("kind") == "causal"
    settings = msgspec.convert(keys, CausalSettings)
    assert settings.prompt == "sufficiency"


def test_a_prompt_that_is_not_ours_is_given_in_full(tmp_path: Path) -> None:
    settings = json.loads(json.dumps(load_prompt("sufficiency").settings))
    # TOML knows no character written as two, as JSON writes those beyond 16 bits.
    settings["user"] = 'Other "words" \U0001f600 \x7f\n```\n{question} {passages}'
    merged = release(tmp_path, prompt=settings)
    blocks = re.findall(r"(`{3,})toml\n(.*?)\n\1", written(merged), re.DOTALL)
    (tmp_path / "prompt.toml").write_text(blocks[1][1], "utf-8")
    assert json.loads(json.dumps(load_prompt(str(tmp_path / "prompt.toml")).settings)) == settings


@pytest.mark.parametrize(
    "value",
    [
        '\U0001f600 \x7f \x1f \\ " é',
        ["a", "\U0001f600"],
        {"a b": {"é": [True, 1.5, 2]}},
        1e-7,
        False,
    ],
    ids=repr,
)
def test_values_are_written_as_toml(value: object) -> None:
    import tomllib

    assert tomllib.loads(f"value = {card_text._toml(value)}")["value"] == value


DOTTED = (
    *("merge audit.counts", "merge audit.lost", "merge audit.notes", "merge scores.compared"),
    *("merge audit.passed", "merge merged.files", "merge adapter.settings", "merge base.weights"),
    *("run recipe", "run base", "training steps", "training triplets", "training kept"),
    *("training acquisition", "training recipe", "training base.weights"),
    *("verdict candidate.rows", "verdict base.rows", "verdict comparison.rows", "verdict limits"),
    *("verdict conditions", "verdict lock", "verdict name", "verdict passed", "verdict gate"),
    *("verdict differences", "verdict provenance", "verdict notes", "verdict instruments"),
)


class TestRefusals:
    @pytest.mark.parametrize("value", [None, 5, "x", [], {}], ids=repr)
    @pytest.mark.parametrize("place", DOTTED)
    def test_whatever_a_record_lacks_or_holds_instead(
        self, place: str, value: object, merged: Path
    ) -> None:
        """No card, or one that says what little is there: never a traceback."""
        record, _, dotted = place.partition(" ")
        *parents, key = dotted.split(".")

        def change(plain: dict[str, Any]) -> None:
            for parent in parents:
                plain = plain[parent]
            if value is None:
                del plain[key]
            else:
                plain[key] = value

        names = {"merge": merged / PROVENANCE, "verdict": merged.parent / "verdict.json"}
        path = names.get(record, merged.parent / "run" / f"{record}.json")
        (reseal if record in names else edit_json)(path, change)
        try:
            written(merged)
        except IntegrityError:
            assert not (merged / "README.md").exists()
        else:
            assert value is not None

    @pytest.mark.parametrize(
        "change",
        [
            lambda one: one["audit"].update(lost=0.0),
            lambda one: one["audit"]["counts"].update(merged=99),
            lambda one: one["scores"].update(largest=0.0),
            lambda one: one["base"].update(name="another"),
        ],
    )
    def test_a_merge_that_was_edited(self, change: Any, merged: Path) -> None:
        edit_json(merged / PROVENANCE, change)
        with pytest.raises(IntegrityError, match="not as it was written"):
            written(merged)

    @pytest.mark.parametrize(
        "change",
        [
            lambda one: one.update(passed=not one["passed"]),
            lambda one: one["conditions"][0].update(passed=not one["conditions"][0]["passed"]),
            lambda one: one["conditions"][0].update(bound=-9.0),
            lambda one: one["conditions"].pop(),
            lambda one: one.update(conditions=[]),
            lambda one: one.update(gate="0" * 64),
            lambda one: one["lock"]["plan"].update(margin=0.5),
        ],
    )
    def test_a_verdict_that_contradicts_itself(self, change: Any, merged: Path) -> None:
        reseal(merged.parent / "verdict.json", change)
        with pytest.raises(IntegrityError, match="what its own conditions come to"):
            written(merged)

    @pytest.mark.parametrize(
        "name",
        [
            *("adapter_config.json", "modeling_own.py", "vocab.json", "merges.txt", "more.jinja"),
            *("pytorch_model.bin", "sub/tokenizer.model"),
        ],
    )
    def test_a_file_that_was_added(self, name: str, merged: Path) -> None:
        (merged / name).parent.mkdir(exist_ok=True)
        (merged / name).write_text("{}", "utf-8")
        with pytest.raises(IntegrityError, match="was not there when the model was merged"):
            written(merged)

    def test_a_file_that_no_loader_reads_may_be_added(self, merged: Path) -> None:
        (merged / "NOTES.md").write_text("x", "utf-8")
        (merged / "judge.toml").write_text("x", "utf-8")
        assert written(merged) == written(merged), "nor does a card stand in a new one's way"

    def test_settings_of_the_adapter_that_were_changed(self, merged: Path) -> None:
        edit_json(
            merged.parent / "run" / "adapter" / "adapter_config.json",
            lambda one: one.update(lora_alpha=9),
        )
        with pytest.raises(IntegrityError, match="the adapter's settings of the training run"):
            written(merged)

    def test_a_scale_that_is_not_the_recipe_s(self, merged: Path) -> None:
        reseal(merged / PROVENANCE, lambda one: one["adapter"]["settings"].update(lora_alpha=9))
        with pytest.raises(IntegrityError, match="alpha of the recipe"):
            written(merged)

    def test_a_run_whose_sealed_records_were_edited(self, merged: Path) -> None:
        run = merged.parent / "run"
        plain = json.loads((run / "training.json").read_bytes())
        write_summary(run, msgspec.convert(plain, TrainingSummary))
        written(merged)
        edit_json(run / "run.json", lambda one: one.update(more=1))
        with pytest.raises(IntegrityError, match="is not that of the run which ended"):
            written(merged)
        edit_json(run / "training.json", lambda one: one.update(steps=[900, 900]))
        with pytest.raises(IntegrityError, match="its digest is another"):
            written(merged)

    @pytest.mark.parametrize(
        "out",
        [
            *("{}/model.safetensors", f"{{}}/{PROVENANCE}", "{}/config.json", "verdict.json"),
            *("run/training.json", "run/adapter/adapter_config.json"),
        ],
    )
    def test_the_card_is_not_written_over_what_it_is_made_of(
        self, out: str, merged: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder = merged.parent
        path = folder / out.format(merged.name)
        before = path.read_bytes()
        options = ["--run", str(folder / "run"), "--verdict", str(folder / "verdict.json")]
        assert main(["card", str(merged), *options, "--out", str(path)]) == 2
        assert "by the same command" in capsys.readouterr().err or path.parent != merged
        assert path.read_bytes() == before

    @pytest.mark.parametrize(
        "name", [f"{{}}/{PROVENANCE}", "run/run.json", "run/training.json", "verdict.json"]
    )
    def test_a_missing_record(self, name: str, merged: Path) -> None:
        (merged.parent / name.format(merged.name)).unlink()
        with pytest.raises(UnreadableFile):
            written(merged)
        assert not (merged / "README.md").exists()

    def test_a_verdict_that_was_edited(self, merged: Path) -> None:
        edit_json(merged.parent / "verdict.json", lambda one: one["candidate"]["rows"].pop())
        with pytest.raises(IntegrityError, match="not as it was written"):
            written(merged)

    def test_weights_that_were_changed(self, merged: Path) -> None:
        rewrite(merged, {"model.layers.0.norm.weight": torch.zeros(8, dtype=torch.bfloat16)})
        with pytest.raises(IntegrityError, match="not as it was when the model was merged"):
            written(merged)

    def test_another_tokenizer(self, merged: Path) -> None:
        (merged / "tokenizer.json").write_text("{ }", "utf-8")
        with pytest.raises(IntegrityError, match="not as it was when the model was merged"):
            written(merged)

    def test_the_adapter_of_another_run(self, merged: Path) -> None:
        shutil.copy(
            merged.parent / "base" / "model.safetensors", merged.parent / "run/adapter" / ADAPTER
        )
        with pytest.raises(IntegrityError, match="the adapter of the training run is not"):
            written(merged)

    def test_another_base(self, merged: Path) -> None:
        edit_json(
            merged.parent / "run" / "training.json", lambda one: one["base"].update(weights="x")
        )
        with pytest.raises(IntegrityError, match="the base of the training run is not"):
            written(merged)

    @pytest.mark.parametrize("what", ["recipe", "data", "validation"])
    def test_a_run_that_began_otherwise(self, what: str, merged: Path) -> None:
        def change(record: dict[str, Any]) -> None:
            record[what] = {**record[what], "seed": 7} if what == "recipe" else "another"

        edit_json(merged.parent / "run" / "run.json", change)
        with pytest.raises(IntegrityError, match=f"its {what} is not what the run ended with"):
            written(merged)

    @pytest.mark.parametrize("who", ["base", "candidate"])
    def test_a_gate_of_another_model(self, who: str, merged: Path) -> None:
        def change(record: dict[str, Any]) -> None:
            record["instruments"][who]["model"]["weights"] = "0" * 64
            record["digest"] = digest_of(record)

        edit_json(merged.parent / "verdict.json", change)
        with pytest.raises(IntegrityError, match=f"the {who} of the gate is not"):
            written(merged)

    def test_a_record_that_lacks_a_part(self, merged: Path) -> None:
        edit_json(merged.parent / "run" / "run.json", lambda one: one.pop("base"))
        with pytest.raises(IntegrityError, match="lacks what a card needs"):
            written(merged)

    def test_by_the_command_line(self, merged: Path, capsys: pytest.CaptureFixture[str]) -> None:
        folder = merged.parent
        command = [
            *("card", str(merged), "--run", str(folder / "run")),
            *("--verdict", str(folder / "verdict.json")),
        ]
        assert main(command) == 0
        assert (merged / "README.md").is_file()
        assert "written" in capsys.readouterr().out
        (merged / "config.json").write_text("{}", "utf-8")
        assert main(command) == 3


class TestScoredAsAdapter:
    def test_it_says_so_and_how_far_the_merged_weights_are(self, tmp_path: Path) -> None:
        text = written(release(tmp_path, scored="adapter"))
        assert "The numbers below are of base and adapter" in text

    def test_it_is_refused_where_nothing_compares_them(self, tmp_path: Path) -> None:
        merged = release(tmp_path, scored="adapter", drift=False)
        with pytest.raises(IntegrityError, match="nothing says how the merged model scores"):
            read_records(merged, tmp_path / "run", tmp_path / "verdict.json")


def test_escaping() -> None:
    assert escaped("a|b\n# <script>&`*_[x](y)") == (r"a\|b \# \<script\>\&\`\*\_\[x\]\(y\)")
    assert code("plain") == "`plain`"
    assert code("a`b") == r"a\`b"
    assert fenced("```\nx", "toml") == "````toml\n```\nx\n````"
