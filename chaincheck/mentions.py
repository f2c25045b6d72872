"""Find and rename the mentions of an entity in real text, certainly or not at all.

A rename that misses one mention, or that touches a name which means something else, spoils a
triplet without a trace. So :func:`find` and :func:`rename` raise :class:`AmbiguousMention`
wherever a string may or may not be a mention; the caller rejects the record. What is left after
the certain mentions are taken away is checked with :func:`chaincheck.residue.residue`, a detector
built another way.

The passages of one context are best handled together (:func:`find_all`, :func:`rename_all`):
whether "Wood" is Natalie Wood depends on who else of that name the other passages speak of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chaincheck.demonyms import is_place_word
from chaincheck.folding import INVISIBLE, visible
from chaincheck.mention_context import (
    as_adjective,
    in_title,
    lengthened,
    plain_heading,
    quoted_title,
)
from chaincheck.name_glosses import glosses
from chaincheck.name_words import GENERATION, GENERIC, REGIONS
from chaincheck.names import Entity, Kind, Token, core, same_gap, tokens
from chaincheck.organization_mentions import acronyms, short_names
from chaincheck.other_names import Surroundings, on_screen, second_name, used_again
from chaincheck.person_mentions import PersonFinder
from chaincheck.person_pages import another_number, opening, own_page, settled
from chaincheck.relatives import fuller_relative, with_relatives
from chaincheck.renaming import AmbiguousMention, Mention, Renamed, replace_mentions
from chaincheck.residue import residue, telling_words

__all__ = [
    "AmbiguousMention",
    "Entity",
    "Kind",
    "Mention",
    "Renamed",
    "find",
    "find_all",
    "rename",
    "rename_all",
    "residue",
    "stands",
]


@dataclass(frozen=True)
class _Pattern:
    parts: tuple[Token, ...]
    form: str


def stands(text: str, name: str | Entity) -> bool:
    """Whether a name stands in a text as whole words.

    Case, accents, invisible characters, kinds of quotes and dashes, and a possessive behind the
    name make no difference. For an entity its aliases count too. Says nothing about whether the
    name means the entity there.
    """
    names = (name,) if isinstance(name, str) else (name.name, *name.aliases)
    kind = None if isinstance(name, str) else name.kind
    found = tokens(text)
    return any(
        _occurrences(found, tokens(variant))
        for single in names
        for variant in {single, core(single, kind)}
    )


def find(text: str, entity: Entity) -> tuple[Mention, ...]:
    """The certain mentions of an entity in one text, in order, never overlapping.

    Raises:
        AmbiguousMention: something in the text may or may not be a mention.
    """
    return find_all((text,), entity)[0]


def find_all(passages: Sequence[str], entity: Entity) -> tuple[tuple[Mention, ...], ...]:
    """The certain mentions in every passage of one context, judged together.

    Raises:
        AmbiguousMention: something in a passage may or may not be a mention; ``passage`` says
            in which.
    """
    entity = settled(entity, passages)
    patterns = _patterns(entity)
    hits = [_full(text, patterns, entity, number) for number, text in enumerate(passages)]
    if entity.kind == "place":
        _one_place(passages, hits)
    if entity.kind == "person":
        _one_realm(passages, hits)
        hits = PersonFinder(passages, entity, hits).complete()
        hits = with_relatives(passages, hits, entity)
    elif entity.kind != "work":
        hits = [
            short_names(text, acronyms(text, mentions, entity), entity)
            for text, mentions in zip(passages, hits, strict=True)
        ]
    hits = [_with_glosses(text, mentions) for text, mentions in zip(passages, hits, strict=True)]
    _no_second_names(passages, hits, entity)
    for number, (text, mentions) in enumerate(zip(passages, hits, strict=True)):
        for start, end, surface in residue(text, entity):
            if not any(m.start <= start and end <= m.end + 1 for m in mentions):
                raise AmbiguousMention(
                    f"'{surface}' may name '{entity.name}'", start, end, passage=number
                )
    return tuple(tuple(sorted(mentions, key=lambda m: m.start)) for mentions in hits)


def rename(text: str, entity: Entity, replacement: Entity, protect: Sequence[str] = ()) -> Renamed:
    """Rename every mention of an entity in one text. See :func:`rename_all`."""
    return rename_all((text,), entity, replacement, protect)[0]


def rename_all(
    passages: Sequence[str], entity: Entity, replacement: Entity, protect: Sequence[str] = ()
) -> tuple[Renamed, ...]:
    """Rename every mention of an entity in the passages of one context.

    A surname becomes a surname, a given name a given name; possessives, capitals and articles
    are kept or adjusted.

    Args:
        passages: the passages, judged together.
        entity: whom or what to rename.
        replacement: what to call it; its kind defaults to the entity's.
        protect: names (the answer, say) that no renamed span may overlap.

    Returns:
        For each passage its new text and the renamed spans in code points of the old one.

    Raises:
        AmbiguousMention: a string may or may not be a mention, a mention cannot take the
            replacement, a protected name would be touched, or something that may still name
            the entity would be left.
    """
    entity = settled(entity, passages)
    if replacement.kind is None or entity.kind == "person":
        replacement = Entity(replacement.name, entity.kind, replacement.aliases)
    shared = {part.word for part in tokens(core(replacement.name, replacement.kind))}
    if shared & telling_words(entity):
        raise AmbiguousMention("the replacement shares a word with the entity's name", 0, 0)
    found = find_all(passages, entity)
    renamed = []
    for number, (text, mentions) in enumerate(zip(passages, found, strict=True)):
        try:
            result = replace_mentions(text, mentions, entity, replacement)
        except AmbiguousMention as error:
            raise AmbiguousMention(error.reason, error.start, error.end, passage=number) from None
        _spare(text, result, protect, number)
        for start, end, surface in residue(result.text, entity):
            raise AmbiguousMention(f"'{surface}' is left over", start, end, passage=number)
        renamed.append(result)
    return tuple(renamed)


def _spare(text: str, result: Renamed, protect: Iterable[str], number: int) -> None:
    """Raise if a renamed span overlaps a protected name."""
    if not result.spans:
        return
    found = tokens(text)
    for name in protect:
        for first, end in _occurrences(found, tokens(name)):
            start, stop = found[first].start, found[end - 1].end
            if any(span[0] < stop and start < span[1] for span in result.spans):
                raise AmbiguousMention(
                    f"the protected '{name}' overlaps a mention", start, stop, passage=number
                )


def _occurrences(found: Sequence[Token], name: Sequence[Token]) -> list[tuple[int, int]]:
    """Where the tokens of a name stand in the tokens of a text."""
    if not name:
        return []
    size = len(name)
    return [
        (at, at + size)
        for at in range(len(found) - size + 1)
        if found[at].word == name[0].word and _matches(found, at, name)
    ]


def _matches(found: Sequence[Token], at: int, name: Sequence[Token]) -> bool:
    return all(
        found[at + k].word == part.word
        and (k == 0 or same_gap(part.gap, found[at + k].gap, found[at + k - 1].word, part.word))
        and (k == len(name) - 1 or found[at + k].possessive == part.possessive)
        for k, part in enumerate(name)
    )


_JOINERS = frozenset(["and", "or"])
_TWO_IN_ONE = frozenset(
    [
        "trinidad",
        "bosnia",
        "antigua",
        "kitts",
        "andaman",
        "newfoundland",
        "turks",
        "wallis",
        "tristan",
    ]
)


def _patterns(entity: Entity) -> list[_Pattern]:
    """The token patterns of an entity's names, longest first.

    Raises:
        AmbiguousMention: the name is not the name of one entity.
    """
    whole = core(entity.name, entity.kind)
    parts = tokens(whole)
    if not parts or not any(part.capitalized for part in parts):
        raise AmbiguousMention(f"'{entity.name}' is not a proper name", 0, 0)
    if all(part.surface[0].isdigit() for part in parts):
        raise AmbiguousMention(f"'{entity.name}' is a number or a date", 0, 0)
    _single(entity, parts)
    if len(parts) < 3 and not telling_words(entity) and all(p.word in GENERIC for p in parts):
        raise AmbiguousMention(f"'{entity.name}' is made of common words only", 0, 0)
    patterns = [_Pattern(parts, "full")]
    if entity.kind in ("place", "person", None) and "," in whole:
        head = tokens(whole.split(",")[0])
        if head and (entity.kind == "place" or len(head) > 1):
            patterns.append(_Pattern(head, "short"))
    for alias in entity.aliases:
        other = tokens(core(alias, entity.kind))
        if other:
            patterns.append(_Pattern(other, "alias"))
    return sorted(patterns, key=lambda pattern: -len(pattern.parts))


def _single(entity: Entity, parts: Sequence[Token]) -> None:
    if entity.kind in ("work", "organization") or parts[0].word in _TWO_IN_ONE:
        return
    words = [part.word for part in parts]
    joined = any(word in _JOINERS for word in words[1:-1]) or any(
        "/" in part.gap or ";" in part.gap for part in parts[1:]
    )
    if joined and words[-1] not in ("islands", "herzegovina"):
        raise AmbiguousMention(f"'{entity.name}' may be two entities", 0, 0)


def _full(text: str, patterns: Sequence[_Pattern], entity: Entity, number: int) -> list[Mention]:
    """The mentions by a whole name or alias."""
    found = tokens(text)
    lead = opening(text, entity) if entity.kind == "person" else None
    mentions: list[Mention] = [lead] if lead else []
    firsts = {pattern.parts[0].word for pattern in patterns}
    at = 0
    while at < len(found):
        if found[at].word not in firsts:
            at += 1
            continue
        if lead and lead.start <= found[at].start < lead.end:
            at += 1
            continue
        hit = next((p for p in patterns if _fits(found, at, p.parts, entity)), None)
        if hit is None:
            at += 1
            continue
        end = at + len(hit.parts)
        start, stop = found[at].start, found[end - 1].end
        titled = any(part.word in GENERATION for part in hit.parts)
        if entity.kind == "person" and not titled and another_number(found, end, entity):
            at = end  # "2nd Baronet" is not the 3rd.
            continue
        reason = lengthened(text, found, at, end, entity.kind)
        heading = "\n" in found[at].gap and own_page(text, entity) and hit.form == "full"
        if heading and reason == "followed by a capitalized word":
            reason = None if plain_heading(text, found, end) else reason
        relative = fuller_relative(text, found, at, end, entity) if reason else None
        if relative:
            mentions.append(relative)
            at = end
            continue
        if reason:
            raise AmbiguousMention(f"'{text[start:stop]}': {reason}", start, stop, passage=number)
        possessive = found[end - 1].possessive != ""
        mentions.append(Mention(start, stop, text[start:stop], hit.form, possessive))
        at = end
    return mentions


def _fits(found: Sequence[Token], at: int, parts: Sequence[Token], entity: Entity) -> bool:
    if len(found) - at < len(parts) or not _matches(found, at, parts):
        return False
    if len(parts) > 1 or not parts[0].capitalized:
        return True
    # One word in lower case is an ordinary word; the residue check has its say on it.
    return found[at].capitalized or entity.kind == "work"


def _with_glosses(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The mentions, with what glosses a whole name in the text below the title."""
    more = list(mentions)
    for mention in mentions:
        if mention.form in ("full", "extended", "alias") and not in_title(text, mention.start):
            for start, end in glosses(text, mention.end):
                more = [m for m in more if m.end <= start or end <= m.start]
                more.append(Mention(start, end, text[start:end], "gloss", False))
    return sorted(more, key=lambda mention: mention.start)


