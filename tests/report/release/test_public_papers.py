"""Papers that everybody may read: the numbers of the file, and no record of the census."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import OutputError, SpecError
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import Design
from sdcensus.model.release.release_file import ColumnKind, ReleaseColumn, ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Code, Entity, Level, Variable
from sdcensus.model.sentences import sentence, speak
from sdcensus.model.text import Text
from sdcensus.report.release.catalogue import CatalogueEntry, catalogue_page
from sdcensus.report.release.codebook import codebook_page, codebook_pages
from sdcensus.report.release.done import DoneStep, WhatWasDone
from sdcensus.report.release.files import public_papers, write_catalogue, write_codebook, write_done
from sdcensus.report.release.removed import recoded_codes, removed_csv, removed_page
from sdcensus.report.release.terms import AgreementFields, TermsFields, agreement, terms, terms_page
from tests.report.reading import read_page
from tests.report.release.papers import FACTS, label, release_file

FILE = release_file()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_codebook_tells_every_variable_in_every_language(language: str) -> None:
    page = read_page(codebook_page(FILE, language))
    for table in FILE.tables:
        for column in table.columns:
            assert column.label.show(language) in page.text
            for code in column.codes:
                assert " ".join(code.label.show(language).split()) in page.text
    for key in ("weights", "conservative", "counted", "not_stated", "not_applicable", "empty"):
        assert speak(f"release_papers.codebook.{key}", language) in page.text
    assert "svydesign(ids = ~household, weights = ~weight" in page.text
    assert FILE.removed[0][2].show(language) in page.text
    assert not re.search(r"\b(nan|None)\b", page.text)


def test_the_codebook_has_counts_and_weighted_counts_of_the_file() -> None:
    text = read_page(codebook_page(FILE, "en")).text
    # 75 records, 37 or 38 of them with each of the two weights.
    assert "01 " + "x" * 300 + " 75 25.0 % 788 26.2 %" in text
    assert "1 Owned 50 50.0 % 500 50.0 %" in text
    assert "records without a number 30" in text
    assert "smallest −23.75" in text
    assert "<script>alert(1)</script>" in text  # as a text: the reader finds no script


def test_a_full_count_tells_no_count_of_the_census() -> None:
    file = release_file(licence=LicenceClass.FULL_COUNT)
    for language in LANGUAGES:
        text = read_page(codebook_page(file, language)).text
        assert speak("release_papers.codebook.not_counted", language) in text
        assert not re.search(r"\d %|\d%|\b788\b|\b300\b", text)
        entry = catalogue_page([CatalogueEntry.of(file)], language)
        assert "300" not in entry.partition("<main>")[2].partition("<script>")[0]
    # Its largest number is somebody's: codebooks of licensed files are read by everybody.
    licensed = read_page(codebook_page(release_file(licence=LicenceClass.LICENSED_USE), "en")).text
    assert "smallest" not in licensed
    assert "records without a number 30" in licensed


def bare(*columns: ReleaseColumn) -> ReleaseFile:
    return ReleaseFile(
        name="bare",
        title=Text(),
        tables=(ReleaseTable(entity=Entity.PERSON, columns=columns),),
        licence=LicenceClass.PUBLIC_USE,
        languages=("de",),
        census=Text(),
        country=Text(),
    )


@pytest.mark.parametrize("rows", [0, 1])
def test_files_without_weights_records_and_labels_have_papers(rows: int) -> None:
    number = ReleaseColumn(
        name="n", kind=ColumnKind.NUMBER_OF_UNIT, label=Text(), values=np.arange(rows)
    )
    codes = ReleaseColumn(
        name="x",
        kind=ColumnKind.CODES,
        label=Text(),
        values=np.zeros(rows, dtype=np.int64),
        codes=(Code(""),),
    )
    one = ReleaseColumn(
        name="w",
        kind=ColumnKind.WEIGHT,
        label=Text(),
        values=np.full(rows, 10**6),
        decimals=6,
    )
    for file in (bare(number, codes), bare(number, codes, one)):
        papers = public_papers(file)
        assert "codebook.html" in papers
        text = read_page(papers["codebook.html"].decode()).text
        assert speak("release_papers.codebook.no_weight", "en") in text
        assert "svydesign" not in text
        read_page(papers["removed-and-recoded.html"].decode())
        read_page(papers["terms.html"].decode())
    half = replace(one, values=np.full(rows, 2 * 10**6))
    single = read_page(codebook_page(bare(number, codes, half), "en")).text
    assert ("svydesign(ids = ~1" in single) == bool(rows)


def test_papers_in_several_languages_lead_to_each_other(tmp_path: Path) -> None:
    papers = codebook_pages(FILE)
    assert set(papers) == {"codebook.en.html", "codebook.es.html"}
    assert b'href="codebook.es.html"' in papers["codebook.en.html"]
    paths = write_codebook(FILE, tmp_path, ["fr", "xx"])
    assert [path.name for path in paths] == ["codebook.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["codebook.html"]
    with pytest.raises(OutputError, match="cannot be written"):
        write_codebook(FILE, tmp_path / "nowhere")


def test_the_list_of_changes_tells_variables_and_codes_and_no_record() -> None:
    leaves = tuple(
        Code(f"{age:02}", label(f"{age} years"), lower=age, upper=age) for age in range(20)
    )
    bands = (Code("0-4", label("0 to 4")), Code("5+", label("5 and over")))
    level = Level("bands", bands, tuple(int(age >= 5) for age in range(20)))
    age = Variable(name="age", entity=Entity.PERSON, codes=leaves, label=label("Age"))
    variable = FileVariable(name="age", source=age, entity=Entity.PERSON, level=level)
    design = FileDesign(
        design=Design(name="A", fraction=Fraction(1, 3)),
        unit=Entity.PERSON,
        variables=(variable,),
    )
    recodes = recoded_codes(design)
    text = read_page(removed_page(FILE, "en", recodes)).text
    assert "0-4 0 to 4 00 0 years, 01 1 years, 02 2 years, 03 3 years, 04 4 years" in text
    assert "5+ 5 and over 05 5 years … 19 years" in text
    assert "100 years and over is one code" in text
    assert "geography is not released" in text
    lines = list(csv.DictReader(io.StringIO(removed_csv(FILE, "en", recodes).decode())))
    assert [line["change"] for line in lines] == ["removed", "removed", "recoded", "code", "code"]
    assert lines[2]["what"] == "100 years and over is one code"
    # Nothing is left out and nothing recoded: the page says so.
    none = replace(FILE, removed=(), tables=FILE.tables[:1], notes=())
    for language in LANGUAGES:
        assert (
            speak("release_papers.removed.no_recode", language)
            in read_page(removed_page(none, language)).text
        )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("licence", LicenceClass)
def test_terms_fit_the_class_in_every_language(licence: LicenceClass, language: str) -> None:
    file = release_file(9, licence)
    text = terms(file, language)
    assert not re.search(r"[{}]", text)
    for part in (file.producer.show(language), file.contact, file.citation.show(language)):
        assert part in text
    rules = read_page(terms_page(file, language)).text
    for line in text.splitlines():
        assert " ".join(line.lstrip("#- ").split()) in rules
    own = {each: terms(release_file(9, each), language) for each in LicenceClass}
    assert len(set(own.values())) == len(LicenceClass)
    empty = TermsFields(licence=licence, title=Text.of("F"))
    assert speak("release_papers.terms.gap.producer", language) in terms(empty, language)
    signed = read_page(agreement(AgreementFields(terms=empty, person="A <b>"), language)).text
    assert signed.count("A <b>") == 2
    assert signed.count(speak("release_papers.agreement.sign", language)) == 2


def test_an_office_puts_its_own_terms_in_place_of_ours() -> None:
    template = "# Mine\r\n\r\nOf {producer}.\n- one\n  more\n- two {title}\n\nAsk {contact}."
    text = terms(FILE, "en", template=template)
    assert "Of Office of Statistics & Sons." in text
    html = terms_page(FILE, "en", template=template)
    assert "<ol><li>one more</li><li>two Public use file of the census 2021</li></ol>" in html
    read_page(html)
    with pytest.raises(SpecError, match=r"the gap \{office\}.*\{producer\}"):
        terms(FILE, "en", template="By {office}.")
    # What fills a gap is a text, whatever it looks like.
    odd = replace(TermsFields.of(FILE), title=Text.of("{contact} <b>"))
    assert "{contact} <b>" in terms(odd, "en")


def test_what_was_done_names_the_secret_and_the_files_for_the_office_only(tmp_path: Path) -> None:
    step = DoneStep(
        title=sentence("derive.section.did"),
        parameters={"fraction": "1/10", "keep": True, "weight": None},
        counts={"households": 1234},
        facts=(FACTS,),
        notes=(sentence("derive.rules_kept"),),
    )
    done = WhatWasDone(
        census="Census",
        name="puf",
        title=label("File"),
        design="B",
        steps=(step, step),
        secret_id="ab12cd",
        data_version="v7",
        files={"persons.csv": "0" * 64},
    )
    page, document = write_done(done, tmp_path, "fr")
    text = read_page(page.read_text("utf-8")).text
    for part in ("ab12cd", "v7", "0" * 64, "1/10", "oui", "1 234", "12,5"):
        assert part in text
    told = json.loads(document.read_text("utf-8"))
    assert told["steps"][0]["counts"] == {"households": 1234}
    assert told["steps"][0]["facts"][0]["rows"][0] == ["=1+1", 0.125]
    assert told["files"] == {"persons.csv": "0" * 64}
    assert "1234" not in repr(done) + repr(step)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_catalogue_tells_of_every_file_what_a_researcher_asks(language: str) -> None:
    entries = [
        CatalogueEntry.of(
            release_file(9, licence), terms="terms.html", codebook="codebook.html", ddi="ddi.xml"
        )
        for licence in LicenceClass
    ]
    html = catalogue_page(entries, language, producer=FILE.producer)
    for licence in LicenceClass:
        assert speak(f"release_papers.catalogue.apply.{licence}", language) in html
    for part in ("2021", "mailto:data@stats.example", 'href="ddi.xml"', "sex_flag", "income"):
        assert html.count(part) >= len(LicenceClass)
    for part in ("terms", "codebook", "how", "years", "citation"):
        assert speak(f"release_papers.catalogue.{part}", language) in html
    none = catalogue_page([], language)
    assert speak("release_papers.catalogue.none", language) in read_page(none).text


def test_the_catalogue_is_written_for_each_language(tmp_path: Path) -> None:
    paths = write_catalogue([], tmp_path, ["en", "nl"])
    assert [path.name for path in paths] == ["catalogue.en.html", "catalogue.nl.html"]
