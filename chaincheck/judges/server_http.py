"""Asking a server over HTTP: patiently, within limits, and without anything it was not given.

- The library is told to read no environment: no proxies, no ``.netrc``, no certificates from
  there. The key comes from the one variable that was named, and stands in no message.
- A request has one deadline for everything, from the connection to the last byte: a server that
  sends a byte now and then does not hold a run up.
- 408, 425, 429, 500, 502, 503, 504 and 529, a missed deadline and a broken connection are tried
  again, after a pause that doubles and is drawn at random below that (so that many clients do not
  come back at once), or after what ``Retry-After`` says. Anything else is an error at once.
- Redirects are not followed, since they would carry the question, and could carry the key,
  elsewhere. Compressed replies are refused: none is asked for, and a small one may unfold to
  gigabytes.
"""

from __future__ import annotations

import contextlib
import email.utils
import os
import random
import socket
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from chaincheck import __version__
from chaincheck.errors import MissingExtra, ServerFailed, UsageError

if TYPE_CHECKING:
    import httpx2

__all__ = ["Client", "Patience", "Reply", "key_from_environment", "open_client", "said_by"]

_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_BODY = 64 * 2**20
_LONGEST_FAILURE = 64 * 2**10
_LONGEST_TOLD = 300


@dataclass(frozen=True)
class Patience:
    """How long a server is waited for.

    Attributes:
        timeout: seconds for one whole reply.
        retries: how often to ask again.
        first_pause: seconds before the first time, at most; doubled each time.
        longest_pause: seconds before any time, at most, unless the server asks for more.
        longest_asked: seconds that a server's ``Retry-After`` is heeded, at most.
    """

    timeout: float = 120.0
    retries: int = 5
    first_pause: float = 1.0
    longest_pause: float = 30.0
    longest_asked: float = 120.0

    def pause(self, attempt: int, asked: float | None, drawn: float) -> float:
        """Say how long to wait.

        Args:
            attempt: how often it was tried, from 1.
            asked: seconds that the server asked for, if it did.
            drawn: a random number from 0 to 1.
        """
        if asked is not None:
            return min(max(asked, 0.0), self.longest_asked) + drawn * self.first_pause / 4
        ceiling = min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))
        return ceiling * (0.5 + drawn / 2)


@dataclass(frozen=True)
class Reply:
    """A reply with status 200.

    Attributes:
        data: its JSON, undecoded.
        attempts: how often it was asked for.
        waited: seconds of pauses between these.
    """

    data: bytes
    attempts: int
    waited: float


class _TryAgain(Exception):
    """A failure that may pass."""

    def __init__(self, problem: str, after: float | None = None) -> None:
        super().__init__(problem)
        self.after = after


def key_from_environment(name: str | None) -> str | None:
    """Read the key from the variable of this name.

    Raises:
        UsageError: it is not set, or holds what no header can.
    """
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(
            f"the environment variable {name}, which is to hold the server's key, is not set",
            remedy="Set it, or leave api_key_env out of the TOML file",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(
            f"the environment variable {name} holds something that is no key",
            remedy="A key is one word of ASCII characters",
        )
    return key


@contextlib.asynccontextmanager
async def open_client(
    patience: Patience, *, key: str | None = None, connections: int = 4
) -> AsyncIterator[Client]:
    """Open a client.

    Args:
        patience: how long to wait.
        key: sent as a bearer token.
        connections: how many at a time.

    Raises:
        MissingExtra: the library is not installed.
    """
    try:
        import httpx2
    except ModuleNotFoundError:
        raise MissingExtra("asking a server", "server") from None
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": f"chaincheck/{__version__}",
    }
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    async with httpx2.AsyncClient(
        headers=headers,
        timeout=None,  # of its own, for each step; the deadline in _once is for all of them
        limits=httpx2.Limits(max_connections=connections, max_keepalive_connections=connections),
        follow_redirects=False,
        trust_env=False,
    ) as inner:
        yield Client(inner, patience, key)


