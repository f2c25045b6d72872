from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from chaincheck.adherence.hop_questions import steps_of
from chaincheck.adherence.scripted import scripted
from chaincheck.cli import main
from chaincheck.items import Item, read_items, write_items
from chaincheck.sources.facts import FactsSource
from chaincheck.triplets import build


@pytest.fixture(scope="module")
def items() -> list[Item]:
    records = itertools.islice(FactsSource().read(), 0, None, 40)
    return list(build(records, variants=("real",), cells=("A", "B", "D", "C"), distractors=2).items)


@pytest.fixture
def data(items: list[Item], tmp_path: Path) -> Path:
    path = tmp_path / "t.jsonl.gz"
    write_items(path, items)
    return path


def replies(path: Path, items: list[Item], **faults: str) -> Path:
    rows = [{"item_id": one.item_id, "reply": scripted(one, faults.get(one.cell))} for one in items]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def loaded(path: Path) -> Any:
    return json.loads(path.read_text())


class TestReplays:
    def test_from_replies_to_rates(self, items: list[Item], data: Path, tmp_path: Path) -> None:
        said = replies(tmp_path / "r.jsonl", items, D="over-claim")
        out, rates = tmp_path / "replays.jsonl", tmp_path / "claims.json"
        assert (
            main(
                [
                    "audit",
                    "replays",
                    "--data",
                    str(data),
                    "--rationales",
                    str(said),
                    "--out",
                    str(out),
                ]
            )
            == 0
        )
        assert main(["audit", "batch", str(out), "--out", str(tmp_path / "reports.jsonl")]) == 0
        reports = [
            json.loads(line) for line in (tmp_path / "reports.jsonl").read_text().splitlines()
        ]
        assert [one["id"] for one in reports] == [one.item_id for one in items]
        command = [
            "audit",
            "claims",
            "--data",
            str(data),
            "--replays",
            str(out),
            "--json",
            str(rates),
        ]
        assert main(command) == 0
        found = {row["cell"]: row["over_claim"] for row in loaded(rates)["cells"]}
        count = len(items) // 4
        assert (found["D"]["found"], found["C"]["found"], found["D"]["n"]) == (count, 0, count)

    def test_invalid_replies_are_counted_apart(
        self, items: list[Item], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = replies(tmp_path / "r.jsonl", items, B="prose")
        out, found = tmp_path / "replays.jsonl", tmp_path / "made.json"
        command = [
            "audit",
            "replays",
            "--data",
            str(data),
            "--rationales",
            str(said),
            "--out",
            str(out),
        ]
        assert main([*command, "--json", str(found)]) == 2
        count = len(items) // 4
        made = loaded(found)
        assert made["invalid_codes"] == {"NOT_JSON": count} and "B" not in made["replays"]
        assert len(out.read_text().splitlines()) == 3 * count
        assert main(command) == 2
        assert f"{count} replies INVALID" in capsys.readouterr().out

    def test_the_strict_protocol(self, items: list[Item], data: Path, tmp_path: Path) -> None:
        said = replies(tmp_path / "r.jsonl", items)
        out = tmp_path / "replays.jsonl"
        command = ["audit", "replays", "--data", str(data), "--rationales", str(said)]
        assert main([*command, "--strict", "--out", str(out)]) == 0
        protocols = {json.loads(line)["protocol"]["id"] for line in out.read_text().splitlines()}
        assert protocols == {"chain-evidence/1s"}

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ('{"item_id": "nobody", "reply": "{}"}', "nobody"),
            ('{"item_id": "x"}', '"reply"'),
            ('{"item_id": "x", "reply": {"verdict": "yes"}}', "as it came"),
            ('{"item_id": "", "reply": ""}', "both texts"),
            ("nothing", "JSON"),
        ],
    )
    def test_bad_files_are_named(
        self,
        data: Path,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        line: str,
        message: str,
    ) -> None:
        said, out = tmp_path / "r.jsonl", tmp_path / "replays.jsonl"
        said.write_text(line + "\n")
        command = [
            "audit",
            "replays",
            "--data",
            str(data),
            "--rationales",
            str(said),
            "--out",
            str(out),
        ]
        assert main(command) == 2
        err = capsys.readouterr().err
        assert message in err and "r.jsonl:1" in err and "Traceback" not in err
        assert not out.exists()

    def test_a_reply_twice(
        self, items: list[Item], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        said = replies(tmp_path / "r.jsonl", [items[0], items[0]])
        command = ["audit", "replays", "--data", str(data), "--rationales", str(said)]
        assert main([*command, "--out", str(tmp_path / "o.jsonl")]) == 2
        assert "two replies" in capsys.readouterr().err
        assert main([*command[:4], "--out", str(tmp_path / "o.jsonl")]) == 2  # no replies at all


class TestAsk:
    def ask(self, data: Path, out: Path, *more: str) -> int:
        return main(["audit", "ask", "--data", str(data), "--out", str(out), *more])

    def test_a_judge_that_gives_scores(self, items: list[Item], data: Path, tmp_path: Path) -> None:
        out, scores = tmp_path / "replays.jsonl", tmp_path / "s.jsonl"
        made, rates, plot = tmp_path / "m.json", tmp_path / "c.json", tmp_path / "c.svg"
        asked = ("--judge", "lexical", "--threshold", "split-half", "--scores", str(scores))
        assert self.ask(data, out, *asked, "--json", str(made)) == 0
        assert all(len(values) == 2 for values in loaded(made)["thresholds"].values())
        command = ["audit", "claims", "--data", str(data), "--replays", str(out)]
        pytest.importorskip("matplotlib", reason="the extra 'plot' is not installed")
        more = ["--scores", str(scores), "--json", str(rates), "--plot", str(plot)]
        assert main([*command, *more]) == 0
        (joined,) = loaded(rates)["joined"]
        assert joined["pairs"] == len(items) // 4 and plot.read_bytes().startswith(b"<?xml")
        assert loaded(rates)["dimensions"]["procedure"]["unknown"] == len(items)
        assert main([*command, "--plot", str(plot)]) == 2  # the figure needs scores

    def test_a_recorded_log_needs_no_judge(
        self, items: list[Item], data: Path, tmp_path: Path
    ) -> None:
        log, first, second = (tmp_path / name for name in ("log.jsonl", "1.jsonl", "2.jsonl"))
        assert self.ask(data, first, "--judge", "lexical", "--log", str(log), "--live") == 0
        assert self.ask(data, second, "--log", str(log)) == 0
        assert first.read_bytes() == second.read_bytes()
        # A log of scores holds no rationales.
        command = ["audit", "replays", "--data", str(data), "--log", str(log), "--out", str(second)]
        assert main(command) == 3

    def test_a_column_of_ones_own(self, items: list[Item], tmp_path: Path) -> None:
        steps = steps_of(FactsSource().read())
        own = [
            msgspec.structs.replace(
                one,
                source="documents",
                extra={"hop_questions": list(steps["facts", one.source_id, one.link])},
            )
            for one in items
        ]
        for name, rows in (("own", own), ("facts", items)):
            write_items(tmp_path / f"{name}.jsonl", rows)
            out = tmp_path / f"{name}-replays.jsonl"
            assert self.ask(tmp_path / f"{name}.jsonl", out, "--judge", "lexical") == 0
        assert (tmp_path / "own-replays.jsonl").read_bytes() == (
            tmp_path / "facts-replays.jsonl"
        ).read_bytes()

    def test_longer_chains_are_left_out_and_counted(
        self, items: list[Item], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        longer = [msgspec.structs.replace(one, link=3) for one in items[:4]]
        write_items(tmp_path / "l.jsonl", [*longer, *items[4:]])
        out = tmp_path / "o.jsonl"
        assert self.ask(tmp_path / "l.jsonl", out, "--judge", "lexical") == 0
        assert "4 items of longer chains" in capsys.readouterr().out
        assert len(out.read_text().splitlines()) == len(items) - 4

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ((), "no judge to ask"),
            (("--judge", "lexical", "--live"), "no log to record in"),
            (("--judge", "lexical", "--threshold", "nan"), "split-half"),
            (("--judge", "lexical", "--threshold", "half"), "split-half"),
            (("--judge", "lexical", "--source", "musique"), "needs its file"),
        ],
    )
    def test_what_cannot_be_asked(
        self, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
        more: tuple[str, ...], message: str,
    ) -> None:  # fmt: skip
        assert self.ask(data, tmp_path / "o.jsonl", *more) == 2
        assert message in capsys.readouterr().err

    def test_data_that_nothing_words(
        self, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        rows = [msgspec.structs.replace(one, source="hotpot") for one in read_items(data)]
        write_items(tmp_path / "h.jsonl", rows)
        assert self.ask(tmp_path / "h.jsonl", tmp_path / "o.jsonl", "--judge", "lexical") == 2
        assert "hop_questions" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2])