def _no_second_names(
    passages: Sequence[str], hits: Sequence[Sequence[Mention]], entity: Entity
) -> None:
    """Raise if a text gives the entity another name beside a mention, or quotes it in a title."""
    partial = entity.kind == "person" and len(tokens(core(entity.name, "person"))) > 1
    beside = Surroundings(
        words=Counter(
            token.word
            for text, mentions in zip(passages, hits, strict=True)
            for token in tokens(text)
            if not any(m.form != "gloss" and m.start <= token.start < m.end for m in mentions)
        ),
        partial=partial,
        screen=partial and any(on_screen(t) for t, h in zip(passages, hits, strict=True) if h),
    )
    for number, (text, mentions) in enumerate(zip(passages, hits, strict=True)):
        starts = {mention.start for mention in mentions}
        for mention in mentions:
            if mention.form == "gloss" and used_again(mention.surface, entity, beside):
                raise AmbiguousMention(
                    f"'{mention.surface.strip()}': a second name that is used again",
                    mention.start,
                    mention.end,
                    passage=number,
                )
            bracketed = re.match(rf"[\s(\[{INVISIBLE}]*", text[mention.end :])
            again = bracketed is not None and mention.end + bracketed.end() in starts
            unasked = mention.form in ("acronym", "gloss", "relative")
            if again or unasked or in_title(text, mention.start):
                continue
            rest = _without(text, mention.end, mentions)
            reason = second_name(rest, mention.start, mention.end, beside)
            if entity.kind == "work" and _setting(text, mention):
                reason = "may be a place"
            if entity.kind == "place":
                reason = reason or as_adjective(text, mention.start, mention.end)
            if quoted_title(text, mention.start, mention.end):
                reason = "in a quoted title"
            if reason:
                raise AmbiguousMention(
                    f"'{mention.surface}': {reason}", mention.start, mention.end, passage=number
                )


