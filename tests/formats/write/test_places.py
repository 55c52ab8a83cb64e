"""Tables for maps, read back without the libraries that wrote them: by sqlite3 and by pyarrow."""

from __future__ import annotations

import json
import sqlite3
import struct
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.formats.write import json_stat, write_delivered
from sdcensus.formats.write.geopackage import GEOPACKAGE
from sdcensus.model.published.area_outlines import DEGREES, AreaOutlines
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.session.publish.refusals import check_areas
from sdcensus.testing.grid_island import SIDE, SOUTH, WEST, grid_schema

NORTH_EAST = f"CRS3035RES{SIDE}mN{SOUTH}E{WEST + SIDE}"
SQUARES = (f"CRS3035RES{SIDE}mN{SOUTH}E{WEST}", NORTH_EAST, "unallocated", "_T")
#: A lake inside an island, drawn with the clock, as screens want it.
LAKE = [
    [[[0, 0], [0, 4], [4, 4], [4, 0], [0, 0]], [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]]],
    [[[5, 5], [5, 6], [6, 6], [5, 5]]],
]


def axis(column: str, codes: tuple[str, ...], *, level: str = "cell", **more: Any) -> DeliveredAxis:
    levels = tuple(TOTAL if code == "_T" else level for code in codes)
    return DeliveredAxis(
        column=column,
        label=Text.of(column.title()),
        positions=np.arange(len(codes)),
        codes=codes,
        labels=tuple(Text.of({"en": f"name of {code}", "es": f"nombre {code}"}) for code in codes),
        levels=levels,
        parents=(NO_PARENT,) * len(codes),
        total=codes.index("_T") if "_T" in codes else None,
        **more,
    )


def table(*axes: DeliveredAxis, name: str = "people", **more: Any) -> DeliveredTable:
    shape = tuple(len(one) for one in axes)
    values = np.arange(10, 10 + int(np.prod(shape))).reshape(shape).astype(np.int64)
    more.setdefault("values", values)
    return DeliveredTable(name=name, title=Text.of("People"), axes=axes, **more)


def by_sex(**more: Any) -> DeliveredTable:
    return table(axis("square", SQUARES, geography=True), axis("sex", ("1", "2", "_T")), **more)


def written(made: DeliveredTable, folder: Path, format: str, **more: Any) -> Path:
    (path,) = write_delivered(made, folder, formats=(format,), **more)
    return path


def rows_of(path: Path, layer: str = "people") -> list[dict[str, Any]]:
    """The rows of a layer; shapes as well-known binary, without the header of a GeoPackage."""
    if path.suffix == ".parquet":
        read: list[dict[str, Any]] = (
            pq.read_table(path).rename_columns({"geometry": "geom"}).to_pylist()
        )
        return read
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        rows = [dict(row) for row in database.execute(f'SELECT * FROM "{layer}" ORDER BY fid')]
    for row in rows:
        blob = row["geom"]
        # "GP", version, flags; bits 1 to 3 of the flags tell how long the envelope is.
        row["geom"] = blob and blob[8 + (0, 32, 48, 48, 64)[(blob[3] >> 1) & 7] :]
        row.pop("fid")
    return rows


def rings_of(shape: bytes) -> list[list[list[tuple[float, float]]]]:
    """The rings of a multipolygon."""
    at, polygons = 9, []
    order, kind, count = struct.unpack_from("<BII", shape)
    assert (order, kind) == (1, 6)
    for _ in range(count):
        order, kind, rings = struct.unpack_from("<BII", shape, at)
        assert (order, kind) == (1, 3)
        at += 9
        polygon = []
        for _ in range(rings):
            (points,) = struct.unpack_from("<I", shape, at)
            line = struct.unpack_from(f"<{2 * points}d", shape, at + 4)
            at += 4 + 16 * points
            polygon.append(list(zip(line[::2], line[1::2], strict=True)))
        polygons.append(polygon)
    assert at == len(shape)
    return polygons


def doubled_area(ring: list[tuple[float, float]]) -> float:
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise(ring))


FORMATS = pytest.mark.parametrize("format", ["gpkg", "geoparquet"])


@FORMATS
def test_a_row_for_each_square_and_a_column_for_each_category(format: str, tmp_path: Path) -> None:
    rows = rows_of(written(by_sex(), tmp_path, format))
    assert [row["square"] for row in rows] == list(SQUARES)
    assert [row["square_level"] for row in rows] == ["cell", "cell", "cell", TOTAL]
    names = ["square", "square_level", "square_label", "sex_1", "sex_2", "sex_total"]
    assert sorted(rows[0]) == sorted([*names, "geom"])
    assert [[row[name] for name in names[3:]] for row in rows] == [
        [10, 11, 12], [13, 14, 15], [16, 17, 18], [19, 20, 21],
    ]  # fmt: skip
    assert [row["geom"] is None for row in rows] == [False, False, True, True]
    west, south = WEST + SIDE, SOUTH
    ((ring,),) = rings_of(rows[1]["geom"])
    assert ring[0] == ring[-1]
    corners = {(west + x, south + y) for x in (0, SIDE) for y in (0, SIDE)}
    assert set(ring) == corners
    assert doubled_area(ring) == 2 * SIDE * SIDE


