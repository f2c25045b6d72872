"""The page: nothing of a replay becomes markup, and every quote is marked where it stands."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaincheck.adherence.audit import audit
from chaincheck.adherence.examples import CASES, chain_case, claims_case
from chaincheck.adherence.highlights import source_section
from chaincheck.adherence.markup import show
from chaincheck.adherence.page import report_page
from chaincheck.adherence.replay import Annotation, Recorded, Role, Source, Span

HOSTILE = [
    "<script>alert(1)</script>",
    "</style></title></textarea><img src=x onerror=alert(1)>",
    "\" onmouseover='alert(1)' x=\"",
    "&lt;b&gt; &amp;amp; &#60;i&#62; &notanentity",
    "{{7*7}} {overall} ${x} {% raw %} %s %(id)s",
    "\u202egnp.exe\u2066x\u2069\u200f",
    "\x00\x08\x1b[31m\x7f\x9b",
    "<!-- --><![CDATA[ ]]><?php ?>",
    "javascript:alert(1)",
    "\u2028\u2029\ufeff",
]
ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section"),
    *("h1", "h2", "h3", "p", "div", "span", "small", "strong", "em", "code", "bdi", "q", "br"),
    *("a", "ul", "li", "sup", "mark", "table", "caption", "thead", "tbody", "tr", "th", "td"),
    *("dl", "dt", "dd"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "title", "dir"),
    *("scope", "role", "data-label", "aria-label", "aria-hidden"),
}
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Reads a page as a browser would, and keeps what matters."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.marked: list[str] = []
        self.hidden: list[str] = []
        self._open: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self._open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        found = dict(attrs)
        assert found.keys() <= ATTRIBUTES, found
        self.tags.append(tag)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))
        if tag not in VOID:
            self._open.append((tag, found.get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if any(tag == "style" for tag, _ in self._open):
            return
        self.words.append(data)
        if any(tag == "mark" for tag, _ in self._open):
            self.marked.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def page_of(recorded: Recorded) -> tuple[str, Page]:
    text = report_page(recorded, audit(recorded.replay))
    return text, Page(text)


def hostile(recorded: Recorded, text: str) -> Recorded:
    """Put a text into every field that holds one, and quote it."""
    replay = recorded.replay
    names = {source.id: f"{text}{at}" for at, source in enumerate(replay.sources)}

    def spans(one: Annotation) -> tuple[Span, ...]:
        out = []
        for span in one.evidence:
            whole = replay.source(span.source).text
            if span.end - span.start == len(whole):
                out.append(Span(names[span.source], 0, len(whole) + len(text), text + whole))
            else:
                shift = len(text)
                out.append(
                    Span(
                        names[span.source],
                        span.start,
                        span.end + shift,
                        (text + whole)[span.start : span.end + shift],
                    )
                )
        return tuple(out)

    change = msgspec.structs.replace
    protocol = change(
        replay.protocol,
        id=text,
        description=text,
        atoms=tuple(change(one, description=text) for one in replay.protocol.atoms),
        constraints=tuple(
            change(one, id=f"{text}{at}", description=text)
            for at, one in enumerate(replay.protocol.constraints)
        ),
        requirements=tuple(
            change(one, id=f"{text}{at}", description=text)
            for at, one in enumerate(replay.protocol.requirements)
        ),
    )
    changed = change(
        replay,
        id=text,
        protocol=protocol,
        sources=tuple(
            change(one, id=names[one.id], text=text + one.text) for one in replay.sources
        ),
        annotations=tuple(
            change(one, explanation=text, origin=text, evidence=spans(one))
            for one in replay.annotations
        ),
    )
    return Recorded(changed, recorded.gold)


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("case", [*CASES, "chain"])
def test_hostile_text_stays_text(case: str, text: str) -> None:
    recorded = hostile(chain_case() if case == "chain" else claims_case(case), text)
    plain = page_of(chain_case() if case == "chain" else claims_case(case))[1]
    raw, page = page_of(recorded)
    kinds = set(page.tags) - {"span"}
    assert kinds <= set(plain.tags) | {"span"}
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", raw)
    visible = text
    for ch in set(text):
        if show(ch).startswith("<span"):
            visible = visible.replace(ch, f"[U+{ord(ch):04X}]")
    assert visible in "".join(page.words)


@pytest.mark.parametrize("case", [*CASES, "chain"])
def test_the_page_needs_nothing_else_and_allows_nothing(case: str) -> None:
    raw, page = page_of(chain_case() if case == "chain" else claims_case(case))
    assert raw.startswith('<!doctype html>\n<html lang="en">')
    style = re.search(r"<style>(.*?)</style>", raw, re.DOTALL)
    assert style
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    assert (
        f"content=\"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'\"" in raw
    )
    assert "://" not in raw
    assert "url(" not in style[1]
    assert "@import" not in style[1]
    assert all(link.startswith("#") for link in page.links)
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert page.tags.count("h1") == 1
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch(r"h\d", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_every_quote_is_marked_or_named_as_a_whole() -> None:
    for case in CASES:
        recorded = claims_case(case)
        _, page = page_of(recorded)
        marked = "".join(page.marked)
        for one in recorded.replay.annotations:
            for span in one.evidence:
                whole = span.end - span.start == len(recorded.replay.source(span.source).text)
                assert whole or span.quote in marked


ROLES: dict[str, Role] = {"j": "judge", "c": "context", "p": "procedure"}


@settings(deadline=None)
@given(st.text(min_size=1, max_size=30), st.data())
def test_overlapping_quotes_keep_the_text_whole(text: str, data: st.DataObject) -> None:
    bounds = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
    pairs = data.draw(st.lists(bounds.map(sorted).filter(lambda two: two[0] < two[1]), max_size=6))
    source = Source("s", "rationale", text)
    annotations = [
        Annotation("jcp"[at % 3], "TRUE", (Span("s", start, end, text[start:end]),))
        for at, (start, end) in enumerate(pairs)
    ]
    page = Page(source_section(1, source, annotations, ROLES))
    covered = {
        at for start, end in pairs if (start, end) != (0, len(text)) for at in range(start, end)
    }

    def visible(part: str) -> str:
        return "".join(f"[U+{ord(ch):04X}]" if show(ch).startswith("<span") else ch for ch in part)

    # HTML reads a carriage return as a line feed; ours is shown as [U+000D].
    assert "".join(page.marked) == visible("".join(text[at] for at in sorted(covered)))
    body = re.sub(r"<sup>.*?</sup>", "", source_section(1, source, annotations, ROLES))
    assert visible(text) in "".join(Page(body).words)


def test_a_piece_says_by_its_classes_who_quotes_it() -> None:
    source = Source("s", "rationale", "abcdefgh")
    said = [("j", 0, 4), ("j", 2, 6), ("p", 5, 7)]
    annotations = [
        Annotation(atom, "TRUE", (Span("s", start, end, ""),)) for atom, start, end in said
    ]
    section = source_section(1, source, annotations, ROLES)
    assert re.findall(r'<mark class="([a-z ]+)">(\w+)</mark>', section) == [
        ("judge", "ab"),
        ("judge many", "cd"),
        ("judge", "e"),
        ("judge procedure many", "f"),
        ("procedure", "g"),
    ]
    assert re.findall(r'href="#a(\d)"', section) == ["1", "2", "3"]


def test_a_quote_of_the_whole_text_is_named_above_it_and_marks_nothing() -> None:
    source = Source("s", "context", "abc")
    one = Annotation("c", "FALSE", (Span("s", 0, 3, "abc"),) * 2)
    section = source_section(1, source, [Annotation("j", "UNKNOWN"), one], ROLES)
    assert section.count("Quoted as a whole: <code>c</code> = FALSE <sup>") == 1
    assert 'href="#a2"' in section
    assert "<mark" not in section


def test_many_quotes_of_a_long_text_take_no_quadratic_time() -> None:
    text = "word " * 20_000
    annotations = [
        Annotation("j", "TRUE", (Span("s", at, at + 4000, text[at : at + 4000]),))
        for at in range(0, 90_000, 30)
    ]
    section = source_section(1, Source("s", "rationale", text), annotations, ROLES)
    assert len(section) < 3_000_000


def contrast(one: str, other: str) -> float:
    """The contrast of two colors by WCAG 2.2."""

    def luminance(color: str) -> float:
        parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_can_be_read_in_either_scheme() -> None:
    from chaincheck.adherence.page_style import STYLE

    schemes: list[dict[str, Any]] = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)[:2]
    ]
    assert all(len(scheme) == 13 for scheme in schemes)
    for scheme in schemes:
        for color in ("text", "soft", "link", "good", "bad", "open"):
            assert contrast(scheme[color], scheme["ground"]) >= 4.5, color
            assert contrast(scheme[color], scheme["panel"]) >= 4.5, color
        for ground in ("judge", "context", "procedure", "many"):
            assert contrast(scheme["text"], scheme[ground]) >= 4.5, ground
            assert contrast(scheme["link"], scheme["panel"]) >= 4.5, ground