def _without(text: str, end: int, mentions: Sequence[Mention]) -> str:
    """The text without the glosses behind ``end``; what stands before keeps its place."""
    for mention in sorted(mentions, key=lambda m: -m.start):
        if mention.form == "gloss" and mention.start >= end:
            text = text[: mention.start] + text[mention.end :]
    return text


def _setting(text: str, mention: Mention) -> bool:
    """Whether a work's title may name a place: "the town of Smallville, Kansas"."""
    before = visible(text[max(0, mention.start - 20) : mention.start])
    behind = re.match(r", ([A-Z]\w+(?: [A-Z]\w+)?)", visible(text[mention.end :][:40]))
    inside = re.search(r"\b(?:in|from|near|at|to|town of|city of|village of) $", before)
    region = behind is not None and is_place_word(behind.group(1).casefold())
    return inside is not None or region


def _one_place(passages: Sequence[str], hits: Sequence[Sequence[Mention]]) -> None:
    """Raise if the name stands with two regions that cannot both hold one place."""
    seen: dict[str, tuple[int, Mention]] = {}
    for number, (text, mentions) in enumerate(zip(passages, hits, strict=True)):
        for mention in mentions:
            behind = re.match(r", ([A-Z]\w+(?: [A-Z]\w+){0,2})", visible(text[mention.end :]))
            words = behind.group(1).casefold().split() if behind else []
            region = next((r for n in (3, 2, 1) if (r := " ".join(words[:n])) in REGIONS), None)
            if region:
                seen[region] = (number, mention)
    if len(seen) > 1:
        number, mention = next(iter(seen.values()))
        raise AmbiguousMention(
            f"two places of one name: {', '.join(sorted(seen))}",
            mention.start,
            mention.end,
            passage=number,
        )


def _one_realm(passages: Sequence[str], hits: Sequence[Sequence[Mention]]) -> None:
    """Raise if a person's name stands "of" two places, which two rulers of one name have."""
    seen: dict[str, tuple[int, Mention]] = {}
    for number, (text, mentions) in enumerate(zip(passages, hits, strict=True)):
        for mention in mentions:
            behind = re.match(r" of (?:the )?(\w+)", visible(text[mention.end :]))
            if behind and behind.group(1)[0].isupper():
                seen[behind.group(1).casefold()] = (number, mention)
    if len(seen) > 1:
        number, mention = next(iter(seen.values()))
        raise AmbiguousMention(
            f"two persons of one name: of {', '.join(sorted(seen))}",
            mention.start,
            mention.end,
            passage=number,
        )
