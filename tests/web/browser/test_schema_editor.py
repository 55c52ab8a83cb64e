"""The page of ``schema edit`` in a real browser: an office goes through its draft."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from sdcensus.documents.schema.document import read_schema
from sdcensus.model.schema.variable import CodeKind, Role
from sdcensus.session.census.census import load
from sdcensus.session.office.secret import make_secret
from sdcensus.web.languages import texts
from tests.session.schema_editing.country import NAMES, OCCUPATIONS, make_draft
from tests.web.browser.building import Watched
from tests.web.browser.test_accessibility import check
from tests.web.schema_editor.editors import RunningEditor, opened_editor
from tests.web.servers import until

Opened = tuple[RunningEditor, Page]


@pytest.fixture
def editor(
    contexts: Callable[..., BrowserContext], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Opened]]:
    """Opens the page over a new draft, or over a schema; at the end it met with no fault."""
    windows: list[Watched] = []
    with ExitStack() as editors:

        def open_editor(
            schema: Path | None = None, *, language: str = "en", more: int = 0, **options: Any
        ) -> Opened:
            schema = schema or make_draft(tmp_path_factory.mktemp("census"), more=more)
            running = editors.enter_context(opened_editor(schema, language=language))
            options.setdefault("viewport", {"width": 1280, "height": 900})
            window = Watched(contexts(**options).new_page(), running.origin)
            window.offline = True  # in the end the server goes away
            window.expected.add(409)
            windows.append(window)
            window.page.goto(running.address)
            expect(window.page.locator("#title")).to_be_visible()
            return running, window.page

        yield open_editor
        for window in windows:
            window.page.close()
    assert [window.faults for window in windows] == [[] for _ in windows]


def control(page: Page, name: str) -> Any:
    return page.locator(f'[data-focus="{name}"]')


def look_at(page: Page, name: str) -> None:
    control(page, f"go-{name}").click()
    expect(page.locator(".panel-title p")).to_have_text(re.compile(rf"^{name}( |$)"))


def settled(running: RunningEditor, before: int, page: Page) -> None:
    """Wait until a change is made and shown."""
    until(lambda: running.editing.version > before)
    page.wait_for_function(
        "async version => (await (await fetch('api/state')).json()).version === version",
        arg=running.editing.version,
    )


def write(running: RunningEditor, page: Page, name: str, text: str) -> None:
    before = running.editing.version
    control(page, name).fill(text)
    control(page, name).press("Enter")
    settled(running, before, page)


def choose(running: RunningEditor, page: Page, name: str, value: str) -> None:
    before = running.editing.version
    control(page, name).select_option(value)
    settled(running, before, page)


def press(running: RunningEditor, page: Page, name: str) -> None:
    before = running.editing.version
    control(page, name).click()
    settled(running, before, page)


def test_an_office_goes_through_its_draft_and_loads_it(
    editor: Callable[..., Opened], tmp_path: Path
) -> None:
    running, page = editor()
    variables = len(tomllib.loads(running.schema.read_text(encoding="utf-8"))["variable"])
    expect(page.locator("#progress")).to_contain_text(f"0 of {variables} looked at")
    assert "token" not in page.url
    write(running, page, "census-languages", "es, en")
    write(running, page, "census-name", "Censo de prueba")
    press(running, page, "accept-rest")
    # A role, labels and codes.
    look_at(page, "estado_civil")
    choose(running, page, "role", "sensitive")
    write(running, page, "label-es", "Estado civil")
    write(running, page, "label-en", "Marital status")
    expect(page.locator("h1")).to_have_text("Estado civil")
    write(running, page, "label-0-1-es", "Casado")
    choose(running, page, "kind-0-9", "not_applicable")
    # A grouping of two codes.
    page.locator("details[data-keep=new-grouping] summary").click()
    control(page, "grouping-name").fill("union")
    press(running, page, "make-grouping")
    expect(page.locator(".notice.bad")).to_contain_text("no column 'parent' with groups")
    for code in ("1", "2"):
        control(page, f"choose-0 {code}").check()
    control(page, "put-code").fill("juntos")
    control(page, "put-label-es").fill("En unión")
    press(running, page, "put")
    expect(page.locator(".notice.bad")).to_have_count(0)
    expect(page.locator("table.codes tbody tr").first).to_contain_text("juntos En unión")
    # Levels of numbers.
    look_at(page, "edad")
    press(running, page, "usual-five_year")
    expect(page.locator(".level summary")).to_contain_text("0-4, 5-9")
    press(running, page, "accept-next")
    expect(page.locator("#progress")).to_contain_text(f"1 of {variables} looked at")
    expect(page.locator(".panel-title p")).to_contain_text("estado_civil")
    # A change is taken back.
    choose(running, page, "role", "key")
    press(running, page, "undo")
    expect(control(page, "role")).to_have_value("sensitive")
    control(page, "save-close").click()
    expect(page.locator("h1")).to_have_text(texts("en")["editor.said.closed"])
    until(lambda: not running.thread.is_alive())
    schema = read_schema(running.schema)
    status = schema.variable("estado_civil")
    assert (status.role, status.label.show("en")) == (Role.SENSITIVE, "Marital status")
    assert {code.code: code.kind for code in status.codes}["9"] is CodeKind.NOT_APPLICABLE
    assert [level.name for level in status.hierarchies[0].levels] == ["union"]
    secret = tmp_path / "office.secret"
    make_secret(secret)
    report = load(running.schema, tmp_path / "census.store", secret=secret)
    assert sum(report.rows.values()) == 180


def test_values_of_identifiers_are_nowhere(editor: Callable[..., Opened]) -> None:
    _, page = editor()
    sent: list[str] = []
    page.on("response", lambda response: sent.append(response.text()))
    for name in ("nombre", "num_hogar", "sexo", "ocupacion"):
        look_at(page, name)
        sent.append(page.content())
    assert len(sent) > 8
    assert not any(name in text for name in NAMES for text in sent)
    look_at(page, "nombre")
    expect(page.locator("#panel")).to_contain_text("120 different values")
    expect(page.locator("#panel")).to_contain_text(texts("en")["editor.counts.private"])


def test_mistakes_stand_at_their_variable_and_stop_the_save(editor: Callable[..., Opened]) -> None:
    running, page = editor()
    before = running.schema.read_bytes()
    look_at(page, "edad")
    write(running, page, "highest", "-5")
    expect(page.locator("#panel .notice.bad")).to_be_visible()
    expect(control(page, "go-edad")).to_contain_text("1 mistake")
    look_at(page, "sexo")
    control(page, "save-close").click()
    expect(page.locator("#panel .notice.bad")).to_contain_text("cannot be saved")
    page.locator("#panel .notice.bad a").click()
    expect(page.locator(".panel-title p")).to_contain_text("edad")
    assert running.schema.read_bytes() == before
    write(running, page, "highest", "110")
    expect(page.locator("#panel .notice.bad")).to_have_count(0)
    # Somebody else writes to the file meanwhile.
    running.schema.write_bytes(before + b"# theirs\n")
    control(page, "save").click()
    expect(page.locator("#panel .notice.bad")).to_contain_text("changed on disk")
    assert running.schema.read_bytes() == before + b"# theirs\n"


def test_an_interrupted_session_goes_on(editor: Callable[..., Opened]) -> None:
    running, page = editor()
    look_at(page, "sexo")
    write(running, page, "label-es", "Sexo de la persona")
    press(running, page, "accept-next")
    control(page, "close").click()
    expect(page.locator("h1")).to_have_text(texts("en")["editor.said.closed_kept"])
    again, page = editor(running.schema)
    expect(page.locator("#panel .notice").first).to_contain_text("goes on where you stopped")
    expect(page.locator("#progress")).to_contain_text("1 of")
    look_at(page, "sexo")
    expect(control(page, "label-es")).to_have_value("Sexo de la persona")
    assert again.editing.dirty


def test_many_variables_and_codes_stay_quick(editor: Callable[..., Opened]) -> None:
    running, page = editor(more=90)
    expect(page.locator("#list a")).to_have_count(101)
    look_at(page, "ocupacion")
    expect(page.locator("table.codes tbody tr")).to_have_count(50)
    control(page, "page-after").click()
    expect(page.locator("table.codes tbody tr")).to_have_count(len(OCCUPATIONS) - 50)
    control(page, "codes-search").fill("1003")
    control(page, "codes-search").press("Enter")
    expect(page.locator("table.codes tbody tr")).to_have_count(1)
    # What is typed while a change is on its way is kept.
    control(page, "label-3-1003-es").fill("Directores")
    control(page, "label-es").focus()
    page.keyboard.type("Ocupación principal", delay=15)
    page.keyboard.press("Tab")
    until(lambda: running.editing.variable("ocupacion")["labels"] == {"es": "Ocupación principal"})
    rows = running.editing.variable("ocupacion")["codes"]["rows"]
    assert rows[1]["labels"] == {"es": "Directores"}


def test_the_keyboard_is_enough(editor: Callable[..., Opened]) -> None:
    running, page = editor()
    page.keyboard.press("Alt+ArrowDown")
    expect(page.locator(".panel-title p")).to_contain_text("num_hogar")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#progress")).to_contain_text("1 of")
    expect(page.locator(".panel-title p")).to_contain_text("num_persona")
    page.keyboard.press("Control+z")
    expect(page.locator("#progress")).to_contain_text("0 of")
    # By Tab alone to the role, and there by an arrow.
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.focus") == "role":
            break
    before = running.editing.version
    page.keyboard.press("ArrowDown")
    settled(running, before, page)
    assert page.evaluate("document.activeElement.dataset.focus") == "role"
    page.keyboard.press("Control+s")
    expect(page.locator("#panel .notice.calm")).to_contain_text("Saved: schema.toml")
    read_schema(running.schema)


@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_window(
    width: int, editor: Callable[..., Opened]
) -> None:
    running, page = editor(viewport={"width": width, "height": 900}, more=3)
    check(page)
    for name in ("nombre", "edad", "estado_civil", "ocupacion", "ingreso"):
        if width == 400:
            page.locator(".list-box > summary").click()
        look_at(page, name)
        if name == "edad":
            press(running, page, "usual-broad")
            write(running, page, "not_stated", "998")
        if name == "estado_civil":
            control(page, "choose-0 1").check()
        check(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("language", ["es", "fr", "nl", "pt"])
def test_the_page_speaks(language: str, editor: Callable[..., Opened]) -> None:
    _, page = editor(language=language)
    words = texts(language)
    assert page.locator("html").get_attribute("lang") == language
    expect(control(page, "save-close")).to_have_text(words["editor.do.save_close"])
    look_at(page, "edad")
    shown = page.locator("body").inner_text()
    assert words["editor.is.title"] in shown
    # A key without a text would show itself.
    assert "editor." not in shown
