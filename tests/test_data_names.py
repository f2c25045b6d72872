"""The public names of the modules that read and write data are pinned."""

from __future__ import annotations

from importlib import import_module

import pytest

NAMES = {
    "chaincheck.atomic": [
        "OutputFile",
        "check_target",
        "open_output",
        "refuse_clashes",
        "sync_folder",
        "together",
        "write_bytes",
        "write_lines",
    ],
    "chaincheck.columns": [
        "chain_state",
        "flag",
        "hop_number",
        "identifier",
        "optional_text",
        "passage_list",
        "support_indices",
        "text",
    ],
    "chaincheck.index": ["IndexRow", "read_index"],
    "chaincheck.items": [
        "CELLS",
        "VARIANTS",
        "Edit",
        "Item",
        "Triplet",
        "content_hash",
        "decode_item",
        "encode_item",
        "group_triplets",
        "read_items",
        "read_triplets",
        "write_items",
    ],
    "chaincheck.jsonl": [
        "LONGEST_LINE",
        "decode_object",
        "decode_text",
        "open_bytes",
        "read_lines",
        "read_objects",
        "read_records",
    ],
    "chaincheck.pipes": ["check_rereadable", "keep_pipes", "open_raw"],
    "chaincheck.score_files": ["Scores", "hash_scores", "read_scores"],
    "chaincheck.scores": ["Joined", "hash_scores", "join_files", "read_scores"],
    "chaincheck.sources": ["EMBEDDED", "SOURCES", "open_source"],
    "chaincheck.sources.documents": ["COLUMNS", "Documents"],
    "chaincheck.sources.hotpot": ["Hotpot"],
    "chaincheck.sources.hub": ["Hub", "Place", "parse_place", "to_original"],
    "chaincheck.sources.musique": ["Musique"],
    "chaincheck.sources.records": ["NoChain", "Record", "Rows", "recognize"],
    "chaincheck.sources.relations": [
        "Step",
        "kind_of",
        "parse_step",
        "pronoun_of",
        "slot_name",
        "subject_kind_of",
    ],
    "chaincheck.sources.twowiki": ["TwoWiki"],
}


@pytest.mark.parametrize("name", NAMES)
def test_public_names(name: str) -> None:
    module = import_module(name)
    assert module.__all__ == NAMES[name]
    for public in NAMES[name]:
        assert hasattr(module, public)
