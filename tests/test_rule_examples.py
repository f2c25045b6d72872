"""Each example draft is rejected by its rule and by no other."""

from __future__ import annotations

import pytest

from chaincheck.rule_examples import RuleExample, rule_examples, sound_draft
from chaincheck.validator import RULES, Draft, validate

EXAMPLES = rule_examples()


def failing(draft: Draft) -> list[str]:
    return [name for name, (rule, _) in RULES.items() if rule(draft) is not None]


def test_every_rule_has_an_example() -> None:
    assert list(dict.fromkeys(one.rule for one in EXAMPLES)) == list(RULES)


def test_the_draft_behind_them_is_sound() -> None:
    assert failing(sound_draft()) == []


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: f"{one.rule}-{one.mistake[:20]}")
def test_an_example_is_caught_by_its_rule_alone(one: RuleExample) -> None:
    assert failing(one.draft) == [one.rule]
    assert [rule for rule, _ in validate(one.draft)] == [one.rule]


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: f"{one.rule}-{one.mistake[:20]}")
def test_the_excerpt_is_where_the_mistake_shows(one: RuleExample) -> None:
    texts = [one.draft.chain.question, *one.draft.cells["A"], *one.draft.cells["B"]]
    texts += one.draft.cells["D"]
    assert one.excerpt in [text.replace("\n", ": ") for text in texts]
    assert one.mistake.endswith(".")


def test_edits_are_told_in_places_of_cell_a() -> None:
    draft = next(one.draft for one in EXAMPLES if one.rule == "Q4")
    spans = [(edit.before, edit.after) for edit in draft.edits["B"]]
    assert ("Brandt", "Moreau") in spans  # the school, beside the longer name
    assert ("Ada Brandt", "Ines Moreau") in spans
    for edit in draft.edits["B"]:
        assert draft.cells["A"][edit.passage][edit.start : edit.end] == edit.before
