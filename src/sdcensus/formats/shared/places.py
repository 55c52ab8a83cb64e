"""Tables for maps: one row for each area with its shape, one column for each other category."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.formats.write.about import COUNTS, SIGNS, values_name
from sdcensus.model.published.area_outlines import Polygons, square_of, square_ring
from sdcensus.model.published.delivery import DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.axis import TOTAL

#: More columns than this are no layer of a map any more; SQLite takes 2,000.
MOST_COLUMNS = 1_000
#: Columns that files for maps have of their own.
TAKEN = ("fid", "geom", "geometry")
#: The geometry of every area; squares have one part.
MULTI_POLYGON = "MultiPolygon"

_POLYGON_CODE, _MULTI_CODE = 3, 6
_NO_NAME = re.compile(r"[^0-9A-Za-z_]+")


@dataclass(frozen=True, slots=True, eq=False)
class PlaceColumn:
    """A column of a table for maps.

    Attributes:
        name: What it is called.
        label: What it shows, in words.
        values: Texts or numbers, one for each area.
        missing: Where there is none; ``None`` for nowhere.
    """

    name: str
    label: str
    values: npt.NDArray[Any]
    missing: npt.NDArray[np.bool_] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlacedTable:
    """A table for maps.

    Attributes:
        columns: Its columns, without that of shapes.
        shapes: The shape of each row as well-known binary; ``None`` for what lies nowhere, such as
            the total.
        epsg: The coordinate reference system; ``None`` where it is not known.
        bounds: West, south, east and north of all shapes.
    """

    columns: tuple[PlaceColumn, ...]
    shapes: tuple[bytes | None, ...]
    epsg: int | None
    bounds: tuple[float, float, float, float]


def placed(
    table: DeliveredTable, format: str, *, languages: Sequence[str], labels: bool
) -> PlacedTable:
    """A table with the shapes of its areas.

    Args:
        table: The table.
        format: The name of the format, for messages.
        languages: Of labels; several make a column for each.
        labels: Whether there are columns of labels.

    Raises:
        SpecError: It has no areas, no shapes of them, or too many other categories.
    """
    areas = [at for at, axis in enumerate(table.axes) if axis.geography or _is_grid(axis)]
    if not areas:
        raise SpecError(
            f"{table.name}: the format {format!r} is for maps, and the table has no areas. Put a"
            " geography or a grid on one of its axes, or take another format, such as csv."
        )
    shapes = [_shapes(table, at) for at in areas]
    chosen = next((pair for pair in zip(areas, shapes, strict=True) if any(pair[1][0])), None)
    if chosen is None:
        names = ", ".join(table.axes[at].column for at in areas)
        raise SpecError(
            f"{table.name}: the format {format!r} needs the shapes of areas, and none are known of"
            f' {names}. Declare a map of the geography in the schema (map = "areas.geojson") and'
            " load the census again, or take another format, such as csv."
        )
    at, (polygons, epsg) = chosen
    columns = (*_words(table.axes[at], languages, labels), *_numbers(table, at))
    column_names = _distinct([column.name for column in columns])
    renamed = tuple(
        PlaceColumn(name, column.label, column.values, column.missing)
        for name, column in zip(column_names, columns, strict=True)
    )
    shaped = tuple(None if shape is None else _binary(shape) for shape in polygons)
    return PlacedTable(renamed, shaped, epsg, _bounds(polygons))


def unknown_system(table: str, epsg: int | None) -> SpecError:
    """What is said where nobody knows the system of the coordinates, after a table's name."""
    return SpecError(
        f"{table}: EPSG {epsg} is no coordinate reference system that is known, so that programs"
        " for maps could not place the areas. Correct epsg of the grid in the schema, or the"
        " system that the map of the geography names, and load the census again."
    )


# -------------------------------------------------------------------------------------- shapes


def _is_grid(axis: DeliveredAxis) -> bool:
    return any(square_of(code) is not None for code in axis.codes[:3])


def _shapes(table: DeliveredTable, at: int) -> tuple[list[Polygons | None], int | None]:
    """The polygons of each code of an axis, and where their coordinates are from."""
    axis = table.axes[at]
    outlines = {} if table.outlines is None else table.outlines
    systems: set[int | None] = set()
    shapes: list[Polygons | None] = []
    for code, level in zip(axis.codes, axis.levels, strict=True):
        square = square_of(code)
        known = outlines.get((axis.column, level))
        polygons: Polygons | None = None
        if square is not None:
            polygons = [[square_ring(square)]]
            systems.add(square.epsg)
        elif known is not None and code in known.polygons:
            polygons = known.polygons[code]
            systems.add(known.epsg)
        shapes.append(polygons)
    if len(systems) > 1:
        systems_text = ", ".join(
            "unknown" if epsg is None else f"EPSG {epsg}"
            for epsg in sorted(systems, key=lambda epsg: epsg or 0)
        )
        raise SpecError(
            f"{table.name}: the areas of {axis.column} have shapes in several coordinate reference"
            f" systems ({systems_text}), and a layer has one. Ask for one level."
        )
    return shapes, next(iter(systems), None)


