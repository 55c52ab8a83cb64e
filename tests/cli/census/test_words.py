"""A language that an office adds beside the package, from its first copy to page and report."""

from __future__ import annotations

import html
import json
import os
import string
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from python_calamine import CalamineWorkbook

from sdcensus.documents.toml.text import toml, toml_key
from sdcensus.errors import OutputError
from sdcensus.model.catalogue import LANGUAGES, areas, catalogue, places, problems
from tests.cli.census.test_start import write_census
from tests.cli.conftest import ROOT, Run, Village, start
from tests.cli.publication.test_publish import PLAN
from tests.cli.tiny import write_village

#: Letters that make a language of its own out of English, which nobody takes for English.
OTHER = str.maketrans("aeiouAEIOU", "àèìòùÀÈÌÒÙ")
#: Sentences of at least so many words are looked for: shorter ones stand in many texts.
WORDS = 4


def other(text: str) -> str:
    """An English text in another language, with the same places to fill."""
    parts = []
    for literal, name, form, conversion in string.Formatter().parse(text):
        parts.append(literal.translate(OTHER).replace("{", "{{").replace("}", "}}"))
        if name is not None:
            parts.append(
                f"{{{name}{f'!{conversion}' if conversion else ''}{f':{form}' if form else ''}}}"
            )
    return "".join(parts)


def translated(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: translated(member) for key, member in value.items()}
    if isinstance(value, list):
        return [translated(member) for member in value]
    return other(value)


def written(document: Mapping[str, Any]) -> str:
    """A document of words as TOML, with its tables as inline values."""
    return "".join(f"{toml_key(key)} = {toml(value)}\n" for key, value in document.items())


def translate(folder: Path) -> None:
    """Translate the copy of a language, as an office would with an editor."""
    for area in areas(folder):
        path = folder / f"{area}.toml"
        document = translated(tomllib.loads(path.read_text(encoding="utf-8")))
        if area == "language":
            document |= {"thousands": "’", "decimals": ",", "percent": "{n} per 100"}
            document |= {"capitals_in_titles": "no", "name": "Tetun"}
        path.write_text(written(document), encoding="utf-8", newline="\n")


def english_in(text: str, area: str) -> list[str]:
    """Sentences of the English catalogue that stand in a text as they are."""
    sentences = [
        english
        for english in catalogue(area, "en").values()
        if not places(english) and len(english.split()) >= WORDS and other(english) != english
    ]
    return [sentence for sentence in sentences if sentence in text]


@pytest.fixture
def own_words(tmp_path: Path, run: Run) -> Path:
    """A folder with one language, copied by the command and translated."""
    folder = tmp_path / "words"
    assert run("words", "copy", "en", folder / "tet").code == 0
    translate(folder / "tet")
    return folder


