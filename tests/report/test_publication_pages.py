"""The pages of a publication: for its readers, and for the office."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from sdcensus.model.published.table import Mark
from sdcensus.model.text import Text
from sdcensus.report.publication.index import evaluation_index
from sdcensus.report.publication.notes import NotedTable, PublicationNotes, notes_pages
from sdcensus.utility.evaluation import EvaluationRow, Stage, StageFigures

NOTES = PublicationNotes(
    census=Text.of("Census <2021>"),
    office=Text.of({"en": "Office & Sons", "es": "Oficina"}),
    legal_basis=Text.of({"en": "Act 12"}),
    contact="ask@example.org",
    date="2026-03-01",
    tables=(
        NotedTable(
            name="ages",
            title=Text.of({"en": "Ages", "es": "Edades"}),
            cells=1234567,
            files=("ages.csv", "ages.about.json", "ages.en.xlsx", "ages.sdmx.csv", "ages.sdmx.xml"),
        ),
    ),
    example=Text.of({"en": "Example: 1 and 2 add up to 3, while the total is 4."}),
    signs=((Mark.REFUSED, "."), (Mark.LOW_RELIABILITY, "( )")),
)


class Links(HTMLParser):
    """Where a page leads, and the names of its sections."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()
        self.scripts = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.scripts += tag == "script"
        if tag == "a":
            self.targets.append(given["href"] or "")
        if given.get("id"):
            self.names.add(given["id"] or "")


def page(notes: PublicationNotes, language: str = "en") -> str:
    (content,) = notes_pages(notes, [language]).values()
    return content.decode("utf-8")


def test_a_page_for_each_language_that_is_written() -> None:
    assert set(notes_pages(NOTES, ["en"])) == {"notes.html"}
    assert set(notes_pages(NOTES, ["en", "es"])) == {"notes.en.html", "notes.es.html"}
    # Nobody is left without a page.
    assert set(notes_pages(NOTES, ["fr"])) == {"notes.html"}
    assert 'lang="es"' in page(NOTES, "es")
    assert "Edades" in page(NOTES, "es")
    assert "1,234,567" in page(NOTES)


def test_what_the_office_writes_is_text() -> None:
    made = page(NOTES)
    assert "Office &amp; Sons" in made
    assert "Census &lt;2021&gt;" in made
    assert Links(made).scripts == 0


def test_links_lead_to_sections_and_to_files_beside_the_page() -> None:
    found = Links(page(NOTES))
    inside = {target[1:] for target in found.targets if target.startswith("#")}
    assert inside
    assert inside <= found.names
    files = [target for target in found.targets if not target.startswith("#")]
    assert files == ["ages.csv", "ages.en.xlsx", "ages.sdmx.csv"]


def test_signs_and_law_stand_there_if_there_are_any() -> None:
    made = page(NOTES)
    assert "not published for this area" in made
    assert "Act 12" in made
    bare = page(replace(NOTES, signs=(), legal_basis=Text(), contact=""))
    assert "Signs" not in bare
    assert "Legal basis" not in bare


@pytest.mark.parametrize("language", ["en", "es"])
def test_the_page_says_what_is_true_of_the_method(language: str) -> None:
    words = {
        "en": ("same number in every table", "slightly different numbers", "Example: 1 and 2"),
        "es": ("el mismo número en todas", "números algo distintos", "Example: 1 and 2"),
    }[language]
    usual = page(NOTES, language)
    assert words[0] in usual
    assert words[1] not in usual
    assert words[2] in usual
    other = page(replace(NOTES, consistent=False), language)
    assert words[0] not in other
    assert words[1] in other
    whole = page(replace(NOTES, adds_up=True), language)
    assert words[2] not in whole


def test_what_a_zero_means_depends_on_the_method() -> None:
    assert "A 0 can mean a few or nobody." in page(NOTES)
    assert "A 0 means nobody." in page(replace(NOTES, zeros="true"))
    assert "a small number can mean nobody" in page(replace(NOTES, zeros="grows"))


def row(name: str, *stages: Stage) -> EvaluationRow:
    figures = StageFigures(
        stage=Stage.PUBLISHED,
        margins=True,
        cells=10,
        withheld=1,
        zeros=2,
        total=30,
        minimum=0,
        maximum=9,
        mean=3.0,
        median=3.0,
        unsafe=1,
        unsafe_share=0.1,
        mean_change=0.5,
        median_change=0.0,
        max_change=2,
        share_equal=0.2,
    )
    made = tuple(replace(figures, stage=stage) for stage in stages)
    return EvaluationRow(1, name, ("sex",), (1,), 2, made)


def test_the_index_has_a_line_and_links_for_each_table() -> None:
    rows = [
        row("ages", Stage.ORIGINAL, Stage.PUBLISHED),
        row("size (persons by area@parish)", Stage.ORIGINAL, Stage.PUBLISHED),
    ]
    files = {"ages": ["ages.csv", "ages.about.json"], "size": ["size.en.xlsx", "size.es.xlsx"]}
    made = evaluation_index(rows, files, publication="P <1>", published="../../published")
    found = Links(made)
    assert found.targets == [
        "../../published/ages.csv",
        "../../published/size.en.xlsx",
        "../../published/size.es.xlsx",
        "evaluation.xlsx",
    ]
    assert "P &lt;1&gt;" in made
    assert "Confidential" in made
    assert "after swap" not in made
    swapped = evaluation_index(
        [row("ages", Stage.ORIGINAL, Stage.SWAPPED, Stage.PUBLISHED)], files, publication="P"
    )
    assert "after swap" in swapped


def test_the_index_tells_all_cells_and_interior_cells_alike() -> None:
    """Two tables with 10 numbers each, 2 of them true, and 4 in the interior, 1 of them true."""

    def both(name: str) -> EvaluationRow:
        whole = row(name, Stage.ORIGINAL, Stage.PUBLISHED)
        inner = [
            replace(stage, margins=False, cells=4, share_equal=0.25, max_change=1)
            for stage in whole.stages
        ]
        return replace(whole, stages=(*whole.stages, *inner))

    made = evaluation_index([both("ages"), both("sexes")], {}, publication="P")
    text = " ".join(re.sub(r"<[^>]+>", " ", made).split())
    assert "of these 20 numbers equal the true count; of the 8 in interior cells: 25.0 %" in text
    assert "is the largest change of these 20 numbers; in interior cells: 1" in text
    with_margins, interior = text.rsplit("Every table without its margins: interior cells only", 1)
    assert "ages – 10 1 10.0 % 10.0 % 0.500 2 20.0 %" in with_margins
    assert "ages 4 1 10.0 % 10.0 % 0.500 1 25.0 %" in interior


def test_an_index_of_nothing_says_so() -> None:
    assert "–" in evaluation_index([], {}, publication="P")
