"""A real browser on a real server over a small demo country, which a whole worker shares."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from sdcensus.documents.plan.document import read_plan
from sdcensus.errors import SdcensusError
from sdcensus.model.progress import no_progress
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import TableService, open_service
from sdcensus.session.demo.country import choose_country, make_demonstration
from sdcensus.session.office.secret import find_lookup_secret
from sdcensus.session.protect.plan_method import planned_method
from sdcensus.session.protect.smallest_group import GroupRule
from tests.web.browser.building import Batch, Builder, Watched
from tests.web.servers import Place, opened

CHROMIUM = Path("/usr/bin/chromium")
PERSONS = 12_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever needs a browser is slow."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def country(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the demo country; the first worker makes it, the others wait for it."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    made, claimed, failed = (shared / f"country{end}" for end in ("", ".claimed", ".failed"))
    try:
        claimed.mkdir()
    except FileExistsError:
        end = time.monotonic() + 600
        while not made.is_dir() and not failed.exists():
            assert time.monotonic() < end, "nobody finished the demo country"
            time.sleep(0.2)
        assert not failed.exists(), "the demo country could not be made: see the other worker"
        return made
    try:
        make_demonstration(
            made,
            country=choose_country(None, PERSONS),
            seed=2021,
            file_format="parquet",
            progress=no_progress,
        )
    except (SdcensusError, OSError):
        failed.mkdir()
        raise
    return made


@pytest.fixture(scope="session")
def service(country: Path) -> TableService:
    """What answers: it opens only if the noise withstands all that may be asked."""
    return open_service(
        country / "census.store",
        country / "policy.toml",
        plan=country / "plan.toml",
        secret=country / "demo.secret",
        source="Statistics Office",
    )


@pytest.fixture(scope="session")
def place(service: TableService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp("browser"), service, office="Statistics Office") as made:
        yield made


@pytest.fixture(scope="module")  # while it is open, nothing else can run a loop in this thread
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: install the Debian package chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def contexts(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Profiles of the browser by their options: those of a module keep scripts that they know."""
    made: dict[str, BrowserContext] = {}

    def open_context(**options: Any) -> BrowserContext:
        key = json.dumps(options, sort_keys=True)
        if key not in made:
            made[key] = browser.new_context(reduced_motion="reduce", **options)
        return made[key]

    yield open_context
    for one in made.values():
        one.close()


@pytest.fixture
def watched(
    contexts: Callable[..., BrowserContext], place: Place
) -> Iterator[Callable[..., Watched]]:
    """Opens windows; at the end none of them may have met with a fault."""
    made: list[Watched] = []

    def open_window(url: str = place.server.url, **options: Any) -> Watched:
        options.setdefault("viewport", {"width": 1440, "height": 900})
        options.setdefault("locale", "en-GB")
        context = contexts(**options)
        if not any(one.page.context is context for one in made):
            context.clear_cookies()  # nobody is logged in, no language is chosen
        made.append(Watched(context.new_page(), url))
        return made[-1]

    yield open_window
    for one in made:
        one.page.close()
    assert [one.faults for one in made] == [[] for _ in made]


@pytest.fixture
def builder(watched: Callable[..., Watched]) -> Callable[..., Builder]:
    """Opens the table builder at an address, or a window for it where that is ``None``."""

    def open_builder(
        address: str | None = "/", *, url: str | None = None, **options: Any
    ) -> Builder:
        made = Builder(watched(url, **options) if url else watched(**options))
        return made if address is None else made.open(address)

    return open_builder


@pytest.fixture(scope="session")
def batch(country: Path, service: TableService) -> Batch:
    """Protects a table as the office does, by its plan and under its secret."""
    census = service.census
    plan = read_plan(country / "plan.toml", lambda _: census.schema)
    secret = find_lookup_secret(country / "demo.secret", version=1)

    assert plan.protect is not None
    rule = GroupRule(plan.protect.smallest_group)
    assert rule

    def protect(*by: str, of: Entity = Entity.PERSON) -> Table:
        method = planned_method(plan, census, of, secret=secret, key_version=1)
        spec = TableSpec.build(census.schema, by, of=of)
        made = rule.protect(spec, method, census.tabulate).table
        assert isinstance(made, Table)
        return made

    return protect
