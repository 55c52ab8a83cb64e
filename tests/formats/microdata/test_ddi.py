"""A codebook that does what the published schema asks, and counts what the records say."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sdcensus.formats.microdata.ddi import ddi_document, write_ddi
from sdcensus.formats.microdata.nada import nada_document, write_nada
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import Layout
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.text import Text
from tests.formats.microdata.ddi_rules import LANGUAGE, NAMESPACE, Problem, problems
from tests.formats.microdata.release_example import example


def codebook(file: ReleaseFile, layout: Layout = Layout.LINKED) -> Any:
    return ElementTree.fromstring(ddi_document(file, layout))


def bare(file: ReleaseFile) -> ReleaseFile:
    """The same records with nothing said about them."""
    return ReleaseFile(
        name=file.name,
        title=Text(),
        tables=file.tables,
        licence=file.licence,
        languages=(),
        census=Text(),
        country=Text(),
    )


@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("licence", list(LicenceClass))
def test_documents_do_what_the_schema_asks(layout: Layout, licence: LicenceClass) -> None:
    file = example(licence=licence)
    marked = replace(file, title=Text.of("Line\nbreak \x01 \ufffe <&>"))
    for each in (file, marked, bare(file), example(households=0, persons=1)):
        assert problems(codebook(each, layout)) == []


def test_the_rules_see_mistakes() -> None:
    root = codebook(example())
    variable = root.find(f".//{NAMESPACE}var")
    variable.append(variable[0])  # a label after everything else
    root.find(f"{NAMESPACE}stdyDscr").set("sampled", "yes")
    variable.set("wgt-var", "V999")
    assert {problem.element for problem in problems(root)} == {"var", "stdyDscr"}
    assert Problem("stdyDscr", "sampled=yes") in problems(root)


@pytest.mark.parametrize("layout", list(Layout))
def test_frequencies_are_those_of_the_records(layout: Layout) -> None:
    file = example()
    root = codebook(file, layout)
    by_name = {(each.get("files"), each.get("name")): each for each in root.iter(f"{NAMESPACE}var")}
    table = file.tables[1]
    work, weight = table.column("if"), table.column("weight")
    variable = by_name["F2" if layout is Layout.LINKED else "F1", "if"]
    counts = Counter(work.values.tolist())
    for place, category in enumerate(variable.findall(f"{NAMESPACE}catgry")):
        shown = {each.get("wgtd"): each.text for each in category.findall(f"{NAMESPACE}catStat")}
        assert shown["not-wgtd"] == str(counts[place])
        weighted = int(weight.values[work.values == place].sum())
        assert float(shown["wgtd"] or "") * 1_000_000 == pytest.approx(weighted)
        assert category.findtext(f"{NAMESPACE}catValu") == work.codes[place].code
        assert category.get("missing", "N") == ("Y" if work.codes[place].is_missing else "N")
        labels = {each.get(LANGUAGE): each.text for each in category.findall(f"{NAMESPACE}labl")}
        assert labels == dict(work.codes[place].label.by_language)


def test_summaries_of_amounts_are_exact() -> None:
    file = example(households=2, persons=10)
    income = file.tables[1].column("income")
    assert income.absent is not None
    there = [
        value for value, none in zip(income.values.tolist(), income.absent, strict=True) if not none
    ]
    variable = next(
        each for each in codebook(file).iter(f"{NAMESPACE}var") if each.get("name") == "income"
    )
    shown = {
        each.get("type"): each.text
        for each in variable.findall(f"{NAMESPACE}sumStat")
        if each.get("wgtd") == "not-wgtd"
    }
    assert shown["vald"] == "8"
    assert shown["invd"] == "2"
    assert float(shown["max"] or "") * 100 == max(there)
    assert float(shown["mean"] or "") * 100 == pytest.approx(sum(there) / 8)
    assert variable.get("measUnit") == "XCD"


def test_an_open_catalogue_tells_no_counts_of_a_full_count_and_no_income_of_anybody() -> None:
    full = example(licence=LicenceClass.FULL_COUNT)
    everybody, licensed = replace(example(), whole=True), example(licence=LicenceClass.LICENSED_USE)
    for file in (full, everybody, licensed):
        document, entry = ddi_document(file), nada_document(file)
        assert b"catStat" not in document
        assert b"sumStat" not in document
        assert not any(
            "stats" in category or "var_sumstat" in variable
            for variable in entry["variables"]
            for category in variable.get("var_catgry", [{}])
        )
        # How many records a sample has is no secret; how many there are of all units is a count.
        assert (b"caseQnty" in document) is (file is licensed)
        assert all(("case_count" in part) is (file is licensed) for part in entry["data_files"])
    assert b'type="max"' in ddi_document(example())
    assert b'type="freq"' in ddi_document(example())


def test_words_follow_the_class_and_the_languages(tmp_path: Path) -> None:
    file = example(licence=LicenceClass.LICENSED_USE)
    path = write_ddi(file, tmp_path)
    text = path.read_text(encoding="utf-8")
    assert path.name == "puf.ddi.xml"
    for words in (
        "Licensed file:",
        "Archivo con licencia:",
        "2021-05-12",
        "Not in the file: Name.",
    ):
        assert words in text
    first, second = write_nada(file, tmp_path)
    assert (first.name, second.name) == ("puf.nada.json", "puf.es.nada.json")
    assert json.loads(first.read_text(encoding="utf-8"))["access_policy"] == "licensed"
    spanish = json.loads(second.read_text(encoding="utf-8"))
    use = spanish["study_desc"]["data_access"]["dataset_use"]
    assert use["restrictions"].startswith("Archivo con licencia")


def test_a_language_that_the_product_does_not_speak_is_not_claimed() -> None:
    root = codebook(replace(example(), languages=("de",)))
    assert problems(root) == []
    assert {each.get(LANGUAGE) for each in root.iter() if each is not root} == {None, "en"}


#: What the catalogue's schema asks for, by place in the document.
REQUIRED = {
    "study_desc": {"title_statement", "study_info"},
    "data_files": {"file_id", "file_name"},
    "variables": {"file_id", "vid", "name", "labl"},
}


@pytest.mark.parametrize("layout", list(Layout))
def test_the_catalogue_gets_what_it_asks_for(layout: Layout) -> None:
    for file in (example(), bare(example()), example(households=0)):
        document = nada_document(file, layout=layout)
        assert REQUIRED["study_desc"] <= set(document["study_desc"])
        titles = document["study_desc"]["title_statement"]
        assert titles["idno"]
        assert titles["title"]
        assert document["study_desc"]["study_info"]["nation"][0]["name"]
        for name in ("data_files", "variables"):
            assert all(REQUIRED[name] <= set(each) for each in document[name])
        ids = [each["vid"] for each in document["variables"]]
        assert len(set(ids)) == len(ids)
        files = {each["file_id"] for each in document["data_files"]}
        assert {each["file_id"] for each in document["variables"]} == files
        # Frequencies are those of the codebook, and every category has its code as a text.
        for variable in document["variables"]:
            for category in variable.get("var_catgry", []):
                assert isinstance(category["value"], str)
                assert category["stats"][0]["value"] >= 0
