"""Sources: one module a data set, each a reader that turns a file into chains."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from chaincheck.chains import Source
from chaincheck.errors import UsageError

__all__ = ["EMBEDDED", "SOURCES", "open_source"]

# One line a source: its name and the class that reads it, imported when it is asked for.
SOURCES = {
    "musique": "chaincheck.sources.musique:Musique",
    "twowiki": "chaincheck.sources.twowiki:TwoWiki",
    "hotpot": "chaincheck.sources.hotpot:Hotpot",
    "documents": "chaincheck.sources.documents:Documents",
    "facts": "chaincheck.sources.facts:FactsSource",
    "facts-invented": "chaincheck.sources.facts:invented_facts",
    "hub": "chaincheck.sources.hub:Hub",
}
# Sources that come with the package and need no file.
EMBEDDED = frozenset({"facts", "facts-invented"})
_ALIASES = {"2wiki": "twowiki", "2wikimultihopqa": "twowiki", "hotpotqa": "hotpot"}


def open_source(name: str) -> Source:
    """Return the reader of a source.

    Args:
        name: one of ``SOURCES``; "2wiki" and "hotpotqa" are understood as well, and
            "hub:owner/name" for a hub reader that knows its data set already.

    Raises:
        UsageError: no source has this name.
    """
    if name.startswith("hub:"):
        from chaincheck.sources.hub import Hub

        return Hub(name)
    known = _ALIASES.get(name.casefold(), name.casefold())
    if known not in SOURCES:
        raise UsageError(
            f"there is no source {name!r}", remedy=f"The sources are: {', '.join(SOURCES)}"
        )
    module, reader = SOURCES[known].split(":")
    return cast(Source, getattr(import_module(module), reader)())
