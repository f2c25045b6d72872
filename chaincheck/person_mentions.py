"""Mentions of a person by a part of the name: surname, given name, initials, middle names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from chaincheck.mention_context import in_title, lengthened, sentence_start
from chaincheck.name_words import (
    FUNCTION,
    GENERATION,
    HONORIFICS,
    KIN,
    MONTHS,
    PARTICLES,
    ROLES,
)
from chaincheck.names import Entity, Person, Token, fold, person, same_gap, tokens
from chaincheck.person_pages import another_number, inside_name, own_page
from chaincheck.renaming import AmbiguousMention, Mention
from chaincheck.surname_words import coupled, something_else

__all__ = ["PersonFinder"]

_WIFE_OR_PEER = frozenset(["mrs", "lady", "lord", "dame", "baron", "baroness", "earl"])


@dataclass
class _Sight:
    """What one passage shows of a name's parts."""

    text: str
    found: tuple[Token, ...]
    mentions: list[Mention]
    surnames: list[tuple[int, int]] = field(default_factory=list)
    given: list[tuple[int, int]] = field(default_factory=list)
    initials: list[tuple[int, int]] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    namesakes: set[str] = field(default_factory=set)

    def taken(self, start: int, end: int) -> bool:
        first, last = self.found[start].start, self.found[end - 1].end
        return any(m.start < last and first < m.end for m in self.mentions)

    def add(self, start: int, end: int, form: str) -> None:
        first, last = self.found[start].start, self.found[end - 1].end
        possessive = self.found[end - 1].possessive != ""
        self.mentions.append(Mention(first, last, self.text[first:last], form, possessive))


