"""Krippendorff's alpha against a published example and his pairs counted out; quotes; statuses."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.adherence.agreement import compare_annotations, compare_files, jaccard, readings
from chaincheck.adherence.encode import encode_replay
from chaincheck.adherence.examples import CASES, chain_case, claims_case
from chaincheck.adherence.krippendorff import alpha, alpha_of_tables
from chaincheck.adherence.replay import Annotation, Recorded, Replay, Span
from chaincheck.errors import InputError, InvalidReplay, UsageError

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve
# units, five nominal categories, missing values. He gives alpha = 0.743.
PUBLISHED = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
# The same, section A: two observers, ten units, two categories; alpha = 0.095.
BINARY = ("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")


def columns(rows: tuple[str, ...]) -> list[tuple[str | None, ...]]:
    split = [[None if value == "." else value for value in row.split()] for row in rows]
    return list(zip(*split, strict=True))


def by_pairs(units: list[tuple[str | None, ...]]) -> Fraction | None:
    """The definition, without coincidences: every ordered pair of values, one by one."""
    kept = [[value for value in unit if value is not None] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    everything = [value for unit in kept for value in unit]
    n = len(everything)
    observed = Fraction(0)
    for unit in kept:
        for one, other in itertools.permutations(unit, 2):
            observed += Fraction(one != other, len(unit) - 1)
    expected = sum(one != other for one, other in itertools.permutations(everything, 2))
    if not expected:
        return None
    return 1 - (observed / n) / Fraction(expected, n * (n - 1))


def test_published_examples() -> None:
    # The second by hand: 4 of 10 units differ, 14 zeros and 6 ones, so 1 - 19 * 4 / (14 * 6).
    assert alpha(columns(BINARY)) == pytest.approx(1 - 19 * 4 / (14 * 6))
    assert round(alpha(columns(BINARY)) or 0, 3) == 0.095
    # The first by hand from its 40 pairable values: 9 ones, 13 twos, 10 threes, 5 fours, 3 fives;
    # unit 2 adds 2 (three pairs 2-3, both ways, over 3), unit 6 adds 4, unit 8 adds 2: 8 in all,
    # and 40 * 40 less the squares 81 + 169 + 100 + 25 + 9 is 1216: 1 - 39 * 8 / 1216 = 0.743.
    assert alpha(columns(PUBLISHED)) == pytest.approx(1 - 39 * 8 / 1216)
    assert round(alpha(columns(PUBLISHED)) or 0, 3) == 0.743


@given(
    st.integers(1, 4).flatmap(
        lambda raters: st.lists(
            st.tuples(*[st.sampled_from(["a", "b", "c", None]) for _ in range(raters)]),
            max_size=12,
        )
    )
)
def test_alpha_is_what_its_definition_says(units: list[tuple[str | None, ...]]) -> None:
    exact = by_pairs(units)
    found = alpha(units)
    assert (found is None) == (exact is None)
    if found is not None and exact is not None:
        assert found == pytest.approx(float(exact), abs=1e-12)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=20))
def test_tables_give_the_same(units: list[tuple[str, str]]) -> None:
    table = np.zeros((3, 3))
    for one, other in units:
        table["abc".index(one), "abc".index(other)] += 1
    found = float(alpha_of_tables(table))
    exact = alpha(units)
    assert (exact is None) == np.isnan(found)
    if exact is not None:
        assert found == pytest.approx(exact, abs=1e-12)


SPANS = st.lists(
    st.tuples(st.sampled_from("pq"), st.integers(0, 12), st.integers(1, 6)), max_size=6
).map(lambda found: [Span(name, start, start + size, "") for name, start, size in found])


@given(SPANS, SPANS)
def test_overlap_is_that_of_sets_of_characters(one: list[Span], other: list[Span]) -> None:
    def letters(spans: list[Span]) -> set[tuple[str, int]]:
        return {(span.source, at) for span in spans for at in range(span.start, span.end)}

    either = letters(one) | letters(other)
    exact = len(letters(one) & letters(other)) / len(either) if either else None
    assert jaccard(one, other) == exact


def changed(recorded: Recorded, **values: str) -> Replay:
    """The same replay in which some atoms are read otherwise, or not at all."""
    out = []
    for one in recorded.replay.annotations:
        value = values.get(one.atom, one.value)
        if value != "":
            out.append(msgspec.structs.replace(one, value=value))
    return msgspec.structs.replace(recorded.replay, annotations=tuple(out))


def test_readings_merge_as_an_audit_does() -> None:
    span = (Span("rationale", 0, 1, "T"),)
    said = [("a", "UNKNOWN"), ("a", "TRUE"), ("b", "TRUE"), ("b", "FALSE"), ("b", "UNKNOWN")]
    said += [("c", "FALSE"), ("c", "FALSE"), ("d", "UNKNOWN")]
    replay = msgspec.structs.replace(
        claims_case("A").replay,
        annotations=tuple(Annotation(atom, value, span) for atom, value in said),  # type: ignore[arg-type]
    )
    assert readings(replay) == {"a": "TRUE", "b": "BOTH", "c": "FALSE", "d": "UNKNOWN"}


def sets() -> tuple[dict[str, Replay], dict[str, Replay]]:
    ours = {one.replay.id: one.replay for one in (case() for case in CASES.values())}
    theirs = dict(ours)
    theirs["bridge-A"] = changed(claims_case("A"), j_crosses="UNKNOWN", external="")
    theirs["bridge-B"] = changed(claims_case("B"), external="FALSE")
    return ours, theirs


def test_roles_quotes_and_statuses() -> None:
    ours, theirs = sets()
    found = compare_annotations(ours, theirs, rng=np.random.default_rng(0), resamples=200)
    judge, context, procedure = (found.roles[role] for role in ("judge", "context", "procedure"))
    assert (found.replays, found.only_first, found.only_second) == (4, (), ())
    assert (judge.atoms, judge.same) == (8, 7)
    assert (context.atoms, context.same, context.alpha) == (8, 8, 1.0)
    assert (procedure.atoms, procedure.same) == (11, 10)  # one is missing, and counts nowhere
    # B's "external" has the same quote in both, but not the same value.
    assert procedure.quoted == 10
    assert (context.quoted, context.overlap, context.same_quotes) == (8, 1.0, 8)
    assert judge.alpha is not None
    assert judge.low is not None
    assert judge.high is not None
    assert judge.low <= judge.alpha <= judge.high
    # A is open for the second reader, and B, who used nothing from outside, is adherent.
    assert (found.status.replays, found.status.same) == (4, 2)
    assert found.status.table["SATISFIED"]["UNKNOWN"] == 1
    assert found.status.table["VIOLATED"]["SATISFIED"] == 1
    assert "overall status: the same for 2 of 4" in found.to_text()
    assert json.loads(found.to_json())["roles"]["context"]["alpha"] == 1.0


def test_the_same_seed_gives_the_same_interval() -> None:
    first, again = (
        compare_annotations(*sets(), rng=np.random.default_rng(3), resamples=100) for _ in range(2)
    )
    assert first == again


def test_a_quote_of_its_own_lowers_the_overlap_only() -> None:
    ours, theirs = sets()
    (*rest, last) = theirs["bridge-D"].annotations
    span = last.evidence[0]
    half = Span(span.source, span.start, span.start + 4, span.quote[:4])
    theirs["bridge-D"] = msgspec.structs.replace(
        theirs["bridge-D"],
        annotations=(*rest, msgspec.structs.replace(last, evidence=(half,))),
    )
    found = compare_annotations(ours, theirs, rng=np.random.default_rng(0), resamples=100)
    role = theirs["bridge-D"].protocol.roles()[last.atom]
    one = found.roles[role]
    assert one.overlap is not None
    assert one.overlap == pytest.approx(1 - (1 - 4 / len(span.quote)) / one.quoted)
    assert one.same_quotes == one.quoted - 1


def test_what_cannot_be_compared_is_refused() -> None:
    ours, theirs = sets()
    rng = np.random.default_rng(0)
    with pytest.raises(UsageError, match="no replay in common"):
        compare_annotations(ours, {"x": chain_case().replay}, rng=rng)
    theirs["bridge-C"] = msgspec.structs.replace(theirs["bridge-C"], verdict="FAIL")
    with pytest.raises(UsageError, match="'bridge-C' differs in its verdict"):
        compare_annotations(ours, theirs, rng=rng)


def test_files(tmp_path: Path) -> None:
    ours, theirs = sets()
    del theirs["bridge-D"]
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for path, several in ((first, ours), (second, theirs)):
        path.write_bytes(b"\n".join(encode_replay(Recorded(one)) for one in several.values()))
    found = compare_files(first, second, resamples=100)
    assert (found.replays, found.only_first) == (3, ("bridge-D",))
    second.write_bytes(second.read_bytes() + b"\n" + encode_replay(Recorded(theirs["bridge-A"])))
    with pytest.raises(InputError, match=r"b\.jsonl:4: item 'bridge-A': this id stands twice"):
        compare_files(first, second)
    second.write_bytes(b"\n{}\n")
    with pytest.raises(InvalidReplay, match=r"b\.jsonl:2: MISSING_FIELD"):
        compare_files(first, second)
