"""What is written is read back, by whoever has the files; what is damaged is named."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sdcensus.errors import InputError
from sdcensus.formats import write
from sdcensus.formats.read.tables import (
    read_published,
    scan_published,
)
from sdcensus.formats.write import write_table
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.model.spec.document import spec_to_json
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from tests.formats.made import PROVENANCE, SCHEMA, sparse, table

ENDINGS = (".csv", ".parquet")
SHAPES = [
    (),
    ("sex",),
    ("area+parish", "sex"),
    ("area@parish", "sex-total", "age"),
    ("area-total",),
]


def publish(one: AnyTable, path: Path) -> Path:
    provenance = replace(PROVENANCE, spec_hash=one.spec.hash())
    return write_table(one, path, provenance=provenance)


def text_file(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return path


# ---------------------------------------------------------------- what was written


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("by", SHAPES, ids=str)
def test_tables_are_read_as_they_were_written(
    tmp_path: Path, by: tuple[str, ...], ending: str
) -> None:
    one = table(*by).with_notes(Text.of({"en": "Read this.", "es": "Lea esto."}))
    found = read_published(publish(one, tmp_path / f"t{ending}"))
    assert found.table == one
    assert found.table.notes == one.notes
    assert found.name == f"t{ending}"
    assert found.provenance is not None
    assert found.provenance.spec_hash == one.spec.hash()
    axes = [axis.name for axis in found.table.spec.axes]
    assert axes == [axis.name for axis in one.spec.axes]


@pytest.mark.parametrize("ending", ENDINGS)
def test_signs_are_read(tmp_path: Path, ending: str) -> None:
    one = table("area+parish", "sex", withheld=[1, 4], below=7)
    assert read_published(publish(one, tmp_path / f"t{ending}")).table == one


@pytest.mark.parametrize("ending", ENDINGS)
def test_sparse_tables_are_read_as_sparse_ones(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "LARGEST_DENSE_GRID", 0)
    one = sparse(table("area+parish", "sex", values=[0, 3, 0] * 7))
    found = read_published(publish(one, tmp_path / f"t{ending}")).table
    assert isinstance(found, SparseTable)
    assert found.spec == one.spec
    assert found.numbers.tolist() == one.numbers.tolist()
    assert found.published.tolist() == one.published.tolist()


@pytest.mark.parametrize("listed", ["none", "published as 0"])
def test_files_of_earlier_versions_of_protect_are_read(tmp_path: Path, listed: str) -> None:
    """They had a level beside every code, and a description without the codes of the axes."""
    one = table("area+parish", "sex", values=[0, 3, 7] * 7)
    if listed == "none":
        one = table("area+parish", "sex", withheld=[1, 4], below=7)
    columns = one.columns() if listed == "none" else sparse(one).columns()
    rows = zip(*columns.values(), strict=True)
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([list(columns), *rows])
    about = {
        "title": "Persons by Area (area, parish) and Sex",
        "axes": [{"variable": "area", "positions": 7}, {"variable": "sex", "positions": 3}],
        "cells_not_listed": listed,
        "signs": {"c": {"en": "confidential: withheld"}},
        "notes": [{"en": "Read this."}],
        "provenance": replace(PROVENANCE, spec_hash=one.spec.hash()).to_json(),
        "specification": spec_to_json(one.spec),
    }
    text_file(tmp_path / "t.about.json", json.dumps(about))
    again = read_published(tmp_path / "t.csv").table
    assert (again if isinstance(again, Table) else again.whole()) == one
    assert isinstance(again, Table) == (listed == "none")
    assert again.notes == (Text.of({"en": "Read this."}),)


@pytest.mark.parametrize(
    "universe", ["sex == 2", "age >= 18 and area@parish == 'P1'", "age < 5 or sex == 1"]
)
def test_the_universe_is_read(tmp_path: Path, universe: str) -> None:
    spec = TableSpec.build(SCHEMA, ["area"], universe=universe)
    one = Table(spec, np.arange(5))
    assert read_published(publish(one, tmp_path / "t.csv")).table.spec == spec


@given(values=st.lists(st.integers(0, 10**9), min_size=21, max_size=21), order=st.randoms())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_order_of_lines_says_nothing(
    tmp_path_factory: pytest.TempPathFactory, values: list[int], order: object
) -> None:
    folder = tmp_path_factory.mktemp("order")
    one = table("area+parish", "sex", values=values)
    path = publish(one, folder / "t.csv")
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    order.shuffle(lines)  # type: ignore[attr-defined]
    text_file(path, head, *lines)
    assert read_published(path).table == one


# ---------------------------------------------------------------- what is damaged


def edit(path: Path, change: Callable[[list[str]], list[str]]) -> Path:
    return text_file(path, *change(path.read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize(
    ("line", "value", "said"),
    [
        (3, "-4", "'-4' is negative"),
        (4, "2.5", "'2.5' is no whole number"),
        (2, "1e3", "no whole number"),
        (5, "many", "no published count"),
        (6, "", "neither a number nor a sign"),
        (3, "9" * 30, "no whole number"),
        (3, "9" * 13, "no whole number"),
    ],
)
def test_values_that_are_no_counts_are_named_with_their_line(
    tmp_path: Path, line: int, value: str, said: str
) -> None:
    path = publish(table("area@parish", "sex"), tmp_path / "t.csv")

    def change(lines: list[str]) -> list[str]:
        lines[line - 1] = lines[line - 1].rsplit(",", 1)[0] + f",{value}"
        return lines

    with pytest.raises(InputError, match=rf"t\.csv, line {line}: .*{said}"):
        read_published(edit(path, change))


def test_codes_and_cells_must_be_those_of_the_table(tmp_path: Path) -> None:
    path = publish(table("area@parish", "sex"), tmp_path / "t.csv")
    good = path.read_text(encoding="utf-8")
    lines = good.splitlines()
    for changed, said in [
        ([*lines[:3], lines[3].replace("P1", "P9", 1), *lines[4:]], "line 4: 'P9' is no code"),
        ([*lines[:3], lines[2], *lines[4:]], "line 4: this cell stands in the file twice"),
        (lines[:-1], "8 of the 9 cells"),
        ([*lines[:3], "a,b", *lines[4:]], "line 4: 2 fields"),
        ([lines[0].replace("published", "number"), *lines[1:]], "no column 'published'"),
        ([lines[0].replace("sex", "area", 1), *lines[1:]], "two columns 'area'"),
        ([""], "empty"),
    ]:
        text_file(path, *changed)
        with pytest.raises(InputError, match=said):
            read_published(path)
    path.write_bytes(good.replace("North", "Nörth").encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        read_published(path)


def test_a_description_of_another_table_is_noticed(tmp_path: Path) -> None:
    path = publish(table("area@parish", "sex"), tmp_path / "t.csv")
    beside = tmp_path / "t.about.json"
    about = json.loads(beside.read_text(encoding="utf-8"))
    good = json.dumps(about)

    def refused(said: str, **changes: object) -> None:
        text_file(beside, json.dumps({**json.loads(good), **changes}))
        with pytest.raises(InputError, match=said):
            read_published(path)

    refused("code lists are not those", provenance={**about["provenance"], "spec_hash": "feed"})
    refused("provenance", provenance={"method": 3})
    refused("older version", specification=None)
    refused("damaged", specification={"version": 1})
    refused("newer version", specification={"version": 99})
    for notes in (3, None, ["Read this."], [{"en": 3}]):
        refused("notes", notes=notes)
    text_file(beside, "[1")
    with pytest.raises(InputError, match="no JSON object"):
        read_published(path)


def test_confidential_files_among_published_ones_are_an_alarm(tmp_path: Path) -> None:
    text_file(tmp_path / "audit.csv", "sex,count,cell_key", "1,3,77")
    with pytest.raises(InputError, match="confidential file of the office"):
        scan_published(tmp_path)


def test_damaged_parquet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match=r"t\.parquet is no Parquet file"):
        read_published(path)


# ---------------------------------------------------------------- tables of other tools


def test_a_table_of_another_tool_is_read_from_its_columns(tmp_path: Path) -> None:
    path = text_file(
        tmp_path / "other.csv",
        "area;sex;value",
        *("N;1;4", "N;2;0", "N;Total;4", "S;1;7", "S;Total;9"),
        *("Total;1;12", "Total;2;2", "Total;Total;13"),
    )
    found = read_published(path)
    assert found.provenance is None
    assert isinstance(found.table, Table)
    assert [axis.name for axis in found.table.spec.axes] == ["area", "sex"]
    assert found.table.value(area="S", sex="1") == 7
    assert found.table.value(sex="_T", area="_T") == 13
    assert found.table.value(area="S", sex="2") is None  # not listed: nothing is known of it


def test_parquet_of_another_tool_with_floats(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(pa.table({"sex": ["1", "2", "_T"], "n": [3.0, 4.0, 7.0]}), path)
    assert read_published(path).table.published.tolist() == [3, 4, 7]


def test_code_lists_of_files_read_together_are_one(tmp_path: Path) -> None:
    text_file(tmp_path / "a.csv", "area,published", "N,1", "S,2", "_T,3")
    (tmp_path / "more").mkdir()
    text_file(tmp_path / "more" / "b.csv", "area,sex,published", "S,1,2", "W,1,5")
    first, second = scan_published(tmp_path).tables
    assert (first.name, second.name) == ("a.csv", "more/b.csv")
    codes = [code.code for code in first.table.spec.axes[0].variable.codes]
    assert codes == ["N", "S", "W"]
    assert first.table.spec.axes[0].variable == second.table.spec.axes[0].variable
    assert first.table.value(area="W") is None


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("area,name", "N,x"), "no column of numbers"),
        (("area,value", "N,3", "N,4"), "line 3: this combination of area stands in the file twice"),
        (("area,value", "Total,3", "_T,4"), "several codes of a total"),
        (("area,value", ",3"), "line 2: the column 'area' has no code"),
        (("area,area_level,value", "N,parish,3"), "several levels of 'area'"),
        (("area,value",), "no column of numbers|no rows"),
        (("area,value", "N,-3"), "line 2: '-3' is negative"),
    ],
)
def test_files_that_are_no_tables_are_refused(
    tmp_path: Path, lines: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read_published(text_file(tmp_path / "t.csv", *lines))


def test_columns_that_are_no_codes_are_noticed(tmp_path: Path) -> None:
    lines = [f"{at},{at * 7},{at * 3},{at}" for at in range(300)]
    with pytest.raises(InputError, match="does not look like a table"):
        read_published(text_file(tmp_path / "t.csv", "id,x,y,value", *lines))


# ---------------------------------------------------------------- folders


def test_a_file_with_more_columns_than_any_table_is_refused(tmp_path: Path) -> None:
    names = [f"v{at}" for at in range(100)]
    path = text_file(tmp_path / "t.csv", ",".join([*names, "value"]), ",".join(["1"] * 101))
    with pytest.raises(InputError, match="100 columns beside its values"):
        read_published(path)


def test_a_table_in_two_formats_is_read_once(tmp_path: Path) -> None:
    one = table("area@parish", "sex")
    for ending in (".csv", ".parquet", ".xlsx"):
        publish(one, tmp_path / f"t{ending}")
    found = scan_published(tmp_path)
    assert [table.name for table in found.tables] == ["t.csv"]
    assert [one.name for one in found.skipped] == ["t.xlsx"]


def test_folders_without_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        scan_published(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no published table"):
        scan_published(tmp_path)
    publish(table("sex"), tmp_path / "t.xlsx")
    with pytest.raises(InputError, match="only workbooks"):
        scan_published(tmp_path)
    file = text_file(tmp_path / "x.txt", "hello")
    with pytest.raises(InputError, match="is a file"):
        scan_published(file)


def test_a_file_that_cannot_be_read_is_named_or_left_out(tmp_path: Path) -> None:
    publish(table("sex"), tmp_path / "good.csv")
    text_file(tmp_path / "bad.csv", "words,more", "a,b")
    with pytest.raises(InputError, match=r"bad\.csv"):
        scan_published(tmp_path)
    found = scan_published(tmp_path, skip_unreadable=True)
    assert [table.name for table in found.tables] == ["good.csv"]
    assert [one.name for one in found.skipped] == ["bad.csv"]


@pytest.mark.parametrize("what", ["deviation", "target"])
def test_the_noise_itself_among_published_files_is_an_alarm(tmp_path: Path, what: str) -> None:
    text_file(tmp_path / "noise.csv", f"count,{what},probability", "0,0,1.0")
    with pytest.raises(InputError, match="the noise itself"):
        scan_published(tmp_path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_tables_that_are_too_large_are_told_by_their_description(
    tmp_path: Path, ending: str
) -> None:
    publish(table("sex"), tmp_path / f"small{ending}")
    large = publish(table("area+parish", "sex"), tmp_path / f"large{ending}")
    cells = read_published(large).table.spec.cells
    assert len(scan_published(tmp_path, most_cells=cells).tables) == 2
    if ending == ".csv":  # its values are not looked at
        large.write_bytes(b"nobody reads this")
    found = scan_published(tmp_path, most_cells=cells - 1)
    assert [table.name for table in found.tables] == [f"small{ending}"]
    assert f"has {cells:,} cells" in found.skipped[0].reason


def test_codes_that_look_like_formulas_come_back(tmp_path: Path) -> None:
    codes = tuple(Code(one) for one in ("=1+1", "@a", "-x", "-5", "'t Zand", "'=b", "+2"))
    schema = Schema(
        census=CensusInfo(name="Strange"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(Variable(name="kind", entity=Entity.PERSON, codes=codes),),
    )
    one = Table(TableSpec.build(schema, ("kind-total",)), np.arange(7))
    path = publish(one, tmp_path / "t.csv")
    assert "\n'=1+1," in path.read_text(encoding="utf-8")
    read = read_published(path).table
    assert [code.code for code in read.spec.axes[0].codes] == [code.code for code in codes]
    assert read.published.tolist() == list(range(7))
