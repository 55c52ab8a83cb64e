"""The map of a grid in the table builder, in Chromium: first drawing, whole drawing, longest task.

The server runs in a thread of this process, the answer is in its cache, and every page is opened
in a profile of its own, so that nothing is known from the page before.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, sync_playwright

from benchmarks.measure import Line
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.session.answer import TableService
from sdcensus.session.watch import Watch
from sdcensus.testing.grid_island import grid_island
from sdcensus.testing.island import SECRET
from sdcensus.web.database import Database, Hashing
from sdcensus.web.server import RunningServer
from sdcensus.web.settings import Settings

CHROMIUM = "/usr/bin/chromium"
TIMES = 5
#: Notes tasks, the end of the answer's arrival, and the first and the last square on the canvas.
WATCH = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.tasks.push(entry.duration);
}).observe({ type: "longtask", buffered: true });
const fill = CanvasRenderingContext2D.prototype.fillRect;
CanvasRenderingContext2D.prototype.fillRect = function (...where) {
  if (this.canvas.isConnected) window.first ??= performance.now();
  return fill.apply(this, where);
};
new MutationObserver(() => {
  if (document.querySelector(".r-squares[data-drawn]")) window.last ??= performance.now();
}).observe(document, { subtree: true, childList: true, attributes: true });
"""
FIGURES = """() => ({
  first: window.first, last: window.last, longest: Math.max(0, ...window.tasks),
  drawn: Number(document.querySelector(".r-squares").dataset.drawn),
})"""


def measure(side: int = 317) -> list[Line]:
    """All figures, for a square country of so many squares along each side."""
    with tempfile.TemporaryDirectory() as folder, _server(Path(folder), side) as url:
        address = f"{url}/?of=persons&by=square&tab=map"
        answered = [_answered(url) for _ in range(2)]
        with sync_playwright() as playwright:
            options = ["--no-sandbox", "--disable-gpu"]
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
            figures = [_opened(browser, address) for _ in range(TIMES)]
            browser.close()
    first, last, longest = (
        statistics.median(figure[name] for figure in figures)
        for name in ("first", "last", "longest")
    )
    squares = f"{side * side:,} squares"
    return [
        Line(f"{squares}: the answer, made and sent / sent again",
             f"{answered[0]:.1f} s / {1000 * answered[1]:.0f} ms", "", None),
        Line(f"{squares}: from opening the page to the first square, median of {TIMES}",
             f"{first / 1000:.2f} s", "under 2 s", first < 2_000),
        Line(f"{squares}: from opening the page to the last square",
             f"{last / 1000:.2f} s", "", None),
        Line(f"{squares}: longest task of the page, median of {TIMES}",
             f"{longest:.0f} ms", "at most 200 ms", longest <= 200),
    ]  # fmt: skip


def _opened(browser: Browser, address: str) -> dict[str, Any]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_selector(".r-squares[data-drawn]", timeout=60_000)
    page.wait_for_timeout(500)  # tasks are told afterwards
    figures: dict[str, Any] = page.evaluate(FIGURES)
    context.close()
    return figures


def _answered(url: str) -> float:
    began = time.perf_counter()
    link = f"{url}/api/v1/tables?of=persons&by=square"
    httpx.get(link, timeout=120).raise_for_status()
    return time.perf_counter() - began


@contextmanager
def _server(folder: Path, side: int) -> Iterator[str]:
    census = grid_island(side, side, 1_000_000)
    limits = Limits(dimensions=3, cells=4 * side * side)
    policy = Policy(name="grid", schema=census.schema, limits=limits, online=OnlineRules())
    method = CellKey(design_perturbation(8, 12.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))
    service = TableService(census, policy, {Entity.PERSON: method})
    with Database.open(folder / "web.db", hashing=Hashing(passes=1, memory=8, lanes=1)) as database:
        settings = Settings(state=folder / "state", port=0, metrics_port=None)
        server = RunningServer(service, settings, database, watch=Watch())
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                time.sleep(0.05)
            yield server.url
        finally:
            server.stop()
            thread.join(60)
