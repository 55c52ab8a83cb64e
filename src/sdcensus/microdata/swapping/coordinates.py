"""Where units are on a map: by the cell of a grid in which they lie, or the middle of their area.

Coordinates are whole metres. Both sources are no finer than what tables show.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.swapping.pairing import Places
from sdcensus.microdata.swapping.units import UnitTable, common_codes, kinds_within
from sdcensus.model.schema.area_shapes import Shapes, read_shapes
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.variable import Variable

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: The length of a degree of latitude, in metres.
_DEGREE = 111_320.0
_RADIAN = 0.017453292519943295


def unit_places(units: UnitTable) -> Places | None:
    """Where units are; ``None`` if the store has neither a grid of them nor a map of all areas."""
    grid = _grid(units)
    if grid is not None:
        return grid
    return _middles(units)


def needed_places(units: UnitTable) -> Places:
    """Where units are.

    Raises:
        SpecError: Nothing in the store says it.
    """
    places = unit_places(units)
    if places is None:
        geography = units.store.schema.geography
        name = "the geography" if geography is None else repr(geography.name)
        raise SpecError(
            "A largest distance needs to know where units are, and the store does not say it for"
            f" all of them. Add a map of {name} (map = FILE.geojson) or a grid made of coordinates"
            " ([variable.NAME.grid]) to the schema and load again, or limit by regions instead:"
            " --within."
        )
    return places


def _grid(units: UnitTable) -> Places | None:
    schema = units.store.schema
    inside = kinds_within(schema, units.entity)
    for grid in schema.grids:
        variable = schema.variable(grid.variable)
        if variable.entity in schema.lineage(units.entity):
            cells = units.codes(variable).astype(np.int64)
            known = np.ones(len(units), dtype=bool)
        elif variable.entity in inside:
            column = units.store.column(variable.entity, variable)
            own = column[slice(0, units.store.rows(variable.entity))]
            common, known, mixed = common_codes(units, variable.entity, own)
            known &= ~mixed
            cells = common.astype(np.int64)
        else:
            continue
        missing = np.array([code.is_missing for code in variable.codes], dtype=bool)
        if (known & ~missing[cells])[units.movable].all():
            return _cell_middles(grid, variable, cells)
    return None


def _cell_middles(grid: GridSpec, variable: Variable, cells: Int64) -> Places:
    squares = grid.squares_of(variable.codes)
    # Units that do not move may be in no square; where they are is not asked.
    east, north = grid.corners(np.append(squares, 0)[np.minimum(cells, squares.size)])
    half = grid.cell // 2
    return Places(east + half, north + half)


def _middles(units: UnitTable) -> Places | None:
    geography = units.store.schema.geography
    content = None if geography is None else units.store.map(geography.name)
    if geography is None or content is None:
        return None
    shapes = read_shapes(content, geography, f"the map of {geography.name!r}").get(
        geography.leaf_level
    )
    if shapes is None:
        return None
    x, y, known = area_middles(shapes, geography)
    if not known[units.leaf[units.movable]].all():
        return None
    return Places(x[units.leaf], y[units.leaf])


def area_middles(shapes: Shapes, geography: Variable) -> tuple[Int64, Int64, npt.NDArray[np.bool_]]:
    """The centre of gravity of each leaf of a geography, in metres; and which of them are drawn."""
    position = {code.code: at for at, code in enumerate(geography.codes)}
    size = len(geography.codes)
    x, y = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    known = np.zeros(size, dtype=bool)
    twice = np.zeros(len(shapes.codes))
    moments = np.zeros((len(shapes.codes), 2))
    for ring in range(shapes.rings):
        points = shapes.points[shapes.starts[ring] : shapes.starts[ring + 1]].astype(np.float64)
        following = np.roll(points, -1, axis=0)
        cross = points[:, 0] * following[:, 1] - following[:, 0] * points[:, 1]
        area = int(shapes.area_of[ring])
        twice[area] += cross.sum()
        moments[area] += ((points + following) * cross[:, None]).sum(axis=0)
    scale = _metres(shapes)
    for at, code in enumerate(shapes.codes):
        if twice[at]:
            middle = moments[at] / (3.0 * twice[at]) * scale
            leaf = position[code]
            x[leaf], y[leaf] = (int(np.floor(value + 0.5)) for value in middle)
            known[leaf] = True
    return x, y, known


def _metres(shapes: Shapes) -> npt.NDArray[np.float64]:
    """How long a unit of the map is in both directions; of degrees, in the middle of the map."""
    if not shapes.degrees:
        return np.array([shapes.unit, shapes.unit])
    latitude = float(shapes.points[:, 1].min() + shapes.points[:, 1].max()) / 2 * shapes.unit
    angle = latitude * _RADIAN
    # The series of the cosine, summed in a fixed order: the same on every platform.
    cosine, term = 1.0, 1.0
    for step in range(1, 13):
        term *= -angle * angle / ((2 * step - 1) * (2 * step))
        cosine += term
    return np.array([_DEGREE * shapes.unit * cosine, _DEGREE * shapes.unit])
