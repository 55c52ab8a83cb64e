"""Published tables are taken by the libraries that speak Arrow, and shown in notebooks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import sdcensus as sc
from sdcensus.client.answers import answer_of
from sdcensus.errors import InputError
from sdcensus.model.frames import Framed
from sdcensus.model.published.delivery import DeliveredTable, deliver
from sdcensus.model.published.grouped_table import GroupedAxis, GroupedTable
from sdcensus.model.published.small_groups import SmallGroups
from sdcensus.model.published.table import Mark, SparseTable, Table
from sdcensus.model.schema.variable import Code, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.testing.island import island_schema
from tests.client.recorded import dataset

SPEC = TableSpec.build(island_schema(), ["area@parish+district", "sex"], name="people")
NOTE = "Numbers & <b>notes</b>."


def table(spec: TableSpec = SPEC) -> Table:
    published = np.arange(spec.cells, dtype=np.int64).reshape(spec.shape) + 1_000
    flags = np.zeros(spec.shape, dtype=np.uint8)
    flags[0, 0] = Mark.WITHHELD
    published[0, 0] = 0
    return Table(spec, published, flags, (Text.of(NOTE),))


def of_amounts() -> TableSpec:
    income = Variable(name="income", entity=SPEC.of, continuous=True, decimals=2)
    return replace(SPEC, measure=Measure.SUM, amount=income)


def sparse(small: SmallGroups | None = None) -> SparseTable:
    return SparseTable(SPEC, np.array([1, 5], dtype=np.uint64), np.array([7, 20]), (), small)


def grouped() -> GroupedTable:
    axis = GroupedAxis("sex", ("own_1", "_T"), ("Own", "All"), grouped=True)
    spec = TableSpec.build(island_schema(), ["sex"])
    flags = np.array([0, Mark.WITHHELD], dtype=np.uint8)
    return GroupedTable(spec, (axis,), np.array([12, 0]), np.array([2, 1]), flags)


def delivered() -> DeliveredTable:
    return deliver(table(of_amounts()), name="people", signs=((Mark.WITHHELD, "x"),))


FRAMED: dict[str, Framed] = {
    "table": table(),
    "sums": table(of_amounts()),
    "sparse": sparse(),
    "small groups": sparse(SmallGroups(10, ((), ()), np.zeros((0, 2), dtype=np.int64))),
    "grouped": grouped(),
    "delivered": delivered(),
    "answer": answer_of(dataset(), base="https://census.example"),
}


def rows(columns: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    return list(zip(*columns.values(), strict=True))


@pytest.mark.parametrize("framed", FRAMED.values(), ids=FRAMED)
def test_every_library_reads_the_same_cells(framed: Framed) -> None:
    names, expected = list(framed.columns()), rows(framed.columns())
    arrow = pa.table(framed)
    assert arrow.equals(framed.to_arrow())
    assert (arrow.column_names, rows(arrow.to_pydict())) == (names, expected)
    assert pa.schema(framed).equals(arrow.schema)
    frame = polars.DataFrame(framed)
    assert (frame.columns, frame.rows()) == (names, expected)
    assert polars.DataFrame(framed.to_arrow()).equals(frame)
    connection = duckdb.connect()
    try:
        assert connection.sql("select * from framed").fetchall() == expected
        assert connection.from_arrow(framed).fetchall() == expected
    finally:
        connection.close()
    for pandas_frame in (framed.to_pandas(), pandas.DataFrame.from_arrow(framed)):
        assert list(pandas_frame.columns) == names
        assert pandas_frame["published"].isna().tolist() == [
            value is None for value in framed.columns()["published"]
        ]
        assert pandas_frame["published"].dropna().tolist() == [
            value for value in framed.columns()["published"] if value is not None
        ]


def test_what_is_withheld_has_no_number_but_a_sign() -> None:
    frame = polars.DataFrame(table())
    first = frame.row(0, named=True)
    assert (first["area"], first["sex"], first["published"], first["flag"]) == (
        "P0",
        "0",
        None,
        "c",
    )
    assert frame["published"].to_list()[1:] == list(range(1_001, 1_000 + SPEC.cells))
    assert set(frame["flag"].to_list()[1:]) == {""}


def test_sums_have_their_decimals_everywhere() -> None:
    made = table(of_amounts())
    for values in (
        pa.table(made)["published"].to_pylist(),
        made.columns()["published"],
        delivered().to_arrow()["published"].to_pylist(),
        made.to_pandas()["published"].replace({np.nan: None}).tolist(),
    ):
        assert values[:3] == [None, 10.01, 10.02]
    assert made.value(area="P0", sex="1") == 1_001  # whole numbers, as ever


def test_a_sparse_table_says_what_the_cells_are_that_it_does_not_list() -> None:
    absent = "Cells that are not listed are published as 0."
    assert pa.table(sparse()).schema.metadata[b"absent"].decode() == absent
    assert sparse().to_pandas().attrs["absent"] == absent
    assert absent in sparse()._repr_html_()
    spanish = sparse().to_arrow(language="es").schema.metadata[b"absent"].decode()
    assert spanish == sparse().absent.show("es") != absent


def test_frames_say_what_their_cells_are() -> None:
    attrs = table().to_pandas().attrs
    assert attrs == {
        "title": "people",
        "unit": "Persons",
        "signs": "c confidential: withheld",
        "notes": NOTE,
    }
    metadata = pa.table(table()).schema.metadata
    assert {key.decode(): text.decode() for key, text in metadata.items()} == attrs
    assert delivered().to_pandas().attrs["signs"] == "x confidential: withheld"
    french = table().to_pandas(language="fr")
    assert french.attrs["unit"] == "Personnes"


def test_notebooks_show_the_first_cells_with_every_text_escaped() -> None:
    sex = SPEC.axes[1].variable
    codes = tuple(Code(code.code, Text.of("<script>&")) for code in sex.codes)
    axes = (SPEC.axes[0], replace(SPEC.axes[1], variable=replace(sex, codes=codes)))
    hostile = replace(SPEC, axes=axes, name="<img src=x>")
    page = table(hostile)._repr_html_()
    assert "<script>" not in page
    assert "<img" not in page
    assert "&lt;img src=x&gt;" in page
    assert "Numbers &amp; &lt;b&gt;notes&lt;/b&gt;." in page
    assert page.count("<tr>") == 1 + 20 + 1
    assert f"… (20 / {SPEC.cells})" in page
    assert ">1,001<" in page
    assert "…" not in sparse()._repr_html_()


def test_a_large_table_is_shown_by_its_first_cells_alone() -> None:
    many = Variable(
        name="many", entity=SPEC.of, codes=tuple(Code(str(at), Text()) for at in range(3_000))
    )
    other = replace(many, name="other")
    spec = TableSpec.build(
        replace(island_schema(), variables=(*island_schema().variables, many, other)),
        ["many-total", "other-total"],
    )
    page = Table(spec, np.zeros(spec.shape, dtype=np.int64))._repr_html_()
    assert "… (20 / 9,000,000)" in page


def test_a_cube_enters_no_frame() -> None:
    cube: Any = sc.from_frame(pa.table({"key": [1, 2], "sex": ["f", "m"]}), key="key").tabulate(
        "sex"
    )
    with pytest.raises(TypeError):
        pa.table(cube)
    with pytest.raises(TypeError):
        polars.DataFrame(cube)
    with pytest.raises(InputError, match="Arrow interface"):
        sc.from_frame(cube, key="key")
