from __future__ import annotations

import pytest

from sdcensus.model.headings import table_heading
from tests.formats.tables.made import spec


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
    assert table_heading(one, "es") == "Personas por Zona (parish), Sexo y Edad. Edad: 0 a 17"
    assert table_heading(spec(), "es") == "Personas"
