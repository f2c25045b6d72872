"""From a prompt to the tokens that a model reads, through its chat template if it has one.

What a template does is found out by rendering: whether it takes a system turn, and whether it has
a switch for thinking. A key that a template does not know it passes over in silence, and some
drop a system turn in silence too.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaincheck.errors import InvalidModel, PathLike, UnjudgeableItem
from chaincheck.items import Item
from chaincheck.judges.prompts import Cut, Prompt, Rendered

__all__ = ["Asked", "Renderer", "special_texts"]

_SWITCHES = ("enable_thinking", "thinking")
_DATE = "01 Jan 2025"  # for templates that would otherwise write today's
_USER, _SYSTEM = "What is asked here?", "How it is to be answered."


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is given for one item.

    Attributes:
        ids: the tokens.
        digest: first 16 hexadecimal digits of the SHA-256 of the text that they are of.
        cuts: the passages that were cut.
        escaped: how many marks in question and passages were broken.
    """

    ids: tuple[int, ...]
    digest: str
    cuts: tuple[Cut, ...]
    escaped: int


def special_texts(tokenizer: Any) -> frozenset[str]:
    """Texts that a tokenizer reads as one sign wherever they stand.

    These are its special tokens, and the added ones that look like marks (``<think>``). An added
    token that is a word or white space is no mark.
    """
    added = {str(token): token for token in tokenizer.added_tokens_decoder.values()}
    marks = {
        text
        for text, token in added.items()
        if getattr(token, "special", False)
        or (len(text) > 2 and not any(ch.isspace() for ch in text) and not text[0].isalnum())
    }
    return frozenset(text for text in marks | set(tokenizer.all_special_tokens) if text.strip())


