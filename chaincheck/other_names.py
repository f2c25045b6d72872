"""Signs that a text gives an entity a second name beside the one that is to be renamed.

"Ibn Sina (Avicenna)", "Mac Miller (born Malcolm McCormick)", "Harriet Hinsch (later known as
Harriet Holter)": to rename one and leave the other would be half a rename.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from chaincheck.demonyms import is_place_word
from chaincheck.folding import fold, tokens, visible
from chaincheck.name_words import HONORIFICS, MONTHS
from chaincheck.names import Entity

__all__ = ["Surroundings", "on_screen", "second_name", "used_again"]

_KNOWN = (
    r"(?:(?:also|better|best|formerly|originally|later|now|previously|commonly|professionally|"
    r"sometimes|often|usually|popularly|widely|locally|historically|simply|and|or)[ ,]+)*"
    r"(?:known|referred to|credited|billed|written|spelled|spelt|stylized|styled|romanized|"
    r"transliterated|abbreviated|born)"
    r"(?: (?:professionally|simply|mononymously|popularly|locally|commonly|also|sometimes))?"
    r" as\b"
)
_NAMES = (
    r"nicknamed|a\.k\.a\.|\baka\b|\balias\b|née|\bnee\b|\bné\b|stage name|pen name|birth name|"
    r"(?:real|given|full|personal|courtesy|temple|posthumous|regnal|maiden|original|legal|native) "
    r"name|pseudonym|(?:under|by|in) the name|\bformerly\b|\bborn\b"
)
_TO_THE_NAME = r"[ :,]*(?:(?:the|of|was|is|as)\s)*[\"“'‘(]?"
# Directly behind the mention, or behind the parentheses that follow it.
_BEHIND = re.compile(
    rf"\s?(?:[(\[][^()\[\]]*[)\]]|[(\[][^()\[\]]*;)?,?\s?[(\[]?(?:(?:who|which|that|is|was|or|and)\s)*"
    rf"(?:{_KNOWN}|{_NAMES}){_TO_THE_NAME}(?P<name>[A-ZÀ-Ý]\w+)"
)
_BEFORE = re.compile(rf"(?:{_KNOWN}|{_NAMES}){_TO_THE_NAME}$")
_OPENED = re.compile(r"\s?[(\[]\s?([^()\[\]]{0,120})")
_BORN = re.compile(r"\s*(?:born|b\.|née|né)\s+(?:as )?[\"“]?([A-ZÀ-Ý]\w+)")
_SPOKEN = re.compile(r"^\s*/|pronounced|pronunciation|\bIPA\b|[ˈˌːɪʊəɛɔæʃʒθðŋ]")
_BIRTH = re.compile(r"[^,;:()]+, \d{1,2} \w+ \d{4}|[^,;:()]+, \w+ \d{1,2}, \d{4}|[^,;:()]+ – ,")
_SCREEN = re.compile(
    r"\b(?:films?|movies?|series|episodes?|sitcom|cast|stars?|starring|musical|plays|played|voiced|"
    r"show|season|actor|actress)\b",
    re.IGNORECASE,
)
_CAST = re.compile(r"[A-ZÀ-Ý]\w+ \((?:as )?[A-ZÀ-Ý][\w .'’-]*\)")


# A name of law or birth says who somebody is; it is no other way to speak of the person, unless
# the passages go on to use it.
_LEGAL = re.compile(r"\bborn\b|birth name|(?:real|personal|full|original|legal) name")
_RUN = re.compile(r"[A-ZÀ-Ý][\w'’-]+(?: (?:[a-z]{2,3} )?[A-ZÀ-Ý][\w'’-]+)*")


@dataclass(frozen=True)
class Surroundings:
    """What is known of the passages around a mention.

    Attributes:
        words: how often each folded word stands in the passages.
        partial: whether the entity is a person whose name has several words.
        screen: whether the passages that name the person tell of films or shows. Behind a role's
            name, parentheses then hold the actor.
    """

    words: Mapping[str, int]
    partial: bool = False
    screen: bool = False

    def once(self, *names: str) -> bool:
        """Whether the last words of some names stand nowhere but there.

        Given names are too common to tell anything.
        """
        split = [tokens(name) for name in names]
        lasts = {parts[-1].word for parts in split if parts}
        seen = Counter(part.word for parts in split for part in parts)
        return all(self.words.get(word, 0) <= seen[word] for word in lasts)


def on_screen(text: str) -> bool:
    """Whether a text tells of films or shows."""
    return _SCREEN.search(text) is not None


def used_again(gloss: str, entity: Entity, beside: Surroundings) -> bool:
    """Whether a name inside a gloss stands elsewhere too, so that dropping it is half a rename."""
    own = {part.word for name in (entity.name, *entity.aliases) for part in tokens(name)}
    runs = []
    for run in _RUN.findall(re.sub(r"\w+:", "", visible(gloss))):
        last = tokens(run)[-1].word
        if last not in own and len(last) > 2 and not is_place_word(last):
            runs.append(run)
    return not beside.once(*runs)


def second_name(text: str, start: int, end: int, beside: Surroundings) -> str | None:
    """Why the mention ``[start, end)`` may have a second name beside it, or None.

    Args:
        text: the passage.
        start: where the mention begins, in code points.
        end: one past its last.
        beside: what the other passages say.
    """
    behind = visible(text[end : end + 200])
    if behind.startswith(("'s", "’s")):
        return None
    before = visible(text[max(0, start - 60) : start])
    if _BEFORE.search(before):
        return "introduced as a second name"
    text = visible(text)
    cast = len(_CAST.findall(text)) > (1 if beside.partial else 2) or beside.screen
    if re.search(r"[A-ZÀ-Ý][\w'’.-]+ \(\s?$", before) and not cast:
        return "in parentheses behind another name"
    follows = _BEHIND.match(behind)
    if follows and not _harmless(follows, behind, beside):
        return "followed by a second name"
    opened = _OPENED.match(behind)
    return _in_parentheses(opened.group(1), text, beside) if opened else None


def _harmless(follows: re.Match[str], behind: str, beside: Surroundings) -> bool:
    """Whether what follows a mention is a date, an office, or a name that is never used."""
    first = fold(follows.group("name")).text
    if first in MONTHS or first in HONORIFICS:
        return True
    run = _RUN.match(behind, follows.start("name"))
    legal = _LEGAL.search(follows.group()) is not None and "also" not in follows.group()
    return legal and run is not None and beside.once(run.group())


def _in_parentheses(  # noqa: PLR0911 - a ladder of cases
    content: str, text: str, beside: Surroundings
) -> str | None:
    born = _BORN.match(content)
    if born and fold(born.group(1)).text not in MONTHS:
        run = _RUN.match(content, born.start(1))
        if run is None or not beside.once(run.group()):
            return "followed by a birth name"
        return None
    if _SPOKEN.search(content):
        return "followed by its pronunciation"
    word = re.match(r"[\"“'‘]?([^\W\d_]+)", content)
    if word is None or not word.group(1)[0].isupper():
        return None
    if fold(word.group(1)).text in MONTHS:
        return None
    if _BIRTH.match(content) or (len(_CAST.findall(text)) > 2 and ":" not in content):
        return None  # A place and a day of birth; a role in a cast.
    if re.match(r"(?:[A-ZÀ-Ý]\w*,? )+(?:with|of|in|and|for|to|on|at) (?!the Great)", content):
        return None  # A film or a show.
    whole = re.match(r"[\"“'‘]?([^\d,;:()]+)", content)
    if whole and is_place_word(fold(whole.group(1)).text.strip()) and ":" not in content:
        return None
    return "followed by a name in parentheses"