@dataclass
class Client:
    """Sends requests; made by ``open_client``.

    Attributes:
        patience: how long to wait.
    """

    _inner: httpx2.AsyncClient = field(repr=False)
    patience: Patience
    _key: str | None = field(repr=False)
    _random: random.Random = field(default_factory=random.Random, repr=False)

    async def post(self, url: str, body: Mapping[str, Any], *, item: str | None = None) -> Reply:
        """Send JSON and give the JSON that comes back.

        Args:
            url: where to.
            body: what to send.
            item: the item that it is about, for messages.

        Raises:
            ServerFailed: no reply of status 200 with JSON came within the limits.
        """
        import anyio

        content = msgspec.json.encode(dict(body))
        waited = 0.0
        for attempt in range(1, self.patience.retries + 2):
            try:
                return Reply(await self._once(url, content, item), attempt, waited)
            except _TryAgain as failure:
                if attempt > self.patience.retries:
                    times = "once" if attempt == 1 else f"{attempt} times"
                    raise ServerFailed(
                        f"{failure} (asked {times})",
                        endpoint=url,
                        item=item,
                        remedy="Run it again later: what the log holds is not asked again",
                    ) from None
                pause = self.patience.pause(attempt, failure.after, self._random.random())
            await anyio.sleep(pause)
            waited += pause
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def _once(self, url: str, content: bytes, item: str | None) -> bytes:
        import anyio
        import httpx2

        got = bytearray()
        try:
            with anyio.fail_after(self.patience.timeout):
                async with self._inner.stream(
                    "POST", url, content=content, headers={"Content-Type": "application/json"}
                ) as response:
                    longest = _LONGEST_BODY if response.status_code == 200 else _LONGEST_FAILURE
                    encoding = response.headers.get("Content-Encoding", "identity")
                    if encoding.lower() == "identity":
                        async for chunk in response.aiter_raw():
                            got += chunk
                            if len(got) > longest:
                                break
                    self._check(response, bytes(got), longest, url, item)
                    return bytes(got)
        except TimeoutError:
            raise _TryAgain(
                f"no whole reply within {self.patience.timeout:g} seconds ({len(got):,} bytes came)"
            ) from None
        except httpx2.TransportError as cause:
            if hopeless := _hopeless(cause):
                problem, remedy = hopeless
                raise ServerFailed(problem, endpoint=url, item=item, remedy=remedy) from None
            raise _TryAgain(_broken(cause)) from None

    def _check(
        self, response: httpx2.Response, got: bytes, longest: int, url: str, item: str | None
    ) -> None:
        """Raise for whatever is not a whole JSON reply with status 200."""
        status = response.status_code

        def failed(problem: str, remedy: str | None = None) -> ServerFailed:
            return ServerFailed(problem, endpoint=url, item=item, remedy=remedy)

        if status in _AGAIN:
            after = _seconds(response.headers.get("Retry-After"), time.time())
            raise _TryAgain(self._told(status, got), after)
        if 300 <= status < 400:
            raise failed(
                f"the server redirects (status {status}), which is not followed",
                "Name the address that it redirects to as the judge's url",
            )
        if status != 200:
            raise failed(self._told(status, got), _remedy_for(status))
        encoding = response.headers.get("Content-Encoding", "identity")
        if encoding.lower() != "identity":
            raise failed(
                f"the reply is compressed ({said_by(encoding)}), which was not asked for",
                "Reach the server without what compresses its replies",
            )
        if len(got) > longest:
            raise failed(
                f"the reply is longer than {longest // 2**20} MiB", "Ask for fewer top_logprobs"
            )
        kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise failed(
                f"the reply is no JSON but {said_by(kind) or 'of no stated type'}: "
                f"{self._clean(got)}",
                "Check the judge's url: it should end where the server's API begins, as in /v1",
            )

    def _told(self, status: int, got: bytes) -> str:
        """Say a status with the message that came with it."""
        return f"the server answers {status}: {self._clean(_message_in(got)) or 'no message'}"

    def _clean(self, told: bytes | str) -> str:
        text = told.decode("utf-8", "replace") if isinstance(told, bytes) else told
        if self._key:
            text = text.replace(self._key, "***")
        return said_by(text)


def said_by(text: str) -> str:
    """Fit what a server said into a message: one printable line, cut."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _LONGEST_TOLD else line[:_LONGEST_TOLD] + "…"


def _message_in(got: bytes) -> str | bytes:
    """Find the message in an error's body: the common layouts, or all of it."""
    try:
        found = msgspec.json.decode(got)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return got
    for _ in range(3):
        if isinstance(found, str):
            return found
        if not isinstance(found, dict):
            return got
        found = next((found[k] for k in ("error", "message", "detail") if k in found), None)
    return got


def _remedy_for(status: int) -> str:
    if status in {401, 403}:
        return "Name the variable that holds the key in api_key_env"
    if status == 404:
        return "Check the judge's url and model"
    return "Change what is asked for: asking the same again would fail again"


def _seconds(header: str | None, now: float) -> float | None:
    """Read ``Retry-After``: seconds, or a date.

    Args:
        header: the header, if there is one.
        now: seconds since the epoch.
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def _hopeless(cause: BaseException) -> tuple[str, str] | None:
    """Say why a connection will fail again, if it will, and what to do about it."""
    seen: BaseException | None = cause
    for _ in range(8):
        if isinstance(seen, ssl.SSLCertVerificationError):
            return (
                f"the server's certificate is not trusted: {said_by(seen.verify_message)}",
                "Have this machine trust who issued it, or name the host that it was issued for",
            )
        if isinstance(seen, socket.gaierror) and seen.errno == socket.EAI_NONAME:
            return "no machine of this name is known", "Correct the judge's url"
        seen = seen and (seen.__cause__ or seen.__context__)
    return None


def _broken(cause: httpx2.TransportError) -> str:
    import httpx2

    if isinstance(cause, httpx2.ConnectError):
        return "no connection: is the server running?"
    if isinstance(cause, httpx2.RemoteProtocolError | httpx2.ReadError):
        return "the connection broke off before the whole reply had come"
    return f"the connection failed ({type(cause).__name__}: {said_by(str(cause))})"
