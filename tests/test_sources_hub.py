"""The hub reader on local copies in the hub's own layouts, and without its packages."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chaincheck.chains import Chain, Unusable
from chaincheck.errors import MissingExtra, UnreadableFile, UsageError, WrongSource
from chaincheck.sources import hub, open_source
from chaincheck.sources.hub import Hub, Place, parse_place, to_original
from chaincheck.sources.records import recognize

TWOWIKI: dict[str, Any] = {
    "_id": "w1",
    "type": "compositional",
    "question": "Where was the director of film Arrival (Film) born?",
    "context": [
        ["Noise", ["Nothing here."]],
        ["Denis Villeneuve", ["He films.", "Denis Villeneuve was born in Gentilly."]],
        ["Arrival (film)", ["Arrival is a film.", "It was directed by Denis Villeneuve."]],
    ],
    "supporting_facts": [["Arrival (film)", 1], ["Denis Villeneuve", 1]],
    "evidences": [
        ["Arrival", "director", "Denis Villeneuve"],
        ["Denis Villeneuve", "place of birth", "Gentilly"],
    ],
    "answer": "Gentilly",
}
HOTPOT: dict[str, Any] = {
    key: value for key, value in TWOWIKI.items() if key not in ("evidences", "type")
} | {"type": "bridge", "level": "hard"}
MUSIQUE: dict[str, Any] = {
    "id": "2hop__1",
    "paragraphs": [
        {"idx": 0, "title": "Arrival", "paragraph_text": "By Denis.", "is_supporting": True},
        {"idx": 1, "title": "Denis", "paragraph_text": "From Gentilly.", "is_supporting": True},
    ],
    "question": "Where was the director of Arrival born?",
    "question_decomposition": [
        {"id": 1, "question": "Arrival >> director", "answer": "Denis", "paragraph_support_idx": 0},
        {"id": 2, "question": "#1 >> home", "answer": "Gentilly", "paragraph_support_idx": 1},
    ],
    "answer": "Gentilly",
    "answer_aliases": [],
    "answerable": True,
}


def as_columns(rows: list[list[Any]], *names: str) -> dict[str, list[Any]]:
    return {name: [row[k] for row in rows] for k, name in enumerate(names)}


def in_hub_layout(row: dict[str, Any]) -> dict[str, Any]:
    """Objects of columns, as a hub stores them, and ``id`` for ``_id``."""
    found = {("id" if key == "_id" else key): value for key, value in row.items()}
    found["context"] = as_columns(row["context"], "title", "sentences")
    found["supporting_facts"] = as_columns(row["supporting_facts"], "title", "sent_id")
    return found


class TestLayouts:
    """A row in a hub's layout becomes the row of the original file."""

    @pytest.mark.parametrize("row", [TWOWIKI, HOTPOT])
    def test_columns(self, row: dict[str, Any]) -> None:
        found = to_original(in_hub_layout(row))
        assert found == {("id" if key == "_id" else key): value for key, value in row.items()}

    def test_lists_of_objects(self) -> None:
        row = copy.deepcopy(TWOWIKI)
        row["context"] = [{"title": t, "content": s} for t, s in TWOWIKI["context"]]
        row["supporting_facts"] = [
            {"title": t, "sent_id": s} for t, s in TWOWIKI["supporting_facts"]
        ]
        row["evidences"] = [
            {"fact": s, "relation": r, "entity": o} for s, r, o in TWOWIKI["evidences"]
        ]
        assert to_original(row) == TWOWIKI

    def test_json_text(self) -> None:
        row = {
            key: json.dumps(value) if isinstance(value, list) else value
            for key, value in TWOWIKI.items()
        }
        assert to_original(row) == TWOWIKI
        assert to_original({"context": "no json"}) == {"context": "no json"}

    def test_musique_as_columns_with_nulls(self) -> None:
        row = {
            **MUSIQUE,
            "paragraphs": {
                key: [paragraph[key] for paragraph in MUSIQUE["paragraphs"]]
                for key in MUSIQUE["paragraphs"][0]
            },
            "surplus": None,
        }
        assert to_original(row) == MUSIQUE

    @pytest.mark.parametrize(
        "row", [{}, {"context": {}}, {"context": {"title": [1], "sentences": []}}, {"context": 5}]
    )
    def test_anything_else_is_left_for_the_reader_to_judge(self, row: dict[str, Any]) -> None:
        assert to_original(row) == row

    def test_recognized(self) -> None:
        assert [recognize(row) for row in (TWOWIKI, HOTPOT, MUSIQUE)] == [
            "twowiki",
            "hotpot",
            "musique",
        ]


def test_place() -> None:
    assert parse_place("hub:a/b") == Place("a/b")
    assert parse_place("a/b?config=c&split=d&revision=e") == Place("a/b", "c", "d", "e")
    for wrong in ("", "hub:", "?split=x", "a/b?spilt=x"):
        with pytest.raises(UsageError):
            parse_place(wrong)


def test_missing_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match=r"pip install 'chaincheck-book\[hub\]'"):
        list(Hub().read(tmp_path))