def _bounds(shapes: Sequence[Polygons | None]) -> tuple[float, float, float, float]:
    outer = [
        ring for polygons in shapes if polygons for polygon in polygons for ring in polygon[:1]
    ]
    points = np.concatenate([np.asarray(ring, dtype=np.float64) for ring in outer])
    (west, south), (east, north) = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    return west, south, east, north


def _binary(polygons: Polygons) -> bytes:
    """Polygons as a multipolygon in well-known binary, of little-endian numbers."""
    parts = [struct.pack("<BII", 1, _MULTI_CODE, len(polygons))]
    for polygon in polygons:
        parts.append(struct.pack("<BII", 1, _POLYGON_CODE, len(polygon)))
        for number, ring in enumerate(polygon):
            points = _turned(np.asarray(ring, dtype="<f8"), left=number == 0)
            parts += [struct.pack("<I", len(points)), points.tobytes()]
    return b"".join(parts)


def _turned(ring: npt.NDArray[np.float64], *, left: bool) -> npt.NDArray[np.float64]:
    """A ring that runs against the clock, or with it: outer rings and holes run opposite ways."""
    x, y = ring[:, 0] - ring[0, 0], ring[:, 1] - ring[0, 1]
    turns_left = float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) > 0
    return ring if turns_left == left else np.ascontiguousarray(ring[::-1])


# ------------------------------------------------------------------------------------- columns


def _words(axis: DeliveredAxis, languages: Sequence[str], labels: bool) -> list[PlaceColumn]:
    """Code, level and label of each area."""
    heading = axis.label.show() or axis.column
    columns = [PlaceColumn(axis.column, heading, _texts(axis.codes))]
    if len(set(axis.levels)) > 1:
        columns.append(PlaceColumn(f"{axis.column}_level", heading, _texts(axis.levels)))
    for language in (languages or (None,)) if labels else ():
        ending = f"_label_{language}" if len(languages) > 1 else "_label"
        words = [axis.label_of(at, language) for at in range(len(axis))]
        columns.append(PlaceColumn(f"{axis.column}{ending}", heading, _texts(words)))
    return columns


def _numbers(table: DeliveredTable, at: int) -> list[PlaceColumn]:
    """A column for each combination of the other categories, and its signs where it has some."""
    others = [axis for number, axis in enumerate(table.axes) if number != at]
    values = np.moveaxis(table.values, at, 0).reshape(len(table.axes[at]), -1)
    if values.shape[1] > MOST_COLUMNS:
        raise SpecError(
            f"{table.name}: a layer of a map has a column for each combination of the other"
            f" categories, and these are {values.shape[1]:,}; at most {MOST_COLUMNS:,} fit."
            " Take coarser levels or fewer axes, or csv or parquet, which programs join by code."
        )
    marks = None
    if table.marks is not None:
        marks = np.moveaxis(table.marks, at, 0).reshape(values.shape)
    signs = [table.sign(mark) for mark in Mark]
    numbered = np.array([mark.has_number for mark in Mark])
    columns = []
    for number, places in enumerate(itertools.product(*(range(len(axis)) for axis in others))):
        pairs = list(zip(others, places, strict=True))
        name = "_".join(_name(axis, place) for axis, place in pairs) or values_name(table.decimals)
        label = ", ".join(f"{axis.label.show() or axis.column}: {axis.label_of(place)}"
                          for axis, place in pairs) or (table.unit.show() or name)  # fmt: skip
        own = values[:, number]
        shown = own / 10.0**table.decimals if table.decimals else own
        if marks is None or not marks[:, number].any():
            columns.append(PlaceColumn(name, label, shown))
            continue
        own_marks = marks[:, number]
        columns.append(PlaceColumn(name, label, shown, ~numbered[own_marks]))
        flags = _texts([signs[mark] for mark in own_marks.tolist()])
        columns.append(PlaceColumn(f"{name}_{SIGNS}", label, flags))
    return columns


def _name(axis: DeliveredAxis, place: int) -> str:
    """What a category is called in the name of a column.

    Examples are ``sex_1``, ``age_0_4`` and ``age_total``.
    """
    code = "total" if axis.levels[place] == TOTAL else axis.codes[place]
    return _NO_NAME.sub("_", f"{axis.column}_{code}").strip("_")


def _distinct(names: Sequence[str]) -> list[str]:
    """Names of columns that differ for SQLite too, which does not tell capitals from small letters.

    A name without any letter of its own, as of a code in another script, is that of values.
    """
    used = {name.casefold() for name in TAKEN}
    results: list[str] = []
    for name in names:
        new, number = name or COUNTS, 1
        while new.casefold() in used:
            number += 1
            new = f"{name or COUNTS}_{number}"
        used.add(new.casefold())
        results.append(new)
    return results


def _texts(words: Sequence[str]) -> npt.NDArray[Any]:
    texts = np.empty(len(words), dtype=object)
    texts[:] = words
    return texts