@FORMATS
def test_signs_stand_beside_numbers_and_withheld_ones_are_missing(
    format: str, tmp_path: Path
) -> None:
    made = by_sex()
    marks = np.zeros(made.shape, dtype=np.uint8)
    marks[0, 1] = Mark.WITHHELD
    values = np.where(marks > 0, 0, made.values)
    made = replace(made, marks=marks, values=values, signs=((Mark.WITHHELD, "x"),))
    rows = rows_of(written(made, tmp_path, format))
    assert [row["sex_2"] for row in rows] == [None, 14, 17, 20]
    assert [row["sex_2_flag"] for row in rows] == ["x", "", "", ""]
    assert "sex_1_flag" not in rows[0]


@FORMATS
def test_decimals_labels_and_languages(format: str, tmp_path: Path) -> None:
    made = table(axis("square", SQUARES, geography=True), decimals=1)
    rows = rows_of(written(made, tmp_path, format, languages=("en", "es")))
    assert [row["value"] for row in rows] == [1.0, 1.1, 1.2, 1.3]
    assert rows[0]["square_label_es"] == f"nombre {SQUARES[0]}"
    (tmp_path / "codes").mkdir()
    rows = rows_of(written(made, tmp_path / "codes", format, labels=False))
    assert sorted(rows[0]) == ["geom", "square", "square_level", "value"]


@FORMATS
def test_a_system_that_nobody_knows_is_refused(format: str, tmp_path: Path) -> None:
    squares = ("CRS999999RES100mN0E0", "CRS999999RES100mN0E100")
    with pytest.raises(SpecError, match="people: EPSG 999999 is no coordinate reference system"):
        written(table(axis("square", squares, geography=True)), tmp_path, format)
    assert not list(tmp_path.iterdir())


@FORMATS
def test_areas_have_the_outlines_of_their_map(format: str, tmp_path: Path) -> None:
    made = table(axis("town", ("A", "B", "_T"), level="town", geography=True))
    asked: list[tuple[str, str]] = []

    def outlines(variable: str, level: str) -> AreaOutlines:
        asked.append((variable, level))
        return AreaOutlines({"A": LAKE}, DEGREES)

    path = written(made, tmp_path, format, outlines=outlines)
    assert asked == [("town", "town")]
    rows = rows_of(path)
    assert [row["geom"] is None for row in rows] == [False, True, True]
    (island, lake), (rock,) = rings_of(rows[0]["geom"])
    # Outer rings run against the clock, holes with it, whichever way the map draws them.
    assert [doubled_area(ring) for ring in (island, lake, rock)] == [32, -2, 1]
    if format == "geoparquet":
        geo = json.loads(pq.read_schema(path).metadata[b"geo"])
        assert geo["columns"]["geometry"]["crs"]["id"] == {"authority": "EPSG", "code": 4326}


def test_a_geopackage_says_what_it_is(tmp_path: Path) -> None:
    made = by_sex(notes=(Text.of("Small changes."),), date="2026-03-01")
    with closing(sqlite3.connect(written(made, tmp_path, "gpkg"))) as database:
        assert database.execute("PRAGMA application_id").fetchone() == (0x47504B47,)
        contents = database.execute(
            "SELECT table_name, data_type, identifier, description, last_change, srs_id,"
            " min_x, min_y, max_x, max_y FROM gpkg_contents"
        ).fetchall()
        assert contents == [
            ("people", "features", "People", "Small changes.", "2026-03-01T00:00:00.000Z", 3035,
             WEST, SOUTH, WEST + 2 * SIDE, SOUTH + SIDE)
        ]  # fmt: skip
        geometry = "SELECT column_name, geometry_type_name, srs_id FROM gpkg_geometry_columns"
        assert database.execute(geometry).fetchall() == [("geom", "MULTIPOLYGON", 3035)]
        systems = "SELECT organization FROM gpkg_spatial_ref_sys WHERE srs_id = 3035"
        assert database.execute(systems).fetchone() == ("EPSG",)


def test_a_geoparquet_says_what_it_is(tmp_path: Path) -> None:
    schema = pq.read_schema(written(by_sex(), tmp_path, "geoparquet"))
    geo = json.loads(schema.metadata[b"geo"])
    assert (geo["version"], geo["primary_column"]) == ("1.1.0", "geometry")
    column = geo["columns"]["geometry"]
    assert (column["encoding"], column["geometry_types"]) == ("WKB", ["MultiPolygon"])
    assert column["bbox"] == [WEST, SOUTH, WEST + 2 * SIDE, SOUTH + SIDE]
    assert column["crs"]["id"] == {"authority": "EPSG", "code": 3035}
    assert column["orientation"] == "counterclockwise"
    assert schema.field("sex_1").metadata[b"label"] == b"Sex: name of 1"


@FORMATS
def test_the_same_table_gives_the_same_bytes(format: str, tmp_path: Path) -> None:
    contents = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        contents.append(written(by_sex(), folder, format).read_bytes())
    assert contents[0] == contents[1]


