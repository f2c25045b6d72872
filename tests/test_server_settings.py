from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaincheck.errors import ChainCheckError, UsageError
from chaincheck.judges import KINDS, open_judge
from chaincheck.judges.server_address import checked_address
from chaincheck.judges.server_settings import KEYS, ServerSettings, read_settings

WORDS = ("Yes", " yes", "Y", "No", "n", "yesterday", "<0x59>", "not")
GIVEN: dict[str, Any] = {"url": "http://127.0.0.1:8000/v1", "model": "m", "mode": "top"}


def read(**keys: Any) -> ServerSettings:
    return read_settings({**GIVEN, **keys}, Path())


def save_tokenizer(folder: Path, words: Sequence[str] = WORDS) -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {word: number for number, word in enumerate(words)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="not"))
    made.decoder = tokenizers.decoders.ByteFallback()
    made.add_special_tokens(["<|end|>", "YES"])
    made.add_tokens(["NO ", "<think>"])
    folder.mkdir()
    made.save(str(folder / "tokenizer.json"))
    return made


class TestAddress:
    @pytest.mark.parametrize(
        ("url", "kept"),
        [
            ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
            ("http://127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1"),
            ("HTTPS://API.Example.com/v1", "https://api.example.com/v1"),
            ("http://[::1]:8000", "http://[::1]:8000"),
            ("http://localhost", "http://localhost"),
        ],
    )
    def test_is_kept_in_one_form(self, url: str, kept: str) -> None:
        assert checked_address(url, keyed=True) == kept

    @pytest.mark.parametrize(
        ("url", "match"),
        [
            ("ftp://host/v1", "no http or https address"),
            ("127.0.0.1:8000/v1", "no http or https address"),
            ("http:///v1", "no http or https address"),
            ("http://exämple.org/v1", "no http or https address"),
            ("http://a b/v1", "no http or https address"),
            ("http://host:port/v1", "is no address"),
            ("http://host:99999/v1", "is no address"),
            ("http://[::1/v1", "is no address"),
            ("http://host/v1/chat/completions", "ends in /chat/completions"),
            ("http://host/v1/completions/", "ends in /completions"),
            ("", "no http or https address"),
        ],
    )
    def test_another_is_refused(self, url: str, match: str) -> None:
        with pytest.raises(UsageError, match=match):
            checked_address(url, keyed=False)

    @pytest.mark.parametrize(
        "url",
        [
            "http://user:SECRET@host/v1",
            "http://SECRET@host/v1",
            "http://user:SEC/SECRET@host/v1",
            "http://user:SEC?SECRET@host/v1",
            "http://user:SEC#SECRET@host/v1",
            "http://user:SE@SECRET@host/v1",
            "user:SECRET@host/v1",
            "http://user:SECRET@host:99999/v1",
            "http://user:SECRET@[::1/v1",
            "http://host/v1?api_key=SECRET",
            "http://host/v1#SECRET",
            "http://host/SECRET@v1",
            "http://user:SECRET%40@host/v1",
            "http://user:\nSECRET@host/v1",
        ],
    )
    @pytest.mark.parametrize("keyed", [True, False])
    def test_credentials_are_refused_and_not_repeated(self, url: str, keyed: bool) -> None:
        with pytest.raises(UsageError) as told:
            checked_address(url, keyed=keyed)
        assert "SECRET" not in str(told.value) and "SEC" not in str(told.value)

    @given(st.text(max_size=40), st.text("0123456789abcdef", min_size=8, max_size=8))
    def test_no_secret_before_an_at_sign_is_ever_repeated(self, before: str, secret: str) -> None:
        for url in (f"http://{before}{secret}@host/v1", f"https://u:{secret}{before}@host"):
            with pytest.raises(UsageError) as told:
                checked_address(url, keyed=False)
            assert secret not in str(told.value)

    @pytest.mark.parametrize("host", ["example.com", "10.0.0.1", "192.168.1.2", "0.0.0.0"])
    def test_a_key_goes_over_no_network_unencrypted(self, host: str) -> None:
        with pytest.raises(UsageError, match="unencrypted"):
            checked_address(f"http://{host}/v1", keyed=True)
        assert checked_address(f"http://{host}/v1", keyed=False)
        assert checked_address(f"https://{host}/v1", keyed=True)

    @pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
    def test_unless_it_stays_on_this_machine(self, host: str) -> None:
        assert checked_address(f"http://{host}:1/v1", keyed=True)


