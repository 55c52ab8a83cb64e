"""The files of the table builder's page: words in catalogues, nothing from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sdcensus.web
from sdcensus.model.text import LANGUAGES
from sdcensus.web.languages import texts

WEB = Path(sdcensus.web.__file__).parent
SCRIPTS = sorted(
    [*(WEB / "static" / "builder").glob("*.js"), *(WEB / "static" / "shared").glob("*.js")]
)
PAGES = [WEB / "templates" / "base.html", WEB / "templates" / "builder.html"]


@pytest.mark.parametrize("path", [*SCRIPTS, *PAGES], ids=lambda path: path.name)
def test_every_word_of_the_page_stands_in_every_catalogue(path: Path) -> None:
    used = re.findall(r"\b(t|plural)\(\s*\"(builder\.[\w.]+[a-z])\"", path.read_text("utf-8"))
    for language in LANGUAGES:
        known = texts(language)
        for kind, key in used:
            forms = [f"{key}_one", f"{key}_other"] if kind == "plural" else [key]
            assert not [form for form in forms if form not in known], f"{key} in {language}"


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_small_and_write_no_markup(path: Path) -> None:
    script = path.read_text("utf-8")
    assert len(script.splitlines()) <= 400
    # Addresses of other hosts, and the ways in which text becomes markup or code.
    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script
    )
    hosts = set(re.findall(r"https?://[^\s\"'`]+", script))
    assert hosts <= {"http://www.w3.org/2000/svg"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_pages_have_no_inline_script_or_style(path: Path) -> None:
    page = path.read_text("utf-8")
    assert not re.findall(r"\bstyle=|<style|\bon\w+=\"", page)
    for tag in re.findall(r"<script\b[^>]*>", page):
        assert 'type="application/json"' in tag or 'src="/static/' in tag
