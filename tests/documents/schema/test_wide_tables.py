"""Gazetteers with a column of codes for each level are the same code lists as rows with parents."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.schema.code_tables import read_code_table
from sdcensus.errors import DocumentError
from sdcensus.model.schema.code_lists import tree_levels

LONG = """\
code,label,parent,level
1,Tarapacá,,region
11,Aysén,,region
11,Iquique,1,province
111,Coyhaique,11,province
1101,Iquique,11,commune
1107,Alto Hospicio,11,commune
11101,Coyhaique,111,commune
"""
ROWS = (
    ("1", "Tarapacá", "11", "Iquique", "1101", "Iquique"),
    ("1", "Tarapacá", "11", "Iquique", "1107", "Alto Hospicio"),
    ("11", "Aysén", "111", "Coyhaique", "11101", "Coyhaique"),
)


def written(folder: Path, header: str, rows: tuple[tuple[str, ...], ...] = ROWS) -> Path:
    path = folder / "places.csv"
    lines = [header, *(",".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "header",
    [
        "region,region_label,province,province_label,commune,commune_label",
        "region_code,region,province_code,province,commune_code,commune",
        "Code Region,Name of the Region,Code Province,Name of Province,CODE_COMMUNE,commune name",
    ],
)
def test_a_gazetteer_is_the_list_with_parents(tmp_path: Path, header: str) -> None:
    (tmp_path / "long.csv").write_text(LONG, encoding="utf-8")
    long = tree_levels(read_code_table(tmp_path / "long.csv").nodes)
    wide = tree_levels(read_code_table(written(tmp_path, header)).nodes)
    assert wide == long
    assert wide.leaf_level == "commune"


def test_official_names_of_columns_and_columns_beside(tmp_path: Path) -> None:
    header = (
        "Código Región,Nombre Región,Abreviatura Región,Código Provincia,Nombre Provincia,"
        "Código Comuna 2018,Nombre Comuna"
    )
    rows = tuple((*row[:2], "ABC", *row[2:]) for row in ROWS)
    tree = tree_levels(read_code_table(written(tmp_path, header, rows), language="es").nodes)
    assert (tree.leaf_level, [level.name for level in tree.levels]) == (
        "comuna",
        ["provincia", "region"],
    )
    assert tree.levels[1].codes[1].label.show("es") == "Aysén"


def test_columns_may_stand_the_other_way_round_and_in_two_languages(tmp_path: Path) -> None:
    header = "commune,commune_label,commune_label_es,region,region_label"
    rows = (
        ("1101", "Iquique", "Iquique es", "1", "One"),
        ("11101", "Coyhaique", "Coyhaique es", "11", "Eleven"),
        ("11201", "Aysén", "Aysén es", "11", "Eleven"),
    )
    table = read_code_table(written(tmp_path, header, rows))
    tree = tree_levels(table.nodes)
    assert tree.leaf_level == "commune"
    assert tree.leaves[0].label.show("es") == "Iquique es"


def test_an_area_without_parts_leaves_its_columns_empty(tmp_path: Path) -> None:
    header = "region,region_label,commune,commune_label"
    rows = (("1", "One", "1101", "Iquique"), ("99", "Abroad", "", ""))
    tree = tree_levels(read_code_table(written(tmp_path, header, rows)).nodes)
    assert [leaf.code for leaf in tree.leaves] == ["1101", "99"]
    assert [code.code for code in tree.levels[0].codes] == ["1", "99"]


def test_what_does_not_nest_is_told_with_its_line(tmp_path: Path) -> None:
    header = "region,region_label,commune,commune_label"
    rows = (("1", "One", "01", "A"), ("1", "one", "02", "B"), ("2", "Two", "01", "A"))
    with pytest.raises(DocumentError) as caught:
        read_code_table(written(tmp_path, header, rows))
    assert [(mistake.line, mistake.text.split(".")[0]) for mistake in caught.value.mistakes] == [
        (3, "The region '1' is called 'one' here and 'One' on line 2"),
        (4, "The commune '01' lies in region 2 here and in region 1 on line 2"),
    ]


@pytest.mark.parametrize("header", ["clave,descripcion", "region,province", "codigo,nombre"])
def test_other_tables_are_no_gazetteers(tmp_path: Path, header: str) -> None:
    with pytest.raises(DocumentError, match="There is no column 'code'"):
        read_code_table(written(tmp_path, header, (("1", "x"),)))


def test_one_level_has_each_code_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"{LONG}11,Again,1,province\n", encoding="utf-8")
    with pytest.raises(DocumentError, match="line 9: The province '11' stands on line 4 already"):
        read_code_table(tmp_path / "a.csv")
