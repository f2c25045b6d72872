"""The check of rendered pages finds what it is there to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaincheck.pages import page_faults

GOOD = """<html><head><link rel="stylesheet" href="_static/a%20b.css?v=1">
<link rel="canonical" href="https://example.org/"></head><body>
<script src="_static/a.js"></script><script>if (1 < 2) { "<img src='x.png'>" }</script>
<a href="https://example.org/">a link may lead away</a>
<img src="_static/a.svg" alt="a chain"><img src="data:image/png;base64,AA==" alt="">
<svg><use href="#x"/></svg></body></html>"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    static = tmp_path / "_static"
    static.mkdir()
    (static / "a b.css").write_text("p { background: url(a.svg) } /* https://example.org */")
    (static / "a.js").write_text("")
    (static / "a.svg").write_text("<svg/>")
    (static / "template.html").write_text('<script src="{{ address }}"></script>')
    (tmp_path / "index.html").write_text(GOOD)
    return tmp_path


def test_a_good_page_has_no_faults(folder: Path) -> None:
    assert page_faults(folder, ["index"]) == []


def test_a_missing_page_is_named(folder: Path) -> None:
    (fault,) = page_faults(folder, ["index", "notebooks/01_x"])
    assert fault.endswith("01_x.html: is missing")


@pytest.mark.parametrize(
    "planted",
    [
        '<script src="https://cdn.example.org/x.js"></script>',
        '<script src="//cdn.example.org/x.js"></script>',
        '<link rel="stylesheet" href="http://fonts.example.org/x.css">',
        '<link rel="preload" as="font" href="https://fonts.example.org/x.woff2">',
        '<img src="https://example.org/x.png" alt="x">',
        '<img srcset="_static/a.svg 1x, https://example.org/x.png 2x" alt="x">',
        '<iframe src="https://example.org/"></iframe>',
        "<style>@import url('https://example.org/x.css');</style>",
        "<p style=\"background: url('https://example.org/x.png')\">x</p>",
    ],
)
def test_whatever_loads_from_elsewhere_is_found(folder: Path, planted: str) -> None:
    (folder / "index.html").write_text(GOOD.replace("</body>", planted + "</body>"))
    (fault,) = page_faults(folder, ["index"])
    assert "from elsewhere" in fault


def test_a_style_sheet_that_loads_from_elsewhere_is_found(folder: Path) -> None:
    (folder / "_static" / "b.css").write_text('@import "https://example.org/x.css";')
    (fault,) = page_faults(folder, ["index"])
    assert "b.css: loads https://example.org/x.css from elsewhere" in fault


@pytest.mark.parametrize("planted", ['<img src="_static/a.svg">', '<img src="x.png" alt="x.png">'])
def test_an_image_without_text_is_found(folder: Path, planted: str) -> None:
    (folder / "x.png").write_bytes(b"")
    (folder / "index.html").write_text(GOOD.replace("</body>", planted + "</body>"))
    (fault,) = page_faults(folder, ["index"])
    assert "has no text" in fault


def test_a_file_that_does_not_exist_is_found(folder: Path) -> None:
    (folder / "index.html").write_text(GOOD.replace("_static/a.svg", "_static/none.svg"))
    (fault,) = page_faults(folder, ["index"])
    assert "_static/none.svg, which does not exist" in fault
