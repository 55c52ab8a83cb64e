"""What somebody signs is in the language that was asked for, and in no other."""

from __future__ import annotations

import html
import re
import string
from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.model.catalogue import FIRST, LANGUAGES, catalogue
from sdcensus.model.quantities import number_text
from tests.cli.conftest import Run, Village
from tests.cli.tiny import PERSONS, write_village

AREAS = ("assess", "recommend", "approve", "findings", "notes", "marks")
#: A piece of a sentence of at least so many words is looked for.
WORDS = 4
OTHERS = [language for language in LANGUAGES if language != FIRST]


def pieces(text: str) -> list[str]:
    """The parts of a text between its places that are long enough to be known again."""
    parts = [literal.strip() for literal, _, _, _ in string.Formatter().parse(text)]
    return [part for part in parts if len(re.findall(r"[^\W\d_]+", part)) >= WORDS]


def english_in(text: str, language: str) -> set[str]:
    """Pieces of English sentences that stand in a text of another language."""
    plain = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
    known = {
        piece
        for area in AREAS
        for key, english in catalogue(area, FIRST).items()
        for piece in pieces(english)
        if piece not in catalogue(area, language)[key]
    }
    return {piece for piece in known if piece in plain}


def cells_of(path: Path) -> str:
    book = CalamineWorkbook.from_path(path)
    sheets = [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]
    names = "\n".join(book.sheet_names)
    return "\n".join([names, *(str(cell) for sheet in sheets for row in sheet for cell in row)])


@pytest.fixture(scope="session")
def town(tmp_path_factory: pytest.TempPathFactory, village: Village) -> Path:
    """The village many times over, so that there is something to recommend."""
    from sdcensus.cli.shared.run import run as run_command

    folder = tmp_path_factory.mktemp("town")
    persons = [
        (ed, house, str(100 * copy + int(number)), name, *rest)
        for copy in range(60)
        for ed, house, number, name, *rest in PERSONS
    ]
    schema = write_village(folder / "files", persons=persons)
    store = folder / "town.store"
    load = ["load", str(schema), "--out", str(store), "--secret", str(village.secret), "-q"]
    assert run_command(load) == 0
    return store


@pytest.mark.parametrize("language", OTHERS)
def test_assessments_and_advice_are_in_the_language_that_was_asked_for(
    language: str, run: Run, village: Village, town: Path, tmp_path: Path
) -> None:
    told = (village.store, "--by", "ed,sex,married", "--secret", village.secret, "-l", language)
    answer = run("assess", *told, "--confidential", "--out", tmp_path / "check")
    assert answer.code == 0, answer.err
    assert not english_in(answer.out, language)
    page, public = (
        tmp_path / "check" / name for name in ("assessment.html", "assessment.public.html")
    )
    for path in (page, public):
        text = path.read_text(encoding="utf-8")
        assert f'<html lang="{language}"' in text
        assert not english_in(text, language)
    assert not english_in(cells_of(tmp_path / "check" / "evaluation.xlsx"), language)
    assert catalogue("assess", language)["page.signature"] in page.read_text(encoding="utf-8")

    for product in ("programme", "report"):
        answer = run("recommend", town, "--product", product, "-l", language)
        assert answer.code == 0, answer.err
        assert not english_in(answer.out, language)
        assert catalogue("recommend", language)["show.rejected"] in answer.out
        assert number_text(420, language) in answer.out


def test_english_is_as_before(run: Run, village: Village) -> None:
    told = (village.store, "--by", "ed,sex", "--secret", village.secret)
    plain, english = (run("assess", *told, *more) for more in ((), ("-l", "en")))
    assert plain.out == english.out
    assert "Taken alone, this table gives" in plain.out


@pytest.mark.parametrize("command", ["assess", "recommend"])
def test_a_language_that_nobody_speaks_is_refused(command: str, run: Run, village: Village) -> None:
    answer = run(command, village.store, "-l", "tlh")
    assert (answer.code, "no language 'tlh'" in answer.err) == (2, True)