def test_nothing_heavy_is_imported_before_reading() -> None:
    code = (
        "import sys\nfrom chaincheck.sources import open_source\nopen_source('hub:a/b')\n"
        "assert not {'datasets', 'huggingface_hub', 'pyarrow', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


class TestFolders:
    """A folder of parquet or JSON files is read without the network."""

    @pytest.fixture(autouse=True)
    def offline(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        pytest.importorskip("datasets", reason="the extra 'hub' is not installed")
        monkeypatch.setattr("datasets.config.HF_DATASETS_OFFLINE", True)
        monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")

    @staticmethod
    def parquet(folder: Path, split: str, rows: list[dict[str, Any]]) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{split}-00000-of-00001.parquet")
        return folder

    @staticmethod
    def lines(folder: Path, split: str, rows: list[dict[str, Any]]) -> Path:
        folder.mkdir(exist_ok=True)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{split}.jsonl").write_text(text)
        return folder

    @pytest.mark.parametrize("layout", ["parquet", "lines"])
    @pytest.mark.parametrize(
        ("source", "row"),
        [
            ("musique", MUSIQUE),
            ("twowiki", in_hub_layout(TWOWIKI)),
            ("hotpot", in_hub_layout(HOTPOT)),
        ],
    )
    def test_layouts(self, tmp_path: Path, layout: str, source: str, row: dict[str, Any]) -> None:
        folder = getattr(self, layout)(tmp_path / "set", "validation", [row])
        (chain,) = open_source("hub").read(folder)
        assert isinstance(chain, Chain)
        assert (chain.source, chain.source_id, chain.answer) == (source, row["id"], "Gentilly")
        assert chain.bridge in ("Denis", "Denis Villeneuve")
        assert chain.extra == {"hub": "set", "hub_revision": "local"}

    def test_equal_to_the_original_file(self, tmp_path: Path) -> None:
        rows = [in_hub_layout({**TWOWIKI, "_id": f"w{k}"}) for k in range(5)]
        rows.append(in_hub_layout({**TWOWIKI, "type": "comparison"}))
        folder = self.parquet(tmp_path / "set", "train", rows)
        found = list(open_source(f"hub:{folder}").read(""))
        assert [one.source_id for one in found] == ["w0", "w1", "w2", "w3", "w4", "w1"]
        assert isinstance(found[-1], Unusable) and found[-1].code == "comparison-question"

    def test_splits(self, tmp_path: Path) -> None:
        folder = self.lines(tmp_path / "set", "train", [MUSIQUE])
        self.lines(folder, "validation", [{**MUSIQUE, "id": "2hop__2"}])
        reader = Hub()
        assert [one.source_id for one in reader.read(folder)] == ["2hop__2"]
        assert [one.source_id for one in reader.read(f"{folder}?split=train")] == ["2hop__1"]
        assert reader.revision == "local"
        with pytest.raises(UsageError, match=r"has no split 'dev'.*Its splits are: train"):
            list(reader.read(f"{folder}?split=dev"))

    def test_other_columns(self, tmp_path: Path) -> None:
        folder = self.lines(tmp_path / "set", "train", [{"text": "a"}])
        with pytest.raises(WrongSource, match="its columns are 'text'"):
            list(Hub().read(folder))

    def test_broken_files_and_empty_folders(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableFile):
            (tmp_path / "empty").mkdir()
            list(Hub().read(tmp_path / "empty"))
        folder = self.lines(tmp_path / "set", "train", [MUSIQUE])
        (folder / "train.jsonl").write_text('{"id": ')
        with pytest.raises(UnreadableFile, match="the data set cannot be had"):
            list(Hub().read(folder))

    def test_a_name_is_looked_up_and_its_commit_recorded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import datasets
        import huggingface_hub

        folder = self.lines(tmp_path / "set", "train", [MUSIQUE])
        asked: list[Any] = []
        load = datasets.load_dataset

        class Api:
            def dataset_info(self, name: str, revision: str | None) -> Any:
                asked.append((name, revision))
                return type("Info", (), {"sha": "abc123"})()

        def stand_in(name: str, config: str | None, revision: str | None, streaming: bool) -> Any:
            asked.append((name, config, revision, streaming))
            return load(str(folder), streaming=streaming)

        monkeypatch.setattr(huggingface_hub, "HfApi", Api)
        monkeypatch.setattr(datasets, "load_dataset", stand_in)
        (chain,) = Hub("hub:owner/name?config=c&revision=v1").read()
        assert isinstance(chain, Chain)
        assert chain.extra == {"hub": "owner/name", "hub_revision": "abc123"}
        assert asked == [("owner/name", "v1"), ("owner/name", "c", "abc123", True)]

    def test_no_network(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import huggingface_hub

        class Api:
            def dataset_info(self, *_: Any, **__: Any) -> Any:
                raise ConnectionError("Name or service not known")

        monkeypatch.setattr(huggingface_hub, "HfApi", Api)
        with pytest.raises(UnreadableFile, match=r"owner/name: .*Name or service not known"):
            list(hub.Hub("hub:owner/name").read())