class PersonFinder:
    """Adds the partial mentions of a person to the full ones, over one context's passages."""

    def __init__(
        self, passages: Sequence[str], entity: Entity, hits: Sequence[Sequence[Mention]]
    ) -> None:
        self._entity = entity
        self._parts: Person = person(entity.name)
        self._sights = [
            _Sight(text, tokens(text), list(mentions))
            for text, mentions in zip(passages, hits, strict=True)
        ]

    def complete(self) -> list[list[Mention]]:
        """Every certain mention, by passage.

        Raises:
            AmbiguousMention: a part of the name stands where it may or may not mean the person.
        """
        parts = self._parts
        if parts.surname and parts.certain:
            for number, sight in enumerate(self._sights):
                self._extended(sight, number)
            for sight in self._sights:
                self._collect_surnames(sight)
        for sight in self._sights:
            self._collect_given(sight)
        for number, sight in enumerate(self._sights):
            self._decide_surnames(sight, number)
            self._decide_given(sight, number)
        return [sight.mentions for sight in self._sights]

    # Middle names ------------------------------------------------------------------------

    def _extended(self, sight: _Sight, number: int) -> None:
        """Take forms with other middle names: "Philip Hoffman" for Philip Seymour Hoffman."""
        parts = self._parts
        if parts.surname_first:
            return
        size = len(parts.surname)
        for at, token in enumerate(sight.found):
            if token.word != parts.given[0] or not token.capitalized:
                continue
            for gap in range(4):
                start = at + 1 + gap
                end = start + size
                if end > len(sight.found) or (gap and not inside_name(sight.found[start - 1])):
                    break
                words = tuple(item.word for item in sight.found[start:end])
                if words == parts.surname and _close(sight.found, start, end):
                    if not sight.taken(at, end):
                        self._accept_extended(sight, number, at, start, end)
                    break

    def _accept_extended(self, sight: _Sight, number: int, at: int, start: int, end: int) -> None:
        seen = [token.word for token in sight.found[at + 1 : start]]
        own = list(self._parts.given[1:])
        first, last = sight.found[at].start, sight.found[end - 1].end
        surface = sight.text[first:last]
        if another_number(sight.found, end, self._entity):
            return
        reason = lengthened(sight.text, sight.found, at, end, "person")
        if reason is None and seen and own and not _agree(seen, own):
            return  # Another middle name: another person.
        if reason is None and not (seen and own):
            titled = sight.text.partition("\n")[0].partition(" (")[0] == self._entity.name
            known = bool(sight.mentions) if own else titled
            reason = None if known else "may be a namesake with another middle name"
        if reason:
            raise AmbiguousMention(f"'{surface}': {reason}", first, last, passage=number)
        sight.add(at, end, "extended")

    # Surnames ----------------------------------------------------------------------------

    def _collect_surnames(self, sight: _Sight) -> None:
        surname = self._parts.surname
        self._collect(sight, surname)
        bare = surname[1:] if surname[0] in PARTICLES else ()
        if bare and len(bare[0]) > 3:  # "Oliveira" for Manoel de Oliveira
            self._collect(sight, bare)

    def _collect(self, sight: _Sight, surname: tuple[str, ...]) -> None:
        size = len(surname)
        for at in range(len(sight.found) - size + 1):
            words = tuple(token.word for token in sight.found[at : at + size])
            if words != surname or not sight.found[at].capitalized:
                continue
            if not _close(sight.found, at + 1, at + size) or sight.taken(at, at + size):
                continue
            if at and surname != self._parts.surname and sight.found[at - 1].word in PARTICLES:
                continue
            self._sort_surname(sight, at, at + size)

    def _sort_surname(self, sight: _Sight, at: int, end: int) -> None:
        token = sight.found[at]
        before = sight.found[at - 1] if at else None
        beside = before is not None and (
            token.adjacent or (_initial(before) and token.gap in (". ", "."))
        )
        if before is None or not beside or not before.capitalized or before.possessive:
            if token.gap != "-":
                self._add_surname(sight, at, end)
            else:
                sight.others.add(f"?-{token.word}")
            return
        word = before.word
        given = self._parts.given
        if (word in HONORIFICS and word not in _WIFE_OR_PEER) or (
            (word in FUNCTION or word in MONTHS or word in ROLES)
            and sentence_start(sight.found, at - 1)
        ):
            sight.surnames.append((at, end))
        elif before.surface.replace(".", "").isupper() and len(word) <= 3:
            if given and word[0] == given[0][0]:
                sight.initials.append((at - 1, end))
            else:
                sight.others.add(f"{word} {token.word}")
        else:
            sight.others.add(f"{word} {token.word}")

    def _add_surname(self, sight: _Sight, at: int, end: int) -> None:
        """Take a bare surname down, unless a longer name begins with it ("Bryan Adams")."""
        after = sight.found[end] if end < len(sight.found) else None
        ended = sight.found[end - 1].possessive or after is None or after.word in FUNCTION
        if after is not None and after.adjacent and after.capitalized and not ended:
            if self._parts.surname_first:
                sight.others.add(f"{sight.found[at].word} {after.word}")
            return  # The residue check agrees that it is another's, or raises.
        sight.surnames.append((at, end))

    def _decide_surnames(self, sight: _Sight, number: int) -> None:
        spots = sight.surnames + sight.initials
        if not spots:
            return
        named = any(m.form in ("full", "extended", "alias") for m in sight.mentions)
        if not named and sight.others:
            return  # Somebody else's; the residue check agrees or raises.
        title = sight.text.partition("\n")[0]
        elsewhere = any(
            _of_one_matter(title, sight.text, other) for other in self._sights if other is not sight
        )
        alone = not any(other.others for other in self._sights)
        for start, end in spots:
            first, last = sight.found[start].start, sight.found[end - 1].end
            surface = sight.text[first:last]
            clear = own_page(sight.text, self._entity) or self._by_kin(sight, end)
            if named and sight.others and not clear:
                reason: str | None = "others of the surname: " + ", ".join(sorted(sight.others))
            elif not named and not (elsewhere and alone):
                reason = "a surname in a passage that never has the full name"
            else:
                reason = lengthened(sight.text, sight.found, start, end, "person")
                reason = reason or _eponym(sight, start, end) or _partners(sight, start, end)
                reason = reason or something_else(sight.found, start, end)
            if reason:
                raise AmbiguousMention(f"'{surface}': {reason}", first, last, passage=number)
            sight.add(start, end, "surname" if (start, end) in sight.surnames else "initials")

    def _by_kin(self, sight: _Sight, end: int) -> bool:
        """Whether a relative of the same surname follows: "Norris's brother Aaron Norris"."""
        if not sight.found[end - 1].possessive or len(sight.others) > 1:
            return False
        behind = [token.word for token in sight.found[end : end + 3]]
        return len(behind) == 3 and behind[0] in KIN and " ".join(behind[1:]) in sight.others

    # Given names -------------------------------------------------------------------------

    def _collect_given(self, sight: _Sight) -> None:
        parts = self._parts
        if not parts.given or len(parts.words) < 2:
            return
        word = parts.given[0]
        for at, token in enumerate(sight.found):
            if token.word != word or not token.capitalized or sight.taken(at, at + 1):
                continue
            after = sight.found[at + 1] if at + 1 < len(sight.found) else None
            longer = after is not None and after.adjacent and after.capitalized
            if after is not None and longer and not token.possessive and after.word not in FUNCTION:
                sight.namesakes.add(f"{word} {after.word}")
            else:
                sight.given.append((at, at + 1))

    def _decide_given(self, sight: _Sight, number: int) -> None:
        if not sight.given:
            return
        named = [m for m in sight.mentions if m.form in ("full", "extended", "alias")]
        if not named:
            return
        title = sight.text.find("\n")
        own = any(m.end <= title for m in named)
        for start, end in sight.given:
            token = sight.found[start]
            if sight.taken(start, end):
                continue
            before = sight.found[max(0, start - 3) : start]
            if sight.namesakes:
                reason: str | None = "others of the name: " + ", ".join(sorted(sight.namesakes))
            elif self._parts.regnal and not own:
                reason = "a ruler's name without the number"
            elif self._parts.surname_first:
                reason = "a part of a name whose order is not certain"
            elif any(item.word in KIN for item in before):
                reason = "may be a relative"
            elif coupled(sight.found, start):
                reason = "may be one of a pair of names"
            elif in_title(sight.text, token.start) and not (
                before and before[-1].word in HONORIFICS and token.adjacent
            ):
                reason = "a given name in the title"
            else:
                reason = lengthened(sight.text, sight.found, start, end, "person")
            if reason:
                raise AmbiguousMention(
                    f"'{token.surface}': {reason}", token.start, token.end, passage=number
                )
            sight.add(start, end, "given")