class TestKeys:
    @pytest.mark.parametrize(
        ("keys", "match"),
        [
            ({"mode": "logprobs"}, "Invalid enum value 'logprobs'"),
            ({"api": "responses"}, "Invalid enum value 'responses'"),
            ({"model": ""}, "name is empty"),
            ({"model_returned": ""}, "name is empty"),
            ({"model": 3}, r"Expected `str`, got `int` - at `\$.model`"),
            ({"top_logprobs": 0}, "top_logprobs"),
            ({"top_logprobs": True}, "Expected `int`, got `bool`"),
            ({"timeout": 0}, "timeout"),
            ({"timeout": float("inf")}, "timeout"),
            ({"timeout": float("nan")}, "timeout"),
            ({"minimum_mass": 1.5}, "minimum_mass"),
            ({"minimum_mass": float("nan")}, "minimum_mass"),
            ({"retries": -1}, "retries"),
            ({"concurrency": 0}, "concurrency"),
            ({"api_key_env": "sk-abc/def"}, "name of an environment variable, not the key"),
            ({"yes_tokens": ["Yes"]}, "yes_tokens and no_tokens go together"),
            ({"no_ids": [1]}, "yes_ids and no_ids go together"),
            ({"yes_ids": [1], "no_ids": [1]}, "share a token"),
            ({"yes_ids": [-1], "no_ids": [1]}, "never negative"),
            ({"yes_ids": [1], "no_ids": [2], "tokenizer": "t"}, "exclude each other"),
            ({"mode": "json", "yes_ids": [1], "no_ids": [2]}, "reads no tokens"),
            ({"mode": "json", "api": "completions"}, 'needs api = "chat"'),
            ({"mode": "ids", "yes_tokens": ["a"], "no_tokens": ["b"]}, "not by texts"),
            ({"mode": "ids", "yes_ids": list(range(100)), "no_ids": list(range(100, 150))}, "128"),
            ({"request": {"model": "other"}}, "may not hold 'model'"),
            ({"request": {"stream": True}}, "may not hold 'stream'"),
            ({"omit": ["model"]}, "Invalid enum value 'model'"),
            ({"prompt": "sufficency"}, "Did you mean 'sufficiency'"),
            ({"tokenizer": "not-there"}, "not-there"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, keys: dict[str, Any], match: str) -> None:
        with pytest.raises(ChainCheckError, match=match) as told:
            read(**keys)
        assert "sk-abc" not in str(told.value)

    @pytest.mark.parametrize("key", ["url", "model", "mode"])
    def test_three_keys_are_needed(self, key: str) -> None:
        keys = {name: value for name, value in GIVEN.items() if name != key}
        with pytest.raises(UsageError, match=f"needs the key '{key}'"):
            read_settings(keys, Path())

    def test_an_unknown_key_is_refused_with_the_nearest(self, tmp_path: Path) -> None:
        path = tmp_path / "judge.toml"
        path.write_text('kind = "server"\nurl = "http://h/v1"\nmodel = "m"\nmod = "top"\n')
        with pytest.raises(UsageError, match=r"unknown key 'mod'.*Did you mean 'mode'"):
            open_judge(str(path))
        assert KINDS["server"][1] == KEYS

    @pytest.mark.parametrize(
        ("lines", "match"),
        [
            ('user = "{question}{passages}"\npassage="{text}"\nrendered = true', "whole as it is"),
            ('user = "{question}{passages}"\npassage="{text}"\nanswer = "So:"', "begins the model"),
            (
                'user = "{question}{passages}"\npassage="{text}"\n'
                'longest_passage = 9\nunit = "tokens"',
                "cuts passages by tokens",
            ),
        ],
    )
    def test_a_prompt_that_an_api_cannot_ask_is_refused(
        self, tmp_path: Path, lines: str, match: str
    ) -> None:
        (tmp_path / "mine.toml").write_text(lines)
        with pytest.raises(UsageError, match=match):
            read_settings({**GIVEN, "prompt": "mine.toml"}, tmp_path)

    def test_a_tokenizer_gives_the_ids(self, tmp_path: Path) -> None:
        made = save_tokenizer(tmp_path / "model")
        found = read_settings({**GIVEN, "mode": "ids", "tokenizer": "model"}, tmp_path)
        # <0x59> is the byte of the letter Y, which no search by spelling would find.
        assert (found.yes_ids, found.no_ids) == ((0, 1, 2, 6), (3, 4, 10))
        assert found.all_ids
        assert found.instrument()["tokens"] == {"yes_ids": [0, 1, 2, 6], "no_ids": [3, 4, 10]}
        assert found.specials == ("<think>", "<|end|>", "YES")

        # The judge that runs the model itself finds the same ones.
        transformers = pytest.importorskip("transformers")
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made)
        from chaincheck.judges.rendering import special_texts
        from chaincheck.judges.token_sets import find_token_sets

        words = (found.prompt.yes, found.prompt.no)
        sets = find_token_sets(tokenizer, *words, rows=99, remember=False)
        assert (found.yes_ids, found.no_ids) == (sets.yes, sets.no)
        assert set(found.specials) == special_texts(tokenizer)

    def test_a_tokenizer_without_an_answer_word_is_refused(self, tmp_path: Path) -> None:
        save_tokenizer(tmp_path / "model", words=["No", "perhaps", "not"])
        with pytest.raises(UsageError, match=r"no single token of .* reads as y or yes"):
            read_settings({**GIVEN, "tokenizer": "model"}, tmp_path)

    @pytest.mark.parametrize(("mode", "longest"), [("top", 1), ("ids", 1), ("json", 64)])
    def test_one_token_is_asked_for_or_the_length_of_a_number(
        self, mode: str, longest: int
    ) -> None:
        assert read(mode=mode).body()["max_tokens"] == longest
        more = {"request": {"max_completion_tokens": 5}, "omit": ["max_tokens", "temperature"]}
        own = read(mode=mode, **more).body()
        assert own["max_completion_tokens"] == 5 and own["seed"] == 0
        assert "max_tokens" not in own and "temperature" not in own

    def test_opening_imports_nothing_that_asks(self) -> None:
        import subprocess
        import sys

        code = (
            "import sys; from chaincheck.judges import KINDS, open_judge; "
            "print(*(m for m in ('httpx2', 'anyio', 'torch', 'tokenizers') if m in sys.modules))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        assert done.stdout.split() == []


class TestSecretsInTheRequest:
    """The request is part of the instrument, which is written into every log and score file."""

    @pytest.mark.parametrize(
        "request_",
        [
            {"authorization": "x-topsecret"},
            {"api_key": "x-topsecret"},
            {"extra_headers": {"X-API-Key": "x-topsecret"}},
            {"options": [{"token": "x-topsecret"}]},
            {"header": "Bearer x-topsecret"},
            {"user": "sk-topsecret99"},
        ],
    )
    def test_are_refused_and_never_shown(self, request_: dict[str, Any]) -> None:
        with pytest.raises(UsageError, match="which looks like a key") as caught:
            read(request=request_)
        assert "topsecret" not in str(caught.value)

    def test_what_only_sounds_like_one_is_not(self) -> None:
        harmless = {
            "chat_template_kwargs": {"enable_thinking": False},
            "stop_token_ids": [1],
            "add_special_tokens": False,
            "user": "skeptic",
            "top_k": 1,
        }
        assert dict(read(request=harmless).request) == harmless
