"""Square cells over a map: their sizes, their European codes, and how they nest.

A grid has one variable. Its leaves are the finest squares, and each coarser size is a level of one
hierarchy. Squares start at multiples of their size, so a coarse square at the edge of an extent may
hold fewer finest squares than others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Code, CodeKind, Hierarchy, Level
from sdcensus.model.text import Text

Int64 = npt.NDArray[np.int64]
Extent = tuple[int, int, int, int]

#: The code of records outside the extent of a grid, or without coordinates.
UNALLOCATED = "unallocated"
UNALLOCATED_LABEL = Text.named("labels.unallocated")
#: A coordinate as text, with a point as its decimal mark.
COORDINATE = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?"
#: More cells than this do not fit a code list; even large countries have fewer at 1 km².
LARGEST_GRID = 2_000_000
#: Squares of an extent are numbered by 64-bit integers, also where few of them are inhabited.
_MOST_NUMBERED = 1 << 62

_SQUARE = re.compile(r"CRS(?P<epsg>\d+)RES(?P<size>\d+)mN(?P<north>-?\d+)E(?P<east>-?\d+)")


@dataclass(frozen=True, slots=True)
class GridSpec:
    """Square cells over a map: the variable that is made from two columns of coordinates.

    Attributes:
        variable: What the variable is called.
        x, y: The columns with the coordinates towards the east and towards the north.
        epsg: The coordinate reference system of the squares.
        cell: The side of the finest squares, in metres; they start at multiples of it.
        extent: ``(x_low, y_low, x_high, y_high)``; the upper ends are not included.
        coarser: The sides of larger squares, each a multiple of the one before.
        inhabited: Whether the code list is of the squares in which some unit lies, whose being
            inhabited is published by that; else of all squares of the extent.
        coordinates_epsg: The coordinate reference system of the columns, where it is another one
            than that of the squares.
    """

    variable: str
    x: str
    y: str
    epsg: int
    cell: int
    extent: Extent
    coarser: tuple[int, ...] = ()
    inhabited: bool = False
    coordinates_epsg: int | None = None

    def __post_init__(self) -> None:
        """Refuse sizes that do not nest."""
        for fine, coarse in pairwise(self.sizes):
            if fine >= coarse or coarse % fine:
                raise SpecError(
                    f"Squares of {coarse} m do not consist of whole squares of {fine} m. Each size"
                    " must be a multiple of the next smaller one, such as cells = [100, 500, 1000]."
                )

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sides of its squares, the finest first."""
        return (self.cell, *self.coarser)

    @property
    def first_column(self) -> int:
        """The number of the westernmost finest squares, counted from coordinate 0."""
        return self.extent[0] // self.cell

    @property
    def first_row(self) -> int:
        """The number of the southernmost finest squares, counted from coordinate 0."""
        return self.extent[1] // self.cell

    @property
    def across(self) -> int:
        """How many finest squares lie beside each other."""
        return -(-self.extent[2] // self.cell) - self.first_column

    @property
    def up(self) -> int:
        """How many rows of finest squares there are."""
        return -(-self.extent[3] // self.cell) - self.first_row

    def corners(self, squares: Int64) -> tuple[Int64, Int64]:
        """East and north of the south-west corners of finest squares.

        Squares are counted row by row from the south-west of the extent.
        """
        east = (self.first_column + squares % self.across) * self.cell
        return east, (self.first_row + squares // self.across) * self.cell

    def squares_of(self, codes: Sequence[Code]) -> Int64:
        """The finest squares that codes name, by their number in the extent."""
        if not self.inhabited:
            return np.arange(sum(not code.is_missing for code in codes), dtype=np.int64)
        squares = filter(None, (Square.read(code.code) for code in codes))
        numbers = [
            (square.north // self.cell - self.first_row) * self.across
            + square.east // self.cell
            - self.first_column
            for square in squares
        ]
        return np.array(numbers, dtype=np.int64)

    def to_json(self) -> list[Any]:
        """What ``from_json`` reads; what was not declared is left out."""
        plain: list[Any] = [self.variable, self.x, self.y, self.epsg, self.cell, list(self.extent)]
        further = {
            "coarser": list(self.coarser),
            "inhabited": self.inhabited,
            "coordinates_epsg": self.coordinates_epsg,
        }
        more = {name: value for name, value in further.items() if value}
        return [*plain, more] if more else plain

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Read what ``to_json`` wrote."""
        variable, x, y, epsg, cell, extent, *rest = value
        more: Mapping[str, Any] = rest[0] if rest else {}
        x_low, y_low, x_high, y_high = map(int, extent)
        return cls(
            str(variable),
            str(x),
            str(y),
            int(epsg),
            int(cell),
            (x_low, y_low, x_high, y_high),
            coarser=tuple(map(int, more.get("coarser", ()))),
            inhabited=bool(more.get("inhabited", False)),
            coordinates_epsg=more.get("coordinates_epsg"),
        )


@dataclass(frozen=True, slots=True)
class Square:
    """A square as its European code names it: metres in a coordinate reference system."""

    epsg: int
    size: int
    north: int
    east: int

    @property
    def code(self) -> str:
        """Its European code."""
        return f"CRS{self.epsg}RES{self.size}mN{self.north}E{self.east}"

    @classmethod
    def read(cls, code: str) -> Self | None:
        """The square that a code names; ``None`` for anything else.

        Examples:
            >>> Square.read("CRS3035RES1000mN2000E4000")
            Square(epsg=3035, size=1000, north=2000, east=4000)
            >>> Square.read("unallocated")
        """
        match = _SQUARE.fullmatch(code)
        if match is None:
            return None
        return cls(*(int(match[part]) for part in ("epsg", "size", "north", "east")))


def size_name(size: int) -> str:
    """How axes call squares of a size.

    Examples:
        >>> size_name(500), size_name(1000), size_name(1500)
        ('500m', '1km', '1500m')
    """
    return f"{size // 1000}km" if size % 1000 == 0 else f"{size}m"


def size_label(size: int) -> str:
    """How people read a size.

    Examples:
        >>> size_label(500), size_label(1000)
        ('500 m', '1 km')
    """
    return f"{size // 1000} km" if size % 1000 == 0 else f"{size} m"


def grid_codes(epsg: int, cell: int, extent: Extent) -> tuple[Code, ...]:
    """The square cells that cover an extent, row by row from the south-west, then ``unallocated``.

    Args:
        epsg: The coordinate reference system.
        cell: The side of a cell in metres; cells start at multiples of it.
        extent: ``(x_low, y_low, x_high, y_high)``; the upper ends are not included.

    Examples:
        >>> [code.code for code in grid_codes(3035, 1000, (4000, 2000, 6000, 3000))]
        ['CRS3035RES1000mN2000E4000', 'CRS3035RES1000mN2000E5000', 'unallocated']
    """
    return leaf_codes(GridSpec("", "", "", epsg, cell, extent))


def leaf_codes(grid: GridSpec, squares: Int64 | None = None) -> tuple[Code, ...]:
    """The codes of the finest squares, row by row from the south-west, then ``unallocated``.

    Args:
        grid: The grid.
        squares: The numbers of its inhabited squares in the extent, ascending, where it is a grid
            of those; before records are read it has none.
    """
    return _codes(grid.epsg, grid.cell, *grid.corners(_squares(grid, squares)))


def grid_hierarchies(grid: GridSpec, squares: Int64 | None = None) -> tuple[Hierarchy, ...]:
    """The coarser squares as levels of one hierarchy; none for a grid of one size."""
    east, north = grid.corners(_squares(grid, squares))
    levels = [_level(grid.epsg, size, east, north) for size in grid.coarser]
    return (Hierarchy(grid.variable, tuple(levels)),) if levels else ()


def _squares(grid: GridSpec, inhabited: Int64 | None) -> Int64:
    x_low, y_low, x_high, y_high = grid.extent
    if x_high <= x_low or y_high <= y_low:
        raise SpecError("The extent is empty. Write it as [x_low, y_low, x_high, y_high].")
    squares = grid.across * grid.up
    if squares >= _MOST_NUMBERED:
        raise SpecError(
            f"The extent has {squares:,} squares, more than can be numbered. It is in metres: check"
            " it, or use larger cells."
        )
    if grid.inhabited:
        if inhabited is not None and inhabited.size > LARGEST_GRID:
            # How many there are is confidential until the office publishes the list.
            raise SpecError(
                f"More than {LARGEST_GRID:,} squares are inhabited, more than a code list can"
                " hold. Use larger cells."
            )
        return np.zeros(0, dtype=np.int64) if inhabited is None else inhabited
    if squares > LARGEST_GRID:
        raise SpecError(
            f"The grid has {squares:,} cells; at most {LARGEST_GRID:,} are possible. Use larger"
            " cells or a smaller extent; or, if the office decides to publish which squares are"
            " inhabited, write inhabited = true: the code list is then of those."
        )
    return np.arange(squares, dtype=np.int64)


def _level(epsg: int, size: int, east: Int64, north: Int64) -> Level:
    """The squares of a size that hold finest squares, row by row from the south-west."""
    columns, rows = east // size, north // size
    wide = int(columns.max() - columns.min()) + 1 if columns.size else 1
    first_column, first_row = (int(line.min()) if line.size else 0 for line in (columns, rows))
    numbers, group = np.unique(
        (rows - first_row) * wide + columns - first_column, return_inverse=True
    )
    codes = _codes(
        epsg,
        size,
        (numbers % wide + first_column) * size,
        (numbers // wide + first_row) * size,
    )
    return Level(size_name(size), codes, (*group.reshape(-1).tolist(), len(codes) - 1))


def _codes(epsg: int, size: int, east: Int64, north: Int64) -> tuple[Code, ...]:
    start = f"CRS{epsg}RES{size}m"
    names = (f"{start}N{n}E{e}" for n, e in zip(north.tolist(), east.tolist(), strict=True))
    return (
        *(Code(name, Text.of(name)) for name in names),
        Code(UNALLOCATED, UNALLOCATED_LABEL, CodeKind.NOT_APPLICABLE),
    )