def test_the_command_copies_a_language_and_says_what_it_lacks(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "words" / "sw"
    answer = run("words", "copy", "es", folder)
    assert answer.code == 0
    assert "sdcensus words check" in answer.out
    assert run("words", "check", folder).out.strip() == "sw: complete."
    again = run("words", "copy", "es", folder)
    assert again.code == OutputError.exit_code
    assert "already exists" in again.err

    (folder / "notes.toml").unlink()
    marks = folder / "marks.toml"
    marks.write_text("withheld = 'siri'\nmore = 'zaidi'\n", encoding="utf-8", newline="\n")
    answers = folder / "answers.toml"
    text = answers.read_text(encoding="utf-8").replace("{label}", "{lable}")
    answers.write_text(text, encoding="utf-8", newline="\n")
    (folder / "levels.toml").write_text("area = 'Eneo\n", encoding="utf-8", newline="\n")
    answer = run("words", "check", folder)
    assert answer.code == 1
    for said in (
        "sw/notes.toml is missing.",
        "sw/marks.toml: refused is missing. English: 'not published for this area'",
        "sw/marks.toml: English has no more, and it is never shown.",
        "sw/answers.toml: own_group must have the places {label}, and no other.",
        "sw/levels.toml cannot be read",
    ):
        assert said in answer.out.replace("\n", " "), said


def test_languages_are_listed(run: Run) -> None:
    answer = run("words", "list")
    assert answer.code == 0
    for language in LANGUAGES:
        assert catalogue("language", language)["name"] in answer.out
    assert "to do" not in answer.out


def test_a_folder_that_is_not_there_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "words copy en" in run("words", "check", tmp_path / "sw").err
    assert "no language" in run("words", "copy", "xx", tmp_path / "sw").err
    for folder, word in ((tmp_path / "nowhere", "no folder"), (tmp_path, "language.toml")):
        monkeypatch.setenv("SDCENSUS_WORDS", str(folder))
        answer = run("words", "list")
        assert (answer.code, word in answer.err) == (2, True), answer.err


def said(words: Path, *arguments: object) -> str:
    """What a command prints, run in a process of its own with the languages of an office."""
    program = start(*arguments, SDCENSUS_WORDS=str(words))
    out, err = program.communicate()
    assert program.returncode == 0, err.decode()
    return out.decode()


def test_a_sixth_language_speaks_on_page_in_notes_and_in_reports(
    own_words: Path, village: Village, tmp_path: Path
) -> None:
    assert not list(problems(own_words / "tet"))
    script = Path(__file__).with_name("served_words.py")
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    answer = subprocess.run(
        [sys.executable, "-W", "error", str(script), "tet", str(tmp_path)],
        env={**os.environ, "SDCENSUS_WORDS": str(own_words), "PYTHONPATH": paths},
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    assert answer.returncode == 0, answer.stderr.decode()
    served = json.loads(answer.stdout)
    assert 'lang="tet"' in served["/"]
    assert ">Tetun</a>" in served["/"]
    notes = json.loads(served["table"])["note"]
    for path, text in {**served, "table": "\n".join(notes)}.items():
        for area in ("web/builder", "web/pages", "web/errors", "web/result", "notes"):
            assert not english_in(text, area), path
    assert other(catalogue("notes", "en")["protected"]) in notes

    table = tmp_path / "table.xlsx"
    protect = ("protect", village.store, "--by", "ed,sex", "--method", "random-rounding")
    said(own_words, *protect, "--secret", village.secret, "--out", table, "-l", "tet")
    book = CalamineWorkbook.from_path(table)
    sheets = [book.get_sheet_by_name(name).to_python() for name in book.sheet_names]
    cells = "\n".join(str(cell) for sheet in sheets for row in sheet for cell in row)
    assert other(catalogue("notes", "en")["protected"]) in cells
    assert not english_in(cells, "notes")


def test_a_sixth_language_speaks_in_what_an_office_signs(
    own_words: Path, village: Village, town: Path, tmp_path: Path
) -> None:
    """Assessment, advice, study, road and published notes, with no word of them in Python."""
    store = tmp_path / "village.store"
    schema = write_village(tmp_path / "files")
    known = schema.read_text(encoding="utf-8").replace('["en", "es"]', '["en", "es", "tet"]')
    schema.write_text(known, encoding="utf-8", newline="\n")
    census = tmp_path / "census"
    write_census(census)
    secret = ("--secret", village.secret)
    spoken = ("-l", "tet")
    said(own_words, "load", schema, "--out", store, *secret, *spoken)
    table = (store, "--by", "ed,sex,married", *secret, *spoken)
    check, study = tmp_path / "check", tmp_path / "study"
    texts = {
        "assess": said(own_words, "assess", *table, "--confidential", "--out", check),
        "compare": said(own_words, "compare", *table, "--out", study),
        "recommend": said(own_words, "recommend", town, "--product", "programme", *spoken),
        "start": said(own_words, "start", census, "--for", "report,builder", *secret, *spoken),
    }
    plan = tmp_path / "plan.toml"
    text = 'measure = "count"\n' + PLAN.replace('["en", "es"]', '["tet"]')
    plan.write_text(text, encoding="utf-8", newline="")
    said(own_words, "publish", plan, *secret)
    pages = [*check.glob("*.html"), study / "study.html", *tmp_path.glob("published/*.html")]
    assert any("notes" in path.name for path in pages)
    for path in pages:
        texts[path.name] = html.unescape(path.read_text(encoding="utf-8"))
        assert '<html lang="tet"' in texts[path.name], path
    for name, text in texts.items():
        for area in ("assess", "study", "recommend", "start", "cautions", "notes", "publication"):
            assert not english_in(" ".join(text.split()), area), (name, area)
    assert other(catalogue("study", "en")["find.scope"]) in texts["compare"]
    assert other(catalogue("start", "en")["said.next"]) in texts["start"]
