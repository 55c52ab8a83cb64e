"""Areas in a draft: levels from columns or a gazetteer, and further geographies."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import InputError
from sdcensus.ingest.areas.gazetteers import is_code_list, is_gazetteer, read_gazetteer
from sdcensus.ingest.draft import DraftOptions, draft_schema
from sdcensus.ingest.load import load_census
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Role
from sdcensus.model.secret import Secret

#: 11 is a region and a province; 99 lies in it and has no record.
AREAS = [
    *(
        ("1", "Tarapacá", "11", "Iquique", code, name)
        for code, name in (("1101", "A"), ("1107", "B"))
    ),
    ("11", "Aysén", "111", "Coyhaique", "11101", "C"),
    ("11", "Aysén", "112", "Puerto Aysén", "11201", "D"),
    ("11", "Aysén", "112", "Puerto Aysén", "11299", "E"),
]
HEAD = "REGION;NOM_REGION;PROVINCIA;NOM_PROVINCIA;COMUNA;NOM_COMUNA"
DWELLINGS = 120


def write_gazetteer(folder: Path, *, encoding: str = "utf-8") -> Path:
    path = folder / "comunas.csv"
    path.write_text("\n".join([HEAD, *map(";".join, AREAS)]), encoding=encoding)
    return path


def write_census(folder: Path, *, zeros: int = 0) -> list[Path]:
    """Dwellings with three levels, persons with the places of birth and work."""
    draws = random.Random(5)
    dwellings = ["ID_VIVIENDA;REGION;PROVINCIA;COMUNA;AREA"]
    persons = ["ID_VIVIENDA;NPER;SEXO;EDAD;COMUNA_NACIMIENTO;COMUNA_TRABAJO;REGION_ANTES"]
    for number in range(1, DWELLINGS + 1):
        region, _, province, _, commune, _ = AREAS[number % 4]
        commune = commune.zfill(zeros)
        area = draws.choice(["Urbano", "Rural"])
        dwellings.append(f"{number};{region};{province};{commune};{area}")
        for member in (1, 2):
            born, work = (draws.choice(AREAS[:4])[4].zfill(zeros) for _ in range(2))
            before = draws.choice(["1", "11"])
            row = (number, member, member, draws.randrange(90), born, work if member == 1 else "")
            persons.append(";".join(map(str, (*row, before))))
    paths = []
    for name, rows in (("viviendas", dwellings), ("personas", persons)):
        paths.append(folder / f"{name}.csv")
        paths[-1].write_text("\n".join(rows), encoding="utf-8")
    return paths


def drafted(folder: Path, *paths: Path, **options: object) -> Schema:
    draft_schema(paths, folder / "draft", DraftOptions(language="es", **options))  # type: ignore[arg-type]
    return read_schema(folder / "draft" / "schema.toml")


def levels(schema: Schema, name: str) -> tuple[str, ...]:
    return tuple(level.name for tree in schema.variable(name).hierarchies for level in tree.levels)


def test_columns_of_coarser_areas_are_the_levels_of_the_finest(tmp_path: Path) -> None:
    schema = drafted(tmp_path, *write_census(tmp_path))
    assert schema.geography is not None
    assert schema.geography.name == "comuna"
    assert set(levels(schema, "comuna")) >= {"provincia", "region"}
    names = {variable.name for variable in schema.variables}
    assert not names & {"region", "provincia"}  # they are levels now
    # Urban and rural are no areas, whatever the column is called.
    assert schema.variable("area").role is None
    for name in ("comuna_nacimiento", "comuna_trabajo"):
        assert schema.variable(name).role is Role.GEOGRAPHY
        assert set(levels(schema, name)) >= {"provincia", "region"}
    assert schema.variable("region_antes").role is Role.GEOGRAPHY
    report = load_census(schema, tmp_path / "store", secret=Secret(bytes(32)))
    assert not report.problems  # every code of the geographies is known


@pytest.mark.parametrize("as_dictionary", [True, False])
@pytest.mark.parametrize("zeros", [0, 5])
def test_a_gazetteer_gives_levels_and_names(
    tmp_path: Path, as_dictionary: bool, zeros: int
) -> None:
    census, gazetteer = (
        write_census(tmp_path, zeros=zeros),
        write_gazetteer(tmp_path, encoding="cp1252"),
    )
    assert is_gazetteer(gazetteer)
    assert not any(map(is_gazetteer, census))
    if as_dictionary:
        schema = drafted(tmp_path, *census, dictionaries=(gazetteer,))
    else:
        schema = drafted(tmp_path, gazetteer, *census)
    assert len(schema.files) == 2
    geography = schema.variable("comuna")
    labels = {code.code: code.label.show("es") for code in geography.codes}
    assert labels["1107".zfill(zeros)] == "B"
    assert labels["11299".zfill(zeros)] == "E"  # which no record has
    assert set(levels(schema, "comuna")) >= {"provincia", "region"}
    assert "region" not in {variable.name for variable in schema.variables}
    load_census(schema, tmp_path / "store", secret=Secret(bytes(32)))


def test_areas_that_do_not_nest_are_no_levels(tmp_path: Path) -> None:
    rows = [f"{at};{at % 7 + 100};{at % 3 + 10}" for at in range(210)]
    path = tmp_path / "viviendas.csv"
    path.write_text("\n".join(["ID_VIVIENDA;COMUNA;DISTRITO", *rows]), encoding="utf-8")
    schema = drafted(tmp_path, path)
    assert levels(schema, "comuna") == ()
    assert schema.variable("distrito").role is None


def test_a_gazetteer_alone_is_no_census(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lists areas"):
        drafted(tmp_path, write_gazetteer(tmp_path))


def test_codes_that_repeat_across_levels_stay_apart(tmp_path: Path) -> None:
    tree = read_gazetteer(write_gazetteer(tmp_path), "es")
    assert tree.levels == ("comuna", "provincia", "region")
    assert tree.codes("region")["11"].show("es") == "Aysén"
    assert tree.codes("provincia")["11"].show("es") == "Iquique"
    assert tree.ancestors()["11101"] == {"provincia": "111", "region": "11"}
    listed = tmp_path / "sexo.csv"
    listed.write_text("code,label\n1,Hombre\n2,Mujer\n", encoding="utf-8")
    assert is_code_list(listed)
    assert not is_gazetteer(listed)
