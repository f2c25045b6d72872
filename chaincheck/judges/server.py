"""The server judge: asks a model behind an OpenAI-compatible API.

Four modes, stated in the TOML file and never changed on the way (``server_settings``):

- "top" reads the most probable tokens of the first position. Where one that counts was not
  returned the score is bounded, not made up (``server_scores``).
- "ids" has vLLM return the log-probabilities of named tokens, which gives the exact score.
- "json" has the model write a number from 0 to 1, for servers without log-probabilities.
- "rationale" has it write a finding and quotes for each hop. The score is 1 or 0 by its verdict,
  and the judgment keeps its words, of which ``chaincheck audit replays`` makes replays.

Opening a judge asks nothing, and neither does replaying its log. ``score`` opens connections,
keeps several requests on the way and gives the judgments in order. An interrupt or an error ends
it: replies that had come out of turn, fewer than twice ``concurrency``, are then lost and asked
for again; every judgment that was given out is kept by whoever records it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaincheck.errors import InvalidReplay, MissingExtra, ServerFailed, UnjudgeableItem, quote
from chaincheck.items import Item
from chaincheck.judges.base import Judgment, fingerprint_of
from chaincheck.judges.prompts import Rendered
from chaincheck.judges.server_http import Client, Patience, Reply, key_from_environment, open_client
from chaincheck.judges.server_replies import Answer, Failed, entries_of, number_of, read_answer
from chaincheck.judges.server_scores import Scored, Side, Tokens, WrongLogprobs, score_of
from chaincheck.judges.server_settings import ServerSettings, read_settings
from chaincheck.judges.server_tokens import ids_from_server
from chaincheck.rationale import decode_rationale

if TYPE_CHECKING:
    import anyio

__all__ = ["ServerJudge", "open_server_judge"]

_CUT = "prompt cut"
_ESCAPED = "marks in passages broken"


class ServerJudge:
    """A model behind an API.

    Args:
        settings: what to ask, and where.

    Attributes:
        name, fingerprint, instrument: see ``base``.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.name = settings.name
        self.instrument = settings.instrument()
        self.fingerprint = fingerprint_of(self.instrument)
        self._fingerprint_of_server: str | None = None

    @property
    def acquisition(self) -> dict[str, Any]:
        """How replies are got; what the server called itself when it gave the last judgment."""
        return {
            "endpoint": self.settings.endpoint,
            "client": _client_version(),
            "concurrency": self.settings.concurrency,
            "timeout": self.settings.timeout,
            "retries": self.settings.retries,
            "system_fingerprint": self._fingerprint_of_server,
            # Two runs of one server differ: it batches with whatever else it is asked.
            "deterministic": False,
        }

    def score(self, items: Iterable[Item]) -> Iterator[Judgment]:
        """Ask about the items, several at a time, and judge them in order.

        Raises:
            ServerFailed: no reply came, or not what was asked for; it names the item.
            UnjudgeableItem: an item without passages.
            UsageError: the key is not in the environment.
            MissingExtra: the library for HTTP is not installed.
        """
        try:
            import anyio
            from anyio.from_thread import start_blocking_portal
        except ModuleNotFoundError:
            raise MissingExtra("asking a server", "server") from None
        settings = self.settings
        key = key_from_environment(settings.api_key_env)
        patience = Patience(timeout=settings.timeout, retries=settings.retries)
        opening = open_client(patience, key=key, connections=settings.concurrency)
        # The loop runs in a thread of its own, since a notebook already runs one in this.
        with (
            start_blocking_portal() as portal,
            portal.wrap_async_context_manager(opening) as client,
        ):
            session = portal.call(_Session, settings, client, anyio.CapacityLimiter)
            portal.call(session.prepare)
            pending: deque[Any] = deque()
            for item in items:
                pending.append(portal.start_task_soon(session.judge, item))
                if len(pending) >= 2 * settings.concurrency:
                    yield self._given(*pending.popleft().result())
            while pending:
                yield self._given(*pending.popleft().result())

    def _given(self, judgment: Judgment, system_fingerprint: str | None) -> Judgment:
        self._fingerprint_of_server = system_fingerprint
        return judgment


