"""Points of a map: coordinates from columns of a file, and the cell of a grid that each lies in."""

from __future__ import annotations

import functools
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.model.schema.grids import COORDINATE, GridSpec

if TYPE_CHECKING:
    from pyproj import CRS, Transformer

Integers = npt.NDArray[Any]

_FARTHEST = 1e15
#: Where a point lies that has no coordinates, or lies outside, of a grid of inhabited squares.
UNKNOWN_SQUARE = -1
#: Transformed coordinates are rounded to so many parts of a metre: beyond the accuracy of any
#: survey, and far above what arithmetic leaves open.
_PARTS = 1000


def grid_positions(
    grid: GridSpec, x: Integers, y: Integers, unallocated: int
) -> tuple[Integers, Integers]:
    """The cell of each point, row by row from the south-west; and which lie outside.

    Points without coordinates, marked by NaN, are unallocated.
    """
    if grid.coordinates_epsg is not None:
        x, y = transformed(grid.coordinates_epsg, grid.epsg, x, y)
    absent = np.isnan(x) | np.isnan(y)
    # No integer is as large as some floats: far outside is outside.
    x, y = (np.clip(np.where(absent, 0.0, line), -_FARTHEST, _FARTHEST) for line in (x, y))
    # Division by remainder: a point just west of an edge stays west of it.
    column = np.floor_divide(x, grid.cell).astype(np.int64) - grid.first_column
    row = np.floor_divide(y, grid.cell).astype(np.int64) - grid.first_row
    outside = (column < 0) | (column >= grid.across) | (row < 0) | (row >= grid.up)
    outside &= ~absent
    cells = row * grid.across + column
    return np.where(absent | outside, unallocated, cells), outside


def coordinates(array: pa.Array, decimal_mark: str = ".") -> tuple[Integers, Integers]:
    """Numbers, NaN for an empty field; and which fields are not numbers."""
    if pa.types.is_string(array.type):
        text = pc.utf8_trim_whitespace(array)
        pattern = COORDINATE.replace("[.]", f"[{decimal_mark}]")
        plain = pc.match_substring_regex(text, f"^{pattern}$")
        text = pc.replace_substring(text, decimal_mark, ".")
        text = pc.utf8_ltrim(text, "+")  # what reads numbers takes no plus
        bad = pc.and_(pc.is_valid(text), pc.invert(pc.fill_null(plain, False)))
        array = pc.if_else(pc.fill_null(plain, False), text, None).cast(pa.float64())
        return (
            array.to_numpy(zero_copy_only=False),
            bad.to_numpy(zero_copy_only=False).astype(bool),
        )
    numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers, np.zeros(len(array), dtype=bool)


def transformed(source: int, target: int, x: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Coordinates of one reference system in another one, in whole millimetres.

    What cannot be transformed is as far away as can be: outside every extent.

    Args:
        source: The EPSG number of the system of the coordinates.
        target: That of the squares, in metres.
        x, y: Towards the east and towards the north (longitude and latitude); NaN for none.
    """
    system = transformer(source, target)
    absent = np.isnan(x) | np.isnan(y)
    east, north = system.transform(np.where(absent, 0.0, x), np.where(absent, 0.0, y))
    lost = ~(np.isfinite(east) & np.isfinite(north))
    lines = []
    for line in (east, north):
        far = np.clip(np.where(lost, _FARTHEST, line), -_FARTHEST, _FARTHEST)
        rounded = np.where(lost, far, np.rint(far * _PARTS) / _PARTS)
        lines.append(np.where(absent, np.nan, rounded))
    return lines[0], lines[1]


@functools.cache
def transformer(source: int, target: int) -> Transformer:
    """What turns coordinates of one reference system into those of another, x first.

    Raises:
        MissingExtra: The projection library is not installed.
        SpecError: A system is not known, or that of the squares is not in metres.
    """
    try:
        from pyproj import Transformer
    except ImportError:
        raise MissingExtra("geography", needed_for="Coordinates in another system") from None
    return Transformer.from_crs(_system(source), _in_metres(target), always_xy=True)


def check_system(grid: GridSpec) -> None:
    """Refuse squares in a system that is not known or not in metres.

    Without the projection library nobody can tell; documents refuse degrees in general use.

    Raises:
        SpecError: The system does not serve.
    """
    if find_spec("pyproj") is not None:
        _in_metres(grid.epsg)


def _in_metres(number: int) -> CRS:
    system = _system(number)
    if {axis.unit_name for axis in system.axis_info} != {"metre"}:
        raise _not_in_metres(number, system.name)
    return system


def _not_in_metres(number: int, name: str) -> SpecError:
    return SpecError(
        f"The squares of a grid are in metres, and EPSG {number} ({name}) is not. Give a projected"
        " system in metres as epsg, such as 3035 in Europe, and the system of the coordinates as"
        " epsg_of_coordinates."
    )


def _system(number: int) -> CRS:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    try:
        return CRS.from_epsg(number)
    except CRSError:
        raise SpecError(
            f"EPSG {number} is no coordinate reference system that is known. Check epsg and"
            " epsg_of_coordinates of the grid in the schema."
        ) from None
