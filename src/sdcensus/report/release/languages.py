"""Papers in several languages: a page for each, and links from one to the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.sentences import speak
from sdcensus.report.page import Html
from sdcensus.report.release.tables import say


def spoken(languages: Sequence[str]) -> list[str]:
    """The languages of papers: those that are asked for and that the product speaks."""
    wanted = dict.fromkeys(languages)
    return [language for language in wanted if language in LANGUAGES] or [LANGUAGES[0]]


def pages(
    stem: str,
    ending: str,
    languages: Sequence[str],
    page: Callable[[str, Sequence[str]], str],
) -> dict[str, bytes]:
    """A paper in every language, by the name of its file.

    Args:
        stem: What the file is called; the language stands behind it where there are several.
        ending: The ending of the file, with its point.
        languages: The languages.
        page: Says the paper in a language, with links to the others.
    """
    chosen = spoken(languages)
    if len(chosen) == 1:
        return {f"{stem}{ending}": page(chosen[0], ()).encode("utf-8")}
    return {
        f"{stem}.{language}{ending}": page(language, chosen).encode("utf-8") for language in chosen
    }


def language_links(stem: str, others: Sequence[str], language: str) -> Html:
    """Links to the same page in other languages."""
    links = "".join(
        f'<li><a href="{stem}.{escape(other)}.html" hreflang="{escape(other)}"'
        f' lang="{escape(other)}">{escape(speak("language.name", other))}</a></li>'
        for other in others
        if other != language
    )
    words = escape(say("codebook.languages", language))
    return Html(f'<nav aria-label="{words}"><ul>{links}</ul></nav>\n' if links else "")