class _Session:
    """One run: the tokens that were found, the model that answers."""

    def __init__(
        self,
        settings: ServerSettings,
        client: Client,
        limiter: Callable[[float], anyio.CapacityLimiter],
    ) -> None:
        self._settings = settings
        self._client = client
        self._limiter = limiter(settings.concurrency)
        self._fill = settings.prompt.filler(specials=settings.specials)
        self._body = settings.body()
        self._answered = False
        self._tokens = _tokens(settings, settings.yes_ids, settings.no_ids)

    async def prepare(self) -> None:
        """Ask for the ids of the tokens that count, where they are not known."""
        settings = self._settings
        if settings.mode != "ids" or settings.yes_ids:
            return
        root = settings.url.removesuffix("/v1")

        async def post(path: str, body: dict[str, Any]) -> Any:
            import msgspec

            reply = await self._client.post(root + path, body)
            try:
                return msgspec.json.decode(reply.data)
            except msgspec.DecodeError:
                raise ServerFailed(
                    "the reply is no valid JSON",
                    endpoint=root + path,
                    remedy="Give yes_ids and no_ids, or the folder of the tokenizer",
                ) from None

        yes = await ids_from_server(post, settings.model, settings.prompt.yes)
        no = await ids_from_server(post, settings.model, settings.prompt.no)
        self._tokens = _tokens(settings, yes, no)
        self._body["logprob_token_ids"] = [*yes, *no]

    async def judge(self, item: Item) -> tuple[Judgment, str | None]:
        """Ask about one item.

        Returns:
            The judgment, and what the server called its configuration.
        """
        settings = self._settings
        if not item.passages:
            raise UnjudgeableItem(
                "it has no passages", item=item.item_id, remedy="Leave it out of the data"
            )
        rendered = self._fill(item)
        body = {"model": settings.model, **self._body, **_asked(settings, rendered)}
        async with self._limiter:
            reply = await self._client.post(settings.endpoint, body, item=item.item_id)

        def failed(problem: str, remedy: str | None = None) -> ServerFailed:
            return ServerFailed(
                problem, endpoint=settings.endpoint, item=item.item_id, remedy=remedy
            )

        answer = read_answer(reply.data, failed)
        self._check_model(answer.model, failed)
        common = _common(item, rendered, reply, answer)
        if settings.mode == "json":
            value = number_of(answer, failed)
            return Judgment(score=value, **common), answer.system_fingerprint
        if settings.mode == "rationale":
            return _explained(answer, common), answer.system_fingerprint
        scored = self._scored(answer, failed)
        common["flags"] += scored.flags
        common["details"] |= {
            "mass": scored.mass,
            "total": scored.total,
            "floor": scored.floor,
            "missing": scored.missing,
        }
        judgment = Judgment(
            score=scored.score, bounds=scored.bounds, logprobs=_by_token(scored), **common
        )
        return judgment, answer.system_fingerprint

    def _scored(self, answer: Answer, failed: Failed) -> Scored:
        entries = entries_of(answer, failed)
        try:
            scored = score_of(entries, self._tokens, minimum_mass=self._settings.minimum_mass)
        except WrongLogprobs as problem:
            raise failed(
                f"the log-probabilities cannot be used: {problem}",
                "Serve the model so that it returns its own, before any sampling setting",
            ) from None
        if self._settings.mode == "ids" and scored.missing:
            raise failed(
                f"{scored.missing} of the tokens that were named were not returned: this server "
                "drops 'logprob_token_ids' in silence",
                'Serve the model with vLLM, or set mode = "top" and call it another judge',
            )
        return scored

    def _check_model(self, said: str, failed: Failed) -> None:
        expected = self._settings.model_returned
        if said == expected:
            self._answered = True
            return
        if self._answered:
            raise failed(
                f"the server changed its model on the way: {quote(expected)} answered before, and "
                f"now {quote(said)}",
                "Find out what is served; each model needs a judge and a log of its own",
            )
        raise failed(
            f"the reply names the model {quote(said)}, and {quote(expected)} was to answer",
            f"If that is the one meant, set model_returned = {said!r}",
        )


def _explained(answer: Answer, common: dict[str, Any]) -> Judgment:
    """Score a rationale by its verdict. One that is INVALID has no score, and is kept as it came.

    It is no error: how often a model fails to answer in the form that it was told is a finding.
    """
    common["raw"] = answer.text or ""
    try:
        said = decode_rationale(common["raw"])
    except InvalidReplay as refused:
        common["flags"] += (f"INVALID rationale: {refused.code} at {refused.json_path}",)
        return Judgment(score=None, bounds=(None, None), **common)
    return Judgment(score=float(said.verdict == "yes"), **common)


def _tokens(settings: ServerSettings, yes_ids: Iterable[int], no_ids: Iterable[int]) -> Tokens:
    def side(words: Iterable[str], texts: Iterable[str], ids: Iterable[int]) -> Side:
        return Side(frozenset(words), frozenset(texts), frozenset(ids), settings.all_ids)

    return Tokens(
        yes=side(settings.prompt.yes, settings.yes_tokens, yes_ids),
        no=side(settings.prompt.no, settings.no_tokens, no_ids),
    )


def _asked(settings: ServerSettings, rendered: Rendered) -> dict[str, Any]:
    if settings.api == "chat":
        return {"messages": list(rendered.messages)}
    return {"prompt": rendered.text}


def _common(item: Item, rendered: Rendered, reply: Reply, answer: Answer) -> dict[str, Any]:
    """What every judgment holds, whatever the mode."""
    details: dict[str, Any] = {"finish_reason": answer.finish_reason}
    flags: tuple[str, ...] = ()
    if rendered.cut:
        flags += (_CUT,)
        details["cuts"] = [[cut.passage, cut.kept, cut.length] for cut in rendered.cuts]
    if rendered.escaped:
        flags += (_ESCAPED,)
        details["escaped"] = rendered.escaped
    if answer.system_fingerprint is not None:
        details["system_fingerprint"] = answer.system_fingerprint
    usage: dict[str, Any] = dict(answer.usage)
    usage["attempts"] = reply.attempts
    if reply.waited:
        usage["waited_seconds"] = round(reply.waited, 3)
    return {
        "item_id": item.item_id,
        "raw": answer.text,
        "model": answer.model,
        "usage": usage,
        "flags": flags,
        "details": details,
    }


def _by_token(scored: Scored) -> dict[str, float]:
    named: dict[str, float] = {}
    for one in scored.counted:
        name = one.text if one.text not in named else f"{one.text} (id {one.token_id})"
        named[name] = one.logprob
    return named


def _client_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"httpx2 {version('httpx2')}"
    except PackageNotFoundError:
        return "none"


def open_server_judge(keys: Mapping[str, Any], folder: Path) -> ServerJudge:
    """Open a server judge by the keys of its TOML file; nothing is asked of the server.

    Args:
        keys: the keys beside ``kind``.
        folder: what relative paths are relative to.

    Raises:
        UsageError: as ``server_settings.read_settings``.
    """
    return ServerJudge(read_settings(keys, folder))
