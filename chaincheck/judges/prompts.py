"""Prompts: how a question and its passages become the text that a model reads.

A prompt is a TOML file. Ours lie beside this module; a user's may be anywhere, so that a judge
that somebody released is asked in exactly the words that it was trained with. Its keys:

=================== ============================================================================
``user``            the user's turn; ``{question}`` and ``{passages}`` stand for what they say
``system``          the system's turn; none by default
``passage``         one passage: ``{text}``, and ``{number}`` if passages are numbered
``separator``       what stands between two passages
``first_number``    number of the first passage
``delimiters``      what marks the ends of a passage and must never stand within one
``longest_passage`` where a passage is cut; 0 for never
``unit``            what that counts: "characters" or "tokens"
``yes``, ``no``     the answer words, in lower case
``answer``          what the model's turn starts with, before its first word
``plain``           layout for models without chat turns: ``{system}`` and ``{user}``
``rendered``        true: ``user`` is the whole prompt, turns and all, and is sent as it stands
``special_tokens``  "escape" the tokenizer's special tokens in passages, or "keep" them
=================== ============================================================================

Texts are used as they stand, to the last space. A brace that is meant is written twice.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from chaincheck.errors import InvalidPrompt, PathLike, UnjudgeableItem, UsageError
from chaincheck.items import Item
from chaincheck.judges.escaping import Escaper
from chaincheck.toml_files import nearest, read_toml

__all__ = ["PROMPTS", "Cut", "Prompt", "Rendered", "load_prompt"]

_FOLDER = Path(__file__).parent / "prompts"
PROMPTS = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
"""Names of the prompts that come with ChainCheck."""

_INSERTED = "\ue000"  # a character of no alphabet, for trying out where texts are put

TokenCutter = Callable[[str, int], int]
"""Says how many characters of a text its first so many tokens cover."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage that was cut.

    Attributes:
        passage: its index.
        kept: characters kept.
        length: characters that it had.
    """

    passage: int
    kept: int
    length: int


@dataclass(frozen=True, slots=True)
class Rendered:
    """A prompt filled in for one item.

    Attributes:
        messages: the turns, for a chat template; empty if the prompt is whole as it is.
        text: the prompt for a model without chat turns, or the whole prompt.
        answer: what the model's turn starts with.
        cuts: the passages that were cut.
        escaped: how many marks in the question and the passages were broken.
    """

    messages: tuple[dict[str, str], ...]
    text: str
    answer: str
    cuts: tuple[Cut, ...]
    escaped: int

    @property
    def cut(self) -> bool:
        """Whether any passage was cut."""
        return bool(self.cuts)


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt's template; see the module for what each part means.

    Attributes:
        name: name for tables; no part of the settings.
        user, system, passage, separator, first_number, delimiters, longest_passage, unit, yes,
            no, answer, plain, rendered, special_tokens: as the TOML file has them.
    """

    name: str
    user: str
    passage: str
    system: str = ""
    separator: str = "\n"
    first_number: int = 1
    delimiters: tuple[str, ...] = ()
    longest_passage: int = 0
    unit: Literal["characters", "tokens"] = "characters"
    yes: tuple[str, ...] = ("yes", "y")
    no: tuple[str, ...] = ("no", "n")
    answer: str = ""
    plain: str = "{system}\n\n{user}\n\nAnswer:"
    rendered: bool = False
    special_tokens: Literal["escape", "keep"] = "escape"

    @property
    def settings(self) -> dict[str, Any]:
        """Everything of the prompt that can change a score, as plain values."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        del plain["name"]
        return plain

    @property
    def digest(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the settings."""
        canonical = msgspec.json.encode(self.settings, order="sorted")
        return hashlib.sha256(canonical).hexdigest()[:16]

    def messages(self, item: Item, **how: Any) -> list[dict[str, str]]:
        """Give the turns for one item; ``how`` as in ``render``."""
        return list(self.render(item, **how).messages)

    def text(self, item: Item, **how: Any) -> str:
        """Give the prompt without turns for one item; ``how`` as in ``render``."""
        return self.render(item, **how).text

    def render(
        self, item: Item, *, specials: Iterable[str] = (), token_cutter: TokenCutter | None = None
    ) -> Rendered:
        """Fill the prompt in.

        Args:
            item: whose question and passages to use.
            specials: tokens that the model's tokenizer reads as signs, wherever they stand.
            token_cutter: needed where passages are cut by tokens.

        Raises:
            UnjudgeableItem: the item has no passages.
            UsageError: passages are cut by tokens and no ``token_cutter`` is given.
        """
        return self.filler(specials=specials, token_cutter=token_cutter)(item)

    def filler(
        self, *, specials: Iterable[str] = (), token_cutter: TokenCutter | None = None
    ) -> Callable[[Item], Rendered]:
        """Prepare ``render`` for many items; arguments as there."""
        if self.longest_passage and self.unit == "tokens" and token_cutter is None:
            raise UsageError(
                f"prompt {self.name!r} cuts passages by tokens, and this judge has no tokenizer",
                remedy='Set unit = "characters" in the prompt\'s file',
            )
        escape = Escaper(self.delimiters, specials if self.special_tokens == "escape" else ())

        def fill(item: Item) -> Rendered:
            if not item.passages:
                raise UnjudgeableItem(
                    "has no passages, so there is nothing to judge",
                    item=item.item_id,
                    remedy="Leave it out of the data",
                )
            cuts: list[Cut] = []
            question, escaped = escape(item.query)
            parts = []
            for index, passage in enumerate(item.passages):
                kept = self._kept(passage, token_cutter)
                if kept < len(passage):
                    cuts.append(Cut(index, kept, len(passage)))
                text, broken = escape(passage[:kept])
                escaped += broken
                parts.append(self.passage.format(text=text, number=index + self.first_number))
            fields = {"question": question, "passages": self.separator.join(parts)}
            system, user = self.system.format(**fields), self.user.format(**fields)
            return Rendered(
                messages=() if self.rendered else _turns(system, user),
                text=user if self.rendered else self._plain(system, user) + self.answer,
                answer=self.answer,
                cuts=tuple(cuts),
                escaped=escaped,
            )

        return fill

    def _kept(self, passage: str, token_cutter: TokenCutter | None) -> int:
        limit = self.longest_passage
        if not limit:
            return len(passage)
        if token_cutter is not None and self.unit == "tokens":
            return min(len(passage), token_cutter(passage, limit))
        return min(len(passage), limit)

    def _plain(self, system: str, user: str) -> str:
        filled = self.plain.format(system=system, user=user)
        return filled if system else filled.lstrip()