@FORMATS
def test_a_map_that_does_not_say_where_it_is_from_stays_unknown(
    format: str, tmp_path: Path
) -> None:
    made = table(axis("town", ("A",), level="town", geography=True))
    path = written(made, tmp_path, format, outlines=lambda *_: AreaOutlines({"A": LAKE}, None))
    if format == "geoparquet":
        geo = json.loads(pq.read_schema(path).metadata[b"geo"])
        assert geo["columns"]["geometry"]["crs"] is None
    else:
        with closing(sqlite3.connect(path)) as database:
            (system,) = database.execute("SELECT srs_id FROM gpkg_contents").fetchone()
        assert system == -1  # an undefined plane, by the standard


def test_squares_of_a_country_and_of_several_sizes(tmp_path: Path) -> None:
    codes = (f"NL_{SQUARES[0]}", f"CRS3035RES10000mN{SOUTH}E{WEST // 10_000 * 10_000}")
    rows = rows_of(written(table(axis("square", codes, geography=True)), tmp_path, "geoparquet"))
    sides = [max(x for x, _ in ring) - min(x for x, _ in ring) for row in rows
             for ((ring,),) in [rings_of(row["geom"])]]  # fmt: skip
    assert sides == [1_000, 10_000]


# ------------------------------------------------------------------------------------ bad input


@FORMATS
def test_what_cannot_be_drawn_is_refused(format: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"has no areas.*another format, such as csv"):
        written(table(axis("sex", ("1", "2"))), tmp_path, format)
    with pytest.raises(SpecError, match=r"none are known of town.*map = "):
        written(table(axis("town", ("A",), geography=True)), tmp_path, format)
    systems = (SQUARES[0], SQUARES[1].replace("3035", "3857"))
    with pytest.raises(SpecError, match=r"several coordinate reference systems.*3035, EPSG 3857"):
        written(table(axis("square", systems, geography=True)), tmp_path, format)
    wide = axis("age", tuple(map(str, range(1_001))))
    with pytest.raises(SpecError, match=r"1,001; at most 1,000.*csv or parquet"):
        written(table(axis("square", SQUARES, geography=True), wide), tmp_path, format)
    assert [*tmp_path.iterdir()] == []


def test_columns_that_a_layer_has_of_its_own_get_other_names(tmp_path: Path) -> None:
    made = table(axis("fid", SQUARES, geography=True), axis("geom", ("1", "1 ")))
    rows = rows_of(written(made, tmp_path, "gpkg"))
    assert [row["fid_2"] for row in rows] == list(SQUARES)
    assert {"geom_1", "geom_1_2"} <= set(rows[0])


def test_columns_differ_for_databases_that_know_no_capitals(tmp_path: Path) -> None:
    made = table(axis("square", SQUARES, geography=True), axis("job", ("a", "A", "男", "女")))
    path = written(replace(made, name="jobs"), tmp_path, "gpkg")
    names = {"square", "square_level", "square_label", "job_a", "job_A_2", "job", "job_2", "geom"}
    assert set(rows_of(path, "jobs")[0]) == names


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdcensus.model.published.table_format.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"sdcensus\[geography\]"):
        GEOPACKAGE.check()


def test_a_compact_dataset_leaves_out_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    places = axis("square", SQUARES, geography=True)
    named = tuple(
        Text.of(code if code.startswith("CRS") else f"name of {code}") for code in SQUARES
    )
    total = len(SQUARES) - 1
    parents = (total,) * total + (NO_PARENT,)
    made = table(replace(places, labels=named, parents=parents), axis("sex", ("1", "2")))
    whole = json_stat.json_stat(made)
    assert json_stat.json_stat(made, compact=True) == whole  # few categories stay as they are
    monkeypatch.setattr(json_stat, "MANY_CATEGORIES", 3)
    short = json_stat.json_stat(made, compact=True)
    square = short["dimension"]["square"]["category"]
    assert square["label"] == {code: f"name of {code}" for code in ("unallocated", "_T")}
    assert "child" not in square
    assert square["index"] == list(SQUARES)
    assert short["dimension"]["square"]["extension"]["total"] == "_T"
    assert short["dimension"]["sex"] == whole["dimension"]["sex"]
    assert short["value"] == whole["value"]


def test_plans_say_early_which_tables_cannot_be_drawn() -> None:
    schema = grid_schema(2, 2)

    class Made:
        def __init__(self, name: str, *by: str) -> None:
            self.name, self.specs = name, [TableSpec.build(schema, by)]

    products: Any = [Made("grid", "square", "sex"), Made("towns", "municipality")]
    no_map: set[str] = set()
    check_areas(products, ["csv", "gpkg"], lambda _: {"municipality"})
    more: Any = [*products, Made("sexes", "sex")]
    check_areas(more, ["csv"], lambda _: no_map)
    with pytest.raises(SpecError, match=r"'gpkg' is for maps.*are known: towns, sexes\."):
        check_areas(more, ["gpkg"], lambda _: no_map)
