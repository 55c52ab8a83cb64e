"""What figures are measured in, in the language of the file, in every format that says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import python_calamine

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError
from sdcensus.model.plan.plan import PlannedIndicator
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import Measure
from sdcensus.session.figures.indicators import indicator_product
from sdcensus.session.publish.run import publish
from sdcensus.store.schema_json import schema_from_json, schema_to_json
from tests.hamlet import SCHEMA, write_hamlet

MONEY = 'unit = { en = "dollars per month", es = "dólares al mes" }\n'
UNITS = SCHEMA.replace('label = "Income"\n', f'label = "Income"\n{MONEY}')
YEARS = {"en": "Years", "es": "Años", "fr": "Années", "nl": "Jaren", "pt": "Anos"}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    hamlet = write_hamlet(tmp_path_factory.mktemp("units"), schema=UNITS)
    return read_schema(hamlet.schema)


def unit(schema: Schema, kind: str, **settings: Any) -> dict[str, str]:
    planned = PlannedIndicator(name="figure", kind=kind, by=(), **settings)
    return dict(indicator_product(planned, schema).unit.by_language)


@pytest.mark.parametrize("kind", ["median-age", "median", "mean", "quartiles", "percentile"])
def test_figures_of_ages_are_in_years(schema: Schema, kind: str) -> None:
    more: dict[str, Any] = {} if kind == "median-age" else {"variable": "age"}
    if kind == "percentile":
        more["percent"] = 90
    assert unit(schema, kind, **more) == YEARS


def test_an_age_of_another_name_is_in_years_where_the_schema_says_so(tmp_path: Path) -> None:
    renamed = UNITS.replace("[variable.age", "[variable.p12").replace('"Age"', '"Completed"')
    renamed = renamed.replace("age < 15", "p12 < 15")
    for roles in ('\n[roles]\nage = "p12"\n', ""):
        hamlet = write_hamlet(tmp_path / f"named{bool(roles)}", schema=renamed + roles)
        found = unit(read_schema(hamlet.schema), "median", variable="p12")
        # what nobody says to be an age is measured in what it is called
        assert found == YEARS if roles else set(found.values()) == {"Completed"}


@pytest.mark.parametrize("kind", ["median", "mean", "quartiles", "percentile", "difference"])
def test_figures_of_amounts_are_in_their_unit(schema: Schema, kind: str) -> None:
    more: dict[str, Any] = {"variable": "income"}
    if kind == "percentile":
        more["percent"] = 90
    if kind == "difference":
        more |= {"first": "sex == 1", "second": "sex == 2"}
    assert unit(schema, kind, **more) == {"en": "dollars per month", "es": "dólares al mes"}
    if kind == "mean":
        # of an amount whose unit nobody says: what it is, not what is computed of it
        rent = unit(schema, kind, of="households", **more | {"variable": "rent"})
        assert set(rent.values()) == {"Rent"}


def test_ratios_and_shares(schema: Schema) -> None:
    income = {"numerator": "sum(income)", "denominator": "count"}
    assert unit(schema, "ratio", **income)["es"] == "dólares al mes"
    assert unit(schema, "share", numerator="sex == 1")["es"] == "Por ciento"
    assert unit(schema, "distribution", variable="sex")["fr"] == "Pour cent"
    assert unit(schema, "sex-ratio", variable="sex")["nl"] == "Per 100"
    assert unit(schema, "average-household-size")["es"] == "Personas por hogar"


PLAN = """
store = "census.store"

[[table]]
name = "people"
rows = ["sex"]

[[indicator]]
name = "ages"
kind = "median-age"
by = ["sex"]

[[indicator]]
name = "incomes"
kind = "mean"
variable = "income"
by = ["sex"]

[protect]
method = "cell-key"
strength = "medium"

[protect.sums]
method = "cell-key-sums"

[output]
folder = "published"
languages = ["en", "es"]
formats = ["csv", "json-stat", "sdmx-csv", "px", "xlsx"]
"""


def test_every_format_says_the_unit_in_its_language(tmp_path: Path) -> None:
    hamlet = write_hamlet(tmp_path, schema=UNITS)
    hamlet.load()
    publish(hamlet.write("plan.toml", PLAN), secret=hamlet.secret)
    folder = tmp_path / "published"
    expected = {
        "people": {"en": "Persons", "es": "Personas"},
        "ages": {"en": "Years", "es": "Años"},
        "incomes": {"en": "dollars per month", "es": "dólares al mes"},
    }
    for name, units in expected.items():
        about = json.loads((folder / f"{name}.about.json").read_text(encoding="utf-8"))
        assert {language: about["unit"][language] for language in units} == units
        structure = next(folder.rglob(f"{name}*.xml")).read_text(encoding="utf-8")
        px = (folder / f"{name}.px").read_text(encoding="utf-8-sig")
        for language, words in units.items():
            key = "UNITS" if language == "en" else f"UNITS[{language}]"
            assert f'{key}="{words}";' in px
            assert f'<com:Name xml:lang="{language}">{words}</com:Name>' in structure
            data = json.loads((folder / f"{name}.{language}.json").read_text(encoding="utf-8"))
            measure = data["dimension"]["MEASURE"]["category"]
            assert [each["label"] for each in measure["unit"].values()] == [words]
            book = python_calamine.CalamineWorkbook.from_path(folder / f"{name}.{language}.xlsx")
            cells = [
                cell
                for sheet in book.sheet_names
                for row in book.get_sheet_by_name(sheet).to_python()
                for cell in row
            ]
            assert words in cells
    # What the numbers are is told beside what they are measured in.
    assert 'CONTENTS="Median age";' in (folder / "ages.px").read_text(encoding="utf-8-sig")
    spanish = json.loads((folder / "ages.es.json").read_text(encoding="utf-8"))
    labels = spanish["dimension"]["MEASURE"]["category"]["label"]
    assert list(labels.values()) == ["Edad mediana"]


def test_further_languages_of_a_unit_change_no_table(schema: Schema, tmp_path: Path) -> None:
    plain = UNITS.replace(MONEY, 'unit = "dollars per month"\n')
    other = read_schema(write_hamlet(tmp_path, schema=plain).schema)
    specs = [
        TableSpec.build(each, ["sex"], measure=MeasureOf(Measure.SUM, "income"))
        for each in (schema, other)
    ]
    assert specs[0].hash() == specs[1].hash()
    assert schema_from_json(schema_to_json(schema)).variable("income").unit_text.show("es") == (
        "dólares al mes"
    )
    assert "unit_by_language" not in json.dumps(schema_to_json(other))


def test_a_language_that_the_census_does_not_have_is_a_mistake(tmp_path: Path) -> None:
    wrong = UNITS.replace('es = "dólares al mes"', 'de = "Dollar im Monat"')
    with pytest.raises(DocumentError, match="language 'de'"):
        read_schema(write_hamlet(tmp_path, schema=wrong).schema)
