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
from tests.cli.census.test_start import write_census
from tests.cli.conftest import Run, Village

AREAS = (
    *("assess", "recommend", "approve", "findings", "notes", "marks", "study", "start", "load"),
    *("cautions", "web/policy"),
)
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
    # A table that the policy refuses, with its reasons.
    answer = run("recommend", town, "--for", "ed,sex,married,age,tenure", "-l", language)
    assert answer.code == 0, answer.err
    assert not english_in(answer.out, language)
    texts = catalogue("web/policy", language).values()
    assert any(piece in answer.out for text in texts for piece in pieces(text))


@pytest.mark.parametrize("language", OTHERS)
def test_a_study_is_in_the_language_that_was_asked_for(
    language: str, run: Run, town: Path, village: Village, tmp_path: Path
) -> None:
    wanted = ("--by", "ed,sex,married", "--secret", village.secret, "-l", language)
    answer = run("compare", town, *wanted, "--out", tmp_path / "study")
    assert answer.code == 0, answer.err
    page = (tmp_path / "study" / "study.html").read_text(encoding="utf-8")
    sheets = cells_of(tmp_path / "study" / "study.xlsx")
    assert f'<html lang="{language}"' in page
    words = catalogue("study", language)
    for text in (answer.out, page, sheets):
        assert not english_in(text, language)
        assert words["ways.3"] in text
    assert words["plot.across"] in page
    assert words["column.spearman"] in sheets
    # Programs read the same files in every language.
    english = run("compare", town, *wanted[:-2], "--out", tmp_path / "english")
    assert "three-way" in english.out
    for path in (tmp_path / "english").glob("*.csv"):
        labels = path.name in ("worst_cells.csv", "given_away.csv")  # hold labels of categories
        assert labels or path.read_bytes() == (tmp_path / "study" / path.name).read_bytes()


@pytest.mark.parametrize("language", OTHERS)
def test_the_road_is_told_and_asked_in_the_language(
    language: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "census"
    write_census(folder)
    words = catalogue("start", language)
    asked: list[str] = []
    replies = iter(["2", "perhaps", words["yes"].upper(), words["no"][0]])

    def prompt(question: str, **settings: object) -> str:
        asked.append(question)
        return next(replies)

    with monkeypatch.context() as terminal:
        terminal.setattr("sdcensus.cli.shared.questions.can_answer", lambda: True)
        terminal.setattr("sdcensus.cli.census.start.can_answer", lambda: True)
        terminal.setattr("typer.prompt", prompt)
        answer = run("start", folder, "-l", language)
    assert answer.code == 0, answer.err
    assert asked[0] == words["ask.numbers"]
    assert all(question.startswith(words["ask.later"]) for question in asked[1:3])
    assert "builder_later = true" in (folder / "start.toml").read_text(encoding="utf-8")
    for text in (answer.out, answer.err, (folder / "next-commands.txt").read_text("utf-8")):
        assert not english_in(text, language)
    # The schema was drafted in this language, and from then on nobody has to ask for it.
    answer = run("start", folder, "--yes")
    assert answer.code == 0, answer.err
    assert words["said.passed"] in answer.out
    assert words["secret.keep"] in answer.out
    steps = (folder / "next-commands.txt").read_text("utf-8")
    assert steps.startswith(words["head"])
    assert words["next.publish"] in steps
    assert [path.name for path in folder.glob("next-commands*")] == ["next-commands.txt"]
    for text in (answer.out, steps):
        assert not english_in(text, language)
    # Read again in another language, the list is still known as ours.
    assert run("start", folder, "-l", FIRST).code == 0
    assert [path.name for path in folder.glob("next-commands*")] == ["next-commands.txt"]


def test_english_is_as_before(run: Run, village: Village) -> None:
    told = (village.store, "--by", "ed,sex", "--secret", village.secret)
    plain, english = (run("assess", *told, *more) for more in ((), ("-l", "en")))
    assert plain.out == english.out
    assert "Taken alone, this table gives" in plain.out


@pytest.mark.parametrize("command", ["assess", "recommend", "compare"])
def test_a_language_that_nobody_speaks_is_refused(command: str, run: Run, village: Village) -> None:
    out = ("--by", "sex", "--out", "study") if command == "compare" else ()
    answer = run(command, village.store, *out, "-l", "tlh")
    assert (answer.code, "no language 'tlh'" in answer.err) == (2, True)
