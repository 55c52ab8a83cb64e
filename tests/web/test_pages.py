"""The further pages: their words, and that they need nothing that a strict policy forbids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sdcensus.web
from sdcensus.model.text import LANGUAGES
from sdcensus.session.watch import Pattern
from sdcensus.web.languages import texts

WEB = Path(sdcensus.web.__file__).parent
PAGES = ("about", "api", "commands", "login", "account", "staff", "error")
PARTS = ("pages", "commands", "staff")
SCRIPTS = sorted((WEB / "static" / "pages").glob("*.js"))
TEMPLATES = [WEB / "templates" / f"{name}.html" for name in PAGES]

#: Keys that stand there whole, and beginnings of keys that are put together.
WHOLE = re.compile(r'["`]((?:pages|commands|staff)\.[a-z_.0-9]*[a-z0-9])["`]')
MADE = re.compile(r'["`]((?:pages|commands|staff)\.[a-z_.0-9]*)(?:" ~|\$\{)')


def source() -> str:
    paths = (*SCRIPTS, *TEMPLATES, WEB / "reading.py")
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def test_every_key_of_the_pages_has_a_text() -> None:
    known = texts("en")
    asked = set(WHOLE.findall(source()))
    missing = {
        key
        for key in asked
        if key not in known and f"{key}_one" not in known and f"{key}_other" not in known
    }
    assert missing == set()
    assert len(asked) > 50


def test_every_text_of_the_pages_is_used() -> None:
    whole, made = set(WHOLE.findall(source())), set(MADE.findall(source()))
    words = set(re.findall(r"[\"`]([a-z_0-9]+)[\"`]", source()))
    words |= {f"{one}{end}" for one in Pattern for end in ("", "_text", "_why")}
    unused = [
        key
        for key in texts("en")
        if key.partition(".")[0] in PARTS
        and key not in whole
        and re.sub(r"_(one|other)$", "", key) not in whole
        and not any(key.startswith(one) for one in made if one != "staff.")
        and key.rpartition(".")[2] not in words
    ]
    assert unused == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_have_the_same_keys_and_places(language: str) -> None:
    def places(of: str) -> dict[str, list[str]]:
        return {
            key: sorted(re.findall(r"\{(\w+)\}", text))
            for key, text in texts(of).items()
            if key.partition(".")[0] in PARTS
        }

    assert places(language) == places("en")


@pytest.mark.parametrize("pattern", Pattern)
def test_every_pattern_of_the_watch_is_explained(pattern: Pattern) -> None:
    for key in (f"staff.{pattern}", f"staff.{pattern}_text", f"staff.{pattern}_why"):
        assert key in texts("en")
    assert "{who}" in texts("en")[f"staff.{pattern}_text"]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_pages_have_no_code_and_no_style_of_their_own(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\son\w+=|style=|javascript:", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
    assert "| safe" not in text


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_build_elements_and_never_html(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith("// @ts-check\n")
    forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
    assert not re.search(forbidden, text)
    assert not re.search(r"https?://", text)
    assert len(text.splitlines()) <= 400


def test_the_page_about_figures_tells_no_parameter() -> None:
    for language in LANGUAGES:
        about = " ".join(
            text for key, text in texts(language).items() if key.startswith("pages.about.")
        )
        assert not re.search(r"vari(?:ance|anza|antie)|σ|±|\bptable\b|CP\d", about, re.IGNORECASE)
