"""Delivered tables as GeoParquet 1.1: a row for each area, with its shape and what it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.formats.read.raw import METADATA
from sdcensus.formats.shared.places import MULTI_POLYGON, PlacedTable, placed, unknown_system
from sdcensus.formats.write import new_file
from sdcensus.formats.write.about import about_document, delivered_about
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.text import Text

#: The column of shapes, and the version of the form that its description follows.
SHAPES, VERSION = "geometry", "1.1.0"


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write ``NAME.geo.parquet``: codes, labels, a column for each other category, shapes."""
    rows = placed(table, "geoparquet", languages=languages, labels=labels)
    fields, arrays = [], []
    for column in rows.columns:
        array = pa.array(column.values, mask=column.missing)
        arrays.append(array)
        fields.append(pa.field(column.name, array.type, metadata={"label": column.label}))
    arrays.append(pa.array(rows.shapes, pa.binary()))
    fields.append(pa.field(SHAPES, pa.binary()))
    # The specification would bring all code lists along, a hundred thousand squares of a grid.
    about = about_document(delivered_about(replace(table, spec=None)))
    known = {METADATA: about, b"geo": _described(table.name, rows)}
    target = folder / f"{table.name}.geo.parquet"
    with new_file(target) as file:
        pq.write_table(pa.Table.from_arrays(arrays, schema=pa.schema(fields, known)), file)
    return (target,)


def _described(table: str, rows: PlacedTable) -> bytes:
    """The metadata of the column of shapes."""
    column: dict[str, Any] = {
        "encoding": "WKB",
        "geometry_types": [MULTI_POLYGON],
        "orientation": "counterclockwise",
        "bbox": list(rows.bounds),
        # Nothing means longitude and latitude, so that what is not known has to be said.
        "crs": None if rows.epsg is None else _system(table, rows.epsg),
    }
    document = {"version": VERSION, "primary_column": SHAPES, "columns": {SHAPES: column}}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _system(table: str, epsg: int) -> dict[str, Any]:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    try:
        system: dict[str, Any] = CRS.from_epsg(epsg).to_json_dict()
    except CRSError:
        raise unknown_system(table, epsg) from None
    return system


GEOPARQUET = TableFormat(
    name="geoparquet",
    label="GeoParquet",
    about=Text.named("files.about.geoparquet"),
    endings=(".geo.parquet",),
    media_type="application/vnd.apache.parquet+geo",
    label_columns=True,
    needs="pyproj",
    extra="geography",
    areas=True,
    seconds_per_cell=2e-6,
    write=write,
)
