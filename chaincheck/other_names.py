"""Signs that a text gives an entity a second name beside the one that is to be renamed.

"Ibn Sina (Avicenna)", "Mac Miller (born Malcolm McCormick)", "Harriet Hinsch (later known as
Harriet Holter)": to rename one and leave the other would be half a rename.
"""

from __future__ import annotations

import re

from chaincheck.demonyms import is_place_word
from chaincheck.folding import fold, visible
from chaincheck.name_words import MONTHS

__all__ = ["second_name"]

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
    r"show|season|actor|actress)\b"
)
_CAST = re.compile(r"[A-ZÀ-Ý]\w+ \((?:as )?[A-ZÀ-Ý][\w .'’-]*\)")


def second_name(text: str, start: int, end: int, *, partial: bool = False) -> str | None:
    """Why the mention ``[start, end)`` may have a second name beside it, or None.

    Args:
        text: the passage.
        start: where the mention begins, in code points.
        end: one past its last.
        partial: whether the entity is a person whose name has several words. Behind a role's
            name in the telling of a film, parentheses then hold the actor.
    """
    behind = visible(text[end : end + 200])
    if behind.startswith(("'s", "’s")):
        return None
    before = visible(text[max(0, start - 60) : start])
    text = visible(text)
    if _BEFORE.search(before):
        return "introduced as a second name"
    cast = len(_CAST.findall(text)) > 2 or (partial and _SCREEN.search(text) is not None)
    if re.search(r"[A-ZÀ-Ý][\w'’.-]+ \(\s?$", before) and not cast:
        return "in parentheses behind another name"
    follows = _BEHIND.match(behind)
    if follows and fold(follows.group("name")).text not in MONTHS:
        return "followed by a second name"
    opened = _OPENED.match(behind)
    return _in_parentheses(opened.group(1), text) if opened else None


def _in_parentheses(content: str, text: str) -> str | None:  # noqa: PLR0911 - a ladder of cases
    born = _BORN.match(content)
    if born and fold(born.group(1)).text not in MONTHS:
        return "followed by a birth name"
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
