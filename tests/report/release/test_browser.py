"""Papers in a browser: on a wide screen, on a phone, on A4, for everybody, without a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect, sync_playwright

from sdcensus.model.release.licence import LicenceClass
from sdcensus.report.release.assessment import assessment_page
from sdcensus.report.release.catalogue import CatalogueEntry, catalogue_page
from sdcensus.report.release.codebook import codebook_page
from sdcensus.report.release.removed import removed_page
from sdcensus.report.release.terms import AgreementFields, TermsFields, agreement, terms_page
from tests.report.release.papers import ASSESSMENT, release_file

CHROMIUM = Path("/usr/bin/chromium")
FILE = release_file(licence=LicenceClass.LICENSED_USE)
ENTRIES = (
    CatalogueEntry.of(FILE, terms="terms.html", codebook="codebook.html", ddi="ddi.xml"),
    CatalogueEntry.of(release_file(), terms="terms.html", files=(("csv", "persons.csv"),)),
)
#: What a sheet of A4 leaves between its margins, in the points of a screen.
A4 = 687
#: Regions that are wider than their place: on paper nobody can scroll.
CUT = """() => [...document.querySelectorAll('.scroll')]
    .filter(region => region.scrollWidth > region.clientWidth + 1)
    .map(region => region.getAttribute('aria-label'))"""
WIDER = "() => document.documentElement.scrollWidth > window.innerWidth + 1"
SERIOUS = """() => axe.run(document, {resultTypes: ['violations']}).then(result => result.violations
    .filter(each => ['serious', 'critical'].includes(each.impact))
    .map(each => [each.id, each.nodes[0].html]))"""


def papers(language: str) -> dict[str, str]:
    signed = AgreementFields(terms=TermsFields.of(FILE))
    return {
        "assessment": assessment_page(ASSESSMENT, language),
        "codebook": codebook_page(FILE, language),
        "removed": removed_page(FILE, language),
        "terms": terms_page(FILE, language),
        "agreement": agreement(signed, language),
        "catalogue": catalogue_page(ENTRIES, language),
    }


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"there is no {CHROMIUM}: install the Debian package chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield launched
        launched.close()


def opened(browser: Browser, folder: Path, html: str, width: int) -> Page:
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    assert asked == [path.as_uri()]  # nothing from elsewhere
    return page


def test_everybody_can_read_papers_on_any_screen(browser: Browser, tmp_path: Path) -> None:
    for name, html in papers("es").items():
        for width in (1280, 390):
            page = opened(browser, tmp_path, html, width)
            assert not page.evaluate(WIDER), (name, width)
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.evaluate(Axe().axe_script)
                assert page.evaluate(SERIOUS) == [], (name, width, scheme)
            page.close()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_papers_print_to_a4_and_no_table_is_cut(
    language: str, browser: Browser, tmp_path: Path
) -> None:
    for name, html in papers(language).items():
        page = opened(browser, tmp_path, html, A4)
        page.emulate_media(media="print")
        assert page.evaluate(CUT) == [], name
        assert not page.evaluate(WIDER), name
        for part in page.locator("table thead").all():
            assert part.evaluate("part => getComputedStyle(part).display") == "table-header-group"
        printed = page.pdf(prefer_css_page_size=True)
        boxes = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", printed)
        assert boxes, name
        for width, height in boxes:
            assert (round(float(width)), round(float(height))) == (595, 842)
        if name == "codebook":
            assert len(boxes) > 3  # its longest table is longer than a page
        page.close()


def test_the_catalogue_is_searched_without_a_server(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, papers("es")["catalogue"], 1280)
    cards = page.locator(".card:visible")
    expect(cards).to_have_count(2)
    words = page.get_by_role("searchbox")
    words.fill("INGRÉSO nowhere")
    expect(cards).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("0 archivos")
    words.fill("oficina censo tenéncia")
    expect(cards).to_have_count(2)
    # The variable that was found is shown, others of the list are not.
    expect(page.locator(".names li:visible")).to_have_count(2)
    words.fill("")
    page.get_by_role("combobox").select_option("public-use")
    expect(cards).to_have_count(1)
    expect(cards.get_by_role("link", name="csv: puf-2021")).to_be_visible()
    page.close()


def test_the_catalogue_shows_everything_without_its_script(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "catalogue.html"
    path.write_text(papers("en")["catalogue"], encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    expect(page.locator(".card")).to_have_count(2)
    expect(page.locator(".find")).to_be_hidden()
    context.close()
