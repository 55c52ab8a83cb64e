"""The table builder as somebody uses it: what is seen, what is pressed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self, TypeVar
from urllib.parse import urlencode, urlsplit

import numpy as np
from playwright.sync_api import ConsoleMessage, Locator, Page, Request, Response, expect

from sdcensus.model.published.table import Mark, Table
from sdcensus.web.languages import texts

#: What stands between thousands, in each language of the page.
#: The figures of rows as eyes read them, without what only screen readers are told.
SEEN = """rows => rows.map(row => [...row.querySelectorAll("td")].map(cell => {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll(".visually-hidden").forEach(one => one.remove());
  return copy.textContent.trim();
}))"""
_SPACES = str.maketrans("", "", ",. \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")


#: Milliseconds after which what a page never does is called so; no test passes by being quick. A
#: browser beside other work may draw no frame for many seconds.
PATIENCE_OF_BROWSER = 60_000
expect.set_options(timeout=PATIENCE_OF_BROWSER)

T = TypeVar("T")

#: Makes the table of axes (and of a kind of units) as the batch protects it.
Batch = Callable[..., Table]


@lru_cache
def words(language: str, key: str, **values: object) -> str:
    """A text of the page."""
    return texts(language)[key].format(**values)


class Watched:
    """A window of a browser that remembers every fault it met with."""

    def __init__(self, page: Page, url: str) -> None:
        self.page, self.url = page, url
        self.faults: list[str] = []
        #: Statuses that a test provokes: what the browser says of them is no fault.
        self.expected: set[int] = set()
        self.offline = False
        page.set_default_timeout(PATIENCE_OF_BROWSER)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("request", self._request)
        page.on("requestfailed", self._failed)
        page.on("response", self._response)

    def _console(self, message: ConsoleMessage) -> None:
        # Failed requests are told in the console too; they are judged as responses.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.faults.append(f"{message.type}: {message.text}")

    def _request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and not request.url.startswith(self.url):
            self.faults.append(f"another host: {request.url}")

    def _failed(self, request: Request) -> None:
        # Questions that a later one takes the place of are given up.
        if not self.offline and request.failure != "net::ERR_ABORTED":
            self.faults.append(f"failed: {request.url} {request.failure}")

    def _response(self, response: Response) -> None:
        if response.status >= 400 and response.status not in self.expected:
            self.faults.append(f"{response.status}: {response.url}")


@dataclass
class Builder:
    """The first page, in one of its languages."""

    window: Watched
    language: str = field(default="en", init=False)

    @property
    def page(self) -> Page:
        return self.window.page

    def open(self, address: str = "/") -> Self:
        self.page.goto(self.window.url + address)
        return self.settled()

    def ask(self, *by: str, **more: str) -> Self:
        """Open the address of a table."""
        given = [("of", more.pop("of", "persons")), *(("by", one) for one in by), *more.items()]
        return self.open(f"/?{urlencode(given)}")

    def settled(self) -> Self:
        """Wait until the answer is there, whatever it is."""
        expect(self.page.locator("#result[aria-busy=false]")).to_be_attached()
        self.language = self.page.evaluate("document.documentElement.lang")
        return self

    def says(self, key: str, **values: object) -> str:
        """A text of the page in its language."""
        return words(self.language, key, **values)

    def press(self, key: str, within: str = "body", **values: object) -> None:
        """Press the button with this text."""
        name = self.says(key, **values)
        self.page.locator(within).get_by_role("button", name=name, exact=True).first.click()

    def control(self, key: str) -> Locator:
        """The control of the result side that keeps the focus under a name."""
        return self.page.locator(f"#result [data-focus='{key}']")

    @property
    def title(self) -> str:
        return self.page.locator("#result h2").first.inner_text()

    @property
    def dialog(self) -> Locator:
        return self.page.locator("dialog[open]")

    # ---- the panel -----------------------------------------------------------

    def find_variable(self, search: str) -> Locator:
        """The lines of variables with these words."""
        self.page.locator("#variables input[type=search]").fill(search)
        return self.page.locator("#variable-list li.variable")

    def add(self, name: str) -> Self:
        """Add a variable that is in sight."""
        self.page.locator(f"#variables [data-focus='add-{name}']").click()
        return self.until_asked(lambda by: any(one.startswith(name) for one in by))

    def actions(self, name: str, key: str) -> None:
        """An action of the menu of a variable of the table."""
        self.page.locator(f"#arrange [data-focus='menu-{name}']").click()
        self.page.get_by_role("menuitem", name=self.says(key), exact=True).click()

    def zone(self, name: str) -> list[str]:
        """The variables in rows, columns or layer, by name."""
        keys = self.page.locator(f"[data-zone={name}] .grip").evaluate_all(
            "all => all.map(one => one.dataset.focus)"
        )
        return [str(key).removeprefix("grip-") for key in keys]

    def until_asked(self, condition: Any) -> Self:
        """Wait until the address asks for what it should, and the answer is there."""
        self.page.wait_for_function("() => location.search.includes('by=')")
        assert condition(self.question["by"]), self.question
        return self.settled()

    def change_population(self, of: str) -> None:
        """Choose another population, and wait until the address asks for it.

        Until its variables are there, page and address are those of the table before, and not busy.
        """
        self.page.locator("[data-focus=population]").select_option(of)
        self.page.wait_for_function("of => location.search.includes(`of=${of}`)", arg=of)
        self.settled()

    # ---- the address ---------------------------------------------------------

    @property
    def parameters(self) -> dict[str, list[str]]:
        pairs: list[list[str]] = self.page.evaluate("[...new URLSearchParams(location.search)]")
        found: dict[str, list[str]] = {}
        for name, value in pairs:
            found.setdefault(name, []).append(value)
        return found

    @property
    def question(self) -> dict[str, Any]:
        """The question of the address."""
        given = self.parameters
        made: dict[str, Any] = {"of": given["of"][0], "by": given.get("by", [])}
        return made | {
            name: given[name][0] for name in ("where", "codes", "groups") if name in given
        }

    # ---- the table -----------------------------------------------------------

    def grid(self) -> list[list[str]]:
        """The figures of the table as they are read, row by row."""
        found: list[list[str]] = self.page.locator("#result .r-table tbody tr").evaluate_all(SEEN)
        return found

    def numbers(self) -> list[list[int | None]]:
        """The figures of the table; ``None`` where there is none."""
        return [[number(one) for one in row] for row in self.grid()]

    def row_headings(self) -> list[str]:
        return self.page.locator("#result .r-table tbody tr th:last-of-type").all_inner_texts()

    def column_headings(self) -> list[str]:
        last = self.page.locator("#result .r-table thead tr").last
        return last.locator("th:not(.r-corner)").all_inner_texts()


def number(text: str) -> int | None:
    """A figure as a number, in whatever language it is written; ``None`` for a sign."""
    plain = text.strip("()").translate(_SPACES)
    return int(plain) if re.fullmatch(r"-?\d+", plain) else None


def published_numbers(table: Table) -> np.ndarray[Any, np.dtype[Any]]:
    """The published values of a table, ``None`` where groups are not broken down."""
    values = table.published.astype(object)
    if table.flags is not None:
        values[table.flags == Mark.NOT_BROKEN_DOWN] = None
    return values


def values_in(document: dict[str, Any]) -> list[int | None]:
    """Every value of a JSON-stat document, which leaves out those that there are not."""
    values = document["value"]
    if isinstance(values, list):
        return values
    return [values.get(str(at)) for at in range(math.prod(document["size"]))]


def ordered(numbers: Iterable[int | None]) -> list[int | None]:
    """Numbers in order, and then as many ``None`` as there are."""
    return sorted(numbers, key=lambda number: (number is None, number or 0))


def flat(rows: Sequence[Sequence[T]]) -> list[T]:
    return [one for row in rows for one in row]
