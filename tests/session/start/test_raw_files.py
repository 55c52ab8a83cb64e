"""What lies in a folder: records, dictionaries, lists of areas, and what is none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.session.start.raw_files import sort_files

PERSONS = "ID_HOGAR;NPER;P08;P09\n" + "".join(f"{at};1;{1 + at % 2};{at}\n" for at in range(60))
HOUSEHOLDS = "ID_HOGAR;COMUNA;P01\n" + "".join(f"{at};{101 + at % 3};1\n" for at in range(60))
DICTIONARY = (
    "Variable;Descripción;Código;Significado\nP08;Sexo;1;Hombre\n;;2;Mujer\nP09;Edad;;\n"
    "P01;Tipo de vivienda;1;Casa\nCOMUNA;Comuna;101;Arica\n"
)
AREAS = "REGION;NOM_REGION;COMUNA;NOM_COMUNA\n" + "".join(
    f"1;Norte;{101 + at};Comuna {at}\n" for at in range(3)
)
STATA = """\
label define P08 1 `"Hombre"' 2 `"Mujer"'
label values P08 P08
label variable P08 `"Sexo"'
label variable P09 `"Edad"'
"""


def test_every_file_is_what_it_holds(tmp_path: Path) -> None:
    contents = {
        "personas.csv": PERSONS,
        "hogares.csv": HOUSEHOLDS,
        "diccionario.csv": DICTIONARY,
        "comunas.csv": AREAS,
        "etiquetas.do": STATA,
        "codigos.csv": "code,label\n1,Hombre\n2,Mujer\n",
        "leeme.txt": "Datos del censo\nde prueba\n",
        "nota.xml": "<nada/>",
    }
    for name, text in contents.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    raw = sort_files(sorted(tmp_path.iterdir()))
    assert [path.name for path in raw.records] == ["hogares.csv", "personas.csv"]
    assert [path.name for path in raw.dictionaries] == ["diccionario.csv", "etiquetas.do"]
    assert [path.name for path in raw.areas] == ["comunas.csv"]
    assert sorted(path.name for path in raw.others) == ["codigos.csv", "leeme.txt", "nota.xml"]
    # What is said to be a dictionary is one, and stands first.
    given = sort_files(sorted(tmp_path.iterdir()), [tmp_path / "codigos.csv"])
    assert given.dictionaries[0] == tmp_path / "codigos.csv"
    assert tmp_path / "codigos.csv" not in given.others


def test_an_export_of_survey_solutions_is_read_as_a_whole(tmp_path: Path) -> None:
    for name, text in {
        "members.tab": PERSONS.replace(";", "\t"),
        "members.do": STATA,
        "interview__actions.tab": "interview__key\taction\n1\t0\n",
        "export__readme.txt": "Exported from Survey Solutions.\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    raw = sort_files(sorted(tmp_path.iterdir()))
    assert [path.name for path in raw.records] == ["members.tab"]
    assert raw.dictionaries == (tmp_path,)
    assert len(raw.others) == 2


@pytest.mark.parametrize("name", ["personas.csv", "personas.txt"])
def test_a_single_file_is_the_census(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(PERSONS, encoding="utf-8")
    raw = sort_files([tmp_path / name])
    assert raw.records == (tmp_path / name,)
    assert not raw.dictionaries
