"""Single columns: liberal in what the published files may hold, strict beyond that."""

from __future__ import annotations

import pytest

from chaincheck.columns import (
    chain_state,
    flag,
    hop_number,
    identifier,
    optional_text,
    passage_list,
    support_indices,
    text,
)


@pytest.mark.parametrize(
    ("value", "meaning"),
    [(True, True), (False, False), (1, True), (0, False), (1.0, True), (0.0, False), (None, None)],
)
def test_flag(value: object, meaning: bool | None) -> None:
    assert flag(value) is meaning


@pytest.mark.parametrize("value", [2, -1, 0.5, "true", "", [], {}, float("nan")])
def test_flag_refuses(value: object) -> None:
    with pytest.raises(ValueError, match="should be true, false, 0, 1 or null"):
        flag(value)


@pytest.mark.parametrize(
    ("value", "meaning"),
    [(0, (0,)), (2, (2,)), ([0, 2], (0, 2)), ([], ()), (None, ()), (True, ()), (False, ())],
)
def test_support(value: object, meaning: tuple[int, ...]) -> None:
    assert support_indices(value, 3) == meaning


@pytest.mark.parametrize("value", [3, -1, [0, 3], [-1], 10**30])
def test_support_out_of_range(value: object) -> None:
    with pytest.raises(ValueError, match="out of range: the row has 3 passages"):
        support_indices(value, 3)


@pytest.mark.parametrize("value", ["0", 1.0, [True], [None], [[0]], {}])
def test_support_of_the_wrong_type(value: object) -> None:
    with pytest.raises(ValueError, match="should be a passage index"):
        support_indices(value, 3)


def test_identifier() -> None:
    assert identifier("a b") == "a b"
    assert identifier(7) == "7"
    for wrong in ("", " ", None, True, 1.0, []):
        with pytest.raises(ValueError, match="not blank"):
            identifier(wrong)


def test_texts() -> None:
    assert text(" x ") == " x "
    assert optional_text(None) is None
    assert optional_text("") == ""
    for wrong in ("", "\n", None, 1):
        with pytest.raises(ValueError, match="not blank"):
            text(wrong)
    with pytest.raises(ValueError, match="text or null"):
        optional_text(5)


def test_passages() -> None:
    assert passage_list(["a", "b\n"]) == ("a", "b\n")
    for wrong, problem in (
        ([], "at least one"),
        ("a", "list of texts"),
        (None, "list of texts"),
        ([""], "passage 0 is blank"),
        (["a", " \n"], "passage 1 is blank"),
        (["a", 1], "passage 1 should be text"),
        (["a", ["b"]], "passage 1 should be text"),
    ):
        with pytest.raises(ValueError, match=problem):
            passage_list(wrong)


def test_chain_and_link() -> None:
    assert [chain_state(v) for v in ("intact", "broken", True, False, None)] == [
        "intact",
        "broken",
        "intact",
        "broken",
        None,
    ]
    assert [hop_number(v) for v in (2, 4, None)] == [2, 4, None]
    for wrong in ("whole", 1, []):
        with pytest.raises(ValueError, match="intact, broken"):
            chain_state(wrong)
    for wrong in (1, 0, True, "2", 2.0):
        with pytest.raises(ValueError, match="hop's number"):
            hop_number(wrong)
