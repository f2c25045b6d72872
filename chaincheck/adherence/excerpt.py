"""A piece of the report page for a page of somebody else's: the texts with their marks.

Everything is escaped as in the report, so that the words of a replay stay words. The piece brings
no style; a page that shows it gives the classes ``audit-excerpt``, ``judge``, ``context``,
``procedure`` and ``many`` a look of its own. Its anchors are those of the report, so a page shows
one piece.
"""

from __future__ import annotations

from collections.abc import Collection

from chaincheck.adherence.highlights import source_section
from chaincheck.adherence.markup import element, show
from chaincheck.adherence.replay import Replay

__all__ = ["marked_texts"]


def marked_texts(replay: Replay, sources: Collection[str]) -> str:
    """Write some texts of a replay with what is quoted of them marked, and the readings below.

    Args:
        replay: the replay.
        sources: ids of the texts, shown in the order of the replay.

    Returns:
        HTML.

    Raises:
        KeyError: the replay has no such text.
    """
    for name in sources:
        replay.source(name)
    roles = replay.protocol.roles()
    shown = [
        source_section(number, source, replay.annotations, roles)
        for number, source in enumerate(replay.sources, 1)
        if source.id in sources
    ]
    readings = [
        element(
            "li",
            f"{element('code', one.atom)} is {one.value} ({roles[one.atom]}) ",
            element("bdi", show(one.explanation)),
            id=f"a{number}",
        )
        for number, one in enumerate(replay.annotations, 1)
    ]
    return element("div", *shown, element("ol", *readings), css="audit-excerpt")