def _turns(system: str, user: str) -> tuple[dict[str, str], ...]:
    turns = [{"role": "system", "content": system}] if system else []
    return (*turns, {"role": "user", "content": user})


def load_prompt(name_or_path: PathLike, *, folder: PathLike = ".") -> Prompt:
    """Load a prompt.

    Args:
        name_or_path: a name of ``PROMPTS``, or the path of a TOML file.
        folder: what a relative path is relative to.

    Raises:
        UsageError: no prompt has this name.
        UnreadableFile: the file is missing or not TOML.
        InvalidPrompt: a key is unknown, missing or of the wrong kind, a text lacks the question
            or the passages, or a passage could close its delimiters.
    """
    text = str(name_or_path)
    if text in PROMPTS:
        path = _FOLDER / f"{text}.toml"
    elif text.endswith(".toml"):
        path = Path(folder) / text
    else:
        raise UsageError(
            f"no prompt is called {text!r}",
            remedy=nearest(text, PROMPTS) + ", or give the path of a .toml file",
        )
    return _decode(read_toml(path), path)


def _decode(keys: Mapping[str, Any], path: Path) -> Prompt:
    known = [name for name in Prompt.__struct_fields__ if name != "name"]
    for key in keys:
        if key not in known:
            raise InvalidPrompt(f"unknown key {key!r}", path=path, remedy=nearest(key, known))
    try:
        prompt = msgspec.convert({**keys, "name": path.stem}, Prompt)
    except msgspec.ValidationError as cause:
        raise InvalidPrompt(str(cause), path=path, remedy="Correct this key") from None
    for check in (_check_fields, _check_parts, _check_words, _check_delimiters):
        problem = check(prompt)
        if problem:
            raise InvalidPrompt(problem, path=path, remedy="Correct the file")
    return prompt


