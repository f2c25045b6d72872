"""HTML from text that nobody vouches for.

Everything that a replay holds goes through :func:`show` or :func:`attribute`; nothing else of this
package writes it into a page. Characters that would hide or reorder text are made visible, since
a page on evidence has to look like the evidence.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from chaincheck.adherence.wording import plain

__all__ = ["attribute", "element", "show", "table"]

# Controls but tab and line feed; marks that embed, override or isolate a direction of writing;
# separators of lines and paragraphs, the byte-order mark, tags.
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff"
    r"\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def show(text: str) -> str:
    """Escape a text for the body of a page; hidden characters appear as ``[U+202E]``."""
    return _HIDDEN.sub(
        lambda found: f'<span class="hidden">[U+{ord(found[0]):04X}]</span>', html.escape(text)
    )


def attribute(text: str) -> str:
    """Escape a text for an attribute in double quotes."""
    return html.escape(plain(text))


def element(tag: str, *content: str, css: str = "", **attributes: str) -> str:
    """Write an element.

    Args:
        tag: its name.
        content: HTML, already escaped.
        css: its class, none of the replay's words.
        attributes: further attributes, escaped here; ``aria_label`` stands for ``aria-label``.
    """
    pairs = {"class": css, **attributes}
    written = "".join(
        f' {key.replace("_", "-")}="{attribute(value)}"' for key, value in pairs.items() if value
    )
    return f"<{tag}{written}>{''.join(content)}</{tag}>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """Write a table whose rows turn into blocks on a narrow screen.

    Args:
        heads: the column heads, our own words.
        rows: cells, HTML already escaped; the first cell heads its row.
        caption: what the table shows, for those who do not see it.
    """
    # The roles say what a browser forgets once a narrow screen turns rows into blocks.
    head = "".join(element("th", name, scope="col", role="columnheader") for name in heads)
    body = "".join(
        element(
            "tr",
            element("th", row[0], scope="row", role="rowheader"),
            *(
                element("td", cell, role="cell", data_label=name)
                for name, cell in zip(heads[1:], row[1:], strict=True)
            ),
            role="row",
        )
        for row in rows
    )
    return element(
        "table",
        element("caption", caption, css="unseen"),
        element("thead", element("tr", head, role="row"), role="rowgroup"),
        element("tbody", body, role="rowgroup"),
        role="table",
    )
