"""Check that rendered pages are all there and load nothing from the network.

A page that quietly loads a script or a font from elsewhere looks right on the author's machine
and broken in a train. Links that a reader may click are no matter of this check.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["page_faults"]

# Attribute that makes a browser load something, by element.
_LOADING = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "object": "data",
    "script": "src",
    "source": "src",
    "track": "src",
    "video": "src",
}
_LOADING_RELATIONS = {
    "dns-prefetch",
    "icon",
    "manifest",
    "modulepreload",
    "preconnect",
    "prefetch",
    "preload",
    "stylesheet",
}
_STYLE_URL = re.compile(r"""(?:url\(\s*|@import\s+(?!url\())["']?([^"')\s;]+)""", re.IGNORECASE)
# A page has a hundred times as many elements as these; parsing all of them takes seconds. Scripts
# and styles are taken whole, for what looks like an element inside of them is none.
_TAGS_THAT_MATTER = re.compile(
    r"<(?P<whole>script|style)\b.*?</(?P=whole)\s*>"
    rf"|<(?:{'|'.join([*_LOADING, 'link'])})\b[^>]*>|<[^>]+\sstyle=[^>]+>",
    re.IGNORECASE | re.DOTALL,
)


class _Loads(HTMLParser):
    """Collect what a page loads, and images that say nothing to who cannot see them."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.silent_images: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._in_style = tag == "style"
        if tag in _LOADING and values.get(_LOADING[tag]):
            self.addresses.append(values[_LOADING[tag]])
        if tag == "link" and _LOADING_RELATIONS & set(values.get("rel", "").lower().split()):
            self.addresses.append(values.get("href", ""))
        for candidate in values.get("srcset", "").split(","):
            self.addresses.extend(candidate.split()[:1])
        self.addresses.extend(_STYLE_URL.findall(values.get("style", "")))
        # Sphinx puts the file's name where the author wrote no text.
        if tag == "img" and values.get("alt", values.get("src")) == values.get("src"):
            self.silent_images.append(values.get("src", ""))

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self.addresses.extend(_STYLE_URL.findall(data))

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False


def _address_faults(page: Path, addresses: Iterable[str]) -> Iterator[str]:
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme == "data" or not (parts.path or parts.netloc):
            continue
        if parts.scheme or parts.netloc:
            yield f"{page}: loads {address} from elsewhere"
        elif not (page.parent / unquote(parts.path)).is_file():
            yield f"{page}: loads {address}, which does not exist"


def page_faults(folder: Path, names: Iterable[str]) -> list[str]:
    """List what is wrong with the rendered pages of a book.

    Args:
        folder: the root of the pages.
        names: the pages that must exist, without suffix, relative to ``folder``.

    Returns:
        One line a fault: a missing page, something loaded from another place or missing, an
        image without alternative text. Empty if all is well.
    """
    wanted = [folder / f"{name}.html" for name in names]
    faults = [f"{page}: is missing" for page in wanted if not page.is_file()]
    for page in sorted(folder.rglob("*.html")):
        if "_static" in page.relative_to(folder).parts:
            continue  # templates of the theme, which nobody opens
        text = page.read_text(encoding="utf-8")
        loads = _Loads()
        loads.feed("".join(found.group() for found in _TAGS_THAT_MATTER.finditer(text)))
        faults += _address_faults(page, loads.addresses)
        faults += [f"{page}: the image {name} has no text" for name in loads.silent_images]
    for sheet in sorted(folder.rglob("*.css")):
        for address in _STYLE_URL.findall(sheet.read_text(encoding="utf-8")):
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                faults.append(f"{sheet}: loads {address} from elsewhere")
    return faults