def _fields_of(text: str) -> set[str]:
    """Name the fields of a text.

    Raises:
        ValueError: a brace that opens or closes nothing, or a field with a format.
    """
    found = set()
    for _literal, field, form, conversion in string.Formatter().parse(text):
        if form or conversion:
            raise ValueError(f"the field {{{field}}} has a format, which none may have")
        if field is not None:
            found.add(field)
    return found


_FIELDS = {
    "user": {"question", "passages"},
    "system": {"question", "passages"},
    "passage": {"text", "number"},
    "plain": {"system", "user"},
}


def _check_fields(prompt: Prompt) -> str | None:
    """Say which text holds a field that it cannot have."""
    for key, fields in _FIELDS.items():
        try:
            found = _fields_of(getattr(prompt, key))
        except ValueError as cause:
            return f"key {key!r}: {cause}; write a brace that is meant twice"
        for field in sorted(found - fields):
            return f"key {key!r} has no field {{{field}}}. {nearest(field, fields)}"
    return None


def _check_parts(prompt: Prompt) -> str | None:
    """Say what the model would never see."""
    if prompt.rendered and (prompt.system or prompt.answer):
        return "a rendered prompt is whole, and has neither 'system' nor 'answer'"
    turns = _fields_of(prompt.user) | _fields_of(prompt.system)
    for field in ("question", "passages"):
        if field not in turns:
            return f"no turn has the field {{{field}}}, so the model would never see it"
    if "text" not in _fields_of(prompt.passage):
        return "key 'passage' lacks the field {text}, so the model would never see a passage"
    if _fields_of(prompt.plain) != _FIELDS["plain"]:
        return "key 'plain' lacks the field {user} or {system}"
    return None


def _check_words(prompt: Prompt) -> str | None:
    """Say what is wrong with the answer words and the numbers."""
    for key, words in (("yes", prompt.yes), ("no", prompt.no)):
        if not words:
            return f"key {key!r} names no answer word"
        for word in words:
            if not word or word != word.strip().lower():
                return f"key {key!r}: {word!r} is not in lower case without space around it"
    for word in sorted(set(prompt.yes) & set(prompt.no)):
        return f"{word!r} cannot be both a yes and a no"
    for key in ("longest_passage", "first_number"):
        if getattr(prompt, key) < 0:
            return f"key {key!r} is negative"
    return None


def _check_delimiters(prompt: Prompt) -> str | None:
    """Say why a passage could close its delimiters all the same.

    A delimiter that lies across the border between inserted text and the template would hold the
    template's character at that border. So none may hold such a character.
    """
    try:
        Escaper(prompt.delimiters)
    except ValueError as cause:
        return f"a delimiter {cause}"
    lower = [mark.lower() for mark in prompt.delimiters]
    for mark in lower:
        if mark not in prompt.passage.format(text="", number=prompt.first_number).lower():
            return f"the delimiter {mark!r} does not stand in 'passage'"
    edges = "".join(_edges(prompt))
    for mark in lower:
        touched = sorted(set(mark) & set(edges))
        if touched:
            return (
                f"the character {touched[0]!r} of the delimiter {mark!r} stands right beside "
                "inserted text, which could complete the delimiter; put a line break between them"
            )
    return None


def _edges(prompt: Prompt) -> Iterator[str]:
    """Yield the characters that stand right beside inserted text, in lower case.

    A digit stands for all, since numbers change; inserted text beside inserted text could
    complete anything, and yields all characters of the delimiters.
    """
    filled = prompt.separator.join(
        prompt.passage.format(text=_INSERTED, number=prompt.first_number + n) for n in range(2)
    )
    for layout in (prompt.system, prompt.user):
        text = layout.format(question=_INSERTED, passages=filled).lower()
        for found in re.finditer(_INSERTED, text):
            for neighbor in text[max(0, found.start() - 1) : found.end() + 1].split(_INSERTED):
                yield string.digits if neighbor.isdigit() else neighbor
        if _INSERTED * 2 in text:
            yield "".join(prompt.delimiters).lower()