class Renderer:
    """Turns items into tokens.

    Args:
        tokenizer: of the library transformers.
        prompt: the prompt.
        arguments: passed to the chat template besides.
        where: the model's folder, for messages.

    Attributes:
        settings: how it is done, for the instrument.

    Raises:
        InvalidModel: the chat template fails, drops what the user says, or writes today's date.
    """

    def __init__(
        self,
        tokenizer: Any,
        prompt: Prompt,
        *,
        arguments: Mapping[str, Any] | None = None,
        where: PathLike = "the model",
    ) -> None:
        self._tokenizer = tokenizer
        self._prompt = prompt
        self._where = where
        self._arguments = dict(arguments or {})
        self._specials = special_texts(tokenizer)
        self._special_ids = self._ids_of_specials()
        self._folded = False
        self._chat = bool(tokenizer.chat_template) and not prompt.rendered
        self.settings: dict[str, Any] = {"layout": "whole" if prompt.rendered else "plain"}
        if self._chat:
            self.settings = self._look_at_template()
        self._fill: Callable[[Item], Rendered] = prompt.filler(
            specials=self._specials, token_cutter=self._token_cutter
        )
        self._expected: dict[int, int] = {}
        self._check_date()

    def __call__(self, item: Item) -> Asked:
        """Give the tokens for one item.

        Raises:
            UnjudgeableItem: it has no passages, or its text reads as the tokenizer's own signs.
        """
        filled = self._fill(item)
        text = self._text(filled)
        ids = self._encode(text)
        if self._prompt.special_tokens == "escape":
            self._check_signs(ids, item)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return Asked(ids, digest, filled.cuts, filled.escaped)

    def text(self, item: Item) -> str:
        """Give the whole text for one item, as the model gets it."""
        return self._text(self._fill(item))

    def _text(self, filled: Rendered) -> str:
        if not self._chat:
            return filled.text
        return self._apply(self._turns(filled.messages), **self._arguments) + filled.answer

    def _turns(self, messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
        if not self._folded or messages[0]["role"] != "system":
            return list(messages)
        system, user, *others = messages
        folded = {"role": "user", "content": f"{system['content']}\n\n{user['content']}"}
        return [folded, *others]

    def _encode(self, text: str) -> tuple[int, ...]:
        """Turn text into tokens; a chat template writes its own signs, plain text has none yet."""
        plain = not self._chat and not self._prompt.rendered
        return tuple(self._tokenizer(text, add_special_tokens=plain)["input_ids"])

    def _apply(self, turns: list[dict[str, str]], **arguments: Any) -> str:
        return str(
            self._tokenizer.apply_chat_template(
                turns, tokenize=False, add_generation_prompt=True, **arguments
            )
        )

    def _look_at_template(self) -> dict[str, Any]:
        """Find out what the chat template does."""
        template = self._tokenizer.chat_template
        if "strftime_now" in str(template):
            self._arguments.setdefault("date_string", _DATE)
        user, system = {"role": "user", "content": _USER}, {"role": "system", "content": _SYSTEM}
        try:
            plain = self._apply([user], **self._arguments)
        except Exception as cause:  # a template may raise whatever it likes
            raise self._faulty(f"its chat template fails: {cause}") from None
        if _USER not in plain:
            raise self._faulty("its chat template drops what the user says")
        for switch in _SWITCHES:
            if switch in self._arguments:
                continue
            on, off = (
                self._apply([user], **{**self._arguments, switch: value}) for value in (True, False)
            )
            if on != off:
                self._arguments[switch] = False
        try:
            told = self._apply([system, user], **self._arguments)
            self._folded = _SYSTEM not in told or _USER not in told
        except Exception:  # it refuses a system turn
            self._folded = True
        return {
            "layout": "chat",
            "template": hashlib.sha256(str(template).encode()).hexdigest()[:16],
            "arguments": dict(sorted(self._arguments.items())),
            "system": "in the user's turn" if self._folded and self._prompt.system else "its own",
        }

    def _check_date(self) -> None:
        """Refuse a template that writes today's date: tomorrow it would be another prompt."""
        if not self._chat:
            return
        formats = re.findall(
            r"strftime_now\(\s*['\"](.+?)['\"]", str(self._tokenizer.chat_template)
        )
        today = datetime.datetime.now().astimezone()
        text = self.text(_harmless(1)) if formats else ""
        for form in formats:
            if "%" in form and today.strftime(form) in text:
                raise self._faulty(
                    f"its chat template writes today's date ({form}), so a score would not hold "
                    "tomorrow"
                )

    def _faulty(self, problem: str) -> InvalidModel:
        return InvalidModel(
            problem,
            path=self._where,
            remedy="Correct chat_template.jinja, or write the turns yourself in a prompt with "
            "rendered = true",
        )

    def _token_cutter(self, text: str, count: int) -> int:
        """Say how many characters the first ``count`` tokens of a text cover."""
        found = self._tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        offsets = found["offset_mapping"]
        return len(text) if len(offsets) <= count else int(offsets[count - 1][1])

    def _ids_of_specials(self) -> frozenset[int]:
        unknown = self._tokenizer.unk_token
        texts = [text for text in self._specials if text != unknown]
        return frozenset(self._tokenizer.convert_tokens_to_ids(texts))

    def _check_signs(self, ids: tuple[int, ...], item: Item) -> None:
        """Refuse an item whose own text became one of the tokenizer's signs all the same.

        The signs of a prompt are those of its template, so an item of as many harmless passages
        has as many.
        """
        count = len(item.passages)
        if count not in self._expected:
            self._expected[count] = self._signs(self._encode(self.text(_harmless(count))))
        if self._signs(ids) != self._expected[count]:
            raise UnjudgeableItem(
                "its text holds one of the tokenizer's own signs, which could not be broken",
                item=item.item_id,
                remedy="Take it out of the text",
            )

    def _signs(self, ids: tuple[int, ...]) -> int:
        return sum(id_ in self._special_ids for id_ in ids)


def _harmless(passages: int) -> Item:
    """An item that says nothing."""
    return Item(
        item_id="", pair_id="", variant="real", cell="A", query="x", passages=("x",) * passages
    )
