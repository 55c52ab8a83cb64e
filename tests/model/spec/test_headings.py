from __future__ import annotations

from dataclasses import replace

import pytest

from sdcensus.model.schema.variable import Role
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.document import code_list_to_json, variable_from_json
from sdcensus.model.spec.headings import axis_heading, table_heading
from sdcensus.model.text import Text
from tests.formats.made import spec


@pytest.mark.parametrize(
    ("universe", "words"),
    [
        ("", ""),
        ("age >= 15", ". Age: 15 to 99"),
        ("sex == 1", ". Sex: Male"),
        ("area in ('E1', 'E2')", ". Area: North"),
        ("area in ('E1', 'E3')", '. Area: Hill and =HYPERLINK("x")'),
        ("age == 3 and sex == 2", ". Age: 3; Sex: Female"),
        ("age in (3, 5)", ". Age: 3 and 5"),
        ("age in (1, 3, 5, 7, 9, 11, 13)", ". A condition on Age"),
        ("age == 3 or sex == 2", ". A condition on Age and Sex"),
        ("age > 500", ". No record fulfils the condition"),
    ],
)
def test_the_heading_says_which_records_a_table_is_about(universe: str, words: str) -> None:
    assert table_heading(spec("sex", universe=universe)) == f"Persons by Sex{words}"


def test_a_heading_in_spanish() -> None:
    one = spec("area@parish", "sex", "age", universe="age <= 17")
    assert table_heading(one, "es") == "Personas por zona (parish), sexo y edad. Edad: 0 a 17"
    assert table_heading(spec(), "es") == "Personas"


def _labelled(axis: Axis, role: Role | None) -> Axis:
    labels = (
        ("parish", Text.of({"en": "Parish", "es": "Parroquia"})),
        (axis.variable.leaf_level, Text.of({"en": "Small area", "es": "Zona menor"})),
    )
    return replace(axis, variable=replace(axis.variable, level_labels=labels, role=role))


@pytest.mark.parametrize(
    ("asked", "role", "english", "spanish"),
    [
        ("area@parish", Role.GEOGRAPHY, "Parish", "Parroquia"),
        ("area", Role.GEOGRAPHY, "Small area", "Zona menor"),
        ("area@area+parish", Role.GEOGRAPHY, "Small area / Parish", "Zona menor / Parroquia"),
        ("area@parish", None, "Area (parish)", "Zona (parroquia)"),
        ("area", None, "Area", "Zona"),
    ],
)
def test_levels_are_called_by_their_labels(
    asked: str, role: Role | None, english: str, spanish: str
) -> None:
    axis = _labelled(spec(asked).axes[0], role)
    assert axis_heading(axis) == english
    assert axis_heading(axis, "es") == spanish
    # A published table says the same when it is read again.
    again = variable_from_json(code_list_to_json(axis.variable, axis.levels))
    assert axis_heading(replace(axis, variable=again), "es") == spanish
