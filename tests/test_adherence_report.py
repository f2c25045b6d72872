"""What a report says: the golden values, the gold label's two fields, and words for a terminal."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
import replays_at_random

from chaincheck.adherence.audit import audit
from chaincheck.adherence.decode import read_replay
from chaincheck.adherence.examples import CASES, chain_case, claims_case
from chaincheck.adherence.logic import Const
from chaincheck.adherence.page import report_page
from chaincheck.adherence.replay import Annotation, AtomDeclaration, Recorded
from chaincheck.adherence.report import encode_report, report_document, report_text

GOLDEN = Path(__file__).resolve().parents[2] / "shared" / "golden" / "adherence"
PATHS = [
    path
    for path in sorted(GOLDEN.glob("*.json"))
    if not path.name.endswith((".expected.json", "_item.json"))
]
OWN = [*(case() for case in CASES.values()), chain_case()]


def fixtures() -> list[Recorded]:
    """Every replay at hand: our own, the golden ones, and random ones that nobody thought up."""
    rng = random.Random(2)
    drawn = [
        Recorded(replays_at_random.replay_of(replays_at_random.replay(rng, 6, kind)), "PASS")
        for kind in replays_at_random.KINDS
        for _ in range(5)
    ]
    return [*OWN, *(read_replay(path) for path in PATHS), *drawn]


@pytest.mark.skipif(not PATHS, reason="the golden replays are not beside the repository")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_golden_reports(path: Path) -> None:
    recorded = read_replay(path)
    expected = json.loads(path.with_suffix(".expected.json").read_text("utf-8"))
    found = report_document(recorded, audit(recorded.replay))
    assert {key: found[key] for key in expected} == expected
    assert json.loads(encode_report(recorded, audit(recorded.replay))) == found


def test_the_four_cases_tell_right_from_adherent() -> None:
    rows = {}
    for name in CASES:
        recorded = claims_case(name)
        found = report_document(recorded, audit(recorded.replay))
        broken = [key for key, status in found["dimensions"].items() if status == "VIOLATED"]
        rows[name] = (found["gold_match"], found["overall"], broken)
    assert rows == {
        "A": (True, "SATISFIED", []),
        "B": (True, "VIOLATED", ["procedure"]),
        "C": (False, "VIOLATED", ["grounding"]),
        "D": (False, "VIOLATED", ["verdict", "procedure"]),
    }


def test_the_gold_label_changes_two_fields_and_nothing_else() -> None:
    for recorded in fixtures():
        found = audit(recorded.replay)
        reports: list[dict[str, Any]] = []
        for gold in ("PASS", "FAIL", None):
            other = Recorded(recorded.replay, gold)
            assert audit(other.replay) == found
            reports.append(report_document(other, found))
        for report in reports[1:]:
            changed = {key for key in report if report[key] != reports[0][key]}
            assert changed == {"gold", "gold_match"}
        assert [one["gold"] for one in reports] == ["PASS", "FAIL", None]
        right = recorded.replay.verdict == "PASS"
        assert [one["gold_match"] for one in reports] == [right, not right, None]


def test_the_dimensions_say_why_in_numbers() -> None:
    recorded = claims_case("D")
    found = audit(recorded.replay)
    for shown in (report_text(recorded, found), report_page(recorded, found)):
        assert "the annotations and the protocol rule PASS out" in shown
        assert "2 of 3 requirements met, 1 broken" in shown
        assert "3 of 3 requirements can be seen" in shown
        assert "2 of 2 claims grounded" in shown
    bare = msgspec.structs.replace(recorded.replay.protocol, requirements=(), grounding=())
    recorded = _with(recorded, protocol=bare)
    shown = report_text(recorded, audit(recorded.replay))
    assert "the protocol names no requirement here" in shown
    assert "the protocol names no claim here" in shown


def test_every_report_has_the_same_keys() -> None:
    keys = [list(report_document(one, audit(one.replay))) for one in fixtures()]
    assert all(one == keys[0] for one in keys)


def _with(recorded: Recorded, **changes: Any) -> Recorded:
    return Recorded(msgspec.structs.replace(recorded.replay, **changes), recorded.gold)


def test_what_is_not_translated_is_not_evaluated() -> None:
    recorded = _with(claims_case("A"), translation_status="ambiguous")
    found = audit(recorded.replay)
    report = report_document(recorded, found)
    assert (report["overall"], report["verdict"]) == ("UNKNOWN", "NOT_EVALUATED")
    assert report["overall_forced_by"] == ["translation_status: ambiguous"]
    assert "could not be translated" in report_text(recorded, found)
    assert "could not be translated" in report_page(recorded, found)


def test_text_and_page_tell_what_is_open_and_what_is_possible() -> None:
    recorded = claims_case("A")
    kept = [
        Annotation("j_crosses", "UNKNOWN") if one.atom == "j_crosses" else one
        for one in recorded.replay.annotations
        if one.atom != "external"
    ]
    recorded = _with(recorded, annotations=tuple(kept))
    found = audit(recorded.replay)
    assert found.overall == "UNKNOWN"
    text, page = report_text(recorded, found), report_page(recorded, found)
    for words in ("both verdicts are possible", "external", "j_crosses"):
        assert words in text
        assert words in page
    assert "j_crosses=FALSE?" in text
    assert "? supposed, not found" in text
    assert "[<code>j_crosses</code> FALSE]" in page
    assert "never annotated, so UNKNOWN: external" in text
    assert "Never annotated, and so UNKNOWN: <code>external</code>" in page
    assert "What would settle the verdict\n  knowing j_crosses" in text


def test_text_and_page_name_a_conflict() -> None:
    recorded = claims_case("A")
    first = next(one for one in recorded.replay.annotations if one.atom == "j_opened")
    both = (*recorded.replay.annotations, msgspec.structs.replace(first, value="FALSE"))
    recorded = _with(recorded, annotations=both)
    found = audit(recorded.replay)
    text, page = report_text(recorded, found), report_page(recorded, found)
    assert text.startswith("UNKNOWN")
    assert "base evid: INCONSISTENT" in text
    assert "<li>base evid: INCONSISTENT</li>" in page
    assert "j_opened=TRUE" in text
    assert "j_opened=FALSE" in text
    assert "these cannot all hold" in page


def test_text_and_page_number_annotations_alike_from_one() -> None:
    recorded = claims_case("D")
    found = audit(recorded.replay)
    assert found.radius is not None
    (at,) = found.radius.annotations
    atom = recorded.replay.annotations[at].atom
    assert f"{atom} (annotation {at + 1})" in report_text(recorded, found)
    assert f'<a href="#a{at + 1}">{at + 1}</a>' in report_page(recorded, found)
    first = next(one for one in recorded.replay.annotations if one.value == "TRUE")
    both = (msgspec.structs.replace(first, value="FALSE"), *recorded.replay.annotations)
    recorded = _with(recorded, annotations=both)
    found = audit(recorded.replay)
    (conflict,) = {one.annotations for one in found.conflicts.values() if one is not None}
    for at in conflict:
        assert f"annotation {at + 1} (" in report_text(recorded, found)
        assert f">annotation {at + 1}</a> (" in report_page(recorded, found)


def _explained(shown: str) -> tuple[str, set[str]]:
    """Split a report into what it says and the words that it explains."""
    said, _, words = shown.partition("\nWords\n")
    return said, set(re.findall(r"^  (\S.*?):", words, re.MULTILINE))


def _explained_by_page(page: str) -> tuple[str, set[str]]:
    said, _, words = page.partition('<h2 id="words">')
    said = re.sub(r"<style>.*?</style>", "", said, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", " ", said), set(re.findall(r"<dt>(.*?)</dt>", words))


def test_every_report_explains_its_words_and_no_others() -> None:
    capitals = r"\b[A-Z]{2,}(?:_[A-Z]+)?(?: SPECIFIED| EVALUATED| UNKNOWN)?\b"
    known = {"SATISFIED", "VIOLATED", "UNKNOWN", "NOT_SPECIFIED", "NOT_EVALUATED", "SAT", "UNSAT"}
    known |= {"ENTAILED", "REFUTED", "UNDERDETERMINED", "INCONSISTENT", "SOLVER_UNKNOWN"}
    seen: set[str] = set()
    for recorded in fixtures():
        found = audit(recorded.replay)
        for said, terms in (
            _explained(report_text(recorded, found)),
            _explained_by_page(report_page(recorded, found)),
        ):
            used = {word.replace(" ", "_") for word in re.findall(capitals, said)} & known
            explained = {term.replace(" ", "_") for term in terms}
            assert explained & known == used
            assert explained >= {"overall", "verdict", "procedure", "coverage", "grounding"}
            seen |= used
    assert seen >= known - {"NOT_EVALUATED", "SOLVER_UNKNOWN"}


def test_marks_and_distances_are_explained_where_they_occur() -> None:
    whole, open_case = claims_case("A"), claims_case("A")
    kept = [one for one in open_case.replay.annotations if one.atom != "j_crosses"]
    open_case = _with(open_case, annotations=tuple(kept))
    for recorded, is_open in ((whole, False), (open_case, True)):
        found = audit(recorded.replay)
        assert (found.settlement is not None) == is_open
        said, explained = _explained(report_text(recorded, found))
        assert ("?" in said) == is_open == any("?" in one for one in explained)
        assert ("what would settle the verdict" in explained) == is_open
        assert "how far the status is from changing" in explained
        said, explained = _explained_by_page(report_page(recorded, found))
        assert any(one.startswith("[") for one in explained) == is_open
        for term in explained:
            if term.startswith("The "):
                assert term in said
    found = audit(whole.replay, explain=False)
    _, explained = _explained(report_text(whole, found))
    assert "how far the status is from changing" not in explained
    assert "\nWords\n" not in report_text(whole, found, words=False)


def test_a_terminal_gets_no_control_character() -> None:
    nasty = "\x1b[2J\u202egnp\r\n\x07\u2028"
    recorded = _with(chain_case(), id=nasty + "x")
    protocol = msgspec.structs.replace(
        recorded.replay.protocol,
        requirements=tuple(
            msgspec.structs.replace(one, id=one.id + nasty, description=nasty)
            for one in recorded.replay.protocol.requirements
        ),
    )
    recorded = _with(recorded, protocol=protocol)
    text = report_text(recorded, audit(recorded.replay))
    assert all(ch.isprintable() for ch in text.replace("\n", ""))


def test_coverage_that_is_open_is_told_from_coverage_that_is_ruled_out() -> None:
    recorded = chain_case()
    rules = recorded.replay.protocol
    for atom in ("j_hop1", "p_ext_stated"):
        kept = tuple(one for one in recorded.replay.annotations if one.atom != atom)
        other = _with(recorded, annotations=kept)
        found = audit(other.replay)
        for one in found.requirements:
            if one.coverage_status != "UNKNOWN":
                continue
            assert one.addressed is not None
            ruled_out = one.addressed.classification == "REFUTED"
            said = "cannot be seen in this replay" if ruled_out else "open, both ways are possible"
            assert f"coverage of {one.id}: {said}" in report_text(other, found)
    refuted = msgspec.structs.replace(
        rules,
        requirements=tuple(
            msgspec.structs.replace(one, addressed=Const(False)) for one in rules.requirements
        ),
    )
    other = _with(recorded, protocol=refuted)
    shown = report_text(other, audit(other.replay))
    assert shown.count(": cannot be seen in this replay") >= len(rules.requirements)


def test_hundreds_of_unread_atoms_fill_no_screen() -> None:
    recorded = claims_case("A")
    rules = recorded.replay.protocol
    more = tuple(AtomDeclaration(f"spare{at}", "judge") for at in range(300))
    other = _with(recorded, protocol=msgspec.structs.replace(rules, atoms=(*rules.atoms, *more)))
    found = audit(other.replay)
    (line,) = [one for one in report_text(other, found).splitlines() if "never annotated" in one]
    assert len(line) < 400
    assert line.endswith("and 280 more")
    assert len(report_document(other, found)["unannotated"]) == 300


def test_an_atom_that_was_read_very_often_fills_no_screen() -> None:
    recorded = claims_case("C")
    one = next(one for one in recorded.replay.annotations if one.atom == "j_designed")
    several = msgspec.structs.replace(one, evidence=one.evidence * 500)
    recorded = _with(recorded, annotations=(*recorded.replay.annotations, *[several] * 500))
    found = audit(recorded.replay)
    assert len(report_text(recorded, found)) < 5_000
    assert "j_designed: 497 more annotations" in report_text(recorded, found)
    assert "and 489 more" in report_page(recorded, found)
