"""The address of a server: which are accepted, in what form they are kept, and no secrets."""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping
from ipaddress import ip_address

from chaincheck.errors import UsageError, quote

__all__ = ["checked_address", "secret_in"]

_SECRET = re.compile(
    r"(proxy[-_])?authorization|auth|(x[-_])?api[-_]?key|(access|auth|bearer|api)[-_]?token|token"
    r"|password|passwd|(client[-_]|api[-_])?secret|cookie",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\s*(bearer|basic)\s+\S|\s*(sk|hf|gsk)[-_]\w{8}", re.IGNORECASE)


def checked_address(url: str, *, keyed: bool) -> str:
    """Give an address in its one form, or say what is wrong without repeating a secret.

    Args:
        url: as the user wrote it.
        keyed: whether a key will be sent there.

    Returns:
        Scheme, host in lower case, port if one was given, and path without a slash at its end.

    Raises:
        UsageError: it is no http or https address; it holds credentials, or a query, which may
            hold some; or a key would go over the network unencrypted.
    """
    masked = re.sub(r"^([A-Za-z][\w+.-]*://)?.*@", r"\1***@", url, flags=re.DOTALL)
    shown = quote(re.split(r"[?#]", masked, maxsplit=1)[0])
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(
            f"the server judge's url {shown} is no address",
            remedy='Write it like "http://127.0.0.1:8000/v1"',
        ) from None
    if "@" in parts.netloc or "@" in url:
        raise UsageError(
            f"the server judge's url {shown} holds credentials, which would be kept and shown",
            remedy="Put the key into an environment variable, and its name into api_key_env",
        )
    if parts.query or parts.fragment or "?" in url or "#" in url:
        raise UsageError(
            f"the server judge's url {shown} goes on with a query or a fragment, which may hold "
            "credentials",
            remedy="Give scheme, host, port and path only",
        )
    host = parts.hostname
    if parts.scheme not in {"http", "https"} or not host or not url.isascii() or " " in url:
        raise UsageError(
            f"the server judge's url {shown} is no http or https address in ASCII",
            remedy='Write it like "http://127.0.0.1:8000/v1"',
        )
    if keyed and parts.scheme == "http" and not _is_local(host):
        raise UsageError(
            f"the server judge's url {shown} would send the key over the network unencrypted",
            remedy="Use https, or reach the server through a tunnel that ends at 127.0.0.1",
        )
    path = parts.path.rstrip("/")
    for end in ("/chat/completions", "/completions"):
        if path.endswith(end):
            raise UsageError(
                f"the server judge's url {shown} ends in {end}",
                remedy=f'Leave out {end}, and set api = "chat" or api = "completions"',
            )
    shown_host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown_host}{'' if port is None else f':{port}'}{path}"


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def secret_in(value: object, key: str = "request") -> str | None:
    """Name the key under which a request seems to hold a secret, whose value is never shown."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if _SECRET.fullmatch(str(name)):
                return str(name)
            if found := secret_in(inner, str(name)):
                return found
    elif isinstance(value, list | tuple):
        return next((found for one in value if (found := secret_in(one, key))), None)
    elif isinstance(value, str) and _BEARER.match(value):
        return key
    return None
