"""What readers see of the demo census: definitions, topics and labels, in every language."""

from __future__ import annotations

import csv
import json

import pytest

from sdcensus.demo.documents.questionnaire import FILES, LANGUAGES, data_table, rows
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.headings import axis_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from tests.demo.reading import Written

#: Longer labels do not fit beside the numbers of a table on a phone.
LONGEST_LABEL = 70


def said(text: Text) -> list[str]:
    """The languages of a text that says something."""
    return [language for language, words in text.by_language if words.strip()]


def axes(island: Written) -> list[Variable]:
    """The variables that tables can be made by."""
    return [variable for variable in island.schema.variables if variable.is_axis]


def test_the_census_declares_the_languages_of_the_product(island: Written) -> None:
    assert island.schema.census.languages == LANGUAGES


def test_every_variable_has_a_definition_of_its_own_in_every_language(island: Written) -> None:
    texts = []
    for variable in island.schema.variables:
        # What the schema does not write itself is in every language of the product.
        own = {language for language in said(variable.description) if language in LANGUAGES}
        assert own == set(LANGUAGES), variable.name
        for language, text in variable.description.by_language:
            assert text[0].isupper(), (variable.name, language)
            assert text[-1] == ".", (variable.name, language)
            assert 40 <= len(text) <= 400, (variable.name, language)
            texts.append(text)
    assert len(set(texts)) == len(texts)


def test_definitions_say_whom_a_question_does_not_concern(island: Written) -> None:
    words = {"en": ("appl", "For "), "es": ("aplica", "Para "), "fr": ("objet", "our ")}
    words |= {"nl": ("toepassing", "oor ")}
    for variable in island.schema.variables:
        if any(code.kind == "not_applicable" for code in variable.codes):
            if variable.name == "ed_grid":
                continue
            for language, one in words.items():
                text = variable.description.show(language)
                assert any(word in text for word in one), (variable.name, language, text)


def test_every_variable_that_can_be_shown_has_a_topic_and_a_label(island: Written) -> None:
    for variable in axes(island):
        assert said(variable.topic) == list(LANGUAGES), variable.name
        assert said(variable.label)[: len(LANGUAGES)] == list(LANGUAGES), variable.name
    for language in LANGUAGES:
        labels = [axis.label.show(language) for axis in axes(island)]
        assert len(set(labels)) == len(labels), language


def test_every_category_has_a_label_in_every_language(island: Written) -> None:
    for variable in axes(island):
        if variable.name == "ed_grid":
            continue
        for level in variable.levels():
            for code in level.codes:
                if code.lower is not None:  # a number is its own label
                    continue
                assert said(code.label) == list(LANGUAGES), (variable.name, level.name, code.code)
                longest = max(len(text) for _, text in code.label.by_language)
                assert longest <= LONGEST_LABEL, (variable.name, code.code)


def test_categories_of_a_level_differ_in_every_language(island: Written) -> None:
    for variable in axes(island):
        for level in variable.levels():
            for language in LANGUAGES:
                labels = [code.label.show(language) for code in level.codes]
                assert len(set(labels)) == len(labels), (variable.name, level.name, language)


def test_every_level_has_a_label_where_there_are_several(island: Written) -> None:
    for variable in axes(island):
        names = [level.name for level in variable.levels()]
        if len(names) == 1:
            continue
        for language in LANGUAGES:
            labels = [variable.level_label(name).show(language) for name in names]
            assert all(labels), (variable.name, language)
            assert len(set(labels)) == len(labels), (variable.name, language)


@pytest.mark.parametrize(
    ("language", "headings"),
    [
        ("en", ["Parish", "Enumeration district", "Age (five-year groups)"]),
        ("es", ["Parroquia", "Distrito de empadronamiento", "Edad (grupos quinquenales)"]),
        ("fr", ["Paroisse", "District de recensement", "Âge (groupes quinquennaux)"]),
        ("nl", ["Parochie", "Telgebied", "Leeftijd (vijfjaarsklassen)"]),
    ],
)
def test_levels_and_variables_read_well_together(
    island: Written, language: str, headings: list[str]
) -> None:
    found = []
    for axis in ("ed@parish", "ed", "age@five_year"):
        spec = TableSpec.build(island.schema, [axis])
        found.append(axis_heading(spec.axes[0], language))
    assert found == headings


def test_rules_and_code_lists_and_the_map_speak_every_language(island: Written) -> None:
    assert all(said(one.label) == list(LANGUAGES) for one in island.schema.impossible)
    columns = ["label", *(f"label_{one}" for one in LANGUAGES[1:])]
    folder = island.files.folder / "codes"
    for path in (one for one in folder.glob("*.csv") if not one.name.startswith("eu_")):
        with path.open(encoding="utf-8", newline="") as file:
            assert all(row[column] for row in csv.DictReader(file) for column in columns), path.name
    for feature in json.loads((folder / "areas.geojson").read_text(encoding="utf-8"))["features"]:
        assert all(feature["properties"][column] for column in columns), feature["id"]


def test_texts_are_about_variables_that_there_are(island: Written) -> None:
    """A definition or a level that nobody asks for is a misspelt one."""
    names = {name for file in FILES for name in data_table("variables")[file]}
    assert set(data_table("definitions")) == names
    assert set(data_table("levels")) <= names
    assert {variable.name for variable in island.schema.variables} >= names
    assert all(len(row) == 7 for row in rows("words"))