def test_one_is_not_written_as_several_nor_several_as_one(
    items: list[Item], tmp_path: Path, capsys: pytest.CaptureFixture[str], count: int
) -> None:
    cells = items[:count]
    longer = [msgspec.structs.replace(one, link=3) for one in items[4 : 4 + count]]
    data, both = tmp_path / "d.jsonl", tmp_path / "both.jsonl"
    write_items(data, cells)
    write_items(both, [*cells, *longer])
    good, prose = tmp_path / "good.jsonl", tmp_path / "prose.jsonl"
    replies(good, cells)
    replies(prose, cells, **dict.fromkeys("ABCD", "prose"))
    replays, mixed = tmp_path / "r.jsonl", tmp_path / "mixed.jsonl"

    def run(*words: str | Path) -> str:
        main(["audit", *map(str, words)])
        out, err = capsys.readouterr()
        assert out + err
        return out + err

    shown = [
        run("replays", "--data", data, "--rationales", good, "--out", replays),
        run("claims", "--data", data, "--replays", replays),
        run("claims", "--data", both, "--replays", replays),
        run("replays", "--data", data, "--rationales", prose, "--out", tmp_path / "none.jsonl"),
        run("ask", "--data", both, "--judge", "lexical", "--out", tmp_path / "asked.jsonl"),
        run("agreement", replays, replays, "--resamples", "100"),
        run("batch", replays, "--out", tmp_path / "reports.jsonl"),
    ]
    lines = replays.read_bytes().splitlines(keepends=True)
    mixed.write_bytes(b"".join([*lines, *[b"{}\n"] * count]))
    shown.append(run("batch", mixed, "--out", tmp_path / "mixed-reports.jsonl"))
    write_items(both, longer)
    shown.append(run("replays", "--data", both, "--rationales", good, "--out", replays))
    things = "replay|reply|line|item|triplet|annotation|requirement|claim"
    several = "replays|replies|lines|items|triplets|annotations|requirements|claims"
    text = "\n".join(shown)
    assert re.search(rf"\b{count} ({things if count == 1 else several})\b", text)
    wrong = rf"(?<![\w.,/])(?:1 (?:{several})|(?:[02-9]|[1-9]\d+) (?:{things}))\b"
    assert re.findall(wrong, text) == []


