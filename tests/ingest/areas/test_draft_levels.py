"""Levels of the geography that a draft finds in columns beside it."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import assume, given, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.ingest.draft import DraftOptions, draft_schema
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import CodeKind, Variable

Columns = Mapping[str, Sequence[Any]]


def drafted(folder: Path, columns: Columns, dictionary: str = "") -> Schema:
    path = folder / "viviendas.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["id_vivienda", *columns])
        rows = zip(*columns.values(), strict=True)
        table.writerows([f"V{number:05d}", *row] for number, row in enumerate(rows))
    dictionaries = []
    if dictionary:
        dictionaries = [folder / "diccionario.csv"]
        dictionaries[0].write_text(dictionary, encoding="utf-8", newline="\n")
    draft_schema([path], folder / "draft", DraftOptions(dictionaries=tuple(dictionaries)))
    return read_schema(folder / "draft" / "schema.toml")


def geography(schema: Schema) -> Variable:
    assert schema.geography is not None
    return schema.geography


def levels(schema: Schema) -> dict[str, dict[str, str]]:
    """Code and label of every level above the leaves."""
    return {
        level.name: {code.code: code.label.show() for code in level.codes}
        for hierarchy in geography(schema).hierarchies
        for level in hierarchy.levels
    }


def held(schema: Schema, name: str) -> dict[str, str]:
    """In which area of a level each leaf lies."""
    variable = geography(schema)
    (level,) = (
        level
        for hierarchy in variable.hierarchies
        for level in hierarchy.levels
        if level.name == name
    )
    return {
        code.code: level.codes[place].code
        for code, place in zip(variable.codes, level.group, strict=True)
    }


def test_columns_of_areas_that_hold_the_finest_are_its_levels(tmp_path: Path) -> None:
    rows = [
        ("1", "11", "1101"),
        ("1", "12", "1201"),
        ("11", "111", "11101"),
        ("11", "111", "11102"),
    ]
    columns = {
        "REGION": [row[0] for row in rows * 9],
        "PROVINCIA": [row[1] for row in rows * 9],
        "COMUNA": [row[2] for row in rows * 9],
    }
    dictionary = (
        "variable,etiqueta,valor,glosa\nREGION,Región,1,Norte\n,,11,Sur\n,,12,Nunca\n"
        "PROVINCIA,Provincia,11,Claro\n,,12,Inés\n,,111,Aysén\nCOMUNA,Comuna,1101,Puerto\n"
    )
    schema = drafted(tmp_path, columns, dictionary)
    assert {variable.name for variable in schema.variables} == {"comuna", "id_vivienda"}
    assert levels(schema) == {
        "provincia": {"11": "Claro", "111": "Aysén", "12": "Inés"},
        "region": {"1": "Norte", "11": "Sur"},
    }
    assert held(schema, "provincia") == {"1101": "11", "1201": "12", "11101": "111", "11102": "111"}
    assert held(schema, "region") == {"1101": "1", "1201": "1", "11101": "11", "11102": "11"}


def test_what_areas_are_like_is_no_level(tmp_path: Path) -> None:
    columns = {"AREA": ["1", "2", "1"] * 9, "COMUNA": ["1101", "1102", "1103"] * 9}
    dictionary = "variable,etiqueta,valor,glosa\nAREA,Área,1,Urbana\n,,2,Rural\n"
    schema = drafted(tmp_path, columns, dictionary)
    assert levels(schema) == {}
    assert {code.code for code in schema.variable("area").codes} == {"1", "2"}


def test_areas_in_two_others_make_no_level(tmp_path: Path) -> None:
    columns = {"REGION": ["1", "2", "1"] * 9, "COMUNA": ["1101", "1102", "1103"] * 8 + ["1102"] * 3}
    schema = drafted(tmp_path, columns)
    assert levels(schema) == {}
    assert schema.variable("region").role is None


def test_a_code_that_is_no_area_stays_itself(tmp_path: Path) -> None:
    communes = ["1101", "2101", "1102"] * 40 + ["9999"]
    columns = {"REGION": [commune[0].replace("9", "2") for commune in communes], "COMUNA": communes}
    dictionary = (
        "variable,etiqueta,valor,glosa\nCOMUNA,Comuna,1101,A\n,,2101,B\n,,1102,C\n,,9999,Ignorada\n"
    )
    schema = drafted(tmp_path, columns, dictionary)
    kinds = {code.code: code.kind for code in geography(schema).codes}
    assert kinds["9999"] is CodeKind.NOT_STATED
    assert set(levels(schema)["region"]) == {"1", "2", "9999"}


def test_areas_that_never_occur_lie_where_their_digits_say(tmp_path: Path) -> None:
    columns = {"REGION": ["1", "2", "1", "2"] * 9, "COMUNA": ["1101", "2101", "1102", "2102"] * 9}
    dictionary = "variable,etiqueta,valor,glosa\nCOMUNA,Comuna,1101,A\n,,2103,Nueva\n"
    schema = drafted(tmp_path, columns, dictionary)
    assert held(schema, "region")["2103"] == "2"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_a_level_is_drafted_if_and_only_if_it_holds_every_area(
    pairs: list[tuple[int, int]],
) -> None:
    columns = {
        "REGION": [str(region) for region, _ in pairs],
        "COMUNA": [str(100 + commune) for _, commune in pairs],
    }
    holders: dict[str, set[str]] = {}
    for region, commune in zip(columns["REGION"], columns["COMUNA"], strict=True):
        holders.setdefault(commune, set()).add(region)
    nested = all(len(regions) == 1 for regions in holders.values())
    fewer = len(set(columns["REGION"])) < len(holders)
    with tempfile.TemporaryDirectory() as folder:
        schema = drafted(Path(folder), columns)
    if geography(schema).name != "comuna":
        return
    assert bool(levels(schema)) == (nested and fewer)
    if nested and fewer:
        assert held(schema, "region") == {area: min(regions) for area, regions in holders.items()}


@given(
    st.dictionaries(
        st.integers(0, 9), st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=4, max_size=10
    )
)
def test_codes_that_repeat_across_levels_keep_their_holders(
    areas: dict[int, tuple[int, int]],
) -> None:
    """Communes, provinces and regions are numbered from 0 each, as they come."""
    region_of: dict[int, int] = {}
    for province, region in areas.values():
        region_of.setdefault(province, region % 3)
    communes = {commune: province for commune, (province, _) in areas.items()}
    columns = {
        "REGION": [region_of[province] for province in communes.values()] * 3,
        "PROVINCIA": list(communes.values()) * 3,
        "COMUNA": list(communes) * 3,
    }
    sizes = [len(set(values)) for values in columns.values()]
    assume(sizes[0] < sizes[1] < sizes[2])
    with tempfile.TemporaryDirectory() as folder:
        schema = drafted(Path(folder), columns)
    assert held(schema, "provincia") == {
        str(commune): str(province) for commune, province in communes.items()
    }
    assert held(schema, "region") == {
        str(commune): str(region_of[province]) for commune, province in communes.items()
    }
