"""For each rule of the validator a draft that breaks it, and it alone, as the book shows it.

The drafts are what a careless builder might write: each passage is of our own making, and each
mistake is one that real records invite. Nothing here decides anything; the rules do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from chaincheck.chains import Chain, Hop, Passage
from chaincheck.items import Edit
from chaincheck.kinds import Nature
from chaincheck.mentions import Entity
from chaincheck.validator import Draft

__all__ = ["RuleExample", "rule_examples", "sound_draft"]

_QUESTION = "Where was the director of Jaws born?"
_BRIDGE, _NEW = "Steven Spielberg", "Ridley Scott"
_EARLIER, _LATER, _ASIDE = 0, 1, 2
_FILM = Passage("Jaws", "Jaws is a film of 1975 about a shark. Steven Spielberg directed it.")
_PERSON = Passage(
    "Steven Spielberg", "Steven Spielberg was born in Cincinnati. He filmed even as a boy."
)
_SHARKS = Passage("Sharks", "Sharks have swum in every sea for many millions of years.")
_SCHOOLS = Passage("Film schools", "A film school teaches how to direct, to cut and to light.")
_MAN = Nature("person", "person", "he")
_WOMAN = Nature("person", "person", "she")


@dataclass(frozen=True)
class RuleExample:
    """A draft that must be rejected.

    Attributes:
        rule: the rule that it breaks.
        mistake: what a careless builder did, as a sentence.
        cell: the cell in which the mistake shows; empty where it shows in the question.
        passage: the passage in which it shows.
        draft: the draft.
    """

    rule: str
    mistake: str
    cell: str
    passage: int
    draft: Draft

    @property
    def excerpt(self) -> str:
        """Where the mistake shows, on one line: a passage with its title, or the question."""
        if not self.cell:
            return self.draft.chain.question
        return self.draft.cells[self.cell][self.passage].replace("\n", ": ")


def _chain(
    *passages: Passage,
    question: str = _QUESTION,
    subject: str = "Jaws",
    bridge: str = _BRIDGE,
    answer: str = "Cincinnati",
    later: int = _LATER,
) -> Chain:
    return Chain(
        source="examples",
        source_id="example",
        question=question,
        passages=passages,
        earlier=Hop(
            question=f"{subject} >> maker", subject=subject, answer=bridge, support=_EARLIER
        ),
        later=Hop(
            question="#1 >> what follows from it", subject=bridge, answer=answer, support=later
        ),
        bridge=bridge,
        answer=answer,
    )


def _edits(passages: tuple[str, ...], names: Mapping[str, str]) -> tuple[Edit, ...]:
    """Every place of some strings, longer ones first, and what each becomes."""
    found: list[Edit] = []
    for index, text in enumerate(passages):
        for old in sorted(names, key=len, reverse=True):
            start = text.find(old)
            while start >= 0:
                end = start + len(old)
                taken = any(
                    one.passage == index and start < one.end and one.start < end for one in found
                )
                if not taken:
                    found.append(
                        Edit(passage=index, start=start, end=end, before=old, after=names[old])
                    )
                start = text.find(old, end)
    return tuple(sorted(found, key=lambda one: (one.passage, one.start)))


def _applied(passages: tuple[str, ...], edits: tuple[Edit, ...]) -> tuple[str, ...]:
    texts = list(passages)
    for one in sorted(edits, key=lambda edit: (edit.passage, -edit.start)):
        text = texts[one.passage]
        texts[one.passage] = text[: one.start] + one.after + text[one.end :]
    return tuple(texts)


def _draft(
    chain: Chain,
    names: Mapping[str, str],
    *,
    new: str = _NEW,
    natures: tuple[Nature, Nature] = (_MAN, _MAN),
    also_in_d: tuple[int, ...] = (),
) -> Draft:
    """Rename by plain strings, which is what goes wrong in most of the examples."""
    a = tuple(passage.whole for passage in chain.passages)
    edits = _edits(a, names)
    in_d = {chain.later.support, *also_in_d}
    d_edits = tuple(edit for edit in edits if edit.passage in in_d)
    return Draft(
        chain=chain,
        variant="real",
        bridge=Entity(chain.bridge, "person"),
        replacement=Entity(new, "person"),
        bridge_nature=natures[0],
        replacement_nature=natures[1],
        cells={"A": a, "B": _applied(a, edits), "D": _applied(a, d_edits)},
        edits={"B": edits, "D": d_edits},
    )


_NAMES = {_BRIDGE: _NEW}


def sound_draft() -> Draft:
    """The draft that the examples are variations of; it passes every rule."""
    return _draft(_chain(_FILM, _PERSON, _SHARKS, _SCHOOLS), _NAMES)


def _text(passage: Passage, text: str) -> Passage:
    return msgspec.structs.replace(passage, text=text)


def _one_passage() -> Draft:
    both = Passage("A shark", "The man behind the shark, Steven Spielberg, is from Cincinnati.")
    return _draft(_chain(both, _SHARKS, _SCHOOLS, later=_EARLIER), _NAMES)


def _surname_only() -> Draft:
    film = _text(_FILM, "Jaws is a film of 1975 about a shark. Spielberg directed it.")
    chain = _chain(film, _PERSON, _SHARKS, _SCHOOLS)
    return _draft(chain, {**_NAMES, "Spielberg": _NEW})


def _initial_only() -> Draft:
    page = Passage("A boy with a camera", "S. Spielberg was born in Cincinnati.")
    return _draft(_chain(_FILM, page, _SHARKS, _SCHOOLS), {**_NAMES, "S. Spielberg": _NEW})


def _answer_renamed() -> Draft:
    bridge = Passage("Halden Bridge", "The Halden Bridge was built by Ada Brandt in 1902.")
    school = Passage("Brandt School", "The Brandt School is named after Ada Brandt.")
    chain = _chain(
        bridge,
        school,
        _SHARKS,
        _SCHOOLS,
        question="Which school is named after the builder of the Halden Bridge?",
        subject="Halden Bridge",
        bridge="Ada Brandt",
        answer="Brandt School",
    )
    names = {"Ada Brandt": "Ines Moreau", "Brandt": "Moreau"}
    return _draft(chain, names, new="Ines Moreau", natures=(_WOMAN, _WOMAN))


def _question_tells() -> Draft:
    question = "Where was Spielberg, the director of Jaws, born?"
    return _draft(_chain(_FILM, _PERSON, _SHARKS, _SCHOOLS, question=question), _NAMES)


def _one_forgotten() -> Draft:
    aside = _text(_SCHOOLS, "A film school turned Spielberg's application down.")
    return _draft(_chain(_FILM, _PERSON, aside, _SHARKS), _NAMES)


def _too_much() -> Draft:
    aside = _text(_SCHOOLS, "A film school once turned Steven Spielberg away.")
    chain = _chain(_FILM, _PERSON, aside, _SHARKS)
    return _draft(chain, _NAMES, also_in_d=(_ASIDE,))


def _known_already() -> Draft:
    aside = _text(_SCHOOLS, "A film school shows what Ridley Scott made in his first years.")
    return _draft(_chain(_FILM, _PERSON, aside, _SHARKS), _NAMES)


def _wrong_pronoun() -> Draft:
    chain = _chain(_FILM, _PERSON, _SHARKS, _SCHOOLS)
    names = {_BRIDGE: "Sofia Coppola"}
    return _draft(chain, names, new="Sofia Coppola", natures=(_MAN, _WOMAN))


def _another_way() -> Draft:
    aside = Passage("Cincinnati", "Cincinnati lies in Ohio. Steven Spielberg comes from there.")
    return _draft(_chain(_FILM, _PERSON, aside, _SHARKS), _NAMES)


def rule_examples() -> tuple[RuleExample, ...]:
    """The examples, in the order of the rules."""
    return tuple(
        RuleExample(rule, mistake, cell, passage, draft)
        for rule, mistake, cell, passage, draft in (
            ("Q1", "One passage was taken for both hops.", "A", _EARLIER, _one_passage()),
            (
                "Q2",
                "The passage has the surname alone, and the full name was written over it.",
                "A",
                _EARLIER,
                _surname_only(),
            ),
            (
                "Q3",
                "The passage has an initial and a surname; nothing says whose.",
                "A",
                _LATER,
                _initial_only(),
            ),
            (
                "Q4",
                "The answer holds the bridge's name, and was renamed with it.",
                "B",
                _LATER,
                _answer_renamed(),
            ),
            (
                "Q5",
                "The question itself names the bridge: hop 1 is not needed.",
                "",
                _EARLIER,
                _question_tells(),
            ),
            ("Q6", "A mention in a distractor was overlooked.", "B", _ASIDE, _one_forgotten()),
            ("Q7", "In D a distractor was renamed as well.", "D", _ASIDE, _too_much()),
            (
                "Q8",
                "The new name stands in the context already.",
                "A",
                _ASIDE,
                _known_already(),
            ),
            (
                "Q8",
                "The new name does not go with the pronoun of the passage.",
                "B",
                _LATER,
                _wrong_pronoun(),
            ),
            (
                "Q9",
                "A distractor ties the bridge to the answer, so D can still be answered.",
                "D",
                _ASIDE,
                _another_way(),
            ),
        )
    )
