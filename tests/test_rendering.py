"""From items to tokens: chat templates of several habits, and text that looks like signs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tiny_language_models as tiny
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.errors import InvalidModel, UnjudgeableItem
from chaincheck.items import Item
from chaincheck.judges.prompts import Prompt, load_prompt
from chaincheck.judges.rendering import Renderer, special_texts

pytest.importorskip("transformers", reason="the extra 'judges' is not installed")

PROMPT = load_prompt("sufficiency")


def item(*passages: str, query: str = "Who?") -> Item:
    return Item(item_id="x", pair_id="p", variant="real", cell="A", query=query, passages=passages)


@pytest.fixture(scope="module")
def chat() -> Any:
    return tiny.tokenizer(tiny.CHAT)


class TestTemplates:
    def test_turns_go_through_the_template(self, chat: Any) -> None:
        render = Renderer(chat, PROMPT)
        text = render.text(item("one"))
        assert text == chat.apply_chat_template(
            PROMPT.messages(item("one")), tokenize=False, add_generation_prompt=True
        )
        assert render(item("one")).ids == tuple(chat(text, add_special_tokens=False)["input_ids"])
        assert render.settings["layout"] == "chat"
        assert render.settings["system"] == "its own"

    def test_without_a_template_the_prompt_is_plain(self) -> None:
        words = tiny.tokenizer(None)
        render = Renderer(words, PROMPT)
        assert render.text(item("one")) == PROMPT.text(item("one"))
        assert render.text(item("one")).endswith("\n\nAnswer:")
        assert render.settings == {"layout": "plain"}

    def test_a_plain_prompt_has_the_tokenizers_own_beginning(self) -> None:
        from tokenizers import processors

        words = tiny.tokenizer(None)
        words.backend_tokenizer.post_processor = processors.TemplateProcessing(
            single="<|im_start|> $A",
            special_tokens=[("<|im_start|>", words.convert_tokens_to_ids("<|im_start|>"))],
        )
        assert words.convert_ids_to_tokens(Renderer(words, PROMPT)(item("a")).ids[0]) == (
            "<|im_start|>"
        )

    def test_a_whole_prompt_is_sent_as_it_stands(self, chat: Any, tmp_path: Path) -> None:
        path = tmp_path / "whole.toml"
        path.write_text(
            'rendered = true\npassage = "{text}"\n'
            'user = "<|im_start|>user\\n{question} {passages}<|im_end|>\\n"\n'
        )
        render = Renderer(chat, load_prompt(path))
        assert render.text(item("one")) == "<|im_start|>user\nWho? one<|im_end|>\n"
        assert render.settings == {"layout": "whole"}

    def test_thinking_is_switched_off_where_there_is_a_switch(self, chat: Any) -> None:
        render = Renderer(tiny.tokenizer(tiny.THINKING), PROMPT)
        assert render.text(item("a")).endswith("assistant\n<think>\n\n</think>\n\n")
        assert render.settings["arguments"] == {"enable_thinking": False}
        assert Renderer(chat, PROMPT).settings["arguments"] == {}

    def test_a_users_own_argument_goes_before(self) -> None:
        render = Renderer(
            tiny.tokenizer(tiny.THINKING), PROMPT, arguments={"enable_thinking": True}
        )
        assert render.text(item("a")).endswith("assistant\n")

    @pytest.mark.parametrize(
        "template",
        [
            tiny.NO_SYSTEM,
            tiny.CHAT.replace(
                "{% for message in messages %}",
                "{% for message in messages if message['role'] != 'system' %}",
            ),
        ],
        ids=["raises", "drops it in silence"],
    )
    def test_a_system_turn_that_is_not_taken_goes_into_the_users(self, template: str) -> None:
        render = Renderer(tiny.tokenizer(template), PROMPT)
        text = render.text(item("a"))
        assert text.startswith(f"<|im_start|>user\n{PROMPT.system}\n\nQuestion:")
        assert "<|im_start|>system" not in text
        assert render.settings["system"] == "in the user's turn"

    def test_today_is_never_in_a_prompt(self) -> None:
        template = "{{ date_string if date_string is defined else strftime_now('%d %b %Y') }}\n"
        render = Renderer(tiny.tokenizer(template + tiny.CHAT), PROMPT)
        assert render.text(item("a")).startswith("01 Jan 2025\n")
        assert render.settings["arguments"] == {"date_string": "01 Jan 2025"}

    def test_a_template_that_writes_it_all_the_same_is_refused(self) -> None:
        with pytest.raises(InvalidModel, match="writes today's date"):
            Renderer(tiny.tokenizer("{{ strftime_now('%Y-%m-%d') }}" + tiny.CHAT), PROMPT)
        only_by_default = (
            "{% if messages[0]['role'] != 'system' %}{{ strftime_now('%Y-%m-%d') }}{% endif %}"
        )
        Renderer(tiny.tokenizer(only_by_default + tiny.CHAT), PROMPT)

    @pytest.mark.parametrize(
        "template", ["{{ raise_exception('never') }}", "{{ undefined.thing.more }}", "nothing"]
    )
    def test_a_template_that_fails_or_says_nothing_is_refused(self, template: str) -> None:
        with pytest.raises(InvalidModel, match="its chat template"):
            Renderer(tiny.tokenizer(template), PROMPT)

    def test_the_models_turn_can_be_begun(self, chat: Any) -> None:
        prompt = Prompt(name="x", user="{question}{passages}", passage="{text}", answer="It is")
        assert Renderer(chat, prompt).text(item("a")).endswith("assistant\nIt is")

    def test_the_digest_is_that_of_the_text(self, chat: Any) -> None:
        render = Renderer(chat, PROMPT)
        assert render(item("a")).digest == render(item("a")).digest != render(item("b")).digest


class TestCuts:
    def test_passages_are_cut_after_whole_tokens(self, chat: Any) -> None:
        prompt = Prompt(
            name="x",
            user="{question}\n{passages}\n",
            passage="<{text}>",
            unit="tokens",
            longest_passage=3,
        )
        asked = Renderer(chat, prompt)(item("Anna Keller was born in Trieste", "Anna"))
        (cut,) = asked.cuts
        assert (cut.passage, cut.kept) == (0, len("Anna Keller was"))


_PIECES = "<|im_end|> <|im_start|> <| im_end |> <think> </think> < a é </passage> <|im_end |><|im_"
MARKS = st.sampled_from([*_PIECES.split(), "<|endoftext|>", " ", "\n"])
TEXTS = st.lists(MARKS, max_size=6).map("".join)


class TestSigns:
    def test_signs_are_special_tokens_and_marks_but_not_words(self, chat: Any) -> None:
        assert special_texts(chat) == {
            *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>")
        }
        more = tiny.tokenizer()
        more.add_tokens(["whole", "  ", "<tool_call>"])
        assert special_texts(more) - special_texts(chat) == {"<tool_call>"}

    @settings(deadline=None, max_examples=60)
    @given(st.lists(TEXTS, min_size=1, max_size=3), TEXTS)
    def test_no_text_of_an_item_becomes_a_sign(self, passages: list[str], query: str) -> None:
        chat = _CHAT
        render = Renderer(chat, PROMPT)
        signs = set(chat.convert_tokens_to_ids(sorted(special_texts(chat))))
        found = [id_ for id_ in render(item(*passages, query=query)).ids if id_ in signs]
        plain = [id_ for id_ in render(item(*["x"] * len(passages))).ids if id_ in signs]
        assert found == plain

    def test_one_that_cannot_be_broken_is_refused(self, chat: Any) -> None:
        """A tokenizer that reads a sign through its normalizer, where escaping does not see it."""
        from tokenizers import AddedToken, normalizers

        odd = tiny.tokenizer()
        odd.backend_tokenizer.normalizer = normalizers.NFKC()
        odd.add_tokens([AddedToken("<end>", special=True, normalized=True)], special_tokens=True)
        with pytest.raises(UnjudgeableItem, match="could not be broken"):
            Renderer(odd, PROMPT)(item("＜end＞"))

    def test_a_prompt_may_keep_them(self, chat: Any) -> None:
        render = Renderer(chat, load_prompt("bare"))
        asked = render(item("a<|im_end|>"))
        assert asked.ids.count(chat.convert_tokens_to_ids("<|im_end|>")) == 3


_CHAT = tiny.tokenizer(tiny.CHAT)
