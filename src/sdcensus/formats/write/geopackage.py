"""Delivered tables as GeoPackage: one layer, a row for each area with its shape.

Written by GDAL through pyogrio. A GeoPackage has a date in it: ours has always the same one, or
the day of the publication, so that the same table gives the same bytes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sdcensus.errors import OutputError
from sdcensus.formats.shared.places import MULTI_POLYGON, placed, unknown_system
from sdcensus.formats.write import new_file
from sdcensus.formats.write.identifiers import chosen_languages
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.text import Text

#: What the column of shapes is called.
SHAPES = "geom"
#: The setting by which GDAL is told the time, and the time where a table has no day.
_CLOCK, _NO_DAY = "OGR_CURRENT_DATE", "1970-01-01"

_LOCK = threading.Lock()

#: A plane of which nothing is known; the standard has a number for it.
_UNKNOWN = (
    'ENGCRS["Undefined Cartesian SRS",EDATUM["Unknown engineering datum"],CS[Cartesian,2],'
    'AXIS["easting",east,ORDER[1],LENGTHUNIT["metre",1]],'
    'AXIS["northing",north,ORDER[2],LENGTHUNIT["metre",1]]]'
)


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write ``NAME.gpkg``: codes, labels, a column for each other category, signs, shapes."""
    from pyogrio.errors import CRSError, DataSourceError
    from pyogrio.raw import write as write_layer

    rows = placed(table, "gpkg", languages=languages, labels=labels)
    (language, *_) = chosen_languages(table, languages)
    target = folder / f"{table.name}.gpkg"
    shapes = np.empty(len(rows.shapes), dtype=object)
    shapes[:] = rows.shapes
    with TemporaryDirectory(prefix="sdcensus-") as place, _clock(table.dated or _NO_DAY):
        layer_file = Path(place) / "table.gpkg"
        try:
            write_layer(
                str(layer_file),
                geometry=shapes,
                field_data=[column.values for column in rows.columns],
                fields=np.array([column.name for column in rows.columns], dtype=object),
                field_mask=[column.missing for column in rows.columns],
                layer=table.name,
                driver="GPKG",
                geometry_type=MULTI_POLYGON,
                crs=_UNKNOWN if rows.epsg is None else f"EPSG:{rows.epsg}",
                layer_options={
                    "GEOMETRY_NAME": SHAPES,
                    "IDENTIFIER": table.title.show(language) or table.name,
                    "DESCRIPTION": _described(table, language),
                },
            )
        except CRSError:
            raise unknown_system(table.name, rows.epsg) from None
        except DataSourceError as error:
            raise OutputError(f"{target} cannot be written: {error}") from None
        with new_file(target) as file:
            file.write(layer_file.read_bytes())
    return (target,)


def _described(table: DeliveredTable, language: str) -> str:
    """Notes, and whose numbers these are and of when: a layer has one text for all of it."""
    lines = [note.show(language) for note in table.notes]
    if table.source:
        lines.append(table.source.show(language))
    if table.census is not None:
        lines += [f"{name}: {value}" for name, value in table.census.lines(language)]
    used = table.used_marks()
    lines += [f"{table.sign(mark)} = {mark.meaning.show(language)}" for mark in used]
    return "\n".join(lines)


@contextmanager
def _clock(day: str) -> Iterator[None]:
    """Make GDAL believe that it is a certain day."""
    from pyogrio import get_gdal_config_option, set_gdal_config_options

    # The setting is one for the whole process, and a server writes in several threads.
    with _LOCK:
        before: Any = get_gdal_config_option(_CLOCK)
        set_gdal_config_options({_CLOCK: f"{day}T00:00:00.000Z"})
        try:
            yield
        finally:
            set_gdal_config_options({_CLOCK: before})


GEOPACKAGE = TableFormat(
    name="gpkg",
    label="GeoPackage",
    about=Text.named("files.about.gpkg"),
    endings=(".gpkg",),
    media_type="application/geopackage+sqlite3",
    aliases=("geopackage",),
    label_columns=True,
    needs="pyogrio",
    extra="geography",
    areas=True,
    seconds_per_cell=5e-6,
    write=write,
)
