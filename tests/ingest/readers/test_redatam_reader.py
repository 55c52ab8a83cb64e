from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.model.schema.source import FileFormat
from tests.ingest.readers.helpers import opened, refusal, whole


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "export.csv"


def test_entities_are_dropped_and_markers_kept(file: Path) -> None:
    file.write_text(
        '"PERSONA.P05";"PERSONA.P06";"VIVIENDA.V01"\n"07";"NotAppl";"Missing"\n"08";"1";""\n',
        encoding="utf-8",
    )
    reader = opened(file, format=FileFormat.REDATAM)
    assert whole(reader) == {
        "P05": ["07", "08"],
        "P06": ["NotAppl", "1"],
        "V01": ["Missing", None],
    }
    assert all(column.missing == ("NotAppl", "Missing", "Ignored") for column in reader.columns())
    assert reader.name == "export.csv"
    assert reader.rows() is None


def test_an_entity_stays_where_the_name_would_not_be_unique(file: Path) -> None:
    file.write_text("HOGAR.ID,PERSONA.ID,PERSONA.EDAD,SEXO\n1,2,3,4\n", encoding="utf-8")
    reader = opened(file, format=FileFormat.REDATAM)
    assert reader.names() == ("HOGAR.ID", "PERSONA.ID", "EDAD", "SEXO")
    assert whole(reader, ["EDAD", "PERSONA.ID"]) == {"EDAD": ["3"], "PERSONA.ID": ["2"]}


def test_a_plain_name_keeps_a_prefixed_one_from_becoming_the_same(file: Path) -> None:
    file.write_text("EDAD,PERSONA.EDAD\n1,2\n", encoding="utf-8")
    assert whole(opened(file, format=FileFormat.REDATAM)) == {"EDAD": ["1"], "PERSONA.EDAD": ["2"]}


def test_mistakes_are_those_of_csv(file: Path) -> None:
    file.write_text("P.A,P.B\n1,2\n3\n", encoding="utf-8")
    assert "row 3 has 1 field" in refusal(file, format=FileFormat.REDATAM)
    assert "no column 'C'" in refusal(file, format=FileFormat.REDATAM, columns=["C"])
