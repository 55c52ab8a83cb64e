"""Which variable is the age and which the sex is said once, in any language of names."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError, SpecError
from sdcensus.model.schema.roles import IndicatorRole, recognised, variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.text import Text
from sdcensus.session.figures.indicators import indicator_product
from sdcensus.store.schema_json import schema_from_json, schema_to_json

SCHEMA = """
[census]
name = "Censo"
reference_date = "2022-06-01"
[files.person]
path = "personas.csv"
entity = "person"
[entity.person]
id = ["id"]
[variable.id]
entity = "person"
role = "record-id"
[variable.p08]
entity = "person"
codes = { "1" = "Hombre", "2" = "Mujer" }
[variable.p09]
entity = "person"
range = [0, 99]
[variable.p10]
entity = "person"
range = [0, 99]
"""
PLAN = """
store = "censo.store"
[[indicator]]
name = "masculinidad"
kind = "sex-ratio"
[[indicator]]
name = "dependencia"
kind = "dependency-ratio"
[[indicator]]
name = "mediana"
kind = "median-age"
"""


def schema(folder: Path, roles: str = "") -> Schema:
    path = folder / "schema.toml"
    path.write_text(SCHEMA + roles, encoding="utf-8")
    return read_schema(path)


def plan_of(folder: Path, of: Schema, text: str) -> dict[str, str]:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    plan = read_plan(path, lambda _: of)
    for indicator in plan.indicators:
        indicator_product(indicator, of)  # what is read can be made
    return {indicator.name: indicator.variable for indicator in plan.indicators}


def test_a_plan_or_a_schema_says_it_once(tmp_path: Path) -> None:
    said = '[roles]\nage = "p09"\nsex = "p08"\n'
    expected = {"masculinidad": "p08", "dependencia": "p09", "mediana": "p09"}
    assert plan_of(tmp_path, schema(tmp_path), PLAN + said) == expected
    of = schema(tmp_path, said)
    assert plan_of(tmp_path, of, PLAN) == expected
    assert schema_from_json(schema_to_json(of)).roles == of.roles


def test_the_plan_goes_before_the_schema(tmp_path: Path) -> None:
    of = schema(tmp_path, '[roles]\nage = "p09"\nsex = "p08"\n')
    assert plan_of(tmp_path, of, PLAN + '[roles]\nage = "p10"\n')["mediana"] == "p10"


def test_all_indicators_that_miss_a_variable_are_told_together(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        plan_of(tmp_path, schema(tmp_path), PLAN)
    texts = [str(mistake) for mistake in caught.value.mistakes]
    assert len(texts) == 3
    assert [text.partition(":")[0] for text in texts] == ["line 3", "line 6", "line 9"]
    assert '[roles] sex = "..."' in texts[0]
    assert '[roles] age = "..."' in texts[1]


def test_wrong_roles_are_told_with_their_lines(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        schema(tmp_path, '[roles]\nage = "p99"\nedad = "p09"\nsex = 2\n')
    texts = "\n".join(map(str, caught.value.mistakes))
    assert "There is no variable 'p99'" in texts
    assert "There is no role of a variable 'edad'. There are: age, sex" in texts
    assert "'sex' should be the name of a variable in double quotes" in texts


@pytest.mark.parametrize("name", ["edad", "EDAD", "P09_EDAD", "âge", "idade_anos", "Leeftijd"])
def test_names_tell_the_age(name: str) -> None:
    variables = [
        Variable(name="sexo", entity=Entity.PERSON),
        Variable(name=name, entity=Entity.PERSON),
    ]
    assert recognised(variables, IndicatorRole.AGE) is variables[1]


def test_labels_tell_the_age_and_two_candidates_tell_nothing() -> None:
    labelled = Variable(name="p9", entity=Entity.PERSON, label=Text.of({"es": "Edad"}))
    assert recognised([labelled], IndicatorRole.AGE) is labelled
    both = [Variable(name=name, entity=Entity.PERSON) for name in ("edad_a", "edad_b", "edades")]
    assert recognised(both, IndicatorRole.AGE) is None


def test_a_census_without_age_is_told_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="nothing tells which variable is the age"):
        variable_for(IndicatorRole.AGE, schema(tmp_path))