def test_a_terminal_gets_no_control_character_from_data(
    items: list[Item], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nasty = "x\u202e\u2028\u0007"
    rows = [
        msgspec.structs.replace(
            one,
            **{key: nasty + getattr(one, key) for key in ("item_id", "pair_id", "variant")},
        )
        for one in items[:8]
    ]
    data, said, out = tmp_path / "d.jsonl", tmp_path / "said.jsonl", tmp_path / "r.jsonl"
    write_items(data, rows)
    replies(said, rows, B="prose")
    told = [said.read_text(), json.dumps({"item_id": nasty, "reply": nasty}) + "\n"]
    commands = [
        ["replays", "--data", data, "--rationales", said, "--out", out],
        ["claims", "--data", data, "--replays", out],
        ["batch", out, "--out", tmp_path / "reports.jsonl"],
        ["agreement", out, out, "--resamples", "100"],
        ["ask", "--data", data, "--judge", "lexical", "--out", tmp_path / "asked.jsonl"],
    ]
    shown = ""
    for command in commands:
        main(["audit", *map(str, command)])
        shown += "".join(capsys.readouterr())
    said.write_text("".join(told))
    assert main(["audit", *map(str, commands[0])]) == 2
    shown += "".join(capsys.readouterr())
    assert nasty[0] + " " in shown
    assert all(ch == "\n" or ch.isprintable() for ch in shown)


def test_claims_refuse_replays_of_other_data(
    items: list[Item], data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "replays.jsonl"
    said = replies(tmp_path / "r.jsonl", items)
    assert (
        main(
            ["audit", "replays", "--data", str(data), "--rationales", str(said), "--out", str(out)]
        )
        == 0
    )
    write_items(tmp_path / "less.jsonl", items[4:])
    command = ["audit", "claims", "--data", str(tmp_path / "less.jsonl"), "--replays", str(out)]
    assert main(command) == 2
    out.write_bytes(out.read_bytes().splitlines(keepends=True)[5] * 2)
    assert main(command) == 2
    assert "two replays" in capsys.readouterr().err
