"""Reading html pages as a program that helps people to read them would."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

_EMPTY = frozenset({"meta", "br", "link", "img", "path", "line", "rect", "col"})
#: What a drawing names, without fetching it.
_NAMES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@dataclass
class Element:
    """A tag with its attributes and the tags around it."""

    tag: str
    attributes: dict[str, str | None]
    around: tuple[str, ...]


@dataclass
class Page(HTMLParser):
    """Elements and texts of a page; complains about tags that are not closed."""

    elements: list[Element] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), tuple(self._open)))
        if tag not in _EMPTY:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), tuple(self._open)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _EMPTY:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.texts.append(data)

    def of(self, *tags: str) -> list[Element]:
        """All elements with one of these tags."""
        return [element for element in self.elements if element.tag in tags]

    @property
    def text(self) -> str:
        """Everything that is to be read."""
        return " ".join(" ".join(self.texts).split())


def read_page(text: str) -> Page:
    """Read a page, and check what every page keeps to."""
    page = Page()
    page.feed(text)
    page.close()
    assert page._open == []
    assert not page.of("script", "link", "img", "iframe", "object")
    assert set(re.findall(r"https?://[^\"'\s)]+", text)) <= _NAMES
    assert "@import" not in text
    assert "url(" not in text.replace("url(#", "")
    _check_accessible(page)
    return page


def _check_accessible(page: Page) -> None:
    [html] = page.of("html")
    assert html.attributes.get("lang")
    assert len(page.of("main")) == 1
    depths = [int(one.tag[1]) for one in page.of("h1", "h2", "h3", "h4")]
    assert depths[0] == 1
    assert depths.count(1) == 1
    for before, after in itertools.pairwise(depths):
        assert after <= before + 1
    names = [element.attributes["id"] for element in page.elements if "id" in element.attributes]
    assert len(names) == len(set(names))
    for link in page.of("a"):
        assert (link.attributes["href"] or "").removeprefix("#") in names
    assert len(page.of("caption")) == len(page.of("table"))
    for head in page.of("th"):
        assert head.attributes.get("scope") in ("col", "row", "colgroup")
    for drawing in page.of("svg"):
        assert drawing.attributes.get("role") == "img"
        assert drawing.attributes.get("aria-label")
    for element in page.elements:
        if element.attributes.get("class") == "scroll":
            assert element.attributes.get("tabindex") == "0"
            assert element.attributes.get("role") == "region"
            assert element.attributes.get("aria-label")
    for block in page.of("table", "svg"):
        assert "div" in block.around