def _of_one_matter(title: str, text: str, other: _Sight) -> bool:
    """Whether a passage and one that names the person in full speak of one matter.

    They do if their titles are the same, or the title of either stands in the other.
    """
    if not any(m.form in ("full", "extended", "alias") for m in other.mentions):
        return False
    if "\n" not in text or "\n" not in other.text:
        return False
    theirs = other.text.partition("\n")[0]
    ours, theirs = (fold(name.partition(" (")[0]).text for name in (title, theirs))
    if ours == theirs:
        return True
    return _within(ours, fold(other.text).text) or _within(theirs, fold(text).text)


def _within(title: str, text: str) -> bool:
    return len(title) >= 8 and " " in title and title in text


def _initial(token: Token) -> bool:
    """Whether a token is one initial or two; "Jr." may end a sentence."""
    return len(token.word) <= 2 and token.word not in GENERATION


def _close(found: Sequence[Token], start: int, end: int) -> bool:
    return all(same_gap("", found[k].gap, found[k - 1].word) for k in range(start, end))


def _agree(seen: Sequence[str], own: Sequence[str]) -> bool:
    """Whether two runs of middle names can be one person's."""
    pairs = zip(seen, own, strict=False)
    return all(a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in pairs)


def _eponym(sight: _Sight, start: int, end: int) -> str | None:
    """Say whether a thing called after the person stands here: "the Menzies government"."""
    if in_title(sight.text, sight.found[start].start):
        return "a surname in the title"
    before = sight.found[start - 1] if start else None
    after = sight.found[end] if end < len(sight.found) else None
    if before is None or after is None or not after.adjacent:
        return None
    if before.word in ("the", "a", "an") and sight.found[start].adjacent:
        possessive = sight.found[end - 1].possessive
        if after.word in ("family", "families", "brothers", "sisters", "siblings", "dynasty"):
            return "the family"
        if after.word not in FUNCTION and not possessive and after.word not in GENERATION:
            return "may be a thing called after the person"
    return None


def _partners(sight: _Sight, start: int, end: int) -> str | None:
    """Say whether the surname may stand in the name of a firm: "built by Boulton and Watt".

    "Locke and Berkeley" is two persons where the passage names Locke in full.
    """
    found = sight.found
    for link, other in ((start - 1, start - 2), (end, end + 1)):
        if not (0 <= other < len(found) and found[link].word == "and"):
            continue
        partner = found[other]
        alone = not (other and partner.adjacent and found[other - 1].capitalized)
        if other > end:
            alone = not (
                other + 1 < len(found)
                and found[other + 1].adjacent
                and found[other + 1].capitalized
            )
        if (
            not (partner.capitalized and alone and found[max(link, other)].adjacent)
            or partner.word in FUNCTION
        ):
            continue
        whole = any(
            at and token.word == partner.word and token.adjacent and found[at - 1].capitalized
            for at, token in enumerate(found)
        )
        if not whole:
            return "may be a firm of two names"
    return None
