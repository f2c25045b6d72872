"""Judges' TOML files, whatever their kind: a misspelled key, a password, a context of nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recorded_judges import Fake, make_item, make_items

from chaincheck.cli import main
from chaincheck.errors import InvalidItem, MissingJudgment, UnjudgeableItem, UsageError
from chaincheck.items import read_items
from chaincheck.judges import CUES, KINDS, NAMED, LexicalJudge, open_judge
from chaincheck.judges.record import LiveJudge

PAIRS = [(kind, key) for kind, (_, keys) in KINDS.items() for key in sorted(keys)]
SECRETS = (
    "https://me:s3cret@host.example/v1",
    "HTTP://s3cret@host",
    "see http://a:s3cret@b for it",
    "https://host.example/v1?api_key=s3cret",
    "https://host.example/v1?x=1&token=s3cret",
)


def write(folder: Path, **keys: Any) -> str:
    path = folder / "judge.toml"
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize(("kind", "key"), PAIRS)
def test_a_misspelled_key_is_refused_with_the_nearest(tmp_path: Path, kind: str, key: str) -> None:
    wrong = key[0] + key[2:] if len(key) > 2 else key + key
    assert wrong not in KINDS[kind][1]
    with pytest.raises(UsageError, match=f"unknown key '{wrong}'") as caught:
        open_judge(write(tmp_path, kind=kind, **{wrong: "x"}))
    assert f"Did you mean '{key}'" in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_like_no_other_is_refused_with_all_that_there_are(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_judge(write(tmp_path, kind=kind, zzzz=1))
    assert all(key in str(caught.value) for key in KINDS[kind][1])


@pytest.mark.parametrize("kind", KINDS)
def test_a_misspelled_kind_is_refused_with_the_nearest(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UsageError, match=f"Did you mean '{kind}'"):
        open_judge(write(tmp_path, kind=kind[:-1]))


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("kind", KINDS)
def test_an_address_with_credentials_is_refused_and_never_quoted(
    tmp_path: Path, kind: str, secret: str, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "t.jsonl"
    data.write_text("")
    for key in [*sorted(KINDS[kind][1]), "unknown", "kind"]:
        for value in (secret, [secret], [["x", secret]]):
            path = write(tmp_path, **{"kind": kind, key: value})
            with pytest.raises(UsageError, match="holds an address with credentials") as caught:
                open_judge(path)
            assert "s3cret" not in str(caught.value)
            assert f"'{key}'" in str(caught.value)
    words = ["score", "--data", str(data), "--judge", path, "--out", str(tmp_path / "s.jsonl")]
    assert main(words) == 2
    assert "s3cret" not in "".join(capsys.readouterr())


def test_an_address_in_a_table_is_found_too(tmp_path: Path) -> None:
    path = tmp_path / "judge.toml"
    path.write_text(f'kind = "server"\n[request.inner]\nproxy = "{SECRETS[0]}"\n')
    with pytest.raises(UsageError, match="'request' holds an address with credentials"):
        open_judge(str(path))


@pytest.mark.parametrize(
    "text", ["https://host.example/v1", "ask me@host.example", "http://h/a@b", "a:b@c", "x?key=1"]
)
def test_what_holds_no_credentials_is_let_by(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="no lexical judge"):
        open_judge(write(tmp_path, kind="lexical", cue=text))


def test_a_name_that_is_none_is_refused_with_the_nearest() -> None:
    for name in (*CUES, *NAMED):
        with pytest.raises(UsageError, match=f"Did you mean '{name}'"):
            open_judge(name[:-1])


class TestNoPassages:
    """No judge makes up a score for a context of nothing."""

    EMPTY = make_item(0, passages=())

    def test_such_an_item_is_no_item_of_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        row = {"item_id": "i", "pair_id": "p", "variant": "real", "cell": "A", "query": "q"}
        path.write_text(json.dumps({**row, "passages": []}) + "\n")
        with pytest.raises(InvalidItem, match="passages"):
            list(read_items(path))

    @pytest.mark.parametrize("cue", CUES)
    def test_lexical(self, cue: str) -> None:
        with pytest.raises(UnjudgeableItem, match="no passages"):
            list(LexicalJudge(cue).score([self.EMPTY]))

    def test_log(self, tmp_path: Path) -> None:
        with LiveJudge(Fake(), tmp_path / "log.jsonl") as judge:
            list(judge.score(make_items(1)))
        judge_file = write(tmp_path, kind="log", path="log.jsonl")
        with pytest.raises(MissingJudgment):
            list(open_judge(judge_file).score([self.EMPTY]))

    def test_server(self, tmp_path: Path) -> None:
        """Before anything is asked: nothing listens at this address."""
        keys = {"url": "http://127.0.0.1:9/v1", "model": "m", "mode": "top"}
        with pytest.raises(UnjudgeableItem, match="no passages"):
            list(open_judge(write(tmp_path, kind="server", **keys)).score([self.EMPTY]))
